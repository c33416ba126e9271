"""Walks a Jinja template and asks the rules of portability about each part, also filters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jinja2 import nodes

from studio.core.prompty.checks.portability.difference import (
    BOTH,
    CS,
    TS,
    Runtime,
    RuntimeDifference,
    refuses,
    report,
)
from studio.core.prompty.checks.portability.expressions import RULES
from studio.core.prompty.checks.portability.found import Found, ValueRole
from studio.core.prompty.checks.portability.values import Values
from studio.core.prompty.document import EACH
from studio.core.prompty.templates.jinja.fields import Bound, path_of
from studio.core.prompty.templates.jinja.program import Program
from studio.core.prompty.templates.jinja.scope import names_in
from studio.core.prompty.templates.jinja.statements import Interpolation, Literal, PlainExpression
from studio.core.prompty.templates.jinja.variables import named
from studio.core.prompty.templates.nunjucks import FILTERS as NUNJUCKS_FILTERS
from studio.core.text.span import Span

_STRING = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_NUMBER = re.compile(r"(?<![\w.])(?:0[xXbBoO]\w+|\d+_\w+|\d+(?:\.\d+)?[eE][-+]?\d+)")

_SUBSET = frozenset(("default", "join", "length", "lower", "replace", "trim", "upper"))
"""All filters of C# (Prompty's Jinja Subset, grammar §5.4)."""

_OTHERWISE = frozenset(
    ("batch", "dictsort", "float", "groupby", "random", "slice", "truncate", "urlize")
)
"""Filters that Nunjucks has and works out, or writes, otherwise."""

_TEXT_ONLY = frozenset(("capitalize", "lower", "title", "trim", "upper"))
"""Filters that Nunjucks has for texts alone: a number ends it."""

_MOST_ARGUMENTS = {"default": 1, "join": 1, "replace": 2, "trim": 0}
"""Arguments that C# reads; it passes over the others."""

_Difference = tuple[frozenset[Runtime], str] | None


@dataclass(frozen=True, slots=True)
class _Around:
    """What is known around a statement."""

    bound: Bound
    guarded: frozenset[str] = frozenset()
    in_loop: frozenset[str] = frozenset()
    """Names that were set outside of the innermost loop, where there is one."""


class TemplateWalk:
    """Finds the differences of one template."""

    def __init__(self, program: Program, source: str, values: Values) -> None:
        self._program = program
        self._source = source
        self._values = values

    def differences(self) -> Iterator[RuntimeDifference]:
        """All of them, in no order."""
        for span in self._program.raw_blocks:
            yield report("portable-statement", span, CS, refuses(CS, "{% raw %}"))
        for tag in self._program.tags:
            yield from self._texts(tag)
        yield from self._body(self._program.body, _Around({}))

    def _texts(self, tag: Span) -> Iterator[RuntimeDifference]:
        """Texts and numbers inside a tag, as they are written."""
        base = self._program.base
        start = tag.start - base
        text = self._source[start : tag.end - base]
        if text[2:3] == "+" or text[-3:-2] == "+":
            yield report("portable-statement", tag, BOTH, refuses(BOTH, "{%+ and +%}"))
        end = text[-2:]
        behind = -1
        for found in _STRING.finditer(text):
            place = Span(*found.span()).shift(tag.start)
            others = {each for each in _ESCAPE.findall(found[0]) if each not in "\\\"'"}
            if others:
                where = BOTH if others - set("ntr") else CS
                which = ", ".join(f"\\{each}" for each in sorted(others))
                message = f"C# reads {which} as the letter alone; so does TypeScript but for \\n."
                if where == CS:
                    message = f"C# reads {which} as the letter alone: no line end, no tab."
                yield report("portable-text", place, where, message)
            if end in found[0]:
                message = f"C# takes the {end} in this text for the end of the tag."
                yield report("portable-text", place, CS, message)
            if behind >= 0 and not text[behind : found.start()].strip():
                message = refuses(BOTH, "texts that follow each other")
                yield report("portable-text", place, BOTH, message)
            behind = found.end()
        plain = _STRING.sub(lambda found: " " * len(found[0]), text)
        for number in _NUMBER.finditer(plain):
            place = Span(*number.span()).shift(tag.start)
            message = refuses(CS, f"number {number[0]}; TypeScript reads it otherwise")
            yield report("portable-text", place, BOTH, message)

    def _body(self, body: Sequence[Any], around: _Around) -> Iterator[RuntimeDifference]:
        for item in body:
            match item:
                case Literal():
                    pass
                case PlainExpression():
                    yield from self._expression(self._as_node(item), "printed", around)
                case Interpolation():
                    yield from self._expression(item.expression, "printed", around)
                case _:
                    yield from self._statement(item, around)

    def _as_node(self, item: PlainExpression) -> nodes.Expr:
        """The names of a plain expression as Jinja's parser would give them."""
        at = item.offset - self._program.base
        node: nodes.Expr = nodes.Name(item.path[0], "load", lineno=at)
        at += len(item.path[0])
        for name in item.path[1:]:
            node = nodes.Getattr(node, name, "load", lineno=self._source.find(".", at))
            at = self._source.find(name, at) + len(name)
        return node

    def _expression(
        self, node: nodes.Node | None, role: ValueRole, around: _Around
    ) -> Iterator[RuntimeDifference]:
        if node is None:
            return
        found = Found(
            node, role, around.bound, around.guarded, self._values, self._program, self._source
        )
        for rule in (*RULES, check_filter):
            yield from rule(found)
        match node:
            case nodes.Not():
                yield from self._expression(node.node, "tested", around)
            case nodes.And() | nodes.Or():
                yield from self._expression(node.left, "tested", around)
                yield from self._expression(node.right, role, _asked(around, node.left))
            case nodes.CondExpr():
                yield from self._expression(node.test, "tested", around)
                yield from self._expression(node.expr1, role, _asked(around, node.test))
                yield from self._expression(node.expr2, role, _asked(around, node.test))
            case nodes.Test(name="defined" | "undefined"):
                pass  # it may be missing: that is the question
            case _:
                for child in node.iter_child_nodes():
                    yield from self._expression(child, "used", around)

    def _statement(self, node: nodes.Node, around: _Around) -> Iterator[RuntimeDifference]:
        match node:
            case nodes.If():
                for branch in (node, *node.elif_):
                    yield from self._expression(branch.test, "tested", around)
                    around = _asked(around, branch.test)
                    yield from self._body(branch.body, around)
                yield from self._body(node.else_, around)
            case nodes.For():
                yield from self._for(node, around)
            case nodes.Assign() | nodes.AssignBlock():
                yield from self._assign(node, around)
            case nodes.With():
                yield self._lacks(node, BOTH, "{% with %}")
                inner = replace(around, bound=dict(around.bound))
                for target, value in zip(node.targets, node.values, strict=True):
                    yield from self._expression(value, "used", around)
                    inner.bound.update(named(target))
                yield from self._body(node.body, inner)
            case nodes.Macro() | nodes.CallBlock():
                yield from self._macro(node, around)
            case nodes.FilterBlock():
                yield self._lacks(node, CS, "{% filter %}")
                yield from self._body(node.body, around)
            case nodes.Block():
                yield self._lacks(node, CS, "{% block %}")
                yield from self._body(node.body, around)
            case nodes.Scope():
                yield from self._body(node.body, around)
            case nodes.ScopedEvalContextModifier():
                yield self._lacks(node, BOTH, "{% autoescape %}")
                yield from self._body(node.body, around)
            case _:
                pass  # another template file: the template's own problems say so

    def _lacks(self, node: nodes.Node, where: frozenset[Runtime], what: str) -> RuntimeDifference:
        tag = self._program.tag_at(node.lineno)
        return report("portable-statement", tag, where, refuses(where, what))

    def _for(self, node: nodes.For, around: _Around) -> Iterator[RuntimeDifference]:
        yield from self._expression(node.iter, "used", around)
        path = path_of(node.iter, around.bound)
        is_object = self._values.kind(node.iter, around.bound) == "object"
        each = (*path, EACH) if path is not None and not is_object else None
        bound = around.bound | named(node.target, each) | {"loop": None}
        inner = replace(around, bound=bound, in_loop=frozenset(around.bound))
        if isinstance(node.target, nodes.Tuple):
            message = refuses(CS, "{% for %} with two names")
            where = CS
            if is_object:
                message = f"Python finds keys alone here, TypeScript keys and values. {message}"
                where = BOTH
            yield self._at(node, where, message)
        elif is_object:
            message = "TypeScript goes through no object with one name: it repeats nothing."
            yield self._at(node, TS, message)
        if node.test is not None:
            yield self._lacks(node, BOTH, "{% for … if … %}")
            yield from self._expression(node.test, "tested", inner)
        if node.recursive:
            yield self._lacks(node, BOTH, "{% for … recursive %}")
        if node.else_:
            yield self._lacks(node, CS, "{% else %} of a {% for %}")
        yield from self._body(node.body, inner)
        yield from self._body(node.else_, around)

    def _at(self, node: nodes.Node, where: frozenset[Runtime], message: str) -> RuntimeDifference:
        tag = self._program.tag_at(node.lineno)
        return report("portable-statement", tag, where, message)

    def _assign(
        self, node: nodes.Assign | nodes.AssignBlock, around: _Around
    ) -> Iterator[RuntimeDifference]:
        target = node.target
        message, where = refuses(CS, "{% set %}"), CS
        if isinstance(target, nodes.NSRef):
            message, where = refuses(BOTH, "{% set %} of a namespace"), BOTH
        elif isinstance(target, nodes.Tuple):
            message = f"TypeScript gives each name the whole value. {message}"
            where = BOTH
        elif isinstance(target, nodes.Name) and target.name in around.in_loop:
            message = (
                f"TypeScript keeps {target.name!r} behind the loop, and Python does not. {message}"
            )
            where = BOTH
        yield self._at(node, where, message)
        if isinstance(node, nodes.Assign):
            yield from self._expression(node.node, "used", around)
            path = path_of(node.node, around.bound)
            around.bound.update(named(target, path))
        else:
            yield from self._body(node.body, replace(around, bound=dict(around.bound)))
            around.bound.update(named(target))

    def _macro(
        self, node: nodes.Macro | nodes.CallBlock, around: _Around
    ) -> Iterator[RuntimeDifference]:
        if isinstance(node, nodes.Macro):
            yield self._lacks(node, CS, "{% macro %}")
            around.bound[node.name] = None
        else:
            yield self._lacks(node, BOTH, "{% call %}")
        own = ("varargs", "kwargs", "caller", *(each.name for each in node.args))
        inner = replace(around, bound=around.bound | dict.fromkeys(own))
        yield from self._body(node.body, inner)


def _asked(around: _Around, condition: nodes.Node) -> _Around:
    names = {name.name for name in names_in(condition)}
    return replace(around, guarded=around.guarded | names)


def check_filter(found: Found) -> Iterator[RuntimeDifference]:
    """The differences at one filter."""
    node = found.node
    if not isinstance(node, nodes.Filter) or node.node is None:
        return
    place = found.word(node.name)
    difference = _unknown(found, node) or _arguments(node) or _of_its_value(found, node)
    if difference is not None:
        where, message = difference
        yield report("portable-filter", place, where, message)


def _unknown(found: Found, node: nodes.Filter) -> _Difference:
    name = node.name
    if name in _SUBSET:
        return None
    if name not in NUNJUCKS_FILTERS:
        return BOTH, refuses(BOTH, f"filter {name!r}")
    kinds = {found.kind(node.node)}
    if name in _OTHERWISE or (name == "round" and not node.args):
        how = f"TypeScript gives something else for {name!r}."
    elif name in _TEXT_ONLY and kinds & {"integer", "float", "boolean"}:
        how = f"TypeScript takes only a text for {name!r}."
    elif node.kwargs and name != "sort":
        how = "TypeScript does not read named arguments."
    elif name in ("select", "reject", "selectattr", "rejectattr") and len(node.args) > 1:
        how = f"TypeScript reads one argument of {name!r}."
    else:
        return CS, refuses(CS, f"filter {name!r}")
    return BOTH, f"{how} {refuses(CS, f'filter {name!r}')}"


def _arguments(node: nodes.Filter) -> _Difference:
    name = node.name
    if node.kwargs:
        where = CS if name == "default" else BOTH
        how = refuses(CS, "named arguments")
        return where, how if where == CS else f"TypeScript does not read them by name. {how}"
    if len(node.args) > _MOST_ARGUMENTS.get(name, 0):
        last = node.args[-1]
        if isinstance(last, nodes.Const) and last.value is False:
            return None
        if name == "trim":
            return BOTH, "TypeScript and C# trim white space alone."
        return CS, f"C# passes over the last argument of {name!r}."
    return None


def _of_its_value(found: Found, node: nodes.Filter) -> _Difference:
    name, kind = node.name, found.kind(node.node)
    if found.may_be_missing(node.node) and name in ("join", "trim"):
        return TS, f"Without a value TypeScript ends with an error at {name!r}."
    if name in _TEXT_ONLY and kind in ("integer", "float", "boolean"):
        how = f"TypeScript takes only a text for {name!r} and ends with an error"
        if name == "trim" and kind != "integer":
            return BOTH, f"{how}; C# writes the value otherwise than Python."
        return TS, f"{how}."
    if name == "length" and kind in ("integer", "float", "boolean"):
        return BOTH, "A number has no length in Python, which ends with an error."
    if name == "join" and kind in ("integer", "float", "boolean"):
        return CS, "C# joins nothing here; Python and TypeScript end with an error."
    if name == "join" and kind in ("object", "string"):
        return BOTH, "TypeScript joins lists alone and ends with an error; C# gives nothing."
    if name == "default" and node.node is not None:
        if found.values.may_be_null(node.node, found.bound):
            message = "For null C# takes the default; Python writes None, TypeScript nothing."
            return BOTH, message
        if node.args and found.kind(node.args[0]) == "null":
            return BOTH, "Python writes None here, TypeScript and C# nothing."
    return None
