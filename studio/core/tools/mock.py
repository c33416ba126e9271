"""Mocks of tools: fixed, in sequence, from a template, recorded, or answered by the user."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import Literal, TypeAlias, assert_never

from studio.core.text.amounts import counted
from studio.core.text.values import Json, JsonObject, text_or_json
from studio.core.tools.source import ToolOutcome


@dataclass(frozen=True, slots=True)
class FixedMock:
    """Always the same answer."""

    value: Json
    """The answer."""

    is_error: bool = False
    """Whether it is given as a failure."""


@dataclass(frozen=True, slots=True)
class SequenceMock:
    """One answer after the other."""

    values: tuple[Json, ...]
    """The answers, in order."""

    then: Literal["last", "again", "error"] = "last"
    """After the last: that one again, from the first again, or a failure."""


@dataclass(frozen=True, slots=True)
class TemplateMock:
    """A text with the call's arguments put in, as in "It is sunny in {city}"."""

    template: str
    """Text of the answer; `{name}` and `{{ name }}` are arguments."""


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """The answer of a tool in an earlier run."""

    arguments: JsonObject
    """To which arguments."""

    text: str
    """The observation."""

    is_error: bool = False
    """Whether it was a failure."""


@dataclass(frozen=True, slots=True)
class RecordedMock:
    """The answers of a former run, by arguments."""

    answers: tuple[RecordedAnswer, ...]
    """In the order they were given; equal calls get them one after the other."""


@dataclass(frozen=True, slots=True)
class AskMock:
    """The user answers each call."""


Mock: TypeAlias = FixedMock | SequenceMock | TemplateMock | RecordedMock | AskMock
"""Closed: consumers `match` and `assert_never`."""

MOCK_TITLES: dict[type[Mock], str] = {
    FixedMock: "Fixed value",
    SequenceMock: "Sequence",
    TemplateMock: "Template",
    RecordedMock: "Recorded answers",
    AskMock: "Ask me",
}
"""Names for people."""

_PLACE = re.compile(r"\{\{\s*(\w+)\s*\}\}|\{(\w+)\}")


class MockAnswers:
    """Answers calls by mocks, and counts them: sequences and recordings continue in order."""

    def __init__(self) -> None:
        self._earlier: Counter[str] = Counter()

    def answer(self, mock: Mock, name: str, arguments: JsonObject) -> ToolOutcome | None:
        """Return the answer of a tool's mock; None if the user must answer."""
        key = name
        if isinstance(mock, RecordedMock):
            key = f"{name} {json.dumps(arguments, sort_keys=True, default=str)}"
        earlier = self._earlier[key]
        self._earlier[key] += 1
        return mock_answer(mock, arguments, earlier)


def mock_answer(mock: Mock, arguments: JsonObject, earlier: int) -> ToolOutcome | None:
    """Return the mock's answer to a call; None if the user must answer.

    Args:
        mock: the stand-in.
        arguments: the call's arguments.
        earlier: how many calls it has answered before: all of them, for recorded answers those
            with equal arguments.
    """
    match mock:
        case FixedMock(value, is_error):
            return _outcome(value, is_error=is_error)
        case SequenceMock(values, then):
            if earlier < len(values):
                return _outcome(values[earlier])
            if not values or then == "error":
                return _outcome(
                    f"the mock has {counted(len(values), 'answer')}, all given", is_error=True
                )
            return _outcome(values[-1] if then == "last" else values[earlier % len(values)])
        case TemplateMock(template):
            return _outcome(_filled(template, arguments))
        case RecordedMock(answers):
            fitting = [answer for answer in answers if answer.arguments == arguments]
            if not fitting:
                return _outcome("no recorded answer for these arguments", is_error=True)
            answer = fitting[min(earlier, len(fitting) - 1)]
            return _outcome(answer.text, is_error=answer.is_error)
        case AskMock():
            return None
        case _:
            assert_never(mock)


def _filled(template: str, arguments: JsonObject) -> str:
    def value(match: re.Match[str]) -> str:
        name = match.group(1) or match.group(2)
        return text_or_json(arguments[name]) if name in arguments else ""

    return _PLACE.sub(value, template)


def _outcome(value: Json, *, is_error: bool = False) -> ToolOutcome:
    return ToolOutcome(text_or_json(value), "error" if is_error else "ok", value=value)
