"""Lines of code are counted as the project means them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.packaging.tool import load

LINES = load("code_lines")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", 0),
        ("# a comment\n\n", 0),
        ('"""A module."""\n\nx = 1\n', 1),
        ('"""A module\n\nof two paragraphs.\n"""\nx = 1  # why\n', 1),
        ('class A:\n    """A class."""\n\n    x: int = 1\n    """A field\'s meaning."""\n', 2),
        ('def f():\n    """What it does."""\n    return 1\n', 2),
        ('x = """a text\nof two lines"""\n', 2),
        ("f(\n    # why\n    1,\n\n    2,\n)\n", 4),
        ("x = f'{1}'\n", 1),
        ("if a:\n    pass\n# end", 2),
    ],
)
def test_lines_with_code_count(source: str, expected: int) -> None:
    assert LINES.code_lines(source) == expected


def test_the_report_tells_the_rooms(tmp_path: Path) -> None:
    for name, text in {
        "app.py": "x = 1\n",
        "core/a.py": "x = 1\ny = 2\n",
        "core/deep/b.py": "z = 3\n",
        "ui/__init__.py": "",
    }.items():
        path = tmp_path / "product" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert LINES.report(tmp_path / "product") == (
        "product: 4 lines of code in 4 files (core 3, top level 1)"
    )
