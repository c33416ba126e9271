"""Journey 1, from nothing to my answer: what the user sees is what the server gets."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QTextEdit
from pytestqt.qtbot import QtBot

from studio.application.preview.diff import messages_as_json
from studio.ui.app.workbench import Workbench
from studio.viewmodels.app.notifications import NotificationAction
from tests.support.chat_server import ChatServer, streamed

ANSWER = "A good prompt says what is wanted, for whom, and what the answer looks like. " * 3
ANSWER = ANSWER.strip()
PROMPT = """---
name: Support
inputs:
  ticket: {kind: string, required: true, sample: The stove smells of gas.}
  tone: {kind: string, default: friendly}
  customer:
    kind: object
    properties:
      name: {kind: string}
      since: {kind: integer}
    sample: {name: Ana Silva, since: 2019}
---
system:
Be {{ tone }}. Customer: {{ customer.name }}, since {{ customer.since }}.

user:
{{ ticket }}
"""


def new_prompt(qtbot: QtBot, bench: Workbench, text: str = "") -> None:
    """Begin a new prompt; its text is written over where another one is given."""
    bench.window.actions_by_id["file.new"].trigger()
    page = bench.window.tabs.current
    assert page is not None
    if text:
        page.editor.selectAll()
        page.editor.insertPlainText(text)
    qtbot.waitUntil(lambda: bench.is_settled)


def press_f5(qtbot: QtBot, bench: Workbench) -> None:
    page = bench.window.tabs.current
    assert page is not None
    qtbot.keyClick(page.editor, Qt.Key.Key_F5)


def wait_for_end(qtbot: QtBot, bench: Workbench) -> None:
    qtbot.waitUntil(lambda: bench.run.state is not None and bench.run.state.is_over)
    assert bench.run.state is not None
    assert bench.run.state.answer == ANSWER


def is_in_sight(bench: Workbench, text: str) -> bool:
    """Whether a view of the window shows a text from its first to its last letter, unscrolled."""
    for view in bench.window.findChildren(QTextEdit):
        held = view.toPlainText()
        if not view.isVisible() or text not in held:
            continue
        shown = view.viewport().visibleRegion().boundingRect()
        cursor = view.textCursor()
        places = []
        for offset in (held.index(text), held.index(text) + len(text)):
            cursor.setPosition(offset)
            places.append(view.cursorRect(cursor).center())
        if all(shown.contains(place) for place in places):
            return True
    return False


def test_the_first_f5_of_a_new_prompt_shows_its_whole_answer(
    qtbot: QtBot, bench: Workbench, server: ChatServer
) -> None:
    server.always(streamed(ANSWER))
    new_prompt(qtbot, bench)
    press_f5(qtbot, bench)
    wait_for_end(qtbot, bench)
    assert len([each for each in server.requests if each.method == "POST"]) == 1
    qtbot.waitUntil(lambda: is_in_sight(bench, ANSWER))


def test_a_run_with_the_samples_sends_what_the_preview_shows(
    qtbot: QtBot, bench: Workbench, server: ChatServer
) -> None:
    server.always(streamed(ANSWER))
    new_prompt(qtbot, bench, PROMPT)
    preview = bench.preview.preview
    assert preview is not None
    shown = json.loads(messages_as_json(preview))
    press_f5(qtbot, bench)
    (notice,) = [each for each in bench.window.notices.notices if each.key == "run"]
    assert "ticket, customer" in notice.hint
    button = next(
        each
        for each in bench.window.notices.findChildren(QPushButton)
        if each.text() == "Run with the samples" and each.isVisible()
    )
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    wait_for_end(qtbot, bench)
    (sent,) = [each.body for each in server.requests if each.method == "POST"]
    assert json.dumps(sent["messages"]) == json.dumps(shown)
    assert "Customer: Ana Silva, since 2019." in sent["messages"][0]["content"]
    qtbot.waitUntil(lambda: is_in_sight(bench, ANSWER))


def test_a_refused_f5_leaves_the_room_and_what_is_in_it(
    qtbot: QtBot, bench: Workbench, server: ChatServer
) -> None:
    server.always(streamed(ANSWER))
    new_prompt(qtbot, bench, PROMPT)
    press_f5(qtbot, bench)
    assert [each.key for each in bench.window.notices.notices].count("run") == 1
    assert not bench.window.docks.is_shown("run")


def test_a_prompt_whose_runs_are_only_in_the_history_leads_to_the_last_one(
    qtbot: QtBot, bench: Workbench, server: ChatServer, tmp_path: Path
) -> None:
    server.always(streamed(ANSWER))
    paths = [tmp_path / f"{number}.prompty" for number in range(10)]
    for path in paths:
        path.write_text("---\nname: One\n---\nuser:\nHi\n", encoding="utf-8")
        bench.window.tabs.open(path)
        qtbot.waitUntil(lambda: bench.is_settled)
        press_f5(qtbot, bench)
        wait_for_end(qtbot, bench)
    bench.run.slots.let_go.clear()  # as after a restart: the runs before are only in the history
    bench.window.tabs.open(paths[0])
    empty = next(
        each for each in bench.preview_pane.answer.findChildren(QLabel) if each.isVisible()
    )
    qtbot.waitUntil(lambda: "Show the last run of this prompt" in empty.text())
    assert bench.run.state is None
    empty.linkActivated.emit("last")
    qtbot.waitUntil(lambda: bench.run.view.record != "")
    assert bench.run.state is not None
    assert bench.run.state.answer == ANSWER


def test_a_cut_answer_is_named_by_its_card_and_in_the_tab_of_its_reply_only(
    qtbot: QtBot, bench: Workbench, server: ChatServer
) -> None:
    server.always(streamed("Half an ans", finish="length"))
    new_prompt(qtbot, bench)
    press_f5(qtbot, bench)
    qtbot.waitUntil(lambda: bench.run.view.is_waiting)
    qtbot.waitUntil(lambda: "cut off" in bench.run_pane.inspector.text_of("reply"))
    labels = [each.text() for each in bench.window.findChildren(QLabel) if each.isVisible()]
    pages = [
        each.toPlainText() for each in bench.window.findChildren(QTextEdit) if each.isVisible()
    ]
    cards = [f"{each.title} {each.summary}" for each in bench.run.view.timeline.cards]
    told = [text.count("cut off") for text in (*labels, *pages, *cards) if "cut off" in text]
    assert told == [1, 1]
    assert bench.run.view.sentence == "Paused at a problem"
    assert bench.run_pane.side.actions_bar.buttons, "its bar says what can be done"


def test_a_notice_covers_neither_cards_nor_fields_and_has_no_filled_button(
    qtbot: QtBot, bench: Workbench
) -> None:
    window = bench.window
    new_prompt(qtbot, bench, PROMPT)
    for name in ("preview", "inputs"):
        window.docks.show(name)
    offers = (NotificationAction("Do", lambda: None), NotificationAction("Not", lambda: None))
    for name in ("one", "two"):
        window.services.messages.say("warning", name, offers=offers, key=name)
    area = window.notices
    panes = [window.docks[name] for name in ("preview", "inputs")]

    def is_clear() -> bool:
        covered = any(area.geometry().intersects(pane.geometry()) for pane in panes)
        return area.isVisible() and all(pane.isVisible() for pane in panes) and not covered

    qtbot.waitUntil(is_clear)
    assert not any(each.property("primary") for each in area.findChildren(QPushButton))
    window.docks.hide("preview")
    window.docks.hide("inputs")
    qtbot.waitUntil(lambda: area.geometry().right() > 1280 - 40)
