"""A snapshot is the state without its past, whatever fields a state has."""

from __future__ import annotations

import json
from dataclasses import fields, replace

from studio.core.agent.loop.steps import new_state
from studio.core.agent.values.state import PersistentList, RunState
from studio.core.agent.values.step import Limits, PausePoint, RunModel, Step
from studio.core.prompty.document import Message, TextPart
from studio.core.runs.run_index import snapshot_of, state_of
from studio.core.wire.reply import Usage
from tests.core.agent.runs import NATIVE, run_of

CALLS = PersistentList([("search", f'{{"query": "{number}"}}') for number in range(30)])


def message(text: str) -> Message:
    return Message("user", (TextPart(text),))


async def past() -> RunState:
    run, _ = run_of(NATIVE, ["ok"])
    await run.go()
    return replace(
        new_state(run.state.setup),
        settled=PersistentList([message("one"), message("two")]),
        past_calls=CALLS,
        observations=PersistentList(str(number) for number in range(30)),
    )


async def test_every_field_of_a_state_comes_back() -> None:
    before = await past()
    conversation = before.settled.plus([message("three")])
    state = replace(
        before,
        place=PausePoint.BEFORE_REQUEST,
        iteration=9,
        conversation=conversation,
        step=Step(9, messages=conversation, sent=3),
        limits=Limits(7),
        usage=Usage(3, 4),
        seconds=1.5,
        waited=2.5,
        format_errors=1,
        composing=True,
        repairs=frozenset({"comments"}),
        steering=("Go on",),
        injected=(message("four"),),
        declined=RunModel("m"),
        answer_problems=("it is cut",),
    )
    snapshot = snapshot_of(state)
    assert snapshot is not None
    assert state_of(before, json.loads(json.dumps(snapshot))) == state
    known = {field.name for field in fields(RunState)}
    assert snapshot.keys() - known == {"has_request", "added", "recent"}
    assert "setup" not in snapshot


async def test_a_snapshot_of_an_older_version_is_read() -> None:
    before = await past()
    older = {
        "place": PausePoint.BEFORE_REQUEST.value,
        "iteration": 9,
        "has_request": True,
        "limits": {"iterations": 7},
        "usage": {},
        "seconds": 1,
        "repairs": ["comments"],
        "steering": ["Go on"],
        "switched_to": {"name": "m"},
        "added": [{"role": "user", "parts": [{"t": "TextPart", "text": "three"}]}],
        "recent": [["search", '{"query": "29"}']],
    }
    state = state_of(before, older)
    assert (state.place, state.iteration, state.seconds) == (PausePoint.BEFORE_REQUEST, 9, 1.0)
    assert (state.limits.iterations, state.repairs) == (7, frozenset({"comments"}))
    assert (state.steering, state.answered_by) == (("Go on",), RunModel("m"))
    assert [each.text for each in state.conversation] == ["one", "two", "three"]
    assert (state.step.messages, state.step.sent) == (state.conversation, 3)
    assert state.past_calls == CALLS
    assert snapshot_of(replace(state, status="done")) is None
