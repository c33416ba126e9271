"""The cases of a prompt in the real window, against a real server on loopback and real files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QInputDialog, QPlainTextEdit
from pytestqt.qtbot import QtBot

from studio.application.experiments.cases import CaseColumn
from studio.application.experiments.grid import DotState, LazyRows, table_grid
from studio.core.experiments.results.cells import CellKey
from studio.ui.app.workbench import Workbench
from studio.ui.experiments.grid_view import ExperimentTable
from studio.ui.experiments.view import ExperimentView
from studio.ui.style.theme import DARK
from studio.viewmodels.experiments.grid_model import ExperimentGridModel
from tests.support import patience
from tests.support.chat_server import (
    ChatServer,
    Exchange,
    chat_server,
    chunk,
    events,
    failure,
    silent,
    streamed,
)
from tests.support.themes import wear

PROMPT = """\
---
name: Support triage
inputs:
  ticket: {kind: string, required: true}
  plan: {kind: string}
outputs:
  queue: {kind: string}
  urgency: {kind: integer}
  reason: {kind: string}
---
system:
You sort support tickets for an outdoor shop.
Answer as JSON.

## Queues
- **shipping**: parcels, delays, returns
- **billing**: charges, refunds, invoices
- **safety**: anything that can hurt a person; always urgency 5
- **other**: everything else; then urgency is at most 2

Give `reason` in one sentence that cites the ticket.

user:
Customer plan: {{ plan }}

{{ ticket }}
"""
TICKETS = (
    ("Where is my parcel 1010?", "basic", "shipping"),
    ("I smell gas near the stove.", "premium", "safety"),
    ("You charged my card twice, and the tent is torn.", "premium", "billing"),
    ("Do you sell maps of Norway?", "basic", "other"),
    ("Ich will mein Geld zurück für Bestellung 1036.", "basic", "billing"),
    ("The zip burned my hand when it jammed.", "basic", "safety"),
    ("Stop sending me e-mails.", "basic", "other"),
)
CSV = "ticket,plan,expected\r\n" + "".join(
    f'"{ticket}",{plan},{queue}\r\n' for ticket, plan, queue in TICKETS
)


def _answer(content: str, system: str) -> str:
    queue = next((each for ticket, _, each in TICKETS if ticket in content), "other")
    if "brief" in system and queue == "safety":
        queue = "shipping"
    reason = f"The customer writes: {content.rsplit(chr(10), 1)[-1]}"
    return json.dumps({"queue": queue, "urgency": 5 if queue == "safety" else 2, "reason": reason})


class Shop:
    """A folder with a prompt and its cases, and the server that answers them."""

    def __init__(self, folder: Path, server: ChatServer) -> None:
        self.folder = folder
        self.server = server
        self.prompt = folder / "triage.prompty"
        self.cases = folder / "triage.cases.csv"
        self.asked: list[str] = []
        self.prompt.write_text(PROMPT, encoding="utf-8")
        self.cases.write_bytes(CSV.encode())
        server.always(self._say)

    async def _say(self, exchange: Exchange) -> None:
        messages = exchange.request.body["messages"]
        self.asked.append(messages[-1]["content"])
        await streamed(_answer(messages[-1]["content"], messages[0]["content"]))(exchange)


@pytest.fixture
def shop(user_home: Path, tmp_path: Path) -> Iterator[Shop]:
    folder = tmp_path / "shop"
    folder.mkdir()
    with chat_server() as server:
        config = user_home / "config"
        config.mkdir(parents=True, exist_ok=True)
        (config / "connections.toml").write_text(
            'default = "desk"\n'
            + "".join(
                f'[[connection]]\nname = "{name}"\nkind = "compatible"\n'
                f'model = "scripted-1"\nbase_url = "{server.url}"\n'
                for name in ("desk", "my-triage-7b")
            )
        )
        yield Shop(folder, server)


def opened(qtbot: QtBot, workbench: Workbench, shop: Shop, size: tuple[int, int]) -> ExperimentView:
    window = workbench.window
    window.resize(*size)
    window.show()
    window.tabs.open(shop.prompt)
    qtbot.waitUntil(lambda: window.tabs.document is not None, timeout=patience.MS)
    window.actions_by_id["prompt.cases"].trigger()
    view = window.docks["cases"].widget().currentWidget()
    assert isinstance(view, ExperimentView)
    qtbot.waitUntil(
        lambda: view.controller.plan is not None and view.controller.model.rowCount() > 0,
        timeout=patience.MS,
    )
    return view


def ran(qtbot: QtBot, view: ExperimentView) -> None:
    qtbot.waitUntil(
        lambda: (
            not view.controller.is_running
            and view.controller.report is not None
            and view.controller.report.is_whole
        ),
        timeout=patience.MS,
    )


def shot(workbench: Workbench, name: str) -> None:
    """Keep a picture where `SHOTS` names a folder."""
    if folder := os.environ.get("SHOTS"):
        workbench.window.grab().save(str(Path(folder) / name))


def states(view: ExperimentView, variant: int) -> list[DotState]:
    grid = view.controller.model.grid
    assert grid is not None
    return [grid.cell(row.number, variant).dots[0] for row in grid.rows]


def typed(view: ExperimentView, row: int, column: int, text: str) -> None:
    """Type into a cell, as a user does."""
    view.table.setFocus()
    view.table.setCurrentIndex(view.controller.model.index(row, column))
    QTest.keyClick(view.table, Qt.Key.Key_F2)
    field = view.table.findChild(QPlainTextEdit)
    assert field is not None
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)


@pytest.mark.parametrize(
    ("language", "size"),
    [("en", (1440, 900)), ("en", (1280, 800)), ("de", (1440, 900))],
    indirect=["language"],
)
def test_cases_are_a_table_beside_the_prompt(
    qtbot: QtBot,
    language: str,
    open_workbench: Callable[[], Workbench],
    shop: Shop,
    size: tuple[int, int],
) -> None:
    workbench = open_workbench()
    view = opened(qtbot, workbench, shop, size)
    model = view.controller.model
    assert [model.headerData(at, Qt.Orientation.Horizontal) for at in range(5)] == [
        "#",
        "ticket",
        "plan",
        "expected",
        "A  this text",
    ]
    assert view.bar is not None
    view.bar._add(CaseColumn("my-triage-7b", provider="my-triage-7b"))
    brief = shop.folder / "brief.prompty"
    brief.write_text(PROMPT.replace("sort support", "brief: sort support"), encoding="utf-8")
    view.bar._add(CaseColumn("brief", "brief.prompty"))
    qtbot.waitUntil(
        lambda: model.grid is not None and len(model.grid.variants) == 3, timeout=patience.MS
    )
    view.run_all()
    ran(qtbot, view)
    assert len(shop.asked) == 14  # equal requests of the two models are one
    answer = model.answer(1, 0)
    assert answer is not None
    assert answer.first == "shipping · 2"
    differs = model.answer(2, 2)
    assert differs is not None
    assert differs.changed
    view.table.setCurrentIndex(model.index_of(2, 2))
    qtbot.waitUntil(lambda: "shipping" in view.detail.answer.toPlainText(), timeout=patience.MS)
    workbench.window.grab()
    name = f"cases-{size[0]}"
    shot(workbench, f"{name}-light.png")
    if os.environ.get("SHOTS"):
        wear(DARK)
        shot(workbench, f"{name}-dark.png")
    page = workbench.window.tabs.current
    assert page is not None
    rows = view.table.viewport().height() // view.table.rowHeight(0)
    lines = page.editor.viewport().height() // page.editor.fontMetrics().lineSpacing()
    least = 7 if size == (1440, 900) else 5
    assert rows >= least
    assert lines >= 20
    assert view.detail.isVisible()
    assert (
        view.table.columnViewportPosition(model.columnCount() - 1) < view.table.viewport().width()
    )


def test_values_are_edited_pasted_and_taken_back(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], shop: Shop
) -> None:
    view = opened(qtbot, open_workbench(), shop, (1440, 900))
    model = view.controller.model
    before = shop.cases.read_bytes()
    typed(view, 0, 1, 'He said "no", then left')
    after = before.replace(b"Where is my parcel 1010?", b'He said ""no"", then left')
    qtbot.waitUntil(lambda: shop.cases.read_bytes() == after, timeout=patience.MS)
    qtbot.waitUntil(
        lambda: model.index(0, 1).data() == 'He said "no", then left', timeout=patience.MS
    )
    QTest.keyClick(view.table, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert shop.cases.read_bytes() == before
    # Rows of a sheet: two at once, and one undo.
    QGuiApplication.clipboard().setText("plan\tticket\nbasic\tOne, two\npremium\tThree\n")
    QTest.keyClick(view.table, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert shop.cases.read_bytes() == before + b'"One, two",basic,\r\nThree,premium,\r\n'
    qtbot.waitUntil(lambda: model.rowCount() == 9, timeout=patience.MS)
    QTest.keyClick(view.table, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert shop.cases.read_bytes() == before
    qtbot.waitUntil(lambda: model.rowCount() == 7, timeout=patience.MS)


def test_a_file_that_another_program_wrote_is_not_written_over(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], shop: Shop
) -> None:
    view = opened(qtbot, open_workbench(), shop, (1440, 900))
    model = view.controller.model
    other = b"ticket,plan,expected\nFrom elsewhere,basic,other\n"
    shop.cases.write_bytes(other)
    typed(view, 2, 1, "Mine")
    assert shop.cases.read_bytes() == other
    assert "no longer exists" in view.head.status_label.text()
    qtbot.waitUntil(lambda: model.rowCount() == 1, timeout=patience.MS)
    # Half a file: said with its line, and nothing is written.
    half = b'ticket,plan,expected\nOne,basic\n"Two'
    shop.cases.write_bytes(half)
    qtbot.waitUntil(
        lambda: "triage.cases.csv, line 2: the row has 2 cells" in view.head.status_label.text(),
        timeout=patience.MS,
    )
    assert shop.cases.read_bytes() == half
    assert view.bar is not None
    view.bar.show_table(replace(view.bar._table, rows=shop.cases), None)
    assert view.bar.count_label.text() == "Reading…"
    view.controller.model.show(None)
    view.controller.planned.emit("A reason.")
    assert view.bar.count_label.text() == "0 rows"


def test_one_cell_is_asked_alone_and_a_change_of_the_text_asks_what_changed(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], shop: Shop
) -> None:
    workbench = open_workbench()
    view = opened(qtbot, workbench, shop, (1440, 900))
    model = view.controller.model
    view.table.setFocus()
    view.table.setCurrentIndex(model.index_of(2, 0))
    QTest.keyClick(view.table, Qt.Key.Key_F5, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(
        lambda: not view.controller.is_running and states(view, 0)[1] is DotState.PASSED,
        timeout=patience.MS,
    )
    assert len(shop.asked) == 1
    workbench.window.actions_by_id["run.start"].trigger()
    ran(qtbot, view)
    assert len(shop.asked) == 7
    page = workbench.window.tabs.current
    assert page is not None
    assert view.bar is not None
    view.bar.save_box.setChecked(True)
    text = page.editor.toPlainText()
    page.editor.setPlainText(text.replace("outdoor shop", "brief outdoor shop"))
    assert page.save()
    qtbot.waitUntil(lambda: len(shop.asked) == 14, timeout=patience.MS)
    ran(qtbot, view)
    qtbot.waitUntil(lambda: "2" in view.filters.buttons["saved"].text(), timeout=patience.MS)
    view.filters.buttons["saved"].click()
    assert model.shown_rows == (2, 6)
    assert states(view, 0)[1] is DotState.FAILED


def test_the_table_is_kept_as_an_experiment_with_the_same_cells(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], shop: Shop
) -> None:
    workbench = open_workbench()
    view = opened(qtbot, workbench, shop, (1440, 900))
    view.run_all()
    ran(qtbot, view)
    assert view.bar is not None
    view.bar.keep_button.click()
    made = shop.folder / "triage.experiment.yaml"
    assert made.exists()
    kept = workbench.window.tabs.sides.active.currentWidget()
    assert isinstance(kept, ExperimentView)
    qtbot.waitUntil(lambda: kept.controller.plan is not None, timeout=patience.MS)
    kept.run_button.click()
    ran(qtbot, kept)
    assert states(kept, 0) == states(view, 0)
    assert len(shop.asked) == 7  # equal requests are not sent again


def test_an_answer_comes_in_its_cell_and_a_busy_server_is_said(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], shop: Shop
) -> None:
    view = opened(qtbot, open_workbench(), shop, (1440, 900))
    model = view.controller.model
    half = events([chunk({"content": '{"queue": "shi'})], then=[silent()])
    shop.server.script(failure(429, retry_after="2"))
    shop.server.always(half)
    view.table.setCurrentIndex(model.index_of(1, 0))
    view._run_cell()
    tones: set[str] = set()

    def seen() -> bool:
        answer = model.answer(1, 0)
        tones.add(answer.tone if answer is not None else "none")
        return {"waits", "comes"} <= tones

    qtbot.waitUntil(lambda: "Tries again" in view.detail.answer.toPlainText(), timeout=patience.MS)
    waits = model.answer(1, 0)
    assert waits is not None
    assert waits.rest.startswith("Tries again in 2 s.")  # what happens next is not cut off
    qtbot.waitUntil(seen, timeout=patience.MS)
    answer = model.answer(1, 0)
    assert answer is not None
    assert answer.first == "shi"
    qtbot.waitUntil(lambda: "shi" in view.detail.answer.toPlainText(), timeout=patience.MS)
    view.run_button.click()  # Stop
    qtbot.waitUntil(lambda: not view.controller.is_running, timeout=patience.MS)
    qtbot.waitUntil(lambda: states(view, 0)[0] is DotState.WAITING, timeout=patience.MS)


def test_rows_with_the_same_value_come_together(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], shop: Shop
) -> None:
    view = opened(qtbot, open_workbench(), shop, (1440, 900))
    model = view.controller.model
    view.table.horizontalHeader().sectionClicked.emit(2)
    assert model.shown_rows == (1, 4, 5, 6, 7, 2, 3)
    view.table.horizontalHeader().sectionClicked.emit(2)
    assert model.shown_rows == (1, 2, 3, 4, 5, 6, 7)
    view.filters.search.setText("norway")
    assert model.shown_rows == (4,)
    view.filters.search.setText("nothing of it")
    assert view.filters.nothing.isVisible()


def test_a_table_of_many_rows_makes_only_the_rows_that_are_looked_at(shop: Shop) -> None:
    lines = "".join(f"Ticket {number},basic,other\r\n" for number in range(10_000))
    shop.cases.write_text("ticket,plan,expected\r\n" + lines, encoding="utf-8")
    model = ExperimentGridModel()
    model.is_editable = True
    grid = table_grid(shop.cases, ["this text"])
    model.show(grid)
    assert model.rowCount() == 10_000
    assert isinstance(grid.rows, LazyRows)
    assert grid.rows.made <= 100
    assert model.index(9_999, 1).data() == "Ticket 9999"


def test_a_view_is_made_for_rows_that_are_there_already(qtbot: QtBot, shop: Shop) -> None:
    model = ExperimentGridModel()
    model.show(table_grid(shop.cases, ["this text"]))
    table = ExperimentTable(model)
    qtbot.addWidget(table)
    assert table.model().rowCount() == model.rowCount() > 0


def test_a_new_row_is_typed_into_at_once(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], shop: Shop
) -> None:
    workbench = open_workbench()
    view = opened(qtbot, workbench, shop, (1440, 900))
    assert workbench.window.focusWidget() is view.table
    QTest.mouseClick(view.row_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: view.table.findChild(QPlainTextEdit) is not None, timeout=patience.MS)
    field = view.table.findChild(QPlainTextEdit)
    assert isinstance(field, QPlainTextEdit)
    QTest.keyClicks(field, "Two tents?")
    QTest.keyClick(field, Qt.Key.Key_Return)
    ending = b"Two tents?,,\r\n"
    qtbot.waitUntil(lambda: shop.cases.read_bytes().endswith(ending), timeout=patience.MS)
    assert shop.cases.read_bytes() == CSV.encode() + ending


def test_cases_have_the_keyboard_once_they_are_read(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], shop: Shop
) -> None:
    shop.cases.unlink()
    workbench = open_workbench()
    with qtbot.waitActive(workbench.window):
        workbench.window.show()
        workbench.window.activateWindow()
    view = opened(qtbot, workbench, shop, (1440, 900))
    qtbot.waitUntil(view.table.hasFocus, timeout=patience.MS)


def test_a_cells_run_leads_back_to_its_cases(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], shop: Shop
) -> None:
    workbench = open_workbench()
    other = shop.folder / "other.prompty"
    other.write_text(PROMPT.replace("Answer as JSON.", "Answer briefly."), encoding="utf-8")
    view = opened(qtbot, workbench, shop, (1440, 900))
    cases = view.controller.cases
    assert cases is not None
    view.controller.show_cases(
        replace(cases, columns=(*cases.columns, CaseColumn(other.name, other.name)))
    )
    qtbot.waitUntil(lambda: len(states(view, 0)) > 0 and view.controller.model.columnCount() > 5)
    view.run_all()
    ran(qtbot, view)
    view.table.setCurrentIndex(view.controller.model.index_of(3, 1))
    qtbot.waitUntil(view.detail.run_button.isEnabled, timeout=patience.MS)
    QTest.mouseClick(view.detail.run_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(workbench.run_pane.isVisible, timeout=patience.MS)
    QTest.keyClick(workbench.run_pane, Qt.Key.Key_Escape)
    qtbot.waitUntil(view.isVisible, timeout=patience.MS)
    workbench.window.docks.write()
    card = workbench.preview_pane.answer
    qtbot.waitUntil(card.isVisible, timeout=patience.MS)
    assert card.answer.phase == "none"  # that run is of another prompt


def test_the_values_stay_while_answers_scroll_and_are_edited_where_they_are_seen(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], shop: Shop
) -> None:
    view = opened(qtbot, open_workbench(), shop, (1280, 800))
    model, table = view.controller.model, view.table
    assert not table.frozen.isVisible()
    assert view.bar is not None
    for number in range(4):
        view.bar._add(CaseColumn(f"c{number}", provider="my-triage-7b"))
    qtbot.waitUntil(
        lambda: model.grid is not None and len(model.grid.variants) == 5, timeout=patience.MS
    )
    qtbot.waitUntil(table.frozen.isVisible, timeout=patience.MS)
    last = model.index(0, model.columnCount() - 1)
    table.setCurrentIndex(last)
    bar = table.horizontalScrollBar()
    assert bar.value() == bar.maximum() > 0
    assert not table.frozen.isColumnHidden(1)
    assert table.frozen.columnViewportPosition(1) == table.columnWidth(0)
    # To the left: an answer comes out from below the values, and a value needs no scrolling.
    table.setCurrentIndex(model.index(0, model.first_variant))
    assert table.visualRect(table.currentIndex()).left() >= table.frozen.width()
    table.setCurrentIndex(last)
    typed(view, 0, 1, "Where is my tent?")
    assert bar.value() == bar.maximum()
    qtbot.waitUntil(lambda: b"Where is my tent?" in shop.cases.read_bytes(), timeout=patience.MS)
    down = table.verticalScrollBar()
    down.setValue(down.maximum())
    assert table.frozen.verticalScrollBar().value() == down.maximum() > 0


def test_a_cell_shows_the_messages_and_the_body_that_were_sent(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], shop: Shop
) -> None:
    view = opened(qtbot, open_workbench(), shop, (1440, 900))
    model, detail = view.controller.model, view.detail
    view.table.setCurrentIndex(model.index_of(2, 0))
    assert detail.key is not None
    assert detail.key.row == 2
    assert detail.answer.toPlainText().startswith("Not run yet.")
    assert view.bar is not None
    view.bar._add(CaseColumn("my-triage-7b", provider="my-triage-7b"))
    qtbot.waitUntil(lambda: model.columnCount() > model.first_variant + 1, timeout=patience.MS)
    view.run_all()
    ran(qtbot, view)
    bodies = [each.body for each in shop.server.requests if each.method == "POST"]
    sent = next(each for each in bodies if "gas" in each["messages"][-1]["content"])
    for variant in (0, 1):  # of the second one the request was equal, and was not sent again
        view.table.setCurrentIndex(model.index_of(2, variant))
        detail.tabs.setCurrentIndex(1)
        assert sent["messages"][0]["content"].splitlines()[0] in detail.answer.toPlainText()
        assert "I smell gas near the stove." in detail.answer.toPlainText()
        detail.tabs.setCurrentIndex(2)
        assert json.loads(detail.answer.toPlainText()) == sent
        detail.tabs.setCurrentIndex(0)


def test_the_filter_of_what_differs_names_both_columns(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], shop: Shop
) -> None:
    view = opened(qtbot, open_workbench(), shop, (1440, 900))
    model = view.controller.model
    brief = shop.folder / "brief.prompty"
    brief.write_text(PROMPT.replace("sort support", "brief: sort support"), encoding="utf-8")
    assert view.bar is not None
    view.bar._add(CaseColumn("my-triage-7b", provider="my-triage-7b"))
    view.bar._add(CaseColumn("brief", "brief.prompty"))
    qtbot.waitUntil(lambda: model.columnCount() > model.first_variant + 2, timeout=patience.MS)
    view.run_all()
    ran(qtbot, view)
    differs = view.filters.buttons["differs"]
    qtbot.waitUntil(lambda: differs.text() == "Answers differ 2", timeout=patience.MS)
    view.table.setCurrentIndex(model.index_of(1, 2))
    assert differs.text() == "A and C differ 2"
    view.table.setCurrentIndex(model.index_of(1, 1))
    assert not differs.isVisible()  # nothing differs there
    view.table.setCurrentIndex(model.index_of(1, 2))
    differs.click()
    assert model.shown_rows == (2, 6)


def test_a_run_above_the_limit_of_cost_asks_for_the_limit_once(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], shop: Shop, user_home: Path
) -> None:
    connections = user_home / "config" / "connections.toml"
    priced = "\ncapabilities = { price = { input = 900.0, output = 900.0 } }\n[[connection]]"
    connections.write_text(connections.read_text().replace("\n[[connection]]", priced))
    workbench = open_workbench()
    view = opened(qtbot, workbench, shop, (1440, 900))
    asked: list[QInputDialog] = []

    def question() -> bool:
        asked[:] = [each for each in view.findChildren(QInputDialog) if each.isVisible()]
        return bool(asked)

    view.run_all()
    qtbot.waitUntil(question, timeout=patience.MS)
    assert shop.asked == []
    assert asked[0].intValue() > 5
    limit = asked[0].intValue()
    asked[0].accept()
    ran(qtbot, view)
    assert len(shop.asked) == 7
    assert workbench.window.services.settings.value.cases_cents == limit
    settings = workbench.window.services.settings
    settings.set(replace(settings.value, cases_cents=0))
    shop.cases.write_text("ticket,plan\nIs it blue?,pro\nIs it new?,pro\n", encoding="utf-8")
    qtbot.waitUntil(lambda: view.controller.model.rowCount() == 2, timeout=patience.MS)
    view.controller.run(keys=frozenset({CellKey(1, 2, 0)}))
    qtbot.waitUntil(question, timeout=patience.MS)
    asked[0].accept()
    qtbot.waitUntil(lambda: len(shop.asked) == 8, timeout=patience.MS)
    qtbot.waitUntil(lambda: not view.controller.is_running, timeout=patience.MS)
    assert len(shop.asked) == 8  # what was asked for, not all


def test_a_copy_is_edited_as_a_column_and_asked_alone(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], shop: Shop
) -> None:
    workbench = open_workbench()
    view = opened(qtbot, workbench, shop, (1440, 900))
    page = workbench.window.tabs.current
    assert page is not None
    assert view.bar is not None
    unsaved = page.editor.toPlainText().replace("outdoor shop", "outdoor store")
    page.editor.setPlainText(unsaved)
    view.bar.request_copy.emit()
    copy = shop.folder / "triage-2.prompty"
    qtbot.waitUntil(lambda: workbench.window.tabs.path == copy, timeout=patience.MS)
    assert copy.read_text(encoding="utf-8") == unsaved
    assert shop.prompt.read_text(encoding="utf-8") == PROMPT
    own = workbench.window.tabs.current
    assert own is not None
    assert own is not page
    qtbot.waitUntil(
        lambda: workbench.window.docks.is_shown("cases") and view.isVisible(), timeout=patience.MS
    )
    own.editor.setPlainText(unsaved.replace("outdoor store", "brief outdoor store"))
    assert own.save()
    model = view.controller.model
    qtbot.waitUntil(
        lambda: model.grid is not None and len(model.grid.variants) == 2, timeout=patience.MS
    )
    view.bar.request_column.emit(1)
    qtbot.waitUntil(lambda: len(shop.asked) == 7, timeout=patience.MS)
    qtbot.waitUntil(lambda: not view.controller.is_running, timeout=patience.MS)
    qtbot.waitUntil(
        lambda: states(view, 1).count(DotState.FAILED) == 2, timeout=patience.MS
    )  # the brief one
    assert set(states(view, 0)) == {DotState.WAITING}
    assert len(shop.asked) == 7


def test_what_a_table_states_as_expected_is_shown_and_edited(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], shop: Shop
) -> None:
    shop.cases.write_text(
        "ticket,__expected1,__expected2\nWhere?,contains: other,is-json\nAgain?,,\n",
        encoding="utf-8",
    )
    view = opened(qtbot, open_workbench(), shop, (1440, 900))
    model = view.controller.model
    heads = [model.headerData(at, Qt.Orientation.Horizontal) for at in range(5)]
    assert heads == ["#", "ticket", "plan", "expected1", "expected2"]
    assert [model.index(0, at).data() for at in (3, 4)] == ["contains: other", "is-json"]
    typed(view, 1, 3, "contains: nobody")
    qtbot.waitUntil(
        lambda: "Again?,contains: nobody,\n" in shop.cases.read_text("utf-8"), timeout=patience.MS
    )
    qtbot.waitUntil(lambda: model.index(1, 3).data() == "contains: nobody", timeout=patience.MS)
    view.run_all()
    ran(qtbot, view)
    wanted = [DotState.PASSED, DotState.FAILED]
    qtbot.waitUntil(lambda: states(view, 0) == wanted, timeout=patience.MS)


def test_a_judge_that_is_named_later_decides_what_was_undecided(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], shop: Shop
) -> None:
    shop.cases.write_text("ticket,expected\nWhere?,grade: is polite\nOr?,other\n", encoding="utf-8")
    view = opened(qtbot, open_workbench(), shop, (1440, 900))
    view.run_all()
    ran(qtbot, view)
    view.run_all()
    ran(qtbot, view)
    assert states(view, 0) == [DotState.UNDECIDED, DotState.PASSED]
    assert view.filters.buttons["failed"].isHidden()  # nothing has failed yet
    assert len(shop.server.requests) == 2

    async def judged(exchange: Exchange) -> None:
        await streamed('{"pass": true, "score": 1, "reason": "seen"}')(exchange)

    shop.server.always(judged)
    assert view.bar is not None
    view.bar._take_judge("desk")
    qtbot.waitUntil(
        lambda: view.controller.cases is not None and view.controller.cases.judge == "desk",
        timeout=patience.MS,
    )
    view.run_all()
    qtbot.waitUntil(
        lambda: not view.controller.is_running and states(view, 0)[0] is DotState.PASSED,
        timeout=patience.MS,
    )
    assert len(shop.server.requests) == 3  # the answer is kept: only the judge is asked
