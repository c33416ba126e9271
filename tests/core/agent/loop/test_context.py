"""Histories stay legal for the provider, and fit their budget."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.core.agent.loop.context import SUMMARY, legal, size, trim, user_message
from studio.core.agent.protocols.findings import INTERRUPTED
from studio.core.prompty.document import (
    Message,
    MessageOrigin,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)


def result(call_id: str, text: str = "r") -> Message:
    return Message("tool", (ToolResultPart(text),), {"tool_call_id": call_id})


def asking(*ids: str) -> Message:
    return Message("assistant", tuple(ToolCallPart(item, "t", "{}") for item in ids))


def is_legal(messages) -> bool:
    waiting: list[str] = []
    for message in messages:
        if message.role == "tool":
            if not waiting or message.attributes.get("tool_call_id") != waiting.pop(0):
                return False
            continue
        if waiting:
            return False
        waiting = [part.id for part in message.parts if isinstance(part, ToolCallPart)]
    return not waiting


def test_missing_results_are_put_in_and_orphans_left_out():
    messages = [
        user_message("q"),
        asking("1", "2"),
        result("2"),
        result("2", "again"),
        user_message("never mind"),
        result("9"),
    ]
    made = legal(messages)
    assert is_legal(made)
    assert [message.text for message in made if message.role == "tool"] == [INTERRUPTED, "r"]
    assert legal(made) == made


PIECES = st.one_of(
    st.builds(user_message, st.text(max_size=50)),
    st.builds(lambda ids: asking(*ids), st.lists(st.sampled_from("abc"), max_size=3, unique=True)),
    st.builds(result, st.sampled_from("abcd")),
    st.builds(lambda text: Message("system", (TextPart(text),)), st.text(max_size=20)),
)


@settings(max_examples=300)
@given(st.lists(PIECES, max_size=12), st.integers(0, 400))
def test_any_history_is_made_legal_and_trimming_keeps_it_so(messages, budget):
    made = legal(messages)
    assert is_legal(made)
    shorter, dropped = trim(made, budget)
    assert is_legal(shorter)
    assert dropped >= 0
    stays = [message for message in made if message.role == "system"]
    assert [message for message in shorter if message in stays] == stays
    if dropped:
        assert len(shorter) == len(made) - dropped + 1
        assert shorter[-1] == made[-1]
        asked = [message for message in made if message.role == "user"]
        assert [message for message in shorter if message.role == "user"][-1:] == asked[-1:]


def said(role: str, text: str) -> Message:
    return Message(role, (TextPart(text),))


def conversation(pairs: int, system: str = "be good") -> list[Message]:
    made = [said("system", system)]
    for at in range(pairs):
        made += [user_message(f"question {at} " + "x" * 100), said("assistant", "y" * 100)]
    return made


def test_trimming_sums_up_and_fits():
    long = conversation(20)
    made, dropped = trim(long, 1500)
    assert size(made) <= 1500
    assert made[1].role == "system"
    assert made[1].text.startswith(f"{SUMMARY}User asked: question 0 xxx")
    assert made[-1] == long[-1]
    assert dropped == len(long) - len(made) + 1
    assert trim(long, 100_000) == (tuple(long), 0)


@pytest.mark.parametrize("length", [10, 400, 900, 1100])
def test_what_stays_in_any_case_leaves_less_room_for_the_rest(length):
    """System messages count: where they and the newest fit at all, the whole fits."""
    made, dropped = trim(conversation(20, "s" * length), 1500)
    assert made[0].text == "s" * length
    assert dropped > 0
    assert size(made) <= 1500


def test_every_system_message_and_the_last_question_stay():
    tools = [asking("1"), result("1", "r" * 300), asking("2"), result("2", "t" * 300)]
    long = [
        said("system", "first"),
        user_message("an old question " + "x" * 300),
        said("system", "second"),
        user_message("What now?"),
        *tools,
    ]
    made, dropped = trim(long, 500)
    assert [message.text for message in made if message.role == "system"][:2] == ["first", "second"]
    assert [message.role for message in made] == [
        "system",
        "system",
        "system",
        "user",
        "assistant",
        "tool",
    ]
    assert made[3].text == "What now?"
    assert made[-1] == long[-1]
    assert dropped == 3
    assert size(made) <= 500


def test_a_summary_takes_up_the_one_before_it_and_stays_alone():
    held, _ = trim(conversation(20), 4000)
    first = next(message.text for message in held if message.text.startswith(SUMMARY))
    more = [user_message("the newest question " + "z" * 200), said("assistant", "w" * 3500)]
    made, _ = trim([*held, *more], 4000)
    texts = [message.text for message in made if message.text.startswith(SUMMARY)]
    assert len(texts) == 1
    assert texts[0].startswith(first[: len(SUMMARY) + 30])
    assert texts[0].count("Summary of earlier") == 1
    assert "User asked: question 4" in texts[0]


def test_a_summary_of_0_1_0_is_taken_up_too():
    """It was a message of the user, and is no question."""
    older = user_message("[Context summary: user: where is it?]")
    made, dropped = trim([older, user_message("And now? "), *conversation(4)[1:]], 500)
    assert made[0].text.startswith(f"{SUMMARY}user: where is it? | User asked: And now?")
    assert dropped > 0
    assert older not in made


def test_the_author_may_begin_a_message_like_a_summary():
    own = replace(said("system", f"{SUMMARY}mine"), origin=MessageOrigin("template"))
    made, _ = trim([own, *conversation(20)], 1500)
    assert made[0] == own
    assert made[2].text.startswith(SUMMARY)
