"""Making a `Preview`: a pure function, run in the pool at every pause in typing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from studio.application.document.findings import provider_problems
from studio.application.preview.card_list import cards
from studio.application.preview.inline_values import inline_values
from studio.application.preview.requests import request_previews
from studio.application.preview.target import target_of
from studio.application.preview.value import Preview, PreviewTarget, VariableRow
from studio.application.words import translate
from studio.core.agent.loop.first_step import first_step_values
from studio.core.agent.loop.setup import question_of
from studio.core.agent.loop.tool_choice import choice_before_run, chosen_tools
from studio.core.agent.protocols.choose import ProtocolChoice, choose_protocol
from studio.core.models.base import ModelRequest, ProtocolName
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.inputs import GivenInputs, resolve_inputs
from studio.core.prompty.loop_format import question_input
from studio.core.prompty.prepare import Prepared, prepare
from studio.core.prompty.readable import hides_text
from studio.core.prompty.reference_values import references_beside
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.problem import Problem
from studio.core.text.span import Span
from studio.core.text.values import Json
from studio.core.tokens.conversation import ConversationTokens, count_conversation
from studio.core.tokens.tokenizers import Tokenizers
from studio.core.tools.document import declared_tools
from studio.core.wire.request import provider_of

_tr = partial(translate, "PreviewBuild")


@dataclass(frozen=True, slots=True)
class PreviewJob:
    """Everything that a preview is made from."""

    document: PromptDocument
    """The document."""

    inputs: Mapping[str, Json] = field(default_factory=dict)
    """The values given, by name."""

    tools: tuple[ToolSpec, ...] | None = None
    """The tools that a run would have; `None` while only the document's own are known."""

    target: PreviewTarget = field(default_factory=PreviewTarget)
    """The model that a run would be sent to."""

    tokenizers: Tokenizers = field(default_factory=Tokenizers)
    """Count the tokens."""

    revision: int = 0
    """Number of the order."""

    protocol: ProtocolName | None = None
    """The protocol chosen for runs; `None` for the document's own."""

    trusted: bool = True
    """Whether the prompt's folder is trusted; of another no variable and no file is looked at."""

    opened: Path | None = None
    """The folder that the user opened: text files below it are shown before it is trusted."""


def build_preview(order: PreviewJob) -> Preview:
    """Prepare the messages and write the request bodies. Never raises for any document."""
    document = order.document
    prepared, tools = prepare_order(order)
    model = prepared.document.model
    if order.target.model_id:
        model = replace(model, id=order.target.model_id)
    blockers = _blockers(document, prepared)
    protocol = choose_protocol(prepared.document)
    if order.protocol is not None and order.protocol != protocol.protocol:
        protocol = ProtocolChoice(order.protocol, _tr("chosen for this run"))
    tokens = _tokens(order, prepared, tools, model.id, protocol.protocol)
    found = (*blockers, *prepared.problems, *provider_problems(prepared), *document.problems)
    preview = Preview(
        document=document,
        messages=prepared.messages,
        resolved=prepared.document,
        shown=document,
        tools=tuple(tools),
        tool_choice=choice_before_run(
            document, question_of(document, prepared.inputs), every_tool(order, prepared)
        ),
        requests=request_previews(prepared, tools, model, protocol, order.target),
        provider=order.target.provider or provider_of(model),
        variables=variable_rows(document, order.inputs, prepared, tokens.by_input),
        problems=tuple(dict.fromkeys(found)),
        tokens=tokens,
        target=target_of(order.target, model.id),
        protocol=protocol.protocol,
        inline=inline_values(document, prepared.inputs, prepared.samples),
        samples=prepared.samples,
        is_stale=bool(blockers),
        revision=order.revision,
    )
    return replace(preview, cards=cards(preview))


def prepare_order(order: PreviewJob) -> tuple[Prepared, tuple[ToolSpec, ...]]:
    """The messages of an order, and the tools that go with them."""
    document = order.document
    tools = order.tools if order.tools is not None else declared_tools(document, ())
    path, opened = document.source.path, order.opened
    context = references_beside(path, trusted=order.trusted, opened=opened)
    supplied, samples = supplied_values(order, tools)
    given = {**supplied, **order.inputs}
    prepared = prepare(document, given, references=context, preview=True)
    prepared = replace(prepared, samples=prepared.samples | samples)
    question = question_of(document, prepared.inputs)
    return prepared, chosen_tools(document, question, every_tool(order, prepared))


def every_tool(order: PreviewJob, prepared: Prepared) -> tuple[ToolSpec, ...]:
    """The tools of an order, also those that the model would not be told of."""
    if order.tools is not None:
        return order.tools
    return declared_tools(order.document, prepared.messages.tools)


def _tokens(
    order: PreviewJob,
    prepared: Prepared,
    tools: tuple[ToolSpec, ...],
    model_id: str,
    protocol: ProtocolName,
) -> ConversationTokens:
    """What the conversation costs, by the best counter that is at hand."""
    messages, target = prepared.messages.messages, order.target
    if target.is_embedded and target.weights is not None:
        own = order.tokenizers.embedded(target.weights)
        request = ModelRequest(messages=messages, tools=tools, protocol=protocol)
        if own is not None and (counted := own.count(request)) is not None:
            return counted
    counter = order.tokenizers.counter("" if target.is_embedded else model_id)
    tokens = count_conversation(messages, tools if protocol == "native" else (), counter)
    failure = order.tokenizers.failure(model_id)
    return replace(tokens, why_estimated=failure) if failure else tokens


def keep_last_good(preview: Preview, last: Preview | None) -> Preview:
    """A preview that cannot be trusted, with the messages of the last one that could."""
    if not preview.is_stale or last is None:
        return preview
    return replace(
        last,
        document=preview.document,
        problems=preview.problems,
        inline=preview.inline,
        is_stale=True,
        revision=preview.revision,
    )


def variable_rows(
    document: PromptDocument,
    given: Mapping[str, Json],
    prepared: Prepared,
    counted: Mapping[str, int],
) -> tuple[VariableRow, ...]:
    """Every variable: the declared in order, then the others and parameters in order of use."""
    uses: dict[str, list[Span]] = {}
    for variable in document.variables:
        uses.setdefault(variable.name, []).append(variable.span)
    for parameter in document.parameters:
        uses.setdefault(parameter.name, []).extend(parameter.uses)
    declared = {item.name: item for item in document.inputs if item.name}
    origins = resolve_inputs(prepared.document, given).origins
    rows = []
    for name in dict.fromkeys((*declared, *uses)):
        item = declared.get(name)
        used = tuple(uses.get(name, ()))
        place = (item.name_span or item.span) if item else None
        rows.append(
            VariableRow(
                name=name,
                value=prepared.inputs.get(name),
                given=given.by_name.get(name) if isinstance(given, GivenInputs) else None,
                origin=origins.get(name, "reserved" if name in prepared.inputs else "missing"),
                declared=item is not None or document.parameter(name) is not None,
                uses=tuple(sorted(used)),
                place=place or (used[0] if used else None),
                tokens=counted.get(name, 0),
            )
        )
    return tuple(rows)


def supplied_values(
    order: PreviewJob, tools: Sequence[ToolSpec]
) -> tuple[dict[str, Json], frozenset[str]]:
    """What the loop puts into the first call, and which of it only stands for a sample.

    What a run has only later (its history) keeps the sample, by which an author sees the form.
    """
    document = order.document
    resolution = resolve_inputs(document, order.inputs)
    shown, samples = resolution.shown, resolution.samples
    named = {item.name for item in document.inputs} | {question_input(document)}
    filled = {name: shown[name] for name in named & shown.keys()}
    protocol = order.protocol
    values = first_step_values(document, {**filled, **order.inputs}, tools, protocol)
    used = {variable.name for variable in document.variables}
    later = _LATER if tools else _LATER | {"tools", "tool_names"}
    values = {name: each for name, each in values.items() if name in used - later}
    is_sample = question_input(document) in samples
    of_it = {"question", "input", "chat_history"} if is_sample else set()
    return values, frozenset(of_it & values.keys())


_LATER = frozenset({"history", "agent_scratchpad"})


def _blockers(document: PromptDocument, prepared: Prepared) -> tuple[Problem, ...]:
    """Errors after which the messages are not what the author means."""
    unreadable = filter(hides_text, document.problems)
    rendering = [item for item in prepared.rendering.problems if item.severity == "error"]
    return (*unreadable, *rendering)


def with_tokens(preview: Preview, tokens: ConversationTokens) -> Preview:
    """The same preview with other figures, as when the model's own tokenizer has answered."""
    rows = tuple(replace(row, tokens=tokens.by_input.get(row.name, 0)) for row in preview.variables)
    counted = replace(preview, tokens=tokens, variables=rows)
    return replace(counted, cards=cards(counted))
