"""A browser without a window, driven by its DevTools protocol over two pipes: no package needed."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.support.patience import SECONDS

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
"""What Chrome and Chromium are called where they are installed."""

_KEYS = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9, "Home": 36}


def browser_here() -> str:
    """The browser of this machine; empty where there is none. `BROWSER_BINARY` names another."""
    named = os.environ.get("BROWSER_BINARY", "")
    return named or next((found for name in NAMES if (found := shutil.which(name))), "")


class Page:
    """One page, told what to do and asked what it shows."""

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write = read, write
        self._rest = b""
        self._count = 0
        self._session = ""
        self.events: list[tuple[str, dict[str, Any]]] = []
        """What the browser told by itself: method and parameters."""

    def open(self, address: str) -> None:
        """Open a page of its own on an address, and wait until it has loaded."""
        made = self.send("Target.createTarget", url="about:blank")
        attached = self.send("Target.attachToTarget", targetId=made["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.send("Page.navigate", url=address)
        self.wait_for("Page.loadEventFired")

    def send(self, method: str, **given: Any) -> dict[str, Any]:
        """Ask something and give the answer.

        Raises:
            RuntimeError: the browser refuses it, or has gone.
        """
        self._count += 1
        asked: dict[str, Any] = {"id": self._count, "method": method, "params": given}
        if self._session:
            asked["sessionId"] = self._session
        os.write(self._write, json.dumps(asked).encode() + b"\0")
        while True:
            told = self._next()
            if told.get("id") == self._count:
                if "error" in told:
                    raise RuntimeError(f"{method}: {told['error'].get('message')}")
                result: dict[str, Any] = told["result"]
                return result

    def wait_for(self, event: str) -> None:
        """Read until the browser has told of something."""
        while not any(name == event for name, _ in self.events):
            self._next()

    def ask(self, expression: str) -> Any:
        """The value of an expression in the page."""
        made = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in made:
            raise RuntimeError(made["exceptionDetails"]["text"])
        return made["result"].get("value")

    def press(self, key: str) -> None:
        """Press and release a key, as a keyboard does."""
        code = _KEYS[key]
        for kind in ("rawKeyDown", "keyUp"):
            self.send(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=code,
            )

    def click(self, selector: str) -> None:
        """Click in the middle of an element."""
        rect = self.ask(
            f"(e => {{e.scrollIntoView({{block: 'center'}}); const r = e.getBoundingClientRect();"
            " return [r.x + r.width / 2, r.y + r.height / 2]})"
            f"(document.querySelector({json.dumps(selector)}))"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.send(
                "Input.dispatchMouseEvent",
                type=kind,
                x=rect[0],
                y=rect[1],
                button="left",
                clickCount=1,
            )

    def resize(self, width: int, height: int) -> None:
        """Give the page another size."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def emulate(self, scheme: str, media: str = "") -> None:
        """Prefer a color scheme, or print."""
        wanted = [{"name": "prefers-color-scheme", "value": scheme}]
        self.send("Emulation.setEmulatedMedia", media=media, features=wanted)

    def picture(self, path: Path) -> None:
        """Write what the page shows as a PNG."""
        data = self.send("Page.captureScreenshot", format="png")["data"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(data))

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            came = os.read(self._read, 1 << 16)
            if not came:
                raise RuntimeError("the browser has gone")
            self._rest += came
        line, _, self._rest = self._rest.partition(b"\0")
        told: dict[str, Any] = json.loads(line)
        if "method" in told:
            self.events.append((told["method"], told.get("params", {})))
        return told


@contextmanager
def opened(binary: str, address: str) -> Iterator[Page]:
    """A page of a browser of its own, which ends with the block.

    Args:
        binary: the browser.
        address: what it shows.
    """
    to_browser, from_browser = os.pipe(), os.pipe()
    ours = (to_browser[1], from_browser[0])

    def as_three_and_four() -> None:  # the numbers that the browser knows its pipes by
        high = [
            os.dup2(end, number) for end, number in ((to_browser[0], 63), (from_browser[1], 64))
        ]
        for end, number in zip(high, (3, 4), strict=True):
            os.dup2(end, number)

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [
            binary,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--remote-debugging-pipe",
            "--window-size=1280,800",
            f"--user-data-dir={profile}",
        ]
        child = subprocess.Popen(
            command,
            preexec_fn=as_three_and_four,  # noqa: PLW1509
            close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (to_browser[0], from_browser[1]):
            os.close(end)
        page = Page(from_browser[0], to_browser[1])
        try:
            page.open(address)
            yield page
        finally:
            with suppress(RuntimeError, OSError):
                page._session = ""
                page.send("Browser.close")
            try:
                child.wait(SECONDS)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            for end in ours:
                os.close(end)
