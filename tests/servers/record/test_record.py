"""Programs recorded through the proxy: judged by the log of the server behind it.

The program is a whole agent of this process that speaks five APIs, and an HTTP client; the server
notes every byte it gets and sends.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeGuard

import httpx2
import pytest

from studio.application.run.past.record import StoreJournal
from studio.application.run.start.session import Arrived, RunSession
from studio.core.agent.values import commands
from studio.core.agent.values.events import (
    CallEdited,
    Event,
    MessagesEdited,
    ModelFailed,
    ObservationEdited,
)
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.state import RunState, steps_of
from studio.core.agent.values.step import PausePoint
from studio.core.masking.masker import Masker
from studio.core.masking.redact import DOTS
from studio.core.models.remote.model import RemoteModel
from studio.core.models.secrets import Secret
from studio.core.prompty.document import Message, TextPart
from studio.core.runs.rows import CALLED
from studio.core.runs.store import RunStore
from studio.core.wire.reply import Reply
from studio.servers.record import proxy
from studio.servers.record.answers import set_options
from studio.servers.record.exchange import Upstream
from studio.servers.record.faults import Fault, faults_of
from studio.servers.record.program_run import ProgramRun
from studio.servers.record.proxy import RecorderProxy, Recording, upstreams_of
from studio.servers.record.replay import OnDifference, Replay, first_difference, recorded_calls
from tests.application.run.test_text import KEY, as_sent, plan_of
from tests.support import patience
from tests.support.chat_server import (
    Answer,
    ChatServer,
    chat_server,
    chunk,
    cut_body,
    events,
    failure,
    json_body,
    raw,
    silent,
    streamed,
)
from tests.support.planted import bytes_below, leaks
from tests.support.wire_server import APIS, Api, WireServer, connection, wire_server

NAMES = {"chat": "openai", "responses": "openai"}
HEADLESS = RunOptions(headless=True, approve="always")
HELD = replace(HEADLESS, headless=False, pause_at=frozenset(PausePoint))
ASK = {"model": "asked-model", "messages": [{"role": "user", "content": "Where?"}]}


@pytest.fixture
def server() -> Iterator[WireServer]:
    with wire_server() as running:
        yield running


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with closing(RunStore(tmp_path / "runs.sqlite")) as made:
        yield made


class Recorded:
    """A proxy that runs, and what it has recorded."""

    def __init__(
        self, server: WireServer | ChatServer, store: RunStore, options: RunOptions
    ) -> None:
        self.changed = asyncio.Event()
        self.recording = Recording(
            ["agent.py"], Masker(), options, store, lambda _lane, _event: self.changed.set()
        )
        address = server.url
        self.proxy = RecorderProxy(
            {
                "openai": Upstream.at("openai", "openai", address),
                "anthropic": Upstream.at("anthropic", "anthropic", address[:-3]),
                "gemini": Upstream.at("gemini", "gemini", address),
                "ollama": Upstream.at("ollama", "ollama", address),
            },
            self.recording,
        )

    async def lane(self, number: int = 0) -> ProgramRun:
        await patience.until(
            lambda: len(self.recording.conversations) > number, f"conversation {number}"
        )
        return self.recording.conversations[number]

    async def stands(self, number: int = 0, place: PausePoint | None = None) -> ProgramRun:
        """Wait until a conversation pauses."""
        lane = await self.lane(number)

        def is_there() -> bool:
            state = lane.run.state
            pauses = state.pause is not None and state.place is not None
            return pauses and not lane.run.is_working and place in (None, state.place)

        await patience.until(is_there, f"a pause at {place}")
        return lane

    async def over(self, number: int = 0) -> RunState:
        lane = await self.lane(number)
        await patience.until(lambda: lane.run.state.is_over, "the end")
        return lane.run.state

    async def post(self, body: dict[str, Any], path: str = "/chat/completions") -> httpx2.Response:
        headers = {"authorization": f"Bearer {KEY}"}
        async with httpx2.AsyncClient(timeout=None) as client:
            return await client.post(
                self.proxy.address("openai") + path, json=body, headers=headers
            )


@asynccontextmanager
async def recorded(
    server: WireServer | ChatServer, store: RunStore, options: RunOptions = HEADLESS
) -> AsyncIterator[Recorded]:
    made = Recorded(server, store, options)
    async with made.proxy.serving():
        try:
            yield made
        finally:
            await made.recording.close()


async def agent(at: Recorded, server: WireServer, api: Api, tmp_path: Path, turns: int) -> RunState:
    """Run a whole agent against the proxy; its last state."""
    plan = plan_of(server, api, "native")
    server.turns = turns
    to = replace(connection(server, api), base_url=at.proxy.address(NAMES.get(api, api)))
    plan = replace(plan, model=RemoteModel(to, "asked-model", Secret(KEY)))
    with closing(RunStore(tmp_path / "agent.sqlite")) as own:
        session = RunSession(plan, StoreJournal(own))
        await session.drive()
        return [each.state for each in session.take() if isinstance(each, Arrived)][-1]


@pytest.mark.parametrize("api", APIS)
async def test_a_recording_is_the_servers_log(
    server: WireServer, store: RunStore, tmp_path: Path, api: Api
) -> None:
    async with recorded(server, store) as at:
        own = await agent(at, server, api, tmp_path, turns=4)
        state = await at.over()
    assert own.answer == state.answer == "Found."
    assert len(at.recording.conversations) == 1
    steps = steps_of(state)
    assert len(steps) == len(server.requests) == 4
    for step, sent in zip(steps, server.requests, strict=True):
        call = store.call(state.setup.run, step.called)
        assert call is not None
        assert as_sent(call) == sent.data
        assert call.path == sent.path
        assert sent.answered.endswith(call.raw.encode())
        assert call.status == 200
    made = [(call.tool, call.arguments, call.observation) for each in steps for call in each.calls]
    ours = [
        (call.tool, call.arguments, call.observation) for e in steps_of(own) for call in e.calls
    ]
    assert made == ours
    assert leaks({"key": KEY}, bytes_below(tmp_path)) == []


@pytest.mark.parametrize("api", APIS)
async def test_what_is_edited_while_held_is_what_goes_out_and_comes_back(
    server: WireServer, store: RunStore, tmp_path: Path, api: Api
) -> None:
    async with recorded(server, store, HELD) as at:
        going = asyncio.create_task(agent(at, server, api, tmp_path, turns=2))
        lane = await at.stands(place=PausePoint.BEFORE_REQUEST)
        assert server.requests == []
        messages = tuple(lane.run.state.step.messages)
        edited = (*messages[:-1], Message("user", (TextPart("Where else? Ü"),)))
        lane.run.send(MessagesEdited(edited))
        lane.run.send(commands.StepOn("into"))
        await at.stands(place=PausePoint.REPLY)
        lane.run.send(commands.StepOn("into"))
        await at.stands(place=PausePoint.TOOL_CALL)
        only = frozenset({PausePoint.OBSERVATION, PausePoint.ANSWER})
        lane.run.gate.options = replace(lane.run.gate.options, pause_at=only)
        lane.run.send(CallEdited(0, "search", {"query": "edited"}))
        lane.run.send(commands.Continue())
        await at.stands(place=PausePoint.OBSERVATION)
        lane.run.send(ObservationEdited(0, "seen otherwise"))
        lane.run.send(commands.Continue())
        await at.stands(place=PausePoint.ANSWER)
        lane.run.send(commands.AnswerEdited("Another answer."))
        lane.run.send(commands.Continue())
        own = await going
    first, second = (each.data.decode() for each in server.requests)
    assert "Where else? Ü" in first
    assert "Where?" not in first
    assert "seen otherwise" in second
    assert own.answer == "Another answer."
    calls = [(call.tool, call.arguments) for step in steps_of(own) for call in step.calls]
    assert calls == [("search", {"query": "edited"})]


async def test_an_edit_leaves_the_rest_of_the_body_as_the_program_wrote_it(
    server: WireServer, store: RunStore
) -> None:
    own = {"role": "system", "content": [{"type": "text", "text": "Brief.", "own_key": {"a": 1}}]}
    body = {**ASK, "messages": [own, *ASK["messages"]], "future_option": [1, 2], "seed": 7}
    async with recorded(server, store, HELD) as at:
        going = asyncio.create_task(at.post(body))
        lane = await at.stands(place=PausePoint.BEFORE_REQUEST)
        edited = (lane.run.state.step.messages[0], Message("user", (TextPart("Why?"),)))
        lane.run.send(MessagesEdited(edited))
        lane.run.gate.options = replace(lane.run.gate.options, pause_at=frozenset())
        lane.run.send(commands.Continue())
        await going
    (sent,) = server.requests
    assert sent.body == {**body, "messages": [own, {"role": "user", "content": "Why?"}]}


async def test_the_user_answers_in_the_models_place(server: WireServer, store: RunStore) -> None:
    async with recorded(server, store, HELD) as at:
        going = asyncio.create_task(at.post(ASK))
        lane = await at.stands(place=PausePoint.BEFORE_REQUEST)
        lane.run.gate.options = replace(lane.run.gate.options, pause_at=frozenset())
        lane.run.send(commands.EditReply(Reply("Given by hand.")))
        lane.run.send(commands.Continue())
        answer = (await going).json()
    assert answer["choices"][0]["message"]["content"] == "Given by hand."
    assert server.requests == []


async def test_a_retry_is_a_further_try_of_the_same_step(
    server: WireServer, store: RunStore
) -> None:
    server.script(failure(429, "slow down"), json_body({"error": "no"}, 500), streamed("Late."))
    async with recorded(server, store) as at:
        statuses = [(await at.post({**ASK, "stream": True})).status_code for _ in range(3)]
        state = await at.over()
    assert statuses == [429, 500, 200]
    assert (state.iteration, state.step.attempt, state.answer) == (1, 3, "Late.")


SPEAKS = events([chunk({"content": "Half"})], then=[silent()])


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/chat/completions", silent()),
        ("/chat/completions", SPEAKS),
        ("/files", silent()),
        ("/files", SPEAKS),
    ],
)
async def test_a_program_that_leaves_ends_its_request_at_the_server(
    server: WireServer, store: RunStore, path: str, answer: Answer
) -> None:
    server.script(answer, streamed("Second."))
    async with recorded(server, store) as at:
        first = asyncio.create_task(at.post({**ASK, "stream": True}, path))
        await patience.until(lambda: server.requests, "the request")
        if answer is SPEAKS:
            await patience.until(lambda: b"Half" in server.requests[0].answered, "a piece")
        first.cancel()
        await patience.until(server.requests[0].client_left.is_set, "the end of the request")
        again = await at.post({**ASK, "stream": True}, path)
        assert "Second" in again.text
        if path == "/files":
            assert at.recording.conversations == ()
            return
        state = await at.over()
    assert len(at.recording.conversations) == 1
    assert (state.iteration, state.step.attempt, state.answer) == (1, 2, "Second.")
    assert ["Second" in each.raw for each in recorded_calls(store, state.setup.run)] == [True]
    (failed,) = (each for each in at.recording.conversations[0].run.events if is_failure(each))
    assert "closed its connection" in failed.message


async def test_what_nothing_may_hold_goes_through_before_it_is_noted(
    server: WireServer, store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxy, "_NOTE_SECONDS", 3600.0)
    server.script(SPEAKS)
    async with recorded(server, store) as at, httpx2.AsyncClient(timeout=None) as client:
        address = at.proxy.address("openai") + "/chat/completions"
        async with client.stream("POST", address, json={**ASK, "stream": True}) as answer:
            assert b"Half" in await anext(answer.aiter_raw())
            assert at.recording.conversations == ()
        lane = await at.lane()
        await patience.until(lambda: any(map(is_failure, lane.run.events)), "the end of the call")
    assert [each.partial and each.partial.text for each in lane.run.events if is_failure(each)] == [
        "Half"
    ]


@pytest.mark.parametrize("is_edited", [False, True])
async def test_a_held_stream_gets_signs_of_life_before_its_own_bytes(
    server: WireServer, store: RunStore, monkeypatch: pytest.MonkeyPatch, is_edited: bool
) -> None:
    monkeypatch.setattr("studio.servers.record.exchange.BEAT_SECONDS", 0.05)
    server.script(streamed("Found."))
    came = bytearray()
    async with recorded(server, store, HELD) as at, httpx2.AsyncClient(timeout=None) as client:

        async def ask() -> None:
            address = at.proxy.address("openai") + "/chat/completions"
            asked = client.stream("POST", address, json={**ASK, "stream": True})
            async with asked as answer:
                assert answer.status_code == 200
                async for piece in answer.aiter_raw():
                    came.extend(piece)

        asking = asyncio.create_task(ask())
        lane = await at.stands(place=PausePoint.BEFORE_REQUEST)
        assert set_options(lane.exchange, "[]").startswith("the options are one JSON object")
        for given in ('{"stream": false}', '{"temperature": 1, "stream": true}'):
            assert set_options(lane.exchange, given).startswith("stream cannot be set")
        assert (
            set_options(lane.exchange, '{"messages": []}')
            == "messages is not an option: edit the messages"
        )
        assert set_options(lane.exchange, '{"temperature": 0.25, "stop": ["."]}') == ""
        lane.run.send(commands.StepOn("into"))
        await at.stands(place=PausePoint.REPLY)
        await patience.until(lambda: came.count(b": held\n\n") > 2, "signs of life")
        if is_edited:
            lane.run.send(commands.EditReply(Reply("Mine.")))
        lane.run.gate.options = replace(lane.run.gate.options, pause_at=frozenset())
        lane.run.send(commands.Continue())
        await asking
    own = came.replace(b": held\n\n", b"")
    assert bytes(came).endswith(own)
    assert (b"Mine." in own) if is_edited else server.requests[0].answered.endswith(own)
    assert server.requests[0].body == {**ASK, "stream": True, "temperature": 0.25, "stop": ["."]}
    (call,) = recorded_calls(store, lane.run.state.setup.run)
    assert "held" not in call.raw
    assert json.loads(call.body)["temperature"] == 0.25


async def test_requests_that_hang_keep_no_other_waiting(
    server: WireServer, store: RunStore
) -> None:
    many = 110  # more than connections of an HTTP client by default
    server.script(*[silent()] * many, streamed("Through."))
    limits = httpx2.Limits(max_connections=None)
    async with (
        recorded(server, store) as at,
        httpx2.AsyncClient(timeout=None, limits=limits) as client,
        asyncio.TaskGroup() as group,
    ):
        files = at.proxy.address("openai") + "/files"
        hanging = [group.create_task(client.post(files)) for _ in range(many)]
        await patience.until(lambda: len(server.requests) == many, "the requests that hang")
        assert "Through" in (await client.post(files)).text
        for each in hanging:
            each.cancel()


def is_failure(event: Event) -> TypeGuard[ModelFailed]:
    return isinstance(event, ModelFailed)


async def test_a_held_request_of_a_program_that_left_is_not_sent(
    server: WireServer, store: RunStore
) -> None:
    async with recorded(server, store, HELD) as at:
        going = asyncio.create_task(at.post(ASK))
        lane = await at.stands(place=PausePoint.BEFORE_REQUEST)
        going.cancel()
        await patience.until(lambda: lane.exchange.is_gone, "the end of the connection")
        lane.run.gate.options = replace(lane.run.gate.options, pause_at=frozenset())
        lane.run.send(commands.Continue())
        await patience.until(lambda: any(map(is_failure, lane.run.events)), "the failure")
        assert server.requests == []
        again = await at.post(ASK)
    assert server.requests[0].answered.endswith(again.content)
    assert (len(server.requests), len(at.recording.conversations)) == (1, 1)
    assert lane.run.state.step.attempt == 2


@pytest.mark.parametrize("place", [PausePoint.BEFORE_REQUEST, PausePoint.REPLY, PausePoint.ANSWER])
async def test_the_next_try_of_a_program_takes_the_place_of_the_one_that_is_held(
    server: WireServer, store: RunStore, place: PausePoint
) -> None:
    options = replace(HELD, pause_at=frozenset({place}))
    async with recorded(server, store, options) as at:
        going = asyncio.create_task(at.post(ASK))
        lane = await at.stands(place=place)
        going.cancel()
        await patience.until(lambda: lane.exchange.is_gone, "the end of the connection")
        left = lane.exchange
        again = asyncio.create_task(at.post(ASK))
        await patience.until(lambda: lane.exchange is not left, "the next try")
        lane.run.send(commands.Continue())
        content = (await again).content
    assert server.requests[0].answered.endswith(content)
    assert (len(server.requests), len(at.recording.conversations)) == (1, 1)


async def test_an_answer_that_is_let_go_after_the_program_left_is_for_its_next_try(
    server: WireServer, store: RunStore
) -> None:
    options = replace(HELD, pause_at=frozenset({PausePoint.ANSWER}))
    async with recorded(server, store, options) as at:
        going = asyncio.create_task(at.post(ASK))
        lane = await at.stands(place=PausePoint.ANSWER)
        going.cancel()
        await patience.until(lambda: lane.exchange.is_gone, "the end of the connection")
        lane.run.send(commands.AnswerEdited("Given by hand."))
        lane.run.send(commands.Continue())
        await at.over()
        again = await at.post(ASK)
    assert again.json()["choices"][0]["message"]["content"] == "Given by hand."
    assert (len(server.requests), len(at.recording.conversations)) == (1, 1)


@pytest.mark.parametrize("messages", [[], "text", None])
async def test_a_request_without_messages_is_passed_on(
    server: WireServer, store: RunStore, messages: object
) -> None:
    server.script(json_body({"done_reason": "load"}))
    async with recorded(server, store) as at:
        answer = await at.post({"model": "m", "messages": messages})
    assert (answer.status_code, answer.json()) == (200, {"done_reason": "load"})
    assert server.requests[0].body == {"model": "m", "messages": messages}


async def test_a_request_that_cannot_be_sent_gets_an_error_in_words(
    server: WireServer, store: RunStore
) -> None:
    async with recorded(server, store, HELD) as at:
        going = asyncio.create_task(at.post(ASK))
        lane = await at.stands(place=PausePoint.BEFORE_REQUEST)
        lane.run.send(MessagesEdited(()))
        lane.run.send(commands.StepOn("into"))
        answer = await going
    assert answer.status_code == 502
    assert "contains no message" in answer.json()["error"]["message"]


async def test_an_upload_that_breaks_off_is_not_sent(server: WireServer, store: RunStore) -> None:
    async with recorded(server, store) as at:
        _, writer = await asyncio.open_connection("127.0.0.1", at.proxy.port)
        head = f"POST /{at.proxy.token}/openai/files HTTP/1.1\r\nHost: 127.0.0.1:{at.proxy.port}"
        writer.write(f"{head}\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n".encode())
        await writer.drain()
        writer.close()
        await at.post({"whole": True}, "/files")
    assert [each.body for each in server.requests] == [{"whole": True}]


async def test_an_answer_in_an_encoding_that_was_not_asked_for_goes_through(
    server: WireServer, store: RunStore
) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-encoding: br\r\ncontent-length: 9\r\n\r\n"
    server.script(raw(head + b"\x0b\x02\x80hello\x03"))
    async with recorded(server, store) as at:
        address = at.proxy.address("openai") + "/chat/completions"
        async with (
            httpx2.AsyncClient(timeout=None) as client,
            client.stream("POST", address, json=ASK) as answer,
        ):
            pieces = [piece async for piece in answer.aiter_raw()]
        lane = await at.lane()
        await patience.until(lambda: any(map(is_failure, lane.run.events)), "the failure")
    assert b"".join(pieces) == b"\x0b\x02\x80hello\x03"
    assert answer.headers["content-encoding"] == "br"
    assert "'br', an encoding that was not requested" in next(
        each.message for each in lane.run.events if is_failure(each)
    )
    with pytest.raises(LookupError, match="1 answer of this recording"):
        recorded_calls(store, lane.run.state.setup.run)


async def test_no_key_that_is_sent_is_kept(
    server: WireServer, store: RunStore, tmp_path: Path
) -> None:
    keys = {"header": "planted-lab-header-value", "body": "sk-plantedInABodyAlone0123456789"}
    body = {**ASK, "messages": [{"role": "user", "content": f"{KEY} and {keys['body']}"}]}
    query = "planted-key-in-a-query-0123456789"
    async with recorded(server, store) as at, httpx2.AsyncClient() as client:
        await client.post(
            f"{at.proxy.address('openai')}/chat/completions?key={query}",
            json={**body, "note": query},
            headers={"x-api-key": KEY, "x-lab-thing": keys["header"]},
        )
        run = (await at.over()).setup.run
    assert server.requests[0].headers["x-lab-thing"] == keys["header"]
    assert f"{KEY} and {keys['body']}" in server.requests[0].data.decode()
    (call,) = recorded_calls(store, run)
    assert dict(call.headers)["x-lab-thing"] == DOTS
    assert dict(call.headers)["content-type"] == "application/json"
    assert leaks({**keys, "known": KEY, "query": query}, bytes_below(tmp_path)) == []

    replay = Replay([call], Masker())
    at.proxy = RecorderProxy(upstreams_of({}), replay)
    async with at.proxy.serving(), httpx2.AsyncClient() as client:
        address = f"{at.proxy.address('openai')}/chat/completions?key={query}"
        own = {"x-api-key": KEY}
        answer = await client.post(address, json={**body, "note": query}, headers=own)
        other = await client.post(address, json={**body, "note": "new " + KEY}, headers=own)
    assert (answer.status_code, replay.left) == (200, 0)
    assert other.status_code == 409
    assert leaks({**keys, "known": KEY, "query": query}, [("409", other.content)]) == []


async def test_a_recording_with_an_answer_that_was_not_kept_is_not_replayed(
    server: WireServer, store: RunStore
) -> None:
    server.script(streamed(f"The key is {KEY}."), streamed("Fine."))
    async with recorded(server, store) as at:
        await at.post({**ASK, "stream": True})
        await at.post({**ASK, "seed": 2, "stream": True})
        run = (await at.over(1)).setup.run
    with pytest.raises(LookupError, match="1 answer of this recording cannot be replayed"):
        recorded_calls(store, run)


async def test_an_answer_that_breaks_off_breaks_off_for_the_program_too(
    server: WireServer, store: RunStore
) -> None:
    server.script(cut_body([{"choices": [{"index": 0, "delta": {"content": "Half"}}]}]))
    async with recorded(server, store) as at:
        with pytest.raises(httpx2.HTTPError):
            await at.post({**ASK, "stream": True})
        lane = await at.lane()
        await patience.until(lambda: lane.run.state.step.partial, "the failure")
        assert lane.run.state.step.partial.text == "Half"
    assert recorded_calls(store, lane.run.state.setup.run) == []


async def test_what_cannot_be_read_goes_through_all_the_same(
    server: WireServer, store: RunStore
) -> None:
    odd = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 4\r\n\r\n\xff\x00\xfe!"
    server.script(raw(odd), raw(odd))
    async with recorded(server, store) as at:
        answer = await at.post(ASK)
        other = await at.post({"file": 1}, "/files?purpose=x%2Fy")
    assert answer.content == other.content == b"\xff\x00\xfe!"
    assert server.requests[1].path == "/v1/files?purpose=x%2Fy"


async def test_conversations_are_told_apart_by_their_beginnings(
    server: WireServer, store: RunStore
) -> None:
    def turn(*texts: str) -> dict[str, Any]:
        roles = ("user", "assistant") * len(texts)
        pairs = zip(roles, texts, strict=False)
        return {**ASK, "messages": [{"role": role, "content": each} for role, each in pairs]}

    async with recorded(server, store) as at:
        for body in (
            turn("One"),
            turn("Two"),
            turn("One", "Found.", "And then?"),
            turn("Two", "Found.", "So?"),
        ):
            await at.post(body)
        states = [await at.over(number) for number in (0, 1)]
    assert len(at.recording.conversations) == 2
    assert [each.iteration for each in states] == [2, 2]
    assert [each.step.messages[-1].text for each in states] == ["And then?", "So?"]


def chat(*texts: str) -> dict[str, Any]:
    """A request whose messages are the user's and the model's in turn."""
    pairs = zip(("user", "assistant") * len(texts), texts, strict=False)
    return {**ASK, "messages": [{"role": role, "content": each} for role, each in pairs]}


async def test_a_program_that_is_started_elsewhere_is_asked_no_more_than_it_asks(
    server: WireServer, store: RunStore
) -> None:
    async with recorded(server, store) as at:
        at.recording = Recording([], Masker(), HEADLESS, store, lambda _lane, _event: None)
        at.proxy._recording = at.recording  # as `record --port` has it
        await at.post(chat("One"))
        await at.post(chat("One", "Found.", "And then?"))
        state = await at.over()
        await at.recording.close()
    assert state.iteration == 2
    assert len(server.requests) == 2


async def test_a_request_goes_on_with_the_conversation_that_shares_most_with_it(
    server: WireServer, store: RunStore
) -> None:
    """Two that begin alike, one of them longer; the third is equal to neither's end."""
    longer = ("One", "Found.", "And then?")
    async with recorded(server, store) as at:
        for body in (
            chat("One"),
            chat(*longer),
            chat("One"),
            chat("One", "Found.", "Other?"),
            chat(*longer, "Found.", "So?"),
        ):
            await at.post(body)
        states = [await at.over(number) for number in (0, 1)]
    assert [each.iteration for each in states] == [3, 2]
    assert len(at.recording.conversations) == 2


async def test_conversations_that_the_program_left_are_let_go(
    server: WireServer, store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studio.servers.record.proxy._MOST_OPEN", 2)
    async with recorded(server, store) as at:
        for text in "ABC":
            await at.post(chat(text))
        await at.post(chat("B", "Found.", "Again."))
        await at.post(chat("D"))
        left = at.recording.conversations
        assert [each.run.state.setup.question for each in left] == ["B", "D"]
    assert at.recording.begun == len(store.runs()) == 4
    assert {each.status for each in store.runs()} == {"done"}


async def test_a_result_that_came_before_its_call_is_not_the_calls(
    server: WireServer, store: RunStore
) -> None:
    """Scripted servers give each conversation the same id of a call."""
    server.turns = 9
    call = {"id": "call_2", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    old = [
        {"role": "user", "content": "Other"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_2", "content": "old"},
    ]
    async with recorded(server, store) as at:
        await at.post({**ASK, "messages": old})
        await at.post(chat("New"))
        lane = await at.lane(1)
        await patience.until(lambda: lane.run.state.step.calls, "the call")
        await patience.until(lambda: lane.run.state.step.calls[0].status == "running", "its start")
        assert lane.run.state.step.calls[0].observation is None


@pytest.mark.parametrize(
    ("answer", "result", "is_nested"),
    [
        ("lamp: 7", "lamp: 7", True),
        ("7", "7", True),
        ("lamp: 7", "Done. Result:\nlamp: 7", True),
        ("7", "Done. Result:\nlamp: 7", False),
        ("lamp: 7", "desk: 2", False),
    ],
)
async def test_a_conversation_is_nested_in_the_call_whose_result_is_its_answer(
    store: RunStore, answer: str, result: str, *, is_nested: bool
) -> None:
    """One that was there before the call, and one after the result, are not nested."""
    asks = {"role": "assistant", "tool_calls": [_called("call_1", "ask_clerk")]}
    first = [{"role": "user", "content": "Two lamps?"}]
    second = [*first, asks, {"role": "tool", "tool_call_id": "call_1", "content": result}]
    with chat_server() as server:
        server.always(json_body(_said({"role": "assistant", "content": answer})))
        async with recorded(server, store) as at:
            await at.post(chat("Before"))
            server.script(json_body(_said(asks)))
            await at.post({**ASK, "messages": first})
            await at.post(chat("Stock?"))
            await at.post({**ASK, "messages": second})
            await at.post(chat("After"))
            before, caller, clerk, after = [(await at.over(n)).setup.run for n in range(4)]
    tags = {each.id: each.shared_tag(CALLED) for each in store.runs()}
    called = f"{CALLED}{caller}@1" if is_nested else ""
    assert tags == {before: "", caller: "", clerk: called, after: ""}


def _called(name: str, tool: str) -> dict[str, Any]:
    return {"id": name, "type": "function", "function": {"name": tool, "arguments": "{}"}}


def _said(message: dict[str, Any]) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


async def test_a_response_goes_on_from_the_one_before(server: WireServer, store: RunStore) -> None:
    ask = {"model": "asked-model", "input": "Where?", "stream": True}
    async with recorded(server, store) as at:
        for previous, text in (("", "Where?"), ("answer-1", "And?"), ("answer-1", "A fork.")):
            body = {
                **ask,
                "input": text,
                **({"previous_response_id": previous} if previous else {}),
            }
            await at.post(body, "/responses")
        for text in ("Kept", "there"):
            await at.post({**ask, "input": text, "conversation": "conv_1"}, "/responses")
        states = [await at.over(number) for number in range(3)]
    assert [each.iteration for each in states] == [2, 1, 2]
    assert [each.step.messages[-1].text for each in states] == ["And?", "A fork.", "there"]
    assert [json.loads(each.data) for each in server.requests][1]["input"] == "And?"


async def test_faults_on_purpose_are_met_once_each(server: WireServer, store: RunStore) -> None:
    """429, then the server's own answer, then one that is cut, then a late one."""
    ask = {**ASK, "stream": True}
    async with recorded(server, store) as at:
        at.recording.faults.extend(faults_of("429 ok, cut delay=0.3"))
        refused = await at.post(ask)
        assert (refused.status_code, "injected by" in refused.text) == (429, True)
        assert server.requests == []
        assert "[DONE]" in (await at.post(ask)).text
        state = await at.over()
        assert (state.iteration, state.answer) == (1, "Found.")
        with pytest.raises(httpx2.HTTPError):
            await at.post(ask)
        began = time.monotonic()
        assert "[DONE]" in (await at.post(ask)).text
        assert time.monotonic() - began >= 0.3
        await at.over(1)
        assert "[DONE]" in (await at.post(chat("Fine"))).text
    first, second = at.recording.conversations[:2]
    kinds = [each.kind for each in first.run.events if is_failure(each)]
    assert kinds == ["rate-limited"]
    assert [each.kind for each in second.run.events if is_failure(each)] == ["cut-off"]


def test_a_fault_that_is_none_is_named() -> None:
    assert faults_of("500,cut, ok delay=1.5") == (
        Fault(500),
        Fault(is_cut=True),
        Fault(),
        Fault(delay=1.5),
    )
    for wrong in ("200", "delay", "cut!"):
        with pytest.raises(ValueError, match="is not a fault"):
            faults_of(f"429, {wrong}")


@pytest.mark.parametrize(
    ("token", "headers"),
    [
        ("wrong", {}),
        ("", {}),
        (None, {"origin": "http://127.0.0.1"}),
        (None, {"host": "elsewhere.example"}),
    ],
)
async def test_only_the_program_is_let_through(
    server: WireServer, store: RunStore, token: str | None, headers: dict[str, str]
) -> None:
    async with recorded(server, store) as at, httpx2.AsyncClient() as client:
        given = at.proxy.token if token is None else token
        address = f"http://127.0.0.1:{at.proxy.port}/{given}/openai/chat/completions"
        answer = await client.post(address, json=ASK, headers=headers)
    assert answer.status_code == 403
    assert server.requests == []


async def test_a_server_that_is_not_there_is_named(server: WireServer, store: RunStore) -> None:
    async with recorded(server, store) as at:
        gone = Upstream.at("openai", "openai", "http://127.0.0.1:1/v1")
        at.proxy._upstreams = {"openai": gone}
        answer = await at.post(ASK)
    assert answer.status_code == 502
    assert "127.0.0.1:1/v1 cannot be reached" in answer.json()["error"]["message"]


async def test_a_program_is_replayed_offline_up_to_the_first_difference(
    server: WireServer, store: RunStore, tmp_path: Path
) -> None:
    async with recorded(server, store) as at:
        await agent(at, server, "chat", tmp_path / "one", turns=3)
        run = (await at.over()).setup.run
    calls = recorded_calls(store, run)
    server.requests.clear()

    replay = Replay(calls, Masker({"LAB_KEY": KEY}))
    at.proxy = RecorderProxy(upstreams_of({}), replay)
    async with at.proxy.serving():
        own = await agent(at, server, "chat", tmp_path / "two", turns=3)
    assert (own.answer, replay.left, replay.difference) == ("Found.", 0, "")

    other = Replay(calls, Masker())
    at.proxy = RecorderProxy(upstreams_of({}), other)
    async with at.proxy.serving():
        answer = await at.post({**calls_body(calls[0]), "temperature": 1})
        nothing = await at.post({}, "/files?key=planted")
    assert answer.status_code == 409
    assert other.difference == "temperature is new: 1"
    assert (nothing.status_code, other.others) == (404, ["POST /files"])
    assert server.requests == []


@pytest.mark.parametrize(
    ("how", "asked", "left"), [("refuse", 0, 1), ("take", 0, 0), ("ask", 1, 1)]
)
async def test_a_request_that_differs_is_answered_as_the_user_wants(
    server: WireServer, store: RunStore, how: OnDifference, asked: int, left: int
) -> None:
    async with recorded(server, store) as at:
        await at.post(ASK)
        run = (await at.over()).setup.run
    server.requests.clear()
    replay = Replay(recorded_calls(store, run), Masker(), on_difference=how)
    upstream = Upstream.at("openai", "openai", server.url)
    at.proxy = RecorderProxy({"openai": upstream}, replay)
    async with at.proxy.serving():
        answer = await at.post({**ASK, "temperature": 1})
    is_answered = how != "refuse"
    assert answer.status_code == (200 if is_answered else 409)
    assert ("[DONE]" in answer.text) is is_answered
    assert (len(server.requests), replay.left) == (asked, left)
    assert replay.difference == "temperature is new: 1"
    assert [each.body for each in server.requests] == [{**ASK, "temperature": 1}] * asked


@pytest.mark.parametrize("path", ["/../secrets", "/v1/%2e%2E/x", "/a/..", "/./a", "/..%2fa"])
async def test_a_path_above_the_base_address_is_refused(
    server: WireServer, store: RunStore, path: str
) -> None:
    async with recorded(server, store) as at:
        reader, writer = await asyncio.open_connection("127.0.0.1", at.proxy.port)
        head = (
            f"GET /{at.proxy.token}/openai{path}?x=.. HTTP/1.1\r\nhost: 127.0.0.1:{at.proxy.port}"
        )
        writer.write(f"{head}\r\n\r\n".encode())
        assert (await reader.readline()).startswith(b"HTTP/1.1 400")
        writer.close()
        assert (await at.post({}, "/a..b/c.?p=/../")).status_code == 200
    assert len(server.requests) == 1


def calls_body(call: Any) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(call.body)
    return body


@pytest.mark.parametrize(
    ("recorded_body", "asked", "words"),
    [
        ({"a": 1}, {"a": 1}, ""),
        ({"a": [1, 2]}, {"a": [1, 3]}, "a[1] is 3: it was 2"),
        ({"a": [1]}, {"a": [1, 2]}, "a[1] is new: 2"),
        ({"a": [1, 2]}, {"a": [1]}, "a[1] is missing: it was 2"),
        ({"a": 1, "b": {"c": "x"}}, {"a": 1}, 'b is missing: it was {"c": "x"}'),
        ({"a": {}}, {"a": {"t": 0}}, "a.t is new: 0"),
        ({"a": 1}, {"a": True}, "a is true: it was 1"),
        ({"a": 1}, {"a": 1.0}, ""),
        (
            {"a": f"{'x' * 300} one"},
            {"a": f"{'x' * 300} two"},
            f'a is "…{"x" * 39} two": it was "…{"x" * 39} one"',
        ),
    ],
)
def test_the_first_difference_names_its_place(
    recorded_body: dict[str, Any], asked: dict[str, Any], words: str
) -> None:
    assert first_difference(recorded_body, asked) == words


def test_no_variable_chooses_a_provider_that_was_not_chosen() -> None:
    assert set(upstreams_of({})) == {"openai", "anthropic", "gemini", "ollama", "groq", "mistral"}
    azure = {"AZURE_OPENAI_ENDPOINT": "https://own.example", "OLLAMA_HOST": "10.0.0.2:11434"}
    found = upstreams_of(azure)
    assert found["azure"].address == "https://own.example"
    assert found["ollama"].address == "http://10.0.0.2:11434"
    for host, address in {
        "10.0.0.2": "http://10.0.0.2:11434",
        ":8080": "http://127.0.0.1:8080",
        "[::1]": "http://[::1]:11434",
        "https://own.example/ollama/": "https://own.example/ollama",
    }.items():
        assert upstreams_of({"OLLAMA_HOST": host})["ollama"].address == address
    assert upstreams_of({}, "http://127.0.0.1:9/v1")["openai"].address == "http://127.0.0.1:9/v1"
