"""A call that the person answers waits in the loop, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future

import pytest
from pytestqt.qtbot import QtBot

from studio.core.tools.mcp.connection import InputGiven, InputWanted
from studio.core.tools.registry import AskMock, ToolEntry, ToolRegistry
from studio.core.tools.source import ToolOutcome
from studio.core.tools.toolbox import Toolbox
from studio.viewmodels.app.background import Background
from studio.viewmodels.tools.calls import Question, ToolQuestions
from tests.application.run.world import spec
from tests.support import patience


@pytest.fixture
def background(qapp: object) -> Iterator[Background]:
    made = Background()
    yield made
    made.stop()


@pytest.fixture
def questions(background: Background) -> ToolQuestions:
    return ToolQuestions(background)


def ask(
    qtbot: QtBot, background: Background, questions: ToolQuestions
) -> tuple[Question, Future[ToolOutcome]]:
    """A call of a tool whose mock is the person; gives the question and the call."""
    registry = ToolRegistry((ToolEntry(spec("lookup", "fact"), mock=AskMock()),))
    box = Toolbox(lambda: registry, {}, ask=questions.ask)
    with qtbot.waitSignal(questions.request_answer) as asked:
        call = background.start(box.call("lookup", {"fact": "capital of France"}))
    return asked.args[0], call


def test_the_answer_is_the_result(
    qtbot: QtBot, background: Background, questions: ToolQuestions
) -> None:
    question, call = ask(qtbot, background, questions)
    assert (question.tool, question.arguments) == ("lookup", {"fact": "capital of France"})
    assert not call.done()
    with qtbot.waitSignal(questions.settled) as settled:
        questions.answer(question.id, "Paris", is_error=False)
    assert settled.args == [question.id]
    outcome = call.result(patience.SECONDS)
    assert (outcome.text, outcome.status) == ("Paris", "ok")
    questions.answer(question.id, "too late", is_error=False)


def test_no_answer_is_a_failure_of_the_tool(
    qtbot: QtBot, background: Background, questions: ToolQuestions
) -> None:
    question, call = ask(qtbot, background, questions)
    questions.answer(question.id, "The user gave no answer.", is_error=True)
    assert call.result(patience.SECONDS).status == "error"


def test_a_call_that_is_stopped_withdraws_its_question(
    qtbot: QtBot, background: Background, questions: ToolQuestions
) -> None:
    question, call = ask(qtbot, background, questions)
    with qtbot.waitSignal(questions.settled) as settled:
        call.cancel()
    assert settled.args == [question.id]


def test_several_wait_at_once_and_each_gets_its_own_answer(
    qtbot: QtBot, background: Background, questions: ToolQuestions
) -> None:
    first, first_call = ask(qtbot, background, questions)
    second, second_call = ask(qtbot, background, questions)
    assert first.id != second.id
    questions.answer(second.id, "two", is_error=False)
    questions.answer(first.id, "one", is_error=False)
    assert (
        first_call.result(patience.SECONDS).text,
        second_call.result(patience.SECONDS).text,
    ) == ("one", "two")


def test_what_a_server_wants_to_know_comes_from_the_user(
    qtbot: QtBot, background: Background, questions: ToolQuestions
) -> None:
    with qtbot.waitSignal(questions.request_input) as asked:
        waiting = background.start(questions.ask_for_input(InputWanted("Which seat?")))
    question = asked.args[0]
    assert question.wanted.message == "Which seat?"
    with qtbot.waitSignal(questions.settled):
        questions.give_input(question.id, InputGiven("accept", {"row": 3}))
    assert waiting.result(patience.SECONDS) == InputGiven("accept", {"row": 3})
    questions.give_input(question.id, InputGiven("decline"))
