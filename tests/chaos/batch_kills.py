"""`make chaos`: an experiment in batches is killed (`kill -9`) at each step, at both APIs.

The command is a process of its own, and the server on loopback holds it at the step. After the
kill it goes on with `--resume`; counted by the server: how often each question was answered.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from tests.support.batch_server import BatchServer, Ending, batch_server, wait_for

ROWS = 300
_ROOT = Path(__file__).resolve().parents[2]
_STEPS = {
    "upload": "noted, the file is under way",
    "create": "the file is there, the batch is not",
    "created": "the batch was taken, and nobody heard of it",
    "look": "the batch goes on",
    "results": "half of the results were read",
}
"""Where the server holds the command, in the order in which a batch goes."""


def one_kill(kind: str, step: str) -> bool:
    """One experiment with a kill at a step; says whether nothing was lost or asked twice."""
    with tempfile.TemporaryDirectory() as made, batch_server() as server:
        folder = Path(made)
        os.environ["PROMPT_STUDIO_HOME"] = str(folder / "home")
        path = _write(folder, kind, server.url)
        server.endings = [Ending(looks=1)]
        server.hold[step] = threading.Event()
        command = [
            sys.executable,
            "-m",
            "studio",
            "experiment",
            "run",
            str(path),
            "--batch",
            "--resume",
        ]
        with subprocess.Popen(
            command, cwd=_ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as run:
            wait_for(server.reached[step])
            run.send_signal(signal.SIGKILL)
            run.wait()
        wait_for(server.held[step].client_left)
        server.hold.pop(step).set()
        done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
        return _judge(f"{kind}: {_STEPS[step]}", server, path, done)


def _judge(
    what: str, server: BatchServer, path: Path, done: subprocess.CompletedProcess[str]
) -> bool:
    from studio.application.experiments.report import ledger_path
    from studio.core.experiments.results.ledger import ExperimentLedger

    ledger = ExperimentLedger(ledger_path(path))
    (head,) = ledger.results()
    passed = sum(each.passed for each in ledger.scans.variant_totals(head.id))
    ledger.close()
    twice = sum(count - 1 for count in server.asked.values())
    good = (done.returncode, passed, len(server.asked), twice) == (0, ROWS, ROWS, 0)
    print(
        f"{what}: {passed} of {ROWS} cells, {twice} asked twice, {len(server.batches)} batches, "
        f"exit {done.returncode}{'' if good else '  FAILED'}",
        flush=True,
    )
    if not good:
        print(done.stderr[-2000:])
    return good


def _write(folder: Path, kind: str, url: str) -> Path:
    config = folder / "home" / "config"
    config.mkdir(parents=True)
    (config / "connections.toml").write_text(
        f'[[connection]]\nname = "small"\nkind = "{kind}"\nmodel = "m"\nbase_url = "{url}"\n'
    )
    (folder / "a.prompty").write_text("user:\n{{ q }}\n")
    (folder / "rows.csv").write_text("q\n" + "".join(f"q{n}\n" for n in range(ROWS)))
    path = folder / "a.experiment.yaml"
    path.write_text(
        "prompts: [a.prompty]\nproviders: [small]\ntests: file://rows.csv\n"
        "defaultTest: {assert: [{type: equals, value: 'yes'}]}\n"
    )
    return path


def main() -> int:
    """Kill at each step of both APIs; 1 where a cell was lost or asked twice."""
    found = [
        one_kill(kind, step)
        for kind in ("compatible", "anthropic")
        for step in _STEPS
        if (kind, step) != ("anthropic", "upload")
    ]
    print(f"{sum(found)} of {len(found)} kills lost nothing and asked nothing twice")
    return 0 if all(found) else 1


if __name__ == "__main__":
    sys.exit(main())
