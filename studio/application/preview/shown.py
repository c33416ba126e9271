"""A prompt as the preview shows it, for doors without a window: samples marked, secrets masked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from studio.application.document.checked_file import merged
from studio.application.preview.build import prepare_job
from studio.application.preview.value import PreviewJob
from studio.application.run.start.readiness import refusal_of
from studio.application.trust import is_trusted, references_of
from studio.core.agent.loop.setup import previewed_values, question_of, told_tools
from studio.core.agent.loop.tool_choice import choice_before_run
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.evaluation import evaluation_limits
from studio.core.prompty.prepare import Prepared, prepare
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.values import Json
from studio.core.tools.document import declared_tools
from studio.core.tools.trust.store import TrustStore
from studio.core.wire.draft import is_sendable


@dataclass(frozen=True, slots=True)
class ShownPrompt:
    """What the model would be told."""

    prepared: Prepared
    """The messages, samples in them."""

    tools: tuple[ToolSpec, ...]
    """The tools that go with them."""

    tool_choice: str
    """Which of how many tools these are, in words; empty where they are all."""


@evaluation_limits()
def shown_prompt(
    document: PromptDocument,
    values: Mapping[str, Json],
    offered: tuple[ToolSpec, ...] | None,
    trust: TrustStore,
) -> ShownPrompt:
    """The messages with samples where values are missing, and the tools that go with them.

    No run takes a sample; what a run is refused for is among the problems.

    Args:
        document: the prompt.
        values: the values that are given.
        offered: what the prompt's sources offer; None while only its own tools are known.
        trust: folders whose files and variables may be read.
    """
    trusted = is_trusted(document.source.path, trust)
    shown, every = prepare_job(PreviewJob(document, values, offered, trusted=trusted))
    filled = {name: shown.inputs[name] for name in shown.samples & shown.inputs.keys()}
    told = told_tools(document, shown.inputs, every)
    supplied, _ = previewed_values(document, values, told)
    context = references_of(document.source.path, trust, masked=True)
    prepared = prepare(document, {**filled, **supplied, **values}, references=context)
    refusal = refusal_of(document, values, context)
    refused = refusal.problems if refusal is not None and refusal.missing else ()
    problems = merged(refused, prepared.problems)
    prepared = replace(prepared, samples=shown.samples, problems=problems)
    named = {tool.name for tool in every}
    hoisted = declared_tools(document, prepared.messages.tools)
    added = (tool for tool in hoisted if tool.name not in named)
    # Sources that were asked stand for themselves: their declarations are no tools beside them.
    every = (*every, *(tool for tool in added if offered is None or is_sendable(tool)))
    told = told_tools(document, prepared.inputs, every)
    question = question_of(document, prepared.inputs)
    return ShownPrompt(prepared, told, choice_before_run(document, question, told, every))
