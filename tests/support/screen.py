"""An X server with the studio in it, for tests that press real keys."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from tests.support import patience

TOOLS = ("Xvfb", "openbox", "xdotool")

needs_screen = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in TOOLS), reason=f"needs {', '.join(TOOLS)}"
)


class Screen:
    """A screen, and the process whose window is on it."""

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
        last: dict[str, Any] = {}

        def look() -> dict[str, Any] | None:
            last.update(self.state())
            return dict(last) if last["ready"] and is_so(last) else None

        return patience.wait_until(look, lambda: f"{what}; last: {last}")

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
        subprocess.run(
            ["xdotool", *arguments], env=environment, check=True, timeout=patience.SECONDS
        )


@contextmanager
def studio_on_screen(child: str, file: Path) -> Iterator[Screen]:
    """The studio on an X server of its own, open on a file, until the block ends.

    Args:
        child: the program beside this file that shows the window.
        file: the prompt.
    """
    with _x_display() as display:
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name(child)), str(file)],
            env={**os.environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        with process:
            try:
                yield Screen(display, process)
                assert process.stdin is not None
                process.stdin.close()
                assert process.wait(patience.SECONDS) == 0
            finally:
                process.kill()


@contextmanager
def _x_display() -> Iterator[str]:
    """An X server with a window manager that is at work; gives the display's name."""
    reading, writing = os.pipe()
    server = subprocess.Popen(
        # A server resets itself when its last client leaves, and refuses whoever comes meanwhile:
        # xdotool may come and leave before the window manager is there.
        [
            "Xvfb",
            "-displayfd",
            str(writing),
            "-screen",
            "0",
            "1280x800x24",
            "-nolisten",
            "tcp",
            "-noreset",
        ],
        pass_fds=(writing,),
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    with os.fdopen(reading) as said:
        display = f":{said.readline().strip()}"
    environment = {**os.environ, "DISPLAY": display}
    with tempfile.TemporaryFile() as log:
        manager = subprocess.Popen(["openbox"], env=environment, stdout=log, stderr=log)
        try:
            _await_manager(environment, manager, log)
            yield display
        finally:
            for process in (manager, server):
                process.terminate()
                process.wait(patience.SECONDS)


def _await_manager(
    environment: dict[str, str], manager: subprocess.Popen[bytes], log: IO[bytes]
) -> None:
    """Wait until it has said how many desktops there are; a window before it may get no keys.

    Raises:
        AssertionError: the manager has ended, with its own words.
    """
    asking = ["xdotool", "get_num_desktops"]

    def has_answered() -> bool:
        if manager.poll() is not None:
            log.seek(0)
            raise AssertionError(f"openbox ended with {manager.returncode}: {log.read().decode()}")
        asked = subprocess.run(
            asking, env=environment, capture_output=True, check=False, timeout=patience.SECONDS
        )
        return asked.returncode == 0

    patience.wait_until(has_answered, "the window manager")
