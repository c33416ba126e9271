"""Whatever a person does in whatever order, a run stays whole.

Each example plays a person at every pause: edits, steps, forks, stops, chosen at random among what
is allowed there. After each word the invariants are looked at.
"""

from __future__ import annotations

import asyncio
import os

from hypothesis import given, settings
from hypothesis import strategies as st

from studio.core.agent.past.replay import branch_path, walk
from studio.core.agent.run.requests import NotAllowedError, allowed
from studio.core.agent.values import commands as say
from studio.core.agent.values.events import OutcomeTold, ReplyRead, ToolCalled
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.step import Limits, PausePoint, RunModel
from studio.core.models.base import ModelError
from studio.core.wire.reply import Reply
from tests.core.agent.loop.test_context import is_legal
from tests.core.agent.runs import JSON_ACTION, NATIVE, REACT, Functions, Session, call, calling
from tests.support import patience

EXAMPLES = int(os.environ.get("RUN_EXAMPLES", "120"))
PLACES = frozenset(
    {
        PausePoint.BEFORE_REQUEST,
        PausePoint.REPLY,
        PausePoint.TOOL_CALL,
        PausePoint.OBSERVATION,
        PausePoint.STEP_END,
        PausePoint.ANSWER,
    }
)

REPLIES = {
    NATIVE: [
        calling(call()),
        calling(call(call_id="1"), call("other", call_id="2"), text="both"),
        calling(call("nothing")),
        calling(call(arguments="{'query': 'x',}")),
        calling(call(arguments='{"query"')),
        Reply("the answer", finish_reason="stop"),
        Reply(refusal="no", finish_reason="refusal"),
        ModelError("server-error", "It failed."),
    ],
    REACT: [
        'Thought: t\nAction: search\nArgs: {"query": "a"}',
        'Thought: t\nAction: search\nArgs: {"query": "a",}',
        "nonsense",
        "Thought: done\nFinal Answer: the answer",
    ],
    JSON_ACTION: [
        '{"action": "search", "action_input": "a"}',
        "{'action': 'search'}",
        '{"action": "final_answer", "action_input": "the answer"}',
    ],
}


def tools() -> Functions:
    def search(query: str) -> str:
        return f"found {query}"

    def other(query: str) -> str:
        raise ValueError("broken")

    return Functions(search, other, ask=("other",))


def word(session: Session, kind: type, pick: int):
    """A command of one kind that fits the state."""
    state = session.run.state
    rows = len(state.step.calls)
    row = pick % rows if rows else 0
    points = session.run.tree.checkpoints
    repairs = list(state.error.repairs) if state.error else []
    repairs += [item for asked in state.step.calls for item in asked.repairs]
    match kind.__name__:
        case "StepOn":
            return say.StepOn(("over", "into", "out")[pick % 3])
        case "MessagesEdited":
            return say.MessagesEdited(state.step.messages[pick % 2 :])
        case "EditReply":
            options = [item for item in REPLIES[session.prompt] if not isinstance(item, ModelError)]
            chosen = options[pick % len(options)]
            return say.EditReply(chosen if isinstance(chosen, Reply) else Reply(chosen))
        case "CallEdited":
            return (
                say.CallEdited(row, ("search", "gone")[pick % 2], {"query": "edited"})
                if rows
                else None
            )
        case "ObservationEdited":
            return say.ObservationEdited(row, "edited") if rows else None
        case "Approve" | "SkipCall":
            return kind(state.call or 0)
        case "Reject" | "AnswerCall":
            return kind(state.call or 0, "said")
        case "TakeRepair":
            return say.TakeRepair(repairs[0].name, call=repairs[0].call) if repairs else None
        case "LimitRaised":
            return say.LimitRaised("iterations", state.iteration + 1 + pick % 3)
        case "OutcomeTold":
            return say.OutcomeTold(state.call or 0, ("ran", "did-not-run", "result")[pick % 3], "r")
        case "ChooseModel":
            names = (state.answered_by.name, "another")
            model, over = (RunModel(names[(pick + at) % 2]) for at in (0, 1))
            return say.ChooseModel(model, over)
        case "ForkFrom":
            return say.ForkFrom(points[pick % len(points)].id) if points else None
        case "ErrorObservationEdited" | "AnswerEdited" | "Steer" | "SendBack":
            return kind("said")
        case _:
            return kind()


def check(session: Session, box: Functions, before: list) -> None:
    """What holds at every pause."""
    run = session.run
    events = list(run.events)
    assert events[: len(before)] == before  # the journal only grows
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    again = walk(events)
    assert again.state == run.state  # the journal is the run
    assert again.tree.checkpoints == run.tree.checkpoints
    assert len(box.called) == sum(isinstance(event, ToolCalled) for event in events)
    for point in run.tree.checkpoints:
        assert point.parent is None or point.parent < point.id
    ran: set[int] = set()
    for event in branch_path(events, len(events)):
        if isinstance(event, ReplyRead):
            ran.clear()
        if isinstance(event, OutcomeTold) and event.fate == "did-not-run":
            ran.discard(event.call)
        if isinstance(event, ToolCalled):
            assert event.call not in ran  # no effect is done twice
            ran.add(event.call)
    if run.state.setup.protocol == "native":
        for request in session.model.requests:
            assert is_legal(request.messages)


async def play(prompt: str, parallel: bool, picks: list[int]) -> None:
    box = tools()
    replies = REPLIES[prompt]
    script = [replies[pick % len(replies)] for pick in picks] * 20
    options = RunOptions(pause_at=PLACES, parallel=parallel, limits=Limits(4), backoff=0)
    session = Session.over(prompt, script, tools=box, options=options)
    session.prompt = prompt
    await session.until_still()
    before = list(session.run.events)
    for pick in picks:
        state = session.run.state
        kinds = sorted(allowed(state) - {say.PauseRun}, key=lambda kind: kind.__name__)
        if pick % 11:  # stopping ends most of the fun, so it is rare
            kinds = [kind for kind in kinds if kind is not say.StopRun]
        command = word(session, kinds[pick % len(kinds)], pick // 7) if kinds else None
        if command is None:
            continue
        try:
            await asyncio.wait_for(session.send(command), patience.SECONDS)
        except NotAllowedError:
            assert list(session.run.events) == before  # a refused word leaves nothing behind
            continue
        check(session, box, before)
        before = list(session.run.events)
    await session.close()


@settings(max_examples=EXAMPLES)
@given(
    st.sampled_from([NATIVE, REACT, JSON_ACTION]),
    st.booleans(),
    st.lists(st.integers(0, 10_000), min_size=1, max_size=25),
)
def test_a_run_stays_whole_whatever_is_said_to_it(prompt, parallel, picks):
    asyncio.run(play(prompt, parallel, picks))
