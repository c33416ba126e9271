"""Files and pictures that are dropped on or pasted into an editor."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QObject, Signal
from PySide6.QtWidgets import QInputDialog, QLineEdit

from studio.application.words import tr
from studio.core.text.source import Span, TextEdit
from studio.ui.parts.fields import dropped_files

if TYPE_CHECKING:
    from PySide6.QtGui import QImage

    from studio.core.prompty.document import PromptDocument
    from studio.ui.editor.text.prompt_view import PromptView
    from studio.viewmodels.app.notifications import Notifications


_OPENED = (".prompty",)


class MediaDrop(QObject):
    """Inserts references to files in the syntax of the dialect, and opens dropped prompts."""

    request_open = Signal(Path)  # path of a prompt

    def __init__(
        self,
        editor: PromptView,
        with_document: Callable[[Callable[[PromptDocument], object]], None],
        messages: Notifications,
        path: Callable[[], Path | None],
    ) -> None:
        """Create it.

        Args:
            editor: the editor.
            with_document: passes the document of the current text, once it is parsed.
            messages: notifications for failures.
            path: returns the prompt's file, if it has one.
        """
        super().__init__(editor)
        self._editor = editor
        self._with_document = with_document
        self._messages = messages
        self._path = path

    def wants(self, data: QMimeData) -> bool:
        """Return whether the data contain more than text."""
        return bool(dropped_files(data)) or (data.hasImage() and not data.hasText())

    def leaves(self, data: QMimeData) -> bool:
        """Return whether the window handles the data: folders only, which it adds to Files."""
        files = dropped_files(data)
        return bool(files) and all(path.is_dir() for path in files)

    def take(self, data: QMimeData) -> None:
        """Insert dropped or pasted data at the caret."""
        from PySide6.QtGui import QImage  # not before the first paint

        files = dropped_files(data)
        if not files:
            image = QImage(data.imageData())
            if not image.isNull():
                self._paste_image(image)
            return
        inserted = [path for path in files if path.suffix.lower() not in _OPENED and path.is_file()]
        for path in files:
            if path.suffix.lower() in _OPENED:
                self.request_open.emit(path)
        if inserted:
            self.insert(*inserted)

    def insert(self, *paths: Path) -> None:
        """Insert references to files at the caret or over the selection, as one undo step."""
        self._with_document(lambda _: self._insert(paths))

    def _insert(self, paths: tuple[Path, ...]) -> None:
        cursor = self._editor.textCursor()
        cursor.beginEditBlock()
        try:
            # Otherwise it would include the inserted text, which the next key would delete.
            cursor.removeSelectedText()
            for path in paths:
                self._with_document(partial(self._put_in, path))
        finally:
            cursor.endEditBlock()
        self._editor.ensureCursorVisible()  # a new input in the front matter moves the text down

    def _put_in(self, path: Path, document: PromptDocument) -> None:
        from studio.core.prompty.foreign import in_front_matter

        own, caret = self._path(), self._editor.caret()
        yaml = in_front_matter(document.source.text, caret)
        folder = own.parent if own else None
        self._editor.apply_edits(edits_for(document, path, folder, caret, yaml=yaml))

    def _paste_image(self, image: QImage) -> None:
        own = self._path()
        if own is None:
            self._messages.info(
                tr("The picture cannot be saved yet."),
                tr("Save the prompt first; a pasted picture is saved beside it."),
            )
            return
        name, agreed = QInputDialog.getText(
            self._editor,
            tr("Paste picture"),
            tr("Save the picture in {name} as:").format(name=own.parent.name),
            QLineEdit.EchoMode.Normal,
            free_image_name(own.parent),
        )
        if not agreed or not name.strip():
            return
        target = own.parent / Path(name.strip()).name
        target = target if target.suffix else target.with_suffix(".png")
        if target.exists():
            self._messages.error(
                tr("A file {name!r} already exists.").format(name=target.name),
                tr("Choose another name."),
            )
        elif not image.save(str(target)):
            self._messages.error(
                tr("The picture could not be saved as {name!r}.").format(name=target.name),
                tr("Use a name that ends in .png or .jpg, in a writable folder."),
            )
        else:
            self.insert(target)


_NUMBERED = re.compile(r"image-(\d+)\.png")


def media_word(path: Path) -> str:
    """Return the kind of a file: `image`, `audio`, `video` or `file` (docs/format.md)."""
    from studio.core.wire.media import SUFFIXES_OF  # not before the first paint

    suffix = path.suffix.lower()
    return next((word for word, suffixes in SUFFIXES_OF.items() if suffix in suffixes), "file")


def address(path: Path, folder: Path | None) -> str:
    """Return the path in a prompt: relative to its folder, with slashes.

    The path is absolute for a file on another drive or a prompt without a folder.
    """
    if folder is not None:
        try:
            path = Path(os.path.relpath(path, folder))
        except ValueError:
            path = path.absolute()
    return path.as_posix()


def edits_for(
    document: PromptDocument, path: Path, folder: Path | None, at: int, *, yaml: bool
) -> tuple[TextEdit, ...]:
    """Return the edits that insert a file at an offset, in the syntax of the prompt's dialect.

    YAML gets a reference, and a body of the section dialect a media token. The other dialects have
    no media tokens: they get an input of that kind with the path as its default, and an expression.
    """
    written, word = address(path, folder), media_word(path)
    here = Span(at, at)
    if yaml:
        return (TextEdit(here, f"${{file:{written}}}"),)
    if document.dialect == "section":
        target = f"<{written}>" if ' "' in written else written
        return (TextEdit(here, f"![{word}]({target})"),)
    kind = word if word != "video" else "file"
    name = _free_name(document, path)
    key = "type" if document.dialect == "legacy" else "kind"
    from studio.core.prompty.edit.edits import insert_below, write_scalar
    from studio.core.prompty.edit.keep_dialect import keeping_dialect

    value = write_scalar(written)
    if isinstance(document.data.get("inputs"), list):
        lines = [f"- name: {name}", f"  {key}: {kind}", f"  default: {value}"]
    else:
        lines = [f"{name}:", f"  {key}: {kind}", f"  default: {value}"]
    inner = f"{key}: {kind}, default: {value}"
    listed = isinstance(document.data.get("inputs"), list)
    flow = f"{{name: {name}, {inner}}}" if listed else f"{name}: {{{inner}}}"
    use = f"{{{name}}}" if document.template.format == "fstring" else f"{{{{ {name} }}}}"
    edits = (*insert_below(document, ("inputs",), lines, flow), TextEdit(here, use))
    return keeping_dialect(document, edits)


def _free_name(document: PromptDocument, path: Path) -> str:
    stem = re.sub(r"\W+", "_", path.stem).strip("_").lower() or "file"
    name = stem if not stem[0].isdigit() else f"file_{stem}"
    from studio.core.text.naming import free_name

    return free_name(name, lambda each: document.input(each) is not None, "_{}")


def free_image_name(folder: Path) -> str:
    """Return a file name for a pasted picture that is not in use beside the prompt."""
    taken = [
        int(match[1]) for each in folder.iterdir() if (match := _NUMBERED.fullmatch(each.name))
    ]
    return f"image-{max(taken, default=0) + 1}.png"
