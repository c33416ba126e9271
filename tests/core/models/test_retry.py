"""When a failed call is tried again."""

from __future__ import annotations

import pytest

from studio.core.models.remote.model import wait_before


def test_the_wait_doubles_up_to_a_limit() -> None:
    longest = [max(wait_before(n, 20) or 0 for _ in range(200)) for n in range(1, 9)]
    assert longest == pytest.approx([0.5, 1, 2, 4, 8, 8, 8, 8], rel=0.05)


def test_many_clients_do_not_come_back_together() -> None:
    waits = {wait_before(3, 5) for _ in range(50)}
    assert len(waits) > 40
    assert all(wait is not None and 1.5 <= wait <= 2.0 for wait in waits)


def test_tries_end() -> None:
    assert wait_before(1, 0) is None
    assert wait_before(3, 3) is not None
    assert wait_before(4, 3) is None


def test_what_the_server_asks_for_counts_more_up_to_a_minute() -> None:
    assert wait_before(1, 3, 42.0) == 42.0
    assert wait_before(1, 3, 61.0) is None
    assert wait_before(4, 3, 1.0) is None
