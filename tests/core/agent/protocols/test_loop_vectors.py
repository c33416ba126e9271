"""The corpus of replies from other frameworks' tests: each case, and each key of it, is read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from studio.core.agent.protocols.findings import format_feedback
from studio.core.agent.protocols.json_repair import ends_inside, find_repair
from studio.core.agent.protocols.loops import loop_of
from studio.core.agent.protocols.react import clean_name
from studio.core.agent.values.json_text import Decoded, decode_at
from studio.core.agent.values.step import Action, Final, FormatError, Reading
from studio.core.prompty.document import ToolSpec
from studio.core.wire.reply import Reply, TextDelta, ToolCallDelta, accumulate
from tests.core.agent.loop_vectors import load, reply_of, rules_for
from tests.core.agent.runs import NATIVE, Functions, run_of
from tests.support.partial_json import partial_json
from tests.support.vectors import Watched, all_read, assert_each_is_run

FORMATS = {"react": "react", "json_action": "json_action", "tool_calls": "native"}

# Replies ------------------------------------------------------------------------------------------

CASES = load("cases.json")
FOLLOWED = [case for case in CASES if case["adopt"] in ("yes", "warn", "dialect")]
TO_FIX = [case for case in CASES if case["adopt"] == "fix"]
DISPUTED = [case for case in CASES if case["adopt"] == "policy"]
FAULTS = [case for case in CASES if case["adopt"] == "no"]

OUR_ERRORS = {
    "tg-09-bad-json": ("bad_args", "The arguments cannot be read"),
    "tg-11-whitespace": ("empty", "The reply is empty"),
    "tg-13-incomplete-json": ("truncated", "the JSON is cut off"),
    "tg-22g-quotes-only-name": ("no_tool_name", "'Action:' names no tool"),
    "lc-mrkl-output-parser-03-missing-action": ("no_labels", "none of the labels"),
    "lcf-bad-json": ("bad_args", "not valid JSON"),
    "crew-38-integration-valid-and-invalid": ("bad_action", "no 'Action:' before them"),
    "go-09-invalid": ("no_labels", "none of the labels"),
    "oai-06-length-empty": ("truncated", "The token limit was reached"),
    "oai-16-bad-json-observation": ("bad_args", "not valid JSON"),
    "oai-17-bad-json-raise": ("bad_args", "not valid JSON"),
    "oai-21a-non-object": ("args_not_object", "not a JSON object"),
    "pai-06-cut-args": ("truncated", "incomplete"),
    "pai-08-length-empty": ("truncated", "The token limit was reached"),
}
"""The code of what a peer words its own way, and a piece of our words."""

THEIR_ERRORS = {
    "tg-09-bad-json": "Invalid JSON in Args",
    "tg-11-whitespace": "Could not parse response",
    "tg-13-incomplete-json": "Invalid JSON in Args",
    "lc-mrkl-output-parser-03-missing-action": "Could not parse LLM output",
    "lc-mrkl-11-valid-action-and-answer-raises-exception": (
        "Parsing LLM output produced both a final answer and a parse-able action"
    ),
    "lc-react-single-input-03-action-with-finish": (
        "Parsing LLM output produced both a final answer and a parse-able action"
    ),
    "lcf-bad-json": "is not valid JSON",
    "lg-02-bad-args": (
        "Error invoking tool 'tool1' with kwargs {'invalid': 0, 'args': 'foo'} with error:"
    ),
    "crew-20-missing-action-input-error": (
        "I did it wrong. Invalid Format: I missed the 'Action Input:' after 'Action:'. I will do ri"
    ),
    "crew-38-integration-valid-and-invalid": (
        "I did it wrong. Invalid Format: I missed the 'Action:' after 'Thought:'. I will do right n"
    ),
    "crew-39-integration-valid-and-invalid": (
        "I did it wrong. Invalid Format: I missed the 'Action Input:' after 'Action:'. I will do ri"
    ),
    "oai-06-length-empty": "finish_reason='length'",
    "oai-16-bad-json-observation": "An error occurred while parsing tool arguments",
    "oai-17-bad-json-raise": "Invalid JSON input for tool",
    "oai-20-missing-required": "ModelBehaviorError",
    "oai-21a-non-object": "expected a JSON object",
    "pai-05-unknown-tool": "Unknown tool name: 'foobar'. No tools available.",
    "pai-06-cut-args": (
        "IncompleteToolCall: "
        "exceeded while generating a tool call, resulting in incomplete arguments"
    ),
    "pai-08-length-empty": "exceeded before any response was generated",
    "smol-02-key-missing": "Tool call needs to have a key 'name'",
}
"""The peer's own words for what ours says above: where they change, ours are looked at anew."""

FOUND_LATER = {
    "pai-05-unknown-tool": "an unknown tool is found by the check, not by the reader",
    "oai-20-missing-required": "found by the schema",
    "lg-02-bad-args": "found by the schema",
}

OUR_CHOICE = {
    "lc-react-single-input-03-action-with-finish": "action",  # a label in mid-line is no label
    "lc-mrkl-11-valid-action-and-answer-raises-exception": "action",  # the first action runs
    "lc-convo-old-partial-observation": "action",
    "crew-20-missing-action-input-error": "action",  # no arguments: the schema decides
    "crew-39-integration-valid-and-invalid": "action",
    "smol-02-key-missing": "action",  # another key of the same meaning, with a remark
    "oai-10-stop-with-toolcall": "error",  # broken arguments stay unread
    "oai-20-missing-required": "action",
    "lg-02-bad-args": "action",
    "prompty-chat_structured_invalid_json": "final",
    "bee-01-plain-text": "error",  # with "treat as the answer"
}
"""Where peers disagree with each other."""

NOT_COPIED = {
    "lc-structured-chat-05-parse-with-language-without-a-new-line": "action",
    "go-08-ai-final": "error",  # no label of ours: with "treat as the answer"
}
"""What ours makes of a reply that a peer takes for the answer by a fault of its own."""


def read(case: Mapping[str, Any]) -> Reading:
    return loop_of(FORMATS[case["format"]]).read(reply_of(case["input"]), rules_for(case))


def kind_of(reading: Reading) -> str:
    if isinstance(reading, Action):
        return "error" if any(call.error for call in reading.calls) else "action"
    return {Final: "final", FormatError: "error"}.get(type(reading), "refused")


def error_of(reading: Reading) -> tuple[str | None, str]:
    if isinstance(reading, FormatError):
        return reading.code, reading.message
    assert isinstance(reading, Action)
    return reading.calls[0].error, reading.calls[0].message


def test_each_reply_is_read() -> None:
    assert_each_is_run(CASES, FOLLOWED, TO_FIX, DISPUTED, FAULTS)
    assert {case["id"] for case in DISPUTED} == set(OUR_CHOICE)


@pytest.mark.parametrize("case", FOLLOWED, ids=lambda case: case["id"])
async def test_a_reply_is_read_as_the_corpus_says(case):
    with all_read(case) as vector:
        reading, expected = read(vector), vector["expected"]
        check_stated(vector, reading)
        if case["id"] in FOUND_LATER:
            assert (kind_of(reading), expected["kind"]) == ("action", "error")
            check_theirs(vector)
            assert vector["tools"] == []  # the loop that tells it: test_loop_cases.py, pai-l1
            return
        assert kind_of(reading) == expected["kind"]
        if kind_of(reading) == "error":
            check_error(vector, reading)
        if vector.get("stage", "") == "dispatch":
            await check_dispatch(vector)
        elif any("result" in call for call in expected.get("calls") or ()):
            await check_results(vector)
        for name in vector.get("tools", ()):
            assert name in repr(case["input"])
        for piece in vector.get("answer_contains", ()):
            assert isinstance(reading, Final)
            assert piece in reading.answer


def check_stated(vector: Watched, reading: Reading) -> None:
    """What the case states of a reading; null is what it does not state."""
    expected = vector["expected"]
    thought, tool, answer = expected["thought"], expected["tool"], expected["answer"]
    wanted = vector.get("args_json", expected["args"])
    assert thought is None or reading.thought == thought
    if isinstance(reading, Final) and answer is not None:
        text = reading.answer
        assert (text if isinstance(answer, str) else json.loads(text)) == answer
    else:
        assert answer is None
    if "args_json" in vector:  # as the reply writes them, and as what they mean
        assert expected["args"] in vector["input"]
    if not isinstance(reading, Action):
        assert wanted is None
        assert not tool
        return
    assert tool is None or reading.calls[0].tool == tool
    if wanted is not None:
        got = dict(reading.calls[0].arguments or {})
        # A text, or a number, is the value of the tool's one parameter.
        text = wanted.strip() if isinstance(wanted, str) else wanted
        assert got == (wanted if isinstance(wanted, dict) else {"input": text})
    for made, call in zip(reading.calls, expected.get("calls") or (), strict=False):
        assert set(call) <= {"id", "tool", "args", "result"}
        assert (made.id, made.tool) == (call["id"], call["tool"])
        assert made.arguments == call.get("args", made.arguments)
    assert len(reading.calls) == len(expected.get("calls") or reading.calls)


def check_error(vector: Watched, reading: Reading) -> None:
    code, words = OUR_ERRORS[vector["id"]]
    expected = vector["expected"]
    assert error_of(reading)[0] == code
    assert words in error_of(reading)[1]
    check_theirs(vector)
    if "observation" in expected:
        assert expected["observation"] == "Invalid Format: Missing 'Action:' after 'Thought:"
        told = format_feedback(FORMATS[vector["format"]], error_of(reading)[1])
        assert "Write exactly one Thought and one Action" in told


def check_theirs(vector: Watched) -> None:
    """What the peer makes of it: the class of its error, and a piece of its text."""
    said = (vector.get("error_class"), vector["expected"].get("error_contains"))
    assert ": ".join(filter(None, said)) == THEIR_ERRORS.get(vector["id"], "")


class Failing(Functions):
    """Tools of the names of a case, each with the same two parameters, that raise."""

    def __init__(self, names: Sequence[str]) -> None:
        def fails(some_val: int, some_other_val: str) -> str:
            raise ValueError("Test error")

        super().__init__(fails)
        schema = {
            "properties": {"some_val": {"type": "integer"}, "some_other_val": {"type": "string"}},
            "required": ["some_val", "some_other_val"],
        }
        self._functions = dict.fromkeys(names, fails)
        self._specs = {name: ToolSpec(name, parameters=schema) for name in names}


THEIR_WORDS_FOR_A_FAULT = [
    f"Error: {kind}('Test error')\n Please fix your mistakes."
    for kind in ("ValueError", "ToolException")
]


async def check_dispatch(vector: Watched) -> None:
    """A tool that raises is told to the model, whatever the peer does with it by default."""
    reply = reply_of(vector["input"])
    run, _ = run_of(NATIVE, [reply, "done"], tools=Failing(vector["tools"]))
    state = await run.go()
    told = {
        message.attributes["tool_call_id"]: message.text
        for message in state.conversation
        if message.role == "tool"
    }
    assert state.status == "done"
    assert list(told) == [call.id for call in reply.tool_calls]
    outcome = vector["dispatch_expected"]
    if isinstance(outcome, str):
        assert outcome == (  # not so here: the run goes on
            "ValueError propagates (only invocation errors are fed back by default)"
        )
        outcome = dict.fromkeys(told, "Error: ValueError('Test error')\n Please fix your mistakes.")
    for identifier, words in outcome.items():
        if words.startswith("contains "):
            assert words.removeprefix("contains ") in told[identifier]
        else:
            assert words in THEIR_WORDS_FOR_A_FAULT
            assert told[identifier] == "Error: ValueError: Test error"


async def check_results(vector: Watched) -> None:
    """Results answer their calls, in order."""

    class ById(Functions):
        async def call(self, name, arguments, call_id="", released=frozenset()):
            outcome = await super().call(name, arguments, call_id, released)
            return type(outcome)(f"{outcome.text}-{call_id}", "ok")

    def fake_tool(value: str) -> str:
        return value

    run, _ = run_of(NATIVE, [reply_of(vector["input"]), "done"], tools=ById(fake_tool))
    state = await run.go()
    assert [message.text for message in state.conversation if message.role == "tool"] == [
        call["result"] for call in vector["expected"]["calls"]
    ]


@pytest.mark.parametrize("case", TO_FIX, ids=lambda case: case["id"])
def test_a_case_to_fix_is_an_error_whose_repair_gives_the_action(case):
    with all_read(case) as vector:
        reading, expected = read(vector), vector["expected"]
        assert isinstance(reading, FormatError)
        assert (expected["kind"], expected["answer"]) == ("action", None)
        assert reading.tool == expected["tool"]
        assert expected["thought"] in (None, reading.thought)
        wanted = vector.get("args_json", expected["args"])
        assert json.loads(reading.repairs[0].after) == wanted
        assert "args_json" not in vector or json.loads(expected["args"]) == wanted
        assert vector["adopt"] == "fix"


@pytest.mark.parametrize("case", DISPUTED, ids=lambda case: case["id"])
def test_where_peers_disagree_our_choice_stands(case):
    with all_read(case) as vector:
        reading, expected = read(vector), vector["expected"]
        ours = OUR_CHOICE[case["id"]]
        assert kind_of(reading) == ours
        assert vector["adopt"] == "policy"
        check_theirs(vector)
        assert all(name in repr(case["input"]) for name in vector.get("tools", ()))
        if "expected_raw" in vector:  # the peer's answer where the outputs ask for JSON
            assert isinstance(reading, Final)
            assert vector["expected_raw"] == {"result": reading.answer}
        if ours == expected["kind"]:
            check_stated(vector, reading)
        elif ours == "action":
            assert expected["kind"] == "error"
            assert all(expected[key] is None for key in ("tool", "args", "thought", "answer"))
        elif case["id"] == "bee-01-plain-text":
            assert isinstance(reading, FormatError)
            assert expected["kind"] == "final"
            assert reading.answer == expected["answer"] == "2+2=4"
            assert (expected["tool"], expected["args"]) == (None, None)
            assert expected["thought"] == "I now know the final answer."  # not in the reply
        else:
            assert isinstance(reading, Action)
            assert expected["kind"] == "action"
            assert reading.calls[0].text == expected["args"]
            assert reading.calls[0].tool == expected["tool"]
            assert reading.thought == expected["thought"]
            assert expected["answer"] is None


@pytest.mark.parametrize("case", FAULTS, ids=lambda case: case["id"])
def test_a_peers_fault_is_not_copied(case):
    with all_read(case) as vector:
        reading, expected = read(vector), vector["expected"]
        assert (expected["kind"], expected["tool"], expected["args"]) == ("final", None, None)
        assert expected["thought"] is None
        assert vector["input"].endswith(expected["answer"])  # all of it, or after its label
        assert kind_of(reading) == NOT_COPIED[vector["id"]]
        assert vector["adopt"] == "no"


# JSON ---------------------------------------------------------------------------------------------

REPAIRS = load("json_repair.json")
NAMES = [case for case in REPAIRS if case.get("what") == "tool name cleaning"]
ARGUMENTS = [case for case in REPAIRS if case.get("what", "").startswith("tool_calls arguments")]
OFFERED = [case for case in REPAIRS if case.get("use", "").startswith("offer")]
SHOWN = [case for case in REPAIRS if "what" not in case and case not in OFFERED]


def test_each_json_is_read() -> None:
    assert_each_is_run(REPAIRS, NAMES, ARGUMENTS, OFFERED, SHOWN)


@pytest.mark.parametrize("case", NAMES, ids=lambda case: case["id"])
def test_tool_names_are_cleaned(case):
    with all_read(case) as vector:
        assert vector["what"]
        assert clean_name(vector["input"]) == vector["expected"]


@pytest.mark.parametrize("case", ARGUMENTS, ids=lambda case: case["id"])
def test_arguments_of_native_calls(case):
    with all_read(case) as vector:
        assert vector["what"]
        message = {"tool_calls": [{"function": {"name": "t", "arguments": vector["input"]}}]}
        reply = reply_of({"message": message, "finish_reason": "tool_calls"})
        reading = loop_of("native").read(reply, rules_for({"expected": {}}))
        assert isinstance(reading, Action)
        assert reading.calls[0].arguments == vector["expected"].whole


@pytest.mark.parametrize("case", OFFERED, ids=lambda case: case["id"])
def test_json_repairs_are_offered(case):
    with all_read(case) as vector:
        assert vector["use"].endswith("do not apply silently")
        text = vector["input"]
        decoded = decode_at(text, 0)
        repair = find_repair(text, 0, len(text))
        if ends_inside(text, 0):
            # What is cut is never completed by us; the peer closes it, or gives up too.
            assert repair is None
            completed = {f'"{key}": "{value}"' for key, value in vector.get("expected", {}).items()}
            assert all(each.replace('"', "") in text.replace('"', "") for each in completed)
            assert vector.get("expected_unrepairable", True) is True
            return
        value = decoded.value if isinstance(decoded, Decoded) else json.loads(repair.after)
        assert {key: item.strip() for key, item in value.items()} == vector["expected"].whole


@pytest.mark.parametrize("case", SHOWN, ids=lambda case: case["id"])
def test_the_live_display_closes_what_is_open(case):
    with all_read(case) as vector:
        assert vector.get("use", "live display only").startswith("live display only")
        assert partial_json(vector["input"]) == vector["expected"].whole


# Streams ------------------------------------------------------------------------------------------

STREAMS = load("streaming.json")
NATIVE_STREAMS = [case for case in STREAMS if case["format"] == "tool_calls"]
OTHERS = ["tg-s1", "lc-s1", "bee-s1", "bee-s2", "bee-s3"]


def stream(name: str) -> dict[str, Any]:
    return next(case for case in STREAMS if case["id"] == name)


def test_each_stream_is_read() -> None:
    assert_each_is_run(STREAMS, NATIVE_STREAMS, [stream(name) for name in OTHERS])


@pytest.mark.parametrize("case", NATIVE_STREAMS, ids=lambda case: case["id"])
async def test_streamed_tool_calls(case):
    with all_read(case) as vector:
        assert vector["dialect"]
        reply = Reply()
        for chunk in vector["chunks"]:
            if chunk.get("content"):
                reply = accumulate(reply, TextDelta(chunk["content"]))
            function = chunk.get("function") or {}
            delta = ToolCallDelta(
                chunk["index"],
                chunk.get("id"),
                function.get("name"),
                function.get("arguments") or "",
            )
            reply = accumulate(reply, delta)
        reading = loop_of(FORMATS[vector["format"]]).read(reply, rules_for(vector))
        assert kind_of(reading) == vector["expected"]["kind"]
        check_stated(vector, reading)
        if "observation" in vector:

            def test_tool(input: str) -> str:  # noqa: A002 - as the case names it
                return f"Processed: {input}"

            run, _ = run_of(NATIVE, [reply, "done"], tools=Functions(test_tool))
            state = await run.go()
            told = [item.text for item in state.conversation if item.role == "tool"]
            assert "\n".join(told) == vector["observation"]


def test_streamed_react_text():
    with all_read(stream("tg-s1")) as vector:
        assert vector["dialect"] == "args-json"
        reading = loop_of(vector["format"]).read(
            Reply("".join(vector["chunks"])), rules_for(vector)
        )
        assert kind_of(reading) == vector["expected"]["kind"]
        check_stated(vector, reading)


def test_the_live_display_grows_as_the_stream_does():
    with all_read(stream("lc-s1")) as vector:
        assert (vector["format"], vector["dialect"]) == ("json_action", "fenced-json stream")
        text, seen = "", []
        for chunk in vector["chunks"]:
            text += chunk
            value = partial_json(text)
            if value is not None and (not seen or value != seen[-1]):
                seen.append(value)
        updates = vector["expected_updates"]
        # A key is shown with its value, so that the two updates before there is one are missing.
        assert updates[:2] == [{}, {"country_name": ""}]
        assert [value for value in seen if value not in updates[:2]] == updates[2:]


def our_labels(text: str) -> str:
    """The labels of the BeeAI dialect as ours."""
    for theirs, ours in (("Tool Name", "Action"), ("Tool Input", "Args")):
        text = text.replace(f"{theirs}:", f"{ours}:")
    return text.replace("Tool Output:", "Observation:")


def streamed(text: str, size: int) -> Reply:
    reply = Reply()
    for start in range(0, len(text), size):
        reply = accumulate(reply, TextDelta(text[start : start + size]))
    return reply


def test_a_reading_is_the_same_for_every_size_of_chunk():
    with all_read(stream("bee-s1")) as vector:
        assert vector["format"] == "react"
        assert vector["dialect"].startswith("line prefixes")
        fields, text = vector["expected_fields"], our_labels(vector["text"])
        readings = [
            loop_of("react").read(streamed(text, size), rules_for({"expected": {}}))
            for size in vector["chunk_sizes"]
        ]
        reading = readings[0]
        assert all(each == reading for each in readings)
        assert isinstance(reading, Action)
        assert reading.thought == fields["thought"]
        assert (reading.calls[0].tool, reading.calls[0].arguments) == (
            fields["tool_name"],
            fields["tool_input"],
        )
        # The action is done; what the model made up after it is neither a result nor the answer.
        codes = {warning.code for warning in reading.warnings}
        assert codes == {"text_between", "invented_observation", "answer_after_action"}
        ignored = "".join(
            text[span.span.start : span.span.end]
            for span in reading.spans
            if span.label == "ignored"
        )
        assert fields["tool_caption"] in ignored
        assert json.dumps(fields["tool_output"], separators=(",", ":")) in ignored
        assert fields["final_answer"] in ignored


def test_an_answer_keeps_what_could_have_become_a_label():
    with all_read(stream("bee-s2")) as vector:
        assert (vector["format"], vector["dialect"]) == ("react", "line prefixes")
        text = "".join(vector["chunks"])
        for end in range(len("Final Answer: 4"), len(text)):
            reading = loop_of("react").read(Reply(text[:end]), rules_for({"expected": {}}))
            assert isinstance(reading, Final)
        reading = loop_of("react").read(Reply(text), rules_for({"expected": {}}))
        assert isinstance(reading, Final)
        assert reading.answer == vector["expected_deltas_after_end"]
        assert reading.answer.startswith(vector["expected_deltas_before_end"])


def test_a_second_thought_ends_the_step():
    with all_read(stream("bee-s3")) as vector:
        assert (vector["format"], vector["dialect"]) == ("react", "line prefixes")
        fields = vector["expected_fields"]
        text = our_labels("".join(vector["chunks"])).replace("Args:", "Action: tool\nArgs:")
        reading = loop_of("react").read(Reply(text), rules_for({"expected": {}}))
        assert isinstance(reading, Action)
        assert (reading.thought, reading.calls[0].text) == (fields["thought"], fields["tool_input"])
        assert [warning.code for warning in reading.warnings] == ["text_after_args"]
