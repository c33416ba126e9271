"""`make chaos`: the recorder, its program and the server are killed (`kill -9`), 50 times in turn.

After each, no other process is left hanging, the history opens whole, and the answers that the
program had are there: all of them, or where the recorder itself was killed those that came more
than `_BEHIND` seconds before.

    python -m tests.chaos.recorder_kills
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from studio.core.runs.store import RunFilter, RunStore
from tests.chaos.kill_series import BrokenPromiseError, expect

KILLS = 50
VICTIMS = ("recorder", "program", "server")
_BEHIND = 0.5
_END_SECONDS = 20.0
_ROOT = Path(__file__).resolve().parents[2]
_SERVER = """
import http.server, json, sys, time
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for word in (asked["messages"][-1]["content"], " is", " answered."):
            event = {"choices": [{"index": 0, "delta": {"content": word}}]}
            self.wfile.write(b"data: " + json.dumps(event).encode() + b"\\n\\n")
            time.sleep(0.004)
        self.wfile.write(b"data: [DONE]\\n\\n")
        self.close_connection = True
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"""
_PROGRAM = """
import os, sys, time
import httpx2
print("pid", os.getpid(), flush=True)
messages = []
for number in range(2_000):
    messages = [*messages[-6:], {"role": "user", "content": f"Q{number}"}]
    body = {"model": "m", "stream": True, "messages": messages}
    address = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    answer = httpx2.post(address, json=body, timeout=None)
    if answer.status_code != 200 or "[DONE]" not in answer.text:
        sys.exit(9)
    print(f"Q{number}", time.time(), flush=True)
    messages.append({"role": "assistant", "content": f"Q{number} is answered."})
"""


@contextmanager
def started(*command: str, home: Path) -> Iterator[subprocess.Popen[str]]:
    variables = {**os.environ, "PROMPT_STUDIO_HOME": str(home), "PYTHONPATH": str(_ROOT)}
    with subprocess.Popen(
        command,
        env=variables,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=home,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def recorded_answers(home: Path) -> set[str]:
    """Return the answers in the history, of which every run must open."""
    with closing(RunStore(home / "data" / "runs.sqlite")) as store:
        runs = [store.open(each.id) for each in store.runs(RunFilter(limit=-1))]
    words = " is answered."
    replies = [event.reply.text for run in runs for event in run.events if hasattr(event, "reply")]
    return {text.removesuffix(words) for text in replies if text.endswith(words)}


def kill_one(victim: str, chance: random.Random) -> int:
    """Kill one of the three at a random moment; return how many answers were there."""
    with tempfile.TemporaryDirectory(prefix="recorder-kills-") as made:
        home = Path(made)
        program = home / "agent.py"
        program.write_text(_PROGRAM, encoding="utf-8")
        with started(sys.executable, "-c", _SERVER, home=home) as server:
            assert server.stdout is not None
            to = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
            record = (sys.executable, "-m", "studio", "record", "--to", to, "--")
            with started(*record, sys.executable, str(program), home=home) as recorder:
                assert recorder.stdout is not None
                pid = int(recorder.stdout.readline().split()[1])
                lines = [recorder.stdout.readline()]
                time.sleep(chance.uniform(0.0, 1.5))
                killed_at = time.time()
                pids = {"recorder": recorder.pid, "program": pid, "server": server.pid}
                os.kill(pids[victim], signal.SIGKILL)
                try:
                    rest, _ = recorder.communicate(timeout=_END_SECONDS)
                except subprocess.TimeoutExpired:
                    raise BrokenPromiseError(f"{victim} killed: what is left hangs") from None
                code = recorder.returncode
        lines += rest.splitlines()
        had = dict(line.split() for line in lines)
        limit = killed_at - _BEHIND if victim == "recorder" else float("inf")
        owed = {name for name, at in had.items() if float(at) < limit}
        lost = owed - recorded_answers(home)
        expect(not lost, f"{victim} killed: {len(lost)} of {len(owed)} answers are lost")
        wanted = {"recorder": -9, "program": 137, "server": 9}[victim]
        expect(code == wanted, f"{victim} killed: exit code {code}, not {wanted}")
        return len(owed)


def main() -> int:
    """Kill in turn, and print what was found; 1 where a promise is broken."""
    chance, counts = random.Random(43), dict.fromkeys(VICTIMS, 0)
    answers = 0
    for number in range(KILLS):
        victim = VICTIMS[number % len(VICTIMS)]
        try:
            answers += kill_one(victim, chance)
        except BrokenPromiseError as error:
            print(f"kill {number + 1}: broken: {error}  FAILED", flush=True)
            return 1
        counts[victim] += 1
    said = ", ".join(f"{name} {count}" for name, count in counts.items())
    print(f"{KILLS} kills ({said}): {answers} answers, none lost, nothing left hanging")
    return 0


if __name__ == "__main__":
    sys.exit(main())
