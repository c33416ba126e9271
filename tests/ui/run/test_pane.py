from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QApplication,
    QLabel,
    QLineEdit,
    QPushButton,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from studio.application.run.past.record import RunRecord
from studio.core.agent.values.breakpoints import Breakpoint
from studio.core.agent.values.commands import Command
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.step import PausePoint
from studio.core.models.base import ModelError
from studio.core.models.scripted import DEFAULT_CHUNK, ScriptedTurn
from studio.core.text.values import JsonObject
from studio.core.tools.source import Tell, ToolOutcome
from studio.core.wire.reply import Reply, ToolCall
from studio.ui.run.breakpoints_dialog import BreakpointsDialog
from studio.ui.run.compare_dialog import RunComparisonDialog, RunOverviewDialog
from studio.ui.run.inspector.tabs import TABS, UsageTable
from studio.ui.run.pane import RunPane
from studio.ui.style.application import apply_theme
from studio.ui.style.theme import DARK, LIGHT
from studio.viewmodels.app.background import Background
from studio.viewmodels.run.controller import RunController
from tests.application.run.world import (
    BROKEN,
    CALCULATE,
    FINAL,
    LOOKUP,
    HeldModel,
    ListJournal,
    LocalTools,
    plan,
)
from tests.support.themes import wear

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")


class Bench:
    """A pane and a controller, wired as the window wires them."""

    def __init__(self, qtbot: QtBot, background: Background) -> None:
        self.qtbot = qtbot
        self.journal = ListJournal()
        self.controller = RunController(background, self.journal)
        self.pane = RunPane()
        self.said: list[str] = []
        pane, controller = self.pane, self.controller
        self.dialog = BreakpointsDialog(controller.breakpoints, pane)
        controller.state_changed.connect(pane.show_view)
        controller.inspector_changed.connect(pane.inspector.show_inspector)
        controller.compared.connect(pane.show_comparison)
        controller.refused.connect(self.said.append)
        pane.commands.request_commands.connect(self.send)
        pane.views.request_inspection.connect(controller.inspect)
        pane.diagram.break_toggled.connect(controller.breakpoints.toggle_place)
        pane.commands.request_fork.connect(controller.fork_from)
        pane.bar.branch_chosen.connect(controller.go_to)
        pane.head.branch_chosen.connect(controller.go_to)
        pane.timeline.request_branch.connect(controller.go_to)
        pane.bar.branch_named.connect(controller.name_branch)
        pane.commands.request_run_to.connect(controller.run_to)
        pane.bar.compare_chosen.connect(controller.compare_branches)
        pane.commands.request_record_move.connect(controller.move_record)
        pane.request_breakpoints.connect(self.dialog.show)
        pane.resize(1200, 480)
        qtbot.addWidget(pane)
        pane.show()

    def send(self, commands: tuple[Command, ...]) -> None:
        self.controller.send(*commands)

    def until_waiting(self, words: str = "") -> None:
        self.qtbot.waitUntil(
            lambda: self.controller.view.is_waiting and words in self.pane.bar.sentence.whole
        )

    def until_over(self) -> None:
        self.qtbot.waitUntil(
            lambda: self.controller.state is not None and not self.controller.is_live
        )

    def button(self, label: str) -> QPushButton:
        return next(one for one in self.pane.actions_bar.buttons if one.text() == label)

    def click(self, widget: QPushButton | QToolButton) -> None:
        self.qtbot.mouseClick(widget, Qt.MouseButton.LeftButton)


@pytest.fixture
def bench(qtbot: QtBot, qapp: QApplication) -> Iterator[Bench]:
    apply_theme(qapp, LIGHT)
    background = Background()
    one = Bench(qtbot, background)
    yield one
    one.controller.close()
    background.stop()
    one.pane.close()


def test_an_empty_pane_says_what_to_do(bench: Bench) -> None:
    words = [label.text() for label in bench.pane.findChildren(QLabel) if label.isVisible()]

    assert any("Press Run (F5)" in text for text in words)
    assert bench.pane.bar.run.isEnabled()
    assert not bench.pane.bar.stop.isEnabled()


def test_run_is_asked_for_and_step_stands_at_the_first_place(bench: Bench) -> None:
    asked: list[bool] = []
    bench.pane.commands.request_run.connect(asked.append)

    bench.pane.bar.run.trigger()
    bench.pane.bar.over.trigger()
    bench.pane.bar.out.trigger()  # disabled: nothing to step out of

    assert asked == [False, True]


def test_a_react_run_is_stepped_through_thought_action_observation_final(bench: Bench) -> None:
    bench.controller.start(plan([LOOKUP, FINAL]), at_entry=True)
    live: list[str | None] = []
    tabs: list[str] = []
    while True:
        before = bench.controller.state
        bench.qtbot.waitUntil(
            lambda before=before: (
                bench.controller.state is not before
                and (bench.controller.view.is_waiting or not bench.controller.is_live)
            )
        )
        live.append(bench.pane.diagram.state.live)
        tabs.append(bench.pane.inspector.tab)
        if not bench.controller.is_live:
            break
        bench.pane.bar.over.trigger()

    assert live == [
        "prompt",
        "reply",
        "action",
        "observation",
        "prompt",
        "reply",
        "final",
        "done",
    ]
    assert tabs == [
        "messages",
        "reply",
        "tool",
        "tool",
        "messages",
        "reply",
        "reply",
        "reply",
    ]
    assert [card.kind for card in bench.pane.timeline.cards] == [
        "prompt",
        "thought",
        "action",
        "observation",
        "prompt",
        "thought",
        "final",
    ]
    assert "It is **Paris**, and 25." in bench.pane.inspector.text_of("reply")


def test_arguments_are_edited_in_place_and_the_run_goes_on(bench: Bench) -> None:
    tools = LocalTools()
    bench.controller.breakpoints.toggle_place(PausePoint.TOOL_CALL)
    bench.controller.start(plan([LOOKUP, FINAL], tools=tools))
    bench.until_waiting("before the tool runs: lookup")

    bench.click(bench.button("Edit arguments…"))
    field = bench.pane.editor.field
    assert field.isVisible()
    assert field.toPlainText() == '{\n  "fact": "capital of France"\n}'
    field.selectAll()
    bench.qtbot.keyClicks(field, '{"fact": "capital of')
    apply = next(
        one for one in bench.pane.editor.findChildren(QPushButton) if one.text() == "Apply"
    )
    assert not apply.isEnabled()  # cut JSON is said to be wrong, and is not taken
    bench.qtbot.keyClicks(field, ' Italy"}')
    assert apply.isEnabled()
    bench.qtbot.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    bench.until_waiting("with the tool's result")

    assert tools.called == [("lookup", {"fact": "capital of Italy"})]
    bench.pane.commands.run_or_continue()
    bench.until_over()
    bench.pane.timeline.choose((1, "action", 0))
    assert "Rome" in bench.pane.inspector.text_of("tool")
    assert "edited by you" in bench.pane.inspector.text_of("tool")


def test_escape_leaves_an_edit_without_a_trace(bench: Bench) -> None:
    bench.controller.start(plan([LOOKUP, FINAL]), at_entry=True)
    bench.until_waiting()
    bench.click(bench.button("Insert a message…"))
    bench.qtbot.keyClicks(bench.pane.editor.field, "be quick")
    bench.qtbot.keyClick(bench.pane.editor.field, Qt.Key.Key_Escape)

    assert not bench.pane.editor.isVisible()
    assert bench.controller.state is not None
    assert bench.controller.state.steering == ()


def test_f5_does_not_throw_a_written_text_away(bench: Bench) -> None:
    bench.controller.start(plan([FINAL, FINAL]))
    bench.until_over()
    state = bench.controller.view.state
    bench.click(bench.button("Continue with a message…"))
    bench.qtbot.waitUntil(bench.pane.editor.isVisible)
    bench.qtbot.keyClicks(bench.pane.editor.field, "Where is it?")
    asked: list[bool] = []
    bench.pane.commands.request_run.connect(asked.append)
    bench.pane.commands.run_or_continue()
    bench.pane.commands.step()
    bench.pane.commands.restart()
    assert (asked, bench.pane.editor.field.toPlainText()) == ([], "Where is it?")
    assert bench.controller.view.state is state
    assert "not applied yet" in bench.pane.editor._problem.text()
    bench.qtbot.keyClick(bench.pane.editor.field, Qt.Key.Key_Escape)
    bench.pane.commands.run_or_continue()
    assert asked == [False]


def test_messages_are_edited_before_they_are_sent(bench: Bench) -> None:
    started = plan([FINAL])
    bench.controller.start(started, at_entry=True)
    bench.until_waiting()
    bench.click(bench.button("Edit messages…"))
    bench.qtbot.waitUntil(bench.pane.editor.isVisible)
    editor = bench.pane.editor._messages
    editor._text.setPlainText("Only say hello.")
    bench.click(bench.pane.editor._step)
    bench.until_waiting("with the reply")

    request = started.model.requests[0]  # type: ignore[attr-defined]
    assert request.messages[-1].text == "Only say hello."


def test_a_call_is_rejected_with_a_reason_that_the_model_reads(bench: Bench) -> None:
    tools = LocalTools()
    started = plan([LOOKUP, FINAL], tools=tools, approval="always")
    bench.controller.start(started)
    bench.until_waiting("Waiting for your approval")
    bench.click(bench.button("Reject…"))
    bench.qtbot.keyClicks(bench.pane.editor.field, "not allowed today")
    bench.click(bench.pane.editor._apply)
    bench.until_over()

    assert tools.called == []
    assert "not allowed today" in started.model.requests[1].messages[-1].text  # type: ignore[attr-defined]
    card = next(card for card in bench.pane.timeline.cards if card.kind == "action")
    assert card.badges == ("rejected",)


@pytest.mark.parametrize("press", ["F5", "F10", "F11", "Shift+F11", "run to"])
def test_the_keys_that_go_on_lead_to_the_choice_and_do_not_make_it(
    bench: Bench, press: str
) -> None:
    tools = LocalTools()
    bench.controller.start(plan([LOOKUP, FINAL], tools=tools, approval="always"))
    bench.until_waiting("Waiting for your approval")
    pane = bench.pane
    {
        "F5": pane.commands.run_or_continue,
        "F10": pane.commands.step,
        "F11": lambda: pane.commands.step("into"),
        "Shift+F11": lambda: pane.commands.step("out"),
        "run to": lambda: pane.diagram.request_run_to.emit(PausePoint.ANSWER),
    }[press]()

    assert bench.button("Approve").hasFocus()
    assert pane.actions_bar.is_flashing
    bench.qtbot.waitUntil(lambda: not pane.actions_bar.is_flashing)
    assert tools.called == []
    assert bench.said == []
    assert bench.controller.view.is_waiting
    pane.commands.approve()
    bench.until_over()
    assert len(tools.called) == 1


def test_what_is_being_written_at_a_choice_stays(bench: Bench) -> None:
    bench.controller.start(plan([LOOKUP, FINAL], approval="always"))
    bench.until_waiting("Waiting for your approval")
    bench.click(bench.button("Reject…"))
    bench.qtbot.keyClicks(bench.pane.editor.field, "not today")
    bench.pane.timeline.setFocus()
    bench.pane.commands.run_or_continue()
    assert bench.pane.editor.field.hasFocus()
    assert bench.pane.editor.field.toPlainText() == "not today"


def test_only_a_call_can_be_approved_by_the_key(bench: Bench) -> None:
    heard: list[bool] = []
    bench.pane.approvable_changed.connect(heard.append)
    bench.controller.start(plan([LOOKUP, FINAL], approval="always"), at_entry=True)
    bench.until_waiting("before the request")
    bench.pane.commands.approve()
    assert bench.controller.view.place == PausePoint.BEFORE_REQUEST
    assert set(heard) == {False}
    bench.pane.commands.run_or_continue()
    bench.until_waiting("Waiting for your approval")
    assert heard[-1]


def test_a_broken_reply_is_repaired_after_a_click(bench: Bench) -> None:
    tools = LocalTools()
    bench.controller.start(plan([BROKEN, FINAL], tools=tools))
    bench.until_waiting("invalid")
    assert bench.pane.diagram.state.phase == "error"
    repair = bench.pane.actions_bar.buttons[1]
    assert "comma" in repair.text().lower()
    bench.click(repair)
    bench.until_waiting("before the tool runs")
    bench.pane.commands.run_or_continue()
    bench.until_over()

    assert tools.called == [("lookup", {"fact": "capital of France"})]
    card = next(card for card in bench.pane.timeline.cards if card.kind == "thought")
    assert "repaired" in card.badges


def test_stop_ends_a_stream_and_keeps_its_text(bench: Bench) -> None:
    bench.controller.start(plan([ScriptedTurn(Reply("Thought: I was just"), hangs=True)]))
    bench.qtbot.waitUntil(lambda: "just" in bench.pane.inspector.text_of("reply"))
    assert bench.pane.inspector.tab == "reply"
    assert bench.pane.bar.pause.isEnabled()
    bench.pane.bar.stop.trigger()
    bench.until_over()

    assert bench.pane.bar.sentence.whole == "Stopped"
    assert "Thought: I was just" in bench.pane.inspector.text_of("reply")
    assert bench.pane.bar.run.isEnabled()


def test_a_model_error_says_what_happened_and_what_to_do(bench: Bench) -> None:
    error = ModelError("unauthorised", "The server refused the key.", "Check it in Settings.")
    bench.controller.start(plan([error, FINAL]))
    bench.until_waiting("The model did not respond")
    labels = [one.text() for one in bench.pane.actions_bar.findChildren(QLabel)]

    assert "The model did not respond." in labels
    assert "The server refused the key. Check it in Settings." in labels
    bench.click(bench.button("Try again"))
    bench.until_over()
    assert bench.pane.bar.sentence.whole.startswith("Done")


def test_the_person_looks_at_an_earlier_card_while_the_run_goes_on(bench: Bench) -> None:
    model = HeldModel([LOOKUP, CALCULATE, FINAL])
    bench.controller.start(plan(model))
    model.go_on(len(LOOKUP) // DEFAULT_CHUNK + 2)  # its last piece, and that it has ended
    bench.qtbot.waitUntil(lambda: len(bench.pane.timeline.cards) > 4)
    bench.pane.timeline.choose((1, "thought", None))
    assert not bench.pane.timeline.is_following
    model.go_on(100)
    bench.until_over()

    chosen = bench.pane.timeline.current_card
    assert chosen is not None
    assert chosen.key == (1, "thought", None)
    assert "I look it up." in bench.pane.inspector.text_of("reply")
    assert bench.pane.timeline.geometry().intersected(_place(bench.pane.steps.back)).isEmpty()
    bench.click(bench.pane.steps.follow)
    assert bench.pane.inspector.tab == "reply"


def _place(button: QWidget) -> QRect:
    """The place of a button in the column of steps."""
    column = button.parentWidget().parentWidget()
    return QRect(button.mapTo(column, QPoint()), button.size())


def test_a_breakpoint_is_set_by_the_diagram(bench: Bench) -> None:
    bench.pane.diagram.setFocus()
    for _ in range(3):
        bench.qtbot.keyClick(bench.pane.diagram, Qt.Key.Key_Right)
    bench.qtbot.keyClick(bench.pane.diagram, Qt.Key.Key_F9)
    assert bench.controller.breakpoints.value.places == {PausePoint.TOOL_CALL}

    bench.controller.start(plan([LOOKUP, FINAL]))
    bench.until_waiting("Breakpoint before the tool runs: lookup")


def test_native_calls_are_rows_of_their_own(bench: Bench) -> None:
    calls = (
        ToolCall("c1", "lookup", '{"fact": "capital of France"}'),
        ToolCall("c2", "calculator", '{"expression": "5 ** 2"}'),
    )
    bench.controller.start(
        plan([Reply("I look.", tool_calls=calls), "Paris."], example="tool-calling-agent.prompty")
    )
    bench.until_over()
    kinds = [(card.kind, card.call) for card in bench.pane.timeline.cards[:6]]

    assert kinds == [
        ("prompt", None),
        ("thought", None),
        ("action", 0),
        ("observation", 0),
        ("action", 1),
        ("observation", 1),
    ]
    bench.pane.timeline.choose((1, "action", 1))
    assert "call 2 of 2" in bench.pane.inspector.text_of("tool")


def test_going_back_from_a_card_makes_a_branch(bench: Bench) -> None:
    bench.controller.start(plan([LOOKUP, FINAL, FINAL]))
    bench.until_over()
    card = next(card for card in bench.pane.timeline.cards if card.kind == "observation")
    bench.pane.commands.request_fork.emit(card)
    bench.until_waiting("with the tool's result")

    bench.click(bench.button("Edit observation…"))
    bench.pane.editor.field.setPlainText("Lutetia")
    bench.click(bench.pane.editor._step)
    bench.until_waiting("before the request")
    assert "Lutetia" in bench.pane.inspector.text_of("messages")


def test_the_only_changes_switch_folds_and_a_click_on_a_fold_opens(bench: Bench) -> None:
    bench.controller.start(plan([LOOKUP, FINAL]), at_entry=True)
    bench.until_waiting()
    for place in ("with the reply", "before the tool", "with the tool's", "before the request"):
        bench.pane.commands.step("over")
        bench.until_waiting(place)
    whole = bench.pane.inspector.text_of("messages")
    bench.click(bench.pane.inspector.only_changes)
    folded = bench.pane.inspector.text_of("messages")

    assert "lines as before" in folded
    assert len(folded) < len(whole)
    bench.pane.inspector._texts["messages"].fold_clicked.emit()
    assert bench.pane.inspector.text_of("messages") == whole


def test_both_themes_keep_what_is_shown(bench: Bench) -> None:
    bench.controller.start(plan([LOOKUP, FINAL]))
    bench.until_over()
    before = bench.pane.inspector.text_of("reply")
    wear(DARK)
    picture = bench.pane.grab().toImage()
    for view in bench.pane.findChildren(QAbstractScrollArea):
        ground = view.viewport().palette().color(view.viewport().backgroundRole())
        assert ground.lightness() < 90, view

    assert bench.pane.inspector.text_of("reply") == before
    assert picture.pixelColor(600, 470).lightness() < 90


def test_everything_can_be_named_to_a_screen_reader(bench: Bench) -> None:
    bench.controller.start(plan([LOOKUP, FINAL]), at_entry=True)
    bench.until_waiting()
    for button in bench.pane.findChildren(QToolButton):
        if button.isVisible() and button.parent() is not None:
            assert button.accessibleName() or button.text() or button.toolTip(), button
    interface = QAccessible.queryAccessibleInterface(bench.pane.diagram)
    assert interface.text(QAccessible.Text.Description) == "Ready before the request is sent"


def test_the_list_of_breakpoints_is_opened_from_the_bar(bench: Bench) -> None:
    bench.pane.bar.breakpoints.trigger()

    assert bench.dialog.isVisible()
    bench.dialog.close()


def test_a_run_of_the_past_is_read_place_by_place(bench: Bench) -> None:
    bench.controller.start(plan([LOOKUP, FINAL]))
    bench.until_over()
    bench.controller.open_record(RunRecord("From history", tuple(bench.journal.events)))
    started: list[bool] = []
    bench.pane.commands.request_run.connect(started.append)

    assert bench.pane.bar.sentence.whole.startswith("From history · Done")
    labels = [button.text() for button in bench.pane.actions_bar.buttons]
    assert labels == ["Continue from here", "Run again with these results", "Replay exactly"]
    bench.pane.bar.out.trigger()  # the place before
    assert bench.pane.diagram.state.live == "final"
    bench.pane.bar.out.trigger()
    bench.pane.bar.out.trigger()
    bench.pane.bar.out.trigger()
    assert bench.pane.timeline.cards[-1].kind in ("observation", "action")
    bench.pane.bar.over.trigger()
    assert started == []
    bench.pane.bar.run.trigger()
    assert started == [False]
    bench.controller.open_record(RunRecord("From history", tuple(bench.journal.events)))
    bench.pane.commands.step()  # at its end
    assert started == [False, True]


def test_two_branches_are_compared_at_the_place_where_they_part(bench: Bench) -> None:
    bench.controller.start(plan([LOOKUP, FINAL, FINAL]))
    bench.until_over()
    assert not bench.pane.bar.branches.isVisible()
    card = next(card for card in bench.pane.timeline.cards if card.kind == "observation")
    bench.pane.commands.request_fork.emit(card)
    bench.until_waiting("with the tool's result")
    bench.click(bench.button("Edit observation…"))
    bench.pane.editor.field.setPlainText("Lutetia")
    bench.click(bench.pane.editor._step)
    bench.until_waiting("before the request")
    bench.pane.commands.run_or_continue()
    bench.until_over()

    assert bench.pane.bar.branches.isVisible()
    menu = bench.pane.bar.branch_menu()
    labels = [action.text() for action in menu.actions() if action.text()]
    assert len(labels) == 4
    assert labels[2].startswith("Compare Branch 1 with Branch")
    assert labels[3].startswith("Name Branch")
    next(each for each in menu.actions() if each.text() == labels[2]).trigger()
    dialog = bench.pane.findChild(RunComparisonDialog)
    assert dialog is not None
    assert dialog.isVisible()
    row = dialog.table.currentIndex().row()
    assert dialog.model.index(row, 0).data() == "Observation: Paris"
    assert dialog.model.index(row, 2).data() == "Observation: Lutetia  ·  edited  ·  forked"
    assert (dialog.left.toPlainText(), dialog.right.toPlainText()) == ("Paris", "Lutetia")
    with bench.qtbot.waitActive(dialog):
        dialog.activateWindow()
    bench.qtbot.keyClick(dialog.table, Qt.Key.Key_F8)
    later = dialog.table.currentIndex().row()
    assert later > row
    assert "Lutetia" in dialog.right.toPlainText()
    bench.qtbot.keyClick(dialog.table, Qt.Key.Key_F8, Qt.KeyboardModifier.ShiftModifier)
    assert dialog.table.currentIndex().row() == row
    dialog.only_differences.click()
    assert dialog.model.rowCount() == len(dialog.model.rows) < later + 10
    assert {dialog.model.index(at, 1).data() for at in range(dialog.model.rowCount())} == {"≠"}
    dialog.close()

    menu.actions()[0].trigger()  # back to the end of the first way
    bench.until_waiting("with the answer")
    assert any("Paris" in card.summary for card in bench.pane.timeline.cards)


def test_words_are_found_in_the_whole_run(bench: Bench) -> None:
    bench.controller.start(plan([LOOKUP, CALCULATE, FINAL]))
    bench.until_over()
    with bench.qtbot.waitActive(bench.pane):
        bench.pane.activateWindow()
    bench.pane.timeline.setFocus()
    bench.qtbot.keyClick(bench.pane.timeline, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    field = bench.pane.search.field
    assert field.isVisible()
    bench.qtbot.keyClicks(field, "five letters")
    bench.qtbot.keyClick(field, Qt.Key.Key_Return)
    count = bench.pane.search.count
    bench.qtbot.waitUntil(lambda: count.text() == "1 of 2")

    card = bench.pane.timeline.current_card
    assert card is not None
    assert card.step == 2
    assert card.kind == "thought"
    assert bench.pane.inspector.tab == "reply"
    bench.qtbot.keyClick(field, Qt.Key.Key_Return)
    bench.qtbot.waitUntil(lambda: count.text() == "2 of 2")
    card = bench.pane.timeline.current_card
    assert card is not None
    assert (card.step, card.kind) == (3, "prompt")
    bench.qtbot.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    bench.qtbot.waitUntil(lambda: count.text() == "1 of 2")
    bench.qtbot.keyClicks(field, " that nobody said")
    bench.qtbot.keyClick(field, Qt.Key.Key_Return)
    bench.qtbot.waitUntil(lambda: count.text() == "nowhere")
    bench.qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert not bench.pane.search.isVisible()


def test_expressions_are_watched_while_the_run_is_stepped(bench: Bench) -> None:
    bench.controller.start(plan([LOOKUP, FINAL]), at_entry=True)
    bench.until_waiting()
    bench.pane.inspector.tab_chosen.emit("watch")
    watch = bench.pane.inspector.watch
    watch.item(0, 0).setText("args.fact")
    watch.item(1, 0).setText("nothing")

    def values() -> list[str]:
        return [watch.item(row, 1).text() for row in range(watch.rowCount() - 1)]

    assert values()[0] == "null"
    assert "there is no 'nothing'" in values()[1]
    for _ in range(2):
        before = bench.controller.state
        bench.pane.bar.over.trigger()
        bench.qtbot.waitUntil(
            lambda before=before: (
                bench.controller.state is not before and bench.controller.view.is_waiting
            )
        )
    assert bench.pane.inspector.tab == "watch"
    assert values()[0] == '"capital of France"'
    watch.setCurrentCell(1, 0)
    watch._remove()
    assert watch.expressions == ("args.fact",)


def test_a_branch_is_named_and_the_name_is_kept_with_the_run(bench: Bench) -> None:
    named: list[tuple[str, int, str]] = []
    bench.controller.branch_named.connect(lambda *told: named.append(told))
    bench.controller.start(plan([LOOKUP, FINAL, FINAL]))
    bench.until_over()
    bench.pane.timeline.choose((1, "observation", 0))
    bench.qtbot.keyClick(
        bench.pane.timeline, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier
    )
    bench.until_waiting("with the tool's result")
    assert bench.pane.timeline.is_following  # the chosen card is the run's own place now
    assert not bench.pane.diagram.state.is_past
    current = next(one for one in bench.pane.view.branches if one.is_current)
    dialog = bench.pane.bar.ask_name(current)
    field = dialog.findChild(QLineEdit)
    assert field is not None
    field.selectAll()
    bench.qtbot.keyClicks(field, "with Lyon")
    bench.qtbot.keyClick(field, Qt.Key.Key_Return)

    run = bench.controller.state.setup.run if bench.controller.state else ""
    assert named == [(run, current.number, "with Lyon")]
    assert [one.title for one in bench.pane.view.branches] == ["Branch 1", "with Lyon"]


def test_an_earlier_card_is_edited_by_one_key(bench: Bench) -> None:
    bench.controller.start(plan([LOOKUP, FINAL, FINAL]))
    bench.until_over()
    bench.pane.timeline.choose((1, "observation", 0))
    bench.qtbot.keyClick(bench.pane.timeline, Qt.Key.Key_F2)
    bench.qtbot.waitUntil(bench.pane.editor.isVisible)
    assert bench.pane.editor.field.toPlainText() == "Paris"
    bench.pane.editor.field.setPlainText("Lutetia")
    bench.qtbot.keyClick(
        bench.pane.editor.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier
    )
    bench.until_waiting("before the request")
    assert "Lutetia" in bench.pane.inspector.text_of("messages")


def test_a_call_is_skipped_with_a_result_from_its_card(bench: Bench) -> None:
    tools = LocalTools()
    bench.controller.start(plan([LOOKUP, FINAL, FINAL], tools=tools))
    bench.until_over()
    card = next(card for card in bench.pane.timeline.cards if card.kind == "action")
    menu = bench.pane.timeline.menu_of(card)
    next(each for each in menu.actions() if each.text().startswith("Skip")).trigger()
    bench.qtbot.waitUntil(bench.pane.editor.isVisible)
    bench.qtbot.keyClicks(bench.pane.editor.field, "Lutetia")
    bench.click(bench.pane.editor._apply)
    bench.until_over()

    assert len(tools.called) == 1
    told = next(card for card in bench.pane.timeline.cards if card.kind == "observation")
    assert (told.summary, told.badges) == ("Lutetia", ("answered",))


def test_a_run_goes_on_again_from_an_earlier_card(bench: Bench) -> None:
    bench.controller.start(plan([LOOKUP, FINAL, "Final Answer: another end"]))
    bench.until_over()
    bench.pane.timeline.choose((2, "prompt", None))
    modifiers = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    bench.qtbot.keyClick(bench.pane.timeline, Qt.Key.Key_Return, modifiers)
    bench.qtbot.waitUntil(lambda: len(bench.pane.view.branches) == 2)
    bench.until_over()
    assert bench.controller.state is not None
    assert bench.controller.state.answer == "another end"


def test_it_runs_to_a_node_of_the_diagram(bench: Bench) -> None:
    bench.controller.start(plan([LOOKUP, CALCULATE, FINAL]), at_entry=True)
    bench.until_waiting("before the request")
    menu = bench.pane.diagram.menu_of("observation")
    menu.actions()[1].trigger()
    bench.until_waiting("Paused with the tool's result")
    assert not bench.pane.diagram.state.breakpoints


def test_watches_are_told_and_taken(bench: Bench) -> None:
    told: list[tuple[str, ...]] = []
    bench.pane.views.watches_changed.connect(told.append)
    bench.controller.start(plan([LOOKUP, FINAL]), at_entry=True)
    bench.until_waiting()
    bench.pane.inspector.watch.expressions_changed.emit(("iteration",))
    assert told == [("iteration",)]
    bench.pane.views.show_watches(("calls", "cost"))
    assert bench.pane.inspector.watch.expressions == ("calls", "cost")


def test_what_outlasts_the_run_is_asked_where_it_makes_sense(bench: Bench) -> None:
    asked: list[tuple[str, str]] = []
    bench.pane.editor.request_file.connect(
        lambda spec, result: asked.append((spec.kind, result.text))
    )
    bench.controller.breakpoints.toggle_place(PausePoint.OBSERVATION)
    bench.controller.start(plan([LOOKUP, FINAL]), at_entry=True)
    bench.until_waiting("before the request")
    also = bench.pane.editor.also_file
    bench.click(bench.button("Insert a message…"))
    assert not also.isVisible()
    assert bench.pane.editor._only_here.isVisible()
    bench.qtbot.keyClick(bench.pane.editor.field, Qt.Key.Key_Escape)
    bench.pane.commands.run_or_continue()
    bench.until_waiting("with the tool's result")
    bench.click(bench.button("Edit observation…"))
    assert also.text() == "Also as the tool's mock"
    also.click()
    bench.pane.editor.field.setPlainText("Lyon")
    bench.click(bench.pane.editor._apply)
    assert asked == [("observation", "Lyon")]


def test_one_cursor_moves_diagram_scrubber_and_inspector(bench: Bench) -> None:
    bench.controller.start(plan([LOOKUP, CALCULATE, FINAL]))
    bench.until_over()
    pane = bench.pane
    assert pane.diagram.state.live == "done"

    pane.timeline.choose((2, "action", 0))
    assert (pane.diagram.state.live, pane.diagram.state.iteration) == ("action", 2)
    assert pane.diagram.state.is_past
    assert pane.scrubber.row == pane.timeline.currentIndex().row()

    bench.qtbot.keyClick(pane.scrubber, Qt.Key.Key_Right)
    card = pane.timeline.current_card
    assert card is not None
    assert card.key == (2, "observation", 0)
    assert pane.diagram.state.live == "observation"

    place = pane.diagram._lay_out().nodes["prompt"].center().toPoint()
    bench.qtbot.mouseClick(pane.diagram, Qt.MouseButton.LeftButton, pos=place)
    card = pane.timeline.current_card
    assert card is not None
    assert card.key == (2, "prompt", None)
    assert pane.inspector.tab == "messages"

    pane.inspector._tabs.setCurrentIndex([tab for tab, _ in TABS].index("usage"))
    table = pane.inspector.findChild(UsageTable)
    assert table is not None
    assert table.currentIndex().row() == 1  # the step that is looked at
    bench.qtbot.keyClick(table, Qt.Key.Key_Up)
    card = pane.timeline.current_card
    assert card is not None
    assert card.key == (1, "prompt", None)
    assert pane.inspector.tab == "usage"

    bench.click(pane.steps.follow)
    assert pane.diagram.state.live == "done"


def test_f5_and_f10_are_for_the_prompt_that_is_open_and_never_for_the_run_of_another(
    bench: Bench,
) -> None:
    pane = bench.pane
    asked: list[bool] = []
    pane.commands.request_other_run.connect(asked.append)
    started = plan([LOOKUP, FINAL])
    pane.commands.show_prompt(str(started.document.source.path))
    bench.controller.start(started, at_entry=True)
    bench.until_waiting()
    pane.commands.show_prompt("/elsewhere/other.prompty")

    pane.commands.run_or_continue()
    pane.commands.step()
    assert asked == [False, True]
    assert bench.controller.view.place == PausePoint.BEFORE_REQUEST

    pane.bar.over.trigger()  # the button beside the run is for that run
    bench.until_waiting("with the reply")
    pane.commands.show_prompt(str(started.document.source.path))
    pane.commands.run_or_continue()
    bench.until_over()
    assert asked == [False, True]


def test_a_figure_takes_the_choice_with_that_number_and_a_field_keeps_it(bench: Bench) -> None:
    tools = LocalTools()
    bench.controller.start(plan([LOOKUP, FINAL], tools=tools, approval="always"))
    bench.until_waiting("Waiting for your approval")
    pane = bench.pane
    bench.qtbot.keyClick(pane.timeline, Qt.Key.Key_4)
    assert pane.editor.isVisible()
    bench.qtbot.keyClicks(pane.editor.field, "1 fact")
    assert bench.controller.view.is_waiting
    bench.qtbot.keyClick(pane.editor.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    bench.until_over()

    state = bench.controller.state
    assert state is not None
    assert state.steps[0].calls[0].observation == "1 fact"
    assert tools.called == []


def test_a_failed_call_is_tried_again_as_a_branch(bench: Bench) -> None:
    tools = LocalTools()
    wrong = LOOKUP.replace("capital of France", "capital of Peru")
    bench.controller.breakpoints.toggle_place(PausePoint.OBSERVATION)
    bench.controller.start(plan([wrong, FINAL], tools=tools))
    bench.until_waiting("with the tool's result")
    tools._facts["capital of Peru"] = "Lima"

    bench.click(bench.button("Try this call again"))
    bench.qtbot.waitUntil(lambda: len(tools.called) == 2)
    bench.until_waiting("with the tool's result")

    state = bench.controller.state
    assert state is not None
    assert state.step.calls[0].observation == "Lima"
    assert len(bench.controller.view.branches) == 2


def test_the_console_has_what_log_points_and_tools_write_and_leads_to_it(bench: Bench) -> None:
    pane = bench.pane
    panel = pane.state_panel
    bench.controller.breakpoints.changed.connect(panel.show_breakpoints)
    pane.state_panel.breakpoints.breakpoint_switched.connect(bench.controller.breakpoints.switch)
    point = Breakpoint("", frozenset({PausePoint.TOOL_CALL}), log="iter {iteration} {tool}")
    bench.controller.breakpoints.add(point)
    assert pane.diagram.state.log_points == {"action"}
    pane.resize(1200, 900)
    bench.controller.start(plan([LOOKUP, CALCULATE, FINAL]))
    bench.until_over()

    assert panel.is_open
    assert panel.console.lines == [
        "◆ iter 1 lookup",
        "│ lookup: looked in 2 facts",
        "◆ iter 2 calculator",
    ]
    assert "hit 2×" in panel.breakpoints.item(0).text()
    assert panel.tabs.tabText(1) == "Breakpoints 1"

    # Return on a line goes to its moment, and Space switches a breakpoint off.
    lines = panel.console.list
    lines.setFocus()
    lines.setCurrentRow(1)
    bench.qtbot.keyClick(lines, Qt.Key.Key_Return)
    card = pane.timeline.current_card
    assert card is not None
    assert (card.step, card.kind) == (1, "observation")
    panel.tabs.setCurrentIndex(1)
    panel.breakpoints.setFocus()
    panel.breakpoints.setCurrentRow(0)
    bench.qtbot.keyClick(panel.breakpoints, Qt.Key.Key_Space)
    assert not bench.controller.breakpoints.value.breakpoints[0].enabled
    assert pane.diagram.state.log_points == frozenset()


def test_watches_have_the_values_of_the_moment_that_is_looked_at(bench: Bench) -> None:
    pane = bench.pane
    pane.views.show_watches(("iteration", "args.fact"))
    bench.controller.start(plan([LOOKUP, CALCULATE, FINAL]))
    bench.until_over()
    pane.inspector._tabs.setCurrentIndex([tab for tab, _ in TABS].index("watch"))
    table = pane.inspector.watch

    def values() -> list[str]:
        items = [table.item(row, 1) for row in range(2)]
        return [item.text() if item is not None else "" for item in items]

    assert values()[0] == "3"
    pane.timeline.choose((1, "action", 0))
    assert values() == ["1", '"capital of France"']
    bench.click(pane.steps.follow)
    assert values()[0] == "3"


def test_the_ways_are_gone_through_at_the_card_where_they_part(bench: Bench) -> None:
    pane, controller = bench.pane, bench.controller
    controller.start(plan([LOOKUP, FINAL, FINAL]))
    bench.until_over()
    assert controller.view.forks == {}
    pane.timeline.setFocus()
    assert pane.timeline.choose((1, "action", 0))
    bench.qtbot.keyClick(pane.timeline, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    bench.until_waiting("before the tool runs")
    pane.bar.run.trigger()
    bench.until_over()

    assert pane.timeline.choose((1, "action", 0))
    card = pane.timeline.current_card
    assert card is not None
    fork = pane.timeline.fork_at(card)
    assert fork is not None
    assert fork.words == "2/2"
    assert not pane.head.branch.isHidden()
    assert pane.head.branch.text() == "2/2"
    bench.qtbot.keyClick(pane.timeline, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    bench.qtbot.waitUntil(lambda: pane.head.branch.text() == "1/2")
    other = pane.timeline.fork_at(card)
    assert other is not None
    assert other.words == "1/2"


def test_the_comparison_has_the_figures_and_the_request_bodies_of_both(bench: Bench) -> None:
    pane, controller = bench.pane, bench.controller
    controller.start(plan([LOOKUP, FINAL, CALCULATE, FINAL]))
    bench.until_over()
    pane.timeline.setFocus()
    assert pane.timeline.choose((2, "prompt", None))
    bench.qtbot.keyClick(pane.timeline, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    bench.until_waiting("before the request is sent")
    pane.bar.run.trigger()
    bench.until_over()
    controller.compare_branches(*controller.view.branches)
    dialog = pane.comparing
    assert dialog.isVisible()

    rows = {row[0]: row[1:] for row in dialog.figures.words}
    assert rows["Iterations"] == ["2", "3", "+1"]
    assert rows["End"][:2] == ["answered", "answered"]
    dialog.sides.setFocus()
    bench.qtbot.keyClick(dialog.sides, Qt.Key.Key_Right)
    assert "Not stored" in dialog.left.toPlainText()
    dialog.close()


def test_the_sentence_says_how_long_the_model_works_already(bench: Bench) -> None:
    model = HeldModel([FINAL])
    bench.controller.start(plan(model))
    bench.qtbot.waitUntil(lambda: bench.pane.bar.sentence.whole.startswith("The model answers · "))
    model.go_on(len(FINAL))
    bench.until_over()
    assert "·" not in bench.pane.bar.sentence.whole


class TalkingTools(LocalTools):
    """Says something before each call works."""

    async def call_with_progress(self, name: str, arguments: JsonObject, tell: Tell) -> ToolOutcome:
        tell(f"{name} begins\nand goes on")
        return await self.call(name, arguments)


def test_calls_at_once_are_lanes_with_a_time_axis_and_what_they_print(bench: Bench) -> None:
    calls = (
        ToolCall("a", "wait", '{"for": "ever"}'),
        ToolCall("b", "lookup", '{"fact": "capital of Italy"}'),
    )
    options = RunOptions(parallel=True)
    example = "tool-calling-agent.prompty"
    replies = [ScriptedTurn(Reply("Both.", tool_calls=calls))]
    pane = bench.pane
    pane.resize(1000, 760)
    bench.controller.start(plan(replies, tools=TalkingTools(), example=example, options=options))
    bench.qtbot.waitUntil(
        lambda: [lane.phase for lane in pane.diagram.state.lanes] == ["running", "done"]
    )

    assert pane.scrubber.isVisible()  # the axis opens by its button alone: nothing jumps
    assert not pane.waterfall.isVisible()
    pane.bar.times.trigger()
    assert pane.waterfall.isVisible()
    assert not pane.scrubber.isVisible()
    assert [row.title for row in pane.waterfall.shown.rows] == ["Model", "wait", "lookup"]
    pane.diagram.lane_chosen.emit(0)
    bench.qtbot.waitUntil(lambda: "wait begins" in pane.inspector.text_of("tool"))
    assert pane.inspector.view.inspection.call == 0
    pane.waterfall.row_chosen.emit(1, 1)
    card = pane.timeline.current_card
    assert card is not None
    assert (card.kind, card.call) == ("observation", 1)
    pane.bar.times.trigger()
    assert pane.scrubber.isVisible()
    pane.commands.stop()
    bench.until_over()
    assert not pane.diagram.clock.isActive()


def test_ways_are_a_tree_and_all_of_them_are_compared_in_one_table(bench: Bench) -> None:
    def until_at(place: PausePoint) -> None:
        bench.qtbot.waitUntil(lambda: bench.controller.view.place == place)

    bench.controller.overviewed.connect(bench.pane.show_overview)
    bench.pane.bar.compare_all_chosen.connect(bench.controller.compare_all)
    bench.controller.start(plan([LOOKUP, FINAL, FINAL, FINAL, FINAL]), at_entry=True)
    bench.until_waiting()
    bench.pane.commands.run_or_continue()
    bench.until_over()
    for _ in range(2):  # each time the newest way is gone back on: a chain of ways
        first = bench.pane.timeline.cards[0]
        bench.controller.fork_from(first)
        until_at(PausePoint.BEFORE_REQUEST)
        bench.pane.commands.step()
        until_at(PausePoint.REPLY)
    ways = bench.pane.view.branches
    assert [(one.number, one.parent) for one in ways] == [(0, None), (1, 0), (2, 1)]
    menu = bench.pane.bar.branch_menu()
    lines = [action.text() for action in menu.actions()]
    assert lines[0].startswith("Branch 1")
    assert lines[1].startswith("└ Branch 2")
    assert lines[2].startswith("\u2003└ Branch 3")
    assert "(from iteration 1" in lines[1]

    next(action for action in menu.actions() if action.text() == "Compare all 3").trigger()
    dialog = bench.pane.findChild(RunOverviewDialog)
    assert dialog is not None
    assert dialog.table.model().columnCount() == 4
    assert not dialog.compare_button.isEnabled()
    selection = dialog.table.selectionModel()
    both = selection.SelectionFlag.Select | selection.SelectionFlag.Columns
    for column in (1, 3):
        selection.select(dialog.table.model().index(0, column), both)
    bench.click(dialog.compare_button)
    assert bench.pane.comparing.isVisible()
    bench.pane.comparing.close()
    dialog.close()
    menu.deleteLater()
    bench.controller.stop()
    bench.until_over()


def test_variables_are_those_of_the_run_that_is_shown(bench: Bench) -> None:
    def shown() -> str:
        return " ".join(row.value for row in bench.pane.state_panel.variables.rows)

    bench.controller.start(plan([LOOKUP, FINAL]))
    bench.until_over()
    bench.qtbot.waitUntil(lambda: "**Paris**" in shown())
    model = HeldModel([FINAL])
    bench.controller.start(plan(model))
    bench.qtbot.waitUntil(lambda: bench.controller.view.is_busy and len(model.requests) == 1)
    assert "**Paris**" not in shown()
    model.go_on(100)
    bench.until_over()


@pytest.mark.parametrize(
    ("button", "place"), [("_step", PausePoint.OBSERVATION), ("_continue", None)]
)
def test_an_edit_is_applied_and_the_run_steps_or_continues(
    bench: Bench, button: str, place: PausePoint | None
) -> None:
    bench.controller.start(plan([LOOKUP, FINAL], approval="always"))
    bench.until_waiting("Waiting for your approval")
    bench.click(bench.button("Edit arguments…"))
    bench.click(getattr(bench.pane.editor, button))
    if place is None:
        bench.until_over()
    else:
        bench.qtbot.waitUntil(lambda: bench.controller.view.place == place)
