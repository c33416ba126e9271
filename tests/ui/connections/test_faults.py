"""What a person sees of each fault: where the run stands, why, what to do, and what had come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from studio.application.run.cards.timeline import timeline_of
from studio.application.run.text import plain_text
from studio.core.models.connections import EMBEDDED, Connection
from studio.ui.app.workbench import Workbench
from tests.support.chat_server import (
    Answer,
    ChatServer,
    chunk,
    cut_body,
    events,
    failure,
    json_body,
    raw,
    silent,
    streamed,
)
from tests.support.model_choice import use_model

Open = Callable[[Path], Workbench]
HALF = chunk({"content": "Half of"})
LOST = {"error": {"message": "engine lost", "type": "server_error"}}

# How the server answers; the fault's code; a piece of what is said and of what to do; what is kept.
FAULTS: dict[str, tuple[Answer, str, str, str, str]] = {
    "401": (failure(401), "unauthorised", "does not accept the key", "Enter the key again", ""),
    "403": (failure(403), "forbidden", "does not allow this", "the permissions of the key", ""),
    "404": (failure(404), "not-found", "has no model 'm-1'", "Choose a model", ""),
    "408": (failure(408), "timeout", "timed out (408)", "Run again", ""),
    "413": (failure(413), "too-long", "too long for the model", "Shorten the prompt", ""),
    "429": (failure(429), "rate-limited", "limits the rate of requests (429)", "Wait a while", ""),
    "500": (failure(500), "server-error", "an internal error (500)", "in a while", ""),
    "no first byte": (silent(), "timeout", "did not start its reply within 1 s", "more time", ""),
    "stall": (events([HALF], then=[silent()]), "stalled", "for 1 s", "Run again", "Half of"),
    "cut": (cut_body([HALF]), "cut-off", "broke", "The received part is kept", "Half of"),
    "malformed events": (
        events([HALF], then=[raw("data: {oops\n\n")]),
        "bad-reply",
        "is not JSON",
        "/v1",
        "Half of",
    ),
    "malformed body": (json_body("{oops"), "bad-reply", "its reply is not JSON", "/v1", ""),
    "a page": (json_body("<html>", kind="text/html"), "bad-reply", "text/html", "/v1", ""),
    "no choices": (json_body({"choices": []}), "bad-reply", "no usable reply", "/v1", ""),
    "error in the stream": (
        events([HALF, LOST]),
        "server-error",
        "engine lost",
        "Run again",
        "Half of",
    ),
    "filtered": (
        failure(400, "No.", "content_filter"),
        "content-filter",
        "content filter",
        "Change",
        "",
    ),
}


@pytest.fixture
def workbench(user_home: Path, open_workbench: Open, server: ChatServer) -> Workbench:
    """The studio with a short prompt, answered by the server, which is tried once."""
    path = user_home / "short.prompty"
    path.write_text("---\nname: short\n---\nuser:\nHello\n", encoding="utf-8")
    made = open_workbench(path)
    one = Connection(
        "Faulty",
        "compatible",
        base_url=server.url,
        model="m-1",
        retries=0,
    )
    every = made.connections.connections
    made.connections.save(replace(every, connections=(EMBEDDED, one)))
    use_model(made.connections, "Faulty")
    return made


def stop(qtbot: QtBot, workbench: Workbench) -> None:
    workbench.run_pane.commands.stop()
    qtbot.waitUntil(lambda: not workbench.run.is_live)


def be_impatient(workbench: Workbench, fault: str) -> None:
    """Wait a second only where a fault is to be waited out: a busy machine answers late."""
    every = workbench.connections.connections
    one = replace(
        every.connections[1],
        first_byte_seconds=1.0 if fault == "no first byte" else 60.0,
        stall_seconds=1.0 if fault == "stall" else 60.0,
    )
    workbench.connections.save(replace(every, connections=(EMBEDDED, one)))


def test_every_fault_is_a_state_that_says_what_to_do(
    qtbot: QtBot, workbench: Workbench, server: ChatServer
) -> None:
    view, inspector = workbench.run_pane, workbench.run_pane.inspector

    def stands() -> bool:
        state = workbench.run.state
        return state is not None and state.error is not None and state.pause is not None

    for name, (answer, code, said, hint, kept) in FAULTS.items():
        be_impatient(workbench, name)
        server.always(answer)
        server.requests.clear()
        view.commands.run_or_continue()
        qtbot.waitUntil(stands)
        state = workbench.run.state
        assert state is not None
        assert state.error is not None
        assert state.error.code == code, name
        assert len(server.requests) == 1, f"{name}: no further tries were allowed"
        until_told(qtbot, workbench, name, said, hint)
        assert view.timeline.cards[-1].phase == "error", name
        workbench.run_pane.timeline.follow()
        assert kept in inspector.text_of("reply"), name
        partial = state.step.partial
        assert (partial.text if partial is not None else "") == kept, name
        stop(qtbot, workbench)


def until_told(qtbot: QtBot, workbench: Workbench, name: str, *words: str) -> None:
    """Wait for the words themselves: what stands there before is of the fault before."""

    def is_told() -> None:
        offers = workbench.run_pane.view.offers
        assert offers.is_error, name
        assert all(each in offers.detail for each in words), (name, offers.detail)

    qtbot.waitUntil(is_told)


def test_what_goes_on_is_told_too(
    qtbot: QtBot, workbench: Workbench, server: ChatServer, user_home: Path
) -> None:
    endings_that_are_no_faults(qtbot, workbench, server)
    a_cut_answer_is_asked_for_again_with_more_room(qtbot, workbench, server)
    a_refusal_is_asked_again_or_written_differently(qtbot, workbench, server)
    waiting_for_a_further_try_is_seen_and_a_stop_ends_it(qtbot, workbench, server)
    further_tries_are_as_many_as_the_connection_says(qtbot, workbench, server)
    a_parameter_that_is_not_taken_is_left_out(qtbot, workbench, server, user_home)


def endings_that_are_no_faults(qtbot: QtBot, workbench: Workbench, server: ChatServer) -> None:
    refusal = events([chunk({"refusal": "I will not."}), chunk({}, "stop"), "[DONE]"])
    cut, filtered = "The answer was cut off by the token limit.", "The provider's filter cut"
    cases = {
        "cut off by the token limit": (streamed("As far as it", finish="length"), cut),
        "blocked by the content filter": (streamed("As far", finish="content_filter"), filtered),
        "I will not.": (refusal, ""),
    }
    for words, (answer, remark) in cases.items():
        server.always(answer)
        workbench.run_pane.commands.run_or_continue()
        qtbot.waitUntil(lambda: workbench.run.state is not None)

        def ended() -> bool:
            state = workbench.run.state
            is_error = state is not None and state.error is not None and state.pause is not None
            return is_error or not workbench.run.is_live

        qtbot.waitUntil(ended)
        notes = plain_text(workbench.run_pane.inspector.view.blocks)
        assert remark in notes, "beside the answer, which comes to the front by itself"
        workbench.run_pane.inspector.tab_chosen.emit("reply")
        qtbot.waitUntil(
            lambda said=words: (
                said.lower() in workbench.run_pane.inspector.text_of("reply").lower()
            ),
        )
        if workbench.run.is_live:
            stop(qtbot, workbench)


def take_offer(qtbot: QtBot, workbench: Workbench, label: str) -> None:
    """Click the button of the action bar, once it is there."""
    bar = workbench.run_pane.side.actions_bar

    qtbot.waitUntil(lambda: label in [each.text() for each in bar.buttons])
    next(each for each in bar.buttons if each.text() == label).click()


def a_cut_answer_is_asked_for_again_with_more_room(
    qtbot: QtBot, workbench: Workbench, server: ChatServer
) -> None:
    figures = {"prompt_tokens": 5, "completion_tokens": 8}
    cut = events([chunk({"content": "As far"}), chunk({}, "length"), {"usage": figures}, "[DONE]"])
    server.script(cut, streamed("All of it."))
    workbench.run_pane.commands.run_or_continue()
    take_offer(qtbot, workbench, "Ask again with 16 tokens")
    qtbot.waitUntil(lambda: not workbench.run.is_live)
    state = workbench.run.state
    assert state is not None
    assert (state.status, state.answer) == ("done", "All of it.")
    assert server.requests[-1].body["max_completion_tokens"] == 16
    assert "max_completion_tokens" not in server.requests[-2].body


def a_refusal_is_asked_again_or_written_differently(
    qtbot: QtBot, workbench: Workbench, server: ChatServer
) -> None:
    refusal = events([chunk({"refusal": "I will not."}), chunk({}, "stop"), "[DONE]"])
    server.script(refusal, refusal, streamed("Well then."))
    pane = workbench.run_pane
    pane.commands.run_or_continue()
    take_offer(qtbot, workbench, "Ask again")
    qtbot.waitUntil(lambda: len(server.requests) >= 2 and not workbench.run.is_live)
    take_offer(qtbot, workbench, "Change the messages…")
    qtbot.waitUntil(lambda: pane.side._pages.currentWidget() is pane.side.editor)
    pane.side.close_editor()
    take_offer(qtbot, workbench, "Send the request")
    qtbot.waitUntil(lambda: "Well then." in pane.inspector.text_of("reply"))
    stop(qtbot, workbench)


def waiting_for_a_further_try_is_seen_and_a_stop_ends_it(
    qtbot: QtBot, workbench: Workbench, server: ChatServer
) -> None:
    every = workbench.connections.connections
    patient = replace(every.connections[1], retries=3)
    workbench.connections.save(replace(every, connections=(EMBEDDED, patient)))
    server.requests.clear()
    server.always(failure(429, "Slow down.", retry_after="30"))
    workbench.run_pane.commands.run_or_continue()
    timeline = workbench.run_pane.timeline
    qtbot.waitUntil(
        lambda: any("Try 2 of 4 in 30.0 s" in card.summary for card in timeline.cards),
    )
    assert any("Slow down." in card.summary for card in timeline.cards)
    assert "Slow down." in workbench.run_pane.view.sentence
    assert "Try 2 of 4 in 30.0 s" in workbench.run_pane.view.sentence
    stop(qtbot, workbench)  # waits less long than the server asked for
    assert len(server.requests) == 1
    assert "Try 2" not in workbench.run_pane.view.sentence


def further_tries_are_as_many_as_the_connection_says(
    qtbot: QtBot, workbench: Workbench, server: ChatServer
) -> None:
    every = workbench.connections.connections
    twice = replace(every.connections[1], retries=1)
    workbench.connections.save(replace(every, connections=(EMBEDDED, twice)))
    server.requests.clear()
    server.always(failure(503, retry_after_ms="1"))
    workbench.run_pane.commands.run_or_continue()
    qtbot.waitUntil(lambda: len(server.requests) >= 2)
    qtbot.waitUntil(lambda: workbench.run_pane.view.offers.is_error)
    assert len(server.requests) == 2
    stop(qtbot, workbench)


def a_parameter_that_is_not_taken_is_left_out(
    qtbot: QtBot, workbench: Workbench, server: ChatServer, user_home: Path
) -> None:
    path = user_home / "warm.prompty"
    path.write_text(
        "---\nname: warm\nmodel: {options: {temperature: 0.5}}\n---\nuser:\nHello\n",
        encoding="utf-8",
    )
    workbench.window.tabs.open(path)
    qtbot.waitUntil(lambda: workbench.is_settled)
    use_model(
        workbench.connections, "Faulty"
    )  # what was picked for another file is not for this one
    said = "Unsupported parameter: 'temperature' is not supported with this model."
    server.script(failure(400, said, "unsupported_parameter", "temperature"), streamed("Hi."))
    workbench.run_pane.commands.run_or_continue()
    qtbot.waitUntil(lambda: workbench.run.state is not None)
    qtbot.waitUntil(lambda: not workbench.run.is_live)
    state = workbench.run.state
    assert state is not None
    assert state.answer == "Hi."
    assert state.step.reply is not None
    assert "temperature" not in server.requests[-1].body
    told = "The server does not accept 'temperature': 0.5 is left out."
    assert told in [each.message for each in state.step.warnings]
    cards = timeline_of(state).cards
    assert [card.facts for card in cards if card.kind == "final"] == ["without temperature"]
    assert [card.kind for card in cards if "warned" in card.badges] == ["reply"]
