"""Borders that import-linter cannot see."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

STUDIO = Path(__file__).resolve().parent.parent / "studio"

ONE_DOOR = {
    "openai": ("core/models/",),
    "genai_prices": ("core/models/",),
    "mcp": ("core/tools/", "servers/mcp/"),
    "xllamacpp": ("core/models/embedded/",),
    "llguidance": ("core/models/embedded/",),
    "keyring": ("core/models/",),
    "jinja2": ("core/prompty/templates/", "core/prompty/checks/portability/"),
    "yaml": ("core/prompty/",),
    "hunspell": ("core/spelling.py",),
    "opentelemetry": ("servers/record/otlp_listener.py",),
    "google.protobuf": ("servers/record/otlp_listener.py",),
    "gepa": ("application/experiments/improve/search.py",),
}
"""Each foreign thing and the one room whose single module may import it."""

READERS = (
    "core/text/files.py",  # opens a folder, so that a new name in it reaches the disk
    "core/tools/mcp/child_bounds.py",  # /proc
    "core/tools/mcp/launcher.py",  # /proc; a program of its own
    "core/tools/python_server/tool_file.py",  # a program of its own, without the studio
    "quick_start.py",  # modules that it compiled, before anything is imported
)
"""Modules that open files for reading without `core/text/files.py`."""


@cache
def imports(path: Path) -> set[str]:
    """Every module that a file imports, at any depth of the code."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def test_view_models_draw_nothing() -> None:
    forbidden = ("PySide6.QtGui", "PySide6.QtWidgets", "PySide6.QtSvg")
    wrong = {
        path.name: sorted(name for name in imports(path) if name.startswith(forbidden))
        for path in (STUDIO / "viewmodels").rglob("*.py")
    }
    assert not {name: found for name, found in wrong.items() if found}


@pytest.mark.parametrize("package", ONE_DOOR)
def test_foreign_packages_have_one_door(package: str) -> None:
    users = [
        path.relative_to(STUDIO).as_posix()
        for path in STUDIO.rglob("*.py")
        if any(name == package or name.startswith(f"{package}.") for name in imports(path))
    ]
    outside = [user for user in users if not user.startswith(ONE_DOOR[package])]
    assert not outside, f"{package} is imported outside its room"


def opens_to_read(call: ast.Call) -> bool:
    """Return whether a call opens a file for reading, as far as its text shows."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
    if name in ("read_text", "read_bytes"):
        return isinstance(call.func, ast.Attribute)
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    written = " ".join(ast.unparse(argument) for argument in arguments)
    if ast.unparse(call.func) == "os.open":
        return "O_RDONLY" in written and "devnull" not in written
    modes = [
        argument.value
        for argument in arguments
        if isinstance(argument, ast.Constant) and re.fullmatch("[rwxabt+]+", str(argument.value))
    ]
    if name != "open" or any(set(str(mode)) & set("wxa") for mode in modes):
        return False
    is_builtin = isinstance(call.func, ast.Name) or ast.unparse(call.func) == "io.open"
    named = {keyword.arg for keyword in call.keywords}
    return is_builtin or bool(modes) or bool(named & {"encoding", "newline", "errors"})


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        ("path.read_text(encoding='utf-8')", True),
        ("path.open('rb')", True),
        ("path.open(encoding='utf-8')", True),
        ("open(path)", True),
        ("io.open(path, 'r')", True),
        ("os.open(path, os.O_RDONLY)", True),
        ("read_text(path)", False),
        ("path.open('ab')", False),
        ("open(path, 'w', encoding='utf-8')", False),
        ("os.open(os.devnull, os.O_RDONLY)", False),
        ("tabs.open(path)", False),
        ("dialog.open()", False),
    ],
)
def test_calls_that_open_a_file_are_told_from_others(text: str, is_read: bool) -> None:
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    assert opens_to_read(call) is is_read


def test_every_file_is_read_by_the_bounded_reader() -> None:
    found = {
        path.relative_to(STUDIO).as_posix(): node.lineno
        for path in STUDIO.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and opens_to_read(node)
    }
    outside = {name: line for name, line in found.items() if name not in READERS}
    assert not outside, "read it by `read_bounded` or `read_text` of core/text/files.py"
    assert set(READERS) == set(found), "a module that reads no file any more leaves the table"
