"""Connections: where models answer. Values, without keys; a key is named by a reference."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from studio.core.paths import resource_text
from studio.core.plugins import installed
from studio.core.text.values import JsonObject
from studio.core.wire.request import Provider

ConnectionKind: TypeAlias = Literal[
    "openai",
    "azure",
    "compatible",
    "anthropic",
    "gemini",
    "ollama",
    "embedded",
    "scripted",
    "manual",
    "replay",
]
"""`compatible`: any server that speaks OpenAI's API. `anthropic`, `gemini` and `ollama` speak their
own; an address that ends in `/openai` is Gemini's compatible one."""

KINDS: tuple[ConnectionKind, ...] = get_args(ConnectionKind)
"""Every kind."""

REMOTE_KINDS: frozenset[ConnectionKind] = frozenset(
    ("openai", "azure", "compatible", "anthropic", "gemini", "ollama")
)
"""Kinds that a request leaves this process for."""

Api: TypeAlias = Literal["chat", "responses"]
"""Chat completions or the Responses API."""


@dataclass(frozen=True, slots=True)
class Connection:
    """A place where a model answers."""

    name: str
    """Unique; a document's `connection: {kind: reference, name: …}` means this."""

    kind: ConnectionKind
    """Kind of the connection."""

    model: str = ""
    """Model id where a document names none; for Azure the deployment."""

    base_url: str = ""
    """Address of the API; empty for the kind's own."""

    key: str = ""
    """Reference to the key: `${env:NAME}`, `keyring`, or empty for none. Never a key."""

    api: Api = "chat"
    """Which API is spoken."""

    api_version: str = ""
    """Azure's version of its API."""

    headers: Mapping[str, str] = field(default_factory=dict)
    """Further headers; none of them secret."""

    settings: JsonObject = field(default_factory=dict)
    """Settings of one kind only. embedded: `weights`, `context`, `threads`, `grammar`; scripted:
    `script`; replay: `recording`, `through`."""

    capabilities: JsonObject = field(default_factory=dict)
    """The user's corrections of what the model can do (fields of `Capabilities`)."""

    tried: JsonObject = field(default_factory=dict)
    """Results of testing its server: the `model`, and a verdict for each ability."""

    first_byte_seconds: float = 120.0
    """Timeout for the start of the reply, in seconds."""

    stall_seconds: float = 60.0
    """Timeout for a gap in the reply, in seconds."""

    retries: int = 3
    """Number of retries of a failed call, whatever the cause."""

    call_seconds: float = 900.0
    """The longest time of a call, from sending to the end of the reply."""

    reply_megabytes: float = 64.0
    """The most that is read of a reply, after unpacking."""

    event_megabytes: float = 16.0
    """The most that is read of one event of a reply."""

    error_kilobytes: float = 256.0
    """The most that is read of a refusal; what is beyond is left."""

    @property
    def is_remote(self) -> bool:
        """Whether requests leave this process."""
        return self.kind in REMOTE_KINDS


@dataclass(frozen=True, slots=True)
class Preset:
    """A start for a new connection."""

    id: str
    """Stable identifier."""

    title: str
    """For people."""

    connection: Connection
    """Connection with the known fields."""

    hint: str = ""
    """Prerequisite that the user must meet."""


def _bundled_presets() -> Iterator[Preset]:
    for row in tomllib.loads(resource_text("words", "presets.toml"))["preset"]:
        yield Preset(**row | {"connection": Connection(**row["connection"])})


PRESETS = tuple(_bundled_presets())
"""Templates of new connections, in the order in which they are offered."""


def all_presets() -> tuple[Preset, ...]:
    """The studio's own starts, and those of plug-ins that use a free identifier."""
    taken = {preset.id for preset in PRESETS}
    found = (plugin.value for plugin in installed("connections"))
    added = (each for each in found if isinstance(each, Preset) and each.id not in taken)
    return (*PRESETS, *added)


EMBEDDED = PRESETS[0].connection
"""The connection that is always there."""

_ADDRESSES: Mapping[ConnectionKind, str] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1/",
    "gemini": "https://generativelanguage.googleapis.com/v1beta",
    "ollama": "http://localhost:11434",
}


def address_of(connection: Connection) -> str:
    """The base address that requests go to; empty where there is none (yet).

    Addresses of Anthropic's API are written with and without the version at their end, those of
    Azure's resources without the path of its API; of Ollama that of its compatible path is taken
    too.
    """
    address = connection.base_url or _ADDRESSES.get(connection.kind, "")
    if connection.kind == "azure" and address and "/openai/" not in address:
        return address.rstrip("/") + "/openai/v1/"
    if connection.kind == "anthropic" and not address.rstrip("/").endswith("/v1"):
        return address.rstrip("/") + "/v1/"
    if connection.kind == "ollama":
        return address.rstrip("/").removesuffix("/v1").removesuffix("/api")
    return address


def provider_at(connection: Connection) -> Provider:
    """The form of the requests that a connection sends."""
    if connection.kind == "anthropic":
        return "anthropic"
    if connection.kind == "ollama":
        return "ollama"
    if connection.kind == "gemini" and not address_of(connection).rstrip("/").endswith("/openai"):
        return "gemini"
    return "openai-responses" if connection.api == "responses" else "openai-chat"
