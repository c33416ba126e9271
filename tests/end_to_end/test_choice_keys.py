"""By real keys: going on neither approves a tool nor ends a run at a limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from studio.core.agent.values.step import PausePoint
from tests.support.screen import Screen, needs_screen, studio_on_screen

pytestmark = needs_screen

SENDS = 'Thought: I send it.\nAction: send\nArgs: {"text": "hello"}'
ANSWER = "Thought: It is sent.\nFinal Answer: sent"
GOING_ON = ("F5", "F10", "F11", "shift+F11")


PROMPT = """---
name: sender
metadata:
  agent: {protocol: react, max_iterations: 1, tools: [tools.py], effects: [send]}
---
system:
Thought:, then Action: and Args:, or Final Answer:.
user:
Send hello.
{% for h in history %}Thought: {{ h.thought }}
Observation: {{ h.observation }}
{% endfor %}"""
TOOLS = """from pathlib import Path


def send(text: str) -> str:
    Path(__file__).with_name("sent.txt").write_text(text)
    return "sent"
"""


@pytest.fixture
def sent(user_home: Path, scripted: Callable[..., None]) -> Path:
    """The file that the agent's one tool writes, in a trusted folder."""
    scripted(SENDS, ANSWER)
    folder = user_home / "data" / "examples"
    folder.mkdir(parents=True)
    (folder / "sender.prompty").write_text(PROMPT, encoding="utf-8")
    (folder / "tools.py").write_text(TOOLS, encoding="utf-8")
    return folder / "sent.txt"


@pytest.fixture
def screen(sent: Path) -> Iterator[Screen]:
    with studio_on_screen("run_child.py", sent.with_name("sender.prompty")) as made:
        yield made


def test_a_mail_is_sent_by_its_own_key_and_a_limit_is_raised_by_a_button(
    screen: Screen, sent: Path
) -> None:
    screen.until(lambda shown: shown["active"], "the window")
    screen.press("F5")
    screen.until(lambda shown: shown["place"] == PausePoint.TOOL_CALL, "the call that waits")
    for key in GOING_ON:
        screen.press("ctrl+1")
        screen.until(lambda shown: not shown["button"], "the editor")
        screen.press(key)
        shown = screen.until(lambda shown: shown["button"] == "Approve", f"the choice after {key}")
        assert shown["place"] == PausePoint.TOOL_CALL
        assert not sent.exists()
    screen.press("ctrl+1")
    screen.until(lambda shown: not shown["button"], "the editor")
    screen.press("ctrl+shift+a")
    screen.until(lambda shown: shown["place"] == PausePoint.ERROR, "the limit")
    assert sent.read_text(encoding="utf-8") == "hello"

    for key in GOING_ON:
        screen.press("ctrl+1")
        screen.until(lambda shown: not shown["button"], "the editor")
        screen.press(key)
        shown = screen.until(
            lambda shown: shown["button"] == "Allow 5 more", f"the choice after {key}"
        )
        assert (shown["place"], shown["over"]) == (PausePoint.ERROR, False)
    screen.press("space")
    shown = screen.until(lambda shown: shown["over"], "the end")
    assert shown["answer"] == "sent"
