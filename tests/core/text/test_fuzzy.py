from __future__ import annotations

import pytest

from studio.core.text.naming import score


def best(query: str, *texts: str) -> str:
    """The text that a query would choose."""
    found = {text: score(query, text) for text in texts}
    return max((text for text in texts if found[text] is not None), key=lambda t: found[t] or 0)


@pytest.mark.parametrize(
    ("query", "texts", "wanted"),
    [
        ("save", ("Unsaved", "Save all", "Close"), "Save all"),
        ("gl", ("Toggle fold", "Go to line"), "Go to line"),
        ("dark theme", ("Dark theme", "Light theme"), "Dark theme"),
        ("rc", ("Search", "Run or continue"), "Run or continue"),
    ],
)
def test_the_best_match(query: str, texts: tuple[str, ...], wanted: str) -> None:
    assert best(query, *texts) == wanted


def test_letters_must_come_in_order() -> None:
    assert score("evas", "Save") is None
    assert score("", "anything") == 0
    assert score("SAVE", "save") is not None
