"""A server's question is answered line by line."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from studio.cli.ask_input import ask_by_lines, terminal_asker
from studio.core.tools.mcp.connection import InputGiven, InputWanted

SEAT = {
    "type": "object",
    "properties": {
        "row": {"type": "integer", "description": "Which row"},
        "side": {"type": "string", "enum": ["left", "right"]},
        "window": {"type": "boolean", "default": True},
        "price": {"type": "number"},
        "names": {"type": "array"},
    },
    "required": ["row"],
}


def typing(*lines: str) -> tuple[Callable[[str], str], list[str]]:
    waiting, asked = [*lines], list[str]()

    def read(question: str) -> str:
        asked.append(question)
        if not waiting:
            raise EOFError
        return waiting.pop(0)

    return read, asked


def test_values_are_of_their_types_and_asked_again_where_they_are_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    read, asked = typing("", "x", "3", "up", "left", "", "2.5", "a, b")
    given = ask_by_lines(read, InputWanted("Which\u202e seat?", SEAT, server="booking"))
    values = {"row": 3, "side": "left", "price": 2.5, "names": ["a", "b"]}
    assert given == InputGiven("accept", values)
    assert asked[0] == "row: Which row (integer, needed): "
    assert asked[3] == "side (string, one of left, right): "
    assert asked[5] == "window (boolean, usually true): "
    said = capsys.readouterr().err
    assert "booking asks: Which⟨U+202E⟩ seat?" in said
    assert "'up' is not one of them" in said


def test_the_end_of_input_declines_and_a_page_is_agreed_to() -> None:
    assert ask_by_lines(typing()[0], InputWanted("?", SEAT)) == InputGiven("decline")
    page = InputWanted("Log in", url="https://example.com/login")
    assert ask_by_lines(typing("y")[0], page) == InputGiven("accept")
    assert ask_by_lines(typing("")[0], page) == InputGiven("decline")


def test_nobody_is_asked_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert terminal_asker() is None
