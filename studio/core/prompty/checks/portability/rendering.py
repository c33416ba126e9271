"""Render a Jinja template as each of Prompty's runtimes does, and report differences.

Each runtime is the studio's engine with its differences replaced; missing values are undefined in
all of them. Constructs that a runtime lacks are found by name. Sources: the grammar of Prompty's
Jinja Subset (C#) and Nunjucks 3.2.4 (TypeScript); `make interop` compares with both originals.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Any

from jinja2 import Undefined, UndefinedError, nodes

from studio.core.prompty.document import PromptDocument
from studio.core.prompty.front.declarations import RICH_KINDS
from studio.core.prompty.inputs import RESERVED_SAMPLES, resolve_inputs
from studio.core.prompty.templates.jinja.expressions import Expressions
from studio.core.prompty.templates.jinja.program import Program
from studio.core.prompty.templates.jinja.run import FAILURES, Runner, read_template
from studio.core.prompty.templates.jinja.sandbox import Scope, Value, root_scope
from studio.core.prompty.templates.jinja.stock import FILTERS, TESTS, as_javascript, written
from studio.core.prompty.templates.jinja.tokens import Interpolation, Literal, PlainExpression
from studio.core.prompty.templates.writer import DEFAULT_BOUNDS, Budget, FaultList, SegmentWriter
from studio.core.text.amounts import shortened
from studio.core.text.source import Fix, Problem, Severity, Span, TextEdit
from studio.core.text.values import JsonObject

# A difference between Prompty's Python runtime and another one.


class Runtime(StrEnum):
    """A runtime that is compared with Python's."""

    TYPESCRIPT = "TypeScript"
    """Nunjucks 3.2 without calls (`@prompty/core` 2.0), and mustache.js."""

    CSHARP = "C#"
    """Prompty's own Jinja Subset (`Prompty.Core` 2.0), and Stubble."""


TS = frozenset((Runtime.TYPESCRIPT,))
CS = frozenset((Runtime.CSHARP,))
BOTH = TS | CS


@dataclass(frozen=True, slots=True)
class RuntimeDifference:
    """A place in a template that another runtime renders differently."""

    problem: Problem
    """The warning that names the difference."""

    runtimes: frozenset[Runtime]
    """The runtimes whose text differs from Python's, or that fail."""


def report(
    code: str, span: Span, runtimes: frozenset[Runtime], message: str, *fixes: Fix
) -> RuntimeDifference:
    """Return a difference with its warning."""
    return RuntimeDifference(Problem(code, Severity.WARNING, message, span, fixes), runtimes)


def names(runtimes: frozenset[Runtime]) -> str:
    """Return the names of the runtimes for a sentence."""
    return " and ".join(runtime for runtime in Runtime if runtime in runtimes)


def refuses(runtimes: frozenset[Runtime], what: str) -> str:
    """Return the sentence that runtimes lack something and stop."""
    knows, ends = ("knows", "ends") if len(runtimes) == 1 else ("know", "end")
    return f"{names(runtimes)} {knows} no {what} and {ends} with an error."


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
"""Nodes of a template that runtimes lack."""

_SUBSET = {"default": 1, "join": 1, "length": 0, "lower": 0, "replace": 2, "trim": 0, "upper": 0}
"""All filters of C#, with their number of arguments (Prompty's Jinja Subset §5.4)."""

_DIFFERENT = {"batch", "dictsort", "float", "groupby", "random", "slice", "truncate", "urlize"}
"""Filters with a different result in Nunjucks."""

_LOOP = frozenset(("index", "index0", "length", "first", "last"))
_METHODS = frozenset(dir(dict))
_STRING = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:[\\\"']|(.))", re.DOTALL)


def construct_differences(program: Program, source: str) -> Iterator[RuntimeDifference]:
    """Yield each construct that a runtime lacks, in no particular order."""
    for span in program.raw_blocks:
        yield report("portable-statement", span, CS, refuses(CS, "{% raw %}"))
    for tag in program.tags:
        yield from _texts(tag, source[tag.start - program.base : tag.end - program.base])
    yield from _Walk(program, source).differences(program.body)


class _Walk:
    """A walk through all nodes of a template."""

    def __init__(self, program: Program, source: str) -> None:
        self._program = program
        self._source = source

    def differences(self, body: Sequence[Any]) -> Iterator[RuntimeDifference]:
        """Yield the constructs in statements that runtimes lack."""
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
                # Without parentheses around an argument, Nunjucks stops reading.
                is_bare = node.args and self._source[place.end - self._program.base] != "("
                where = CS if name in TESTS | {"none"} and not is_bare else BOTH
                yield report("portable-expression", place, where, refuses(where, f"test {name!r}"))
            case nodes.Const(value=bool()) if self._source.startswith(("T", "F"), node.lineno):
                word = str(node.value)
                place = self._word(node.lineno, word)
                fix = Fix(f"Write {word.lower()}", (TextEdit(place, word.lower()),))
                message = f"{word} is an undefined name in TypeScript and C#."
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
            message = f"Python treats .{name} as a method, TypeScript and C# as a field."
            yield report("portable-lookup", place, BOTH, message, Fix(f'Write ["{name}"]', (edit,)))

    def _word(self, at: int, word: str) -> Span:
        start = max(self._source.find(word, at), at)
        return Span(start, start + len(word)).shift(self._program.base)


def _lacks(node: nodes.Node) -> tuple[frozenset[Runtime], str]:
    """Return the runtimes that lack a node, and its name for a sentence; empty for none."""
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


_SAMPLES: JsonObject = {"boolean": True, "integer": 3, "float": 1.0, "array": [], "object": {}}
"""Sample value for each kind of input without a value; texts are the same everywhere."""
_BARE = re.compile(r"\{%[-+]?\s*(?:el)?if\s+(?:not\s+)?\w+(?=\s*[-+]?%\})")
_VERBS = {"portable-condition": "says", "portable-statement": "goes through"}
_ERROR = "an error"
_IF_EMPTY = " to an empty list or object"
_LONGEST = 40
"""Maximum number of characters of a text in a message."""
_MOST_ITEMS = 3
"""Maximum number of loop iterations, since items are usually similar."""
_BOUNDS = replace(DEFAULT_BOUNDS, value=100_000, work=500_000, steps=20_000)
_DATA = (str, int, float, list, tuple, dict, type(None))
_NUMBERS = dict.fromkeys(("capitalize", "lower", "title", "trim", "upper"), (int, float))
_REFUSED: Mapping[str, tuple[type, ...]] = {"join": (str, dict), **_NUMBERS}
"""Types of values for which a filter of Nunjucks fails."""


def jinja_differences(document: PromptDocument) -> Iterator[RuntimeDifference]:
    """Yield the constructs that a runtime lacks, and different renderings of sample values."""
    body = document.source.slice(document.body)
    template = read_template(body, document.body.start)
    program = template.program
    lacking: set[tuple[Span, Runtime]] = set()
    for found in construct_differences(program, body):
        yield found
        tag = program.tag_at(found.problem.span.start - program.base)
        if found.problem.code != "portable-text":
            lacking.update((tag, runtime) for runtime in found.runtimes)
    values = _sample_values(document)
    is_plain = all(isinstance(item, Literal | PlainExpression) for item in program.body)
    if not (is_plain and all(isinstance(value, str) for value in values.values())):
        yield from _rendered_differences(document, program, values, lacking)
    if isinstance(document.data.get("inputs"), str):
        return  # declared in another file
    known = {item.name for item in document.inputs if item.required or item.has_default}
    absent = {field.path[0] for field in template.fields} - known - RESERVED_SAMPLES.keys()
    values |= {name: Undefined(name=name, exc=AbsentError) for name in absent}
    for tag, code in RuntimeRunner(program, values, Python).given if absent else ():
        if code == "portable-lookup" and (tag, Runtime.CSHARP) not in lacking:
            message = "Without a value Python ends with an error here, TypeScript and C# do not."
            yield report(code, tag, BOTH, message)


def _rendered_differences(
    document: PromptDocument,
    program: Program,
    values: Mapping[str, Value],
    lacking: Collection[tuple[Span, Runtime]],
) -> Iterator[RuntimeDifference]:
    """Yield the tags that a runtime renders differently."""
    python, typescript, csharp = (
        RuntimeRunner(program, values, engine).given for engine in (Python, TypeScript, CSharp)
    )
    others = {Runtime.TYPESCRIPT: typescript, Runtime.CSHARP: csharp}
    for (tag, code), ours in python.items():
        pairs: dict[Runtime, tuple[str, str]] = {}
        for runtime, given in others.items():
            theirs = given.get((tag, code), [])
            is_comparable = len(ours) == len(theirs) and (tag, runtime) not in lacking
            if is_comparable and ours != theirs:
                both = zip(ours, theirs, strict=True)
                pairs[runtime] = next(pair for pair in both if pair[0] != pair[1])
        if pairs:
            yield _rendered(document, tag, code, pairs)


def _sample_values(document: PromptDocument) -> dict[str, Value]:
    """Return the values of a preview, with sample values for inputs without one."""
    shown = resolve_inputs(document, {}).shown
    values = {item.name: _SAMPLES[item.kind] for item in document.inputs if item.kind in _SAMPLES}
    rich = {item.name for item in document.inputs if item.kind in RICH_KINDS}
    return values | {
        name: value
        for name, value in shown.items()
        if name not in rich and not (isinstance(value, str) and value.startswith("${"))
    }


def _rendered(
    document: PromptDocument, tag: Span, code: str, pairs: Mapping[Runtime, tuple[str, str]]
) -> RuntimeDifference:
    """Return the difference at one tag, with the text of each runtime."""
    ours = next(iter(pairs.values()))[0]
    parts = [f"Python {_VERBS.get(code, 'writes')} {_said(ours, code)}"]
    for theirs in dict.fromkeys(pair[1] for pair in pairs.values()):
        same = frozenset(runtime for runtime in pairs if pairs[runtime][1] == theirs)
        parts.append(f"{names(same)} {_said(theirs, code)}")
    fixes = []
    if code == "portable-condition" and (bare := _BARE.match(document.source.text, tag.start)):
        edit = TextEdit(Span(bare.end(), bare.end()), " | length")
        fixes.append(Fix("Ask for its length", (edit,)))
    elif code == "portable-value" and ours not in ("None", "[]"):
        found_nothing = not ours or any(not pair[1] for pair in pairs.values())
        code = "portable-lookup" if found_nothing else code
    return report(code, tag, frozenset(pairs), f"{', '.join(parts)}.", *fixes)


def _said(text: str, code: str) -> str:
    if code in _VERBS or text == _ERROR:
        return text
    return repr(shortened(text, _LONGEST)) if text else "nothing"


class AbsentError(UndefinedError):
    """Raised for a field of an input without a value."""


class Python(Expressions):
    """Jinja2 as set up by `prompty`."""

    def text(self, value: Value) -> str:
        """Return the text of a value."""
        return str(value) if isinstance(value, bool | float | None) else super().text(value)


class TypeScript(Expressions):
    """Nunjucks 3.2 without calls: JavaScript's values, and filters only for texts."""

    def text(self, value: Value) -> str:
        """Return the text of a value in JavaScript."""
        return written(value) if isinstance(value, _DATA) else super().text(value)

    def attribute(self, target: Value, name: str) -> Value:
        """Return a field, or the length of a list."""
        is_length = isinstance(target, list) and name == "length"
        return len(target) if is_length else super().attribute(target, name)

    def call_filter(self, node: nodes.Filter, value: Value, scope: Scope) -> Value:
        """Apply a filter; some fail for other types of values."""
        if isinstance(value, _REFUSED.get(node.name, ())):
            raise TypeError
        return super().call_filter(node, value, scope)

    def _getitem(self, node: nodes.Getitem, scope: Scope) -> Value:
        """Return an item; negative indices and characters of a text do not exist."""
        missing = list if isinstance(node.arg, nodes.Neg) else str
        if isinstance(self.value(node.node, scope), missing):
            return self._environment.undefined()
        return super()._getitem(node, scope)


class CSharp(Expressions):
    """Prompty's Jinja Subset, which formats values as the studio does, except for lists."""

    def text(self, value: Value) -> str:
        """Return the text of a value in C#."""
        return "".join(map(self.text, value)) if isinstance(value, list) else super().text(value)


class RuntimeRunner(Runner):
    """A renderer that behaves like one runtime."""

    def __init__(
        self, program: Program, values: Mapping[str, Value], engine: type[Expressions]
    ) -> None:
        budget = Budget(_BOUNDS)
        super().__init__(program, budget, frozenset(), SegmentWriter(budget), FaultList(), engine)
        self._is_script = engine is TypeScript
        self.given: dict[tuple[Span, str], list[str]] = {}
        """Texts of each tag, by the tag and the code of a possible difference."""
        items = ((name, as_javascript(value)) for name, value in values.items())
        self.run(root_scope(items if self._is_script else values.items()))

    def _report(self, code: str, span: Span, given: str) -> None:
        self.given.setdefault((span, code), []).append(given)

    def _plain(self, statement: PlainExpression, scope: Scope) -> None:
        text = self._expressions.text(self._expressions.path(statement.path, scope))
        self._report("portable-value", statement.span, text)

    def _interpolate(self, expression: nodes.Expr, span: Span, scope: Scope) -> None:
        code = "portable-filter" if isinstance(expression, nodes.Filter) else "portable-value"
        try:
            text = self._expressions.text(self._expressions.value(expression, scope))
        except FAILURES:
            if self._is_script:
                self._report(code, span, _ERROR)
            raise
        self._report(code, span, text)

    def _statement(self, statement: Value, scope: Scope) -> None:
        try:
            super()._statement(statement, scope)
        except AbsentError:
            self._report("portable-lookup", self._span(statement), _ERROR)
            raise

    def _if(self, node: nodes.If, scope: Scope) -> None:
        for branch in (node, *node.elif_):
            value = self._expressions.value(branch.test, scope)
            given = "yes" if value else "no"
            if isinstance(value, list | dict):  # regardless of the number of items in this run
                given = ("yes" if self._is_script else "no") + _IF_EMPTY
            self._report("portable-condition", self._span(branch), given)
            if value:
                self._body(branch.body, scope)
                return
        self._body(node.else_, scope)

    def _loop(
        self, node: nodes.For, value: Value, source: str | None, scope: Scope, depth: int
    ) -> None:
        if isinstance(value, dict):
            both = "keys and values" if isinstance(node.target, nodes.Tuple) else "nothing"
            given = both if self._is_script else "keys"
            self._report("portable-statement", self._span(node), given)
        elif isinstance(value, list | range | str):
            value = value[:_MOST_ITEMS]
        super()._loop(node, value, source, scope, depth)
