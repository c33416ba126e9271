"""MCP servers that others wrote, met by our client: `python -m tests.interop.servers`.

Prints a line for each; ends with 1 where one cannot be used. The servers come from PyPI and npm.
Then the protocol's conformance suite plays a server, and looks at what our client does.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from studio.core.text.values import JsonObject
from studio.core.tools.mcp.connection import InputGiven, InputWanted
from studio.core.tools.mcp.server_config import StdioServer
from studio.core.tools.mcp.source import McpSource
from studio.core.tools.source import ToolSourceError
from tests.interop.environments import (
    LIMIT,
    PATIENT,
    ROOT,
    build,
    mcp_server_command,
    node_of,
    npm_file,
    python_of,
)

CALLS: Mapping[str, tuple[tuple[str, JsonObject, str], ...]] = {
    "everything": (
        ("echo", {"message": "hi"}, "Echo: hi"),
        ("get-tiny-image", {}, "[image image/png"),
        ("get-structured-content", {"location": "New York"}, "temperature"),
        ("trigger-elicitation-request", {}, "provided the requested information"),
    ),
    "filesystem": (("list_directory", {"path": "FOLDER"}, "[FILE] a.txt"),),
    "memory": (("read_graph", {}, "entities"),),
    "time": (("get_current_time", {"timezone": "Europe/Berlin"}, "Europe/Berlin"),),
    "git": (("git_status", {"repo_path": str(ROOT)}, "branch"),),
}
"""By server: a tool, its arguments, and what its answer says."""

CONFORMANCE = "@modelcontextprotocol/conformance"
ERAS = ("2026-07-28", "2025-11-25")
"""Revisions of the specification whose required scenarios for clients are played."""

NOT_HAD = {
    "auth/basic-cimd": "a client that is named by an address wants a public page of its own",
}
"""What is not done, and why."""

LATE, MOST_LATE = "reconnected very late", 9
"""Said where half a second was missed by another half, which a busy machine does. The part is then
played again: a client that keeps to a time of its own is late each time."""

WORDS = {"string": "a@example.org", "integer": 3, "number": 1.5, "boolean": True}


async def fill_in(wanted: InputWanted) -> InputGiven:
    """A user who fills in what must be."""
    properties = wanted.schema.get("properties")
    required = wanted.schema.get("required")
    assert isinstance(properties, Mapping)
    needed = required if isinstance(required, list) else []
    values = {
        str(name): WORDS.get(str(schema.get("type")), "x")
        for name, schema in properties.items()
        if name in needed and isinstance(schema, Mapping)
    }
    return InputGiven("accept", values)


def servers(folder: Path) -> dict[str, StdioServer]:
    """The servers that can be had here."""
    found: dict[str, StdioServer] = {}
    python = build("mcp-servers")
    if python is None:
        return found
    for name in ("time", "git"):
        found[name] = StdioServer(str(python), ("-m", f"mcp_server_{name}"))
    for name in ("everything", "filesystem", "memory"):
        command = mcp_server_command(python, name)
        if command is not None:
            more = (str(folder),) if name == "filesystem" else ()
            found[name] = StdioServer(command[0], (*command[1:], *more))
    return found


async def meet(name: str, server: StdioServer, folder: Path) -> list[str]:
    """What is wrong with a server, or our client; empty where all is well."""
    source = McpSource(name, server, limits=PATIENT, ask=fill_in)
    wrong: list[str] = []
    try:
        tools = await source.list_tools()
        facts = await source.facts()
        for tool, arguments, said in CALLS[name]:
            given = {
                key: str(folder) if value == "FOLDER" else value for key, value in arguments.items()
            }
            outcome = await source.call(tool, given)
            if outcome.status != "ok" or said not in outcome.text:
                wrong.append(f"{tool}: {outcome.status}: {outcome.text[:200]}")
        for offer in facts.offers:
            if not offer.arguments:
                await source.open_offer(offer, {})
        protocol = facts.words["protocol"]
        print(f"{name:12} {len(tools):>3} tools {len(facts.offers):>3} offers   {protocol}")
    except ToolSourceError as error:
        wrong.append(str(error))
    finally:
        await source.close()
    return [f"{name}: {each}" for each in wrong]


def required(command: Sequence[str], era: str) -> list[str]:
    """Return the scenarios that a revision of the specification requires of clients."""
    listed = subprocess.run(
        [*command, "list", "--client", "--requirements", era],
        capture_output=True,
        text=True,
        check=True,
        timeout=LIMIT,
    )
    scored = listed.stdout.partition("Run and reported")[0]
    return re.findall(r"^  - (\S+)$", scored.partition("Client scenarios")[2], re.MULTILINE)


def conform(command: Sequence[str], era: str) -> Iterator[tuple[str, str, int]]:
    """Yield each scenario of an era, what our client did wrong there, and the checks it passed."""
    client = f"{sys.executable} -m tests.interop.conformance_client"
    playing = [*command, "client", "--command", client, "--timeout", str(int(LIMIT * 1000))]
    for part in required(command, era):
        play = partial(_played, [*playing, "--spec-version", era, "--scenario", part], era)
        is_passed, told = play()
        for _ in range(MOST_LATE):
            if LATE not in told:
                break
            is_passed, told = play()
        passed = re.search(r"^Passed: (\d+)/", told, re.MULTILINE)
        wrong = [line.strip() for line in told.splitlines() if line.startswith("  - ")]
        said = "; ".join(wrong) or told[-300:]
        yield part, "" if is_passed else said, int(passed.group(1)) if passed else 0


def _played(command: list[str], era: str) -> tuple[bool, str]:
    """Play a scenario with our client, which speaks the protocols of its era; what was said."""
    old = {"MCP_CONFORMANCE_OLD": "1"} if era == ERAS[1] else {}
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
        cwd=ROOT,
        env={**os.environ, **old},
    )
    return done.returncode == 0, done.stdout + done.stderr


async def main() -> int:
    """Meet all that can be had."""
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        (folder / "a.txt").write_text("a", encoding="utf-8")
        there = servers(folder)
        for name in CALLS:
            if name in there:
                wrong += await meet(name, there[name], folder)
            else:
                print(f"{name:12} not installed here")
    python = python_of("mcp-servers")
    script = npm_file(python, CONFORMANCE, "dist/index.js") if python is not None else None
    if python is not None and script is not None:
        for era in ERAS:
            parts = [*conform([str(node_of(python)), str(script)], era)]
            passed = [part for part, said, _ in parts if not said]
            checks = sum(count for _, _, count in parts)
            print(f"conformance {era}: {len(passed)} of {len(parts)} scenarios, {checks} checks")
            for part, said, _ in parts:
                if said and part in NOT_HAD:
                    print(f"{part}: {NOT_HAD[part]}")
                elif said:
                    wrong.append(f"{era} {part}: {said}")
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
