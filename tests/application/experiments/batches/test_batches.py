"""Experiments in batches: each ending that providers have, crashes at each step, waves."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from studio.application.experiments.batches.asker import BatchAsker
from studio.application.experiments.plan import ExperimentServices
from studio.application.experiments.prompts import ExperimentError
from studio.application.experiments.report import report_of
from studio.application.experiments.run.runner import ExperimentRunner
from studio.core.experiments.results.cells import CellKey, CellState
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.models.connections import EMBEDDED, Connection, Connections
from tests.application.experiments.batches.conftest import (
    EXPERIMENT,
    KEY,
    WITH_TEMPERATURE,
    BatchBench,
    no_temperature,
    openai_only,
)
from tests.support.batch_server import Ending, wait_for


def passed(ledger: ExperimentLedger, result: int) -> list[int]:
    return [each.total.passed for each in report_of(ledger, result).variants]


async def test_a_wave_is_one_batch_at_half_the_price(
    batches: BatchBench, ledger: ExperimentLedger
) -> None:
    batches.server.endings = [Ending(looks=1)]
    result = await batches.run(ledger)
    assert passed(ledger, result) == [4]
    assert len(batches.server.batches) == 1
    outcome = ledger.outcome(result, CellKey(1, 1, 0))
    assert outcome is not None
    assert (outcome.output, outcome.input_tokens, outcome.steps) == ("Oslo", 100, 1)
    assert outcome.cost == pytest.approx((100 * 2.0 + 10 * 10.0) / 1e6 / 2)
    assert ledger.batches.under_way(result) == []
    assert ledger.batches.request(result, CellKey(1, 1, 0), "s1") is None
    sent = b"".join(each.body for each in batches.server.requests)
    assert KEY.encode() not in sent
    assert all(KEY in str(each.headers) for each in batches.server.requests)


async def test_bodies_are_those_that_are_sent_one_by_one(
    batches: BatchBench, ledger: ExperimentLedger
) -> None:
    await batches.run(ledger)
    (batch,) = batches.server.batches.values()
    batches.server.requests.clear()
    plan = batches.plan()
    without_cache = replace(plan.file, options=replace(plan.options, cache=False))
    runner = ExperimentRunner(replace(plan, file=without_cache), batches.services, ledger)
    try:
        await runner.prepare()
        await runner.run(runner.begin())
    finally:
        await runner.close()
    one_by_one = [json.loads(each.body) for each in batches.server.requests]
    assert all(body.pop("stream") for body in one_by_one)
    wanted = [{key: each[key] for key in each if key != "stream_options"} for each in one_by_one]
    assert sorted(json.dumps(body) for _, body in batch.requests) == sorted(map(json.dumps, wanted))
    assert all(len(name) <= 64 for name, _ in batch.requests)


@openai_only
async def test_the_plan_is_at_half_the_price(batches: BatchBench, ledger: ExperimentLedger) -> None:
    costs = []
    for runner in (
        batches.runner(ledger),
        ExperimentRunner(batches.plan(), batches.services, ledger),
    ):
        try:
            costs.append((await runner.prepare()).cost)
        finally:
            await runner.close()
    assert costs[0] is not None
    assert costs[1] == pytest.approx(2 * costs[0])
    assert batches.server.requests == []


async def test_what_expired_is_asked_again_and_nothing_else(
    batches: BatchBench, ledger: ExperimentLedger
) -> None:
    def refuse(_: str, body: dict[str, object]) -> tuple[int, dict[str, object]] | None:
        if "Italy" not in json.dumps(body):
            return None
        return 400, {"type": "invalid_request_error", "message": "no Italy"}

    batches.server.endings = [
        Ending("expired", answered=2, errors=refuse, empty_ids=True),
        Ending(errors=refuse),
    ]
    result = await batches.run(ledger)
    first, second = batches.server.batches.values()
    assert len(first.requests) == 4
    assert [body for _, body in second.requests] == [body for _, body in first.requests[2:]]
    assert passed(ledger, result) == [3]
    lost = ledger.outcome(result, CellKey(1, 2, 0))
    assert lost is not None
    assert lost.state is CellState.ERROR
    assert "no Italy" in lost.error
    batches.server.endings = [Ending()]
    await batches.run(ledger, "errors")
    assert passed(ledger, result) == [4]
    assert len(batches.server.batches) == 3


async def test_cancelled_cells_are_not_asked_again_unasked(
    batches: BatchBench, ledger: ExperimentLedger
) -> None:
    batches.server.endings = [Ending("cancelled", answered=1)]
    result = await batches.run(ledger)
    assert len(batches.server.batches) == 1
    report = report_of(ledger, result)
    assert (report.errors, passed(ledger, result)) == (3, [1])
    batches.server.endings = [Ending()]
    await batches.run(ledger, "errors")
    assert passed(ledger, result) == [4]
    assert set(batches.server.asked.values()) == {1}


@openai_only
async def test_a_batch_that_is_not_taken_says_why(
    batches: BatchBench, ledger: ExperimentLedger
) -> None:
    said = {"code": "invalid_url", "message": "The URL does not match.", "line": 1}
    batches.server.endings = [Ending("failed", said=(said,))]
    result = await batches.run(ledger)
    outcome = ledger.outcome(result, CellKey(1, 1, 0))
    assert outcome is not None
    assert outcome.state is CellState.ERROR
    assert "line 1: The URL does not match." in outcome.error
    assert len(batches.server.batches) == 1


@openai_only
async def test_a_batch_for_which_there_is_no_room_is_offered_in_halves(
    batches: BatchBench, ledger: ExperimentLedger
) -> None:
    full = Ending("failed", said=({"code": "token_limit_exceeded", "message": "enqueued"},))
    batches.server.endings = [full, Ending()]
    result = await batches.run(ledger)
    assert [len(each.requests) for each in batches.server.batches.values()] == [4, 2, 2]
    assert passed(ledger, result) == [4]
    assert set(batches.server.asked.values()) == {1}


@openai_only
async def test_no_file_of_results_is_no_answer(
    batches: BatchBench, ledger: ExperimentLedger
) -> None:
    batches.server.endings = [Ending(errors=lambda name, body: (500, {"message": "broken"}))]
    result = await batches.run(ledger)
    report = report_of(ledger, result)
    assert report.errors == 4
    assert len(batches.server.batches) == 4  # the connection's three retries, each a wave


@openai_only
async def test_a_parameter_that_is_not_taken_is_left_out_of_the_next_wave(
    batches: BatchBench, ledger: ExperimentLedger
) -> None:
    batches.write("a.experiment.yaml", WITH_TEMPERATURE)
    batches.server.endings = [Ending(errors=no_temperature)]
    result = await batches.run(ledger)
    assert passed(ledger, result) == [4]
    first, second = batches.server.batches.values()
    assert all("temperature" in body for _, body in first.requests)
    assert not any("temperature" in body for _, body in second.requests)


@openai_only
async def test_variants_of_a_refused_option_are_asked_once_in_the_next_wave(
    batches: BatchBench, ledger: ExperimentLedger
) -> None:
    labels = "{id: small, label: cold, config: {temperature: 0}}"
    hot = labels.replace("cold", "hot").replace("0}", "1}")
    providers = f"[{labels}, {hot}]\nbaseline: cold"
    batches.write("a.experiment.yaml", EXPERIMENT.replace("[small]", providers))
    batches.server.endings = [Ending(errors=no_temperature)]
    result = await batches.run(ledger)
    assert passed(ledger, result) == [4, 4]
    first, second = batches.server.batches.values()
    assert [len(each.requests) for each in (first, second)] == [8, 4]
    report = report_of(ledger, result)
    assert report.variants[1].same_as == "cold"
    assert sum(not each.total.cost for each in report.variants) == 1, "paid once"


@pytest.mark.parametrize("status", [0, 500])
async def test_what_was_taken_without_a_word_is_found_again(
    batches: BatchBench, ledger: ExperimentLedger, status: int
) -> None:
    batches.server.faults["created"] = [(status, True)]
    batches.server.faults["upload"] = [(503, False)]
    batches.server.faults["look"] = [(503, True), (0, True)]
    batches.server.endings = [Ending(looks=4)]
    result = await batches.run(ledger)
    assert passed(ledger, result) == [4]
    assert len(batches.server.batches) == 1


async def test_results_that_break_off_are_read_again(
    batches: BatchBench, ledger: ExperimentLedger
) -> None:
    batches.server.faults["results"] = [(0, True)]
    batches.server.hold = {}
    result = await batches.run(ledger)
    assert passed(ledger, result) == [4]
    assert set(batches.server.asked.values()) == {1}


STEPS = ("create", "created", "look", "results")


@pytest.mark.parametrize(
    ("batches", "step"),
    [
        ("compatible", "upload"),
        *((kind, each) for kind in ("compatible", "anthropic") for each in STEPS),
    ],
    indirect=["batches"],
)
def test_nothing_is_asked_twice_after_a_crash(
    batches: BatchBench, tmp_path: Path, step: str
) -> None:
    server = batches.server
    server.endings = [Ending(looks=1)]
    server.hold[step] = threading.Event()
    ledger = ExperimentLedger(tmp_path / "crashed.db")
    batches.crash(step, ledger)
    wait_for(server.held[step].client_left)
    ledger.close()  # its lock goes, as that of a killed process does
    server.hold.pop(step).set()
    ledger = ExperimentLedger(tmp_path / "crashed.db")
    try:
        result = asyncio.run(batches.run(ledger))
        assert passed(ledger, result) == [4]
    finally:
        ledger.close()
    assert set(server.asked.values()) == {1}
    assert len(server.asked) == 4


@openai_only
async def test_agents_and_judges_ask_in_waves(
    batches: BatchBench, ledger: ExperimentLedger
) -> None:
    def answer(body: dict[str, object]) -> str | dict[str, object]:
        messages = body["messages"]
        assert isinstance(messages, list)
        text = json.dumps(messages)
        if "rubric" in text.lower() or "grade" in text.lower():
            return '{"pass": true, "score": 1, "reason": "fine"}'
        if messages[-1]["role"] == "tool":
            return "Oslo, it rains."
        call = {
            "id": "c1",
            "type": "function",
            "function": {"name": "weather", "arguments": '{"city": "Oslo"}'},
        }
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    batches.write(
        "agent.prompty",
        "---\nname: Agent\ninputs: {country: {kind: string}}\ntools:\n"
        "  - {name: weather, kind: function, description: The weather,\n"
        "     parameters: {city: {kind: string, required: true}}}\n---\n"
        "user:\n{{ country }}\n",
    )
    batches.write(
        "a.experiment.yaml",
        "prompts: [agent.prompty]\nproviders: [small]\ntests: file://rows.csv\n"
        "mocks: {weather: rain}\n"
        "defaultTest: {assert: [{type: llm-rubric, value: is polite, provider: small},\n"
        "  {type: latency, threshold: 5}]}\n",
    )
    batches.server.answer = answer
    result = await batches.run(ledger)
    sizes = [len(each.requests) for each in batches.server.batches.values()]
    assert sizes == [4, 4, 4]  # first steps, second steps, judges
    outcome = ledger.outcome(result, CellKey(1, 1, 0))
    assert outcome is not None
    assert (outcome.output, outcome.steps) == ("Oslo, it rains.", 2)
    assert [each.state for each in outcome.results] == ["passed", "error"]  # no latency
    assert outcome.cost == pytest.approx(3 * (100 * 2.0 + 10 * 10.0) / 1e6 / 2)


@openai_only
async def test_connections_without_batches_are_refused(
    batches: BatchBench, ledger: ExperimentLedger
) -> None:
    others = [
        EMBEDDED,
        Connection("stars", "gemini", model="g"),
        Connection("here", "ollama", model="o"),
    ]
    services = ExperimentServices(
        batches.services.trust, Connections(tuple(others)), batches.services.secrets
    )
    batches.services = services
    batches.write("a.experiment.yaml", EXPERIMENT.replace("[small]", "[embedded, stars, here]"))
    with pytest.raises(ExperimentError) as caught:
        BatchAsker(batches.plan(), services, ledger)
    assert [
        line.split(" has no batches")[0].split(": ")[-1] for line in str(caught.value).splitlines()
    ] == ["Embedded model", "stars", "here"]
