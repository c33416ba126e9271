from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from studio.application.history.rows import HEADS, row_of, when
from studio.application.run.past.record import RunRecord, StoreJournal
from studio.core.agent.values.state import RunState
from studio.core.runs.rows import RunSummary
from studio.core.runs.store import RunFilter, RunStore, StoreError
from studio.viewmodels.app.background import Background
from studio.viewmodels.history.controller import HistoryController, HistoryModel
from studio.viewmodels.run.controller import RunController
from tests.application.run.world import FINAL, LOOKUP, plan

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "runs.sqlite"


@pytest.fixture
def past(qtbot: QtBot, path: Path) -> RunState:
    """The state of one real run that is in the history."""
    background = Background()
    with closing(RunStore(path)) as store:
        controller = RunController(background, StoreJournal(store))
        with qtbot.waitSignal(controller.sessions.ended):
            controller.start(plan([LOOKUP, FINAL]))
        controller.close()
        background.stop()
    assert controller.state is not None
    return controller.state


@pytest.fixture
def history(path: Path, qapp: object) -> Iterator[HistoryController]:
    one = HistoryController(path)
    yield one
    one.close()


def _list(qtbot: QtBot, history: HistoryController) -> tuple[RunSummary, ...]:
    with qtbot.waitSignal(history.listed) as listed:
        history.refresh()
    runs: tuple[RunSummary, ...] = listed.args[0]
    return runs


def test_no_file_is_an_empty_history(qtbot: QtBot, history: HistoryController, path: Path) -> None:
    assert _list(qtbot, history) == ()
    assert not path.exists()


def test_a_run_is_listed_with_what_it_was(
    qtbot: QtBot, history: HistoryController, past: RunState
) -> None:
    (run,) = _list(qtbot, history)

    assert (run.id, run.status, run.calls_model, run.calls_tool) == (past.setup.run, "done", 2, 1)
    assert run.answer == past.answer


def test_a_run_is_opened_as_it_was(
    qtbot: QtBot, history: HistoryController, past: RunState
) -> None:
    said: list[bool] = []
    history.opening.busy_changed.connect(said.append)
    with qtbot.waitSignal(history.opened) as opened:
        history.open(past.setup.run)
    assert said == [True, False]
    record = opened.args[0]

    assert isinstance(record, RunRecord)
    assert record.state == past
    assert record.title.startswith("From history, today")


def test_the_filter_finds_words(qtbot: QtBot, history: HistoryController, past: RunState) -> None:
    for words, count in (("capital", 1), ("nowhere", 0)):
        with qtbot.waitSignal(history.listed) as listed:
            history.set_filter(words)
        assert len(listed.args[0]) == count


def test_an_expression_finds_a_run_behind_more_new_ones_than_are_listed(
    qtbot: QtBot, history: HistoryController, past: RunState, path: Path
) -> None:
    newer = [(f"n{number}", 4e9, 1) for number in range(RunFilter().limit)]
    with closing(sqlite3.connect(path)) as table, table:
        table.executemany("INSERT INTO runs (id, started, events) VALUES (?, ?, ?)", newer)
    with closing(RunStore(path)) as store:
        store.describe(past.setup.run, tags=("kept",))
        assert past.setup.run not in {run.id for run in store.runs()}
    with qtbot.waitSignal(history.listed) as listed:
        history.set_filter('"kept" in tags')
    assert [run.id for run in listed.args[0]] == [past.setup.run]


def test_pins_and_notes_are_kept(
    qtbot: QtBot, history: HistoryController, past: RunState, path: Path
) -> None:
    history.set_pinned(past.setup.run, True)
    history.describe(past.setup.run, ("kept",), "the good one")
    qtbot.waitUntil(lambda: not history._listing.is_busy)
    (run,) = _list(qtbot, history)

    assert (run.pinned, run.tags, run.note) == (True, ("kept",), "the good one")


def test_changes_that_wait_are_made_at_the_end(
    qtbot: QtBot, history: HistoryController, past: RunState, path: Path
) -> None:
    history.refresh()
    history.delete([past.setup.run])
    history.close()

    with closing(RunStore(path)) as store:
        assert store.runs() == ()


def test_old_runs_go_and_pinned_ones_stay(
    qtbot: QtBot, history: HistoryController, past: RunState, path: Path
) -> None:
    with closing(RunStore(path)) as store:
        events = list(store.events(past.setup.run))
        for name in ("second", "third"):
            first = replace(events[0], setup=replace(past.setup, run=name))
            store.add([replace(each, at=1.0) for each in (first, *events[1:])], name)
    history.set_pinned("second", pinned=True)
    qtbot.waitUntil(lambda: not history._listing.is_busy and not history._changes)
    history.prune(0, 0)
    assert not history._changes
    with qtbot.waitSignal(history.listed) as listed:
        history.prune(0, 30)
    assert {run.id for run in listed.args[0]} == {past.setup.run, "second"}
    with qtbot.waitSignal(history.listed) as listed:
        history.prune(1, 0)
    assert {run.id for run in listed.args[0]} == {past.setup.run, "second"}


def test_a_branch_keeps_its_name(qtbot: QtBot, history: HistoryController, past: RunState) -> None:
    history.name_branch(past.setup.run, 0, "as it was")
    qtbot.waitUntil(lambda: not history._listing.is_busy and not history._changes)
    with qtbot.waitSignal(history.opened) as opened:
        history.open(past.setup.run)
    assert dict(opened.args[0].names) == {0: "as it was"}
    history.name_branch(past.setup.run, 0, "")
    qtbot.waitUntil(lambda: not history._listing.is_busy and not history._changes)
    with qtbot.waitSignal(history.opened) as opened:
        history.open(past.setup.run)
    assert dict(opened.args[0].names) == {}


def test_a_deleted_run_is_gone(qtbot: QtBot, history: HistoryController, past: RunState) -> None:
    with qtbot.waitSignal(history.listed) as listed:
        history.delete([past.setup.run])

    assert listed.args[0] == ()
    with qtbot.waitSignal(history.failed) as failed:
        history.open(past.setup.run)
    assert failed.args == ["The run no longer exists."]


def test_a_run_under_way_is_not_deleted(
    qtbot: QtBot, history: HistoryController, past: RunState, path: Path
) -> None:
    background = Background()
    with closing(RunStore(path)) as store:
        controller = RunController(background, StoreJournal(store))
        with qtbot.waitSignal(controller.sessions.started):
            controller.start(plan([LOOKUP, FINAL]), at_entry=True)
        qtbot.waitUntil(lambda: controller.view.is_waiting)
        assert controller.state is not None
        live = controller.state.setup.run
        told: list[str] = []
        history.failed.connect(told.append)
        with qtbot.waitSignals([history.listed, history.failed]):
            history.delete([past.setup.run, live])
        assert told == [
            "1 run was deleted; 1 run is still running and was not deleted; stop it first."
        ]
        assert [line.id for line in store.runs()] == [live]
        with qtbot.waitSignal(controller.sessions.ended):
            controller.stop()
        controller.close()
        background.stop()
        with qtbot.waitSignal(history.listed):
            history.delete([live])
        assert store.runs() == ()


def test_a_file_that_is_no_history_is_said(
    qtbot: QtBot, history: HistoryController, path: Path
) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(b"this is no database, whatever its name says" * 100)
    with qtbot.waitSignal(history.failed) as failed:
        history.refresh()

    assert "move it away to start a new one" in failed.args[0]


def test_a_row_says_how_a_run_ended() -> None:
    run = RunSummary("r", NOW.timestamp() - 60, prompt="Agent", status="failed", pinned=True)
    row = row_of(run, NOW)

    assert row.tone == "bad"
    assert row.cells[0] == "★ Agent"
    assert row.cells[2] == "today 11:59:00"
    assert row.cells[HEADS.index("End")] == "failed"


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        (datetime(2026, 3, 2, 9, 5, tzinfo=UTC), "2 Mar 09:05"),
        (datetime(2025, 3, 2, tzinfo=UTC), "2 Mar 2025"),
    ],
)
def test_moments_as_people_say_them(moment: datetime, words: str) -> None:
    assert when(moment.timestamp(), NOW) == words


def test_the_model_keeps_its_place_when_runs_only_go_on(qapp: object) -> None:
    model = HistoryModel()
    resets: list[None] = []
    model.modelReset.connect(lambda: resets.append(None))
    model.show_runs([RunSummary("a", 1.0), RunSummary("b", 2.0)])
    model.show_runs([RunSummary("a", 1.0, status="done"), RunSummary("b", 2.0)])
    model.show_runs([RunSummary("b", 2.0)])

    assert len(resets) == 2
    assert [row.run.id for row in model.rows] == ["b"]


def test_two_runs_are_compared(
    qtbot: QtBot, history: HistoryController, past: RunState, path: Path
) -> None:
    background = Background()
    with closing(RunStore(path)) as store:
        controller = RunController(background, StoreJournal(store))
        with qtbot.waitSignal(controller.sessions.ended):
            controller.start(plan([LOOKUP, "Final Answer: Rome."]))
        controller.close()
        background.stop()
    assert controller.state is not None
    with qtbot.waitSignal(history.compared) as compared:
        history.compare(past.setup.run, controller.state.setup.run)
    (comparison,) = compared.args

    row = comparison.rows[comparison.first_difference]
    assert row.left.summary == "I know it all."


def test_what_another_program_writes_is_listed_and_followed(
    qtbot: QtBot, history: HistoryController, path: Path, past: RunState
) -> None:
    run = past.setup.run
    with closing(RunStore(path)) as mine, closing(RunStore(path)) as other:
        events = list(mine.events(run))
        theirs = replace(past.setup, run="theirs")
        first, rest = replace(events[0], setup=theirs), events[1:]
        _list(qtbot, history)
        history.watch()
        with qtbot.waitSignal(history.listed) as listed:
            journal = other.journal("theirs")
            journal.write(first)
        assert "theirs" in [line.id for line in listed.args[0]]
        with qtbot.waitSignal(history.opened) as opened:
            history.open("theirs")
        assert len(opened.args[0].events) == 1
        assert mine.is_driven_elsewhere("theirs")
        assert not other.is_driven_elsewhere("theirs")

        def is_whole(record: RunRecord) -> bool:
            return len(record.events) == len(events)

        with qtbot.waitSignal(history.followed, check_params_cb=is_whole):
            for event in rest:
                journal.write(event)


def test_a_run_that_was_taken_over_is_written_by_one_alone(path: Path, past: RunState) -> None:
    with closing(RunStore(path)) as mine, closing(RunStore(path)) as other:
        events = list(mine.events(past.setup.run))
        setup = replace(past.setup, run="shared")
        journal = other.journal("shared")
        journal.write(replace(events[0], setup=setup))
        taken = mine.journal("shared")
        assert mine.owns("shared")
        assert not other.owns("shared")
        with pytest.raises(StoreError, match="continues this run"):
            journal.write(events[1])
        taken.write(events[1])
        assert len(list(mine.events("shared"))) == 2
