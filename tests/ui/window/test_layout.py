"""The room that each part of the window gets, measured on the bundled ReAct agent."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QRect, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from studio.core.paths import resource, user_paths
from studio.ui.app.main_window import MainWindow
from studio.ui.app.workbench import Workbench
from studio.ui.base.services import build_services
from studio.ui.editor.page.page import EditorPage

CONTROL = Qt.KeyboardModifier.ControlModifier
ALT = Qt.KeyboardModifier.AltModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def bench(qtbot: QtBot, user_home: Path) -> Iterator[Workbench]:
    """The studio on its own copy of the ReAct agent."""
    made = Workbench(build_services(user_paths()))
    yield made
    made.window.close()
    made.close()
    made.window.deleteLater()


def opened(bench: Workbench, qtbot: QtBot, tmp_path: Path, size: tuple[int, int]) -> EditorPage:
    window = bench.window
    window.resize(*size)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    folder = tmp_path / "agents"
    shutil.copytree(resource("examples"), folder)
    page = window.tabs.open(folder / "react-agent.prompty")
    assert page is not None
    qtbot.waitUntil(lambda: bench.is_settled and page.editor.folding.is_closed(0))
    return page


def rows_and_columns(page: EditorPage) -> tuple[int, int]:
    metrics, viewport = page.editor.fontMetrics(), page.editor.viewport()
    return (
        viewport.height() // metrics.lineSpacing(),
        viewport.width() // metrics.horizontalAdvance("0"),
    )


def has_room(page: EditorPage, rows: int, columns: int) -> bool:
    """Whether so much of a text is in sight; a window is laid out in several turns of the loop."""
    shown = rows_and_columns(page)
    return shown[0] >= rows and shown[1] >= columns


def place_in(window: QWidget, widget: QWidget) -> QRect:
    return QRect(widget.mapTo(window, QPoint(0, 0)), widget.size())


def overlapping(window: MainWindow) -> list[tuple[str, str]]:
    """Pairs of parts that cover each other."""
    parts: dict[str, QWidget] = {
        "toolbar": window.toolbar,
        "strip": window.strip,
        "status": window.status,
        "center": window.tabs,
    }
    names = ("files", "outline", "tools", "history", "inputs", "preview", "run", "problems")
    parts |= {name: window.docks[name] for name in names}
    shown = {name: part for name, part in parts.items() if part.isVisible()}
    whole = window.rect()
    assert all(whole.contains(place_in(window, part)) for part in shown.values())
    return [
        (one, other)
        for one in shown
        for other in shown
        if one < other and place_in(window, shown[one]).intersects(place_in(window, shown[other]))
    ]


@pytest.mark.parametrize(
    ("size", "rows", "columns", "right"),
    [
        ((1440, 900), 34, 72, (420, 460)),
        ((1280, 800), 29, 60, (380, 400)),
        ((1920, 1080), 42, 100, (420, 460)),
        ((900, 600), 18, 72, None),
    ],
)
def test_writing_gives_the_prompt_the_room(
    bench: Workbench,
    qtbot: QtBot,
    tmp_path: Path,
    size: tuple[int, int],
    rows: int,
    columns: int,
    right: tuple[int, int] | None,
) -> None:
    page = opened(bench, qtbot, tmp_path, size)
    window = bench.window
    least, most = right or (0, 0)
    qtbot.waitUntil(lambda: least <= (window.docks["preview"].width() if right else 0) <= most)
    qtbot.waitUntil(lambda: has_room(page, rows, columns))
    assert page.editor.text().split("\n")[page.editor.textCursor().blockNumber() - 1] == "system:"
    first = page.editor.cursorRect().top()
    assert first < window.height() / 3
    qtbot.waitUntil(lambda: overlapping(window) == [])
    assert window.docks["preview"].isVisible() is (right is not None)
    assert window.docks["files"].isVisible() is (size[0] >= 1000)
    assert not window.docks["run"].isVisible()
    assert not window.docks["problems"].isVisible()
    if size == (1440, 900):
        qtbot.waitUntil(lambda: bench.preview_pane.messages.height() >= 540)


@pytest.mark.parametrize(
    ("size", "rows", "columns", "run"),
    [
        ((1440, 900), 33, 50, (720, 740)),
        ((1280, 800), 28, 40, (680, 640)),
        ((1920, 1080), 42, 72, (960, 900)),
    ],
)
def test_a_run_takes_the_right_and_gives_it_back(
    bench: Workbench,
    qtbot: QtBot,
    tmp_path: Path,
    size: tuple[int, int],
    rows: int,
    columns: int,
    run: tuple[int, int],
) -> None:
    page = opened(bench, qtbot, tmp_path, size)
    docks, pane = bench.window.docks, bench.run_pane
    usual = 440 if size[0] >= 1400 else 400
    qtbot.waitUntil(lambda: (docks["files"].width(), docks["preview"].width()) == (248, usual))
    docks.show("run")
    qtbot.waitUntil(lambda: pane.isVisible() and pane.width() >= run[0])
    qtbot.waitUntil(lambda: pane.height() >= run[1])
    assert not docks["preview"].isVisible()
    qtbot.waitUntil(lambda: page.editor.width() + pane.width() <= size[0] - 48)
    qtbot.waitUntil(lambda: has_room(page, rows, columns))
    qtbot.waitUntil(lambda: overlapping(bench.window) == [])
    page.editor.setFocus()
    for pressed_at in (1_000, 2_000, 2_100):
        assert docks.is_running  # once while typing is no wish yet, nor twice with time between
        escape = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier)
        escape.setTimestamp(pressed_at)
        QApplication.sendEvent(page.editor, escape)
    assert not docks.is_running
    qtbot.waitUntil(lambda: (docks["files"].width(), docks["preview"].width()) == (248, usual))


def test_a_side_pane_of_a_narrow_window_leaves_the_editor_its_room(
    bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    page = opened(bench, qtbot, tmp_path, (900, 600))
    docks = bench.window.docks
    docks.toggle_right()
    docks.show("files")
    docks.toggle_right()
    qtbot.waitUntil(lambda: page.editor.isVisible() and page.editor.width() > 500)
    assert docks["files"].isVisible()


def test_a_narrow_window_has_the_column_in_the_editors_place(
    bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    page = opened(bench, qtbot, tmp_path, (900, 600))
    window, docks = bench.window, bench.window.docks
    QTest.keyClick(page.editor, Qt.Key.Key_B, CONTROL | ALT)
    qtbot.waitUntil(docks["preview"].isVisible)
    assert not window.tabs.isVisible()
    qtbot.waitUntil(lambda: overlapping(window) == [])
    QTest.keyClick(window, Qt.Key.Key_B, CONTROL | ALT)
    qtbot.waitUntil(page.editor.hasFocus)
    assert not docks["preview"].isVisible()
    docks.show("run")
    assert docks["run"].isVisible()
    assert not window.tabs.isVisible()
    docks.show("problems")
    assert window.tabs.isVisible()
    qtbot.waitUntil(lambda: docks["problems"].width() > 700)
    docks.hide("problems")
    docks.show("run")
    docks.write()
    assert window.tabs.isVisible()
    window.resize(1440, 900)
    qtbot.waitUntil(docks["preview"].isVisible)
    assert window.tabs.isVisible()
    assert docks["files"].isVisible()


def test_one_key_for_each_side(bench: Workbench, qtbot: QtBot, tmp_path: Path) -> None:
    page = opened(bench, qtbot, tmp_path, (1440, 900))
    docks = bench.window.docks
    for key, modifiers, names in (
        (Qt.Key.Key_B, CONTROL, ("files",)),
        (Qt.Key.Key_B, CONTROL | ALT, ("inputs", "preview")),
    ):
        QTest.keyClick(page.editor, key, modifiers)
        assert not any(docks[name].isVisible() for name in names)
        QTest.keyClick(page.editor, key, modifiers)
        assert all(docks[name].isVisible() for name in names)
    QTest.keyClick(page.editor, Qt.Key.Key_J, CONTROL)
    assert docks["problems"].isVisible()
    strip = {each.accessibleName(): each for each in bench.window.strip.findChildren(QToolButton)}
    for name, button in (("tools", strip["Tools"]), ("files", strip["Files"])):
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(docks[name].isVisible)
        qtbot.waitUntil(lambda: [each.isChecked() for each in strip.values()].count(True) == 1)
    QTest.mouseClick(strip["Files"], Qt.MouseButton.LeftButton)
    assert not docks["files"].isVisible()
    QTest.mouseClick(strip["Files"], Qt.MouseButton.LeftButton)
    width = page.editor.width()
    for back in (False, True):
        QTest.keyClick(page.editor, Qt.Key.Key_K, CONTROL)
        QTest.keyClick(page.editor, Qt.Key.Key_Z)
        shown = [docks[name].isVisible() for name in ("files", "inputs", "preview", "problems")]
        assert shown == [back] * 4
    qtbot.waitUntil(lambda: page.editor.width() == width)
    assert page.editor.text().count("z") == resource("examples", "react-agent.prompty").read_text(
        encoding="utf-8"
    ).count("z")


def test_any_pane_has_the_window_for_itself(bench: Workbench, qtbot: QtBot, tmp_path: Path) -> None:
    page = opened(bench, qtbot, tmp_path, (1440, 900))
    window, docks = bench.window, bench.window.docks
    QTest.keyClick(page.editor, Qt.Key.Key_M, CONTROL | SHIFT)
    qtbot.waitUntil(lambda: page.editor.width() > 1300)
    QTest.keyClick(page.editor, Qt.Key.Key_M, CONTROL | SHIFT)
    assert docks["preview"].isVisible()
    docks.maximize("files")
    assert not window.tabs.isVisible()
    docks.show("preview")
    assert window.tabs.isVisible()
    assert docks["preview"].isVisible()


def test_the_welcome_page_has_nothing_around_it(
    bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    window = bench.window
    window.resize(1440, 900)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    names = ("files", "outline", "tools", "history", "inputs", "preview", "run", "problems")
    assert not any(window.docks[name].isVisible() for name in names)
    assert window.tabs.width() > window.width() - 60
    page = window.tabs.new("system:\nHello\n")
    assert window.docks["preview"].isVisible()
    page.editor.document().setModified(False)
    assert window.tabs.close_page()
    assert not any(window.docks[name].isVisible() for name in names)


def test_a_long_front_matter_is_one_line_until_it_is_wanted(
    bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    page = opened(bench, qtbot, tmp_path, (1280, 800))
    editor, before = page.editor, page.editor.text()
    assert not editor.document().findBlockByNumber(5).isVisible()
    opens: tuple[Callable[[], object], ...] = (
        lambda: QTest.keyClick(editor, Qt.Key.Key_Return),
        lambda: QTest.keyClick(editor, "x"),
        lambda: editor.go_to_line(6),
        lambda: editor.reveal(page.document.entries[3].key if page.document else None),
    )
    for act in opens:
        editor.folding.close(0)
        editor.set_caret(0)
        act()
        assert not editor.folding.is_closed(0)
        assert editor.text() == before


def test_the_side_bar_has_the_width_that_the_user_gave_it(
    bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    """Tools need more than the files, which kept that width for good."""
    opened(bench, qtbot, tmp_path, (1440, 900))
    docks = bench.window.docks
    right = docks["preview"].width()
    docks.show("tools")
    qtbot.waitUntil(lambda: docks["tools"].width() > 260)
    docks.show("run")
    qtbot.waitUntil(lambda: docks["run"].isVisible() and not docks["tools"].isVisible())
    docks.write()
    qtbot.waitUntil(docks["tools"].isVisible)
    docks.show("files")
    qtbot.waitUntil(lambda: docks["files"].width() == 248 and docks["preview"].width() == right)
    bench.window.resizeDocks([docks["files"]], [300], Qt.Orientation.Horizontal)
    qtbot.waitUntil(lambda: docks["files"].width() == 300)
    docks.show("tools")
    docks.hide("tools")
    docks.show("outline")
    qtbot.waitUntil(lambda: docks["outline"].width() == 300)


def test_an_experiment_has_the_room_of_inputs_and_preview(
    bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    """Both were empty beside it, and took a third of the window."""
    page = opened(bench, qtbot, tmp_path, (1440, 900))
    window, docks = bench.window, bench.window.docks
    experiment = tmp_path / "agents" / "refunds.experiment.yaml"

    def column() -> tuple[bool, bool]:
        return docks["inputs"].isVisible(), docks["preview"].isVisible()

    window.tabs.open(experiment)
    view = window.tabs.sides.active.currentWidget()
    qtbot.waitUntil(lambda: column() == (False, False) and view.width() > 1100)
    window.tabs.sides.select(page)
    qtbot.waitUntil(lambda: column() == (True, True) and docks["preview"].width() == 440)
    window.tabs.open(experiment)
    docks.maximize("")
    window.tabs.sides.select(page)
    docks.maximize("")
    qtbot.waitUntil(lambda: column() == (True, True))
    window.tabs.open(experiment)
    docks.toggle_right()  # who wants to see them beside it, does
    assert column() == (True, True)
    docks.toggle_right()
    window.tabs.sides.select(page)
    assert column() == (False, False)
    docks.toggle_right()
    window.tabs.open(experiment)
    docks.show("run")
    docks.write()
    qtbot.waitUntil(lambda: column() == (False, False))
    docks.save()
    docks.restore()
    assert column() == (True, True)


@pytest.mark.parametrize("beside", ["run", "experiment"])
def test_the_layout_of_writing_is_kept_whatever_has_the_window_as_it_closes(
    bench: Workbench, qtbot: QtBot, tmp_path: Path, beside: str
) -> None:
    opened(bench, qtbot, tmp_path, (1440, 900))
    docks = bench.window.docks
    if beside == "run":
        docks.show("run")
    else:
        bench.window.tabs.open(tmp_path / "agents" / "refunds.experiment.yaml")
    assert docks["inputs"].isHidden()
    docks.maximize("")
    docks.save()
    docks.restore()
    shown = [name for name in ("files", "inputs", "preview", "run") if docks[name].isVisible()]
    assert shown == ["files", "inputs", "preview"]


def test_the_key_of_the_column_brings_back_what_an_experiment_took_away(
    bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    opened(bench, qtbot, tmp_path, (1440, 900))
    docks = bench.window.docks
    docks.hide("inputs")
    bench.window.tabs.open(tmp_path / "agents" / "refunds.experiment.yaml")
    assert docks["preview"].isHidden()
    docks.toggle_right()
    assert (docks["inputs"].isVisible(), docks["preview"].isVisible()) == (False, True)


@pytest.mark.parametrize("size", [(1440, 900), (1280, 800), (900, 600)])
def test_each_half_of_a_split_editor_has_its_room(
    bench: Workbench, qtbot: QtBot, tmp_path: Path, size: tuple[int, int]
) -> None:
    """At 1280 a half was left 100 pixels; the side bar is its icons before that."""
    page = opened(bench, qtbot, tmp_path, size)
    window, docks = bench.window, bench.window.docks
    window.tabs.open(tmp_path / "agents" / "chat.prompty")
    window.tabs.sides.split()
    halves = [each for each in window.tabs.pages() if each.isVisible()]
    assert len(halves) == 2
    qtbot.waitUntil(lambda: all(half.width() >= 320 for half in halves))
    qtbot.waitUntil(lambda: abs(halves[0].width() - halves[1].width()) <= 2)
    assert docks["files"].isVisible() is (size[0] == 1440)
    qtbot.waitUntil(lambda: overlapping(window) == [])
    docks.show("run")
    qtbot.waitUntil(lambda: docks["run"].isVisible() and docks["run"].width() >= 560)
    docks.write()
    assert docks["files"].isVisible() is (size[0] == 1440)
    window.tabs.sides.join()
    qtbot.waitUntil(lambda: docks["files"].isVisible() is (size[0] >= 1000))
    assert page.editor.width() > 320


@pytest.mark.parametrize("size", [(1440, 900), (1280, 800)])
def test_a_side_pane_beside_a_run_leaves_the_text_its_room(
    bench: Workbench, qtbot: QtBot, tmp_path: Path, size: tuple[int, int]
) -> None:
    """It took all of it from the editor, which was left 120 pixels."""
    page = opened(bench, qtbot, tmp_path, size)
    docks, pane = bench.window.docks, bench.run_pane
    docks.show("run")
    qtbot.waitUntil(lambda: pane.isVisible() and pane.width() >= 680)
    alone = pane.width()
    for name in ("history", "files", "tools", "outline"):
        docks.show(name)
        qtbot.waitUntil(docks[name].isVisible)
        qtbot.waitUntil(lambda: page.editor.width() >= 300)
        qtbot.waitUntil(lambda: pane.width() >= 560)
        qtbot.waitUntil(lambda: overlapping(bench.window) == [])
    docks.toggle_side()
    qtbot.waitUntil(lambda: pane.width() == alone)


@pytest.mark.parametrize("name", ["inputs", "preview", "files"])
def test_a_double_click_on_the_first_row_of_a_pane_maximizes_it(
    bench: Workbench, qtbot: QtBot, tmp_path: Path, name: str
) -> None:
    """Those with a row of their own as those with a head above it."""
    page = opened(bench, qtbot, tmp_path, (1440, 900))
    docks = bench.window.docks
    dock = docks[name]
    places = (QPoint(x, 12) for x in range(dock.width() // 2, dock.width(), 8))
    at = next(each for each in places if not isinstance(dock.childAt(each), QAbstractButton))
    row = dock.childAt(at)
    assert row is not None
    for is_alone in (True, False):
        QTest.mouseDClick(row, Qt.MouseButton.LeftButton, pos=row.mapFrom(dock, at))
        assert docks.is_shown(name)
        assert page.editor.isVisible() != is_alone
