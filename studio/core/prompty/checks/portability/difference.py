"""What one of Prompty's runtimes makes of a template, beside what Python makes of it."""

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
    """A place that renders otherwise somewhere."""

    problem: Problem
    """What is told of it."""

    runtimes: frozenset[Runtime]
    """Where the text differs from what Python gives, or there is an error instead."""


def report(
    code: str, span: Span, runtimes: frozenset[Runtime], message: str, *fixes: Fix
) -> RuntimeDifference:
    """A difference with its finding."""
    return RuntimeDifference(Problem(code, Severity.WARNING, message, span, fixes), runtimes)


def names(runtimes: frozenset[Runtime]) -> str:
    """The runtimes as a sentence names them."""
    return " and ".join(each for each in Runtime if each in runtimes)


def refuses(runtimes: frozenset[Runtime], what: str) -> str:
    """The sentence that runtimes lack something and stop."""
    if len(runtimes) == 1:
        return f"{names(runtimes)} knows no {what} and ends with an error."
    return f"{names(runtimes)} know no {what} and end with an error."
