from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from studio.viewmodels.app.notifications import Notifications
from studio.viewmodels.document.controller import DocumentReading


@pytest.fixture
def reading(qapp: object) -> Iterator[DocumentReading]:
    one = DocumentReading(Notifications(), lambda: ("---\nname: one\n---\nuser:\nHi\n", None))
    yield one
    one.close()


def test_a_change_is_read_once_the_keys_rest(qtbot: QtBot, reading: DocumentReading) -> None:
    with qtbot.waitSignal(reading.parsed) as parsed:
        for _ in range(3):
            reading.note_change()
    assert parsed.args == [reading.document]
    assert reading.document is not None
    assert reading.document.name == "one"


def test_a_text_is_not_read_while_it_is_held(qtbot: QtBot, reading: DocumentReading) -> None:
    reading.hold()
    with qtbot.assertNotEmitted(reading.parsed, wait=200):
        reading.start(0)
    with qtbot.waitSignal(reading.parsed):
        reading.release()
