from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from studio.application.tools.saved_calls import (
    SavedCall,
    SavedCallsError,
    answers_of,
    calls_file,
    calls_of_rows,
    difference,
    read_calls,
    saved,
    with_own_names,
    write_calls,
)
from studio.core.prompty.document import ToolId
from studio.core.tools.registry import RecordedMock, mock_answer
from studio.core.tools.source import ToolOutcome

OSLO = SavedCall("Oslo", ToolId("", "weather"), {"city": "Oslo"}, "ok", '{"t": 3, "wind": [1, 2]}')
SCHEMA = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "city": {"type": "string"},
        "days": {"type": ["integer", "null"]},
        "deep": {"type": "object"},
    },
}


def test_calls_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = calls_file(tmp_path / "trip.prompty")
    assert path.name == "trip.calls.jsonl"
    assert read_calls(path) == ()
    bergen = SavedCall(
        "Bergen\nå", ToolId("", "weather"), {"city": "B"}, "error", "", "shape", {"by": "me"}
    )
    write_calls(path, (OSLO, bergen))
    assert read_calls(path) == (OSLO, bergen)
    assert len(path.read_text(encoding="utf-8").splitlines()) == 2


def test_what_the_command_line_recorded_gets_names() -> None:
    unnamed = replace(OSLO, name="")
    names = [call.name for call in with_own_names((unnamed, OSLO, unnamed, OSLO))]
    assert names == ["weather", "Oslo", "weather 2", "Oslo 2"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2: it is not JSON"),
        ("[]", "line 2: a call is an object"),
        ('{"arguments": {}}', "line 2: 'tool' is missing"),
        ('{"tool": "t", "arguments": 3}', "line 2: 'arguments' is not an object"),
        ('{"tool": "t", "compare": "all"}', "line 2: 'compare' is one of"),
    ],
)
def test_a_line_that_is_no_call_is_named(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "a.calls.jsonl"
    path.write_text('{"tool": "t"}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(SavedCallsError, match=said):
        read_calls(path)


def test_a_file_in_another_encoding_is_said_without_python_s_words(tmp_path: Path) -> None:
    path = tmp_path / "a.calls.jsonl"
    path.write_bytes(b'{"tool": "t"}\n{"tool": "\xe4"}\n')
    with pytest.raises(SavedCallsError) as told:
        read_calls(path)
    assert str(told.value) == (
        "a.calls.jsonl cannot be read: line 2 is not UTF-8; save the file as UTF-8"
    )


@pytest.mark.parametrize(
    ("text", "compare", "said"),
    [
        ('{"wind": [1, 2], "t": 3}', "answer", ""),
        ('{"t": 4, "wind": [1, 2]}', "answer", "$.t is 4, not 3"),
        ('{"t": 4, "wind": [1, 2]}', "shape", ""),
        ('{"t": "4", "wind": [1, 2]}', "shape", '$.t is "4", not 3'),
        ('{"t": true, "wind": [1, 2]}', "shape", "$.t is true, not 3"),
        ('{"t": 3, "wind": [1]}', "answer", "$.wind[1] was removed"),
        ('{"t": 3, "wind": []}', "shape", ""),
        ('{"t": 3}', "shape", "$.wind was removed"),
        ('{"t": 3, "wind": [1, 2], "rain": 0}', "answer", "$.rain is new"),
        ("sunny", "answer", "the text has changed"),
        ("sunny", "status", ""),
    ],
)
def test_the_first_thing_that_differs_is_said(text: str, compare: str, said: str) -> None:
    call = replace(OSLO, compare=compare)
    assert difference(call, ToolOutcome(text, "ok")) == said
    assert difference(call, ToolOutcome(text, "error")) == "it ended as error, not as ok"


def test_a_cut_answer_is_kept_and_compared_whole() -> None:
    outcome = ToolOutcome("ab", "ok", whole="abcdef")
    call = saved(replace(OSLO, more={"seconds": 1, "by": "me"}), outcome)
    assert (call.text, call.more) == ("abcdef", {"by": "me"})
    assert difference(call, outcome) == ""


def test_saved_calls_stand_in_for_their_tool() -> None:
    mock = RecordedMock(answers_of((OSLO,)))
    assert len(mock.answers) == 1
    outcome = mock_answer(mock, {"city": "Oslo"}, 0)
    assert outcome is not None
    assert outcome.text == OSLO.text


def test_rows_are_calls_with_values_of_the_kinds_that_the_tool_wants(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(
        'id,city,days,deep,note\n7,12,2,"{""a"": 1}",x\n8,Bergen,,,y\n', encoding="utf-8"
    )
    calls = calls_of_rows(path, ToolId("", "weather"), SCHEMA)
    assert [call.arguments for call in calls] == [
        {"id": 7, "city": "12", "days": 2, "deep": {"a": 1}},
        {"id": 8, "city": "Bergen"},
    ]
    assert [call.name for call in calls] == ["7", "8"]
    lines = tmp_path / "rows.jsonl"
    lines.write_text('{"city": "Oslo", "days": 3}\n', encoding="utf-8")
    [call] = calls_of_rows(lines, ToolId("", "weather"), SCHEMA)
    assert call.arguments == {
        "city": "Oslo",
        "days": 3,
    }


def test_rows_without_an_argument_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("town\nOslo\n", encoding="utf-8")
    with pytest.raises(SavedCallsError, match="its arguments are id, city, days, deep"):
        calls_of_rows(path, ToolId("", "weather"), SCHEMA)
    with pytest.raises(SavedCallsError, match="does not exist"):
        calls_of_rows(tmp_path / "none.csv", ToolId("", "weather"), SCHEMA)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_named_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "chat.calls.jsonl")
    with pytest.raises(SavedCallsError, match="a pipe or a socket, not a file"):
        read_calls(tmp_path / "chat.calls.jsonl")
