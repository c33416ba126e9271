"""The ledger: cells are asked once, whatever happens to the process that asked."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from studio.application.experiments.grid import LazyRows, dot_state, grid_of
from studio.core.experiments.assertions.result import AssertionResult, MadeCall
from studio.core.experiments.results.cells import (
    TOTALS,
    CellKey,
    CellOutcome,
    CellState,
    NewResult,
    ResultRow,
    VariantTotal,
    calls_of,
    facts_of,
)
from studio.core.experiments.results.database import LedgerError
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.text.source import Span


def _begun(ledger: ExperimentLedger, rows: int = 3, repeats: int = 2) -> int:
    return ledger.begin(
        NewResult(
            "refund",
            "/x/refund.experiment.yaml",
            {"pass_rule": "mean"},
            ["main", "edit"],
            [ResultRow(row, f"r{row}", {"vars": {"q": "ä" * row}}) for row in range(1, rows + 1)],
            repeats,
            [
                (CellKey(repeat, row, variant), f"{repeat}/{row}/{variant}".encode())
                for repeat in range(1, repeats + 1)
                for row in range(1, rows + 1)
                for variant in (0, 1)
            ],
        )
    )


def _outcome(**changes: object) -> CellOutcome:
    given: dict[str, object] = {
        "state": CellState.DONE,
        "output": "Oslo",
        "passed": True,
        "score": 1.0,
        "cost": 0.01,
        "input_tokens": 10,
        "output_tokens": 2,
        "ms": 120.0,
        "steps": 1,
    }
    return CellOutcome(**{**given, **changes})  # type: ignore[arg-type]


def test_cells_are_leased_row_by_row_with_repeats_last(tmp_path: Path) -> None:
    ledger = ExperimentLedger(tmp_path / "a.db")
    number = _begun(ledger)
    first = ledger.lease(number, 5)
    assert [(each.repeat, each.row, each.variant) for each in first] == [
        (1, 1, 0),
        (1, 1, 1),
        (1, 2, 0),
        (1, 2, 1),
        (1, 3, 0),
    ]
    rest = ledger.lease(number, 100)
    assert len(rest) == 7
    assert not set(first) & set(rest)
    assert not ledger.lease(number, 1)
    ledger.give_back(number, rest[:2])
    assert ledger.lease(number, 10) == rest[:2]
    ledger.close()


def test_an_outcome_is_kept_whole(tmp_path: Path) -> None:
    ledger = ExperimentLedger(tmp_path / "a.db")
    number = _begun(ledger)
    calls = (MadeCall("look", {"q": 1}, is_error=True),)
    results = (
        AssertionResult("contains", "passed", 1.0, "found", 2.0, "fact", Span(1, 3)),
        AssertionResult("x", "error", 0.0, "why"),
    )
    outcome = _outcome(
        output="Ös\ud800lo",
        passed=None,
        cost=None,
        results=results,
        facts=facts_of(calls, finish="stop"),
    )
    key = ledger.lease(number, 1)[0]
    assert ledger.outcome(number, key) is None
    ledger.finish(number, key, outcome)
    assert ledger.outcome(number, key) == outcome
    assert calls_of(outcome.facts) == calls
    ledger.close()


def test_runs_are_kept_small_beside_a_sibling(tmp_path: Path) -> None:
    ledger = ExperimentLedger(tmp_path / "a.db")
    number = _begun(ledger, rows=20)
    keys = ledger.lease(number, 100)
    texts = {
        key: (
            f'{{"t":"Started","prompt":"{"the same long prompt " * 100}","row":{key.row}}}\n'
            f'{{"t":"Replied","text":"answer {key.row} {key.repeat}"}}'
        ).encode()
        for key in keys
    }
    for key in keys:
        ledger.finish(number, key, _outcome(), texts[key])
    assert all(ledger.journal(number, key) == texts[key] for key in keys)
    ((size,),) = ledger._read("SELECT avg(length(data)) FROM journal")
    assert size < 200
    ledger.close()


def test_totals_add_up(tmp_path: Path) -> None:
    ledger = ExperimentLedger(tmp_path / "a.db")
    number = _begun(ledger)
    for key in ledger.lease(number, 100):
        if key == CellKey(1, 3, 1):
            ledger.finish(number, key, CellOutcome(CellState.ERROR, error="no answer"))
        else:
            passed = key.variant == 1 or key.repeat == 1
            ledger.finish(
                number,
                key,
                _outcome(passed=passed, score=float(passed), is_cached=key.row == 1),
            )
    main, edit = ledger.scans.variant_totals(number)
    assert (main.done, main.passed, main.errors, main.cached) == (6, 3, 0, 2)
    assert (edit.done, edit.passed, edit.errors) == (5, 5, 1)
    assert main.cost == pytest.approx(0.04)
    assert main.tokens == 48
    rows = {(each.row, each.variant): each for each in ledger.scans.row_totals(number)}
    assert rows[1, 0].is_flaky
    assert not rows[1, 1].is_flaky
    assert (rows[3, 1].done, rows[3, 1].errors) == (1, 1)
    assert ledger.waiting(number) == 0
    assert ledger.reopen(number, errors=True) == 1
    assert ledger.reopen(number, failed=True) == 3
    assert ledger.waiting(number) == 4
    ledger.close()


def test_kept_totals_are_those_of_the_cells_whatever_happens_to_them(tmp_path: Path) -> None:
    """The summary of a million cells adds nothing up; it must not drift from them."""
    ledger = ExperimentLedger(tmp_path / "ledger.db")
    number = _begun(ledger, rows=4, repeats=2)

    def agree() -> bool:
        """All but the last digits of dollars, which are added in another order."""
        added = [VariantTotal(*each) for each in ledger._read(TOTALS, number)]
        kept = ledger.scans.variant_totals(number)
        return [replace(each, cost=round(each.cost, 9)) for each in kept] == [
            replace(each, cost=round(each.cost, 9)) for each in added
        ]

    assert agree()
    keys = ledger.lease(number, 16)
    outcomes = [
        _outcome(),
        _outcome(passed=False),
        _outcome(passed=None, cost=None),
        _outcome(is_cached=True),
        CellOutcome(CellState.ERROR, error="no"),
    ]
    for at, key in enumerate(keys):
        ledger.finish(number, key, outcomes[at % len(outcomes)])
        assert agree()
    ledger.finish(number, keys[0], _outcome(passed=False))  # by two windows
    assert agree()
    ledger.reopen(number, errors=True, failed=True)
    assert agree()
    for key in ledger.lease(number, 16):
        ledger.finish(number, key, _outcome())
    assert agree()
    assert sum(each.passed for each in ledger.scans.variant_totals(number)) == 16
    ledger.close()


def test_answers_are_found_by_what_was_sent(tmp_path: Path) -> None:
    ledger = ExperimentLedger(tmp_path / "a.db")
    first = _begun(ledger)
    key = ledger.lease(first, 1)[0]
    ledger.finish(first, key, _outcome())
    second = _begun(ledger)
    identity = ledger.identities(second)[key]
    assert ledger.known([identity, b"other"]) == {identity: (first, key)}
    ledger.close()


def test_a_result_is_blessed_alone(tmp_path: Path) -> None:
    ledger = ExperimentLedger(tmp_path / "a.db")
    first, second = _begun(ledger), _begun(ledger)
    ledger.accept(first, "release 1")
    ledger.accept(second)
    ledger.end(first, "done")
    assert [(each.id, each.is_accepted) for each in ledger.results()] == [
        (second, True),
        (first, False),
    ]
    assert ledger.result(first).label == "release 1"
    assert ledger.result(first).finished is not None
    ledger.delete(first)
    with pytest.raises(LedgerError, match="no result"):
        ledger.result(first)
    ledger.close()


KILLED = """
import os, sys
from pathlib import Path
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.experiments.results.cells import CellOutcome, CellState
ledger = ExperimentLedger(Path(sys.argv[1]))
keys = ledger.lease(int(sys.argv[2]), 4)
ledger.finish(int(sys.argv[2]), keys[0], CellOutcome(CellState.DONE, output="kept", passed=True))
os.kill(os.getpid(), 9)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_what_a_killed_process_had_under_way_is_taken_back_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    ledger = ExperimentLedger(path)
    number = _begun(ledger)
    mine = ledger.lease(number, 2)
    ended = subprocess.run([sys.executable, "-c", KILLED, str(path), str(number)], check=False)
    assert ended.returncode == -9
    assert ledger.take_back(number) == 3
    assert ledger.take_back(number) == 0
    left = ledger.lease(number, 100)
    assert len(left) == 12 - 2 - 1
    assert not set(left) & set(mine)
    assert not [each for each in tmp_path.glob("*.lock") if ledger.owner not in each.name]
    ledger.close()


def test_what_is_no_ledger_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(LedgerError, match="move it away"):
        ExperimentLedger(tmp_path / "a.db")
    (tmp_path / "folder.db").mkdir()
    with pytest.raises(LedgerError):
        ExperimentLedger(tmp_path / "folder.db")


def test_standings_tell_in_letters_what_the_rows_tell(tmp_path: Path) -> None:
    ledger = ExperimentLedger(tmp_path / "a.db")
    number = _begun(ledger)
    given = (
        _outcome(),
        _outcome(score=0.5),
        _outcome(passed=False, score=0.0),
        _outcome(passed=None, score=1.0),
        CellOutcome(CellState.ERROR, error="no answer"),
    )
    for key, outcome in zip(ledger.lease(number, len(given)), given, strict=True):
        ledger.finish(number, key, outcome)
    assert ledger.scans.standings(number) == {1: "PpfUew", 2: "wwwwww"}
    assert ledger.scans.shares(number) == [(CellKey(1, 1, 1), 0.5)]
    grid = grid_of(ledger, number)
    assert isinstance(grid.rows, LazyRows)
    assert grid.rows.made == 0  # opening a result makes no row's head
    for repeat, row, variant, state, passed, score in ledger.scans.states(number):
        dot = grid.cell(row, variant).dots[repeat - 1]
        assert dot == dot_state(state, None if passed is None else bool(passed))
        assert score in (None, grid._scores[grid._at(row, variant) + repeat - 1])
    ledger.close()


def test_a_result_whose_process_is_gone_is_interrupted(tmp_path: Path) -> None:
    ledger = ExperimentLedger(tmp_path / "a.db")
    number = _begun(ledger)
    with ledger.hold(number):
        ledger.end(number, "running")
        assert ledger.result(number).state == "running"
    assert ledger.result(number).state == "interrupted"
    ledger.end(number, "done")
    assert ledger.result(number).state == "done"
    ledger.close()
