from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from studio.application.tools.saved_calls import (
    CallChange,
    CallsWritten,
    SavedCall,
    SavedCallsError,
    change_calls,
    read_calls,
    write_calls,
)
from studio.core.prompty.document import ToolId, ToolSpec
from studio.core.tools.registry import ToolEntry
from studio.core.tools.source import ToolOutcome
from studio.ui.tools.calls_dialog import CallsDialog

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")

ADD = ToolEntry(ToolSpec("add"))
CALLS = (
    SavedCall("one", ToolId("", "add"), {"a": 1}, "ok", "1"),
    SavedCall("two", ToolId("", "add"), {"a": 2}, "ok", "2"),
)
ROW = SavedCall("rows 1", ToolId("", "add"), {"a": 3})


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    return widget


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "trip.calls.jsonl"
    write_calls(path, CALLS)
    return path


def opened(parent: QWidget, file: Path | None = None, *, changing: bool = False) -> CallsDialog:
    def write(changes: Sequence[CallChange]) -> CallsWritten | None:
        return change_calls(file, changes) if file is not None else None

    dialog = CallsDialog(ADD, CALLS, lambda _: changing, write, parent)
    dialog.show()
    return dialog


def cell(dialog: CallsDialog, row: int, column: int) -> str:
    return str(dialog.rows.index(row, column).data())


def listed(dialog: CallsDialog) -> list[str]:
    return [cell(dialog, row, 0) for row in range(dialog.rows.rowCount())]


def result(dialog: CallsDialog, row: int) -> str:
    return cell(dialog, row, 3)


def look_at(dialog: CallsDialog, row: int) -> None:
    dialog.table.setCurrentIndex(dialog.rows.index(row, 0))


def test_saved_calls_are_tests_and_rows_become_saved_calls(
    qtbot: QtBot, parent: QWidget, file: Path
) -> None:
    dialog = opened(parent, file=file)
    dialog.add_rows((ROW,))
    with qtbot.waitSignal(dialog.request_make) as asked:
        dialog.run_button.click()
    assert asked.args == [(*CALLS, ROW)]
    assert not dialog.run_button.isEnabled()
    assert dialog.cancel_button.isVisible()
    dialog.show_began(0)
    assert result(dialog, 0) == "Running"
    for number, text in enumerate(("1", "22", "3")):
        dialog.show_ended(number, ToolOutcome(text, "ok", 0.01))
    dialog.show_all_ended()
    assert [result(dialog, row) for row in range(3)] == ["Unchanged", "$ is 22, not 2", "Done"]
    assert "changed: 1" in dialog.status.text()
    look_at(dialog, 1)
    assert (dialog.before.toPlainText(), dialog.now.toPlainText()) == ("2", "22")
    dialog.keep_button.click()
    assert [call.text for call in read_calls(file)] == ["1", "22", "3"]
    assert [result(dialog, row) for row in range(3)] == ["Unchanged"] * 3
    dialog.close()


def test_an_answer_is_kept_for_the_arguments_that_it_was_given_for(
    parent: QWidget, file: Path
) -> None:
    """Another program changed the call since: what was answered before is no answer of it."""
    dialog = opened(parent, file=file)
    dialog.run_button.click()
    dialog.show_ended(0, ToolOutcome("1", "ok", 0.01))
    elsewhere = (replace(CALLS[0], arguments={"a": 7}, text="7"), replace(CALLS[1], text="8"))
    write_calls(file, elsewhere)
    dialog.show_file(read_calls(file))
    dialog.show_ended(1, ToolOutcome("2", "ok", 0.01))
    dialog.show_all_ended()
    assert result(dialog, 0) == ""
    look_at(dialog, 0)
    dialog.keep_button.click()
    assert read_calls(file)[0] == elsewhere[0]
    dialog.close()


def test_what_is_compared_and_its_name_are_the_users_to_say(parent: QWidget, file: Path) -> None:
    dialog = opened(parent, file=file)
    dialog.compare.setCurrentIndex(2)
    dialog.compare.activated.emit(2)
    assert [call.compare for call in read_calls(file)] == ["status", "answer"]
    rename(dialog, 0, "first")
    assert [call.name for call in read_calls(file)] == ["first", "two"]
    rename(dialog, 0, "two")  # another call has it
    assert listed(dialog) == ["first", "two"]
    dialog.remove_button.click()
    assert [call.name for call in read_calls(file)] == ["two"]
    assert listed(dialog) == ["two"]
    dialog.close()


def rename(dialog: CallsDialog, row: int, name: str) -> None:
    dialog.rows.setData(dialog.rows.index(row, 0), name)


def test_what_another_program_wrote_meanwhile_stays(parent: QWidget, file: Path) -> None:
    dialog = opened(parent, file=file)
    dialog.add_rows((ROW,))
    added = SavedCall("three", ToolId("", "add"), {"a": 5}, "ok", "5")
    write_calls(file, (CALLS[0], added))  # its list still shows "two", which is gone by now
    rename(dialog, 0, "first")
    assert [call.name for call in read_calls(file)] == ["first", "three"]
    assert listed(dialog) == ["first", "two", "rows 1", "three"]
    assert [call.text for call in dialog.calls] == ["1", "2", "", "5"]
    look_at(dialog, 1)
    assert dialog.before.toPlainText() == ""  # no saved answer any more, and yet not lost
    dialog.close()


def test_a_call_that_another_program_changed_is_not_written_over(
    parent: QWidget, file: Path
) -> None:
    dialog = opened(parent, file=file)
    theirs = SavedCall("one", ToolId("", "add"), {"a": 7}, "ok", "7")
    write_calls(file, (theirs, CALLS[1]))
    dialog.compare.activated.emit(dialog.compare.findData("status"))
    ours = SavedCall("one 2", ToolId("", "add"), {"a": 1}, "ok", "1", "status")
    assert read_calls(file) == (theirs, CALLS[1], ours)
    assert "one" in dialog.status.text()
    assert sorted(listed(dialog)) == ["one", "one 2", "two"]
    write_calls(file, (theirs, SavedCall("two", ToolId("", "add"), {"a": 8}, "ok", "8"), ours))
    look_at(dialog, listed(dialog).index("two"))
    dialog.remove_button.click()
    assert [call.text for call in read_calls(file)] == ["7", "8", "1"]
    assert "two" in dialog.status.text()
    assert [call.text for call in dialog.calls if call.name == "two"] == ["8"]
    dialog.close()


def test_what_could_not_be_written_is_not_shown_as_written(parent: QWidget, file: Path) -> None:
    file.write_text("{", encoding="utf-8")
    said: list[str] = []

    def write(changes: Sequence[CallChange]) -> None:
        try:
            change_calls(file, changes)
        except SavedCallsError as error:
            said.append(str(error))

    dialog = CallsDialog(ADD, CALLS, lambda _: False, write, parent)
    dialog.show()
    rename(dialog, 0, "first")
    dialog.remove_button.click()
    assert len(said) == 2
    assert "line 1" in said[0]
    assert listed(dialog) == ["one", "two"]
    assert file.read_text(encoding="utf-8") == "{"
    dialog.close()


def test_calls_that_change_something_are_asked_about(qtbot: QtBot, parent: QWidget) -> None:
    dialog = opened(parent, changing=True)
    with qtbot.assertNotEmitted(dialog.request_make):
        dialog.run_button.click()
    assert "may have side effects" in dialog.status.text()
    with qtbot.waitSignal(dialog.request_make):
        dialog.run_button.click()
    dialog.show_all_ended()
    assert result(dialog, 0) == ""
    dialog.close()


def test_a_call_that_another_program_renamed_keeps_its_row(parent: QWidget, file: Path) -> None:
    dialog = opened(parent, file=file)
    dialog.run_button.click()
    dialog.show_ended(0, ToolOutcome("1", "ok", 0.01))
    dialog.show_all_ended()
    write_calls(file, (replace(CALLS[0], name="first"), CALLS[1]))
    dialog.show_file(read_calls(file))
    assert listed(dialog) == ["first", "two"]
    assert result(dialog, 0) == "Unchanged"
    dialog.close()
