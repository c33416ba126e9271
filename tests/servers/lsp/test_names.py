"""What the protocol is told of the name at a place."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types

from studio.servers.lsp import names
from studio.servers.lsp.features import OpenText, read

PROMPT = """---
name: trip
tools:
  - name: look_up
    kind: function
---
system:
Ask `look_up`.
"""


def place(text: str, mark: str = "¦") -> tuple[OpenText, types.Position]:
    at = text.index(mark)
    made = read("file:///trip.prompty", None, text.replace(mark, ""), 1, "utf-16")
    return made, made.positions.position(at)


def test_a_tool_is_renamed_where_it_is_named(user_home: Path) -> None:
    made, position = place(PROMPT.replace("`look_up`", "`look¦_up`"))
    assert names.renamable_at(made, position) is not None
    edit = names.rename_at(made, position, "find")
    assert edit is not None
    assert edit.changes is not None
    assert len(edit.changes[made.uri]) == 2


def test_prose_has_no_name_to_rename(user_home: Path) -> None:
    made, position = place(PROMPT.replace("Ask", "A¦sk"))
    assert names.renamable_at(made, position) is None
    assert names.rename_at(made, position, "x") is None
