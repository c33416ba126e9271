from __future__ import annotations

from collections.abc import Callable

import pytest

from studio.application.run.breakpoints import BreakpointSet
from studio.application.run.diagram import diagram_of
from studio.application.run.words import sentence_of
from studio.core.agent.loop.machine import advance
from studio.core.agent.values.breakpoints import Breakpoint
from studio.core.agent.values.events import CallDecided, Resumed, Stopped, ToolCalled
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import PausePoint
from tests.application.run import examples as run


@pytest.mark.parametrize(
    ("make", "live", "phase"),
    [
        (run.at_request, "prompt", "paused"),
        (run.answering, "model", "running"),
        (run.at_reply, "reply", "paused"),
        (run.at_call, "action", "paused"),
        (run.at_result, "observation", "paused"),
        (run.at_answer, "final", "paused"),
        (run.done, "done", "done"),
        (run.at_broken_reply, "reply", "error"),
        (run.at_bad_arguments, "action", "error"),
        (run.at_refused_key, "model", "error"),
        (run.at_limit, "prompt", "paused"),
    ],
)
def test_the_node_where_the_run_stands_is_lit(
    make: Callable[[], RunState], live: str, phase: str
) -> None:
    diagram = diagram_of(make(), "")

    assert (diagram.live, diagram.phase) == (live, phase)


def test_a_running_tool_is_lit_and_named() -> None:
    state = run.at_call()
    for event in (Resumed(), CallDecided(call=0, decision="approve"), ToolCalled(call=0)):
        state, _ = advance(state, event)
    diagram = diagram_of(state, "")

    assert (diagram.live, diagram.tool) == ("tool", "lookup")
    assert diagram.visited == {"prompt", "model", "reply", "action"}


def test_a_stopped_run_is_told_from_one_that_failed() -> None:
    state, _ = advance(run.answering(), Stopped())

    assert diagram_of(state, "").phase == "stopped"
    assert sentence_of(state) == "Stopped"


def test_the_iteration_and_breakpoints_are_shown() -> None:
    places = frozenset({PausePoint.TOOL_CALL, PausePoint.BEFORE_REQUEST})
    diagram = diagram_of(run.at_second_request(), "x", BreakpointSet((Breakpoint("1", places),)))

    assert (diagram.iteration, diagram.max_iterations) == (2, 6)
    assert diagram.breakpoints == {"action", "prompt"}


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (run.at_request, "Ready before the request is sent"),
        (run.answering, "The model answers"),
        (run.at_call, "Breakpoint before the tool runs: lookup"),
        (run.at_refused_key, "Paused at a problem: The model did not respond"),
        (run.done, "Done in 2 iterations, 2.6 s"),
    ],
)
def test_the_state_in_words(make: Callable[[], RunState], sentence: str) -> None:
    assert sentence_of(make()) == sentence
