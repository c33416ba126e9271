"""Keys that are written in the prompt: an export takes none along unasked."""

from __future__ import annotations

import json
from dataclasses import replace

from studio.core.export.target import ExportResult, ExportSource, ExportTarget, unique
from studio.core.prompty.checks.secrets import written_secrets
from studio.core.text.problem import Severity


def make_checked(target: ExportTarget, source: ExportSource) -> ExportResult:
    """Make an export; where it holds a key of the front matter, the user must agree to that.

    A key in the prompt is its author's own text, and stays there; but the file that is made from
    it goes to others. The problem of the check beside it offers to read it from the environment.
    """
    made = _with_errors(target.make(source), source)
    document = source.document
    written = made.text.encode("utf-8", "replace") + (made.data or b"")
    lines = [
        f"A key goes along that is written in line {document.source.position(place.start).line}: "
        "whoever gets the file can use it. Write ${env:NAME} there instead."
        for place, value in written_secrets(document)
        if any(form in written for form in _forms(value))
    ]
    return replace(made, losses=tuple(dict.fromkeys((*lines, *made.losses)))) if lines else made


def _with_errors(made: ExportResult, source: ExportSource) -> ExportResult:
    """The result, blocked also by errors in what the body means: no form can fix those."""
    prepared = source.prepared
    found = (*prepared.rendering.problems, *prepared.messages.problems)
    errors = [item for item in found if item.severity is Severity.ERROR]
    if not errors:
        return made
    return replace(made, problems=unique((*made.problems, *errors)), blocked=True)


def _forms(value: str) -> tuple[bytes, ...]:
    """A value as it is, and as JSON and Python write it."""
    texts = (value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1])
    return tuple(text.encode("utf-8", "replace") for text in dict.fromkeys(texts))
