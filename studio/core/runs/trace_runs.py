"""Convert the spans of a trace to runs: one for each conversation, one step per model call.

Data that the trace does not contain is marked as not recorded; other spans are kept as a list.
"""

from __future__ import annotations

import uuid
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from studio.core.agent.loop.machine import advance
from studio.core.agent.loop.steps import new_state
from studio.core.agent.values.events import (
    AnswerChecked,
    AnswerReturned,
    CallCheck,
    CallDecided,
    CallsChecked,
    Event,
    Failed,
    ModelCalled,
    ModelFailed,
    ModelReplied,
    Passed,
    Rendered,
    ReplyRead,
    Started,
    Stopped,
    ToolCalled,
    ToolEnded,
)
from studio.core.agent.values.step import (
    Action,
    Final,
    Limits,
    PausePoint,
    RequestedCall,
    RunSetup,
    StepError,
)
from studio.core.imports.request_json import schema_of, tools_of
from studio.core.prompty.document import Message, TextPart, ToolCallPart, ToolResultPart, ToolSpec
from studio.core.prompty.threads import read_thread
from studio.core.runs.spans import TraceSpan, as_json
from studio.core.text.diff import beginnings_of
from studio.core.text.values import (
    Json,
    JsonDict,
    JsonObject,
    list_of,
    object_of,
    objects_of,
    text_or_json,
)
from studio.core.tools.source import ToolOutcome
from studio.core.wire.reply import Reply, ToolCall, Usage, finish_reason

NOT_RECORDED = "not recorded"
"""Text in place of data that a trace does not contain."""

_MOST_TOKENS = 2**50
_ROLES = {"human": "user", "ai": "assistant", "HumanMessage": "user", "AIMessage": "assistant"}
_ROLES |= {"SystemMessage": "system", "ToolMessage": "tool"}


_End: TypeAlias = tuple[str, bytes | str]
"""Trace, and digest of a call's messages; for a call without messages, its parent span."""


@dataclass(slots=True)
class _Call:
    """A model call of a trace."""

    span: TraceSpan
    messages: tuple[Message, ...]
    reply: Reply | None

    beginnings: tuple[bytes, ...]
    """Digests of its first message, its first two and so on, which identify the conversation."""

    @property
    def end(self) -> _End:
        """The key by which a later call continues this one."""
        return self.span.trace, self.beginnings[-1] if self.messages else self.span.parent

    def ends_before(self) -> Iterator[_End]:
        """Yield the keys of the calls that this one can continue."""
        if not self.messages:
            yield self.end
        for beginning in self.beginnings[:-1]:
            yield self.span.trace, beginning


@dataclass(slots=True)
class TraceRun:
    """A conversation of a trace as a run."""

    id: str
    """Id of the run."""

    trace: str
    """Id of the trace."""

    events: list[Event] = field(default_factory=list)
    """Events of the run."""


def runs_of(spans: Sequence[TraceSpan]) -> Iterator[TraceRun]:
    """Yield a run for each conversation of the traces, oldest first."""
    models = [span for span in spans if span.kind == "model"]
    tools = _ToolSpans(span for span in spans if span.kind == "tool")
    parents = {span.id: span for span in spans}
    talks: list[list[_Call]] = []
    by_end: defaultdict[_End, set[int]] = defaultdict(set)
    for span in sorted(models, key=lambda span: span.began):
        messages = tuple(_messages(span))
        keys = ((each.role, each.text, len(each.parts)) for each in messages)
        call = _Call(span, messages, _reply(span), beginnings_of(keys))
        newest = max(
            (max(by_end.get(end, ()), default=-1) for end in call.ends_before()), default=-1
        )
        if newest < 0:
            newest = len(talks)
            talks.append([])
        else:
            by_end[talks[newest][-1].end].remove(newest)
        talks[newest].append(call)
        by_end[call.end].add(newest)
    for number, talk in enumerate(talks, 1):
        yield _run(talk, number, tools, parents)


# The data of a span -------------------------------------------------------------------------------


def _messages(span: TraceSpan) -> Iterator[Message]:
    system = span.fact("system")
    if system is not None:
        text = "\n\n".join(str(each.get("content", "")) for each in objects_of(system))
        yield Message("system", (TextPart(text or text_or_json(system)),))
    given = as_json(span.fact("messages"))
    if isinstance(given, Mapping):
        given = given.get("messages", [given])
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    while len(held := list_of(given)) == 1 and isinstance(held[0], list):
        given = held[0]  # LangChain's batches of one
    for item in objects_of(given):
        yield from read_thread([*_rows(item)], {}, None) or ()


def _rows(item: JsonObject) -> Iterator[JsonDict]:
    """Yield a message of any dialect as items of a thread."""
    item = object_of(item.get("message")) or item
    held = object_of(item.get("kwargs")) or object_of(item.get("data"))  # LangChain's
    kind = str(list_of(item.get("id"))[-1:] or item.get("type", "")).strip("[]'")
    item = {"role": _ROLES.get(kind, kind), **held} if held else item
    role = str(item.get("role") or _ROLES.get(str(item.get("type")), "user"))
    content: list[Json] = []
    calls: list[Json] = []
    for call in objects_of(item.get("tool_calls")):
        inner = object_of(call.get("tool_call")) or call
        calls.append({**inner, "arguments": inner["args"]} if "args" in inner else inner)
    for part in objects_of(item.get("parts")):
        match part.get("type"):
            case "text":
                content.append({"type": "text", "text": text_or_json(part.get("content"))})
            case "tool_call":
                calls.append({key: part.get(key) for key in ("id", "name", "arguments")})
            case "tool_call_response":
                result = part.get("response", part.get("result"))
                row: JsonDict = {"role": "tool", "content": text_or_json(result)}
                yield row | {"tool_call_id": str(part.get("id") or "")}
            case "reasoning":
                continue
            case _:
                content.append(part)
    for part in objects_of(item.get("contents")):
        inner = object_of(part.get("message_content"))
        picture = object_of(object_of(inner.get("image")).get("image")).get("url")
        content.append({"kind": "image", "value": picture} if picture else inner)
    told = item.get("content")
    told = as_json(told) if isinstance(told, str) and told.startswith('[{"type":') else told
    whole: Json = content if content else told
    if whole or calls or not item.get("parts"):
        made: JsonDict = {"role": role, "content": whole or ""}
        made |= {"tool_calls": calls} if calls else {}
        if item.get("tool_call_id"):
            made["tool_call_id"] = item["tool_call_id"]
        yield made


def _reply(span: TraceSpan) -> Reply | None:
    """Return the reply; None if the trace contains none."""
    given = as_json(span.fact("reply"))
    choices = object_of(given).get("choices", object_of(given).get("generations"))
    given = choices if choices else given
    while isinstance(given, list) and given:
        given = given[0]
    if isinstance(given, str):
        return Reply(given, usage=_usage(span))
    item = object_of(given)
    rows = [*_rows(item)] if item.keys() & {"role", "content", "parts", "message", "kwargs"} else []
    read = read_thread(rows[:1], {}, None) or ()
    if not read:
        return None
    calls = tuple(
        ToolCall(part.id, part.name, part.arguments)
        for part in read[0].parts
        if isinstance(part, ToolCallPart)
    )
    word = item.get("finish_reason")
    reason = finish_reason(str(word)) if word else None
    return Reply(read[0].text, tool_calls=calls, usage=_usage(span), finish_reason=reason)


def _usage(span: TraceSpan) -> Usage | None:
    counts = [span.fact("input_tokens"), span.fact("output_tokens"), span.fact("cached_tokens")]
    if all(count is None for count in counts):
        return None
    return Usage(*map(_count, counts))


def _count(value: Json) -> int:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS
    return int(str(value)) if is_count else 0


def _specs(span: TraceSpan) -> tuple[ToolSpec, ...]:
    given = as_json(span.fact("tools"))
    listed: list[Json] = []
    for each in objects_of(given):
        held = object_of(each.get("tool")).get("json_schema", each)  # OpenInference's
        listed.append(as_json(held))
    return tuple(
        ToolSpec(
            str(tool.get("name") or tool.get("type") or ""),
            str(tool.get("description") or ""),
            schema_of(tool) or {"type": "object", "properties": {}},
            source="program",
        )
        for tool in tools_of({"tools": listed})
    )


# The journal --------------------------------------------------------------------------------------


def _run(
    talk: Sequence[_Call], number: int, tools: _ToolSpans, parents: Mapping[str, TraceSpan]
) -> TraceRun:
    first = talk[0].span
    above, met = first, {""}
    while above.parent not in met and above.parent in parents and above.kind != "agent":
        met.add(above.parent)
        above = parents[above.parent]
    name = str(above.fact("agent") or above.name or first.name)
    dialect = first.dialect.name if first.dialect is not None else ""
    model = str(first.fact("model") or "")
    options = as_json(first.fact("options"))
    setup = RunSetup(
        run=uuid.uuid5(uuid.NAMESPACE_URL, f"{first.trace}/{number}").hex[:12],
        prompt=name,
        program=f"trace of {first.service or name} ({dialect})",
        question=_last_words(talk[0].messages),
        tools=_specs(first),
        model=model or NOT_RECORDED,
        model_id=model,
        provider=str(first.fact("provider") or ""),
        price="unknown",
        options={k: v for k, v in object_of(options).items() if isinstance(v, int | float)},
        limits=Limits(None, None, None, None),
    )
    journal = _Journal(TraceRun(setup.run, first.trace), setup, first.began)
    for at, call in enumerate(talk):
        journal.step(call, tools, talk[at + 1] if at + 1 < len(talk) else None)
    if not journal.state.is_over:
        journal.emit(Stopped(), talk[-1].span.ended)
    return journal.run


def _last_words(messages: Sequence[Message]) -> str:
    return next((each.text for each in reversed(messages) if each.role == "user"), "")


class _Journal:
    """A writer of a run's events; the loop's state machine computes the states."""

    def __init__(self, run: TraceRun, setup: RunSetup, began: float) -> None:
        self.run = run
        self.state = new_state(setup)
        self.emit(Started(setup), began)

    def emit(self, event: Event, at: float) -> None:
        """Append an event."""
        event = replace(event, seq=len(self.run.events) + 1, at=at)
        self.state, _ = advance(self.state, event)
        self.run.events.append(event)

    def step(self, call: _Call, tools: _ToolSpans, after: _Call | None) -> None:
        """Append the events of a model call and of the tool calls that follow from it."""
        span, reply = call.span, call.reply
        if self.state.is_over and self.state.status == "done":
            self.emit(AnswerReturned(_last_words(call.messages)), span.began)
        missing = [] if call.messages else [f"The messages of this call are {NOT_RECORDED}."]
        self.emit(Rendered(call.messages, tuple(missing)), span.began)
        self.emit(ModelCalled(1), span.began)
        seconds = max(0.0, span.ended - span.began)
        if reply is None and span.failure:
            self.emit(ModelFailed("trace", span.failure, seconds=seconds), span.ended)
            if after is None:
                self.emit(Failed(StepError("model", "trace", span.failure)), span.ended)
            else:
                self.emit(Stopped(), span.ended)
            return
        if reply is None:
            reply = Reply(usage=_usage(span), notices=(f"The reply is {NOT_RECORDED}.",))
        self.emit(ModelReplied(reply, seconds), span.ended)
        if not reply.tool_calls:
            self.emit(ReplyRead(Final(answer=reply.text.strip())), span.ended)
            self.emit(AnswerChecked(), span.ended)
            return
        asked = tuple(
            RequestedCall(each.id, each.name, object_of(as_json(each.arguments)), each.arguments)
            for each in reply.tool_calls
        )
        self.emit(ReplyRead(Action(calls=asked)), span.ended)
        self.emit(CallsChecked(tuple(CallCheck() for _ in asked)), span.ended)
        for row, each in enumerate(asked):
            done = tools.take(each, call.span)
            began = done.began if done is not None else span.ended
            self.emit(CallDecided(row, "approve"), began)
            self.emit(ToolCalled(row), began)
            self.emit(ToolEnded(row, _outcome(each, done, after)), done.ended if done else began)
            self.emit(Passed(PausePoint.OBSERVATION), done.ended if done else began)
        self.emit(Passed(PausePoint.STEP_END), span.ended)


class _ToolSpans:
    """The spans of tool calls, each used for one call."""

    def __init__(self, spans: Iterable[TraceSpan]) -> None:
        self._left: defaultdict[tuple[str, Json, str], list[TraceSpan]] = defaultdict(list)
        for span in sorted(spans, key=lambda span: span.began):
            call = span.fact("call")
            if not call:
                self._left[span.trace, "", _tool_name(span)].append(span)
            elif isinstance(call, str):
                self._left[span.trace, call, ""].append(span)

    def take(self, asked: RequestedCall, model: TraceSpan) -> TraceSpan | None:
        """Return the span of a requested call: by its id, else the next one with its name."""
        if asked.id and (same := self._left.get((model.trace, asked.id, ""))):
            return same.pop(0)
        named = self._left.get((model.trace, "", asked.tool), [])
        at = bisect_left(named, model.began, key=lambda span: span.began)
        return named.pop(at) if at < len(named) else None


def _tool_name(span: TraceSpan) -> str:
    return str(span.fact("tool") or span.name.removeprefix("execute_tool ").removesuffix(".tool"))


def _outcome(asked: RequestedCall, span: TraceSpan | None, after: _Call | None) -> ToolOutcome:
    """Return the result of a call from its span, else from the next request."""
    if span is not None:
        seconds, result = max(0.0, span.ended - span.began), span.fact("result")
        if result is not None or span.failure:
            words = text_or_json(result) if result is not None else span.failure
            words = words.removeprefix("Error: ") if span.failure else words
            return ToolOutcome(words, "error" if span.failure else "ok", seconds)
    for message in after.messages if after is not None else ():
        if message.role == "tool" and message.attributes.get("tool_call_id") == asked.id:
            texts = [part.text for part in message.parts if isinstance(part, ToolResultPart)]
            return ToolOutcome("\n".join(texts) or message.text, "ok")
    return ToolOutcome(f"The result of this call is {NOT_RECORDED}.", "ok")
