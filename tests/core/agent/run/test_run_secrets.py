"""No secret becomes a fact of a run, and what its prompt sends is sent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from studio.core.agent.loop.machine import fold
from studio.core.agent.past.replay import (
    RecordedModel,
    RecordedSpecs,
    RecordedTools,
    Reenactment,
    branch_path,
)
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.run.runner import Run
from studio.core.agent.values.commands import Continue, ForkFrom
from studio.core.agent.values.events import MessagesEdited
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.state import RunState
from studio.core.masking.masker import Masker
from studio.core.models.base import ModelRequest
from studio.core.models.bodies import as_sent
from studio.core.models.scripted import ScriptedModel, ScriptedReply
from studio.core.prompty.document import Message, TextPart
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.runs.exchange import write_journal
from studio.core.runs.store import RunStore
from studio.core.tools.source import ToolOutcome
from studio.core.wire.reply import Reply, ReplyDelta
from tests.core.agent.runs import Functions, call, calling, document
from tests.support.start_run import start_run

NOTE = "NOTEPLANTED-5150"
KEY = "sk-planted-tool-0123456789"

PROMPT = """---
name: Noted
inputs:
  note: {kind: string, default: "${env:MY_NOTE}"}
tools:
  - name: echo
    kind: function
    description: Say it again.
    parameters:
      - {name: text, kind: string, required: true}
%s---
system:
The note is {{ note }}.
user:
Go.
"""


class Sending(ScriptedModel):
    """A scripted model that keeps what it would send."""

    def __init__(self, replies: list[ScriptedReply]) -> None:
        super().__init__(replies)
        self.sent: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[ReplyDelta]:  # type: ignore[override]
        self.sent.append(as_sent(request))
        async for delta in super().stream(request):
            yield delta


def echo(text: str) -> ToolOutcome:
    """Say it again, and more than was asked for."""
    return ToolOutcome(f"{text} and {KEY}", "ok", value={"it": [text, KEY]}, stderr=KEY)


def world_of(
    environment: dict[str, str], *, replies: list[ScriptedReply], settings: str = ""
) -> tuple[dict[str, Any], Sending, Masker]:
    masker = Masker({"TOOL_KEY": KEY})
    references = ReferenceContext(environment=environment, masker=masker)
    model = Sending(replies)
    given = {
        "document": document(PROMPT % settings),
        "model": model,
        "references": references,
        "options": RunOptions(headless=True),
    }
    return given, model, masker


def started(given: dict[str, Any], **more: Any) -> tuple[Run, Functions]:
    tools = Functions(echo)
    model, prompt = given["model"], given["document"]
    rest = {name: value for name, value in given.items() if name not in ("model", "document")}
    return start_run(prompt, {}, model, tools, run="r1", **rest, **more), tools


async def test_what_the_prompt_reads_is_sent_and_kept_as_its_reference() -> None:
    replies: list[ScriptedReply] = [
        calling(call("echo", json.dumps({"text": f"<{NOTE}>"}))),
        Reply(f"It was {NOTE}.", finish_reason="stop"),
    ]
    given, model, _ = world_of({"MY_NOTE": NOTE}, replies=replies)
    shown: list[str] = []
    run, tools = started(given, stream=lambda delta, reply: shown.append(repr((delta, reply))))
    state = await run.go()
    assert state.answer == "It was ${env:MY_NOTE}."
    assert state.released == {"${env:MY_NOTE}"}
    # The model knows the note, and gets it; the tool's key it never gets.
    assert model.sent[0].messages[0].text == f"The note is {NOTE}."
    told = model.sent[1].messages[-1]
    assert [part.text for part in told.parts] == [f"<{NOTE}> and ${{env:TOOL_KEY}}"]  # type: ignore[union-attr]
    assert tools.called == [("echo", {"text": "<${env:MY_NOTE}>"})]
    for text in (write_journal(run.events), repr(state), *shown):
        assert NOTE not in text
        assert KEY not in text
    assert "${env:MY_NOTE}" in write_journal(run.events)


async def test_a_value_that_is_no_secret_for_the_document_is_kept_as_it_is() -> None:
    settings = "metadata:\n  agent:\n    not_secret: [MY_NOTE]\n"
    given, _, _ = world_of(
        {"MY_NOTE": NOTE}, replies=[Reply(NOTE, finish_reason="stop")], settings=settings
    )
    run, _ = started(given)
    assert (await run.go()).answer == NOTE
    assert run.state.released == frozenset()


async def test_an_untrusted_document_does_not_decide_that() -> None:
    text = "---\nmetadata:\n  agent:\n    not_secret: TOOL_KEY\n---\nuser:\nGo.\n"
    for trusted in (False, True):
        given, _, masker = world_of({}, replies=[Reply(KEY, finish_reason="stop")])
        given["document"] = document(text)
        given["references"] = ReferenceContext(environment={}, trusted=trusted, masker=masker)
        run, _ = started(given)
        answer = (await run.go()).answer
        assert answer == (KEY if trusted else "${env:TOOL_KEY}")
        assert masker.mask(KEY) == "${env:TOOL_KEY}"


async def test_what_comes_back_is_never_sent_on() -> None:
    """Neither what a tool leaks, nor a reference that the model makes up."""
    replies: list[ScriptedReply] = [
        calling(call("echo", '{"text": "${env:TOOL_KEY} ${env:OTHER}"}')),
        Reply("done", finish_reason="stop"),
    ]
    given, model, masker = world_of({"MY_NOTE": NOTE}, replies=replies)
    masker.note("${env:OTHER}", "other-secret-value")
    run, _ = started(given)
    await run.go()
    assert KEY not in repr(model.sent)
    assert "other-secret-value" not in repr(model.sent)
    assert "${env:OTHER}" in repr(model.sent[1])


async def test_a_kept_run_goes_on_with_the_value_as_it_is_then(tmp_path: Path) -> None:
    replies: list[ScriptedReply] = [
        calling(call("echo", '{"text": "a"}')),
        Reply("done", finish_reason="stop"),
    ]
    given, _, _ = world_of({"MY_NOTE": NOTE}, replies=replies)
    store = RunStore(tmp_path / "runs.sqlite")
    run, _ = started(given, journal=store.journal("r1"))
    await run.go()
    place = run.tree.find(2)
    assert place is not None
    for environment, expected in (
        ({"MY_NOTE": "another-note-1"}, "done"),
        ({}, "failed"),
    ):
        again, model, _ = world_of(environment, replies=[Reply("done", finish_reason="stop")])
        past = store.open("r1")
        plan = RunPlan(
            again["document"],
            {},
            model,
            Functions(echo),
            references=again["references"],
            options=RunOptions(headless=True, attempts=1),
            past=past,
        )
        taken = Run(plan, run.state.setup)
        assert taken.state.released == {"${env:MY_NOTE}"}
        state = await taken.go(ForkFrom(place.id), Continue())
        assert state.status == expected
        if expected == "done":
            assert model.sent[0].messages[0].text == "The note is another-note-1."
        else:
            assert state.error is not None
            assert "'MY_NOTE', which is not set" in state.error.message
            assert "Set MY_NOTE" in state.error.hint
    store.close()


async def test_an_exact_replay_needs_no_value() -> None:
    replies: list[ScriptedReply] = [
        calling(call("echo", json.dumps({"text": NOTE}))),
        Reply("done", finish_reason="stop"),
    ]
    given, _, _ = world_of({"MY_NOTE": NOTE}, replies=replies)
    run, _ = started(given)
    before = await run.go()
    recording = Reenactment(branch_path(run.events, len(run.events))).recording
    again, _, _ = world_of({"MY_NOTE": NOTE}, replies=[])
    again["model"] = RecordedModel(recording.calls)
    rest = {name: again[name] for name in ("references", "options")}
    replayed = start_run(
        again["document"],
        {},
        again["model"],
        RecordedTools(RecordedSpecs(before.setup.tools), recording, live=False),
        **rest,
    )
    state = await replayed.go()
    assert state.answer == "done"
    assert [step.calls for step in state.steps] != []
    assert state.steps[0].calls[0].observation == before.steps[0].calls[0].observation


async def test_what_the_user_puts_in_is_sent() -> None:
    given, model, masker = world_of({"MY_NOTE": NOTE}, replies=[Reply("ok", finish_reason="stop")])
    masker.note("${env:OTHER}", "other-secret-value")
    given["options"] = RunOptions(stop_at_entry=True)
    states: list[RunState] = []
    run, _ = started(given, shown=lambda event: states.append(run.state))

    def edit() -> None:
        run.send(MessagesEdited((Message("user", (TextPart("take other-secret-value"),)),)))
        run.send(Continue())

    task = asyncio.create_task(run.go())
    while run.state.pause is None:
        await asyncio.sleep(0)
    edit()
    await task
    assert model.sent[0].messages[0].text == "take other-secret-value"
    assert "other-secret-value" not in write_journal(run.events)
    assert fold(run.events).released == {"${env:MY_NOTE}", "${env:OTHER}"}


async def test_variables_in_the_options_are_sent_and_not_kept() -> None:
    text = (
        "---\nmodel:\n  options:\n    additionalProperties:\n"
        '      metadata: {team: "<${env:MY_NOTE}>", place: "${env:PLACE:north}"}\n'
        "---\nuser:\nGo.\n"
    )
    given, model, _ = world_of({"MY_NOTE": NOTE}, replies=[Reply(NOTE, finish_reason="stop")])
    given["document"] = document(text)
    run, _ = started(given)
    state = await run.go()
    sent = dict(model.sent[0].options or {})["additionalProperties"]
    assert sent == {"metadata": {"team": f"<{NOTE}>", "place": "north"}}
    assert NOTE not in write_journal(run.events)
    assert state.answer == "${env:MY_NOTE}"


async def test_options_of_an_untrusted_prompt_read_nothing_and_nothing_is_sent() -> None:
    text = '---\nmodel:\n  options:\n    user: "${env:MY_NOTE}"\n---\nuser:\nGo.\n'
    given, model, masker = world_of({}, replies=[Reply("hi", finish_reason="stop")])
    given["document"] = document(text)
    environment = {"MY_NOTE": NOTE}
    given["references"] = ReferenceContext(environment=environment, trusted=False, masker=masker)
    run, _ = started(given)
    state = await run.go()
    assert state.answer is None
    assert not model.sent
