"""The history of 0.1.0 opens with the same contents: lists, runs, branches, journals."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import types
import typing
from collections.abc import Iterator, Mapping
from contextlib import closing
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from studio.core.agent.loop.machine import fold
from studio.core.agent.loop.steps import messages_of
from studio.core.agent.past.replay import walk
from studio.core.agent.values.events import Event, ModelReplied
from studio.core.agent.values.state import RunState, steps_of
from studio.core.agent.values.step import (
    Action,
    Call,
    Final,
    FormatError,
    PausePoint,
    Refused,
    Step,
)
from studio.core.prompty.document import MediaPart, Message, Part, TextPart, ToolCallPart
from studio.core.runs.codec import encode_event
from studio.core.runs.exchange import (
    FORMS,
    export_run,
    import_run,
    read_journal,
    whole_journal,
    write_journal,
)
from studio.core.runs.rows import RunSummary
from studio.core.runs.store import RunStore
from studio.core.runs.traces import chat_reply
from studio.core.wire.reply import Reply

DATA = Path(__file__).resolve().parents[1] / "data" / "from_0_1_0"
EXPECTED: dict[str, dict[str, Any]] = json.loads(
    (DATA / "expected_runs.json").read_text(encoding="utf-8")
)
KILLED = "d0killed0010"
READINGS = {Action: "action", Final: "final", Refused: "refused", FormatError: "format error"}


@pytest.fixture
def store(old_home: Path) -> Iterator[RunStore]:
    with closing(RunStore(old_home / "data" / "runs.sqlite")) as made:
        yield made


# What a run is, in the words of `expected_runs.json` --------------------------------------------


def short(text: str) -> str:
    if len(text) <= 160:
        return text
    checksum = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f"{text[:60]} … {len(text)} characters, sha256 {checksum}"


def part_of(part: Part) -> object:
    match part:
        case TextPart(text=text):
            return short(text)
        case MediaPart(kind=kind, source=source, attributes=attributes, alt=alt):
            return {"kind": kind, "source": source, "attributes": dict(attributes), "alt": alt}
        case ToolCallPart(id=identifier, name=name, arguments=arguments):
            return {"id": identifier, "name": name, "arguments": arguments}
        case _:
            return {"result": short(part.text)}


def message_of(message: Message) -> dict[str, object]:
    parts = [part_of(part) for part in message.parts]
    return {"role": message.role, "parts": parts, "attributes": dict(message.attributes)}


def reply_of(reply: Reply | None) -> dict[str, object] | None:
    if reply is None:
        return None
    return {
        "text": short(reply.text),
        "reasoning": reply.reasoning,
        "refusal": reply.refusal,
        "calls": [[call.id, call.name, call.arguments] for call in reply.tool_calls],
        "finish": reply.finish_reason,
        "tokens": reply.usage.total_tokens if reply.usage else None,
    }


def call_of(call: Call) -> dict[str, object]:
    return {
        "tool": call.tool,
        "arguments": call.arguments,
        "status": call.status,
        "observation": call.observation,
        "is error": call.is_error,
        "problems": list(call.problems),
        "edited": sorted(call.edited),
        "origin": call.origin,
    }


def step_of(state: RunState, step: Step) -> dict[str, object]:
    reading = step.reading
    return {
        "number": step.number,
        "messages": len(messages_of(state, step.number)),
        "reply": reply_of(step.reply),
        "partial": reply_of(step.partial),
        "origin": step.reply_origin,
        "reading": READINGS[type(reading)] if reading is not None else None,
        "thought": reading.thought if reading is not None else "",
        "calls": [call_of(call) for call in step.calls],
        "observation": step.observation,
        "answer": step.answer,
        "marks": sorted(step.marks),
        "warnings": [warning.code for warning in step.warnings],
    }


def state_of(state: RunState, *, whole: bool) -> dict[str, object]:
    steps = list(steps_of(state))
    last = messages_of(state, steps[-1].number) if steps else ()
    return {
        "status": state.status,
        "answer": state.answer,
        "value": state.answer_value,
        "tokens": state.usage.total_tokens,
        "steps allowed": state.limits.iterations,
        "error": [state.error.kind, state.error.message] if state.error else None,
        "stands at": tuple(PausePoint).index(state.place) if state.place else None,
        "last messages": [message_of(message) for message in last],
        "steps": [step_of(state, step) for step in steps] if whole else len(steps),
    }


def line_of(line: RunSummary) -> dict[str, object]:
    return {
        "prompt": line.prompt,
        "path": line.path,
        "protocol": line.protocol,
        "model": line.model,
        "question": line.question,
        "status": line.status,
        "model calls": line.calls_model,
        "tool calls": line.calls_tool,
        "tokens": line.tokens,
        "cost": line.cost,
        "answer": line.answer,
        "events": line.events,
        "forks": line.branches,
        "tags": list(line.tags),
        "note": line.note,
        "pinned": line.pinned,
        "started": line.started,
        "updated": line.updated,
    }


# The history --------------------------------------------------------------------------------------


def test_the_list_is_the_same(store: RunStore) -> None:
    lines = store.runs()
    # Pinned first, then the newest; as 0.1.0 listed them.
    assert [line.id for line in lines] == list(EXPECTED)
    for line in lines:
        assert line_of(line) == EXPECTED[line.id]["line"], line.id


@pytest.mark.parametrize("run", EXPECTED)
def test_a_run_is_the_same_at_every_place(store: RunStore, run: str) -> None:
    expected = EXPECTED[run]
    past = store.open(run)
    assert past.state is not None
    setup = past.state.setup
    assert dict(setup.inputs) == expected["inputs"]
    assert short(setup.source) == expected["source"]
    assert [tool.name for tool in setup.tools] == expected["tools"]
    assert dict(setup.options) == expected["options"]
    assert list(setup.stop) == expected["stop"]
    assert store.branch_names(run) == {
        int(number): name for number, name in expected["branch names"].items()
    }
    checkpoints = past.tree.checkpoints
    assert [
        [
            each.id,
            each.parent,
            tuple(PausePoint).index(each.place),
            each.iteration,
            each.call,
            each.branch,
        ]
        for each in checkpoints
    ] == expected["places"]
    assert state_of(past.state, whole=True) == expected["end"]
    branches = {str(each.branch): each.id for each in checkpoints}  # the last place of each
    assert {
        branch: state_of(past.state_at(place), whole=False) for branch, place in branches.items()
    } == expected["branches"]


@pytest.mark.parametrize("run", EXPECTED)
def test_what_is_noted_beside_the_events_agrees_with_them(store: RunStore, run: str) -> None:
    """0.1.0 kept marks, shapes and states beside the events; a long run is shown from those."""
    events = list(store.events(run))
    noted, folded = store.open(run), walk(events)
    assert noted.tree.checkpoints == folded.tree.checkpoints
    for checkpoint in folded.tree.checkpoints:
        assert _timed(noted.state_at(checkpoint.id)) == _timed(folded.state_at(checkpoint.id))


def _timed(state: RunState) -> RunState:
    """A state to a tenth of a millisecond: 0.1.0 added up other clocks than those of events."""
    return dataclasses.replace(
        state, seconds=round(state.seconds, 4), seconds_tools=round(state.seconds_tools, 4)
    )


def test_a_run_whose_process_died_is_ended_and_can_be_gone_back_in(store: RunStore) -> None:
    assert store.mark_interrupted() == (KILLED,)
    line = store.summary(KILLED)
    assert line is not None
    assert line.status == "interrupted"
    state = store.open(KILLED).state
    assert state is not None
    assert state.status == "interrupted"
    assert [call.status for call in state.step.calls] == ["unknown"]


@pytest.mark.parametrize("run", EXPECTED)
def test_a_run_leaves_and_comes_back(store: RunStore, run: str, tmp_path: Path) -> None:
    events = list(store.events(run))
    calls = [event for event in events if isinstance(event, ModelReplied)]
    for form in FORMS:
        made = export_run(events, form, "0.2.0")
        # Messages are of replies, and fine-tuning lines of replies that say something.
        says = any(chat_reply(each.reply).get("content") for each in calls)
        may_be_empty = {"messages": not calls, "fine-tuning": not says}
        assert made or may_be_empty.get(form.name), form.name
    with closing(RunStore(tmp_path / "other.sqlite")) as other:
        assert import_run(*whole_journal(write_journal(events)), other) == run
        assert list(other.events(run)) == events


# Journals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "run"), [("forked", "c3native0003"), ("errors", "d4error00004")])
def test_an_exported_journal_is_taken_in_again(name: str, run: str, tmp_path: Path) -> None:
    text = (DATA / "journals" / f"{name}.jsonl").read_text(encoding="utf-8")
    with closing(RunStore(tmp_path / "runs.sqlite")) as store:
        assert import_run(*whole_journal(text), store) == run
        state = store.open(run).state
        assert state is not None
        assert state_of(state, whole=True) == EXPECTED[run]["end"]


def test_a_journal_that_was_cut_off_gives_what_is_whole_of_it(store: RunStore) -> None:
    text = (DATA / "journals" / "cut_off.jsonl").read_text(encoding="utf-8")
    assert not text.endswith("\n")
    found = list(read_journal(text))
    whole = list(store.events("a1react00001"))
    assert found == whole[: len(found)]
    assert len(found) == text.count("\n")
    assert fold(found) == walk(found).state


def leaves(value: object) -> Iterator[object]:
    """Keys, texts and numbers of a JSON value that stand in it once only."""
    match value:
        case Mapping():
            for key, item in value.items():
                yield from leaves(key)
                yield from leaves(item)
        case list():
            for item in value:
                yield from leaves(item)
        case str() if value.startswith(("text ", "key ")):
            yield value
        case int() | float() if not isinstance(value, bool) and value > 1000:
            yield value
        case _:
            pass


def test_nothing_of_any_kind_of_event_is_lost() -> None:
    """A field or member that was renamed and is not read by its old name would leave a gap."""
    lines = (DATA / "journals" / "every_event.jsonl").read_text(encoding="utf-8").splitlines()
    events = list(read_journal("\n".join(lines)))
    assert len(events) == len(lines) == 123
    for line, event in zip(lines, events, strict=True):
        before = json.loads(line)
        after = encode_event(event)
        assert set(leaves(before)) == set(leaves(after)), before["t"]
        assert flags(before) == flags(after), before["t"]
        for problem in misfits(event, type(event), before["t"]):
            pytest.fail(problem)
    kinds = {type(event) for event in events}
    assert kinds >= {kind for kind in typing.get_args(Event) if kind.__name__ in OLD_KINDS}


def flags(value: object) -> int:
    """How often `true` stands in a JSON value."""
    match value:
        case bool():
            return int(value)
        case Mapping():
            return sum(flags(item) for item in value.values())
        case list():
            return sum(flags(item) for item in value)
        case _:
            return 0


OLD_KINDS = {
    json.loads(line)["t"]
    for line in (DATA / "journals" / "every_event.jsonl").read_text(encoding="utf-8").splitlines()
}


ANY_JSON = {"Json": object, "JsonObject": object}
"""Stands for the recursive aliases, which annotations cannot be resolved with."""


def is_enum(hint: object) -> bool:
    return isinstance(hint, type) and issubclass(hint, Enum)


def misfits(value: object, hint: Any, where: str) -> Iterator[str]:
    """Where a value is not of the words or members that its annotation allows today."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        if value not in inner:
            yield f"{where}: {value!r} is none of {inner}"
    elif is_enum(hint):
        if not isinstance(value, hint):
            yield f"{where}: {value!r} is no {hint.__name__}"
    elif dataclasses.is_dataclass(value):
        hints = typing.get_type_hints(type(value), localns=ANY_JSON)
        for field in dataclasses.fields(value):
            name = f"{where}.{field.name}"
            yield from misfits(getattr(value, field.name), hints[field.name], name)
    elif origin is tuple and isinstance(value, tuple):
        for index, item in enumerate(value):
            kind = inner[0] if inner[1:] == (...,) else inner[index]
            yield from misfits(item, kind, f"{where}[{index}]")
    elif origin is not None and isinstance(value, frozenset):
        for item in value:
            yield from misfits(item, inner[0], where)
    elif isinstance(value, str) and origin in (typing.Union, types.UnionType):
        for member in inner:
            if typing.get_origin(member) is typing.Literal or is_enum(member):
                yield from misfits(value, member, where)
