"""No pattern of the product needs what Python's `re` gets wrong in a version that it runs on.

Possessive quantifiers and atomic groups match wrongly before Python 3.11.5 (CPython issue 106052),
and Debian 12 has 3.11.2. A pattern that wants them is compiled by the package `regex`.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pygments.lexer import RegexLexer

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "studio").rglob("*.py")) + sorted((ROOT / "packaging").rglob("*.py"))
FUNCTIONS = {
    "compile",
    "findall",
    "finditer",
    "fullmatch",
    "match",
    "search",
    "split",
    "sub",
    "subn",
}
FORBIDDEN = {"POSSESSIVE_REPEAT", "ATOMIC_GROUP"}
# What Python's own compiler reads a pattern with; there is no public door to it.
PARSER = importlib.import_module("re._parser")


def operations(tree: Any) -> Iterator[str]:
    """The names of all operations of a parsed pattern."""
    if isinstance(tree, PARSER.SubPattern):
        for operation, argument in tree:
            yield str(operation)
            yield from operations(argument)
    elif isinstance(tree, list | tuple):
        for item in tree:
            yield from operations(item)


def forbidden(pattern: str | bytes) -> set[str]:
    """What a pattern holds that `re` may get wrong."""
    return FORBIDDEN & set(operations(PARSER.parse(pattern)))


class Guess(ast.NodeTransformer):
    """Puts an `x` where a value is known only while the program runs."""

    def __init__(self, names: dict[str, Any]) -> None:
        self._names = names

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        return ast.Constant(str(evaluated(node.value, self._names)))


def evaluated(node: ast.expr, names: dict[str, Any]) -> Any:
    """The value of an expression of a module; `x` where a function's own names are in it."""
    whole = ast.Expression(Guess(names).visit(node))
    try:
        return eval(compile(ast.fix_missing_locations(whole), "<pattern>", "eval"), names)
    except NameError:
        return "x"


def calls_of(package: str, tree: ast.Module) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == package
            and node.func.attr in FUNCTIONS
        ):
            yield node


def names_of(path: Path) -> dict[str, Any]:
    """The globals of a module of the product; none of a script."""
    if ROOT / "studio" not in path.parents:
        return {}
    parts = path.relative_to(ROOT).with_suffix("").parts
    return vars(importlib.import_module(".".join(parts).removesuffix(".__init__")))


NOT_PATTERNS = {"/%:@!$&'()*+,;="}
"""Texts that look like a pattern, and are none."""


def patterns_in(path: Path) -> Iterator[tuple[int, str | bytes]]:
    """What a module gives to `re`, and each text in it that could be a part of a pattern."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    of_regex = {id(each) for call in calls_of("regex", tree) for each in ast.walk(call)}
    for node in ast.walk(tree):
        if id(node) in of_regex:
            continue
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and text not in NOT_PATTERNS:
            yield node.lineno, text
    names = names_of(path)
    for call in calls_of("re", tree):
        pattern = evaluated(call.args[0], names)
        yield call.lineno, pattern.pattern if isinstance(pattern, re.Pattern) else pattern


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of texts that are no patterns
@pytest.mark.parametrize(
    "path",
    [path for path in SOURCES if "import re\n" in path.read_text(encoding="utf-8")],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_no_pattern_of_re_is_possessive_or_atomic(path: Path) -> None:
    for line, pattern in patterns_in(path):
        try:
            found = forbidden(pattern)
        except re.error:
            continue  # a text of its own, or a piece that is put together with others
        assert not found, f"{path.name}:{line}: {pattern!r}"


def test_no_pattern_of_a_lexer_is_possessive_or_atomic() -> None:
    for path in (ROOT / "studio" / "ui" / "editor").rglob("*.py"):
        names_of(path)
    lexers = [each for each in subclasses(RegexLexer) if each.__module__.startswith("studio.")]
    assert lexers
    for lexer in lexers:
        for rules in lexer.tokens.values():
            for pattern in (rule[0] for rule in rules if isinstance(rule, tuple)):
                assert not isinstance(pattern, str) or not forbidden(pattern), (lexer, pattern)


def subclasses(kind: type) -> Iterator[Any]:
    for each in kind.__subclasses__():
        yield each
        yield from subclasses(each)


def test_no_pattern_of_a_schema_is_possessive_or_atomic() -> None:
    found = [
        pattern
        for path in (ROOT / "resources").rglob("*.json")
        for pattern in patterns_of(json.loads(path.read_text(encoding="utf-8")))
    ]
    for pattern in found:
        assert not forbidden(pattern), pattern


def patterns_of(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("pattern"), str):
            yield schema["pattern"]
        if isinstance(schema.get("patternProperties"), dict):
            yield from schema["patternProperties"]
        for value in schema.values():
            yield from patterns_of(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from patterns_of(value)


@pytest.mark.parametrize(
    "pattern", ["a*+", "(?:ab|c)++", "a?+b", "(?>ab)c", "(x(y{2,3}+))", "(?=a++)"]
)
def test_the_check_sees_what_it_forbids(pattern: str) -> None:
    assert forbidden(pattern)
