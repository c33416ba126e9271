"""A studio used at random for a quarter of an hour, with faults thrown in; `make soak` calls it.

    python tests/soak/soak.py [SECONDS] [SEED]

The studio runs in a process of its own with a real window on a virtual screen; `driver.py` presses
its keys. The model's server is in this process and misbehaves now and then. At the end the studio
is killed, as by a power cut, and every text that was not saved has to be in its swap files.
"""

from __future__ import annotations

import json
import os
import random
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests.support.chat_server import (  # noqa: E402
    Answer,
    ChatServer,
    Exchange,
    chat_server,
    cut_body,
    failure,
    json_body,
    late,
    silent,
    streamed,
    text_chunks,
)

SECONDS, SEED = 900, 7
LONGEST_HANG = 1.0
MOST_GROWTH = 0.10
MOST_HANDLES = 10
"""What runs just then holds some; a leak of each tab or run would be hundreds."""
GROWTH_SECONDS = 600
"""Before that, caches fill and panes are made for the first time: growth is only shown."""
_START_SECONDS = 600
_SILENCE_SECONDS = 300
"""Only end what hangs, on a busy machine too."""
_FAULT_SHARE = 0.2

TOOLS = '''
import os


def calculator(expression: str) -> str:
    """Work out an arithmetic expression.

    Args:
        expression: numbers and operators.
    """
    return str(eval(expression, {"__builtins__": {}}))


def crash(code: int = 3) -> str:
    """End the process that runs the tools."""
    os._exit(code)


def loop() -> str:
    """Never return."""
    while True:
        pass
'''
AGENT = """---
name: Agent {number}
description: One of the prompts that the soak test works on.
inputs:
  question:
    kind: string
    sample: What is 128 * 46?
tools:
  - name: calculator
    kind: function
    parameters:
      - name: expression
        kind: string
        required: true
  - name: crash
    kind: function
    parameters: []
  - name: loop
    kind: function
    parameters: []
metadata:
  agent:
    protocol: react
    max_iterations: 5
    tools: [tools.py]
---
system:
Answer with Thought, Action, Args; then Final Answer.
{{% for tool in tools %}}- {{{{ tool.name }}}}: {{{{ tool.description }}}}
{{% endfor %}}
user:
{{{{ question }}}}
"""
STEPS = (
    'Thought: I need the product.\nAction: calculator\nArgs: {"expression": "128 * 46"}',
    "Thought: what if it ends?\nAction: crash\nArgs: {}",
    "Thought: what if it never ends?\nAction: loop\nArgs: {}",
    "Thought: I have it.\nFinal Answer: 128 times 46 is 5888.",
    "Thought: I have it.\nFinal Answer: 128 times 46 is 5888.",
    "A reply that keeps to no format at all.",
)


class _Model:
    """Answers at random, a fifth of the time wrongly."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.answers = self.faults = 0

    async def __call__(self, exchange: Exchange) -> None:
        good = streamed(self._random.choice(STEPS), delay=0.01)
        bad: tuple[Answer, ...] = (
            failure(500),
            failure(503, retry_after="0"),
            failure(401, "wrong key"),
            json_body("this is not JSON"),
            cut_body(text_chunks("Thought: I need")[:3]),
            late(3.0, good),
            silent(),
        )
        self.answers += 1
        if self._random.random() < _FAULT_SHARE:
            self.faults += 1
            await self._random.choice(bad)(exchange)
        else:
            await good(exchange)


def main() -> int:
    """Soak; returns 1 when a promise was broken."""
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else SEED
    with tempfile.TemporaryDirectory(prefix="soak-") as scratch, screen() as display:
        with chat_server() as server:
            model = _Model(seed)
            server.always(model)
            folder = prepare(Path(scratch), server)
            report = drive(Path(scratch), folder, display, seconds, seed)
            report["model answers"], report["model faults"] = model.answers, model.faults
        report["texts not in their swap file"] = lost_texts(Path(scratch), report.pop("unsaved"))
    return tell(report, judges_growth=seconds >= GROWTH_SECONDS)


@contextmanager
def screen() -> Iterator[str]:
    """A virtual screen with Xvfb and openbox where they are; else Qt's offscreen platform."""
    program, manager = shutil.which("Xvfb"), shutil.which("openbox")
    if program is None or manager is None:
        # Without a window manager no window gets the keyboard.
        yield ""
        return
    read, write = os.pipe()
    with subprocess.Popen(
        [program, "-displayfd", str(write), "-screen", "0", "1440x900x24", "-nolisten", "tcp"],
        pass_fds=(write,),
        stderr=subprocess.DEVNULL,
    ) as process:
        os.close(write)
        with os.fdopen(read) as said:
            number = said.readline().strip()
        with subprocess.Popen(
            [manager], env={**os.environ, "DISPLAY": f":{number}"}, stderr=subprocess.DEVNULL
        ) as keeper:
            try:
                yield f":{number}"
            finally:
                keeper.terminate()
                process.terminate()


def prepare(scratch: Path, server: ChatServer) -> Path:
    """The prompts to work on, and a connection to the server."""
    folder = scratch / "prompts"
    folder.mkdir()
    (folder / "tools.py").write_text(TOOLS, encoding="utf-8")
    for number in range(6):
        text = AGENT.format(number=number) if number % 2 == 0 else plain(number)
        (folder / f"prompt-{number}.prompty").write_text(text, encoding="utf-8")
    config = scratch / "home" / "config"
    config.mkdir(parents=True)
    (config / "connections.toml").write_text(
        'default = "Soak"\n\n[[connection]]\nname = "Soak"\nkind = "compatible"\n'
        f'base_url = {json.dumps(server.url)}\nmodel = "soak"\n',
        encoding="utf-8",
    )
    return folder


def plain(number: int) -> str:
    """A longer prompt without tools."""
    turns = "\n".join(
        f"user:\nQuestion {turn} of {{{{ topic }}}}\nassistant:\nAnswer {turn}."
        for turn in range(40)
    )
    return f"---\nname: Chat {number}\ninputs:\n  topic: rivers\n---\nsystem:\nBe brief.\n{turns}\n"


def drive(scratch: Path, folder: Path, display: str, seconds: int, seed: int) -> dict[str, Any]:
    """Have the driver work, then kill the studio at once; returns its report."""
    environment = {
        **os.environ,
        "PROMPT_STUDIO_HOME": str(scratch / "home"),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        "PYTHONPATH": str(ROOT),
        "QT_QPA_PLATFORM": "xcb" if display else "offscreen",
        "DISPLAY": display,
    }
    errors = scratch / "stderr.txt"
    command = [sys.executable, str(Path(__file__).with_name("driver.py")), str(folder)]
    with (
        errors.open("wb") as stderr,
        subprocess.Popen(
            [*command, str(seconds), str(seed)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        ) as process,
    ):
        report = _follow(process, seconds)
        process.kill()
    said = errors.read_text(encoding="utf-8", errors="replace")
    report["tracebacks"] = said.count("Traceback (most recent call last)")
    if report["tracebacks"] or report.get("ended early"):
        print(said[-6000:], file=sys.stderr)
    if report.get("ended early"):
        for fault in (scratch / "home" / "data" / "log").glob("hard-crash-*.txt"):
            print(fault.read_text(encoding="utf-8", errors="replace")[:6000], file=sys.stderr)
    return report


def _follow(process: subprocess.Popen[str], seconds: int) -> dict[str, Any]:
    """Read the driver's lines: one every few seconds, the report at the end."""
    assert process.stdout is not None
    deadline = time.monotonic() + seconds + _START_SECONDS + 60
    while time.monotonic() < deadline:
        ready, _, _ = select.select([process.stdout], [], [], _SILENCE_SECONDS)
        line = process.stdout.readline() if ready else ""
        if not line:
            return {"ended early": process.poll() if ready else "no sign of life", "unsaved": {}}
        kind, _, rest = line.partition(" ")
        if kind == "report":
            found: dict[str, Any] = json.loads(rest)
            return found
        print(rest.rstrip(), flush=True)
    return {"ended early": "too late", "unsaved": {}}


def lost_texts(scratch: Path, unsaved: dict[str, str]) -> int:
    """How many unsaved texts no swap file of the killed studio has."""
    kept = {
        json.loads(path.read_text(encoding="utf-8"))["text"]
        for path in (scratch / "home" / "data" / "swap").rglob("*.json")
    }
    lost = [name for name, text in unsaved.items() if text not in kept]
    for name in lost:
        print(f"not in a swap file: {name}")
    return len(lost)


def tell(report: dict[str, Any], *, judges_growth: bool) -> int:
    """Print the figures and what was promised; returns the exit code."""
    report["more handles"] = report.get("handle now", 0) - report.get("handle then", 0)
    promises = {
        "ended early": lambda value: value is None,
        "crashes": lambda value: value == 0,
        "tracebacks": lambda value: value == 0,
        "longest hang (s)": lambda value: value <= LONGEST_HANG,
        "texts changed by nobody": lambda value: value == 0,
        "texts not in their swap file": lambda value: value == 0,
    }
    if judges_growth:
        promises["memory growth"] = lambda value: value <= MOST_GROWTH
        promises["more handles"] = lambda value: value <= MOST_HANDLES
    report.setdefault("ended early", None)
    broken = [
        name for name, holds in promises.items() if name not in report or not holds(report[name])
    ]
    for name, value in report.items():
        shown = f"{value:+.1%}" if name.endswith("growth") else value
        print(f"{name}: {shown}")
    print(f"broken promises: {', '.join(broken) or 'none'}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
