"""The history on a real disk: what is written is there, also after a kill."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import random
import signal
import sqlite3
import statistics
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from studio.core.agent.loop.machine import fold
from studio.core.agent.past.replay import walk
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.run.runner import Run
from studio.core.agent.values.commands import Approve, Continue, ForkFrom, StopRun
from studio.core.agent.values.events import ModelCalled, Rendered, Started, Stopped
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.step import Limits, PausePoint
from studio.core.models.scripted import ScriptedModel
from studio.core.runs.store import RunFilter, RunStore, StoreError
from studio.core.wire.reply import Reply
from tests.core.agent.runs import (
    NATIVE,
    REACT,
    Functions,
    Session,
    call,
    calling,
    document,
    run_of,
    search,
)

ROOT = Path(__file__).resolve().parents[3]
ACT = 'Thought: look\nAction: search\nArgs: {"query": "a"}'


@pytest.fixture
def store(tmp_path):
    made = RunStore(tmp_path / "runs.sqlite")
    yield made
    made.close()


async def write(store: RunStore, run_id: str, prompt: str = NATIVE, steps: int = 1, **more):
    turn = ACT if prompt is REACT else calling(call())
    last = "Final Answer: ok" if prompt is REACT else "ok"
    options = RunOptions(headless=True, limits=Limits(None))
    run, _ = run_of(
        prompt, [turn] * steps + [last], options=options, journal=store.journal(run_id), **more
    )
    await run.go()
    return run


@pytest.mark.parametrize("prompt", [NATIVE, REACT])
async def test_a_run_is_read_back_as_it_was(store, prompt):
    run = await write(store, "a", prompt, 3)
    events = list(store.events("a"))
    assert events == list(run.events)
    assert fold(events) == run.state


async def test_an_event_is_on_disk_before_it_is_shown(store, tmp_path):
    other = sqlite3.connect(tmp_path / "runs.sqlite")
    found = []

    def shown(event):
        found.append(other.execute("SELECT count(*) FROM events").fetchone()[0] == event.seq)

    await write(store, "a", shown=shown)
    other.close()
    assert found
    assert all(found)


async def test_the_list_says_what_a_run_was(store):
    await write(store, "a", steps=2)
    (line,) = store.runs()
    assert (line.prompt, line.status, line.answer, line.question) == (
        "Caller",
        "done",
        "ok",
        "Where?",
    )
    assert (line.calls_model, line.calls_tool, line.tokens, line.protocol) == (3, 2, 30, "native")
    assert line.events == len(list(store.events("a")))


async def test_a_finished_run_stays_done_when_a_branch_of_it_is_left(store):
    await write(store, "a")
    model, past = ScriptedModel(["no"]), walk(store.events("a"))
    plan = RunPlan(
        document(NATIVE),
        {"question": "Where?"},
        model,
        Functions(search),
        journal=store.journal("a"),
        past=past,
    )
    run = Run(plan, past.state.setup)
    state = await run.go(ForkFrom(past.tree.checkpoints[0].id), StopRun())
    assert state.status == "stopped"
    assert (store.summary("a").status, store.summary("a").answer) == ("done", "ok")


async def test_filters_tags_notes_and_pins(store):
    await write(store, "a")
    await write(store, "b", REACT)
    store.describe("a", tags=["Good 100%", "x"], note="keep me", pinned=True)
    assert [line.id for line in store.runs()] == ["a", "b"]
    assert [line.id for line in store.runs(RunFilter(text="keep Caller"))] == ["a"]
    assert [line.id for line in store.runs(RunFilter(tag="Good 100%"))] == ["a"]
    assert store.runs(RunFilter(tag="Good")) == ()
    assert store.runs(RunFilter(text="%")) != ()
    assert store.runs(RunFilter(text="_%_")) == ()
    assert store.runs(RunFilter(status="failed")) == ()
    assert store.summary("a").tags == ("Good 100%", "x")


async def test_pruning_spares_pinned_runs_and_removes_unused_texts(store):
    for name in "abcd":
        await write(store, name, REACT, 5)
    store.describe("a", pinned=True)
    assert store.prune(keep=1) == 2
    assert {line.id for line in store.runs()} == {"a", "d"}
    assert len(list(store.events("d"))) == store.summary("d").events


async def test_an_imported_run_is_whole_or_not_there(store):
    run = await write(store, "a")
    store.add(run.events, "b")
    assert list(store.events("b")) == list(run.events)
    assert store.summary("b").answer == "ok"
    with pytest.raises(StoreError, match="already"):
        store.add(run.events, "b")


async def test_a_growing_prompt_does_not_take_the_square_of_its_size(store):
    seen: list[str] = []

    def long(query: str) -> str:
        seen.append(query)
        return f"result {len(seen)} " * 60

    options = RunOptions(headless=True, limits=Limits(None))
    turn = ACT.replace("search", "long")
    run, _ = run_of(
        REACT,
        [turn] * 60 + ["Final Answer: ok"],
        tools=Functions(long),
        options=options,
        journal=store.journal("a"),
    )
    await run.go()
    content = sum(
        len(step.reply.text) + sum(len(call.observation) for call in step.calls)
        for step in run.state.steps
    )
    store.tidy()
    assert list(store.events("a")) == list(run.events)
    # Each observation stands in its event, in the next prompt, and its start in its card's line.
    assert store.size() < 9 * content


async def test_writing_an_event_takes_some_statements_however_long_the_run_is(store):
    """Counted, since the disk of a test machine may be slow; a millisecond is for the benches."""
    statements, now = [], []
    store._connection.set_trace_callback(now.append)
    writer = store.journal("a")

    def counted(event):
        now.clear()
        writer(event)
        statements.append(len(now))

    options = RunOptions(headless=True, limits=Limits(None))
    run, _ = run_of(NATIVE, [calling(call())] * 50 + ["ok"], options=options, journal=counted)
    await run.go()
    assert statistics.median(statements) < 8
    assert max(statements[-10:]) <= max(statements[:30])


@pytest.mark.slow
async def test_a_killed_run_is_there_up_to_its_last_event(tmp_path):
    path = tmp_path / "runs.sqlite"
    command = [sys.executable, "-m", "tests.core.runs.writing_run", str(path)]
    wanted = random.Random(os.getpid()).randint(5, 400)
    told = 0
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        while told < wanted:
            told = int(child.stdout.readline())
        child.send_signal(signal.SIGKILL)
        rest = child.stdout.read().split("\n")
    told = max([told, *(int(line) for line in rest[:-1] if line)])
    store = RunStore(path)
    try:
        assert store.mark_interrupted() == ("r1",)
        events = list(store.events("r1"))
        assert isinstance(events[-1], Stopped)
        assert len(events) - 1 >= told
        past = walk(events)
        assert (past.state.status, store.summary("r1").status) == ("interrupted", "interrupted")
        model = ScriptedModel(["ok"] * 3)
        plan = RunPlan(
            document(NATIVE),
            {"question": "Where?"},
            model,
            Functions(search),
            journal=store.journal("r1"),
            past=past,
        )
        run = Run(plan, past.state.setup)
        state = await run.go(ForkFrom(past.tree.checkpoints[0].id), Continue())
        assert state.status == "done"
        assert fold_of(store) == state
    finally:
        store.close()


def fold_of(store, run="r1"):
    return walk(store.events(run)).state


async def test_a_run_of_a_living_process_is_left_alone(tmp_path):
    first, second = RunStore(tmp_path / "runs.sqlite"), RunStore(tmp_path / "runs.sqlite")
    run, _ = run_of(NATIVE, [])
    writer = first.journal("a")
    writer(Started(run.state.setup, seq=1, at=1.0))
    assert second.mark_interrupted() == ()
    first.close()
    assert second.mark_interrupted() == ("a",)
    second.close()


async def test_a_killed_run_is_taken_once_whoever_ended_it_before(tmp_path):
    window = RunStore(tmp_path / "runs.sqlite")
    run, _ = run_of(NATIVE, [])
    window.journal("a")(Started(run.state.setup, seq=1, at=1.0))
    window.close()
    terminal, restarted = RunStore(tmp_path / "runs.sqlite"), RunStore(tmp_path / "runs.sqlite")
    assert terminal.mark_interrupted() == ("a",)
    assert restarted.take_interrupted() == ("a",)
    assert restarted.take_interrupted() == ()
    terminal.close()
    restarted.close()


def test_what_had_come_of_a_reply_is_in_a_run_that_was_killed(tmp_path):
    path = tmp_path / "runs.sqlite"
    first = RunStore(path)
    run, _ = run_of(NATIVE, [])
    writer = first.journal("a")
    facts = (Started(run.state.setup), Rendered(()), ModelCalled(1))
    for number, fact in enumerate(facts, 1):
        writer(dataclasses.replace(fact, seq=number, at=float(number)))
    writer.keep_reply(Reply("Once"))
    writer.keep_reply(Reply("Once upon a time"))
    first.close()

    second = RunStore(path)
    assert second.mark_interrupted() == ("a",)
    state = fold_of(second, "a")
    assert state.status == "interrupted"
    assert state.step.partial == Reply("Once upon a time")
    second.close()


def test_a_reply_that_ended_leaves_no_piece_of_it(tmp_path):
    path = tmp_path / "runs.sqlite"
    first = RunStore(path)
    run, _ = run_of(NATIVE, [])
    writer = first.journal("a")
    writer(Started(run.state.setup, seq=1, at=1.0))
    writer.keep_reply(Reply("Once upon"))
    writer(Rendered((), seq=2, at=2.0))
    first.close()

    second = RunStore(path)
    second.mark_interrupted()
    assert fold_of(second, "a").step.partial is None
    second.close()


def test_a_file_that_is_no_history_is_named(tmp_path):
    path = tmp_path / "runs.sqlite"
    path.write_text("no database at all, but long enough to be looked at" * 10, encoding="utf-8")
    with pytest.raises(StoreError, match="it is not a database"):
        RunStore(path)


def test_a_history_of_a_newer_studio_is_left_alone(tmp_path):
    path = tmp_path / "runs.sqlite"
    other = sqlite3.connect(path)
    other.execute("PRAGMA user_version = 99")
    other.close()
    with pytest.raises(StoreError, match="newer"):
        RunStore(path)


async def test_the_window_may_write_while_a_run_does(store):
    first = await write(store, "a")
    failed: list[Exception] = []

    def meddle():
        try:
            for number in range(60):
                store.describe("a", note=f"note {number}")
                store.add(first.events, f"copy {number}")
                with contextlib.suppress(StoreError):
                    store.add([*first.events, first.events[0]], f"broken {number}")
        except Exception as error:  # noqa: BLE001 - told by the test
            failed.append(error)

    thread = threading.Thread(target=meddle)
    thread.start()
    run = await write(store, "b", steps=60)
    thread.join()
    assert failed == []
    assert list(store.events("b")) == list(run.events)
    ids = {line.id for line in store.runs()}
    assert {"a", "b", "copy 59"} <= ids
    assert not any(name.startswith("broken") for name in ids)


async def test_a_full_disk_is_named(store):
    await write(store, "a")
    store._connection.execute("PRAGMA max_page_count = 1")
    writer = store.journal("a")
    setup = dataclasses.replace(walk(store.events("a")).state.setup, source="long " * 100_000)
    before = list(store.events("a"))
    with pytest.raises(StoreError, match="cannot be written"):
        writer(Started(setup, seq=999, at=1.0))
    assert list(store.events("a")) == before


async def test_texts_of_a_write_that_failed_are_written_again(store):
    first = await write(store, "a", REACT, 12)
    store.delete("a")
    store.tidy()
    with pytest.raises(StoreError):
        store.add([*first.events, first.events[0]], "b")
    store.add(first.events, "b")
    assert list(store.events("b")) == list(first.events)


async def test_tidying_while_a_run_goes_on_takes_nothing_from_it(store):
    other = await write(store, "a", REACT, 12)
    writer = store.journal("b")
    for event in other.events:
        writer(event)
        if event.seq % 7 == 0:
            store.delete("a")
            store.tidy()
    assert list(store.events("b")) == list(other.events)


async def test_a_run_that_was_deleted_is_not_written_on_nor_into_another(store):
    run = await write(store, "a")
    writer = store.journal("a")
    store.delete("a")
    await write(store, "b")  # it may have the number that was free
    kept = list(store.events("b"))
    for _ in range(2):
        with pytest.raises(StoreError, match="deleted"):
            writer.write(dataclasses.replace(run.events[-1], seq=len(run.events) + 1))
    assert [line.id for line in store.runs()] == ["b"]
    assert list(store.events("b")) == kept


async def test_a_filter_takes_the_beginning_of_an_id_but_no_digit_of_it(store):
    await write(store, "3f7a99")
    assert store.runs(RunFilter(text="7")) == ()
    assert store.runs(RunFilter(text="7a99")) == ()
    assert [line.id for line in store.runs(RunFilter(text="3F7A"))] == ["3f7a99"]


async def test_a_run_that_waits_for_the_user_is_found_among_those_under_way(store):
    tools = Functions(search, ask=("search",))
    session = Session.over(
        NATIVE,
        [calling(call()), "ok"],
        tools=tools,
        options=RunOptions(),
        journal=store.journal("r1"),
    )
    waiting = RunFilter(status="waiting")
    assert await session.until_still() == PausePoint.TOOL_CALL
    (line,) = store.runs(waiting)
    assert (line.status, line.waits) == ("running", "approval")
    await write(store, "newer")
    going, _ = run_of(NATIVE, [])  # under way, and it waits for nobody
    store.journal("newest")(Started(going.state.setup, seq=1, at=4e9))
    assert store.runs(RunFilter(status="waiting", limit=1)) == (line,)
    assert store.runs(RunFilter(limit=1), lambda run: bool(run.waits)) == (line,)
    assert [run.id for run in store.runs(RunFilter(limit=2))] == ["newest", "newer"]
    assert store.runs(RunFilter(status="waiting", limit=0)) == ()
    assert store.summary("r1").waits == "approval"
    await session.send(Approve(0))
    assert session.run.state.status == "done"
    assert store.runs(waiting) == ()
    assert {each.waits for each in store.runs()} == {""}


def test_lock_files_of_killed_processes_go_and_those_of_living_ones_stay(tmp_path):
    living, looking = RunStore(tmp_path / "runs.sqlite"), RunStore(tmp_path / "runs.sqlite")
    killed, starting = tmp_path / "runs-killed.lock", tmp_path / "runs-starting.lock"
    killed.touch()
    starting.touch()
    for path in tmp_path.glob("*.lock"):
        if path != starting:
            os.utime(path, (1.0, 1.0))
    looking.mark_interrupted()
    assert (killed.exists(), starting.exists()) == (False, True)
    assert len(list(tmp_path.glob("*.lock"))) == 3
    looking.close()
    living.close()
    assert list(tmp_path.glob("*.lock")) == [starting]
