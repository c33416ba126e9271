from __future__ import annotations

import asyncio

import pytest

from studio.core.agent.run import plan
from studio.core.agent.run.plan import ReplyKeeper
from studio.core.wire.reply import Reply


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "KEEP_SECONDS", 0.01)


async def test_the_newest_state_is_written_also_where_nothing_more_comes() -> None:
    kept: list[str] = []
    written = asyncio.Event()

    def keep(reply: Reply) -> None:
        kept.append(reply.text)
        written.set()

    keeper = ReplyKeeper(keep)
    for text in ("", "One", "One two"):
        keeper.note(Reply(text))
    await written.wait()

    assert kept == ["One two"]


async def test_what_has_ended_is_not_written_any_more() -> None:
    kept: list[str] = []
    keeper = ReplyKeeper(lambda reply: kept.append(reply.text))
    keeper.note(Reply("One"))
    keeper.close()
    later = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_later(0.03, later.set_result, None)
    await later

    assert kept == []
