"""`docs/problems.md` lists exactly the codes that the engine, requests and exports report."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CODE = re.compile(r"[a-z]+(-[a-z]+)+")
CONSTANTS = {
    "writer.py",
    "draft.py",
    "media.py",
    "round_trip.py",
    "reference_values.py",
    "message_rules.py",
    "request.py",
}
CALLS = {
    "Problem",
    "problem",
    "report",
    "_report",
    "_problem",
    "UnresolvedReference",
    "_NoToolError",
}


def codes_in(path: Path) -> set[str]:
    """Codes given to calls that make problems, and codes kept as constants."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        value: ast.expr | None = None
        if isinstance(node, ast.Call) and node.args:
            name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func
            if name in CALLS or (isinstance(name, ast.Name) and name.id in CALLS):
                value = node.args[0]
        elif isinstance(node, ast.Assign) and path.name in CONSTANTS:
            value = node.value
        text = value.value if isinstance(value, ast.Constant) else None
        if isinstance(text, str) and CODE.fullmatch(text):
            found.add(text)
    return found


def test_page_lists_every_code() -> None:
    page = (ROOT / "docs" / "problems.md").read_text(encoding="utf-8")
    row = re.compile(r"^\| `([a-z-]+)` \|", re.MULTILINE)
    listed = row.findall(page)
    for chapter in page.split("\n## "):  # one code may matter in a file and in a request
        assert len(row.findall(chapter)) == len(set(row.findall(chapter)))
    used = set()
    for room in ("core/prompty", "core/wire", "core/export", "application/document"):
        for path in (ROOT / "studio" / room).rglob("*.py"):
            used |= codes_in(path)
    assert len(used) > 60
    assert set(listed) == used
