"""The application layer speaks English until somebody hands it a translator."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from studio.application.run.breakpoints import place_name
from studio.application.words import translate_by
from studio.core.agent.values.step import PausePoint


@pytest.fixture
def german() -> Iterator[None]:
    translate_by(lambda text, _meaning: f"<{text}>")
    yield
    translate_by(None)


def test_words_are_english_where_nothing_translates() -> None:
    assert place_name(PausePoint.TOOL_CALL) == "Before a tool"


@pytest.mark.usefixtures("german")
def test_words_pass_through_what_was_handed_in_after_their_module_was_loaded() -> None:
    assert place_name(PausePoint.TOOL_CALL) == "<Before a tool>"
