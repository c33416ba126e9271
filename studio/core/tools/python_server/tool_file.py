"""A Python file of tools: load it, list its functions, call one. Runs only in the child process.

Which functions are tools: what `__all__` names if there is one, otherwise everything public that
can be called and is defined in the file itself (imported ones are not).
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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from .callables import FunctionTool, SignatureError, code_of, describe


class ToolFileError(Exception):
    """A tool file that cannot be loaded, with the line that is to blame."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.message = message
        """What happened, without the place."""
        self.line = line
        """Line in the tool file, from 1; 0 when unknown."""


@dataclass(frozen=True)
class LoadedFile:
    """What a tool file offers."""

    tools: dict[str, FunctionTool]
    """Tools by name, in the order of the file."""

    problems: tuple[tuple[str, int], ...]
    """(message, line) of each function that cannot be a tool."""


def package_root(path: Path) -> Path:
    """The folder that a file is imported from: above its package, where it is part of one."""
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
    for name, function in _functions(module, problems):
        try:
            tool = describe(function, name)
        except SignatureError as error:
            problems.append((str(error), _line_of(function)))
        else:
            own = _is_of(function, module.__name__)
            line = (own and tool.line) or _assigned(module).get(name, 0) or tool.line
            tools[name] = dataclasses.replace(tool, line=line)
    ordered = dict(sorted(tools.items(), key=lambda item: item[1].line))
    return LoadedFile(ordered, tuple(problems))


def _import(path: Path) -> ModuleType:
    name = path.stem if path.stem.isidentifier() and path.stem not in sys.modules else "_tools_file"
    # The file's own neighbours can be imported, as when Python runs it.
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
    except BaseException as error:  # also KeyboardInterrupt: nobody waits for the import then
        raise ToolFileError(describe_error(error), line_in(path, error)) from error
    return module


def _functions(
    module: ModuleType, problems: list[tuple[str, int]]
) -> Iterator[tuple[str, Callable[..., Any]]]:
    listed = getattr(module, "__all__", None)
    if listed is not None:
        for name in listed:
            value = getattr(module, name, module)
            if value is module:
                problems.append((f"__all__ names {name!r}, which the file does not have", 0))
            elif (function := _function_of(value)) is not None:
                yield name, function
            else:
                problems.append((f"{name} is not a tool: {_why_not(value)}", _line_of(value)))
        return
    seen: set[int] = set()
    for name, value in vars(module).items():
        if not name.startswith("_") and _hides_its_function(value):
            problems.append((f"{name} is not a tool: {_why_not(value)}", 0))
            continue
        function = None if name.startswith("_") else _function_of(value)
        if function is None or id(function) in seen:
            continue
        if not (_is_of(function, module.__name__) or _is_made_in(module, name, function)):
            continue
        seen.add(id(function))
        yield name, function


def _function_of(value: object) -> Callable[..., Any] | None:
    """What is called for a value of the file; None for what is not a tool.

    Objects that tool decorators of other libraries make (LangChain, FastMCP) hold the function.
    """
    if isinstance(value, type) or not (callable(value) or hasattr(value, "__dict__")):
        return None
    for name in ("func", "coroutine", "fn"):
        held = getattr(value, name, None)
        if inspect.isfunction(held) and not isinstance(value, functools.partial):
            return held
    if isinstance(value, ModuleType) or not callable(value):
        return None
    return value


def _is_of(function: Callable[..., Any], module: str) -> bool:
    """Whether a callable is defined in the file, and not imported into it."""
    inner: object = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    inner = inspect.unwrap(getattr(inner, "__func__", inner))  # type: ignore[arg-type]
    if inspect.isroutine(inner) or hasattr(inner, "__name__"):
        return getattr(inner, "__module__", None) == module
    return type(inner).__module__ == module


def _is_made_in(module: ModuleType, name: str, function: Callable[..., Any]) -> bool:
    """Whether the file makes a tool of another module's function: by `partial` or a cache."""
    is_made = isinstance(function, functools.partial) or hasattr(function, "cache_info")
    return is_made and name in _assigned(module)


@functools.lru_cache(maxsize=1)
def _assigned(module: ModuleType) -> dict[str, int]:
    """The names that a file itself assigns, with their lines."""
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


def _hides_its_function(value: object) -> bool:
    """Whether it is a tool of openai-agents, which is called with the state of its own run."""
    if isinstance(value, type):
        return False
    return hasattr(value, "on_invoke_tool") and hasattr(value, "params_json_schema")


def _why_not(value: object) -> str:
    if _hides_its_function(value):
        return (
            "it is a tool of openai-agents, which is called with the state of its own run; name "
            "the function, and decorate a copy: `tool = function_tool(function)`"
        )
    if isinstance(value, type):
        return "it is a class; name a function, or an object of it that can be called"
    kind = type(value)
    return f"it is an object of {kind.__module__}.{kind.__qualname__}, which cannot be called"


def _line_of(value: object) -> int:
    code = code_of(value)
    return code.co_firstlineno if code else 0


def line_in(path: Path, error: BaseException) -> int:
    """The innermost line of the tool file in an error's traceback; 0 when it is not there."""
    line = 0
    step: TracebackType | None = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == str(path):
            line = step.tb_lineno
        step = step.tb_next
    return line


def describe_error(error: BaseException) -> str:
    """An exception in one line, as the model and the user read it."""
    if isinstance(error, SystemExit):
        return f"the tool called exit({error.code if error.code is not None else ''})"
    if isinstance(error, (KeyboardInterrupt, GeneratorExit)):
        return f"{type(error).__name__}: {error}".rstrip(": ")
    if isinstance(error, EOFError) and "reading a line" in str(error):
        return "EOFError: a tool cannot read from the keyboard"
    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    return text.splitlines()[-1] if text else type(error).__name__
