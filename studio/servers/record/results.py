"""Results of a program's tool calls, which arrive in its later requests."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple, Protocol

from studio.core.prompty.document import Message, ToolResultPart
from studio.core.tools.source import ToolOutcome
from studio.core.wire.draft import result_id
from studio.servers.record.exchange import Exchange

_MOST_RESULTS = 1_000
"""Maximum number of results that are stored before their runs wait for them."""

_MOST_ALONE = 500
"""Conversations whose answer may still be a result in another one, and results to compare."""

_SHORTEST = 3
"""Characters of an answer that is looked for inside a longer result."""


class NestedConversation(Protocol):
    """A conversation of the program whose answer may be the result of another one's call."""

    caller: str
    """Run and iteration of that call, RUN@STEP; empty if there is none."""

    first_number: int
    """Number of its first request."""

    @property
    def latest(self) -> Exchange:
        """Return the newest request."""
        ...

    @property
    def said(self) -> Iterator[str]:
        """Yield the texts of the newest reply."""
        ...

    def nest(self, caller: str) -> None:
        """Take the call whose result is the answer of this conversation."""
        ...


class _Result(NamedTuple):
    """A result that a conversation got for one of its calls."""

    caller: str
    """Run and iteration of the call, RUN@STEP."""

    numbers: range
    """Numbers of the requests between the one with the call and the one with the result."""

    text: str
    """Text of the result."""


class ProgramResults:
    """Tool results from all conversations: after a handover, a result arrives in another one."""

    def __init__(self) -> None:
        self._came: dict[str, tuple[int, Message]] = {}
        """The newest results by call id, each with the number of its request."""
        self._waiting: dict[str, list[asyncio.Future[ToolOutcome]]] = {}
        self._given = deque[_Result](maxlen=_MOST_ALONE)
        self._alone: dict[NestedConversation, None] = {}
        """Conversations with a reply that are no other one's call, as far as is known."""

    def take(self, exchange: Exchange) -> None:
        """Store the results of a request and deliver those that are awaited."""
        for message in exchange.messages:
            name = result_id(message) if message.role == "tool" else ""
            if not name:
                continue
            self._came.pop(name, None)
            self._came[name] = (exchange.number, message)
            for future in self._waiting.pop(name, ()):
                if not future.done():
                    future.set_result(ToolOutcome(result_text(message), "ok"))
        while len(self._came) > _MOST_RESULTS:
            del self._came[next(iter(self._came))]

    def given(self, caller: str, numbers: range, text: str) -> None:
        """Note the result of a call; conversations that it holds the answer of are nested there.

        Args:
            caller: run and iteration of the call, RUN@STEP.
            numbers: numbers of the requests between the one with the call and the one with the
                result.
            text: text of the result.
        """
        result = _Result(caller, numbers, text)
        self._given.append(result)
        for each in tuple(self._alone):
            self._nest(each, result)

    def replied(self, conversation: NestedConversation) -> None:
        """Note a reply in a conversation, which may be the result of another one's call."""
        if conversation.caller:
            return
        self._alone.pop(conversation, None)
        self._alone[conversation] = None
        if len(self._alone) > _MOST_ALONE:
            del self._alone[next(iter(self._alone))]
        for each in self._given:
            self._nest(conversation, each)

    def _nest(self, conversation: NestedConversation, result: _Result) -> None:
        """Nest a conversation in the call whose result it answered while the call waited."""
        ends = conversation.first_number, conversation.latest.number
        if conversation.caller or not all(each in result.numbers for each in ends):
            return
        for said in conversation.said:
            if said == result.text or (len(said) >= _SHORTEST and said in result.text):
                self._alone.pop(conversation, None)
                conversation.nest(result.caller)
                return

    def waited(self, call_id: str, after: Exchange) -> asyncio.Future[ToolOutcome]:
        """Return a future of a call's result, which arrives in a request after the given one."""
        future: asyncio.Future[ToolOutcome] = asyncio.get_running_loop().create_future()
        number, message = self._came.get(call_id, (0, None))
        if message is not None and number > after.number:
            future.set_result(ToolOutcome(result_text(message), "ok"))
        elif call_id:
            self._waiting.setdefault(call_id, []).append(future)
            future.add_done_callback(partial(self._leave, call_id))
        return future

    def _leave(self, call_id: str, future: asyncio.Future[ToolOutcome]) -> None:
        left = [each for each in self._waiting.pop(call_id, ()) if each is not future]
        if left:
            self._waiting[call_id] = left


def result_text(message: Message) -> str:
    """Return the text of a tool result."""
    texts = [part.text for part in message.parts if isinstance(part, ToolResultPart)]
    return "\n".join(texts) or message.text
