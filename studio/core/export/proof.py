"""Proves that a text means what the prompt in the editor means."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from studio.core.export.target import ExportSource
from studio.core.prompty.messages import MediaPart, Message, TextPart, ToolCallPart, ToolResultPart
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import Prepared, prepare
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.problem import Problem, Severity
from studio.core.text.span import Span

ROUND_TRIP = "export-round-trip"
NOT_UTF8 = "export-not-utf8"


def prove(text: str, source: ExportSource) -> Iterator[Problem]:
    """Read the text as the next program will, and compare messages and tools; yield differences.

    The bytes are made and read again too, since not every text can be a UTF-8 file.
    """
    try:
        read = text.encode("utf-8").decode("utf-8")
    except UnicodeEncodeError as error:
        yield Problem(
            NOT_UTF8,
            Severity.ERROR,
            f"The character {text[error.start]!r} cannot be written to a file; take it out.",
            Span(error.start, error.end),
        )
        return
    again = _prepared(read, source)
    expected = source.prepared
    if source.references is None:
        # What is resolved in the editor's messages cannot be compared with what is not.
        expected = _prepared(expected.document.source.text, source)
    if meaning(again.messages.messages) != meaning(expected.messages.messages):
        yield _difference("messages")
    hoisted = [replace(tool, span=None) for tool in again.messages.tools]
    if hoisted != [replace(tool, span=None) for tool in expected.messages.tools]:
        yield _difference("tools of the body")
    if tool_meaning(again.document.tools) != tool_meaning(expected.document.tools):
        yield _difference("tools")


def _prepared(text: str, source: ExportSource) -> Prepared:
    return prepare(
        parse(text, source.prepared.document.source.path),
        source.prepared.inputs,
        references=source.references,
        preview=source.references is not None,
    )


def meaning(messages: Sequence[Message]) -> list[object]:
    """What messages say, without where it was written."""
    return [
        (message.role, _json(message.attributes), [_part(part) for part in message.parts])
        for message in messages
    ]


def tool_meaning(tools: Sequence[ToolSpec]) -> list[object]:
    """What tools are, without where they were declared."""
    return [
        (tool.name, tool.description, _json(tool.parameters), tool.kind, tool.strict,
         _json(tool.bindings))
        for tool in tools
    ]  # fmt: skip


def _part(part: TextPart | MediaPart | ToolCallPart | ToolResultPart) -> object:
    match part:
        case TextPart(text=text):
            return ("text", text)
        case MediaPart():
            return (part.kind, part.source, part.alt, _json(part.attributes))
        case ToolCallPart():
            return ("call", part.id, part.name, part.arguments)
        case ToolResultPart(text=text):
            return ("result", text)


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _difference(what: str) -> Problem:
    return Problem(
        ROUND_TRIP,
        Severity.ERROR,
        f"Read again, the file gives other {what} than the preview; it is not written.",
        Span(0, 0),
    )
