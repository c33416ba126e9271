"""A journal that cannot be written: the run is not lost, and says so."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from studio.core.agent.past.replay import walk
from studio.core.agent.values.commands import Continue
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.step import PausePoint
from studio.core.runs.store import RunStore
from tests.core.agent.runs import NATIVE, Session, call, calling, run_of


def limit_pages(path, store, more):
    """Let the file grow by so many pages: a full disk, as SQLite tells of it."""
    connection = store._connection
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages + more}")


async def test_a_headless_run_ends_with_a_named_state(tmp_path):
    with closing(RunStore(tmp_path / "runs.sqlite")) as store:
        writer = store.journal("r1")
        limit_pages(tmp_path, store, 0)
        run, model = run_of(NATIVE, [calling(call(), text="long " * 9000), "ok"], journal=writer)
        state = await run.go()
        assert (state.status, state.error.kind) == ("failed", "journal")
        assert "full" in state.error.message
        assert len(model.requests) <= 1
        assert walk(run.events).state == state  # all of it is in memory


async def test_a_person_makes_room_and_goes_on_and_nothing_is_missing(tmp_path):
    path = tmp_path / "runs.sqlite"
    with closing(RunStore(path)) as store:
        writer = store.journal("r1")
        limit_pages(path, store, 0)
        replies = [calling(call(), text="long " * 9000), "ok"]
        session = Session.over(NATIVE, replies, journal=writer, options=RunOptions())
        assert await session.until_still() in (PausePoint.BEFORE_REQUEST, PausePoint.REPLY)
        assert "cannot be saved" in session.run.state.pause.text
        store._connection.execute("PRAGMA max_page_count = 1000000")
        assert await session.send(Continue()) == "done"
    with closing(sqlite3.connect(path)) as plain:
        (kept,) = plain.execute("SELECT count(*) FROM events").fetchone()
    assert kept == len(session.run.events)
    with closing(RunStore(path)) as store:
        assert list(store.events("r1")) == list(session.run.events)
