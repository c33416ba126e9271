"""A tool of the registry, written into the document."""

from __future__ import annotations

import pytest

from studio.core.prompty.parse import parse
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.problem import apply_edits
from studio.core.tools.declaration import declare_tool
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
