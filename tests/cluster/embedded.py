"""`make cluster`: the embedded model on two workers against one process, and its servers counted.

Two variants ask the same model; each worker must start one server for both, once.

    python tests/cluster/embedded.py [ROWS]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]


def _write(folder: Path, rows: int) -> Path:
    (folder / "p.prompty").write_text(
        "---\nmodel: {options: {maxOutputTokens: 32}}\n---\nsystem:\nAnswer in one word.\n\n"
        "user:\nWhat is the capital of {{ q }}?\n"
    )
    (folder / "rows.csv").write_text("q\n" + "".join(f"country {n}\n" for n in range(rows)))
    path = folder / "a.experiment.yaml"
    path.write_text(
        "prompts:\n  - {id: p.prompty, label: one}\n"
        '  - {id: p.prompty, label: two, edit: {system: "Be brief."}}\n'
        "providers: [embedded]\ntests: file://rows.csv\n"
    )
    return path


def _timed(rows: int, *arguments: str) -> tuple[float, int]:
    """Seconds for all cells, and how many servers were started."""
    with tempfile.TemporaryDirectory() as name:
        path = _write(Path(name), rows)
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PROMPT_STUDIO_HOME": f"{name}/home"}
        command = [sys.executable, "-m", "studio", "experiment", "run", str(path), *arguments]
        servers: set[int] = set()
        began = time.monotonic()
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as run:
            while run.poll() is None:
                servers |= _servers(run.pid)
                time.sleep(0.1)
            said = run.stdout.read() if run.stdout is not None else ""
        took = time.monotonic() - began
        if run.returncode != 0:
            print(said[-2000:])
        return took, len(servers)


def _servers(process: int) -> set[int]:
    try:
        below = psutil.Process(process).children(recursive=True)
        return {
            each.pid
            for each in below
            if "embedded" in " ".join(each.cmdline()) and "child" in " ".join(each.cmdline())
        }
    except psutil.Error:
        return set()


def main() -> int:
    """Print both; 1 where a worker started more than one server."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    took, servers = _timed(rows)
    print(f"one process: {2 * rows} cells in {took:.1f} s, {servers} server")
    good = servers == 1
    took_by_workers, servers = _timed(rows, "--workers", "local:2")
    print(
        f"two workers: {2 * rows} cells in {took_by_workers:.1f} s, {servers} servers, "
        f"{took / took_by_workers:.2f} times as fast"
    )
    return 0 if good and servers == 2 else 1


if __name__ == "__main__":
    sys.exit(main())
