"""One thing at a time is asked for a dialog, and what goes wrong is a sentence."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from studio.core.models.base import ModelError
from studio.viewmodels.app.background import Background
from studio.viewmodels.experiments.dialog_tasks import DialogTask, failure_words


@pytest.fixture
def background(qapp: object) -> Iterator[Background]:
    made = Background()
    yield made
    made.stop()


@pytest.fixture
def task(background: Background) -> DialogTask:
    return DialogTask(background, (ModelError,))


async def answer(text: str) -> str:
    await asyncio.sleep(0)
    return text


async def refuse() -> str:
    raise ModelError("refused", "The model is away.", "Start it.")


def test_one_thing_is_asked_at_a_time(task: DialogTask, qtbot: QtBot) -> None:
    told: list[str] = []
    running: list[bool] = []
    task.running_changed.connect(running.append)
    task.start(answer("first"), told.append)
    task.start(answer("second"), told.append)
    assert task.is_running
    qtbot.waitUntil(lambda: not task.is_running)
    assert (told, running) == (["first"], [True, False])


def test_what_goes_wrong_is_said_with_its_hint(task: DialogTask, qtbot: QtBot) -> None:
    told: list[str] = []
    with qtbot.waitSignal(task.failed) as failed:
        task.start(refuse(), told.append)
    assert failed.args == ["The model is away. Start it."]
    assert not told


def test_a_file_that_cannot_be_used_is_named_without_words_of_python() -> None:
    assert failure_words(OSError(28, "No space left on device", "a.yaml")) == (
        "a.yaml: No space left on device"
    )


def test_after_the_dialog_is_closed_nobody_is_told(task: DialogTask, qtbot: QtBot) -> None:
    told: list[str] = []
    task.start(answer("late"), told.append)
    task.close()
    assert not task.is_running
    task.start(answer("of the next dialog"), told.append)
    qtbot.waitUntil(lambda: not task.is_running)
    assert told == ["of the next dialog"]
