"""How far a plan is, where there are so many rows that it takes its time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from studio.application.experiments.run.spending import ExperimentProgress, progress_line
from studio.cli.experiment.plan import RunProgress
from studio.core.experiments.datasets import read_dataset
from studio.core.experiments.values import DatasetReference

PLANNED = ExperimentProgress(20_000, 0, 0, 0, 0.0, 0, 0.0, worked_out=4_000)


def test_a_plan_of_many_cells_is_told_at_each_tenth(capsys: pytest.CaptureFixture[str]) -> None:
    progress = RunProgress()
    progress.read(2_000)
    progress.show(replace(PLANNED, total=300, worked_out=200))  # soon over: not worth a line
    progress.show(PLANNED)
    progress.show(replace(PLANNED, worked_out=4_001))
    assert capsys.readouterr().err == "4,000 of 20,000 requests are prepared\n"


def test_rows_are_counted_while_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a\n" + "x\n" * 5_000, encoding="utf-8")
    told: list[int] = []
    found = read_dataset(DatasetReference(path.name), path, told.append)
    assert (len(found.cases), sum(told)) == (5_000, 4_000)
    assert progress_line(replace(PLANNED, total=0, worked_out=sum(told))) == "4,000 rows are read"
