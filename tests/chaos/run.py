"""`make chaos`: every fault against the real client on each API, judged by rules and printed."""

from __future__ import annotations

import asyncio
import resource
import sys
import time
from contextlib import aclosing
from dataclasses import dataclass

from studio.core.models.base import ModelError, ModelRequest
from studio.core.models.connections import Connection
from studio.core.models.remote.model import RemoteModel
from studio.core.models.secrets import Secret
from studio.core.prompty.document import Message, TextPart
from studio.core.wire.reply import Reply, accumulate
from tests.chaos.faults import FAULTS, KEY, Api, Fault
from tests.support.chat_server import Answer, ChatServer, Received, chat_server

_ASK = ModelRequest((Message("user", (TextPart("Hello?"),)),))
_RETRIES = 2
_MOST_MEGABYTES = 200


class ChaosServer(ChatServer):
    """Answers each request with the fault that its path names."""

    def _answer(self, request: Received) -> Answer:
        _, number, api, *_ = request.path.split("/")
        return FAULTS[int(number)].make(api)  # type: ignore[arg-type]

    def asked(self, number: int, api: Api) -> int:
        """How often a fault was met."""
        return sum(each.path.startswith(f"/{number}/{api}/") for each in self.requests)


@dataclass(frozen=True)
class Result:
    """What came of one fault on one API."""

    fault: Fault
    api: Api
    end: str
    tries: int
    text: str
    seconds: float
    leaks: bool

    @property
    def wrong(self) -> list[str]:
        """The rules that it broke."""
        found = []
        if self.end != self.fault.end:
            found.append(f"ended as {self.end}, not {self.fault.end}")
        if self.tries != self.fault.tries:
            found.append(f"{self.tries} requests, not {self.fault.tries}")
        if self.text != self.fault.kept:
            found.append(f"kept {self.text!r}")
        if self.leaks:
            found.append("the key stands in it")
        return found


async def _meet(server: ChaosServer, number: int, api: Api) -> Result:
    fault, began = FAULTS[number], time.monotonic()
    connection = Connection(
        "Chaos",
        "anthropic" if api == "anthropic" else "compatible",
        base_url=f"http://127.0.0.1:{server.port}/{number}/{api}/v1",
        api="responses" if api == "responses" else "chat",
        retries=_RETRIES,
    )
    model = RemoteModel(connection, "m", Secret(KEY))
    reply, told = Reply(), ""
    try:
        async with aclosing(model.stream(_ASK)) as deltas:
            async for delta in deltas:
                reply = accumulate(reply, delta)
        end = str(reply.finish_reason)
    except ModelError as error:
        end, told = error.kind, f"{error.message} {error.hint}"
    finally:
        await model.close()
    leaks = KEY in f"{reply} {told}"
    seconds = time.monotonic() - began
    return Result(fault, api, end, server.asked(number, api), reply.text, seconds, leaks)


async def _meet_all(server: ChaosServer) -> list[Result]:
    """A few at once: waits between tries overlap, and memory shows what one fault takes."""
    few = asyncio.Semaphore(6)

    async def one(number: int, api: Api) -> Result:
        async with few:
            return await _meet(server, number, api)

    return await asyncio.gather(
        *(one(number, api) for number, fault in enumerate(FAULTS) for api in fault.apis)
    )


def _megabytes() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / 1024 / (1024 if sys.platform == "darwin" else 1)


def main() -> int:
    """Meet every fault and print the table; 1 where a rule was broken."""
    import openai  # noqa: F401 - what it takes is not what a fault takes

    for fault in FAULTS:
        fault.make("chat")
    before = _megabytes()
    with chat_server(ChaosServer) as server:
        assert isinstance(server, ChaosServer)
        results = asyncio.run(_meet_all(server))
    grown = _megabytes() - before
    for each in results:
        mark = "; ".join(each.wrong) or "as it must be"
        print(f"{each.fault.name:24} {each.api:10} {each.tries} × {each.end:15} {mark}")
    wrong = [each for each in results if each.wrong]
    print(
        f"\n{len(results)} faults met ({len(FAULTS)} on three APIs): {len(wrong)} rules broken, "
        f"{sum(each.tries != each.fault.tries for each in results)} wrong numbers of requests, "
        f"{sum(each.text != each.fault.kept for each in results)} texts lost or half accepted, "
        f"{sum(each.leaks for each in results)} keys shown, {grown:.0f} MB more memory."
    )
    return 1 if wrong or grown > _MOST_MEGABYTES else 0


if __name__ == "__main__":
    raise SystemExit(main())
