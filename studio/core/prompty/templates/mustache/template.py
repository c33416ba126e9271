"""Mustache templates (spec 1.1 without partials), rendered into segments.

chevron reads and renders the same language, and is what the tests compare with; but it forgets
offsets, keeps its place in module globals (two threads would mix), and cuts the rest of the
template anew at each tag.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from studio.core.prompty.document import MOST_PARTS, FieldUse, Variable
from studio.core.prompty.rendering import Rendering
from studio.core.prompty.templates.bounds import BoundExceededError, Bounds, Budget
from studio.core.prompty.templates.faults import FaultList, escaped_hint, limit_problem
from studio.core.prompty.templates.mustache.tags import (
    MustacheVariable,
    Section,
    Text,
    read_mustache,
)
from studio.core.prompty.templates.writer import SegmentWriter, merge, plain_text
from studio.core.text.problem import Problem
from studio.core.text.span import Span
from studio.core.text.values import Json

_MISSING = object()
_ESCAPES = str.maketrans({"&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;"})


def render_mustache(
    source: str, inputs: Mapping[str, Json], base: int, rich: frozenset[str], bounds: Bounds
) -> Rendering:
    """Render a mustache template; `{{name}}` escapes HTML, `{{{name}}}` and `{{&name}}` do not."""
    body, problems = read_mustache(source, base)
    budget, faults = Budget(bounds), FaultList()
    for problem in problems:
        faults.add(problem)
    writer = SegmentWriter(budget)
    run = _Run(inputs, rich, writer, faults, budget)
    try:
        run.body(body)
    except BoundExceededError as error:
        faults.add(limit_problem(str(error), run.current))
    except RecursionError:
        faults.add(limit_problem("its sections are nested too deeply", run.current))
    return Rendering(merge(writer.segments), tuple(faults.problems))


def find_mustache_variables(
    source: str, base: int
) -> tuple[tuple[Variable, ...], tuple[Problem, ...]]:
    """Names that a template reads; inside a section they may belong to its items."""
    body, problems = read_mustache(source, base)
    found: list[Variable] = []
    open_: list[tuple[Sequence[Text | MustacheVariable | Section], bool]] = [(body, True)]
    while open_:
        items, certain = open_.pop()
        for item in items:
            if isinstance(item, Text):
                continue
            root = item.key.split(".")[0]
            if root:
                name = Span(item.name.start, item.name.start + len(root))
                found.append(Variable(root, name, item.span, certain))
            if isinstance(item, Section):
                open_.append((item.body, certain and item.inverted))
    return tuple(sorted(found, key=lambda variable: variable.span.start)), problems


def find_mustache_fields(source: str, base: int) -> tuple[FieldUse, ...]:
    """Fields of dotted names outside sections, where their root is an input for certain."""
    body, _ = read_mustache(source, base)
    found = []
    for item in body:
        if not isinstance(item, MustacheVariable):
            continue
        path = tuple(item.key.split(".", MOST_PARTS)[:MOST_PARTS])
        at = item.name.start
        for count, name in enumerate(path, 1):
            if count > 1 and all(path[:count]):
                place = Span(at, at + len(name))
                found.append(FieldUse(path[:count], place, item.span))
            at += len(name) + 1
    return tuple(found)


class _Run:
    def __init__(
        self,
        inputs: Mapping[str, Json],
        rich: frozenset[str],
        writer: SegmentWriter,
        faults: FaultList,
        budget: Budget,
    ) -> None:
        self._inputs = inputs
        self._rich = rich
        self._writer = writer
        self._faults = faults
        self._budget = budget
        self._scopes: list[tuple[Json, str | None]] = []
        """Values of the open sections, the innermost last, with the inputs they came from."""
        self.current = Span(0, 0)

    def body(self, body: Sequence[Text | MustacheVariable | Section]) -> None:
        for item in body:
            match item:
                case Text(text, span):
                    self._writer.literal(text, span)
                case MustacheVariable():
                    self._put(item)
                case Section():
                    self._section(item)

    def _put(self, item: MustacheVariable) -> None:
        self._step(item.span)
        value, source = self._find(item.key)
        if item.key in self._rich and (source == item.key or value is _MISSING):
            self._writer.rich(item.key, item.span)
            return
        if value is _MISSING:
            return
        if isinstance(value, list | tuple | dict):
            self._budget.weigh(value)
        text = plain_text(value)
        if item.escapes:
            escaped = text.translate(_ESCAPES)
            if escaped != text:
                self._faults.add(escaped_hint(item.key, item.span))
            text = escaped
        self._writer.value(text, item.span, source)

    def _section(self, item: Section) -> None:
        self._step(item.span)
        value, source = self._find(item.key)
        holds = value is not _MISSING and bool(value)
        if item.inverted:
            if not holds:
                self.body(item.body)
            return
        if not holds:
            return
        values = value if isinstance(value, list | tuple) else (value,)
        for each in values:
            self._step(item.span)
            self._scopes.append((each, source))
            try:
                self.body(item.body)
            finally:
                self._scopes.pop()

    def _step(self, span: Span) -> None:
        self.current = span
        self._budget.step()

    def _find(self, key: str) -> tuple[object, str | None]:
        """The value of a key in the innermost section that has it, and its input."""
        if key == ".":
            return self._scopes[-1] if self._scopes else (_MISSING, None)
        path = key.split(".")
        for scope, source in reversed(self._scopes):
            value = _walk(scope, path)
            if value is not _MISSING:
                return value, source
        return _walk(self._inputs, path), path[0] if path[0] in self._inputs else None


def _walk(value: object, path: Sequence[str]) -> object:
    for step in path:
        if isinstance(value, Mapping):
            value = value.get(step, _MISSING)
        elif isinstance(value, list | tuple) and step.isdecimal() and len(step) < 10:
            value = value[int(step)] if int(step) < len(value) else _MISSING
        else:
            return _MISSING
        if value is _MISSING:
            return value
    return value
