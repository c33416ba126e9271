"""`{{ tools }}` means the same in preview and run: the tools that the model gets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from studio.cli.main import run_command
from studio.cli.terminal import FINE
from tests.cli.test_main import script

SECTION = """---
model: {id: scripted-1}
---
tools:
  - id: query
    type: function
    options: {description: Ask the table.}
  - id: search
    type: function

system:
First %s.

user:
Hi
"""


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("{{ tools[0].name }}", "query"),
        ("{% for t in tools %}{{ t.name }},{% endfor %}", "query,search,"),
        ("{{ tool_names }}", "query, search"),
    ],
)
def test_tools_of_the_section_are_shown(
    expression: str,
    shown: str,
    tmp_path: Path,
    user_home: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    script(user_home, "Hello.")
    path = tmp_path / "a.prompty"
    path.write_text(SECTION % expression, encoding="utf-8")
    assert run_command(["messages", str(path)]) == FINE
    printed = capsys.readouterr()
    assert f"First {shown}." in printed.out
    assert "sample" not in printed.err
    assert run_command(["run", str(path), "--json"]) == FINE
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert f"First {shown}." in json.dumps(events)


def test_an_input_named_tools_counts_where_it_makes_the_tools(
    tmp_path: Path, user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(user_home, "Hello.")
    path = tmp_path / "a.prompty"
    path.write_text(
        "---\nmodel: {id: scripted-1}\ninputs:\n  tools: {kind: array, items: {kind: string}}\n"
        "template: {format: {kind: jinja2}, parser: {kind: section}}\n---\ntools:\n"
        "{% for each in tools %}\n  - id: {{ each }}\n    type: function\n{% endfor %}\n\n"
        "user:\nUse {{ tools[1] }}.\n",
        encoding="utf-8",
    )
    given = ["-i", 'tools=["one", "two"]']
    assert run_command(["run", str(path), "--json", *given]) == FINE
    assert "Use two." in capsys.readouterr().out
    assert run_command(["messages", str(path), *given]) == FINE
    assert "Use two." in capsys.readouterr().out
