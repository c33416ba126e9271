"""A prompt rewritten for another protocol still asks its question, and runs."""

from __future__ import annotations

import re

import pytest

from studio.core.agent.protocols.convert import convert_fix
from studio.core.agent.protocols.loops import choose_protocol
from studio.core.paths import resource
from studio.core.prompty.parse import parse
from studio.core.text.source import apply_edits
from tests.core.agent.runs import JSON_ACTION, NATIVE, REACT, call, calling, run_of

REPLIES = {
    "native": [calling(call()), "here"],
    "react": ['Thought: t\nAction: search\nArgs: {"query": "x"}', "Final Answer: here"],
    "json_action": [
        '{"action": "search", "action_input": {"query": "x"}}',
        '{"action": "final_answer", "action_input": "here"}',
    ],
}
MUSTACHE = NATIVE.replace("name: Caller", "name: C\ntemplate: {format: mustache, parser: prompty}")
EXAMPLES = ["react-agent", "json-action-agent", "tool-calling-agent"]


def converted(text: str, to: str) -> str:
    fix = convert_fix(parse(text), to)
    assert fix is not None
    return apply_edits(text, fix.edits)


@pytest.mark.parametrize("to", ["native", "react", "json_action"])
@pytest.mark.parametrize(
    "text", [REACT, JSON_ACTION, NATIVE, MUSTACHE], ids=["react", "json", "native", "mustache"]
)
async def test_a_converted_prompt_runs(text, to):
    if choose_protocol(parse(text)).protocol == to:
        assert convert_fix(parse(text), to) is None
        return
    new = converted(text, to)
    assert choose_protocol(parse(new)).protocol == to
    run, model = run_of(new, list(REPLIES[to]))
    state = await run.go()
    assert (state.status, state.answer, state.iteration) == ("done", "here", 2)
    first, second = (
        "\n".join(item.text for item in request.messages) for request in model.requests
    )
    assert "Where?" in first
    assert "found x" in second
    assert "found x" not in first
    if to != "native":
        assert "search" in first


@pytest.mark.parametrize("to", ["native", "react", "json_action"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_bundled_agents_can_be_converted(name, to):
    text = resource("examples", f"{name}.prompty").read_text(encoding="utf-8")
    if choose_protocol(parse(text)).protocol == to:
        return
    new = parse(converted(text, to))
    assert [item.message for item in new.problems if item.severity == "error"] == []
    assert choose_protocol(new).protocol == to
    assert re.search(r"\{\s*question", new.source.slice(new.body))


def test_the_old_format_is_gone():
    body = converted(REACT, "native").split("---\n")[-1]
    assert not re.search(r"Thought|Action|Args|Observation|history|Final Answer", body)
    assert "Question: {{ question }}" in body


@pytest.mark.parametrize("through", ["native", "react", "json_action"])
@pytest.mark.parametrize("to", ["native", "react", "json_action"])
async def test_there_and_back_means_the_same(to, through):
    """All six directions: the way back asks, calls and answers as before; nothing piles up."""
    if to == through:
        return
    start = {"native": NATIVE, "react": REACT, "json_action": JSON_ACTION}[to]
    there = converted(start, through)
    back = converted(there, to)
    assert converted(back, through) == there
    assert converted(converted(back, through), to) == back
    told = []
    for text in (start, back):
        run, model = run_of(text, list(REPLIES[to]))
        state = await run.go()
        told.append((state.status, state.answer, state.past_calls, state.observations))
        assert "Where?" in "".join(item.text for item in model.requests[0].messages) or (
            text is JSON_ACTION  # it has no place for the question
        )
    assert told[0] == told[1]


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_bundled_agents_come_back_without_remains(name):
    text = resource("examples", f"{name}.prompty").read_text(encoding="utf-8")
    own = choose_protocol(parse(text)).protocol
    for through in {"native", "react", "json_action"} - {own}:
        there = converted(text, through)
        back = converted(there, own)
        assert converted(back, through) == there
