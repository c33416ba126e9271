"""Test a connection: whether it answers, and which models and abilities it has."""

import base64
import struct
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal, TypeAlias, get_args

from studio.core.models.base import Capabilities, ModelError, ModelRequest
from studio.core.models.choice import embedded_settings, needs_address
from studio.core.models.connections import Api, Connection
from studio.core.models.embedded.server import EmbeddedServer
from studio.core.models.remote.faults import Endpoint
from studio.core.models.remote.model import RemoteModel, shown_address
from studio.core.models.remote.openai_client import KeySource, OpenAIClient, listed_models
from studio.core.models.secrets import SecretStore
from studio.core.prompty.document import MediaPart, Message, Part, TextPart, ToolSpec
from studio.core.text.amounts import counted, duration
from studio.core.text.values import JsonDict, JsonObject, parse_json
from studio.core.wire.reply import Reply, ReplyDelta, accumulate

_NO_LIST = frozenset(("not-found", "bad-reply", "bad-request", "forbidden"))
"""Errors of the model list that say nothing about completions: there is no list, its path is
another API, or the key may not read it.
"""

_FEWEST_TOKENS: Mapping[Api, int] = {"chat": 1, "responses": 16}
"""Minimum number of output tokens that each API accepts as a limit."""


@dataclass(frozen=True, slots=True)
class Probe:
    """The result of testing a connection."""

    works: bool
    """Whether it answered."""

    message: str
    """Description of the result, in one sentence."""

    hint: str = ""
    """Advice after a failure."""

    models: tuple[str, ...] = ()
    """Ids of the offered models, sorted."""

    listed: tuple[JsonObject, ...] = ()
    """The server's descriptions of the models."""

    seconds: float = 0.0
    """Duration in seconds."""

    lists: bool = True
    """Whether it lists its models; if not, the user must enter a model's id."""


async def probe(
    connection: Connection, secrets: SecretStore, embedded: EmbeddedServer | None = None
) -> Probe:
    """Test a connection; never raises for faults of the connection.

    Args:
        connection: the connection, saved or not.
        secrets: store of its key.
        embedded: the studio's embedded server; without it one is started and stopped.
    """
    start = time.monotonic()
    try:
        if connection.kind == "embedded":
            return await _embedded(connection, embedded, start)
        if not connection.is_remote:
            return Probe(True, "Nothing to connect to: it runs in the studio.")
        return await _remote(connection, secrets, start)
    except ModelError as error:
        return Probe(False, error.message, error.hint, seconds=time.monotonic() - start)


async def _remote(connection: Connection, secrets: SecretStore, start: float) -> Probe:
    if needs_address(connection):
        return Probe(False, "The connection has no address.", "Enter the address of its API.")
    key = _key_source(connection, secrets)
    target = Endpoint(connection.name, shown_address(connection), connection.model)
    client = OpenAIClient(connection, key, target)
    try:
        await client.prepare()
        start = time.monotonic()
        listed = await listed_models(client)
    except ModelError as error:
        if error.kind not in _NO_LIST:
            raise
        return await _ask_one_token(connection, key, start, error)
    finally:
        await client.close()
    models = tuple(sorted({str(item["id"]) for item in listed}))
    seconds = time.monotonic() - start
    message = f"{connection.name} answers: {counted(len(models), 'model')} in {duration(seconds)}."
    hint = ""
    if connection.model and connection.model not in models:
        hint = f"{connection.model!r} is not among its models."
    return Probe(True, message, hint, models, listed, seconds)


def _without_list(connection: Connection, refused: ModelError, start: float) -> Probe:
    """Describe a server without a model list, if no model id is known."""
    seconds = time.monotonic() - start
    typed = "Type the id of a model and test again: one token is then requested."
    ends = ": it usually ends in /v1" if connection.kind in ("compatible", "openai") else ""
    if refused.kind == "bad-reply":
        message = (
            f"{connection.name} responds, but not like a model server: there is a web page or "
            f"another program at {shown_address(connection)}."
        )
        hint = (
            f"Check the address{ends}. A network with a sign-in page answers so too. If the server "
            "only lists no models, type the id of one and test again."
        )
        return Probe(False, message, hint, seconds=seconds, lists=False)
    if refused.kind == "forbidden":
        return Probe(False, refused.message, typed, seconds=seconds, lists=False)
    message = f"{connection.name} is there, but does not list its models."
    hint = f"{typed} If nothing answers then, check the address{ends}."
    return Probe(False, message, hint, seconds=seconds, lists=False)


async def _ask_one_token(
    connection: Connection, key: KeySource, start: float, refused: ModelError
) -> Probe:
    """Test a server without a model list by the shortest possible request.

    Args:
        connection: the connection.
        key: its key.
        start: start time of the test.
        refused: its error for the model list.

    Raises:
        ModelError: this request fails too.
    """
    if not connection.model:
        return _without_list(connection, refused, start)
    model = RemoteModel(replace(connection, retries=0), connection.model, key)
    most = _FEWEST_TOKENS[connection.api]
    request = ModelRequest((Message("user", (TextPart("Hi"),)),), options={"maxOutputTokens": most})
    try:
        async with aclosing(model.stream(request)) as deltas:
            async for _ in deltas:
                pass
    finally:
        await model.close()
    seconds = time.monotonic() - start
    return Probe(
        True,
        f"{connection.name} answers as {connection.model!r} in {duration(seconds)}.",
        "It does not list its models: the ids of others have to be typed.",
        seconds=seconds,
    )


def _key_source(connection: Connection, secrets: SecretStore) -> KeySource:
    return lambda: secrets.read(connection.key, connection.name)


async def _embedded(connection: Connection, shared: EmbeddedServer | None, start: float) -> Probe:
    settings = embedded_settings(connection)
    server = shared or EmbeddedServer(settings)
    try:
        async with server.turn():
            await server.change(settings)
            await server.start()
        name = server.weights().name
    finally:
        if shared is None:
            await server.stop()
    seconds = time.monotonic() - start
    return Probe(True, f"{name} is ready after {duration(seconds)}.", "", (name,), (), seconds)


# The abilities of a server: each is requested once, and the reply is judged.

AbilityName: TypeAlias = Literal[
    "streaming", "tools", "parallel", "schema", "vision", "reasoning", "stop"
]
"""Name of an ability, in the order of the tests."""

AbilityAnswer: TypeAlias = Literal["yes", "no", "refused", "failed"]
"""Result of a test; `refused`: the server rejected the request; `failed`: it did not respond."""

_MOST_TOKENS = 400
_ADD = ToolSpec(
    "add",
    "Adds two numbers.",
    {
        "type": "object",
        "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
        "required": ["a", "b"],
    },
)
_CITY: JsonObject = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "people": {"type": "integer"}},
    "required": ["city", "people"],
}
_ALL = Capabilities(vision=True)


@dataclass(frozen=True, slots=True)
class TriedAbility:
    """The result of testing one ability."""

    name: AbilityName
    """Name of the ability."""

    verdict: AbilityAnswer
    """Verdict of the test."""

    remark: str = ""
    """Behavior instead of the expected one, or the server's message."""


@dataclass(frozen=True, slots=True)
class _Question:
    text: str
    judge: Callable[[Reply], bool]
    tools: tuple[ToolSpec, ...] = ()
    schema: JsonObject | None = None
    stop: tuple[str, ...] = ()
    effort: str = ""
    picture: str = ""


def tried_table(model_id: str, tried: Sequence[TriedAbility]) -> JsonObject:
    """Return the part of a test that a connection stores: the model, and a verdict per ability."""
    verdicts: JsonDict = {each.name: each.verdict for each in tried}
    return {"model": model_id, **verdicts}


async def try_abilities(
    connection: Connection,
    model_id: str,
    key: KeySource,
    told: Callable[[TriedAbility], None] | None = None,
) -> tuple[TriedAbility, ...]:
    """Test each ability once; the failure of one does not affect the others.

    Args:
        connection: the server; each request is sent once.
        model_id: the model to test.
        key: source of its key.
        told: called with each result as soon as it is known.
    """
    made: list[TriedAbility] = []
    for name in get_args(AbilityName):
        # A separate model for each test: an option rejected in one must not be omitted in another.
        model = RemoteModel(replace(connection, retries=0), model_id, key, capabilities=_ALL)
        try:
            made.append(await _ask(model, name, _QUESTIONS[name]))
            if told is not None:
                told(made[-1])
        finally:
            await model.close()
    return tuple(made)


async def _ask(model: RemoteModel, name: AbilityName, question: _Question) -> TriedAbility:
    parts: list[Part] = [TextPart(question.text)]
    if question.picture:
        parts.append(MediaPart("image", question.picture))
    options: JsonDict = {"maxOutputTokens": _MOST_TOKENS}
    if question.effort:
        options["reasoningEffort"] = question.effort
    request = ModelRequest(
        (Message("user", tuple(parts)),), question.tools, options, question.stop, question.schema
    )
    deltas: list[ReplyDelta] = []
    try:
        async with aclosing(model.stream(request)) as coming:
            deltas += [delta async for delta in coming]
    except ModelError as error:
        verdict: AbilityAnswer = "refused" if error.kind in _REFUSALS else "failed"
        return TriedAbility(name, verdict, error.message)
    reply = reduce(accumulate, deltas, Reply())
    if reply.left_out:
        return TriedAbility(name, "refused", reply.left_out[0].sentence)
    if question.judge(reply):
        return TriedAbility(name, "yes")
    return TriedAbility(name, "no", " ".join((reply.text or reply.refusal).split())[:120])


_REFUSALS = frozenset(("unsupported-parameter", "bad-request", "server-error"))


def _red_picture() -> str:
    """Return a red square of 32 × 32 pixels as a data URL."""
    rows = (b"\0" + b"\xff\0\0" * 32) * 32

    def piece(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    size = struct.pack(">IIBBBBB", 32, 32, 8, 2, 0, 0, 0)
    head, body = piece(b"IHDR", size), piece(b"IDAT", zlib.compress(rows))
    png = b"\x89PNG\r\n\x1a\n" + head + body + piece(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(png).decode()


def _is_city(reply: Reply) -> bool:
    try:
        value = parse_json(reply.text)
    except ValueError:
        return False
    return isinstance(value, dict) and set(value) == {"city", "people"}


def _has_thought(reply: Reply) -> bool:
    counted = reply.usage.reasoning_tokens if reply.usage is not None else 0
    return bool(reply.reasoning or reply.carried or counted)


def _calls(least: int) -> Callable[[Reply], bool]:
    def judge(reply: Reply) -> bool:
        return sum(call.name == "add" for call in reply.tool_calls) >= least

    return judge


_QUESTIONS: dict[AbilityName, _Question] = {
    "streaming": _Question(
        "Count from one to ten in words.",
        lambda reply: not any("does not stream" in text for text in reply.notices),
    ),
    "tools": _Question("What is 2 + 3? Call the tool.", _calls(1), (_ADD,)),
    "parallel": _Question(
        "What is 2 + 3, and what is 4 + 5? Call the tool for both at once.", _calls(2), (_ADD,)
    ),
    "schema": _Question("Name a large city and its number of people.", _is_city, schema=_CITY),
    "vision": _Question(
        "Which color is this picture? Answer with one word.",
        lambda reply: "red" in reply.text.lower(),
        picture=_red_picture(),
    ),
    "reasoning": _Question("Is 97 a prime number? Think first.", _has_thought, effort="low"),
    "stop": _Question(
        "Write exactly: one two three four five",
        lambda reply: "two" in reply.text.lower() and "three" not in reply.text.lower(),
        stop=("three",),
    ),
}
