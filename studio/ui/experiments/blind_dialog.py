"""Two answers to one row side by side, without the names of their variants."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QWidget,
)

from studio.application.words import tr
from studio.ui.parts.json_view import LongText
from studio.ui.parts.layouts import column_of
from studio.ui.parts.own_keys import OwnKeys
from studio.viewmodels.experiments.shown_cell import AnswerPair


class BlindDialog(QDialog):
    """Asks which of two answers is better; says whose they were at the end."""

    chosen = Signal(int, tuple, object)  # row, both variants, the better one or None for neither

    def __init__(
        self,
        pairs: Sequence[AnswerPair],
        names: Sequence[str],
        titles: Mapping[int, str],
        parent: QWidget | None = None,
        chance: random.Random | None = None,
    ) -> None:
        """Show the first pair.

        Args:
            pairs: what is compared.
            names: of the variants.
            titles: what each row is about.
            parent: over which it stands.
            chance: decides which answer stands left.
        """
        super().__init__(parent)
        self._pairs, self._names, self._titles = pairs, names, titles
        self._chance = chance or random.Random()
        self._at = 0
        self._is_turned = False
        self._won: dict[int | None, int] = {}
        self.question = QLabel()
        self.left, self.right = LongText(), LongText()
        self.left_button = QPushButton(tr("Left is better"))
        self.equal_button = QPushButton(tr("Equal"))
        self.right_button = QPushButton(tr("Right is better"))
        self.skip_button = QPushButton(tr("Skip"))
        self._lay_out()
        self._show_pair()

    @property
    def summary(self) -> str:
        """Who was better how often."""
        counts = ", ".join(
            f"{self._names[at]} {count}" for at, count in self._won.items() if at is not None
        )
        equal = self._won.get(None, 0)
        return tr("Better: {counts}; equal {equal}.").format(counts=counts or "–", equal=equal)

    def choose(self, side: int | None) -> None:
        """Say which is better: 0 the left one, 1 the right one, None neither."""
        if self._at >= len(self._pairs):
            return
        pair = self._pairs[self._at]
        winner = None if side is None else pair.variants[side ^ self._is_turned]
        self._won[winner] = self._won.get(winner, 0) + 1
        self.chosen.emit(pair.row, pair.variants, winner)
        self.skip()

    def skip(self) -> None:
        """Go to the next pair."""
        self._at += 1
        self._show_pair()

    def _show_pair(self) -> None:
        is_over = self._at >= len(self._pairs)
        for each in (self.left_button, self.right_button, self.equal_button, self.skip_button):
            each.setEnabled(not is_over)
        if is_over:
            self.question.setText(self.summary)
            self.left.clear()
            self.right.clear()
            return
        pair = self._pairs[self._at]
        self._is_turned = self._chance.random() < 0.5
        self.question.setText(
            tr("{number} of {count} · row {row}: {title}").format(
                number=self._at + 1,
                count=len(self._pairs),
                row=pair.row,
                title=self._titles[pair.row],
            )
        )
        first, second = pair.answers[::-1] if self._is_turned else pair.answers
        self.left.setPlainText(first)
        self.right.setPlainText(second)

    def _lay_out(self) -> None:
        self.setWindowTitle(tr("Compare without names"))
        self.resize(900, 520)
        self.question.setWordWrap(True)
        self.question.setTextFormat(Qt.TextFormat.PlainText)
        self.question.setProperty("title", True)
        sides = QHBoxLayout()
        for side, name in (
            (self.left, tr("Left answer")),
            (self.right, tr("Right answer")),
        ):
            side.setReadOnly(True)
            side.setAccessibleName(name)
            sides.addWidget(side, 1)
        buttons = QHBoxLayout()
        for button, act, key in (
            (self.left_button, lambda: self.choose(0), "1"),
            (self.equal_button, lambda: self.choose(None), "0"),
            (self.right_button, lambda: self.choose(1), "2"),
            (self.skip_button, self.skip, "S"),
        ):
            button.setAutoDefault(False)
            button.setToolTip(key)
            button.clicked.connect(act)
            buttons.addWidget(button, 0 if button is self.skip_button else 1)
        keys = {
            "1": lambda: self.choose(0),
            "2": lambda: self.choose(1),
            "0": lambda: self.choose(None),
            "S": self.skip,
        }
        for part in (self, self.left, self.right):
            OwnKeys(part, keys)
        column_of(self.question, (sides, 1), buttons, on=self, margins=(16, 12, 16, 12), spacing=12)
