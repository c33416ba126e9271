"""What was set up for debugging a file is there again at the next start."""

from __future__ import annotations

import json
from pathlib import Path

from studio.application.run.breakpoints import BreakpointSet, describe
from studio.application.run.debugging.console import DebugStore, FileDebugging
from studio.core.agent.values.breakpoints import Breakpoint
from studio.viewmodels.run.breakpoint_book import FileBreakpoints

SET = BreakpointSet(
    (
        Breakpoint("b1", frozenset({"P1"}), message="user 2"),
        Breakpoint("b2", tool="lookup", condition="iteration > 2", hits=">=3", enabled=False),
        Breakpoint("b3", frozenset({"P4", "P2"}), log="took {elapsed}"),
    ),
    frozenset({"tool", "warning"}),
)


def test_it_comes_back_for_its_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "data" / "debugging.json"
    value = FileDebugging(SET, ("args.city", "tokens.total > 9"))
    assert DebugStore(path).keep("/a.prompty", value) == ""

    again = DebugStore(path)
    assert again.of("/a.prompty") == value
    assert again.of("/b.prompty") == FileDebugging()
    again.keep("/a.prompty", FileDebugging())
    assert json.loads(path.read_text(encoding="utf-8")) == {}


def test_a_file_that_makes_no_sense_is_as_none(tmp_path: Path) -> None:
    path = tmp_path / "debugging.json"
    for text in ("", "[]", "{", '{"/a": 3}', '{"/a": {"breakpoints": [1, {"places": 3}]}}'):
        path.write_text(text, encoding="utf-8")
        held = DebugStore(path).of("/a")
        assert held.watches == ()
        assert all(isinstance(item, Breakpoint) for item in held.breakpoints.breakpoints)


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert DebugStore(tmp_path / "file" / "debugging.json").keep("/a", FileDebugging(SET))


def test_the_files_that_were_changed_longest_ago_go(tmp_path: Path) -> None:
    memory = DebugStore(tmp_path / "debugging.json")
    for number in range(210):
        memory.keep(f"/{number}", FileDebugging(watches=("cost",)))
    assert memory.of("/9") == FileDebugging()
    assert memory.of("/10").watches == ("cost",)


def test_a_book_goes_from_file_to_file(qapp: object) -> None:
    file_breakpoints = FileBreakpoints()
    file_breakpoints.open_file("/a", SET)
    assert [describe(item) for item in file_breakpoints.value.breakpoints] == [
        "Before the model · message user (no. 2)",
        "Before a tool · lookup · when iteration > 2 · hit count >=3",
        "With the reply · With a tool's result · logs “took {elapsed}”, does not stop",
    ]
    file_breakpoints.open_file("/b", BreakpointSet())
    assert file_breakpoints.value.breakpoints == ()
    file_breakpoints.toggle_message("user 1")
    assert describe(file_breakpoints.value.breakpoints[0]) == "Before the model · message user"
    file_breakpoints.toggle_message("user 1")
    assert file_breakpoints.value.breakpoints == ()
