from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from studio.application.run.cards.timeline import timeline_of
from studio.application.run.diagram import lanes_of
from studio.application.run.displayed_run import step_verb, view_of
from studio.application.run.edits.in_place import (
    EditError,
    EditResult,
    EditSpec,
    command_of,
    problem_of,
    with_text,
)
from studio.application.run.offers.of_run import offers_of
from studio.application.run.offers.offer import Offer
from studio.application.run.words import sentence_of
from studio.core.agent.loop.steps import request_of
from studio.core.agent.run.requests import facts_of
from studio.core.agent.values.commands import AnswerCall, Approve, Continue, EditReply, TakeRepair
from studio.core.agent.values.events import CallEdited, LimitRaised, MessagesEdited
from studio.core.agent.values.state import RunState
from studio.core.prompty.document import Message, TextPart, ToolCallPart, ToolResultPart
from studio.core.wire.reply import Reply, Usage
from tests.application.run import examples as run


def _offer(state: RunState, label: str) -> Offer:
    return next(offer for offer in offers_of(state).offers if offer.label == label)


@pytest.mark.parametrize(
    ("make", "labels"),
    [
        (
            run.at_request,
            ["Send the request", "Edit messages…", "Answer in its place…", "Insert a message…"],
        ),
        (run.at_reply, ["Parse the reply", "Edit the reply…"]),
        (run.at_call, ["Run lookup", "Edit arguments…", "Reject…", "Answer myself…", "Skip"]),
        (run.at_result, ["Send the result to the model", "Edit observation…"]),
        (run.at_answer, ["Accept", "Edit the answer…", "Send back…"]),
        (run.at_limit, ["Allow 5 more", "No limit", "Stop"]),
        (run.at_refused_key, ["Open the connection…", "Try again", "Answer in its place…"]),
        (
            run.cut_off,
            [
                "Let it continue",
                "Ask again with 76 tokens",
                "Accept unchanged",
                "Edit the answer…",
                "Send back…",
            ],
        ),
        (run.refused, ["Ask again", "Change the messages…", "Choose a model…"]),
        (run.answering, []),
    ],
)
def test_what_can_be_done_at_each_place(make: Callable[[], RunState], labels: list[str]) -> None:
    assert [offer.label for offer in offers_of(make()).offers] == labels


@pytest.mark.parametrize(
    "make",
    [
        run.at_request,
        run.at_reply,
        run.at_call,
        run.at_result,
        run.at_answer,
        run.at_broken_reply,
        run.at_bad_arguments,
        run.at_refused_key,
        run.at_limit,
        run.done,
    ],
)
def test_every_button_sends_what_the_machine_takes(make: Callable[[], RunState]) -> None:
    state = make()
    for offer in offers_of(state).offers:
        for command in offer.commands[:1]:
            facts_of(state, command)
        if offer.edit is not None:
            text = offer.edit.text or "words"
            result = EditResult(text, offer.edit.tool, messages=offer.edit.messages)
            facts_of(state, command_of(offer.edit, result))


def test_a_broken_reply_offers_its_repair_first_after_telling_the_model() -> None:
    offers = offers_of(run.at_broken_reply())

    assert offers.is_error
    assert offers.offers[0].label == "Tell the model"
    assert isinstance(offers.offers[1].commands[0], TakeRepair)


def test_bad_arguments_can_be_edited() -> None:
    offer = _offer(run.at_bad_arguments(), "Edit arguments…")

    assert offer.edit is not None
    assert offer.edit.text == '{\n  "expression": "5 ** 2"\n}'
    assert offer.edit.tools == ("calculator", "lookup")


def test_a_limit_is_explained_by_the_bar_and_only_named_elsewhere() -> None:
    state = run.at_limit()
    offers = offers_of(state)
    assert offers.title == "The run has used up its 1 step without a final answer."
    assert offers.detail == ""
    assert sentence_of(state) == "Limit reached"
    assert timeline_of(state).cards[-1].summary == ""


def test_a_limit_is_raised_and_the_run_goes_on() -> None:
    assert _offer(run.at_limit(), "Allow 5 more").commands == (
        LimitRaised("iterations", 6.0),
        Continue(),
    )


def test_a_cut_reply_is_asked_for_again_with_room_for_twice_as_much() -> None:
    state = run.cut_off()
    offer = _offer(state, "Ask again with 76 tokens")

    assert offer.ask == "again"
    assert offer.commands == (LimitRaised("reply", 76), Continue())
    raised = replace(state, limits=replace(state.limits, reply=76))
    assert request_of(raised).options == {"maxOutputTokens": 76}
    twice = next(each for each in offers_of(raised).offers if each.ask == "again")
    assert twice.label == "Ask again with 152 tokens"


def test_a_problem_that_is_no_step_of_the_loop_is_said_above_the_buttons() -> None:
    text = "The run cannot be saved: the disk is full. It is in memory."
    state = run.at_call()
    assert state.pause is not None
    assert (offers_of(state).detail, offers_of(state).is_error) == ("", False)
    paused = replace(state, pause=replace(state.pause, reason="exception", text=text))
    offers = offers_of(paused)
    assert (offers.title, offers.detail, offers.is_error) == ("Run lookup?", text, True)
    assert offers.offers == offers_of(state).offers


def test_approving_names_the_call() -> None:
    assert _offer(run.at_call(), "Run lookup").commands == (Approve(0),)


def test_of_calls_that_run_at_the_same_time_each_is_approved_and_the_last_runs_all() -> None:
    fold = run.four_undecided_calls()

    def said() -> tuple[str, list[tuple[str, object]], list[str]]:
        offers = offers_of(fold.state)
        ways = [(each.label, each.commands[0]) for each in offers.offers if each.commands]
        lanes = [lane.words for lane in lanes_of(fold.state.step)]
        return offers.title, [way for way in ways if way[0] != "Skip"], lanes

    assert said() == (
        "Approve weather, call 1 of 4?",
        [("Approve 1 of 4", Approve(0)), ("Run all 4", Approve(0, others=True))],
        ["", "", "", ""],
    )
    assert step_verb(view_of(fold.state)) == "Approve 1 of 4"
    fold.decide(0, 1, 2)
    assert said() == (
        "Approve museum, call 4 of 4?",
        [("Run all 4", Approve(3))],
        ["approved", "approved", "approved", ""],
    )


def test_edited_arguments_become_a_command() -> None:
    spec = EditSpec("arguments", "", tool="lookup", call=1)

    assert command_of(spec, EditResult('{"a": 1}', "calculator")) == CallEdited(
        1, "calculator", {"a": 1}
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1,}', "Line 1, column"),
        ("[1]", "one JSON object"),
        ('{"a": NaN}', "NaN is not JSON"),
        ("[" * 100_000, "nested more than 200 levels"),
        ('{"a": 1' + "0" * 5000 + "}", "4,300 digits"),
    ],
)
def test_what_is_wrong_with_arguments_is_said(text: str, said: str) -> None:
    assert said in problem_of(EditSpec("arguments", ""), EditResult(text))


def test_a_message_to_the_model_needs_words() -> None:
    with pytest.raises(EditError, match="Write a message first"):
        command_of(EditSpec("steer", ""), EditResult("  "))


def test_an_edited_reply_keeps_its_figures() -> None:
    reply = Reply("old", usage=Usage(1, 2))
    command = command_of(EditSpec("reply", "", reply=reply), EditResult("new"))

    assert command == EditReply(Reply("new", usage=Usage(1, 2)))


def test_an_answer_of_the_person_may_be_empty() -> None:
    assert command_of(EditSpec("answer_call", ""), EditResult("")) == AnswerCall(0, "")


def test_messages_need_at_least_one() -> None:
    assert problem_of(EditSpec("messages", ""), EditResult())
    one = (Message("user", (TextPart("x"),)),)
    assert command_of(EditSpec("messages", ""), EditResult(messages=one)) == MessagesEdited(one)


def test_other_words_keep_calls_and_results() -> None:
    call = ToolCallPart("c1", "lookup", "{}")
    asked = with_text(Message("assistant", (TextPart("a"), call)), "b")
    told = with_text(Message("tool", (ToolResultPart("a"),)), "b")

    assert asked.parts == (TextPart("b"), call)
    assert told.parts == (ToolResultPart("b"),)
    assert with_text(asked, "").parts == (call,)
