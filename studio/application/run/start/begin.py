"""From a plan to a run that can be driven, in the window and on the command line."""

from __future__ import annotations

from collections.abc import Mapping

from studio.core.agent.loop.setup import USUAL_COST, make_setup, question_of
from studio.core.agent.loop.tool_choice import BY_WORDS, ToolScores, embedding_wish
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.run.runner import Run
from studio.core.agent.values.events import Started
from studio.core.agent.values.run_setup import RunSetup
from studio.core.models.base import EmbeddingModel, ModelError, WrappingModel
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.inputs import resolve_inputs
from studio.core.prompty.prepare import prepare
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.text.amounts import money
from studio.core.text.values import Json
from studio.core.tools.session import ToolSession
from studio.core.tools.toolbox import AskUser, Toolbox


async def open_tools(
    session: ToolSession,
    document: PromptDocument,
    values: Mapping[str, Json],
    references: ReferenceContext,
    ask: AskUser | None = None,
    *,
    is_safe: bool = False,
) -> Toolbox:
    """The tools of a run, their servers started where the folder is trusted.

    Args:
        session: keeps the tools.
        document: the prompt, as the run takes it.
        values: the run's values; a tool may be bound to one.
        references: where the prompt's references find their values.
        ask: asks the user for the answer of a tool that is mocked by hand.
        is_safe: start nothing.
    """
    prepared = prepare(document, values, references=references)
    if is_safe:
        return session.current.toolbox(prepared.inputs, ask)
    return await session.open_toolbox(document, prepared.messages.tools, prepared.inputs, ask)


async def tool_scores_of(plan: RunPlan) -> ToolScores:
    """Score how well the tools fit the question, if not all of them are sent.

    By vectors where the prompt names a model for them: it is asked at the run's own connection,
    which is told of question and tools anyway. Where it gives none, words decide, and the run says
    why.
    """
    values = resolve_inputs(plan.document, plan.inputs).sent
    wish = embedding_wish(plan.document, question_of(plan.document, values), plan.toolbox.specs)
    if wish is None or plan.past is not None:
        return BY_WORDS
    model: object = plan.model
    while isinstance(model, WrappingModel) and not isinstance(model, EmbeddingModel):
        model = model.inner
    if not isinstance(model, EmbeddingModel):
        return wish.failed(f"{plan.model.label} gives no vectors")
    try:
        return wish.scores(await model.embed(wish.texts, wish.model))
    except ModelError as error:
        return wish.failed(error.message)


def begin_run(
    plan: RunPlan, *, scores: ToolScores = BY_WORDS, setup: RunSetup | None = None
) -> Run:
    """Start a new run, or continue one of the past, ready for `await run.go(…)`.

    Args:
        plan: what is run, with its tools made ready.
        scores: which of them fit the question (`tool_scores_of`).
        setup: of a new run, where it was made already of the same plan.

    Raises:
        ValueError: the journal of the past does not begin with `Started`.
        ModelError: it has a limit of cost, and nobody knows what its model costs.
    """
    if plan.past is None:
        if setup is None:
            setup = make_setup(
                plan.document,
                plan.inputs,
                plan.toolbox.specs,
                plan.model,
                plan.options,
                scores=scores,
            )
        if setup.price == "unknown" and setup.limits.cost not in (None, USUAL_COST):
            raise ModelError(
                "no-price",
                f"The run may cost {money(setup.limits.cost)}, but the price of {setup.model} is "
                "not known, so the limit could not hold.",
                "Enter the price in the connection, or leave the limit out.",
            )
        return Run(plan, setup)
    first = plan.past.events[0]
    if not isinstance(first, Started):
        raise ValueError("a journal begins with Started")
    return Run(plan, first.setup)
