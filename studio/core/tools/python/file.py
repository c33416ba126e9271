"""A Python file of tools: load it, list its functions, call one. Runs only in the child process.

Which functions are tools: those named in `__all__` if there is one, otherwise every public function
defined in the file itself (imported ones are not).
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from studio.core.tools.python.signature import FunctionTool, SignatureError, describe


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
            tool = describe(function)
        except SignatureError as error:
            problems.append((str(error), _line_of(function)))
        else:
            tools[name] = tool
    ordered = dict(sorted(tools.items(), key=lambda item: item[1].line))
    return LoadedFile(ordered, tuple(problems))


def _import(path: Path) -> ModuleType:
    name = path.stem if path.stem.isidentifier() and path.stem not in sys.modules else "_tools_file"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ToolFileError(f"{path.name} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    # The file's own neighbours can be imported, as when Python runs it.
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise ToolFileError(f"SyntaxError: {error.msg}", error.lineno or 0) from error
    except FileNotFoundError as error:
        if not path.exists():
            raise ToolFileError(f"there is no file {path.name!r}") from error
        raise ToolFileError(f"FileNotFoundError: {error}", line_in(path, error)) from error
    except (Exception, SystemExit) as error:
        raise ToolFileError(describe_error(error), line_in(path, error)) from error
    return module


def _functions(
    module: ModuleType, problems: list[tuple[str, int]]
) -> Iterator[tuple[str, Callable[..., Any]]]:
    listed = getattr(module, "__all__", None)
    if listed is not None:
        for name in listed:
            value = getattr(module, name, None)
            if inspect.isfunction(value):
                yield name, value
            elif value is None:
                problems.append((f"__all__ names {name!r}, which the file does not have", 0))
        return
    for name, value in vars(module).items():
        if name.startswith("_") or not inspect.isfunction(value):
            continue
        if inspect.unwrap(value).__module__ == module.__name__:
            yield name, value


def _line_of(function: Callable[..., Any]) -> int:
    code = getattr(inspect.unwrap(function), "__code__", None)
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
    if isinstance(error, EOFError) and "reading a line" in str(error):
        return "EOFError: a tool cannot read from the keyboard"
    text = "".join(traceback.format_exception_only(error)).strip()
    return text.splitlines()[-1] if text else type(error).__name__
