"""The first line of a card: who speaks, the attributes, where it stands and what it costs."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLayout, QVBoxLayout, QWidget

from studio.application.preview.cards import CardData
from studio.ui.parts.chip import Chip
from studio.ui.style.colours import paint_text, role_colour
from studio.ui.style.theme import Theme
from studio.viewmodels.plain_tip import plain_tip


class CardHeader(QWidget):
    """Role, chips, figures; under them a chip for each value that looks like structure."""

    chip_clicked = Signal(str)  # name of an attribute; empty for the message itself

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._role = QLabel()
        self._role.setTextFormat(Qt.TextFormat.PlainText)
        font = self._role.font()
        font.setBold(True)
        self._role.setFont(font)
        self._meta = QLabel()
        self._meta.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._chips = QHBoxLayout()
        self._chips.setSpacing(6)
        self._warnings = QHBoxLayout()
        line = QHBoxLayout()
        line.setSpacing(8)
        for label in (self._role, self._meta):
            label.setFixedHeight(self.fontMetrics().height() + 4)  # as high as a chip
        line.addWidget(self._role)
        line.addLayout(self._chips)
        line.addStretch(1)
        line.addWidget(self._meta)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addLayout(line)
        layout.addLayout(self._warnings)

    def say(self, text: str) -> None:
        """Write where the message stands and what it costs."""
        self._meta.setText(text)

    def show_message(self, data: CardData, theme: Theme) -> None:
        """Show a message's role, attributes and warnings."""
        self._role.setText(data.message.role)
        paint_text(self._role, role_colour(theme, data.message.role))
        paint_text(self._meta, theme.muted)
        empty_layout(self._chips)
        empty_layout(self._warnings)
        origin = data.message.origin.source
        if origin in ("thread", "implicit"):
            word = self.tr("from the thread") if origin == "thread" else self.tr("no marker")
            tip = self.tr("Click to see where it stands")
            self._chips.addWidget(self._chip(word, theme, theme.muted, tip))
        for key, value in data.message.attributes.items():
            tip = self.tr("Attribute {key!r}").format(key=key)
            chip = self._chip(f"{key}={value}", theme, theme.muted, tip, attribute=key)
            self._chips.addWidget(chip)
        for problem in data.warnings:
            words = self.tr("⚠ looks like structure")
            chip = self._chip(words, theme, theme.warning, problem.message)
            chip.setAccessibleName(problem.message)
            self._warnings.addWidget(chip)
        if data.warnings:
            self._warnings.addStretch(1)

    def _chip(self, text: str, theme: Theme, colour: str, tip: str, attribute: str = "") -> Chip:
        chip = Chip(text, theme)
        chip.set_colour(theme, colour)
        chip.setToolTip(plain_tip(tip))
        chip.clicked.connect(partial(self._tell, attribute))
        return chip

    def _tell(self, attribute: str, _: bool = False) -> None:
        self.chip_clicked.emit(attribute)


def empty_layout(layout: QLayout) -> None:
    """Take everything out of a layout."""
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()
