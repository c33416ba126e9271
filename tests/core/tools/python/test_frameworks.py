"""Tools of other libraries keep the names that they tell the model, or say why they are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.core.tools.python.source import PythonFileSource

LANGCHAIN = '''
from langchain_core.tools import StructuredTool, tool


@tool("renamed", parse_docstring=True)
def other(text: str) -> str:
    """Other.

    Args:
        text: What it is.
    """
    return text


def plain(number: int) -> int:
    """Plain."""
    return number


made = StructuredTool.from_function(plain, name="structured", description="Told so.")
'''
# The shapes of what FastMCP, pydantic-ai, smolagents and LlamaIndex make: they are not installed.
SHAPES = '''
from types import SimpleNamespace


class RunContext:
    pass


def add(a: int) -> int:
    """Add."""
    return a


add.__fastmcp__ = SimpleNamespace(type="tool", name="sum", description=None)


def page() -> str:
    return ""


page.__fastmcp__ = SimpleNamespace(type="resource", name=None, description=None)


def _roll(sides: int) -> int:
    """Roll."""
    return sides


def wants_context(ctx: RunContext, text: str) -> str:
    return text


dice = SimpleNamespace(name="roll_dice", function=_roll, takes_ctx=False, description="Roll.")
asks = SimpleNamespace(name="asks", function=wants_context, takes_ctx=True, description="")


class Search:
    name, description, inputs, output_type = "search", "Search the web.", {}, "string"

    def forward(self, query: str) -> str:
        return query

    def __call__(self, *args, sanitize_inputs_outputs=False):
        return self.forward(*args)


search = Search()


def times(a: int) -> int:
    """Multiply."""
    return a


index = SimpleNamespace(fn=times, metadata=SimpleNamespace(name="multiply", fn_schema=None))
'''


async def listed(path: Path, text: str) -> tuple[dict[str, str], tuple[str, ...], PythonFileSource]:
    path.write_text(text, encoding="utf-8")
    source = PythonFileSource(path)
    specs = await source.list_tools()
    told = {spec.name: spec.description for spec in specs}
    return told, tuple(each.message for each in source.problems), source


async def test_tools_of_langchain(tmp_path: Path) -> None:
    pytest.importorskip("langchain_core")
    told, problems, source = await listed(tmp_path / "lc.py", LANGCHAIN)
    try:
        assert told == {"renamed": "Other.", "structured": "Told so."}
        assert problems == ()
        assert (await source.call("structured", {"number": 3})).value == 3
        # A prompt may bind them by the names that they have in the file, too.
        assert source.python_names == {
            "other": "renamed",
            "made": "structured",
            "plain": "structured",
        }
    finally:
        await source.close()


async def test_what_libraries_make_keeps_its_name_or_says_why_not(tmp_path: Path) -> None:
    told, problems, source = await listed(tmp_path / "shapes.py", SHAPES)
    try:
        assert told == {
            "sum": "Add.",
            "roll_dice": "Roll.",
            "search": "Search the web.",
            "multiply": "Multiply.",
        }
        assert (await source.call("search", {"query": "x"})).text == "x"
    finally:
        await source.close()
    assert sorted(problems) == [
        "asks is not a tool: it needs the RunContext of an agent's run, which only that run has",
        "page is not a tool: it is a resource of FastMCP",
    ]
