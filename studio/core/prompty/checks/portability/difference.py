"""A place of a template where a runtime of Prompty gives something else than Python's."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from studio.core.text.problem import Fix, Problem, Severity
from studio.core.text.span import Span


class Runtime(StrEnum):
    """A runtime that is compared with the one for Python."""

    TYPESCRIPT = "TypeScript"
    """Nunjucks 3.2 without calls (`@prompty/core` 2.0), and mustache.js."""

    CSHARP = "C#"
    """Prompty's own Jinja Subset (`Prompty.Core` 2.0), and Stubble."""


TS = frozenset((Runtime.TYPESCRIPT,))
CS = frozenset((Runtime.CSHARP,))
BOTH = TS | CS


@dataclass(frozen=True, slots=True)
class RuntimeDifference:
    """A place that renders differently in some runtime."""

    problem: Problem
    """The warning that names the difference."""

    runtimes: frozenset[Runtime]
    """The runtimes whose text differs from Python's, or that end with an error instead."""


def report(
    code: str, span: Span, runtimes: frozenset[Runtime], message: str, *fixes: Fix
) -> RuntimeDifference:
    """Return a difference with its warning."""
    return RuntimeDifference(Problem(code, Severity.WARNING, message, span, fixes), runtimes)


def names(runtimes: frozenset[Runtime]) -> str:
    """Return the runtimes as a sentence names them."""
    return " and ".join(runtime for runtime in Runtime if runtime in runtimes)


def refuses(runtimes: frozenset[Runtime], what: str) -> str:
    """Return the sentence that runtimes lack something and stop."""
    knows, ends = ("knows", "ends") if len(runtimes) == 1 else ("know", "end")
    return f"{names(runtimes)} {knows} no {what} and {ends} with an error."
