"""Requests of batches: their bodies, and the parts that fit into one."""

from __future__ import annotations

from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from studio.core.models.base import Capabilities, ModelRequest
from studio.core.models.batches.open_batches import BatchBounds, BatchRequest, parts_of, unstreamed
from studio.core.models.bodies import request_body
from studio.core.prompty.document import Message, ModelDeclaration, TextPart
from studio.core.wire.request import Provider, to_request

HELLO = (Message("user", (TextPart("Hello"),)),)


def test_a_body_without_its_stream_is_that_of_a_request_that_asks_for_none() -> None:
    providers: tuple[Provider, ...] = ("openai-chat", "openai-responses", "anthropic")
    for provider in providers:
        streamed = request_body(
            ModelRequest(HELLO), model_id="m", capabilities=Capabilities(), provider=provider
        )
        plain = to_request(
            HELLO, (), ModelDeclaration(id="m"), provider=provider, keeps_nothing=True
        )
        assert unstreamed(streamed) == {
            key: value for key, value in plain.body.items() if key != "stream"
        }
        assert streamed["stream"] is True


@given(
    st.lists(st.integers(min_value=1, max_value=60), max_size=40),
    st.integers(min_value=1, max_value=9),
    st.integers(min_value=10, max_value=100),
)
def test_parts_keep_all_requests_in_order_and_within_bounds(
    sizes: list[int], most: int, most_bytes: int
) -> None:
    requests = [BatchRequest(str(at), b"x" * size, "/batches") for at, size in enumerate(sizes)]
    parts = list(parts_of(requests, BatchBounds(most, most_bytes)))
    assert list(chain.from_iterable(parts)) == requests
    for part in parts:
        assert 1 <= len(part) <= most
        assert len(part) == 1 or sum(len(each.line) + 1 for each in part) <= most_bytes
