"""Cards of a kept run: as many as a reading of all steps gives, each made when it is seen."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from studio.application.run.cards.card import StoredCards, cards_in
from studio.application.run.cards.timeline import cards_of_step, timeline_of
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.run.runner import Run
from studio.core.agent.values.commands import Continue, ForkFrom
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.step import Limits
from studio.core.models.scripted import ScriptedModel
from studio.core.runs.database import StoredEvents
from studio.core.runs.run_index import shape_of
from studio.core.runs.store import RunStore
from studio.viewmodels.run.controller import StepListModel
from tests.core.agent.runs import NATIVE, REACT, Functions, call, calling, document, run_of, search

STEPS = 40


async def kept(path: Path, prompt: str = NATIVE) -> Run:
    act = 'Thought: look\nAction: search\nArgs: {"query": "a"}'
    turns = [calling(call(), text="t")] if prompt is NATIVE else [act, "no label at all", act]
    replies = [turns[at % len(turns)] for at in range(STEPS)]
    options = RunOptions(headless=True, limits=Limits(None))
    with closing(RunStore(path)) as store:
        run, _ = run_of(
            prompt, [*replies, "Final Answer: ok"], options=options, journal=store.journal("r1")
        )
        await run.go()
    return run


@pytest.mark.parametrize("prompt", [NATIVE, REACT])
async def test_the_cards_of_an_opened_run_are_those_of_its_steps(
    tmp_path: Path, prompt: str
) -> None:
    run = await kept(tmp_path / "runs.sqlite", prompt)
    with closing(RunStore(tmp_path / "runs.sqlite")) as store:
        state = store.open("r1").state
    later, whole = timeline_of(state), timeline_of(run.state)
    assert isinstance(later.cards.head.root, StoredCards)
    assert len(later.cards) == len(whole.cards)
    assert list(later.cards) == list(whole.cards)
    assert later.cards[:7] == whole.cards[:7]
    for step in run.state.steps:
        assert cards_in(shape_of(step)) == len(cards_of_step(step))
        assert later.cards.before(step.number) == whole.cards.before(step.number)


async def test_cards_are_made_of_what_is_kept_without_folding_a_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await kept(tmp_path / "runs.sqlite", REACT)
    with closing(RunStore(tmp_path / "runs.sqlite")) as store:
        state = store.open("r1").state
    cards = timeline_of(state).cards
    reads: list[int] = []
    monkeypatch.setattr(StoredEvents, "_make", lambda _, index: reads.append(index))
    assert list(cards) == list(timeline_of(run.state).cards)
    assert reads == []


async def test_cards_of_an_older_history_are_made_of_the_steps(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    run = await kept(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ALTER TABLE steps DROP COLUMN sketch")
        connection.execute("PRAGMA user_version = 2")
    with closing(RunStore(path)) as store:
        state = store.open("r1").state
    assert list(timeline_of(state).cards) == list(timeline_of(run.state).cards)


async def test_a_list_of_cards_looks_at_those_in_sight(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    await kept(path)
    with closing(RunStore(path)) as store:
        past = store.open("r1")
        plan = RunPlan(
            document(NATIVE),
            {"question": "Where?"},
            ScriptedModel(["ok"]),
            Functions(search),
            journal=store.journal("r1"),
            past=past,
        )
        at = next(item for item in past.tree.checkpoints if item.iteration == STEPS - 2)
        run = Run(plan, past.events[0].setup)  # type: ignore[union-attr]
        await run.go(ForkFrom(at.id), Continue())
        past = store.open("r1")
    first, other = timeline_of(past.state_at(at.id)), timeline_of(past.state)
    root, its = first.cards.head.root, other.cards.head.root
    assert isinstance(root, StoredCards)
    assert isinstance(its, StoredCards)
    other = timeline_of(past.state, first)
    assert set(root._made) <= {STEPS - 4, STEPS - 3, STEPS - 2}
    its = other.cards.head.root
    assert isinstance(its, StoredCards)
    model = StepListModel()
    model.show_timeline(first)
    model.show_timeline(other)
    assert model.cards == other.cards
    row = model.row_of((5, "prompt", None))
    assert model.cards[row].step == 5
    assert set(its._made) | set(root._made) <= {4, STEPS - 4, STEPS - 3, STEPS - 2}
    assert model.row_of((STEPS + 9, "prompt", None)) == -1
