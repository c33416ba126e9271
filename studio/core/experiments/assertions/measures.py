"""Assertions on time, money, tokens, and how a run went."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from studio.core.experiments.assertions.result import CellAnswer, UndecidedError, Verdict
from studio.core.experiments.assertions.text import as_number, as_text
from studio.core.experiments.values import AssertionSpec
from studio.core.text.counted import counted
from studio.core.text.values import Json

Measure = Callable[[AssertionSpec, Json, CellAnswer], Verdict]


def decide_latency(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """The answer came in time."""
    if not answer.is_timed:
        raise UndecidedError("The answer came in a batch, which has no latency.")
    most = _most(spec, value, "latency", "milliseconds")
    return Verdict(answer.latency_ms <= most, f"It took {answer.latency_ms:.0f} ms; {most:g} ms "
                   "are allowed.")  # fmt: skip


def decide_cost(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """The answer was cheap enough."""
    if answer.cost is None:
        raise UndecidedError("The price of the model is not known.")
    if spec.threshold is None and value is None:
        return Verdict(True, f"It cost ${answer.cost:.6f}.")
    most = _most(spec, value, "cost", "US dollars")
    return Verdict(
        answer.cost <= most, f"It cost ${answer.cost:.6f}; at most ${most:g} is allowed."
    )


def decide_tokens(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """It used few tokens: all, or `{input: …, output: …}`."""
    total = answer.input_tokens + answer.output_tokens
    if isinstance(value, Mapping):
        for name, used in (("input", answer.input_tokens), ("output", answer.output_tokens),
                           ("max", total), ("total", total)):  # fmt: skip
            if name in value and used > as_number(value[name]):
                return Verdict(False, f"It used {counted(used, f'{name} token')}; "
                               f"at most {as_text(value[name])} is allowed.")  # fmt: skip
        return Verdict(True, f"It used {counted(total, 'token')}.")
    most = _most(spec, value, "tokens", "tokens")
    return Verdict(
        total <= most, f"It used {counted(total, 'token')}; at most {most:g} is allowed."
    )


def decide_no_error(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """The run met no format error and no failed call."""
    if answer.errors:
        return Verdict(False, f"The run met {counted(answer.errors, 'error')} on its way.")
    return Verdict(True, "The run met no error.")


def decide_trace_errors(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Few errors on the way: `max_count`, or a share of the steps (`max_percentage`)."""
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
    """The last reply ended for the reason."""
    wanted = as_text(value)
    return Verdict(answer.finish_reason == wanted, f"The last reply ended by "
                   f"{answer.finish_reason or 'no reason that was told'}.")  # fmt: skip


def decide_final_answer(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """There is an answer; with a value, it contains that."""
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


MEASURES: Mapping[str, Measure] = {
    "latency": decide_latency,
    "cost": decide_cost,
    "tokens": decide_tokens,
    "no-error": decide_no_error,
    "trace-error-spans": decide_trace_errors,
    "finish-reason": decide_finish,
    "final-answer": decide_final_answer,
}
"""What decides each type."""
