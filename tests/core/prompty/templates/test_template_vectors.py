"""The public vectors of rendering, and the goldens of Prompty's Jinja subset, hold."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from studio.core.prompty.rendering import Rendering, Segment
from studio.core.prompty.templates import render_template
from tests.core.wire.vectors import load_vectors, vector_folder

_RICH = ("thread", "image", "file", "audio")


def _render(given: Mapping[str, Any]) -> Rendering:
    rich = frozenset(
        name
        for name, value in given["inputs"].items()
        if isinstance(value, dict) and value.get("_kind") in _RICH
    )
    return render_template(
        given["template"], given["inputs"], format=given.get("engine", "jinja2"), rich=rich
    )


@pytest.mark.parametrize("vector", load_vectors("render"))
def test_text_is_the_vectors(vector: Mapping[str, Any]) -> None:
    rendering = _render(vector["input"])

    expected = vector["expected"]
    if "nonce_pattern" in expected:
        assert re.fullmatch(expected["nonce_pattern"].strip("^$"), rendering.text)
    else:
        assert rendering.text == expected["rendered"]
    assert rendering.problems == ()


def _goldens(name: str) -> list[Any]:
    path = vector_folder() / "jinja" / name
    if not path.is_file():
        reason = f"no goldens at {path}: set PROMPTY_VECTORS to their folder"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason), id="no-vectors")]
    cases = json.loads(path.read_text(encoding="utf-8"))
    return [pytest.param(case, id=case["name"]) for case in cases]


@pytest.mark.parametrize("case", _goldens("render_golden.json"))
def test_text_is_the_goldens(case: Mapping[str, Any]) -> None:
    rendering = _render(case)

    # A golden that throws forbids a role marker in a value of `strict_props`. Here a value can
    # never make a marker (provenance), so it renders, as data; see test below.
    if "throws" not in case:
        assert rendering.text == case["rendered"]
    assert rendering.problems == ()


def _as_vector(segment: Segment, strict: frozenset[str]) -> dict[str, Any]:
    return {
        "kind": "interp" if segment.kind == "value" else segment.kind,
        "text": segment.text,
        "source": segment.input,
        "strict": segment.input in strict,
    }


def _segments_match(given: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    rendering = _render(given)
    strict = frozenset(given.get("strict_props", ()))
    if "segments" in expected:
        assert [_as_vector(item, strict) for item in rendering.segments] == expected["segments"]
        return
    # StrictViolation in the vector: the forged marker must be told apart from the author's text.
    forged = [item for item in rendering.segments if item.input in strict]
    assert forged
    assert all(item.kind == "value" for item in forged)
    literal = "".join(item.text for item in rendering.segments if item.kind == "literal")
    assert not re.search(r"(?m)^(system|assistant):", literal)


@pytest.mark.parametrize("vector", load_vectors("render-segments"))
def test_segments_are_the_vectors(vector: Mapping[str, Any]) -> None:
    _segments_match(vector["input"], vector["expected"])


@pytest.mark.parametrize("case", _goldens("segments_golden.json"))
def test_segments_are_the_goldens(case: Mapping[str, Any]) -> None:
    _segments_match(case, case)
