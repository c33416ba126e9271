"""Pause points: words for users, the codes of 0.1.0 on disk."""

from __future__ import annotations

import json

import pytest

from studio.core.agent.values.step import PausePoint


def test_files_hold_the_codes_of_before() -> None:
    assert json.dumps([*PausePoint]) == '["P1", "P2", "P3", "P4", "P5", "P6", "PX"]'
    assert PausePoint("P4") is PausePoint.OBSERVATION


@pytest.mark.parametrize("text", ["tool_call", "TOOL_CALL", "tool-call", " P3 ", "p3"])
def test_words_and_codes_name_a_point(text: str) -> None:
    assert PausePoint.of(text) is PausePoint.TOOL_CALL


@pytest.mark.parametrize("text", ["", "P9", "tool", "P1 P2"])
def test_anything_else_names_none(text: str) -> None:
    assert PausePoint.of(text) is None


def test_every_point_has_a_word_of_its_own() -> None:
    assert [point.word for point in PausePoint] == [
        "before_request",
        "reply",
        "tool_call",
        "observation",
        "step_end",
        "answer",
        "error",
    ]
