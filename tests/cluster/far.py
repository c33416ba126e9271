"""Experiments over a slow network that stalls and is cut, and nothing is lost: `make cluster`.

Leader, scheduler and two workers reach each other only through proxies of ours on loopback, each
piece 50 to 300 ms late. In the middle of a run one link stalls for seconds, or all its connections
are cut. Counted by the model server: how often each question was asked.

    python tests/cluster/far.py [RUNS] [CELLS] [SEED]
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.cluster.network import Network, slow_network  # noqa: E402
from tests.cluster.run import (  # noqa: E402
    Supervisor,
    asked,
    judge,
    model_server,
    start_leader,
    write_experiment,
)
from tests.support.ports import free_port  # noqa: E402

LEAST, MOST = 0.05, 0.3
STALL_SECONDS = 6.0
LONGEST_SECONDS = 600.0
"""A run that takes longer has hung."""

FAULTS = (
    ("delays", ""),
    ("stalls", "worker-1"),
    ("stalls", "leader"),
    ("stalls", "back-1"),
    ("cuts", "worker-1"),
    ("cuts", "leader"),
    ("cuts", "back-1"),
)
"""What happens, and at which link: `back-1` is the scheduler's way to the first worker."""


@dataclass
class FarSupervisor(Supervisor):
    """All ways between its processes are links of a network."""

    links: dict[str, int] = field(default_factory=dict)
    own: dict[str, int] = field(default_factory=dict)

    def connect(self, network: Network) -> None:
        """Open the links."""
        self.links["leader"] = network.link(self.port)
        for number in "12":
            self.own[f"worker-{number}"] = free_port()
            self.links[f"worker-{number}"] = network.link(self.port)
            self.links[f"back-{number}"] = network.link(self.own[f"worker-{number}"])

    def addresses(self, name: str) -> tuple[int, list[str]]:
        """The links of a worker: it listens at its own port, and names the proxy's."""
        back = self.links[name.replace("worker", "back")]
        return self.links[name], [
            "--listen-address",
            f"tcp://127.0.0.1:{self.own[name]}",
            "--contact-address",
            f"tcp://127.0.0.1:{back}",
        ]


def one_run(fault: str, link: str, cells: int, draw: random.Random) -> bool:
    """One experiment with one fault; says whether nothing was lost and little asked twice."""
    with (
        tempfile.TemporaryDirectory() as name,
        model_server() as port,
        slow_network(LEAST, MOST, draw.randrange(10**6)) as network,
    ):
        folder = Path(name)
        path = write_experiment(folder, cells, port)
        os.environ["PROMPT_STUDIO_HOME"] = str(folder / "home")
        supervisor = FarSupervisor(folder, free_port())
        supervisor.connect(network)
        command = [
            sys.executable,
            "-m",
            "studio",
            "experiment",
            "run",
            str(path),
            "--workers",
            f"tcp://127.0.0.1:{supervisor.links['leader']}",
        ]
        at = draw.randint(cells // 20, cells * 9 // 10)
        is_due = bool(link)
        began = time.monotonic()
        with (folder / "said.txt").open("wb") as said:
            leader = start_leader(command, said)
            while leader.poll() is None:
                supervisor.keep()
                if is_due and sum(asked(port).values()) >= at:
                    is_due = False
                    if fault == "cuts":
                        network.cut(supervisor.links[link])
                    else:
                        network.stall(supervisor.links[link], STALL_SECONDS)
                if time.monotonic() - began > LONGEST_SECONDS:
                    leader.kill()
                try:
                    leader.wait(0.05)
                except subprocess.TimeoutExpired:
                    continue
        supervisor.close()
        took = time.monotonic() - began
        good = judge(
            f"{fault:7}{link:9}", at, cells, asked(port), path, leader.returncode, took, folder
        )
        if is_due:
            print("  FAILED: the run was over before it came to that")
        return good and not is_due


def main() -> int:
    """Print a line for each run."""
    defaults = (2, 2000, 24)
    given = [int(each) for each in sys.argv[1:]]
    runs, cells, seed = (*given, *defaults[len(given) :])
    draw = random.Random(seed)
    found = [one_run(fault, link, cells, draw) for fault, link in FAULTS for _ in range(runs)]
    print(f"{sum(found)} of {len(found)} runs lost nothing")
    return 0 if all(found) else 1


if __name__ == "__main__":
    raise SystemExit(main())
