"""Every event, with every field set to something, is read back as it was."""

from __future__ import annotations

import dataclasses
from typing import get_args

import pytest

from studio.core.agent.values.events import (
    AnswerChecked,
    CallCheck,
    CallDecided,
    CallsChecked,
    Event,
    Failed,
    ModelFailed,
    ModelReplied,
    Rendered,
    ReplyRead,
    Started,
    Stopped,
    ToolEnded,
)
from studio.core.agent.values.step import (
    Action,
    Final,
    FormatError,
    Limits,
    ReadingStyle,
    ReadingWarning,
    ReadSpan,
    Refused,
    Repair,
    RequestedCall,
    RunModel,
    RunSetup,
    StepError,
)
from studio.core.prompty.document import (
    MediaPart,
    Message,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    ToolSpec,
)
from studio.core.runs.codec import JournalError, decode_event, encode_event
from studio.core.runs.database import BlobStore, restore, shorten
from studio.core.runs.exchange import read_journal, write_journal
from studio.core.runs.store import RunStore
from studio.core.text.source import Span
from studio.core.tools.source import ToolOutcome
from studio.core.wire.reply import Reply, ToolCall, Usage

REPAIR = Repair("trailing_comma", "Remove it", "{,}", "{}", Span(1, 2), 1)
COMMON = {
    "thought": "t",
    "reasoning": "r",
    "spans": (ReadSpan("args", Span(0, 3), 1),),
    "warnings": (ReadingWarning("w", "W.", Span(1, 2)),),
    "kept": "k",
}
REPLY = Reply("text", "why", "no", (ToolCall("1", "a", "{}"),), Usage(1, 2, 3, 0.5), "stop", ("n",))
TOOL = ToolSpec("s", "d", {"type": "object"}, has_effects=True)
SETUP = RunSetup(
    run="r",
    inputs={"a": [1, {"b": None}], "$": "x"},
    tools=(TOOL,),
    options={"temperature": 0},
    stop=("\n",),
    response_schema={"type": "object"},
    limits=Limits(3, 4, 0.5, 9.0),
    parallel=True,
    final_words=("x",),
    repairs=frozenset({"b", "a"}),
    reading=ReadingStyle(True, ("A",), frozenset({"tools", "history"})),
)
MESSAGES = (
    Message(
        "user",
        (TextPart("hé 🗼"), MediaPart("image", "a.png", {"detail": "low"}, "alt")),
        {"name": "n"},
    ),
    Message("assistant", (ToolCallPart("1", "s", "{}"),)),
    Message("tool", (ToolResultPart("r"),), {"tool_call_id": "1"}),
)
EVENTS = [
    Started(SETUP, seq=1, at=2.5),
    Rendered(MESSAGES, ("p",)),
    ModelReplied(REPLY, 1.5, "recorded", "studio"),
    ModelFailed("k", "m", "h", True, REPLY, 1.0, 2.0),
    ReplyRead(
        Action(**COMMON, calls=(RequestedCall("1", "s", None, "{", "bad_args", "m", (REPAIR,)),))
    ),
    ReplyRead(Final(**COMMON, answer="a", composed_elsewhere=True)),
    ReplyRead(Refused(**COMMON, text="no")),
    ReplyRead(
        FormatError(**COMMON, code="bad_args", message="m", repairs=(REPAIR,), tool="s", answer="a")
    ),
    CallsChecked((CallCheck(("p",), "schema", True, "w", ("b",), {"a": 1}), CallCheck())),
    CallDecided(1, "answer", "x", "person"),
    ToolEnded(0, ToolOutcome("t", "timeout", 1.0, "err", {"v": [1]}, True), "mock"),
    AnswerChecked({"a": None}, ("p",)),
    Failed(StepError("format", "c", "m", "h", (REPAIR,), "a", "o", True)),
    Stopped(REPLY, True),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_events_are_read_back(event):
    assert decode_event(encode_event(event)) == event
    assert list(read_journal(write_journal([event, event]))) == [event, event]


def test_every_kind_of_event_can_be_written():
    for kind in get_args(Event):
        values = {
            field.name: example(field.type)
            for field in dataclasses.fields(kind)
            if field.default is dataclasses.MISSING
        }
        event = kind(**values)
        assert decode_event(encode_event(event)) == event


def example(kind: str):
    known = {
        "RunSetup": SETUP,
        "RunModel": RunModel("m", "i"),
        "Reply": REPLY,
        "Reading": Final(),
        "StepError": StepError("limit", "c", "m"),
        "ToolOutcome": ToolOutcome("t", "ok"),
        "JsonObject": {"a": 1},
        "int": 1,
        "str": "s",
        "float | None": 1.0,
        "tuple[Message, ...]": MESSAGES,
        "tuple[CallCheck, ...]": (CallCheck(),),
    }
    return known.get(
        kind, "P4" if kind == "PausePoint" else "step" if kind == "PauseReason" else "x"
    )


def test_what_is_no_event_is_named():
    with pytest.raises(JournalError, match="no event 'Nonsense'"):
        decode_event({"t": "Nonsense"})
    with pytest.raises(JournalError, match="'ToolCalled' cannot be read"):
        decode_event({"t": "ToolCalled"})
    with pytest.raises(JournalError, match="line 1 is not JSON"):
        list(read_journal("{\n{}\n"))


def test_a_cut_last_line_is_left_out():
    text = write_journal(EVENTS[:3])
    assert list(read_journal(text[:-20])) == EVENTS[:2]


def test_fields_of_a_newer_studio_are_passed_over():
    data = encode_event(EVENTS[9]) | {"new": 1}
    assert decode_event(data) == EVENTS[9]


def test_all_texts_of_a_run_come_at_once_and_no_large_one_of_others(tmp_path):
    store = RunStore(tmp_path / "r.sqlite")
    texts = [f"text {number} " * 30 for number in range(8)] + ["a picture " * 5_000]
    names = [store.blobs.put(text) for text in texts]
    other = store.blobs.put("of another run " * 5_000)
    held = store.blobs.held_by(names)
    assert [held.get(name) for name in names] == texts
    with pytest.raises(KeyError):
        held.get(other)
    store.close()


def test_long_texts_are_kept_once_and_lone_surrogates_survive(tmp_path):
    store = RunStore(tmp_path / "r.sqlite")
    blobs: BlobStore = store.blobs
    long = "line \ud800 of text\n" * 100
    value = {"a": long, "b": [long + "tail", {"$": 1, "x": long}], "c": "short"}
    short = shorten(value, blobs)
    assert short["a"] == short["b"][1]["$$"]["x"]
    assert restore(short, blobs.get) == value
    store.close()
