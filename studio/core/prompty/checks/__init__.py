"""What can be said about a document without running it: a literal list of small checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice

from studio.core.prompty.checks.dialects import check_dialect
from studio.core.prompty.checks.inputs import check_inputs
from studio.core.prompty.checks.keys import check_keys
from studio.core.prompty.checks.loops import check_loop_prompt
from studio.core.prompty.checks.markers import check_markers
from studio.core.prompty.checks.secrets import check_secrets
from studio.core.prompty.checks.tools import check_tools
from studio.core.prompty.checks.variables import check_variables
from studio.core.prompty.document import PromptDocument
from studio.core.text.problem import Problem

Check = Callable[[PromptDocument], Iterator[Problem]]
"""Looks at a whole document and tells what it finds."""

CHECKS: tuple[Check, ...] = (
    check_keys,
    check_inputs,
    check_tools,
    check_secrets,
    check_dialect,
    check_markers,
    check_variables,
    check_loop_prompt,
)
"""Every check, each in a module of its own."""

MOST_PER_CHECK = 100
"""Problems that one check may report; nobody reads more, and none may cost without end."""


def check_document(document: PromptDocument, found: Iterable[Problem] = ()) -> PromptDocument:
    """The document with every check's problems, in source order.

    Args:
        document: A document that was just read.
        found: What reading it had to say; checks see it as the document's problems.
    """
    document = replace(document, problems=tuple(found))
    problems = list(document.problems)
    for check in CHECKS:
        problems += islice(check(document), MOST_PER_CHECK)
    problems.sort(key=lambda problem: (problem.span.start, problem.span.end))
    return replace(document, problems=tuple(problems))
