"""A script asks the question it is given, and not a sample of the prompt."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from tests.core.export.conftest import Make

PROMPT = """---
name: x
inputs:
  question: {kind: string, sample: What is the capital of Kenya?}
metadata: {agent: {protocol: json_action}}
tools:
- {name: look, kind: function, description: Looks., parameters: []}
template: {format: {kind: fstring}, parser: {kind: section}}
---
system:
Use {tools}.

user:
{chat_history}
Q: {question}
{agent_scratchpad}
"""


def test_the_question_of_a_run_goes_into_what_is_made_of_it(make: Make, tmp_path: Path) -> None:
    pytest.importorskip("openai")
    script = tmp_path / "ask.py"
    script.write_bytes(make(PROMPT, "python").content)
    found = runpy.run_path(str(script))
    asked: list[list[dict[str, Any]]] = []

    def ask(_: object, messages: list[dict[str, Any]], *__: object) -> Any:
        asked.append(messages)
        raise KeyboardInterrupt

    found["run"].__globals__["ask"] = ask
    with pytest.raises(KeyboardInterrupt):
        found["run"]({"question": "How tall is K2?"}, client=object())
    text = asked[0][1]["content"]
    assert text.count("How tall is K2?") == 2
    assert "Kenya" not in script.read_text(encoding="utf-8").partition("MESSAGES")[2]
