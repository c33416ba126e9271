"""Mark an answer: decide every assertion, then the score and verdict of the cell."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from studio.core.experiments.assertions.child import CodeLanguage, CodeRunner, verdict_of_code
from studio.core.experiments.assertions.result import (
    AssertionContext,
    AssertionResult,
    AssertionState,
    CellAnswer,
    NotRunError,
    UndecidedError,
    Verdict,
)
from studio.core.experiments.assertions.structure import MARKUP, decide_json
from studio.core.experiments.assertions.text import OVERLAP, TEXT_DECISIONS, TextDecision
from studio.core.experiments.assertions.trajectory import OF_THE_RUN
from studio.core.experiments.values import AssertionSpec
from studio.core.prompty.templates import render_template
from studio.core.text.source import Severity, Span
from studio.core.text.values import Json, JsonDict, JsonObject, parse_json, text_or_json

JUDGED = ("llm-rubric", "factuality", "model-graded-factuality", "g-eval", "model-graded-closedqa")
"""Types of assertions that a judge decides: a prompt, run by a model."""

BY_MODEL = (*JUDGED, "similar")
"""Types of assertions that need a model."""

_CODE: Mapping[str, CodeLanguage] = {"python": "python", "javascript": "javascript"}
_BY_ANSWER: Mapping[str, TextDecision] = {
    **TEXT_DECISIONS,
    **OVERLAP,
    **MARKUP,
    **OF_THE_RUN,
    "is-json": decide_json,
    "contains-json": decide_json,
}
"""Function for each type of assertion that needs only the answer."""

_DUMP = re.compile(r"\|\s*dump\b")
_FILE = re.compile(r"^(?P<path>.+?\.(?:py|js|mjs|cjs|ts))(?::(?P<function>\w+))?$")


class Judge(Protocol):
    """A judge that uses a model, such as `application.experiments.judge`."""

    async def grade(
        self, spec: AssertionSpec, value: Json, answer: CellAnswer, context: AssertionContext
    ) -> Verdict:
        """Return whether an answer meets a rubric.

        Raises:
            UndecidedError: the judge failed, or its answer cannot be read.
            NotRunError: there is no judge.
        """
        ...

    async def similarity(self, spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
        """Return how similar in meaning an answer is to a text.

        Raises:
            UndecidedError: the embeddings failed.
            NotRunError: there is no embedding model.
        """
        ...


@dataclass(frozen=True)
class Markers:
    """The services for assertions that need more than the answer."""

    read: Callable[[str], str]
    """Function that reads a file beside the experiment; raises `UndecidedError` if it cannot."""

    find: Callable[[str], str]
    """Function that returns the path of a file beside the experiment; raises `UndecidedError` if
    there is none.
    """

    code: CodeRunner | None = None
    """Runner of Python and JavaScript; None if there is none."""

    judge: Judge | None = None
    """Judge that uses a model; None if there is none."""


@dataclass(frozen=True)
class CellMarks:
    """The results of all assertions of a cell."""

    passed: bool
    """Whether the cell passes."""

    score: float
    """Weighted mean of the scores."""

    results: tuple[AssertionResult, ...] = ()
    """Results in the order of the file."""

    is_undecided: bool = False
    """Whether an assertion could not be decided or was not run, so that the cell has neither passed
    nor failed.
    """

    metrics: Mapping[str, float] = field(default_factory=dict)
    """Scores by the metric names of the assertions."""

    @property
    def cost(self) -> float:
        """Cost of the judges, in US dollars."""
        return sum(each.cost for each in self.results)


async def mark_answer(
    assertions: Sequence[AssertionSpec],
    threshold: float | None,
    answer: CellAnswer,
    context: AssertionContext,
    markers: Markers,
    transform: str = "",
) -> CellMarks:
    """Decide every assertion of a cell. Raises no errors for faults in assertions.

    Args:
        assertions: assertions of the row, including defaults.
        threshold: minimum score to pass; None requires every assertion.
        answer: the answer.
        context: the row.
        markers: runs code and judges.
        transform: code that changes the answer first; empty for none.
    """
    marking = _Marking(answer, context, markers)
    try:
        if transform:
            marking = await marking.after(transform)
    except (UndecidedError, NotRunError) as error:
        lost = tuple(_undecided(each, error) for each in assertions)
        return CellMarks(False, 0.0, lost, is_undecided=True)
    results = tuple([await marking.mark(each) for each in assertions])
    passed, score = _summed(results, threshold)
    undecided = any(each.state in ("error", "not_run") and each.weight > 0 for each in results)
    metrics: dict[str, list[float]] = {}
    for each in results:
        if each.metric:
            metrics.setdefault(each.metric, []).append(each.score)
    means = {name: sum(scores) / len(scores) for name, scores in metrics.items()}
    return CellMarks(passed, score, results, undecided, means)


def _summed(results: Sequence[AssertionResult], threshold: float | None) -> tuple[bool, float]:
    """Return the verdict and the score; an assertion of weight 0 affects only metrics."""
    weight = sum(each.weight for each in results)
    score = sum(each.score * each.weight for each in results) / weight if weight else 1.0
    if threshold is not None and results:
        return score >= threshold, score
    return all(each.passed for each in results if each.weight > 0), score


def _undecided(spec: AssertionSpec, error: Exception) -> AssertionResult:
    state: AssertionState = "not_run" if isinstance(error, NotRunError) else "error"
    return AssertionResult(spec.label, state, 0.0, str(error), spec.weight, spec.metric)


def _result(spec: AssertionSpec, label: str, verdict: Verdict) -> AssertionResult:
    passed = verdict.passed is not spec.negated
    score = verdict.score
    if score is None:
        score = float(passed)
    elif spec.negated and not verdict.is_final:
        score = 1.0 - score
    score = min(1.0, max(0.0, score))
    return AssertionResult(
        label,
        "passed" if passed else "failed",
        score,
        verdict.reason,
        spec.weight,
        spec.metric,
        verdict.span,
        cost=verdict.cost,
    )


def judged_by(specs: Sequence[AssertionSpec], options: JsonObject) -> tuple[AssertionSpec, ...]:
    """Return the assertions; those without a judge get that of their test (`options`)."""
    provider, rubric = options.get("provider"), options.get("rubricPrompt")
    if not provider and not rubric:
        return tuple(specs)
    return tuple(
        replace(
            each,
            provider=each.provider or (provider if each.type in BY_MODEL else None),
            rubric=each.rubric or (rubric if each.type == "llm-rubric" else None),
            nested=judged_by(each.nested, options),
        )
        for each in specs
    )


def reads_prompt(specs: Sequence[AssertionSpec]) -> bool:
    """Return whether an assertion needs the sent prompt, as code and judges do."""
    return any(
        each.type in _CODE or each.type in JUDGED or each.transform or reads_prompt(each.nested)
        for each in specs
    )


def lacks_judge(specs: Sequence[AssertionSpec]) -> str:
    """Return the type of an assertion that needs a model but names none; empty if there is none."""
    for each in specs:
        if each.type in BY_MODEL and not each.provider:
            return each.type
        if each.nested and (found := lacks_judge(each.nested)):
            return found
    return ""


@dataclass(frozen=True)
class _Marking:
    """The marking of one answer of a row."""

    answer: CellAnswer
    context: AssertionContext
    markers: Markers

    async def mark(self, spec: AssertionSpec) -> AssertionResult:
        """Decide an assertion; the result says why if it is undecided."""
        if spec.type == "assert-set":
            return await self._set(spec)
        try:
            value = rendered_value(spec.value, self.context)
            label = replace(spec, value=value).label
            marking = await self.after(spec.transform) if spec.transform else self
            verdict = await marking.decide(spec, value)
        except (UndecidedError, NotRunError) as error:
            return _undecided(spec, error)
        return _result(spec, label, verdict)

    async def after(self, code: str) -> _Marking:
        """Return the marking of the answer after `transform`: JavaScript of `output`, or a file.

        Raises:
            UndecidedError: the code failed.
            NotRunError: nothing here runs it.
        """
        made = await self._run_code(AssertionSpec("javascript"), "javascript", code)
        if made is None:
            raise UndecidedError("The `transform` returned nothing.")
        return replace(self, answer=replace(self.answer, text=text_or_json(made)))

    async def _set(self, spec: AssertionSpec) -> AssertionResult:
        nested = tuple([await self.mark(each) for each in spec.nested])
        passed, score = _summed(nested, spec.threshold)
        state: AssertionState = "passed" if passed else "failed"
        if not passed and any(each.state in ("error", "not_run") for each in nested):
            state = "error"
        held = sum(each.passed for each in nested)
        return AssertionResult(
            spec.metric or "set",
            state,
            score,
            f"{held} of {len(nested)} pass.",
            spec.weight,
            spec.metric,
            nested=nested,
            cost=sum(each.cost for each in nested),
        )

    async def decide(self, spec: AssertionSpec, value: Json) -> Verdict:
        """Decide an assertion by its type, with its rendered value."""
        kind, judge = spec.type, self.markers.judge
        if kind in _CODE:
            if not isinstance(value, str):
                raise UndecidedError("The value is the code, or file://checks.py:function.")
            return verdict_of_code(spec, await self._run_code(spec, _CODE[kind], value))
        if isinstance(value, str) and value.startswith("file://") and kind not in JUDGED:
            value = self.markers.read(value.removeprefix("file://"))
            if kind not in ("is-json", "contains-json"):
                value = value.strip()
        if kind in _BY_ANSWER:
            return _BY_ANSWER[kind](spec, value, self.answer)
        if judge is None:
            raise NotRunError(f"There is no judge for {kind!r}.")
        if kind == "similar":
            return await judge.similarity(spec, value, self.answer)
        return await judge.grade(spec, value, self.answer, self.context)

    async def _run_code(self, spec: AssertionSpec, language: CodeLanguage, value: str) -> Json:
        if self.markers.code is None:
            raise NotRunError("Code is not run here.")
        file, code = "", value
        if value.startswith("file://"):
            found = _FILE.match(value.removeprefix("file://").strip())
            if found is None:
                raise UndecidedError(f"{value!r} names no Python or JavaScript file.")
            file, code = self.markers.find(found["path"]), found["function"] or ""
            language = "python" if found["path"].endswith(".py") else "javascript"
        given: JsonDict = {
            "vars": dict(self.context.variables),
            "prompt": self.context.prompt,
            "config": dict(spec.config),
            "latencyMs": self.answer.latency_ms,
            "cost": self.answer.cost,
        }
        output: Json = self.answer.text
        if self.context.is_json:
            with suppress(ValueError):
                output = parse_json(self.answer.text)
        return await self.markers.code.run(language, code, file, output, given)


def rendered_value(value: Json, context: AssertionContext) -> Json:
    """Return a value with the row's variables inserted, in every text of lists and mappings.

    Raises:
        UndecidedError: a template in it cannot be read.
    """
    if isinstance(value, list):
        return [rendered_value(each, context) for each in value]
    if isinstance(value, Mapping):
        return {key: rendered_value(item, context) for key, item in value.items()}
    if not isinstance(value, str) or ("{{" not in value and "{%" not in value):
        return value
    text = _DUMP.sub("| tojson", value)  # Nunjucks' name of the filter
    rendering = render_template(text, context.variables, format="jinja2")
    wrong = next((each for each in rendering.problems if each.severity is Severity.ERROR), None)
    if wrong is not None:
        raise UndecidedError(f"The value {value[:60]!r} cannot be filled in: {wrong.message}")
    return rendering.text


def results_as_json(results: Sequence[AssertionResult]) -> str:
    """Return results as JSON for storage."""
    return json.dumps([_as_json(each) for each in results], ensure_ascii=False)


def results_of_json(text: str) -> tuple[AssertionResult, ...]:
    """Read stored results."""
    return tuple(_of_json(each) for each in json.loads(text))


def _as_json(result: AssertionResult) -> JsonDict:
    made: JsonDict = {
        "label": result.label,
        "state": result.state,
        "score": round(result.score, 6),
        "reason": result.reason,
    }
    if result.weight != 1.0:
        made["weight"] = result.weight
    if result.metric:
        made["metric"] = result.metric
    if result.span is not None:
        made["span"] = [result.span.start, result.span.end]
    if result.nested:
        made["nested"] = [_as_json(each) for each in result.nested]
    if result.cost:
        made["cost"] = result.cost
    return made


def _of_json(data: Mapping[str, Any]) -> AssertionResult:
    span, nested = data.get("span"), tuple(map(_of_json, data.get("nested", ())))
    return AssertionResult(**{**data, "nested": nested, "span": Span(*span) if span else None})
