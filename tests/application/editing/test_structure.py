"""Expanding a selection by the structure of a prompt."""

from __future__ import annotations

import pytest

from studio.application.editing.structure import next_larger
from studio.core.prompty.parse import parse
from studio.core.text.source import Span

PROMPT = """---
name: Trip
inputs:
  city:
    kind: string
    default: Rome now
---
system:
Be brief.

user:
Go to {{ city.name | upper }} today.
And stay there.

Then write.
"""


def growth(at: str, *, times: int) -> list[str]:
    """What is selected after each step, from a caret at the beginning of words."""
    document = parse(PROMPT)
    start = document.source.text.index(at)
    chosen, found = Span(start, start), []
    for _ in range(times):
        chosen = next_larger(document, chosen)
        found.append(document.source.slice(chosen))
    return found


def test_from_a_word_of_an_expression_to_all() -> None:
    section = PROMPT[PROMPT.index("user:\n") :].rstrip()
    assert growth("name |", times=6) == [
        "name",
        "city.name",
        "city.name | upper",
        "{{ city.name | upper }}",
        "Go to {{ city.name | upper }} today.",
        section.split("\n\n")[0],
    ]
    assert growth("name |", times=20)[-1] == PROMPT


def test_from_a_value_of_the_front_matter() -> None:
    assert growth("Rome", times=3) == ["Rome", "Rome now", "default: Rome now"]


@pytest.mark.parametrize("text", ["", "\n", "user:", "---\n", "{{"])
def test_any_text_ends_with_all_of_it(text: str) -> None:
    document = parse(text)
    chosen = Span(0, 0)
    for _ in range(20):
        chosen = next_larger(document, chosen)
    assert chosen == Span(0, len(text))
