"""`make chaos`: an experiment is killed 50 times at moments drawn by chance, and goes on each time.

After each kill the ledger is read: what it holds as finished must never be asked again, and at the
end no cell may be missing.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.support.chat_server import Exchange, chat_server, streamed

KILLS, ROWS, AT_ONCE = 50, 1500, 6
_ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Kill, go on, and count; 1 where a cell was lost or asked again."""
    with tempfile.TemporaryDirectory() as made, chat_server() as server:
        folder = Path(made)
        os.environ["PROMPT_STUDIO_HOME"] = str(folder / "home")
        from studio.application.experiments.report import ledger_path
        from studio.core.experiments.results.cells import CellState
        from studio.core.experiments.results.ledger import ExperimentLedger
        from studio.core.paths import user_paths

        asked: Counter[str] = Counter()
        most = 0  # so many are answered: a killer that comes late finds no more done

        async def answer(exchange: Exchange) -> None:
            asked[exchange.request.body["messages"][-1]["content"]] += 1
            number = asked.total()
            await asyncio.sleep(0.01)
            while number > most:
                await asyncio.sleep(0.005)
            await streamed("yes")(exchange)

        server.always(answer)
        config = user_paths().config
        config.mkdir(parents=True, exist_ok=True)
        (config / "connections.toml").write_text(
            '[[connection]]\nname = "small"\nkind = "compatible"\nmodel = "m"\n'
            f'base_url = "{server.url}"\n'
        )
        path = folder / "a.experiment.yaml"
        (folder / "a.prompty").write_text("---\ninputs: {q: {kind: string}}\n---\nuser:\n{{ q }}\n")
        (folder / "rows.csv").write_text("q\n" + "".join(f"q{n}\n" for n in range(1, ROWS + 1)))
        path.write_text(
            "prompts: [a.prompty]\nproviders: [small]\ntests: file://rows.csv\n"
            "defaultTest: {assert: [{type: equals, value: 'yes'}]}\n"
        )
        command = [
            sys.executable,
            "-m",
            "studio",
            "experiment",
            "run",
            str(path),
            "--resume",
            "--concurrency",
            str(AT_ONCE),
        ]
        chance, kills, again, said = random.Random(7), 0, 0, folder / "said.txt"
        finished: dict[str, int] = {}  # what was finished, and how often it had been asked by then

        def look() -> None:
            """What is finished now; whether anything finished before was asked since."""
            nonlocal again
            ledger = ExperimentLedger(ledger_path(path))
            for head in ledger.results()[:1]:
                for _, row, _, state, *_ in ledger.scans.states(head.id):
                    if state == CellState.DONE:
                        finished.setdefault(f"q{row}", asked[f"q{row}"])
            ledger.close()
            again += sum(asked[name] - times for name, times in finished.items())

        while kills < KILLS:
            wanted = asked.total() + chance.randint(1, ROWS // KILLS - AT_ONCE)
            most = wanted + AT_ONCE
            with (
                said.open("wb") as output,
                subprocess.Popen(command, cwd=_ROOT, stdout=output, stderr=output) as run,
            ):
                while asked.total() < wanted and run.poll() is None:
                    time.sleep(0.001)
                time.sleep(chance.random() * 0.02)
                run.kill()
            if run.returncode != -signal.SIGKILL:
                break
            kills += 1
            look()
        most = sys.maxsize
        done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
        look()
        lost = ROWS - len(finished)
        print(
            f"{kills} kills, {ROWS} cells: {lost} lost, {again} finished ones asked again, "
            f"{asked.total() - ROWS} that were under way asked twice; "
            f"it ended with {done.returncode}"
        )
        if kills < KILLS:
            print(f"it was over before it was killed: {said.read_text()[-2000:]}")
        return 0 if (lost, again, done.returncode, kills) == (0, 0, 0, KILLS) else 1


if __name__ == "__main__":
    sys.exit(main())
