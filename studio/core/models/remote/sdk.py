"""openai's package: its client, and what it raises.

Retries and time limits are ours: each retry is seen and a stop interrupts it, and a reply may
rightly take minutes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from studio.core.models.connections import Connection, address_of
from studio.core.models.secrets import Secret
from studio.core.text.foreign_json import parse_json
from studio.core.whole_imports import import_whole

if TYPE_CHECKING:
    from httpx2 import AsyncHTTPTransport
    from openai import APIStatusError, AsyncOpenAI

_CONNECT_SECONDS = 10.0
_ANTHROPIC_VERSION = "2023-06-01"


def raised() -> tuple[type[Exception], ...]:
    """What the SDK and what is under it raise for faults of the network and the server."""
    import_whole("openai", "httpx2")
    import httpx2
    import openai

    return (
        openai.OpenAIError,
        httpx2.HTTPError,
        httpx2.InvalidURL,
        httpx2.StreamError,
        OSError,  # also TimeoutError
        ValueError,  # no JSON, no UTF-8, or JSON beyond a bound
    )


def whole_body(error: APIStatusError) -> object:
    """What the server said: the SDK gives what stands under `error`, be it only a word of it."""
    if not isinstance(error.body, str):
        return error.body
    try:
        whole = parse_json(error.response.text)
    except (ValueError, RuntimeError):  # no JSON, or not read any more
        return error.body
    return whole


def make_client(
    connection: Connection, key: Secret | None, transport: AsyncHTTPTransport
) -> AsyncOpenAI:
    """The SDK's client, without retries of its own.

    The SDK takes an organisation and a project from the environment; they are nobody's business but
    OpenAI's.
    """
    import_whole("openai", "httpx2")
    import httpx2
    from openai import AsyncAzureOpenAI, AsyncOpenAI, DefaultAsyncHttpxClient, Omit

    from studio.core.wire.bounded import BoundedTransport, ReplyBounds

    most = int(connection.reply_megabytes * 1024**2)
    bounds = ReplyBounds(
        most,
        min(most, int(connection.event_megabytes * 1024**2)),
        int(connection.error_kilobytes * 1024),
    )
    bounded = BoundedTransport(transport, bounds)
    headers: dict[str, Any] = dict(connection.headers)
    if connection.kind == "anthropic":
        headers = {"anthropic-version": _ANTHROPIC_VERSION, **headers}
    if connection.kind != "openai":
        headers |= {"OpenAI-Organization": Omit(), "OpenAI-Project": Omit()}
    shared: dict[str, Any] = {
        "max_retries": 0,
        "timeout": httpx2.Timeout(None, connect=_CONNECT_SECONDS),
        "default_headers": headers,
        "http_client": DefaultAsyncHttpxClient(transport=bounded),
    }
    value = key.reveal() if key else "none"
    if connection.kind == "azure" and connection.api_version:
        return AsyncAzureOpenAI(
            api_key=value,
            azure_endpoint=connection.base_url,
            api_version=connection.api_version,
            **shared,
        )
    return AsyncOpenAI(api_key=value, base_url=address_of(connection), **shared)
