"""A full disk, two windows on one experiment, rows that change meanwhile: nothing is lost."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from studio.application.experiments.report import report_of
from studio.application.experiments.run.runner import ExperimentRunner
from studio.core.experiments.results.database import LedgerError
from studio.core.experiments.results.ledger import ExperimentLedger
from tests.application.experiments.conftest import Bench


async def test_a_full_disk_is_told_and_what_was_finished_stays(
    bench: Bench, ledger: ExperimentLedger
) -> None:
    texts = [random.Random(n).randbytes(600).hex() for n in range(60)]  # nothing packs them
    bench.write("rows.csv", "country\n" + "".join(f"{each}\n" for each in texts))
    execute = ledger._database.connection.execute
    runner = ExperimentRunner(bench.plan(variants=("main",)), bench.services, ledger)
    await runner.prepare()
    result = runner.begin()
    (pages,) = execute("PRAGMA page_count").fetchone()
    execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(LedgerError, match=r"is full. Free some space") as told:
        await runner.run(result)
    assert str(ledger.path) in str(told.value)
    await runner.close()
    done = ledger.scans.variant_totals(result)[0].done
    assert 0 < done < 60
    execute("PRAGMA max_page_count = 1000000")
    again = ExperimentRunner(bench.plan(variants=("main",)), bench.services, ledger)
    await again.prepare()
    assert again.cells.resumable(result)
    before = len(bench.asked)
    assert await again.run(result) == "done"
    await again.close()
    assert len(bench.asked) - before == 60 - done
    assert report_of(ledger, result).is_whole


async def test_two_windows_on_one_experiment_ask_no_cell_twice(
    bench: Bench, tmp_path: Path, ledger: ExperimentLedger
) -> None:
    other = ExperimentLedger(tmp_path / "ledger.db")
    runners = [ExperimentRunner(bench.plan(), bench.services, each) for each in (ledger, other)]
    for each in runners:
        await each.prepare()
    result = runners[0].begin()
    await asyncio.gather(*(each.run(result) for each in runners))
    for each in runners:
        await each.close()
    other.close()
    assert len(bench.asked) == len(set(bench.asked)) == 6
    assert report_of(ledger, result).is_whole


async def test_a_row_that_changed_meanwhile_begins_a_result_of_its_own(
    bench: Bench, ledger: ExperimentLedger
) -> None:
    rows = [f"r{n},land {n}" for n in range(401)]
    bench.write("rows.csv", "\n".join(["id,country", *rows]))
    runner = ExperimentRunner(bench.plan(variants=("main",)), bench.services, ledger)
    await runner.prepare()
    result = runner.begin()
    assert runner.cells.resumable(result)
    await runner.close()
    rows[301] = "r301,another"
    bench.write("rows.csv", "\n".join(["id,country", *rows]))
    changed = ExperimentRunner(bench.plan(variants=("main",)), bench.services, ledger)
    await changed.prepare()
    assert not changed.cells.resumable(result)
    await changed.close()
