"""Checks of a document that do not run it: a list of small functions."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice

from studio.core.plugins import Plugin, fault, installed
from studio.core.prompty.checks.declarations import check_inputs, check_tools
from studio.core.prompty.checks.dialects import check_dialect, check_loop_prompt, without_echoes
from studio.core.prompty.checks.keys import check_front_matter, check_keys, check_written_values
from studio.core.prompty.checks.markers import check_attributes, check_markers, check_media
from studio.core.prompty.checks.secrets import check_secrets
from studio.core.prompty.checks.variables import check_fields, check_variables, meant_as_fstring
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.edit.keep_dialect import kept_fixes
from studio.core.text.source import Problem, Severity, Span

Check = Callable[[PromptDocument], Iterator[Problem]]
"""Function that checks a whole document."""

CHECKS: tuple[Check, ...] = (
    check_keys,
    check_inputs,
    check_written_values,
    check_tools,
    check_secrets,
    check_dialect,
    check_front_matter,
    check_markers,
    check_attributes,
    check_media,
    check_variables,
    check_fields,
    check_loop_prompt,
)
"""All checks; related ones share a module."""

MOST_PER_CHECK = 100
"""Maximum number of problems from one check."""


def check_document(document: PromptDocument, found: Iterable[Problem] = ()) -> PromptDocument:
    """Return the document with the problems of all checks, in source order.

    Args:
        document: The document as read.
        found: Problems of reading; checks see them as the document's problems.
    """
    document = replace(document, problems=tuple(_of_format_string(document, found)))
    problems = list(document.problems)
    for check in CHECKS:
        problems += islice(check(document), MOST_PER_CHECK)
    for plugin in installed("checks"):
        problems += _found_by(plugin, document)
    problems.sort(key=lambda problem: (problem.span.start, problem.span.end))
    findings = without_echoes(document, problems)
    return replace(document, problems=tuple(kept_fixes(document, findings)))


def _of_format_string(document: PromptDocument, found: Iterable[Problem]) -> Iterator[Problem]:
    """Yield the problems of reading, without a format string's syntax errors (it has a check)."""
    meant = meant_as_fstring(document)
    for problem in found:
        if meant is not None and problem.code == "template-syntax":
            place, fixes = meant
            message = (
                f"{problem.message} This body looks like a format string "
                f"({document.source.slice(place)}), and is read as {document.template.format}."
            )
            yield replace(problem, message=message, fixes=(*fixes, *problem.fixes))
        else:
            yield problem


def _found_by(plugin: Plugin, document: PromptDocument) -> list[Problem]:
    """Run the check of a plug-in; if it fails, return that as a problem."""
    check, end = plugin.value, len(document.source)
    found: list[Problem] = []
    try:
        assert callable(check)
        for item in islice(check(document), MOST_PER_CHECK):
            if not isinstance(item, Problem) or not 0 <= item.span.start <= item.span.end <= end:
                raise TypeError(f"no problem with a place in the text: {item!r}")
            found.append(item)
    except Exception as error:  # noqa: BLE001 - foreign code; its error is reported, the rest checked
        found.append(Problem("plugin-failed", Severity.WARNING, fault(plugin, error), Span(0, 0)))
    return found
