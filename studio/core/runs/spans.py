"""Spans of other programs' traces: one reader for their files, one table of names per dialect.

OTLP as JSON (GenAI conventions, OpenLLMetry, OpenInference, Langfuse), LangSmith's runs, Langfuse's
observations, and `.tracy`. Data that a trace does not contain is None and never guessed.
"""

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from typing import Literal, TypeAlias

from studio.core.runs.codec import JournalError
from studio.core.text.values import (
    Json,
    JsonDict,
    JsonObject,
    list_of,
    object_of,
    objects_of,
    parse_json,
)

MOST_SPANS = 50_000
"""Maximum number of spans read from a file."""

_YEAR_9999 = 253_370_764_800
_MILLISECONDS = 1e11
_MOST_LISTED = 200

SpanKind: TypeAlias = Literal["model", "tool", "agent", ""]
"""Kind of span; empty for other work of the program."""

Fact: TypeAlias = Literal[
    "model",
    "provider",
    "system",
    "messages",
    "reply",
    "tools",
    "options",
    "agent",
    "error",
    "tool",
    "call",
    "arguments",
    "result",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
]
"""Kind of data for which a dialect has a name."""


@dataclass(frozen=True, slots=True)
class TraceDialect:
    """The names of one dialect of traces."""

    name: str
    """Name for the user."""

    kind: str
    """Attribute that contains the kind of a span."""

    kinds: Mapping[str, SpanKind]
    """Kinds of spans by the attribute's value."""

    names: Mapping[Fact, tuple[str, ...]]
    """Attributes for each kind of data, best first; dots lead into objects and JSON texts."""


DIALECTS: tuple[TraceDialect, ...] = (
    TraceDialect(
        "OpenInference",
        "openinference.span.kind",
        {"LLM": "model", "TOOL": "tool", "AGENT": "agent"},
        {
            "model": ("llm.invocation_parameters.model", "llm.model_name"),
            "provider": ("llm.provider", "llm.system"),
            "messages": ("llm.input_messages", "input.value.messages", "input.value"),
            "reply": ("llm.output_messages", "output.value.choices", "output.value"),
            "tools": ("llm.tools", "input.value.tools"),
            "options": ("llm.invocation_parameters",),
            "agent": ("agent.name", "graph.node.name"),
            "tool": ("tool.name",),
            "call": ("tool_call.id", "tool.id"),
            "arguments": ("tool_call.function.arguments", "input.value"),
            "result": ("output.value",),
            "input_tokens": ("llm.token_count.prompt",),
            "output_tokens": ("llm.token_count.completion",),
            "cached_tokens": ("llm.token_count.prompt_details.cache_read",),
        },
    ),
    TraceDialect(
        "Langfuse",
        "langfuse.observation.type",
        {"generation": "model", "tool": "tool", "agent": "agent"},
        {
            "model": ("langfuse.observation.model.name",),
            "messages": ("langfuse.observation.input.messages", "langfuse.observation.input"),
            "reply": ("langfuse.observation.output",),
            "tools": ("langfuse.observation.input.tools",),
            "options": ("langfuse.observation.model.parameters",),
            "arguments": ("langfuse.observation.input",),
            "result": ("langfuse.observation.output",),
            "error": ("langfuse.observation.status_message",),
            "input_tokens": (
                "langfuse.observation.usage_details.input",
                "langfuse.observation.usage_details.prompt_tokens",
            ),
            "output_tokens": (
                "langfuse.observation.usage_details.output",
                "langfuse.observation.usage_details.completion_tokens",
            ),
        },
    ),
    TraceDialect(
        "GenAI conventions",
        "gen_ai.operation.name",
        {
            **dict.fromkeys(("chat", "text_completion", "generate_content"), "model"),
            **dict.fromkeys(("invoke_agent", "create_agent", "invoke_workflow"), "agent"),
            "execute_tool": "tool",
        },
        {
            "model": ("gen_ai.request.model", "gen_ai.response.model"),
            "provider": ("gen_ai.provider.name", "gen_ai.system"),
            "system": ("gen_ai.system_instructions",),
            "messages": ("gen_ai.input.messages",),
            "reply": ("gen_ai.output.messages",),
            "tools": ("gen_ai.tool.definitions",),
            "options": ("gen_ai.request",),
            "agent": ("gen_ai.agent.name",),
            "tool": ("gen_ai.tool.name",),
            "call": ("gen_ai.tool.call.id",),
            "arguments": ("gen_ai.tool.call.arguments",),
            "result": ("gen_ai.tool.call.result",),
            "error": ("error.type",),
            "input_tokens": ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
            "output_tokens": ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
            "cached_tokens": ("gen_ai.usage.cache_read.input_tokens",),
        },
    ),
    TraceDialect(
        "OpenLLMetry",
        "llm.request.type",
        dict.fromkeys(("chat", "completion"), "model"),
        {
            "model": ("gen_ai.request.model", "llm.request.model"),
            "provider": ("gen_ai.system",),
            "messages": ("gen_ai.prompt", "gen_ai.input.messages"),
            "reply": ("gen_ai.completion", "gen_ai.output.messages"),
            "tools": ("llm.request.functions",),
            "options": ("gen_ai.request",),
            "input_tokens": ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
            "output_tokens": ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
        },
    ),
    TraceDialect(
        "OpenLLMetry",
        "traceloop.span.kind",
        {"tool": "tool", "agent": "agent", "workflow": "agent"},
        {
            "agent": ("traceloop.entity.name",),
            "tool": ("traceloop.entity.name",),
            "arguments": ("traceloop.entity.input",),
            "result": ("traceloop.entity.output",),
        },
    ),
    TraceDialect(
        "LangSmith",
        "run_type",
        {"llm": "model", "tool": "tool"},
        {
            "model": ("extra.metadata.ls_model_name", "inputs.model"),
            "provider": ("extra.metadata.ls_provider",),
            "messages": ("inputs.messages", "inputs.input", "inputs.prompt"),
            "reply": ("outputs.choices", "outputs.generations", "outputs.messages", "outputs"),
            "tools": ("inputs.tools", "extra.invocation_params.tools"),
            "options": ("extra.invocation_params", "inputs"),
            "error": ("error",),
            "call": ("inputs.tool_call_id", "outputs.output.tool_call_id"),
            "arguments": ("inputs",),
            "result": ("outputs.output.content", "outputs.output", "outputs"),
            "input_tokens": ("outputs.usage_metadata.input_tokens", "prompt_tokens"),
            "output_tokens": ("outputs.usage_metadata.output_tokens", "completion_tokens"),
        },
    ),
    TraceDialect(
        "Langfuse",
        "type",
        {"GENERATION": "model", "TOOL": "tool", "AGENT": "agent", "SPAN": "", "EVENT": ""},
        {
            "model": ("model", "providedModelName"),
            "messages": ("input.messages", "input"),
            "reply": ("output",),
            "tools": ("input.tools",),
            "options": ("modelParameters",),
            "error": ("statusMessage",),
            "arguments": ("input",),
            "result": ("output",),
            "input_tokens": ("usageDetails.input", "usage.input", "promptTokens"),
            "output_tokens": ("usageDetails.output", "usage.output", "completionTokens"),
        },
    ),
    TraceDialect(
        "Prompty trace",
        "type",
        {"LLM": "model", "tool": "tool", "": ""},
        {
            "model": ("inputs.model", "name"),
            "messages": ("inputs.messages",),
            "reply": ("result",),
            "arguments": ("inputs",),
            "result": ("result",),
            "input_tokens": ("__usage.prompt_tokens",),
            "output_tokens": ("__usage.completion_tokens",),
        },
    ),
)
"""All dialects; if several fit a span, the first that recognizes its kind is used."""


@dataclass(frozen=True, slots=True)
class TraceSpan:
    """One span: a piece of work of a program."""

    id: str
    """Id of the span."""

    parent: str
    """Id of the parent span; empty for none."""

    trace: str
    """Id of the trace."""

    name: str
    """Name of the span."""

    began: float
    """Start time, in seconds since 1970 UTC; 0 if not recorded."""

    ended: float
    """End time, in seconds since 1970 UTC; 0 if not recorded."""

    attributes: JsonObject = field(default_factory=dict, repr=False)
    """Attributes of the span."""

    failure: str = ""
    """Reason of the failure; empty for none."""

    service: str = ""
    """Name of the program."""

    @property
    def dialect(self) -> TraceDialect | None:
        """Dialect of a model call, a tool call or an agent; None for other spans."""
        of = (each for each in DIALECTS if each.kinds.get(str(self.attributes.get(each.kind))))
        return next(of, None)

    @property
    def kind(self) -> SpanKind:
        """Kind of the span."""
        dialect = self.dialect
        return dialect.kinds[str(self.attributes[dialect.kind])] if dialect is not None else ""

    def fact(self, name: Fact) -> Json:
        """Return the data of that kind; None if it is not recorded."""
        dialect = self.dialect
        names = dialect.names.get(name, ()) if dialect is not None else ()
        found = (_at(self.attributes, each) for each in names)
        return next((each for each in found if each not in (None, "", {}, [])), None)


def _at(value: Json, name: str) -> Json:
    """Return the value of a dotted name: a key, keys that begin with it, or a path into a value."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        value = as_json(value)
    if not name or not isinstance(value, Mapping):
        return value if not name else None
    if name in value:
        return value[name]
    below = {k.removeprefix(f"{name}."): v for k, v in value.items() if k.startswith(f"{name}.")}
    if below:
        return _nested(below)
    for dot in reversed([at for at, sign in enumerate(name) if sign == "."]):
        if name[:dot] in value:
            return _at(value[name[:dot]], name[dot + 1 :])
    return None


def _nested(flat: JsonObject) -> Json:
    """Return nested objects and lists for flat names such as `0.message.role`."""
    groups: dict[str, JsonDict] = {}
    for key, value in flat.items():
        head, _, rest = key.partition(".")
        groups.setdefault(head, {})[rest] = value
    made = {head: held[""] if "" in held else _nested(held) for head, held in groups.items()}
    if all(key.isdecimal() for key in made):
        return [made[key] for key in sorted(made, key=int)]
    return made


def as_json(value: Json) -> Json:
    """Return the value of a JSON text; other values unchanged."""
    try:
        return parse_json(value) if isinstance(value, str) else value
    except ValueError:
        return value


# Files --------------------------------------------------------------------------------------------


def read_spans(text: str) -> list[TraceSpan]:
    """Return the spans of a file, in its order: one JSON value, or JSON lines.

    Raises:
        JournalError: it contains no span of a known dialect, or too many spans.
    """
    spans = spans_of_text(text)
    if not any(span.kind in ("model", "tool") for span in spans):
        what = f"none of its {len(spans)} spans is a" if spans else "it holds no"
        known = ", ".join(dict.fromkeys(each.name for each in DIALECTS))
        raise JournalError(f"{what} model call or tool call in the names of {known}")
    return spans


def spans_of_text(text: str) -> list[TraceSpan]:
    """Return all spans in a text, of any dialect.

    Raises:
        JournalError: it is no JSON, or contains too many spans.
    """
    spans: list[TraceSpan] = []
    for value in _values(text):
        for span in _spans(value):
            spans.append(span)
            if len(spans) > MOST_SPANS:
                raise JournalError(f"it contains more than {MOST_SPANS:,} spans; split the file")
    return spans


def _values(text: str) -> Iterator[Json]:
    try:
        yield parse_json(text)
    except ValueError as whole:
        lines = [line for line in text.split("\n") if line.strip()]
        if len(lines) < 2 or not lines[0].rstrip().endswith(("}", "]")):
            raise JournalError(f"it is not JSON: {whole}") from whole
        for number, line in enumerate(lines, 1):
            try:
                yield parse_json(line)
            except ValueError as error:
                raise JournalError(f"line {number} is not JSON: {error}") from error


def _spans(value: Json) -> Iterator[TraceSpan]:
    if isinstance(value, list):
        yield from chain.from_iterable(map(_spans, value))
    elif isinstance(value, Mapping):
        listed = ("resourceSpans", "resource_spans", "observations", "runs", "child_runs", "data")
        if isinstance(value.get("trace"), Mapping):
            yield from _frames(object_of(value["trace"]), "", "0", str(value.get("version", "")))
        elif "run_type" in value or "startTime" in value:
            yield _record(value)
        for key in listed:
            inside = objects_of(value.get(key))
            if key.startswith("resource"):
                yield from chain.from_iterable(map(_resource_spans, inside))
            else:
                yield from chain.from_iterable(map(_spans, inside))


def _resource_spans(value: JsonObject) -> Iterator[TraceSpan]:
    """Yield the spans of a resource in OTLP's JSON form, which has two spellings of keys."""
    resource = _attributes(object_of(value.get("resource")).get("attributes"))
    service = str(resource.get("service.name") or "")
    for scoped in objects_of(_either(value, "scopeSpans")):
        for span in objects_of(scoped.get("spans")):
            status = object_of(span.get("status"))
            is_bad = status.get("code") in (2, "2", "STATUS_CODE_ERROR")
            events = [
                _attributes(each.get("attributes")) for each in objects_of(span.get("events"))
            ]
            told = [str(each.get("exception.message") or "") for each in events]
            words = str(status.get("message") or "") or next(filter(None, told), "it failed")
            yield TraceSpan(
                _id(_either(span, "spanId")),
                _id(_either(span, "parentSpanId")),
                _id(_either(span, "traceId")),
                str(span.get("name", "")),
                _nanoseconds(_either(span, "startTimeUnixNano")),
                _nanoseconds(_either(span, "endTimeUnixNano")),
                _attributes(span.get("attributes")),
                words if is_bad else "",
                service,
            )


def _either(value: JsonObject, name: str) -> Json:
    return value.get(name, value.get(re.sub("[A-Z]", lambda at: f"_{at[0].lower()}", name)))


def _id(value: Json) -> str:
    """Return an id as hex; protobuf's JSON form has base64."""
    text = str(value or "")
    if len(text) in (12, 24) and not re.fullmatch("[0-9a-fA-F]*", text):
        try:
            return base64.b64decode(text).hex()
        except ValueError:
            return text
    return text.lower()


def _nanoseconds(value: Json) -> float:
    return _bounded(int(str(value)) / 1e9) if re.fullmatch("[0-9]{1,20}", str(value)) else 0.0


def _bounded(at: float) -> float:
    """Return a time within the range of calendars; 0 for others."""
    return at if 0 <= at < _YEAR_9999 else 0.0


def _attributes(value: Json) -> JsonDict:
    return {str(each.get("key")): _plain(each.get("value")) for each in objects_of(value)}


def _plain(value: Json) -> Json:
    """Return the plain value of one of OTLP's typed values."""
    for key, held in object_of(value).items():
        match re.sub("_value$", "Value", key):
            case "intValue":
                return int(str(held)) if re.fullmatch(r"-?\d{1,20}", str(held)) else str(held)
            case "arrayValue":
                return [_plain(each) for each in list_of(object_of(held).get("values"))]
            case "kvlistValue":
                return _attributes(object_of(held).get("values"))
            case _:
                return held
    return None


def _record(value: JsonObject) -> TraceSpan:
    """Return the span for a run of LangSmith or an observation of Langfuse."""
    trace = value.get("trace_id", value.get("traceId"))
    parent = value.get("parent_run_id", value.get("parentObservationId"))
    error = value.get("error") or (value.get("level") == "ERROR" and "it failed")
    return TraceSpan(
        str(value.get("id", "")),
        str(parent or ""),
        str(trace or ""),
        str(value.get("name") or value.get("run_type") or ""),
        _moment(value.get("start_time", value.get("startTime"))),
        _moment(value.get("end_time", value.get("endTime"))),
        value,
        str(value.get("statusMessage") or error or ""),
        str(value.get("session_name") or ""),
    )


def _frames(frame: JsonObject, parent: str, place: str, trace: str) -> Iterator[TraceSpan]:
    """Yield the spans for a frame of a `.tracy` file and those below it."""
    times, result = object_of(frame.get("__time")), object_of(frame.get("result"))
    own = {"type": "", **{key: each for key, each in frame.items() if key != "__frames"}}
    yield TraceSpan(
        place,
        parent,
        trace,
        str(frame.get("name", "")),
        _moment(times.get("start")),
        _moment(times.get("end")),
        own,
        str(result.get("exception") or ""),
    )
    for at, inner in enumerate(objects_of(frame.get("__frames"))):
        yield from _frames(inner, place, f"{place}.{at}", trace)


def _moment(value: Json) -> float:
    if isinstance(value, int | float):
        return _bounded(value / 1000 if value > _MILLISECONDS else float(value))
    try:
        moment = datetime.fromisoformat(str(value))
        return _bounded((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        return 0.0


def tree_of(spans: Sequence[TraceSpan]) -> str:
    """Return all spans as an indented list, roots first."""
    known = {span.id for span in spans}
    below: dict[str, list[TraceSpan]] = {}
    for span in sorted(spans, key=lambda span: span.began):
        below.setdefault(span.parent if span.parent in known else "", []).append(span)
    lines: list[str] = []
    waiting = [(0, span) for span in reversed(below.pop("", []))]
    while waiting:
        depth, span = waiting.pop()
        kind = f"{span.kind}: " if span.kind else ""
        wrong = f", failed: {span.failure}" if span.failure else ""
        lines.append(f"{'  ' * depth}{kind}{span.name}, {span.ended - span.began:.3f} s{wrong}")
        waiting += [(depth + 1, each) for each in reversed(below.pop(span.id, []))]
    more = f"and {len(lines) - _MOST_LISTED} further spans"
    return "\n".join([*lines[:_MOST_LISTED], *([more] if len(lines) > _MOST_LISTED else [])])
