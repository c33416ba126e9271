"""The header of a message's card: role, attributes, injection warnings, number and cost."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from studio.application.preview.variables import CardData
from studio.application.words import tr
from studio.core.text.amounts import by_count
from studio.core.text.invisible import plain_tip
from studio.core.tokens.conversation import ConversationTokens
from studio.ui.parts.kit import Chip, column_of, empty_layout
from studio.ui.style.theme import paint_text, role_color, theme_in_use


class CardHeader(QWidget):
    """Role, chips and figures; below, a chip for each value that looks like structure."""

    chip_clicked = Signal(str)  # name of an attribute; empty for the message itself

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._role = QLabel(textFormat=Qt.TextFormat.PlainText)
        font = self._role.font()
        font.setWeight(QFont.Weight.DemiBold)
        self._role.setFont(font)
        self._meta = QLabel(alignment=Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._chips = QHBoxLayout()
        self._chips.setSpacing(8)
        self._warnings = QHBoxLayout()
        line = QHBoxLayout()
        line.setSpacing(8)
        for label in (self._role, self._meta):
            label.setFixedHeight(self.fontMetrics().height() + 4)  # as high as a chip
        line.addWidget(self._role)
        line.addLayout(self._chips)
        line.addStretch(1)
        line.addWidget(self._meta)
        column_of(line, self._warnings, on=self, margins=0, spacing=8)

    def say(self, text: str) -> None:
        """Show the number and cost of the message."""
        self._meta.setText(text)

    def show_message(self, data: CardData) -> None:
        """Show a message's role, attributes and warnings."""
        self._role.setText(data.role)
        paint_text(self._role, role_color(theme_in_use(), data.role))
        paint_text(self._meta, "muted")
        empty_layout(self._chips)
        empty_layout(self._warnings)
        origin = data.message.origin.source
        origins = {"thread": tr("from the thread"), "implicit": tr("no marker")}
        if data.is_open_thread:
            origins["thread"] = tr("filled by the run")
        if origin in origins:
            word = origins[origin]
            tip = tr("Click to go to its place")
            self._chips.addWidget(self._chip(word, "muted", tip))
        for key, value in data.message.attributes.items():
            tip = tr("Attribute {key!r}").format(key=key)
            chip = self._chip(f"{key}={value}", "muted", tip, attribute=key)
            self._chips.addWidget(chip)
        if data.missing:
            words = tr("not set: {names}").format(names=", ".join(data.missing))
            tip = tr("Without a value, its place stays empty.")
            self._warnings.addWidget(self._chip(words, "muted", tip))
        for problem in data.warnings:
            words = tr("⚠ looks like structure")
            chip = self._chip(words, "warning", problem.message)
            chip.setAccessibleName(problem.message)
            self._warnings.addWidget(chip)
        if data.warnings or data.missing:
            self._warnings.addStretch(1)
        for layout in (self._chips, self._warnings):
            for index in range(layout.count()):  # now, like the content of the card
                item = layout.itemAt(index)
                if item is not None and (widget := item.widget()) is not None:
                    widget.show()

    def _chip(self, text: str, color: str, tip: str, attribute: str = "") -> Chip:
        chip = Chip(text)
        chip.set_color(color)
        chip.setToolTip(plain_tip(tip))
        chip.clicked.connect(lambda *_: self.chip_clicked.emit(attribute))
        return chip


def head_words(data: CardData, tokens: ConversationTokens) -> tuple[int, str, str]:
    """Describe a message: its index, its number and role, and its place and cost."""
    words = []
    if data.line is not None:
        words.append(tr("line {line}").format(line=data.line))
    if not data.is_open_thread and data.number <= len(tokens.messages):
        words.append(_cost(tokens.messages[data.number - 1], is_exact=tokens.is_exact))
    return (data.number, data.role, " · ".join(words))


def _cost(tokens: int, *, is_exact: bool) -> str:
    words = by_count(tokens, tr("1 token"), tr("{count:,} tokens"))
    return words if is_exact else f"≈{words}"
