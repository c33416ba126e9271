"""A box to tick for each kind of error that stands against an export."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QVBoxLayout, QWidget

from studio.core.text.problem import Problem


class ErrorConsents(QWidget):
    """Hidden while there is no error that the user could accept."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._boxes: dict[str, QCheckBox] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(2)
        self.hide()

    @property
    def accepted(self) -> frozenset[str]:
        """The codes of the errors that are ticked."""
        return frozenset(code for code, box in self._boxes.items() if box.isChecked())

    @property
    def boxes(self) -> Mapping[str, QCheckBox]:
        """The boxes by the code of their errors."""
        return self._boxes

    def show_errors(self, errors: Mapping[str, Problem]) -> None:
        """Offer a box for each kind, none of them ticked."""
        for box in self._boxes.values():
            self._column.removeWidget(box)
            box.deleteLater()
        self._boxes = {}
        for code, problem in errors.items():
            words = self.tr("Write it although: {message}").format(message=_short(problem.message))
            box = QCheckBox(words.replace("&", "&&"))
            box.setToolTip(code)
            box.toggled.connect(lambda _: self.changed.emit())
            self._column.addWidget(box)
            self._boxes[code] = box
        self.setVisible(bool(errors))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 90 else f"{line[:89]}…"
