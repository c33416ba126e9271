"""Messages to and from a source of tools, newest last, within bounds."""

from __future__ import annotations

import shlex
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

MOST_MESSAGES = 300
LONGEST_MESSAGE = 20_000
"""Characters of one message that are kept."""


@dataclass(frozen=True, slots=True)
class TrafficMessage:
    """One message."""

    number: int
    """Its place, from 1."""

    when: float
    """Seconds since the epoch."""

    direction: Literal["sent", "received"]
    """Sent by the studio, or received by it."""

    title: str
    """Title in a few words: a method, a request line, a status."""

    size: int
    """Its size in bytes, as it is on the wire without headers of HTTP."""

    text: str
    """The message; a long one is cut."""

    seconds: float | None = None
    """Of an answer, the time since its question."""

    curl: str = ""
    """Of a request by HTTP, the command that sends it again; keys masked."""


class TrafficLog:
    """Of one source."""

    def __init__(self) -> None:
        self._messages: deque[TrafficMessage] = deque(maxlen=MOST_MESSAGES)
        self._count = 0
        self._asked: dict[object, tuple[str, float]] = {}

    @property
    def messages(self) -> tuple[TrafficMessage, ...]:
        """The newest, in order."""
        return tuple(self._messages)

    def sent(
        self, title: str, text: str, size: int, question: object = None, curl: str = ""
    ) -> None:
        """Note a message that is sent.

        Args:
            title: what it is.
            text: the message.
            size: its bytes.
            question: by which its answer will be known; None where there will be none.
            curl: the command that sends it again.
        """
        if question is not None:
            self._asked[question] = (title, time.monotonic())
        self._add("sent", title, text, size, None, curl)

    def received(self, title: str, text: str, size: int, question: object = None) -> None:
        """Note a message that came.

        Args:
            title: what it is; empty for the title of its question.
            text: the message.
            size: its bytes.
            question: which question it answers; None for none.
        """
        asked, began = self._asked.pop(question, ("", None)) if question is not None else ("", None)
        seconds = time.monotonic() - began if began is not None else None
        self._add("received", title or asked, text, size, seconds, "")

    def _add(
        self,
        direction: Literal["sent", "received"],
        title: str,
        text: str,
        size: int,
        seconds: float | None,
        curl: str,
    ) -> None:
        self._count += 1
        if len(text) > LONGEST_MESSAGE:
            text = f"{text[:LONGEST_MESSAGE]}\n… {len(text):,} characters in all"
        self._messages.append(
            TrafficMessage(self._count, time.time(), direction, title, size, text, seconds, curl)
        )


def curl_command(method: str, url: str, headers: Mapping[str, str], body: str) -> str:
    """A request as a command of `curl`, for a POSIX shell."""
    parts = ["curl", "-X", method, shlex.quote(url)]
    for name, value in headers.items():
        if name.lower() not in ("host", "content-length"):
            parts += ["-H", shlex.quote(f"{name}: {value}")]
    if body:
        parts += ["--data-binary", shlex.quote(body)]
    return " ".join(parts)
