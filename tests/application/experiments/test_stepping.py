"""A cell is stepped through as it was asked: its own model id, protocol, values and mocks."""

from __future__ import annotations

import pytest

from studio.application.connections.model import Answerers, choice_of
from studio.application.experiments.prompts import ExperimentError
from studio.application.experiments.stepping import cell_to_step
from studio.application.run.start.session import begin_run
from studio.core.agent.loop.calls import NoTools, RunToolbox
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.values.options import RunOptions
from tests.application.experiments.conftest import EXPERIMENT, Bench


async def test_the_model_that_a_column_names_is_asked(bench: Bench) -> None:
    bench.write(
        "capital.experiment.yaml",
        EXPERIMENT.replace("[small]", "['small:large-7', 'small:tiny-1']")
        .replace("label: main", "label: main, protocol: react")
        .replace("baseline: main", "mocks: {lookup: {a: 1}}"),
    )
    plan = bench.plan()
    names = [each.name for each in plan.variants]
    cell = cell_to_step(plan, next(n for n in names if "main" in n and "tiny-1" in n), 2)
    assert (cell.protocol, cell.values["country"]) == ("react", "Italy")
    choice = choice_of(cell.asked, bench.services.connections, chosen="Embedded model")
    model = Answerers(bench.services.connections, bench.services.secrets).open(
        choice, cell.document.source.path, trusted=True
    )
    options = RunOptions(protocol="native", headless=True)
    await begin_run(RunPlan(cell.document, cell.values, model, options=options)).go()
    await model.close()
    assert bench.server.requests[-1].body["model"] == "tiny-1"

    async def no_tools() -> RunToolbox:
        return NoTools()

    box = await cell.with_mocks(no_tools)()
    assert box.origin("lookup") == "mock"
    assert (await box.call("lookup", {})).text == '{"a": 1}'


@pytest.mark.parametrize(
    ("variant", "row", "said"),
    [("gone", 1, "'gone' is no longer in the file"), ("main", 9, "The row")],
)
def test_what_is_gone_is_said(bench: Bench, variant: str, row: int, said: str) -> None:
    with pytest.raises(ExperimentError, match=said):
        cell_to_step(bench.plan(), variant, row)


def test_echo_is_not_stepped_through(bench: Bench) -> None:
    bench.write("capital.experiment.yaml", EXPERIMENT.replace("[small]", "[echo]"))
    with pytest.raises(ExperimentError, match="no model is used"):
        cell_to_step(bench.plan(), "main", 1)
