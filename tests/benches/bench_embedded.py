"""How far the embedded model gets, by protocol and grammar level, on questions of its own.

    python tests/benches/bench_embedded.py [--levels syntax policy grounded] [--questions 10]

The questions are not those of the examples. "final" says that the run ended with an answer within
six calls (at `policy` and `grounded` the grammar sees to that), "right" that the answer holds what
was asked for (at `grounded` the answer is put together from what the tools said: there it measures
that the right tool was called with the right words). None of it measures what a real model can do.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from studio.core.agent.options import RunOptions  # noqa: E402
from studio.core.agent.runner import start_run  # noqa: E402
from studio.core.models.embedded.model import EmbeddedModel  # noqa: E402
from studio.core.models.embedded.policy import LEVELS, GrammarLevel  # noqa: E402
from studio.core.models.embedded.server import EmbeddedServer  # noqa: E402
from studio.core.prompty.document import PromptDocument  # noqa: E402
from studio.core.prompty.parse import parse  # noqa: E402
from studio.core.prompty.prepare import prepare  # noqa: E402
from studio.core.text.values import Json  # noqa: E402
from studio.core.tools.session import ToolSession  # noqa: E402
from studio.core.tools.trust import TrustStore  # noqa: E402

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


async def main() -> int:
    parser = argparse.ArgumentParser()
    levels = ["syntax", "policy", "grounded"]
    parser.add_argument("--levels", nargs="+", choices=LEVELS, default=levels)
    parser.add_argument("--protocols", nargs="+", choices=FILES, default=list(FILES))
    parser.add_argument("--questions", type=int, default=len(QUESTIONS))
    parser.add_argument("--show", action="store_true", help="print every answer")
    options = parser.parse_args()
    questions = QUESTIONS[: options.questions]
    server = EmbeddedServer()
    start = time.monotonic()
    await server.start()
    seconds = time.monotonic() - start
    print(
        f"embedded model, ready in {seconds:.1f} s (target <= {START_TARGET:.0f} s), "
        f"{_memory(server)} MiB with a context of {server.settings.context:,} tokens"
    )
    print(f"embedded model, {len(questions)} questions of its own: final / right, seconds a run")
    try:
        for protocol in options.protocols:
            for level in options.levels:
                await _row(server, protocol, level, questions, show=options.show)
    finally:
        await server.stop()
    return 1 if seconds > START_TARGET else 0


def _memory(server: EmbeddedServer) -> int:
    """What the process holds in memory now, MiB; 0 where the system does not tell so simply."""
    status = Path(f"/proc/{server.process_id}/status")
    if not status.is_file():
        return 0
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) // 1024


async def _row(
    server: EmbeddedServer,
    protocol: str,
    level: GrammarLevel,
    questions: tuple[tuple[str, str], ...],
    *,
    show: bool,
) -> None:
    path = EXAMPLES / FILES[protocol]
    document = parse(path.read_text(encoding="utf-8"), path)
    final = right = 0
    start = time.monotonic()
    for question, wanted in questions:
        answer = await _ask(document, question, EmbeddedModel(server, level=level))
        final += answer is not None
        right += answer is not None and wanted.lower() in answer.lower()
        if show:
            print(f"    {question} -> {answer!r} (wanted {wanted!r})")
    seconds = (time.monotonic() - start) / len(questions)
    print(f"  {protocol:12} {level:9} {final:2} / {right:2}   {seconds:4.1f} s", flush=True)


async def _ask(document: PromptDocument, question: str, model: EmbeddedModel) -> str | None:
    values: dict[str, Json] = {"question": question}
    tools = ToolSession(TrustStore())
    try:
        prepared = prepare(document, values)
        await tools.load(prepared.document, prepared.messages.tools)
        run = start_run(
            document,
            values,
            model,
            tools.toolbox(prepared.inputs),
            RunOptions(headless=True, approve="always"),
        )
        state = await run.go()
        return state.answer if state.status == "done" else None
    finally:
        await tools.close()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
