"""Proves that what is written means what the prompt in the editor means, for every input set."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from studio.core.export.target import ExportSource, RoundTrip
from studio.core.prompty.messages import MediaPart, Message, TextPart, ToolCallPart, ToolResultPart
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import Prepared, prepare
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.problem import Problem, Severity
from studio.core.text.span import Span
from studio.core.tools.document import declared_tools

ROUND_TRIP = "export-round-trip"
NOT_UTF8 = "export-not-utf8"


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a prompt is, without where it was written."""

    messages: tuple[Message, ...]
    """The conversation that it begins with."""

    tools: tuple[ToolSpec, ...] = ()
    """The tools that a run would have."""


ReadBack: TypeAlias = Callable[[Prepared], Meaning]
"""Reads what was written with the values of one set."""


def intended_meaning(source: ExportSource, prepared: Prepared) -> Meaning:
    """What the prompt in the editor means with one set of values."""
    tools = source.tools
    if tools is None:
        tools = declared_tools(prepared.document, prepared.messages.tools)
    return Meaning(prepared.messages.messages, tools)


def check_round_trips(source: ExportSource, read: ReadBack) -> tuple[RoundTrip, ...]:
    """Compare messages and tools for the values of now and for every saved set."""
    return tuple(
        compare(name, intended_meaning(source, prepared), read(prepared))
        for name, prepared in source.round_trips.items()
    )


def compare(name: str, expected: Meaning, got: Meaning) -> RoundTrip:
    """One round, with the first difference in words."""
    before, after = meaning(expected.messages), meaning(got.messages)
    difference = ""
    for index, (one, other) in enumerate(zip(before, after, strict=False)):
        if one != other:
            role = expected.messages[index].role
            difference = f"message {index + 1} ({role}) is different{_how(one, other)}."
            break
    if not difference and len(before) != len(after):
        difference = f"there are {len(after)} messages instead of {len(before)}."
    tools, others = tool_meaning(expected.tools), tool_meaning(got.tools)
    if not difference and tools != others:
        names = {tool.name for tool in expected.tools} ^ {tool.name for tool in got.tools}
        told = ", ".join(sorted(names)) or "their descriptions or parameters"
        difference = f"the tools are different: {told}."
    return RoundTrip(name, difference, len(before), len(tools))


def verify(text: str, source: ExportSource) -> tuple[Problem, ...]:
    """Whether a copy of the prompt file, read again, means the same for the values of now.

    The bytes are made and read again too, since not every text can be a UTF-8 file.
    """
    fault = utf8_problem(text)
    if fault is not None:
        return (fault,)
    expected = source.prepared
    if source.references is None:
        # What is resolved in the editor's messages cannot be compared with what is not.
        expected = read_prompt(expected.document.source.text, source, expected)
    again = read_prompt(text, source, expected)
    found = compare(
        "",
        intended_meaning(replace(source, tools=None), expected),
        intended_meaning(replace(source, tools=None), again),
    )
    if found.is_same:
        return ()
    message = f"Read again, the file gives something else than the preview: {found.difference}"
    return (Problem(ROUND_TRIP, Severity.ERROR, message, Span(0, 0)),)


def utf8_problem(text: str) -> Problem | None:
    """The problem of a text that no UTF-8 file can hold."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return Problem(
            NOT_UTF8,
            Severity.ERROR,
            f"The character {text[error.start]!r} cannot be written to a file; take it out.",
            Span(error.start, error.end),
        )
    return None


def read_prompt(text: str, source: ExportSource, prepared: Prepared) -> Prepared:
    """A prompt text read as the next program will, with the values that another was made with."""
    return prepare(
        parse(text, source.document.source.path),
        prepared.inputs,
        references=source.references,
        preview=source.references is not None,
    )


def prompt_round_trips(text: str, source: ExportSource) -> tuple[RoundTrip, ...]:
    """The rounds of a prompt file: parsed again and prepared with every set."""

    def read(prepared: Prepared) -> Meaning:
        again = read_prompt(text, source, prepared)
        return Meaning(
            again.messages.messages, declared_tools(again.document, again.messages.tools)
        )

    own = replace(source, tools=None)  # what the file says, not what its sources offer
    return check_round_trips(own, read)


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
         _json(tool.bindings), _json(tool.options))
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


def _how(one: object, other: object) -> str:
    """Where two meanings part, in a few words."""
    if not isinstance(one, tuple) or not isinstance(other, tuple):
        return ""
    if one[0] != other[0]:
        return f": its role is {other[0]}"
    if one[1] != other[1]:
        return f": its attributes are {other[1]} instead of {one[1]}"
    for before, after in zip(one[2], other[2], strict=False):
        if before != after:
            around = _around(before, after)
            if around[0] == around[1]:
                return f": the same text is {_kind(after)} instead of {_kind(before)}"
            return ": {1} instead of {0}".format(*around)
    return f": it has {len(other[2])} parts instead of {len(one[2])}"


def _kind(part: object) -> str:
    """What a part is, in words."""
    kind = str(part[0]) if isinstance(part, tuple) and part else ""
    return _KINDS.get(kind, f"an {kind}" if kind[:1] in "aeiou" else f"a {kind}")


_KINDS = {"text": "a text", "call": "a tool call", "result": "a tool's result"}


def _around(before: object, after: object) -> tuple[str, str]:
    """Both parts, cut to where they first differ."""
    one, other = (
        str(part[1] if isinstance(part, tuple) and len(part) > 1 else part)
        for part in (before, after)
    )
    at = next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )
    start = max(0, at - 16)
    cut = [
        f"{'…' if start else ''}{text[start : at + 32]}{'…' if len(text) > at + 32 else ''}"
        for text in (one, other)
    ]
    return repr(cut[0]), repr(cut[1])


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str)
