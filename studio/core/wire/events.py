"""Read the events of streamed replies: OpenAI responses and Anthropic messages."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, assert_never

from studio.core.text.values import Json, JsonDict, JsonObject, text_of
from studio.core.wire import reply
from studio.core.wire.chunks import CallSlots, ChatChunks, ChunkReader, arguments_text, unlisted
from studio.core.wire.gemini import GeminiChunks
from studio.core.wire.ollama import OllamaChunks


def chunk_reader(
    provider: Literal["openai-chat", "openai-responses", "anthropic", "ollama", "gemini"],
) -> ChunkReader:
    """Return a reader for one stream of a provider."""
    match provider:
        case "openai-chat":
            return ChatChunks()
        case "openai-responses":
            return ResponseEvents()
        case "anthropic":
            return AnthropicEvents()
        case "ollama":
            return OllamaChunks()
        case "gemini":
            return GeminiChunks()
        case _:
            assert_never(provider)


class ResponseEvents:
    """A reader for the events of the responses API."""

    def __init__(self) -> None:
        self._calls = CallSlots()
        self._word: str | None = None
        self._refused = False
        self._with_arguments: set[object] = set()
        self._has_thought = False

    @property
    def has_ended(self) -> bool:
        """Whether the response was closed."""
        return self._word is not None

    def read(self, chunk: JsonObject) -> tuple[reply.ReplyDelta, ...]:
        """Read the deltas of one event."""
        kind = str(chunk.get("type", ""))
        text = text_of(chunk.get("delta"))
        match kind:
            case "response.output_text.delta":
                return (reply.TextDelta(text),) if text else ()
            case "response.refusal.delta":
                self._refused = True
                return (reply.RefusalDelta(text),) if text else ()
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return (reply.ReasoningDelta(text),) if text else ()
            case "response.output_item.added":
                return self._added(chunk)
            case "response.output_item.done":
                return self._item_done(chunk.get("item"))
            case "response.function_call_arguments.delta":
                self._with_arguments.add(chunk.get("output_index"))
                return (self._calls.delta(chunk.get("output_index"), None, None, text),)
            case "response.function_call_arguments.done":
                return self._done(chunk)
            case (
                "response.completed"
                | "response.incomplete"
                | "response.failed"
                | "response.cancelled"
            ):
                return self._closed(chunk.get("response"))
            case _:
                return ()

    def end(self) -> tuple[reply.ReplyDelta, ...]:
        """Return the deltas with the finish reason."""
        word = self._word or ""
        reason = reply.finish_reason(word)
        notices = unlisted(word, reason)
        if reason in ("stop", "unknown") and self._calls.any:
            reason = "tool_calls"
        elif reason in ("stop", "unknown") and self._refused:
            reason = "refusal"
        return (*self._calls.identifiers(), *notices, reply.Finished(reason))

    def _added(self, chunk: JsonObject) -> tuple[reply.ReplyDelta, ...]:
        item = chunk.get("item")
        if not isinstance(item, Mapping) or item.get("type") != "function_call":
            return ()
        call_id, name = item.get("call_id") or item.get("id"), item.get("name")
        arguments = arguments_text(item.get("arguments"))
        if arguments:
            self._with_arguments.add(chunk.get("output_index"))
        return (
            self._calls.delta(
                chunk.get("output_index"),
                str(call_id) if call_id else None,
                str(name) if name else None,
                arguments,
            ),
        )

    def _item_done(self, item: Json) -> tuple[reply.ReplyDelta, ...]:
        """Return data that a later request needs: reasoning, places, a message's phase."""
        if not isinstance(item, Mapping):
            return ()
        match item.get("type"):
            case "reasoning" if item.get("encrypted_content"):
                self._has_thought = True
                return (reply.CarriedDelta(dict(item)),)
            case "message" if self._has_thought or item.get("phase"):
                phase = {"phase": item["phase"]} if item.get("phase") else {}
                return (reply.CarriedDelta({"type": "message", **phase}),)
            case "function_call" if self._has_thought:
                return (
                    reply.CarriedDelta({"type": "function_call", "call_id": item.get("call_id")}),
                )
            case _:
                return ()

    def _done(self, chunk: JsonObject) -> tuple[reply.ReplyDelta, ...]:
        index = chunk.get("output_index")
        if index in self._with_arguments:
            return ()
        return (self._calls.delta(index, None, None, arguments_text(chunk.get("arguments"))),)

    def _closed(self, response: Json) -> tuple[reply.ReplyDelta, ...]:
        if not isinstance(response, Mapping):
            return ()
        details = response.get("incomplete_details")
        self._word = text_of(
            details.get("reason") if isinstance(details, Mapping) else response.get("status")
        )
        usage = reply.read_usage(response.get("usage"))
        return (reply.UsageDelta(usage),) if usage is not None else ()


class AnthropicEvents:
    """A reader for the events of Anthropic messages."""

    def __init__(self) -> None:
        self._calls = CallSlots()
        self._word = ""
        self._is_stopped = False
        self._started = reply.Usage()
        self._blocks: dict[object, JsonDict] = {}
        self._has_thought = False

    @property
    def has_ended(self) -> bool:
        """Whether the message was closed."""
        return bool(self._word) or self._is_stopped

    def read(self, chunk: JsonObject) -> tuple[reply.ReplyDelta, ...]:
        """Read the deltas of one event."""
        match chunk.get("type"):
            case "message_start":
                message = chunk.get("message")
                usage = (
                    reply.read_usage(message.get("usage")) if isinstance(message, Mapping) else None
                )
                self._started = usage or reply.Usage()
                return (reply.UsageDelta(usage),) if usage is not None else ()
            case "content_block_start":
                return self._block(chunk)
            case "content_block_delta":
                return self._delta(chunk)
            case "content_block_stop":
                return self._closed(chunk.get("index"))
            case "message_delta":
                return self._message(chunk)
            case "message_stop":
                self._is_stopped = True
                return ()
            case _:
                return ()

    def end(self) -> tuple[reply.ReplyDelta, ...]:
        """Return the deltas with the finish reason."""
        reason = reply.finish_reason(self._word)
        return (*self._calls.identifiers(), *unlisted(self._word, reason), reply.Finished(reason))

    def _block(self, chunk: JsonObject) -> tuple[reply.ReplyDelta, ...]:
        block = chunk.get("content_block")
        if not isinstance(block, Mapping):
            return ()
        self._blocks[chunk.get("index")] = dict(block)
        match block.get("type"):
            case "thinking":
                thought = block.get("thinking")
                return (
                    (reply.ReasoningDelta(thought),) if isinstance(thought, str) and thought else ()
                )
            case "tool_use":
                held = block.get("input")
                arguments = arguments_text(held) if held else ""
                name = str(block.get("name", ""))
                return (
                    self._calls.delta(
                        chunk.get("index"), str(block.get("id") or "") or None, name, arguments
                    ),
                )
            case "text":
                text = block.get("text")
                return (reply.TextDelta(text),) if isinstance(text, str) and text else ()
            case _:
                return ()

    def _delta(self, chunk: JsonObject) -> tuple[reply.ReplyDelta, ...]:
        delta = chunk.get("delta")
        if not isinstance(delta, Mapping):
            return ()
        match delta.get("type"):
            case "text_delta":
                text = str(delta.get("text", ""))
                return (reply.TextDelta(text),) if text else ()
            case "signature_delta":
                self._grow(chunk, "signature", str(delta.get("signature", "")))
                return ()
            case "thinking_delta":
                thought = str(delta.get("thinking", ""))
                self._grow(chunk, "thinking", thought)
                return (reply.ReasoningDelta(thought),) if thought else ()
            case "input_json_delta":
                piece = str(delta.get("partial_json", ""))
                return (self._calls.delta(chunk.get("index"), None, None, piece),)
            case _:
                return ()

    def _grow(self, chunk: JsonObject, key: str, piece: str) -> None:
        block = self._blocks.setdefault(chunk.get("index"), {"type": "thinking"})
        block[key] = f"{block.get(key, '')}{piece}"

    def _closed(self, index: object) -> tuple[reply.ReplyDelta, ...]:
        """Close a block: thinking is sent back unchanged, of other blocks only their places."""
        block = self._blocks.pop(index, {})
        kind = block.get("type")
        if kind in ("thinking", "redacted_thinking"):
            self._has_thought = True
            return (reply.CarriedDelta(block),)
        if not self._has_thought:
            return ()
        if kind == "tool_use":
            return (reply.CarriedDelta({"type": kind, "id": block.get("id")}),)
        return (reply.CarriedDelta({"type": kind}),) if kind == "text" else ()

    def _message(self, chunk: JsonObject) -> tuple[reply.ReplyDelta, ...]:
        delta = chunk.get("delta")
        if isinstance(delta, Mapping) and delta.get("stop_reason"):
            self._word = str(delta["stop_reason"])
        details = delta.get("stop_details") if isinstance(delta, Mapping) else None
        why = details.get("explanation") if isinstance(details, Mapping) else None
        made: list[reply.ReplyDelta] = []
        if isinstance(why, str) and why and self._word == "refusal":
            made.append(reply.RefusalDelta(why))
        usage = reply.read_usage(chunk.get("usage"))
        if usage is None:
            return tuple(made)
        # The final usage may contain only the output; that of the request came at the start.
        return (*made, reply.UsageDelta(reply.largest(usage, self._started)))


# Server-sent events, from the bytes of a stream (HTML Standard, section 9.2).

_BREAK = re.compile(rb"\r\n|\r|\n")
_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """A server-sent event."""

    data: str
    """Data of the event; several lines are joined by line breaks."""

    name: str = ""
    """Name of the event in `event:`; empty if it has none."""


class LineSplitter:
    """A splitter of a stream into the JSON texts of its lines (NDJSON), as sent by Ollama."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, piece: bytes) -> Iterator[ServerEvent]:
        """Yield the lines that are complete after this piece.

        Raises:
            UnicodeDecodeError: a line is not UTF-8.
        """
        *whole, self._rest = (self._rest + piece).split(b"\n")
        for line in whole:
            if line.strip():
                yield ServerEvent(line.decode("utf-8"))

    def close(self) -> ServerEvent | None:
        """Return the last line if no line break follows it."""
        return next(self.feed(b"\n"), None)


class EventSplitter:
    """A splitter of a stream into events, wherever its pieces are cut."""

    def __init__(self) -> None:
        self._line: list[bytes] = []
        self._data: list[str] = []
        self._name = ""
        self._after_return = False
        self._is_first = True

    def feed(self, piece: bytes) -> Iterator[ServerEvent]:
        """Yield the events that are complete after this piece.

        Raises:
            UnicodeDecodeError: a line is not UTF-8.
        """
        if self._after_return and piece.startswith(b"\n"):
            piece = piece[1:]
        self._after_return = piece.endswith(b"\r")
        *whole, rest = _BREAK.split(piece)
        for end in whole:
            line = b"".join((*self._line, end))
            self._line.clear()
            if self._is_first:
                line, self._is_first = line.removeprefix(_MARK), False
            event = self._take(line.decode("utf-8"))
            if event is not None:
                yield event
        if rest:
            self._line.append(rest)

    def close(self) -> ServerEvent | None:
        """Return the last event if the stream ended without a blank line after it."""
        return next(self.feed(b"\n\n"), None)

    def _take(self, line: str) -> ServerEvent | None:
        if not line:
            event = ServerEvent("\n".join(self._data), self._name) if self._data else None
            self._data, self._name = [], ""
            return event
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value
        return None
