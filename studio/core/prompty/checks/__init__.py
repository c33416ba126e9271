"""What can be said about a document without running it: a literal list of small checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from studio.core.prompty.document import PromptDocument
from studio.core.text.problem import Problem

Check = Callable[[PromptDocument], Iterator[Problem]]
"""Looks at a whole document and tells what it finds."""

CHECKS: tuple[Check, ...] = ()
"""Every check, in the order in which a person meets the places."""


def check_document(document: PromptDocument, found: Iterable[Problem] = ()) -> PromptDocument:
    """The document with every check's problems, in source order.

    Args:
        document: A document that was just read.
        found: What reading it had to say.
    """
    problems = [*found]
    for check in CHECKS:
        problems += check(document)
    problems.sort(key=lambda problem: (problem.span.start, problem.span.end))
    return replace(document, problems=tuple(problems))
