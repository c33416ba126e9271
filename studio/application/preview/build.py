"""Build a `Preview`: a pure function, run in the pool after every pause in typing.

It builds the messages and their cards. Request bodies, token counts, variables and the values
beside the text are computed from a preview by their own modules when a view shows them.
"""

from dataclasses import dataclass, replace

from studio.application.document.checked_file import merged, provider_problems
from studio.application.preview.variables import Preview, PreviewJob, cards, marked_cards
from studio.application.run.start.session import refusal_of
from studio.application.trust import is_trusted, references_of
from studio.core.agent.loop.setup import (
    choice_before_run,
    previewed_values,
    question_of,
    told_tools,
)
from studio.core.prompty.document import PromptDocument, ToolSpec, hides_text
from studio.core.prompty.evaluation import evaluation_limits
from studio.core.prompty.prepare import Prepared, prepare, settled_document
from studio.core.prompty.reference_values import references_beside
from studio.core.text.source import Problem
from studio.core.text.values import JsonObject
from studio.core.tools.document import declared_tools
from studio.core.tools.trust.store import TrustStore
from studio.core.wire.draft import is_sendable


def build_preview(job: PreviewJob) -> Preview:
    """Prepare the messages and build their cards. Never raises for any document."""
    prepared, offered = prepare_job(job)
    document = job.document
    # Errors after which the messages are not what the author intends.
    blockers = [problem for problem in document.problems if hides_text(problem)]
    blockers += [each for each in prepared.rendering.problems if each.severity == "error"]
    of_run = [each for each in prepared.problems if not _is_of_unused_connection(each, job)]
    found = dict.fromkeys((*blockers, *of_run, *document.problems))
    tools = told_tools(document, prepared.inputs, offered)
    sent, sent_tools = _sent(job) if prepared.samples else (prepared, tools)
    return Preview(
        document=document,
        job=job,
        prepared=prepared,
        newest=prepared,
        sent=sent,
        offered=offered,
        tools=tools,
        sent_tools=sent_tools,
        problems=tuple(found),
        cards=marked_cards(cards(document, prepared), sent.messages.messages, job.asked),
        is_stale=bool(blockers),
        revision=job.revision,
    )


def _is_of_unused_connection(problem: Problem, job: PreviewJob) -> bool:
    """Return whether a missing variable belongs to the prompt's connection, which no run uses."""
    if job.target.is_described or problem.code != "env-not-set":
        return False
    names = ("connection", "configuration")
    entries = (job.document.entry("model", name) for name in names)
    return any(
        entry is not None and entry.value.start <= problem.span.start <= entry.value.end
        for entry in entries
    )


def prepare_job(job: PreviewJob, *, samples: bool = True) -> tuple[Prepared, tuple[ToolSpec, ...]]:
    """Prepare the messages of a job and list every tool that a run would have.

    Args:
        job: the sources of the messages.
        samples: whether to include samples; without them, the messages are what a run sends now.
    """
    document, tools = job.document, job.tools
    context = references_beside(document.source.path, trusted=job.trusted, opened=job.opened)
    declared = settled_document(document, job.inputs, context)  # with the tools of other files
    if tools is None:  # the tools of a `tools:` section are known once the body is rendered
        shows_tools = any(each.name in ("tools", "tool_names") for each in document.variables)
        first = prepare(document, job.inputs, preview=True) if shows_tools else None
        tools = declared_tools(declared, first.messages.tools if first is not None else ())
    values, sampled = previewed_values(document, job.inputs, tools, job.protocol, samples=samples)
    given = {**values, **job.inputs}
    prepared = prepare(document, given, references=context, preview=True, samples=samples)
    prepared = replace(prepared, samples=prepared.samples | sampled)
    if job.tools is None:
        tools = declared_tools(declared, prepared.messages.tools)
    return prepared, tools


def sent_now(preview: Preview) -> tuple[Prepared, tuple[ToolSpec, ...]]:
    """Return the messages and tools of a run that starts now, without anything that needs trust."""
    job = preview.job
    if job.trusted or job.opened is None:
        return preview.sent, preview.sent_tools
    return _sent(replace(job, opened=None))


def _sent(job: PreviewJob) -> tuple[Prepared, tuple[ToolSpec, ...]]:
    prepared, offered = prepare_job(job, samples=False)
    return prepared, told_tools(job.document, prepared.inputs, offered)


def tool_choice(preview: Preview) -> str:
    """Describe how many of the tools are sent, and why; empty if all of them are."""
    question = question_of(preview.shown, preview.prepared.inputs)
    return choice_before_run(preview.shown, question, preview.tools, preview.offered)


def preview_problems(preview: Preview) -> tuple[Problem, ...]:
    """List the problems of a preview's document, its messages and its provider."""
    return tuple(dict.fromkeys((*preview.problems, *provider_problems(preview.newest))))


def keep_last_good(preview: Preview, last: Preview | None) -> Preview:
    """Return a broken preview with the messages of the last good one."""
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


# A prompt as the preview shows it, for the CLI and other clients: samples marked, secrets masked.


@dataclass(frozen=True, slots=True)
class ShownPrompt:
    """The messages and tools of a prompt."""

    prepared: Prepared
    """The messages, samples included."""

    tools: tuple[ToolSpec, ...]
    """The tools that are sent with them."""

    tool_choice: str
    """Which of the tools are sent, as text; empty if all of them are."""


@evaluation_limits()
def shown_prompt(
    document: PromptDocument,
    values: JsonObject,
    offered: tuple[ToolSpec, ...] | None,
    trust: TrustStore,
) -> ShownPrompt:
    """Return the messages, with samples where values are missing, and the tools sent with them.

    No run uses a sample; the problems include the reasons why a run would be refused.

    Args:
        document: the prompt.
        values: the given values.
        offered: the tools of the prompt's sources; None if only its own tools are known.
        trust: folders whose files and variables may be read.
    """
    trusted = is_trusted(document.source.path, trust)
    shown, every = prepare_job(PreviewJob(document, values, offered, trusted=trusted))
    filled = {name: shown.inputs[name] for name in shown.samples & shown.inputs.keys()}
    supplied, _ = previewed_values(document, values, told_tools(document, shown.inputs, every))
    context = references_of(document.source.path, trust, masked=True)
    prepared = prepare(document, {**filled, **supplied, **values}, references=context)
    settled = settled_document(document, values, context)
    refusal = refusal_of(settled, values)
    refused = refusal.problems if refusal is not None and refusal.missing else ()
    problems = merged(refused, prepared.problems)
    prepared = replace(prepared, samples=shown.samples, problems=problems)
    named = {tool.name for tool in every}
    hoisted = declared_tools(settled, prepared.messages.tools)
    added = (tool for tool in hoisted if tool.name not in named)
    # A source that was listed replaces its declaration: both would show the same tools twice.
    every = (*every, *(tool for tool in added if offered is None or is_sendable(tool)))
    told = told_tools(document, prepared.inputs, every)
    question = question_of(document, prepared.inputs)
    return ShownPrompt(prepared, told, choice_before_run(document, question, told, every))
