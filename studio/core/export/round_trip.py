"""Proves that a prompt file makes the request of the prompt in the editor, for every input set."""

from __future__ import annotations

from dataclasses import replace

from studio.core.export.sent import SentRequest, compare_rounds, sent_by_studio
from studio.core.export.target import ExportSource, RoundTrip
from studio.core.prompty.convert.compare import RUNTIMES
from studio.core.prompty.document import Dialect, PromptDocument
from studio.core.prompty.parse import parse
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.prompty.runtimes.prompty2 import RuntimeRefusal
from studio.core.text.problem import Problem, Severity
from studio.core.text.span import Span
from studio.core.text.values import object_of

NOT_UTF8 = "export-not-utf8"


def utf8_problem(text: str) -> Problem | None:
    """The problem of a text that no UTF-8 file can hold."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return Problem(
            NOT_UTF8,
            Severity.ERROR,
            f"The character {text[error.start]!r} cannot be written to a file; take it out.",
            Span(error.start, error.end),
        )
    return None


def prompt_rounds(
    again: str | PromptDocument,
    source: ExportSource,
    *,
    references: ReferenceContext | None = None,
    runtime: Dialect | None = None,
) -> tuple[RoundTrip, ...]:
    """Compare the request of a prompt file that is read again with that of the prompt.

    What its sources offer beside the tools of the prompt is no matter of the file.

    Args:
        again: The file, or its text at the prompt's own place.
        source: The prompt.
        references: Where the file's references find their values; None for those of the prompt.
        runtime: Dialect whose program renders the file. It gets what its user gives: the values
            that were given here and those of declared inputs, and nothing that a run supplies.
    """
    document = parse(again, source.document.source.path) if isinstance(again, str) else again

    def read(each: ExportSource) -> SentRequest:
        copy = replace(
            each,
            document=document,
            inputs=each.prepared.inputs,
            references=references or each.references,
        )
        if runtime is None:
            return sent_by_studio(copy)
        known = {item.name for item in copy.prepared.document.inputs} | each.inputs.keys()
        values = {key: value for key, value in copy.prepared.inputs.items() if key in known}
        _, prepare_as_runtime = RUNTIMES[runtime]
        messages = prepare_as_runtime(replace(copy.prepared, inputs=values))
        sent = sent_by_studio(copy, messages=messages)
        return _of_prompty2(sent, document) if runtime == "prompty" else sent

    declared = replace(source, tools=None)
    if runtime is None:
        return compare_rounds(declared, read)
    program = RUNTIMES[runtime][0]
    rounds = compare_rounds(declared, read, loose=runtime == "legacy", program=program)
    return tuple(
        each
        if each.is_same or each.difference.startswith(program)
        else replace(each, difference=f"in {program}, {each.difference}")
        for each in rounds
    )


def _of_prompty2(sent: SentRequest, document: PromptDocument) -> SentRequest:
    """Return a request as Prompty's own runtime sends it.

    Raises:
        RuntimeRefusal: it has no such request (`prompty` 2.1 gives its messages to the client).
    """
    model = document.model
    if model.api_type in ("embedding", "image"):
        raise RuntimeRefusal(f"it gives messages to the API for {model.api_type}, which takes none")
    further = object_of(model.options.get("additionalProperties"))
    own = ("store", "include")  # the studio asks providers of Responses to keep nothing
    body = {key: item for key, item in sent.body.items() if key not in own or key in further}
    streams = {"stream": True} if further.get("stream") else {}
    return replace(sent, body={**body, **streams})
