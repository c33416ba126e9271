"""Looking for the model servers of this machine: only what lists its models is found."""

from __future__ import annotations

from studio.core.models.connections import Connection
from studio.core.models.remote.openai_client import found_servers
from tests.support import patience
from tests.support.chat_server import chat_server, failure
from tests.support.ports import refusing_port


def place(name: str, address: str) -> Connection:
    return Connection(name, "compatible", base_url=address, key="${env:OPENAI_API_KEY}")


async def test_what_lists_models_is_found_without_a_key() -> None:
    with chat_server() as lists, chat_server() as refuses, refusing_port() as port:
        lists.models = [{"id": "small"}, {"id": "large"}]
        refuses.list_answer = failure(404, "no such path")
        looked = [
            place("lists", lists.url),
            place("refuses", refuses.url),
            place("gone", f"http://127.0.0.1:{port}/v1"),
            place("elsewhere", "http://models.example.org/v1"),
        ]
        found = await found_servers(looked, patience.SECONDS)
        (asked,) = lists.requests
    assert [each.connection.name for each in found] == ["lists"]
    assert [each["id"] for each in found[0].listed] == ["small", "large"]
    assert (asked.method, asked.path) == ("GET", "/v1/models")
    assert "authorization" not in asked.headers
