"""What a model was sent, byte for byte: compared with the log of the server that got it.

The judge is the server's own log: five APIs, three protocols, more than 300 requests; looked at
live, in the history, after a fork, in an exact replay and after a process was killed.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from studio.application.run.inspector.tabs import Inspection, inspector_view
from studio.application.run.inspector.tool import InspectionSources
from studio.application.run.past.again import exactly, past_run
from studio.application.run.past.record import StoreJournal
from studio.application.run.start.session import Arrived, RunSession
from studio.application.run.text import whole_text
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.values.commands import Command, Continue, ForkFrom
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.state import RunState, steps_of
from studio.core.agent.values.step import Limits, PausePoint
from studio.core.masking.masker import Masker
from studio.core.models.remote.model import RemoteModel
from studio.core.models.secrets import Secret
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.runs.store import RunStore
from studio.core.wire import wire_call
from studio.core.wire.wire_call import WireCall
from tests.core.agent.runs import JSON_ACTION, NATIVE, REACT, Functions, document, search
from tests.support import patience
from tests.support.chat_server import (
    Exchange,
    Received,
    chunk,
    events,
    failure,
    silent,
    streamed,
)
from tests.support.planted import bytes_below, leaks
from tests.support.wire_server import (
    APIS,
    PROTOCOLS,
    Api,
    Protocol,
    WireServer,
    connection,
    wire_server,
)

ROOT = Path(__file__).resolve().parents[3]
PROMPTS = {"native": NATIVE, "react": REACT, "json_action": JSON_ACTION}
TURNS = 21
KEY = "planted-Key/0123456789+wire=="
NOTE = 'note/planted+5150 "q" & more'
SECRETS = {"${env:PLANTED_NOTE}": NOTE, "${key:Lab}": KEY}


@pytest.fixture
def server() -> Iterator[WireServer]:
    with wire_server() as running:
        yield running


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with closing(RunStore(tmp_path / "runs.sqlite")) as made:
        yield made


def plan_of(server: WireServer, api: Api, protocol: Protocol, question: str = "Where?") -> RunPlan:
    server.protocol, server.turns, server.asked = protocol, TURNS, 0
    server.requests.clear()
    masker = Masker({"PLANTED_NOTE": NOTE})
    masker.note("${env:PLANTED_NOTE}", NOTE)
    return RunPlan(
        document(PROMPTS[protocol]),
        {} if protocol == "json_action" else {"question": question},
        RemoteModel(connection(server, api), "asked-model", Secret(KEY)),
        Functions(search),
        options=RunOptions(protocol=protocol, headless=True, limits=Limits(None)),
        references=ReferenceContext(environment={"PLANTED_NOTE": NOTE}, masker=masker),
    )


async def driven(plan: RunPlan, store: RunStore, *first: Command) -> RunState:
    session = RunSession(plan, StoreJournal(store))
    await session.drive(*first)
    return [each.state for each in session.take() if isinstance(each, Arrived)][-1]


def as_sent(call: WireCall) -> bytes:
    """The kept body with the values of its marks put back."""
    body = call.body
    for number, reference in enumerate(call.secrets, 1):
        value = json.dumps(SECRETS[reference], ensure_ascii=False)[1:-1]
        body = body.replace(f"${{{call.mark}:{number}}}", value)
    return body.encode("utf-8", "surrogateescape")


def copied(state: RunState, step: int, sources: InspectionSources) -> str:
    """What the button of the Request tab copies."""
    return whole_text(inspector_view(state, Inspection(step, "request"), sources).blocks)


def check_kept(call: WireCall | None, request: Received) -> None:
    """A kept call against the server's log."""
    assert call is not None
    assert as_sent(call) == request.data
    assert call.path == request.path
    sent = {name.lower() for name, _ in call.headers}
    assert sent == request.headers.keys()
    head, _, answer = bytes(request.answered).partition(b"\r\n\r\n")
    assert call.raw.encode("utf-8", "surrogateescape") == answer
    assert call.request_id.encode() in head


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("api", APIS)
async def test_what_is_kept_is_what_the_server_got(
    server: WireServer, store: RunStore, tmp_path: Path, api: Api, protocol: Protocol
) -> None:
    plan = plan_of(server, api, protocol)
    state = await driven(plan, store)
    assert (state.status, len(server.requests)) == ("done", TURNS)
    run = state.setup.run
    live = InspectionSources(partial(store.call, run), plan.model)
    with closing(RunStore(tmp_path / "runs.sqlite")) as again:
        opened = again.open(run).state
        assert opened is not None
        past = InspectionSources(partial(again.call, run))
        for step, request in zip(steps_of(opened), server.requests, strict=True):
            call = again.call(run, step.called)
            check_kept(call, request)
            assert call is not None
            assert call.model == "served-2026"
            assert call.id == ("" if api == "ollama" else f"answer-{step.number}")
            sent = request.data.decode()
            assert copied(state, step.number, live) == sent
            assert copied(opened, step.number, past) == sent
        text = json.dumps([again.call(run, step.called).__repr__() for step in steps_of(opened)])
    assert leaks(SECRETS, [("calls", text.encode()), *bytes_below(tmp_path)]) == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_fork_and_a_replay_read_their_own_requests(
    server: WireServer, store: RunStore, protocol: Protocol
) -> None:
    plan = plan_of(server, "chat", protocol)
    state = await driven(plan, store)
    run = state.setup.run
    whole = store.open(run)
    place = whole.tree.find(10, PausePoint.BEFORE_REQUEST)
    assert place is not None
    first = list(server.requests)
    server.asked = 9
    forked = await driven(replace(plan, past=whole), store, ForkFrom(place.id), Continue())
    assert forked.status == "done"
    requests = [*first[:9], *server.requests[TURNS:]]
    assert len(requests) == TURNS
    for step, request in zip(steps_of(forked), requests, strict=True):
        check_kept(store.call(run, step.called), request)

    past = past_run(store.open(run))
    assert past is not None
    count = len(server.requests)
    replayed = await driven(exactly(past, options=RunOptions(headless=True)), store)
    assert len(server.requests) == count, "a replay sends nothing"
    assert replayed.setup.run != run
    for step, request in zip(steps_of(replayed), requests, strict=True):
        check_kept(store.call(replayed.setup.run, step.called), request)


async def test_secrets_are_marks_and_the_rest_is_equal(
    server: WireServer, store: RunStore, tmp_path: Path
) -> None:
    question = f"Is {NOTE} like ${{secret:1}} and {NOTE}?"
    plan = plan_of(server, "chat", "native", question)
    server.turns = 1
    state = await driven(plan, store)
    call = store.call(state.setup.run, state.step.called)
    (request,) = server.requests
    check_kept(call, request)
    assert call is not None
    assert call.secrets == ("${env:PLANTED_NOTE}",)
    assert call.body.count("${secret-:1}") == 2
    view = inspector_view(state, Inspection(1, "request"), InspectionSources(lambda _: call))
    assert view.blocks[0].text == "${secret-:1} = ${env:PLANTED_NOTE}"
    assert whole_text(view.blocks) == call.body
    headers = {name.lower(): value for name, value in call.headers}
    assert headers["x-lab-key"] == headers["authorization"] == "••••••"
    assert leaks(SECRETS, [("call", repr(call).encode()), *bytes_below(tmp_path)]) == []


async def test_a_reply_that_repeats_a_secret_in_pieces_is_not_kept(
    server: WireServer, store: RunStore
) -> None:
    plan = plan_of(server, "chat", "native")
    server.script(streamed(f"It is {NOTE}.", size=3))
    state = await driven(plan, store)
    call = store.call(state.setup.run, state.step.called)
    assert call is not None
    assert (call.raw, call.has_answer) == ("", True)
    assert call.cut == len(bytes(server.requests[0].answered).partition(b"\r\n\r\n")[2])


async def test_of_a_try_that_is_repeated_the_body_with_the_answer_is_kept(
    server: WireServer, store: RunStore
) -> None:
    plan = plan_of(server, "chat", "native")
    server.turns = 1
    words = "Unsupported parameter: 'stream_options'"
    server.script(failure(400, words, "unsupported_parameter", "stream_options"))
    state = await driven(plan, store)
    assert state.status == "done"
    refused, taken = server.requests
    assert b"stream_options" in refused.data
    assert b"stream_options" not in taken.data
    check_kept(store.call(state.setup.run, state.step.called), taken)


async def test_a_refusal_is_kept_with_its_words(server: WireServer, store: RunStore) -> None:
    plan = plan_of(server, "chat", "native")
    server.script(failure(400, "no such thing"))
    state = await driven(plan, store)
    assert state.status == "failed"
    call = store.call(state.setup.run, state.step.called)
    check_kept(call, server.requests[0])
    assert call is not None
    assert "no such thing" in call.raw


async def test_eight_megabytes_of_a_reply_are_kept_and_the_cut_is_counted(
    server: WireServer, store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire_call, "MOST_RAW", 100)
    plan = plan_of(server, "chat", "native")
    server.script(streamed("many words " * 50))
    state = await driven(plan, store)
    call = store.call(state.setup.run, state.step.called)
    answer = bytes(server.requests[0].answered).partition(b"\r\n\r\n")[2]
    assert call is not None
    assert (call.raw.encode(), call.cut) == (answer[:100], len(answer) - 100)


def test_after_a_kill_the_request_under_way_is_there(
    server: WireServer, tmp_path: Path, user_home: Path
) -> None:
    server.turns = TURNS
    asked = threading.Event()

    async def hold(_exchange: Exchange) -> None:
        asked.set()
        await asyncio.Event().wait()

    server.script(*[server.reply] * 5, hold)
    prompt = tmp_path / "caller.prompty"
    prompt.write_text(NATIVE.replace("kind: string, required: true", "kind: string"), "utf-8")
    (tmp_path / "tools.py").write_text(
        "def search(query: str) -> str:\n    return f'found {query}'\n", encoding="utf-8"
    )
    text = prompt.read_text(encoding="utf-8")
    agent = "metadata:\n  agent:\n    tools: [tools.py]\nmodel: {id: asked-model}\ninputs:"
    prompt.write_text(text.replace("inputs:", agent, 1), encoding="utf-8")
    config = user_home / "config"
    config.mkdir(parents=True, exist_ok=True)
    (config / "connections.toml").write_text(
        f'default = "Lab"\n\n[[connection]]\nname = "Lab"\nkind = "compatible"\n'
        f'base_url = "{server.url}"\n',
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "studio", "run", str(prompt), "--trust", "--yes"]
    with subprocess.Popen(
        [*command, "-i", "question=Where?"],
        cwd=ROOT,
        env=dict(os.environ),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as child:
        arrived = asked.wait(patience.SECONDS)
        child.kill()
        assert arrived, child.stderr.read() if child.stderr else ""

    with closing(RunStore(user_home / "data" / "runs.sqlite")) as store:
        (run,) = store.mark_interrupted()
        state = store.open(run).state
        assert state is not None
        assert state.status == "interrupted"
        *answered, last = zip(steps_of(state), server.requests, strict=True)
        assert len(answered) == 5
        for step, request in answered:
            check_kept(store.call(run, step.called), request)
        call = store.call(run, last[0].called)
        assert call is not None
        assert (as_sent(call), call.has_answer) == (last[1].data, False)
        assert copied(state, 6, InspectionSources(partial(store.call, run))) == call.body


async def test_a_deleted_run_takes_its_calls_along(server: WireServer, store: RunStore) -> None:
    state = await driven(plan_of(server, "chat", "native"), store)
    run = state.setup.run
    assert store.call(run, state.step.called) is not None
    assert store.prune(keep=0) == 1
    assert store.call(run, state.step.called) is None


async def test_what_has_come_of_a_reply_is_kept_before_its_end(
    server: WireServer, store: RunStore
) -> None:
    plan = plan_of(server, "chat", "native")
    server.script(events([chunk({"content": "Half of"})], then=[silent()]))
    going = asyncio.create_task(driven(plan, store))

    def kept() -> WireCall | None:
        runs = store.runs()
        calls = [store.call(runs[0].id, seq) for seq in range(6)] if runs else []
        call = next((each for each in calls if each is not None), None)
        return call if call is not None and call.raw else None

    call = await patience.until(kept, "the beginning of the raw reply")
    assert call is not None
    assert "Half of" in call.raw
    going.cancel()
    with suppress(asyncio.CancelledError):
        await going
