"""The tools on what a model would get: messages, the request, and the origin of each piece of it.

An origin is the text of the prompt file, or the input, that made a piece of the request.
"""

# The annotations are values: the SDK makes the schemas of them.

import json
from dataclasses import dataclass
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from studio.application.connections.model import asked_by, choice_of
from studio.application.document.checked_file import CheckedFile, finding_as_json, merged
from studio.application.preview.places import ValueSource, source_of
from studio.application.preview.requests import RequestPreview, request_preview
from studio.application.preview.shown import shown_prompt
from studio.application.preview.target import preview_target
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.prepare import Prepared
from studio.core.prompty.shapes import messages_to_json, tools_to_json
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.source import SourceText
from studio.core.text.span import Span
from studio.core.wire.request import Provider, provider_of
from studio.servers.mcp.served_folder import ServedFolder, checked_inputs
from studio.servers.mcp.tool_types import READS, Answer, BodyForm, File, Inputs, UnsavedText

_MOST = 600
"""Characters of a quote that are followed, each to its own place."""


def add_request_tools(server: MCPServer, folder: ServedFolder) -> None:
    """Give a server the tools that show what a model would get."""

    @server.tool(annotations=READS)
    async def messages(file: File, inputs: Inputs = None, text: UnsavedText = None) -> Answer:
        """The messages that a model would get; samples stand where values are missing."""
        prepared, _ = await _shown(folder, file, inputs, text)
        made = prepared.messages
        return {
            "messages": messages_to_json(made, prepared.document.dialect),
            "tools": tools_to_json(made.tools),
            "samples": sorted(prepared.samples),
            "problems": _problems(folder, prepared),
        }

    @server.tool(annotations=READS)
    async def request(
        file: File, inputs: Inputs = None, provider: BodyForm = None, text: UnsavedText = None
    ) -> Answer:
        """The exact body that the provider would get. Nothing is sent."""
        prepared, tools = await _shown(folder, file, inputs, text)
        document = prepared.document
        asked = asked_by(document, folder.trust)
        target = preview_target(choice_of(asked, folder.connections))
        wanted = provider or target.provider or provider_of(document.model)
        made = request_preview(wanted, prepared, tools, target)
        return {
            "provider": wanted,
            "answers": target.chosen,
            "body": made.body,
            "notes": list(made.notes),
            "problems": _problems(folder, prepared),
        }

    @server.tool(annotations=READS)
    async def explain_value(
        file: File,
        quote: Annotated[str, Field(description="A text of the request, as it reads there")],
        occurrence: Annotated[int, Field(description="Which of several, from 1", ge=1)] = 1,
        inputs: Inputs = None,
        provider: BodyForm = None,
        text: UnsavedText = None,
    ) -> Answer:
        """Which text of the prompt file, or which input, made a piece of the request."""
        prepared, tools = await _shown(folder, file, inputs, text)
        found = _origins_of(prepared, tools, quote, occurrence, provider)
        if found is None:
            raise ToolError(f"The request does not hold {quote!r} {occurrence} times.")
        return {"file": folder.name(prepared.document.source.path), **found}


async def _shown(
    folder: ServedFolder, file: str, inputs: dict[str, Any] | None, text: str | None
) -> tuple[Prepared, tuple[ToolSpec, ...]]:
    document = folder.document(file, text)
    offered = await folder.offered_tools(document)
    shown = shown_prompt(document, checked_inputs(document, inputs), offered, folder.trust)
    return shown.prepared, shown.tools


def _problems(folder: ServedFolder, prepared: Prepared) -> list[Answer]:
    document = prepared.document
    one = CheckedFile(document.source, merged(document.problems, prepared.problems))
    name = folder.name(document.source.path)
    return [finding_as_json(one, problem, name) for problem in one.problems]


@dataclass(slots=True)
class _Piece:
    text: str
    source: ValueSource | None

    def takes(self, source: ValueSource | None) -> bool:
        """Whether the next character belongs to this piece, too."""
        mine = self.source
        if source is None or mine is None or source.span is None or mine.span is None:
            return source is mine
        if source.input != mine.input:
            return False
        is_next = bool(not source.input and source.span.start in (mine.span.end, mine.span.end + 1))
        return source.span == mine.span or is_next

    def take(self, character: str, source: ValueSource | None) -> None:
        """Add a character."""
        self.text += character
        if source is not None and source.span is not None and self.source is not None:
            start = self.source.span.start if self.source.span is not None else 0
            self.source = ValueSource(Span(start, max(start, source.span.end)), source.input)


def _origins_of(
    prepared: Prepared,
    tools: tuple[ToolSpec, ...],
    quote: str,
    occurrence: int,
    provider: Provider | None,
) -> dict[str, Any] | None:
    """Where a quote of the request comes from, in pieces; None where the request does not hold it.

    Args:
        prepared: the prompt with its values.
        tools: its tools.
        quote: a text as it reads in the body, without JSON's escapes.
        occurrence: which of several, from 1.
        provider: whose form of the body; None for the prompt's own.
    """
    document = prepared.document
    request = request_preview(provider or provider_of(document.model), prepared, tools)
    at = _place(request.text, _escaped(quote), occurrence)
    if at is None or not quote:
        return None
    pieces = _pieces(document, request, quote, at)
    return {
        "quote": quote[:_MOST],
        "pieces": [_as_json(document.source, piece) for piece in pieces],
    }


def _pieces(document: PromptDocument, request: RequestPreview, quote: str, at: int) -> list[_Piece]:
    pieces: list[_Piece] = []
    for character in quote[:_MOST]:
        source = source_of(document, request, at)
        if pieces and pieces[-1].takes(source):
            pieces[-1].take(character, source)
        else:
            pieces.append(_Piece(character, source))
        at += len(_escaped(character))
    return pieces


def _as_json(source: SourceText, piece: _Piece) -> dict[str, Any]:
    found = piece.source
    if found is None or found.span is None:
        return {"text": piece.text, "from": "nobody wrote it: the studio or the connection set it"}
    # A literal character's place is where it begins; its text ends one further on.
    last = found.span.end if found.input else min(found.span.end + 1, len(source.text))
    start, end = source.position(found.span.start), source.position(last)
    return {
        "text": piece.text,
        "from": f"the input {found.input!r}" if found.input else "the prompt's own text",
        "input": found.input,
        "line": start.line,
        "column": start.column,
        "endLine": end.line,
        "endColumn": end.column,
        "source": source.text[found.span.start : last],
    }


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _place(text: str, wanted: str, occurrence: int) -> int | None:
    at = -1
    for _ in range(occurrence):
        at = text.find(wanted, at + 1)
        if at < 0:
            return None
    return at
