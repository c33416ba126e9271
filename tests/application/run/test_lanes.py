from __future__ import annotations

from dataclasses import replace

from studio.application.run.breakpoints import BreakpointSet
from studio.application.run.diagram import diagram_of, node_notes
from studio.application.run.words import sentence_of
from studio.core.agent.values.breakpoints import Breakpoint
from studio.core.agent.values.events import (
    CallDecided,
    CallEdited,
    ModelCalled,
    ModelFailed,
    Resumed,
)
from studio.core.agent.values.step import PausePoint
from tests.application.run import examples as run


def test_the_breakpoint_of_a_tool_is_marked_at_its_calls_only() -> None:
    for places in (frozenset[PausePoint](), frozenset({PausePoint.TOOL_CALL})):
        held = BreakpointSet((Breakpoint("1", places, tool="room"),))
        diagram = diagram_of(run.four_calls().state, "", held)
        assert (diagram.lane_breaks, diagram.breakpoints) == ({2}, frozenset())
    one = BreakpointSet((Breakpoint("1", tool="lookup"),))
    assert diagram_of(run.at_call(), "", one).breakpoints == {"action"}


def test_several_calls_are_lanes_and_each_says_how_far_it_is() -> None:
    diagram = diagram_of(run.four_calls().state, "")

    told = [(lane.tool, lane.phase, lane.words) for lane in diagram.lanes]
    assert told == [
        ("weather", "done", "400 ms"),
        ("trains", "running", ""),
        ("room", "running", ""),
        ("museum", "failed", "failed"),
    ]
    assert [lane.began for lane in diagram.lanes] == [0.0, 1002.0, 1002.0, 0.0]
    assert dict(diagram.facts)["observation"] == "2 of 4 are in"


def test_a_single_call_has_no_lane() -> None:
    assert diagram_of(run.at_call(), "").lanes == ()


def test_a_call_that_wants_the_users_word_waits() -> None:
    state = run.at_call()
    call = replace(state.step.calls[0], needs_approval=True)
    step = replace(state.step, calls=(call, call))

    assert [each.phase for each in diagram_of(replace(state, step=step), "").lanes] == [
        "waits",
        "waits",
    ]


def test_tries_and_what_a_person_did_stand_at_their_nodes() -> None:
    fold = run.TimedFold()
    fold.ask()
    fold.take(ModelCalled(attempt=1))
    fold.take(ModelFailed(kind="server", message="503", retryable=True, retry_in=1.0))
    fold.reply(run.FIRST)
    fold.read()
    fold.check()
    fold.pause()
    fold.take(CallEdited(call=0, tool="lookup", arguments={"fact": "capital of Italy"}))
    fold.check()
    fold.take(CallDecided(call=0, decision="approve", by="person"))

    notes = dict(node_notes(fold.state.step))
    assert notes == {"model": "2 tries", "action": "edited by you · approved by you"}


def test_an_approval_by_a_rule_is_nobodys_deed() -> None:
    fold = run.TimedFold()
    fold.ask()
    fold.reply(run.FIRST)
    fold.read()
    fold.check()
    fold.run_tool("Paris")

    assert fold.state.step.touches == ()


def test_who_did_what_when_and_how_long_the_run_waited_for_it() -> None:
    fold = run.TimedFold()
    fold.ask()
    fold.pause()
    fold.wait(22.5)
    fold.take(Resumed())
    fold.reply(run.FIRST)
    fold.read()
    fold.check()
    fold.pause()
    fold.wait(2.5)
    fold.take(CallDecided(call=0, decision="reject", text="no", by="person"))
    fold.take(Resumed())

    assert fold.state.waited == 25.0
    assert [(each.kind, each.call, each.at) for each in fold.state.step.touches] == [
        ("rejected", 0, 1025.0)
    ]


def test_the_end_tells_the_work_from_the_waiting() -> None:
    done = run.done()

    assert sentence_of(replace(done, waited=22.6)) == (
        "Done in 2 iterations: worked 2.6 s, waited for you 22.6 s"
    )
