"""Judges: prompts that grade answers, run like other prompts behind a connection's limiter."""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from studio.application.connections.model import Answerers
from studio.application.experiments import prompts
from studio.application.experiments.plan import ExperimentPlan, ExperimentServices
from studio.application.experiments.providers import choice_for, with_options, without_retries
from studio.application.experiments.turns import (
    BatchedEmbeddings,
    LeasedCell,
    LimitedModel,
    Limiters,
    Turns,
)
from studio.application.run.start.session import begin_run
from studio.application.trust import references_of
from studio.application.words import tr
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.values.options import RunOptions
from studio.core.experiments.assertions.result import (
    AssertionContext,
    CellAnswer,
    NotRunError,
    UndecidedError,
    Verdict,
)
from studio.core.experiments.assertions.structure import objects_in
from studio.core.experiments.values import AssertionSpec, PromptEntry, ProviderEntry
from studio.core.models.base import ChatModel, ModelError
from studio.core.models.choice import ModelChoice
from studio.core.paths import resource
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.parse import parse
from studio.core.text.files import read_text
from studio.core.text.values import Json, JsonDict, object_of

_RUBRICS = {
    "llm-rubric": "rubric.prompty",
    "factuality": "factuality.prompty",
    "model-graded-factuality": "factuality.prompty",
    "model-graded-closedqa": "closedqa.prompty",
    "g-eval": "g-eval.prompty",
}
_CATEGORIES = {"A": 1.0, "B": 1.0, "C": 1.0, "D": 0.0, "E": 1.0}
"""Scores of factuality categories: subset, superset, equal, contradiction, irrelevant
differences.
"""

_LEAST_SIMILAR = 0.75
"""Default threshold of `similar`, as in promptfoo."""


class PromptJudge:
    """A judge that grades answers with prompts; each assertion names its model."""

    def __init__(
        self, plan: ExperimentPlan, services: ExperimentServices, turns: Turns, limiters: Limiters
    ) -> None:
        self._plan = plan
        self._services = services
        self._turns = turns
        self._limiters = limiters
        self._answerers = Answerers(services.connections, services.secrets, services.embedded)
        self._models: dict[str, tuple[ChatModel, ModelChoice]] = {}
        self._prompts: dict[str, PromptDocument] = {}
        self._embeddings: dict[str, BatchedEmbeddings] = {}
        self._vectors: dict[tuple[str, str], tuple[float, ...]] = {}

    def of(self, cell: LeasedCell) -> CellJudge:
        """Return the judge of one cell."""
        return CellJudge(self, cell)

    async def grade(
        self,
        spec: AssertionSpec,
        value: Json,
        answer: CellAnswer,
        context: AssertionContext,
        cell: LeasedCell,
        name: str,
    ) -> Verdict:
        """Return whether a cell's answer meets a rubric; see `Judge`."""
        document, rubric = self._prompt(spec, value)
        entry = self._provider(spec)
        opened, choice = self._opened(entry, document)
        try:
            document = with_options(document, entry.config, self._plan.folder, choice)
        except prompts.ExperimentError as error:
            raise UndecidedError(str(error)) from None
        model = self._turns.model(opened, choice, cell, name)
        read = prompts.inputs_read(document)
        inputs: JsonDict = {
            **{name: item for name, item in context.variables.items() if name in read},
            "output": answer.text,
            "rubric": rubric,
            "input": context.prompt,
            "expected": str(context.variables.get("expected", rubric)),
        }
        references = references_of(
            document.source.path, self._services.trust, masker=self._services.secrets.masker
        )
        plan = RunPlan(
            document,
            inputs,
            model,
            references=references,
            options=RunOptions(protocol="native", headless=True, attempts=1),
        )
        state = await begin_run(plan).go()
        cost = state.usage.cost or 0.0
        if state.answer is None:
            words = state.error.message if state.error is not None else state.status
            raise UndecidedError(tr("The judge did not answer: {said}").format(said=words))
        verdict = verdict_of_reply(spec, state.answer)
        return replace(verdict, cost=cost)

    async def similarity(self, spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
        """Return the similarity of an answer to the nearest of several texts; see `Judge`."""
        texts = [str(each) for each in (value if isinstance(value, list) else [value])]
        entry = self._provider(spec, "embedding")
        inner, choice = self._opened(entry, parse("user:\n"))
        connection = choice.connection
        key = _key(entry)
        if key not in self._embeddings:
            limiter = self._limiters(connection.name, is_local=connection.kind == "embedded")
            name = choice.declaration.id or connection.model
            model = LimitedModel(inner, limiter, connection.retries)
            self._embeddings[key] = BatchedEmbeddings(model, name)
        missing = [each for each in texts if (key, each) not in self._vectors]
        try:
            vectors = await self._embeddings[key].of([answer.text, *missing])
        except ModelError as error:
            raise UndecidedError(
                tr("No embeddings by {name!r}: {said}").format(name=entry.id, said=str(error))
            ) from None
        for text, vector in zip(missing, vectors[1:], strict=True):
            self._vectors[key, text] = vector
        nearest = max(_cosine(vectors[0], self._vectors[key, each]) for each in texts)
        least = spec.threshold if spec.threshold is not None else _LEAST_SIMILAR
        reason = tr("The similarity is {found:.2f}; the threshold is {least:g}.").format(
            found=nearest, least=least
        )
        return Verdict(nearest >= least, reason, max(0.0, nearest))

    def _prompt(self, spec: AssertionSpec, value: Json) -> tuple[PromptDocument, str]:
        """Return the judge's prompt and the rubric."""
        named = spec.rubric if isinstance(spec.rubric, str) else ""
        given = "" if value is None else value
        text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        if isinstance(value, list) and spec.type == "g-eval":
            text = "\n".join(f"{number}. {each}" for number, each in enumerate(value, 1))
        folder = self._plan.folder
        with prompts.as_undecided():
            if text.startswith("file://") and text.endswith(".prompty"):
                return parse(folder.read(text), folder.find(text.removeprefix("file://"))), ""
            if text.startswith("file://"):
                text = folder.read(text).strip()
            if named.endswith(".prompty"):
                return parse(folder.read(named), folder.find(named.removeprefix("file://"))), text
        if spec.rubric:
            return self._own_prompt(spec.rubric), text
        path = resource("rubrics", _RUBRICS[spec.type])
        return parse(read_text(path), path), text

    def _own_prompt(self, rubric: Json) -> PromptDocument:
        """Return promptfoo's `rubricPrompt`: a text, a list of messages, or a file of either."""
        text = rubric if isinstance(rubric, str) else json.dumps(rubric, ensure_ascii=False)
        if text not in self._prompts:
            entry = PromptEntry(text, "rubricPrompt", text=text)
            if text.startswith("file://"):
                entry = PromptEntry(text.removeprefix("file://"), "rubricPrompt")
            with prompts.as_undecided():
                self._prompts[text] = next(
                    found for _, found in prompts.documents_of(entry, self._plan.folder)
                )
        return self._prompts[text]

    def _provider(self, spec: AssertionSpec, use: str = "text") -> ProviderEntry:
        for named in (spec.provider, self._plan.file.default.options.get("provider")):
            # promptfoo has one for each use, or one for all
            given = named.get(use, named) if isinstance(named, Mapping) else named
            if isinstance(given, str) and given:
                return ProviderEntry(given)
            if isinstance(given, Mapping) and isinstance(given.get("id"), str):
                return ProviderEntry(str(given["id"]), config=object_of(given.get("config")))
        raise NotRunError(
            tr("No judge is named: give the assertion a `provider`, or defaultTest.options one.")
        )

    def _opened(
        self, entry: ProviderEntry, document: PromptDocument
    ) -> tuple[ChatModel, ModelChoice]:
        key = _key(entry)
        if key not in self._models:
            try:
                choice = choice_for(
                    entry, document, self._services.connections, trusted=self._plan.folder.trusted
                )
                if choice is None:
                    raise NotRunError(tr("`echo` is not a judge."))
                model = self._answerers.open(
                    without_retries(choice),
                    document.source.path,
                    trusted=self._plan.folder.trusted,
                    project=self._plan.file.path,
                )
            except (prompts.ExperimentError, ModelError) as error:
                raise UndecidedError(str(error)) from None
            self._models[key] = model, choice
        return self._models[key]

    async def close(self) -> None:
        """Close the models."""
        for each in self._embeddings.values():
            await each.close()
        self._embeddings.clear()
        for model, _ in self._models.values():
            with suppress(ModelError):
                await model.close()
        self._models.clear()


class CellJudge:
    """The judge for the answer of one cell, which numbers its requests."""

    def __init__(self, judge: PromptJudge, cell: LeasedCell) -> None:
        """Store the judge and the cell."""
        self._judge = judge
        self._cell = cell
        self._graded = 0

    async def grade(
        self, spec: AssertionSpec, value: Json, answer: CellAnswer, context: AssertionContext
    ) -> Verdict:
        """Return whether the answer meets a rubric; see `Judge`."""
        self._graded += 1
        name = f"j{self._graded}s"
        return await self._judge.grade(spec, value, answer, context, self._cell, name)

    async def similarity(self, spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
        """Return the similarity of an answer to a text; see `Judge`."""
        return await self._judge.similarity(spec, value, answer)


def _key(entry: ProviderEntry) -> str:
    """Return the key of a provider: the same id with another `config` may be another server."""
    return json.dumps([entry.id, entry.config], sort_keys=True, default=str)


def _cosine(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    lengths = math.hypot(*one) * math.hypot(*other)
    return sum(map(operator.mul, one, other)) / lengths if lengths else 0.0


def verdict_of_reply(spec: AssertionSpec, text: str) -> Verdict:
    """Read a judge's reply: JSON with `pass`, `score` and `reason`, or a category.

    Raises:
        UndecidedError: the reply is unreadable; the answer itself has not failed.
    """
    found = [value for value, _ in objects_in(text) if isinstance(value, Mapping)]
    reply = found[-1] if found else None
    if reply is None:
        short = " ".join(text.split())[:80]
        raise UndecidedError(tr("The judge's answer cannot be read: {text!r}").format(text=short))
    reason = str(reply.get("reason") or reply.get("explanation") or tr("No reason is given."))
    score: float | None = None
    category = reply.get("category")
    if isinstance(category, str) and category.strip("() ")[:1].upper() in _CATEGORIES:
        score = _CATEGORIES[category.strip("() ")[:1].upper()]
        return Verdict(score > 0, reason, score)
    score_given, passed = reply.get("score"), reply.get("pass")
    if isinstance(score_given, int | float) and not isinstance(score_given, bool):
        score = float(score_given) / 10 if spec.type == "g-eval" else float(score_given)
    if isinstance(passed, str) and passed.lower() in ("true", "false", "yes", "no"):
        passed = passed.lower() in ("true", "yes")
    if not isinstance(passed, bool) and score is None:
        raise UndecidedError(tr("The judge gave neither `pass` nor `score`."))
    least = spec.threshold
    if spec.type == "g-eval" and least is None:
        least = 0.7
    holds = passed if isinstance(passed, bool) else (score or 0.0) > 0
    if least is not None and score is not None:
        holds = (holds or not isinstance(passed, bool)) and score >= least
    return Verdict(holds, reason, score)
