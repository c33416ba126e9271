from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from studio.core.prompty.front import schema
from studio.core.prompty.front.schema import (
    SHAPES,
    Key,
    is_open,
    json_schema,
    key_at,
    keys_below,
    main,
    read_shapes,
    values_at,
)
from studio.core.prompty.parse import parse
from studio.core.text.values import KeyPath

ROOT = Path(__file__).resolve().parents[4]


def test_written_schema_is_the_definition() -> None:
    path = ROOT / "resources" / "schema" / "prompty.schema.json"
    assert json.loads(path.read_text(encoding="utf-8")) == json_schema()
    Draft202012Validator.check_schema(json_schema())


def test_main_writes_it(tmp_path: Path) -> None:
    target = tmp_path / "new" / "schema.json"
    assert main([str(target)]) == 0
    assert json.loads(target.read_text(encoding="utf-8")) == json_schema()


@pytest.mark.parametrize("path", sorted((ROOT / "resources").rglob("*.prompty")), ids=str)
def test_bundled_prompts_fit_the_schema(path: Path) -> None:
    document = parse(path.read_text(encoding="utf-8"), path)
    Draft202012Validator(json_schema()).validate(document.data)


def test_the_page_of_the_format_lists_every_setting_of_an_agent() -> None:
    page = (ROOT / "docs" / "format.md").read_text(encoding="utf-8")
    table = page.split("### Settings of an agent", 1)[1].split("\n#", 1)[0]
    keys = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", table, re.MULTILINE)
    listed = [name for cell in keys for name in re.findall(r"\w+", cell)]
    assert sorted(listed) == sorted(key.name for key in SHAPES["agent"])


def test_every_setting_that_a_document_or_the_code_names_is_known() -> None:
    known = {key.name for key in SHAPES["agent"]}
    named = re.compile(r"metadata\.agent\.([a-z_]+)\b")
    files = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", *(ROOT / "studio").rglob("*.py")]
    found = {name for path in files for name in named.findall(path.read_text(encoding="utf-8"))}
    assert len(found) > 10
    assert found <= known


def test_schema_refuses_what_the_checks_refuse() -> None:
    validator = Draft202012Validator(json_schema())
    assert not validator.is_valid({"tools": 5})
    assert not validator.is_valid({"model": {"options": {"temperature": "hot"}}})
    assert validator.is_valid({"model": "${env:MODEL}", "own": 1})


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ((), "model"),
        (("model",), "apiType"),
        (("inputs", "city"), "kind"),
        (("inputs", 0), "default"),
        (("inputs", "a", "items"), "kind"),
        (("inputs", "a", "properties", "b"), "description"),
        (("tools", 2), "bindings"),
        (("tools", 2, "bindings", "unit"), "input"),
        (("template", "format"), "strict"),
        (("metadata", "agent"), "protocol"),
    ],
)
def test_keys_by_place(path: KeyPath, name: str) -> None:
    assert name in {key.name for key in keys_below(path)}
    key = key_at((*path, name))
    assert key is not None
    assert key.help.endswith((".", "`."))


def test_names_are_free_where_a_person_chooses_them() -> None:
    for path in (("inputs",), ("tools",), ("nobody",), ("metadata", "legacy")):
        assert keys_below(path) == ()
    assert is_open(("metadata",))
    assert is_open(("inputs",))
    assert not is_open(("model", "options"))
    assert values_at(("template", "parser", "kind")) == ("prompty", "section")
    assert values_at(("name",)) == ()


def test_every_key_is_explained_and_leads_somewhere() -> None:
    for keys in SHAPES.values():
        assert len({key.name for key in keys}) == len(keys)
        for key in keys:
            assert key.help
            assert key.shape is None or key.shape in SHAPES
            assert not key.closed or key.values


def test_a_row_of_a_table_that_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {"kind": "text, one of @words  What it is."}
    monkeypatch.setattr(schema, "resource_table", lambda *_: {"root": rows})
    (key,) = read_shapes("x.keys", words=("a", "b"))["root"]
    assert key == Key("kind", "What it is.", values=("a", "b"), closed=True)
    rows["kind"] = "text What it is."
    with pytest.raises(ValueError, match="'kind' cannot be read"):
        read_shapes("x.keys")
