"""How long the calls of one server may take: the time in which it waits for the user is its own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from studio.core.tools.mcp.asking import AskForInput, InputGiven, InputWanted


class CallTime:
    """The limits of the calls that run; which call a question is of, a server need not say."""

    def __init__(self, seconds: float, ask: AskForInput | None, server: str = "") -> None:
        """Make them.

        Args:
            seconds: the longest time of a call.
            ask: asks the user for what the server wants to know.
            server: which server it is, for people.
        """
        self._server = server
        self._seconds = seconds
        self._ask = ask
        self._running: set[asyncio.Timeout] = set()
        self._asking = 0

    @property
    def ask(self) -> AskForInput | None:
        """Asks the user, while no call's time runs out; None where nobody can be asked."""
        return self._ask_user if self._ask is not None else None

    def limit(self) -> asyncio.Timeout:
        """The limit of a call that begins; to be entered."""
        return asyncio.timeout(None if self._asking else self._seconds)

    @contextmanager
    def running(self, limit: asyncio.Timeout) -> Iterator[None]:
        """While the call runs, its limit stands still when the user is asked."""
        self._running.add(limit)
        try:
            yield
        finally:
            self._running.discard(limit)

    async def _ask_user(self, wanted: InputWanted) -> InputGiven:
        assert self._ask is not None
        self._asking += 1
        for limit in self._running:
            limit.reschedule(None)
        try:
            return await self._ask(replace(wanted, server=self._server))
        finally:
            self._asking -= 1
            if not self._asking:
                end = asyncio.get_running_loop().time() + self._seconds
                for limit in self._running:
                    limit.reschedule(end)
