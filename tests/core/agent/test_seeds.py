"""The two published prompts run as they are, defects and all."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.core.agent.runs import run_of

FOLDER = Path(os.environ.get("SEEDS", Path(__file__).resolve().parents[3] / "../shared/seeds"))
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no seeds at {FOLDER} (set SEEDS)")


async def test_the_react_seed():
    text = (FOLDER / "react-agent-prompt.md").read_text(encoding="utf-8")
    act = 'Thought: look\nAction: search\nArgs: {"query": "a"}'
    run, model = run_of(text, [act, "Thought: ok\nFinal Answer: here"])
    state = await run.go()
    assert (state.setup.protocol, state.status, state.answer) == ("react", "done", "here")
    sent = model.requests[1].messages[-1].text
    assert 'Action: "search"' in sent
    assert 'Observation: "found a"' in sent
    assert '- Required: `"query"`' not in sent.split("# Proceed")[1]


async def test_the_instructions_seed():
    text = (FOLDER / "instructions-prompt.md").read_text(encoding="utf-8")
    body = re.search(r'instructions = """(.*?)"""', text, re.DOTALL)[1].replace("\\```", "```")
    prompt = f"---\nname: seed\ntemplate:\n  format: fstring\n---\n{body}"
    act = '{\n    "action": "search",\n    "action_input": "a"\n}\n```'
    end = '{"action": "final_answer", "action_input": null}\n```'
    run, model = run_of(prompt, [act, end])
    state = await run.go()
    assert (state.setup.protocol, state.status, state.answer) == ("json_action", "done", "")
    assert state.step.reading.composed_elsewhere
    first, second = (request.messages[0].text for request in model.requests)
    assert '- "search": Find something.' in first
    assert "- Human: Where?" in first
    assert '{"action_output": "found a"}' in second
    assert second.rstrip().endswith("```json")
