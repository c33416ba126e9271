"""Export as prompt files: unchanged, and in each dialect; each is verified by reading it again."""

import re
import string
from collections.abc import Callable
from dataclasses import replace
from typing import Literal, TypeAlias

from studio.core.agent.loop.setup import stop_sequences
from studio.core.agent.protocols.loops import choose_protocol
from studio.core.export.sent import SentRequest, compare_rounds, sent_by_studio
from studio.core.export.target import ExportResult, ExportSource, RoundTrip, result, unique
from studio.core.models.remote.sdk import option_names
from studio.core.prompty.convert.compare import RUNTIMES
from studio.core.prompty.convert.whole import convert
from studio.core.prompty.document import Dialect, PromptDocument, TemplateFormat
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import Prepared
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.prompty.runtimes.prompty2 import CannotRender, RuntimeRefusal, render_chevron
from studio.core.prompty.templates import render_template
from studio.core.prompty.templates.writer import LIMIT
from studio.core.text.source import Problem, Severity, Span
from studio.core.text.values import JsonObject, object_of

# Verifies that a prompt file gives the same requests as the prompt, for every input set.

NOT_UTF8 = "export-not-utf8"


def utf8_problem(text: str) -> Problem | None:
    """Return a problem if a text cannot be encoded as UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return Problem(
            NOT_UTF8,
            Severity.ERROR,
            f"The character {text[error.start]!r} cannot be written to a file; remove it.",
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
    """Compare the requests of a prompt file that was read again with those of the prompt.

    Tools from sources are not compared, only the prompt's own.

    Args:
        again: The file, or its text at the prompt's own place.
        source: The prompt.
        references: Resolver for the file's references; None for the prompt's.
        runtime: Dialect whose program renders the file. It gets the given values and those of
            declared inputs, but no variables that a run adds.
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
        RuntimeRefusal: `prompty` 2.1 passes the messages to the client and builds no request.
    """
    model = document.model
    if model.api_type in ("embedding", "image"):
        raise RuntimeRefusal(
            f"it sends messages to the API for {model.api_type}, which accepts none"
        )
    provider = model.provider.lower()
    if provider not in _PROVIDERS:
        raise RuntimeRefusal(
            f"it has no provider {model.provider!r}, only {', '.join(_PROVIDERS[2:])}"
        )
    further = object_of(model.options.get("additionalProperties"))
    is_reasoning = _REASONING.match(model.id.lower()) is not None
    names = {"topK": "top_k"} | ({"reasoningEffort": "reasoning_effort"} if is_reasoning else {})
    asked = further.keys() | {name for key, name in names.items() if key in model.options}
    if asked and provider != "anthropic":
        unknown = asked.difference(option_names(model.api_type))
        if unknown:
            raise RuntimeRefusal(f"the openai package has no option {', '.join(sorted(unknown))}")
    # The studio asks providers of Responses not to store anything.
    dropped = {key for key in ("store", "include") if key not in further}
    if not is_reasoning:
        dropped.add("reasoning_effort")
    if is_reasoning or provider == "anthropic":
        dropped |= _SAMPLING
    body = {key: item for key, item in sent.body.items() if key not in dropped}
    return replace(sent, body={**body, **({"stream": True} if further.get("stream") else {})})


_PROVIDERS = ("", "*", "openai", "azure", "foundry", "anthropic")
"""Providers that prompty 2.1 supports; a file without one is given one."""

_REASONING = re.compile(r"[./]*(?:o[1-9]|gpt-5)")
_SAMPLING = {"temperature", "top_p", "top_k", "frequency_penalty", "presence_penalty"}
"""Options that prompty 2.1 omits for OpenAI's reasoning models, and for Anthropic."""


def prompt_file(source: ExportSource) -> ExportResult:
    """Return the text in the editor; an error in the document itself blocks it.

    Problems of the current inputs (a missing value) are reported and do not block it.
    """
    document = source.document
    text = document.source.text
    fault = utf8_problem(text)
    if fault is not None:
        return result(text, (*source.problems, fault), before=text)
    proof = result(text, document.problems, (), prompt_rounds(text, source), before=text)
    return replace(proof, problems=unique((*source.problems, *proof.problems)))


_NOWHERE = Span(0, 0)


def dialect_file(dialect: Dialect, source: ExportSource) -> ExportResult:
    """Return the converted text; anything that the dialect cannot express is a loss."""
    document = source.document
    made = convert(document, dialect, source.references)
    fault = utf8_problem(made.text)
    if fault is not None:
        return result(made.text, (*document.problems, fault), before=document.source.text)
    after = parse(made.text, document.source.path)
    own = {(item.code, item.message) for item in document.problems}
    faults = [
        replace(item, span=item.span if made.text == document.source.text else _NOWHERE)
        for item in after.problems
        if item.severity is Severity.ERROR and (item.code, item.message) not in own
    ]
    judge = ""
    loop: tuple[str, ...] = ()
    if dialect in RUNTIMES:
        judge, _ = RUNTIMES[dialect]
        stop = stop_sequences(document, choose_protocol(document).protocol)
        if stop and not document.model.options.get("stopSequences"):
            loop = (
                f"The stop sequences {list(stop)!r} belong to the studio's loop: {judge} sends "
                "none. Write them under model.options.stopSequences.",
            )
    # Problems of messages are reported with the rounds, which name the input sets.
    notes = [note for note in (*made.notes, *made.losses) if note not in made.of_messages]
    return result(
        made.text,
        (*source.document.problems, *faults),
        (*notes, *loop),
        prompt_rounds(after, source, runtime=dialect if judge else None),
        before=document.source.text,
        judge=judge,
    )


# Renderers of the programs that read an export; verification uses the same.

Render: TypeAlias = Callable[[str, JsonObject], str]
"""Function that renders a text with values; raises `CannotRender`."""


def check_bounds(prepared: Prepared) -> None:
    """Refuse a template stopped by the studio's limits, which other programs do not have.

    Raises:
        CannotRender: a limit stopped the template.
    """
    for problem in prepared.problems:
        if problem.code == LIMIT:
            raise CannotRender(problem.message)


def script_renderer(form: TemplateFormat) -> Render:
    """Return the renderer of an exported script, which strips line breaks at both ends."""
    match form:
        case "jinja2":
            inner = _jinja("script")
        case "mustache":
            inner = render_chevron
        case "fstring":
            inner = _studio_fstring
    return lambda template, values: inner(template, values).strip("\r\n")


def langchain_renderer(form: TemplateFormat) -> Render:
    """Return LangChain's renderer: plain Jinja2, its copy of chevron, or `str.format`."""
    match form:
        case "jinja2":
            return _jinja("plain")
        case "mustache":
            return render_chevron
        case "fstring":
            return _str_format


def nunjucks_renderer() -> Render:
    """Return promptfoo's renderer: Nunjucks' part of Jinja2, with JavaScript's values."""
    return _jinja("nunjucks")


def _jinja(setup: Literal["plain", "script", "nunjucks"]) -> Render:
    def render(template: str, values: JsonObject) -> str:
        # Importing Jinja takes about 60 ms: not before the window is painted.
        from studio.core.prompty.templates.jinja.stock import StockRenderError, render_stock

        try:
            return render_stock(template, values, as_=setup)
        except StockRenderError as error:
            raise CannotRender(str(error)) from error

    return render


def _studio_fstring(template: str, values: JsonObject) -> str:
    rendering = render_template(template, values, format="fstring")
    return "".join(segment.text for segment in rendering.segments)


def _str_format(template: str, values: JsonObject) -> str:
    try:
        return string.Formatter().vformat(template, (), values)
    except (KeyError, IndexError, ValueError, AttributeError, TypeError) as error:
        raise CannotRender(f"{type(error).__name__}: {error}") from error
