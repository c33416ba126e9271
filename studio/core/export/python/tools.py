"""The functions of a script's tools: inserted, loaded from a file beside it, or stubs."""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from studio.core.export.request_script import python_literal
from studio.core.prompty.document import PromptDocument, ToolSpec
from studio.core.text.files import read_text
from studio.core.tools.document import PythonFile, named_sources

_MOST_BYTES = 200_000


@dataclass(slots=True)
class PythonTools:
    """The functions of a script."""

    blocks: list[str] = field(default_factory=list)
    """Source blocks for the script, one per file."""

    loaded: list[str] = field(default_factory=list)
    """Files beside the script that it loads."""

    functions: dict[str, str] = field(default_factory=dict)
    """Expression of the function, by tool name."""

    stubs: list[ToolSpec] = field(default_factory=list)
    """Tools without source, for which the script has stubs."""

    remarks: list[str] = field(default_factory=list)
    """Remarks for a user who moves the script."""


def python_tools(
    document: PromptDocument, tools: Sequence[ToolSpec], taken: frozenset[str]
) -> PythonTools:
    """Find the functions of the tools in the prompt's files, without running any.

    Args:
        document: The prompt.
        tools: The tools that the model gets.
        taken: Names that the script itself uses.
    """
    made = PythonTools()
    folder = document.source.path.parent if document.source.path else None
    wanted = {tool.name for tool in tools}
    names = set(taken)
    for source in named_sources(document):
        if not isinstance(source, PythonFile):
            continue
        read = _read(source.path)
        if isinstance(read, str):
            made.remarks.append(read)
            continue
        text, tree = read
        offered = _public(tree)
        found = [name for name in offered if name in wanted and name not in made.functions]
        if not found:
            continue
        own = _top_level(tree)
        if own & names or _must_stay_a_file(tree, source.path.parent):
            path = _beside(source.path, folder)
            made.loaded.append(path)
            made.functions |= {
                name: f"_load({python_literal(path)}, {python_literal(name)})" for name in found
            }
            made.remarks.append(f"The script loads {path}: keep that file beside it.")
        else:
            names |= own
            made.blocks.append(_inline(text, tree, source.path.name))
            made.functions |= {name: name for name in found}
        for data in _data_files(tree, source.path.parent):
            made.remarks.append(f"The tools name {data}: keep that file beside the script.")
    made.stubs = [tool for tool in tools if tool.name not in made.functions]
    return made


def stub(tool: ToolSpec) -> str:
    """Return the source of a stub, which informs the model and the user."""
    where = "no Python function" if tool.source == "document" else f"{tool.source}, not Python"
    words = f"{tool.name} has no implementation in this script yet."
    name = (
        tool.name
        if tool.name.isidentifier()
        else "".join(char if char.isalnum() else "_" for char in tool.name)
    )
    return "\n".join(
        [
            f"def _stub_{name}(**arguments):",
            f'    """Stand-in for {tool.name} ({where}): write what it does here."""',
            f"    return {python_literal('Error: ' + words)}",
        ]
    )


def stub_name(tool: ToolSpec) -> str:
    """Return the name of a stub's function."""
    return "_stub_" + "".join(char if char.isalnum() else "_" for char in tool.name)


def _read(path: Path) -> tuple[str, ast.Module] | str:
    """Read the file's text and syntax tree, or return why it cannot be used."""
    try:
        text = read_text(path, _MOST_BYTES, encoding="utf-8-sig")
        return text, ast.parse(text)
    except (OSError, UnicodeDecodeError):
        return f"{path.name} cannot be read, so its functions are not in the script."
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        return f"{path.name} is not valid Python{f' (line {line})' if line else ''}."


def _public(tree: ast.Module) -> list[str]:
    """Return the functions that are tools: those of `__all__`, else every public one."""
    functions = [
        node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets
        ):
            try:
                listed = ast.literal_eval(node.value)
            except ValueError:
                break
            return [name for name in functions if name in listed]
    return [name for name in functions if not name.startswith("_")]


def _top_level(tree: ast.Module) -> set[str]:
    """Return every name that the file defines."""
    found: set[str] = set()
    for node in tree.body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found.add(node.name)
            case ast.Import() | ast.ImportFrom():
                continue  # the same name for the same module is harmless
            case _:
                found |= {
                    each.id
                    for each in ast.walk(node)
                    if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
                }
    return found - {"__all__"}


def _must_stay_a_file(tree: ast.Module, folder: Path) -> bool:
    """Return whether the file runs as a program, or imports other files beside it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "__name__" in ast.dump(node.test):
            return True
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
            if node.level or any(alias.name == "*" for alias in node.names):
                return True
        if any((folder / f"{module.partition('.')[0]}.py").is_file() for module in modules):
            return True
    return False


def _inline(text: str, tree: ast.Module, name: str) -> str:
    """Return the file's source without its docstring, `__future__` imports and `__all__`."""
    lines = re.split(r"\r\n|\r|\n", text)  # as Python counts lines: a form feed ends none
    dropped: set[int] = set()
    for index, node in enumerate(tree.body):
        is_doc = (
            index == 0
            and isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        )
        is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        is_all = isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets
        )
        if is_doc or is_future or is_all:
            dropped |= set(range(node.lineno - 1, node.end_lineno or node.lineno))
    kept = "\n".join(line for number, line in enumerate(lines) if number not in dropped)
    return f"# --- from {name} ---\n\n{kept.strip()}\n\n# --- end of {name} ---"


def _data_files(tree: ast.Module, folder: Path) -> list[str]:
    """Return the files beside the tools that their texts name."""
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
            if 2 < len(text) < 100 and "." in text and "\n" not in text and "\x00" not in text:
                try:
                    if (folder / text).is_file():
                        found.append(text)
                except OSError:
                    continue
    return list(dict.fromkeys(found))


def _beside(path: Path, folder: Path | None) -> str:
    if folder is not None and path.is_relative_to(folder):
        return path.relative_to(folder).as_posix()
    return path.name
