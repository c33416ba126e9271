"""A tool of the registry, written into the document."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from studio.core.prompty.document import ToolSpec
from studio.core.prompty.parse import parse
from studio.core.text.source import apply_edits
from studio.core.tools.declaration import choice_value, declare_tool, write_choice
from studio.core.tools.document import OpenApi, named_sources
from studio.core.tools.openapi.loading import OperationRow, read_choice
from studio.core.tools.openapi.source import OpenApiSource
from tests.support.errors import has_errors

RICH = ToolSpec(
    "search",
    "Search: the\n# archive.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Words: any.", "pattern": "^a"},
            "limit": {"type": "integer", "default": 5},
            "ratio": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": None},
            "mode": {"enum": ["yes", "no"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "place": {
                "type": "object",
                "properties": {"x": {"type": "integer"}},
                "required": ["x"],
            },
        },
        "required": ["query"],
    },
    source="tools.py",
)

FORMS = {
    "none": "name: x\n",
    "list": "name: x\ntools:\n  - name: other  # kept\n    kind: function\ninputs: {}\n",
    "list at the margin": "tools:\n- name: other\n  kind: function\n",
    "mapping": "tools:\n  other:\n    kind: function\n",
    "empty": "tools:\nname: x\n",
    "empty list": "tools: []\nname: x\n",
    "flow": "tools: [{name: other, kind: function}]\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_the_declared_tool_reads_as_it_was(form: str) -> None:
    before = parse(f"---\n{FORMS[form]}---\nsystem:\nHello\n")
    text = apply_edits(before.source.text, declare_tool(before, RICH))
    after = parse(text)
    assert not has_errors(after)
    assert [tool.name for tool in after.tools] == [*(t.name for t in before.tools), "search"]
    tool = after.tools[-1]
    assert tool.kind == "function"
    assert tool.description == "Search: the # archive."
    assert tool.parameters["required"] == ["query"]
    properties = tool.parameters["properties"]
    assert isinstance(properties, dict)
    assert list(properties) == ["query", "limit", "ratio", "mode", "tags", "place"]
    assert properties["query"] == {"type": "string", "description": "Words: any."}
    assert properties["ratio"] == {"type": ["number", "null"]}
    assert properties["mode"]["enum"] == ["yes", "no"]
    assert properties["tags"] == {"type": "array", "items": {"type": "string"}}
    assert properties["place"]["properties"] == {"x": {"type": "integer"}}
    assert "# kept" in text or "# kept" not in before.source.text


def test_a_declared_name_is_not_declared_twice() -> None:
    document = parse("---\ntools: [{name: search, kind: function}]\n---\nhi")
    with pytest.raises(ValueError, match="already"):
        declare_tool(document, RICH)


def test_a_document_without_front_matter_gets_one() -> None:
    document = parse("system:\nHello\n")
    text = apply_edits(document.source.text, declare_tool(document, ToolSpec("now")))
    assert [tool.name for tool in parse(text).tools] == ["now"]


API = {
    "openapi": "3.0.0",
    "info": {"title": "t", "version": "1"},
    "paths": {
        "/pets": {
            "get": {"operationId": "list/pets", "tags": ["pets", "public"], "summary": "List."},
            "post": {"operationId": "add*", "tags": ["pets"]},
        },
        "/stores": {"get": {"operationId": "stores", "tags": ["stores"]}, "delete": {}},
    },
}
HEAD = """---
tools:
  - name: shop
    kind: openapi
    specification: api.json
---
system:
Hi
"""


async def rows(folder: Path, operations: object = None) -> tuple[OperationRow, ...]:
    (folder / "api.json").write_text(json.dumps(API), encoding="utf-8")
    wanted = read_choice(operations)  # type: ignore[arg-type]
    return await OpenApiSource("shop", folder / "api.json", {}, choice=wanted).overview()


async def test_all_operations_are_listed_and_those_that_are_wanted_marked(tmp_path: Path) -> None:
    listed = await rows(tmp_path, {"tags": ["public"]})
    assert [(row.method, row.path, row.tag, row.is_chosen) for row in listed] == [
        ("GET", "/pets", "pets", True),
        ("POST", "/pets", "pets", False),
        ("GET", "/stores", "stores", False),
        ("DELETE", "/stores", "", False),
    ]
    assert listed[0].summary == "List."
    assert listed[3].identifier == "DELETE /stores"


@pytest.mark.parametrize("places", [(0,), (1,), (0, 1), (0, 2), (3,), (0, 1, 2), (0, 1, 2, 3)])
async def test_a_choice_comes_back(tmp_path: Path, places: tuple[int, ...]) -> None:
    listed = await rows(tmp_path)
    wanted = {listed[place].name for place in places}
    path = tmp_path / "a.prompty"
    document = parse(HEAD, path)
    edits = write_choice(document, "shop", choice_value(listed, wanted))
    text = apply_edits(HEAD, edits)
    (source,) = named_sources(parse(text, path))
    assert isinstance(source, OpenApi)
    again = await rows(tmp_path, source.operations)
    assert {row.name for row in again if row.is_chosen} == wanted
    assert ("operations" in text) is (len(places) < len(listed))
    changed = write_choice(parse(text, path), "shop", None)
    assert apply_edits(text, changed) == HEAD


async def test_whole_groups_are_written_as_tags(tmp_path: Path) -> None:
    listed = await rows(tmp_path)
    assert choice_value(listed, {listed[0].name, listed[1].name}) == {"tags": ["pets"]}
    assert choice_value(listed, {listed[1].name}) == ["add[*]"]


def test_a_tool_that_is_gone_is_no_place_to_write() -> None:
    with pytest.raises(LookupError):
        write_choice(parse(HEAD, None), "other", ["x"])
