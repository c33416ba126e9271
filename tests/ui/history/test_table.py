"""What a right click on the list of runs offers reaches the window as the buttons' asks do."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QDialog, QMenu
from pytestqt.qtbot import QtBot

from studio.core.runs.rows import RunSummary
from studio.ui.history.pane import HistoryPane

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")

RUN = RunSummary("a", 1.0, prompt="Agent", status="done", tags=("late",))


@pytest.fixture
def pane(qtbot: QtBot) -> HistoryPane:
    one = HistoryPane()
    one.resize(900, 300)
    qtbot.addWidget(one)
    one.show()
    return one


def choose(pane: HistoryPane, words: str) -> None:
    """Take what begins with some words of the menu of the chosen runs."""
    menu = pane.table.menu()
    actions = [*menu.actions()]
    for each in menu.actions():
        inside = each.menu()
        if isinstance(inside, QMenu):
            actions += inside.actions()
    action = next(each for each in actions if each.text().startswith(words))
    action.trigger()
    menu.deleteLater()


def test_the_menu_of_one_run_asks_for_what_can_be_done_with_it(
    pane: HistoryPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    pane.request_open.connect(asked.append)
    pane.request_pin.connect(lambda run, pinned: asked.append((run, pinned)))
    pane.request_export.connect(lambda run, form: asked.append((run.id, bool(form))))
    pane.request_delete.connect(asked.append)
    monkeypatch.setattr(HistoryPane, "confirm_delete", lambda self, runs: True)
    pane.show_runs([RUN])
    pane.table.selectRow(0)
    choose(pane, "Open")
    choose(pane, "Pin to the top")
    choose(pane, "Journal")
    choose(pane, "Delete")
    pane.show_runs([replace(RUN, pinned=True)])
    choose(pane, "Unpin")

    assert asked == ["a", ("a", True), ("a", True), ("a",), ("a", False)]


def test_the_menu_leads_to_tags_and_note(pane: HistoryPane) -> None:
    pane.show_runs([RUN, replace(RUN, id="b")])
    pane.table.selectRow(0)
    choose(pane, "Tags and note")
    choose(pane, "Rename the tag “late”")
    pane.table.selectAll()
    choose(pane, "Tags of 2 runs")
    shown = [each for each in pane.findChildren(QDialog) if each.isVisible()]
    for each in shown:
        each.close()
    assert sorted(each.windowTitle() for each in shown) == [
        "Rename a tag",
        "Tags and note: Agent",
        "Tags of 2 runs",
    ]


def test_no_menu_opens_where_no_run_is_chosen(pane: HistoryPane) -> None:
    pane.show_runs([RUN])
    pane.table.customContextMenuRequested.emit(pane.table.rect().center())
    assert pane.table.findChildren(QMenu) == []
