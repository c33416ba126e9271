"""Rows that a model invented, added to an experiment once the user has seen them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from studio.application.experiments.accept import AcceptedAnswer
from studio.application.experiments.generate import GeneratedRow
from studio.application.experiments.make import with_item
from studio.application.experiments.prompts import ExperimentError
from studio.core.experiments.file.read import read_experiment
from studio.core.experiments.values import DatasetReference
from studio.core.text.reason import reason_of

_LINES = (".jsonl", ".ndjson")


def rows_file(experiment: Path, text: str) -> Path:
    """Where rows go: the experiment's own dataset of JSON lines where it has one, else the file."""
    for each in read_experiment(text, experiment).cases:
        if isinstance(each, DatasetReference) and each.path.lower().endswith(_LINES):
            path = (experiment.parent / each.path).resolve()
            if path.is_relative_to(experiment.parent.resolve()) and path.is_file():
                return path
    return experiment


def add_rows(experiment: Path, rows: Sequence[GeneratedRow]) -> AcceptedAnswer:
    """The change that adds rows; nothing is written yet.

    Raises:
        ExperimentError: the experiment cannot be added to.
        OSError: a file cannot be read.
    """
    path = rows_file(experiment, experiment.read_bytes().decode("utf-8-sig", "replace"))
    try:
        before = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise ExperimentError(f"{path.name}: {reason_of(error)}") from None
    if path != experiment:
        gap = "" if not before or before.endswith("\n") else "\n"
        return AcceptedAnswer(path, before, before + gap + "".join(f"{r.line}\n" for r in rows))
    after = before
    for row in rows:
        after = with_item(after, "tests", {"vars": dict(row.values), "tags": [row.kind]})
    return AcceptedAnswer(path, before, after)
