"""Borders that import-linter cannot see."""

from __future__ import annotations

import ast
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
    "gepa": ("application/experiments/improve/search.py",),
}
"""Each foreign thing and the one room whose single module may import it."""


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
