"""A window that starts in the user's folder of 0.1.0 stands as that one was left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from studio.core.agent.values.step import PausePoint
from studio.core.paths import user_paths
from studio.ui.app.lifecycle import Lifecycle
from studio.ui.app.main_window import MainWindow
from studio.ui.app.workbench import Workbench
from studio.ui.base.services import build_services
from studio.ui.style.theme import DARK, theme_in_use
from studio.viewmodels.app.notifications import Notification
from tests.from_0_1_0.conftest import AT_HOME

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")


@pytest.fixture
def moved_home(old_home: Path, old_prompts: Path) -> Path:
    """The user's folder, which names the prompts where they are now; it forgets no old run."""
    files = [path for path in old_home.rglob("*") if path.suffix in (".toml", ".json")]
    for path in files:
        text = path.read_text(encoding="utf-8", errors="surrogatepass")
        text = text.replace(f"{AT_HOME}/prompts", old_prompts.as_posix())
        text = text.replace("history_days = 90\n", "")  # every run here is older by now
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
    return old_home


@pytest.fixture
def workbench(moved_home: Path, old_prompts: Path, qtbot: QtBot) -> Iterator[Workbench]:
    """The studio, as a start opens it."""
    services = build_services(user_paths())
    window = MainWindow(services, keep_places=True)
    window.tabs.open(old_prompts / "react.prompty")  # the one in front is opened first
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    bench = Workbench(services, window)
    lifecycle = Lifecycle(services, window.parts, window.commands, restore=True, is_first=True)
    yield bench
    for page in list(window.tabs.pages()):
        page.editor.document().setModified(False)
    window.close()
    lifecycle.close()
    bench.close()
    window.deleteLater()


def test_tabs_carets_and_recent_files(workbench: Workbench, old_prompts: Path) -> None:
    window = workbench.window
    pages = list(window.tabs.pages())
    assert [page.controller.title for page in pages] == [
        "trip.prompty",
        "react.prompty",
        "chat.prompty",
    ]
    assert window.tabs.current is pages[1]
    carets = {page.controller.title: page.editor.textCursor().position() for page in pages}
    assert (carets["trip.prompty"], carets["chat.prompty"]) == (41, 7)
    recent = window.services.settings.value.recent
    assert {Path(name) for name in recent} == {page.controller.path for page in pages}


def test_theme_keys_and_view(workbench: Workbench) -> None:
    window = workbench.window
    actions = {action.objectName(): action for action in window.actions_by_id}
    keys = {name: action.shortcut().toString() for name, action in actions.items()}
    assert theme_in_use() is DARK
    assert keys["file.new"] == "Ctrl+Alt+Q"
    assert keys["run.step"] == "Ctrl+F10"
    assert keys["run.stop"] == ""
    assert keys["edit.format"] == "Ctrl+Shift+T"
    assert keys["run.start"] == "F5"
    assert not actions["view.wrap"].isChecked()
    assert actions["view.whitespace"].isChecked()


def test_panes_are_where_they_were(workbench: Workbench) -> None:
    window = workbench.window
    window.resize(1440, 900)  # what a narrow window hides is there in a wide one
    docks = window.docks
    names = ("files", "outline", "tools", "inputs", "preview", "run", "problems", "history")
    areas = {name: window.dockWidgetArea(docks[name]) for name in names}
    left, right = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
    bottom = Qt.DockWidgetArea.BottomDockWidgetArea
    assert areas == {
        "files": left,
        "outline": left,
        "tools": left,
        "inputs": left,
        "preview": right,
        "run": right,
        "problems": bottom,
        "history": bottom,
    }
    assert docks["history"].isHidden()
    assert not any(docks[name].isHidden() for name in names if name != "history")
    beside = {dock.objectName() for dock in window.tabifiedDockWidgets(docks["files"])}
    assert beside == {"dock.outline", "dock.tools"}


def test_unsaved_texts_are_offered(workbench: Workbench, qtbot: QtBot) -> None:
    window = workbench.window

    def offered() -> list[Notification]:
        return [each for each in window.notices.notices if each.key == "recovery"]

    qtbot.waitUntil(lambda: len(offered()) == 1)
    (notice,) = offered()
    notice.offers[0].act()
    texts = {page.controller.title: page.editor.text() for page in window.tabs.pages()}
    assert texts["trip.prompty"].endswith("assistant:\nNot saved yet: é 🗼\n")
    assert any(text.startswith("system:\nNever saved at all.\n") for text in texts.values())


def test_breakpoints_watches_connection_and_input_sets(
    workbench: Workbench, old_prompts: Path, qtbot: QtBot
) -> None:
    qtbot.waitUntil(lambda: bool(workbench.debugging.watches))
    assert workbench.debugging.watches == ("iteration", "len(messages)")
    held = workbench.run.breakpoints.value
    assert [each.id for each in held.breakpoints] == ["b1", "b2", "b3", "b4"]
    assert PausePoint.BEFORE_REQUEST in held.places
    assert workbench.connections.connections.default_connection.name == "Home server"
    assert workbench.trust.is_trusted(old_prompts)
    workbench.window.tabs.open(old_prompts / "trip.prompty")
    library = workbench.inputs_pane.library
    qtbot.waitUntil(lambda: set(library.sets) == {"Lisbon in May", "Óbidos"})


def test_the_history_is_listed_and_a_run_of_it_opens(workbench: Workbench, qtbot: QtBot) -> None:
    pane = workbench.history_pane
    qtbot.waitUntil(lambda: pane.model.rowCount() == 12)
    with qtbot.waitSignal(workbench.history.opened) as opened:
        pane.request_open.emit("c3native0003")
    record = opened.args[0]
    assert record.names == {1: "by the sea", 2: "stopped"}
    assert record.state is not None
    qtbot.waitUntil(lambda: not workbench.window.docks["run"].isHidden())
    assert len(record.timeline.cards) > 0
