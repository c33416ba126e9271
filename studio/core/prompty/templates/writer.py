"""Collect segments and problems while a template renders, within limits."""

from __future__ import annotations

import time
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from studio.core.paths import resource_table
from studio.core.prompty.document import Segment
from studio.core.text.naming import nearest
from studio.core.text.source import Fix, Problem, Severity, Span, TextEdit

SYNTAX = "template-syntax"
"""Code: the template cannot be parsed."""

UNKNOWN_FILTER = "unknown-filter"
"""Code: a Jinja filter does not exist."""

UNKNOWN_TEST = "unknown-test"
"""Code: a Jinja test does not exist."""

LIMIT = "template-limit"
"""Code: a limit is reached."""

VALUE = "template-value"
"""Code: an expression fails with these inputs."""

UNSUPPORTED = "template-unsupported"
"""Code: a construct is not allowed in a prompt file."""

ESCAPED = "template-escaped"
"""Code: Mustache has escaped characters of a value as HTML."""

MOST_FAULTS = 100

_OTHER_NAMES = resource_table("words", "terms.txt")["other_names"]
"""Filters and tests of other template languages, with the equivalent here."""
_NOT_HERE = frozenset(("fromjson", "from_json", "json_loads", "strftime"))
"""Filters of other programs that do not exist here, though a similar name does."""


def syntax_problem(message: str, span: Span, fixes: tuple[Fix, ...] = ()) -> Problem:
    """Return the problem of a template that cannot be parsed."""
    return Problem(SYNTAX, Severity.ERROR, _sentence(message), span, fixes)


def limit_problem(reason: str, span: Span) -> Problem:
    """Return the problem of a limit that was reached."""
    return Problem(LIMIT, Severity.ERROR, f"The template was stopped: {reason}.", span)


def value_problem(message: str, span: Span) -> Problem:
    """Return the problem of an expression that fails."""
    return Problem(VALUE, Severity.ERROR, _sentence(message), span)


def key_problem(name: str, mapping: str, field: str, span: Span) -> Problem:
    """Return the problem of a loop over an object, whose keys have no fields."""
    return Problem(
        VALUE,
        Severity.WARNING,
        f"{name!r} is a text (a key of {mapping!r}) and has no field {field!r}, so nothing is "
        f"inserted; loop over a list, or over {mapping}.values().",
        span,
    )


def unsupported_problem(message: str, span: Span) -> Problem:
    """Return the problem of a construct that is not allowed in a prompt file."""
    return Problem(UNSUPPORTED, Severity.ERROR, message, span)


def unknown_name_problem(
    code: str, what: str, name: str, known: Collection[str], at: Span
) -> Problem:
    """Return the problem of an unknown filter or test, with the nearest known name as a fix."""
    other = _OTHER_NAMES.get(name.lower(), "")
    is_foreign = name.lower() in _NOT_HERE
    near = other if other in known else "" if is_foreign else nearest(name, sorted(known))
    if not near:
        return Problem(code, Severity.ERROR, f"There is no {what} named {name!r}.", at)
    return Problem(
        code,
        Severity.ERROR,
        f"There is no {what} named {name!r}; did you mean {near!r}?",
        at,
        (Fix(f"Change to {near!r}", (TextEdit(at, near),)),),
    )


def escaped_hint(key: str, span: Span) -> Problem:
    """Return the hint that Mustache escapes a value's characters, unlike triple braces."""
    return Problem(
        ESCAPED,
        Severity.HINT,
        f"Mustache escapes {key!r} as HTML here; three braces insert it unchanged.",
        span,
        (Fix("Use three braces", (TextEdit(span, f"{{{{{{{key}}}}}}}"),)),),
    )


class FaultList:
    """Problems of rendering; one that a loop repeats is stored once."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._seen: set[tuple[str, str, Span]] = set()

    def add(self, problem: Problem) -> None:
        """Add a problem, unless it exists already or there are too many."""
        key = (problem.code, problem.message, problem.span)
        if key not in self._seen and len(self.problems) < MOST_FAULTS:
            self._seen.add(key)
            self.problems.append(problem)


def _sentence(message: str) -> str:
    message = " ".join(message.split())
    if message[:1].islower():
        message = message[0].upper() + message[1:]
    return message if message.endswith((".", "?", "!")) else message + "."


# The limits of a template, so that none can block the studio or exhaust its memory.

_LEAST = 25
_LEAVES = frozenset((str, int, float, bool, type(None)))


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of one rendering; exceeding one is a problem, never a hang or a crash."""

    template: int = 5_000_000
    """Maximum length of the template, in code points."""

    output: int = 5_000_000
    """Maximum length of the rendered text, in code points."""

    value: int = 1_000_000
    """Maximum length of any text, and number of items of any list, from an expression."""

    work: int = 10_000_000
    """Maximum number of code points and items from all expressions together."""

    steps: int = 1_000_000
    """Maximum number of statements run, including loop iterations."""

    depth: int = 50
    """Maximum depth of nested macro calls and recursive loops."""

    seconds: float = 2.0
    """Maximum processor time of the rendering thread in seconds, independent of other load."""


DEFAULT_BOUNDS = Bounds()


class BoundExceededError(Exception):
    """Raised when a limit is reached; the text names it for the user."""


class Budget:
    """The remaining limits while one template renders."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self._steps = bounds.steps
        self._work = bounds.work
        self._output = bounds.output
        self._end = time.thread_time() + bounds.seconds
        self._until_clock = 64

    def step(self) -> None:
        """Count one statement; check the time at every 64th."""
        self._steps -= 1
        if self._steps < 0:
            raise BoundExceededError(f"it runs more than {self.bounds.steps:,} steps")
        self._until_clock -= 1
        if self._until_clock <= 0:
            self._until_clock = 64
            self.check_time()

    def check_time(self) -> None:
        """Raise an error when the time is used up."""
        if time.thread_time() > self._end:
            raise BoundExceededError(f"it takes longer than {self.bounds.seconds:g} seconds")

    def write(self, length: int) -> None:
        """Count `length` code points of output; a short piece counts more than its length."""
        self._output -= max(length, _LEAST)
        if self._output < 0:
            raise BoundExceededError(f"its output is longer than {self.bounds.output:,} characters")

    def expect(self, size: int) -> None:
        """Refuse a value of `size` code points or items before it is created."""
        if size > self.bounds.value:
            raise BoundExceededError(
                f"an expression creates a value of {size:,} characters or items"
            )

    def expect_text(self, value: object, more: int = 0) -> None:
        """Refuse the text of a value, plus `more` code points, before it is created."""
        self.expect(more + self.weigh_text(value))

    def charge(self, value: object) -> None:
        """Count a value from an expression."""
        if isinstance(value, str):
            size = len(value)
        elif isinstance(value, list | tuple | dict | set | frozenset):
            size = self.weigh(value)
        else:
            return
        self.expect(size)
        self._work -= size
        if self._work < 0:
            raise BoundExceededError("its expressions create too many values")
        self._until_clock -= 1 + size // 1_000

    def weigh(self, value: object) -> int:
        """Return the number of items in a value at all levels, each as often as it appears.

        Lists that contain one list twice double with every level without using memory, until they
        are printed or compared; so they are counted when they are created.
        """
        weight = 0
        open_: list[Iterable[object]] = [(value,)]
        while open_:
            for item in open_.pop():
                weight += 1
                kind = type(item)
                if kind in _LEAVES:
                    continue
                if kind is dict or isinstance(item, Mapping):
                    open_.append(item.values())  # type: ignore[attr-defined]
                elif isinstance(item, list | tuple | set | frozenset):
                    open_.append(item)
            if weight > self.bounds.value:
                raise BoundExceededError(
                    f"a list or mapping contains more than {self.bounds.value:,} items"
                )
        return weight

    def weigh_text(self, value: object) -> int:
        """Return the approximate number of code points of a value's text.

        A list with one long text a thousand times is small, but its text is not.

        Raises:
            BoundExceededError: the limit for a value is exceeded.
        """
        weight = 0
        open_: list[Iterable[object]] = [(value,)]
        while open_:
            for item in open_.pop():
                weight += 1
                if isinstance(item, str | bytes):
                    weight += len(item)
                elif isinstance(item, int):
                    weight += item.bit_length() // 3
                elif isinstance(item, Mapping):
                    open_ += [item.keys(), item.values()]
                elif isinstance(item, list | tuple | set | frozenset):
                    open_.append(item)
                if weight > self.bounds.value + 1:
                    raise BoundExceededError(
                        f"an expression creates a text of over {self.bounds.value:,} characters"
                    )
        return weight - 1


class RenderedText(str):
    """Text rendered by a part of the same template, which keeps its segments.

    The text of a macro or a `{% set %}` block is inserted as the author's text, not as a value.
    """

    segments: tuple[Segment, ...]
    __slots__ = ("segments",)

    def __new__(cls, segments: Iterable[Segment]) -> RenderedText:
        """Join the segments' texts."""
        pieces = tuple(segments)
        made = super().__new__(cls, "".join(piece.text for piece in pieces))
        made.segments = pieces
        return made

    @property
    def input(self) -> str | None:
        """The first input used in the text."""
        return next((piece.input for piece in self.segments if piece.input), None)


class SegmentWriter:
    """The segments so far, within the limits of the rendering."""

    def __init__(self, budget: Budget) -> None:
        self.segments: list[Segment] = []
        self._budget = budget

    def literal(self, text: str, span: Span) -> None:
        """Add the author's text."""
        self._budget.write(len(text))
        self.segments.append(Segment("literal", text, span))

    def value(self, text: str, span: Span, source: str | None) -> None:
        """Add a value's text; rendered text adds its segments."""
        if not text:
            return
        self._budget.write(len(text))
        if isinstance(text, RenderedText):
            self.segments.extend(text.segments)
        else:
            self.segments.append(Segment("value", text, span, source))

    def rich(self, name: str, span: Span) -> None:
        """Add the placeholder of a whole thread, image, file or audio input."""
        text = rich_placeholder(name)
        self._budget.write(len(text))
        self.segments.append(Segment("rich", text, span, name))

    def begin(self) -> list[Segment]:
        """Redirect the output from now on; pass the result to `end`."""
        held = self.segments
        self.segments = []
        return held

    def end(self, held: list[Segment]) -> RenderedText:
        """Return the text since `begin`, and restore the output."""
        rendered = RenderedText(self.segments)
        self.segments = held
        return rendered


def rich_placeholder(name: str) -> str:
    """Return the placeholder of a rich input (Prompty spec §5.3, vectors: eight hex digits).

    It need not be random, since segments mark rich inputs and nothing reads it back.
    """
    return f"__PROMPTY_THREAD_{zlib.crc32(name.encode('utf-8', 'surrogatepass')):08x}_{name}__"


def plain_text(value: object) -> str:
    """Return a value's text in a prompt, for all template languages.

    Booleans and null are `true`, `false` and empty, and a whole float has no fraction (Prompty's
    Jinja subset §5); other values have Python's text.
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e16:
        return str(int(value))
    try:
        return str(value)
    except ValueError:  # Python prints no integer of more than 4,300 digits
        return "(a number of more than 4,300 digits)"


def merge(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """Return segments without the empty ones."""
    return tuple(segment for segment in segments if segment.text)


# The placeholder of an unread value in a template.


class UnreadText(str):
    """A reference with an unknown value, such as `${file:products.json}` before trust.

    Each item or field of it is the reference again: since the value is unknown, no use of it is an
    error.
    """

    __slots__ = ()

    def __iter__(self) -> Iterator[str]:
        """Yield the reference as the only item."""
        yield self
