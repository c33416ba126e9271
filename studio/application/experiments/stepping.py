"""A cell as it is stepped through: the prompt, values, model and mocks of one row and variant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from studio.application.connections.model import RequestedModel
from studio.application.experiments.mocks import MockedToolbox, read_mocks
from studio.application.experiments.plan import ExperimentPlan
from studio.application.experiments.prompts import ExperimentError, for_row
from studio.application.words import tr
from studio.core.agent.loop.toolbox import RunToolbox
from studio.core.agent.run.plan import OpenToolbox
from studio.core.models.base import ProtocolName
from studio.core.prompty.document import PromptDocument
from studio.core.text.values import Json
from studio.core.tools.mock import Mock


@dataclass(frozen=True)
class SteppedCell:
    """What a run of one cell begins with."""

    document: PromptDocument
    """The prompt of the variant, with its edits and the options of its provider."""

    values: Mapping[str, Json]
    """The row's values, of the kinds that the prompt declares."""

    asked: RequestedModel
    """The connection and model of the variant, whatever is chosen in the window."""

    protocol: ProtocolName | None
    """The variant's protocol; None for the prompt's own."""

    mocks: Mapping[str, Mock]
    """Tools that the experiment answers."""

    def with_mocks(self, tools: OpenToolbox) -> OpenToolbox:
        """The tools, with those in front that the experiment answers."""
        if not self.mocks:
            return tools

        async def opened() -> RunToolbox:
            return MockedToolbox(await tools(), self.mocks)

        return opened


def cell_to_step(plan: ExperimentPlan, variant: str, row: int) -> SteppedCell:
    """What stepping through a cell begins with.

    Args:
        plan: the experiment, as its file stands.
        variant: name of the column.
        row: number of the row, from 1.

    Raises:
        ExperimentError: the cell is not in the file any more, or has no model.
    """
    at = next((n for n, each in enumerate(plan.variants) if each.name == variant), None)
    if at is None:
        raise ExperimentError(
            tr("The variant {name!r} is not in the file any more.").format(name=variant)
        )
    found = next((each for each in plan.rows if each.number == row), None)
    if found is None:
        raise ExperimentError(tr("The row is not in the dataset any more."))
    column = plan.variants[at]
    if column.choice is None:
        raise ExperimentError(tr("`echo` answers with the prompt itself; no model is asked."))
    document, values = for_row(
        column.document, column.entry.prompt, found.case, plan.values_of(at, found)
    )
    return SteppedCell(
        document,
        values,
        RequestedModel(column.document.model, plan.folder.trusted, column.choice),
        cast("ProtocolName | None", column.entry.prompt.protocol or None),
        read_mocks(plan.file.mocks, plan.folder),
    )
