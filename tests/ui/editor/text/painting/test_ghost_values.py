"""Values in grey behind the lines, and the fix of the caret's line, as they are painted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QImage, QPaintEvent, QTextCursor
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from studio.application.preview.build import build_preview
from studio.application.preview.variables import PreviewJob, inline_values
from studio.core.prompty.parse import parse
from studio.core.settings import Settings
from studio.ui.editor.page.page import EditorPage
from studio.viewmodels.app.notifications import Notifications
from studio.viewmodels.document.swap import SwapFolder

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

TEXT = """---
inputs:
  city:
    kind: string
    default: Rome
---
user:
Go to {{ city }}
And then?
"""


@pytest.fixture
def page(qtbot: QtBot, tmp_path: Path) -> Iterator[EditorPage]:
    made = EditorPage(Notifications(), SwapFolder(tmp_path / "swap"), Settings())
    qtbot.addWidget(made)
    made.resize(700, 400)
    made.begin(TEXT, "a.prompty")
    with qtbot.waitExposed(made):
        made.show()
    yield made
    made.close_document()
    made.editor.close()
    made.close()


def show_values(page: EditorPage) -> None:
    preview = build_preview(PreviewJob(parse(page.editor.text())))
    page.show_values(inline_values(preview), preview.document.source)


def behind(page: EditorPage, line: int) -> QImage:
    """The right part of a line, where nothing of the text stands."""
    cursor = QTextCursor(page.editor.document().findBlockByNumber(line))
    cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock)
    place = page.editor.cursorRect(cursor)
    room = QRect(place.right() + 6, place.top() + 2, 400, place.height() - 4)
    return page.editor.viewport().grab(room).toImage()


def is_blank(image: QImage) -> bool:
    first = image.pixel(0, 0)
    return all(
        image.pixel(x, y) == first for x in range(image.width()) for y in range(image.height())
    )


def test_a_value_stands_behind_its_line_and_is_no_text(page: EditorPage, qtbot: QtBot) -> None:
    assert is_blank(behind(page, 7))
    show_values(page)
    assert page.editor.ghosts.values == {7: "default: Rome"}
    assert not is_blank(behind(page, 7))
    assert page.editor.text() == TEXT
    page.apply_settings(Settings(inline_values=False))
    assert is_blank(behind(page, 7))


def test_it_moves_with_its_line_and_goes_where_the_line_is_typed_in(page: EditorPage) -> None:
    show_values(page)
    page.editor.go_to_line(3, 1)
    QTest.keyClick(page.editor, Qt.Key.Key_Return)
    assert page.editor.ghosts.values == {8: "default: Rome"}
    page.editor.undo()
    assert page.editor.ghosts.values == {7: "default: Rome"}
    page.editor.go_to_line(8, 3)
    QTest.keyClicks(page.editor, "x")
    assert page.editor.ghosts.values == {}


def test_a_text_typed_meanwhile_keeps_no_place(page: EditorPage) -> None:
    preview = build_preview(PreviewJob(parse(page.editor.text())))
    page.editor.go_to_line(8, 1)
    QTest.keyClicks(page.editor, "x")
    page.show_values(inline_values(preview), preview.document.source)
    assert page.editor.ghosts.values == {}


def test_the_fix_of_the_carets_line_is_said_there(page: EditorPage, qtbot: QtBot) -> None:
    page.editor.load(TEXT.replace("{{ city }}", "{{ citty }}"))
    qtbot.waitUntil(lambda: any(each.fixes for each in page.editor.problems))
    page.editor.go_to_line(9)
    assert is_blank(behind(page, 7))
    page.editor.go_to_line(8)
    assert not is_blank(behind(page, 7))


class Painted(QObject):
    """Height of the highest part of a widget that was painted, in pixels."""

    height = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QPaintEvent):
            self.height = max(self.height, event.rect().height())
        return False


def test_a_fix_goes_from_the_screen_with_its_problem(page: EditorPage, qtbot: QtBot) -> None:
    page.editor.go_to_line(8)
    viewport, painted = page.editor.viewport(), Painted()
    for fixes in ({7: "Ctrl+.  Write endfor"}, {}):
        viewport.repaint()
        painted.height = 0
        viewport.installEventFilter(painted)
        page.editor.ghosts.show_fixes(fixes)
        qtbot.waitUntil(lambda: painted.height == viewport.height())
        viewport.removeEventFilter(painted)


def test_a_closed_second_view_hears_no_more_of_the_text(
    page: EditorPage, qtbot: QtBot, tmp_path: Path
) -> None:
    swaps = SwapFolder(tmp_path / "swap")
    twin = EditorPage(Notifications(), swaps, Settings(), twin=page)
    show_values(twin)
    ghosts = twin.editor.ghosts  # somebody still holds it, as a signal to Python does
    twin.hand_over(page)
    with qtbot.waitSignal(twin.destroyed):
        twin.deleteLater()
    assert ghosts.values
    page.editor.go_to_line(8, 1)
    QTest.keyClicks(page.editor, "x")
    assert page.editor.text() != TEXT
