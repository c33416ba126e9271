"""The user is the model: each request waits until somebody types or pastes the reply."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable

from studio.core.models.base import Capabilities, ModelError, ModelRequest
from studio.core.models.bodies import request_body
from studio.core.models.scripted import deltas_of, suggested_reason
from studio.core.text.values import JsonObject
from studio.core.wire.reply import Finished, Reply, ReplyDelta


class ManualQuestion:
    """A request that waits for a user; may be answered from any thread, once."""

    def __init__(self, request: ModelRequest) -> None:
        self.request = request
        """What the model would have been asked."""
        self._loop = asyncio.get_running_loop()
        self._reply: asyncio.Future[Reply] = self._loop.create_future()

    @property
    def is_open(self) -> bool:
        """Whether an answer would still be taken; false after a cancelled run too."""
        return not self._reply.done()

    def when_over(self, call: Callable[[], None]) -> None:
        """Call once the question is over, also where the run was cancelled.

        Called in the loop's thread, and to be asked for from there.
        """
        self._reply.add_done_callback(lambda _: call())

    def answer(self, reply: Reply | str) -> None:
        """Reply; a second answer changes nothing."""
        whole = Reply(text=reply) if isinstance(reply, str) else reply
        self._settle(lambda: self._reply.set_result(whole))

    def decline(self) -> None:
        """Leave without a reply: the call fails."""
        error = ModelError(
            "declined", "You left this request without a reply.", "Run again, and reply to it."
        )
        self._settle(lambda: self._reply.set_exception(error))

    async def wait(self) -> Reply:
        """The reply, once it is there.

        Raises:
            ModelError: "declined".
        """
        return await self._reply

    def _settle(self, settle: Callable[[], None]) -> None:
        def once() -> None:
            if not self._reply.done():
                settle()

        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(once)


class ManualModel:
    """Hands every request to a user."""

    def __init__(
        self, ask: Callable[[ManualQuestion], None], *, label: str = "You are the model"
    ) -> None:
        """Take who is asked.

        Args:
            ask: called in the event loop's thread with each request; returns at once, and
                somebody calls `answer` later.
            label: the model's name for people.
        """
        self._ask = ask
        self._label = label

    @property
    def label(self) -> str:
        """The model's name for people."""
        return self._label

    @property
    def capabilities(self) -> Capabilities:
        """A user takes everything."""
        return Capabilities(vision=True)

    def request_body(self, request: ModelRequest) -> JsonObject:
        """The body that a chat-completions server would get."""
        return request_body(request, model_id="you", capabilities=self.capabilities)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ReplyDelta, None]:
        """Wait for the user's reply.

        Raises:
            ModelError: "declined".
        """
        question = ManualQuestion(request)
        self._ask(question)
        reply = await question.wait()
        for delta in deltas_of(reply, max(1, len(reply.text))):
            yield delta
        yield Finished(reply.finish_reason or suggested_reason(reply))

    async def close(self) -> None:
        """Nothing to let go of."""
