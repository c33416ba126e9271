"""Problems as compilers write them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from studio.cli.terminal import FINE, PROBLEMS, tell
from studio.core.prompty.document import PromptDocument
from studio.core.text.source import Problem, Severity


def report(document: PromptDocument, problems: Iterable[Problem]) -> int:
    """Write problems to standard error; returns the exit code that they call for."""
    code = FINE
    for problem in problems:
        tell(finding(document, problem))
        if problem.severity is not Severity.HINT:
            code = PROBLEMS
    return code


def finding(document: PromptDocument, problem: Problem) -> str:
    """Return one problem as compilers write it."""
    place = document.source.position(problem.span.start)
    where = f"{shown_path(document.source.path)}:{place.line}:{place.column}"
    return f"{where}: {problem.severity} {problem.code} {problem.message}"


def shown_path(path: Path | None) -> str:
    """Return a path as short as the working directory allows."""
    if path is None:
        return "<text>"
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
