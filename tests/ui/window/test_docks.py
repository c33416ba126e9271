"""The window shows what its layout says, also after the user moved panes by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from studio.ui.app.main_window import MainWindow
from studio.ui.base.services import Services
from studio.ui.window.docks import Docks
from studio.ui.window.layout import BOTTOM_HEIGHT

NAMES = (
    "files",
    "outline",
    "tools",
    "history",
    "inputs",
    "preview",
    "run",
    "problems",
    "search",
)


@pytest.fixture
def window(qtbot: QtBot, services: Services) -> Iterator[MainWindow]:
    """A window with a place for every pane, and a prompt in it."""
    made = MainWindow(services, keep_places=True)
    made.resize(1440, 900)
    with qtbot.waitActive(made):
        made.show()
        made.activateWindow()
    made.tabs.new("user:\nHello\n")
    yield made
    for page in list(made.tabs.pages()):
        page.editor.document().setModified(False)
    made.close()
    made.deleteLater()


def shown(docks: Docks) -> str:
    return " ".join(name for name in NAMES if docks[name].isVisible())


def toggled(docks: Docks, name: str) -> None:
    """What the menu of the panes does."""
    docks[name].toggleViewAction().trigger()


def test_the_panel_below_has_room_when_it_first_comes_and_the_users_height_after_that(
    window: MainWindow,
) -> None:
    docks = window.docks
    docks.show("problems")
    assert docks["problems"].height() == BOTTOM_HEIGHT
    docks.give_height("problems", 300)
    docks.toggle_bottom()
    docks.toggle_bottom()
    assert docks["problems"].height() == 300


def test_a_walk_through_the_layouts(window: MainWindow) -> None:
    docks, editor = window.docks, window.tabs
    walk: tuple[tuple[Callable[[], object], str, bool], ...] = (
        (lambda: None, "files inputs preview", True),
        (lambda: docks.show("tools"), "tools inputs preview", True),
        (lambda: docks.show("run"), "run", True),
        (docks.toggle_side, "tools run", True),
        (lambda: docks.maximize("run"), "run", False),
        (lambda: docks.maximize("run"), "tools run", True),
        (docks.toggle_bottom, "tools run problems", True),
        (lambda: docks.show("search"), "tools run search", True),
        (docks.toggle_all, "", True),
        (docks.write, "", True),
        (docks.toggle_all, "tools inputs preview search", True),
        (lambda: window.resize(900, 600), "search", True),
        (docks.toggle_right, "inputs preview", False),
        (docks.show_center, "search", True),
        (lambda: docks.show("run"), "run", False),
        (lambda: docks.hide("run"), "search", True),
        (lambda: docks.show("files"), "files search", True),
        (lambda: window.resize(1440, 900), "files inputs preview search", True),
        (lambda: docks.maximize("files"), "files", False),
        (lambda: docks.hide("files"), "inputs preview search", True),
        (docks.reset, "files inputs preview", True),
    )
    for number, (act, panes, has_editor) in enumerate(walk):
        act()
        assert (number, shown(docks), editor.isVisible()) == (number, panes, has_editor)


@pytest.mark.qt_log_ignore("This plugin does not support")  # windows of their own
def test_panes_that_the_user_moves_by_hand(window: MainWindow) -> None:
    docks = window.docks
    toggled(docks, "history")
    assert shown(docks) == "history inputs preview"
    toggled(docks, "inputs")
    docks.toggle_right()
    docks.toggle_right()
    assert shown(docks) == "history preview"
    toggled(docks, "run")
    assert shown(docks) == "run"
    toggled(docks, "run")
    assert shown(docks) == "history preview"
    docks.show("run")
    docks["run"].setFloating(True)
    docks.toggle_bottom()
    assert shown(docks) == "history preview run problems"
    docks["run"].close()
    docks.toggle_all()
    docks.toggle_all()
    assert shown(docks) == "history preview problems"
    window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, docks["preview"])
    docks.toggle_side()
    assert shown(docks) == "problems"
    docks.toggle_side()
    assert shown(docks) == "history preview problems"


def test_a_pane_maximized_and_closed_by_hand_leaves_the_window_as_it_was(
    window: MainWindow,
) -> None:
    docks = window.docks
    docks.maximize("preview")
    toggled(docks, "preview")
    assert shown(docks) == "files inputs"
    assert window.tabs.isVisible()


def test_widths_are_given_back(window: MainWindow, qtbot: QtBot) -> None:
    docks = window.docks

    def widths() -> tuple[int, int]:
        return docks["files"].width(), docks["preview"].width()

    qtbot.waitUntil(lambda: widths() == (248, 440))
    window.resizeDocks([docks["files"], docks["preview"]], [300, 500], Qt.Orientation.Horizontal)
    qtbot.waitUntil(lambda: widths() == (300, 500))
    changes: tuple[tuple[Callable[[], object], Callable[[], object]], ...] = (
        (lambda: docks.show("run"), docks.write),
        (docks.toggle_all, docks.toggle_all),
        (docks.toggle_side, docks.toggle_side),
        (lambda: docks.maximize("preview"), lambda: docks.maximize("preview")),
        (
            lambda: docks.show_tab("view", is_prompt=False),
            lambda: docks.show_tab("", is_prompt=True),
        ),
        (lambda: docks.set_welcome(True), lambda: docks.set_welcome(False)),
    )
    for there, back in changes:
        there()
        qtbot.waitUntil(lambda: not docks["preview"].isVisible() or not docks["files"].isVisible())
        back()
        qtbot.waitUntil(lambda: widths() == (300, 500))


@pytest.mark.parametrize("is_closed_meanwhile", [False, True])
@pytest.mark.parametrize("given", [440, 500])
def test_a_column_that_stood_in_the_editors_place_is_as_wide_as_before(
    window: MainWindow, qtbot: QtBot, given: int, is_closed_meanwhile: bool
) -> None:
    """It kept the editor's width, which left 290 pixels for the text."""
    docks = window.docks
    qtbot.waitUntil(lambda: docks["preview"].width() == 440)
    window.resizeDocks([docks["preview"]], [given], Qt.Orientation.Horizontal)
    qtbot.waitUntil(lambda: docks["preview"].width() == given)
    window.resize(1050, 900)
    docks.toggle_right()
    qtbot.waitUntil(lambda: docks["preview"].width() > given + 50)
    if is_closed_meanwhile:
        docks.hide("inputs")
        docks.hide("preview")
    window.resize(1440, 900)
    docks.show("inputs")
    docks.show("preview")
    qtbot.waitUntil(lambda: docks["preview"].width() == given)
    assert window.tabs.width() > 600


def test_a_run_keeps_the_width_that_the_user_gave_it(window: MainWindow, qtbot: QtBot) -> None:
    docks = window.docks
    docks.show("run")
    qtbot.waitUntil(lambda: docks["run"].width() == 864)
    window.resizeDocks([docks["run"]], [700], Qt.Orientation.Horizontal)
    qtbot.waitUntil(lambda: docks["run"].width() == 700)
    docks.show("run")  # the next step
    assert docks["run"].width() == 700
    docks.write()
    qtbot.waitUntil(docks["preview"].isVisible)
    docks.show("run")
    qtbot.waitUntil(lambda: docks["run"].width() == 700)


def test_a_panel_that_brings_the_text_back_stands_low_below_it(
    window: MainWindow, qtbot: QtBot
) -> None:
    docks = window.docks
    window.resize(900, 600)
    docks.toggle_right()
    qtbot.waitUntil(docks["preview"].isVisible)
    docks.toggle_bottom()
    qtbot.waitUntil(lambda: docks["problems"].height() < 220 < window.tabs.height())
