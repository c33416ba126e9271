"""The embedded model for real: it answers, tells, stops, and comes back."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from studio.core.models.base import ModelError, ModelRequest
from studio.core.models.embedded.model import EmbeddedModel, build_grammar, with_end
from studio.core.models.embedded.policy import LEVELS
from studio.core.models.embedded.server import EmbeddedServer, EmbeddedSettings, LlamaClient
from studio.core.models.embedded.weights import bundled_weights, find_weights, weights_at
from studio.core.prompty.document import Message, TextPart, ToolSpec
from studio.core.text.values import Json
from studio.core.wire.reply import Reply, ReplyNotice, TextDelta, accumulate
from tests.core.models.embedded.grammar_reader import begins
from tests.support import patience

try:
    bundled_weights()
    import xllamacpp  # noqa: F401
except (ModelError, ImportError):
    pytestmark = pytest.mark.skip(reason="the embedded model's weights are not installed")
else:
    pytestmark = pytest.mark.embedded

TOOLS = (
    ToolSpec(
        "calculator",
        "Works it out.",
        {
            "type": "object",
            "properties": {"expression": {"type": "string", "pattern": r"[0-9][0-9 *+/-]*[0-9]"}},
            "required": ["expression"],
        },
    ),
)


def asking(text: str, **changes: object) -> ModelRequest:
    return replace(ModelRequest((Message("user", (TextPart(text),)),), question=text), **changes)


SHORT = asking("Say hello.", options={"maxOutputTokens": 12})
LONG = asking("word " * 3000, options={"maxOutputTokens": 12})


@pytest_asyncio.fixture
async def server() -> AsyncIterator[EmbeddedServer]:
    running = EmbeddedServer(EmbeddedSettings(threads=1))
    yield running
    await running.stop()


async def answer(model: EmbeddedModel, request: ModelRequest) -> Reply:
    reply = Reply()
    async with aclosing(model.stream(request)) as deltas:
        async for delta in deltas:
            reply = accumulate(reply, delta)
    return reply


async def test_it_answers_the_same_twice_and_after_a_new_start(server: EmbeddedServer) -> None:
    model = EmbeddedModel(server)
    assert server.state == "stopped"
    first = await answer(model, SHORT)
    assert first.text
    assert first.finish_reason == "length"
    assert first.usage is not None
    assert first.usage.output_tokens == 12
    assert "Starting" in first.notices[0]
    assert model.speed is not None
    assert model.speed.writing > 1
    second = await answer(model, SHORT)
    assert (second.text, second.notices) == (first.text, ())
    await server.stop()
    assert (await answer(model, SHORT)) == first


async def test_a_native_call_and_then_the_answer(server: EmbeddedServer) -> None:
    model = EmbeddedModel(server)
    request = asking("What is 128 * 46?", tools=TOOLS, max_iterations=4)
    reply = await answer(model, request)
    (call,) = reply.tool_calls
    assert (call.name, call.arguments) == ("calculator", '{"expression": "128 * 46"}')
    assert (reply.text, reply.finish_reason) == ("", "tool_calls")
    then = replace(
        request, iteration=2, past_calls=((call.name, call.arguments),), observations=("5888",)
    )
    assert "5888" in (await answer(model, then)).text


async def test_llama_holds_the_model_to_every_grammar_that_we_write(
    server: EmbeddedServer,
) -> None:
    """The server says nothing of a grammar that it cannot read: the text shows it."""
    request = asking("What is 128 * 46?", tools=TOOLS)
    optional = ToolSpec(
        "many",
        'Says "many" things.',
        {
            "type": "object",
            "properties": {
                "a": {"type": "array", "items": {"enum": ["x", 'y"z', None]}},
                "b": {"type": ["number", "null"]},
                "c": {"type": "string", "pattern": r"^[^\]\-^\"a-z]{2,}\d?\.(x|y{3})*$"},
                "ü": {"type": "object", "properties": {"d": {"type": "boolean"}}},
            },
        },
    )
    address = await server.start()
    for level in LEVELS[1:]:
        for protocol in ("native", "react", "json_action"):
            each = replace(request, tools=(*TOOLS, optional), protocol=protocol)
            grammar = build_grammar(each, level)
            assert grammar
            text = ""
            async with LlamaClient(address) as client:
                ended = with_end(grammar, await client.end_token())
                assert ended != grammar
                async for piece in client.complete(
                    {"prompt": ",", "n_predict": 6, "stream": True, "grammar": ended}
                ):
                    text += piece.text
            assert text
            assert begins(grammar, text), (level, protocol, text)


async def test_under_a_grammar_it_ends_where_it_would_end(server: EmbeddedServer) -> None:
    address = await server.start()
    question = [{"role": "user", "content": "What is 2+2? Answer with a number only."}]
    async with LlamaClient(address) as client:
        prompt, end = await client.template(question), await client.end_token()
    free = "%llguidance {}\n" r"start: /[A-Za-z0-9][^\x00-\x1f]{0,120}/"
    texts: list[str] = []
    for grammar in ("", free, with_end(free, end)):
        body: dict[str, Json] = {"prompt": prompt, "temperature": 0, "n_predict": 60}
        body |= {"stream": True, "cache_prompt": False, "grammar": grammar}
        text = ""
        async with LlamaClient(address) as client:  # the server closes what a stream came by
            async for piece in client.complete(body):
                text += piece.text
        texts.append(text)
    alone, never_ending, ended = texts
    assert ended == alone
    assert never_ending.startswith(alone)


async def test_only_the_key_opens_it_and_only_here(server: EmbeddedServer) -> None:
    import httpx2

    address = await server.start()
    assert address.key not in repr(address)
    assert server.process_id is not None
    arguments = Path(f"/proc/{server.process_id}/cmdline")
    if arguments.exists():
        assert address.key not in arguments.read_text()
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{address.port}") as client:
        response = await client.post("/completion", json={"prompt": "x", "n_predict": 1})
    assert response.status_code == 401


async def test_stop_sequences_of_the_prompt_and_of_its_protocol_end_a_reply(
    server: EmbeddedServer,
) -> None:
    """Those of the prompt's options were left out: only the protocol's arrived."""
    model = EmbeddedModel(server)
    words = "Count in words: one two three four five. Repeat that."
    whole = await answer(model, asking(words, options={"maxOutputTokens": 40}))
    first = next(word for word in whole.text.split()[2:] if word.isalpha())
    for request in (
        asking(words, options={"maxOutputTokens": 40, "stopSequences": [first]}),
        asking(words, options={"maxOutputTokens": 40}, stop=(first,)),
    ):
        reply = await answer(model, request)
        assert reply.text == whole.text[: whole.text.index(first)]
        assert reply.finish_reason == "stop"


async def test_a_stop_while_writing_leaves_it_ready(server: EmbeddedServer) -> None:
    model = EmbeddedModel(server)
    writing = asyncio.Event()

    async def listen() -> None:
        async for delta in model.stream(asking("Tell a long story.")):
            if isinstance(delta, TextDelta):
                writing.set()

    task = asyncio.create_task(listen())
    await asyncio.wait_for(writing.wait(), patience.SECONDS)
    process = server.process_id
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, patience.SECONDS)
    assert (await answer(model, SHORT)).text
    assert server.process_id == process


async def test_a_stop_while_reading_ends_the_process(server: EmbeddedServer) -> None:
    model = EmbeddedModel(server)
    await answer(model, SHORT)
    reading = asyncio.Event()

    async def listen() -> None:
        async for _ in model.stream(LONG):
            reading.set()

    task = asyncio.create_task(listen())
    await asyncio.wait_for(reading.wait(), patience.SECONDS)
    process = server.process_id
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, patience.SECONDS)
    assert server.state == "stopped"
    assert (await answer(model, SHORT)).text
    assert server.process_id != process


async def test_a_stop_while_starting(server: EmbeddedServer) -> None:
    starting = asyncio.create_task(answer(EmbeddedModel(server), SHORT))
    while server.process_id is None:
        await asyncio.sleep(0)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(starting, patience.SECONDS)
    assert (server.state, server.process_id) == ("stopped", None)
    assert (await answer(EmbeddedModel(server), SHORT)).text


async def test_a_crash_is_named_and_the_next_request_starts_it_again(
    server: EmbeddedServer,
) -> None:
    model = EmbeddedModel(server)
    await server.start()
    assert server.process_id is not None
    seen: list[str] = []

    async def listen(process: int) -> None:
        async with aclosing(model.stream(asking("Tell a long story."))) as deltas:
            async for delta in deltas:
                if isinstance(delta, TextDelta):
                    seen.append(delta.text)
                    if len(seen) == 3:
                        os.kill(process, signal.SIGKILL)

    with pytest.raises(ModelError) as caught:
        await listen(server.process_id)
    assert caught.value.kind == "crashed"
    assert "SIGKILL" in caught.value.message
    assert seen
    assert server.state == "crashed"
    assert (await answer(model, SHORT)).text
    assert server.state == "ready"


async def test_its_process_starts_before_it_is_asked(server: EmbeddedServer) -> None:
    model = EmbeddedModel(server)
    told: list[str] = []
    await model.prepare(told.append)
    await model.prepare(told.append)
    assert [text.partition(" ")[0] for text in told] == ["Starting"]
    assert server.state == "ready"
    assert not any("Starting" in notice for notice in (await answer(model, SHORT)).notices)


async def test_a_crash_before_a_word_is_mended_unasked(server: EmbeddedServer) -> None:
    model = EmbeddedModel(server)
    await server.start()
    process = server.process_id
    assert process is not None
    notices: list[str] = []
    text = ""
    request = asking("Tell a story about a dog. " * 60, options={"maxOutputTokens": 3})
    async with aclosing(model.stream(request)) as deltas:
        async for delta in deltas:
            if isinstance(delta, TextDelta):
                text += delta.text
            elif isinstance(delta, ReplyNotice):
                notices.append(delta.text)
                if server.process_id == process:
                    os.kill(process, signal.SIGKILL)
    assert any("Starting it again" in notice for notice in notices)
    assert text


async def test_a_conversation_that_is_too_long(server: EmbeddedServer) -> None:
    small = EmbeddedModel(server, settings=EmbeddedSettings(context=256, threads=1))
    with pytest.raises(ModelError) as caught:
        await answer(small, asking("word " * 600))
    assert caught.value.kind == "too-long"


async def test_two_at_once_wait_for_each_other(server: EmbeddedServer) -> None:
    first, second = await asyncio.gather(
        answer(EmbeddedModel(server), SHORT), answer(EmbeddedModel(server), SHORT)
    )
    assert first.text == second.text
    assert "Waiting" in second.notices[0]


async def test_a_model_of_its_own_ends_with_it() -> None:
    model = EmbeddedModel(settings=EmbeddedSettings(threads=1))
    await answer(model, SHORT)
    process = model._server.process_id
    assert process is not None
    await model.close()
    assert not Path(f"/proc/{process}").exists()


PARENT = """
import asyncio, signal
from studio.core.models.embedded.server import EmbeddedServer, EmbeddedSettings
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a shell's background jobs
async def main():
    server = EmbeddedServer(EmbeddedSettings(threads=1))
    await server.start()
    print(server.process_id, flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits for a stranger's end by pidfd")
@pytest.mark.parametrize("signal_", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_it_ends_with_the_studio_however_that_ends(signal_: signal.Signals, checkout: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=checkout,
        text=True,
    )
    assert parent.stdout is not None
    with parent.stdout:
        child = os.pidfd_open(int(parent.stdout.readline()))
        parent.send_signal(signal_)
        try:
            parent.wait(patience.SECONDS)
        finally:
            parent.kill()
            parent.wait()
    ended, _, _ = select.select([child], [], [], patience.SECONDS)
    os.close(child)
    assert ended


@pytest.mark.parametrize("content", [None, b"", b"GGUF", b"PK\x03\x04" + b"x" * 5000])
def test_a_file_that_is_no_model(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "my.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelError) as caught:
        weights_at(path)
    assert caught.value.kind == "missing-model"
    assert "my.gguf" in caught.value.message


async def test_a_broken_model_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(bundled_weights().path.read_bytes()[:200_000])
    model = EmbeddedModel(settings=EmbeddedSettings(weights=path, threads=1))
    with pytest.raises(ModelError) as caught:
        await answer(model, SHORT)
    await model.close()
    assert caught.value.kind == "crashed"
    assert "broken" in caught.value.message
    assert caught.value.hint


def test_a_folder_is_searched(tmp_path: Path) -> None:
    good = b"GGUF" + b"\0" * 2000
    (tmp_path / "inner").mkdir()
    for name in ("b.gguf", "inner/a.gguf", "big-00001-of-00002.gguf", "big-00002-of-00002.gguf"):
        (tmp_path / name).write_bytes(good)
    (tmp_path / "no.gguf").write_bytes(b"no")
    names = [weights.name for weights in find_weights(tmp_path)]
    assert names == ["b", "big-00001-of-00002", "a"]
    (tmp_path / "link.gguf").symlink_to(tmp_path / "b.gguf")
    assert "link" not in [weights.name for weights in find_weights(tmp_path)]


async def test_a_missing_system_library_is_named_and_the_file_is_not_blamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A package in front of the real one, that fails as it does where its library is not there.
    (tmp_path / "xllamacpp.py").write_text(
        "import ctypes\n"
        "try:\n"
        "    ctypes.CDLL('libnobody-has.so.7')\n"
        "except OSError as error:\n"
        "    raise ImportError(str(error)) from None\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    server = EmbeddedServer(EmbeddedSettings())
    with pytest.raises(ModelError) as told:
        await server.start()
    assert told.value.kind == "missing-library"
    assert told.value.message == (
        "The embedded model cannot start: the system library libnobody-has.so.7 is missing."
    )
    assert "apt-get install libnobody-has7" in told.value.hint
    assert server.state == "stopped"
