"""The palette of choices."""

from __future__ import annotations

from PySide6.QtCore import QRect
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from studio.ui.window.examples import bundled
from studio.ui.window.palette import CommandPalette, PaletteItem, detail_room


def test_no_description_is_painted_over_a_name(qapp: QApplication) -> None:
    metrics = QFontMetrics(QFont())
    for width in (240, 420, 600):
        row = QRect(0, 0, width, 34)
        for each in bundled("templates"):
            name = metrics.horizontalAdvance(each.name)
            room = detail_room(row, name)
            assert room.left() >= min(width - 10, name + 16 + 16)  # behind icon and name
            assert room.right() <= row.right()
            assert room.width() >= 0


def test_the_published_prompts_are_offered_by_their_names() -> None:
    names = {"Prompt section", "ReAct agent (TrustGraph)", "Instructions prompt (Cheshire Cat)"}
    for folder in ("examples", "templates"):
        assert names <= {each.name for each in bundled(folder)}


def test_a_path_finds_a_file_and_a_prompt_stands_before_its_data(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    palette = CommandPalette(window)
    names = ("chat-1.json", "chat-1.prompty", "chat-1.py")
    choices = [
        PaletteItem(each, list, "src/api", lead=9 * each.endswith("prompty")) for each in names
    ]
    palette.ask("", choices)

    def found(query: str) -> list[str]:
        palette._field.setText(query)
        return [palette._list.item(row).text() for row in range(palette._list.count())]

    assert found("chat-1")[0] == "chat-1.prompty"
    assert found("chat-1.py")[0] == "chat-1.py"
    assert found("api/chat-1.prompty") == ["chat-1.prompty"]
    assert found("web/chat-1") == []
