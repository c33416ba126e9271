"""Manual rating of an answer: 1 to 5 points, pass or fail, and a note."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QLineEdit, QPushButton, QWidget

from studio.application.words import tr
from studio.core.experiments.results.ratings import Rating
from studio.ui.parts.kit import FlowLayout, OwnKeys, column_of, push_button, row_of
from studio.ui.parts.text_views import LongText
from studio.viewmodels.experiments.result_answers import AnswerPair

MOST = 5


class RatingBar(QWidget):
    """Buttons for a rating; clicking the current choice again removes it."""

    rated = Signal(Rating)

    def __init__(self) -> None:
        super().__init__()
        self._rating = Rating()
        self.points = [QPushButton(str(number)) for number in range(1, MOST + 1)]
        self.passes = push_button(tr("Pass"), lambda: self.decide(passed=True))
        self.fails = push_button(tr("Fail"), lambda: self.decide(passed=False))
        self.note = QLineEdit()
        self._lay_out()
        for number, button in enumerate(self.points, 1):
            button.clicked.connect(lambda _=False, number=number: self.rate(number))
        self.note.editingFinished.connect(self._on_note)

    def show_rating(self, rating: Rating) -> None:
        """Show a rating."""
        self._rating = rating
        for number, button in enumerate(self.points, 1):
            button.setChecked(rating.points == number)
        self.passes.setChecked(rating.passed is True)
        self.fails.setChecked(rating.passed is False)
        if not self.note.hasFocus():
            self.note.setText(rating.note)

    def rate(self, points: int) -> None:
        """Set the points; the same points again remove them."""
        self._give(replace(self._rating, points=None if self._rating.points == points else points))

    def decide(self, *, passed: bool) -> None:
        """Set pass or fail; the same choice again removes it."""
        self._give(replace(self._rating, passed=None if self._rating.passed is passed else passed))

    def turn(self) -> None:
        """Change no mark to pass, pass to fail, and fail to no mark."""
        if not self.isVisible():
            return
        turned = {None: True, True: False, False: None}[self._rating.passed]
        self._give(replace(self._rating, passed=turned))

    def _on_note(self) -> None:
        if self.note.text() != self._rating.note:
            self._give(replace(self._rating, note=self.note.text()))

    def _give(self, rating: Rating) -> None:
        self.show_rating(rating)
        self.rated.emit(rating)

    def _lay_out(self) -> None:
        layout = FlowLayout(self)
        layout.addWidget(QLabel(tr("Your mark")))
        row = QWidget()
        inside = row_of(on=row, margins=0, spacing=2)
        for number, button in enumerate(self.points, 1):
            button.setCheckable(True)
            button.setFixedWidth(40)
            button.setAccessibleName(tr("{number} of 5").format(number=number))
            button.setToolTip(tr("Give {number} of 5 points (Alt+{number})").format(number=number))
            inside.addWidget(button)
        layout.addWidget(row)
        for button in (self.passes, self.fails):
            button.setCheckable(True)
            layout.addWidget(button)
        self.note.setPlaceholderText(tr("Note"))
        self.note.setAccessibleName(tr("Note"))
        self.note.setMinimumWidth(140)
        layout.addWidget(self.note)


# Two answers to one row side by side, without the names of their variants.


class BlindDialog(QDialog):
    """Asks which of two anonymous answers is better; shows the variants at the end."""

    chosen = Signal(int, tuple, object)  # row, both variants, the better one or None

    def __init__(
        self,
        pairs: Sequence[AnswerPair],
        names: Sequence[str],
        titles: Mapping[int, str],
        parent: QWidget | None = None,
    ) -> None:
        """Show the first pair.

        Args:
            pairs: the pairs of answers.
            names: names of the variants.
            titles: title of each row.
            parent: parent window.
        """
        super().__init__(parent)
        self._pairs, self._names, self._titles = pairs, names, titles
        self._chance = random.Random()
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
        """Return the number of wins of each variant."""
        counts = ", ".join(
            f"{self._names[at]} {count}" for at, count in self._won.items() if at is not None
        )
        equal = self._won.get(None, 0)
        return tr("Better: {counts}; equal {equal}.").format(counts=counts or "–", equal=equal)

    def choose(self, side: int | None) -> None:
        """Record the better answer: 0 for left, 1 for right, None for neither."""
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
        for side, name in ((self.left, tr("Left answer")), (self.right, tr("Right answer"))):
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
