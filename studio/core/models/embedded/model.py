"""The embedded model: always there, without an account or a network, and very small."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace

from studio.core.models.base import (
    Capabilities,
    ModelError,
    ModelRequest,
    TellOpening,
)
from studio.core.models.embedded.client import LlamaClient
from studio.core.models.embedded.grammar import build_grammar, with_end
from studio.core.models.embedded.policy import GrammarLevel
from studio.core.models.embedded.prompt import last_user_text, template_messages
from studio.core.models.embedded.server import EmbeddedServer, EmbeddedSettings
from studio.core.models.sending import as_sent
from studio.core.text.amounts import counted
from studio.core.text.foreign_json import parse_json
from studio.core.text.values import Json, JsonObject
from studio.core.wire.draft import all_stops
from studio.core.wire.reply import (
    Finished,
    FinishReason,
    ReplyDelta,
    ReplyNotice,
    TextDelta,
    ToolCallDelta,
    Usage,
    UsageDelta,
)

DEFAULT_LEVEL: GrammarLevel = "grounded"
"""The bundled model needs all of it."""

_SEED = 1
_WAITING = "Waiting for the embedded model to end another reply …"
_STEP_TOKENS = 256
_CHAT_TOKENS = 512
_LONG_PROMPT = 250
_OPTIONS = {
    "temperature": "temperature",
    "topP": "top_p",
    "topK": "top_k",
    "seed": "seed",
    "frequencyPenalty": "frequency_penalty",
    "presencePenalty": "presence_penalty",
    "maxOutputTokens": "n_predict",
}


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast the last reply was."""

    reading: float
    """Tokens of the prompt per second."""

    writing: float
    """Tokens of the reply per second."""


class EmbeddedModel:
    """Answers by the embedded server, one request at a time."""

    def __init__(
        self,
        server: EmbeddedServer | None = None,
        *,
        settings: EmbeddedSettings | None = None,
        level: GrammarLevel = DEFAULT_LEVEL,
        name: str = "",
    ) -> None:
        """Take a server.

        Args:
            server: one that others use as well and that its owner stops; `None` makes one that
                `close` stops.
            settings: what it is to run with; as the server does by default.
            level: how much the grammar decides for the model.
            name: for people, where the file's own name should not be shown.
        """
        self._server = server or EmbeddedServer(settings)
        self._settings = settings or self._server.settings
        self._owns_server = server is None
        self._level: GrammarLevel = level
        self._name = name
        self._speed: Speed | None = None

    @property
    def label(self) -> str:
        """The model's name for people."""
        weights = self._settings.weights
        name = self._name or (weights.stem if weights else "SmolLM2 135M")
        return f"{name} (embedded)"

    @property
    def capabilities(self) -> Capabilities:
        """What may be sent to it."""
        return Capabilities(context_window=self._settings.context)

    @property
    def level(self) -> GrammarLevel:
        """How much the grammar decides for the model."""
        return self._level

    @property
    def speed(self) -> Speed | None:
        """How fast the last reply was; kept out of the reply, so that equal runs stay equal."""
        return self._speed

    def request_body(self, request: ModelRequest) -> JsonObject:
        """What is asked; the model's own template makes the prompt of `messages`.

        At temperature 0 and with a fixed seed unless the document says otherwise, so that the
        same prompt gives the same reply.
        """
        options = request.options or {}
        agent = request.protocol != "native" or bool(request.tools)
        body: dict[str, Json] = {
            "messages": template_messages(request),
            "temperature": 0,
            "seed": _SEED,
            "n_predict": _STEP_TOKENS if agent else _CHAT_TOKENS,
            "stream": True,
            "cache_prompt": False,
        }
        body |= {theirs: options[ours] for ours, theirs in _OPTIONS.items() if ours in options}
        stops = all_stops(options, request.stop)
        if stops:
            body["stop"] = [item for item in stops if isinstance(item, str) and item]
        question = request.question or last_user_text(request)
        grammar = build_grammar(replace(request, question=question), self._level)
        if grammar is not None:
            body["grammar"] = grammar
        return body

    async def prepare(self, tell: TellOpening) -> None:
        """Start the server, which reads the weights.

        Raises:
            ModelError: "missing-model", "missing-library" or "crashed".
        """
        if self._server.is_busy:
            tell(_WAITING)
        async with self._server.turn():
            await self._server.change(self._settings)
            if self._server.state != "ready":
                tell(f"Starting {self.label} …")
            await self._server.start()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ReplyDelta, None]:
        """Answer.

        Raises:
            ModelError: "missing-model", "crashed", "too-long" or "server-error".
            MissingValueError: a secret that is to be sent has no value here.
        """
        request = as_sent(request)
        if self._server.is_busy:
            yield ReplyNotice(_WAITING)
        async with self._server.turn():
            has_replied = False
            for is_last in (False, True):
                try:
                    async with aclosing(self._attempt(request)) as deltas:
                        async for delta in deltas:
                            has_replied = has_replied or not isinstance(delta, ReplyNotice)
                            yield delta
                except ModelError as error:
                    if error.kind != "crashed" or not error.retryable or has_replied or is_last:
                        raise
                    yield ReplyNotice("The embedded model's process had ended. Starting it again …")
                else:
                    return

    async def close(self) -> None:
        """Stop the server, unless it is shared."""
        if self._owns_server:
            await self._server.stop()

    async def _attempt(self, request: ModelRequest) -> AsyncGenerator[ReplyDelta, None]:
        """One try; a process that went away is "crashed"."""
        import httpx2

        await self._server.change(self._settings)
        if self._server.state != "ready":
            yield ReplyNotice(f"Starting {self.label} …")
        address = await self._server.start()
        reading = True
        try:
            async with (
                LlamaClient(address) as client,
                aclosing(self._reply(client, request)) as deltas,
            ):
                async for delta in deltas:
                    reading = reading and isinstance(delta, ReplyNotice)
                    yield delta
        except httpx2.TransportError as error:
            raise await self._lost(error) from error
        except (asyncio.CancelledError, GeneratorExit):
            if reading:
                # llama.cpp reads a prompt to its end, however long (docs/design/embedded-model.md);
                # only the end of the process stops that. The next use starts a new one.
                await self._server.stop()
            raise

    async def _lost(self, error: Exception) -> ModelError:
        crashed = await self._server.failure()
        if crashed is not None:
            return crashed
        await self._server.stop()
        return ModelError(
            "server-error",
            f"The embedded model stopped answering ({type(error).__name__}).",
            "Run again: it was started anew.",
            retryable=True,
        )

    async def _reply(
        self, client: LlamaClient, request: ModelRequest
    ) -> AsyncGenerator[ReplyDelta, None]:
        body = dict(self.request_body(request))
        prompt = await client.template(template_messages(request))
        del body["messages"]
        grammar = body.get("grammar")
        if isinstance(grammar, str):
            body["grammar"] = with_end(grammar, await client.end_token())
        count = await client.count(prompt)
        if count > _LONG_PROMPT:
            yield ReplyNotice(f"Reading {counted(count, 'token')} …")
        is_call: bool | None = None if request.protocol == "native" and request.tools else False
        held = ""
        end: JsonObject = {}
        async with aclosing(client.complete({"prompt": prompt, **body}, request.wire)) as pieces:
            async for piece in pieces:
                end = piece.end or end
                if is_call is None and (held + piece.text).strip():
                    is_call = (held + piece.text).lstrip().startswith("{")
                if is_call is False and held + piece.text:
                    yield TextDelta(held + piece.text)
                    held = ""
                else:
                    held += piece.text
        for delta in _call_of(held, request):
            yield delta
        self._speed = _speed(end)
        yield UsageDelta(_usage(end))
        yield Finished(_reason(end, called=bool(held)))


def _call_of(text: str, request: ModelRequest) -> tuple[ReplyDelta, ...]:
    """The tool call that a native reply's JSON is; any other JSON is text."""
    if not text:
        return ()
    try:
        value = parse_json(text)
    except ValueError:
        return (TextDelta(text),)
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return (TextDelta(text),)
    arguments = json.dumps(value.get("arguments", {}), ensure_ascii=False)
    identifier = f"call_{len(request.past_calls) + 1}"
    return (ToolCallDelta(0, identifier, value["name"], arguments),)


def _usage(end: JsonObject) -> Usage:
    return Usage(_number(end, "tokens_evaluated"), _number(end, "tokens_predicted"))


def _number(end: JsonObject, key: str) -> int:
    value = end.get(key)
    return value if isinstance(value, int) else 0


def _speed(end: JsonObject) -> Speed | None:
    timings = end.get("timings")
    if not isinstance(timings, Mapping):
        return None
    reading, writing = timings.get("prompt_per_second"), timings.get("predicted_per_second")
    if not isinstance(reading, int | float) or not isinstance(writing, int | float):
        return None
    return Speed(float(reading), float(writing))


def _reason(end: JsonObject, *, called: bool) -> FinishReason:
    if end.get("stop_type") == "limit":
        return "length"
    return "tool_calls" if called else "stop"
