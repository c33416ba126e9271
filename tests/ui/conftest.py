from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from studio.core.paths import user_paths
from studio.ui.app.main_window import MainWindow
from studio.ui.base.services import Services, build_services


@pytest.fixture
def services(qtbot: QtBot, user_home: Path) -> Services:
    """The window's services, in folders of the test."""
    return build_services(user_paths())


@pytest.fixture
def open_window(qtbot: QtBot, services: Services) -> Iterator[Callable[[], MainWindow]]:
    """Open real windows; they are closed at the end, whatever they hold."""
    windows: list[MainWindow] = []

    def make() -> MainWindow:
        window = MainWindow(services)
        windows.append(window)
        with qtbot.waitActive(window):
            window.show()
            window.activateWindow()
        return window

    yield make
    for window in windows:
        for page in list(window.tabs.pages()):
            page.editor.document().setModified(False)
        window.close()
        window.deleteLater()


@pytest.fixture
def window(open_window: Callable[[], MainWindow]) -> MainWindow:
    """One open window."""
    return open_window()
