"""Programs recorded through the proxy: judged by the log of the server behind it.

The program is a whole agent of this process that speaks five APIs, and an HTTP client; the server
notes every byte it gets and sends.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from studio.application.run.past.record import StoreJournal
from studio.application.run.start.session import Arrived, RunSession
from studio.core.agent.loop.steps import steps_of
from studio.core.agent.values import commands
from studio.core.agent.values.events import CallEdited, MessagesEdited, ObservationEdited
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import PausePoint
from studio.core.masking.masker import Masker
from studio.core.models.remote.model import RemoteModel
from studio.core.models.secrets import Secret
from studio.core.prompty.document import Message, TextPart
from studio.core.runs.store import RunStore
from studio.core.wire.reply import Reply
from studio.servers.record.exchange import Upstream
from studio.servers.record.program_run import ProgramRun
from studio.servers.record.proxy import RecorderProxy, Recording, upstreams_of
from studio.servers.record.replay import Replay, first_difference, recorded_calls
from tests.application.run.test_sent_calls import KEY, as_sent, plan_of
from tests.support import patience
from tests.support.chat_server import cut_body, failure, json_body, raw, streamed
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

    def __init__(self, server: WireServer, store: RunStore, options: RunOptions) -> None:
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
    server: WireServer, store: RunStore, options: RunOptions = HEADLESS
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
        nothing = await at.post({}, "/files")
    assert answer.status_code == 409
    assert other.difference == "temperature is new: 1"
    assert nothing.status_code == 404
    assert server.requests == []


def calls_body(call: Any) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(call.body)
    return body


@pytest.mark.parametrize(
    ("recorded_body", "asked", "words"),
    [
        ({"a": 1}, {"a": 1}, ""),
        ({"a": [1, 2]}, {"a": [1, 3]}, "a[1] is 3: it was 2"),
        ({"a": [1]}, {"a": [1, 2]}, "a has 2 items: it had 1"),
        ({"a": 1, "b": {"c": "x"}}, {"a": 1}, 'b is missing: it was {"c": "x"}'),
        ({"a": {}}, {"a": {"t": 0}}, "a.t is new: 0"),
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
    assert upstreams_of({}, "http://127.0.0.1:9/v1")["openai"].address == "http://127.0.0.1:9/v1"
