"""A model that answers by a script: for stepping without a key, and for tests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, get_args

from studio.core.models.base import Capabilities, ModelError, ModelRequest
from studio.core.models.bodies import request_body
from studio.core.text.amounts import counted
from studio.core.text.files import read_text
from studio.core.text.values import Json, JsonObject, parse_json, reason_of, text_of
from studio.core.wire.reply import (
    Finished,
    FinishReason,
    ReasoningDelta,
    RefusalDelta,
    Reply,
    ReplyDelta,
    ReplyNotice,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    UsageDelta,
)

DEFAULT_CHUNK = 16
"""Characters of a delta; small enough that the streaming of a short reply is seen."""


@dataclass(frozen=True, slots=True)
class ScriptedTurn:
    """One reply of a script, with the ways in which real models misbehave."""

    reply: Reply
    """Reply of the model; without a finish reason, its content suggests one."""

    error: ModelError | None = None
    """Error raised after all of `reply`: a stream that breaks off."""

    delay: float | None = None
    """Seconds before each delta; `None` takes the model's own."""

    hangs: bool = False
    """Whether the model says `reply` and then never ends; only cancelling helps."""


ScriptedReply: TypeAlias = ScriptedTurn | Reply | ModelError | str
"""A turn; a reply; an error raised at once; or the plain text of a reply."""


class ScriptedModel:
    """Answers with the replies of a script, one per call, in order."""

    def __init__(
        self,
        replies: Sequence[ScriptedReply],
        *,
        delay: float = 0.0,
        chunk: int = DEFAULT_CHUNK,
        label: str = "Scripted",
        capabilities: Capabilities | None = None,
        repeat: bool = False,
    ) -> None:
        """Take a script.

        Args:
            replies: one for each call.
            delay: seconds before each delta.
            chunk: characters per delta, at least 1.
            label: the model's name for people.
            capabilities: what may be sent to it; everything by default.
            repeat: start again at the end of the script instead of failing.
        """
        self._turns = tuple(_turn(reply) for reply in replies)
        self._delay = delay
        self._chunk = max(1, chunk)
        self.label = label
        """The model's name for people."""
        self.capabilities = capabilities or Capabilities()
        """Abilities that the model claims."""
        self._repeat = repeat
        self._requests: list[ModelRequest] = []

    @property
    def requests(self) -> tuple[ModelRequest, ...]:
        """Every request so far, in order."""
        return tuple(self._requests)

    def request_body(self, request: ModelRequest) -> JsonObject:
        """The body that a chat-completions server would get."""
        return request_body(request, model_id="scripted", capabilities=self.capabilities)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ReplyDelta, None]:
        """Say the next reply of the script.

        Raises:
            ModelError: the script says so, or has no more replies ("script-ended").
        """
        turn = self._next(request)
        delay = self._delay if turn.delay is None else turn.delay
        for delta in deltas_of(turn.reply, self._chunk):
            # Also without a delay: a stream gives others their turn between two deltas.
            await asyncio.sleep(delay)
            yield delta
        if turn.error is not None:
            raise turn.error
        if turn.hangs:
            await asyncio.Event().wait()
        yield Finished(turn.reply.finish_reason or suggested_reason(turn.reply))

    async def close(self) -> None:
        """Nothing to let go of."""

    def _next(self, request: ModelRequest) -> ScriptedTurn:
        index = len(self._requests)
        self._requests.append(request)
        if self._repeat and self._turns:
            index %= len(self._turns)
        if index >= len(self._turns):
            raise ModelError(
                "script-ended",
                f"The script has {counted(len(self._turns), 'reply', 'replies')} and was asked for "
                f"number {index + 1}.",
                "Add a reply to the script, or choose another model.",
            )
        return self._turns[index]


def deltas_of(reply: Reply, chunk: int = DEFAULT_CHUNK) -> Iterator[ReplyDelta]:
    """Return the pieces in which a reply streams, all but `Finished`.

    Args:
        reply: what is said in the end; folding the pieces with `accumulate` gives it again.
        chunk: characters per delta.
    """
    for text in reply.notices:
        yield ReplyNotice(text)
    for text in _pieces(reply.reasoning, chunk):
        yield ReasoningDelta(text)
    for text in _pieces(reply.text, chunk):
        yield TextDelta(text)
    for text in _pieces(reply.refusal, chunk):
        yield RefusalDelta(text)
    for index, call in enumerate(reply.tool_calls):
        yield ToolCallDelta(index, call.id or f"call_{index + 1}", call.name)
        for text in _pieces(call.arguments, chunk):
            yield ToolCallDelta(index, arguments=text)
    if reply.usage is not None:
        yield UsageDelta(reply.usage)


def _pieces(text: str, size: int) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]


def _turn(reply: ScriptedReply) -> ScriptedTurn:
    match reply:
        case ScriptedTurn():
            return reply
        case Reply():
            return ScriptedTurn(reply)
        case ModelError():
            return ScriptedTurn(Reply(), error=reply)
        case str():
            return ScriptedTurn(Reply(text=reply))


def suggested_reason(reply: Reply) -> FinishReason:
    """Return the finish reason for a reply without one."""
    if reply.tool_calls:
        return "tool_calls"
    return "refusal" if reply.refusal else "stop"


# Scripts of replies as files that people write: JSON, one reply for each call.

_HINT = "A script is a JSON list; each item is a reply's text, or an object with `text`, "
_HINT += "`tool_calls`, `refusal`, `finish_reason`, `error` or `delay`."


def read_script(path: Path) -> tuple[ScriptedReply, ...]:
    """The replies of a script file.

    Each item of its list is a text, or an object with any of `text`, `reasoning`, `refusal`,
    `tool_calls` (a list of `{"name", "arguments"}`), `finish_reason`, `error` (`{"kind",
    "message"}`) and `delay` (seconds before each piece).

    Raises:
        ModelError: "no-script"; the file is missing or not a script.
    """
    try:
        items = parse_json(read_text(path))
    except OSError as error:
        raise ModelError(
            "no-script", f"The script {path.name!r} cannot be read: {error.strerror}.", _HINT
        ) from error
    except ValueError as error:
        raise ModelError(
            "no-script", f"The script {path.name!r} is not JSON: {reason_of(error)}.", _HINT
        ) from error
    if not isinstance(items, list) or not items:
        raise ModelError("no-script", f"The script {path.name!r} is not a list of replies.", _HINT)
    return tuple(_reply(item, number, path) for number, item in enumerate(items, 1))


def _reply(item: Json, number: int, path: Path) -> ScriptedReply:
    if isinstance(item, str):
        return item
    if not isinstance(item, Mapping):
        raise ModelError("no-script", f"Reply {number} of {path.name!r} is not a reply.", _HINT)
    reason = item.get("finish_reason")
    if reason is not None and reason not in get_args(FinishReason):
        raise ModelError(
            "no-script", f"Reply {number} of {path.name!r} ends with {reason!r}.", _HINT
        )
    delay = item.get("delay")
    return ScriptedTurn(
        Reply(
            text=_text(item, "text"),
            reasoning=_text(item, "reasoning"),
            refusal=_text(item, "refusal"),
            tool_calls=_calls(item.get("tool_calls")),
            finish_reason=next((each for each in get_args(FinishReason) if each == reason), None),
        ),
        error=_error(item.get("error")),
        delay=float(delay) if isinstance(delay, int | float) else None,
    )


def _calls(value: Json) -> tuple[ToolCall, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return ()
    calls: list[ToolCall] = []
    for each in value:
        if isinstance(each, Mapping):
            arguments = each.get("arguments", {})
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            calls.append(ToolCall(_text(each, "id"), _text(each, "name"), text))
    return tuple(calls)


def _error(value: Json) -> ModelError | None:
    if not isinstance(value, Mapping):
        return None
    return ModelError(
        _text(value, "kind") or "server-error",
        _text(value, "message") or "The script fails here.",
        _text(value, "hint") or "The script says so.",
    )


def _text(item: JsonObject, key: str) -> str:
    return text_of(item.get(key))
