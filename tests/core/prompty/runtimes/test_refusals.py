"""Why the runtime of Prompty 1 does not load a file, at the keys it names."""

from __future__ import annotations

import pytest

from studio.core.prompty.parse import parse
from studio.core.prompty.runtimes.prompty1 import refusals

LEGACY = (
    "---\nname: a\n%smodel:\n  api: chat\n  configuration: {type: openai}\n%s---\nsystem:\nHi\n"
)


@pytest.mark.parametrize(
    ("head", "tail", "line", "reason"),
    [
        ("", "inputs:\n  context: The context\n", 7, "inputs.context.type is missing"),
        ("", "inputs:\n  a: {type: array, is_chat_history: true}\n", 7, "inputs.a.is_chat_history"),
        ("pi: chat\n", "", 3, "it does not accept the key pi"),
    ],
)
def test_what_the_runtime_of_prompty_1_refuses(
    head: str, tail: str, line: int, reason: str
) -> None:
    document = parse(LEGACY % (head, tail))
    (problem,) = refusals(document)
    assert problem.code == "portable-refused"
    assert reason in problem.message
    assert document.source.position(problem.span.start).line == line
