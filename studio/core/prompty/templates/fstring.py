"""Render templates with `{name}`, the syntax of Python's format strings."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from studio.core.prompty.document import EACH, MOST_PARTS, FieldUse, Rendering, Variable
from studio.core.prompty.templates.jinja.failures import reason
from studio.core.prompty.templates.writer import (
    MOST_FAULTS,
    BoundExceededError,
    Bounds,
    Budget,
    FaultList,
    SegmentWriter,
    limit_problem,
    merge,
    plain_text,
    syntax_problem,
    value_problem,
)
from studio.core.text.source import Fix, Problem, Span, TextEdit
from studio.core.text.values import Json, JsonObject

_BRACE = re.compile(r"\{\{|\}\}|\{|\}")
_FIELD = re.compile(
    r"\{\s*(?P<root>[^\W\d]\w*)(?P<rest>(?:\.\w+|\[[^\[\]{}]*\])*)\s*"
    r"(?:!(?P<conversion>[rsa]))?(?::(?P<spec>[^{}]*))?\}"
)
_REFERENCE = re.compile(r"\$\{(?:env|file|params):[^{}\n]*\}", re.IGNORECASE)
"""Matches `${params:who}`: the author's text, not a placeholder with a format after a colon."""
_STEP = re.compile(r"\.(\w+)|\[([^\[\]]*)\]")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass(frozen=True, slots=True)
class _Field:
    root: str
    steps: tuple[str, ...]
    places: tuple[Span, ...]
    """Span of the name of each step."""
    conversion: str
    spec: str
    name: Span
    span: Span


def render_fstring(
    source: str, inputs: JsonObject, base: int, rich: frozenset[str], bounds: Bounds
) -> Rendering:
    """Render a format string; a brace that is no placeholder stays unchanged and is a problem."""
    budget, faults = Budget(bounds), FaultList()
    writer = SegmentWriter(budget)
    last = Span(base, base)
    try:
        for piece in _pieces(source, base):
            if isinstance(piece, Problem):
                faults.add(piece)
            elif isinstance(piece, _Field):
                last = piece.span
                budget.step()
                if piece.root in rich and not piece.steps:
                    writer.rich(piece.root, piece.span)
                else:
                    _put(piece, inputs, writer, faults, budget)
            else:
                writer.literal(*piece)
    except BoundExceededError as error:
        faults.add(limit_problem(str(error), last))
    return Rendering(merge(writer.segments), tuple(faults.problems))


def find_fstring_variables(
    source: str, base: int
) -> tuple[tuple[Variable, ...], tuple[Problem, ...]]:
    """Return the placeholders of a format string, and problems of other braces."""
    pieces = list(_pieces(source, base))
    return (
        tuple(Variable(p.root, p.name, p.span) for p in pieces if isinstance(p, _Field)),
        tuple(islice((piece for piece in pieces if isinstance(piece, Problem)), MOST_FAULTS)),
    )


def find_fstring_fields(source: str, base: int) -> tuple[FieldUse, ...]:
    """Return the fields in a format string's placeholders: `{customer.name}`, `{rows[0]}`."""
    found = []
    for piece in _pieces(source, base):
        if not isinstance(piece, _Field):
            continue
        path: tuple[str, ...] = (piece.root,)
        for step, place in islice(zip(piece.steps, piece.places, strict=True), MOST_PARTS):
            path = (*path, EACH if step.lstrip("-").isdecimal() else step)
            found.append(FieldUse(path, place, piece.span))
    return tuple(found)


def fstring_as_jinja(source: str) -> str | None:
    """Return a format string as a Jinja2 template; None if a placeholder has its own format."""
    pieces: list[tuple[str, bool]] = []
    for piece in _pieces(source, 0):
        if isinstance(piece, _Field):
            if piece.conversion or piece.spec:
                return None
            steps = (f"[{s}]" if s.lstrip("-").isdecimal() else f"[{s!r}]" for s in piece.steps)
            pieces.append((f"{{{{{piece.root}{''.join(steps)}}}}}", False))
        elif not isinstance(piece, Problem):
            pieces.append((piece[0], True))
    found: list[str] = []
    for index, (text, is_literal) in enumerate(pieces):
        following = pieces[index + 1][0][:1] if index + 1 < len(pieces) else ""
        found.append(_as_jinja_text(text, following) if is_literal else text)
    return "".join(found)


def _as_jinja_text(text: str, following: str) -> str:
    """Return literal text whose braces start no Jinja2 tag, given the following character."""
    tags = ("{", "%", "#")
    return "".join(
        "{{ '{' }}" if char == "{" and (text[at + 1 : at + 2] or following) in tags else char
        for at, char in enumerate(text)
    )


def _pieces(source: str, base: int) -> Iterator[tuple[str, Span] | _Field | Problem]:
    """Yield literal text with spans, placeholders and problems, in order."""
    position = 0
    while brace := _BRACE.search(source, position):
        reference = _REFERENCE.match(source, brace.start() - 1) if brace.start() else None
        if reference is not None and brace[0] == "{" and brace.start() > position:
            yield from _literals(source, position, reference.end(), base)
            position = reference.end()
            continue
        yield from _literals(source, position, brace.start(), base)
        position = brace.end()
        at = Span(brace.start() + base, position + base)
        if brace[0] in ("{{", "}}"):
            yield brace[0][0], at
            continue
        field = _FIELD.match(source, brace.start()) if brace[0] == "{" else None
        if field is not None:
            position = field.end()
            yield _read_field(field, base)
            continue
        yield _lone_brace(brace[0], at)
        yield brace[0], at
    yield from _literals(source, position, len(source), base)


def _literals(source: str, start: int, end: int, base: int) -> Iterator[tuple[str, Span]]:
    text = source[start:end]
    if "\r" not in text:
        if text:
            yield text, Span(start + base, end + base)
        return
    for line in _LINE.findall(text):
        at = Span(start + base, start + base + len(line))
        yield line.replace("\r\n", "\n").replace("\r", "\n"), at
        start += len(line)


def _read_field(field: re.Match[str], base: int) -> _Field:
    steps = list(_STEP.finditer(field["rest"]))
    return _Field(
        field["root"],
        tuple(step[1] or step[2] or "" for step in steps),
        tuple(
            Span(*step.span(step.lastindex or 0)).shift(field.start("rest") + base)
            for step in steps
        ),
        field["conversion"] or "",
        field["spec"] or "",
        Span(field.start("root") + base, field.end("root") + base),
        Span(field.start() + base, field.end() + base),
    )


def _lone_brace(brace: str, at: Span) -> Problem:
    return syntax_problem(
        f"this {brace!r} belongs to no placeholder; write {brace * 2!r} for a brace",
        at,
        (Fix(f"Write {brace * 2!r}", (TextEdit(at, brace * 2),)),),
    )


def _put(
    field: _Field,
    inputs: JsonObject,
    writer: SegmentWriter,
    faults: FaultList,
    budget: Budget,
) -> None:
    value: Json = inputs.get(field.root)
    for step in field.steps:
        value = _step(value, step)
    source = field.root if field.root in inputs else None
    try:
        text = _text(value, field, budget)
    except (ValueError, TypeError, RecursionError) as error:
        faults.add(value_problem(reason(error), field.span))
        return
    writer.value(text, field.span, source)


def _step(value: Json, step: str) -> Json:
    if isinstance(value, Mapping):
        return value.get(step)
    if isinstance(value, list | tuple) and step.lstrip("-").isdecimal():
        index = int(step[:10])
        return value[index] if -len(value) <= index < len(value) else None
    return None


def _text(value: Json, field: _Field, budget: Budget) -> str:
    if field.spec:
        for digits in re.findall(r"\d+", field.spec):
            budget.expect(int(digits[:9]))
    if field.conversion in ("r", "a") and value is not None:
        return format(repr(value) if field.conversion == "r" else ascii(value), field.spec)
    if not field.spec or value is None or isinstance(value, bool | str):
        return format(plain_text(value), field.spec)
    return format(value, field.spec)
