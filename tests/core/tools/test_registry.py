"""Bringing declarations and implementations together."""

from __future__ import annotations

from pathlib import Path

from studio.core.prompty.document import ToolId, ToolSpec
from studio.core.tools.binding import build_registry
from studio.core.tools.registry import FixedMock, SourceStatus, SourceTools
from tests.support.tool_ids import tool_id

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
SMALL = {
    "type": "object",
    "properties": {"n": {"type": "integer", "maximum": 9}, "unit": {"type": "string"}},
    "required": ["n", "unit"],
}
FILE = SourceTools(
    "python:t.py",
    "t.py",
    (ToolSpec("count", "Theirs.", SMALL, source="t.py"), ToolSpec("more", source="t.py")),
    path=Path("t.py"),
    lines={"count": 3, "more": 9},
)


def test_a_declared_tool_is_bound_to_the_function_of_its_name() -> None:
    spec = ToolSpec("count", "Ours.", NUMBER, bindings={"unit": "preferred"})
    entry = build_registry([spec], [FILE]).entries[0]
    assert (entry.state, entry.source, entry.line) == ("bound", "t.py", 3)
    assert entry.spec.description == "Ours."
    assert entry.spec.parameters["properties"] == {"n": {"type": "integer", "maximum": 9}}
    assert entry.schema == SMALL


def test_a_declared_tool_is_bound_by_its_python_name_where_a_library_gave_it_another() -> None:
    tools = tuple(ToolSpec(name, source="t.py") for name in ("renamed", "taken"))
    file = SourceTools(
        "python:t.py", "t.py", tools, python_names={"f": "renamed", "taken": "renamed"}
    )
    registry = build_registry([ToolSpec("f"), ToolSpec("taken")], [file])
    assert [each.id.name for each in registry.entries] == ["renamed", "taken"]
    assert [spec.name for spec in registry.specs] == ["f", "taken"]


def test_a_declaration_without_parameters_takes_the_function_s() -> None:
    spec = ToolSpec("count", bindings={"unit": "preferred"})
    entry = build_registry([spec], [FILE]).entries[0]
    assert entry.spec.description == "Theirs."
    assert entry.spec.parameters == {
        "type": "object",
        "properties": {"n": {"type": "integer", "maximum": 9}},
        "required": ["n"],
    }


def test_undeclared_functions_are_offered_only_where_nothing_is_declared() -> None:
    assert [spec.name for spec in build_registry([], [FILE]).specs] == ["count", "more"]
    registry = build_registry([ToolSpec("count", parameters=NUMBER)], [FILE])
    assert [spec.name for spec in registry.specs] == ["count"]
    more = registry.named("more")
    assert more is not None
    assert not more.enabled
    assert not more.declared


def test_a_declaration_that_nothing_runs_says_what_to_do() -> None:
    entry = build_registry([ToolSpec("absent")], [FILE]).entries[0]
    assert entry.state == "declared"
    assert "metadata.agent.tools" in entry.problem


def test_two_sources_with_one_name_stand_side_by_side() -> None:
    second = SourceTools("python:u.py", "u.py", (ToolSpec("count", source="u.py"),))
    registry = build_registry([], [FILE, second])
    assert [spec.name for spec in registry.specs] == ["t__count", "more", "u__count"]
    theirs = tool_id(registry, "t__count")
    registry = registry.change(theirs, approval="allow", mock=FixedMock(1))
    again = build_registry([], [second, FILE], before=registry, offers={"t__count": False})
    assert [spec.name for spec in again.specs] == ["u__count", "more"]
    other = again.named("u__count")
    assert other is not None
    assert (other.enabled, other.mock, other.id) == (True, None, ToolId("python:u.py", "count"))
    assert again.find("count") is None
    assert again.find("count", "python:u.py") == other


def test_what_the_document_offers_holds_when_another_source_has_the_name() -> None:
    offers = {"count": False, "u__count": True}
    second = SourceTools("python:u.py", "u.py", (ToolSpec("count", source="u.py"),))
    assert [spec.name for spec in build_registry([], [FILE], offers=offers).specs] == ["more"]
    registry = build_registry([], [FILE, second], offers=offers)
    assert [spec.name for spec in registry.specs] == ["more", "u__count"]


def test_of_two_sources_the_first_runs_a_declared_tool() -> None:
    second = SourceTools("python:u.py", "u.py", (ToolSpec("count", source="u.py"),))
    registry = build_registry([ToolSpec("count")], [FILE, second])
    assert [entry.name for entry in registry.entries] == ["count", "more", "u__count"]
    assert registry.entries[0].id == ToolId("python:t.py", "count")


def test_a_run_keeps_the_names_that_it_has_sent() -> None:
    second = SourceTools("python:u.py", "u.py", (ToolSpec("count", source="u.py"),))
    sent = {entry.id: entry.name for entry in build_registry([], [FILE]).entries}
    both = build_registry([], [FILE, second]).with_names(sent)
    assert [entry.name for entry in both.entries] == ["count", "more", "u__count"]


def test_tools_of_servers_stand_beside_declared_ones() -> None:
    server = SourceTools(
        "mcp:s",
        "mcp: s",
        (ToolSpec("remote", kind="mcp", has_effects=True), ToolSpec("read", kind="mcp")),
        stands_alone=True,
        approvals={"read": "always"},
    )
    registry = build_registry([ToolSpec("s", kind="mcp"), ToolSpec("count")], [FILE, server])
    assert [spec.name for spec in registry.specs] == ["count", "remote", "read"]
    approvals = {entry.name: entry.approval for entry in registry.entries}
    assert approvals["remote"] == "once"
    assert approvals["read"] == "always"


def test_default_approvals() -> None:
    specs = [ToolSpec("plain"), ToolSpec("acts", has_effects=True), ToolSpec("made", dynamic=True)]
    entries = build_registry(specs, []).entries
    assert [entry.approval for entry in entries] == ["allow", "once", "always"]


def test_the_document_marks_tools_of_sources_that_it_does_not_declare() -> None:
    registry = build_registry([], [FILE], effects=frozenset({"count"}))
    marked = {entry.name: (entry.spec.has_effects, entry.approval) for entry in registry.entries}
    assert marked == {"count": (True, "once"), "more": (False, "allow")}


def test_what_the_person_set_survives_a_reload() -> None:
    before = build_registry([ToolSpec("count")], [FILE])
    before = before.change(tool_id(before, "count"), mock=FixedMock(1), approval="always", calls=2)
    spec = ToolSpec("count", "new text")
    entry = build_registry([spec], [FILE], before=before, offers={"count": False}).entries[0]
    assert entry.spec.description == "new text"
    assert (entry.state, entry.enabled, entry.approval, entry.calls) == (
        "mocked",
        False,
        "always",
        2,
    )


def test_search_is_by_words_in_name_description_source_and_state() -> None:
    registry = build_registry([ToolSpec("count", "Numbers and more")], [FILE])
    assert [entry.name for entry in registry.search("NUMB t.py")] == ["count"]
    assert [entry.name for entry in registry.search("bound")] == ["count", "more"]
    assert registry.search("nothing like it") == ()


def test_a_search_finds_its_tools_among_a_thousand() -> None:
    specs = tuple(ToolSpec(f"tool_{number}", "Text " * 20, NUMBER) for number in range(1000))
    server = SourceTools("mcp:s", "mcp: s", specs, stands_alone=True)
    assert len(build_registry(specs, [server]).search("tool_99")) == 11


def test_a_tool_whose_source_cannot_be_used_says_that() -> None:
    status = SourceStatus("python:t.py", "t.py", "untrusted", "/w is not trusted")
    entry = build_registry([ToolSpec("count")], [], [status]).entries[0]
    assert entry.problem == "nothing runs 'count': t.py: /w is not trusted"
