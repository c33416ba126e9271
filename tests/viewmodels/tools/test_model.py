from __future__ import annotations

import time
from dataclasses import replace

from PySide6.QtCore import QPersistentModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from studio.core.prompty.document import ToolId, ToolSpec
from studio.core.tools.registry import FixedMock, ToolEntry, ToolRegistry
from studio.viewmodels.tools.controller import ToolsModel

ADD = ToolId("python:x", "add")
ENTRIES = (
    ToolEntry(ToolSpec("add", id=ADD), runner_label="x.py", last_used=1.0, calls=3),
    ToolEntry(ToolSpec("ask"), declared=False, mock=FixedMock(1), enabled=False, approval="always"),
    ToolEntry(ToolSpec("lost", has_effects=True), problem="nothing runs it"),
)


def test_rows_say_what_a_call_would_do(qtbot: QtBot) -> None:
    model = ToolsModel()
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    # Used when the test runs, not when the whole run began minutes ago.
    model.show_entries((replace(ENTRIES[0], last_used=time.time()), *ENTRIES[1:]))
    rows = [[model.index(row, column).data() for column in range(9)] for row in range(3)]
    assert rows == [
        ["add", "ready", "x.py", "", "", "front matter", "allowed", "unknown", "just now, 3 calls"],
        ["ask", "mocked", "document", "", "", "", "always ask", "", ""],
        ["lost", "not bound", "document", "", "", "front matter", "allowed", "has effects", ""],
    ]
    role = Qt.ItemDataRole.CheckStateRole
    assert Qt.CheckState(model.index(1, 0).data(role)) == Qt.CheckState.Unchecked
    assert model.index(2, 0).data(Qt.ItemDataRole.ToolTipRole) == "nothing runs it"


def test_ticking_asks_and_does_not_decide(qtbot: QtBot) -> None:
    model = ToolsModel()
    model.show_entries(ENTRIES)
    with qtbot.waitSignal(model.request_enabled) as blocker:
        model.setData(
            model.index(0, 0), Qt.CheckState.Unchecked.value, Qt.ItemDataRole.CheckStateRole
        )
    assert blocker.args == [ADD, False]
    entry = model.entry(0)
    assert entry is not None
    assert entry.enabled


def test_equal_rows_keep_their_place(qtbot: QtBot) -> None:
    model = ToolsModel()
    model.show_entries(ENTRIES)
    with qtbot.assertNotEmitted(model.modelReset), qtbot.waitSignal(model.dataChanged):
        model.show_entries(ToolRegistry(ENTRIES).change(ToolId("", "ask"), enabled=True).entries)
    assert model.row_of(ToolId("", "lost")) == 2
    assert model.row_of(ToolId("", "gone")) == -1


def test_rows_are_sorted_and_stand_as_they_were_again(qtbot: QtBot) -> None:
    model = ToolsModel()
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.show_entries(ENTRIES)
    chosen = QPersistentModelIndex(model.index(0, 0))
    model.sort(0, Qt.SortOrder.DescendingOrder)
    assert [entry.name for entry in model.rows] == ["lost", "ask", "add"]
    assert chosen.row() == 2
    model.sort(8)
    assert model.rows[0].name == "add"
    model.show_entries(ENTRIES[1:])
    assert [entry.name for entry in model.rows] == ["ask", "lost"]
    model.sort(-1)
    model.show_entries(ENTRIES)
    assert model.rows == ENTRIES
