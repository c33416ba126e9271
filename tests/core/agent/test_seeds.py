"""The published prompts run as they are, defects and all: the bundled examples hold them."""

from __future__ import annotations

from studio.core.paths import resource
from tests.core.agent.runs import run_of

ACT = 'Thought: look\nAction: search\nArgs: {"query": "a"}'


def seed(name: str) -> str:
    return resource("examples", f"{name}.prompty").read_text(encoding="utf-8")


async def test_the_react_seed() -> None:
    run, model = run_of(seed("react-agent-trustgraph"), [ACT, "Thought: ok\nFinal Answer: here"])
    state = await run.go()
    assert (state.setup.protocol, state.status, state.answer) == ("react", "done", "here")
    assert {message.role for message in model.requests[1].messages} == {"user"}
    sent = model.requests[1].messages[-1].text
    assert "Question: Where?" in sent
    assert 'Action: "search"' in sent
    assert 'Observation: "found a"' in sent
    assert '- Required: `"query"`' not in sent.split("# Proceed")[1]


async def test_the_iteration_limit_ends_the_react_seed() -> None:
    run, _ = run_of(seed("react-agent-trustgraph"), [ACT] * 12)
    state = await run.go()
    assert (state.status, state.iteration) == ("limit", 10)


async def test_the_instructions_seed() -> None:
    act = '{\n    "action": "search",\n    "action_input": "a"\n}\n```'
    end = '{"action": "final_answer", "action_input": null}\n```'
    run, model = run_of(seed("instructions-prompt-cheshire-cat"), [act, end, "Over there."])
    state = await run.go()
    assert (state.setup.protocol, state.status) == ("json_action", "done")
    assert state.answer == "Over there."
    first, second, third = (request.messages[0].text for request in model.requests)
    assert model.requests[0].messages[0].role == "user"
    assert '- "search": Find something.' in first
    assert "- Human: Where?" in first
    assert '{"action_output": "found a"}' in second
    assert second.rstrip().endswith("```json")
    assert "found a" in third


async def test_a_null_answer_without_a_second_prompt_has_no_words() -> None:
    text = seed("instructions-prompt-cheshire-cat")
    head, _, body = text.partition("\n---\n")
    bare = f"{head.partition('    compose:')[0]}---\n{body}"
    run, _ = run_of(bare, ['{"action": "final_answer", "action_input": null}\n```'])
    state = await run.go()
    assert (state.status, state.answer) == ("done", "")
    assert state.step.reading is not None
    assert getattr(state.step.reading, "composed_elsewhere", False)
