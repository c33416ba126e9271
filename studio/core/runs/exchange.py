"""Export and import of runs: the formats, and what an import accepts.

A run as one HTML page that needs nothing else: to step through, to read, to send, to print.

No script, no picture, no address outside; a content policy in the page forbids them too. All of
what a model or a tool said is escaped text. The cards are a group of radio buttons, so that a click
or the arrow keys go through the run; the card chosen shows its content and its place in the loop.
"""

import json
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from html import escape
from itertools import groupby

from studio.core.agent.loop.machine import fold
from studio.core.agent.loop.steps import messages_of, models_of
from studio.core.agent.past.replay import branch_path, walk
from studio.core.agent.values.events import Event, ModelCalled, Started
from studio.core.agent.values.state import RunState, steps_of
from studio.core.agent.values.step import PausePoint
from studio.core.masking.redact import redact
from studio.core.paths import resource_text
from studio.core.prompty.document import ModelDeclaration
from studio.core.runs import codec
from studio.core.runs.otlp import GENAI_0_1, otlp
from studio.core.runs.report_cards import STATIONS, ReportCard, bad, cards_of
from studio.core.runs.store import RunStore
from studio.core.runs.traces import chat_message, chat_reply, trace
from studio.core.text.amounts import duration, money
from studio.core.text.values import Json, JsonDict, JsonObject, list_of, parse_json, reason_of
from studio.core.wire.request import to_request
from studio.core.wire.wire_call import CallLookup, WireCall, no_call


def report(events: Sequence[Event], version: str) -> str:
    """Return the page of a branch: `events` is `tree.branch_path` of its last event.

    Args:
        events: The branch, from `Started`.
        version: The studio's version.
    """
    state = fold(events)
    title = escape(state.setup.prompt or "Run")
    cards = list(cards_of(state))
    style = resource_text("words", "run_report.css")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{style}{_chosen(len(cards))}</style></head><body>\n"
        f"<h1>{title}</h1>\n{_facts(state, events)}\n{_end(state)}\n{_problems(cards)}"
        f"{_ticks(cards)}{_run(cards)}"
        f'\n<p class="quiet">Written by Prompt Studio {escape(version)}.</p>\n</body></html>\n'
    )


def _facts(state: RunState, events: Sequence[Event]) -> str:
    setup = state.setup
    usage = state.usage
    began = events[0].at
    tokens = f"{usage.total_tokens:,} ({usage.input_tokens:,} in, {usage.output_tokens:,} out)"
    time = f"worked {duration(state.seconds)}"
    if state.setup.recorded_seconds is not None:
        time += f" (recorded: {duration(state.setup.recorded_seconds)})"
    if state.waited >= 1:
        time += f", waited for the user {duration(state.waited)}"
    rows = [
        ("Question", setup.question),
        ("Model", ", then ".join(models_of(state))),
        ("Protocol", setup.protocol),
        ("Started", f"{datetime.fromtimestamp(began, UTC):%Y-%m-%d %H:%M:%S} UTC"),
        ("Time", time),
        ("Iterations", str(state.iteration)),
        ("Tokens", tokens if usage.total_tokens else ""),
        ("Cost", money(usage.cost)),
        ("End", state.status),
        ("Run", setup.run),
    ]
    cells = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(text)}</dd></div>" for name, text in rows if text
    )
    return f"<dl>{cells}</dl>"


def _end(state: RunState) -> str:
    made = ""
    if state.answer is not None:
        step = state.step
        touched = step.answer is not None or PausePoint.ANSWER in step.edited_at
        who = "<em>written by the user</em>" if touched else ""
        text = escape(state.answer.strip("\n"))
        made = f'<section class="answer"><h3>Answer{who}</h3><pre>{text}</pre></section>'
    if state.error is not None and state.status != "done":
        made += bad(f"{state.error.message} {state.error.hint}".strip())
    return made


def _problems(cards: Sequence[ReportCard]) -> str:
    """Return links to failures; a radio button's label goes there without a script."""
    found = [(number, card) for number, card in enumerate(cards) if card.is_bad]
    if not found:
        return ""
    ways = "".join(
        f'<label for="c{number}">{escape(card.title)} in iteration {card.step}</label>'
        for number, card in found
    )
    return f'<p class="jump">{ways}</p>\n'


_MOST_TICKS = 2_000
"""Cards up to which there is a tick for each; more would be narrower than a finger."""


def _chosen(count: int) -> str:
    """Return the style rules that mark the shown card; without a script, one rule for each."""
    if count > _MOST_TICKS:
        return ""
    lit = ",".join(f":has(#c{at}:checked) .ticks [for=c{at}]" for at in range(count))
    return f"{lit}{{opacity:1;outline:2px solid}}"


def _ticks(cards: Sequence[ReportCard]) -> str:
    """Return a tick for each card, as high as its duration; clicks and arrow keys go to it."""
    if len(cards) > _MOST_TICKS:
        return ""
    longest = max((card.seconds for card in cards), default=0.0) or 1.0
    made: list[str] = []
    for number, card in enumerate(cards):
        height = 8 + round(36 * (card.seconds / longest) ** 0.5)
        classes = [card.station, *["bad"] * card.is_bad, *["touched"] * card.is_touched]
        title = escape(f"{card.title}, iteration {card.step}: {', '.join(card.marks)}".rstrip(": "))
        made.append(
            f'<label for="c{number}" class="{" ".join(classes)}" style="height:{height}px"'
            f' title="{title}"></label>'
        )
    return f'<div class="ticks">{"".join(made)}</div>\n'


def _run(cards: Sequence[ReportCard]) -> str:
    parts: list[str] = []
    passed: Counter[str] = Counter()
    numbered = enumerate(cards)
    for step, group in groupby(numbered, key=lambda each: each[1].step):
        parts.append(f"<h2>Iteration {step}</h2>")
        for number, card in group:
            passed[card.station] += 1
            parts.append(_card(number, card, passed))
    return f'<section class="run" aria-label="Steps">{"".join(parts)}</section>'


def _card(number: int, card: ReportCard, passed: Mapping[str, int]) -> str:
    """Return a stop: its radio button, line, and content; arrow keys work from the start."""
    checked = " checked autofocus" if number == 0 else ""
    marks = "".join(f"<em>{escape(mark)}</em>" for mark in card.marks)
    time = f"<i>{duration(card.seconds)}</i>" if card.seconds else ""
    tone = ' class="bad"' if card.is_bad else ""
    loop = "".join(
        f"<li{' aria-current=step' if station == card.station else ''}>{station}"
        f"{f' ×{passed[station]}' if passed.get(station, 0) > 1 else ''}</li>"
        for station in STATIONS
    )
    return (
        f'<input type="radio" name="card" id="c{number}"{checked}>'
        f'<label for="c{number}">{time}<strong{tone}>{escape(card.title)}</strong>{marks}'
        f"<span>{escape(card.summary)}</span></label>"
        f'<article aria-label="{escape(card.title)}, iteration {card.step}"><ol>{loop}</ol>'
        f"{card.content}</article>\n"
    )


def _line(data: JsonObject) -> str:
    """Return one line of JSON, without the line end; lone surrogates escaped."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(data, separators=(",", ":"))
    return text


def write_journal(events: Iterable[Event], call_of: CallLookup = no_call) -> str:
    """Return a journal as JSON lines; what a model call exchanged follows its event."""
    lines: list[str] = []
    for event in events:
        lines.append(_line(codec.encode_event(event)))
        call = call_of(event.seq) if isinstance(event, ModelCalled) else None
        if call is not None:
            encoded = codec.encode_value(call)
            assert isinstance(encoded, dict)
            lines.append(_line({"t": WireCall.__name__, "seq": event.seq, **encoded}))
    return "".join(line + "\n" for line in lines)


_CALL_LINE = f'{{"t":"{WireCall.__name__}",'.encode()


def without_replies(journal: bytes) -> bytes:
    """Return a whole journal without the raw replies of its model calls."""
    lines = journal.split(b"\n")
    for at, line in enumerate(lines):
        if line.startswith(_CALL_LINE):
            data = {**json.loads(line), "raw": "", "has_answer": False}
            lines[at] = _line(data).encode("utf-8", "surrogatepass")
    return b"\n".join(lines)


def read_journal(text: str, calls: dict[int, WireCall] | None = None) -> Iterator[Event]:
    """Yield the events of a journal; a last line that was cut off in writing is left out.

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
            raise codec.JournalError(f"line {number} is not JSON: {reason_of(error)}") from error
        if not isinstance(data, dict):
            raise codec.JournalError(f"line {number} is not an event")
        if data.get("t") != WireCall.__name__:
            yield codec.decode_event(data)
        elif calls is not None:
            seq = data.get("seq", 0)
            if not isinstance(seq, int):
                raise codec.JournalError(
                    f"line {number}: seq {seq!r} is not the number of an event"
                )
            calls[seq] = codec.decode_value(WireCall, data)


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
    """Whether one file can contain several runs, one behind the other."""


def _tracy(events: Sequence[Event], version: str, call_of: CallLookup) -> str:
    return _json(trace(events, version))


def _otlp(events: Sequence[Event], version: str, call_of: CallLookup) -> str:
    return _json(otlp(events, version, call_of=call_of))


def _otlp_of_today(events: Sequence[Event], version: str, call_of: CallLookup) -> str:
    return _json(otlp(events, version, GENAI_0_1, call_of))


def _journal(events: Sequence[Event], version: str, call_of: CallLookup) -> str:
    return write_journal(events, call_of)


def _messages(events: Sequence[Event], version: str, call_of: CallLookup) -> str:
    """Return a line for each model call: what was sent, and the reply as its last message."""
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
    """Return conversations that end with the model's answer, as OpenAI's fine-tuning takes them.

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
        taught = [_taught(each) for each in list_of(body["messages"])]
        if None in taught:
            continue
        line: JsonDict = {"messages": [*taught, {"role": "assistant", **answer}]}
        if body.get("tools"):
            line["tools"] = body["tools"]
        hidden = redact(line)
        lines.append(_sendable(json.dumps(hidden, ensure_ascii=False), hidden) + "\n")
    return "".join(lines)


def _taught(message: Json) -> Json:
    """Return a message in the words that fine-tuning knows; None for one that it does not take."""
    if not isinstance(message, dict):
        return None
    parts = list_of(message.get("content"))
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


def _json(value: JsonDict) -> str:
    return json.dumps(value, ensure_ascii=True, indent=2) + "\n"


def _sendable(text: str, value: Json) -> str:
    """Return the text, with lone surrogates escaped where there are any."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value)
    return text


def _report(events: Sequence[Event], version: str, call_of: CallLookup) -> str:
    return report(events, version).encode("utf-8", "replace").decode("utf-8")


FORMS: tuple[RunForm, ...] = (
    RunForm("html", "Report (HTML, to read or print)", ".html", _report),
    RunForm(
        "journal", "Journal (JSON lines, can be imported again)", ".jsonl", _journal, True, True
    ),
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
    """Return the form of a name; the report where there is none."""
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
    """Return a run in a form.

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


_NO_JOURNAL = "the file is not a journal of a run"


_YEAR_9999 = 253_370_764_800
"""Seconds since 1970; later times cannot be shown."""


def import_run(text: str, store: RunStore) -> str:
    """Take a journal into the history; gives the run's id, a new one where its own is taken.

    Raises:
        JournalError: the text is not a journal, or its events do not follow from each other.
    """
    calls: dict[int, WireCall] = {}
    try:
        events = list(read_journal(text, calls))
    except codec.JournalError as error:
        if text.lstrip().startswith('{"t":'):
            raise
        raise codec.JournalError(f"{_NO_JOURNAL} ({error})") from error
    if not events or not isinstance(events[0], Started):
        raise codec.JournalError(f"{_NO_JOURNAL}: it does not begin with a run's start")
    if [event.seq for event in events] != list(range(1, len(events) + 1)):
        raise codec.JournalError("events are missing, or not in their order")
    if not all(0 <= event.at < _YEAR_9999 for event in events):
        raise codec.JournalError("an event has a time that no clock shows")
    try:
        walk(events)
    # An AssertionError is that of `assert_never`: a word that no event has.
    except (
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        RuntimeError,
        AssertionError,
    ) as error:
        raise codec.JournalError(f"the events do not follow from each other: {error}") from error
    first = events[0]
    run = first.setup.run
    if not run or store.summary(run) is not None:
        run = uuid.uuid4().hex[:12]
        events[0] = replace(first, setup=replace(first.setup, run=run))
    try:
        store.add(events, run, calls)
    except OverflowError as error:
        raise codec.JournalError(f"a number of it is too large: {error}") from error
    return run
