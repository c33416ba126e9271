"""Fields that a template reads, against what the prompt's own values hold."""

from __future__ import annotations

from collections.abc import Iterator

from studio.core.prompty.document import EACH, LOOP, FieldUse, PromptDocument
from studio.core.prompty.known_fields import Known, known_at
from studio.core.text.naming import nearest
from studio.core.text.problem import Fix, Problem, Severity, TextEdit
from studio.core.text.span import Span

_METHODS = frozenset(dir(dict))
_OF_LIST, _OF_TEXT = frozenset(dir(list)), frozenset(dir(str))
_OF_LOOP = tuple(
    """
    index index0 first last length revindex revindex0 previtem nextitem depth depth0 cycle changed
""".split()
)
_COUNTS = frozenset(("length", "size", "len"))
_MOST_NAMED = 6


def check_fields(document: PromptDocument) -> Iterator[Problem]:
    """A field that no value of the prompt has: it renders as nothing."""
    parents: dict[tuple[str, ...], tuple[Known, frozenset[str] | None]] = {}
    for use in document.fields:
        parent, name = use.path[:-1], use.path[-1]
        if parent == (LOOP,):
            yield from _of_loop(use, name)
            continue
        if parent not in parents:
            known = known_at(document, parent)
            parents[parent] = known, frozenset(known.fields) if known.is_object else None
        known, fields = parents[parent]
        if fields is None:
            yield from _of_no_object(document, use, known)
        elif name != EACH and name not in fields and name not in _METHODS:
            problem = _unknown(use, name, known)
            if problem is not None:
                yield problem


def _of_loop(use: FieldUse, name: str) -> Iterator[Problem]:
    """`loop.idx`: what a loop does not tell."""
    if name in _OF_LOOP:
        return
    near = nearest(name, _OF_LOOP)
    message = f"'loop' has no {name!r}; it has {', '.join(_OF_LOOP)}."
    fixes: tuple[Fix, ...] = ()
    if near:
        message = f"'loop' has no {name!r}; did you mean {near!r}?"
        fixes = (Fix(f"Change to {near!r}", (TextEdit(use.span, near),)),)
    yield Problem("unknown-field", Severity.WARNING, message, use.span, fixes)


def _of_no_object(document: PromptDocument, use: FieldUse, known: Known) -> Iterator[Problem]:
    """`stops.length` and `stops.town`, where `stops` is a list; `city.length`, of a text."""
    name, values = use.path[-1], [each for each in known.values if each is not None]
    is_list = all(isinstance(each, list | tuple) for each in values) and (
        bool(values) or any(each.kind == "array" for each in known.declared)
    )
    is_text = bool(values) and all(isinstance(each, str) for each in values)
    if name == EACH or not (is_list or is_text) or name in (_OF_LIST if is_list else _OF_TEXT):
        return
    what = ".".join(each for each in use.path[:-1] if each != EACH)
    kind = "a list" if is_list else "a text"
    has_filters = document.template.format == "jinja2"
    if name in _COUNTS and not has_filters:
        message = f"{what!r} is {kind} and has no {name!r}; give the count as an input of its own."
        yield Problem("unknown-field", Severity.WARNING, message, use.span)
    elif name in _COUNTS:
        dot = Span(use.span.start - 1, use.span.end)
        message = f"{what!r} is {kind} and has no {name!r}; the filter 'length' counts it."
        is_dotted = document.source.slice(dot) == f".{name}"
        fix = Fix("Write | length", (TextEdit(dot, " | length"),))
        fixes = (fix,) if is_dotted else ()
        yield Problem("unknown-field", Severity.WARNING, message, use.span, fixes)
    elif not use.is_guarded and is_list and name in known.at(EACH).fields:
        message = (
            f"{what!r} is a list, and {name!r} is a field of each of its items: "
            + ("" if document.template.format == "fstring" else "go through them with 'for', or ")
            + f"take one, {what}[0].{name}."
        )
        yield Problem("unknown-field", Severity.WARNING, message, use.span)


def _unknown(use: FieldUse, name: str, known: Known) -> Problem | None:
    meant = nearest(name, known.fields, surely=use.is_guarded)
    where = _where(use.path[:-1])
    if meant:
        message = f"{where} has {name!r}; did you mean {meant!r}?"
        fix = Fix(f"Change to {meant!r}", (TextEdit(use.span, meant),))
        return Problem("unknown-field", Severity.WARNING, message, use.span, (fix,))
    if use.is_guarded or known.is_supplied:
        return None  # it may be missing, or a run supplies more than the preview shows
    listed = ", ".join(known.fields[:_MOST_NAMED])
    more = ", …" if len(known.fields) > _MOST_NAMED else ""
    message = f"{where} has {name!r} in this file; known are {listed}{more}."
    is_declared = any(each.properties for each in known.declared)
    severity = Severity.WARNING if is_declared else Severity.HINT
    return Problem("unknown-field", severity, message, use.span)


def _where(path: tuple[str, ...]) -> str:
    """The beginning of the sentence: no item of a list, or no value of a name."""
    if path[-1] == EACH:
        return f"No item of {'.'.join(each for each in path if each != EACH)!r}"
    return f"No value of {'.'.join(each for each in path if each != EACH)!r}"
