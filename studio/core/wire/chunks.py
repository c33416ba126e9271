"""Read the chunks of a streamed chat completion, with the differences between servers."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from studio.core.text.values import Json, JsonObject, text_of, text_or_json
from studio.core.wire.reply import (
    CarriedDelta,
    ChoiceDelta,
    Finished,
    FinishReason,
    ReasoningDelta,
    RefusalDelta,
    ReplyDelta,
    ReplyNotice,
    TextDelta,
    ToolCallDelta,
    UsageDelta,
    finish_reason,
    read_usage,
)

_MOST_CHOICES = 128  # the largest `n` that OpenAI accepts


class ChunkReader(Protocol):
    """A reader for a stream of events."""

    def read(self, chunk: JsonObject) -> tuple[ReplyDelta, ...]:
        """Read the deltas of one event."""
        ...

    @property
    def has_ended(self) -> bool:
        """Whether the server has ended the reply, for whatever reason."""
        ...

    def end(self) -> tuple[ReplyDelta, ...]:
        """Return the deltas at the end of the stream; the last is `Finished`."""
        ...


@dataclass(slots=True)
class _Held:
    """A running call; its arguments are kept in pieces, as they can be a megabyte."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class CallSlots:
    """The positions of a reply's tool calls, each with an id at the end.

    Known behavior of servers: no index at all; index 0 for every parallel call with a new id each
    time; a whole call in one piece; no id.
    """

    def __init__(self) -> None:
        self._slots: dict[tuple[object, str], int] = {}
        self._last_of_index: dict[object, int] = {}
        self._held: list[_Held] = []
        self._last = -1

    def delta(
        self, index: object, call_id: str | None, name: str | None, arguments: str
    ) -> ToolCallDelta:
        """Return a piece of a call, at the position of the call."""
        slot = self._slot(index, call_id, name)
        if slot == len(self._held):
            self._held.append(_Held())
        held = self._held[slot]
        held.id = held.id or call_id or ""
        held.name += name if name and name != held.name else ""
        if arguments:
            held.arguments.append(arguments)
        return ToolCallDelta(slot, call_id or None, name or None, arguments)

    def identifiers(self) -> list[ToolCallDelta]:
        """Return ids for calls without one; the same call always gets the same id."""
        made: list[ToolCallDelta] = []
        for slot, call in enumerate(self._held):
            if not call.id:
                text = f"{call.name}\n{''.join(call.arguments)}"
                digest = zlib.crc32(text.encode(errors="replace"))
                made.append(ToolCallDelta(slot, f"call_{slot + 1}_{digest:08x}"))
        return made

    @property
    def any(self) -> bool:
        """Whether there was a call."""
        return bool(self._held)

    def _slot(self, index: object, call_id: str | None, name: str | None) -> int:
        if call_id and (index, call_id) in self._slots:
            return self._slots[index, call_id]
        known = self._last_of_index.get(index) if index is not None else self._last
        if known is not None and known >= 0 and not self._is_new(known, index, call_id, name):
            slot = known
        else:
            slot = len(self._held)
        if call_id:
            self._slots[index, call_id] = slot
        self._last_of_index[index] = slot
        self._last = slot
        return slot

    def _is_new(self, known: int, index: object, call_id: str | None, name: str | None) -> bool:
        held = self._held[known]
        if call_id and held.id:
            return call_id != held.id
        # Without index and id, a name after arguments begins another call.
        return index is None and not call_id and bool(name) and bool(held.arguments)


def unlisted(word: str, reason: FinishReason) -> tuple[ReplyNotice, ...]:
    """Return a notice about an unknown or missing finish reason."""
    if reason != "unknown":
        return ()
    if not word:
        return (ReplyNotice("The server did not say why the reply ended."),)
    return (ReplyNotice(f"The reply ended with {word[:80]!r}, an unknown reason."),)


class ChatChunks:
    """A reader of chunks of chat completions; also of a whole response instead of a chunk."""

    def __init__(self) -> None:
        self._calls = CallSlots()
        self._word = ""
        self._refused = False
        self._first: object = None

    @property
    def has_ended(self) -> bool:
        """Whether a finish reason was received, even an unknown one."""
        return bool(self._word)

    def read(self, chunk: JsonObject) -> tuple[ReplyDelta, ...]:
        """Read the deltas of one chunk."""
        made: list[ReplyDelta] = []
        choices = chunk.get("choices")
        if isinstance(choices, Sequence) and not isinstance(choices, str):
            for choice in choices:
                if isinstance(choice, Mapping):
                    made += self._of_choice(choice)
        usage = read_usage(chunk.get("usage"))
        if usage is not None:
            made.append(UsageDelta(usage))
        return tuple(made)

    def end(self) -> tuple[ReplyDelta, ...]:
        """Return the ids for calls without one, and the finish reason."""
        reason = finish_reason(self._word)
        notices = unlisted(self._word, reason)
        if self._refused and reason in ("stop", "unknown"):
            reason = "refusal"
        elif self._calls.any and reason in ("stop", "unknown"):
            reason = "tool_calls"  # many local servers say "stop" after calls
        return (*self._calls.identifiers(), *notices, Finished(reason))

    def _of_choice(self, choice: JsonObject) -> list[ReplyDelta]:
        """Read the first choice as the reply; further ones (`n` above 1) are shown beside it."""
        index = choice.get("index", 0)
        if self._first is None:
            self._first = index
        if index == self._first:
            return self._choice(choice)
        held = choice.get("delta", choice.get("message"))
        text = content_text(held.get("content") if isinstance(held, Mapping) else None)
        at = index if isinstance(index, int) and 0 < index < _MOST_CHOICES else _MOST_CHOICES
        return [ChoiceDelta(at, text)] if text else []

    def _choice(self, choice: JsonObject) -> list[ReplyDelta]:
        made: list[ReplyDelta] = []
        delta = choice.get("delta")
        if not isinstance(delta, Mapping):
            delta = choice.get("message")
        if isinstance(delta, Mapping):
            made += self._delta(delta)
        elif isinstance(choice.get("text"), str) and choice["text"]:
            made.append(TextDelta(str(choice["text"])))
        word = choice.get("finish_reason")
        if isinstance(word, str) and word:
            self._word = word
        return made

    def _delta(self, delta: JsonObject) -> list[ReplyDelta]:
        made: list[ReplyDelta] = []
        for key in ("reasoning_content", "reasoning", "thinking"):
            thought = content_text(delta.get(key))
            if thought:
                made.append(ReasoningDelta(thought))
                break
        text = content_text(delta.get("content"))
        if text:
            made.append(TextDelta(text))
        refusal = delta.get("refusal")
        if isinstance(refusal, str) and refusal:
            self._refused = True
            made.append(RefusalDelta(refusal))
        calls = delta.get("tool_calls")
        if isinstance(calls, Sequence) and not isinstance(calls, str):
            for call in calls:
                if isinstance(call, Mapping):
                    made += (self._call(call), *_signed(call))
        legacy = delta.get("function_call")
        if isinstance(legacy, Mapping):
            made.append(self._call({"index": 0, "function": legacy}))
        return made

    def _call(self, call: JsonObject) -> ToolCallDelta:
        function = call.get("function")
        inner = function if isinstance(function, Mapping) else call
        name, call_id = inner.get("name"), call.get("id")
        return self._calls.delta(
            call.get("index"),
            str(call_id) if call_id else None,
            str(name) if name else None,
            arguments_text(inner.get("arguments")),
        )


def _signed(call: JsonObject) -> tuple[ReplyDelta, ...]:
    """Return Gemini's signature of a call, which must be sent back (`extra_content.google`)."""
    signed = call.get("extra_content")
    if not isinstance(signed, Mapping) or not call.get("id"):
        return ()
    return (CarriedDelta({"type": "tool_call", "id": call["id"], "extra_content": signed}),)


def arguments_text(value: Json) -> str:
    """Return arguments as text; some servers send them as an object."""
    return "" if value is None else text_or_json(value)


def content_text(value: Json) -> str:
    """Return the text of a `content`, which is a string or a list of typed parts."""
    if isinstance(value, str):
        return value
    if not isinstance(value, Sequence):
        return ""
    parts = (part if isinstance(part, str) else _part_text(part) for part in value)
    return "".join(parts)


def _part_text(part: Json) -> str:
    if not isinstance(part, Mapping):
        return ""
    return text_of(part.get("text"))


def chunk_error(chunk: JsonObject) -> str | None:
    """Return the error in a chunk; None if there is none."""
    error = chunk.get("error")
    if chunk.get("type") == "error" and not error:
        error = {"message": chunk.get("message", "the provider reports an error")}
    response = chunk.get("response")
    if not error and isinstance(response, Mapping):
        error = response.get("error")
    if not error:
        return None
    if isinstance(error, Mapping):
        return str(error.get("message") or error.get("code") or error.get("type") or error)
    return str(error)
