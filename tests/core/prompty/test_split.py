from __future__ import annotations

import pytest

from studio.core.prompty.foreign import in_front_matter, split_front_matter


@pytest.mark.parametrize(
    ("text", "front", "body"),
    [
        # The four splits that the specification demands (Prompty 2 §2.2).
        ("---\nname: test\n---\nHello world", "name: test\n", "Hello world"),
        ("Hello world", None, "Hello world"),
        ("---\n---\nBody only", "", "Body only"),
        ("  ---\nname: test\n---\nHello", "name: test\n", "Hello"),
        # A delimiter is a whole line.
        ("---\ndescription: a --- b\n---\nBody", "description: a --- b\n", "Body"),
        ("+++\nname: x\n+++\n---\nBody", "name: x\n", "---\nBody"),
        ("---\nname: x\n+++\nBody", "name: x\n", "Body"),
        ("---\nname: x\n---", "name: x\n", ""),
        ("---\nname: x\n---\n", "name: x\n", ""),
        ("\ufeff---\r\nname: x\r\n---\r\nBody", "name: x\r\n", "Body"),
        ("\ufeffBody", None, "Body"),
        ("\n\n---\na: 1\n--- \nBody", "a: 1\n", "Body"),
        ("---\ntext: |\n  ---\n---\nBody", "text: |\n  ---\n", "Body"),
        ("---- no\n", None, "---- no\n"),
        ("", None, ""),
    ],
)
def test_split(text: str, front: str | None, body: str) -> None:
    split = split_front_matter(text)
    assert not split.unclosed
    found = None if split.front is None else text[split.front.start : split.front.end]
    assert (found, text[split.body.start : split.body.end]) == (front, body)


def test_missing_end_is_guessed_before_the_first_role() -> None:
    text = "---\nname: x\nsystem:\nHi"
    split = split_front_matter(text)
    assert split.unclosed
    assert text[split.body.start :] == "system:\nHi"


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("---\na: 1\n---\nBody", "a: 1\n"),
        ("\ufeff---\r\na: 1\r\n---\r\nBody", "a: 1\r\n"),
        ("\n  +++ \na: 1\n---\nBody", "a: 1\n"),
        ("---\na: 1\n\nsystem:\nBody", "a: 1\n\n"),
        ("---\na: 1", "a: 1"),
        ("---\n---\nBody", ""),
        ("Body", ""),
    ],
)
def test_a_caret_is_in_the_front_matter_where_the_file_is_split(text: str, inside: str) -> None:
    carets = [at for at in range(len(text) + 1) if in_front_matter(text, at)]
    start = text.index(inside)
    assert carets[: len(inside)] == list(range(start, start + len(inside)))
    at_end = [start + len(inside)] if split_front_matter(text).unclosed else []
    assert carets[len(inside) :] == at_end
