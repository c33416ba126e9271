"""Two runs side by side: where they part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, TypeAlias

from studio.core.agent.loop.calls import call_key
from studio.core.agent.loop.steps import messages_of
from studio.core.agent.values.state import RunState, steps_of
from studio.core.agent.values.step import Step
from studio.core.prompty.document import Message, ToolCallPart

Aspect: TypeAlias = Literal["request", "reply", "calls", "observations", "answer", "steps"]
"""What may differ, in the order in which a step goes through it."""


@dataclass(frozen=True, slots=True)
class StepDifference:
    """One step of two runs."""

    number: int
    """The step, from 1."""

    aspects: tuple[Aspect, ...]
    """What differs, in order; empty where nothing does."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs, step by step."""

    steps: tuple[StepDifference, ...]
    """Every step that either has."""

    answers_differ: bool
    """Whether they end differently."""

    @property
    def first(self) -> tuple[int, Aspect] | None:
        """The first difference: the step and what differs there."""
        found = next((step for step in self.steps if step.aspects), None)
        return (found.number, found.aspects[0]) if found is not None else None


def compare(one: RunState, other: RunState) -> Comparison:
    """Where two runs (or two branches of one) differ; usage and times do not count."""
    steps = tuple(_differences(one, other))
    ends = (one.status, one.answer) != (other.status, other.answer)
    return Comparison(steps, ends)


def _differences(one: RunState, other: RunState) -> Iterator[StepDifference]:
    pairs = zip_longest(steps_of(one), steps_of(other))
    for number, (left, right) in enumerate(pairs, 1):
        if left is None or right is None:
            yield StepDifference(number, ("steps",))
            continue
        aspects: list[Aspect] = []
        if _said(messages_of(one, number)) != _said(messages_of(other, number)):
            aspects.append("request")
        if _replied(left) != _replied(right):
            aspects.append("reply")
        if [call_key(call) for call in left.calls] != [call_key(call) for call in right.calls]:
            aspects.append("calls")
        if [call.observation for call in left.calls] != [call.observation for call in right.calls]:
            aspects.append("observations")
        yield StepDifference(number, tuple(aspects))


def _said(messages: Sequence[Message]) -> list[tuple[str, str, list[tuple[str, str]]]]:
    return [
        (
            message.role,
            message.text,
            [
                (part.name, part.arguments)
                for part in message.parts
                if isinstance(part, ToolCallPart)
            ],
        )
        for message in messages
    ]


def _replied(step: Step) -> object:
    if step.reply is None:
        return None
    calls = [(call.name, call.arguments) for call in step.reply.tool_calls]
    return step.reply.text, step.reply.refusal, calls
