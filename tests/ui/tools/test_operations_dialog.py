"""Operations are ticked by group, by search and by selection, and their cost is told."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTreeWidgetItem, QWidget
from pytestqt.qtbot import QtBot

from studio.core.tools.openapi.loading import OperationRow
from studio.ui.style.theme import LIGHT
from studio.ui.tools.add_server import OperationsDialog
from tests.support.themes import wear

ON, OFF, PART = Qt.CheckState.Checked, Qt.CheckState.Unchecked, Qt.CheckState.PartiallyChecked


def row(number: int, *, chosen: bool = True) -> OperationRow:
    tag = f"group{number % 3}"
    return OperationRow(
        f"op{number}", f"op{number}", "GET", f"/p/{number}", tag, (tag,), "", 10, chosen
    )


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    return made


def group(dialog: OperationsDialog, place: int) -> QTreeWidgetItem:
    item = dialog.tree.topLevelItem(place)
    assert item is not None
    return item


def test_groups_have_three_states_and_search_ticks_what_it_lists(
    qtbot: QtBot, parent: QWidget
) -> None:
    rows = [row(number) for number in range(150)]
    dialog = OperationsDialog("api", rows, parent)
    dialog.open()
    assert "150 of 150 selected, about 1,500 tokens" in dialog.meter.text()
    assert "128" in dialog.meter.text()
    group(dialog, 0).setCheckState(0, OFF)
    assert len(dialog.wanted()) == 100
    dialog.none_button.click()
    assert not dialog.write_button.isEnabled()
    dialog.search.setText("/p/3")
    assert group(dialog, 1).isHidden() is False
    dialog.all_button.click()
    dialog.search.setText("")
    assert dialog.wanted() == {"op3", *(f"op{number}" for number in range(30, 40))}
    assert group(dialog, 0).checkState(0) == PART
    assert "128" not in dialog.meter.text()
    with qtbot.waitSignal(dialog.chosen) as told:
        dialog.write_button.click()
    assert len(told.args[0]) == 11


def test_search_finds_what_the_description_calls_an_operation(
    qtbot: QtBot, parent: QWidget
) -> None:
    made = replace(row(1), name="issues_list", identifier="issues/list", is_large=True)
    dialog = OperationsDialog("api", [made, row(2)], parent)
    dialog.open()
    dialog.search.setText("issues/list")
    found = [item for item in (group(dialog, 0), group(dialog, 1)) if not item.isHidden()]
    assert [item.child(0).text(0) for item in found] == ["issues_list"]
    assert "20 KB" in found[0].child(0).toolTip(3)
    dialog.close()


def test_space_ticks_all_that_are_selected(qtbot: QtBot, parent: QWidget) -> None:
    dialog = OperationsDialog("api", [row(n, chosen=False) for n in range(9)], parent)
    dialog.open()
    items = group(dialog, 0)
    items.setExpanded(True)
    for number in (0, 1):
        items.child(number).setSelected(True)
    qtbot.keyClick(dialog.tree, Qt.Key.Key_Space)
    assert len(dialog.wanted()) == 2
    qtbot.keyClick(dialog.tree, Qt.Key.Key_Space)
    assert not dialog.wanted()
    dialog.reject()


def test_rows_are_as_high_as_those_of_other_lists(qtbot: QtBot, parent: QWidget) -> None:
    wear(LIGHT)
    dialog = OperationsDialog(
        "api", [replace(row(number), tag="one") for number in range(3)], parent
    )
    dialog.open()
    (head,) = (group(dialog, at) for at in range(dialog.tree.topLevelItemCount()))
    heights = {dialog.tree.visualItemRect(head.child(at)).height() for at in range(3)}
    assert heights == {dialog.tree.visualItemRect(head).height()} == {24}
    dialog.close()
