"""`similar` by the embeddings of a connection: a real server gives the vectors."""

from __future__ import annotations

import pytest

from studio.core.experiments.results.cells import CellKey
from studio.core.experiments.results.ledger import ExperimentLedger
from tests.application.experiments.conftest import CAPITALS, EXPERIMENT, Bench, answering
from tests.support.chat_server import Exchange, failure, json_body

VECTORS = {"Oslo": (1.0, 0.0), "Rome": (0.9, 0.1), "Cuzco": (0.0, 1.0), "a northern town": (2, 0)}
SIMILAR = "{type: similar, value: a northern town, provider: 'small:embedding:tiny'}"


def served(bench: Bench, *, fails: bool = False) -> list[list[str]]:
    """Answer chats and embeddings; gives what was embedded."""
    asked: list[list[str]] = []
    chat = answering(bench.asked, lambda text: CAPITALS.get(text, "nothing"))

    async def serve(exchange: Exchange) -> None:
        request = exchange.request
        if not request.path.endswith("/embeddings"):
            await chat(exchange)
        elif fails:
            await failure(404, "no such model")(exchange)
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


async def test_without_vectors_nothing_is_decided(bench: Bench, ledger: ExperimentLedger) -> None:
    served(bench, fails=True)
    text = EXPERIMENT.replace('{type: contains, value: "{{ expected }}", metric: fact}', SIMILAR)
    bench.write("capital.experiment.yaml", text)
    result, _ = await bench.run(ledger, variants=("main",))
    outcome = ledger.outcome(result, CellKey(1, 1, 0))
    assert outcome is not None
    assert (outcome.results[0].state, outcome.passed) == ("error", None)
    assert "No embeddings by 'small:embedding:tiny'" in outcome.results[0].reason
