"""Problems as compilers write them, and the prompt that they were found in."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from studio.application.preview.requests import provider_problems
from studio.application.trust import references_of
from studio.cli.arguments import given_inputs, load, trust_of
from studio.cli.exit_codes import FINE, PROBLEMS
from studio.core.agent.loop.first_step import first_step_values
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.prepare import Prepared, prepare
from studio.core.text.problem import Problem, Severity
from studio.core.tools.registry import SourceStatus
from studio.core.tools.trust.store import TrustStore


def report(document: PromptDocument, problems: Iterable[Problem]) -> int:
    """Write problems to standard error; returns the exit code that they call for."""
    code = FINE
    for problem in problems:
        print(finding(document, problem), file=sys.stderr)
        if problem.severity is not Severity.HINT:
            code = PROBLEMS
    return code


def report_sources(sources: Iterable[SourceStatus]) -> None:
    """Write to standard error what is wrong with the sources of a prompt's tools."""
    for status in sources:
        is_well = status.state == "ready" and not status.message
        if not is_well and status.state != "available":  # such as a server that it does not name
            way = " (--trust allows it)" if status.state == "waiting" else ""
            print(f"prompt-studio: {status.label}: {status.message}{way}", file=sys.stderr)


def finding(document: PromptDocument, problem: Problem) -> str:
    """One problem as compilers write it."""
    place = document.source.position(problem.span.start)
    where = f"{shown_path(document.source.path)}:{place.line}:{place.column}"
    return f"{where}: {problem.severity} {problem.code} {problem.message}"


def shown_path(path: Path | None) -> str:
    """A path as short as the working directory allows."""
    if path is None:
        return "<text>"
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def check_file(path: Path, trust: TrustStore) -> tuple[PromptDocument, tuple[Problem, ...]]:
    """One file with everything that can be found in it without running it."""
    document = load(path)
    context = references_of(document.source.path, trust, masked=True)
    prepared = prepare(document, {}, references=context, preview=True)
    return document, merged(document.problems, prepared.problems, provider_problems(prepared))


def merged(*lists: Sequence[Problem]) -> tuple[Problem, ...]:
    """All problems in source order, each once."""
    unique = dict.fromkeys(problem for problems in lists for problem in problems)
    return tuple(sorted(unique, key=lambda problem: problem.span))


def prepared_prompt(options: argparse.Namespace, *, preview: bool = False) -> Prepared:
    """The prompt of the arguments as the first model call would get it, secrets left out.

    Args:
        options: with `file`, `input`, `inputs` and `trust`.
        preview: fill in samples where values are missing.
    """
    document = load(options.file)
    values = given_inputs(options, document)
    values = first_step_values(document, values, document.tools) | values
    context = references_of(document.source.path, trust_of(options, options.file), masked=True)
    return prepare(document, values, references=context, preview=preview)
