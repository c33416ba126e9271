"""An experiment at a server that has batches, of either API."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from studio.application.experiments.batches.asker import BatchAsker
from studio.application.experiments.plan import (
    ExperimentPlan,
    ExperimentServices,
    plan_experiment,
)
from studio.application.experiments.run.runner import ExperimentRunner
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.models.connections import EMBEDDED, Connection, Connections
from studio.core.models.secrets import secret_store
from studio.core.tools.trust.store import TrustStore
from tests.support.batch_server import BatchServer, batch_server

KEY = "sk-batches-0123456789abcdef"
PROMPT = """\
---
name: Capital
inputs:
  country: {kind: string, required: true}
---
system:
Answer in one word.

user:
{{ country }}
"""
EXPERIMENT = """\
prompts: [capital.prompty]
providers: [small]
tests: file://rows.csv
defaultTest:
  assert: [{type: contains, value: "{{ expected }}"}]
"""
WITH_TEMPERATURE = EXPERIMENT.replace("[small]", "[{id: small, config: {temperature: 0.2}}]")
CAPITALS = {"Norway": "Oslo", "Italy": "Rome", "Peru": "Lima", "Chad": "N'Djamena"}


@dataclass
class BatchBench:
    """Everything that a test of batches needs."""

    folder: Path
    server: BatchServer
    services: ExperimentServices
    told: list[str] = field(default_factory=list)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def plan(self) -> ExperimentPlan:
        return plan_experiment(self.folder / "a.experiment.yaml", self.services)

    def runner(self, ledger: ExperimentLedger) -> ExperimentRunner:
        plan = self.plan()
        asker = BatchAsker(plan, self.services, ledger, self.told.append)
        return ExperimentRunner(plan, self.services, ledger, asker=asker)

    async def run(self, ledger: ExperimentLedger, only: str = "") -> int:
        """Run the experiment, or such cells of its newest result, or go on with it."""
        runner = self.runner(ledger)
        try:
            await runner.prepare()
            found = ledger.results()
            if not found:
                result = runner.begin()
            else:
                result = found[0].id
                assert runner.cells.resumable(result)
                ledger.reopen(result, errors=only == "errors", failed=only == "failed")
            assert await runner.run(result) == "done"
            return result
        finally:
            await runner.close()

    async def leave(self, ledger: ExperimentLedger, batches: int = 1) -> None:
        """Begin to run, and leave the last of so many batches to its provider."""
        runner = self.runner(ledger)
        try:
            await runner.prepare()
            going = asyncio.create_task(runner.run(runner.begin()))
            while not going.done() and not self._has_looked(batches):
                await asyncio.sleep(0.005)
            runner.stop()
            await going
        finally:
            await runner.close()

    def _has_looked(self, batches: int) -> bool:
        held = list(self.server.batches.values())
        return len(held) >= batches and held[-1].looks > 0

    def crash(self, step: str, ledger: ExperimentLedger) -> None:
        """Begin to run, and break off while the server is held at a step."""

        async def broken() -> None:
            running = asyncio.create_task(self.run(ledger))
            reached = self.server.reached[step]
            while not reached.is_set() and not running.done():
                await asyncio.sleep(0.005)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

        asyncio.run(broken())


def capital(body: dict[str, object]) -> str:
    messages = body["messages"]
    assert isinstance(messages, list)
    content = messages[-1]["content"]
    text = content if isinstance(content, str) else content[0]["text"]
    return CAPITALS.get(text, "?")


def no_temperature(_: str, body: dict[str, object]) -> tuple[int, dict[str, object]] | None:
    """Refuse each request with a temperature, as OpenAI does for some models."""
    if "temperature" not in body:
        return None
    return 400, {
        "message": "Unsupported parameter: 'temperature'.",
        "param": "temperature",
        "code": "unsupported_parameter",
    }


@pytest.fixture(params=["compatible", "anthropic"])
def batches(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[BatchBench]:
    monkeypatch.setenv("BATCH_KEY", KEY)
    folder = tmp_path / "work"
    folder.mkdir()
    with batch_server() as server:
        kind = request.param
        connection = Connection(
            "small",
            kind,
            model="m",
            base_url=server.url,
            key="${env:BATCH_KEY}",
            capabilities={"price": {"input": 2.0, "output": 10.0}},
        )
        trust = TrustStore()
        trust.trust(folder)
        services = ExperimentServices(trust, Connections((EMBEDDED, connection)), secret_store())
        made = BatchBench(folder, server, services)
        made.write("capital.prompty", PROMPT)
        made.write("a.experiment.yaml", EXPERIMENT)
        rows = "".join(f"{key},{value}\n" for key, value in CAPITALS.items())
        made.write("rows.csv", f"country,expected\n{rows}")
        server.answer = capital
        yield made


openai_only = pytest.mark.parametrize("batches", ["compatible"], indirect=True)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[ExperimentLedger]:
    made = ExperimentLedger(tmp_path / "ledger.db")
    yield made
    made.close()
