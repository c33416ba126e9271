from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from studio.application.run.cards.timeline import timeline_of
from studio.application.run.displayed_run import RunView
from studio.application.run.inspector.tabs import Inspection, InspectorView
from studio.application.run.past.record import RunRecord
from studio.application.run.text import plain_text
from studio.core.agent.loop.setup import run_model_of
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.values.commands import Approve, ChooseModel, Continue, ForkFrom, SendBack
from studio.core.agent.values.events import CallEdited, Forked, ObservationEdited, Stopped
from studio.core.agent.values.step import PausePoint, RunModel
from studio.core.models.base import ModelError
from studio.core.models.scripted import ScriptedModel, ScriptedTurn
from studio.core.tools.source import ToolSourceError
from studio.core.wire.reply import Reply
from studio.viewmodels.app.background import Background
from studio.viewmodels.run.controller import RunController
from tests.application.run.world import (
    CALCULATE,
    FINAL,
    LOOKUP,
    HeldModel,
    ListJournal,
    LocalTools,
    plan,
)


@pytest.fixture
def background(qapp: object) -> Iterator[Background]:
    one = Background()
    yield one
    one.stop()


@pytest.fixture
def journal() -> ListJournal:
    return ListJournal()


@pytest.fixture
def controller(background: Background, journal: ListJournal) -> Iterator[RunController]:
    one = RunController(background, journal)
    yield one
    one.close()


def _until_waiting(qtbot: QtBot, controller: RunController, sentence: str = "") -> None:
    def waits() -> None:
        assert controller.view.is_waiting
        assert sentence in controller.view.sentence

    qtbot.waitUntil(lambda: _holds(waits))


def _holds(check: object) -> bool:
    try:
        check()  # type: ignore[operator]
    except AssertionError:
        return False
    return True


def _until_over(qtbot: QtBot, controller: RunController) -> None:
    qtbot.waitUntil(lambda: controller.state is not None and not controller.is_live)


def test_a_run_goes_to_its_answer_without_stopping(
    qtbot: QtBot, controller: RunController, journal: ListJournal
) -> None:
    with qtbot.waitSignal(controller.sessions.ended) as ended:
        controller.start(plan([LOOKUP, CALCULATE, FINAL]))

    assert controller.state is not None
    assert controller.state.answer == "It is **Paris**, and 25."
    assert ended.args == [controller.state.setup.run]
    assert [event.seq for event in journal.events] == list(range(1, len(journal.events) + 1))


def test_an_expression_is_evaluated_at_its_moment_of_a_very_long_run(
    qtbot: QtBot, controller: RunController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studio.viewmodels.run.controller._MOST_FOLDED", 0)
    with qtbot.waitSignal(controller.sessions.ended):
        controller.start(plan([LOOKUP, FINAL]))
    assert controller.state is not None
    first, *_, last = timeline_of(controller.state).cards
    found = []
    controller.worked_out.connect(lambda lines: found.append(lines[1].text))
    for card in (first, last):
        controller.work_out("(iteration, tool)", card)
    assert found == ['[1, "lookup"]', "[2, null]"]


def test_a_fact_is_written_before_it_is_shown(qtbot: QtBot, background: Background) -> None:
    shown: list[int] = []
    journal = ListJournal()
    controller = RunController(background, journal)

    def note(view: RunView) -> None:
        # Whatever the pane is told of stands in the journal by then.
        assert view.state is not None
        shown.append(len(journal.events))
        last = journal.events[-1]
        assert last.seq >= 1

    controller.state_changed.connect(note)
    with qtbot.waitSignal(controller.sessions.ended):
        controller.start(plan([FINAL]))

    assert shown
    assert shown[-1] == len(journal.events)


def test_stepping_stops_at_every_place_of_a_react_run(
    qtbot: QtBot, controller: RunController
) -> None:
    controller.start(plan([LOOKUP, FINAL]), at_entry=True)
    seen: list[str] = []
    while True:
        before = controller.state
        qtbot.waitUntil(
            lambda before=before: (
                controller.state is not before
                and (controller.view.is_waiting or not controller.is_live)
            )
        )
        if not controller.is_live:
            break
        assert controller.state is not None
        assert controller.state.pause is not None
        seen.append(controller.state.pause.place)
        before = controller.state
        controller.step()

    assert seen == [
        PausePoint.BEFORE_REQUEST,
        PausePoint.REPLY,
        PausePoint.TOOL_CALL,
        PausePoint.OBSERVATION,
        PausePoint.BEFORE_REQUEST,
        PausePoint.REPLY,
        PausePoint.ANSWER,
    ]
    assert controller.state is not None
    assert controller.state.status == "done"


def test_edited_arguments_reach_the_tool_and_the_journal(
    qtbot: QtBot, controller: RunController, journal: ListJournal
) -> None:
    tools = LocalTools()
    controller.breakpoints.toggle_place(PausePoint.TOOL_CALL)
    controller.start(plan([LOOKUP, FINAL], tools=tools))
    _until_waiting(qtbot, controller, "Breakpoint before the tool runs: lookup")

    controller.send(CallEdited(0, "lookup", {"fact": "capital of Italy"}))
    qtbot.waitUntil(
        lambda: controller.state is not None and bool(controller.state.step.calls[0].edited)
    )
    _until_waiting(qtbot, controller)
    controller.send(Continue())
    _until_over(qtbot, controller)

    assert tools.called == [("lookup", {"fact": "capital of Italy"})]
    assert any(isinstance(event, CallEdited) for event in journal.events)
    assert controller.state is not None
    card = next(card for card in controller.view.timeline.cards if card.kind == "action")
    assert card.badges == ("edited",)


def test_the_model_is_told_the_edited_observation(qtbot: QtBot, controller: RunController) -> None:
    started = plan([LOOKUP, FINAL])
    controller.breakpoints.toggle_place(PausePoint.OBSERVATION)
    controller.start(started)
    _until_waiting(qtbot, controller)

    controller.send(ObservationEdited(0, "Lutetia"))
    controller.send(Continue())
    _until_over(qtbot, controller)

    second = started.model.requests[1]  # type: ignore[attr-defined]
    assert "Lutetia" in second.messages[-1].text


def test_approval_is_asked_and_given(qtbot: QtBot, controller: RunController) -> None:
    tools = LocalTools()
    controller.start(plan([LOOKUP, FINAL], tools=tools, approval="always"))
    _until_waiting(qtbot, controller, "Waiting for your approval before the tool runs: lookup")
    assert tools.called == []

    controller.send(Approve(0))
    _until_over(qtbot, controller)

    assert controller.state is not None
    assert controller.state.status == "done"
    assert len(tools.called) == 1


def test_stop_ends_a_model_that_hangs(
    qtbot: QtBot, controller: RunController, journal: ListJournal
) -> None:
    controller.start(plan([ScriptedTurn(Reply("Thought: I"), hangs=True)]))
    with qtbot.waitSignal(controller.streamed):
        pass
    controller.stop()
    _until_over(qtbot, controller)

    assert controller.state is not None
    assert controller.state.status == "stopped"
    assert controller.state.step.partial == Reply("Thought: I")
    assert isinstance(journal.events[-1], Stopped)


def test_stop_ends_a_tool_that_hangs(qtbot: QtBot, controller: RunController) -> None:
    wait = 'Thought: I wait.\nAction: wait\nArgs: {"for": "ever"}'
    controller.start(plan([wait]))
    qtbot.waitUntil(lambda: controller.view.sentence == "The tool runs: wait")
    controller.stop()
    _until_over(qtbot, controller)

    assert controller.state is not None
    assert controller.state.step.calls[0].status == "unknown"


def test_closing_lets_go_of_a_model_that_hangs(qtbot: QtBot, journal: ListJournal) -> None:
    background = Background()
    controller = RunController(background, journal)
    controller.start(plan([ScriptedTurn(Reply("Thought: I"), hangs=True)]))
    with qtbot.waitSignal(controller.streamed):
        pass
    controller.close()
    background.stop()

    assert isinstance(journal.events[-1], Stopped)


def test_pause_stands_still_at_the_next_place(qtbot: QtBot, controller: RunController) -> None:
    model = HeldModel([LOOKUP, FINAL])
    controller.start(plan(model))
    with qtbot.waitSignal(controller.streamed):
        pass
    controller.pause()
    assert controller.view.offers.title == "The run pauses when the reply has arrived."
    model.go_on(50)
    _until_waiting(qtbot, controller, "Paused")

    assert controller.state is not None
    assert controller.state.pause is not None
    assert controller.state.pause.place == PausePoint.REPLY
    assert controller.view.offers.title.startswith("The reply has arrived")


def test_a_pause_can_cut_the_reply_off(qtbot: QtBot, controller: RunController) -> None:
    controller.start(plan([ScriptedTurn(Reply("Thought: I thi"), hangs=True), FINAL]))
    with qtbot.waitSignal(controller.streamed):
        pass
    controller.pause()
    (cut,) = controller.view.offers.offers
    controller.send(*cut.commands)
    _until_waiting(qtbot, controller, "Paused with the reply")

    assert controller.state is not None
    assert controller.state.step.reply is not None
    assert controller.state.step.reply.text.startswith("Thought")
    labels = [offer.label for offer in controller.view.offers.offers]
    assert labels == ["Use this part", "Edit the reply…", "Try again"]
    assert "cut" in controller.view.timeline.cards[-1].badges


@pytest.mark.parametrize("picks", [1, 2])
def test_a_model_picked_before_anything_has_come_of_the_run_pauses_it(
    qtbot: QtBot, controller: RunController, picks: int
) -> None:
    held = HeldModel([LOOKUP, FINAL])
    begun = plan(held)
    controller.show_prompt(str(begun.document.source.path))
    own = run_model_of(held)
    other = RunModel("another (scripted)", "another")
    controller.set_model_now(own)
    controller.start(begun)
    assert controller.state is None  # nothing of it is taken before the window's loop turns
    for _ in range(picks):
        controller.take_pick(other)
    held.go_on(1000)

    _until_waiting(qtbot, controller)
    assert controller.view.choice == "model"


def test_a_run_goes_on_where_its_own_model_is_picked_before_anything_has_come(
    qtbot: QtBot, controller: RunController
) -> None:
    model = ScriptedModel([LOOKUP, FINAL])
    begun = plan(model)
    controller.show_prompt(str(begun.document.source.path))
    controller.start(begun)
    controller.take_pick(run_model_of(model))
    _until_over(qtbot, controller)
    assert controller.state is not None
    assert controller.state.status == "done"


def test_a_reply_streams_into_the_inspector(qtbot: QtBot, controller: RunController) -> None:
    texts: list[str] = []
    model = HeldModel([FINAL])

    def look(view: InspectorView) -> None:
        if view.is_streaming:
            texts.append(plain_text(view.blocks))
            model.go_on()

    controller.inspector_changed.connect(look)
    controller.state_changed.connect(
        lambda view: (
            controller.inspect(Inspection(view.state.iteration, "reply"))
            if view.state is not None
            else None
        )
    )
    controller.start(plan(model))
    _until_over(qtbot, controller)

    assert len(texts) >= 2
    assert all(FINAL.startswith(text) for text in texts)
    assert texts == sorted(texts, key=len)


def test_a_model_that_refuses_the_key_pauses_with_what_to_do(
    qtbot: QtBot, controller: RunController
) -> None:
    error = ModelError("unauthorised", "The server refused the key.", "Check the key.")
    controller.start(plan([error, FINAL]))
    _until_waiting(qtbot, controller, "The model did not respond")

    assert controller.view.offers.offers[0].label == "Open the connection…"
    assert controller.view.offers.detail == "The server refused the key. Check the key."
    controller.send(Continue())
    _until_over(qtbot, controller)
    assert controller.state is not None
    assert controller.state.status == "done"


def test_tools_that_cannot_be_started_are_said(qtbot: QtBot, controller: RunController) -> None:
    async def broken() -> object:
        raise ToolSourceError("tools.py cannot be read: line 3 is not Python.")

    base = plan([FINAL])
    with qtbot.waitSignal(controller.refused) as said:
        controller.start(
            RunPlan(base.document, base.inputs, base.model, open_toolbox=broken)  # type: ignore[arg-type]
        )

    assert said.args == ["tools.py cannot be read: line 3 is not Python."]
    qtbot.waitUntil(lambda: not controller.is_live)
    assert controller.state is None

    controller.start(base)  # a run that was over stays when the next one cannot begin
    _until_over(qtbot, controller)
    done = controller.state
    with qtbot.waitSignal(controller.refused):
        controller.start(
            RunPlan(base.document, base.inputs, base.model, open_toolbox=broken)  # type: ignore[arg-type]
        )
    qtbot.waitUntil(lambda: not controller.is_live)
    assert controller.view.state is done


def test_a_command_that_makes_no_sense_is_refused_in_words(
    qtbot: QtBot, controller: RunController
) -> None:
    controller.start(plan([LOOKUP, FINAL]), at_entry=True)
    _until_waiting(qtbot, controller)
    with qtbot.waitSignal(controller.refused):
        controller.send(Approve(0))

    assert controller.view.is_waiting


def test_going_back_makes_a_new_branch(
    qtbot: QtBot, controller: RunController, journal: ListJournal
) -> None:
    controller.start(plan([LOOKUP, CALCULATE, FINAL, FINAL]))
    _until_over(qtbot, controller)
    card = next(card for card in controller.view.timeline.cards if card.kind == "observation")

    controller.fork_from(card)
    _until_waiting(qtbot, controller)
    assert controller.state is not None
    assert (controller.state.iteration, controller.state.place) == (1, PausePoint.OBSERVATION)
    controller.send(ObservationEdited(0, "Lyon"))
    controller.send(Continue())
    _until_over(qtbot, controller)

    assert any(isinstance(event, Forked) for event in journal.events)
    assert controller.state.status == "done"


def test_the_talk_goes_on_after_the_answer(qtbot: QtBot, controller: RunController) -> None:
    started = plan([FINAL, "Thought: More.\nFinal Answer: And Rome."])
    controller.start(started)
    _until_over(qtbot, controller)
    controller.send(SendBack("And of Italy?"))
    qtbot.waitUntil(
        lambda: (
            not controller.is_live
            and controller.state is not None
            and controller.state.answer == "And Rome."
        )
    )


def test_what_a_run_is_told_before_its_end_is_seen_is_done_after_it(
    qtbot: QtBot, controller: RunController
) -> None:
    controller.start(plan([FINAL, "Thought: More.\nFinal Answer: And Rome."]), at_entry=True)
    _until_waiting(qtbot, controller)
    driving = controller._slot.driving
    assert driving is not None
    controller.send(Continue())
    driving.result(30)  # it is over, and no event of Qt has told so
    controller.send(SendBack("And of Italy?"))
    _until_over(qtbot, controller)
    qtbot.waitUntil(lambda: controller.view.state is not None and not controller.is_live)
    assert controller.state is not None
    assert controller.state.answer == "And Rome."


def test_a_model_that_took_the_place_of_one_that_is_gone_is_set_up(
    qtbot: QtBot, controller: RunController, journal: ListJournal
) -> None:
    own = ScriptedModel([LOOKUP, FINAL], label="A")
    with qtbot.waitSignal(controller.sessions.ended):
        controller.start(plan(own))
    record = RunRecord("From history", tuple(journal.events))
    at = next(each for each in record.checkpoints if each.place == PausePoint.OBSERVATION)
    controller.open_record(record)
    controller.go_to(at.id)
    past = controller.past
    assert past is not None
    stand_in = ScriptedModel([FINAL], label="B")
    had = past.state.answered_by
    controller.take_up(
        replace(plan(stand_in), past=past.to_take_up), ForkFrom(at.id), missing_model=had
    )
    _until_waiting(qtbot, controller)
    assert "A is not configured here" in controller.view.offers.detail
    assert controller.stand_in is stand_in

    now = run_model_of(stand_in)
    controller.send(ChooseModel(now, had, stand_in))
    qtbot.waitUntil(lambda: controller.state is not None and controller.state.answered_by == now)
    assert controller.view.choice != "model"
    controller.show_prompt(past.setup.path)
    controller.set_model_now(RunModel("C"))
    assert "this run uses B" in controller.view.offers.detail
    assert controller.stand_in is None


def test_breakpoints_set_during_a_run_hold(qtbot: QtBot, controller: RunController) -> None:
    controller.start(plan([LOOKUP, FINAL]), at_entry=True)
    _until_waiting(qtbot, controller)
    controller.breakpoints.toggle_tool("lookup")
    controller.send(Continue())
    _until_waiting(qtbot, controller, "Breakpoint before the tool runs: lookup")


def test_a_record_follows_what_another_program_adds(
    qtbot: QtBot, controller: RunController, journal: ListJournal
) -> None:
    controller.start(plan([LOOKUP, FINAL]))
    _until_over(qtbot, controller)
    events = tuple(journal.events)
    cut = len(events) // 2
    controller.open_record(RunRecord("From history", events[:cut]))
    cards = len(controller.view.timeline.cards)
    controller.follow_record(RunRecord("From history", events))
    assert len(controller.view.timeline.cards) > cards
    assert controller.state is not None
    assert controller.state.status == "done"
    controller.move_record(-100)
    controller.follow_record(RunRecord("From history", events))
    assert controller.state.place == PausePoint.BEFORE_REQUEST, "the place looked at stays"


def test_a_record_shows_the_same_and_runs_nothing(
    qtbot: QtBot, controller: RunController, journal: ListJournal
) -> None:
    controller.start(plan([LOOKUP, FINAL]))
    _until_over(qtbot, controller)
    live = controller.view
    controller.open_record(RunRecord("From history", tuple(journal.events)))

    assert [card.title for card in controller.view.timeline.cards] == [
        card.title for card in live.timeline.cards
    ]
    assert not controller.view.is_live
    assert controller.view.record == "From history"
    count = len(journal.events)
    controller.move_record(-1)
    assert controller.state is not None
    assert controller.state.place == PausePoint.ANSWER
    controller.move_record(-100)
    assert controller.state.place == PausePoint.BEFORE_REQUEST
    controller.move_record(+100)
    assert controller.state.status == "done"
    assert len(journal.events) == count


def test_a_new_run_takes_the_place_of_one_that_waits(
    qtbot: QtBot, controller: RunController, journal: ListJournal
) -> None:
    controller.start(plan([LOOKUP]), at_entry=True)
    _until_waiting(qtbot, controller)
    controller.start(plan([FINAL]))
    _until_over(qtbot, controller)

    assert controller.state is not None
    assert controller.state.setup.run == journal.setups[1].run
    assert controller.state.status == "done"


def test_branches_of_a_record_can_be_looked_at(
    qtbot: QtBot, controller: RunController, journal: ListJournal
) -> None:
    controller.start(plan([LOOKUP, FINAL, "Final Answer: Other."]))
    _until_over(qtbot, controller)
    card = next(card for card in controller.view.timeline.cards if card.kind == "observation")
    controller.fork_from(card)
    _until_waiting(qtbot, controller)
    controller.send(Continue())
    _until_over(qtbot, controller)
    controller.open_record(RunRecord("From history", tuple(journal.events)))
    first, second = controller.view.branches
    controller.go_to(first.last)

    assert controller.state is not None
    assert controller.state.answer == "It is **Paris**, and 25."
    controller.go_to(second.last)
    assert controller.state.answer == "Other."
