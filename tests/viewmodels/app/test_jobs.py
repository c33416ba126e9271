"""Work in the pool: the newest counts, and nothing of it stays."""

from __future__ import annotations

import gc
import threading

import pytest
from pytestqt.qtbot import QtBot

from studio.viewmodels.app.jobs import LatestJob, _Job, _Relay
from tests.support import patience

_MANY = 400


def left() -> int:
    """How many jobs there are."""
    gc.collect()
    return sum(isinstance(each, _Job | _Relay) for each in gc.get_objects())


def test_no_job_stays_when_it_is_done(qtbot: QtBot) -> None:
    """Some ended while they were still being handed over, and were never freed."""
    before = left()
    job: LatestJob[int] = LatestJob()
    done = 0
    for number in range(_MANY):
        with qtbot.waitSignal(job.finished):
            job.submit(lambda number=number: number)
        done += 1
    assert done == _MANY

    def at_rest() -> bool:
        """Whether all but the last two relays are gone; the next job ends those of slow threads."""
        if job.is_busy:
            return False
        if left() <= before + 2:
            return True
        job.submit(lambda: 0)
        return False

    qtbot.waitUntil(at_rest)


def test_only_the_newest_result_is_told(qtbot: QtBot) -> None:
    job: LatestJob[str] = LatestJob()
    told: list[str] = []
    job.finished.connect(told.append)
    gate = threading.Event()

    def first() -> str:
        gate.wait(patience.SECONDS)
        return "first"

    job.submit(first)
    for word in ("second", "third"):
        job.submit(lambda word=word: word)
    assert job.is_busy
    with qtbot.waitSignal(job.finished):
        gate.set()
    qtbot.waitUntil(lambda: not job.is_busy)
    assert told == ["third"]


def test_a_dropped_job_is_not_told(qtbot: QtBot) -> None:
    job: LatestJob[str] = LatestJob()
    told: list[object] = []
    job.finished.connect(told.append)
    job.failed.connect(told.append)
    job.submit(lambda: "unwanted")
    job.drop()
    qtbot.waitUntil(lambda: not job.is_busy)
    assert not job.is_busy
    assert told == []


def test_a_failure_is_told_and_logged(qtbot: QtBot, caplog: pytest.LogCaptureFixture) -> None:
    job: LatestJob[str] = LatestJob()

    def fail() -> str:
        raise LookupError("nothing there")

    with qtbot.waitSignal(job.failed) as told:
        job.submit(fail)
    assert isinstance(told.args[0], LookupError)
    assert "LookupError: nothing there" in caplog.text
    assert not job.is_busy
