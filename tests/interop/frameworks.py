"""Tools of six libraries, with their real packages: `python -m tests.interop.frameworks`.

Each keeps the name that its library tells the model, or a line says why it is none; one that is
made of a function can be called, and a prompt that declares the function's own name binds it.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from studio.core.prompty.document import ToolSpec
from studio.core.text.values import JsonObject
from studio.core.tools.binding import build_registry
from studio.core.tools.python.source import PythonFileSource
from studio.core.tools.registry import SourceTools
from tests.interop.environments import PATIENT, build


@dataclass(frozen=True)
class Library:
    """A file of one library's tools, and what is to come of it."""

    text: str
    """The file."""

    names: set[str]
    """Tools, by the names that the library tells the model."""

    refused: set[str]
    """Names in the file of what is no tool, for a reason that is told."""

    calls: dict[str, JsonObject]
    """By the name of a function in the file: arguments of a call that gives 7."""


LIBRARIES = {
    "langchain": Library(
        '''
from langchain_core.tools import StructuredTool, tool


@tool("renamed")
def other(number: int) -> int:
    """Other."""
    return number


def plain(number: int) -> int:
    """Plain."""
    return number


made = StructuredTool.from_function(plain, name="structured")
''',
        {"renamed", "structured"},
        set(),
        {"other": {"number": 7}, "plain": {"number": 7}},
    ),
    "fastmcp": Library(
        '''
from fastmcp import FastMCP

mcp = FastMCP("demo")


@mcp.tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@mcp.tool(name="minus")
def sub(a: int, b: int) -> int:
    """Subtract."""
    return a - b


@mcp.resource("x://y")
def page() -> str:
    return ""
''',
        {"add", "minus"},
        {"page"},
        {"add": {"a": 3, "b": 4}, "sub": {"a": 9, "b": 2}},
    ),
    "openai-agents": Library(
        '''
from agents import RunContextWrapper, function_tool


@function_tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@function_tool(name_override="better")
async def asks(ctx: RunContextWrapper, text: str) -> str:
    """Ask."""
    return text


def copied(a: int) -> int:
    """Copied."""
    return a


tool = function_tool(copied)
''',
        {"copied"},
        {"add", "asks", "tool"},
        {"copied": {"a": 7}},
    ),
    "pydantic-ai": Library(
        '''
from pydantic_ai import Agent, RunContext, Tool


def roll(sides: int) -> int:
    """Roll."""
    return sides


dice = Tool(roll, name="roll_dice")
agent = Agent("test")


@agent.tool_plain(name="seven")
def own() -> int:
    """Seven."""
    return 7


@agent.tool
def asks(ctx: RunContext[str], text: str) -> str:
    """Ask."""
    return text
''',
        {"roll_dice", "seven"},
        {"asks"},
        {"roll": {"sides": 7}, "own": {}},
    ),
    "smolagents": Library(
        '''
from smolagents import Tool, tool


@tool
def search(count: int) -> int:
    """Search.

    Args:
        count: How many.
    """
    return count


class Look(Tool):
    name, description, output_type = "look_up", "Look.", "integer"
    inputs = {"number": {"type": "integer", "description": "Number."}}

    def forward(self, number: int) -> int:
        return number


look = Look()
''',
        {"search", "look_up"},
        set(),
        {"search": {"count": 7}, "look": {"number": 7}},
    ),
    "llama-index": Library(
        '''
from llama_index.core.tools import FunctionTool


def times(a: int, b: int) -> int:
    """Multiply."""
    return a * b


made = FunctionTool.from_defaults(fn=times, name="multiply")
''',
        {"multiply"},
        set(),
        {"times": {"a": 7, "b": 1}},
    ),
}


async def meet(name: str, library: Library, path: Path, python: Path) -> list[str]:
    """List and call the tools of a file; what is wrong, in sentences."""
    path.write_text(library.text, encoding="utf-8")
    source = PythonFileSource(path, PATIENT, python=str(python))
    wrong: list[str] = []
    try:
        specs = await source.list_tools()
        names = {spec.name for spec in specs}
        refused = {each.message.split(" is not a tool: ")[0] for each in source.problems}
        if names != library.names:
            wrong.append(f"{name}: offers {sorted(names)}")
        if refused != library.refused:
            wrong.append(f"{name}: refuses {sorted(refused)}")
        file = SourceTools("file", path.name, specs, python_names=source.python_names)
        for function, arguments in library.calls.items():
            entry = build_registry([ToolSpec(function)], [file]).named(function)
            assert entry is not None
            outcome = await source.call(entry.id.name, arguments)
            if outcome.value != 7:
                wrong.append(f"{name}: {function} of {entry.id}: {outcome.text}")
        print(f"{name:14} {len(names)} tools, {len(refused)} refused with a reason")
    finally:
        await source.close()
    return wrong


async def main() -> int:
    """Meet all six."""
    python = build("frameworks")
    if python is None:
        print("frameworks     not installed here")
        return 0
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, library) in enumerate(LIBRARIES.items()):
            path = Path(folder).resolve() / f"tools_{number}.py"
            wrong += await meet(name, library, path, python)
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
