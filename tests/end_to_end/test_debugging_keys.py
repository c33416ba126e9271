"""A debugger's task in a real window of an X server, by real keys and nothing else."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from studio.core.agent.values.step import PausePoint
from studio.core.paths import resource
from tests.end_to_end.test_debugging import ASKS, FIRST, SECOND
from tests.support.screen import Screen, needs_screen, studio_on_screen

pytestmark = needs_screen


@pytest.fixture
def screen(user_home: Path, scripted: Callable[..., None]) -> Iterator[Screen]:
    """The studio, open on the bundled ReAct agent."""
    scripted(ASKS, FIRST, SECOND)
    folder = user_home / "data" / "examples"
    shutil.copytree(resource("examples"), folder)
    with studio_on_screen("run_child.py", folder / "react-agent.prompty") as made:
        yield made


def command(screen: Screen, words: str) -> None:
    """Look a command up in the palette, and take it."""
    screen.press("ctrl+shift+p")
    screen.until(lambda shown: shown["palette"], "the palette")
    screen.type(words)
    screen.press("Return")


def menu_line(screen: Screen, start: str) -> None:
    """Take a line of the menu that is open."""
    for _ in range(12):
        shown = screen.until(lambda now: now["line_of_menu"], "a menu")
        if shown["line_of_menu"].startswith(start):
            screen.press("Return")
            return
        before = shown["line_of_menu"]
        screen.press("Down")
        screen.until(lambda now, before=before: now["line_of_menu"] != before, "the next line")
    pytest.fail(f"the menu has no line {start!r}")


def write_over(screen: Screen, text: str) -> None:
    """Write over the text in the editor in place, and make one step."""
    screen.until(lambda shown: shown["editing"], "the editor in place")
    screen.press("ctrl+a")
    screen.type(text)
    screen.press("ctrl+Return")


def test_stop_edit_go_back_fork_compare_export(screen: Screen, tmp_path: Path) -> None:
    source = resource("examples", "react-agent.prompty").read_text(encoding="utf-8")
    line = next(n for n, text in enumerate(source.splitlines(), 1) if "name: calculator" in text)
    screen.until(lambda shown: shown["active"], "the window")

    # To a breakpoint on the tool; other arguments; on to the answer.
    screen.press("ctrl+g")
    screen.until(lambda shown: shown["palette"], "the field for a line")
    screen.type(str(line))
    screen.press("Return")
    screen.until(lambda shown: shown["line"] == line, "the tool's line")
    screen.press("F9")
    screen.until(lambda shown: shown["stops"] == ["calculator"], "the breakpoint")
    screen.press("F5")
    screen.until(lambda shown: shown["place"] == PausePoint.TOOL_CALL, "the run before its tool")
    screen.press("ctrl+3")
    screen.until(lambda shown: shown["in_timeline"] and shown["card"] == "action", "the action")
    screen.press("F2")
    write_over(screen, '{"expression": "1000 * 6"}')
    screen.until(lambda now: now["place"] == PausePoint.OBSERVATION, "the result of the call")
    screen.press("F5")
    shown = screen.until(lambda now: now["over"], "the answer")
    assert (shown["answer"], shown["arguments"]) == (
        "It is 6000.",
        [{"expression": "1000 * 6"}],
    )

    # Two steps back (the thought and the request of the second turn), and another observation.
    screen.press("ctrl+3")
    screen.until(lambda now: now["in_timeline"] and now["card"] == "final", "the answer's card")
    for kind in ("thought", "prompt", "observation"):
        screen.press("Up")
        screen.until(lambda now, kind=kind: now["card"] == kind, kind)
    screen.press("ctrl+Return")
    screen.until(
        lambda now: now["place"] == PausePoint.OBSERVATION, "the run at the observation again"
    )
    screen.press("F2")
    write_over(screen, "forty-two")
    screen.until(lambda now: now["place"] == PausePoint.BEFORE_REQUEST, "the next request")
    screen.press("F5")
    shown = screen.until(lambda now: now["over"] and now["branches"] == 2, "the second answer")
    assert shown["answer"] == "It is forty-two."

    # Both ways side by side, from the palette.
    command(screen, "branches of the run")
    menu_line(screen, "Compare ")
    shown = screen.until(lambda now: now["compares_by_keys"], "the comparison")
    assert shown["compared"] == ["6000", "forty-two"]
    screen.press("Escape")
    screen.until(lambda now: not now["comparing"] and now["active"], "the window again")

    # The trace, to a file.
    target = tmp_path / "run.tracy"
    command(screen, "export this run")
    menu_line(screen, "Trace")
    path = ""
    while path != str(target):  # once more, where the dialog lost the keyboard meanwhile
        screen.until(lambda now: now["dialog"], "the dialog for the file")
        screen.press("ctrl+a")
        screen.type(str(target))
        path = screen.until(
            lambda now: now["path"] == str(target) or not now["dialog"], "the path in the dialog"
        )["path"]
    screen.press("Return")
    screen.until(lambda now: any("was written" in each for each in now["said"]), "the file")
    trace: dict[str, Any] = json.loads(target.read_text(encoding="utf-8"))["trace"]
    assert trace["result"]["answer"] == "It is forty-two."
    tool = trace["__frames"][0]["__frames"][1]
    assert (tool["inputs"], tool["result"]) == ({"expression": "1000 * 6"}, "forty-two")
