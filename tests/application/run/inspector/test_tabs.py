from __future__ import annotations

import json
from dataclasses import replace

from studio.application.run.inspector.reply import read_pieces
from studio.application.run.inspector.tabs import (
    Inspection,
    InspectorView,
    inspector_view,
    usage_rows,
)
from studio.application.run.inspector.tool import InspectionSources, tool_blocks, truth_blocks
from studio.application.run.messages import messages_view
from studio.application.run.text import Piece, json_block, plain_text, whole_text
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import ReadSpan, RunSetup
from studio.core.prompty.document import Message, MessageOrigin, TextPart
from studio.core.text.source import Span
from studio.core.text.values import JsonObject
from studio.core.wire.reply import Reply
from studio.core.wire.wire_call import WireCall
from tests.application.run import examples as run


def _look(state: RunState, tab: str, step: int = 0, **more: object) -> InspectorView:
    return inspector_view(state, Inspection(step, tab, **more), run.SOURCES)  # type: ignore[arg-type]


def test_messages_mark_what_is_new_since_the_step_before() -> None:
    view = _look(run.at_second_request(), "messages")
    added = [block.text for block in view.blocks if block.kind == "added"]

    assert added == [run.HISTORY[1:]]
    assert "the same as in the iteration before" in plain_text(view.blocks)
    assert view.summary == "2 messages · 4 lines new"
    assert view.blocks[view.first_change].kind in ("added", "removed")


def test_messages_of_the_first_step_have_no_marks() -> None:
    view = _look(run.at_second_request(), "messages", step=1)

    assert not [block for block in view.blocks if block.kind in ("added", "removed", "rule")]


def test_only_changes_folds_what_is_the_same() -> None:
    view = _look(run.at_second_request(), "messages", only_changes=True)

    assert any(block.kind == "same" and "12 lines as before" in block.text for block in view.blocks)
    assert not any("Rule 5" in block.text for block in view.blocks)


def test_an_added_message_is_new_as_a_whole() -> None:
    old = (Message("user", (TextPart("Hi"),)),)
    new = (*old, Message("assistant", (TextPart("Hello\nthere"),)))
    view = messages_view(new, old)

    assert view.summary == "2 messages · 1 message added, 2 lines new"
    assert [block.text for block in view.blocks if block.kind == "added"] == ["Hello\nthere"]


def test_a_reply_is_coloured_by_what_was_read_as_what() -> None:
    view = _look(run.at_call(), "reply")
    body = next(block for block in view.blocks if block.kind == "body")
    styles = {piece.style for piece in body.pieces}

    assert {"thought", "tool", "args", "ignored"} <= styles
    assert body.text == run.FIRST
    assert any(block.kind == "warning" for block in view.blocks)
    assert ("ignored", "ignored") in view.legend


def test_pieces_of_a_reply_are_the_reply() -> None:
    text = "a😀bc"
    spans = (ReadSpan("thought", Span(1, 3)), ReadSpan("args", Span(2, 9)))

    pieces = read_pieces(text, spans)

    assert "".join(piece.text for piece in pieces) == text
    assert [piece.style for piece in pieces] == ["muted", "thought", "args"]


def test_a_reply_that_cannot_be_read_says_why_and_what_would_mend_it() -> None:
    text = plain_text(_look(run.at_broken_reply(), "reply").blocks)

    assert "Repair offered" in text
    assert "cannot be read" in text


def test_a_model_that_failed_says_what_to_do() -> None:
    text = plain_text(_look(run.at_refused_key(), "reply").blocks)

    assert text == "The server refused the key. Check the key of the connection."


def test_a_streaming_reply_is_shown_as_it_is() -> None:
    view = inspector_view(run.answering(), Inspection(1, "reply"), run.SOURCES, Reply("Thought: I"))

    assert view.is_streaming
    assert plain_text(view.blocks) == "Thought: I"


def test_the_tool_tab_tells_arguments_check_result_and_error_stream() -> None:
    text = plain_text(_look(run.at_result(), "tool", call=0).blocks)

    for part in (
        '"fact": "capital of France"',
        "match the tool's schema",
        "Paris",
        "reading facts.json",
        "84 ms",
        "tools.py",
    ):
        assert part in text


def test_the_truth_table_tells_declared_sent_called_answered() -> None:
    lines = plain_text(_look(run.at_result(), "tool").blocks).splitlines()
    table = [line.split() for line in lines if line.startswith(("calculator", "lookup  "))]

    # The messages of this example name no tool: the model was never told of one.
    assert ["calculator", "✓", "–", "–", "–"] in table
    assert ["lookup", "✓", "–", "1", "1"] in table


def test_a_tool_counts_as_sent_only_where_the_request_tells_of_it() -> None:
    state = run.at_result()
    words = (TextPart("Tools: lookup, and calculators."),)
    told = (Message("system", words, origin=MessageOrigin("template")),)

    def rows(setup: RunSetup, request: JsonObject | None) -> dict[str, str]:
        lines = plain_text(truth_blocks(state.step, setup, told, request)).splitlines()[2:]
        return {line.split()[0]: line.split()[2] for line in lines}

    assert rows(state.setup, None) == {"lookup": "✓", "calculator": "–"}
    native = replace(state.setup, protocol="native")
    chat: JsonObject = {"tools": [{"type": "function", "function": {"name": "calculator"}}]}
    other: JsonObject = {"tools": [{"name": "lookup", "input_schema": {}}]}
    assert rows(native, chat) == {"lookup": "–", "calculator": "✓"}
    assert rows(native, other) == {"lookup": "✓", "calculator": "–"}
    gemini: JsonObject = {"tools": [{"functionDeclarations": [{"name": "lookup"}]}]}
    assert rows(native, gemini) == {"lookup": "✓", "calculator": "–"}
    for nothing in ({}, {"tools": 3}, {"tools": [1]}):
        assert set(rows(native, nothing).values()) == {"–"}  # type: ignore[arg-type]
    assert set(rows(native, None).values()) == {"?"}, "nobody knows what was sent"


def test_the_request_tab_shows_what_will_be_sent_and_then_what_was_sent() -> None:
    view = _look(run.at_request(), "request")
    assert '"model": "scripted"' in plain_text(view.blocks)
    assert '"messages"' in plain_text(view.blocks)

    state = _called(7)
    sent = _look(state, "request")
    assert sent.blocks == (json_block({"model": "scripted", "seq": 7}),)
    assert whole_text(sent.blocks) == '{"model":"scripted","seq":7}'
    assert "POST /v1/chat/completions" in sent.summary

    past = inspector_view(state, Inspection(1, "request"), InspectionSources())
    assert "Not stored" in plain_text(past.blocks)


def test_copying_a_long_request_takes_all_of_it() -> None:
    said = [{"role": "user", "content": f"message {number}"} for number in range(450)]
    body = json.dumps({"model": "m", "messages": said})
    sources = InspectionSources(lambda seq: WireCall("/v1/chat/completions", (), body))
    view = inspector_view(_called(7), Inspection(1, "request"), sources)

    assert whole_text(view.blocks) == body
    shown = plain_text(view.blocks)
    assert "370 messages left out here; Copy takes all" in shown
    assert "message 39" in shown
    assert "message 40" not in shown
    assert "message 410" in shown


def test_the_reply_names_the_model_and_the_ids_of_the_server() -> None:
    call = WireCall(
        "/v1", (), "{}", model="served-2026", id="chatcmpl-4", request_id="req-9", has_answer=True
    )
    view = inspector_view(_called(7), Inspection(1, "reply"), InspectionSources(lambda seq: call))
    assert view.blocks[0].text == "served-2026 · chatcmpl-4 · request req-9"


def test_copying_takes_what_other_tabs_leave_out_too() -> None:
    said = tuple(Message("user", (TextPart(f"message {number}"),)) for number in range(150))
    view = messages_view((*said, Message("user", (TextPart("new"),))), said)
    assert "message 9\n" not in plain_text(view.blocks)
    assert all(f"message {number}" in whole_text(view.blocks) for number in range(150))

    observed = "x" * 200_000 + "the end"
    step = replace(run.at_result().step)
    calls = tuple(replace(call, observation=observed) for call in step.calls)
    blocks = tool_blocks(replace(step, calls=calls), run.SETUP)
    assert "7 characters left out here; Copy takes all" in plain_text(blocks)
    assert observed in whole_text(blocks)


def _called(seq: int) -> RunState:
    state = run.at_reply()
    return replace(state, step=replace(state.step, called=seq))


def test_an_answer_that_was_edited_is_shown_below_its_reply() -> None:
    done = run.done()
    assert "Rome" not in plain_text(_look(done, "reply").blocks)
    edited = replace(done, answer="Rome, and 25.")
    assert "Rome, and 25." in plain_text(_look(edited, "reply").blocks)


def test_usage_adds_up() -> None:
    rows = usage_rows(run.done())

    assert [row.label for row in rows] == ["Iteration 1", "Iteration 2", "Total"]
    assert rows[-1].cells[:2] == ("824", "76")
    assert rows[0].cells[-1] == "84 ms"


def test_a_reply_that_grows_is_the_same_piece_whatever_blank_it_ends_with() -> None:
    def pieces(text: str) -> tuple[Piece, ...]:
        return read_pieces(text, (ReadSpan("answer", Span(0, len(text.rstrip()))),))

    assert pieces("The old ") == (Piece("The old ", "answer"),)
    assert pieces("The old mill\n") == (Piece("The old mill\n", "answer"),)
