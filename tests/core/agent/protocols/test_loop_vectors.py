"""The corpus of replies from other frameworks' tests, read as its `adopt` says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from studio.core.agent.protocols.json_repair import ends_inside, find_repair
from studio.core.agent.protocols.loops import loop_of
from studio.core.agent.protocols.react import clean_name
from studio.core.agent.values.json_text import Decoded, decode_at
from studio.core.agent.values.reading import Action, Final, FormatError, Reading
from studio.core.wire.reply import Reply, TextDelta, ToolCallDelta, accumulate
from tests.core.agent.loop_vectors import load, reply_of, rules_for
from tests.support.partial_json import partial_json

CASES = load("cases.json")
FORMATS = {"react": "react", "json_action": "json_action", "tool_calls": "native"}
FOLLOWED = ("yes", "warn", "dialect")
FOUND_LATER = {"pai-05-unknown-tool": "an unknown tool is found by the check, not by the reader"}


def read(case: dict[str, Any]) -> Reading:
    return loop_of(FORMATS[case["format"]]).read(reply_of(case["input"]), rules_for(case))


def kind_of(reading: Reading) -> str:
    if isinstance(reading, Action):
        return "error" if any(call.error for call in reading.calls) else "action"
    return {Final: "final", FormatError: "error"}.get(type(reading), "refused")


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["adopt"] in FOLLOWED], ids=lambda case: case["id"]
)
def test_a_reply_is_read_as_the_corpus_says(case):
    reading = read(case)
    expected = case["expected"]
    if case["id"] in FOUND_LATER:
        assert kind_of(reading) == "action"
        return
    assert kind_of(reading) == expected["kind"]
    if kind_of(reading) == "action":
        check_action(reading, case)
    if isinstance(reading, Final) and expected["answer"] is not None:
        wanted = expected["answer"]
        assert (reading.answer if isinstance(wanted, str) else json.loads(reading.answer)) == wanted
    if expected.get("thought") is not None and "thought" in case["asserts"]:
        assert reading.thought == expected["thought"]
    for piece in case.get("answer_contains", ()):
        assert piece in reading.answer


def check_action(reading: Action, case: dict[str, Any]) -> None:
    expected = case["expected"]
    assert reading.calls[0].tool == expected["tool"]
    wanted = case.get("args_json", expected["args"])
    if wanted is not None:
        got = dict(reading.calls[0].arguments)
        if isinstance(wanted, dict):
            assert got == wanted
        else:
            assert got == {"input": wanted.strip() if isinstance(wanted, str) else wanted}
    for number, call in enumerate(expected.get("calls") or ()):
        assert (reading.calls[number].id, reading.calls[number].tool) == (call["id"], call["tool"])


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["adopt"] == "fix"], ids=lambda case: case["id"]
)
def test_a_case_to_fix_is_an_error_whose_repair_gives_the_action(case):
    reading = read(case)
    assert isinstance(reading, FormatError)
    wanted = case.get("args_json", case["expected"]["args"])
    assert json.loads(reading.repairs[0].after) == wanted


POLICY = {
    "lc-react-single-input-03-action-with-finish": "action",  # a label in mid-line is no label
    "lc-mrkl-11-valid-action-and-answer-raises-exception": "action",  # the first action runs
    "lc-convo-old-partial-observation": "action",
    "crew-20-missing-action-input-error": "action",  # no arguments: the schema decides
    "crew-39-integration-valid-and-invalid": "action",
    "smol-02-key-missing": "action",  # another key of the same meaning, with a remark
    "oai-10-stop-with-toolcall": "error",  # broken arguments stay unread
    "oai-20-missing-required": "action",  # found by the schema
    "lg-02-bad-args": "action",
    "prompty-chat_structured_invalid_json": "final",
    "bee-01-plain-text": "error",  # with "treat as the answer"
}


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["id"] in POLICY], ids=lambda case: case["id"]
)
def test_where_peers_disagree_our_choice_stands(case):
    reading = read(case)
    assert kind_of(reading) == POLICY[case["id"]]
    if case["id"] == "bee-01-plain-text":
        assert reading.answer == "2+2=4"
    if case["id"] == "lc-convo-old-partial-observation":
        assert reading.calls[0].arguments == {"input": "the input to the action"}


@pytest.mark.parametrize(
    "case", [case for case in CASES if case["adopt"] == "no"], ids=lambda case: case["id"]
)
def test_a_peers_fault_is_not_copied(case):
    reading = read(case)
    assert (
        kind_of(reading) != case["expected"]["kind"] or reading.answer != case["expected"]["answer"]
    )


REPAIRS = load("json_repair.json")


@pytest.mark.parametrize(
    "case",
    [case for case in REPAIRS if case.get("what") == "tool name cleaning"],
    ids=lambda case: case["id"],
)
def test_tool_names_are_cleaned(case):
    assert clean_name(case["input"]) == case["expected"]


@pytest.mark.parametrize(
    "case",
    [case for case in REPAIRS if case.get("use", "").startswith("offer")],
    ids=lambda case: case["id"],
)
def test_json_repairs_are_offered(case):
    text = case["input"]
    decoded = decode_at(text, 0)
    repair = find_repair(text, 0, len(text))
    if case.get("expected_unrepairable") or ends_inside(text, 0):
        assert repair is None  # what is cut is never completed by us
        return
    value = decoded.value if isinstance(decoded, Decoded) else json.loads(repair.after)
    assert {key: item.strip() for key, item in value.items()} == case["expected"]


@pytest.mark.parametrize(
    "case",
    [
        case
        for case in REPAIRS
        if "what" not in case and not case.get("use", "").startswith("offer")
    ],
    ids=lambda case: case["id"],
)
def test_the_live_display_closes_what_is_open(case):
    assert partial_json(case["input"]) == case["expected"]


STREAMS = load("streaming.json")


@pytest.mark.parametrize(
    "case",
    [case for case in STREAMS if case["format"] == "tool_calls"],
    ids=lambda case: case["id"],
)
def test_streamed_tool_calls(case):
    reply = Reply()
    for chunk in case["chunks"]:
        if chunk.get("content"):
            reply = accumulate(reply, TextDelta(chunk["content"]))
        function = chunk.get("function") or {}
        delta = ToolCallDelta(
            chunk["index"], chunk.get("id"), function.get("name"), function.get("arguments") or ""
        )
        reply = accumulate(reply, delta)
    reading = loop_of("native").read(reply, rules_for(case))
    assert isinstance(reading, Action)
    assert reading.calls[0].tool == case["expected"]["tool"]
    assert reading.calls[0].arguments == case["expected"]["args"]
    for number, call in enumerate(case["expected"].get("calls") or ()):
        assert (reading.calls[number].id, reading.calls[number].arguments) == (
            call["id"],
            call["args"],
        )


def test_streamed_react_text():
    case = next(case for case in STREAMS if case["id"] == "tg-s1")
    reading = loop_of("react").read(Reply("".join(case["chunks"])), rules_for(case))
    assert (reading.calls[0].tool, reading.thought) == (
        case["expected"]["tool"],
        case["expected"]["thought"],
    )


def test_the_live_display_grows_as_the_stream_does():
    case = next(case for case in STREAMS if case["id"] == "lc-s1")
    text, seen = "", []
    for chunk in case["chunks"]:
        text += chunk
        value = partial_json(text)
        if value is not None and (not seen or value != seen[-1]):
            seen.append(value)
    assert seen[-1] == case["expected_updates"][-1]
    assert all(update in seen for update in case["expected_updates"][2:])
