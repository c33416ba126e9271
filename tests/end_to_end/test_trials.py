"""Texts are tried in a process beside the window before it reads them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.ui.app.workbench import Workbench
from studio.viewmodels.document import controller
from tests.support import patience
from tests.support.ending_server import ENDINGS

ROOT = Path(__file__).resolve().parents[2]
PROMPT = "---\nname: x\n---\nuser:\nHello\n"

READING = ("edit.format", "edit.protocol", "edit.front", "file.export", "prompt.compare_saved")
"""Actions that need what the text is read to."""

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds memory"),
    pytest.mark.qt_log_ignore("This plugin does not support"),
]


@pytest.fixture
def workbench(
    monkeypatch: pytest.MonkeyPatch, open_workbench: Callable[[Path], Workbench], tmp_path: Path
) -> Iterator[Workbench]:
    """The studio on a file, with a process that tries the texts of later ones."""
    monkeypatch.chdir(ROOT)
    command = [sys.executable, "-m", "tests.support.ending_server"]
    monkeypatch.setattr(controller, "program", lambda: command)
    path = tmp_path / "first.prompty"
    path.write_text("user:\nFirst\n", encoding="utf-8")
    made = open_workbench(path)
    trials = controller.TextTrials()
    made.window.tabs.release(trials)
    yield made
    trials.close()


def codes(workbench: Workbench) -> list[str]:
    document = workbench.window.tabs.document
    return [each.code for each in document.problems] if document is not None else ["unread"]


def shown(workbench: Workbench) -> str:
    preview = workbench.preview.preview
    return preview.document.source.text if preview is not None else ""


@pytest.mark.parametrize("word", ENDINGS)
def test_a_text_that_ends_its_reader_is_one_finding_and_others_are_read(
    workbench: Workbench, qtbot: QtBot, tmp_path: Path, word: str
) -> None:
    good, bad = tmp_path / "good.prompty", tmp_path / "bad.prompty"
    good.write_text(PROMPT, encoding="utf-8")
    bad.write_text(PROMPT + word, encoding="utf-8")
    tabs = workbench.window.tabs
    tabs.open(good)
    qtbot.waitUntil(lambda: shown(workbench) == PROMPT, timeout=patience.MS)
    assert ENDINGS[word] not in codes(workbench)
    page = tabs.open(bad)
    assert page is not None
    assert page.editor.text() == PROMPT + word
    qtbot.waitUntil(lambda: codes(workbench) == [ENDINGS[word]], timeout=patience.MS)
    qtbot.waitUntil(lambda: shown(workbench) == PROMPT + word, timeout=patience.MS)
    banner = workbench.preview_pane.banner
    assert banner.isVisibleTo(workbench.preview_pane)
    workbench.window.actions_by_id["run.start"].trigger()
    notices = workbench.window.notices
    qtbot.waitUntil(lambda: bool(notices.notices), timeout=patience.MS)
    assert workbench.run.state is None

    for action in READING:
        notices.clear()
        workbench.window.actions_by_id[action].trigger()
        assert [each.what for each in notices.notices] == ["bad.prompty is not read."], action
    assert page.editor.text() == PROMPT + word
    assert QApplication.activeModalWidget() is None

    page.editor.replace_all(PROMPT + "again")
    qtbot.waitUntil(lambda: shown(workbench) == PROMPT + "again", timeout=patience.MS)
    assert ENDINGS[word] not in codes(workbench)


def test_a_text_that_the_disk_has_now_is_tried(
    workbench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "good.prompty"
    path.write_text(PROMPT, encoding="utf-8")
    page = workbench.window.tabs.open(path)
    assert page is not None
    qtbot.waitUntil(lambda: shown(workbench) == PROMPT, timeout=patience.MS)
    path.write_text(PROMPT + "ABORT", encoding="utf-8")
    page.disk.take_file()
    assert page.controller.reading.read_now() is None
    qtbot.waitUntil(lambda: codes(workbench) == ["crash"], timeout=patience.MS)


def test_a_pasted_text_is_tried(workbench: Workbench, qtbot: QtBot) -> None:
    page = workbench.window.tabs.current
    assert page is not None
    qtbot.waitUntil(lambda: shown(workbench) == page.editor.text(), timeout=patience.MS)
    QApplication.clipboard().setText("ABORT")
    page.editor.paste()
    workbench.window.actions_by_id["run.start"].trigger()
    qtbot.waitUntil(lambda: codes(workbench) == ["crash"], timeout=patience.MS)
    qtbot.waitUntil(lambda: bool(workbench.window.notices.notices), timeout=patience.MS)
    assert workbench.run.state is None
