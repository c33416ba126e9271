"""Ports of loopback: free ones for programs that are told a number, and ones that refuse."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager

_FIRST, _LAST = 20_000, 32_000
"""Below what systems hand out themselves: nobody's connection takes the port meanwhile."""


def free_port() -> int:
    """A port that nobody listens on, for a program that may take a while to do so."""
    chance = random.SystemRandom()
    while True:
        port = chance.randrange(_FIRST, _LAST)
        with socket.socket() as found:
            try:
                found.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


@contextmanager
def refusing_port() -> Iterator[int]:
    """A port that refuses; it is held, so that nobody comes to listen on it."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield int(held.getsockname()[1])
