"""Collects segments and problems, with their places, while a template renders."""

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
"""The template cannot be read."""

UNKNOWN_FILTER = "unknown-filter"
"""A Jinja filter that does not exist."""

UNKNOWN_TEST = "unknown-test"
"""A Jinja test that does not exist."""

LIMIT = "template-limit"
"""A bound was reached."""

VALUE = "template-value"
"""An expression cannot be worked out with these inputs."""

UNSUPPORTED = "template-unsupported"
"""A construct that a prompt file cannot have."""

ESCAPED = "template-escaped"
"""Mustache has escaped characters of a value as HTML."""

MOST_FAULTS = 100

_OTHER_NAMES = resource_table("words", "terms.txt")["other_names"]
"""Filters and tests of other template languages by what they are here."""
_NOT_HERE = frozenset(("fromjson", "from_json", "json_loads", "strftime"))
"""Filters of other programs that do not exist here, though a name is similar."""


def syntax_problem(message: str, span: Span, fixes: tuple[Fix, ...] = ()) -> Problem:
    """Return the problem of a template that cannot be read."""
    return Problem(SYNTAX, Severity.ERROR, _sentence(message), span, fixes)


def limit_problem(reason: str, span: Span) -> Problem:
    """Return the problem of a bound that was reached."""
    return Problem(LIMIT, Severity.ERROR, f"The template was stopped: {reason}.", span)


def value_problem(message: str, span: Span) -> Problem:
    """Return the problem of an expression that cannot be worked out."""
    return Problem(VALUE, Severity.ERROR, _sentence(message), span)


def key_problem(name: str, mapping: str, field: str, span: Span) -> Problem:
    """Return the problem of a loop over an object: it gives keys, which have no fields."""
    return Problem(
        VALUE,
        Severity.WARNING,
        f"{name!r} is a text (a key of {mapping!r}) and has no field {field!r}, so nothing is put "
        f"in; loop over a list, or over {mapping}.values().",
        span,
    )


def unsupported_problem(message: str, span: Span) -> Problem:
    """Return the problem of a construct that a prompt file cannot have."""
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
    """Return the hint that Mustache escapes a value's characters; three braces leave them alone."""
    return Problem(
        ESCAPED,
        Severity.HINT,
        f"Mustache escapes {key!r} as HTML here; three braces put it in as it is.",
        span,
        (Fix("Use three braces", (TextEdit(span, f"{{{{{{{key}}}}}}}"),)),),
    )


class FaultList:
    """Problems found while rendering; one that a loop repeats is kept once."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._seen: set[tuple[str, str, Span]] = set()

    def add(self, problem: Problem) -> None:
        """Keep a problem, unless it is there already or there are too many."""
        key = (problem.code, problem.message, problem.span)
        if key not in self._seen and len(self.problems) < MOST_FAULTS:
            self._seen.add(key)
            self.problems.append(problem)


def _sentence(message: str) -> str:
    message = " ".join(message.split())
    if message[:1].islower():
        message = message[0].upper() + message[1:]
    return message if message.endswith((".", "?", "!")) else message + "."


# How much a template may do: no template can hang the studio or eat its memory.

_LEAST = 25
_LEAVES = frozenset((str, int, float, bool, type(None)))


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of one rendering; going over one is a problem, never a hang or a crash."""

    template: int = 5_000_000
    """Length of the template in code points."""

    output: int = 5_000_000
    """Length of the rendered text in code points."""

    value: int = 1_000_000
    """Length of any text, and number of items in any list, that an expression makes."""

    work: int = 10_000_000
    """Code points and items that all expressions together may make."""

    steps: int = 1_000_000
    """Statements run, loop iterations counted each time."""

    depth: int = 50
    """Calls of macros and recursive loops inside each other."""

    seconds: float = 2.0
    """Processor time of the thread that renders: a busy machine changes no result."""


DEFAULT_BOUNDS = Bounds()


class BoundExceededError(Exception):
    """A bound was reached; the text names it for the user."""


class Budget:
    """The rest of the bounds while one template renders."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self._steps = bounds.steps
        self._work = bounds.work
        self._output = bounds.output
        self._end = time.thread_time() + bounds.seconds
        self._until_clock = 64

    def step(self) -> None:
        """Count one statement; the clock is read at every 64th."""
        self._steps -= 1
        if self._steps < 0:
            raise BoundExceededError(f"it runs more than {self.bounds.steps:,} steps")
        self._until_clock -= 1
        if self._until_clock <= 0:
            self._until_clock = 64
            self.check_time()

    def check_time(self) -> None:
        """Stop when the time is over."""
        if time.thread_time() > self._end:
            raise BoundExceededError(f"it takes longer than {self.bounds.seconds:g} seconds")

    def write(self, length: int) -> None:
        """Count `length` code points of output; a short piece costs more than its text."""
        self._output -= max(length, _LEAST)
        if self._output < 0:
            raise BoundExceededError(f"its output is longer than {self.bounds.output:,} characters")

    def expect(self, size: int) -> None:
        """Refuse a value of `size` code points or items before it is made."""
        if size > self.bounds.value:
            raise BoundExceededError(f"an expression makes a value of {size:,} characters or items")

    def expect_text(self, value: object, more: int = 0) -> None:
        """Refuse the text of a value, and `more` code points around it, before it is made."""
        self.expect(more + self.weigh_text(value))

    def charge(self, value: object) -> None:
        """Count a value that an expression has made."""
        if isinstance(value, str):
            size = len(value)
        elif isinstance(value, list | tuple | dict | set | frozenset):
            size = self.weigh(value)
        else:
            return
        self.expect(size)
        self._work -= size
        if self._work < 0:
            raise BoundExceededError("its expressions make too many values")
        self._until_clock -= 1 + size // 1_000

    def weigh(self, value: object) -> int:
        """Return the items of a value with all that is in it, each as often as it appears.

        Lists that hold one list twice double with every level while taking no memory, until they
        are printed or compared; so they are weighed where they are made.
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
                    f"a list or mapping holds more than {self.bounds.value:,} items"
                )
        return weight

    def weigh_text(self, value: object) -> int:
        """Return about how many code points the text of a value has, with all that is in it.

        A list that holds one long text a thousand times is small; its text is not.

        Raises:
            BoundExceededError: it has more than any value may have.
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
                        f"an expression makes a text of over {self.bounds.value:,} characters"
                    )
        return weight - 1


class RenderedText(str):
    """Text that was rendered by a part of the same template and still knows its segments.

    What a macro or a `{% set %}` block makes is put in as the author's own text, not as a value.
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
        """The first input that went in."""
        return next((piece.input for piece in self.segments if piece.input), None)


class SegmentWriter:
    """The segments so far, within the budget of the rendering."""

    def __init__(self, budget: Budget) -> None:
        self.segments: list[Segment] = []
        self._budget = budget

    def literal(self, text: str, span: Span) -> None:
        """Add the author's own text."""
        self._budget.write(len(text))
        self.segments.append(Segment("literal", text, span))

    def value(self, text: str, span: Span, source: str | None) -> None:
        """Add a value's text; one that still knows its segments brings them along."""
        if not text:
            return
        self._budget.write(len(text))
        if isinstance(text, RenderedText):
            self.segments.extend(text.segments)
        else:
            self.segments.append(Segment("value", text, span, source))

    def rich(self, name: str, span: Span) -> None:
        """Add the place of a whole thread, image, file or audio input."""
        text = rich_placeholder(name)
        self._budget.write(len(text))
        self.segments.append(Segment("rich", text, span, name))

    def begin(self) -> list[Segment]:
        """Write elsewhere from now on; hand the result to `end`."""
        held = self.segments
        self.segments = []
        return held

    def end(self, held: list[Segment]) -> RenderedText:
        """Return the text since `begin`, and continue at its place."""
        rendered = RenderedText(self.segments)
        self.segments = held
        return rendered


def rich_placeholder(name: str) -> str:
    """Return the placeholder of a rich input (Prompty spec §5.3, vectors: eight hex digits).

    Nothing reads it back, since segments say what is rich; so it need not be random.
    """
    return f"__PROMPTY_THREAD_{zlib.crc32(name.encode('utf-8', 'surrogatepass')):08x}_{name}__"


def plain_text(value: object) -> str:
    """Return a value's text in a prompt, for every template language.

    Booleans and null are `true`, `false` and empty, and a whole float has no fraction (Prompty's
    Jinja subset §5); everything else is as Python writes it.
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
    except ValueError:  # Python writes no integer of more than 4,300 digits
        return "(a number of more than 4,300 digits)"


def merge(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """Return segments without the empty ones."""
    return tuple(segment for segment in segments if segment.text)


# The place of a value that was not read, as a template sees it.


class UnreadText(str):
    """A reference whose value is not known here, such as `${file:products.json}` before trust.

    Whatever a template takes of it, an item or a field, is the reference again: nothing is known
    of the value, so nothing is wrong with how the template reads it.
    """

    __slots__ = ()

    def __iter__(self) -> Iterator[str]:
        """Yield the reference as the one item."""
        yield self
