"""Runs an exported file in the program that it is for, and compares the request that it sends.

The program is the user's own: nothing is installed. It runs in a process of its own, with the file
and the values and without the studio's environment and keys. What it sends goes to a server on this
machine (`recorder`); the measure is the request that the studio sends itself (`core/export/sent`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from studio.application.exchange.asking import Asked, ProgramJob, ask_program
from studio.application.exchange.export import source_for
from studio.application.exchange.programs import PROGRAMS, JudgeName, NoJudgeError
from studio.application.exchange.recorder import recorded
from studio.core.export.sent import (
    SentRequest,
    compare_requests,
    key_variable,
    named_connection,
    sent_by_studio,
    with_model,
    with_variables,
)
from studio.core.export.target import ExportResult, ExportSource, ExportTarget, RoundTrip
from studio.core.prompty.reference_values import find_references
from studio.core.wire.request import Provider


@dataclass(frozen=True, slots=True)
class Judgment:
    """What a program made of a file."""

    program: str
    """Its name and version."""

    rounds: tuple[RoundTrip, ...] = field(default=())
    """One comparison per input set."""


def judge_names() -> tuple[JudgeName, ...]:
    """Return the programs that can be asked."""
    return get_args(JudgeName)


def judge_of(form: str) -> JudgeName | None:
    """Return the program that can be asked about an export form; None where there is none."""
    return next((name for name, each in PROGRAMS.items() if form in each.forms), None)


def judge_export(target: ExportTarget, source: ExportSource, made: ExportResult) -> Judgment:
    """Let the program that a form is for send what was made of a job.

    Raises:
        NoJudgeError: there is no such program, or it gave no answer.
    """
    name = judge_of(target.name)
    if name is None:
        raise NoJudgeError(f"No program can be asked about {target.label}.")
    return run_in(name, target.name, source_for(target, source), made)


def run_in(
    name: JudgeName,
    form: str,
    source: ExportSource,
    made: ExportResult,
    program: Path | None = None,
) -> Judgment:
    """Let a program send the request of an exported file, with the values of now and of every set.

    Args:
        name: The program.
        form: Name of the export form.
        source: What the file was made from.
        made: The file.
        program: The Python that has the package, or the program itself; None looks for one.

    Raises:
        NoJudgeError: the program is not there, or gave no answer.
    """
    source = with_model(source)
    variables = _variables(source, made)
    with recorded() as log, tempfile.TemporaryDirectory(prefix="prompt-studio-") as place:
        asked = ask_program(ProgramJob(name, source, made, Path(place), log, variables), program)
    return Judgment(asked.program, tuple(_compared(source, form, asked, variables)))


_FORMS: Mapping[str, Provider] = {
    "curl-openai-chat": "openai-chat",
    "curl-openai-responses": "openai-responses",
    "curl-anthropic": "anthropic",
}
"""Form of the request, where the export form decides it and not the prompt."""


def _compared(
    source: ExportSource, form: str, asked: Asked, variables: Mapping[str, str]
) -> Iterator[RoundTrip]:
    for (name, each), got in zip(source.rounds.items(), asked.answers, strict=False):
        if isinstance(got, SentRequest):
            expected = with_variables(sent_by_studio(each, _FORMS.get(form)), variables)
            yield compare_requests(name, expected, got, loose=form == "legacy")
        else:
            yield RoundTrip(name, f"it is refused: {got}")


def _variables(source: ExportSource, made: ExportResult) -> dict[str, str]:
    """Return a value for each variable that the prompt or the file refers to."""
    connection = named_connection(source)
    names = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_MODEL", key_variable(connection)]
    found = {name: f"value-of-{name}" for name in names}
    for reference in find_references(source.document.source.text + made.text):
        if reference.protocol == "env" and not reference.default:
            found.setdefault(reference.argument, f"value-of-{reference.argument}")
    for reference in find_references(connection.base_url):
        if not reference.default:
            host = reference.argument.lower().replace("_", "-")
            found[reference.argument] = f"https://{host}.example"
    return found
