"""From a prompt and what it works with to a run that can be driven."""

from __future__ import annotations

from collections.abc import Mapping

from studio.core.agent.loop.calls import NoTools, RunToolbox
from studio.core.agent.loop.setup import make_setup
from studio.core.agent.past.replay import Reenactment
from studio.core.agent.run.plan import OnEvent, OnStream, RunPlan
from studio.core.agent.run.runner import Run
from studio.core.agent.values.options import RunOptions
from studio.core.models.base import ChatModel
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.text.values import Json


def start_run(
    document: PromptDocument,
    inputs: Mapping[str, Json],
    model: ChatModel,
    toolbox: RunToolbox | None = None,
    options: RunOptions | None = None,
    *,
    run: str | None = None,
    journal: OnEvent | None = None,
    shown: OnEvent | None = None,
    stream: OnStream | None = None,
    references: ReferenceContext | None = None,
    reenactment: Reenactment | None = None,
) -> Run:
    """A run of a prompt, ready for `await run.go()`.

    Args:
        document: the prompt.
        inputs: values by input name.
        model: what answers.
        toolbox: the tools; none where None.
        options: how it goes.
        run: its id; made here where None.
        journal: writes each fact before anything else sees it.
        shown: told of each fact once the state has moved.
        stream: told of each delta of a reply.
        references: where `${…}` references find their values, and what masks these.
        reenactment: a run of the past that is gone through again.
    """
    tools = toolbox if toolbox is not None else NoTools()
    chosen = options if options is not None else RunOptions()
    setup = make_setup(document, inputs, tools.specs, model, chosen, run=run)
    plan = RunPlan(
        document,
        inputs,
        model,
        tools,
        options=chosen,
        references=references,
        reenactment=reenactment,
        journal=journal,
        shown=shown,
        stream=stream,
    )
    return Run(plan, setup)
