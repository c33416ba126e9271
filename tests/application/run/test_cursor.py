from __future__ import annotations

from dataclasses import replace

from studio.application.run.breakpoints import BreakpointSet
from studio.application.run.cards.card import CardKind
from studio.application.run.cards.timeline import timeline_of
from studio.application.run.cursor import (
    RunCursor,
    TemplatePlaces,
    cursor_at_node,
    diagram_at,
    is_text_of,
)
from studio.application.run.diagram import CHAT_NODES, diagram_of
from studio.core.agent.values.breakpoints import Breakpoint
from studio.core.agent.values.step import PausePoint
from studio.core.paths import resource
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.parse import parse
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
    stop = Breakpoint("1", frozenset({PausePoint.REPLY}))
    log = Breakpoint("2", frozenset({PausePoint.TOOL_CALL}), log="here")
    places = diagram_of(None, "", BreakpointSet((stop, log)))

    assert (places.breakpoints, places.log_points) == ({"reply"}, {"action"})


def _bundled(name: str) -> PromptDocument:
    path = resource("examples", f"{name}.prompty")
    return parse(path.read_text(encoding="utf-8"), path)


def _lit(document: PromptDocument, kind: CardKind, step: int = 1, tool: str = "") -> list[str]:
    places = TemplatePlaces.of(document).behind(RunCursor(step, kind), tool)
    return [document.source.slice(span).strip() for span in places]


def test_a_loop_written_in_the_template_is_lit_where_it_shows_the_moment() -> None:
    react = _bundled("react-agent")

    assert _lit(react, "prompt") == ["{{ question }}"]
    assert _lit(react, "thought") == ["{{ h.thought }}"]
    assert _lit(react, "action", tool="lookup") == ["{{ h.action }}", "{{ h.arguments | tojson }}"]
    assert _lit(react, "observation") == ["{{ h.observation }}"]
    assert _lit(react, "prompt", step=2) == [
        "{{ h.thought }}",
        "{{ h.action }}",
        "{{ h.arguments | tojson }}",
        "{{ h.observation }}",
    ]


def test_a_prompt_whose_loop_is_one_text_is_lit_there() -> None:
    head = "---\nname: a\ninputs:\n  question: {type: string}\n---\n"
    document = parse(
        f"{head}system:\nUse.\nuser:\n{{{{ question }}}}\n{{{{ agent_scratchpad }}}}\n"
    )

    assert _lit(document, "prompt") == ["{{ question }}"]
    for kind in ("thought", "action", "observation"):
        assert _lit(document, kind, step=2) == ["{{ agent_scratchpad }}"]


def test_a_prompt_that_is_not_rendered_again_leads_to_its_tool_and_its_last_message() -> None:
    native = _bundled("tool-calling-agent")

    (tool,) = _lit(native, "action", tool="calculator")
    assert "calculator" in tool
    (last,) = _lit(native, "reply")
    assert last == "user:"
    assert _lit(native, "observation", tool="nobody has it") == ["user:"]


def test_an_answer_leads_to_the_outputs_that_are_declared() -> None:
    text = "---\nname: a\noutputs:\n  city:\n    type: string\n---\nsystem:\nName it.\nuser:\nGo.\n"

    (lit,) = _lit(parse(text), "final")
    assert lit.startswith("city")


def test_a_text_that_was_changed_since_is_another() -> None:
    document = parse("system:\nHello.\n")

    assert is_text_of(document, "system:\nHello.\n")
    assert not is_text_of(document, "system:\nHallo!\n")


def test_a_written_key_does_not_hide_the_places() -> None:
    text = "---\nmodel:\n  connection:\n    apiKey: sk-abcdefghijklmnop\n---\nsystem:\nHello.\n"
    document = parse(text)

    masked = text.replace("sk-abcdefghijklmnop", "••-••••••••••••••••")
    assert is_text_of(document, masked)
