"""Every key of a file is either in the prompt file, or named in a note of its own."""

from __future__ import annotations

import json

import pytest

from studio.core.imports.imported import Imported, Record, implied, recorded, with_unread_keys
from studio.core.imports.recognize import import_text
from studio.core.prompty.yaml.reader import plain
from studio.core.text.values import Json


def left_out(data: Json) -> list[str]:
    made = import_text(json.dumps(data))
    return [note.partition(":")[0] for note in made.notes if "left out" in note]


@pytest.mark.parametrize(
    ("data", "names"),
    [
        (
            {
                "messages": [{"role": "user", "content": [{"type": "text", "text": "a", "x": 1}]}],
                "label": "good",
                "empty": [],
            },
            ["messages[].content[].x", "label"],
        ),
        (
            {"type": "text", "prompt": "Hi {{a}}", "config": {"model": "m", "own": 1}, "id": "7"},
            ["config.own", "id"],
        ),
        (
            {
                "model": "c",
                "messages": [{"role": "user", "content": "Hi"}],
                "tools": [{"name": "g", "input_schema": {}, "input_examples": [{"a": 1}]}],
            },
            ["tools[].input_examples"],
        ),
        ({"id": "pmpt_1", "prompt": {"instructions": "Hi", "owner": "me"}}, ["id", "prompt.owner"]),
        (
            {"_type": "prompt", "template": "Hi {a}", "input_variables": ["a"], "extra": {"b": 1}},
            ["extra"],
        ),
        ({"prompts": ["Hi"], "sharing": True}, ["sharing"]),
    ],
)
def test_a_key_that_is_not_taken_is_one_note(data: Json, names: list[str]) -> None:
    assert left_out(data) == names


def test_an_option_that_no_api_documents_stays_in_the_body_and_is_named() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "n": 2, "guided": "x"}
    made = import_text(json.dumps(body))
    assert made.notes == (
        "guided: the API's reference has no such option; it stays in the body as written.",
    )
    assert "guided: x" in made.text


def test_what_is_written_out_is_read() -> None:
    record = recorded({"a": {"b": [{"c": 1}]}, "d": {"e": 1}, "f": {"g": 1, "h": 2}, "i": {"j": 1}})
    assert isinstance(record, Record)

    def make(data: Json) -> Imported:
        assert isinstance(data, Record)
        json.dumps(data["a"])
        plain(data["d"])
        implied(data["f"], "g")
        return Imported("", "")

    made = with_unread_keys(record, make)
    assert [note.partition(":")[0] for note in made.notes] == ["f.h", "i"]
    copy = {**record}
    assert "i" in copy
