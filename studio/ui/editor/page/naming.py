"""Names in the editor: go to the declaration, find uses, and rename inputs and tools."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt, Signal

from studio.application.editing.experiment import names as experiments
from studio.application.editing.names import (
    definition,
    file_at,
    name_at,
    places_of,
    tool_at,
    tool_rename,
)
from studio.application.words import tr
from studio.core.text.source import Span
from studio.ui.parts.fields import NameField

if TYPE_CHECKING:
    from studio.core.prompty.document import PromptDocument
    from studio.ui.editor.text.view import PromptEditor


_LEAST = 120
_AROUND = 16


class RenameField(NameField):
    """Field over a name in the text."""

    def __init__(
        self, editor: PromptEditor, place: Span, name: str, rename: Callable[[str], bool]
    ) -> None:
        """Show the field over a span.

        Args:
            editor: the editor.
            place: span of the name.
            name: the current name.
            rename: applies the new name; returns False if it cannot be used.
        """
        super().__init__(editor, name, rename)
        self._room = editor.width() - 4
        self.setFont(editor.font())
        self.setAccessibleName(tr("New name of {name!r}").format(name=name))
        self.setToolTip(tr("Enter renames it everywhere, Esc cancels"))
        self.textEdited.connect(self._fit)
        source, cursor = editor.source(), editor.textCursor()
        cursor.setPosition(source.to_utf16(place.start))
        at = editor.viewport().mapTo(editor, editor.cursorRect(cursor).topLeft())
        self._at = QPoint(at.x() - 5, at.y() - 4)
        self._fit()
        self.selectAll()
        self.show()
        self.setFocus(Qt.FocusReason.PopupFocusReason)

    def _fit(self) -> None:
        width = max(_LEAST, self.fontMetrics().horizontalAdvance(self.text()) + 2 * _AROUND)
        left = max(0, min(self._at.x(), self._room - width))
        height = self.sizeHint().height()
        self.setGeometry(left, max(0, self._at.y()), min(width, self._room), height)


@dataclass(slots=True)
class _Followed:
    """A rename of an input that also changed other files."""

    old: str
    """Previous name."""

    new: str
    """New name."""

    files: tuple[experiments.FileEdits, ...]
    """Edits of the other files."""

    is_back: bool = False
    """Whether the files have the previous name again."""


class Naming(QObject):
    """Go to definition, find uses and rename, in one editor."""

    request_open = Signal(Path)  # path of a file that the prompt refers to
    input_renamed = Signal(str, str)  # previous and new name of an input of the prompt

    def __init__(
        self, editor: PromptEditor, save: Callable[[], bool], keep: Callable[[], None]
    ) -> None:
        """Create it.

        Args:
            editor: the editor.
            save: writes the text to its file, to match renames in other files; returns False on
                failure.
            keep: stores the unsaved text for the next start. If the process is killed between two
                files, the restored text matches the changed ones.
        """
        super().__init__(editor)
        self._editor = editor
        self._save, self._keep = save, keep
        self._followed: list[_Followed] = []

    def go_to_definition(self, *, tells: bool = True) -> None:
        """Go to the declaration of the input or tool at the caret, or from there to its first use.

        Open the file if the caret is on a reference to one.

        Args:
            tells: whether to show a message if there is none.
        """
        self._editor.reading.when_read(lambda document: self._go(document, tells=tells))

    def _go(self, document: PromptDocument, *, tells: bool) -> None:
        caret = self._editor.caret()
        is_experiment = document.is_experiment
        file = experiments.file_at(document, caret) if is_experiment else file_at(document, caret)
        if file is not None:
            self._open(file, document)
            return
        if is_experiment:
            found = experiments.value_name_at(document, caret)
            declared = experiments.declaration_of(document, found[0]) if found else None
            if declared is not None and declared[0].source.path is not None:
                self.request_open.emit(declared[0].source.path)
            elif tells:
                self._editor.tell(tr("This name is not declared."))
            return
        place = definition(document, caret)
        if place is not None:
            self._editor.reveal(place)
        elif tells:
            self._editor.tell(tr("This name is not declared."))

    def rename(self) -> None:
        """Ask for a new name of the input or tool at the caret."""
        self._editor.reading.when_read(self._rename)

    def _rename(self, document: PromptDocument) -> None:
        caret = self._editor.caret()
        name = _input_at(document, caret)
        if name is None:
            name = tool_at(document, caret)
        if name is None:
            self._editor.tell(tr("Put the caret on an input or a tool to rename it."))
            return
        found = experiments.value_name_at(document, caret) if document.is_experiment else None
        places = (found[1].key,) if found is not None else places_of(document, caret)[1]
        here = next((place for place in places if place.touches(caret)), Span(caret, caret))
        RenameField(self._editor, here, name, self.rename_to)

    def rename_to(self, new: str) -> bool:
        """Rename the input or tool at the caret; return False if the name cannot be used."""
        document, caret = self._editor.document_now(), self._editor.caret()
        if document is None:
            return False
        name = _input_at(document, caret)
        tool = tool_at(document, caret) if name is None else None
        if new == (name or tool):
            return False
        try:
            if name is not None:
                self.rename_input(document, name, new)
            elif tool is not None:
                self._editor.apply_edits(tool_rename(document, tool, new))
            else:
                return False
        except ValueError as error:
            self._editor.tell(f"{str(error)[:1].upper()}{str(error)[1:]}.")
            return False
        return True

    def rename_input(self, document: PromptDocument, old: str, new: str) -> None:
        """Rename an input in the text and in all files with a value for it.

        If there are such files, the text is saved with them, so that all have the new name.

        Args:
            document: the document of the current text.
            old: the current name.
            new: the new name.

        Raises:
            ValueError: the name cannot be used, or a file cannot be changed; nothing is changed
                then.
        """
        own = document.source.path
        changes = experiments.rename_everywhere(document, old, new)
        edits = next((each.edits for each in changes if each.source.path == own), ())
        others = tuple(each for each in changes if each.source.path != own)
        if not document.is_experiment:
            self.input_renamed.emit(old, new)
        self._editor.apply_edits(edits)
        if not others:
            return
        try:
            self._write(others)
        except ValueError:
            self._editor.undo()
            raise
        self._followed.append(_Followed(old, new, others))
        names = ", ".join(each.path.name for each in others)
        self._editor.tell(tr("Renamed in {names} too, and saved.").format(names=names))

    def _write(self, others: tuple[experiments.FileEdits, ...], *, back: bool = False) -> None:
        """Write the other files and save the text, or leave all of them unchanged.

        Raises:
            ValueError: a file cannot be written; the text names it.
        """
        try:
            self._keep()
        except OSError as error:
            raise ValueError(tr("this file cannot be saved")) from error
        experiments.write_all(others, back=back)
        if not self._save():
            experiments.write_all(others, back=not back)
            raise ValueError(tr("this file cannot be saved"))

    def follow(self, document: PromptDocument) -> None:
        """Revert a rename in the other files if the input has its old name again, or redo it.

        Args:
            document: the document after an undo, a redo or an edit.
        """
        names = experiments.input_names(document) if self._followed else frozenset()
        for each in reversed(self._followed):
            back = each.old in names and each.new not in names
            if back == each.is_back or not (back or each.new in names):
                continue
            each.is_back = back
            try:
                self._write(each.files, back=back)
            except ValueError as error:
                self._editor.tell(tr("The name was not changed: {error}").format(error=error))

    def find_uses(self, show: Callable[[str, tuple[Span, ...]], None]) -> None:
        """Find all uses of the input or tool at the caret.

        Args:
            show: called with the name and the spans, which are empty if there is no name.
        """
        self._editor.reading.when_read(
            lambda document: show(*places_of(document, self._editor.caret()))
        )

    def _open(self, file: str, document: PromptDocument) -> None:
        own = document.source.path
        path = own.parent / Path(file) if own is not None else Path(file)
        if path.is_file():
            self.request_open.emit(path)
        else:
            self._editor.tell(tr("There is no file {name!r} beside the prompt.").format(name=file))


def _input_at(document: PromptDocument, offset: int) -> str | None:
    """Return the input at an offset of a prompt or of a row of an experiment."""
    if not document.is_experiment:
        return name_at(document, offset)
    found = experiments.value_name_at(document, offset)
    return found[0] if found is not None else None
