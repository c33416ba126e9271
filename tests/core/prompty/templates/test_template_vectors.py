"""The public vectors of rendering, and the goldens of Prompty's Jinja subset, hold."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import jinja2
import pytest

from studio.core.prompty.document import Rendering, Segment
from studio.core.prompty.templates import render_template
from tests.core.wire.vectors import load_vectors, vector_folder
from tests.support.vectors import all_read

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


@pytest.mark.parametrize("case", load_vectors("render"))
def test_text_is_the_vectors(case: Mapping[str, Any]) -> None:
    with all_read(case) as vector:
        rendering, expected = _render(vector["input"]), vector["expected"]
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
    found = json.loads(path.read_text(encoding="utf-8"))
    cases = found["cases"] if isinstance(found, dict) else found
    return [pytest.param(case, id=case["name"]) for case in cases]


@pytest.mark.parametrize("case", _goldens("render_golden.json"))
def test_text_is_the_goldens(case: Mapping[str, Any]) -> None:
    with all_read(case) as golden:
        rendering = _render(golden)
        # A golden that throws forbids a role marker in a value of `strict_props`. Here a value can
        # never make a marker (provenance), so it renders, as data; see test below.
        strict = golden.get("strict_props", ())
        if "throws" in golden:
            assert golden["throws"] == "StrictViolation"
            assert strict
        else:
            assert rendering.text == golden["rendered"]
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
    # There the marker is an error; here it must be told apart from the author's text.
    assert expected.get("throws", expected.get("error")) == "StrictViolation"
    forged = [item for item in rendering.segments if item.input in strict]
    assert forged
    assert all(item.kind == "value" for item in forged)
    literal = "".join(item.text for item in rendering.segments if item.kind == "literal")
    assert not re.search(r"(?m)^(system|assistant):", literal)


@pytest.mark.parametrize("case", load_vectors("render-segments"))
def test_segments_are_the_vectors(case: Mapping[str, Any]) -> None:
    with all_read(case) as vector:
        _segments_match(vector["input"], vector["expected"])


@pytest.mark.parametrize("case", _goldens("segments_golden.json"))
def test_segments_are_the_goldens(case: Mapping[str, Any]) -> None:
    with all_read(case) as golden:
        _segments_match(golden, golden)


@pytest.mark.parametrize("case", _goldens("corpus.json"))
def test_where_stock_jinja_agrees_we_do_too(case: Mapping[str, Any]) -> None:
    with all_read(case) as golden:
        assert golden["category"]
        text = _render(golden).text
        stock = jinja2.Environment().from_string(golden["template"]).render(golden["inputs"])
        strict = golden.get("strict_props", ())
        assert set(strict) <= set(golden["inputs"])
        if golden.get("expect_throw"):  # here a value makes no marker; see above
            assert strict
        else:
            assert (text == stock) == golden["jinja2_agrees"]
