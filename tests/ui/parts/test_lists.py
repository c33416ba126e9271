"""Parts of the kit that lists are made of: rows with columns, lines to search by, split views."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHeaderView, QLabel, QTreeWidgetItem
from pytestqt.qtbot import QtBot

from studio.ui.parts.kit import row_list, search_line, split_of


def test_the_stretched_column_takes_the_room_that_fitted_ones_leave(qtbot: QtBot) -> None:
    rows = row_list("Problems", ("Problem", "Code"), 0, fitted=(1,))
    qtbot.addWidget(rows)
    rows.addTopLevelItem(QTreeWidgetItem(["a sentence", "a-code"]))
    modes = [rows.header().sectionResizeMode(column) for column in range(2)]
    assert modes == [QHeaderView.ResizeMode.Stretch, QHeaderView.ResizeMode.ResizeToContents]
    assert rows.accessibleName() == "Problems"
    assert not rows.rootIsDecorated()
    assert rows.headerItem().text(1) == "Code"


def test_a_line_to_search_by_is_named_by_its_words_or_by_a_name(qtbot: QtBot) -> None:
    line, other = search_line("Search"), search_line("Filter", "Filter files by name")
    for each in (line, other):
        qtbot.addWidget(each)
        assert each.isClearButtonEnabled()
    assert (line.placeholderText(), line.accessibleName()) == ("Search", "Search")
    assert other.accessibleName() == "Filter files by name"


def test_no_part_of_a_split_view_is_dragged_away(qtbot: QtBot) -> None:
    first, second = QLabel("one"), QLabel("two")
    split = split_of(first, second, stretch=(0, 1), sizes=(100, 300), is_column=True)
    qtbot.addWidget(split)
    split.resize(200, 800)
    split.show()
    assert split.orientation() == Qt.Orientation.Vertical
    split.moveSplitter(0, 1)
    assert first.height() > 0
    assert second.height() > 0
    assert split.indexOf(second) == 1
    assert second.sizePolicy().verticalStretch() == 1
