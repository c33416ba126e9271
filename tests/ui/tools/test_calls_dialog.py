from __future__ import annotations

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from studio.application.tools.saved_calls import SavedCall
from studio.core.tools.source import ToolOutcome
from studio.ui.tools.calls_dialog import CallsDialog

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")

CALLS = (
    SavedCall("one", "add", {"a": 1}, "ok", "1"),
    SavedCall("two", "add", {"a": 2}, "ok", "2"),
)
ROW = SavedCall("rows 1", "add", {"a": 3})


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    return widget


def opened(parent: QWidget, changing: frozenset[str] = frozenset()) -> CallsDialog:
    dialog = CallsDialog("add", CALLS, changing, parent)
    dialog.show()
    return dialog


def result(dialog: CallsDialog, row: int) -> str:
    item = dialog.table.topLevelItem(row)
    assert item is not None
    return item.text(3)


def test_saved_calls_are_tests_and_rows_become_saved_calls(qtbot: QtBot, parent: QWidget) -> None:
    dialog = opened(parent)
    dialog.add_rows((ROW,))
    with qtbot.waitSignal(dialog.request_make) as asked:
        dialog.run_button.click()
    assert asked.args == [(("add", {"a": 1}), ("add", {"a": 2}), ("add", {"a": 3}))]
    assert not dialog.run_button.isEnabled()
    assert dialog.cancel_button.isVisible()
    dialog.show_began(0)
    assert result(dialog, 0) == "Running"
    for number, text in enumerate(("1", "22", "3")):
        dialog.show_ended(number, ToolOutcome(text, "ok", 0.01))
    dialog.show_all_ended()
    assert [result(dialog, row) for row in range(3)] == ["As it was", "$ is 22, not 2", "Done"]
    assert "not as they were: 1" in dialog.status.text()
    dialog.table.setCurrentItem(dialog.table.topLevelItem(1))
    assert (dialog.before.toPlainText(), dialog.now.toPlainText()) == ("2", "22")
    with qtbot.waitSignal(dialog.request_write) as written:
        dialog.keep_button.click()
    assert [call.text for call in written.args[0]] == ["1", "22", "3"]
    assert [result(dialog, row) for row in range(3)] == ["As it was"] * 3
    dialog.close()


def test_what_is_compared_and_its_name_are_the_users_to_say(qtbot: QtBot, parent: QWidget) -> None:
    dialog = opened(parent)
    with qtbot.waitSignal(dialog.request_write) as written:
        dialog.compare.setCurrentIndex(2)
        dialog.compare.activated.emit(2)
    assert [call.compare for call in written.args[0]] == ["status", "answer"]
    item = dialog.table.topLevelItem(0)
    assert item is not None
    with qtbot.waitSignal(dialog.request_write) as written:
        item.setText(0, "first")
    assert [call.name for call in written.args[0]] == ["first", "two"]
    item.setText(0, "two")  # another call has it
    assert item.text(0) == "first"
    with qtbot.waitSignal(dialog.request_write) as written:
        dialog.remove_button.click()
    assert [call.name for call in written.args[0]] == ["two"]
    dialog.close()


def test_calls_that_change_something_are_asked_about(qtbot: QtBot, parent: QWidget) -> None:
    dialog = opened(parent, frozenset({"add"}))
    with qtbot.assertNotEmitted(dialog.request_make):
        dialog.run_button.click()
    assert "may change something" in dialog.status.text()
    with qtbot.waitSignal(dialog.request_make):
        dialog.run_button.click()
    dialog.show_all_ended()
    assert result(dialog, 0) == ""
    dialog.close()
