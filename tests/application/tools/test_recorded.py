"""What a tool answered in former runs: only real answers, those of this prompt first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from studio.application.run.past.record import StoreJournal
from studio.application.tools.saved_calls import find_recordings
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.step import Limits
from studio.core.prompty.document import ToolId, ToolSpec
from studio.core.prompty.parse import parse
from studio.core.runs.store import RunStore
from studio.core.tools.registry import RecordedMock, mock_answer
from studio.viewmodels.app.background import Background
from studio.viewmodels.run.controller import RunController
from tests.application.run.world import CALCULATE, FINAL, LOOKUP, QUESTION, plan
from tests.core.agent.runs import NATIVE, Functions, call, calling, run_of, search
from tests.support.stored_reads import note_reads

LOCAL = {
    name: ToolSpec(name, id=ToolId("local", name)) for name in ("lookup", "calculator", "wait")
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "runs.sqlite"


@pytest.fixture
def controller(qapp: object, path: Path) -> Iterator[RunController]:
    background = Background()
    with closing(RunStore(path)) as store:
        made = RunController(background, StoreJournal(store))
        yield made
        made.close()
        background.stop()


def run(qtbot: QtBot, controller: RunController, what: RunPlan) -> None:
    with qtbot.waitSignal(controller.sessions.ended):
        controller.start(what)


def test_answers_of_former_runs_are_found_and_given_again(
    qtbot: QtBot, controller: RunController, path: Path
) -> None:
    run(qtbot, controller, plan([LOOKUP, CALCULATE, FINAL]))
    run(qtbot, controller, plan([CALCULATE, FINAL]))
    [found] = find_recordings(path, LOCAL["lookup"], None)
    assert found.question == QUESTION
    [answer] = found.answers
    assert (answer.arguments, answer.text) == ({"fact": "capital of France"}, "Paris")
    mock = RecordedMock(found.answers)
    given = mock_answer(mock, {"fact": "capital of France"}, 0)
    assert given is not None
    assert (given.text, given.status) == ("Paris", "ok")
    other = mock_answer(mock, {"fact": "capital of Mali"}, 0)
    assert other is not None
    assert other.is_error
    assert len(find_recordings(path, LOCAL["calculator"], None)) == 2
    assert find_recordings(path, LOCAL["wait"], None) == ()


def test_a_failed_answer_is_recorded_as_one(
    qtbot: QtBot, controller: RunController, path: Path
) -> None:
    unknown = LOOKUP.replace("France", "Atlantis")
    run(qtbot, controller, plan([unknown, FINAL]))
    [found] = find_recordings(path, LOCAL["lookup"], None)
    assert found.answers[0].is_error
    assert "no such fact" in found.answers[0].text


def test_runs_of_the_prompt_come_first(
    qtbot: QtBot, controller: RunController, path: Path, tmp_path: Path
) -> None:
    theirs = plan([LOOKUP, FINAL])
    prompt = tmp_path / "mine.prompty"
    mine = parse(theirs.document.source.text, prompt)
    run(qtbot, controller, replace(plan([LOOKUP, FINAL]), document=mine))
    run(qtbot, controller, theirs)
    newest, oldest = find_recordings(path, LOCAL["lookup"], None)
    assert newest.started > oldest.started
    assert find_recordings(path, LOCAL["lookup"], prompt) == (oldest, newest)


def test_no_history_has_no_recordings(path: Path) -> None:
    assert find_recordings(path, LOCAL["lookup"], None) == ()
    assert not path.exists()


async def test_of_a_long_run_only_the_steps_with_the_tool_are_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lookup(query: str) -> str:
        return "Paris"

    turns = [calling(call())] * 200
    turns[150] = calling(call("lookup"))
    options = RunOptions(headless=True, limits=Limits(None))
    with closing(RunStore(path)) as store:
        made, _ = run_of(
            NATIVE,
            [*turns, "ok"],
            tools=Functions(search, lookup),
            options=options,
            journal=store.journal("r1"),
        )
        await made.go()
    read: set[int] = set()
    note_reads(monkeypatch, read.add)
    [found] = find_recordings(path, LOCAL["lookup"], None)
    assert [answer.text for answer in found.answers] == ["Paris"]
    assert 0 < len(read) < len(made.events) / 2
