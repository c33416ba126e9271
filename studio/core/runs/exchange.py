"""Runs that leave the studio and come back: the forms they take, and what may come in."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from studio.core.agent.loop.machine import fold
from studio.core.agent.loop.steps import messages_of, steps_of
from studio.core.agent.past.tree import branch_path, walk
from studio.core.agent.values.events import Event, ModelCalled, Started
from studio.core.masking.redact import redact
from studio.core.prompty.document import ModelDeclaration
from studio.core.runs.codec import (
    JournalError,
    decode_event,
    decode_value,
    encode_event,
    encode_value,
)
from studio.core.runs.otlp import otlp
from studio.core.runs.otlp_names import GENAI_0_1
from studio.core.runs.report import report
from studio.core.runs.store import RunStore
from studio.core.runs.traces import chat_message, chat_reply, trace
from studio.core.text.foreign_json import parse_json
from studio.core.text.reason import reason_of
from studio.core.text.values import Json
from studio.core.wire.request import to_request
from studio.core.wire.wire_call import CallLookup, WireCall, no_call


def _line(data: Mapping[str, Json]) -> str:
    """One line of JSON, without the line end; lone surrogates escaped."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(data, separators=(",", ":"))
    return text


def write_journal(events: Iterable[Event], call_of: CallLookup = no_call) -> str:
    """A whole journal as JSON lines; what a model call sent and received follows its event."""
    lines: list[str] = []
    for event in events:
        lines.append(_line(encode_event(event)))
        call = call_of(event.seq) if isinstance(event, ModelCalled) else None
        if call is not None:
            encoded = encode_value(call)
            assert isinstance(encoded, dict)
            lines.append(_line({"t": WireCall.__name__, "seq": event.seq, **encoded}))
    return "".join(line + "\n" for line in lines)


_CALL_LINE = f'{{"t":"{WireCall.__name__}",'.encode()


def without_replies(journal: bytes) -> bytes:
    """A whole journal without the raw replies of its model calls."""
    lines = journal.split(b"\n")
    for at, line in enumerate(lines):
        if line.startswith(_CALL_LINE):
            data = {**json.loads(line), "raw": "", "has_answer": False}
            lines[at] = _line(data).encode("utf-8", "surrogatepass")
    return b"\n".join(lines)


def read_journal(text: str, calls: dict[int, WireCall] | None = None) -> Iterator[Event]:
    """The events of a journal; a last line that was cut off in writing is left out.

    Args:
        text: the lines.
        calls: gets what its model calls sent and received, by the numbers of their events.

    Raises:
        JournalError: another line is not an event.
    """
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            data = parse_json(line)
        except ValueError as error:
            if number == len(lines):
                return
            raise JournalError(f"line {number} is not JSON: {reason_of(error)}") from error
        if not isinstance(data, dict):
            raise JournalError(f"line {number} is not an event")
        if data.get("t") != WireCall.__name__:
            yield decode_event(data)
        elif calls is not None:
            calls[int(data.get("seq", 0))] = decode_value(WireCall, data)


@dataclass(frozen=True, slots=True)
class RunForm:
    """One form in which a run leaves."""

    name: str
    """For the command line."""

    label: str
    """For people."""

    suffix: str
    """Ending of its files."""

    make: Callable[[Sequence[Event], str, CallLookup], str]
    """The text, from events, the studio's version, and what is kept of the model calls."""

    whole: bool = False
    """Whether it takes the whole journal, all branches; else the branch of the last event."""

    joins: bool = False
    """Whether several runs can stand in one file, one behind the other."""


def _tracy(events: Sequence[Event], version: str, call_of: CallLookup) -> str:
    return _json(trace(events, version))


def _otlp(events: Sequence[Event], version: str, call_of: CallLookup) -> str:
    return _json(otlp(events, version, call_of=call_of))


def _otlp_of_today(events: Sequence[Event], version: str, call_of: CallLookup) -> str:
    return _json(otlp(events, version, GENAI_0_1, call_of))


def _journal(events: Sequence[Event], version: str, call_of: CallLookup) -> str:
    return write_journal(events, call_of)


def _messages(events: Sequence[Event], version: str, call_of: CallLookup) -> str:
    """Each model call a line: what was sent, and the reply as its last message."""
    state = fold(events)
    lines: list[str] = []
    for step in steps_of(state):
        if step.reply is None:
            continue
        sent: list[Json] = [chat_message(each) for each in messages_of(state, step.number)]
        reply = {"role": "assistant", **chat_reply(step.reply)}
        reply.pop("finish_reason", None)
        line = redact({"messages": [*sent, reply]})
        lines.append(_sendable(json.dumps(line, ensure_ascii=False), line) + "\n")
    return "".join(lines)


def _fine_tuning(events: Sequence[Event], version: str, call_of: CallLookup) -> str:
    """Conversations that end with the model's answer, as OpenAI's fine-tuning takes them.

    Its schema (`FineTuneChatRequestInput`) knows no `developer`, no name of a tool's result, and
    text and pictures alone: a conversation with sound or files is left out.

    With native tools the last call holds all before it, so a run is one line; a prompt that shows
    its steps as text is rendered anew for each call, so each is a line.
    """
    state = fold(events)
    is_native = state.setup.protocol == "native"
    steps = [step for step in steps_of(state) if step.reply is not None]
    lines: list[str] = []
    for step in steps[-1:] if is_native else steps:
        reply = chat_reply(step.reply) if step.reply is not None else {}
        answer = {key: reply[key] for key in ("content", "tool_calls") if reply.get(key)}
        if not answer:
            continue
        body = to_request(
            messages_of(state, step.number),
            state.setup.tools if is_native else (),
            ModelDeclaration(id="-"),
            provider="openai-chat",
        ).body
        sent = body["messages"]
        taught = [_taught(each) for each in (sent if isinstance(sent, list) else [])]
        if None in taught:
            continue
        line: dict[str, Json] = {"messages": [*taught, {"role": "assistant", **answer}]}
        if body.get("tools"):
            line["tools"] = body["tools"]
        hidden = redact(line)
        lines.append(_sendable(json.dumps(hidden, ensure_ascii=False), hidden) + "\n")
    return "".join(lines)


def _taught(message: Json) -> Json:
    """A message in the words that fine-tuning knows; None for one that it does not take."""
    if not isinstance(message, dict):
        return None
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    kinds = {part.get("type") if isinstance(part, dict) else None for part in parts}
    if not kinds <= {"text", "image_url"}:
        return None
    match message.get("role"):
        case "developer":
            return {**message, "role": "system"}
        case "tool":
            return {key: value for key, value in message.items() if key != "name"}
        case _:
            return message


def _json(value: dict[str, Json]) -> str:
    return json.dumps(value, ensure_ascii=True, indent=2) + "\n"


def _sendable(text: str, value: Json) -> str:
    """The text, with lone surrogates escaped where there are any."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value)
    return text


def _report(events: Sequence[Event], version: str, call_of: CallLookup) -> str:
    return report(events, version).encode("utf-8", "replace").decode("utf-8")


FORMS: tuple[RunForm, ...] = (
    RunForm("html", "Report (HTML, to read or print)", ".html", _report),
    RunForm("journal", "Journal (JSON lines, can be imported again)", ".jsonl", _journal, True),
    RunForm("tracy", "Trace (.tracy, for Prompty's VS Code extension)", ".tracy", _tracy),
    RunForm("otlp", "OpenTelemetry spans (OTLP JSON, GenAI names of 1.41)", ".otlp.json", _otlp),
    RunForm(
        "otlp-genai-0.1",
        "OpenTelemetry spans (OTLP JSON, newest GenAI names: 0.1)",
        ".otlp.json",
        _otlp_of_today,
    ),
    RunForm(
        "messages",
        "Messages (JSON lines, one model call each)",
        ".messages.jsonl",
        _messages,
        joins=True,
    ),
    RunForm(
        "fine-tuning",
        "Conversations for OpenAI's fine-tuning (JSON lines)",
        ".finetune.jsonl",
        _fine_tuning,
        joins=True,
    ),
)
"""All forms, in the order in which they are offered."""


def form_of(name: str) -> RunForm:
    """The form of a name; the report where there is none."""
    return next((form for form in FORMS if form.name == name), FORMS[0])


def export_run(
    events: Sequence[Event],
    form: RunForm,
    version: str,
    *,
    upto: int | None = None,
    hide: Callable[[str], str] = str,
    call_of: CallLookup = no_call,
) -> str:
    """A run in a form.

    Args:
        events: the whole journal.
        form: which form.
        version: the studio's version.
        upto: the last event of the branch that is wanted; None for the newest.
        hide: masks secrets; a run of an older studio may hold some.
        call_of: returns what a model call sent and received.

    Raises:
        ValueError: the journal is empty, or none.
    """
    if not events:
        raise ValueError("the journal is empty")
    if form.whole:
        return hide(form.make(events, version, call_of))
    branch = branch_path(events, upto if upto is not None else len(events))
    return hide(form.make(branch, version, call_of))


_NO_JOURNAL = "the file is not a journal of a run, the one form that comes back in"


def import_run(text: str, store: RunStore) -> str:
    """Take a journal into the history; gives the run's id, a new one where its own is taken.

    Raises:
        JournalError: the text is not a journal, or its events do not follow from each other.
    """
    calls: dict[int, WireCall] = {}
    try:
        events = list(read_journal(text, calls))
    except JournalError as error:
        if text.lstrip().startswith('{"t":'):
            raise
        raise JournalError(f"{_NO_JOURNAL} ({error})") from error
    if not events or not isinstance(events[0], Started):
        raise JournalError(f"{_NO_JOURNAL}: it does not begin with a run's start")
    if [event.seq for event in events] != list(range(1, len(events) + 1)):
        raise JournalError("events are missing, or not in their order")
    try:
        walk(events)
    except (ValueError, IndexError, KeyError, AttributeError, RuntimeError) as error:
        raise JournalError(f"the events do not follow from each other: {error}") from error
    first = events[0]
    run = first.setup.run
    if not run or store.summary(run) is not None:
        run = uuid.uuid4().hex[:12]
        events[0] = replace(first, setup=replace(first.setup, run=run))
    store.add(events, run, calls)
    return run
