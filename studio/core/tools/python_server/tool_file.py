"""Load a Python file of tools, list its functions, call one. Runs only in the child process.

Tools are the functions in `__all__` if it exists, otherwise every public callable that is defined
in the file itself, not imported.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, Optional

from .callables import FunctionTool, SignatureError, code_of, describe

# Tools that other libraries create from functions: the function, and its description.

_CONTEXTS = ("RunContext", "RunContextWrapper", "ToolContext", "ToolRuntime")


@dataclass(frozen=True)
class FrameworkTool:
    """A function wrapped by a library."""

    name: str
    """Name for the model; empty if the library sets none."""

    function: Callable[..., object] | None
    """Function to call; None if only the library can run it."""

    description: str = ""
    """Description for the model, if the function has none."""

    why_not: str = ""
    """Reason why it cannot be a tool here; empty if it can."""

    made_of: Callable[..., object] | None = None
    """Function of the file that it was created from."""


def framework_tool(value: Any) -> FrameworkTool | None:
    """Return the tool that a library created from a function; None for other values."""
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
    """Return why a function cannot be called: it needs the context of a library's run."""
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
    """Return the names of functions in pydantic-ai's agents, by the functions' `id()`."""
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
        why_not = "it needs the RunContext of an agent's run, which only that run has"
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
    """Return the function in LangChain's and FastMCP's objects."""
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
    """Return the description of an object, if it differs from its function's docstring."""
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
    """Yield the values of a file, libraries' tools first, since they name their functions."""
    made = {name for name, value in values.items() if framework_tool(value) is not None}
    yield from ((name, values[name]) for name in values if name in made)
    yield from ((name, values[name]) for name in values if name not in made)


class ToolFileError(Exception):
    """Raised when a tool file cannot be loaded, with the line that causes it."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.message = message
        """Description of the error, without its place."""
        self.line = line
        """Line in the tool file, from 1; 0 if unknown."""


@dataclass(frozen=True)
class LoadedFile:
    """The tools of a file."""

    tools: dict[str, FunctionTool]
    """Tools by name, in the order of the file."""

    problems: tuple[tuple[str, int], ...]
    """(message, line) of each function that cannot be a tool."""


def package_root(path: Path) -> Path:
    """Return the folder for imports of a file: above its package, if it has one."""
    folder = path.parent
    while (folder / "__init__.py").is_file() and folder.name.isidentifier():
        folder = folder.parent
    return folder


def load(path: Path) -> LoadedFile:
    """Import the file and describe its functions.

    Raises:
        ToolFileError: the file cannot be imported.
    """
    module = _import(path)
    tools: dict[str, FunctionTool] = {}
    problems: list[tuple[str, int]] = []
    for attribute, found in _functions(module, problems):
        name, function, description = found.name, found.function, found.description
        assert function is not None
        why_not = context_problem(function)
        if why_not or name in tools:
            why_not = why_not or "another tool of the file has its name"
            problems.append((f"{name} is not a tool: {why_not}", _line_of(function)))
            continue
        try:
            tool = describe(function, name)
        except SignatureError as error:
            problems.append((str(error), _line_of(function)))
        else:
            own = _is_of(function, module.__name__)
            line = (own and tool.line) or _assigned(module).get(name, 0) or tool.line
            words = description or tool.description
            python_names = {attribute, getattr(found.made_of, "__name__", name)} - {name}
            tools[name] = dataclasses.replace(
                tool, line=line, description=words, python_names=tuple(sorted(python_names))
            )
    ordered = dict(sorted(tools.items(), key=lambda item: item[1].line))
    return LoadedFile(ordered, tuple(problems))


def _import(path: Path) -> ModuleType:
    name = path.stem if path.stem.isidentifier() and path.stem not in sys.modules else "_tools_file"
    # Modules beside the file can be imported, as when Python runs it.
    sys.path.insert(0, str(path.parent))
    root = package_root(path)
    try:
        if root != path.parent:
            parts = path.parent.relative_to(root).parts
            sys.path.insert(0, str(root))
            importlib.import_module(".".join(parts))
            name = ".".join((*parts, path.stem))
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise ToolFileError(f"{path.name} is not a Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    except ToolFileError:
        raise
    except SyntaxError as error:
        line = error.lineno or 0 if error.filename in (None, str(path)) else line_in(path, error)
        raise ToolFileError(f"SyntaxError: {error.msg}", line) from error
    except FileNotFoundError as error:
        if not path.exists():
            raise ToolFileError(f"there is no file {path.name!r}") from error
        raise ToolFileError(f"FileNotFoundError: {error}", line_in(path, error)) from error
    except BaseException as error:  # includes KeyboardInterrupt: nothing waits for the import then
        raise ToolFileError(describe_error(error), line_in(path, error)) from error
    return module


def _functions(
    module: ModuleType, problems: list[tuple[str, int]]
) -> Iterator[tuple[str, FrameworkTool]]:
    """Yield each tool with its name in the file."""
    values = vars(module)
    listed = getattr(module, "__all__", None)
    named = names_in_agents(values)
    chosen = offered_first(values if listed is None else _listed(values, listed, problems))
    seen: set[int] = set()
    for name, value in chosen:
        if listed is None and name.startswith("_"):
            continue
        found = _offered(value)
        function = found.function if found is not None else None
        why_not = found.why_not if found is not None else ""
        if function is None:
            if why_not or listed is not None:
                words = why_not or _why_not(value)
                problems.append((f"{name} is not a tool: {words}", _line_of(value)))
            if found is not None:
                seen.add(id(found.made_of))
            continue
        if listed is None and (id(function) in seen or not _is_own(module, name, function)):
            continue
        seen.add(id(function))
        assert found is not None
        told = found.name or named.get(id(function), name)
        yield name, dataclasses.replace(found, name=told)


def _listed(
    values: Mapping[str, Any], listed: Any, problems: list[tuple[str, int]]
) -> dict[str, Any]:
    """Return the names in `__all__`."""
    missing = [name for name in listed if name not in values]
    problems += [(f"__all__ names {each!r}, which the file does not have", 0) for each in missing]
    return {name: values[name] for name in listed if name in values}


def _offered(value: object) -> Optional[FrameworkTool]:  # noqa: UP045 - Python 3.9
    """Return a value of the file as a tool; None for others."""
    try:
        found = framework_tool(value)
    except Exception:  # noqa: BLE001 - an object of any library, which may answer with anything
        found = None
    if found is not None:
        return found
    if isinstance(value, (type, ModuleType)) or not callable(value):
        return None
    return FrameworkTool("", value)


def _is_own(module: ModuleType, name: str, function: Callable[..., object]) -> bool:
    """Return whether a callable is defined in the file, or the file turns it into a tool."""
    if _is_of(function, module.__name__):
        return True
    value = vars(module)[name]
    is_made = isinstance(function, functools.partial) or hasattr(function, "cache_info")
    return (is_made or value is not function) and name in _assigned(module)


def _is_of(function: Callable[..., object], module: str) -> bool:
    """Return whether a callable is defined in the file instead of imported."""
    inner: object = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    inner = inspect.unwrap(getattr(inner, "__func__", inner))  # type: ignore[arg-type]
    if inspect.isroutine(inner) or hasattr(inner, "__name__"):
        return getattr(inner, "__module__", None) == module
    return type(inner).__module__ == module


@functools.lru_cache(maxsize=1)
def _assigned(module: ModuleType) -> dict[str, int]:
    """Return the names that a file assigns, with their lines."""
    try:
        tree = ast.parse(Path(str(module.__file__)).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {}
    found: dict[str, int] = {}
    for step in tree.body:
        targets = step.targets if isinstance(step, ast.Assign) else [getattr(step, "target", None)]
        for target in targets:
            if isinstance(target, ast.Name):
                found[target.id] = step.lineno
    return found


def _why_not(value: object) -> str:
    if isinstance(value, type):
        return "it is a class; name a function, or an object of it that can be called"
    kind = type(value)
    return f"it is an object of {kind.__module__}.{kind.__qualname__}, which cannot be called"


def _line_of(value: object) -> int:
    code = code_of(value)
    return code.co_firstlineno if code else 0


def line_in(path: Path, error: BaseException) -> int:
    """Return the tool file's innermost line in an error's traceback; 0 if there is none."""
    line = 0
    step: TracebackType | None = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == str(path):
            line = step.tb_lineno
        step = step.tb_next
    return line


def describe_error(error: BaseException) -> str:
    """Return an exception on one line, for the model and the user."""
    if isinstance(error, SystemExit):
        return f"the tool called exit({error.code if error.code is not None else ''})"
    if isinstance(error, (KeyboardInterrupt, GeneratorExit)):
        return f"{type(error).__name__}: {error}".rstrip(": ")
    if isinstance(error, EOFError) and "reading a line" in str(error):
        return "EOFError: a tool cannot read from the keyboard"
    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    return text.splitlines()[-1] if text else type(error).__name__


# Keys of `_meta` by which the studio's own MCP server sends additional data.

LINE = "promptstudio/line"
"""On a tool: line of its `def`. On an error: line that raised it."""

PYTHON_NAMES = "promptstudio/python-names"
"""On a tool: its names in the file, if a library gave it another."""

PROBLEMS = "promptstudio/problems"
"""On a list of tools: [message, line] of each function that cannot be a tool."""

TRUNCATED = "promptstudio/truncated"
"""On a result: whether it was truncated at the output limit."""

VALUE = "promptstudio/value"
"""On a result: "json" if the text is the JSON of a value that is no text."""

RETURNS = "promptstudio/returns"
"""On a tool: JSON schema of its result, for the studio, which does not check results."""

ARGUMENTS = "promptstudio/arguments"
"""On an error: true if the arguments were rejected and the function was not called."""


# Text within a limit.


def cut(text: str, characters: int) -> tuple[str, bool]:
    """Return the text truncated at a limit with a remark in it, and whether it was truncated."""
    if len(text) <= characters:
        return text, False
    return (
        f"{text[:characters]}\n… cut: {len(text):,} characters, the limit is {characters:,}",
        True,
    )
