"""Tools that are added and taken out: the rest of the YAML stays as it was."""

from __future__ import annotations

import pytest

from studio.application.editing.front_form import FrontFormError, add_tool, remove_item
from studio.core.prompty.parse import parse
from studio.core.text.source import apply_edits
from studio.core.text.values import KeyPath

_HEAD, _TAIL = (
    "---\n# who\nname: Trip   # short\nmodel:\n  id: m\n",
    "\n# last\ntags: [a]\n---\nuser:\nHi\n",
)


def file_of(tools: str) -> str:
    return f"{_HEAD}{tools}{_TAIL}"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "tools:\n  # first\n  - name: a\n    kind: function # own",
            "tools:\n  # first\n  - name: a\n    kind: function # own\n"
            "  - name: search\n    kind: function",
        ),
        ("tools:\n- name: a", "tools:\n- name: a\n- name: search\n  kind: function"),
        (
            "tools:\n  a:\n    kind: function",
            "tools:\n  a:\n    kind: function\n  search:\n    kind: function",
        ),
        ("tools: [{name: a}]", "tools: [{name: a}, {name: search, kind: function}]"),
        ("tools: {a: {kind: x}}", "tools: {a: {kind: x}, search: {kind: function}}"),
        ("tools: []  # none yet", "tools: [{name: search, kind: function}]  # none yet"),
        ("tools:", "tools:\n  - name: search\n    kind: function"),
    ],
)
def test_a_tool_comes_in_the_form_of_the_others_and_goes_again(old: str, new: str) -> None:
    text = file_of(old)
    made = apply_edits(text, add_tool(parse(text), "search"))
    assert made == file_of(new)
    tools = parse(made).data["tools"]
    assert isinstance(tools, list | dict)
    if len(tools) == 1:
        return  # the last one takes its key along: tried below
    last = "search" if isinstance(tools, dict) else len(tools) - 1
    assert apply_edits(made, remove_item(parse(made), ("tools", last))) == text


def test_a_file_without_tools_gets_the_key_and_keeps_its_dialect() -> None:
    for text in (file_of("version: 1"), "user:\nHi\n", "[# user #]\nHi\n"):
        document = parse(text)
        made = parse(apply_edits(text, add_tool(document, "files", "mcp")))
        assert made.data["tools"] == [{"name": "files", "kind": "mcp", "serverName": "files"}]
        assert made.dialect == document.dialect
        assert made.source.text.endswith(text[text.index("Hi") :])


@pytest.mark.parametrize(
    ("old", "path", "new"),
    [
        ("tools:\n  - name: a\n  - name: b # x", ("tools", 0), "tools:\n  - name: b # x"),
        ("tools:\n  -\n    name: a\n  - name: b", ("tools", 0), "tools:\n  - name: b"),
        ("tools: [{name: a}, {name: b}]", ("tools", 0), "tools: [{name: b}]"),
        ("tools: [{name: a}, {name: b}]", ("tools", 1), "tools: [{name: a}]"),
        ("tools: {a: {kind: x}, b: {kind: y}}", ("tools", "b"), "tools: {a: {kind: x}}"),
        (
            "inputs:\n  - name: a\n    default: |\n      x\n  - name: b",
            ("inputs", 0),
            "inputs:\n  - name: b",
        ),
        ("inputs:\n  - name: a\n  - name: b", ("inputs", 1), "inputs:\n  - name: a"),
    ],
)
def test_an_item_goes_and_its_neighbors_stay(old: str, path: KeyPath, new: str) -> None:
    text = file_of(old)
    assert apply_edits(text, remove_item(parse(text), path)) == file_of(new)


def test_the_last_tool_takes_the_key_along() -> None:
    text = file_of("tools:\n  - name: a\n    kind: function")
    gone = apply_edits(text, remove_item(parse(text), ("tools", 0)))
    assert gone == file_of("").replace("\n\n# last", "\n# last")


@pytest.mark.parametrize(
    ("tools", "name", "said"),
    [
        ("tools:\n  - name: a", "a", "already"),
        ("tools: {a: {}}", "a", "already"),
        ("tools:\n  - name: a", "a b", "not a name"),
        ("tools: tools.py", "b", "form that only the text can show"),
        ("base: &t [{name: a}]\ntools: *t", "b", "form that only the text can show"),
    ],
)
def test_what_cannot_be_added_is_said_and_nothing_changes(tools: str, name: str, said: str) -> None:
    with pytest.raises(FrontFormError, match=said):
        add_tool(parse(file_of(tools)), name)


def test_prompty_1_is_left_to_the_text() -> None:
    old = "---\nmodel:\n  api: chat\n  configuration: {type: openai}\n---\nuser:\nHi\n"
    with pytest.raises(FrontFormError, match="Prompty 1"):
        add_tool(parse(old), "b")
