"""Fields that a template reads, against what the prompt's own values hold."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from studio.core.prompty.document import EACH, FieldUse, PromptDocument
from studio.core.prompty.known_fields import Known, known_at
from studio.core.text.problem import Fix, Problem, Severity, TextEdit

_METHODS = frozenset(dir(dict))
_MOST_NAMED = 6
_ALIKE, _SURELY_ALIKE = 0.75, 0.85
"""How alike two names are of which one is a slip; surer where the template asks for the field."""


def check_fields(document: PromptDocument) -> Iterator[Problem]:
    """A field that no value of the prompt has: it renders as nothing."""
    objects: dict[tuple[str, ...], tuple[Known, frozenset[str]] | None] = {}
    for use in document.fields:
        parent, name = use.path[:-1], use.path[-1]
        if parent not in objects:
            known = known_at(document, parent)
            objects[parent] = (known, frozenset(known.fields)) if known.is_object else None
        found = objects[parent]
        if name == EACH or found is None or name in found[1] or name in _METHODS:
            continue
        problem = _unknown(use, name, found[0])
        if problem is not None:
            yield problem


def _unknown(use: FieldUse, name: str, known: Known) -> Problem | None:
    lowered = {each.lower(): each for each in reversed(known.fields)}
    alike = _SURELY_ALIKE if use.is_guarded else _ALIKE
    near = difflib.get_close_matches(name.lower(), lowered, n=1, cutoff=alike)
    where = _where(use.path[:-1])
    if near:
        meant = lowered[near[0]]
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
