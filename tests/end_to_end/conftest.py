"""A whole studio in a real window, for the tests of this folder."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.core.paths import user_paths
from studio.ui.app.workbench import Workbench
from studio.ui.base.services import build_services


@pytest.fixture
def scripted(user_home: Path) -> Callable[..., None]:
    """Make a scripted model the one that answers; call it with its replies."""

    def make(*replies: object) -> None:
        config = user_home / "config"
        config.mkdir(parents=True, exist_ok=True)
        script = user_home / "script.json"
        script.write_text(json.dumps(replies), encoding="utf-8")
        (config / "connections.toml").write_text(
            'default = "Script"\n\n[[connection]]\nname = "Script"\nkind = "scripted"\n'
            f"settings = {{ script = {json.dumps(str(script))} }}\n",
            encoding="utf-8",
        )

    return make


@pytest.fixture
def open_workbench(qtbot: QtBot) -> Iterator[Callable[[Path], Workbench]]:
    """Open the studio on a file, and wait until everything stands."""
    opened: list[Workbench] = []

    def open_on(path: Path) -> Workbench:
        workbench = Workbench(build_services(user_paths()))
        opened.append(workbench)
        window = workbench.window
        window.resize(1440, 900)
        with qtbot.waitActive(window):
            window.show()
            window.activateWindow()
        window.tabs.open(path)
        qtbot.waitUntil(lambda: workbench.is_settled)
        assert window.isActiveWindow(), "something took the keyboard while the window opened"
        return workbench

    yield open_on
    while opened:
        _close(opened.pop())
    # Here, in the thread of the window: left to chance, another thread may end its objects.
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)  # type: ignore[call-overload]
    gc.collect()


def _close(workbench: Workbench) -> None:
    for page in workbench.window.tabs.pages():
        page.editor.document().setModified(False)
    workbench.window.close()
    workbench.close()
    workbench.window.deleteLater()
