from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from studio.core.prompty.parse import parse
from studio.ui.app.main_window import MainWindow
from studio.ui.editor.page.crumb_bar import beside, crumbs_at

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
PROMPT = """---
name: x
inputs:
  city:
    kind: string
tools:
  - name: weather
    kind: function
---
system:
Be brief.

user:
Hello {{ city }}
"""


@pytest.mark.parametrize(
    ("at", "labels"),
    [
        ("  kind: string", ["", "inputs", "city", "kind"]),
        ("kind: string", ["", "inputs", "city", "kind"]),
        ("kind: function", ["", "tools", "weather", "kind"]),
        ("name: x", ["", "name"]),
        ("Hello", ["user"]),
        ("brief", ["system"]),
    ],
)
def test_the_way_to_a_place(at: str, labels: list[str]) -> None:
    crumbs = crumbs_at(parse(PROMPT), PROMPT.index(at))
    assert [crumb.label for crumb in crumbs] == labels


def test_text_before_any_marker_and_no_text_at_all() -> None:
    assert [(crumb.label, crumb.summary) for crumb in crumbs_at(parse("Hi\n"), 1)] == [("", "Hi")]
    assert crumbs_at(parse(""), 0) == ()


def test_what_stands_beside_a_step() -> None:
    document = parse(PROMPT)
    *_, city, _ = crumbs_at(document, PROMPT.index("kind: string"))
    assert [each.label for each in beside(document, city)] == ["city"]
    (_, inputs, *_) = crumbs_at(document, PROMPT.index("kind: string"))
    assert [each.label for each in beside(document, inputs)] == ["name", "inputs", "tools"]
    (user,) = crumbs_at(document, PROMPT.index("Hello"))
    assert [each.label for each in beside(document, user)] == ["", "system", "user"]
    assert beside(document, user)[2].summary == "Hello {{ city }}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a", "b"):
        (tmp_path / f"{name}.prompty").write_text(PROMPT, encoding="utf-8")
    return tmp_path


def test_by_keyboard_to_a_key_and_to_another_file(
    window: MainWindow, folder: Path, qtbot: QtBot
) -> None:
    page = window.tabs.open(folder / "a.prompty")
    assert page is not None
    qtbot.waitUntil(lambda: page.document is not None)
    window.docks["outline"].hide()
    window.docks["files"].hide()
    page.editor.go_to_line(5)
    qtbot.waitUntil(
        lambda: page.crumbs.labels == ["a.prompty", "front matter", "inputs", "city", "kind"]
    )
    qtbot.keyClick(page.editor, Qt.Key.Key_Period, CONTROL | SHIFT)
    last = window.focusWidget()
    assert getattr(last, "text", str)() == "kind"
    qtbot.keyClick(last, Qt.Key.Key_Left)
    qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Left)
    assert getattr(window.focusWidget(), "text", str)() == "inputs"
    menu = page.crumbs.menu_of(2)
    menu.popup(page.mapToGlobal(page.rect().center()))
    qtbot.waitUntil(menu.isVisible)
    qtbot.keyClick(menu, Qt.Key.Key_Down)
    qtbot.keyClick(menu, Qt.Key.Key_Return)
    assert page.editor.textCursor().blockNumber() == 5
    qtbot.waitUntil(lambda: page.crumbs.labels[-1] == "tools")
    files = page.crumbs.menu_of(0)
    assert [action.text() for action in files.actions()] == ["a.prompty", "b.prompty"]
    assert [action.isChecked() for action in files.actions()] == [True, False]
    files.actions()[1].trigger()
    current = window.tabs.current
    assert current is not None
    assert current.controller.title == "b.prompty"


def test_escape_goes_back_to_the_text(window: MainWindow, folder: Path, qtbot: QtBot) -> None:
    page = window.tabs.open(folder / "a.prompty")
    assert page is not None
    qtbot.keyClick(page.editor, Qt.Key.Key_Period, CONTROL | SHIFT)
    assert not page.editor.hasFocus()
    qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Escape)
    assert page.editor.hasFocus()


def test_a_narrow_bar_keeps_the_last_steps(window: MainWindow, folder: Path, qtbot: QtBot) -> None:
    page = window.tabs.open(folder / "a.prompty")
    assert page is not None
    qtbot.waitUntil(lambda: page.document is not None)
    page.editor.go_to_line(5)
    qtbot.waitUntil(lambda: page.crumbs.labels[-1] == "kind")
    page.crumbs.resize(90, page.crumbs.height())
    assert page.crumbs.labels[-1] == "kind"
    assert len(page.crumbs.labels) < 5
