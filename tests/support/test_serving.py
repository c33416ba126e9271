"""Loopback servers of the tests leave no connection open."""

from __future__ import annotations

import gc
import socket

from tests.support.chat_server import chat_server


def test_a_connection_that_comes_as_the_server_ends_is_closed() -> None:
    for _ in range(50):
        with chat_server() as server:
            client = socket.create_connection(("127.0.0.1", server.port))
        client.close()
    gc.collect()  # an open one warns here, which fails the test
