"""Telling the protocol from the prompt."""

from __future__ import annotations

import pytest

from studio.core.agent.loop.setup import make_setup
from studio.core.agent.protocols.loops import choose_protocol, reading_style
from studio.core.agent.values.options import RunOptions
from studio.core.models.scripted import ScriptedModel
from studio.core.prompty.parse import parse
from tests.core.agent.runs import JSON_ACTION, NATIVE, REACT

LANGCHAIN = """---
name: x
---
user:
Answer with these tools: {{ tools }}
Thought: think
Action: one of {{ tool_names }}
Action Input: the input
Final Answer: the answer
Question: {{ input }}
{{ agent_scratchpad }}"""


@pytest.mark.parametrize(
    ("text", "protocol"),
    [
        (REACT, "react"),
        (JSON_ACTION, "json_action"),
        (NATIVE, "native"),
        (LANGCHAIN, "react"),
        ("---\nname: x\n---\nuser:\nHello", "native"),
        (
            REACT.replace("name: Finder", "name: F\nmetadata:\n  agent:\n    protocol: native"),
            "native",
        ),
        ("user:\nThe words Final Answer: alone decide nothing", "native"),
    ],
)
def test_the_protocol_is_told_from_the_prompt(text, protocol):
    choice = choose_protocol(parse(text))
    assert choice.protocol == protocol
    assert choice.reason


def test_free_text_and_loops_are_seen():
    style = reading_style(parse(LANGCHAIN))
    assert (style.free_text, style.looped) == (True, frozenset())
    assert reading_style(parse(REACT)).looped == {"tools", "history"}
    assert not reading_style(parse(REACT)).free_text


def test_the_setup_takes_the_prompts_own_settings():
    text = """---
name: x
inputs:
  subject: {kind: string, default: bees}
outputs:
  count: {kind: integer, required: true}
metadata:
  agent:
    max_iterations: 4
    parallel_tool_calls: true
    stop: ["\\nEnd"]
    final_words: [done]
---
user:
About {{ subject }}
"""
    setup = make_setup(parse(text), {}, (), ScriptedModel([]), RunOptions())
    assert (setup.limits.iterations, setup.parallel, setup.stop) == (4, True, ("\nEnd",))
    assert (setup.final_words, setup.question) == (("done",), "bees")
    assert setup.response_schema["properties"]["count"]["type"] == "integer"
    overridden = make_setup(parse(text), {}, (), ScriptedModel([]), RunOptions(protocol="react"))
    assert (overridden.protocol, overridden.protocol_reason) == ("react", "chosen for this run")
