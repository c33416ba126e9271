"""Compare the meaning of messages and tools, ignoring their spans."""

import json
from collections.abc import Sequence

from studio.core.prompty.document import (
    MediaPart,
    Message,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    ToolSpec,
)
from studio.core.text.amounts import counted


def first_difference(expected: Sequence[Message], got: Sequence[Message]) -> str:
    """Return the first difference of two conversations as a sentence; empty for none."""
    before, after = meaning(expected), meaning(got)
    for index, (one, other) in enumerate(zip(before, after, strict=False)):
        if one != other:
            return f"message {index + 1} ({expected[index].role}) is different{_how(one, other)}."
    if len(before) != len(after):
        return f"{counted(len(after), 'message')} instead of {len(before)}."
    return ""


def tool_difference(expected: Sequence[ToolSpec], got: Sequence[ToolSpec]) -> str:
    """Return the difference of two lists of tools as a sentence; empty for none."""
    if tool_meaning(expected) == tool_meaning(got):
        return ""
    names = {tool.name for tool in expected} ^ {tool.name for tool in got}
    words = ", ".join(sorted(names)) or "their descriptions or parameters"
    return f"the tools are different: {words}."


def meaning(messages: Sequence[Message]) -> list[object]:
    """Return the meaning of messages, without spans."""
    return [
        (message.role, _json(message.attributes), [_part(part) for part in message.parts])
        for message in messages
    ]


def tool_meaning(tools: Sequence[ToolSpec]) -> list[object]:
    """Return the meaning of tools, without spans."""
    return [
        (
            tool.name,
            tool.description,
            _json(tool.parameters),
            tool.kind,
            tool.strict,
            _json(tool.bindings),
            _json(tool.options),
        )
        for tool in tools
    ]


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
    """Describe the first difference of two meanings, in a few words."""
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
    return f": it has {counted(len(other[2]), 'part')} instead of {len(one[2])}"


def _kind(part: object) -> str:
    """Describe a kind of part, in words."""
    kind = str(part[0]) if isinstance(part, tuple) and part else ""
    return _KINDS.get(kind, f"an {kind}" if kind[:1] in "aeiou" else f"a {kind}")


_KINDS = {"text": "a text", "call": "a tool call", "result": "a tool's result"}


def _around(before: object, after: object) -> tuple[str, str]:
    """Return both parts, cut to their first difference."""
    one, other = str(before), str(after)
    if isinstance(before, tuple) and isinstance(after, tuple):
        pairs = zip(before[1:], after[1:], strict=False)
        one, other = next(((str(a), str(b)) for a, b in pairs if a != b), ("", ""))
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
