"""What may be saved of a connection, and what is said of the rest."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from studio.application.connections.editing import (
    headers_text,
    problems_of,
    read_headers,
    variable_problem,
    warnings_of,
)
from studio.core.models.connections import PRESETS, Connection

SERVER = Connection("Mine", "compatible", base_url="https://host/v1")


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.id)
def test_every_preset_can_be_saved_as_it_is(preset) -> None:
    assert problems_of(preset.connection, ()) == {}


@pytest.mark.parametrize(
    "address",
    [
        "host/v1",
        "ftp://host",
        "https://",
        "http://a b/v1",
        "https://me:pw@host/v1",
        "https://host/v1?api_key=abc",
        "https://host/v1#abc",
        "http://host:99999/v1",
        "http://[::1",
    ],
)
def test_addresses_that_cannot_be_used(address: str) -> None:
    assert list(problems_of(replace(SERVER, base_url=address), ())) == ["base_url"]


@pytest.mark.parametrize(
    "address", ["", "http://localhost:11434/v1", "https://host/v1/", "http://[::1]:8080/v1"]
)
def test_addresses_that_can(address: str) -> None:
    assert problems_of(replace(SERVER, base_url=address), ()) == {}


@pytest.mark.parametrize(
    ("name", "is_right"),
    [
        ("OPENAI_API_KEY", True),
        ("my_key", True),
        ("", False),
        ("2KEY", False),
        ("sk-proj-abc", False),
        ("sk_live_4eC39HqLyjWDarjtT1zdp7dc", False),
        ("gsk4eC39HqLyjWDarjtT1zdp7dc", False),
        ("A" * 65, False),
    ],
)
def test_names_of_variables(name: str, is_right: bool) -> None:
    assert (variable_problem(name) == "") == is_right


def test_headers() -> None:
    text = "X-Team: prompts\n\n X-Trace : a:b \n"
    headers, wrong = read_headers(text)
    assert (headers, wrong) == ({"X-Team": "prompts", "X-Trace": "a:b"}, "")
    assert read_headers(headers_text(headers)) == (headers, "")
    for bad in ("no colon", "bad name: x", "Authorization: Bearer x", "api-key: x"):
        assert read_headers(bad)[1], bad


def test_a_secret_header_is_not_repeated() -> None:
    assert "abcdef" not in read_headers("Authorization: Bearer abcdef")[1]


def test_names_differ() -> None:
    assert "already" in problems_of(SERVER, ("Mine",))["name"]
    assert "name" in problems_of(replace(SERVER, name=" "), ())


def test_files(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    made = Connection("s", "scripted", settings={"script": str(script)})
    assert "cannot be read" in problems_of(made, ())["script"]
    script.write_text("[]", encoding="utf-8")
    assert "not a list" in problems_of(made, ())["script"]
    script.write_text('["Hello"]', encoding="utf-8")
    assert problems_of(made, ()) == {}
    recording = Connection("r", "replay", settings={"recording": str(tmp_path / "x" / "y.jsonl")})
    assert "no folder" in problems_of(recording, ())["recording"]
    recording = replace(recording, settings={"recording": str(tmp_path)})
    assert "folder" in problems_of(recording, ())["recording"]
    recording = replace(recording, settings={"recording": str(tmp_path / "y.jsonl")})
    assert problems_of(recording, ()) == {}
    assert "nothing recorded" in warnings_of(recording)["recording"]
    through = {**recording.settings, "through": "Embedded model"}
    assert warnings_of(replace(recording, settings=through)) == {}
