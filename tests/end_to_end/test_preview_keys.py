"""The preview in a real window of an X server, with keys and clicks as a person makes them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

TOOLS = ("Xvfb", "openbox", "xdotool")
pytestmark = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in TOOLS), reason=f"needs {', '.join(TOOLS)}"
)

SECONDS = 20.0
DOC = """---
name: trip
template:
  format: {kind: jinja2, strict: false}
  parser: {kind: section}
inputs:
  city: {kind: string, sample: Lisbon}
---
system:
You know {{ city }} well.

user:
What is there to see?
"""


class Screen:
    """An X server with the studio in it."""

    def __init__(self, display: str, child: subprocess.Popen[str]) -> None:
        self._display = display
        self._child = child

    def state(self) -> dict[str, Any]:
        """What is shown now."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        print(file=self._child.stdin, flush=True)
        line = self._child.stdout.readline()
        assert line, "the studio ended"
        shown: dict[str, Any] = json.loads(line)
        return shown

    def until(self, is_so: Callable[[dict[str, Any]], object], what: str) -> dict[str, Any]:
        """Ask until something is shown."""
        end = time.monotonic() + SECONDS
        while True:
            shown = self.state()
            if shown["ready"] and is_so(shown):
                return shown
            assert time.monotonic() < end, f"never seen: {what}; last: {shown}"
            time.sleep(0.02)  # between two questions, so that the studio gets to work

    def click(self, place: list[int]) -> None:
        """Press the left button there."""
        x, y = map(str, place)
        self._xdotool("mousemove", "--sync", x, y, "click", "1")

    def type(self, text: str) -> None:
        """Press the keys of a text."""
        self._xdotool("type", "--delay", "12", text)

    def press(self, *keys: str) -> None:
        """Press keys by their names."""
        self._xdotool("key", *keys)

    def _xdotool(self, *arguments: str) -> None:
        environment = {**os.environ, "DISPLAY": self._display}
        subprocess.run(["xdotool", *arguments], env=environment, check=True, timeout=SECONDS)


@pytest.fixture
def x_display() -> Iterator[str]:
    """An X server with a window manager."""
    reading, writing = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1280x800x24", "-nolisten", "tcp"],
        pass_fds=(writing,), stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(writing)
    with os.fdopen(reading) as said:
        display = f":{said.readline().strip()}"
    manager = subprocess.Popen(
        ["openbox"], env={**os.environ, "DISPLAY": display}, stderr=subprocess.DEVNULL
    )
    yield display
    for process in (manager, server):
        process.terminate()
        process.wait(SECONDS)


@pytest.fixture
def screen(x_display: str, tmp_path: Path, checkout: Path) -> Iterator[Screen]:
    """The studio, open on a prompt."""
    path = tmp_path / "trip.prompty"
    path.write_text(DOC, encoding="utf-8")
    environment = {**os.environ, "DISPLAY": x_display, "QT_QPA_PLATFORM": "xcb"}
    child = subprocess.Popen(
        [sys.executable, str(checkout / "tests/support/window_child.py"), str(path)],
        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    yield Screen(x_display, child)
    assert child.stdin is not None
    child.stdin.close()
    assert child.wait(SECONDS) == 0
    assert child.stdout is not None
    child.stdout.close()


def test_a_person_types_clicks_and_probes(screen: Screen) -> None:
    shown = screen.until(lambda s: len(s["cards"]) == 2, "two cards")
    assert shown["cards"][0] == "You know Lisbon well."

    # Type: the card changes, without a save.
    screen.click(shown["editor"])
    screen.press("ctrl+End")
    screen.type("Tell me more.")
    shown = screen.until(lambda s: "Tell me more." in s["cards"][1], "the typed words")
    assert shown["lit"] == [False, True]

    # Click a card: the caret goes to its marker, and the card lights.
    screen.click(shown["headers"][0])
    shown = screen.until(lambda s: s["lit"] == [True, False], "the first card lit")
    assert shown["text"].splitlines()[shown["line"] - 1] == "system:"
    # Click a value: the caret goes to the expression that made it.
    screen.click(shown["words"]["Lisbon"])
    shown = screen.until(
        lambda s: "{{ city }}" in s["text"].splitlines()[s["line"] - 1], "the value's expression"
    )

    # An error: the cards stay, dimmed; the problem is named, and a click leads to it.
    screen.click(shown["editor"])
    screen.press("ctrl+End")
    screen.press("Return")
    screen.type("{{ city | nofilter ")
    shown = screen.until(lambda s: s["dimmed"] and "nofilter" in s["banner"], "the problem named")
    assert shown["cards"][0] == "You know Lisbon well."
    screen.press("ctrl+Home")
    screen.until(lambda s: s["line"] == 1, "the caret at the start")
    screen.click(shown["banner_place"])
    last = len(shown["text"].splitlines())
    screen.until(lambda s: s["line"] == last, "the caret at the problem")
    for _ in range(40):
        if not screen.state().get("dimmed", True):
            break
        screen.press("ctrl+z")
    shown = screen.until(lambda s: not s["dimmed"] and not s["probe_said"], "good again")

    # The probe finds the planted hole: `strict: false` lets values bring markers.
    screen.click(shown["probe"])
    shown = screen.until(lambda s: s["holes"], "the holes")
    assert "city: a role marker" in shown["holes"][0]
    screen.press("ctrl+Home")
    screen.click(shown["first_hole"])
    screen.until(
        lambda s: "{{ city }}" in s["text"].splitlines()[s["line"] - 1], "the place of the hole"
    )
