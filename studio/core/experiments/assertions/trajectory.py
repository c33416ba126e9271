"""Assertions on a run: its steps and calls from the journal, its time, cost and tokens."""

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from studio.core.experiments.assertions.result import CellAnswer, MadeCall, UndecidedError, Verdict
from studio.core.experiments.assertions.text import TextDecision, as_number, as_text, as_texts
from studio.core.experiments.values import AssertionSpec
from studio.core.text.amounts import counted, money
from studio.core.text.values import Json

_MARKERS = re.compile(r"[\s,]+")


def decide_tool_used(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check that tools were called: one, each of a list, or as often as `{name, min, max}` says."""
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


def decide_tool_sequence(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check that the tools were called in this order; `exact` allows no others in between."""
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


def decide_tool_arguments(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check that a call has these arguments; `partial` allows further ones."""
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


def decide_step_count(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check the number of steps: a maximum, or `{min, max, type, pattern}`."""
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
    return Verdict(low <= count <= high, f"The run had {count} {what}.")


def decide_tool_f1(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check that the called tools match the expected ones, by the F1 score of both sets."""
    wanted, called = set(as_texts(value)), {each.tool for each in answer.calls}
    both = len(wanted & called)
    score = 1.0 if not wanted and not called else 2 * both / max(1, len(wanted) + len(called))
    least = 1.0 if spec.threshold is None else spec.threshold
    return Verdict(score >= least, f"F1 {score:.2f}: {_called(sorted(called))}.", score)


def decide_valid_calls(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check that there are calls, and that each names a tool and has valid arguments."""
    if not answer.calls:
        return Verdict(False, "The model called no tool.")
    bad: Sequence[MadeCall] = [each for each in answer.calls if not each.is_valid]
    if bad:
        return Verdict(False, f"The call of {bad[0].tool} does not match the tool.")
    return Verdict(
        True, f"{counted(len(answer.calls), 'call fits its tool', 'calls fit their tools')}."
    )


def _list(value: Json) -> list[Json]:
    if isinstance(value, list):
        return value
    return [each for each in _MARKERS.split(as_text(value)) if each]


def _holds(given: Json, wanted: Json) -> bool:
    """Return whether `given` contains everything in `wanted`; it may contain more."""
    if isinstance(wanted, Mapping):
        return isinstance(given, Mapping) and all(
            key in given and _holds(given[key], item) for key, item in wanted.items()
        )
    return given == wanted


def _called(tools: Sequence[str]) -> str:
    return f"the run called {', '.join(tools)}" if tools else "the run called no tool"


def decide_latency(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check the time of the answer."""
    if not answer.is_timed:
        raise UndecidedError("The answer came in a batch, which has no latency.")
    most = _most(spec, value, "latency", "milliseconds")
    return Verdict(
        answer.latency_ms <= most, f"It took {answer.latency_ms:.0f} ms; {most:g} ms are allowed."
    )


def decide_cost(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check the cost of the answer."""
    if answer.cost is None:
        raise UndecidedError("The price of the model is not known.")
    if spec.threshold is None and value is None:
        return Verdict(True, f"It cost {money(answer.cost)}.")
    most = _most(spec, value, "cost", "US dollars")
    return Verdict(
        answer.cost <= most, f"It cost {money(answer.cost)}; at most {money(most)} is allowed."
    )


def decide_tokens(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check the number of tokens of the run: in total, or `{input: …, output: …}`."""
    total = answer.input_tokens + answer.output_tokens
    if isinstance(value, Mapping):
        for name, used in (
            ("input", answer.input_tokens),
            ("output", answer.output_tokens),
            ("max", total),
            ("total", total),
        ):
            if name in value and used > as_number(value[name]):
                return Verdict(
                    False,
                    f"It used {counted(used, f'{name} token')}; "
                    f"at most {as_text(value[name])} is allowed.",
                )
        return Verdict(True, f"It used {counted(total, 'token')}.")
    most = _most(spec, value, "tokens", "tokens")
    return Verdict(
        total <= most, f"It used {counted(total, 'token')}; at most {most:g} is allowed."
    )


def decide_no_error(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check that the run had no format error and no failed call."""
    if answer.errors:
        return Verdict(False, f"The run had {counted(answer.errors, 'error')}.")
    return Verdict(True, "The run had no error.")


def decide_trace_errors(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check the number of errors in the run: `max_count`, or a share (`max_percentage`)."""
    most = 0.0
    if isinstance(value, Mapping):
        if "max_percentage" in value:
            share = 100 * answer.errors / max(1, answer.steps + len(answer.calls))
            allowed = as_number(value["max_percentage"])
            return Verdict(share <= allowed, f"{share:.0f} % of the steps failed.")
        most = as_number(value.get("max_count", 0))
    elif value is not None:
        most = as_number(value)
    return Verdict(answer.errors <= most, f"{counted(answer.errors, 'step')} failed; {most:g} may.")


def decide_finish(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check the finish reason of the last reply."""
    wanted = as_text(value)
    return Verdict(
        answer.finish_reason == wanted,
        f"The last reply ended with {answer.finish_reason or 'no reason given'}.",
    )


def decide_final_answer(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check that there is an answer and, with a value, that the answer contains it."""
    if not answer.text.strip():
        return Verdict(False, "The run gave no answer.")
    if value is None:
        return Verdict(True, "The run gave an answer.")
    wanted = as_text(value)
    return Verdict(wanted in answer.text, f"The final answer is {answer.text[:80]!r}.")


def _most(spec: AssertionSpec, value: Json, name: str, unit: str) -> float:
    if spec.threshold is not None:
        return spec.threshold
    if value is None:
        raise UndecidedError(f"The assertion {name!r} needs a threshold in {unit}.")
    return as_number(value)


OF_THE_RUN: Mapping[str, TextDecision] = {
    "trajectory:tool-used": decide_tool_used,
    "trajectory:tool-sequence": decide_tool_sequence,
    "trajectory:tool-args-match": decide_tool_arguments,
    "trajectory:step-count": decide_step_count,
    "trace-span-count": decide_step_count,
    "tool-call-f1": decide_tool_f1,
    "is-valid-openai-tools-call": decide_valid_calls,
    "is-valid-openai-function-call": decide_valid_calls,
    "latency": decide_latency,
    "cost": decide_cost,
    "tokens": decide_tokens,
    "no-error": decide_no_error,
    "trace-error-spans": decide_trace_errors,
    "finish-reason": decide_finish,
    "final-answer": decide_final_answer,
}
"""Function that decides each type."""
