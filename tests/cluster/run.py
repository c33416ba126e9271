"""Workers are killed in the middle of experiments, and nothing is lost: `make cluster`.

A scheduler, two workers, the leader and a model server are processes of their own on loopback. One
of them is killed (`kill -9`) at a random moment of each run; a small supervisor starts scheduler
and workers again, as systemd or Kubernetes would. Counted by the server: how often each question
was asked.

    python tests/cluster/run.py [RUNS] [CELLS] [SEED]
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from studio.application.experiments.report import ledger_path  # noqa: E402
from studio.core.experiments.results.ledger import ExperimentLedger  # noqa: E402
from tests.support.ports import free_port  # noqa: E402

MOST_TWICE = 100
"""Cells that a kill may cost a second request: what is under way, of however many there are."""

_SERVER = r"""
import asyncio, json, re, sys
from collections import Counter
asked = Counter()
chunk = {"id": "c", "object": "chat.completion.chunk", "choices": [
    {"index": 0, "delta": {"content": "Oslo"}, "finish_reason": "stop"}]}
body = ("data: " + json.dumps(chunk) + "\n\ndata: [DONE]\n\n").encode()
async def serve(reader, writer):
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            if head.startswith(b"get"):
                text = json.dumps(asked).encode()
                kind = b"application/json"
            else:
                size = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
                sent = await reader.readexactly(size)
                asked[re.search(rb"cell-\d+", sent)[0].decode()] += 1
                await asyncio.sleep(0.02)
                text, kind = body, b"text/event-stream"
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n"
                         % (kind, len(text)) + text)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


@dataclass
class Supervisor:
    """Starts scheduler and workers, and starts again what ended."""

    home: Path
    port: int
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def addresses(self, name: str) -> tuple[int, list[str]]:
        """The port at which a worker finds the scheduler, and where it is itself."""
        return self.port, ["--host", "127.0.0.1"]

    def command(self, name: str) -> list[str]:
        kind = "scheduler" if name == "scheduler" else "worker"
        start = [sys.executable, "-m", f"distributed.cli.dask_{kind}"]
        if kind == "scheduler":
            return [*start, "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard"]
        port, own = self.addresses(name)
        return [
            *start,
            f"tcp://127.0.0.1:{port}",
            "--nthreads",
            "2",
            "--no-nanny",
            "--no-dashboard",
            "--death-timeout",
            "60",
            "--local-directory",
            str(self.home),
            *own,
        ]

    def keep(self) -> None:
        for name in ("scheduler", "worker-1", "worker-2"):
            process = self.processes.get(name)
            if process is None or process.poll() is not None:
                self.processes[name] = subprocess.Popen(
                    self.command(name),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env={**os.environ, "PYTHONPATH": str(ROOT)},
                    cwd=self.home,
                )

    def kill(self, name: str) -> None:
        self.processes[name].send_signal(signal.SIGKILL)
        self.processes[name].wait()

    def close(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()


@contextmanager
def model_server() -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", _SERVER], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        try:
            yield int(server.stdout.readline())
        finally:
            server.kill()


def asked(port: int) -> dict[str, int]:
    import json

    with urllib.request.urlopen(f"http://127.0.0.1:{port}/counts") as answer:
        found: dict[str, int] = json.loads(answer.read())
    return found


def write_experiment(folder: Path, cells: int, port: int) -> Path:
    home = folder / "home"
    (home / "config").mkdir(parents=True)
    (home / "config" / "connections.toml").write_text(
        f'[[connection]]\nname = "small"\nkind = "compatible"\nmodel = "m"\n'
        f'base_url = "http://127.0.0.1:{port}/v1"\n'
    )
    (folder / "p.prompty").write_text("system:\nShort.\n\nuser:\n{{ q }}\n")
    (folder / "rows.csv").write_text("q\n" + "".join(f"cell-{n}\n" for n in range(cells)))
    path = folder / "a.experiment.yaml"
    path.write_text(
        "prompts: [p.prompty]\nproviders: [small]\ntests: file://rows.csv\n"
        "defaultTest: {assert: [{type: contains, value: Oslo}]}\n"
    )
    return path


def one_run(victim: str, cells: int, draw: random.Random) -> bool:
    """One experiment with one kill; says whether nothing was lost and little asked twice."""
    with tempfile.TemporaryDirectory() as name, model_server() as port:
        folder = Path(name)
        path = write_experiment(folder, cells, port)
        os.environ["PROMPT_STUDIO_HOME"] = str(folder / "home")
        supervisor = Supervisor(folder, free_port())
        supervisor.keep()
        command = [
            sys.executable,
            "-m",
            "studio",
            "experiment",
            "run",
            str(path),
            "--workers",
            f"tcp://127.0.0.1:{supervisor.port}",
            "--resume",
        ]
        at = draw.randint(cells // 20, cells * 9 // 10)
        began = time.monotonic()
        with (folder / "said.txt").open("wb") as said:
            leader = start_leader(command, said)
            killed = False
            while leader.poll() is None or (killed and leader.returncode == -signal.SIGKILL):
                supervisor.keep()
                if not killed and sum(asked(port).values()) >= at:
                    killed = True
                    if victim == "leader":
                        leader.kill()
                        leader.wait()
                    else:
                        supervisor.kill(victim)
                if leader.poll() is not None and killed and victim == "leader":
                    leader = start_leader(command, said)
                with suppress(subprocess.TimeoutExpired):
                    leader.wait(0.05)
        supervisor.close()
        counts = asked(port)
        took = time.monotonic() - began
        return judge(
            f"{victim:10} killed", at, cells, counts, path, leader.returncode, took, folder
        )


def start_leader(command: list[str], said: BinaryIO) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, stdout=said, stderr=said, env=environment)


def judge(
    title: str,
    at: int,
    cells: int,
    counts: dict[str, int],
    path: Path,
    code: int,
    took: float,
    folder: Path,
) -> bool:
    ledger = ExperimentLedger(ledger_path(path))
    (head, *others) = ledger.results(str(path.resolve()))
    totals = ledger.scans.variant_totals(head.id)
    ledger.close()
    done = sum(each.passed for each in totals)
    twice = sum(count - 1 for count in counts.values())
    said = (folder / "said.txt").read_text()
    good = (
        code == 0
        and not others
        and done == cells == len(counts)
        and "Traceback" not in said
        and twice <= MOST_TWICE
    )
    print(
        f"{title} at {at:5} of {cells}: {done} in the ledger, {twice} asked twice "
        f"({twice / cells:.1%}), exit {code}, {took:.1f} s{'' if good else '  FAILED'}",
        flush=True,
    )
    if not good:
        print(said[-3000:])
    return good


def main() -> int:
    defaults = (10, 2000, 24)
    given = [int(each) for each in sys.argv[1:]]
    runs, cells, seed = (*given, *defaults[len(given) :])
    draw = random.Random(seed)
    found = [
        one_run(victim, cells, draw)
        for victim in ("worker-1", "scheduler", "leader")
        for _ in range(runs)
    ]
    print(f"{sum(found)} of {len(found)} runs lost nothing")
    return 0 if all(found) else 1


if __name__ == "__main__":
    raise SystemExit(main())
