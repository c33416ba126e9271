"""The turns of a thread, with the answers as they are after the person's edits."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from studio.application.run.cards.timeline import card_text, cards_of_step, timeline_of
from studio.application.run.inspector.reply import markdown_parts, thread_markdown, turns_of
from studio.core.agent.loop.machine import advance
from studio.core.agent.values.commands import SendBack
from studio.core.agent.values.events import (
    AnswerChecked,
    AnswerEdited,
    AnswerReturned,
    Event,
    Passed,
    Rendered,
    TreatedAsFinal,
)
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import PausePoint
from studio.core.prompty.document import Message, TextPart
from studio.core.runs.run_index import shape_of, step_summary_text, summarized_step
from tests.application.run import examples as run
from tests.core.agent.loop.test_composing import END, PROMPT, SEARCH
from tests.core.agent.runs import Session, run_of


def _after(state: RunState, *events: Event) -> RunState:
    for event in events:
        state, _ = advance(state, event)
    return state


def _gone_on(state: RunState) -> RunState:
    asked = (Message("user", (TextPart("And of Spain?"),)),)
    return _after(state, AnswerChecked(), AnswerReturned("And of Spain?"), Rendered(asked))


def test_an_edited_answer_stays_in_the_turns_that_follow() -> None:
    state = _gone_on(
        _after(run.at_answer(), AnswerEdited("It is Paris."), Passed(PausePoint.ANSWER))
    )

    turns = turns_of(state)
    assert [turn.answer for turn in turns] == ["It is Paris.", ""]
    assert turns[1].question == "And of Spain?"
    assert "It is Paris." in thread_markdown(state)
    final = next(card for card in timeline_of(state).cards if card.kind == "final")
    assert final.summary == card_text(state, final) == "It is Paris."


def test_what_was_taken_as_the_answer_has_a_card_and_a_turn() -> None:
    taken = _after(run.at_broken_reply(), TreatedAsFinal("Paris, I say."))
    last = timeline_of(taken).cards[-1]
    assert (last.kind, last.summary) == ("final", "Paris, I say.")

    state = _gone_on(_after(taken, Passed(PausePoint.ANSWER)))
    assert turns_of(state)[0].answer == "Paris, I say."
    (step,) = state.steps
    kept = summarized_step(step_summary_text(step))
    assert shape_of(step).endswith("f")
    assert kept is not None
    assert cards_of_step(kept) == cards_of_step(step)


def test_an_answer_that_nobody_changed_is_the_models() -> None:
    state = _gone_on(_after(run.at_answer(), Passed(PausePoint.ANSWER)))

    assert turns_of(state)[0].answer == "The answer is **Paris**, and 25."
    assert all(step.answer is None for step in state.steps)


async def test_the_step_that_writes_the_answer_is_no_question_of_the_user() -> None:
    session, _ = run_of(PROMPT, [SEARCH, END, "It is in Rome."], options=RunOptions(headless=True))
    state = await session.go()

    assert state.answer == "It is in Rome."
    assert [turn.answer for turn in turns_of(state)] == ["It is in Rome."]
    assert thread_markdown(state) == ""


async def test_a_composed_answer_is_gone_on_from() -> None:
    options = RunOptions(pause_at=frozenset({PausePoint.ANSWER}))
    session = Session.over(PROMPT, [END, "First.", END, "Second."], options=options)
    await session.until_still()
    await session.send(SendBack("And more?"))

    turns = turns_of(session.run.state)
    assert [turn.answer for turn in turns] == ["First.", "Second."]


LONG = "word " * 30


def test_a_short_answer_is_one_part() -> None:
    assert list(markdown_parts("One.\n\nTwo.\n")) == ["One.\n\nTwo.\n"]
    assert list(markdown_parts("")) == []


def test_parts_end_where_paragraphs_do() -> None:
    text = "\n\n".join(f"Paragraph {number}. {LONG}" for number in range(9))
    parts = list(markdown_parts(text, 200))
    assert len(parts) > 3
    assert all(part.startswith("Paragraph") for part in parts)
    assert "".join(parts) == text


def test_code_is_not_cut_at_its_empty_lines() -> None:
    code = "```python\n" + "x = 1\n\n" * 30 + "```\n"
    assert list(markdown_parts(code + "\nAfter.\n", 150)) == [code + "\n", "After.\n"]


def test_very_long_code_stays_code_in_every_part() -> None:
    parts = list(markdown_parts("~~~~ text\n" + "line of it\n" * 100 + "~~~~\nAfter.\n", 200))
    assert len(parts) > 2
    assert all(part.startswith("~~~~ text\n") for part in parts)
    assert all(part.endswith("\n~~~~\n") for part in parts[:-1])
    assert parts[-1].endswith("~~~~\nAfter.\n")
    assert sum(part.count("line of it") for part in parts) == 100


def test_another_mark_does_not_close_a_fence() -> None:
    text = "````\n```\n\n~~~~\n\n" + "x\n\n" * 100 + "````\n\nAfter"
    parts = list(markdown_parts(text, 180))
    assert parts[-1] == "After"
    assert len(parts) == 2


@given(st.text(alphabet="a` ~\n#", max_size=400), st.integers(5, 80))
def test_nothing_is_lost_and_no_part_is_endless(text: str, most: int) -> None:
    parts = list(markdown_parts(text, most))
    assert all(len(part) < 7 * most + 10 for part in parts)
    if "```" not in text and "~~~" not in text:
        assert "".join(parts) == text
