"""Results of a program's tool calls, which arrive in its later requests."""

import asyncio
from functools import partial

from studio.core.prompty.document import Message, ToolResultPart
from studio.core.tools.source import ToolOutcome
from studio.core.wire.draft import result_id
from studio.servers.record.exchange import Exchange

_MOST_RESULTS = 1_000
"""Maximum number of results that are stored before their runs wait for them."""


class ProgramResults:
    """Tool results from all conversations: after a handover, a result arrives in another one."""

    def __init__(self) -> None:
        self._came: dict[str, tuple[int, Message]] = {}
        """The newest results by call id, each with the number of its request."""
        self._waiting: dict[str, list[asyncio.Future[ToolOutcome]]] = {}

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
