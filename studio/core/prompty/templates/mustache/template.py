"""Mustache templates (spec 1.1 without partials), parsed and rendered into segments.

chevron has the same language and is compared in tests; but it has no offsets, stores its position
in module globals (two threads would conflict), and copies the rest of the template at each tag.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from studio.core.prompty.document import MOST_PARTS, FieldUse, Rendering, Variable
from studio.core.prompty.templates.writer import (
    MOST_FAULTS,
    UNSUPPORTED,
    BoundExceededError,
    Bounds,
    Budget,
    FaultList,
    SegmentWriter,
    escaped_hint,
    limit_problem,
    merge,
    plain_text,
    syntax_problem,
)
from studio.core.text.source import Fix, Problem, Severity, Span, TextEdit
from studio.core.text.values import Json, JsonObject

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_NAME = re.compile(r"[\w.]*")
_BLANK_TO_LINE_END = re.compile(r"[ \t]*(?:\r\n|\r|\n|\Z)")
_STANDALONE = frozenset("#^/!=>")


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the author's text."""

    text: str
    """Text as rendered, with LF line breaks."""

    span: Span
    """Span in the document."""


@dataclass(frozen=True, slots=True)
class MustacheVariable:
    """A `{{key}}`."""

    key: str
    """Dotted name, or `.` for the item itself."""

    name: Span
    """Span of the key."""

    span: Span
    """Span of the whole tag."""

    escapes: bool
    """Whether HTML characters are escaped."""


@dataclass(frozen=True, slots=True)
class Section:
    """A `{{#key}} … {{/key}}`."""

    key: str
    """Dotted name."""

    name: Span
    """Span of the key."""

    span: Span
    """Span of the opening tag."""

    inverted: bool
    """Whether it is a `{{^key}}`."""

    body: list[Text | MustacheVariable | Section] = field(default_factory=list)
    """Content of the section."""


@dataclass(slots=True)
class _Tag:
    sigil: str
    key: str
    key_start: int
    start: int
    end: int
    goes_on: bool = False  # into the next tag, because its own end is missing


def read_mustache(
    source: str, base: int
) -> tuple[list[Text | MustacheVariable | Section], tuple[Problem, ...]]:
    """Parse a template; errors become problems, and the rest is parsed as well as possible."""
    problems: list[Problem] = []
    root: list[Text | MustacheVariable | Section] = []
    open_: list[Section] = []
    pieces = list(_pieces(source, base, problems))
    closed = {each.key: each.end for each in pieces if isinstance(each, _Tag) and each.sigil == "/"}
    for piece in pieces:
        body = open_[-1].body if open_ else root
        if isinstance(piece, Text):
            body.append(piece)
            continue
        span = Span(piece.start + base, piece.end + base)
        name = Span(piece.key_start, piece.key_start + len(piece.key)).shift(base)
        if piece.sigil in ("#", "^"):
            section = Section(piece.key, name, span, piece.sigil == "^")
            body.append(section)
            open_.append(section)
        elif piece.sigil == "/":
            is_last = bool(open_) and closed.get(open_[-1].key, 0) <= piece.end
            _close(piece.key, span, open_, problems, name if is_last else None)
        elif piece.sigil == ">":
            message = (
                f"The partial {piece.key!r} is another template file, and a prompt is one file: it "
                "renders as nothing."
            )
            problems.append(Problem(UNSUPPORTED, Severity.WARNING, message, span))
        elif piece.sigil not in ("!", "="):
            body.append(MustacheVariable(piece.key, name, span, not piece.sigil))
    for section in open_:
        message = f"this section is never closed by '{{{{/{section.key}}}}}'"
        problems.append(syntax_problem(message, section.span))
    return root, tuple(problems[:MOST_FAULTS])


def _close(
    key: str, span: Span, open_: list[Section], problems: list[Problem], name: Span | None
) -> None:
    """Close a section.

    Args:
        key: the name in the closing tag.
        span: the tag.
        open_: the open sections, the innermost last.
        problems: receives the errors.
        name: span of the name, if no later tag closes the innermost section.
    """
    if open_ and open_[-1].key == key:
        open_.pop()
        return
    if name is not None and not any(section.key == key for section in open_):
        wanted = open_.pop().key
        fix = Fix(f"Change to {wanted!r}", (TextEdit(name, wanted),))
        message = f"{key!r} is closed here, but {wanted!r} is open"
        problems.append(syntax_problem(message, name, (fix,)))
        return
    if not any(section.key == key for section in open_):
        problems.append(syntax_problem(f"{key!r} is closed here and was not opened", span))
        return
    while open_[-1].key != key:
        left = open_.pop()
        message = f"this section must be closed before {key!r} is"
        problems.append(syntax_problem(message, left.span))
    open_.pop()


def _pieces(source: str, base: int, problems: list[Problem]) -> Iterator[Text | _Tag]:
    left, right = "{{", "}}"
    position = 0
    ends: dict[str, int] = {}
    while (start := source.find(left, position)) >= 0:
        tag = _tag(source, start, left, right, ends)
        if tag is None:
            message = f"this tag is never closed by {right!r}"
            problems.append(syntax_problem(message, Span(start, start + len(left)).shift(base)))
            break
        if tag.goes_on:
            problems.append(_unclosed(source, tag, right, base))
            yield from _texts(source, position, start + len(left), base)
            position = start + len(left)
            continue
        text_end, next_position = _around(source, tag, position)
        yield from _texts(source, position, text_end, base)
        if tag.sigil == "=":
            marks = tag.key.split()
            if len(marks) == 2 and "=" not in tag.key:
                left, right = marks
            else:
                message = "a change of delimiters is written {{=<% %>=}}"
                problems.append(syntax_problem(message, Span(tag.start, tag.end).shift(base)))
        yield tag
        position = next_position
    yield from _texts(source, position, len(source), base)


def _unclosed(source: str, tag: _Tag, right: str, base: int) -> Problem:
    """Report a tag without its end, which continues into the next one."""
    word = _NAME.match(source, tag.key_start)
    end = word.end() if word is not None else tag.key_start
    half = Span(end, end + (source[end : end + 1] == right[:1]))
    fix = Fix(f"Close it with {right}", (TextEdit(half.shift(base), right),))
    message = f"this tag is never closed by {right!r}"
    return syntax_problem(message, Span(tag.start, end).shift(base), (fix,))


def _tag(source: str, start: int, left: str, right: str, ends: dict[str, int]) -> _Tag | None:
    """Parse the tag at the offset; None if it is not closed.

    Args:
        source: the template.
        start: start of the tag.
        left: the opening delimiter.
        right: the closing delimiter.
        ends: cache of the last offset of each closing delimiter.
    """
    inner = start + len(left)
    sigil = source[inner : inner + 1]
    if sigil not in ("!", "#", "^", "/", ">", "=", "{", "&"):
        sigil = ""
    closing = {"{": "}", "=": "="}.get(sigil, "") + right
    at = inner + len(sigil)
    if closing not in ends:
        ends[closing] = source.rfind(closing)
    if ends[closing] < at:
        return None
    following = -1 if sigil in ("!", "=") else source.find(left, at)
    limit = len(source) if following < 0 else following + len(left) + len(closing)
    end = source.find(closing, at, limit)
    goes_on = end < 0 or 0 <= following <= end - len(left)
    raw = source[at : following if goes_on else end]
    return _Tag(
        sigil, raw.strip(), at + len(raw) - len(raw.lstrip()), start, end + len(closing), goes_on
    )


def _around(source: str, tag: _Tag, position: int) -> tuple[int, int]:
    """Return the end of the text before a tag, and the start of the text after it.

    A tag without output removes its whole line if it is alone on it.
    """
    if tag.sigil not in _STANDALONE:
        return tag.start, tag.end
    line = max(source.rfind("\n", 0, tag.start), source.rfind("\r", 0, tag.start)) + 1
    behind = _BLANK_TO_LINE_END.match(source, tag.end)
    if line < position or source[line : tag.start].strip(" \t") or behind is None:
        return tag.start, tag.end
    return line, behind.end()


def _texts(source: str, start: int, end: int, base: int) -> Iterator[Text]:
    text = source[start:end]
    if "\r" not in text:
        if text:
            yield Text(text, Span(start + base, end + base))
        return
    for line in _LINE.findall(text):
        at = Span(start + base, start + base + len(line))
        yield Text(line.replace("\r\n", "\n").replace("\r", "\n"), at)
        start += len(line)


_MISSING = object()
_ESCAPES = str.maketrans({"&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;"})


def render_mustache(
    source: str, inputs: JsonObject, base: int, rich: frozenset[str], bounds: Bounds
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
    """Return the names that a template uses; inside a section they may belong to its items."""
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
    """Return fields of dotted names outside sections, whose root is certainly an input."""
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
        inputs: JsonObject,
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
        """Values of the open sections, the innermost last, with their inputs."""
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
        for each in value if isinstance(value, list | tuple) else (value,):
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
        """Return the value of a key in the innermost section that has it, and its input."""
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
