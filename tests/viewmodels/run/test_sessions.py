from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from studio.application.run.past.record import RunRecord
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.values.commands import Continue
from studio.core.agent.values.events import Event, Stopped
from studio.core.agent.values.step import PausePoint, RunSetup
from studio.core.models.scripted import ScriptedModel
from studio.core.prompty.parse import parse
from studio.core.wire.reply import Reply
from studio.core.wire.wire_call import KeptCall, WireCall
from studio.viewmodels.app.background import Background
from studio.viewmodels.run.controller import RunController
from tests.application.run.world import FINAL, LOOKUP, HeldModel, plan


class Journals:
    """Keeps the facts of several runs apart."""

    def __init__(self) -> None:
        self.events: dict[str, list[Event]] = {}

    def begin(self, setup: RunSetup) -> None:
        self.events[setup.run] = []

    def keep_reply(self, run: str, reply: Reply) -> None:
        """Not looked at here."""

    def keep_call(self, run: str, seq: int, call: WireCall | KeptCall) -> None:
        """Models of this program send nothing."""

    def call(self, run: str, seq: int) -> None:
        """Nothing is kept."""

    def write(self, run: str, event: Event) -> None:
        self.events[run].append(event)


@pytest.fixture
def journals() -> Journals:
    return Journals()


@pytest.fixture
def controller(qapp: object, journals: Journals) -> Iterator[RunController]:
    background = Background()
    one = RunController(background, journals)
    yield one
    one.close()
    background.stop()


def _plan(name: str, model: ScriptedModel) -> RunPlan:
    made = plan(model)
    path = Path("/prompts") / name
    return replace(made, document=parse(made.document.source.text, path))


ONE, OTHER = str(Path("/prompts/one.prompty")), str(Path("/prompts/other.prompty"))


def test_a_run_that_is_not_shown_goes_on_and_tells_of_its_end(
    qtbot: QtBot, controller: RunController, journals: Journals
) -> None:
    held = HeldModel([FINAL])
    told: list[tuple[str, str]] = []
    controller.sessions.stood_elsewhere.connect(lambda path, words: told.append((path, words)))
    controller.show_prompt(ONE)
    controller.start(_plan("one.prompty", held))
    qtbot.waitUntil(lambda: controller.sessions.marks == {ONE: "running"})
    controller.show_prompt(OTHER)
    controller.start(_plan("other.prompty", ScriptedModel([LOOKUP, FINAL])), at_entry=True)
    qtbot.waitUntil(lambda: controller.sessions.marks == {ONE: "running", OTHER: "waiting"})
    before = controller.view

    held.go_on(1000)
    qtbot.waitUntil(lambda: controller.sessions.marks == {OTHER: "waiting"})

    assert [path for path, _ in told] == [ONE]
    assert told[0][1].startswith("Done in 1 iteration")
    assert controller.view is before
    controller.show_prompt(ONE)
    assert controller.state is not None
    assert controller.state.status == "done"
    assert len(journals.events) == 2


def test_commands_and_places_are_for_the_run_that_is_shown(
    qtbot: QtBot, controller: RunController
) -> None:
    for name in ("one.prompty", "other.prompty"):
        controller.start(_plan(name, ScriptedModel([LOOKUP, FINAL])), at_entry=True)
        qtbot.waitUntil(lambda: controller.view.is_waiting)
    controller.run_to(PausePoint.OBSERVATION)
    qtbot.waitUntil(lambda: controller.view.place == PausePoint.OBSERVATION)

    controller.show_prompt(ONE)
    assert controller.view.place == PausePoint.BEFORE_REQUEST
    controller.send(Continue())
    qtbot.waitUntil(lambda: not controller.is_live)

    controller.show_prompt(OTHER)
    assert controller.view.place == PausePoint.OBSERVATION


def test_a_run_of_the_past_ends_none_that_goes_on(
    qtbot: QtBot, controller: RunController, journals: Journals
) -> None:
    controller.start(_plan("one.prompty", ScriptedModel([FINAL])))
    qtbot.waitUntil(lambda: controller.state is not None and not controller.is_live)
    (run,) = journals.events
    past = RunRecord("From history", tuple(journals.events[run]))
    controller.start(_plan("one.prompty", ScriptedModel([LOOKUP, FINAL])), at_entry=True)
    qtbot.waitUntil(lambda: controller.view.is_waiting)
    controller.show_prompt(ONE)

    controller.open_record(past)
    assert controller.view.record
    assert controller.sessions.marks == {ONE: "waiting"}
    controller.show_prompt(OTHER)
    controller.show_prompt(ONE)
    assert controller.view.is_waiting


def test_a_prompt_with_another_file_name_keeps_its_run(
    qtbot: QtBot, controller: RunController
) -> None:
    controller.show_prompt(ONE)
    controller.start(_plan("one.prompty", ScriptedModel([LOOKUP, FINAL])), at_entry=True)
    qtbot.waitUntil(lambda: controller.view.is_waiting)

    controller.sessions.follow_prompt(ONE, OTHER)
    controller.show_prompt(OTHER)

    assert controller.sessions.marks == {OTHER: "waiting"}
    assert controller.view.is_waiting
    controller.send(Continue())
    qtbot.waitUntil(lambda: not controller.is_live)


def test_closing_ends_all_of_them(
    qtbot: QtBot, controller: RunController, journals: Journals
) -> None:
    for name in ("one.prompty", "other.prompty"):
        controller.start(_plan(name, ScriptedModel([LOOKUP, FINAL])), at_entry=True)
        qtbot.waitUntil(lambda: controller.view.is_waiting)

    controller.close()

    def ended() -> bool:
        return all(isinstance(facts[-1], Stopped) for facts in journals.events.values())

    qtbot.waitUntil(ended)
    assert len(journals.events) == 2


def test_old_runs_are_let_go(qtbot: QtBot, controller: RunController) -> None:
    for number in range(12):
        controller.start(_plan(f"{number}.prompty", ScriptedModel([FINAL])))
        qtbot.waitUntil(lambda: controller.state is not None and not controller.is_live)

    controller.show_prompt(str(Path("/prompts/0.prompty")))
    assert controller.state is None
    controller.show_prompt(str(Path("/prompts/11.prompty")))
    assert controller.state is not None
