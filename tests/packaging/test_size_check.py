"""The size check names each limit that the code passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.packaging.tool import load

SIZES = load("size_check")


@pytest.mark.parametrize(
    ("source", "code", "imports"),
    [
        ("", 0, 0),
        ("# a comment\n\n", 0, 0),
        ('"""A module."""\n\nx = 1\n', 1, 0),
        ('"""A module\n\nof two paragraphs.\n"""\nx = 1  # why\n', 1, 0),
        ('class A:\n    """A class."""\n\n    x: int = 1\n    """A field\'s meaning."""\n', 2, 0),
        ("import os\nfrom sys import (\n    argv,\n    path,\n)\n", 5, 5),
        ("def f():\n    import os\n    return os\n", 3, 1),
    ],
)
def test_lines_are_counted(source: str, code: int, imports: int) -> None:
    size = SIZES.size_of(source)
    assert (size.code, size.imports) == (code, imports)


def test_nodes_do_not_depend_on_the_layout() -> None:
    short, long = SIZES.size_of("f(1, 2)\n"), SIZES.size_of("f(\n    1,\n    2,\n)\n")
    assert short.nodes == long.nodes


@pytest.fixture
def product(tmp_path: Path) -> Path:
    for name, text in {
        "app.py": "import os\n",
        "core/deep/a.py": "x = 1\n" * 9,
        "core/deep/__init__.py": "",
        "core/deep/low/b.py": "y = 2\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_each_limit_that_is_passed_is_named(product: Path) -> None:
    sizes = SIZES.sizes_of(product)
    nodes = SIZES.nodes_by_package(sizes)
    assert set(nodes) == {".", "core/deep"}
    assert list(SIZES.excesses(sizes, SIZES.Limits(9, 1, 10, nodes))) == []
    low = SIZES.Limits(8, 0, 9, {".": 99, "core/deep": 1})
    assert list(SIZES.excesses(sizes, low)) == [
        "core/deep/a.py: 9 code lines; at most 8 are allowed",
        ".: 1 modules; at most 0 are allowed",
        "core/deep: 1 modules; at most 0 are allowed",
        "core/deep/low: 1 modules; at most 0 are allowed",
        "imports are 9.1 % of the code; at most 9 % are allowed",
        f"core/deep: {nodes['core/deep']} syntax nodes; its budget is 1",
    ]


def test_a_package_without_a_budget_is_named(product: Path) -> None:
    sizes = SIZES.sizes_of(product)
    found = list(SIZES.excesses(sizes, SIZES.Limits(99, 99, 99, {".": 99})))
    assert [sentence.partition(":")[0] for sentence in found] == ["core/deep"]
