"""Open recorded model calls of the history as a prompt file, with their tools' results as mocks."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from studio.application.history.rows import call_of_step, kept_state
from studio.core.agent.values.state import RunState, steps_of
from studio.core.experiments.file.cases import plain_expected
from studio.core.imports.imported import ImportFailure
from studio.core.imports.recorded_calls import OpenedCalls, RecordedCall, prompt_of_calls
from studio.core.prompty.document import ModelDeclaration, PromptDocument
from studio.core.runs.rows import RECORDING, TRACE
from studio.core.runs.store import RunFilter, RunStore
from studio.core.text.values import JsonDict, JsonObject
from studio.core.wire.request import to_request


def open_calls(
    store: RunStore,
    run: str,
    number: int,
    *,
    alike: bool = False,
    branch: int | None = None,
    upto: int | None = None,
) -> OpenedCalls:
    """Return a prompt file for one model call, or for the same calls in a recording's runs.

    Args:
        store: the history.
        run: id of the run.
        number: iteration of the call.
        alike: whether to include the same calls in the recording's other runs.
        branch: number of the run's branch, from 0; None for the newest.
        upto: last event of the branch, instead of its number.

    Raises:
        LookupError: there is no such call, or its request is not stored.
        ImportFailure: its request cannot be read.
    """
    calls: list[RecordedCall] = []
    answers: list[JsonObject] = []
    lost: list[str] = []
    for each in (run, *(_others(store, run) if alike else ())):
        past = store.open(each)
        try:
            state = kept_state(past, branch, upto) if each == run else kept_state(past)
            calls.append(_recorded(store, each, state, number, lost if each == run else []))
        except LookupError:
            if each == run:
                raise
            continue
        answers += _answers(state)
    opened = prompt_of_calls(calls)
    asked = {"description": f"Calls like request {number} of {run}"} if alike else {}
    made = replace(opened.made, notes=(*opened.made.notes, *lost), answers=tuple(answers))
    return replace(opened, made=replace(made, experiment=asked))


def row_of_call(store: RunStore, run: str, number: int) -> JsonDict:
    """Return a recorded call as a case for the prompt file of it and similar calls.

    Raises:
        LookupError: there is no such call, or its request is not stored.
        ImportFailure: its request cannot be read.
    """
    sets = open_calls(store, run, number, alike=bool(_tag(store, run))).made.input_sets
    state = store.open(run).state
    replies = [step.reply for step in steps_of(state) if step.number == number] if state else []
    text = replies[0].text if replies and replies[0] is not None else ""
    return {**sets.get(_name(run, number), {}), "expected": plain_expected(text)}


def known_values(row: JsonObject, document: PromptDocument) -> JsonDict:
    """Return the values of a row for the declared inputs of a prompt."""
    return {name: value for name, value in row.items() if document.input(name) is not None}


def _recorded(
    store: RunStore, run: str, state: RunState, number: int, notes: list[str]
) -> RecordedCall:
    """Return a call as sent; for a trace it is built from its messages."""
    name, path = _name(run, number), "/chat/completions"
    try:
        kept = call_of_step(store, run, state, number)
    except LookupError:
        steps = [step for step in steps_of(state) if step.number == number and step.messages]
        if not steps or not state.setup.program:
            raise
        notes.append("The sent request was not recorded: this is the content of the trace.")
        options = {"additionalProperties": dict(state.setup.options)}
        model = ModelDeclaration(id=state.setup.model_id, options=options)
        tools = state.setup.tools
        body = to_request(steps[0].messages, tools, model, provider="openai-chat").body
        return RecordedCall(name, path, json.dumps(body))
    notes += (f"The body contains a mark for a secret: {mark}" for mark in kept.marks)
    return RecordedCall(name, kept.path, kept.body)


def opened_at(
    history: Path, run: str, number: int, *, alike: bool, upto: int | None = None
) -> OpenedCalls:
    """Call `open_calls` with a history's file; differences become notes of the prompt file.

    Raises:
        LookupError: there is no such call, or its request is not stored.
        ImportFailure: its request cannot be read.
        StoreError: the history cannot be read.
    """
    with closing(RunStore(history)) as store:
        opened = open_calls(store, run, number, alike=alike, upto=upto)
    told = [f"{name}: {each}" for name, found in opened.differences.items() for each in found]
    told += [f"{name}: its messages or tools have another form." for name in opened.left_out]
    return replace(opened, made=replace(opened.made, notes=(*told, *opened.made.notes)))


def _others(store: RunStore, run: str) -> Iterator[str]:
    """Yield the other runs of the recording, oldest first."""
    tag = _tag(store, run)
    if not tag:
        raise ImportFailure("The run is not part of a recording, so there are no similar calls.")
    found = store.runs(RunFilter(tag=tag, limit=-1))
    yield from (each.id for each in reversed(found) if each.id != run)


def _tag(store: RunStore, run: str) -> str:
    """Return the tag of the run's recording; empty without one."""
    summary = store.summary(run)
    return summary.shared_tag(RECORDING, TRACE) if summary is not None else ""


def _name(run: str, number: int) -> str:
    return f"{run}, request {number}"


def _answers(state: RunState) -> Iterator[JsonObject]:
    """Yield the results of a run's tools, as lines of saved calls."""
    for step in steps_of(state):
        for call in step.calls:
            if call.observation is not None and call.began:
                yield {
                    "name": f"{call.tool} {state.setup.run} {step.number}",
                    "tool": call.tool,
                    "arguments": dict(call.arguments or {}),
                    "status": "error" if call.is_error else "ok",
                    "text": call.observation,
                }


def row_at(history: Path, run: str, number: int) -> JsonDict:
    """Return a call in a history's file as a case; see `row_of_call`."""
    with closing(RunStore(history)) as store:
        return row_of_call(store, run, number)
