"""In which of Prompty's runtimes a template would render otherwise; off by default.

Compared are the runtimes of Prompty 2 for Python, TypeScript and C#. Python's is what the others
are held against, as Prompty's own specification does (Jinja Subset §1).
"""

from __future__ import annotations

from collections.abc import Iterator

from studio.core.prompty.checks.portability.difference import BOTH, RuntimeDifference, report
from studio.core.prompty.document import PromptDocument
from studio.core.text.problem import Problem

GROUP = "portability"
"""What the group is called where it is switched on."""

CODES = "portable-"
"""What its codes begin with."""


def check_portability(document: PromptDocument) -> tuple[Problem, ...]:
    """What would render otherwise somewhere, in source order, each once."""
    found = {each.problem: None for each in differences(document)}
    return tuple(sorted(found, key=lambda problem: (problem.span.start, problem.span.end)))


def differences(document: PromptDocument) -> Iterator[RuntimeDifference]:
    """Every place that renders otherwise somewhere, with the runtimes in which it does."""
    if not document.is_prompt:
        return
    match document.template.format:
        case "jinja2":
            yield from _of_jinja(document)
        case "mustache":
            from studio.core.prompty.checks.portability.mustache import mustache_differences

            yield from mustache_differences(document)
        case "fstring":
            message = "No runtime of Prompty reads format strings: {name} stays text in all three."
            entry = document.entry("template", "format")
            place = entry.value if entry is not None else document.body
            yield report("portable-format", place, BOTH, message)


def _of_jinja(document: PromptDocument) -> Iterator[RuntimeDifference]:
    # Jinja takes some 60 ms to import: not before it is asked for.
    from studio.core.prompty.checks.portability.template import TemplateWalk
    from studio.core.prompty.checks.portability.values import Values
    from studio.core.prompty.templates.bounds import DEFAULT_BOUNDS
    from studio.core.prompty.templates.jinja.template import read_template

    body = document.source.slice(document.body)
    if len(body) > DEFAULT_BOUNDS.template:
        return
    try:
        program = read_template(body, document.body.start).program
        yield from TemplateWalk(program, body, Values(document)).differences()
    except RecursionError:
        return  # the template's own problems say that it is nested too deeply
