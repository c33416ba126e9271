"""Long answers in parts: what is cut where."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from studio.application.run.answer import markdown_parts

LONG = "word " * 30


def test_a_short_answer_is_one_part() -> None:
    assert list(markdown_parts("One.\n\nTwo.\n")) == ["One.\n\nTwo.\n"]
    assert list(markdown_parts("")) == []


def test_parts_end_where_paragraphs_do() -> None:
    text = "\n\n".join(f"Paragraph {number}. {LONG}" for number in range(9))
    parts = list(markdown_parts(text, 200))
    assert len(parts) > 3
    assert all(part.startswith("Paragraph") for part in parts)
    assert "".join(parts) == text


def test_code_is_not_cut_at_its_empty_lines() -> None:
    code = "```python\n" + "x = 1\n\n" * 30 + "```\n"
    assert list(markdown_parts(code + "\nAfter.\n", 150)) == [code + "\n", "After.\n"]


def test_very_long_code_stays_code_in_every_part() -> None:
    parts = list(markdown_parts("~~~~ text\n" + "line of it\n" * 100 + "~~~~\nAfter.\n", 200))
    assert len(parts) > 2
    assert all(part.startswith("~~~~ text\n") for part in parts)
    assert all(part.endswith("\n~~~~\n") for part in parts[:-1])
    assert parts[-1].endswith("~~~~\nAfter.\n")
    assert sum(part.count("line of it") for part in parts) == 100


def test_another_mark_does_not_close_a_fence() -> None:
    text = "````\n```\n\n~~~~\n\n" + "x\n\n" * 100 + "````\n\nAfter"
    parts = list(markdown_parts(text, 180))
    assert parts[-1] == "After"
    assert len(parts) == 2


@given(st.text(alphabet="a` ~\n#", max_size=400), st.integers(5, 80))
def test_nothing_is_lost_and_no_part_is_endless(text: str, most: int) -> None:
    parts = list(markdown_parts(text, most))
    assert all(len(part) < 7 * most + 10 for part in parts)
    if "```" not in text and "~~~" not in text:
        assert "".join(parts) == text
