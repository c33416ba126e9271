"""Problems of templates, and where they are."""

from collections.abc import Collection

from studio.core.paths import resource_table
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
