"""A kept run opened by its notes is the run that a reading of every event gives."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from studio.core.agent.loop.machine import fold
from studio.core.agent.past.replay import Walk, state_at, walk
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.run.runner import Run
from studio.core.agent.values.commands import Continue, ForkFrom, SendBack, Steer
from studio.core.agent.values.events import MessagesEdited, Started
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.step import Limits, PausePoint
from studio.core.models.scripted import ScriptedModel
from studio.core.runs.opened import OpenedRun
from studio.core.runs.run_index import SNAPSHOT_EVERY, shape_of
from studio.core.runs.store import RunStore
from tests.core.agent.runs import (
    JSON_ACTION,
    NATIVE,
    REACT,
    Functions,
    call,
    calling,
    document,
    run_of,
    search,
)

STEPS = SNAPSHOT_EVERY * 3 + 2
TURNS = {
    NATIVE: (lambda at: calling(call(arguments=f'{{"query": "place {at}"}}'), text=f"t{at}"), "ok"),
    REACT: (
        lambda at: (
            f'Thought: t{at}\nAction: search\nArgs: {{"query": "place {at}"}}'
            if at % 7
            else "no label at all"
        ),
        "Final Answer: ok",
    ),
    JSON_ACTION: (
        lambda at: f'{{"action": "search", "action_input": {{"query": "place {at}"}}}}',
        '{"action": "final_answer", "action_input": "ok"}',
    ),
}


@pytest.fixture
def store(tmp_path):
    made = RunStore(tmp_path / "runs.sqlite")
    yield made
    made.close()


async def write(store: RunStore, prompt: str, steps: int = STEPS, **more: object) -> Run:
    turn, last = TURNS[prompt]
    options = RunOptions(headless=True, limits=Limits(None), **more)
    replies = [turn(at) for at in range(steps)]
    run, _ = run_of(prompt, [*replies, last], options=options, journal=store.journal("r1"))
    await run.go()
    return run


def go_on(store: RunStore, past, prompt: str = NATIVE) -> Run:
    plan = RunPlan(
        document(prompt),
        {"question": "Where?"},
        ScriptedModel([TURNS[prompt][0](900), TURNS[prompt][0](901)] * 6 + [TURNS[prompt][1]]),
        Functions(search),
        options=RunOptions(limits=Limits(None), exceptions=frozenset()),
        past=past,
        journal=store.journal("r1"),
    )
    return Run(plan, fold(list(past.events)[:1]).setup)


def assert_same(opened: OpenedRun, events) -> None:
    """Everything that can be looked at is as the whole journal has it."""
    whole = walk(events)
    assert isinstance(opened, OpenedRun)
    assert list(opened.events) == list(events)
    assert opened.tree.checkpoints == whole.tree.checkpoints
    assert (opened.tree.cursor, opened.tree.branch) == (whole.tree.cursor, whole.tree.branch)
    assert opened.tree.ends == whole.tree.ends
    assert opened.state == whole.state
    for checkpoint in opened.tree.checkpoints[:: max(1, len(opened.tree.checkpoints) // 15)]:
        assert opened.state_at(checkpoint.id) == state_at(events, checkpoint.id)
    assert opened.ran == whole.ran


@pytest.mark.parametrize("prompt", [NATIVE, REACT, JSON_ACTION])
async def test_a_long_run_opens_as_it_was(store, prompt):
    run = await write(store, prompt)
    opened = store.open("r1")
    assert_same(opened, run.events)
    state = opened.state
    assert state is not None
    assert state.steps.root.shapes(len(state.steps)) == [shape_of(step) for step in run.state.steps]


async def test_one_step_is_read_without_the_others(store):
    await write(store, NATIVE)
    opened = store.open("r1")
    asked = []
    rows, opened.events._rows = opened.events._rows, None

    class Counted:
        def __len__(self):
            return len(rows)

        def __getitem__(self, at):
            asked.append(at)
            return rows[at]

    opened.events._rows = Counted()
    assert opened.state.status == "done"
    near_the_end = len(asked)
    assert opened.state.steps[20].calls[0].arguments == {"query": "place 20"}
    assert max(near_the_end, len(asked) - near_the_end) < SNAPSHOT_EVERY * 2 * 9
    assert len(opened.state.steps) == STEPS


async def test_branches_edits_and_further_questions_open_as_they_were(store):
    run = await write(store, NATIVE)
    for number in range(3):
        past = store.open("r1")
        assert isinstance(past, OpenedRun)
        again = go_on(store, past)
        places = past.tree.checkpoints
        at = next(
            item
            for item in places[len(places) * number // 4 :]
            if item.place == PausePoint.BEFORE_REQUEST and item.branch == (2 if number == 2 else 0)
        )
        messages = tuple(past.state_at(at.id).step.messages)
        more = (Steer("More."),) if number else (MessagesEdited(messages[-3:]),)
        await again.go(ForkFrom(at.id), *more, Continue())
        assert again.state.status == "done"
        assert list(again.events) == list(store.events("r1"))
        assert_same(store.open("r1"), list(store.events("r1")))
    again = go_on(store, store.open("r1"))
    await again.go(SendBack("And now?"))
    assert_same(store.open("r1"), list(store.events("r1")))
    assert len(again.events) > len(run.events)


async def test_a_conversation_that_is_trimmed_opens_as_it_was(store):
    run = await write(store, NATIVE, context_budget=600)
    assert len(run.state.conversation) < STEPS
    assert_same(store.open("r1"), run.events)


async def test_a_run_without_notes_is_read_from_its_beginning(store, tmp_path):
    run = await write(store, NATIVE, 3)
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as connection, connection:
        connection.execute("UPDATE events SET mark = NULL WHERE seq = 9")
    opened = store.open("r1")
    assert isinstance(opened, Walk)
    assert opened.state == run.state
    await go_on(store, opened).go(ForkFrom(opened.tree.checkpoints[0].id), Continue())
    assert isinstance(store.open("r1"), Walk)


def test_a_history_of_the_first_studio_is_read_and_written_on(tmp_path):
    path = tmp_path / "runs.sqlite"
    RunStore(path).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("ALTER TABLE events DROP COLUMN mark")
        connection.execute("DROP TABLE steps")
        connection.execute("PRAGMA user_version = 1")
    store = RunStore(path)
    run, _ = run_of(NATIVE, ["ok"])
    store.journal("r1").write(Started(run.state.setup, seq=1, at=time.time()))
    assert isinstance(store.open("r1"), OpenedRun)
    store.close()


async def test_tidying_keeps_the_texts_of_the_notes(store, tmp_path):
    run = await write(store, NATIVE, context_budget=None)
    store.tidy()
    assert_same(store.open("r1"), run.events)
    store.delete("r1")
    with closing(sqlite3.connect(Path(tmp_path) / "runs.sqlite")) as connection, connection:
        assert connection.execute("SELECT count(*) FROM steps").fetchone() == (0,)
