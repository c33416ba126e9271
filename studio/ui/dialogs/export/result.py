"""What an export would write: the text, what it changes, and the proof, as three tabs."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QPushButton,
    QTabWidget,
)

from studio.application.run.words import plural
from studio.core.export.target import VALUES_OF_NOW, RoundTrip
from studio.ui.parts.comparison_view import ComparisonView
from studio.ui.parts.long_text import LongText
from studio.ui.parts.yielding_tabs import YieldingTabs
from studio.ui.style.colors import fixed_font
from studio.ui.style.icons import icon

_SHOWN = 200_000
_IS_SAME = Qt.ItemDataRole.UserRole


class ResultTabs(QTabWidget):
    """Result, difference, round trip."""

    def __init__(self) -> None:
        super().__init__()
        self.setTabBar(YieldingTabs())
        self.text = LongText()
        self.text.setReadOnly(True)
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setFont(fixed_font(self.font()))
        self.text.setAccessibleName(self.tr("What will be written"))
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.diff = ComparisonView()
        self.round_trips = QListWidget()
        self.round_trips.setAccessibleName(self.tr("Round trip"))
        self.round_trips.setWordWrap(True)
        self.round_trips.setIconSize(QSize(16, 16))
        self._is_judged = False
        self.ask = QPushButton(self.tr("Read it in the program itself"))
        self.ask.setAutoDefault(False)
        self.ask.setToolTip(
            self.tr("Let the installed package load the file, and compare the messages")
        )
        self.ask.hide()
        self.setCornerWidget(self.ask)
        self.setDocumentMode(True)
        self.addTab(self.text, self.tr("Result"))
        self.addTab(self.diff, self.tr("Difference"))
        self.addTab(self.round_trips, self.tr("Round trip"))

    def show_text(self, text: str) -> None:
        """Show what will be written, the beginning of it where it is long."""
        if len(text) > _SHOWN:
            more = self.tr("… shown up to here; written whole")
            text = f"{text[:_SHOWN]}\n{more}"
        self.text.setPlainText(text)

    def show_round_trips(self, round_trips: Sequence[RoundTrip], *, is_judged: bool) -> None:
        """Show each comparison, and how many are fine in the tab's title.

        Args:
            round_trips: The comparisons.
            is_judged: Whether another program, or its rules, made them; else none gets a tick.
        """
        self.round_trips.clear()
        self._is_judged = is_judged
        same = sum(item.is_same for item in round_trips)
        title = self.tr("Round trip {same}/{count}").format(same=same, count=len(round_trips))
        self.setTabText(2, title if round_trips else self.tr("Round trip"))
        for item in round_trips:
            name = self.tr("Values of now") if item.name == VALUES_OF_NOW else item.name
            tools = self.tr("1 tool") if item.tools == 1 else self.tr("{count} tools")
            said = self.tr("{name}: the same ({messages}, {tools})").format(
                name=name,
                messages=plural(item.messages, "message"),
                tools=tools.format(count=item.tools),
            )
            row = QListWidgetItem(said if item.is_same else f"{name}: {item.difference}")
            row.setData(_IS_SAME, item.is_same)
            self.round_trips.addItem(row)
        if not round_trips:
            self.round_trips.addItem(self.tr("There is nothing to be read back from this form."))
        self._paint()

    def _paint(self) -> None:
        same = icon("circle-check", "success") if self._is_judged else icon("info", "muted")
        other = icon("triangle-alert", "warning")
        for item in map(self.round_trips.item, range(self.round_trips.count())):
            is_same = item.data(_IS_SAME)
            if is_same is not None:
                item.setIcon(same if is_same else other)
