"""Rating an answer by hand: points from 1 to 5, pass or fail, and a note."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton, QWidget

from studio.application.words import tr
from studio.core.experiments.results.ratings import Rating
from studio.ui.parts.flow_layout import FlowLayout
from studio.ui.parts.layouts import row_of

MOST = 5


class RatingBar(QWidget):
    """Shows a rating; what was chosen is chosen away by choosing it again."""

    rated = Signal(Rating)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rating = Rating()
        self.points = [QPushButton(str(number)) for number in range(1, MOST + 1)]
        self.passes = QPushButton(tr("Pass"))
        self.fails = QPushButton(tr("Fail"))
        self.note = QLineEdit()
        self._lay_out()
        for number, button in enumerate(self.points, 1):
            button.clicked.connect(lambda _=False, number=number: self.rate(number))
        self.passes.clicked.connect(lambda: self.decide(passed=True))
        self.fails.clicked.connect(lambda: self.decide(passed=False))
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
        """Give points; the same ones again take them back."""
        self._give(replace(self._rating, points=None if self._rating.points == points else points))

    def decide(self, *, passed: bool) -> None:
        """Say that it passes or not; the same again takes it back."""
        self._give(replace(self._rating, passed=None if self._rating.passed is passed else passed))

    def turn(self) -> None:
        """Pass what is not marked, fail what passes, and take back what fails."""
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
