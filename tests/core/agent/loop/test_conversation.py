"""Histories stay legal for the provider, and fit their budget."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from studio.core.agent.loop.context import size, trim
from studio.core.agent.loop.conversation import legal, user_message
from studio.core.agent.protocols.feedback import INTERRUPTED
from studio.core.prompty.messages import Message, TextPart, ToolCallPart, ToolResultPart
from tests.core.agent.loop_vectors import load


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
        user_message("never mind"),
        result("9"),
    ]
    made = legal(messages)
    assert is_legal(made)
    assert [message.text for message in made if message.role == "tool"] == [INTERRUPTED, "r"]
    assert legal(made) == made


def test_a_transcript_that_was_broken_off():
    case = next(case for case in load("loop.json") if case["id"] == "pai-l2")
    messages = []
    for item in case["history"]:
        calls = [
            ToolCallPart(call["id"], call["function"]["name"], call["function"]["arguments"])
            for call in item.get("tool_calls", ())
        ]
        messages.append(Message(item["role"], (TextPart(item["content"]), *calls)))
    made = legal([*messages, user_message(case["next_user"])])
    told = {item.attributes["tool_call_id"]: item.text for item in made if item.role == "tool"}
    assert told == case["expected"]["inserted_tool_results"]
    assert is_legal(made)


PIECES = st.one_of(
    st.builds(user_message, st.text(max_size=50)),
    st.builds(lambda ids: asking(*ids), st.lists(st.sampled_from("abc"), max_size=3, unique=True)),
    st.builds(result, st.sampled_from("abcd")),
    st.builds(lambda text: Message("system", (TextPart(text),)), st.text(max_size=20)),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=12), st.integers(0, 400))
def test_any_history_is_made_legal_and_trimming_keeps_it_so(messages, budget):
    made = legal(messages)
    assert is_legal(made)
    shorter, dropped = trim(made, budget)
    assert is_legal(shorter)
    head = [message for message in made if message.role == "system"]
    leading = head[: next((at for at, item in enumerate(made) if item.role != "system"), len(made))]
    assert list(shorter[: len(leading)]) == leading
    assert dropped >= 0


def test_trimming_sums_up_and_fits():
    long = [Message("system", (TextPart("be good"),))]
    for at in range(20):
        long += [
            user_message(f"question {at} " + "x" * 100),
            Message("assistant", (TextPart("y" * 100),)),
        ]
    made, dropped = trim(long, 1500)
    assert size(made) <= 1500
    assert made[1].text.startswith("[Context summary: user: question 0")
    assert made[-1] == long[-1]
    assert dropped > 0
    assert trim(long, 100_000) == (tuple(long), 0)
