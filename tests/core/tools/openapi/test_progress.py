"""Large descriptions say how far their reading is, and can be given up."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path

import pytest
import yaml

from studio.core.tools.openapi.loading import LARGE, ReadingProgress
from studio.core.tools.openapi.source import OpenApiSource
from studio.core.tools.source import ToolSourceError
from tests.support import patience

OPERATIONS = 200


def large(operations: int = OPERATIONS, letters: int = LARGE) -> dict[str, object]:
    """A description of that many operations, and a little more than that many characters."""
    words = "A line of what it does. " * (letters // operations // 24 + 1)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Large", "version": "1"},
        "paths": {
            f"/things/{number}": {"get": {"operationId": f"thing_{number}", "description": words}}
            for number in range(operations)
        },
    }


@pytest.fixture
def told() -> list[ReadingProgress | None]:
    return []


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
async def test_a_large_description_says_how_far_it_is(
    tmp_path: Path, told: list[ReadingProgress | None], suffix: str
) -> None:
    path = tmp_path / f"large{suffix}"
    text = json.dumps(large()) if suffix == ".json" else yaml.dump(large(), Dumper=yaml.CDumper)
    path.write_text(text, encoding="utf-8")
    source = OpenApiSource("api", path, {}, tell=told.append)
    assert len(await source.list_tools()) == OPERATIONS
    *steps, end = told
    assert end is None
    assert {each.name for each in steps if each} == {f"large{suffix}"}
    read = [each for each in steps if each and each.stage == "read"]
    made = [each for each in steps if each and each.stage == "operations"]
    assert steps == [*read, *made]
    for stage, whole in ((read, len(text)), (made, OPERATIONS)):
        assert {each.whole for each in stage} == {whole}
        done = [each.done for each in stage]
        assert done == sorted(done)
        assert done[0] <= whole // 10
        assert done[-1] >= whole * 9 // 10
        assert 20 <= len(done) <= 60  # worth looking at, and not more
    told.clear()
    await source.list_tools()
    assert told == []  # it is as it was read


async def test_a_small_one_says_nothing(tmp_path: Path, told: list[ReadingProgress | None]) -> None:
    path = tmp_path / "small.json"
    path.write_text(json.dumps(large(5, 100)), encoding="utf-8")
    source = OpenApiSource("api", path, {}, tell=told.append)
    assert len(await source.list_tools()) == 5
    assert told == []


async def test_what_was_given_up_is_not_read_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    path.write_text(json.dumps(large()), encoding="utf-8")
    loop = asyncio.get_running_loop()
    told: list[ReadingProgress | None] = []

    stopped = threading.Event()

    def stop() -> None:
        source.stop_reading()
        stopped.set()

    def give_up(progress: ReadingProgress | None) -> None:
        told.append(progress)
        if progress is not None:  # in the thread of the reading, which is to end at its next step
            loop.call_soon_threadsafe(stop)
            assert stopped.wait(patience.SECONDS)

    source = OpenApiSource("api", path, {}, tell=give_up)
    with pytest.raises(ToolSourceError, match=r"reading of large\.json was stopped; load the"):
        await source.list_tools()
    assert source.is_stopped
    assert source.operations == ()
    assert [each is None for each in told] == [False, True]
    told.clear()
    with pytest.raises(ToolSourceError, match="was stopped"):
        await source.list_tools()
    assert told == []
    outcome = await source.call("thing_1", {})
    assert (outcome.status, "was stopped" in outcome.text) == ("error", True)


async def test_a_reading_that_nobody_waits_for_ends(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    path.write_text(json.dumps(large()), encoding="utf-8")
    loop = asyncio.get_running_loop()
    begun, held = asyncio.Event(), threading.Event()
    steps: list[ReadingProgress] = []

    def tell(progress: ReadingProgress | None) -> None:
        if progress is not None:
            steps.append(progress)
            loop.call_soon_threadsafe(begun.set)
            assert held.wait(patience.SECONDS)

    source = OpenApiSource("api", path, {}, tell=tell)
    work = asyncio.create_task(source.list_tools())
    await begun.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert not source.is_stopped  # nobody gave it up: the next question reads it
    held.set()
    await loop.shutdown_default_executor()  # waits for the thread of the reading
    assert len(steps) == 1
