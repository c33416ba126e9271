"""A model's reply: what came, in which order, and how it ended.

A reply masked while it comes: a secret may be split between its pieces.

Token figures and reasons to stop, from every provider's words into one vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Literal, TypeAlias, TypeGuard, assert_never, cast

from studio.core.masking.masker import MaskedStream, Masker
from studio.core.masking.walk import changed
from studio.core.paths import resource_table
from studio.core.text.values import Json, JsonObject

FinishReason: TypeAlias = Literal[
    "stop", "tool_calls", "length", "content_filter", "refusal", "cancelled", "error", "unknown"
]
"""Reason why the model stopped, in one vocabulary for all providers."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and money of one model call."""

    input_tokens: int = 0
    """Tokens of the request."""

    output_tokens: int = 0
    """Tokens of the reply."""

    cached_tokens: int = 0
    """Input tokens that the provider had in its cache."""

    cost: float | None = None
    """Cost in US dollars, where the price is known."""

    cache_write_tokens: int = 0
    """Input tokens that the provider wrote to its cache."""

    cache_write_1h_tokens: int = 0
    """Those of them that it keeps for an hour."""

    reasoning_tokens: int = 0
    """Output tokens of the model's reasoning."""

    input_audio_tokens: int = 0
    """Input tokens of audio."""

    output_audio_tokens: int = 0
    """Output tokens of audio."""

    input_image_tokens: int = 0
    """Input tokens of images, where the provider counts them apart."""

    @property
    def total_tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A native tool call as it came."""

    id: str
    """The provider's identifier; made by us where none came."""

    name: str
    """The tool's name, exactly as it came."""

    arguments: str
    """The arguments' text, exactly as it came."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Some text of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """Some text of the model's reasoning, where the provider shows it."""

    text: str


@dataclass(frozen=True, slots=True)
class RefusalDelta:
    """Some text of a refusal."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """A piece of a tool call.

    A name equal to the one held is ignored, another is appended; an id is kept once known.
    """

    index: int
    id: str | None = None
    name: str | None = None
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class CarriedDelta:
    """Something that the provider wants back with the next request, exactly as it came."""

    item: JsonObject
    """Signed thinking, or an encrypted reasoning item; of texts and calls only their places."""


@dataclass(frozen=True, slots=True)
class ChoiceDelta:
    """Some text of a further choice, where several were asked for (`n`)."""

    index: int
    """Which one; the reply itself is the first."""

    text: str


@dataclass(frozen=True, slots=True)
class UsageDelta:
    """The usage figures, usually the last piece."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Finished:
    """The reason why the reply ended."""

    reason: FinishReason


@dataclass(frozen=True, slots=True)
class ReplyNotice:
    """Something the user should see while waiting ("retry 2 of 3 in 1.5 s", "starting …")."""

    text: str


@dataclass(frozen=True, slots=True)
class RefusedOption:
    """An option of the request that the server does not take."""

    name: str
    """Its name in the body."""

    value: str
    """The value that was asked for, as JSON, shortened."""

    instead: str = ""
    """Name under which the value was sent; empty if it was left out."""

    @property
    def sentence(self) -> str:
        """Describe the outcome, for people."""
        how = f"sent as {self.instead!r}" if self.instead else "left out"
        return f"The server takes no {self.name!r}: {self.value} is {how}."


ReplyDelta: TypeAlias = (
    TextDelta
    | ReasoningDelta
    | RefusalDelta
    | ToolCallDelta
    | CarriedDelta
    | ChoiceDelta
    | UsageDelta
    | Finished
    | ReplyNotice
    | RefusedOption
)
"""Closed: consumers `match` and `assert_never`."""


@dataclass(frozen=True, slots=True)
class Reply:
    """All that has come of a reply so far; the same value while streaming and after."""

    text: str = ""
    """The answer's text, exactly as it came."""

    reasoning: str = ""
    """Reasoning that the provider sent apart from the text."""

    refusal: str = ""
    """A refusal, sent apart from the text."""

    tool_calls: tuple[ToolCall, ...] = ()
    """Native calls, in the order of their index."""

    usage: Usage | None = None
    """Figures, once they came."""

    finish_reason: FinishReason | None = None
    """`None` while the reply still runs."""

    notices: tuple[str, ...] = field(default=())
    """Notices, in order."""

    refused_options: tuple[RefusedOption, ...] = ()
    """Options that the server does not take, in the order of the refusals."""

    carried: tuple[JsonObject, ...] = ()
    """Data that the provider wants back, in its order; the keys are the provider's own."""

    further_choices: tuple[str, ...] = ()
    """Texts of the further choices, where several were asked for (`n`)."""

    @property
    def left_out(self) -> tuple[RefusedOption, ...]:
        """The refused options whose values were not sent at all."""
        return tuple(each for each in self.refused_options if not each.instead)

    @property
    def says_something(self) -> bool:
        """Whether anything of the model's own has come."""
        return bool(self.text or self.reasoning or self.refusal or self.tool_calls)


def accumulate(reply: Reply, delta: ReplyDelta) -> Reply:
    """Return the reply after one more delta; how a text was split makes no difference."""
    match delta:
        case TextDelta(text):
            return replace(reply, text=reply.text + text)
        case ReasoningDelta(text):
            return replace(reply, reasoning=reply.reasoning + text)
        case RefusalDelta(text):
            return replace(reply, refusal=reply.refusal + text)
        case ToolCallDelta():
            return replace(reply, tool_calls=_with_call(reply.tool_calls, delta))
        case CarriedDelta(item):
            return replace(reply, carried=(*reply.carried, item))
        case ChoiceDelta(index, text):
            texts = [*reply.further_choices, *[""] * (index - len(reply.further_choices))]
            texts[index - 1] += text
            return replace(reply, further_choices=tuple(texts))
        case UsageDelta(usage):
            return replace(reply, usage=usage)
        case Finished(reason):
            return replace(reply, finish_reason=reason)
        case ReplyNotice(text):
            return replace(reply, notices=(*reply.notices, text))
        case RefusedOption():
            return replace(reply, refused_options=(*reply.refused_options, delta))
        case _:
            assert_never(delta)


def _with_call(calls: tuple[ToolCall, ...], delta: ToolCallDelta) -> tuple[ToolCall, ...]:
    padded = list(calls)
    while len(padded) <= delta.index:
        padded.append(ToolCall("", "", ""))
    held = padded[delta.index]
    name = held.name
    if delta.name and delta.name != held.name:
        name += delta.name
    padded[delta.index] = ToolCall(
        held.id or (delta.id or ""), name, held.arguments + delta.arguments
    )
    return tuple(padded)


class ReplyMask:
    """Masks the pieces of one reply, also where a secret is split between them."""

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self.found: set[str] = set()
        """References of the secrets that the reply holds."""
        self._streams: dict[tuple[type, int], MaskedStream] = {}

    @property
    def is_holding(self) -> bool:
        """Whether the beginning of a secret may have come, and not its end."""
        return any(stream.is_holding for stream in self._streams.values())

    def feed(self, delta: ReplyDelta) -> tuple[ReplyDelta, ...]:
        """Return the text that can be shown so far."""
        match delta:
            case TextDelta(text) | ReasoningDelta(text) | RefusalDelta(text):
                shown = self._stream(type(delta)).feed(text)
                if shown == text:
                    return (delta,)
                return (type(delta)(shown),) if shown else ()
            case ToolCallDelta():
                shown = self._stream(ToolCallDelta, delta.index).feed(delta.arguments)
                return (delta if shown == delta.arguments else replace(delta, arguments=shown),)
            case CarriedDelta(item):
                return (CarriedDelta(changed(item, self._mask)),)
            case ChoiceDelta(index, text):
                return (ChoiceDelta(index, self._stream(ChoiceDelta, index).feed(text)),)
            case ReplyNotice(text):
                return (ReplyNotice(self._mask(text)),)
            case RefusedOption(value=value):
                return (replace(delta, value=self._mask(value)),)
            case Finished():
                return (*self.close(), delta)
            case UsageDelta():
                return (delta,)

    def close(self) -> tuple[ReplyDelta, ...]:
        """Return the rest of the text."""
        made: list[ReplyDelta] = []
        for (kind, index), stream in self._streams.items():
            text = stream.close()
            if text:
                if kind is ToolCallDelta:
                    made.append(ToolCallDelta(index, arguments=text))
                else:
                    made.append(ChoiceDelta(index, text) if kind is ChoiceDelta else kind(text))
        self._streams.clear()
        return tuple(made)

    def _mask(self, text: str) -> str:
        return self._masker.mask(text, self.found)

    def _stream(self, kind: type, index: int = 0) -> MaskedStream:
        stream = self._streams.get((kind, index))
        if stream is None:
            stream = self._streams[kind, index] = self._masker.stream(self.found)
        return stream


_MOST = 10**12
"""The largest figure of tokens or money that is believed."""

_REASONS = cast(
    "Mapping[str, FinishReason]", resource_table("words", "terms.txt")["finish_reasons"]
)
"""Reasons for the end of a reply, by the words of the APIs."""


def finish_reason(word: Json) -> FinishReason:
    """Return one of our words for a provider's."""
    return _REASONS.get(word.lower(), "unknown") if isinstance(word, str) else "unknown"


def read_usage(value: Json) -> Usage | None:
    """Read the figures of a `usage` object of any provider; None where there are none."""
    if not isinstance(value, Mapping):
        return None
    into = _number(value, "prompt_tokens", "input_tokens")
    out = _number(value, "completion_tokens", "output_tokens")
    if into is None and out is None:
        return None
    asked = _details(value, "prompt_tokens_details", "input_tokens_details")
    details = _details(value, "completion_tokens_details", "output_tokens_details")
    # Anthropic counts what it read from or wrote to its cache apart from `input_tokens`.
    read = _number(value, "cache_read_input_tokens") or 0
    written = _number(value, "cache_creation_input_tokens") or 0
    kept = _details(value, "cache_creation")
    cost = value.get("cost")
    return Usage(
        (into or 0) + read + written,
        out or 0,
        _number(asked, "cached_tokens") or _number(value, "prompt_cache_hit_tokens") or read,
        float(cost) if _is_figure(cost) else None,
        cache_write_tokens=_number(asked, "cache_write_tokens") or written,
        cache_write_1h_tokens=_number(kept, "ephemeral_1h_input_tokens") or 0,
        reasoning_tokens=_number(details, "reasoning_tokens", "thinking_tokens") or 0,
        input_audio_tokens=_number(asked, "audio_tokens") or 0,
        output_audio_tokens=_number(details, "audio_tokens") or 0,
        input_image_tokens=_number(asked, "image_tokens") or 0,
    )


def largest(one: Usage, other: Usage) -> Usage:
    """Return the figures that a stream repeats, each at its highest."""
    counted = {
        each.name: max(getattr(one, each.name), getattr(other, each.name))
        for each in fields(Usage)
        if each.name != "cost"
    }
    return Usage(**counted, cost=one.cost if one.cost is not None else other.cost)


def _details(value: JsonObject, *keys: str) -> JsonObject:
    for key in keys:
        found = value.get(key)
        if isinstance(found, Mapping):
            return found
    return {}


def _number(value: JsonObject, *keys: str) -> int | None:
    for key in keys:
        found = value.get(key)
        if _is_figure(found):
            return int(found)
    return None


def _is_figure(value: Json) -> TypeGuard[int | float]:
    """Return whether a server's figure can be true: no NaN, no 1e308."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return 0 <= value <= _MOST
