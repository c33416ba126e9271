"""The foot of the export dialog: errors to accept, where it is written, and the buttons."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

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


class ExportFooter(QWidget):
    """A name is taken from the prompt's folder; the button says what it will do."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._suffix = ""
        self.place = QLineEdit()
        self.place.setAccessibleName(self.tr("File to write"))
        self.place.setPlaceholderText(self.tr("File to write"))
        self.browse = self._button(self.tr("Browse…"))
        self.copy = self._button(self.tr("Copy"))
        self.leave = self._button(self.tr("Close"))
        self.save = QPushButton(self.tr("Export"))
        self.save.setDefault(True)
        self.save.setProperty("primary", True)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.place, 1)
        for button in (self.browse, self.copy, self.leave, self.save):
            row.addWidget(button)
        self.browse.clicked.connect(self._ask_where)

    @property
    def path(self) -> Path | None:
        """Where it will be written."""
        text = self.place.text().strip()
        return self._folder / Path(text).expanduser() if text else None

    def propose(self, path: Path) -> None:
        """Offer a file."""
        self._suffix = path.suffix
        self.place.setText(str(path))

    def offer(self, *, may_write: bool, may_copy: bool, is_ready: bool) -> None:
        """Enable what can be done, and name the button after what it does."""
        path = self.path
        replaces = is_ready and path is not None and path.is_file()
        self.save.setText(self.tr("Replace") if replaces else self.tr("Export"))
        self.save.setEnabled(may_write and path is not None)
        self.copy.setEnabled(may_copy)

    def _button(self, text: str) -> QPushButton:
        button = QPushButton(text)
        button.setAutoDefault(False)
        return button

    def _ask_where(self) -> None:
        start = str(self.path or self._folder)
        options = QFileDialog.Option.DontConfirmOverwrite  # the button and the difference say it
        name, _ = QFileDialog.getSaveFileName(
            self, self.tr("Export"), start, f"*{self._suffix}", options=options
        )
        if name:
            self.place.setText(name)
