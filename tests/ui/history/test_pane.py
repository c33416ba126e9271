from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from studio.application.history.rows import HEADS
from studio.core.runs.rows import RunSummary
from studio.ui.history.pane import HistoryPane, NotesDialog, RetentionDialog
from studio.ui.style.application import apply_theme
from studio.ui.style.theme import LIGHT

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")

RUNS = (
    RunSummary("a", 1.0, prompt="ReAct agent", question="What?", status="done", answer="Paris"),
    RunSummary("b", 2.0, prompt="Chat", status="failed"),
)


@pytest.fixture
def pane(qtbot: QtBot, qapp: QApplication) -> HistoryPane:
    apply_theme(qapp, LIGHT)
    one = HistoryPane()
    one.resize(1200, 300)
    qtbot.addWidget(one)
    one.show()
    return one


def test_an_empty_history_says_how_runs_come_here(pane: HistoryPane) -> None:
    pane.show_runs(())

    assert pane._empty.isVisible()
    assert "Press Run (F5)" in pane._empty.text()


def test_a_filter_that_finds_nothing_says_so(pane: HistoryPane, qtbot: QtBot) -> None:
    asked: list[tuple[str, str]] = []
    pane.request_filter.connect(lambda words, status: asked.append((words, status)))
    qtbot.keyClicks(pane.filter, "x")
    pane.ends.setCurrentText("failed")
    pane.show_runs(())

    assert asked == [("x", ""), ("x", "failed")]
    assert pane._empty.text() == "No run matches the filter."


def test_a_run_is_opened_by_return_and_by_double_click(pane: HistoryPane, qtbot: QtBot) -> None:
    opened: list[str] = []
    pane.request_open.connect(opened.append)
    pane.show_runs(RUNS)
    pane.table.selectRow(0)
    with qtbot.waitActive(pane):
        pane.activateWindow()
    pane.table.setFocus()
    qtbot.keyClick(pane.table, Qt.Key.Key_Return)
    place = pane.table.visualRect(pane.model.index(1, 0)).center()
    qtbot.mouseClick(pane.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.mouseDClick(pane.table.viewport(), Qt.MouseButton.LeftButton, pos=place)

    assert opened == ["a", "b"]


def test_the_answer_of_the_chosen_run_is_shown(pane: HistoryPane) -> None:
    pane.show_runs(RUNS)
    pane.table.selectRow(0)
    assert pane.footer._answer.whole == "Answer: Paris"
    pane.show_runs(RUNS[1:])
    assert pane.footer._answer.whole == ""
    assert not pane.open_button.isEnabled()


def test_deleting_asks_first(pane: HistoryPane, monkeypatch: pytest.MonkeyPatch) -> None:
    deleted: list[tuple[str, ...]] = []
    pane.request_delete.connect(deleted.append)
    pane.show_runs(RUNS)
    pane.table.selectAll()
    answers = iter((False, True))
    monkeypatch.setattr(HistoryPane, "confirm_delete", lambda self, runs: next(answers))
    pane.delete_button.click()
    assert deleted == []
    pane.delete_button.click()

    assert deleted == [("a", "b")]


def test_two_chosen_runs_are_compared_the_older_one_first(pane: HistoryPane) -> None:
    asked: list[tuple[str, str]] = []
    pane.request_compare.connect(lambda one, two: asked.append((one, two)))
    pane.show_runs(RUNS[::-1])
    assert not pane.compare_button.isEnabled()
    pane.table.selectAll()
    pane.compare_button.click()

    assert asked == [("a", "b")]


def test_tags_and_note_are_written_in_a_dialog(pane: HistoryPane, qtbot: QtBot) -> None:
    told: list[tuple[str, tuple[str, ...], str]] = []
    pane.request_describe.connect(lambda *words: told.append(words))
    pane.show_runs(RUNS)
    assert not pane.notes_button.isEnabled()
    pane.table.selectRow(0)
    qtbot.mouseClick(pane.notes_button, Qt.MouseButton.LeftButton)
    dialog = pane.findChild(NotesDialog)
    assert dialog is not None
    qtbot.keyClicks(dialog.form.widgets["tags"], "good, , good , late")
    qtbot.keyClicks(dialog.form.widgets["note"], "Worth a look")
    dialog.accept()

    assert told == [("a", ("good", "late"), "Worth a look")]


def test_a_run_is_exported_in_the_form_chosen_and_journals_are_asked_for(
    pane: HistoryPane, qtbot: QtBot
) -> None:
    asked: list[tuple[str, str]] = []
    pane.request_export.connect(lambda run, form: asked.append((run.id, form)))
    pane.show_runs(RUNS)
    pane.table.selectRow(1)
    menu = pane.export_button.menu()
    assert menu is not None
    next(one for one in menu.actions() if one.objectName() == "export.otlp").trigger()
    with qtbot.waitSignal(pane.request_import):
        qtbot.mouseClick(pane.import_button, Qt.MouseButton.LeftButton)

    assert asked == [("b", "otlp")]


def test_a_long_run_is_said_to_be_opening(pane: HistoryPane) -> None:
    pane.show_runs(RUNS)
    pane.table.selectRow(0)
    pane.show_opening(True)
    assert (pane.open_button.text(), pane.open_button.isEnabled()) == ("Opening…", False)
    pane.show_opening(False)
    assert (pane.open_button.text(), pane.open_button.isEnabled()) == ("Open", True)


def test_how_long_runs_are_kept_is_shown_and_chosen_by_keys(
    pane: HistoryPane, qtbot: QtBot
) -> None:
    chosen: list[tuple[int, int]] = []
    pane.request_retention.connect(lambda keep, days: chosen.append((keep, days)))
    pane.show_runs(RUNS)
    pane.footer.show_size(1_240_000)
    assert pane.footer.keeping.text() == "2 runs · 1.2 MB · all are kept"
    pane.footer.keeping.setFocus()
    qtbot.keyClick(pane.footer.keeping, Qt.Key.Key_Space)
    dialog = pane.footer.findChild(RetentionDialog)
    assert dialog is not None
    assert not dialog.count.isEnabled()
    qtbot.keyClick(dialog.by_count, Qt.Key.Key_Space)
    dialog.count.setValue(20)
    dialog.accept()
    assert chosen == [(20, 0)]

    pane.footer.show_retention(20, 30)
    assert pane.footer.keeping.text().endswith("the newest 20 are kept · 30 days are kept")
    again = pane.footer.ask_retention()
    assert (again.by_count.isChecked(), again.count.value(), again.days.value()) == (True, 20, 30)
    again.by_count.click()
    again.by_age.click()
    again.accept()
    assert chosen[-1] == (0, 0)


def test_the_list_is_read_again_when_it_comes_into_sight(pane: HistoryPane, qtbot: QtBot) -> None:
    pane.hide()
    with qtbot.waitSignal(pane.request_refresh):
        pane.show()


def test_every_chosen_run_stays_chosen(pane: HistoryPane) -> None:
    pane.show_runs(RUNS)
    pane.table.selectAll()
    pane.show_runs((RunSummary("c", 3.0), *RUNS))

    assert {run.id for run in pane.table.chosen_runs()} == {"a", "b"}


WHOLE = RunSummary(
    "w",
    1.0,
    76.0,
    prompt="Trip",
    protocol="json_action",
    model="gpt-5-mini",
    question="Where to?",
    status="limit",
    calls_model=1200,
    calls_tool=2,
    tokens=12345,
    cost=0.25,
    answer="Oslo",
    branches=2,
    tags=("late", "good"),
    note="ask again",
    pinned=True,
)
TEXTS = {
    "Prompt": "★ Trip",
    "Question": "Where to?",
    "Model": "gpt-5-mini",
    "Protocol": "JSON action",
    "Model calls": "1,200",
    "Tool calls": "2",
    "Tokens": "12,345",
    "Cost": "$0.2500",
    "End": "limit reached",
    "Tags": "late, good",
    "Answer": "Oslo",
    "Duration": "1 min 15 s",
    "Branches": "3",
    "Note": "ask again",
}


@pytest.mark.parametrize("name", HEADS)
def test_each_column_shows_its_head_and_what_it_is_of_the_run(pane: HistoryPane, name: str) -> None:
    pane.show_runs((WHOLE,))
    column = HEADS.index(name)
    table = pane.table
    assert table.model().headerData(column, Qt.Orientation.Horizontal) == name
    shown = table.model().index(0, column).data()
    assert shown == TEXTS[name] if name in TEXTS else shown
    table.scrollTo(table.model().index(0, column))
    place = table.visualRect(table.model().index(0, column))
    assert table.viewport().rect().intersects(place)
    metrics = table.horizontalHeader().fontMetrics()
    assert place.width() > metrics.horizontalAdvance(name)


def _ids(pane: HistoryPane) -> list[str]:
    return [row.run.id for row in pane.model.rows]


def test_a_click_on_a_head_sorts_and_the_third_goes_back(pane: HistoryPane, qtbot: QtBot) -> None:
    runs = (
        RunSummary("a", 3.0, 4.0, prompt="Beta", tokens=9),
        RunSummary("b", 2.0, 12.0, prompt="alpha", tokens=100),
        RunSummary("c", 1.0, 1.5, prompt="Gamma", tokens=20),
    )
    pane.show_runs(runs)
    assert _ids(pane) == ["a", "b", "c"]
    header = pane.table.horizontalHeader()

    def click(name: str) -> None:
        column = HEADS.index(name)
        at = header.sectionViewportPosition(column) + header.sectionSize(column) // 2
        place = QPoint(at, header.height() // 2)
        qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)

    click("Prompt")
    assert _ids(pane) == ["b", "a", "c"]
    # What comes meanwhile takes its place in the order.
    pane.show_runs((RunSummary("d", 4.0, prompt="Aachen"), *runs))
    assert _ids(pane) == ["d", "b", "a", "c"]
    click("Prompt")
    assert _ids(pane) == ["c", "a", "b", "d"]
    click("Prompt")
    assert _ids(pane) == ["d", "a", "b", "c"]
    pane.model.sort(HEADS.index("Duration"), Qt.SortOrder.DescendingOrder)
    assert _ids(pane)[:2] == ["b", "a"]


def test_a_run_under_way_is_looked_at_again_while_the_list_is_in_sight(
    pane: HistoryPane, qtbot: QtBot
) -> None:
    pane.show_runs(RUNS)
    asked: list[bool] = []
    pane.request_refresh.connect(lambda: asked.append(True))
    pane._live.setInterval(1)
    with qtbot.waitSignal(pane._live.timeout):
        pass
    assert not asked, "nothing is under way"
    pane.show_runs((RunSummary("c", 3.0, status="running"), *RUNS))
    qtbot.waitUntil(lambda: bool(asked))
    pane.hide()
    assert not pane._live.isActive()


def test_runs_are_put_together_folded_by_a_click_and_by_return(
    pane: HistoryPane, qtbot: QtBot
) -> None:
    pane.show_runs(RUNS)
    pane.groups.setCurrentIndex(pane.groups.findData("prompt"))
    model, table = pane.model, pane.table
    opened: list[str] = []
    pane.request_open.connect(opened.append)
    assert [row.group for row in model.rows] == ["ReAct agent", None, "Chat", None]

    place = table.visualRect(model.index(0, 0)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert [row.group for row in model.rows] == ["ReAct agent", "Chat", None]
    assert pane.table.chosen_runs() == ()
    assert not pane.delete_button.isEnabled()

    with qtbot.waitActive(pane):
        pane.activateWindow()
    table.setFocus()
    qtbot.keyClick(table, Qt.Key.Key_Return)
    assert [row.group for row in model.rows] == ["ReAct agent", None, "Chat", None]
    table.selectRow(3)
    pane.show_runs(RUNS)
    assert [run.id for run in pane.table.chosen_runs()] == ["b"]
    qtbot.keyClick(table, Qt.Key.Key_Return)
    assert opened == ["b"]


def test_the_tags_of_several_runs_are_set_at_once_and_their_own_stay(
    pane: HistoryPane, qtbot: QtBot
) -> None:
    told: list[tuple[str, tuple[str, ...], str]] = []
    pane.request_describe.connect(lambda *words: told.append(words))
    one = replace(RUNS[0], tags=("all", "first"), note="kept")
    two = replace(RUNS[1], tags=("second", "all"))
    pane.show_runs([one, two])
    pane.table.selectAll()
    qtbot.mouseClick(pane.notes_button, Qt.MouseButton.LeftButton)
    dialog = pane.findChild(NotesDialog)
    assert dialog is not None
    assert dialog.form.widgets["tags"].text() == "all"
    dialog.form.widgets["tags"].setText("good, late")
    dialog.accept()
    assert told == [
        (one.id, ("first", "good", "late"), "kept"),
        (two.id, ("second", "good", "late"), two.note),
    ]


def test_a_tag_is_renamed_in_every_run_that_has_it(pane: HistoryPane, qtbot: QtBot) -> None:
    told: list[tuple[str, tuple[str, ...], str]] = []
    pane.request_describe.connect(lambda *words: told.append(words))
    one = replace(RUNS[0], tags=("regresion", "late"))
    pane.show_runs([one, replace(RUNS[1], tags=("late",))])
    dialog = pane.ask_tag("regresion")
    field = dialog.findChild(QLineEdit)
    assert field is not None
    qtbot.keyClicks(field, "regression")
    qtbot.keyClick(dialog, Qt.Key.Key_Return)
    assert told == [(one.id, ("regression", "late"), one.note)]


def test_runs_that_wait_for_the_user_say_so_and_are_found(pane: HistoryPane) -> None:
    asked: list[tuple[str, str]] = []
    pane.request_filter.connect(lambda *words: asked.append(words))
    pane.show_runs([replace(RUNS[0], status="running", waits="approval")])
    assert "needs you: approval" in pane.model.rows[0].cells
    pane.ends.setCurrentText("needs you")
    assert asked == [("", "waiting")]
