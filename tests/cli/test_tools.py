"""`prompt-studio tools`, as a script and as another MCP client would call it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from studio.cli.main import run_command
from studio.cli.terminal import FINE, PROBLEMS, USAGE
from studio.core.tools.python.interpreter import server_environment
from studio.core.tools.trust.store import TrustStore

if TYPE_CHECKING:
    from mcp import Client

TOOLS = '''
import sys

print("loaded")


def add(a: int, b: int = 2) -> int:
    """Add two numbers.

    Args:
        a: The first.
    """
    print("adding")
    return a + b


def listen() -> str:
    return sys.stdin.read() or "nothing to read"


def much() -> str:
    return "x" * 1000


def fail():
    raise LookupError("no such thing")


def point(x: int) -> dict[str, int]:
    return {"x": x}


def lie() -> int:
    return "many"


add.has_effects = False
much.has_effects = True
'''


@pytest.fixture(autouse=True)
def trusted(tmp_path: Path, user_home: Path) -> None:
    TrustStore().trust(tmp_path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my_tools.py"
    path.write_text(TOOLS, encoding="utf-8")
    return path


async def test_another_client_can_use_the_served_file(file: Path, tmp_path: Path) -> None:
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    command = ["-m", "studio", "tools", "serve", str(file), "--characters", "100"]
    server = StdioServerParameters(
        command=sys.executable, args=command, env=server_environment(), cwd=file.parent
    )
    # A log of its own: the default is what `sys.stderr` was when `mcp` was first imported: perhaps
    # the capture of another test, closed since.
    with (tmp_path / "log.txt").open("w", encoding="utf-8") as log:
        async with Client(stdio_client(server, errlog=log)) as client:
            await use_the_tools(client)
    assert "loaded" in (tmp_path / "log.txt").read_text(encoding="utf-8")


def test_lines_that_are_no_json_are_answered_and_the_next_one_is_read(file: Path) -> None:
    command = [sys.executable, "-m", "studio", "tools", "serve", str(file)]
    lines = ["[" * 100_000, "{", '{"jsonrpc": "2.0", "id": 7, "method": "ping"}', ""]
    done = subprocess.run(
        command, input="\n".join(lines), capture_output=True, text=True, check=False, timeout=300
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["id"] for each in answers] == [None, None, 7], done.stderr


async def use_the_tools(client: Client) -> None:
    listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert list(listed) == ["add", "listen", "much", "fail", "point", "lie"]
    hints = {
        name: tool.annotations.read_only_hint if tool.annotations else None
        for name, tool in listed.items()
    }
    # Only what the author says: other clients run what only reads without asking.
    assert {name: hint for name, hint in hints.items() if hint is not None} == {
        "add": True,
        "much": False,
    }
    assert listed["add"].description == "Add two numbers."
    assert listed["add"].input_schema["properties"]["a"] == {
        "description": "The first.",
        "type": "integer",
    }
    added = await client.call_tool("add", {"a": 40})
    assert [block.text for block in added.content] == ["42"]
    # The client checks what comes against what the function says that it gives.
    assert listed["add"].output_schema["properties"] == {"result": {"type": "integer"}}
    assert added.structured_content == {"result": 42}
    assert listed["fail"].output_schema is None
    pointed = await client.call_tool("point", {"x": 3})
    assert pointed.structured_content == {"x": 3}
    lied = await client.call_tool("lie", {})
    assert lied.is_error
    assert "lie gave something else than it says" in lied.content[0].text
    assert not added.is_error
    refused = await client.call_tool("add", {"a": "many"})
    assert refused.is_error
    heard = await client.call_tool("listen", {})
    assert heard.content[0].text == "nothing to read"
    cut = await client.call_tool("much", {})
    assert "the limit is 100" in cut.content[0].text
    failed = await client.call_tool("fail", {})
    assert failed.is_error
    assert failed.content[0].text == "LookupError: no such thing"


def test_a_file_is_called_without_the_sdk_of_mcp(file: Path) -> None:
    code = (
        "import sys; from studio.cli.main import run_command;"
        "code = run_command(['tools', 'call', sys.argv[1], 'add', '{\"a\": 40}']);"
        "print(code, sorted({'mcp', 'mcp_types', 'pydantic'} & sys.modules.keys()))"
    )
    command = [sys.executable, "-c", code, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout == "42\n0 []\n", done.stderr


def test_tools_are_listed_as_a_prompt_would_say_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "half.py"
    path.write_text(
        'def add(a: int, b: int = 2) -> int:\n    """Add two numbers."""\n'
        "def bad(a: 'Nothing'): ...\n",
        encoding="utf-8",
    )
    assert run_command(["tools", "list", str(path)]) == PROBLEMS
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        "- **add**: Add two numbers.",
        '  - Required: `"a"` (integer)',
        '  - Optional: `"b"` (integer)',
    ]
    assert said.err.startswith(f"{path}:3:1: warning bad: ")


def test_tools_are_listed_as_json(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["tools", "list", "--json", str(file)]) == FINE
    listed = json.loads(capsys.readouterr().out)
    assert [tool["function"]["name"] for tool in listed][:4] == ["add", "listen", "much", "fail"]
    assert listed[0]["function"]["parameters"]["required"] == ["a"]


def test_a_broken_file_is_said_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broken.py"
    path.write_text("x = 1\ny = x / 0\n", encoding="utf-8")
    assert run_command(["tools", "list", str(path)]) == PROBLEMS
    assert f"{path}:2:1: error ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["list", "serve"])
def test_a_missing_file_is_no_way_to_call_it(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["tools", command, str(tmp_path / "none.py")]) == USAGE
    assert "none.py: no such file" in capsys.readouterr().err


def test_the_program_without_a_python_starts_itself_as_the_server(
    monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    from studio.core.tools.python import worker
    from studio.core.tools.python_server import serve

    asked: list[list[str]] = []
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    command = worker.server_command(file)
    monkeypatch.delattr(sys, "frozen")
    monkeypatch.setattr(serve, "main", lambda given: asked.append(given) or 0)
    assert run_command(command[1:]) == FINE
    assert asked == [command[3:]]
