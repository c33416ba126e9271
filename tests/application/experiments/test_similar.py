"""`similar` by the embeddings of a connection: a real server gives the vectors."""

from __future__ import annotations

from dataclasses import replace

import pytest

from studio.core.experiments.results.cells import CellKey
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.models.connections import Connection, Connections
from tests.application.experiments.conftest import CAPITALS, EXPERIMENT, Bench, answering
from tests.support.chat_server import Exchange, chat_server, failure, json_body

VECTORS = {"Oslo": (1.0, 0.0), "Rome": (0.9, 0.1), "Cuzco": (0.0, 1.0), "a northern town": (2, 0)}
SIMILAR = "{type: similar, value: a northern town, provider: 'small:embedding:tiny'}"


def served(bench: Bench, *, fails: bool = False, refused: str = "") -> list[list[str]]:
    """Answer chats and embeddings; gives what was embedded."""
    asked: list[list[str]] = []
    chat = answering(bench.asked, lambda text: CAPITALS.get(text, "nothing"))

    async def serve(exchange: Exchange) -> None:
        request = exchange.request
        if not request.path.endswith("/embeddings"):
            await chat(exchange)
        elif fails:
            await failure(404, "no such model")(exchange)
        elif refused in request.body["input"]:
            await failure(400, f"no {refused}")(exchange)
        else:
            assert request.body["model"] == "tiny"
            asked.append(request.body["input"])
            rows = [
                {"object": "embedding", "index": at, "embedding": list(VECTORS[text])}
                for at, text in enumerate(request.body["input"])
            ]
            await json_body({"object": "list", "data": rows, "model": "tiny"})(exchange)

    bench.server.always(serve)
    return asked


@pytest.mark.parametrize(
    ("assertion", "states"),
    [
        (SIMILAR, ["passed", "passed", "failed"]),
        (SIMILAR.replace("similar", "not-similar"), ["failed", "failed", "passed"]),
        (SIMILAR.replace("}", ", threshold: 0.999}"), ["passed", "failed", "failed"]),
        (SIMILAR.replace("a northern town", "[Cuzco, Oslo]"), ["passed", "passed", "passed"]),
    ],
)
async def test_an_answer_is_near_a_text(
    bench: Bench, ledger: ExperimentLedger, assertion: str, states: list[str]
) -> None:
    asked = served(bench)
    text = EXPERIMENT.replace('{type: contains, value: "{{ expected }}", metric: fact}', assertion)
    bench.write("capital.experiment.yaml", text + "evaluateOptions: {maxConcurrency: 1}\n")
    result, state = await bench.run(ledger, variants=("main",))
    assert state == "done"
    found = [ledger.outcome(result, CellKey(1, row, 0)) for row in (1, 2, 3)]
    assert [each.results[0].state for each in found if each is not None] == states
    assert len(asked) == 3
    assert len(asked[1]) == 1, "the expected text is embedded once"


async def test_cells_that_come_over_meanwhile_share_a_request(
    bench: Bench, ledger: ExperimentLedger
) -> None:
    asked = served(bench)
    rows = "".join(f"{name},x\n" for name in ("Norway", "Italy", "Peru"))
    bench.write("rows.csv", "country,expected\n" + rows * 4)
    text = EXPERIMENT.replace('{type: contains, value: "{{ expected }}", metric: fact}', SIMILAR)
    bench.write("capital.experiment.yaml", text)
    await bench.run(ledger, variants=("main",))
    asked.clear()
    result, state = await bench.run(ledger, variants=("main",))  # all answers are known at once
    assert state == "done"
    found = [ledger.outcome(result, CellKey(1, row, 0)) for row in range(1, 13)]
    assert [each.passed for each in found if each is not None] == [True, True, False] * 4
    assert len(asked) < 12, "cells share requests; which of them is a matter of time"
    assert {text for texts in asked for text in texts} == set(VECTORS)


async def test_a_text_that_is_refused_keeps_no_other_from_its_vector(
    bench: Bench, ledger: ExperimentLedger
) -> None:
    served(bench, refused="Rome")
    text = EXPERIMENT.replace('{type: contains, value: "{{ expected }}", metric: fact}', SIMILAR)
    bench.write("capital.experiment.yaml", text)
    await bench.run(ledger, variants=("main",))
    result, _ = await bench.run(ledger, variants=("main",))
    found = [ledger.outcome(result, CellKey(1, row, 0)) for row in (1, 2, 3)]
    assert [each.passed for each in found if each is not None] == [True, None, False]


async def test_one_provider_at_two_addresses_is_two(bench: Bench, ledger: ExperimentLedger) -> None:
    asked = served(bench)
    with chat_server() as elsewhere:
        there: list[str] = []

        async def serve(exchange: Exchange) -> None:
            there.extend(exchange.request.body["input"])
            rows = [
                {"object": "embedding", "index": at, "embedding": [1.0, 0.0]}
                for at, _ in enumerate(exchange.request.body["input"])
            ]
            await json_body({"object": "list", "data": rows, "model": "tiny"})(exchange)

        elsewhere.always(serve)
        second = Connection("second", "compatible", model="m", base_url=elsewhere.url)
        known = bench.services.connections.connections
        bench.services = replace(bench.services, connections=Connections((*known, second)))
        marks = ", ".join(
            "{type: similar, value: a northern town, threshold: 0.5, provider: "
            f"{{id: 'openai:embedding:tiny', config: {{apiBaseUrl: '{url}'}}}}}}"
            for url in (bench.server.url, elsewhere.url)
        )
        contains = '{type: contains, value: "{{ expected }}", metric: fact}'
        bench.write("rows.csv", "country,expected\nPeru,x\n")
        bench.write("capital.experiment.yaml", EXPERIMENT.replace(contains, marks))
        result, _ = await bench.run(ledger, variants=("main",))
    outcome = ledger.outcome(result, CellKey(1, 1, 0))
    assert outcome is not None
    assert [each.state for each in outcome.results] == ["failed", "passed"]
    assert sorted(there) == sorted(text for texts in asked for text in texts)


async def test_without_vectors_nothing_is_decided(bench: Bench, ledger: ExperimentLedger) -> None:
    served(bench, fails=True)
    text = EXPERIMENT.replace('{type: contains, value: "{{ expected }}", metric: fact}', SIMILAR)
    bench.write("capital.experiment.yaml", text)
    result, _ = await bench.run(ledger, variants=("main",))
    outcome = ledger.outcome(result, CellKey(1, 1, 0))
    assert outcome is not None
    assert (outcome.results[0].state, outcome.passed) == ("error", None)
    assert "No embeddings by 'small:embedding:tiny'" in outcome.results[0].reason
