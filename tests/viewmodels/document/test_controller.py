from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

import pytest
from pytestqt.qtbot import QtBot

from studio.core.prompty.document import PromptDocument
from studio.core.prompty.evaluation import failure
from studio.core.text.source import Problem
from studio.viewmodels.app.notifications import Notification, Notifications
from studio.viewmodels.document import controller
from studio.viewmodels.document.controller import DocumentController, TextTrials
from studio.viewmodels.document.swap import SwapFolder
from tests.support import patience


@dataclass
class Desk:
    """A document with a text in place of an editor."""

    swaps: SwapFolder
    text: str = ""
    notices: list[Notification] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.messages = Notifications()
        self.messages.noticed.connect(self.notices.append)
        self.controller = DocumentController(self.messages, self.swaps, lambda: self.text)

    def type(self, text: str) -> None:
        self.text = text
        self.controller.set_modified(True)
        self.controller.text_changed()


@pytest.fixture
def desk(qtbot: QtBot, tmp_path: Path) -> Iterator[Desk]:
    made = Desk(SwapFolder(tmp_path / "swap"))
    yield made
    made.controller.close()
    made.swaps.close()


def test_text_is_parsed_and_only_the_newest_is_told(desk: Desk, qtbot: QtBot) -> None:
    desk.controller.begin("", "x")
    with qtbot.waitSignal(
        desk.controller.reading.parsed, check_params_cb=lambda doc: doc.name == "two"
    ):
        desk.type("---\nname: one\n---\n")
        desk.type("---\nname: two\n---\n")
    assert desk.controller.reading.document is not None
    assert desk.controller.reading.document.name == "two"


def test_saving_writes_newlines_and_mark_of_the_file(
    desk: Desk, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "a.prompty"
    path.write_bytes(b"\xef\xbb\xbfsystem:\r\nHi\r\n")
    desk.text = desk.controller.open(path).text
    desk.type("system:\nHello\n")
    with qtbot.waitSignal(desk.controller.saved):
        assert desk.controller.save()
    assert path.read_bytes() == b"\xef\xbb\xbfsystem:\r\nHello\r\n"
    assert not desk.controller.is_dirty


def test_a_failed_save_is_told_and_stays_dirty(desk: Desk, tmp_path: Path) -> None:
    desk.type("text")
    (tmp_path / "folder").mkdir()
    assert not desk.controller.save(tmp_path / "folder")
    assert desk.controller.is_dirty
    assert desk.notices[-1].weight == "error"
    assert desk.notices[-1].hint


def test_a_change_on_disk_is_noticed_and_the_own_save_is_not(
    desk: Desk, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "a.prompty"
    path.write_text("one\n", encoding="utf-8")
    desk.text = desk.controller.open(path).text
    desk.type("two\n")
    with qtbot.assertNotEmitted(desk.controller.changed_on_disk, wait=600):
        desk.controller.save()
    with qtbot.waitSignal(desk.controller.changed_on_disk) as caught:
        other = tmp_path / "new"
        other.write_text("three\n", encoding="utf-8")
        other.replace(path)  # as other editors save
    assert caught.args is not None
    assert caught.args[0].text == "three\n"
    desk.controller.accept_disk(caught.args[0])
    with qtbot.waitSignal(desk.controller.changed_on_disk):
        path.write_text("four\n", encoding="utf-8")  # still watched


def test_a_deleted_file_is_noticed(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "a.prompty"
    path.write_text("one\n", encoding="utf-8")
    desk.text = desk.controller.open(path).text
    with qtbot.waitSignal(desk.controller.gone_from_disk):
        path.unlink()
    assert desk.controller.is_dirty
    assert desk.controller.save()
    assert path.read_text(encoding="utf-8") == "one\n"


def test_typed_text_is_safe_within_a_second(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    desk.type("prec")
    timer = desk.controller._swap_timer
    assert timer.isActive()
    assert timer.interval() < 1000
    started = timer.timerId()
    desk.type("precious")
    assert timer.timerId() == started, "another start would be another timer"
    swap = tmp_path / "swap"
    qtbot.waitUntil(lambda: bool(list(swap.glob("*/*.json"))))
    desk.controller.save(tmp_path / "a.prompty")
    assert not list(swap.glob("*/*.json"))


_TYPIST = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication, QTimer
from studio.viewmodels.document.controller import DocumentController
from studio.viewmodels.document.swap import SwapFolder
from studio.viewmodels.app.notifications import Notifications
app = QCoreApplication([])
text = ["start"]
document = DocumentController(Notifications(), SwapFolder(Path(sys.argv[1])), lambda: text[0])
document.begin("", "lost.prompty")
def key():
    text[0] += "x"
    document.set_modified(True)
    document.text_changed()
    print(len(text[0]), flush=True)
timer = QTimer()
timer.timeout.connect(key)
timer.start(20)
app.exec()
"""


def kept_length(root: Path) -> int:
    """How long the text is that would come back now."""
    return max(
        (len(json.loads(file.read_bytes())["text"]) for file in root.glob("*/*.json")), default=0
    )


def test_text_of_a_killed_process_comes_back(qtbot: QtBot, tmp_path: Path, checkout: Path) -> None:
    root = tmp_path / "swap"
    process = subprocess.Popen(
        [sys.executable, "-c", _TYPIST, str(root)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(checkout), "QT_QPA_PLATFORM": "offscreen"},
    )
    assert process.stdout is not None
    typed = 0
    while kept_length(root) < 40:  # of the second swap at the latest, while typing goes on
        typed = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    process.wait()
    typed = [typed, *map(int, process.stdout.read().split())][-1]
    process.stdout.close()
    swaps = SwapFolder(root)
    (swap,) = swaps.left_behind()
    assert swap.title == "lost.prompty"
    assert 40 <= len(swap.text) <= typed
    assert ("start" + "x" * typed).startswith(swap.text)
    swaps.clear_left_behind()
    assert swaps.left_behind() == []
    swaps.close()


def test_a_running_session_is_not_offered_to_another(tmp_path: Path) -> None:
    one, two = SwapFolder(tmp_path), SwapFolder(tmp_path)
    from studio.viewmodels.document.swap import make_swap

    one.write(make_swap("a", None, "t", "text", ""))
    assert two.left_behind() == []
    two.clear_left_behind()
    one.forget("a")
    one.close()
    two.close()
    assert not tmp_path.exists()


def test_a_text_is_kept_after_the_clock_was_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from studio.viewmodels.document.swap import make_swap

    folder = SwapFolder(tmp_path / "swap")
    folder.forget("a")
    monkeypatch.setattr(time, "time", lambda: 0.0)
    folder.writer(make_swap("a", None, "t", "new", ""))()
    assert len(list((tmp_path / "swap").glob("*/*.json"))) == 1
    folder.close()


def test_a_late_write_does_not_bring_back_what_was_saved(tmp_path: Path) -> None:
    from studio.viewmodels.document.swap import make_swap

    folder = SwapFolder(tmp_path / "swap")
    late = folder.writer(make_swap("a", None, "t", "old", ""))
    folder.forget("a")
    late()
    assert not list((tmp_path / "swap").glob("*/*.json"))
    folder.close()


class HeldTrials(TextTrials):
    """Lets texts pass that are not bad, once it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.released = Event()
        self.texts: list[str] = []

    def failure_of(self, text: str, path: Path | None) -> Problem | None:
        self.texts.append(text)
        assert self.released.wait(patience.SECONDS)
        return failure(MemoryError()) if "bad" in text else None


def test_a_text_that_came_during_a_trial_is_tried_for_itself(desk: Desk, qtbot: QtBot) -> None:
    reading, trials = desk.controller.reading, HeldTrials()
    reading.trials = trials
    desk.controller.begin("good", "x")
    desk.text = "good"
    qtbot.waitUntil(lambda: trials.texts == ["good"], timeout=patience.MS)
    desk.text = "bad"
    reading.distrust()
    trials.released.set()
    told: list[PromptDocument] = []
    reading.parsed.connect(told.append)
    assert reading.read_now() is None
    reading.note_change()
    qtbot.waitUntil(lambda: bool(told), timeout=patience.MS)
    assert [each.failure.code for each in told if each.failure] == ["too-much-memory"]


def test_an_edit_of_a_text_that_took_long_is_tried(
    desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(controller, "TRIED_SECONDS", -1.0)
    reading, trials = desk.controller.reading, HeldTrials()
    trials.released.set()
    reading.trials = trials
    with qtbot.waitSignal(reading.parsed, timeout=patience.MS):
        desk.controller.begin("", "x")
    with qtbot.waitSignal(reading.parsed, timeout=patience.MS):
        desk.type("good")
    assert trials.texts == ["", "good"]
