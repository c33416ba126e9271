"""A plain prompt is answered beside its text; the run's own place opens when there is more."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from studio.application.words import tr
from studio.core.agent.values.step import PausePoint
from studio.core.paths import resource
from studio.ui.app.workbench import Workbench
from studio.ui.editor.tabs import page_files
from studio.ui.editor.text.painting.gutter import Gutter
from studio.ui.preview.answer_card import AnswerCard
from studio.ui.preview.cards.text_body import TextBody
from studio.viewmodels.run import sessions
from tests.journeys.test_first_answer import is_in_sight, press_f5
from tests.support.chat_server import ChatServer, Exchange, chunk, failure, streamed

CHAT = "---\nname: Chat\n---\nuser:\nHi\n"
TRIAGE = """---
name: Triage
outputs:
  queue: {kind: string, required: true, enumValues: [safety, other]}
  urgency: {kind: integer, required: true}
---
user:
I smell gas.
"""
TOOL = """---
name: Sum
tools:
  - name: add
    kind: function
    description: Adds two numbers.
    parameters: {a: {kind: integer}, b: {kind: integer}}
---
user:
2 + 2?
"""


def open_text(qtbot: QtBot, bench: Workbench, path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    bench.window.tabs.open(path)
    qtbot.waitUntil(lambda: bench.is_settled)
    return path


def write_more(qtbot: QtBot, bench: Workbench, text: str) -> None:
    page = bench.window.tabs.current
    assert page is not None
    page.editor.moveCursor(page.editor.textCursor().MoveOperation.End)
    page.editor.insertPlainText(text)
    qtbot.waitUntil(lambda: bench.is_settled)


def run(qtbot: QtBot, bench: Workbench) -> AnswerCard:
    card = bench.preview_pane.answer
    before = bench.run.state
    press_f5(qtbot, bench)
    qtbot.waitUntil(lambda: bench.run.state is not before and bench.run.state is not None)
    qtbot.waitUntil(lambda: card.answer.phase in ("done", "failed") and card.isVisible())
    return card


def words_of(card: AnswerCard) -> str:
    return "\n".join(label.text() for label in card.findChildren(QLabel) if label.isVisible())


def test_a_plain_prompt_is_answered_beside_its_text(
    qtbot: QtBot, bench: Workbench, server: ChatServer, tmp_path: Path
) -> None:
    server.script(streamed("**First** answer."), streamed("Second answer."))
    open_text(qtbot, bench, tmp_path / "chat.prompty", CHAT)
    card = bench.preview_pane.answer
    assert "F5" in words_of(card)
    run(qtbot, bench)
    qtbot.waitUntil(lambda: is_in_sight(bench, "First answer."))
    assert not bench.run_pane.isVisible()
    assert "11 in, 3 out" in words_of(card)
    assert "first word" in words_of(card)
    assert "free" in words_of(card)
    assert not card.older.isVisible()
    write_more(qtbot, bench, "there\n")
    qtbot.waitUntil(card.older.isVisible)
    run(qtbot, bench)
    qtbot.waitUntil(lambda: is_in_sight(bench, "Second answer."))
    qtbot.waitUntil(lambda: "run 2 of 2" in words_of(card) and not card.older.isVisible())

    card.before.click()
    qtbot.waitUntil(lambda: is_in_sight(bench, "First answer."))
    qtbot.waitUntil(lambda: "run 1 of 2" in words_of(card) and card.older.isVisible())
    assert not bench.run_pane.isVisible()
    assert len([each for each in server.requests if each.method == "POST"]) == 2

    page = bench.window.tabs.current
    assert page is not None
    qtbot.keyClick(page.editor, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(page.editor, Qt.Key.Key_R)
    qtbot.waitUntil(bench.run_pane.isVisible)
    assert bench.run_pane.view.record
    assert not card.isVisible()


def test_what_changed_since_the_run_is_marked_in_gutter_card_and_request(
    qtbot: QtBot, bench: Workbench, server: ChatServer, tmp_path: Path
) -> None:
    server.always(streamed("It is."))
    open_text(qtbot, bench, tmp_path / "chat.prompty", f"{CHAT}Say **one** word.\n")
    run(qtbot, bench)
    pane, page = bench.preview_pane, bench.window.tabs.current
    assert page is not None
    gutter = page.editor.findChildren(Gutter)[0]
    assert not pane.bar.changed.isVisible()
    cursor = page.editor.textCursor()
    cursor.setPosition(page.editor.toPlainText().index("word"))
    cursor.insertText("short ")
    qtbot.waitUntil(lambda: dict(gutter.changes) == {5: "changed"})
    qtbot.waitUntil(lambda: pane.bar.changed.isVisible() and bench.is_settled)
    assert pane.bar.changed.text() == "1 changed"
    [card] = pane.messages.cards
    qtbot.waitUntil(lambda: "short" in underlined(card.bodies[0]))
    assert underlined(card.bodies[0]).strip() == "short"
    pane.tabs.setCurrentIndex(1)
    qtbot.waitUntil(lambda: "tokens since the run" in words_of(pane.request))
    pane.bar.changed.click()
    qtbot.waitUntil(lambda: pane.diff.before.currentText() == "Last run")
    qtbot.waitUntil(lambda: "+ Say **one** short word." in pane.diff.view.toPlainText())
    run(qtbot, bench)
    qtbot.waitUntil(lambda: not pane.bar.changed.isVisible() and not gutter.changes)


def underlined(body: TextBody) -> str:
    found = ""
    block = body.document().begin()
    while block.isValid():
        pieces = block.begin()
        while not pieces.atEnd():
            piece = pieces.fragment()
            if piece.charFormat().fontUnderline():
                found += piece.text()
            pieces += 1
        block = block.next()
    return found


def test_answers_of_a_text_that_was_never_saved_are_looked_through(
    qtbot: QtBot, bench: Workbench, server: ChatServer
) -> None:
    server.script(streamed("First answer."), streamed("Second answer."))
    bench.window.tabs.new(CHAT, "new.prompty")
    qtbot.waitUntil(lambda: bench.is_settled)
    card = run(qtbot, bench)
    run(qtbot, bench)
    qtbot.waitUntil(lambda: "run 2 of 2" in words_of(card))
    card.before.click()
    qtbot.waitUntil(lambda: is_in_sight(bench, "First answer."))
    qtbot.waitUntil(lambda: "run 1 of 2" in words_of(card))


def test_an_answer_comes_back_from_the_history_after_many_other_runs(
    qtbot: QtBot,
    bench: Workbench,
    server: ChatServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sessions, "_MOST_RESTING", 1)
    server.script(*(streamed(f"Answer {number}.") for number in range(3)))
    for number in range(3):
        open_text(qtbot, bench, tmp_path / f"{number}.prompty", CHAT)
        run(qtbot, bench)
        qtbot.waitUntil(lambda number=number: is_in_sight(bench, f"Answer {number}."))
    bench.window.tabs.open(tmp_path / "0.prompty")
    qtbot.waitUntil(lambda: is_in_sight(bench, "Answer 0."))
    assert not bench.run_pane.isVisible()
    assert len([each for each in server.requests if each.method == "POST"]) == 3


def test_an_answer_for_other_inputs_says_so(
    qtbot: QtBot, bench: Workbench, server: ChatServer, tmp_path: Path
) -> None:
    server.always(streamed("It is."))
    text = "---\nname: Asked\ninputs:\n  q: {kind: string, default: Hi}\n---\nuser:\n{{ q }}\n"
    open_text(qtbot, bench, tmp_path / "asked.prompty", text)
    card = run(qtbot, bench)
    assert not card.older.isVisible()
    bench.inputs_pane.set_values({"q": "Ho"})
    qtbot.waitUntil(card.older.isVisible)
    assert card.older.text() == "for other inputs"
    run(qtbot, bench)
    qtbot.waitUntil(lambda: not card.older.isVisible())


def test_an_option_that_the_server_refuses_leaves_the_answer_beside_the_text(
    qtbot: QtBot, bench: Workbench, server: ChatServer, tmp_path: Path
) -> None:
    words = "Unsupported parameter: 'temperature' is not supported with this model."
    server.script(failure(400, words), streamed("Here it is."))
    text = "---\nname: Warm\nmodel: {options: {temperature: 0.3}}\n---\nuser:\nHi\n"
    open_text(qtbot, bench, tmp_path / "warm.prompty", text)
    run(qtbot, bench)
    qtbot.waitUntil(lambda: is_in_sight(bench, "Here it is."))
    assert "0.3 is left out" in words_of(bench.preview_pane.answer)
    assert not bench.run_pane.isVisible()


def test_an_answer_of_a_text_without_a_name_is_kept_once_it_is_saved(
    qtbot: QtBot,
    bench: Workbench,
    server: ChatServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server.always(streamed("It is."))
    bench.window.tabs.new(CHAT, "new.prompty")
    qtbot.waitUntil(lambda: bench.is_settled)
    card = run(qtbot, bench)
    named = tmp_path / "named.prompty"
    monkeypatch.setattr(page_files, "_ask_save", lambda *_: named)
    qtbot.mouseClick(card.keep, Qt.MouseButton.LeftButton)
    cases = tmp_path / "named.cases.csv"
    qtbot.waitUntil(cases.exists)
    assert "It is." in cases.read_text(encoding="utf-8")
    assert len([each for each in server.requests if each.method == "POST"]) == 1
    assert card.isVisible()
    write_more(qtbot, bench, "there\n")
    qtbot.waitUntil(card.older.isVisible)


def test_declared_outputs_are_rows_with_their_check(
    qtbot: QtBot, bench: Workbench, server: ChatServer, tmp_path: Path
) -> None:
    good, bad = {"queue": "safety", "urgency": 5}, {"queue": "gas", "urgency": 5}
    server.script(streamed(json.dumps(good)), streamed(json.dumps(bad)), streamed(json.dumps(good)))
    open_text(qtbot, bench, tmp_path / "triage.prompty", TRIAGE)
    card = run(qtbot, bench)
    assert [(row.name, row.text, row.problem) for row in card.answer.rows] == [
        ("queue", "safety", ""),
        ("urgency", "5", ""),
    ]
    assert "fits 2 of 2 outputs" in words_of(card)
    run(qtbot, bench)
    assert "'gas' is not one of" in words_of(card)
    assert "fits 1 of 2 outputs" in words_of(card)
    assert not bench.run_pane.isVisible()
    again = next(each for each in card.offers if each.text() == "Ask again with the errors")
    qtbot.mouseClick(again, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "fits 2 of 2 outputs" in words_of(card))
    assert not bench.run_pane.isVisible()


def test_stop_keeps_what_came(
    qtbot: QtBot, bench: Workbench, server: ChatServer, tmp_path: Path
) -> None:
    async def half(exchange: Exchange) -> None:
        await exchange.head()
        await exchange.event(chunk({"role": "assistant", "content": "Half an"}))
        await asyncio.Event().wait()

    server.always(half)
    open_text(qtbot, bench, tmp_path / "chat.prompty", CHAT)
    press_f5(qtbot, bench)
    card = bench.preview_pane.answer
    qtbot.waitUntil(lambda: is_in_sight(bench, "Half an"))
    assert card.answer.phase == "streaming"
    qtbot.mouseClick(card.stop, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: card.answer.phase == "done")
    qtbot.waitUntil(lambda: is_in_sight(bench, "Half an"))
    assert "Stopped" in words_of(card)
    assert not bench.run_pane.isVisible()


def test_a_failed_answer_has_the_providers_sentence_and_is_tried_again(
    qtbot: QtBot, bench: Workbench, server: ChatServer, tmp_path: Path
) -> None:
    server.script(failure(400, "The moon is in the way."), streamed("Here it is."))
    open_text(qtbot, bench, tmp_path / "chat.prompty", CHAT)
    card = run(qtbot, bench)
    assert "The moon is in the way." in words_of(card)
    assert not bench.run_pane.isVisible()
    again = next(each for each in card.offers if each.text() == "Try again")
    qtbot.mouseClick(again, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: is_in_sight(bench, "Here it is."))


def test_a_step_a_tool_and_a_breakpoint_open_the_runs_place(
    qtbot: QtBot, bench: Workbench, server: ChatServer, tmp_path: Path
) -> None:
    server.always(streamed("Four."))
    pane, tabs = bench.run_pane, bench.window.tabs
    plain = open_text(qtbot, bench, tmp_path / "chat.prompty", CHAT)
    page = tabs.current
    assert page is not None
    qtbot.keyClick(page.editor, Qt.Key.Key_F10)
    qtbot.waitUntil(lambda: pane.isVisible() and bench.run.view.is_waiting)

    open_text(qtbot, bench, tmp_path / "sum.prompty", TOOL)
    assert not pane.isVisible()
    assert bench.preview_pane.isVisible()
    press_f5(qtbot, bench)
    qtbot.waitUntil(pane.isVisible)
    qtbot.waitUntil(lambda: not bench.run.is_live)

    tabs.open(plain)
    qtbot.waitUntil(lambda: pane.isVisible() and bench.run.view.is_waiting)
    press_f5(qtbot, bench)
    qtbot.waitUntil(lambda: not bench.run.is_live)
    bench.window.docks.write()
    page.editor.go_to_line(4)
    bench.window.actions_by_id["run.breakpoint"].trigger()
    press_f5(qtbot, bench)
    qtbot.waitUntil(lambda: bench.run.view.place == PausePoint.BEFORE_REQUEST)
    qtbot.waitUntil(pane.isVisible)


def test_a_thread_goes_on_below_the_answer(
    qtbot: QtBot, bench: Workbench, server: ChatServer, tmp_path: Path
) -> None:
    server.script(streamed("Two."), streamed("Four."))
    open_text(qtbot, bench, tmp_path / "chat.prompty", CHAT)
    card = run(qtbot, bench)
    qtbot.mouseClick(card.reply, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(card.line.hasFocus)
    qtbot.keyClicks(card.line, "And twice that?")
    qtbot.keyClick(card.line, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: card.answer.text.endswith("Four.") and card.answer.phase == "done")
    assert "And twice that?" in card.answer.text
    assert not bench.run_pane.isVisible()


def test_an_experiment_has_the_width_and_f5_in_the_run_beside_it_runs_it(
    qtbot: QtBot, bench: Workbench, server: ChatServer, tmp_path: Path
) -> None:
    server.always(streamed("Four."))
    open_text(qtbot, bench, tmp_path / "chat.prompty", CHAT)
    run(qtbot, bench)
    docks = bench.window.docks
    docks.show("run")
    file = tmp_path / "chat.experiment.yaml"
    file.write_text(
        "prompts: [chat.prompty]\ntests:\n- {vars: {a: 1}}\n- {vars: {a: 2}}\n", encoding="utf-8"
    )
    bench.window.tabs.open(file)
    assert not bench.run_pane.isVisible()
    (view,) = bench.experiments._views
    qtbot.waitUntil(lambda: view.controller.plan is not None)
    docks.show("run")
    assert bench.run_pane.isVisible()
    sent = len([each for each in server.requests if each.method == "POST"])
    bench.run_pane.timeline.setFocus()
    qtbot.keyClick(bench.run_pane.timeline, Qt.Key.Key_F5)
    qtbot.waitUntil(lambda: view.controller.report is not None)
    assert len([each for each in server.requests if each.method == "POST"]) > sent
    table = view.table
    table.setCurrentIndex(view.controller.model.index(1, 2))
    docks.write()
    docks.show("run")
    qtbot.waitUntil(
        lambda: table.viewport().rect().contains(table.visualRect(table.currentIndex()))
    )


@pytest.mark.parametrize("language", ["en", "de"], indirect=True)
def test_figures_of_a_chat_prompt_after_f5(
    qtbot: QtBot, language: str, bench: Workbench, server: ChatServer
) -> None:
    """The text, its messages, the whole answer and what it took are seen at once."""
    answer = "\n".join(f"This is line {number} of the answer." for number in range(1, 13))
    server.always(streamed(answer))
    bench.window.resize(1440, 900)
    bench.window.tabs.open(resource("examples", "chat.prompty"))
    qtbot.waitUntil(lambda: bench.is_settled)
    card = run(qtbot, bench)
    page = bench.window.tabs.current
    assert page is not None
    qtbot.waitUntil(lambda: is_in_sight(bench, answer))
    rows = page.editor.viewport().height() // page.editor.fontMetrics().lineSpacing()
    assert rows >= 34
    for message in bench.preview_pane.messages.cards:
        assert message.visibleRegion().boundingRect() == message.rect()
    assert "ms" in words_of(card) or " s" in words_of(card)
    assert tr("free") in words_of(card)
    assert not bench.run_pane.isVisible()
    assert bench.inputs_pane.height() <= 40
