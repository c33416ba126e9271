from __future__ import annotations

from dataclasses import replace

from studio.application.run.cards.timeline import timeline_of
from studio.application.run.cursor import RunCursor, cursor_at_node, diagram_at
from studio.application.run.diagram import diagram_of
from studio.application.run.nodes import CHAT_NODES
from studio.core.agent.values.pause_point import PausePoint
from tests.application.run import examples as run


def test_the_diagram_shows_the_moment_of_a_card() -> None:
    state = run.done()
    now = diagram_of(state, "Done")
    card = next(each for each in timeline_of(state).cards if each.kind == "action")

    then = diagram_at(now, state, state.steps[0], card)

    assert (then.live, then.iteration, then.is_past) == ("action", 1, True)
    assert then.visited == {"prompt", "model", "reply"}
    assert then.tool == "lookup"
    assert (now.live, now.is_past) == ("done", False)


def test_ways_are_counted_up_to_the_moment() -> None:
    state = run.done()
    now = diagram_of(state, "Done")
    first = timeline_of(state).cards[0]
    passes = {(start, end): times for start, end, times in now.passes}
    before = {
        (start, end): times
        for start, end, times in diagram_at(now, state, state.steps[0], first).passes
    }

    assert passes["prompt", "model"] == 2
    assert passes["observation", "prompt"] == 1
    assert passes["reply", "final"] == passes["final", "done"] == 1
    assert before["prompt", "model"] == 1
    assert ("reply", "final") not in before


def test_nodes_tell_what_a_turn_cost() -> None:
    facts = dict(diagram_of(run.at_result(), "").facts)

    assert facts["prompt"] == "412 tok in"
    assert facts["model"] == "1.2 s · 31 tok/s"
    assert facts["reply"] == "38 tok out"
    assert facts["action"] == "1 call"
    assert facts["tool"] == "lookup"
    assert facts["observation"] == "84 ms"


def test_a_prompt_without_tools_has_no_loop() -> None:
    state = run.at_reply()
    chat = replace(state, setup=replace(state.setup, tools=()))

    assert diagram_of(chat, "").nodes == CHAT_NODES


def test_a_node_leads_to_its_card_in_the_step_shown_and_else_to_the_one_before() -> None:
    cards = timeline_of(run.done()).cards
    first, last = cards[0], cards[-1]

    assert cursor_at_node(cards, first, "observation") == RunCursor(1, "observation", 0)
    assert cursor_at_node(cards, last, "final") == RunCursor(2, "final")
    assert cursor_at_node(cards, last, "observation") == RunCursor(1, "observation", 0)
    assert cursor_at_node((), None, "final") is None


def test_a_log_point_is_another_mark_than_a_breakpoint() -> None:
    places = diagram_of(None, "", [PausePoint.REPLY], [PausePoint.TOOL_CALL])

    assert (places.breakpoints, places.log_points) == ({"reply"}, {"action"})
