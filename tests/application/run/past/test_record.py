"""The journal of runs in the history: each fact is kept, and old runs are let go of."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from studio.application.run.past.record import StoreJournal
from studio.core.agent.values.events import Started
from studio.core.runs.store import RunStore, RunWriter
from studio.viewmodels.app.background import Background
from studio.viewmodels.run.controller import RunController
from tests.application.run.world import CALCULATE, FINAL, plan


@pytest.fixture
def store(qapp: object, tmp_path: Path) -> Iterator[RunStore]:
    with closing(RunStore(tmp_path / "runs.sqlite")) as made:
        yield made


@pytest.fixture
def controller(store: RunStore) -> Iterator[RunController]:
    background = Background()
    made = RunController(background, StoreJournal(store))
    yield made
    made.close()
    background.stop()


def test_what_an_old_run_said_is_not_kept_in_memory(
    qtbot: QtBot, controller: RunController, store: RunStore
) -> None:
    for _ in range(5):
        with qtbot.waitSignal(controller.sessions.ended):
            controller.start(plan([CALCULATE, FINAL]))
    assert len(store.runs()) == 5
    gc.collect()
    assert sum(isinstance(each, RunWriter) for each in gc.get_objects()) <= 2


def test_a_run_that_was_let_go_of_can_still_be_written(
    qtbot: QtBot, controller: RunController, store: RunStore, tmp_path: Path
) -> None:
    with qtbot.waitSignal(controller.sessions.ended):
        controller.start(plan([CALCULATE, FINAL]))
    (line,) = store.runs()
    events = list(store.events(line.id))
    assert isinstance(events[0], Started)
    with closing(RunStore(tmp_path / "other.sqlite")) as other:
        journal = StoreJournal(other)
        names = ("first", "second", "third")
        for name in names:
            journal.begin(replace(events[0].setup, run=name))
        for event in events:
            for name in names:
                journal.write(name, event)
        for name in names:
            assert [type(each) for each in other.events(name)] == [type(each) for each in events]
