"""A run that is driven: it has ended once its models are closed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from studio.application.run.past.record import StoreJournal
from studio.application.run.start.session import Arrived, Ended, RunSession
from studio.core.agent.values.commands import ChooseModel, SendBack, StopRun
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.step import RunModel
from studio.core.models.base import ModelError, ModelRequest
from studio.core.models.scripted import ScriptedModel
from studio.core.runs.store import RunStore
from studio.core.wire.reply import ReplyDelta
from tests.application.run.world import FINAL, LOOKUP, plan

MORE = "Thought: More.\nFinal Answer: And Rome."


class ClosableModel(ScriptedModel):
    """Notes what is done with it; `may_close` holds its closing back."""

    def __init__(self, replies: list[str], notes: list[str], label: str = "Own") -> None:
        super().__init__(replies, label=label)
        self.notes = notes
        self.closing = asyncio.Event()
        self.may_close = asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ReplyDelta, None]:
        self.notes.append("asked")
        async for delta in super().stream(request):
            yield delta

    async def close(self) -> None:
        self.closing.set()
        await self.may_close.wait()
        self.notes.append("closed")


def answers(session: RunSession) -> list[str]:
    """What arrived: the answers, and the ends."""
    found = [
        arrival.state.answer or "" if isinstance(arrival, Arrived) else "ended"
        for arrival in session.take()
        if isinstance(arrival, Ended) or (isinstance(arrival, Arrived) and arrival.state.is_over)
    ]
    return list(dict.fromkeys(found))


async def test_what_comes_while_models_are_closed_asks_none_of_them() -> None:
    notes: list[str] = []
    model = ClosableModel([FINAL, MORE], notes)
    session = RunSession(plan(model))
    driving = asyncio.create_task(session.drive())
    await model.closing.wait()
    assert answers(session) == ["It is **Paris**, and 25."]  # and no end yet

    assert await session.send(SendBack("And of Italy?")) == ""
    model.may_close.set()
    await driving
    assert answers(session) == ["ended"]
    assert session.has_waiting_commands

    await session.drive()
    assert answers(session) == ["And Rome.", "ended"]
    assert not session.has_waiting_commands
    assert notes == ["asked", "closed", "asked", "closed"]


async def test_a_model_that_cannot_be_closed_keeps_no_other_open() -> None:
    class Broken(ScriptedModel):
        async def close(self) -> None:
            raise ModelError("broken", "It cannot be closed.")

    notes: list[str] = []
    own, other = ClosableModel([LOOKUP], notes), Broken([FINAL], label="Other")
    own.may_close.set()
    limited = replace(plan(own), options=RunOptions(stop_at_entry=True))
    session = RunSession(limited)
    chosen = ChooseModel(RunModel("Other"), RunModel("Own"), other)
    driving = asyncio.create_task(session.drive())
    while not session.take():
        await asyncio.sleep(0)
    driving.cancel()
    await session.send(chosen)
    await asyncio.wait({driving})
    assert notes == ["closed"]
    assert answers(session)[-1] == "ended"


async def test_a_run_that_cannot_begin_leaves_no_model_open() -> None:
    notes: list[str] = []
    model = ClosableModel([FINAL], notes)
    model.may_close.set()

    async def broken() -> object:
        raise ModelError("no-tools", "There are none.")

    session = RunSession(replace(plan(model), toolbox=None, open_toolbox=broken))  # type: ignore[arg-type]
    await session.send(SendBack("too early"))
    await session.drive()
    assert answers(session) == ["ended"]
    assert notes == ["closed"]
    assert not session.has_waiting_commands


async def test_a_run_that_cannot_be_kept_from_its_first_entry_asks_nobody(tmp_path: Path) -> None:
    notes: list[str] = []
    model = ClosableModel([FINAL], notes)
    model.may_close.set()
    with closing(RunStore(tmp_path / "runs.sqlite")) as store:
        store._connection.execute("PRAGMA query_only = 1")
        session = RunSession(plan(model), StoreJournal(store))
        await session.drive()
    (end,) = session.take()
    assert isinstance(end, Ended)
    assert end.fault.startswith("The run did not start, nothing was sent: the history ")
    assert "cannot be written: it cannot be written" in end.fault
    assert notes == ["closed"]


async def test_a_run_whose_end_cannot_be_kept_says_so(tmp_path: Path) -> None:
    paused = replace(plan(ScriptedModel([FINAL])), options=RunOptions(stop_at_entry=True))
    with closing(RunStore(tmp_path / "runs.sqlite")) as store:
        session = RunSession(paused, StoreJournal(store))
        driving = asyncio.create_task(session.drive())
        while not any(isinstance(each, Arrived) and each.state.pause for each in session.take()):
            await asyncio.sleep(0)
        store._connection.execute("PRAGMA query_only = 1")
        assert await session.send(StopRun()) == ""
        await driving
    end = session.take()[-1]
    assert isinstance(end, Ended)
    assert end.fault.startswith("The end of the run was not saved: the history ")
    assert "cannot be written: it cannot be written" in end.fault
