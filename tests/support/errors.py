"""Whether a document is fine."""

from __future__ import annotations

from studio.core.prompty.document import PromptDocument


def has_errors(document: PromptDocument) -> bool:
    """Whether any problem of a document is an error."""
    return any(problem.severity == "error" for problem in document.problems)
