"""Files and pictures that are dropped or pasted into an editor."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QObject, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QInputDialog, QLineEdit

if TYPE_CHECKING:
    from studio.ui.editor.text.parse_tracker import ParseTracker
    from studio.ui.editor.text.prompt_view import PromptView
    from studio.viewmodels.app.notifications import Notifications

_OPENED = (".prompty",)


class MediaDrop(QObject):
    """Puts files into the text in the words of its dialect; prompts are opened instead."""

    request_open = Signal(Path)  # of a prompt

    def __init__(
        self,
        editor: PromptView,
        reading: ParseTracker,
        messages: Notifications,
        path: Callable[[], Path | None],
    ) -> None:
        """Make it.

        Args:
            editor: whose text.
            reading: the document that the text was read to.
            messages: where what cannot be done is said.
            path: the prompt's own file, where it has one.
        """
        super().__init__(editor)
        self._editor = editor
        self._reading = reading
        self._messages = messages
        self._path = path

    def wants(self, data: QMimeData) -> bool:
        """Whether there is something in it that is no text."""
        return bool(_files(data)) or (data.hasImage() and not data.hasText())

    def take(self, data: QMimeData) -> None:
        """Put in what was dropped or pasted at the caret."""
        files = _files(data)
        if not files:
            image = QImage(data.imageData())
            if not image.isNull():
                self._paste_image(image)
            return
        for path in files:
            if path.suffix.lower() in _OPENED:
                self.request_open.emit(path)
            elif path.is_file():
                self.insert(path)

    def insert(self, path: Path) -> None:
        """Put one file in at the caret, as one step that can be undone."""
        from studio.core.prompty.parse import parse
        from studio.core.prompty.split import in_front_matter
        from studio.ui.editor.text.media import edits_for

        own, text, caret = self._path(), self._editor.text(), self._editor.caret()
        document = self._reading.now() or parse(text, own)
        yaml = in_front_matter(text, caret)
        folder = own.parent if own else None
        self._editor.apply_edits(edits_for(document, path, folder, caret, yaml=yaml))
        self._editor.ensureCursorVisible()  # a new input in the front matter moves the text down

    def _paste_image(self, image: QImage) -> None:
        from studio.ui.editor.text.media import free_image_name

        own = self._path()
        if own is None:
            self._messages.info(
                self.tr("The picture has no place yet."),
                self.tr("Save the prompt first; a pasted picture is saved beside it."),
            )
            return
        name, agreed = QInputDialog.getText(
            self._editor,
            self.tr("Paste picture"),
            self.tr("Save the picture in {name} as:").format(name=own.parent.name),
            QLineEdit.EchoMode.Normal,
            free_image_name(own.parent),
        )
        if not agreed or not name.strip():
            return
        target = own.parent / Path(name.strip()).name
        target = target if target.suffix else target.with_suffix(".png")
        if target.exists():
            self._messages.error(
                self.tr("There is a file {name!r} already.").format(name=target.name),
                self.tr("Choose another name."),
            )
        elif not image.save(str(target)):
            self._messages.error(
                self.tr("The picture could not be saved as {name!r}.").format(name=target.name),
                self.tr("Use a name that ends in .png or .jpg, in a folder that can be written."),
            )
        else:
            self.insert(target)


def _files(data: QMimeData) -> list[Path]:
    if not data.hasUrls():
        return []
    paths = [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
    return paths if len(paths) == len(data.urls()) else []
