"""Counts a preview with the embedded model's own tokenizer, while its server runs anyway."""

from __future__ import annotations

from concurrent.futures import Future

from PySide6.QtCore import QObject, Signal

from studio.application.preview.value import Preview
from studio.core.models.base import ModelRequest
from studio.core.models.embedded.server import EmbeddedServer
from studio.core.tokens.conversation import ConversationTokens
from studio.core.tokens.embedded import count_embedded
from studio.viewmodels.app.background import Background


class EmbeddedCount(QObject):
    """Asks the server in the loop; a newer preview takes the place of one that waits."""

    counted = Signal(int, object)  # revision of the preview, ConversationTokens

    def __init__(
        self, background: Background, server: EmbeddedServer, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._background = background
        self._server = server
        self._known: dict[str, int] = {}
        self._flying: Future[ConversationTokens | None] | None = None

    def count(self, preview: Preview) -> None:
        """Count a preview; nothing comes while the server does not run."""
        if self._server.state != "ready" or not self._background.is_running:
            return
        if self._flying is not None:
            self._flying.cancel()
        request = ModelRequest(
            messages=preview.messages.messages, tools=preview.tools, protocol=preview.protocol
        )
        revision = preview.revision
        work = count_embedded(self._server, request, self._known)
        self._flying = self._background.start(work, lambda future: self._take(revision, future))

    def _take(self, revision: int, future: Future[ConversationTokens | None]) -> None:
        if future is self._flying:
            self._flying = None
        if not future.cancelled() and (tokens := future.result()) is not None:
            self.counted.emit(revision, tokens)
