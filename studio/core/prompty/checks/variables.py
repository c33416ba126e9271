"""Variables of the template against the declared inputs."""

from __future__ import annotations

from collections.abc import Iterator, Set
from itertools import islice

from studio.core.prompty.checks.placeholders import (
    check_placeholders,
    meant_as_fstring,
    placeholders_of,
    unescaped_fences,
    used_elsewhere,
)
from studio.core.prompty.document import PromptDocument, Variable
from studio.core.prompty.edit.edits import declare_inputs
from studio.core.prompty.front.declarations import RICH_KINDS
from studio.core.prompty.inputs import RESERVED_SAMPLES
from studio.core.prompty.used_kind import used_kinds
from studio.core.text.naming import nearest
from studio.core.text.problem import Fix, Problem, Severity, TextEdit

_MOST_NAMES = 30


def check_variables(document: PromptDocument) -> Iterator[Problem]:
    """Undeclared variables, unused inputs, and a body that is meant as a format string."""
    yield from _undeclared(document)
    placeholders = list(placeholders_of(document))
    yield from _unused(document, {name for name, _ in placeholders})
    yield from _meant_as_fstring(document)
    yield from _escaped_fences(document)
    yield from check_placeholders(document, placeholders)


def _escaped_fences(document: PromptDocument) -> Iterator[Problem]:
    """A fence with the backslash of the page that it was copied from: the model would get it."""
    if meant_as_fstring(document) is not None:
        return  # its fix takes them away too
    edits = tuple(unescaped_fences(document))
    if edits:
        message = "The backslash before this fence goes to the model; it belongs to a page's code."
        fix = Fix("Take the backslashes away", edits)
        yield Problem("escaped-fence", Severity.WARNING, message, edits[0].span, (fix,))


def _undeclared(document: PromptDocument) -> Iterator[Problem]:
    if isinstance(document.data.get("inputs"), str):
        return  # a reference: the names are in another file
    declared = {item.name for item in document.inputs if item.name}
    uses: dict[str, list[Variable]] = {}
    for variable in document.variables:
        if variable.name not in declared | RESERVED_SAMPLES.keys() and variable.certain:
            uses.setdefault(variable.name, []).append(variable)
    kinds = used_kinds(document)
    names = list(uses)[:_MOST_NAMES]
    every = declare_inputs(document, {name: kinds[name] for name in names})
    for name in names:
        spans = [variable.span for variable in uses[name]]
        often = f", used {len(spans)} times," if len(spans) > 1 else ""
        near = nearest(name, sorted(declared))
        change = Fix(f"Change to {near!r}", tuple(TextEdit(span, near) for span in spans))
        fixes = [change] if near else []
        hint = f"did you mean {near!r}?" if near else "without a value it renders as nothing."
        message = f"{name!r}{often} is not declared as an input; {hint}"
        if name == "loop":
            message = "'loop' is known inside a 'for' only; here it renders as nothing."
            yield Problem("undeclared-variable", Severity.WARNING, message, spans[0])
            continue
        fixes.append(Fix(f"Declare input {name!r}", declare_inputs(document, {name: kinds[name]})))
        if len(names) > 1:
            fixes.append(Fix(f"Declare all {len(names)} inputs", every))
        yield Problem("undeclared-variable", Severity.WARNING, message, spans[0], tuple(fixes))


def _unused(document: PromptDocument, told: Set[str]) -> Iterator[Problem]:
    if any(problem.code.startswith("template-") for problem in document.problems):
        return  # what the template uses is not known
    used = {variable.name for variable in document.variables}
    used |= used_elsewhere(document) | told  # what is told, at its place
    declared = [item.name for item in document.inputs if item.name not in used]
    for name in islice(used - {item.name for item in document.inputs}, _MOST_NAMES):
        used.add(nearest(name, declared))  # told there too
    for item in document.inputs:
        place = item.name_span
        if place is None or not item.name or item.name in used or item.kind in RICH_KINDS:
            continue
        message = f"The input {item.name!r} is declared and not used."
        yield Problem("unused-input", Severity.HINT, message, place)


def _meant_as_fstring(document: PromptDocument) -> Iterator[Problem]:
    found = meant_as_fstring(document)
    if found is None:
        return
    place, fixes = found
    message = (
        f"{document.source.slice(place)} looks like a format string, and this body is read as "
        f"{document.template.format}, where it is plain text."
    )
    yield Problem("fstring-suggested", Severity.WARNING, message, place, fixes)
