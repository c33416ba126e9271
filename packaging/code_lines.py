"""Count the lines of code: lines with a token that is neither a comment nor part of a docstring.

    python packaging/code_lines.py [--callers] [FOLDER]

`make lint` prints it for `studio/`, so that growth is seen when it happens, and how many short
modules have one caller only: most are better at home in the caller's file. `--callers` lists them.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}

_SHORT = 100
"""Lines of code below which a module is short."""

_LISTS = ("__init__", "__main__", "importers", "targets")
"""Callers that hold a list of modules of one kind, or start the program; being on it is no sign."""


def code_lines(source: str) -> int:
    """How many lines of a module hold code.

    A docstring is a string that stands alone: that of a module, class or function, and that
    below a field.
    """
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            docstrings.update(range(value.lineno, (value.end_lineno or value.lineno) + 1))
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            held.update(range(token.start[0], token.end[0] + 1))
    return len(held - docstrings)


def count(folder: Path) -> tuple[Counter[str], int]:
    """The lines by room (the folders directly inside), and how many files there are."""
    rooms: Counter[str] = Counter()
    files = sorted(folder.rglob("*.py"))
    for path in files:
        parts = path.relative_to(folder).parts
        room = parts[0] if len(parts) > 1 else "top level"
        rooms[room] += code_lines(path.read_text(encoding="utf-8"))
    return rooms, len(files)


def imported(path: Path, folder: Path) -> Iterator[str]:
    """What a module imports, anywhere in it, by dotted names: modules and names in them."""
    package = (folder.name, *path.relative_to(folder).parent.parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join((*above, *([node.module] if node.module else [])))
            yield from (base, *(f"{base}.{alias.name}" for alias in node.names))


def single_callers(folder: Path) -> dict[Path, Path]:
    """Short modules that one other module imports, with that one."""
    modules = {
        ".".join((folder.name, *path.relative_to(folder).with_suffix("").parts)): path
        for path in sorted(folder.rglob("*.py"))
    }
    callers: defaultdict[str, set[Path]] = defaultdict(set)
    for path in modules.values():
        for name in modules.keys() & set(imported(path, folder)):
            callers[name].add(path)
    return {
        modules[name]: caller
        for name, (caller, *others) in sorted(callers.items())
        if not others
        and caller.stem not in _LISTS
        and code_lines(modules[name].read_text(encoding="utf-8")) < _SHORT
    }


def report(folder: Path) -> str:
    """Two lines that tell it."""
    rooms, files = count(folder)
    homeless = len(single_callers(folder))
    each = ", ".join(f"{room} {lines:,}" for room, lines in rooms.most_common() if lines)
    return (
        f"{folder.name}: {rooms.total():,} lines of code in {files} files ({each})\n"
        f"{folder.name}: {homeless} modules of under {_SHORT} lines of code have one caller"
    )


if __name__ == "__main__":
    given = [each for each in sys.argv[1:] if each != "--callers"]
    for name in given or [str(Path(__file__).resolve().parent.parent / "studio")]:
        print(report(Path(name)))
        if "--callers" in sys.argv:
            for module, caller in single_callers(Path(name)).items():
                print(f"  {module.relative_to(name)} <- {caller.relative_to(name)}")
