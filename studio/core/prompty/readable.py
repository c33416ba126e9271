"""Whether a prompt file can be read whole: the one rule for all that would write it or send it."""

from __future__ import annotations

from studio.core.prompty.document import PromptDocument
from studio.core.text.problem import Problem, Severity

_OF_READING = ("yaml-", "duplicate-key", "front-matter-", "file-too-large")
"""Beginnings of the codes of problems that the readers of YAML, front matter and files report."""


def hides_text(problem: Problem) -> bool:
    """Return whether a part of the file was not read, so that its author's meaning is unknown."""
    return problem.severity is Severity.ERROR and problem.code.startswith(_OF_READING)


def first_unreadable(document: PromptDocument) -> Problem | None:
    """Return the first problem that hides a part of a file; None for a file that was read whole."""
    return next(filter(hides_text, document.problems), None)
