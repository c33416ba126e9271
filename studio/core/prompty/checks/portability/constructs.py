"""Constructs of Jinja that a runtime of Prompty lacks or reads differently, by name.

Sources: the grammar of Prompty's Jinja Subset (C#) and Nunjucks 3.2.4 (TypeScript); `make interop`
asks both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from jinja2 import nodes

from studio.core.prompty.checks.portability.difference import (
    BOTH,
    CS,
    Runtime,
    RuntimeDifference,
    names,
    refuses,
    report,
)
from studio.core.prompty.templates.jinja.program import Program
from studio.core.prompty.templates.jinja.statements import Interpolation, PlainExpression
from studio.core.prompty.templates.nunjucks import FILTERS, TESTS
from studio.core.text.problem import Fix, TextEdit
from studio.core.text.span import Span

_LACKING: Mapping[str, tuple[frozenset[Runtime], str]] = {
    **dict.fromkeys(("Add", "Sub", "Mul", "Div", "FloorDiv", "Mod"), (CS, "arithmetic")),
    **dict.fromkeys(("Pow", "Pos", "Neg"), (CS, "arithmetic")),
    **dict.fromkeys(("List", "Dict"), (CS, "lists and mappings in a template")),
    **dict.fromkeys(("Assign", "AssignBlock"), (CS, "{% set %}")),
    "CondExpr": (CS, "{{ … if … else … }}"),
    "Concat": (CS, "~"),
    "Slice": (BOTH, "slices"),
    "Call": (BOTH, "calls"),
    "NSRef": (BOTH, "{% set %} of a namespace"),
    "With": (BOTH, "{% with %}"),
    "Macro": (CS, "{% macro %}"),
    "CallBlock": (BOTH, "{% call %}"),
    "FilterBlock": (CS, "{% filter %}"),
    "Block": (CS, "{% block %}"),
    "ScopedEvalContextModifier": (BOTH, "{% autoescape %}"),
}
"""Nodes of a template that a runtime does not read."""

_SUBSET = {"default": 1, "join": 1, "length": 0, "lower": 0, "replace": 2, "trim": 0, "upper": 0}
"""All filters of C#, with the number of arguments that it reads (Prompty's Jinja Subset §5.4)."""

_DIFFERENT = {"batch", "dictsort", "float", "groupby", "random", "slice", "truncate", "urlize"}
"""Filters that give something else in Nunjucks."""

_LOOP = frozenset(("index", "index0", "length", "first", "last"))
_METHODS = frozenset(dir(dict))
_STRING = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:[\\\"']|(.))", re.DOTALL)


def construct_differences(program: Program, source: str) -> Iterator[RuntimeDifference]:
    """Yield each construct that a runtime lacks, in no order."""
    for span in program.raw_blocks:
        yield report("portable-statement", span, CS, refuses(CS, "{% raw %}"))
    for tag in program.tags:
        yield from _texts(tag, source[tag.start - program.base : tag.end - program.base])
    yield from _Walk(program, source).differences(program.body)


class _Walk:
    """Goes through all nodes of a template."""

    def __init__(self, program: Program, source: str) -> None:
        self._program = program
        self._source = source

    def differences(self, body: Sequence[Any]) -> Iterator[RuntimeDifference]:
        """Yield what runtimes lack of statements and of all that is in them."""
        for item in body:
            if isinstance(item, Interpolation):
                yield from self.differences([item.expression])
            elif isinstance(item, PlainExpression):
                at = item.offset - self._program.base
                for before, name in pairwise(item.path):
                    at = self._source.find(".", at + len(before))
                    yield from self._field(name, at, is_loop=item.path[0] == before == "loop")
            elif isinstance(item, nodes.Node):
                yield from self._of(item)
                for _, held in item.iter_fields(exclude=("ctx",)):
                    yield from self.differences(held if isinstance(held, list) else [held])

    def _of(self, node: nodes.Node) -> Iterator[RuntimeDifference]:
        match node:
            case nodes.Filter(node=nodes.Node()) if found := _of_filter(node):
                yield report("portable-filter", self._word(node.lineno, node.name), *found)
            case nodes.Test(name=name):
                place = self._word(node.lineno, name)
                # Without parentheses around an argument Nunjucks stops reading.
                is_bare = node.args and self._source[place.end - self._program.base] != "("
                where = CS if name in TESTS | {"none"} and not is_bare else BOTH
                yield report("portable-expression", place, where, refuses(where, f"test {name!r}"))
            case nodes.Const(value=bool()) if self._source.startswith(("T", "F"), node.lineno):
                word = str(node.value)
                place = self._word(node.lineno, word)
                fix = Fix(f"Write {word.lower()}", (TextEdit(place, word.lower()),))
                message = f"{word} is a name without a value in TypeScript and C#."
                yield report("portable-expression", place, BOTH, message, fix)
            case nodes.Getitem() if self._source.startswith(".", node.lineno):
                place = self._program.tag_at(node.lineno)
                yield report("portable-lookup", place, BOTH, refuses(BOTH, "{{ list.0 }}"))
            case nodes.Getattr(node=inner, attr=name):
                is_loop = isinstance(inner, nodes.Name) and inner.name == "loop"
                yield from self._field(name, node.lineno, is_loop=is_loop)
        where, what = _lacks(node)
        if what:
            is_statement = isinstance(node, nodes.Stmt | nodes.NSRef)
            code = "portable-statement" if is_statement else "portable-expression"
            place = self._program.tag_at(node.lineno or 0)
            yield report(code, place, where, refuses(where, what))

    def _field(self, name: str, at: int, *, is_loop: bool) -> Iterator[RuntimeDifference]:
        if is_loop and name not in _LOOP:
            where = CS if name.startswith("revindex") else BOTH
            message = f"loop.{name} has no value in {names(where)}."
            yield report("portable-lookup", self._word(at, name), where, message)
        elif name in _METHODS and not is_loop:
            place = self._word(at, name)
            edit = TextEdit(Span(place.start - 1, place.end), f'["{name}"]')
            message = f"Python takes .{name} for a method, TypeScript and C# for a field."
            yield report("portable-lookup", place, BOTH, message, Fix(f'Write ["{name}"]', (edit,)))

    def _word(self, at: int, word: str) -> Span:
        start = max(self._source.find(word, at), at)
        return Span(start, start + len(word)).shift(self._program.base)


def _lacks(node: nodes.Node) -> tuple[frozenset[Runtime], str]:
    """Return which runtimes lack a node, and what a sentence calls it; empty for none."""
    match node:
        case nodes.Compare(ops=[_, _, *_]):
            return BOTH, "comparison of three values"
        case nodes.Compare(ops=[nodes.Operand(op="notin")]):
            return CS, "{{ … not in … }}; write {{ not … in … }}"
        case nodes.Tuple(ctx="load"):
            return BOTH, "tuples"
        case nodes.For() if node.test is not None or node.recursive:
            return BOTH, "{% for … if … %} and {% for … recursive %}"
        case nodes.For() if node.else_ or isinstance(node.target, nodes.Tuple):
            return CS, "{% for %} with two names or an {% else %}"
        case nodes.Assign(target=nodes.Tuple()):
            return BOTH, "{% set %} with two names"
        case nodes.Neg(node=nodes.Const()):
            return BOTH, ""  # the sign of a number
        case _:
            return _LACKING.get(type(node).__name__, (BOTH, ""))


def _of_filter(node: nodes.Filter) -> tuple[frozenset[Runtime], str] | None:
    name = node.name
    if name not in _SUBSET and name not in FILTERS:
        return BOTH, refuses(BOTH, f"filter {name!r}")
    if node.kwargs and name not in ("default", "sort"):
        return BOTH, f"TypeScript and C# do not read arguments of {name!r} by name."
    if name not in _SUBSET:
        is_other = name in _DIFFERENT or (name == "round" and not node.args)
        how = f"TypeScript has another {name!r}. " if is_other else ""
        return BOTH if is_other else CS, how + refuses(CS, f"filter {name!r}")
    is_false = bool(node.args) and node.args[-1] == nodes.Const(False)
    if node.kwargs or (len(node.args) > _SUBSET[name] and not is_false):
        where = BOTH if name == "trim" else CS
        return where, f"The last argument of {name!r} is not read in {names(where)}."
    return None


def _texts(tag: Span, text: str) -> Iterator[RuntimeDifference]:
    """Yield the strings of a tag with escapes that runtimes read differently."""
    for found in _STRING.finditer(text):
        escapes = set(filter(None, _ESCAPE.findall(found[0])))
        if escapes:
            where = CS if escapes <= set("ntr") else BOTH
            message = f'In {names(where)} a letter after \\ is the letter itself: "\\n" is n.'
            yield report("portable-text", Span(*found.span()).shift(tag.start), where, message)
