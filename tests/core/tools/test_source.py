"""Every message is noted, within bounds, and a request can be sent again by the real curl."""

from __future__ import annotations

import shlex

from studio.core.tools.source import (
    LONGEST_MESSAGE,
    MOST_MESSAGES,
    TrafficLog,
    curl_command,
)


def test_an_answer_has_the_time_since_its_question() -> None:
    log = TrafficLog()
    log.sent("tools/list", "{}", 2, 1)
    log.received("notifications/message", "{}", 2)
    log.received("", '{"a": 1}', 8, 1)
    log.received("", "{}", 2, 99)
    sent, notice, answer, stray = log.messages
    assert [each.number for each in log.messages] == [1, 2, 3, 4]
    assert (sent.direction, sent.seconds, notice.seconds, stray.seconds) == (
        "sent",
        None,
        None,
        None,
    )
    assert answer.seconds is not None
    assert (answer.title, answer.size) == ("tools/list", 8)


def test_the_newest_are_kept_and_a_long_one_is_cut() -> None:
    log = TrafficLog()
    for number in range(MOST_MESSAGES + 5):
        log.received(str(number), "x", 1)
    assert len(log.messages) == MOST_MESSAGES
    assert log.messages[-1].title == str(MOST_MESSAGES + 4)
    log.received("long", "x" * (LONGEST_MESSAGE + 1), 1)
    assert log.messages[-1].text.endswith("200,001 characters in all")


def test_a_request_is_a_command_that_a_shell_reads_as_it_is_meant() -> None:
    body = """{"a": "it's $HOME `x`"}"""
    headers = {"Host": "h", "X-Key": "a b", "Content-Length": "5"}
    command = curl_command("POST", "http://h/a?b=c&d='", headers, body)
    assert shlex.split(command) == [
        "curl",
        "-X",
        "POST",
        "http://h/a?b=c&d='",
        "-H",
        "X-Key: a b",
        "--data-binary",
        body,
    ]
