"""An experiment in the real window: run it, look at a cell, step through it, accept an answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QImage, QPainter, QStandardItemModel
from PySide6.QtWidgets import QLabel, QStyle, QStyleOptionViewItem
from pytestqt.qtbot import QtBot

from studio.application.experiments.grid import DotState, ExperimentGrid, GridCell, grid_of
from studio.core.agent.values.step import PausePoint
from studio.core.experiments.results.cells import CellKey
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.ui.app.workbench import Workbench
from studio.ui.experiments.grid_view import CellDelegate
from studio.ui.experiments.rating import BlindDialog
from studio.ui.experiments.view import ExperimentView
from studio.viewmodels.app.notifications import Notification
from studio.viewmodels.experiments.grid_model import CELL_ROLE, cell_words
from studio.viewmodels.experiments.result_answers import AnswerPair
from tests.application.experiments.conftest import EXPERIMENT, PROMPT, ROWS
from tests.support import patience

REPLIES = ["Oslo", "Bergen", "Rome", "Rome", "Lima", "Cuzco"]


@pytest.fixture
def experiment(user_home: Path, tmp_path: Path) -> Path:
    """A folder with an experiment on a scripted model, one request at a time."""
    script = user_home / "script.json"
    script.write_text(json.dumps(REPLIES[::2]), encoding="utf-8")
    (user_home / "config").mkdir(parents=True, exist_ok=True)
    (user_home / "config" / "connections.toml").write_text(
        '[[connection]]\nname = "small"\nkind = "scripted"\n'
        f"settings = {{ script = {json.dumps(str(script))} }}\n"
    )
    (tmp_path / "capital.prompty").write_text(PROMPT)
    path = tmp_path / "capital.experiment.yaml"
    path.write_text(EXPERIMENT + "evaluateOptions: {maxConcurrency: 1}\n")
    (tmp_path / "rows.csv").write_text(ROWS.replace("Lima", "Quito"))
    return path


def opened(qtbot: QtBot, workbench: Workbench, path: Path) -> ExperimentView:
    workbench.window.tabs.open(path)
    view = workbench.window.tabs.sides.active.currentWidget()
    assert isinstance(view, ExperimentView)
    qtbot.waitUntil(
        lambda: view.controller.plan is not None and bool(view.head.heading.text()),
        timeout=patience.MS,
    )
    return view


def ran(qtbot: QtBot, view: ExperimentView) -> None:
    before = view.controller.result
    qtbot.mouseClick(view.run_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(
        lambda: (
            not view.controller.is_running
            and view.controller.result != before
            and view.controller.report is not None
            and view.controller.report.is_whole
        ),
        timeout=patience.MS,
    )


def settle(qtbot: QtBot, workbench: Workbench) -> None:
    """Wait until all that threads read for the window is read, and told."""

    async def others() -> None:
        reading = [
            task
            for task in asyncio.all_tasks()
            if getattr(task.get_coro(), "__name__", "") == "to_thread"
        ]
        if reading:
            await asyncio.wait(reading)

    told: list[object] = []
    workbench.background.start(others(), told.append)
    qtbot.waitUntil(lambda: bool(told), timeout=patience.MS)


def cell(view: ExperimentView, row: int, variant: int) -> GridCell:
    found = view.controller.model.index_of(row, variant).data(CELL_ROLE)
    assert isinstance(found, GridCell)
    return found


def test_beside_a_run_the_grid_has_all_the_room(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], experiment: Path
) -> None:
    view = opened(qtbot, open_workbench(), experiment)
    ran(qtbot, view)
    assert view.detail.isVisible()
    view.resize(380, 690)
    assert not view.detail.isVisible()
    view.resize(380, 800)  # it has room below
    assert view.detail.isVisible()
    view.resize(900, 690)
    assert view.detail.isVisible()


def test_an_experiment_is_a_tab_that_runs(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], experiment: Path
) -> None:
    workbench = open_workbench()
    view = opened(qtbot, workbench, experiment)
    assert "Not run yet" in view.head.heading.text()
    ran(qtbot, view)
    assert view.head.heading.text().startswith("edit passes 67 % of 3 rows")
    assert [cell(view, row, 0).dots[0] for row in (1, 2, 3)] == [
        DotState.PASSED,
        DotState.PASSED,
        DotState.FAILED,
    ]
    view.filters.buttons["failed"].click()
    assert view.controller.model.rowCount() == 1
    view.filters.buttons["all"].click()
    view.table.setCurrentIndex(view.controller.model.index_of(3, 1))
    qtbot.waitUntil(lambda: view.detail.answer.toPlainText() == "Lima", timeout=patience.MS)
    assert view.detail.checks.count() == 1
    words = view.detail.checks.itemAt(0).widget().findChildren(QLabel)[-1]
    assert "does not contain" in words.text()
    qtbot.waitUntil(  # the reason is not cut off
        lambda: words.height() >= words.heightForWidth(words.width()), timeout=patience.MS
    )
    workbench.window.tabs.close_view(view)
    assert not workbench.window.tabs.sides.has_tabs


def test_before_its_first_run_the_rows_wait_in_the_grid(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], experiment: Path
) -> None:
    text = experiment.read_text()
    experiment.write_text("prompts: [gone.prompty]\n")
    workbench = open_workbench()
    workbench.window.tabs.open(experiment)
    view = workbench.window.tabs.sides.active.currentWidget()
    assert isinstance(view, ExperimentView)
    qtbot.waitUntil(lambda: "gone.prompty" in view.head.status_label.text(), timeout=patience.MS)
    assert not view.run_button.isEnabled()
    qtbot.mouseClick(view.file_button, Qt.MouseButton.LeftButton)
    editing = workbench.window.tabs.current
    assert editing is not None
    editing.editor.selectAll()
    editing.editor.insertPlainText(text)
    assert editing.save()
    workbench.window.tabs.open(experiment)
    qtbot.waitUntil(lambda: view.controller.model.rowCount() == 3, timeout=patience.MS)
    assert cell(view, 3, 1).dots == (DotState.WAITING,)
    assert view.controller.model.index(0, 1).data() == "Norway"
    view.run_button.setFocus()
    ran(qtbot, view)
    assert view.controller.model.rowCount() == 3


def test_a_cell_is_stepped_through_with_its_row_and_its_prompt(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], experiment: Path
) -> None:
    workbench = open_workbench()
    view = opened(qtbot, workbench, experiment)
    ran(qtbot, view)
    view.table.setCurrentIndex(view.controller.model.index_of(2, 1))
    qtbot.waitUntil(
        lambda: view.detail.key is not None and view.detail.key.row == 2, timeout=patience.MS
    )
    assert "To be sent" not in view.head.status_label.text()  # it was sent
    qtbot.keyClick(view.table, Qt.Key.Key_F10)

    def stands() -> bool:
        state = workbench.run.state
        return state is not None and state.pause is not None

    qtbot.waitUntil(stands, timeout=patience.MS)
    state = workbench.run.state
    assert state is not None
    assert state.place == PausePoint.BEFORE_REQUEST
    assert state.setup.inputs["country"] == "Italy"
    assert "Answer shortly." in state.setup.source
    # The keys are for the run now: F5 would run the whole experiment in the table.
    assert workbench.run_pane.isAncestorOf(workbench.window.focusWidget())
    # What was kept of the cell opens as a run of the history.
    view.detail.run_button.click()
    qtbot.waitUntil(
        lambda: workbench.run.past is not None and workbench.run.past.state.answer == "Rome",
        timeout=patience.MS,
    )
    # It is worth keeping: a case of the prompt, which can be taken back.
    cases = experiment.with_name("capital.cases.csv")
    said: list[Notification] = []
    workbench.window.services.messages.noticed.connect(said.append)
    workbench.window.actions_by_id["run.keep_row"].trigger()
    assert cases.read_bytes() == b"country,expected\nItaly,Rome\n"
    next(each for each in said[-1].offers if each.title == "Undo").act()
    assert not cases.exists()


def test_an_accepted_answer_flips_the_cell_and_is_taken_back(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], experiment: Path
) -> None:
    workbench = open_workbench()
    view = opened(qtbot, workbench, experiment)
    ran(qtbot, view)
    view.table.setCurrentIndex(view.controller.model.index_of(3, 0))
    qtbot.waitUntil(
        lambda: view.detail.key is not None and view.detail.key.row == 3, timeout=patience.MS
    )
    rows = experiment.with_name("rows.csv")
    before = rows.read_bytes()
    view.detail.accept_button.click()
    assert b"Peru,Lima" in rows.read_bytes()
    ran(qtbot, view)
    assert cell(view, 3, 0).dots == (DotState.PASSED,)
    assert view.head.heading.text().startswith("edit passes 100 %")
    view.controller.answers.undo_accept()
    assert rows.read_bytes() == before


def test_an_answer_is_rated_by_hand(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], experiment: Path
) -> None:
    workbench = open_workbench()
    view = opened(qtbot, workbench, experiment)
    ran(qtbot, view)
    view.table.setCurrentIndex(view.controller.model.index_of(2, 1))
    qtbot.waitUntil(view.detail.rating.isVisible, timeout=patience.MS)
    qtbot.keyClick(view.table, Qt.Key.Key_4, Qt.KeyboardModifier.AltModifier)
    assert view.detail.rating.points[3].isChecked()
    qtbot.keyClick(view.table, Qt.Key.Key_2, Qt.KeyboardModifier.AltModifier)
    view.detail.rating.fails.click()
    view.detail.rating.note.setText("too short")
    view.detail.rating.note.editingFinished.emit()
    view.table.setCurrentIndex(view.controller.model.index_of(1, 1))
    qtbot.waitUntil(lambda: view.detail.key == CellKey(1, 1, 1), timeout=patience.MS)
    assert not view.detail.rating.points[1].isChecked()
    assert view.detail.rating.note.text() == ""
    view.table.setCurrentIndex(view.controller.model.index_of(2, 1))
    qtbot.waitUntil(lambda: view.detail.key == CellKey(1, 2, 1), timeout=patience.MS)
    assert view.detail.rating.points[1].isChecked()
    assert view.detail.rating.fails.isChecked()
    assert view.detail.rating.note.text() == "too short"


def test_what_a_file_has_wrong_is_said_in_the_tab(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], experiment: Path
) -> None:
    experiment.write_text(experiment.read_text().replace("type: contains", "type: contians"))
    workbench = open_workbench()
    workbench.window.tabs.open(experiment)
    view = workbench.window.tabs.sides.active.currentWidget()
    assert isinstance(view, ExperimentView)
    qtbot.waitUntil(lambda: "contians" in view.head.status_label.text(), timeout=patience.MS)
    assert "Did you mean 'contains'?" in view.head.status_label.text()
    assert not view.run_button.isEnabled()


def test_every_cell_is_told_in_words(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], experiment: Path
) -> None:
    view = opened(qtbot, open_workbench(), experiment)
    ran(qtbot, view)
    model = view.controller.model
    words = [
        model.index_of(row, variant).data(Qt.ItemDataRole.AccessibleTextRole)
        for row in (1, 3)
        for variant in (0, 1)
    ]
    assert words == ["1 pass: Oslo", "1 pass: Oslo", "1 fail: Lima", "1 fail: Lima"]
    assert "main: 67 % of 3 rows" in view.head.chart.accessibleDescription()


@pytest.mark.parametrize("change", ["won", "lost"])
def test_the_focused_cell_that_changed_stays_readable(qtbot: QtBot, change: str) -> None:
    cell = GridCell((DotState.PASSED,) * 3, 0.5, change)
    model = QStandardItemModel(1, 1)
    model.setData(model.index(0, 0), cell, CELL_ROLE)
    delegate = CellDelegate()
    pictures = []
    for state in (QStyle.StateFlag.State_Enabled, QStyle.StateFlag.State_HasFocus):
        option = QStyleOptionViewItem()
        option.rect, option.state = QRect(0, 0, 120, 32), state
        picture = QImage(120, 32, QImage.Format.Format_RGB32)
        painter = QPainter(picture)
        delegate.paint(painter, option, model.index(0, 0))
        painter.end()
        pictures.append(picture.copy(4, 4, 112, 24))  # without the frame
    assert pictures[0] == pictures[1]


def test_a_cell_of_a_row_for_other_variants_is_told_as_not_planned() -> None:
    assert cell_words(GridCell((DotState.NOT_PLANNED,) * 2, None, "")) == "2 not planned"


def test_rows_are_found_by_what_fails_and_below_a_line_for_each_value(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], experiment: Path
) -> None:
    view = opened(qtbot, open_workbench(), experiment)
    ran(qtbot, view)
    slow = view.filters.buttons["slow"]
    qtbot.waitUntil(lambda: slow.text() != "Slow", timeout=patience.MS)
    by = view.filters.by
    assert [by.itemText(at) for at in range(by.count())][:2] == ["No groups", "By country"]
    by.activated.emit(1)
    model = view.controller.model
    lines = [model.index(at, 0).data() for at in range(model.rowCount())]
    assert lines == ["Peru   1 row", "3", "Norway   1 row", "1", "Italy   1 row", "2"]
    assert model.index(0, model.first_variant).data() == "0 pass"
    view.table.setCurrentIndex(model.index(0, 0))
    qtbot.keyClick(view.table, Qt.Key.Key_Return)
    assert model.shown_rows == (1, 2)
    assert [model.index(at, 0).data() for at in (0, 1)] == ["Peru   1 row", "Norway   1 row"]
    by.activated.emit(0)
    assert [model.index(at, 0).data() for at in range(3)] == ["1", "2", "3"]
    slow.click()
    assert 0 < view.controller.model.rowCount() < 3
    view.filters.buttons["all"].click()
    assert not view.filters.nothing.isVisible()
    view.filters.search.setText("no row has this")
    assert view.controller.model.rowCount() == 0
    assert view.filters.nothing.isVisible()
    view.filters.search.clear()
    assert not view.filters.nothing.isVisible()
    view.table.setFocus()
    qtbot.keyClick(view.table, Qt.Key.Key_2)
    assert view.controller.model.shown_rows == (3, 1, 2)
    qtbot.keyClick(view.table, Qt.Key.Key_2)
    assert view.controller.model.shown_rows == (1, 2, 3)


def test_the_keys_that_run_are_those_of_the_whole_tab(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], experiment: Path
) -> None:
    workbench = open_workbench()
    view = opened(qtbot, workbench, experiment)
    focused = workbench.window.focusWidget()
    assert focused is not None
    assert view.isAncestorOf(focused) or focused is view
    view.filters.search.setFocus()
    qtbot.keyClick(view.filters.search, Qt.Key.Key_F5)
    qtbot.waitUntil(
        lambda: (
            not view.controller.is_running
            and view.controller.report is not None
            and view.controller.report.is_whole
        ),
        timeout=patience.MS,
    )


def test_two_answers_are_compared_without_names(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], experiment: Path
) -> None:
    view = opened(qtbot, open_workbench(), experiment)
    ran(qtbot, view)
    model = view.controller.model
    assert model.grid is not None
    pairs = [AnswerPair(3, (0, 1), ("Lima", "Cuzco")), AnswerPair(2, (0, 1), ("Rom", "Rome"))]
    dialog = BlindDialog(pairs, model.grid.variants, {2: "Italy", 3: "Peru"}, view)
    qtbot.addWidget(dialog)
    dialog.chosen.connect(view.controller.answers.prefer)
    dialog.show()
    names = dialog.question.text() + dialog.left.toPlainText() + dialog.right.toPlainText()
    assert "main" not in names
    for better in ("Lima", "Rome"):
        is_left = dialog.left.toPlainText() == better
        qtbot.keyClick(dialog, Qt.Key.Key_1 if is_left else Qt.Key.Key_2)
    assert sorted(dialog.summary.removeprefix("Better: ").split("; ")[0].split(", ")) == [
        "edit 1",
        "main 1",
    ]
    qtbot.waitUntil(
        lambda: (
            "In blind comparisons, main was better 1 times, edit 1 times" in view.head.more.text()
        ),
        timeout=patience.MS,
    )


def test_after_an_edit_only_the_rows_that_failed_are_asked_and_the_cell_flips(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], experiment: Path
) -> None:
    view = opened(qtbot, open_workbench(), experiment)
    ran(qtbot, view)
    assert cell(view, 3, 0).dots == (DotState.FAILED,)
    prompt = experiment.with_name("capital.prompty")
    prompt.write_text(prompt.read_text().replace("one word", "Quechua"))
    experiment.with_name("rows.csv").write_text(ROWS)  # Lima is what is expected
    before = view.controller.result
    view.again_button.click()
    qtbot.waitUntil(
        lambda: (
            not view.controller.is_running
            and view.controller.result != before
            and view.controller.report is not None
            and view.controller.report.is_whole
        ),
        timeout=patience.MS,
    )
    assert view.controller.model.rowCount() == 1
    assert cell(view, 1, 1).dots == (DotState.PASSED,)


def test_the_result_chosen_last_is_shown_whichever_is_read_first(
    qtbot: QtBot,
    open_workbench: Callable[[], Workbench],
    experiment: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    workbench = open_workbench()
    view = opened(qtbot, workbench, experiment)
    ran(qtbot, view)
    first = view.controller.result
    ran(qtbot, view)
    second = view.controller.result
    assert first is not None
    assert second is not None
    is_read = Event()

    def slow(ledger: ExperimentLedger, result: int) -> ExperimentGrid:
        if result == first:
            is_read.wait(patience.SECONDS)
        return grid_of(ledger, result)

    monkeypatch.setattr("studio.viewmodels.experiments.controller.grid_of", slow)
    view.controller.load(first)
    with qtbot.waitSignal(view.controller.loaded, timeout=patience.MS):
        view.controller.load(second)
    is_read.set()
    settle(qtbot, workbench)
    assert view.controller.result == second
