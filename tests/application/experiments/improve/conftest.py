"""A model that answers well only where it is told what is asked, and one that proposes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from studio.application.experiments.improve.accept import (
    ImproveChoices,
    Improvement,
    ImproveProgress,
)
from studio.application.experiments.improve.search import SectionSearch
from studio.application.experiments.providers import choice_for
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.experiments.values import ProviderEntry
from studio.core.models.choice import ModelChoice
from tests.application.experiments.conftest import Bench
from tests.support.chat_server import Exchange, streamed

COUNTRIES = [f"Land{number}" for number in range(18)]
GOOD = "Name the capital."
PLAIN = """\
prompts: [{id: capital.prompty, label: main}]
providers: [small]
tests: file://rows.csv
defaultTest:
  assert: [{type: contains, value: "{{ expected }}", metric: fact}]
"""


def replied(text: str) -> str:
    return f"Let me think.\n<section>\n{text}\n</section>\nThat will do."


@dataclass
class ImproveBench:
    """An experiment of eighteen rows, and what was asked for it."""

    bench: Bench
    replies: list[str] = field(default_factory=lambda: [replied(GOOD)])
    """What the proposer answers, the last one from then on."""

    proposals: list[str] = field(default_factory=list)
    """What the proposer was sent."""

    asked: list[tuple[str, str]] = field(default_factory=list)
    """System text and country of each cell that was sent."""

    @property
    def proposer(self) -> ModelChoice:
        plan = self.bench.plan()
        found = choice_for(
            ProviderEntry("small"),
            plan.variants[0].document,
            self.bench.services.connections,
            trusted=True,
        )
        assert found is not None
        return found

    def search(
        self, ledger: ExperimentLedger, told: list[ImproveProgress] | None = None, **choices: Any
    ) -> SectionSearch:
        wanted = {"section": "system", "calls": 200, **choices}
        return SectionSearch(
            self.bench.plan(),
            0,
            ImproveChoices(**wanted),
            self.proposer,
            self.bench.services,
            ledger,
            (told if told is not None else []).append,
        )

    async def run(self, ledger: ExperimentLedger, **choices: Any) -> Improvement:
        return await self.search(ledger, **choices).run()


def answering(made: ImproveBench) -> Callable[[Exchange], Any]:
    async def say(exchange: Exchange) -> None:
        system, user = [each["content"] for each in exchange.request.body["messages"]]
        if "You improve one section" in system:
            made.proposals.append(user)
            at = min(len(made.proposals), len(made.replies)) - 1
            await streamed(made.replies[at])(exchange)
            return
        made.asked.append((system, user))
        knows = "capital" in system or user == COUNTRIES[0]
        await streamed(f"{user}-City" if knows else "nothing")(exchange)

    return say


@pytest.fixture
def improving(bench: Bench) -> ImproveBench:
    rows = "".join(f"{each},{each}-City\n" for each in COUNTRIES)
    bench.write("rows.csv", f"country,expected\n{rows}")
    bench.write("capital.experiment.yaml", PLAIN)
    made = ImproveBench(bench)
    bench.server.always(answering(made))
    return made


def rows_of(sent: str) -> list[dict[str, Any]]:
    """The examples that a proposer was shown."""
    text = sent.partition("<examples>\n")[2].partition("\n</examples>")[0]
    return [json.loads(line) for line in text.splitlines() if line]
