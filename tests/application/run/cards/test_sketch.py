"""What is kept of a step for its cards is as good for them as the step."""

from __future__ import annotations

import pytest

from studio.application.run.cards.timeline import cards_of_step
from studio.core.agent.values.step import (
    Action,
    Call,
    Final,
    FormatError,
    ReadingWarning,
    Refused,
    Step,
)
from studio.core.prompty.document import Message, TextPart
from studio.core.runs.run_index import LINE, step_summary_text, summarized_step
from studio.core.tools.source import ToolOutcome
from studio.core.wire.reply import Reply, ToolCall, Usage

LONG = "word \n\t ü😀 " * 400
EDGES = [
    LONG,
    "x" * 200,
    "x" * 201,
    "x" * 199 + " y" * 9,
    " " * 500 + "late",
    "x" + " " * 3000 + "y",
    "one",
    "",
    "\ud800",
]


def said(*texts: str) -> tuple[Message, ...]:
    return tuple(Message("user", (TextPart(text),)) for text in texts)


def steps(text: str) -> list[Step]:
    reply = Reply(text, text, text, usage=Usage(1_200, 34, 5, 0.01))
    asks = Reply(tool_calls=(ToolCall("a", "t", LONG), ToolCall("b", "t", LONG)))
    calls = (
        Call("a", "t", {"q": text, "n": 3}, "raw", "done", observation=text, is_error=True),
        Call("b", "t", None, text, "rejected", ("bad", "worse"), observation="", origin="mock"),
        Call(
            "c",
            "t",
            {},
            text,
            "done",
            observation=text,
            edited=("arguments", "observation"),
            outcome=ToolOutcome(text, "ok", 1.5, "err", {"deep": [text]}),
        ),
        Call("d", "t", {"q": 1}, text, "asked"),
    )
    warned = (ReadingWarning("a", "b"), ReadingWarning("c", "d"))
    return [
        Step(
            1,
            messages=said("first", text),
            sent=2,
            reply=reply,
            reading=Action(text),
            calls=calls,
            warnings=warned,
            marks=frozenset({"edited"}),
            seconds_model=2.5,
        ),
        Step(
            2,
            messages=said(text + "\n  last " + text),
            sent=1,
            reply=reply,
            reading=Final(text, answer=text),
            reply_origin="recorded",
        ),
        Step(3, sent=7, reply=reply, reading=Final(answer=text)),
        Step(
            4,
            messages=said("a\x1cb"),
            sent=1,
            reply=reply,
            reading=FormatError(message=text),
            observation=text,
        ),
        Step(5, reply=reply, reading=Refused(text=text)),
        Step(6, reply=asks, reading=Action(calls=())),
        Step(7, partial=reply),
        Step(8, messages=said(" " * 400 + "far"), sent=1),
    ]


@pytest.mark.parametrize("text", EDGES, ids=range(len(EDGES)))
def test_its_cards_are_those_of_the_step(text: str) -> None:
    for step in steps(text):
        kept = summarized_step(step_summary_text(step))
        assert kept is not None
        assert cards_of_step(kept) == cards_of_step(step), step.number


def test_it_is_small_whatever_the_step_holds() -> None:
    for step in steps("long word " * 10_000):
        assert len(step_summary_text(step)) < 20 * LINE


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"step": 3}', '{"step": {"x": []}}'])
def test_what_is_no_sketch_is_none(text: str) -> None:
    assert summarized_step(text) is None
