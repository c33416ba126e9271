"""Work in the loop: of several only the newest is told."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import Future

import pytest
from pytestqt.qtbot import QtBot

from studio.viewmodels.app.background import Background, LatestTask


@pytest.fixture
def background(qapp: object) -> Iterator[Background]:
    made = Background()
    yield made
    made.stop()


def test_only_the_end_of_the_newest_is_told(background: Background, qtbot: QtBot) -> None:
    newest = LatestTask(background)
    told: list[str] = []
    over: list[Future[str]] = []
    is_newer = asyncio.Event()

    async def older() -> str:
        await is_newer.wait()
        return "older"

    async def newer() -> str:
        is_newer.set()
        return "newer"

    newest.start(older(), lambda ended: told.append(ended.result()))
    newest.start(newer(), lambda ended: told.append(ended.result()))
    qtbot.waitUntil(lambda: told == ["newer"])
    background.start(asyncio.sleep(0, "after"), over.append)
    qtbot.waitUntil(lambda: bool(over))
    assert told == ["newer"]
