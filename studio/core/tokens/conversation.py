"""Count the tokens of a conversation: messages, inputs, tools, and the frame of each.

Each text is counted once.
"""

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from studio.core.prompty.document import (
    MediaPart,
    Message,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    ToolSpec,
)

MESSAGE_FRAME = 4
"""Tokens around a message: three for its frame and one for its role. OpenAI's published method for
its chat models (cookbook, "How to count tokens with tiktoken").
"""

REPLY_FRAME = 3
"""Tokens that begin the reply, once per request (same source)."""

MEDIA_TOKENS = 255
"""Approximate tokens of one low-detail image with several providers."""


class TokenCounter(Protocol):
    """A counter for the tokens of a text."""

    @property
    def name(self) -> str:
        """Name of the tokenizer, for the user."""

    @property
    def is_exact(self) -> bool:
        """Whether it counts as the model does."""

    def count(self, text: str) -> int:
        """Count the tokens of a text."""


@dataclass(frozen=True, slots=True)
class ConversationTokens:
    """The token counts of one request."""

    messages: tuple[int, ...] = ()
    """Tokens of each message, including its frame if that is known per message."""

    frame: int = 0
    """Tokens around all messages together."""

    tools: int = 0
    """Tokens of the tools beside the messages: always an estimate, as no provider documents how
    they become part of the prompt.
    """

    by_input: Mapping[str, int] = field(default_factory=dict)
    """Tokens of the values of each input, counted separately."""

    tokenizer: str = "estimate"
    """Name of the counter, for the user."""

    is_exact: bool = False
    """Whether the messages' counts are exact."""

    why_estimated: str = ""
    """Reason why the model's own tokenizer is missing; empty if it is there or there is none."""

    doubts: tuple[str, ...] = ()
    """Parts that are estimated in spite of an exact tokenizer, for the user."""

    @property
    def total(self) -> int:
        """Total number of tokens."""
        return sum(self.messages) + self.frame + self.tools

    @property
    def total_is_exact(self) -> bool:
        """Whether no part of the total is an estimate."""
        return self.is_exact and not self.doubts


def count_conversation(
    messages: Sequence[Message], tools: Sequence[ToolSpec], counter: TokenCounter
) -> ConversationTokens:
    """Count messages and the tools sent with them."""
    doubts = []
    if tools:
        doubts.append("how the provider writes tools into the prompt")
    if any(isinstance(part, MediaPart) for message in messages for part in message.parts):
        doubts.append("pictures, files and recordings")
    if any(isinstance(part, ToolCallPart) for message in messages for part in message.parts):
        doubts.append("how the provider writes tool calls")
    return ConversationTokens(
        messages=tuple(count_message(message, counter) for message in messages),
        frame=REPLY_FRAME if messages else 0,
        tools=sum(counter.count(tool_text(tool)) for tool in tools),
        by_input=count_inputs(messages, counter),
        tokenizer=counter.name,
        is_exact=counter.is_exact,
        doubts=tuple(doubts),
    )


def count_message(message: Message, counter: TokenCounter) -> int:
    """Count the tokens of one message, including its frame."""
    total = MESSAGE_FRAME + counter.count(message.text)
    name = message.attributes.get("name")
    if isinstance(name, str) and name and message.role != "tool":
        total += counter.count(name) + 1
    for part in message.parts:
        if isinstance(part, ToolCallPart):
            total += counter.count(part.name) + counter.count(part.arguments)
        elif isinstance(part, MediaPart):
            total += MEDIA_TOKENS
    return total


def count_inputs(messages: Sequence[Message], counter: TokenCounter) -> dict[str, int]:
    """Count the tokens of each input's values, each value separately."""
    counted: dict[str, int] = {}
    for text, name in value_texts(messages):
        counted[name] = counted.get(name, 0) + counter.count(text)
    for part in (part for message in messages for part in message.parts):
        if isinstance(part, MediaPart) and part.input:
            counted[part.input] = counted.get(part.input, 0) + MEDIA_TOKENS
    return counted


def value_texts(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """Return every value in the messages, with its input."""
    return [
        (segment.text, segment.input)
        for message in messages
        for part in message.parts
        if isinstance(part, TextPart | ToolResultPart)
        for segment in part.segments
        if segment.kind == "value" and segment.input
    ]


def tool_text(tool: ToolSpec) -> str:
    """Return a tool as compact JSON, from which its tokens are estimated."""
    fields = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"), default=str)


_MOST_CHARACTERS = 8_000_000


class RememberingCounter:
    """A counter that counts each text once: typing changes only one of the messages."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._counts: dict[str, int] = {}
        self._held = 0
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Name of the tokenizer."""
        return self._counter.name

    @property
    def is_exact(self) -> bool:
        """Whether it counts as the model does."""
        return self._counter.is_exact

    def count(self, text: str) -> int:
        """Count the tokens of a text."""
        found = self._counts.get(text)
        if found is not None:
            return found
        counted = self._counter.count(text)
        with self._lock:
            self._held += len(text)
            if self._held > _MOST_CHARACTERS:
                self._counts.clear()
                self._held = len(text)
            self._counts[text] = counted
        return counted
