"""Two conversations compared: of the editor, of the saved file, of any two sets of inputs."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QTextBrowser,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from studio.application.preview.diff import ConversationComparison, ConversationSide, DiffLine, Pair
from studio.core.text.span import Span
from studio.core.text.values import JsonObject
from studio.ui.style.colors import blend, fixed_font, paint_page, paint_text
from studio.ui.style.icons import icon
from studio.ui.style.in_use import FollowsTheme, theme_in_use

_SIGNS = {"same": "  ", "added": "+ ", "removed": "− ", "left-out": "… "}


class DiffTab(FollowsTheme, QWidget):
    """A choice of two sides to compare, and the messages that differ."""

    pair_chosen = Signal(Pair)
    place_chosen = Signal(Span)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._comparison: ConversationComparison | None = None
        self._own = (
            ConversationSide(self.tr("Last saved version"), is_saved=True),
            ConversationSide(self.tr("Now: editor and inputs")),
        )
        self._sides: list[ConversationSide] = list(self._own)
        self.before = self._make_choice(self.tr("Compare this"), 0)
        self.after = self._make_choice(self.tr("with this"), 1)
        self.swap = QToolButton(self)
        self.swap.setIcon(icon("arrow-left-right"))
        self.swap.setAutoRaise(True)
        self.swap.setToolTip(self.tr("Swap the two sides"))
        self.swap.setAccessibleName(self.tr("Swap the two sides"))
        self.swap.clicked.connect(self._swap)
        self._said = QLabel(self)
        self._said.setTextFormat(Qt.TextFormat.PlainText)
        self._said.setWordWrap(True)
        self._said.setContentsMargins(12, 0, 12, 8)
        self.view = QTextBrowser(self)
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.view.setOpenLinks(False)
        self.view.setAccessibleName(self.tr("Messages that differ"))
        self.view.document().setDocumentMargin(12)
        self.view.anchorClicked.connect(self._follow)
        bar = QHBoxLayout()
        bar.setContentsMargins(12, 8, 12, 6)
        bar.setSpacing(8)
        bar.addWidget(self.before, 1)
        bar.addWidget(self.swap)
        bar.addWidget(self.after, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(bar)
        layout.addWidget(self._said)
        layout.addWidget(self.view, 1)
        paint_text(self._said, "muted")
        self.follow_theme()

    @property
    def pair(self) -> Pair:
        """What is compared with what."""
        return Pair(self._side(self.before), self._side(self.after))

    @property
    def sentence(self) -> str:
        """The outcome in a few words."""
        return self._said.text()

    def set_input_sets(self, sets: Mapping[str, JsonObject]) -> None:
        """Offer the sets of values, beside the editor's and the saved version."""
        named = [
            ConversationSide(self.tr("Inputs “{name}”").format(name=name), values)
            for name, values in sets.items()
        ]
        self._sides = [*self._own, *named]
        for number, choice in enumerate((self.before, self.after)):
            kept = choice.currentText()
            choice.clear()
            choice.addItems([side.title for side in self._sides])
            found = choice.findText(kept)
            choice.setCurrentIndex(found if found >= 0 else number)
        if self.isVisible():
            self.pair_chosen.emit(self.pair)

    def show_comparison(self, comparison: ConversationComparison) -> None:
        """Show what differs."""
        self._comparison = comparison
        self._draw()

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        paint_page(self.view)
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
        theme = theme_in_use()
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
        theme = theme_in_use()
        text = escape(_SIGNS[line.kind] + line.text).replace("  ", "&nbsp; ")
        if line.kind in ("same", "left-out"):
            return f'<span style="color:{theme.muted}">{text}</span>'
        color = theme.success if line.kind == "added" else theme.error
        ground = blend(color, theme.surface, 0.12)
        return f'<span style="color:{color}; background-color:{ground}">{text}</span>'

    def _make_choice(self, name: str, index: int) -> QComboBox:
        choice = QComboBox(self)
        choice.setAccessibleName(name)
        choice.setToolTip(name)
        choice.addItems([side.title for side in self._sides])
        choice.setCurrentIndex(index)
        choice.setMinimumContentsLength(8)
        choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        choice.activated.connect(self._choose)
        return choice

    def _side(self, choice: QComboBox) -> ConversationSide:
        return self._sides[max(0, choice.currentIndex())]

    def _swap(self) -> None:
        before, after = self.before.currentIndex(), self.after.currentIndex()
        self.before.setCurrentIndex(after)
        self.after.setCurrentIndex(before)
        self.pair_chosen.emit(self.pair)

    def _choose(self, _: int) -> None:
        self.pair_chosen.emit(self.pair)

    def _follow(self, link: QUrl) -> None:
        number = int(link.path() or -1)
        messages = self._comparison.messages if self._comparison is not None else ()
        if 0 <= number < len(messages) and messages[number].span is not None:
            self.place_chosen.emit(messages[number].span)
