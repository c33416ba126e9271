"""JSON of others: read whole within the bounds, and refused by name beyond them, everywhere."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from studio.core.text.values import DEEPEST, JsonBoundError, parse_json

STUDIO = Path(__file__).resolve().parents[3] / "studio"

ROOMS = (
    "application/connections",
    "application/experiments",
    "application/inputs",
    "application/run",
    "cli",
    "core/agent",
    "core/experiments",
    "core/imports",
    "core/masking",
    "core/models",
    "core/prompty",
    "core/tools",
    "core/wire",
)
"""Where texts of files, models, servers and tools come in."""

READS_ITS_OWN = {
    "core/experiments/assertions/checker.py": "the studio",
    "core/experiments/assertions/child.py": "its own child, by its own writer",
    "core/experiments/assertions/marking.py": "what it wrote",
    "core/experiments/assertions/structure.py": "what it wrote",
    "application/experiments/exports/forms.py": "journals that it wrote",
    "core/experiments/results/database.py": "what it wrote",
    "core/experiments/results/ledger.py": "what it wrote",
    "core/experiments/results/cells.py": "what it wrote",
    "core/models/embedded/child.py": "settings from the studio",
    "core/models/embedded/server.py": "the embedded server, its own child",
    "core/models/embedded/policy.py": "numbers of at most 16 digits",
    "core/prompty/body/hoist.py": "scalars of at most 18 digits",
    "core/prompty/inputs.py": "a table of its own",
    "core/prompty/templates/jinja/conditions.py": "what it wrote",
    "core/tools/toolbox.py": "what it wrote",
    "core/tools/python_server/serve.py": "the studio's calls, in a Python without the studio",
    "core/tools/trust/store.py": "the data folder",
}
"""Modules that read only JSON which the studio wrote; the others read with `parse_json`."""


def nested(levels: int, opening: str = "[", inner: str = "1", closing: str = "]") -> str:
    return opening * levels + inner + closing * levels


@pytest.mark.parametrize(
    "text",
    [
        "1",
        '"a"',
        '{"a": [1, {"b": null}]}',
        nested(DEEPEST),
        nested(DEEPEST, '{"a":', "1", "}"),
        "[" + ",".join(["[1]"] * 10_000) + "]",
        "1" * 4300,
        b'{"\xc3\xa9": 1.5e300}',
    ],
)
def test_what_is_within_the_bounds_is_the_same(text: str | bytes) -> None:
    assert parse_json(text) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (nested(DEEPEST + 1), "more than 200 levels"),
        (nested(DEEPEST + 1, '{"a":', "1", "}"), "more than 200 levels"),
        (nested(100_000), "more than 200 levels"),
        ("[[1], " + nested(DEEPEST) + "]", "more than 200 levels"),
        ("1" * 4301, "4,300 digits"),
        ('{"a": [' + "9" * 1_000_000 + "]}", "4,300 digits"),
    ],
)
def test_what_is_beyond_is_named(text: str, said: str) -> None:
    with pytest.raises(JsonBoundError, match=said):
        parse_json(text)


def test_what_is_no_json_is_told_with_its_place() -> None:
    with pytest.raises(json.JSONDecodeError) as caught:
        parse_json('{"a":\n 1,}')
    assert caught.value.lineno == 2


def test_a_refusal_of_the_caller_passes() -> None:
    def refuse(word: str) -> object:
        raise ValueError(f"{word} is not taken")

    with pytest.raises(ValueError, match="NaN is not taken"):
        parse_json("[NaN]", refuse)


def test_json_of_others_is_read_nowhere_else() -> None:
    users = {
        path.relative_to(STUDIO).as_posix()
        for room in ROOMS
        for path in (STUDIO / room).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and node.attr in ("loads", "load")
        and isinstance(node.value, ast.Name)
        and node.value.id == "json"
    }
    assert users == set(READS_ITS_OWN)
