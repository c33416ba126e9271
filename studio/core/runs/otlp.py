"""A run as OpenTelemetry spans in OTLP's JSON form, after the GenAI semantic conventions.

One `invoke_agent` span, under it a `chat` span for each model call and an `execute_tool` span for
each tool call that ran. Ids are hex and times nanoseconds as text, as in OTLP's JSON form.
"""

import contextlib
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias
from urllib.parse import urlsplit

from studio.core.agent.loop.machine import fold
from studio.core.agent.loop.steps import messages_of
from studio.core.agent.values.events import Event
from studio.core.agent.values.state import RunState, steps_of
from studio.core.agent.values.step import Call, RunModel, Step
from studio.core.masking.redact import redact
from studio.core.prompty.document import MediaPart, Message, TextPart, ToolCallPart, ToolResultPart
from studio.core.text.values import Json, JsonDict, JsonObject, parse_json
from studio.core.wire.reply import Reply
from studio.core.wire.wire_call import CallLookup, WireCall, no_call

# Names of the GenAI semantic conventions: of version 1.41, and of their own later repository.

_OPERATION = "gen_ai.operation.name"
_OUTPUT = "gen_ai.output.messages"


@dataclass(frozen=True, slots=True)
class GenAINames:
    """One version of the conventions, as differences from the attributes of 1.41."""

    schema_url: str
    renamed: Mapping[str, str] = field(default_factory=dict)
    """New names by old name."""

    gone: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Operations that no longer have an attribute, by attribute; empty for all operations."""

    tells_finish_in_messages: bool = True
    """Whether an output message contains its finish reason; else only the reply's attribute
    does.
    """

    def named(self, attributes: JsonObject) -> JsonDict:
        """Return the attributes of a span under the names of this version."""
        operation = attributes.get(_OPERATION)
        kept = {
            self.renamed.get(name, name): value
            for name, value in attributes.items()
            if name not in self.gone or (self.gone[name] and operation not in self.gone[name])
        }
        output = kept.get(_OUTPUT)
        if not self.tells_finish_in_messages and isinstance(output, str):
            kept[_OUTPUT] = _without_finish(output)
        return kept


def _without_finish(output: str) -> str:
    messages = [
        {name: value for name, value in message.items() if name != "finish_reason"}
        for message in json.loads(output)
    ]
    return json.dumps(messages, ensure_ascii=False)


GENAI_1_41 = GenAINames("https://opentelemetry.io/schemas/1.41.0")
"""The last version in OpenTelemetry's own repository, with the provider's older name as well."""

GENAI_0_1 = GenAINames(
    "https://opentelemetry.io/schemas/gen-ai/0.1.0",
    renamed={"gen_ai.usage.cache_creation.input_tokens": "gen_ai.usage.cache_write.input_tokens"},
    gone={
        "gen_ai.system": frozenset(),
        "gen_ai.provider.name": frozenset({"invoke_agent"}),
    },
    tells_finish_in_messages=False,
)
"""The first version in the conventions' own repository."""


_INTERNAL, _CLIENT = 1, 3
_ERROR = 2

_Attributes: TypeAlias = dict[str, "Json"]


class _Span(NamedTuple):
    """A span before its attributes are named."""

    fields: JsonDict
    attributes: _Attributes


def otlp(
    events: Sequence[Event],
    version: str,
    names: GenAINames = GENAI_1_41,
    call_of: CallLookup = no_call,
) -> JsonDict:
    """Return the spans of a branch: `events` is `tree.branch_path` of its last event.

    Args:
        events: The branch, from `Started`.
        version: The studio's version.
        names: Version of the conventions for the attributes.
        call_of: Returns the wire call of a model call.
    """
    state = fold(events)
    trace, root = trace_id(state.setup.run), root_span_id(state.setup.run)
    made = [_root(state, trace, root, events[0].at, events[-1].at)]
    for step in steps_of(state):
        made += _step_spans(state, step, trace, root, call_of(step.called))
    resource = {
        "attributes": attributes_of({"service.name": "prompt-studio", "service.version": version})
    }
    scope: Json = {"name": "prompt_studio.runs", "version": version}
    listed: list[Json] = [
        {**span.fields, "attributes": attributes_of(names.named(span.attributes))} for span in made
    ]
    scoped: Json = {"scope": scope, "spans": listed, "schemaUrl": names.schema_url}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [scoped]}]}


def trace_id(run: str) -> str:
    """Return the trace id of a run, as hex."""
    return _id(run, 32)


def root_span_id(run: str) -> str:
    """Return the span id of the whole run, as hex."""
    return _id(f"{run}/root", 16)


def _root(state: RunState, trace: str, span: str, began: float, ended: float) -> _Span:
    setup = state.setup
    attributes: _Attributes = {
        "gen_ai.operation.name": "invoke_agent",
        **_where(setup.answered_by),
        "gen_ai.agent.name": setup.prompt or "prompt",
        "gen_ai.conversation.id": setup.run,
        "gen_ai.usage.input_tokens": state.usage.input_tokens,
        "gen_ai.usage.output_tokens": state.usage.output_tokens,
        "prompt_studio.protocol": setup.protocol,
        "prompt_studio.status": state.status,
        "prompt_studio.iterations": state.iteration,
    }
    if state.answer is not None:
        part: Json = {"type": "text", "content": state.answer}
        attributes["gen_ai.output.messages"] = _text([{"role": "assistant", "parts": [part]}])
    wrong = ""
    if state.error is not None and state.status != "done":
        attributes["error.type"] = state.error.code
        wrong = state.error.message
    name = f"invoke_agent {setup.prompt}".strip()
    return _span(name, _INTERNAL, trace, span, "", (began, ended), attributes, wrong)


def _where(model: RunModel) -> _Attributes:
    """Return model, provider and server under the names that back ends group by.

    `gen_ai.system` is the provider's older name, the only one for back ends before 1.37.
    """
    provider = model.provider or "prompt_studio"
    found: _Attributes = {
        "gen_ai.provider.name": provider,
        "gen_ai.system": provider,
        "gen_ai.request.model": model.id or model.name,
    }
    if model.server:
        found["server.address"] = model.server
        with contextlib.suppress(ValueError):  # a journal may contain an invalid URL
            address = urlsplit(model.server)
            port = address.port or {"https": 443, "http": 80}.get(address.scheme)
            found["server.address"] = address.hostname or model.server
            if port is not None:
                found["server.port"] = port
    return found


def _step_spans(
    state: RunState, step: Step, trace: str, root: str, sent: WireCall | None
) -> list[_Span]:
    made: list[_Span] = []
    run = state.setup.run
    if step.model_span is not None:
        span = _id(f"{run}/{step.number}", 16)
        error = state.error if step is state.step and state.status != "done" else None
        failed = error if error is not None and error.kind == "model" else None
        attributes = _chat(state, step) | _answer(sent)
        if failed is not None:
            attributes["error.type"] = failed.code
        asked = step.model or state.setup.answered_by
        name = f"chat {asked.id or asked.name}".strip()
        made.append(
            _span(
                name,
                _CLIENT,
                trace,
                span,
                root,
                step.model_span,
                attributes,
                failed.message if failed is not None else "",
            )
        )
    for row, call in enumerate(step.calls):
        if call.began:
            span = _id(f"{run}/{step.number}/{row}", 16)
            wrong = (call.observation or "the tool failed") if call.is_error else ""
            made.append(
                _span(
                    f"execute_tool {call.tool}",
                    _INTERNAL,
                    trace,
                    span,
                    root,
                    call.span,
                    _tool(call, step.number),
                    wrong,
                )
            )
    return made


def _chat(state: RunState, step: Step) -> _Attributes:
    setup = state.setup
    attributes: _Attributes = {
        "gen_ai.operation.name": "chat",
        **_where(step.model or setup.answered_by),
        "gen_ai.conversation.id": setup.run,
        "prompt_studio.iteration": step.number,
        "prompt_studio.attempt": step.attempt,
        "gen_ai.input.messages": _text(
            [_message(each) for each in messages_of(state, step.number)]
        ),
    }
    if step.reply_origin != "live":
        attributes["prompt_studio.reply.origin"] = step.reply_origin
    if step.marks:
        attributes["prompt_studio.marks"] = sorted(step.marks)
    if step.touches:
        attributes["prompt_studio.touches"] = [touch.line for touch in step.touches]
    if setup.tools and setup.protocol == "native":
        attributes["gen_ai.tool.definitions"] = _text(
            [
                {
                    "type": "function",
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                }
                for tool in setup.tools
            ]
        )
    if setup.stop:
        attributes["gen_ai.request.stop_sequences"] = list(setup.stop)
    for name, key in (
        ("temperature", "temperature"),
        ("topP", "top_p"),
        ("maxOutputTokens", "max_tokens"),
        ("seed", "seed"),
    ):
        value = setup.options.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            attributes[f"gen_ai.request.{key}"] = value
    reply = step.reply or step.partial
    if reply is not None:
        attributes |= _reply(reply)
    return attributes


def _answer(call: WireCall | None) -> _Attributes:
    """Return the server's id of its response."""
    found: _Attributes = {}
    if call is not None and call.model:
        found["gen_ai.response.model"] = call.model
    if call is not None and call.id:
        found["gen_ai.response.id"] = call.id
    return found


def _reply(reply: Reply) -> _Attributes:
    parts: list[Json] = []
    if reply.reasoning:
        parts.append({"type": "reasoning", "content": reply.reasoning})
    if reply.text or reply.refusal:
        parts.append({"type": "text", "content": reply.text or reply.refusal})
    for call in reply.tool_calls:
        parts.append(
            {
                "type": "tool_call",
                "id": call.id,
                "name": call.name,
                "arguments": _arguments(call.arguments),
            }
        )
    reason = {"tool_calls": "tool_call"}.get(reply.finish_reason or "", reply.finish_reason)
    message: JsonDict = {"role": "assistant", "parts": parts}
    attributes: _Attributes = {}
    if reason is not None:
        message["finish_reason"] = reason
        attributes["gen_ai.response.finish_reasons"] = [reply.finish_reason or ""]
    attributes["gen_ai.output.messages"] = _text([message])
    if reply.usage is not None:
        attributes["gen_ai.usage.input_tokens"] = reply.usage.input_tokens
        attributes["gen_ai.usage.output_tokens"] = reply.usage.output_tokens
        if reply.usage.cost is not None:
            attributes["gen_ai.usage.cost"] = reply.usage.cost
        if reply.usage.cached_tokens:
            attributes["gen_ai.usage.cache_read.input_tokens"] = reply.usage.cached_tokens
        if reply.usage.cache_write_tokens:
            attributes["gen_ai.usage.cache_creation.input_tokens"] = reply.usage.cache_write_tokens
        if reply.usage.reasoning_tokens:
            attributes["gen_ai.usage.reasoning.output_tokens"] = reply.usage.reasoning_tokens
    return attributes


def _tool(call: Call, number: int) -> _Attributes:
    attributes: _Attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.tool,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": call.id,
        "gen_ai.tool.call.arguments": _text(dict(call.arguments or {})),
        "prompt_studio.iteration": number,
    }
    if call.observation is not None:
        attributes["gen_ai.tool.call.result"] = redact(call.observation)
    if call.origin != "live":
        attributes["prompt_studio.result.origin"] = call.origin
    if call.is_error:
        attributes["error.type"] = call.error or "tool"
    return attributes


def _message(message: Message) -> JsonDict:
    parts: list[Json] = []
    for part in message.parts:
        match part:
            case TextPart(text=text):
                parts.append({"type": "text", "content": text})
            case ToolCallPart():
                parts.append(
                    {
                        "type": "tool_call",
                        "id": part.id,
                        "name": part.name,
                        "arguments": _arguments(part.arguments),
                    }
                )
            case ToolResultPart(text=text):
                parts.append(
                    {
                        "type": "tool_call_response",
                        "id": message.attributes.get("tool_call_id"),
                        "response": text,
                    }
                )
            case MediaPart(kind=kind):
                parts.append({"type": "uri", "modality": kind, "uri": _short(part.source)})
    return {"role": message.role, "parts": parts}


def _short(source: str) -> str:
    """Return the URL of a medium, without embedded data, which would enlarge the trace."""
    return source if not source.startswith("data:") else source[: source.find(",") + 1] + "…"


def _arguments(text: str) -> Json:
    try:
        value = parse_json(text)
    except ValueError:
        return text
    return value


def _text(value: Json) -> str:
    """Return a value as JSON text, which spans contain instead of structured attributes."""
    return json.dumps(redact(value), ensure_ascii=False)


def _id(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def _span(
    name: str,
    kind: int,
    trace: str,
    span: str,
    parent: str,
    when: tuple[float, float],
    attributes: _Attributes,
    wrong: str,
) -> _Span:
    made: JsonDict = {"traceId": trace, "spanId": span}
    if parent:
        made["parentSpanId"] = parent
    made |= {
        "name": name,
        "kind": kind,
        "startTimeUnixNano": _nano(when[0]),
        "endTimeUnixNano": _nano(when[1]),
        "status": {"code": _ERROR, "message": wrong} if wrong else {},
    }
    return _Span(made, attributes)


def _nano(at: float) -> str:
    # In two parts: a double is too imprecise for today's nanoseconds.
    return str(int(at) * 1_000_000_000 + round(at % 1 * 1_000_000) * 1_000)


def attributes_of(values: JsonObject) -> list[Json]:
    """Return the attributes in OTLP's typed form."""
    return [{"key": key, "value": _value(value)} for key, value in values.items()]


def _value(value: object) -> Json:
    """Return a value in OTLP's typed form, in which integers are text."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(item) for item in value]}}
    return {"stringValue": str(value)}
