"""Tools that other libraries make of functions: the function, and its description for the model.

LangChain, FastMCP, openai-agents, pydantic-ai, smolagents and LlamaIndex. None of them is imported:
their objects are known by their modules and attributes.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_CONTEXTS = ("RunContext", "RunContextWrapper", "ToolContext", "ToolRuntime")


@dataclass(frozen=True)
class FrameworkTool:
    """A function wrapped by a library."""

    name: str
    """Name for the model; empty if the library has none of its own."""

    function: Callable[..., object] | None
    """Function to call; None if only the library's own run can call it."""

    description: str = ""
    """Description for the model, if the function has none."""

    why_not: str = ""
    """Reason why it is no tool here; empty if it is one."""

    made_of: Callable[..., object] | None = None
    """The function of the file that it was made of."""


def framework_tool(value: Any) -> FrameworkTool | None:
    """Return what a library made of a function; None for what is none of theirs."""
    if isinstance(value, (type, functools.partial)):
        return None
    meta = getattr(value, "__fastmcp__", None)
    kind = getattr(meta, "type", "")
    if isinstance(kind, str) and kind:
        if kind != "tool":
            return FrameworkTool("", None, why_not=f"it is a {kind} of FastMCP", made_of=value)
        name, words = getattr(meta, "name", None), getattr(meta, "description", None)
        return FrameworkTool(_text(name), value, _text(words), made_of=value)
    for find in (_openai_agents, _pydantic_ai, _smolagents, _llama_index, _with_function):
        found = find(value)
        if found is not None:
            return found
    return None


def context_problem(function: Callable[..., object]) -> str:
    """Return why a function cannot be called here: it wants the context of a library's run."""
    try:
        first = next(iter(inspect.signature(function).parameters.values()), None)
    except (TypeError, ValueError):
        return ""
    written = "" if first is None else first.annotation
    name = written if isinstance(written, str) else _named(written)
    word = name.partition("[")[0].rpartition(".")[2]
    if word not in _CONTEXTS:
        return ""
    return f"its first argument is the {word} of an agent's run, which only that run has"


def names_in_agents(module: Mapping[str, object]) -> dict[int, str]:
    """Return the names under which agents of pydantic-ai offer functions, by their identity."""
    found: dict[int, str] = {}
    for value in module.values():
        tools = getattr(getattr(value, "_function_toolset", value), "tools", None)
        if not _is_from(value, "pydantic_ai") or not isinstance(tools, dict):
            continue
        for name, tool in tools.items():
            found[id(getattr(tool, "function", None))] = str(name)
    return found


def _openai_agents(value: object) -> FrameworkTool | None:
    if not (hasattr(value, "on_invoke_tool") and hasattr(value, "params_json_schema")):
        return None
    why_not = (
        "it is a tool of openai-agents, which is called with the state of its own run; name "
        "the function, and decorate a copy: `tool = function_tool(function)`"
    )
    return FrameworkTool("", None, why_not=why_not)


def _pydantic_ai(value: object) -> FrameworkTool | None:
    function = getattr(value, "function", None)
    if not hasattr(value, "takes_ctx") or not callable(function):
        return None
    if value.takes_ctx:
        why_not = "it wants the RunContext of an agent's run, which only that run has"
        return FrameworkTool(
            _text(getattr(value, "name", "")), None, why_not=why_not, made_of=function
        )
    return FrameworkTool(
        _text(getattr(value, "name", "")), function, _own(value, function), made_of=function
    )


def _smolagents(value: object) -> FrameworkTool | None:
    forward = getattr(value, "forward", None)
    if not callable(forward) or not hasattr(value, "inputs") or not hasattr(value, "output_type"):
        return None
    function = forward
    parameters = [*inspect.signature(forward).parameters]
    if not inspect.ismethod(forward) and parameters[:1] == ["self"]:  # made of a plain function
        function = inspect.unwrap(forward)
    return FrameworkTool(
        _text(getattr(value, "name", "")), function, _own(value, function), made_of=function
    )


def _llama_index(value: object) -> FrameworkTool | None:
    function, meta = getattr(value, "fn", None), getattr(value, "metadata", None)
    if not inspect.isroutine(function) or not hasattr(meta, "fn_schema"):
        return None
    return FrameworkTool(_text(getattr(meta, "name", None)), function, made_of=function)


def _with_function(value: object) -> FrameworkTool | None:
    """Return what LangChain's and FastMCP's objects hold."""
    for key in ("func", "coroutine", "fn"):
        held = getattr(value, key, None)
        if inspect.isfunction(held):
            kind = type(value).__name__
            if _is_from(value, "fastmcp") and "Tool" not in kind:
                return FrameworkTool("", None, why_not=f"it is a {kind} of FastMCP", made_of=held)
            name = _text(getattr(value, "name", None))
            return FrameworkTool(name, held, _own(value, held), made_of=held)
    return None


def _own(value: object, function: Callable[..., object]) -> str:
    """Return the description of an object, where it is not the docstring of its function."""
    text = _text(getattr(value, "description", None)).strip()
    docstring = (inspect.getdoc(function) or "").strip()
    is_same = text in docstring or (docstring and docstring in text)
    return "" if is_same else text


def _is_from(value: object, package: str) -> bool:
    return type(value).__module__.partition(".")[0] == package


def _named(annotation: object) -> str:
    origin = getattr(annotation, "__origin__", annotation)
    return str(getattr(origin, "__name__", ""))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def offered_first(values: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield the values of a file, those of libraries first: they name what others are made of."""
    made = {name for name, value in values.items() if framework_tool(value) is not None}
    yield from ((name, values[name]) for name in values if name in made)
    yield from ((name, values[name]) for name in values if name not in made)
