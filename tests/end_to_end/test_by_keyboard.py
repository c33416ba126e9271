"""Writing, running and comparing by keys and the accessibility tree alone: no mouse, no look."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from studio.core.agent.values.step import PausePoint
from studio.core.paths import resource
from studio.ui.app.workbench import Workbench

Open = Callable[[Path], Workbench]
NONE = Qt.KeyboardModifier.NoModifier
CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture(autouse=True)
def screen_reader() -> Iterator[None]:
    """One is there, as far as Qt knows."""
    QAccessible.setActive(True)
    yield
    QAccessible.setActive(False)


def names_below(widget: QWidget) -> list[str]:
    """What a screen reader finds in a widget, in order."""

    def walk(interface: QAccessibleInterface) -> Iterator[str]:
        for index in range(interface.childCount()):
            child = interface.child(index)
            if child is None or not child.isValid() or child.state().invisible:
                continue
            yield child.text(QAccessible.Text.Name)
            yield from walk(child)

    interface = QAccessible.queryAccessibleInterface(widget)
    assert interface is not None
    return [name for name in walk(interface) if name]


def press(key: Qt.Key, modifiers: Qt.KeyboardModifier = NONE) -> None:
    focus = QApplication.focusWidget()
    assert focus is not None, "nothing has the keyboard"
    QTest.keyClick(focus, key, modifiers)


def command(qtbot: QtBot, words: str) -> None:
    """Carry out a command by the palette."""
    press(Qt.Key.Key_P, CONTROL | SHIFT)
    qtbot.waitUntil(lambda: QApplication.focusWidget() is not None)
    focus = QApplication.focusWidget()
    assert focus is not None
    QTest.keyClicks(focus, words)
    press(Qt.Key.Key_Return)


def test_a_prompt_is_written_run_and_compared_without_mouse_or_eyes(
    qtbot: QtBot, user_home: Path, open_workbench: Open, scripted: Callable[..., None]
) -> None:
    scripted(
        'Thought: I need the product.\nAction: calculator\nArgs: {"expression": "128 * 46"}',
        "Thought: I have it.\nFinal Answer: It is 5888.",
        "Thought: I was told.\nFinal Answer: It is forty-two.",
    )
    folder = user_home / "data" / "examples"
    shutil.copytree(resource("examples"), folder)
    bench = open_workbench(folder / "react-agent.prompty")
    window, run, pane = bench.window, bench.run, bench.run_pane
    page = window.tabs.current
    assert page is not None
    qtbot.waitUntil(page.editor.hasFocus)

    # Writing: to the line by the palette, typed, and heard back from the preview.
    press(Qt.Key.Key_G, CONTROL)
    qtbot.waitUntil(lambda: not page.editor.hasFocus())
    focus = QApplication.focusWidget()
    assert focus is not None
    line = page.editor.text()[: page.editor.text().index("Question:")].count("\n") + 1
    QTest.keyClicks(focus, str(line))
    press(Qt.Key.Key_Return)
    qtbot.waitUntil(page.editor.hasFocus)
    press(Qt.Key.Key_End)
    QTest.keyClicks(page.editor, " Be exact")
    qtbot.waitUntil(
        lambda: any("Be exact" in each for each in spoken_texts(bench.preview_pane.messages))
    )
    heard = names_below(bench.preview_pane.messages)
    assert any(each.startswith("system") for each in heard)
    assert any(each.startswith("user") for each in heard)

    # Running: step by step; each stop is said by the diagram and is a bar of the scrubber.
    for place in (PausePoint.BEFORE_REQUEST, PausePoint.REPLY, PausePoint.TOOL_CALL):
        press(Qt.Key.Key_F10)
        qtbot.waitUntil(
            lambda place=place: (
                run.state is not None
                and run.state.pause is not None
                and run.state.pause.place == place
            )
        )
    # The diagram follows the run a moment later: until then it stands where the step before was.
    here = "the run is at this point"
    qtbot.waitUntil(
        lambda: any(e.startswith("Action") and here in e for e in names_below(pane.diagram))
    )
    nodes = names_below(pane.diagram)
    assert [each.split(",")[0] for each in nodes] == [
        "Prompt",
        "Model",
        "Reply",
        "Action",
        "Tool",
        "Observation",
        "Final",
        "Done",
    ]
    assert sum(here in each for each in nodes) == 1
    qtbot.waitUntil(lambda: len(names_below(pane.scrubber)) >= 3)
    assert any("calculator" in each for each in names_below(pane.scrubber))
    press(Qt.Key.Key_F5)
    qtbot.waitUntil(lambda: not run.is_live)
    assert run.state is not None
    assert run.state.answer == "It is 5888."

    # Comparing with what is saved: by its own keys, the changed words are there to be read.
    press(Qt.Key.Key_Escape)
    page.editor.setFocus()
    press(Qt.Key.Key_K, CONTROL)
    press(Qt.Key.Key_D)
    qtbot.waitUntil(lambda: QApplication.activeModalWidget() is not None or bool(dialogs(window)))
    (dialog,) = dialogs(window)
    assert any("Be exact" in text for text in spoken_texts(dialog))
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not dialogs(window))


def dialogs(window: QWidget) -> list[QWidget]:
    return [
        each
        for each in QApplication.topLevelWidgets()
        if each.isVisible() and each is not window and each.isWindow()
    ]


def spoken_texts(root: QWidget) -> list[str]:
    """All texts that a screen reader would read of a widget: names, values and texts."""
    found = []
    for widget in (root, *root.findChildren(QWidget)):
        interface = QAccessible.queryAccessibleInterface(widget)
        if interface is None or not widget.isVisible():
            continue
        found += [interface.text(QAccessible.Text.Name), interface.text(QAccessible.Text.Value)]
        text = interface.textInterface()
        if text is not None:
            found.append(text.text(0, text.characterCount()))
    return [each for each in found if each]
