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


@pytest.fixture
def product(tmp_path: Path) -> Path:
    for name, text in {
        "app.py": "from product.core import a\n",
        "core/a.py": "from product.core.deep.b import z\ny = 2\n",
        "core/deep/b.py": "z = 3\n",
        "core/deep/c.py": "def f():\n    from .b import z\n    from . import d\n",
        "core/deep/d.py": "x = 1\n" * 100,
        "core/deep/e.py": "x = 1\n",
        "ui/__init__.py": "import product.core.deep.e\n",
    }.items():
        path = tmp_path / "product" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "product"


def test_the_report_tells_the_rooms(product: Path) -> None:
    assert LINES.report(product) == (
        "product: 109 lines of code in 7 files (core 107, top level 1, ui 1)\n"
        "product: 1 modules of under 100 lines of code have one caller"
    )


def test_short_modules_with_one_caller_are_found(product: Path) -> None:
    found = LINES.single_callers(product)
    assert found == {product / "core/a.py": product / "app.py"}
    (product / "app.py").write_text("import product.core.deep.c\n", encoding="utf-8")
    found = LINES.single_callers(product)
    assert found == {product / "core/deep/c.py": product / "app.py"}
