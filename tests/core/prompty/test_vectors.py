"""The public conformance vectors of Prompty 2: load and parse."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from studio.core.prompty.body.read import read_messages
from studio.core.prompty.document import Rendering, Segment
from studio.core.prompty.inputs import resolve_inputs
from studio.core.prompty.parse import parse
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.prompty.references import resolve_document
from studio.core.prompty.shapes import messages_to_json
from tests.support.document_shape import document_to_json
from tests.support.vectors import all_read

ROOT = Path(__file__).resolve().parents[3]
VECTORS = ROOT / os.environ.get("PROMPTY_VECTORS", "../shared/vectors/prompty")

pytestmark = pytest.mark.skipif(
    not VECTORS.is_dir(), reason=f"no Prompty vectors in {VECTORS}; set PROMPTY_VECTORS"
)

NONCE = re.compile(r"__PROMPTY_THREAD_[0-9a-f]{8,16}_(\w+?)__")


def vectors(area: str) -> list[Any]:
    path = VECTORS / f"{area}.json"
    if not path.is_file():
        return []
    cases = json.loads(path.read_text(encoding="utf-8"))
    return [pytest.param(case, id=case["id"]) for case in cases]


def is_subset(expected: Any, actual: Any) -> bool:
    """The comparison of the vectors: keys that are expected, absent equal to null."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        return all(is_subset(value, actual.get(key)) for key, value in expected.items())
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(map(is_subset, expected, actual))
    return expected == actual and type(expected) is type(actual)


def write_case(given: dict[str, Any], folder: Path) -> Path:
    folder = folder / given.get("agent_subdir", "")
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in given.get("files", {}).items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        target.write_text(text, encoding="utf-8")
    path = folder / "case.prompty"
    if "fixture" in given:
        text = (VECTORS / "fixtures" / given["fixture"]).read_text(encoding="utf-8")
    elif "frontmatter_raw" in given:
        text = given["frontmatter_raw"]
    else:
        front = yaml.safe_dump(given["frontmatter"], sort_keys=False, allow_unicode=True)
        text = f"---\n{front}---\n{given.get('body', given.get('instructions', 'system:'))}\n"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("case", vectors("load"))
def test_load(case: dict[str, Any], tmp_path: Path) -> None:
    with all_read(case) as vector:
        given, expected = vector["input"], vector["expected"]
        path = write_case(given, tmp_path)
        document = parse(path.read_text(encoding="utf-8"), path)
        context = ReferenceContext(path.parent, environment=given.get("env", {}))
        document, found = resolve_document(document, context)
        resolution = resolve_inputs(document, given.get("inputs", {}))
        problems = [item for item in (*document.problems, *found) if item.severity == "error"]
        if "inputs" in given:
            problems += resolution.problems
        if "error" in expected:
            words = expected["error"].lower()
            matching = [item for item in problems if words in item.message.lower()]
            assert matching, [item.message for item in problems]
            field = expected.get("error_field")
            assert field is None or any(repr(field) in item.message for item in matching)
            return
        assert not problems, [item.message for item in problems]
        if "validated_inputs" in expected:
            assert resolution.sent == expected["validated_inputs"]
            return
        actual = document_to_json(document, context)
        actual["instructions"] = actual["instructions"].rstrip("\n")
        assert is_subset(expected.whole, actual), actual


@pytest.mark.parametrize("case", vectors("parse"))
def test_parse(case: dict[str, Any]) -> None:
    with all_read(case) as vector:
        given = vector["input"]
        threads, rendered = given.get("thread_inputs", {}), given["rendered"]
        inputs = {name: {"kind": "thread"} for name in threads}
        front = {"template": {"parser": {"kind": "prompty"}}, "inputs": inputs}
        document = parse(f"---\n{json.dumps(front)}\n---\n{rendered}")
        segments: list[Segment] = []
        done = 0
        for nonce in NONCE.finditer(rendered):
            segments.append(Segment("literal", rendered[done : nonce.start()], None))
            segments.append(Segment("rich", nonce[0], None, nonce[1]))
            done = nonce.end()
        segments.append(Segment("literal", rendered[done:], None))
        messages = read_messages(document, Rendering(tuple(segments)), threads)
        assert messages_to_json(messages, "prompty") == vector["expected"]["messages"]
