"""Connections to models: their file, and the endpoints to which requests may be sent."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args
from urllib.parse import SplitResult, urlsplit

from studio.core.masking.redact import names_secret
from studio.core.models.secrets import is_reference
from studio.core.paths import resource_text, user_paths
from studio.core.plugins import installed
from studio.core.text.files import keep_aside, read_text, write_private
from studio.core.text.values import JsonObject, reason_of
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
"""Kind of server. `compatible`: any with OpenAI's API. `anthropic`, `gemini` and `ollama` use their
own APIs; an address that ends in `/openai` is Gemini's compatible one.
"""

KINDS: tuple[ConnectionKind, ...] = get_args(ConnectionKind)
"""All kinds."""

REMOTE_KINDS: frozenset[ConnectionKind] = frozenset(
    ("openai", "azure", "compatible", "anthropic", "gemini", "ollama")
)
"""Kinds whose requests leave this process."""

Api: TypeAlias = Literal["chat", "responses"]
"""Chat completions or the Responses API."""


@dataclass(frozen=True, slots=True)
class Connection:
    """The settings of a place where a model answers."""

    name: str
    """Unique name, used by a document's `connection: {kind: reference, name: …}`."""

    kind: ConnectionKind
    """Kind of server."""

    model: str = ""
    """Model id for documents without one; for Azure the deployment."""

    base_url: str = ""
    """Address of the API; empty for the kind's default."""

    key: str = ""
    """Reference to the key: `${env:NAME}`, `keyring`, or empty for none. Never a key."""

    api: Api = "chat"
    """API for requests."""

    api_version: str = ""
    """API version of Azure."""

    headers: Mapping[str, str] = field(default_factory=dict)
    """Further headers without secrets."""

    settings: JsonObject = field(default_factory=dict)
    """Settings for a single kind. embedded: `weights`, `context`, `threads`, `grammar`; scripted:
    `script`; replay: `recording`, `through`.
    """

    capabilities: JsonObject = field(default_factory=dict)
    """The user's corrections of the model's abilities (fields of `Capabilities`)."""

    tried: JsonObject = field(default_factory=dict)
    """Results of a trial of its server: the `model`, and a verdict for each ability."""

    first_byte_seconds: float = 120.0
    """Timeout for the start of the reply, in seconds."""

    stall_seconds: float = 60.0
    """Timeout for a gap in the reply, in seconds."""

    retries: int = 3
    """Number of retries of a failed call, whatever the cause."""

    call_seconds: float = 900.0
    """Maximum time of a call, from sending to the end of the reply, in seconds."""

    reply_megabytes: float = 64.0
    """Maximum size of a decompressed reply, in megabytes."""

    event_megabytes: float = 16.0
    """Maximum size of one event of a reply, in megabytes."""

    error_kilobytes: float = 256.0
    """Maximum size that is read of an error response, in kilobytes."""

    @property
    def is_remote(self) -> bool:
        """Whether requests leave this process."""
        return self.kind in REMOTE_KINDS


@dataclass(frozen=True, slots=True)
class Preset:
    """A template for a new connection."""

    id: str
    """Stable id."""

    title: str
    """Title for the user."""

    connection: Connection
    """Connection with the known fields set."""

    hint: str = ""
    """Prerequisite for the user."""


def _bundled_presets() -> Iterator[Preset]:
    for row in tomllib.loads(resource_text("words", "presets.toml"))["preset"]:
        yield Preset(**row | {"connection": Connection(**row["connection"])})


PRESETS = tuple(_bundled_presets())
"""Templates of new connections, in the order of the menu."""


def all_presets() -> tuple[Preset, ...]:
    """Return the studio's templates, and those of plug-ins with an unused id."""
    taken = {preset.id for preset in PRESETS}
    found = (plugin.value for plugin in installed("connections"))
    added = (each for each in found if isinstance(each, Preset) and each.id not in taken)
    return (*PRESETS, *added)


EMBEDDED = PRESETS[0].connection
"""The embedded connection, which always exists."""

_ADDRESSES: Mapping[ConnectionKind, str] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1/",
    "gemini": "https://generativelanguage.googleapis.com/v1beta",
    "ollama": "http://localhost:11434",
}


def address_of(connection: Connection) -> str:
    """Return the base URL for requests; empty if there is none (yet).

    Anthropic's addresses may omit the version at their end, and Azure's the path of the API; the
    compatible path of Ollama is accepted too.
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
    """Return the form of the requests that a connection sends."""
    if connection.kind == "anthropic":
        return "anthropic"
    if connection.kind == "ollama":
        return "ollama"
    if connection.kind == "gemini" and not address_of(connection).rstrip("/").endswith("/openai"):
        return "gemini"
    return "openai-responses" if connection.api == "responses" else "openai-chat"


# The file of connections: readable TOML, never with a key in it.

_HEAD = (
    "# Connections of Prompt Studio. Keys are never stored here: `key` says where each one is.\n\n"
)
_FIELDS = {each.name: each.default for each in fields(Connection)}
_MOST = 1_000_000_000
"""Maximum number in an entry, limited by the fields of the form."""


@dataclass(frozen=True, slots=True)
class Connections:
    """All connections of a user."""

    connections: tuple[Connection, ...] = (EMBEDDED,)
    """The connections in the user's order; always includes the embedded model."""

    default: str = EMBEDDED.name
    """Name of the connection for documents that name none."""

    trusted: tuple[str, ...] = ()
    """Endpoints (scheme, host, port) to which the user lets documents send."""

    folders: Mapping[str, str] = field(default_factory=dict)
    """Names of connections by folder: the user's choice for the prompts below each folder."""

    folder_models: Mapping[str, str] = field(default_factory=dict)
    """Model ids by folder, if the user chose another than the connection's."""

    problems: tuple[str, ...] = ()
    """Problems of the file, in plain sentences."""

    def named(self, name: str) -> Connection | None:
        """Return the connection with that name; None if there is none."""
        return next((each for each in self.connections if each.name == name), None)

    def folder_of(self, file: Path | None) -> str:
        """Return the nearest folder above a file that has a choice; empty if none has."""
        if file is None or not self.folders:
            return ""
        above = (str(folder) for folder in file.resolve().parents)
        return next((folder for folder in above if folder in self.folders), "")

    @property
    def default_connection(self) -> Connection:
        """The default connection; the embedded model if its name no longer exists."""
        return self.named(self.default) or EMBEDDED


def user_connections() -> Connections:
    """Read the user's file of connections."""
    return read_connections(user_paths().config / "connections.toml")


def read_connections(path: Path) -> Connections:
    """Read the file; an unreadable entry is skipped and reported."""
    try:
        data = tomllib.loads(read_text(path))
    except FileNotFoundError:
        return Connections()
    except (OSError, ValueError) as error:
        return Connections(problems=(f"{path.name} cannot be read: {reason_of(error)}",))
    entries = data.get("connection", [])
    found: list[Connection] = []
    problems: list[str] = []
    for number, entry in enumerate(entries if isinstance(entries, list) else [], 1):
        read = _connection(entry)
        if isinstance(read, str):
            problems.append(f"{path.name}, connection {number}: {read}")
        elif any(each.name == read.name for each in found):
            problems.append(f"{path.name}, connection {number}: a second {read.name!r}")
        else:
            found.append(read)
    if not any(each.kind == "embedded" for each in found):
        found.insert(0, EMBEDDED)
    default = data.get("default", "")
    if not any(each.name == default for each in found):
        default = next(each.name for each in found if each.kind == "embedded")
    trusted = data.get("trusted", [])
    origins = [each for each in trusted if isinstance(each, str)] if trusted else []
    folders, models = (_texts(data.get(key)) for key in ("folders", "folder_models"))
    return Connections(tuple(found), default, tuple(origins), folders, models, tuple(problems))


def _texts(table: object) -> dict[str, str]:
    """Return the text entries of a table."""
    entries = table.items() if isinstance(table, dict) else ()
    return {key: value for key, value in entries if isinstance(value, str)}


def write_connections(path: Path, connections: Connections) -> None:
    """Write the file atomically; one with entries that cannot be read is kept beside it.

    Raises:
        ValueError: a connection contains a key instead of a reference, a secret header, or a
            password.
        OSError: the file cannot be written; the old one is unchanged.
    """
    text = _HEAD + connections_text(connections)
    if read_connections(path).problems:
        keep_aside(path)
    write_private(path, text.encode("utf-8"))


def connections_text(connections: Connections) -> str:
    """Return the TOML text.

    Raises:
        ValueError: a connection contains a key instead of a reference, a secret header, or a
            password.
    """
    import tomli_w

    return tomli_w.dumps(
        {
            "default": connections.default,
            "trusted": list(connections.trusted),
            "folders": dict(connections.folders),
            **({"folder_models": dict(models)} if (models := connections.folder_models) else {}),
            "connection": [_entry(each) for each in connections.connections],
        }
    )


def _entry(connection: Connection) -> dict[str, object]:
    """Return a connection's entry without default values."""
    if not is_reference(connection.key):
        raise ValueError(f"connection {connection.name!r} contains a key instead of a reference")
    for header in connection.headers:
        if names_secret(header):
            raise ValueError(f"connection {connection.name!r} has the secret header {header!r}")
    if "@" in connection.base_url.partition("://")[2].partition("/")[0]:
        raise ValueError(f"connection {connection.name!r} has a password in its address")
    entry: dict[str, object] = {}
    for name, default in _FIELDS.items():
        value = getattr(connection, name)
        if isinstance(value, Mapping):
            if value:
                entry[name] = _plain(value)
        elif value != default:
            entry[name] = value
    return entry


def _plain(value: object) -> object:
    """Return a value for TOML, which has no null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items() if each is not None}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(each) for each in value if each is not None]
    return value


def _connection(entry: object) -> Connection | str:
    """Return the connection of one entry, or the reason why it is invalid."""
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or not entry["name"]:
        return "it has no name"
    if entry.get("kind") not in KINDS:
        return f"{entry['name']!r} is of an unknown kind ({', '.join(KINDS)})"
    values: dict[str, Any] = {}
    for name, value in entry.items():
        if name not in _FIELDS:
            continue
        if not isinstance(value, _type_of(name)) or isinstance(value, bool):
            return f"{entry['name']!r}: {name!r} has a value of a wrong type"
        if isinstance(value, int | float):
            least = 0 if name == "retries" else 0.001
            if not least <= value <= _MOST:
                return f"{entry['name']!r}: {name!r} must be from {least:g} to {_MOST:,}"
        if not all(-_MOST <= each <= _MOST for each in _numbers_in(value)):
            return f"{entry['name']!r}: {name!r} has a number beyond {_MOST:,}"
        values[name] = value
    if not is_reference(values.get("key", "")):
        # The text is not repeated, since it is a key.
        return f"{entry['name']!r}: 'key' must be a reference such as ${{env:NAME}} or keyring"
    return Connection(**values)


def _numbers_in(value: object) -> Iterator[float]:
    if isinstance(value, int | float):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _numbers_in(each)


def _type_of(name: str) -> type | tuple[type, ...]:
    if name in ("headers", "settings", "capabilities", "tried"):
        return dict
    default = _FIELDS[name]
    if isinstance(default, float):
        return (int, float)
    return int if isinstance(default, int) else str


# Endpoints to which a document may send without asking the user.

BUILT_IN: tuple[str, ...] = (
    "https://api.openai.com",
    "https://api.anthropic.com",
    "https://generativelanguage.googleapis.com",
    "https://openrouter.ai",
)
"""The providers' endpoints, each one host. Local servers are trusted as well.

Domains under which anyone can register a host, such as Azure's, are not included.
"""

_PORTS = {"http": 80, "https": 443}


def origin(address: str) -> str:
    """Return the normalized scheme, host and port of an address; empty if it is no web address."""
    parts = _split(address)
    if parts is None:
        return ""
    port = parts.port or _PORTS[parts.scheme]
    host = f"[{parts.hostname}]" if ":" in str(parts.hostname) else parts.hostname
    return f"{parts.scheme}://{host}" + ("" if port == _PORTS[parts.scheme] else f":{port}")


def is_trusted(address: str, trusted: Iterable[str] = ()) -> bool:
    """Return whether requests can be sent to an address without asking.

    Args:
        address: address of the request.
        trusted: origins that the user allowed; `*.` stands for any labels before a domain.
    """
    parts = _split(address)
    if parts is None:
        return False
    return is_this_machine(str(parts.hostname)) or any(
        _matches(parts, allowed) for allowed in (*BUILT_IN, *trusted)
    )


def is_this_machine(host: str) -> bool:
    """Return whether a host's name or address means this machine (loopback)."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.rstrip(".") == "localhost"


def is_local(address: str) -> bool:
    """Return whether an address is on this machine (loopback)."""
    parts = _split(address)
    return parts is not None and is_this_machine(str(parts.hostname))


def _split(address: str) -> SplitResult | None:
    if "\\" in address:
        return None  # browsers and libraries disagree about where its host ends
    try:
        parts = urlsplit(address.strip())
        _ = parts.port
    except ValueError:
        return None
    return parts if parts.scheme in _PORTS and parts.hostname else None


def _matches(parts: SplitResult, allowed: str) -> bool:
    other = _split(allowed.replace("://*.", "://wildcard."))
    if other is None or other.scheme != parts.scheme:
        return False
    if (other.port or _PORTS[other.scheme]) != (parts.port or _PORTS[parts.scheme]):
        return False
    host, wanted = str(parts.hostname), str(other.hostname)
    if "://*." in allowed:
        return host.endswith(wanted.removeprefix("wildcard"))
    return host == wanted
