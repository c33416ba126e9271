"""Prepare a cell for stepping: the prompt, values, model and mocks of one row and variant."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import cast

from studio.application.connections.model import RequestedModel
from studio.application.experiments.plan import ExperimentPlan
from studio.application.experiments.prompts import ExperimentError, Folder, for_row
from studio.application.tools.saved_calls import SavedCallsError, answers_of, calls_of_text
from studio.application.words import tr
from studio.core.agent.loop.calls import RunToolbox, ToolboxAround
from studio.core.agent.run.plan import OpenToolbox
from studio.core.agent.values.step import ResultOrigin
from studio.core.models.base import ProtocolName
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.yaml.reader import read_yaml
from studio.core.text.values import Json, JsonObject, text_or_json
from studio.core.tools import registry
from studio.core.tools.binding import prefixed_name
from studio.core.tools.source import ToolOutcome

# Tools that the experiment mocks (`mocks:`), in front of those of a run.


def read_mocks(stated: JsonObject, folder: Folder) -> dict[str, registry.Mock]:
    """Return mocks by tool name.

    A text may contain `{arguments}`; a list of `{args, answer}` answers by arguments, as does a
    file with such a list or with saved calls (`.jsonl`); any other value is the answer.

    Raises:
        ExperimentError: a file cannot be read.
    """
    return {name: _mock(name, value, folder) for name, value in stated.items()}


def _mock(tool: str, value: Json, folder: Folder) -> registry.Mock:
    if isinstance(value, str) and value.startswith("file://"):
        name = value.removeprefix("file://")
        text = folder.read(name)
        if name.endswith(".jsonl"):
            return _saved(tool, folder, name, text)
        read = read_yaml(text)
        if read.broken:
            raise ExperimentError(f"{name}: {read.problems[0].message}")
        value = read.value
    if isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value):
        answers = [_answer(each) for each in value if isinstance(each, Mapping)]
        if all(each is not None for each in answers):
            return registry.RecordedMock(tuple(each for each in answers if each is not None))
    if isinstance(value, str) and "{" in value:
        return registry.TemplateMock(value)
    return registry.FixedMock(value)


def _saved(tool: str, folder: Folder, name: str, text: str) -> registry.Mock:
    """Return the saved results of a tool's calls."""
    try:
        calls = calls_of_text(text, name, folder.path)
    except SavedCallsError as error:
        raise ExperimentError(str(error)) from None
    meant = [each for each in calls if tool in (each.tool.name, prefixed_name(each.tool))]
    if not meant:
        raise ExperimentError(f"{name}: no call of {tool!r} is in it")
    names = {prefixed_name(each.tool) for each in meant}
    if len(names) > 1:
        raise ExperimentError(f"{name}: {tool!r} is one of {', '.join(sorted(names))}; name it")
    return registry.RecordedMock(answers_of(meant))


def _answer(item: JsonObject) -> registry.RecordedAnswer | None:
    arguments = item.get("args", item.get("arguments"))
    if not isinstance(arguments, Mapping) or not {"answer", "text"} & item.keys():
        return None
    value = item.get("answer", item.get("text"))
    text = text_or_json(value)
    return registry.RecordedAnswer(arguments, text, item.get("is_error") is True)


class MockedToolbox(ToolboxAround):
    """A toolbox with some tools mocked by the experiment, which need no approval."""

    def __init__(self, inner: RunToolbox, mocks: Mapping[str, registry.Mock]) -> None:
        super().__init__(inner)
        self._mocks = mocks
        self._answers = registry.MockAnswers()

    def needs_approval(self, name: str) -> bool:
        """Return whether the user must approve a call; never for a mock."""
        return name not in self._mocks and self._inner.needs_approval(name)

    def why_approval(self, name: str) -> str:
        """Return why the tool needs approval."""
        return "" if name in self._mocks else super().why_approval(name)

    def origin(self, name: str) -> ResultOrigin:
        """Return the origin of the tool's results."""
        return "mock" if name in self._mocks else self._inner.origin(name)

    async def call(
        self,
        name: str,
        arguments: JsonObject,
        call_id: str = "",
        released: AbstractSet[str] = frozenset(),
    ) -> ToolOutcome:
        """Return the mock's answer, else call the tool."""
        mock = self._mocks.get(name)
        if mock is None:
            return await self._inner.call(name, arguments, call_id, released)
        outcome = self._answers.answer(mock, name, arguments)
        assert outcome is not None  # only "ask me" returns None, and a file cannot contain it
        return outcome


@dataclass(frozen=True)
class SteppedCell:
    """The data for a run of one cell."""

    document: PromptDocument
    """The prompt of the variant, including edits and the options of its provider."""

    values: JsonObject
    """The row's values, converted to the declared kinds."""

    asked: RequestedModel
    """The connection and model of the variant, whatever the window's choice."""

    protocol: ProtocolName | None
    """The variant's protocol; None for the prompt's own."""

    mocks: Mapping[str, registry.Mock]
    """Mocks by tool name."""

    def with_mocks(self, tools: OpenToolbox) -> OpenToolbox:
        """Return the tools with the experiment's mocks in front."""
        if not self.mocks:
            return tools

        async def opened() -> RunToolbox:
            return MockedToolbox(await tools(), self.mocks)

        return opened


def cell_to_step(plan: ExperimentPlan, variant: str, row: int) -> SteppedCell:
    """Prepare stepping through a cell.

    Args:
        plan: the plan of the current file.
        variant: name of the variant.
        row: number of the row, from 1.

    Raises:
        ExperimentError: the cell does not exist any more, or has no model.
    """
    at = next((n for n, each in enumerate(plan.variants) if each.name == variant), None)
    if at is None:
        raise ExperimentError(
            tr("The variant {name!r} is no longer in the file.").format(name=variant)
        )
    found = next((each for each in plan.rows if each.number == row), None)
    if found is None:
        raise ExperimentError(tr("The row is no longer in the dataset."))
    column = plan.variants[at]
    if column.choice is None:
        raise ExperimentError(tr("`echo` returns the prompt itself; no model is used."))
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
