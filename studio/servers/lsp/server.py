"""`prompt-studio lsp`: the language server, for any editor that speaks the protocol (LSP 3.17).

Each feature is a function of an `OpenText`, with the same rules as the window and `check`. Each
change sends the whole text: the protocol's line ends differ from those of Python's `splitlines`, so
a partial change after a form feed or U+2028 would be applied at the wrong position.
"""

import asyncio
import gc
import logging
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from studio import __version__
from studio.application.document.checked_file import Trial, no_trial, trials, unread
from studio.core.paths import program, user_paths
from studio.core.system_libraries import has_display
from studio.core.text.files import read_bounded
from studio.core.text.source import Problem
from studio.core.text.values import reason_of
from studio.core.tools.trust.store import TrustStore
from studio.servers.lsp import features, names
from studio.servers.lsp.features import OpenText, PositionEncoding, read

OPEN_COMMAND = "prompt-studio.open"
RUN_COMMAND = "prompt-studio.run"
STEP_COMMAND = "prompt-studio.step"
"""Command that opens a prompt in the window; its argument is the URI of the file."""

MESSAGES_COMMAND = "prompt-studio.messages"
"""Command that returns the messages for a model and shows them if the editor can open a file."""

_TRIGGERS = ["{", "%", ".", "|", "$", ":", "[", "`", " "]


class PromptLanguageServer(LanguageServer):
    """The language server with the parsed texts that are open in the editor."""

    def __init__(self, trial: Trial) -> None:
        super().__init__(
            "prompt-studio", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full
        )
        self._trial = trial
        self._trust = TrustStore()
        self._readings: dict[str, OpenText] = {}
        self._due: dict[str, asyncio.Task[None]] = {}
        self._trying: dict[tuple[str, Path | None], asyncio.Future[Problem | None]] = {}
        self._index: names.SymbolIndex | None = None
        self.is_alone = False
        """Whether the process runs only this server.

        If so, objects that exist after the first text are excluded from garbage collection, which
        otherwise delays some diagnostics by 40 ms.
        """

    @property
    def encoding(self) -> PositionEncoding:
        """Return the unit of a position's characters that the editor chose."""
        agreed = self.workspace.position_encoding
        value = agreed.value if isinstance(agreed, types.PositionEncodingKind) else agreed
        return "utf-8" if value == "utf-8" else "utf-32" if value == "utf-32" else "utf-16"

    async def reading(self, uri: str) -> OpenText:
        """Return the current `OpenText` of a URI; a new text is first tried in another process."""
        named = to_fs_path(uri) if uri.startswith("file:") else None
        path = Path(named) if named else None
        failed, tried = None, ""
        while True:
            opened, known = self.workspace.text_documents.get(uri), self._readings.get(uri)
            if opened is None:  # not open in the editor: read its file, up to a size limit
                text, version = _text_on_disk(uri, path), None
            elif known is not None and known.version == opened.version is not None:
                return known
            else:
                text, version = opened.source, opened.version
            if tried == text or (known is not None and known.document.failure is None):
                break
            failed, tried = await self._failure_of((text, path)), text
        if failed is None:
            made = read(uri, path, text, version, self.encoding, self._trust)
        else:
            made = OpenText(uri, version, unread(text, path, failed), (failed,), self.encoding)
        if opened is not None:
            self._readings[uri] = made
        return made

    async def _failure_of(self, item: tuple[str, Path | None]) -> Problem | None:
        """Try a text in a thread so that the server can answer other requests meanwhile."""
        if item not in self._trying:
            loop = asyncio.get_running_loop()
            self._trying[item] = loop.create_future()

            def work() -> None:
                (failed,) = self._trial([item])
                with suppress(RuntimeError):  # the editor has disconnected
                    loop.call_soon_threadsafe(lambda: self._trying.pop(item).set_result(failed))

            threading.Thread(target=work, daemon=True).start()
        return await asyncio.shield(self._trying[item])

    def check_soon(self, uri: str) -> None:
        """Publish the diagnostics of a text after handling the messages that have arrived."""
        if uri in self._due:
            self._due[uri].cancel()
        self._due[uri] = asyncio.get_running_loop().create_task(self._publish(uri))

    def check_all(self) -> None:
        """Check every open text again: a file that it refers to may have changed."""
        for uri in tuple(self.workspace.text_documents):
            self._readings.pop(uri, None)
            self.check_soon(uri)

    def forget(self, uri: str) -> None:
        """Remove the diagnostics of a closed text."""
        self._readings.pop(uri, None)
        if uri in self._due:
            self._due.pop(uri).cancel()
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def symbols(self, query: str) -> list[types.WorkspaceSymbol]:
        """Return the names in the editor's folders that match a query."""
        if self._index is None:
            self._index = names.SymbolIndex(self.encoding)
        uris = list(self.workspace.folders) or [self.workspace.root_uri or ""]
        paths = (to_fs_path(uri) for uri in uris if uri.startswith("file:"))
        return self._index.find(tuple(Path(path) for path in paths if path), query)

    async def _publish(self, uri: str) -> None:
        reading = await self.reading(uri)
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri, features.diagnostics(reading), reading.version)
        )
        if self.is_alone:
            self.is_alone = False  # only once
            gc.collect()
            gc.freeze()


def make_server(trial: Trial = no_trial) -> PromptLanguageServer:
    """Create a server with all features that tries each text before it opens; do not start it."""
    server = PromptLanguageServer(trial)
    _add_texts(server)
    _add_looking(server)
    _add_changing(server)
    _add_studio(server)
    return server


def serve() -> None:
    """Serve the editor over standard input and output until it disconnects."""
    # A library that prints would corrupt the stream; the log goes to standard error.
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    server = make_server(trials())
    server.is_alone = True
    server.start_io()


def _add_texts(server: PromptLanguageServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.check_soon(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.check_soon(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(_: types.DidSaveTextDocumentParams) -> None:
        server.check_all()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(_: types.DidChangeWatchedFilesParams) -> None:
        server.check_all()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.forget(params.text_document.uri)


def _add_looking(server: PromptLanguageServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        return features.hover_at(await server.reading(params.text_document.uri), params.position)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: types.DefinitionParams) -> types.Location | None:
        return names.definition_at(await server.reading(params.text_document.uri), params.position)

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def references(params: types.ReferenceParams) -> list[types.Location]:
        return names.references_at(await server.reading(params.text_document.uri), params.position)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    async def highlights(params: types.DocumentHighlightParams) -> list[types.DocumentHighlight]:
        found = names.references_at(await server.reading(params.text_document.uri), params.position)
        return [types.DocumentHighlight(each.range) for each in found]

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        return features.symbols(await server.reading(params.text_document.uri))

    @server.feature(types.WORKSPACE_SYMBOL)
    @server.thread()
    def everywhere(params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
        return server.symbols(params.query)

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    async def folding(params: types.FoldingRangeParams) -> list[types.FoldingRange]:
        return features.folding_ranges(await server.reading(params.text_document.uri))

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, features.LEGEND)
    async def tokens(params: types.SemanticTokensParams) -> types.SemanticTokens:
        return features.semantic_tokens(await server.reading(params.text_document.uri))

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def inlay(params: types.InlayHintParams) -> list[types.InlayHint]:
        return features.inlay_hints(await server.reading(params.text_document.uri), params.range)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_LINK)
    async def links(params: types.DocumentLinkParams) -> list[types.DocumentLink]:
        return features.document_links(await server.reading(params.text_document.uri))


def _add_changing(server: PromptLanguageServer) -> None:
    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=_TRIGGERS)
    )
    async def complete(params: types.CompletionParams) -> types.CompletionList:
        asked = (
            params.context is None
            or params.context.trigger_kind == types.CompletionTriggerKind.Invoked
        )
        return features.completions(
            await server.reading(params.text_document.uri),
            params.position,
            asked=asked,
            snippets=_knows_snippets(server.client_capabilities),
        )

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    )
    async def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        return features.code_actions(await server.reading(params.text_document.uri), params.range)

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    async def renamable(params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
        return names.renamable_at(await server.reading(params.text_document.uri), params.position)

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    async def rename(params: types.RenameParams) -> types.WorkspaceEdit | None:
        reading = await server.reading(params.text_document.uri)
        try:
            return names.rename_at(reading, params.position, params.new_name)
        except ValueError as error:
            raise JsonRpcInvalidParams(str(error)) from error

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    async def formatting(params: types.DocumentFormattingParams) -> list[types.TextEdit]:
        return features.formatting(await server.reading(params.text_document.uri))


def _add_studio(server: PromptLanguageServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def lenses(params: types.CodeLensParams) -> list[types.CodeLens]:
        uri = params.text_document.uri
        if not uri.startswith("file:"):
            return []
        start = types.Position(0, 0)
        offered = [types.Command("Open in Prompt Studio", OPEN_COMMAND, arguments=[uri])]
        if (await server.reading(uri)).document.is_prompt:
            offered.append(types.Command("Show messages", MESSAGES_COMMAND, arguments=[uri]))
            offered.append(types.Command("Run", RUN_COMMAND, arguments=[uri]))
            offered.append(types.Command("Step", STEP_COMMAND, arguments=[uri]))
        return [types.CodeLens(types.Range(start, start), command=each) for each in offered]

    @server.command(MESSAGES_COMMAND)
    async def show_messages(uri: str) -> str:
        reading = await server.reading(uri)
        if not reading.document.is_prompt:
            raise JsonRpcInvalidParams(f"{uri} is not a prompt")
        text = features.messages_text(reading)
        window = server.client_capabilities.window
        if window is not None and window.show_document is not None:
            path = _messages_file(reading.document.source.path)
            path.write_text(text, encoding="utf-8")
            await server.window_show_document_async(types.ShowDocumentParams(path.as_uri()))
        return text

    @server.command(OPEN_COMMAND)
    def open_in_studio(uri: str) -> None:
        _start_studio(uri)

    @server.command(RUN_COMMAND)
    def run_in_studio(uri: str) -> None:
        _start_studio(uri, "--run")

    @server.command(STEP_COMMAND)
    def step_in_studio(uri: str) -> None:
        _start_studio(uri, "--step")


def _start_studio(uri: str, *options: str) -> None:
    """Open a file in the running studio, or in a new one, without waiting for it."""
    path = to_fs_path(uri)
    if path is None or not Path(path).is_file():
        raise JsonRpcInvalidParams(f"{uri} is not a file on this machine")
    if not has_display():
        raise JsonRpcInvalidParams(
            "There is no screen for a window; `prompt-studio run` needs none."
        )
    subprocess.Popen(
        [*program(), *options, path],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _messages_file(prompt: Path | None) -> Path:
    """Return the cache file for the messages of a prompt."""
    folder = user_paths().cache / "messages"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{prompt.stem if prompt is not None else 'prompt'}.messages.md"


def _knows_snippets(capabilities: Any) -> bool:  # noqa: ANN401 - a nested record of the protocol
    completion = getattr(capabilities.text_document, "completion", None)
    item = getattr(completion, "completion_item", None)
    return bool(getattr(item, "snippet_support", False))


def _text_on_disk(uri: str, path: Path | None) -> str:
    try:
        return read_bounded(path).decode("utf-8") if path is not None else ""
    except (OSError, UnicodeDecodeError) as error:
        raise JsonRpcInvalidParams(f"{uri} cannot be read: {reason_of(error)}") from error
