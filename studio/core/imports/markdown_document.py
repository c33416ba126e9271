"""Reads the messages of a Markdown document that the studio exported."""

from __future__ import annotations

import re
from typing import Any

from studio.core.imports.imported import ImportFailure
from studio.core.prompty.document import (
    MediaPart,
    Message,
    Part,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from studio.core.text.values import parse_json, reason_of

MESSAGES = "\n## Messages\n"
"""Heading above the messages."""

_BLOCK = re.compile(r"^(?P<fence>`{3,})(?P<kind>[^\n]*)\n(?P<text>.*?)\n?^(?P=fence)$", re.M | re.S)
_HEADING = re.compile(r"^### \d+\. (?P<role>\w+)", re.MULTILINE)


def read_markdown(text: str) -> tuple[Message, ...]:
    """Read the messages of a document; none where it is no document of the studio's.

    Raises:
        ImportFailure: a block of it cannot be read.
    """
    start = text.find(MESSAGES)
    if start < 0:
        return ()
    heads: list[tuple[int, Role]] = []
    blocks: list[tuple[int, Part]] = []
    at = start
    while at < len(text):
        block = _BLOCK.search(text, at)
        limit = block.start() if block else len(text)
        heads += [
            (found.start(), found["role"])  # type: ignore[misc]
            for found in _HEADING.finditer(text, at, limit)
        ]
        if block is None:
            break
        try:
            blocks.append((block.start(), _part(block["kind"], block["text"])))
        except (ValueError, TypeError, KeyError) as error:
            line = text.count("\n", 0, block.start()) + 1
            raise ImportFailure(
                f"Line {line}: the block {block['kind']!r} cannot be read: {reason_of(error)}; "
                "write it as the export does, or leave it out."
            ) from error
        at = block.end()
    made = []
    for index, (place, role) in enumerate(heads):
        end = heads[index + 1][0] if index + 1 < len(heads) else len(text)
        made.append(Message(role, tuple(part for at, part in blocks if place < at < end)))
    return tuple(made)


def _part(kind: str, text: str) -> Part:
    match kind:
        case "result":
            return ToolResultPart(text)
        case "json media":
            data: Any = parse_json(text)
            return MediaPart(data["kind"], str(data["source"]), {**data["attributes"]}, data["alt"])
        case "json call":
            call: Any = parse_json(text)
            return ToolCallPart(str(call["id"]), str(call["name"]), str(call["arguments"]))
        case _:
            return TextPart(text)
