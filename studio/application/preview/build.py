"""Making a `Preview`: a pure function, run in the pool at every pause in typing.

It makes the messages and their cards. Bodies, token counts, variables and the values beside the
text are made of a preview by the module of each, when something shows them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from studio.application.document.findings import provider_problems
from studio.application.preview.card_list import cards
from studio.application.preview.value import Preview, PreviewJob
from studio.core.agent.loop.first_step import first_step_values, previewed_values
from studio.core.agent.loop.setup import question_of
from studio.core.agent.loop.tool_choice import choice_before_run, chosen_tools
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.messages import Message
from studio.core.prompty.prepare import Prepared, prepare
from studio.core.prompty.readable import hides_text
from studio.core.prompty.reference_values import references_beside
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.problem import Problem
from studio.core.text.values import Json
from studio.core.tools.document import declared_tools


def build_preview(job: PreviewJob) -> Preview:
    """Prepare the messages and make their cards. Never raises for any document."""
    prepared, offered = prepare_job(job)
    document = job.document
    # Errors after which the messages are not what the author means.
    blockers = [problem for problem in document.problems if hides_text(problem)]
    blockers += [each for each in prepared.rendering.problems if each.severity == "error"]
    found = dict.fromkeys((*blockers, *prepared.problems, *document.problems))
    return Preview(
        document=document,
        job=job,
        prepared=prepared,
        newest=prepared,
        offered=offered,
        tools=told_tools(document, prepared, offered),
        problems=tuple(found),
        cards=cards(document, prepared),
        is_stale=bool(blockers),
        revision=job.revision,
    )


def prepare_job(job: PreviewJob) -> tuple[Prepared, tuple[ToolSpec, ...]]:
    """Make the messages of a job, and list every tool that a run would have."""
    document = job.document
    declared = job.tools if job.tools is not None else declared_tools(document, ())
    values, samples = previewed_values(document, job.inputs, declared, job.protocol)
    prepared = _prepare(job, values)
    prepared = replace(prepared, samples=prepared.samples | samples)
    if job.tools is not None:
        return prepared, job.tools
    return prepared, declared_tools(document, prepared.messages.tools)


def _prepare(job: PreviewJob, values: Mapping[str, Json], *, samples: bool = True) -> Prepared:
    path = job.document.source.path
    context = references_beside(path, trusted=job.trusted, opened=job.opened)
    given = {**values, **job.inputs}
    return prepare(job.document, given, references=context, preview=True, samples=samples)


def messages_sent(job: PreviewJob, offered: Sequence[ToolSpec]) -> tuple[Message, ...]:
    """Make the messages that a run would send now: the same, without samples."""
    values = first_step_values(job.document, job.inputs, offered, job.protocol)
    return _prepare(job, values, samples=False).messages.messages


def told_tools(
    document: PromptDocument, prepared: Prepared, offered: Sequence[ToolSpec]
) -> tuple[ToolSpec, ...]:
    """Choose the tools that the model would be told of."""
    return chosen_tools(document, question_of(document, prepared.inputs), offered)


def tool_choice(preview: Preview) -> str:
    """Say which of how many tools these are, and why; empty where they are all."""
    question = question_of(preview.shown, preview.prepared.inputs)
    return choice_before_run(preview.shown, question, preview.tools, preview.offered)


def preview_problems(preview: Preview) -> tuple[Problem, ...]:
    """List the problems of a preview's document and messages, and of its provider."""
    return tuple(dict.fromkeys((*preview.problems, *provider_problems(preview.newest))))


def keep_last_good(preview: Preview, last: Preview | None) -> Preview:
    """A preview that cannot be trusted, with the messages of the last one that could."""
    if not preview.is_stale or last is None:
        return preview
    return replace(
        last,
        document=preview.document,
        newest=preview.newest,
        problems=preview.problems,
        is_stale=True,
        revision=preview.revision,
    )
