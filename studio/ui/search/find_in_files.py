"""Find in files: a field and the matches in the folder; Enter goes to a match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6 import QtWidgets
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent

from studio.application.document.files import FileError, read_file, write_file
from studio.application.words import tr
from studio.core.patterns import PatternError
from studio.core.search_files import Query, SearchMatch, below, innermost, replaced, search
from studio.core.text.source import apply_edits
from studio.ui.editor.page.page import EditorPage
from studio.ui.parts.kit import column_of, named, row_of, toned_label
from studio.ui.style.theme import mono_font
from studio.viewmodels.app.jobs import LatestJob

if TYPE_CHECKING:
    from studio.ui.editor.tabs.tabs import EditorTabs


_TYPED_MS = 150
_MATCH = Qt.ItemDataRole.UserRole
_PATH = Qt.ItemDataRole.UserRole + 1


class FindInFiles(QtWidgets.QWidget):
    """Panel that stays open below the editor while the user visits matches."""

    chosen = Signal(SearchMatch)
    left = Signal()  # return the focus to the text

    def __init__(
        self,
        roots: Sequence[Path],
        text: str,
        replacer: FileReplacer,
        parent: QtWidgets.QWidget | None = None,
        *,
        replace: bool = False,
    ) -> None:
        """Create it.

        Args:
            roots: the folders to search.
            text: initial search text.
            replacer: provides unsaved texts and replaces matches.
            parent: parent window.
            replace: whether to show the field for the new text.
        """
        super().__init__(parent)
        self._replacer = replacer
        self._replacing = replace
        self._roots = roots
        self._replaced = ""
        """Result of a replacement, to be shown with the next search."""
        self._searching = LatestJob(self, self._show, self._on_failed)
        self._soon = QTimer(self, singleShot=True, interval=_TYPED_MS)
        self.field = named(
            QtWidgets.QLineEdit(text, self, clearButtonEnabled=True), tr("Find in files")
        )
        self.case = QtWidgets.QCheckBox(tr("Match case"), self)
        self.regex = QtWidgets.QCheckBox(tr("Pattern"), self)
        self.new = named(
            QtWidgets.QLineEdit(self, placeholderText=tr("Replace with")), tr("Replace with")
        )
        self.replace_all = QtWidgets.QPushButton(tr("Replace all…"), self, autoDefault=False)
        self.replace_all.setEnabled(False)
        self.found = named(QtWidgets.QTreeWidget(self), tr("Places found"))
        self.found.setHeaderHidden(True)
        self.found.setUniformRowHeights(True)
        self.count = toned_label("muted", parent=self)
        self._place()
        self._wire()
        self.begin(roots, text, replace=replace)

    def begin(self, roots: Sequence[Path], text: str, *, replace: bool) -> None:
        """Search some folders for a text, or for the last text if none is given."""
        self._roots, self._replacing = roots, replace
        names = ", ".join(root.name for root in roots)
        words = tr("Find in the files of {name}").format(name=names)
        self.field.setPlaceholderText(words)
        for widget in (self.new, self.replace_all):
            widget.setVisible(replace)
        if text:
            self.field.setText(text)
        self.field.selectAll()
        self._search()

    def _place(self) -> None:
        row = row_of((self.field, 1), self.case, self.regex)
        second = row_of((self.new, 1), self.replace_all)
        column_of(
            row, second, (self.found, 1), self.count, on=self, margins=(12, 8, 12, 8), spacing=8
        )

    def _wire(self) -> None:
        self.field.textChanged.connect(self._on_typed)
        self.field.returnPressed.connect(self._to_first)
        self.case.toggled.connect(self._search)
        self.regex.toggled.connect(self._search)
        self._soon.timeout.connect(self._search)
        self.found.itemActivated.connect(self._choose)
        self.found.itemClicked.connect(self._choose)
        self.replace_all.clicked.connect(self._ask_replace)

    def _on_typed(self) -> None:
        self.replace_all.setEnabled(False)  # the shown matches are not those to be replaced
        self._soon.start()

    def _search(self) -> None:
        self._soon.stop()
        self.replace_all.setEnabled(False)
        query = self._query()
        if not query.text:
            self._searching.drop()
            self.found.clear()
            self.count.setText(tr("Type the text to find."))
            return
        try:
            query.pattern()
        except PatternError as error:
            self._searching.drop()
            self.count.setText(tr("Pattern: {error}").format(error=error))
            return
        roots, texts = self._roots, self._replacer.texts()
        self.count.setText(tr("Looking…"))
        self._searching.submit(lambda: search(roots, query, texts))

    def _show(self, matches: tuple[SearchMatch, ...]) -> None:
        self.found.clear()
        files: dict[Path, QtWidgets.QTreeWidgetItem] = {}
        line = (Path(), 0)
        for match in matches:
            if (match.path, match.line) == line:
                continue  # one row for each line, even with several matches
            line = (match.path, match.line)
            parent = files.get(match.path)
            if parent is None:
                parent = QtWidgets.QTreeWidgetItem([self._named(match.path)])
                if self._replacing:
                    parent.setCheckState(0, Qt.CheckState.Checked)
                parent.setData(0, _PATH, match.path)
                files[match.path] = parent
            item = QtWidgets.QTreeWidgetItem([f"{match.line}: {match.text.strip()}"])
            item.setData(0, _MATCH, match)
            item.setFont(0, mono_font())
            parent.addChild(item)
        self.found.addTopLevelItems(list(files.values()))
        self.found.expandAll()
        self.replace_all.setEnabled(bool(files))
        self.count.setText(f"{self._replaced} {_count_text(len(matches), len(files))}".strip())
        self._replaced = ""

    def _named(self, path: Path) -> str:
        """Return the name of a file in a row, with its folder if there are several."""
        root = innermost(path, self._roots)
        return path.name if root is None else below(path, root, self._roots)

    def _on_failed(self, error: object) -> None:
        if isinstance(error, PatternError):
            self.count.setText(tr("Pattern: {error}").format(error=error))
            return
        self.count.setText(
            tr("The folder could not be searched: {name}.").format(name=type(error).__name__)
        )

    def _to_first(self) -> None:
        """Move from the field to the matches."""
        first = self.found.topLevelItem(0)
        place = first.child(0) if first is not None else None
        if place is not None:
            self.found.setFocus()
            self.found.setCurrentItem(place)

    def _choose(self, item: QtWidgets.QTreeWidgetItem) -> None:
        match = item.data(0, _MATCH)
        if isinstance(match, SearchMatch):
            self.chosen.emit(match)

    def _query(self) -> Query:
        return Query(self.field.text(), self.regex.isChecked(), self.case.isChecked())

    def _ask_replace(self) -> None:
        """Ask for consent to the changes before they are written."""
        items = (self.found.topLevelItem(row) for row in range(self.found.topLevelItemCount()))
        chosen = [
            item.data(0, _PATH)
            for item in items
            if item is not None and item.checkState(0) == Qt.CheckState.Checked
        ]
        if not chosen:
            self.count.setText(tr("Select the files to change."))
            return
        box = QtWidgets.QMessageBox(self)
        box.setIcon(QtWidgets.QMessageBox.Icon.NoIcon)
        box.setWindowTitle(tr("Replace in files"))
        question = tr("Replace in 1 file?") if len(chosen) == 1 else tr("Replace in {count} files?")
        box.setText(question.format(count=len(chosen)))
        box.setInformativeText(
            tr(
                "Open files are changed in their editors, where you can undo it. Other files are "
                "written to disk at once."
            )
        )
        button = QtWidgets.QMessageBox.StandardButton
        box.setStandardButtons(button.Yes | button.Cancel)
        box.button(button.Yes).setText(tr("Replace"))
        if box.exec() == button.Yes:
            self._replace(tuple(chosen))

    def _replace(self, paths: tuple[Path, ...]) -> None:
        try:
            done = self._replacer.replace(paths, self._query(), self.new.text())
        except PatternError as error:
            self.count.setText(tr("Pattern: {error}").format(error=error))
            return
        self._replaced = tr("Replaced: {places}.").format(places=_places(done.places, done.files))
        self._replaced = " ".join((self._replaced, *done.failed))
        self._search()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return to the text on Esc; the matches stay."""
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Stop delayed work."""
        self._rest()
        super().closeEvent(event)

    def _rest(self) -> None:
        self._soon.stop()
        self._searching.drop()


def _count_text(matches: int, files: int) -> str:
    if not matches:
        return tr("Nothing found.")
    if matches >= Query("").most:
        words = tr("{matches} or more matches in {files} files")
        return words.format(matches=matches, files=files)
    return _places(matches, files)


def _places(matches: int, files: int) -> str:
    if matches == 1:
        return tr("1 match in 1 file")
    if files == 1:
        words = tr("{matches} matches in 1 file")
    else:
        words = tr("{matches} matches in {files} files")
    return words.format(matches=matches, files=files)


# Replaces matches in files: in the editor if a file is open, otherwise on disk.


@dataclass(frozen=True, slots=True)
class Replaced:
    """The result of a replacement."""

    places: int = 0
    """Number of replaced matches."""

    files: int = 0
    """Number of changed files."""

    failed: tuple[str, ...] = ()
    """Reasons why files were left unchanged, one sentence each."""


class FileReplacer:
    """Provides unsaved texts of open files, and replaces in all files."""

    def __init__(self, tabs: EditorTabs) -> None:
        self._tabs = tabs

    def texts(self) -> dict[Path, str]:
        """Return the unsaved texts of open files, which override those on disk."""
        return {path: page.editor.text() for path, page in self._pages().items()}

    def replace(self, paths: tuple[Path, ...], query: Query, new: str) -> Replaced:
        """Replace every match in some files.

        An open file gets the edits as one undo step and is not saved; any other file is written
        atomically.
        """
        pages = self._pages()
        places, files, failed = 0, 0, []
        for path in paths:
            try:
                count = self._in_one(path, pages, query, new)
            except FileError as error:
                failed.append(str(error))
                continue
            places += count
            files += bool(count)
        return Replaced(places, files, tuple(failed))

    def _in_one(self, path: Path, pages: Mapping[Path, EditorPage], query: Query, new: str) -> int:
        page = pages.get(path.resolve())
        if page is not None:
            edits = replaced(page.editor.text(), query, new)
            page.editor.apply_edits(edits)
            return len(edits)
        file = read_file(path)
        edits = replaced(file.text, query, new)
        if edits:
            write_file(path, replace(file, text=apply_edits(file.text, edits)))
        return len(edits)

    def _pages(self) -> dict[Path, EditorPage]:
        found: dict[Path, EditorPage] = {}
        for page in self._tabs.pages():
            path = page.controller.path
            if path is not None:
                found.setdefault(path.resolve(), page)
        return found
