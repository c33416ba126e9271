"""Variants of an option that the server refuses: asked once, and said to be the same."""

from __future__ import annotations

from typing import Any

import pytest

from studio.application.experiments.exports.forms import FORMS
from studio.application.experiments.grid import grid_of
from studio.application.experiments.report import report_of
from studio.application.experiments.run.runner import ExperimentRunner
from studio.core.experiments.results.cells import CellKey, left_out_of
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.models.remote.faults import kept_refusals
from tests.application.experiments.conftest import CAPITALS, Bench
from tests.support.chat_server import Exchange, failure, streamed

HEAT = """\
prompts: [capital.prompty]
providers:
  - {id: small, label: cold, config: {temperature: 0}}
  - {id: small, label: hot, config: {temperature: 1}}
baseline: cold
tests: file://rows.csv
"""
SAME = "hot and cold sent the same requests: the server rejects temperature."


@pytest.fixture
def refusing(bench: Bench) -> Bench:
    """A server that takes no temperature, and an experiment of two temperatures."""

    async def say(exchange: Exchange) -> None:
        body: dict[str, Any] = exchange.request.body
        if "temperature" in body:
            words = "Unsupported parameter: 'temperature' is not supported with this model."
            await failure(400, words, "unsupported_parameter", "temperature")(exchange)
            return
        bench.asked.append(body["messages"][-1]["content"])
        await streamed(CAPITALS.get(body["messages"][-1]["content"], "?"))(exchange)

    bench.server.always(say)
    bench.write("capital.experiment.yaml", HEAT)
    return bench


async def test_what_sends_the_same_is_the_same(refusing: Bench, ledger: ExperimentLedger) -> None:
    result, state = await refusing.run(ledger)
    assert state == "done"
    assert sorted(refusing.asked) == ["Italy", "Norway", "Peru"], "once for each row"
    report = report_of(ledger, result)
    assert report.headline == report.sentences[0] == SAME
    assert sum("rejects" in each for each in report.sentences) == 1, "said once"
    assert not any("chance" in each or "No row changed" in each for each in report.sentences)
    hot = report.variants[1]
    assert (hot.same_as, hot.left_out, hot.comparison) == ("cold", ("temperature",), None)
    for variant in (0, 1):
        outcome = ledger.outcome(result, CellKey(1, 1, variant))
        assert outcome is not None
        assert left_out_of(outcome) == ("temperature",)
    assert grid_of(ledger, result).left_out == {0: ("temperature",), 1: ("temperature",)}
    for form in ("json", "html", "markdown", "csv", "junit"):
        assert "temperature" in FORMS[form](ledger, report), form


async def test_what_was_learned_is_not_asked_wrong_again(
    refusing: Bench, ledger: ExperimentLedger
) -> None:
    await refusing.run(ledger)
    refusing.server.requests.clear()
    refusing.write("rows.csv", "country,expected\nChad,N'Djamena\n")
    result, _ = await refusing.run(ledger)
    assert [each.body["messages"][-1]["content"] for each in refusing.server.requests] == ["Chad"]
    assert report_of(ledger, result).headline == SAME
    kept_refusals().forget(refusing.server.url)
    refusing.server.requests.clear()
    refusing.write("rows.csv", "country,expected\nMali,Bamako\n")
    await refusing.run(ledger)
    assert "temperature" in refusing.server.requests[0].body, "forgotten, so asked again"


async def test_each_repeat_is_asked_once(refusing: Bench, ledger: ExperimentLedger) -> None:
    await refusing.run(ledger, repeat=2)
    assert sorted(refusing.asked) == ["Italy", "Italy", "Norway", "Norway", "Peru", "Peru"]


async def test_a_result_goes_on_after_its_server_has_refused(
    refusing: Bench, ledger: ExperimentLedger
) -> None:
    runner = ExperimentRunner(refusing.plan(), refusing.services, ledger)
    await runner.prepare()
    result = runner.begin()
    await runner.close()
    await refusing.run(ledger)  # learns it
    runner = ExperimentRunner(refusing.plan(), refusing.services, ledger)
    await runner.prepare()
    assert runner.cells.resumable(result)
    assert await runner.run(result) == "done"
    await runner.close()
    assert report_of(ledger, result).headline == SAME


async def test_a_variant_without_the_option_is_the_same_too(
    refusing: Bench, ledger: ExperimentLedger
) -> None:
    refusing.write("capital.experiment.yaml", HEAT.replace(", config: {temperature: 0}", ""))
    result, _ = await refusing.run(ledger)
    assert len(refusing.asked) == 3
    assert report_of(ledger, result).headline == SAME


async def test_variants_that_differ_otherwise_are_compared(
    refusing: Bench, ledger: ExperimentLedger
) -> None:
    refusing.write("capital.experiment.yaml", HEAT.replace("temperature: 1", "seed: 7"))
    result, _ = await refusing.run(ledger)
    assert len(refusing.asked) == 6
    report = report_of(ledger, result)
    assert "cold was run without temperature: the server rejects it." in report.sentences
    assert report.variants[1].comparison is not None
