"""The menu of named input sets."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QInputDialog,
    QLabel,
    QListWidget,
    QMenu,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from studio.application.inputs.sets import InputRow
from studio.ui.base.marked_text import QT_TRANSLATE_NOOP
from studio.ui.style.icons import icon
from studio.viewmodels.inputs.library import InputLibrary

_FILTER = QT_TRANSLATE_NOOP(
    "SetsButton", "Values (*.json *.jsonl *.yaml *.yml *.csv *.tsv);;All files (*)"
)


class SetsButton(QToolButton):
    """Its text is the set in use; its menu takes, keeps, removes and loads sets."""

    request_values = Signal(str)  # name of the set that the values are to be kept as
    request_samples = Signal()  # keep the values in the file

    def __init__(self, library: InputLibrary, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._library = library
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setAutoRaise(True)
        self.setAccessibleName(self.tr("Input sets"))
        self.setIcon(icon("list"))
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self._fill)
        self.setMenu(self._menu)
        library.changed.connect(self._describe)
        library.rows_loaded.connect(self._ask_row)
        self._describe()
        self.setIcon(icon("list", "muted"))

    def _fill(self) -> None:
        library, menu = self._library, self._menu
        menu.clear()
        for name in library.sets:
            action = menu.addAction(_literal(name), partial(library.take, name))
            action.setCheckable(True)
            action.setChecked(name == library.current)
        menu.addSeparator()
        current = library.current
        keep = menu.addAction(self.tr("Save as a set…"), self._ask_name)
        keep.setEnabled(library.can_keep)
        keep.setToolTip(self.tr("Kept in {file_name}").format(file_name=library.file_name))
        if current:
            menu.addAction(
                self.tr("Update “{current}”").format(current=_literal(current)),
                partial(self.request_values.emit, current),
            )
            menu.addAction(
                self.tr("Delete “{current}”").format(current=_literal(current)),
                partial(library.remove, current),
            )
        menu.addAction(self.tr("Keep as samples in the prompt"), self.request_samples.emit)
        menu.addSeparator()
        menu.addAction(self.tr("Load from a file…"), self._ask_file)

    def _describe(self) -> None:
        self.setText(_literal(self._library.current) or self.tr("Sets"))
        count = len(self._library.sets)
        kept = (
            self.tr("{count} kept in {file_name}").format(
                count=count, file_name=self._library.file_name
            )
            if count
            else self.tr("none kept yet")
        )
        can = self._library.can_keep
        self.setToolTip(
            self.tr("Input sets: {kept}").format(kept=kept)
            if can
            else self.tr("Input sets: save the prompt first")
        )

    def _ask_name(self) -> None:
        dialog = QInputDialog(self)
        dialog.setWindowTitle(self.tr("Save as a set"))
        dialog.setLabelText(
            self.tr("Name of the set, kept in {file_name}:").format(
                file_name=self._library.file_name
            )
        )
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.textValueSelected.connect(self.request_values)
        dialog.textValueChanged.connect(partial(self._name_typed, dialog))
        dialog.open()

    def _name_typed(self, dialog: QInputDialog, name: str) -> None:
        """Say on the button when a set of this name is there already."""
        is_there = name.strip() in self._library.sets
        dialog.setOkButtonText(
            self.tr("Replace “{name}”").format(name=_literal(name.strip()))
            if is_there
            else self.tr("Save")
        )

    def _ask_file(self) -> None:
        words = QCoreApplication.translate("SetsButton", _FILTER)
        dialog = QFileDialog(self, self.tr("Load values"), self._library.folder, words)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda name: self._library.load(Path(name)))
        dialog.open()

    def _ask_row(self, rows: tuple[InputRow, ...]) -> None:
        dialog = RowsDialog(rows, self, can_keep=self._library.can_keep)
        dialog.row_chosen.connect(self._library.take_row)
        dialog.all_chosen.connect(self._library.keep_rows)
        dialog.open()


class RowsDialog(QDialog):
    """Asks for one row of a file of values, or for all of them as input sets."""

    row_chosen = Signal(InputRow)
    all_chosen = Signal(tuple)  # tuple[InputRow, ...]

    def __init__(self, rows: tuple[InputRow, ...], parent: QWidget, *, can_keep: bool) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Load values"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._rows = rows
        words = self.tr("Which of the {count} rows?").format(count=len(rows))
        label = QLabel(words, self, textFormat=Qt.TextFormat.PlainText)
        self.list = QListWidget(self)
        self.list.setAccessibleName(words)
        self.list.setUniformItemSizes(True)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.addItems([row.title for row in rows])
        self.list.setCurrentRow(0)
        self.list.itemActivated.connect(self.accept)
        buttons = QDialogButtonBox(self)
        self.all_button = buttons.addButton(
            self.tr("All as sets"), QDialogButtonBox.ButtonRole.ActionRole
        )
        self.all_button.setEnabled(can_keep)
        self.all_button.setToolTip(
            self.tr("Keep each row as an input set beside the prompt")
            if can_keep
            else self.tr("Input sets: save the prompt first")
        )
        self.all_button.clicked.connect(self._take_all)
        buttons.addButton(self.tr("Use this row"), QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.addButton(QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        for part in (label, self.list, buttons):
            layout.addWidget(part)
        self.resize(560, 320)

    def accept(self) -> None:
        """Use the row that is selected."""
        row = self.list.currentRow()
        super().accept()
        if row >= 0:
            self.row_chosen.emit(self._rows[row])

    def _take_all(self) -> None:
        super().accept()
        self.all_chosen.emit(self._rows)


def _literal(name: str) -> str:
    """A name as a menu and a button show it: alone, & marks a key."""
    return name.replace("&", "&&")
