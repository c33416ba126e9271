"""What the messages are, beside what they were: the saved file, or another set of inputs."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from studio.bridge.preview_diff import Against, Comparison, DiffLine
from studio.core.text.values import JsonObject
from studio.ui.parts.colours import blend, fixed_font, paint_text
from studio.ui.theme import Theme

_SIGNS = {"same": "  ", "added": "+ ", "removed": "− "}


class DiffTab(QWidget):
    """A choice of what to compare with, and the messages that differ."""

    against_chosen = Signal(object)  # Against
    place_chosen = Signal(object)  # Span

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._comparison: Comparison | None = None
        self._saved = Against(self.tr("Last saved version"))
        self._choices: list[Against] = [self._saved]
        self.choice = QComboBox(self)
        self.choice.setAccessibleName(self.tr("Compare with"))
        self.choice.addItem(self._saved.title)
        self.choice.activated.connect(self._choose)
        self._said = QLabel(self)
        self.view = QTextBrowser(self)
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.view.setOpenLinks(False)
        self.view.setAccessibleName(self.tr("Messages that differ"))
        self.view.document().setDocumentMargin(12)
        self.view.anchorClicked.connect(self._follow)
        bar = QHBoxLayout()
        bar.setContentsMargins(12, 8, 12, 8)
        bar.setSpacing(8)
        bar.addWidget(self.choice)
        bar.addWidget(self._said, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(bar)
        layout.addWidget(self.view, 1)
        self.set_theme(theme)

    @property
    def against(self) -> Against:
        """What is compared with."""
        return self._choices[max(0, self.choice.currentIndex())]

    @property
    def sentence(self) -> str:
        """The outcome in a few words."""
        return self._said.text()

    def set_input_sets(self, sets: Mapping[str, JsonObject]) -> None:
        """Offer the sets of values, beside the saved version."""
        kept = self.against.title
        self._choices = [
            self._saved,
            *(Against(self.tr("Inputs “{name}”").format(name=name), sets[name]) for name in sets),
        ]
        self.choice.clear()
        self.choice.addItems([each.title for each in self._choices])
        self.choice.setCurrentIndex(max(0, self.choice.findText(kept)))

    def show_comparison(self, comparison: Comparison) -> None:
        """Show what differs."""
        self._comparison = comparison
        self._draw()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        paint_text(self._said, theme.muted)
        palette = self.view.palette()
        palette.setColor(QPalette.ColorRole.Base, QColor(theme.surface))
        palette.setColor(QPalette.ColorRole.Text, QColor(theme.text))
        self.view.setPalette(palette)
        self._draw()

    def _draw(self) -> None:
        found = self._comparison
        if found is None:
            self._said.clear()
            self.view.clear()
            return
        count = len(found.messages)
        if found.problem:
            self._said.setText(found.problem)
        elif not count:
            self._said.setText(self.tr("No message differs."))
        else:
            same = found.unchanged
            words = (
                self.tr("1 differs, {same} the same")
                if count == 1
                else self.tr("{count} differ, {same} the same")
            )
            self._said.setText(words.format(count=count, same=same))
        place = self.view.verticalScrollBar().value()
        theme = self._theme
        pieces = []
        for number, message in enumerate(found.messages):
            title = escape(message.title)
            if message.span is not None:
                title = f'<a href="message:{number}" style="color:{theme.accent}">{title}</a>'
            lines = "<br>".join(self._line(line) for line in message.lines)
            pieces.append(
                f'<p style="margin:8px 0 4px 0"><b>{title}</b></p>'
                f"<div style=\"font-family:'{fixed_font(self.font()).family()}'\">{lines}</div>"
            )
        self.view.setHtml("".join(pieces))
        self.view.verticalScrollBar().setValue(place)

    def _line(self, line: DiffLine) -> str:
        theme = self._theme
        text = escape(_SIGNS[line.kind] + line.text).replace("  ", "&nbsp; ")
        if line.kind == "same":
            return f'<span style="color:{theme.muted}">{text}</span>'
        colour = theme.success if line.kind == "added" else theme.error
        ground = blend(colour, theme.surface, 0.12)
        return f'<span style="color:{colour}; background-color:{ground}">{text}</span>'

    def _choose(self, _: int) -> None:
        self.against_chosen.emit(self.against)

    def _follow(self, link: QUrl) -> None:
        number = int(link.path() or -1)
        messages = self._comparison.messages if self._comparison is not None else ()
        if 0 <= number < len(messages) and messages[number].span is not None:
            self.place_chosen.emit(messages[number].span)
