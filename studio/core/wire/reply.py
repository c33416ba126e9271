"""A model's reply: what came, in which order, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, assert_never

from studio.core.text.values import JsonObject

FinishReason: TypeAlias = Literal[
    "stop", "tool_calls", "length", "content_filter", "refusal", "cancelled", "error", "unknown"
]
"""Why the model stopped, in one vocabulary for all providers."""


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
    """Signed thinking, an encrypted reasoning item; of texts and calls only where they stood."""


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
    """Why the reply ended."""

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
        """What became of it, for people."""
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
    """What the provider wants back, in its order; the keys are the provider's own."""

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
    """The reply after one more delta; the result does not depend on how a text was chunked."""
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
