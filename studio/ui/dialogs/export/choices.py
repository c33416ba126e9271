"""Options of an export: its form, accepted errors, and its file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QWidget,
)

from studio.application.words import marked, tr
from studio.core.export.target import ExportTarget
from studio.core.text.amounts import one_line
from studio.core.text.source import Problem
from studio.ui.parts.labels import named
from studio.ui.parts.layouts import column_of, row_of
from studio.ui.style.colors import FollowsTheme, theme_in_use
from studio.ui.style.icons import icon

_TARGET = Qt.ItemDataRole.UserRole
_ICONS = {
    "Prompt files": "file-text",
    "Requests": "braces",
    "Code": "terminal",
    "Documents": "files",
}
_HEADINGS = (
    marked("Prompt files"),
    marked("Requests"),
    marked("Code"),
    marked("Documents"),
)
"""The groups of the forms, in the words that are translated."""


class FormList(FollowsTheme, QListWidget):
    """Headings cannot be chosen; the arrow keys jump over them."""

    target_chosen = Signal(ExportTarget)

    def __init__(self, targets: Sequence[ExportTarget]) -> None:
        super().__init__()
        self.setAccessibleName(tr("Forms"))
        self.setIconSize(QSize(16, 16))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._headings: list[QListWidgetItem] = []
        groups = list(dict.fromkeys(target.group for target in targets))
        for group in groups:
            heading = QListWidgetItem(tr(group))
            heading.setFlags(Qt.ItemFlag.NoItemFlags)
            font = self.font()
            font.setWeight(QFont.Weight.DemiBold)
            heading.setFont(font)
            heading.setSizeHint(QSize(0, 30))
            self.addItem(heading)
            self._headings.append(heading)
            for target in targets:
                if target.group == group:
                    item = QListWidgetItem(target.label)
                    item.setData(_TARGET, target)
                    item.setToolTip(target.about)
                    item.setSizeHint(QSize(0, 28))
                    item.setIcon(icon(_ICONS[group], "muted"))
                    self.addItem(item)
        self.follow_theme()
        self.currentItemChanged.connect(lambda *_: self.target_chosen.emit(self.target))

    @property
    def target(self) -> ExportTarget | None:
        """The form chosen."""
        item = self.currentItem()
        target: ExportTarget | None = item.data(_TARGET) if item is not None else None
        return target

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        theme = theme_in_use()
        for heading in self._headings:
            heading.setForeground(QColor(theme.muted))

    def choose(self, name: str) -> None:
        """Choose a form by its stable name."""
        for row in range(self.count()):
            target = self.item(row).data(_TARGET)
            if target is not None and target.name == name:
                self.setCurrentRow(row)


class ErrorConsents(QWidget):
    """Hidden while there is no error that the user could accept."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.boxes: dict[str, QCheckBox] = {}
        """The boxes by the code of their errors."""
        self._column = column_of(on=self, margins=0, spacing=2)
        self.hide()

    @property
    def accepted(self) -> frozenset[str]:
        """The codes of the errors that are ticked."""
        return frozenset(code for code, box in self.boxes.items() if box.isChecked())

    def show_errors(self, errors: Mapping[str, Problem]) -> None:
        """Offer a box for each kind, none of them ticked."""
        for box in self.boxes.values():
            self._column.removeWidget(box)
            box.deleteLater()
        self.boxes = {}
        for code, problem in errors.items():
            words = tr("Write it although: {message}").format(message=one_line(problem.message, 90))
            box = QCheckBox(words.replace("&", "&&"))
            box.setToolTip(code)
            box.toggled.connect(lambda _: self.changed.emit())
            self._column.addWidget(box)
            self.boxes[code] = box
        self.setVisible(bool(errors))


class ExportFooter(QWidget):
    """A name is taken from the prompt's folder; the button says what it will do."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._suffix = ""
        self.place = named(QLineEdit(placeholderText=tr("File to write")), tr("File to write"))
        self.browse = self._button(tr("Browse…"))
        self.copy = self._button(tr("Copy"))
        self.leave = self._button(tr("Close"))
        self.save = QPushButton(tr("Export"), default=True)
        self.save.setProperty("primary", True)
        row_of(
            (self.place, 1),
            self.browse,
            self.copy,
            self.leave,
            self.save,
            on=self,
            margins=0,
            spacing=8,
        )
        self.browse.clicked.connect(self._ask_where)

    @property
    def path(self) -> Path | None:
        """Return the path of the file."""
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
        self.save.setText(tr("Replace") if replaces else tr("Export"))
        self.save.setEnabled(may_write and path is not None)
        self.copy.setEnabled(may_copy)

    def _button(self, text: str) -> QPushButton:
        return QPushButton(text, autoDefault=False)

    def _ask_where(self) -> None:
        start = str(self.path or self._folder)
        options = QFileDialog.Option.DontConfirmOverwrite  # the button and the difference say it
        name, _ = QFileDialog.getSaveFileName(
            self, tr("Export"), start, f"*{self._suffix}", options=options
        )
        if name:
            self.place.setText(name)
