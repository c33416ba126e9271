"""Callables of all sorts, packages, and everything that a tool can raise: in real processes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from studio.core.tools.python.source import PythonFileSource
from studio.core.tools.python.worker import UnusableToolFileError
from studio.core.tools.python_server.tool_file import load
from studio.core.tools.source import ToolLimits
from tests.support import patience

LIMITS = ToolLimits(patience.SECONDS, patience.SECONDS)

MANY = '''
import functools
from json import dumps
from functools import partial, lru_cache


def bare(function):
    def w(*args, **kwargs):
        return function(*args, **kwargs)
    return w


def plain(x: int) -> int:
    """Plain."""
    return x + 1


same = plain


@bare
def hidden(x: int) -> int:
    return x


@lru_cache
def cached(x: int) -> int:
    """Cached."""
    return x + 2


bound = partial(plain, 41)
cube = partial(pow, exp=3)
quoted = lru_cache(functools.reduce)
short = lambda x: x


class Adder:
    """Adds."""

    def __init__(self, by):
        self.by = by

    def __call__(self, x: int) -> int:
        """Add to it."""
        return x + self.by

    def method(self, x: int) -> int:
        """A method."""
        return x * self.by


adder = Adder(100)
method = adder.method


class StructuredTool:
    def __init__(self, func):
        self.func = func


def _inner(x: int) -> int:
    """Of a library."""
    return x - 1


wrapped = StructuredTool(_inner)
number = 5
'''


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[list[PythonFileSource]]:
    sources: list[PythonFileSource] = []
    yield sources
    for source in sources:
        await source.close()


def open_file(opened: list[PythonFileSource], path: Path, text: str) -> PythonFileSource:
    path.write_text(text, encoding="utf-8")
    opened.append(PythonFileSource(path, LIMITS))
    return opened[-1]


async def test_what_is_listed_can_be_called_by_its_name(
    opened: list[PythonFileSource], tmp_path: Path
) -> None:
    source = open_file(opened, tmp_path / "many.py", MANY)
    specs = {spec.name: spec for spec in await source.list_tools()}
    assert set(specs) == {
        "bare",
        "plain",
        "hidden",
        "cached",
        "bound",
        "short",
        "adder",
        "method",
        "wrapped",
        "cube",
    }
    assert [each.message.partition(":")[0] for each in source.problems] == ["quoted"]
    assert specs["cached"].description == "Cached."
    assert specs["adder"].description == "Add to it."
    assert specs["wrapped"].description == "Of a library."
    assert all(line > 0 for line in source.lines.values())
    given = {"plain": 2, "cached": 3, "adder": 101, "method": 100, "wrapped": 0, "short": 1}
    for name, expected in given.items():
        outcome = await source.call(name, {"x": 1})
        assert (outcome.status, outcome.value) == ("ok", expected), name
    assert (await source.call("bound", {})).value == 42
    assert (await source.call("cube", {"base": 3})).value == 27


def test_a_part_of_another_modules_function_stands_where_it_is_assigned(tmp_path: Path) -> None:
    path = tmp_path / "parts.py"
    path.write_text(
        "import json\nfrom functools import partial\n\ndump = partial(json.dumps, indent=1)\n"
        "\ndef own(x: int) -> int:\n    return x\n\nhalf = partial(own, 1)\n"
    )
    lines = {name: tool.line for name, tool in load(path).tools.items()}
    assert lines["dump"] == 4
    assert lines["own"] == 6


async def test_all_may_name_them_and_what_is_none_is_said(
    opened: list[PythonFileSource], tmp_path: Path
) -> None:
    text = MANY + '\n__all__ = ["cached", "adder", "Adder", "number", "gone", "dumps"]\n'
    source = open_file(opened, tmp_path / "many.py", text)
    assert {spec.name for spec in await source.list_tools()} >= {"cached", "adder"}
    said = " | ".join(problem.message for problem in source.problems)
    assert "Adder is not a tool: it is a class" in said
    assert "number is not a tool: it is an object of builtins.int" in said
    assert "'gone', which the file does not have" in said


SIGNATURES = '''
def rest(first: int, *more: int, last: str = "z") -> str:
    """Rest.

    Args:
        more: Further numbers.
    """
    return f"{first} {more} {last}"


def keywords(**flags: bool) -> list:
    return sorted(flags.items())


def scale(value: float, factor=1):
    return value * factor


async def stream():
    for each in (1, 2):
        yield each


def half():
    return "half \\ud83d of it"
'''


async def test_signatures_and_results(opened: list[PythonFileSource], tmp_path: Path) -> None:
    source = open_file(opened, tmp_path / "tools.py", SIGNATURES)
    specs = {spec.name: spec.parameters for spec in await source.list_tools()}
    more = specs["rest"]["properties"]["more"]  # type: ignore[call-overload,index]
    assert more["type"] == "array"
    assert more["items"] == {"type": "integer"}
    assert more["description"] == "Further numbers."
    assert specs["keywords"]["additionalProperties"] == {"type": "boolean"}
    whole = await source.call("rest", {"first": 1, "more": [2, 3], "last": "y"})
    assert whole.text == "1 (2, 3) y"
    assert (await source.call("rest", {"first": 1})).text == "1 () z"
    assert (await source.call("keywords", {"a": True})).value == [["a", True]]
    assert (await source.call("keywords", {"a": "perhaps"})).status == "bad-arguments"
    assert (await source.call("scale", {"value": 3, "factor": 0.5})).value == 1.5
    assert (await source.call("stream", {})).value == [1, 2]
    assert (await source.call("half", {})).text == "half ? of it"


@pytest.mark.parametrize("how", ["def", "async def"])
@pytest.mark.parametrize(
    "error",
    [
        "KeyboardInterrupt",
        "GeneratorExit",
        "BaseException('odd')",
        "SystemExit(3)",
        "ValueError('\\ud83d')",
    ],
)
async def test_whatever_is_raised_is_told_at_once(
    opened: list[PythonFileSource], tmp_path: Path, how: str, error: str
) -> None:
    text = f"{how} bad():\n    raise {error}\n\ndef good() -> str:\n    return 'fine'\n"
    source = open_file(opened, tmp_path / "tools.py", text)
    outcome = await source.call("bad", {})
    assert outcome.status == "error"
    name = error.partition("(")[0]
    assert name in outcome.text or (name == "SystemExit" and "exit(3)" in outcome.text)
    assert (await source.call("good", {})).text == "fine"


@pytest.mark.parametrize("error", ["KeyboardInterrupt", "GeneratorExit", "SystemExit(3)"])
async def test_whatever_an_import_raises_is_told_with_its_line(
    opened: list[PythonFileSource], tmp_path: Path, error: str
) -> None:
    source = open_file(opened, tmp_path / "tools.py", f"x = 1\nraise {error}\n")
    with pytest.raises(UnusableToolFileError) as caught:
        await source.list_tools()
    assert caught.value.line == 2
    assert "still being imported" not in caught.value.message


async def test_a_file_of_a_package_and_every_module_that_is_saved(
    opened: list[PythonFileSource], tmp_path: Path
) -> None:
    package = tmp_path / "mypkg"
    (package / "sub").mkdir(parents=True)
    for folder in (package, package / "sub"):
        (folder / "__init__.py").write_text("", encoding="utf-8")
    (package / "helper.py").write_text("VALUE = 1\n", encoding="utf-8")
    (package / "sub" / "deep.py").write_text("VALUE = 1\n", encoding="utf-8")
    text = (
        "from .helper import VALUE as first\nfrom mypkg.sub.deep import VALUE as second\n"
        "def both() -> str:\n    return f'{first}-{second}'\n"
    )
    source = open_file(opened, package / "tools.py", text)
    assert (await source.call("both", {})).text == "1-1"
    (package / "helper.py").write_text("VALUE = 22\n", encoding="utf-8")
    assert (await source.call("both", {})).text == "22-1"
    (package / "sub" / "deep.py").write_text("VALUE = 333\n", encoding="utf-8")
    assert (await source.call("both", {})).text == "22-333"


async def test_a_tool_that_hides_its_function_says_so(tmp_path: Path) -> None:
    path = tmp_path / "tools.py"
    # The shape of the objects that openai-agents makes, which is not installed here.
    path.write_text(
        "class FunctionTool:\n"
        "    params_json_schema = {}\n"
        "    on_invoke_tool = None\n"
        "def plain(): ...\n"
        "hidden = FunctionTool()\n",
        encoding="utf-8",
    )
    source = PythonFileSource(path, LIMITS)
    names = [spec.name for spec in await source.list_tools()]
    await source.close()
    assert names == ["plain"]
    (problem,) = source.problems
    assert problem.message.startswith("hidden is not a tool: it is a tool of openai-agents")
