"""Fail where the code grows past its limits; `make lint` runs it.

    python packaging/size_check.py            check studio/ against [tool.size] of pyproject.toml
    python packaging/size_check.py --budgets  print the nodes of each package as that table

A line limit keeps files readable, a folder limit keeps folders readable, the share of import lines
tells when modules are cut too small, and the nodes of the syntax tree are the size that no layout
can change. The sum of the budgets rises only on purpose: by a change of pyproject.toml.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class FileSize:
    """The size of one module."""

    code: int
    """Lines that are neither blank, a comment nor part of a docstring."""

    imports: int
    """Lines of import statements."""

    nodes: int
    """Nodes of the syntax tree."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of [tool.size]."""

    file_lines: int
    """Most code lines of a file."""

    folder_files: int
    """Most modules in a folder, `__init__.py` not counted."""

    import_share: float
    """Largest share of import lines in all code lines, in percent."""

    nodes: Mapping[str, int]
    """Most syntax nodes by package (`core/prompty`; a module of the top level counts as `.`)."""


def size_of(source: str) -> FileSize:
    """Return the size of a module; raise SyntaxError for text that is no Python."""
    tree = ast.parse(source)
    strings: set[int] = set()
    imports = nodes = 0
    for node in ast.walk(tree):
        nodes += 1
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imports += (node.end_lineno or node.lineno) - node.lineno + 1
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            strings.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    code = sum(
        number not in strings and bool(text := line.strip()) and not text.startswith("#")
        for number, line in enumerate(source.splitlines(), 1)
    )
    return FileSize(code, imports, nodes)


def package_of(path: Path) -> str:
    """Return the package whose budget counts for a module, by its path inside the product."""
    return "/".join(path.parts[:-1][:2]) or "."


def sizes_of(folder: Path) -> dict[Path, FileSize]:
    """Return the size of each module below a folder, by its path inside it."""
    return {
        path.relative_to(folder): size_of(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.py"))
    }


def nodes_by_package(sizes: Mapping[Path, FileSize]) -> Counter[str]:
    """Return the number of syntax nodes of each package."""
    nodes: Counter[str] = Counter()
    for path, size in sizes.items():
        nodes[package_of(path)] += size.nodes
    return nodes


def excesses(sizes: Mapping[Path, FileSize], limits: Limits) -> Iterator[str]:
    """Yield a sentence for each limit that is passed."""
    folders: Counter[Path] = Counter()
    for path, size in sizes.items():
        folders[path.parent] += path.name != "__init__.py"
        if size.code > limits.file_lines:
            name, most = path.as_posix(), limits.file_lines
            yield f"{name}: {size.code} code lines; at most {most} are allowed"
    for folder, count in folders.items():
        if count > limits.folder_files:
            yield f"{folder.as_posix()}: {count} modules; at most {limits.folder_files} are allowed"
    share = import_share(sizes)
    if share > limits.import_share:
        yield f"imports are {share:.1f} % of the code; at most {limits.import_share} % are allowed"
    for package, nodes in nodes_by_package(sizes).items():
        if nodes > (budget := limits.nodes.get(package, 0)):
            yield f"{package}: {nodes:,} syntax nodes; its budget is {budget:,}"


def import_share(sizes: Mapping[Path, FileSize]) -> float:
    """Return the share of import lines in the code lines of all modules, in percent."""
    code = sum(size.code for size in sizes.values())
    return 100 * sum(size.imports for size in sizes.values()) / max(1, code)


def limits_of(pyproject: Path) -> Limits:
    """Read the limits; raise KeyError where the table lacks one."""
    table: dict[str, Any] = tomllib.loads(pyproject.read_text(encoding="utf-8"))["tool"]["size"]
    return Limits(table["file-lines"], table["folder-files"], table["import-share"], table["nodes"])


def main() -> int:
    """Print what passes its limit and one line of totals; return 1 if anything does."""
    sizes = sizes_of(ROOT / "studio")
    if "--budgets" in sys.argv:
        for package, nodes in sorted(nodes_by_package(sizes).items()):
            print(f'"{package}" = {nodes}')
        return 0
    found = list(excesses(sizes, limits_of(ROOT / "pyproject.toml")))
    print(*(f"size: {sentence}" for sentence in found), sep="\n", end="\n" if found else "")
    code = sum(size.code for size in sizes.values())
    nodes = sum(size.nodes for size in sizes.values())
    print(f"size: {code:,} code lines, {nodes:,} syntax nodes, {import_share(sizes):.1f} % imports")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
