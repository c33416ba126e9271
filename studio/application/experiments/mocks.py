"""Tools that an experiment answers itself (`mocks:`), in front of those of a run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from studio.application.experiments.prompts import ExperimentError, Folder
from studio.application.tools.saved_calls import SavedCallsError, answers_of, calls_of_text
from studio.core.agent.loop.toolbox import RunToolbox, ToolboxAround
from studio.core.agent.values.step import ResultOrigin
from studio.core.prompty.yaml.reader import read_yaml
from studio.core.text.values import Json, JsonObject
from studio.core.tools.mock import (
    FixedMock,
    Mock,
    MockAnswers,
    RecordedAnswer,
    RecordedMock,
    TemplateMock,
)
from studio.core.tools.naming import prefixed_name
from studio.core.tools.source import ToolOutcome


def read_mocks(stated: Mapping[str, Json], folder: Folder) -> dict[str, Mock]:
    """Stand-ins by the names of their tools.

    A text may hold `{arguments}`; a list of `{args, answer}` answers by arguments, as do a file of
    such a list and one of saved calls (`.jsonl`); any other value is the answer.

    Raises:
        ExperimentError: a file cannot be read.
    """
    return {name: _mock(name, value, folder) for name, value in stated.items()}


def _mock(tool: str, value: Json, folder: Folder) -> Mock:
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
            return RecordedMock(tuple(each for each in answers if each is not None))
    if isinstance(value, str) and "{" in value:
        return TemplateMock(value)
    return FixedMock(value)


def _saved(tool: str, folder: Folder, name: str, text: str) -> Mock:
    """What the saved calls of a tool were answered."""
    try:
        calls = calls_of_text(text, name, folder.path)
    except SavedCallsError as error:
        raise ExperimentError(str(error)) from None
    meant = [each for each in calls if tool in (each.tool.name, prefixed_name(each.tool))]
    if not meant:
        raise ExperimentError(f"{name}: no call of {tool!r} is in it")
    names = {prefixed_name(each.tool) for each in meant}
    if len(names) > 1:
        raise ExperimentError(f"{name}: {tool!r} is one of {', '.join(sorted(names))}; say which")
    return RecordedMock(answers_of(meant))


def _answer(item: JsonObject) -> RecordedAnswer | None:
    arguments = item.get("args", item.get("arguments"))
    if not isinstance(arguments, Mapping) or not {"answer", "text"} & item.keys():
        return None
    value = item.get("answer", item.get("text"))
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return RecordedAnswer(arguments, text, item.get("is_error") is True)


class MockedToolbox(ToolboxAround):
    """A toolbox of which some tools are answered by the experiment; they never ask."""

    def __init__(self, inner: RunToolbox, mocks: Mapping[str, Mock]) -> None:
        super().__init__(inner)
        self._mocks = mocks
        self._answers = MockAnswers()

    def needs_approval(self, name: str) -> bool:
        """Whether somebody must be asked; a stand-in never asks."""
        return name not in self._mocks and self._inner.needs_approval(name)

    def why_approval(self, name: str) -> str:
        """Why the tool asks."""
        return "" if name in self._mocks else super().why_approval(name)

    def origin(self, name: str) -> ResultOrigin:
        """Where an answer comes from."""
        return "mock" if name in self._mocks else self._inner.origin(name)

    async def call(
        self,
        name: str,
        arguments: JsonObject,
        call_id: str = "",
        released: AbstractSet[str] = frozenset(),
    ) -> ToolOutcome:
        """Answer by the stand-in, else by the tool."""
        mock = self._mocks.get(name)
        if mock is None:
            return await self._inner.call(name, arguments, call_id, released)
        outcome = self._answers.answer(mock, name, arguments)
        assert outcome is not None  # only a user's mock gives none, and a file states none
        return outcome
