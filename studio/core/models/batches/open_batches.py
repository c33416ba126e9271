"""Where a connection's batches are, or why it has none."""

from __future__ import annotations

from dataclasses import replace

from studio.core.models.base import ModelError
from studio.core.models.batches.providers import AnthropicBatches, BatchEndpoint, OpenAIBatches
from studio.core.models.batches.remote_batches import BatchHost
from studio.core.models.batches.values import BatchApi
from studio.core.models.connections import Connection, provider_at
from studio.core.models.remote.faults import Endpoint
from studio.core.models.remote.model import shown_address
from studio.core.models.remote.openai_client import OpenAIClient
from studio.core.models.secrets import SecretStore

_MEGABYTES = 8192.0
"""The most that is read of a file of replies, which is read line by line."""


def has_batches(connection: Connection) -> bool:
    """Whether a connection speaks an API of batches."""
    return connection.is_remote and provider_at(connection) in (
        "openai-chat",
        "openai-responses",
        "anthropic",
    )


def open_batches(connection: Connection, secrets: SecretStore) -> BatchApi:
    """The batches of a connection; nothing is sent yet.

    Raises:
        ModelError: it has none.
    """
    if not has_batches(connection):
        raise ModelError(
            "no-batches",
            f"The connection {connection.name!r} has no batches.",
            "OpenAI, Azure, Anthropic and servers that speak OpenAI's API have them.",
        )
    target = Endpoint(connection.name, shown_address(connection), connection.model)
    wide = replace(connection, reply_megabytes=_MEGABYTES)
    client, downloads = (
        OpenAIClient(each, lambda: secrets.read(connection.key, connection.name), target)
        for each in (connection, wide)
    )
    server = BatchHost(client, downloads, target)
    if provider_at(connection) == "anthropic":
        return AnthropicBatches(server)
    endpoint: BatchEndpoint = "/v1/chat/completions"
    if provider_at(connection) == "openai-responses":
        endpoint = "/v1/responses"
    elif connection.kind == "azure":
        endpoint = "/chat/completions"
    return OpenAIBatches(server, endpoint)
