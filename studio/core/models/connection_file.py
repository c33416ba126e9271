"""The file of connections: TOML, readable, and never with a key in it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from studio.core.masking.redact import names_secret
from studio.core.models.connections import EMBEDDED, KINDS, Connection
from studio.core.models.secrets import is_reference
from studio.core.paths import user_paths
from studio.core.text.files import read_text, write_private
from studio.core.text.reason import reason_of

_HEAD = (
    "# Connections of Prompt Studio. Keys are never kept here: `key` says where each one is.\n\n"
)
_FIELDS = {each.name: each.default for each in fields(Connection)}
_MOST = 1_000_000_000
"""The largest number of an entry: what a field of the form can show."""


@dataclass(frozen=True, slots=True)
class Connections:
    """Every connection that a user has set up."""

    connections: tuple[Connection, ...] = (EMBEDDED,)
    """In the user's order; the embedded model is always among them."""

    default: str = EMBEDDED.name
    """Name of the one that documents without a wish of their own use."""

    trusted: tuple[str, ...] = ()
    """Endpoints (scheme, host, port) that the user allowed documents to send to."""

    folders: Mapping[str, str] = field(default_factory=dict)
    """Names of connections by folder: what the user chose for the prompts below each folder."""

    folder_models: Mapping[str, str] = field(default_factory=dict)
    """Ids of models by folder, where the user chose another than its connection's own."""

    problems: tuple[str, ...] = ()
    """Problems of the file, in plain sentences."""

    def named(self, name: str) -> Connection | None:
        """The connection of that name."""
        return next((each for each in self.connections if each.name == name), None)

    def folder_of(self, file: Path | None) -> str:
        """Return the nearest folder above a file that has a choice; empty where none has."""
        if file is None or not self.folders:
            return ""
        above = (str(folder) for folder in file.resolve().parents)
        return next((folder for folder in above if folder in self.folders), "")

    @property
    def default_connection(self) -> Connection:
        """The default one; the embedded model where that name is gone."""
        return self.named(self.default) or EMBEDDED


def user_connections() -> Connections:
    """Read the user's own file."""
    return read_connections(user_paths().config / "connections.toml")


def read_connections(path: Path) -> Connections:
    """Read the file; an unreadable entry is left out and reported."""
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
    """Return the entries of a table that are texts."""
    entries = table.items() if isinstance(table, dict) else ()
    return {key: value for key, value in entries if isinstance(value, str)}


def write_connections(path: Path, connections: Connections) -> None:
    """Write the file whole or not at all.

    Raises:
        ValueError: a connection holds a key instead of a reference, a secret header, or a password.
        OSError: the file cannot be written; the old one is as it was.
    """
    write_private(path, (_HEAD + connections_text(connections)).encode("utf-8"))


def connections_text(connections: Connections) -> str:
    """The TOML text.

    Raises:
        ValueError: a connection holds a key instead of a reference, a secret header, or a password.
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
    """A connection without what is as by default."""
    if not is_reference(connection.key):
        raise ValueError(f"connection {connection.name!r} holds a key instead of a reference")
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
    """A value that TOML can write; it has no null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items() if each is not None}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(each) for each in value if each is not None]
    return value


def _connection(entry: object) -> Connection | str:
    """The connection of one entry, or why there is none."""
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or not entry["name"]:
        return "it has no name"
    if entry.get("kind") not in KINDS:
        return f"{entry['name']!r} is of no known kind ({', '.join(KINDS)})"
    values: dict[str, Any] = {}
    for name, value in entry.items():
        if name not in _FIELDS:
            continue
        expected = _type_of(name)
        if not isinstance(value, expected) or isinstance(value, bool):
            return f"{entry['name']!r}: {name!r} has a value of a wrong type"
        if isinstance(value, int | float):
            least = 0 if name == "retries" else 0.001
            if not least <= value <= _MOST:
                return f"{entry['name']!r}: {name!r} must be from {least:g} to {_MOST:,}"
        if not all(-_MOST <= each <= _MOST for each in _numbers_in(value)):
            return f"{entry['name']!r}: {name!r} has a number beyond {_MOST:,}"
        values[name] = value
    if not is_reference(values.get("key", "")):
        # Its text is not repeated: it is a key.
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
