"""The table of keys says what the readers read, and the schema is made of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from studio.core.experiments.file.cases import ASSERTION_HELP, SHAPES, TYPES, main
from studio.core.experiments.file.read import KEYS
from studio.core.prompty.front.schema import json_schema, key_at

ROOT = Path(__file__).resolve().parents[4]


def test_the_schema_of_other_editors_is_that_of_the_table(tmp_path: Path) -> None:
    main([str(tmp_path / "made.json")])
    made = (tmp_path / "made.json").read_text(encoding="utf-8")
    kept = (ROOT / "resources" / "schema" / "experiment.schema.json").read_text(encoding="utf-8")
    assert made == kept
    Draft202012Validator.check_schema(json.loads(made))


def test_every_key_and_type_that_is_read_is_in_the_table() -> None:
    assert {key.name for key in SHAPES["root"]} == set(KEYS)
    assert set(ASSERTION_HELP) == set(TYPES)
    found = key_at(("tests", 0, "assert", 0, "type"), SHAPES)
    assert found is not None
    assert set(TYPES) <= set(found.values)


def test_the_page_of_experiments_names_every_assertion_and_key() -> None:
    page = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
    named = {word.rstrip(":") for word in re.findall(r"`([\w:-]+)", page)}
    assert set(TYPES) - named == set()
    of_file = {
        key.name for shape in ("root", "gates", "options", "budget") for key in SHAPES[shape]
    }
    assert of_file - named <= {"targets"}


@pytest.mark.parametrize(
    "path",
    sorted((ROOT / "resources" / "examples").glob("*.experiment.yaml")),
    ids=lambda p: p.name,
)
def test_the_examples_fit_the_schema(path: Path) -> None:
    validator = Draft202012Validator(json_schema(SHAPES, "An experiment"))
    assert [each.message for each in validator.iter_errors(yaml.safe_load(path.read_text()))] == []
    assert list(validator.iter_errors({"prompts": [{"id": 3}]}))
