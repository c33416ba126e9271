"""What was paid for is kept, whatever goes wrong between a batch and its answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from studio.core.experiments.results.cells import CellKey, CellState
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.runs.exchange import read_journal
from studio.core.wire.wire_call import WireCall
from tests.application.experiments.batches.conftest import (
    EXPERIMENT,
    KEY,
    PROMPT,
    WITH_TEMPERATURE,
    BatchBench,
    capital,
    no_temperature,
    openai_only,
)
from tests.application.experiments.batches.test_batches import passed
from tests.support import patience
from tests.support.batch_server import BatchServer, Ending
from tests.support.chat_server import Exchange, raw

anthropic_only = pytest.mark.parametrize("batches", ["anthropic"], indirect=True)

FOREVER = 10**9


async def test_a_wrong_key_keeps_the_answers_of_a_batch_that_still_stands(
    batches: BatchBench, ledger: ExperimentLedger
) -> None:
    server = batches.server
    server.endings = [Ending(looks=FOREVER)]
    await batches.leave(ledger)
    server.batches[next(iter(server.batches))].ending.looks = 0
    server.faults["look"] = [(401, True)]
    result = await batches.run(ledger)
    states = [ledger.outcome(result, key) for key in ledger.identities(result)]
    assert {each.state for each in states if each is not None} == {CellState.ERROR}
    assert await batches.run(ledger, "errors") == result
    assert passed(ledger, result) == [4]
    assert len(server.batches) == 1
    assert set(server.asked.values()) == {1}


@openai_only
async def test_a_wave_without_a_parameter_is_paid_once_when_it_is_gone_on_with(
    batches: BatchBench, ledger: ExperimentLedger
) -> None:
    batches.write("a.experiment.yaml", WITH_TEMPERATURE)
    server = batches.server
    server.endings = [
        Ending(errors=no_temperature),
        Ending(errors=no_temperature, looks=FOREVER),
    ]
    await batches.leave(ledger, 2)
    server.batches["batch_2"].ending.looks = 0
    result = await batches.run(ledger)
    assert passed(ledger, result) == [4]
    assert list(server.batches) == ["batch_1", "batch_2"]
    assert ledger.batches.under_way(result) == []


@anthropic_only
async def test_a_batch_of_the_same_shape_that_is_not_ours_is_not_taken(
    batches: BatchBench, ledger: ExperimentLedger, tmp_path: Path
) -> None:
    server = batches.server
    server.answer = lambda body: "foreign" if "WRONG" in str(body) else capital(body)
    batches.write("capital.prompty", PROMPT.replace("one word", "the word WRONG"))
    other = ExperimentLedger(tmp_path / "other.db")
    await batches.run(other)
    other.close()
    batches.write("capital.prompty", PROMPT)
    server.faults["created"] = [(503, False)]  # whether it was taken is not known
    result = await batches.run(ledger)
    assert passed(ledger, result) == [4]
    assert len(server.batches) == 2


@openai_only
async def test_an_answer_that_cannot_be_read_leaves_no_cell_waiting(
    batches: BatchBench, ledger: ExperimentLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = BatchServer._step

    async def broken(
        self: BatchServer, name: str, exchange: Exchange, act: Callable[..., object]
    ) -> None:
        if name == "look":
            body = b'{"id": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
            head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n"
            size = b"content-length: %d\r\n\r\n" % len(body)
            answer: Awaitable[None] = raw(head + size + body)(exchange)
        else:
            answer = step(self, name, exchange, act)  # type: ignore[arg-type]
        await answer

    batches.server.endings = [Ending(looks=1)]
    monkeypatch.setattr(BatchServer, "_step", broken)
    result = await asyncio.wait_for(batches.run(ledger), patience.SECONDS)
    found = [ledger.outcome(result, key) for key in ledger.identities(result)]
    assert [each.state for each in found if each is not None] == [CellState.ERROR] * 4


def calls_of(ledger: ExperimentLedger, result: int, key: CellKey) -> list[WireCall]:
    journal = ledger.journal(result, key)
    assert journal is not None
    calls: dict[int, WireCall] = {}
    list(read_journal(journal.decode("utf-8", "surrogatepass"), calls))
    return list(calls.values())


def sent_lines(server: BatchServer) -> list[str]:
    """The requests as the server got them, a line each."""
    uploads = [data.decode().splitlines() for data in server.files.values()]
    if server.files:
        return uploads[0]
    bodies = [each.body.decode() for each in server.requests if each.method == "POST"]
    return (
        bodies[0]
        .removeprefix('{"requests":[')
        .removesuffix("]}")
        .replace("}},{", "}}\n{")
        .split("\n")
    )


@pytest.mark.parametrize("is_killed", [False, True])
async def test_the_lines_of_a_batch_are_kept_as_they_went_over_the_wire(
    batches: BatchBench, ledger: ExperimentLedger, *, is_killed: bool
) -> None:
    server = batches.server
    server.answer = lambda body: f"not {capital(body)}"  # the raw reply of a failed cell is kept
    batches.write("a.experiment.yaml", EXPERIMENT.replace("contains", "equals"))
    if is_killed:
        server.endings = [Ending(looks=FOREVER)]
        await batches.leave(ledger)
        server.batches[next(iter(server.batches))].ending.looks = 0
    result = await batches.run(ledger)
    keys = sorted(ledger.identities(result))
    calls = [call for key in keys for call in calls_of(ledger, result, key)]
    assert [call.body for call in calls] == sent_lines(server)
    replies = [line for each in server.downloads for line in each.decode().splitlines()]
    assert sorted(call.raw for call in calls) == sorted(replies)
    assert {call.model for call in calls} == {"m"}
    assert KEY not in str(calls)
