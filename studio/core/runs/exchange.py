"""Export and import of runs: the formats, and the checks of an import.

A report is one self-contained HTML page: to step through, to read, to send, to print. It has no
scripts, images or external addresses, and a content policy forbids them. All text of models and
tools is escaped. The cards are a group of radio buttons, so that clicks and arrow keys move through
the run; the selected card shows its content and its place in the loop.
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
    """Return links to failures; the label of a radio button works without a script."""
    found = [(number, card) for number, card in enumerate(cards) if card.is_bad]
    if not found:
        return ""
    ways = "".join(
        f'<label for="c{number}">{escape(card.title)} in iteration {card.step}</label>'
        for number, card in found
    )
    return f'<p class="jump">{ways}</p>\n'


_MOST_TICKS = 2_000
"""Maximum number of cards with a tick each; more would be too narrow to hit."""


def _chosen(count: int) -> str:
    """Return the style rules that mark the selected card; without a script, one rule per card."""
    if count > _MOST_TICKS:
        return ""
    lit = ",".join(f":has(#c{at}:checked) .ticks [for=c{at}]" for at in range(count))
    return f"{lit}{{opacity:1;outline:2px solid}}"


def _ticks(cards: Sequence[ReportCard]) -> str:
    """Return a tick for each card, as high as its duration; clicks and arrow keys select it."""
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
    """Return the HTML of a card: radio button, line, and content."""
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
    """Return a value as one line of JSON without line break; lone surrogates are escaped."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(data, separators=(",", ":"))
    return text


def write_journal(events: Iterable[Event], call_of: CallLookup = no_call) -> str:
    """Return a journal as JSON lines; the wire call of a model call follows its event."""
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
    """Return a whole journal without the raw responses of its model calls."""
    lines = journal.split(b"\n")
    for at, line in enumerate(lines):
        if line.startswith(_CALL_LINE):
            data = {**json.loads(line), "raw": "", "has_answer": False}
            lines[at] = _line(data).encode("utf-8", "surrogatepass")
    return b"\n".join(lines)


def read_journal(text: str, calls: dict[int, WireCall] | None = None) -> Iterator[Event]:
    """Yield the events of a journal; an incomplete last line is skipped.

    Args:
        text: the lines.
        calls: gets the wire calls of its model calls, by the numbers of their events.

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
    """A format in which a run can be exported."""

    name: str
    """Name for the command line."""

    label: str
    """Name for the user."""

    suffix: str
    """Suffix of its files."""

    make: Callable[[Sequence[Event], str, CallLookup], str]
    """Function that returns the text from events, the studio's version, and the wire calls."""

    whole: bool = False
    """Whether it contains the whole journal with all branches; else the branch of the last
    event.
    """

    joins: bool = False
    """Whether one file can contain several runs, one after another."""


def _tracy(events: Sequence[Event], version: str, call_of: CallLookup) -> str:
    return _json(trace(events, version))


def _otlp(events: Sequence[Event], version: str, call_of: CallLookup) -> str:
    return _json(otlp(events, version, call_of=call_of))


def _otlp_of_today(events: Sequence[Event], version: str, call_of: CallLookup) -> str:
    return _json(otlp(events, version, GENAI_0_1, call_of))


def _journal(events: Sequence[Event], version: str, call_of: CallLookup) -> str:
    return write_journal(events, call_of)


def _messages(events: Sequence[Event], version: str, call_of: CallLookup) -> str:
    """Return a line for each model call: the messages sent, with the reply as the last."""
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
    """Return conversations that end with the model's answer, in the format for fine-tuning.

    OpenAI's schema (`FineTuneChatRequestInput`) has no `developer`, no name of a tool's result, and
    only text and images: a conversation with audio or files is omitted.

    With native tools the last call contains all earlier messages, so a run is one line; a prompt
    with its steps as text is rendered again for each call, so each call is a line.
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
    """Return a message in the fine-tuning format; None if the format does not allow it."""
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
    """Return the text, with lone surrogates escaped."""
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
"""All formats, in the order of the menu."""


def form_of(name: str) -> RunForm:
    """Return the format with that name; the report if there is none."""
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
    """Export a run in a format.

    Args:
        events: the whole journal.
        form: the format.
        version: the studio's version.
        upto: last event of the branch; None for the newest branch.
        hide: masks secrets, which a run of an older studio may contain.
        call_of: returns the wire call of a model call.

    Raises:
        ValueError: the journal is empty or invalid.
    """
    if not events:
        raise ValueError("the journal is empty")
    if form.whole:
        return hide(form.make(events, version, call_of))
    branch = branch_path(events, upto if upto is not None else len(events))
    return hide(form.make(branch, version, call_of))


_NO_JOURNAL = "the file is not a journal of a run"


_YEAR_9999 = 253_370_764_800
"""Seconds since 1970; later times cannot be displayed."""


def whole_journal(text: str) -> tuple[Sequence[Event], Mapping[int, WireCall]]:
    """Read a journal whose events follow from each other.

    Raises:
        JournalError: the text is none.
    """
    calls: dict[int, WireCall] = {}
    try:
        events = list(read_journal(text, calls))
    except codec.JournalError as error:
        if text.lstrip().startswith('{"t":'):
            raise
        raise codec.JournalError(f"{_NO_JOURNAL} ({error})") from error
    if not events or not isinstance(events[0], Started):
        raise codec.JournalError(f"{_NO_JOURNAL}: it does not start with the start of a run")
    if [event.seq for event in events] != list(range(1, len(events) + 1)):
        raise codec.JournalError("events are missing, or not in their order")
    if not all(0 <= event.at < _YEAR_9999 for event in events):
        raise codec.JournalError("an event has an impossible time")
    try:
        walk(events)
    # `assert_never` raises an AssertionError for a word that no event has.
    except (
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        RuntimeError,
        AssertionError,
    ) as error:
        raise codec.JournalError(f"the events are inconsistent: {error}") from error
    return events, calls


def import_run(events: Sequence[Event], calls: Mapping[int, WireCall], store: RunStore) -> str:
    """Import a journal into the history; return the run's id, a new one if its own exists.

    Raises:
        JournalError: it contains a number that is too large.
    """
    first = events[0]
    assert isinstance(first, Started)
    run = first.setup.run
    if not run or store.summary(run) is not None:
        run = uuid.uuid4().hex[:12]
    first = replace(first, setup=replace(first.setup, run=run))
    try:
        store.add((first, *events[1:]), run, calls)
    except OverflowError as error:
        raise codec.JournalError(f"it contains a number that is too large: {error}") from error
    return run
