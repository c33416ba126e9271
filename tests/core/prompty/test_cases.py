"""Every case in `cases/*.md`: a prompt, and what each stage makes of it.

A case is a heading and tilde-fenced blocks. `prompty` is the file; `inputs` the values (JSON);
`messages`, `tools` and `spans` are JSON; `problems` has one `line:column code` a line;
`edited CODE` is the file after the first fix of the first problem of that code.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from studio.core.prompty.document import PromptDocument, PromptMessages
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import Prepared, prepare
from studio.core.prompty.shapes import messages_to_json, tools_to_json
from studio.core.text.source import Span, apply_edits

FOLDER = Path(__file__).parent / "cases"
HEADING = re.compile(r"^## ([^\n]+)\n\n(?=~~~~~ prompty$)", re.MULTILINE)
BLOCK = re.compile(r"^~~~~~ ([^\n]+)\n(.*?)^~~~~~$", re.MULTILINE | re.DOTALL)


def cases() -> list[object]:
    found = []
    for path in sorted(FOLDER.glob("*.md")):
        _, *parts = HEADING.split(path.read_text(encoding="utf-8"))
        for title, text in zip(parts[::2], parts[1::2], strict=True):
            blocks = dict(BLOCK.findall(text))
            assert len(blocks) > 1, f"{path.name}: {title} says nothing"
            found.append(pytest.param(blocks, id=f"{path.stem}: {title}"))
    return found


def problem_lines(document: PromptDocument, prepared: Prepared) -> list[str]:
    found = []
    for problem in (*document.problems, *prepared.problems):
        place = document.source.position(problem.span.start)
        found.append(f"{place.line}:{place.column} {problem.code}")
    return sorted(set(found))


def span_texts(document: PromptDocument, messages: PromptMessages) -> list[object]:
    """For each message the source of its marker, then the source of each part."""

    def text(span: Span | None) -> str | None:
        return None if span is None else document.source.slice(span)

    return [
        [text(message.origin.marker), *(text(part.span) for part in message.parts)]
        for message in messages.messages
    ]


@pytest.mark.parametrize("blocks", cases())
def test_case(blocks: dict[str, str]) -> None:
    document = parse(blocks["prompty"].removesuffix("\n"))
    prepared = prepare(document, json.loads(blocks.get("inputs", "{}")))
    for name, expected in blocks.items():
        match name.split():
            case ["messages"]:
                actual = messages_to_json(prepared.messages, document.dialect)
                assert actual == json.loads(expected)
            case ["tools"]:
                assert tools_to_json(prepared.messages.tools) == json.loads(expected)
            case ["spans"]:
                assert span_texts(document, prepared.messages) == json.loads(expected)
            case ["problems"]:
                assert problem_lines(document, prepared) == sorted(expected.splitlines())
            case ["dialect"]:
                assert document.dialect == expected.strip()
            case ["edited", code]:
                fix = next(item for item in document.problems if item.code == code).fixes[0]
                actual = apply_edits(document.source.text, fix.edits)
                assert actual == expected.removesuffix("\n")
            case ["prompty" | "inputs"]:
                pass
            case _:
                raise AssertionError(f"unknown block {name!r}")
