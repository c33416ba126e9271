"""What an editor's text was read to, and what waits until it is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QToolTip

from studio.application.words import tr

if TYPE_CHECKING:
    from studio.core.prompty.document import PromptDocument
    from studio.ui.editor.text.prompt_view import PromptView

_LONG = 100_000
"""Characters that are read in 50 ms; a longer text is read in the pool only."""


class ParseTracker:
    """Keeps the newest document of one editor."""

    def __init__(self, editor: PromptView) -> None:
        self._editor = editor
        self.document: PromptDocument | None = None
        """The newest one, which may be a few keys behind the text."""
        self._asked: tuple[str, int, Callable[[PromptDocument], None]] | None = None
        """Text and caret of a wish that waits for the text to be read, and the wish."""

    @property
    def is_asked(self) -> bool:
        """Whether something waits for the text to be read."""
        return self._asked is not None

    def now(self) -> PromptDocument | None:
        """The document of the text as it stands, for edits: their places must be those of now.

        None before the first reading, and where a long text was changed and is still being read:
        `when_read` waits for it.
        """
        text = self._editor.text()
        if self.document is None or self.document.source.text == text:
            return self.document
        if len(text) > _LONG:
            return None
        from studio.application.document.reading import read_document

        return read_document(text, self.document.source.path)

    def when_read(self, act: Callable[[PromptDocument], None]) -> None:
        """Do something with the document of the text as it stands.

        At once, but for a long text that is still being read: then as soon as it is, unless the
        user goes on typing or moves the caret; the window does not wait for it.
        """
        document = self.now()
        if document is not None:
            act(document)
            return
        self._asked = (self._editor.text(), self._editor.textCursor().position(), act)
        self._editor.tell(tr("The text is still being read…"))

    def take(self, document: PromptDocument) -> None:
        """Take a parsed document, and do what waits for it."""
        self.document = document
        if self._asked is None:
            return
        text, caret, act = self._asked
        if (text, caret) != (self._editor.text(), self._editor.textCursor().position()):
            self._asked = None  # the user went on
        elif document.source.text == text:
            self._asked = None
            QToolTip.hideText()
            # Not from here: it may ask the user, while others still wait for this document.
            QTimer.singleShot(0, self._editor, lambda: act(document))

    def rest(self) -> None:
        """The editor is about to go: nothing waits any more."""
        self._asked = None
