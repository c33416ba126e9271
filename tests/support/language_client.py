"""An editor beside a real server, over pipes."""

from __future__ import annotations

import asyncio
import sys
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from tests.support import patience


class Editor:
    """A client that remembers what the server publishes."""

    def __init__(self, client: LanguageClient) -> None:
        self.client = client
        self.capabilities = types.ServerCapabilities()
        self.published: dict[str, list[types.PublishDiagnosticsParams]] = defaultdict(list)
        self._changed = asyncio.Condition()

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        async def published(params: types.PublishDiagnosticsParams) -> None:
            async with self._changed:
                self.published[params.uri].append(params)
                self._changed.notify_all()

    def open(self, path: Path, text: str | None = None) -> str:
        """Open a file; gives its URI."""
        if text is not None:
            path.write_text(text, encoding="utf-8", newline="")
        uri = path.as_uri()
        content = path.read_bytes().decode("utf-8")
        item = types.TextDocumentItem(uri, "prompty", 1, content)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def change(self, uri: str, version: int, text: str) -> None:
        """Give a text a new content."""
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version, uri),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    async def findings(self, uri: str, version: int = 1) -> list[types.Diagnostic]:
        """What the server found in a version of a text."""

        def known() -> types.PublishDiagnosticsParams | None:
            return next((each for each in self.published[uri] if each.version == version), None)

        async with self._changed:
            async with asyncio.timeout(patience.SECONDS):
                await self._changed.wait_for(lambda: known() is not None)
        found = known()
        assert found is not None
        return list(found.diagnostics)


@asynccontextmanager
async def started(
    *folders: Path,
    encoding: types.PositionEncodingKind = types.PositionEncodingKind.Utf16,
    module: str = "studio",
) -> AsyncIterator[Editor]:
    """An editor with a server of its own, which has ended when the block has."""
    client = LanguageClient("test", "1")
    editor = Editor(client)
    await client.start_io(sys.executable, "-m", module, "lsp", "--stdio")
    answer = await client.initialize_async(
        types.InitializeParams(
            types.ClientCapabilities(
                general=types.GeneralClientCapabilities(position_encodings=[encoding]),
                text_document=types.TextDocumentClientCapabilities(
                    completion=types.CompletionClientCapabilities(
                        completion_item=types.ClientCompletionItemOptions(snippet_support=True)
                    )
                ),
            ),
            workspace_folders=[types.WorkspaceFolder(each.as_uri(), each.name) for each in folders],
        )
    )
    editor.capabilities = answer.capabilities
    client.initialized(types.InitializedParams())
    try:
        yield editor
        await client.shutdown_async(None)
        client.exit(None)
    finally:
        await client.stop()
