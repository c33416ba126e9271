"""A folder with an experiment, and a server that answers by what it is asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from studio.application.experiments.plan import (
    ExperimentChoices,
    ExperimentPlan,
    ExperimentServices,
    plan_experiment,
)
from studio.application.experiments.run.runner import ExperimentRunner
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.models.connections import EMBEDDED, Connection, Connections
from studio.core.models.secrets import secret_store
from studio.core.tools.trust.store import TrustStore
from tests.support.chat_server import ChatServer, Exchange, chat_server, streamed

PROMPT = """\
---
name: Capital
inputs:
  country: {kind: string, required: true}
template:
  format: {kind: jinja2}
  parser: {kind: prompty}
---
system:
Answer in one word.

user:
{{ country }}
"""

EXPERIMENT = """\
prompts:
  - {id: capital.prompty, label: main}
  - {id: capital.prompty, label: edit, edit: {system: "Answer shortly."}}
providers: [small]
baseline: main
tests: file://rows.csv
defaultTest:
  assert: [{type: contains, value: "{{ expected }}", metric: fact}]
"""

ROWS = "country,expected\nNorway,Oslo\nItaly,Rome\nPeru,Lima\n"
CAPITALS = {"Norway": "Oslo", "Italy": "Rome", "Peru": "Cuzco"}


@dataclass
class Bench:
    """Everything that a test of an experiment needs."""

    folder: Path
    server: ChatServer
    services: ExperimentServices
    asked: list[str] = field(default_factory=list)

    @property
    def path(self) -> Path:
        return self.folder / "capital.experiment.yaml"

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def plan(self, **choices: Any) -> ExperimentPlan:
        return plan_experiment(self.path, self.services, ExperimentChoices(**choices))

    async def run(self, ledger: ExperimentLedger, **choices: Any) -> tuple[int, str]:
        runner = ExperimentRunner(self.plan(**choices), self.services, ledger)
        try:
            await runner.prepare()
            result = runner.begin()
            return result, await runner.run(result)
        finally:
            await runner.close()


def answering(asked: list[str], answer: Callable[[str], str]) -> Callable[[Exchange], Any]:
    """Answer each request by the last text that it holds."""

    async def say(exchange: Exchange) -> None:
        content = exchange.request.body["messages"][-1]["content"]
        asked.append(json.dumps(exchange.request.body["messages"]))
        await streamed(answer(content))(exchange)

    return say


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    folder = tmp_path / "work"
    folder.mkdir()
    with chat_server() as server:
        connection = Connection("small", "compatible", model="scripted-1", base_url=server.url)
        trust = TrustStore()
        trust.trust(folder)
        services = ExperimentServices(trust, Connections((EMBEDDED, connection)), secret_store())
        made = Bench(folder, server, services)
        made.write("capital.prompty", PROMPT)
        made.write("capital.experiment.yaml", EXPERIMENT)
        made.write("rows.csv", ROWS)
        server.always(answering(made.asked, lambda text: CAPITALS.get(text, "nothing")))
        yield made


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[ExperimentLedger]:
    made = ExperimentLedger(tmp_path / "ledger.db")
    yield made
    made.close()
