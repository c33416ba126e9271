"""Assertions on the way that a run took, read from its journal."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase

from studio.core.experiments.assertions.result import (
    AssertionContext,
    CellAnswer,
    MadeCall,
    UndecidedError,
    Verdict,
)
from studio.core.experiments.assertions.text import as_number, as_text, as_texts
from studio.core.experiments.values import AssertionSpec
from studio.core.text.counted import counted
from studio.core.text.values import Json

TrajectoryDecision = Callable[[AssertionSpec, Json, CellAnswer, AssertionContext], Verdict]

_MARKERS = re.compile(r"[\s,]+")


def decide_tool_used(
    spec: AssertionSpec,
    value: Json,
    answer: CellAnswer,
    context: AssertionContext,
) -> Verdict:
    """The tools were called: one, each of a list, or as often as `{name, min, max}` says."""
    called = [each.tool for each in answer.calls]
    if isinstance(value, Mapping):
        pattern = as_text(value.get("name", value.get("pattern", "*")))
        count = sum(fnmatchcase(tool, pattern) for tool in called)
        low = as_number(value.get("min", 0 if "max" in value else 1))
        high = as_number(value.get("max", float("inf")))
        return Verdict(low <= count <= high, f"{pattern} was called {count} times.")
    wanted = as_texts(value)
    missing = [each for each in wanted if each not in called]
    if missing:
        return Verdict(False, f"{', '.join(missing)} was not called; {_called(called)}.")
    return Verdict(True, f"{', '.join(wanted)} was called.")


def decide_tool_sequence(
    spec: AssertionSpec,
    value: Json,
    answer: CellAnswer,
    context: AssertionContext,
) -> Verdict:
    """The tools were called in this order; `exact` allows no others between."""
    mode = "in_order"
    steps = value
    if isinstance(value, Mapping):
        mode = as_text(value.get("mode", "in_order"))
        steps = value.get("steps", [])
    wanted = [each if isinstance(each, str) else as_text(each) for each in _list(steps)]
    called = [each.tool for each in answer.calls]
    if mode == "exact":
        return Verdict(called == wanted, f"{_called(called).capitalize()}.")
    rest = iter(called)
    in_order = all(any(fnmatchcase(tool, each) for tool in rest) for each in wanted)
    return Verdict(in_order, f"{_called(called).capitalize()}.")


def decide_tool_arguments(
    spec: AssertionSpec,
    value: Json,
    answer: CellAnswer,
    context: AssertionContext,
) -> Verdict:
    """A call of the tool has these arguments, or among others where the mode is `partial`."""
    if not isinstance(value, Mapping):
        raise UndecidedError("The value is {name: …, args: {…}, mode: partial or exact}.")
    name = as_text(value.get("name", value.get("tool", "")))
    wanted = value.get("args", value.get("arguments", {}))
    is_exact = value.get("mode", "partial") == "exact"
    calls = [each for each in answer.calls if fnmatchcase(each.tool, name)]
    if not calls:
        return Verdict(False, f"{name} was not called; {_called([e.tool for e in answer.calls])}.")
    for call in calls:
        given: Json = dict(call.arguments)
        if given == wanted if is_exact else _holds(given, wanted):
            return Verdict(True, f"{name} was called with the arguments.")
    return Verdict(False, f"{name} was called with {as_text(dict(calls[-1].arguments))}.")


def decide_step_count(
    spec: AssertionSpec,
    value: Json,
    answer: CellAnswer,
    context: AssertionContext,
) -> Verdict:
    """As many steps as wanted: at most a number, or `{min, max, type, pattern}`."""
    count, what = answer.steps, "model calls"
    low, high = 0.0, float("inf")
    if isinstance(value, Mapping):
        low, high = as_number(value.get("min", 0)), as_number(value.get("max", float("inf")))
        pattern = as_text(value.get("pattern", "*"))
        if value.get("type") == "tool" or (pattern != "*" and "chat" not in pattern):
            names = [each.tool for each in answer.calls]
            count, what = sum(fnmatchcase(name, pattern) for name in names), "tool calls"
        elif spec.type == "trace-span-count" and pattern == "*":
            count, what = answer.steps + len(answer.calls), "steps"
    elif value is not None:
        high = as_number(value)
    return Verdict(low <= count <= high, f"The run made {count} {what}.")


def decide_tool_f1(
    spec: AssertionSpec,
    value: Json,
    answer: CellAnswer,
    context: AssertionContext,
) -> Verdict:
    """The called tools are the expected ones, as the F1 of both sets."""
    wanted, called = set(as_texts(value)), {each.tool for each in answer.calls}
    both = len(wanted & called)
    score = 1.0 if not wanted and not called else 2 * both / max(1, len(wanted) + len(called))
    least = 1.0 if spec.threshold is None else spec.threshold
    return Verdict(score >= least, f"F1 {score:.2f}: {_called(sorted(called))}.", score)


def decide_valid_calls(
    spec: AssertionSpec,
    value: Json,
    answer: CellAnswer,
    context: AssertionContext,
) -> Verdict:
    """Every call names a tool and has arguments that fit it; there is one at least."""
    if not answer.calls:
        return Verdict(False, "The model called no tool.")
    bad: Sequence[MadeCall] = [each for each in answer.calls if not each.is_valid]
    if bad:
        return Verdict(False, f"The call of {bad[0].tool} does not fit the tool.")
    return Verdict(
        True, f"{counted(len(answer.calls), 'call fits its tool', 'calls fit their tools')}."
    )


TRAJECTORY: Mapping[str, TrajectoryDecision] = {
    "trajectory:tool-used": decide_tool_used,
    "trajectory:tool-sequence": decide_tool_sequence,
    "trajectory:tool-args-match": decide_tool_arguments,
    "trajectory:step-count": decide_step_count,
    "trace-span-count": decide_step_count,
    "tool-call-f1": decide_tool_f1,
    "is-valid-openai-tools-call": decide_valid_calls,
    "is-valid-openai-function-call": decide_valid_calls,
}
"""What decides each type."""


def _list(value: Json) -> list[Json]:
    if isinstance(value, list):
        return value
    return [each for each in _MARKERS.split(as_text(value)) if each]


def _holds(given: Json, wanted: Json) -> bool:
    """Whether everything that is wanted is there; more may be."""
    if isinstance(wanted, Mapping):
        return isinstance(given, Mapping) and all(
            key in given and _holds(given[key], item) for key, item in wanted.items()
        )
    return given == wanted


def _called(tools: Sequence[str]) -> str:
    return f"the run called {', '.join(tools)}" if tools else "the run called no tool"
