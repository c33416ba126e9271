"""How far the embedded model gets, by protocol and grammar level, on questions of its own.

    python tests/benches/bench_embedded.py [--levels syntax policy grounded] [--questions 10]
        [--models 2]

The questions are not those of the examples. "final" says that the run ended with an answer within
six calls (at `policy` and `grounded` the grammar sees to that), "right" that the answer holds what
was asked for (at `grounded` the answer is put together from what the tools said: there it measures
that the right tool was called with the right words). None of it measures what a real model can do.
The questions are shared out among several models of one thread each, one for each processor, which
changes no answer; each row is printed when it is there.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from studio.core.agent.values.options import RunOptions  # noqa: E402
from studio.core.models.embedded.model import EmbeddedModel  # noqa: E402
from studio.core.models.embedded.policy import LEVELS, GrammarLevel  # noqa: E402
from studio.core.models.embedded.server import EmbeddedServer, EmbeddedSettings  # noqa: E402
from studio.core.prompty.document import PromptDocument  # noqa: E402
from studio.core.prompty.parse import parse  # noqa: E402
from studio.core.prompty.prepare import prepare  # noqa: E402
from studio.core.text.values import Json  # noqa: E402
from studio.core.tools.document_tools import ToolSession  # noqa: E402
from studio.core.tools.trust.store import TrustStore  # noqa: E402
from tests.support.start_run import start_run  # noqa: E402

START_TARGET = 3.0
EXAMPLES = ROOT / "resources" / "examples"
FILES = {
    "native": "tool-calling-agent.prompty",
    "react": "react-agent.prompty",
    "json_action": "json-action-agent.prompty",
}
QUESTIONS = (
    ("Please work out 731 + 269.", "1000"),
    ("How much is 15 * (4 + 8)?", "180"),
    ("Divide it for me: 144 / 12", "12"),
    ("Which city is the capital of Finland?", "Helsinki"),
    ("Tell me the language of Chile.", "Spanish"),
    ("I need the currency of Thailand for my trip.", "baht"),
    ("On which continent is it? I mean the continent of Egypt.", "Africa"),
    ("What is the capital of New Zealand?", "Wellington"),
    ("Is 2 ** 10 more than a thousand?", "1024"),
    ("The capital of Poland and the capital of Peru, please.", "Lima"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    protocol: str
    level: GrammarLevel


@dataclass(frozen=True, slots=True)
class Result:
    """One question, asked."""

    question: str
    wanted: str
    answer: str | None
    """None where the run ended without one."""
    seconds: float

    @property
    def is_right(self) -> bool:
        """Whether the answer holds what was asked for."""
        return self.answer is not None and self.wanted.lower() in self.answer.lower()


async def main() -> int:
    parser = argparse.ArgumentParser()
    levels = ["syntax", "policy", "grounded"]
    parser.add_argument("--levels", nargs="+", choices=LEVELS, default=levels)
    parser.add_argument("--protocols", nargs="+", choices=FILES, default=list(FILES))
    parser.add_argument("--questions", type=int, default=len(QUESTIONS))
    parser.add_argument("--models", type=int, default=max(1, os.cpu_count() or 1))
    parser.add_argument("--show", action="store_true", help="print every answer")
    options = parser.parse_args()
    questions = QUESTIONS[: options.questions]
    rows = [Row(protocol, level) for protocol in options.protocols for level in options.levels]
    seconds = await _start()
    print(
        f"embedded model, {len(questions)} questions of its own: final / right, seconds a run",
        flush=True,
    )
    begun = time.monotonic()
    desk = Desk(rows, questions)
    async with asyncio.TaskGroup() as group:
        for _ in range(min(options.models, len(questions))):
            group.create_task(desk.work())
        for row in rows:
            _print(row, await desk.results(row), show=options.show)
    print(f"all of it in {(time.monotonic() - begun) / 60:.1f} min")
    return 1 if seconds > START_TARGET else 0


async def _start() -> float:
    """Start the model as the studio does; how long that takes, seconds."""
    server = EmbeddedServer()
    try:
        start = time.monotonic()
        await server.start()
        seconds = time.monotonic() - start
        print(
            f"embedded model, ready in {seconds:.1f} s (target <= {START_TARGET:.0f} s), "
            f"{_memory(server)} MiB with a context of {server.settings.context:,} tokens",
            flush=True,
        )
    finally:
        await server.stop()
    return seconds


class Desk:
    """Hands the questions out to models, row after row, and collects what comes back."""

    def __init__(self, rows: list[Row], questions: tuple[tuple[str, str], ...]) -> None:
        self._waiting = deque((row, *each) for row in rows for each in questions)
        self._results: dict[Row, list[Result]] = {row: [] for row in rows}
        self._wanted = len(questions)
        self._news = asyncio.Condition()

    async def results(self, row: Row) -> list[Result]:
        """All of a row, as soon as they are there."""
        async with self._news:
            await self._news.wait_for(lambda: len(self._results[row]) == self._wanted)
        return self._results[row]

    async def work(self) -> None:
        """Ask one question after the other of a model of one's own, until none is left.

        With one thread, whatever the machine: with more, the numbers differ in their last digits
        and so do some answers (docs/design/embedded-model.md).
        """
        server = EmbeddedServer(EmbeddedSettings(threads=1))
        tools: dict[str, ToolSession] = {}
        try:
            while self._waiting:
                row, question, wanted = self._waiting.popleft()
                document = _document(row.protocol)
                if row.protocol not in tools:
                    tools[row.protocol] = await _tools(document)
                start = time.monotonic()
                model = EmbeddedModel(server, settings=server.settings, level=row.level)
                answer = await _ask(document, question, model, tools[row.protocol])
                made = Result(question, wanted, answer, time.monotonic() - start)
                async with self._news:
                    self._results[row].append(made)
                    self._news.notify_all()
        finally:
            for session in tools.values():
                await session.close()
            await server.stop()


def _print(row: Row, results: list[Result], *, show: bool) -> None:
    final = sum(each.answer is not None for each in results)
    right = sum(each.is_right for each in results)
    seconds = sum(each.seconds for each in results) / len(results)
    if show:
        for each in results:
            print(f"    {each.question} -> {each.answer!r} (wanted {each.wanted!r})")
    print(f"  {row.protocol:12} {row.level:9} {final:2} / {right:2}   {seconds:4.1f} s", flush=True)


def _memory(server: EmbeddedServer) -> int:
    """What the process holds in memory now, MiB; 0 where the system does not tell so simply."""
    status = Path(f"/proc/{server.process_id}/status")
    if not status.is_file():
        return 0
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) // 1024


def _document(protocol: str) -> PromptDocument:
    path = EXAMPLES / FILES[protocol]
    return parse(path.read_text(encoding="utf-8"), path)


async def _tools(document: PromptDocument) -> ToolSession:
    """The tools of an example; its functions keep nothing from one run to the next."""
    tools = ToolSession(TrustStore())
    prepared = prepare(document, {})
    await tools.load(prepared.document, prepared.messages.tools)
    return tools


async def _ask(
    document: PromptDocument, question: str, model: EmbeddedModel, tools: ToolSession
) -> str | None:
    values: dict[str, Json] = {"question": question}
    run = start_run(
        document,
        values,
        model,
        tools.current.toolbox(prepare(document, values).inputs),
        RunOptions(headless=True, approve="always"),
    )
    state = await run.go()
    return state.answer if state.status == "done" else None


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
