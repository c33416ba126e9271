"""Report where Prompty's runtimes render a template differently; off by default.

The runtimes of Prompty 2 for TypeScript and C# are compared with the one for Python, as in
Prompty's specification (Jinja Subset §1).
"""

from collections.abc import Iterator, Sequence

from studio.core.prompty.checks.portability.rendering import BOTH, TS, RuntimeDifference, report
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.templates.mustache.template import (
    MustacheVariable,
    Section,
    Text,
    read_mustache,
)
from studio.core.prompty.templates.writer import DEFAULT_BOUNDS
from studio.core.text.source import Fix, Problem, TextEdit

GROUP = "portability"
"""Name of the group in settings."""

CODES = "portable-"
"""Prefix of its codes."""


def check_portability(document: PromptDocument) -> tuple[Problem, ...]:
    """Return the problems for different renderings, in source order, each once."""
    found = {each.problem: None for each in differences(document)}
    return tuple(sorted(found, key=lambda problem: (problem.span.start, problem.span.end)))


def differences(document: PromptDocument) -> Iterator[RuntimeDifference]:
    """Yield every difference between runtimes."""
    size = document.body.end - document.body.start
    if not document.is_prompt or size > DEFAULT_BOUNDS.template:
        return
    match document.template.format:
        case "jinja2":
            # Importing Jinja takes about 60 ms: only when needed.
            from studio.core.prompty.checks.portability.rendering import jinja_differences

            try:
                yield from jinja_differences(document)
            except RecursionError:
                return  # another problem of the template reports the nesting
        case "mustache":
            pieces, _ = read_mustache(document.source.slice(document.body), document.body.start)
            yield from _of_mustache(document, pieces)
        case "fstring":
            message = (
                "No runtime of Prompty supports format strings: {name} stays text in all three."
            )
            entry = document.entry("template", "format")
            place = entry.value if entry is not None else document.body
            yield report("portable-format", place, BOTH, message)


def _of_mustache(
    document: PromptDocument, pieces: Sequence[Text | MustacheVariable | Section]
) -> Iterator[RuntimeDifference]:
    """Yield the differences between chevron, mustache.js and Stubble."""
    for piece in pieces:
        if isinstance(piece, Section):
            yield from _of_mustache(document, piece.body)
        elif isinstance(piece, MustacheVariable):
            declared = document.input(piece.key)
            kind = declared.kind if declared is not None else ""
            if kind in ("boolean", "float"):
                message = "TypeScript writes true for True, and 1 for 1.0."
                yield report("portable-value", piece.span, TS, message)
            elif piece.escapes and kind != "integer":
                raw = "{" + document.source.slice(piece.span) + "}"
                fix = Fix("Write three braces", (TextEdit(piece.span, raw),))
                message = "Each runtime escapes other characters; three braces escape none."
                yield report("portable-value", piece.span, BOTH, message, fix)
