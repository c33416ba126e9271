"""Check a connection before it is saved, and edit the list of connections."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from studio.application.words import tr
from studio.core.masking.redact import names_secret
from studio.core.models.base import ModelError
from studio.core.models.connections import (
    EMBEDDED,
    Connection,
    ConnectionKind,
    Connections,
    is_local,
)
from studio.core.models.embedded.weights import weights_at
from studio.core.models.scripted import read_script
from studio.core.models.secrets import KEYRING, environment_name, is_reference
from studio.core.text.naming import free_name

Field: TypeAlias = Literal[
    "name",
    "base_url",
    "api_version",
    "model",
    "key",
    "api",
    "headers",
    "limits",
    "weights",
    "context",
    "threads",
    "grammar",
    "script",
    "recording",
    "through",
    "abilities",
]
"""Field of the form."""

_REMOTE: tuple[Field, ...] = ("base_url", "model", "key", "api", "headers", "limits", "abilities")
FIELDS: Mapping[ConnectionKind, tuple[Field, ...]] = {
    "openai": ("name", *_REMOTE),
    "azure": ("name", "base_url", "api_version", *_REMOTE[1:]),
    "compatible": ("name", *_REMOTE),
    "anthropic": ("name", *_REMOTE),
    "gemini": ("name", *_REMOTE),
    "ollama": ("name", *_REMOTE),
    "embedded": ("name", "weights", "context", "threads", "grammar"),
    "scripted": ("name", "script"),
    "manual": ("name",),
    "replay": ("name", "recording", "through"),
}
"""Fields of each kind's form, in order."""

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
# A key pasted in place of a variable's name must not be written to a file.
_KEY_LIKE = re.compile(r"(?=.*[a-z])(?=.*[0-9]).{20,}|(sk|pk|key)_[A-Za-z0-9]{8,}")


def problems_of(connection: Connection, others: Collection[str]) -> dict[Field, str]:
    """Return the problems that prevent saving a connection, one sentence per field.

    Args:
        connection: the connection in the form.
        others: names of all other connections.
    """
    found: dict[Field, str] = {}
    for field in FIELDS[connection.kind]:
        check = _CHECKS.get(field)
        if check is not None and (sentence := check(connection)):
            found[field] = sentence
    if connection.name in others:
        found["name"] = tr("A connection {name!r} already exists.").format(name=connection.name)
    return found


def warnings_of(connection: Connection) -> dict[Field, str]:
    """Return warnings about a connection that can be saved; its key is checked elsewhere."""
    return dict(_warnings(connection))


def variable_problem(name: str) -> str:
    """Return the problem of an environment variable's name; empty if it is valid."""
    if not name:
        return tr("Enter the name of the variable that holds the key.")
    if _KEY_LIKE.fullmatch(name) or not _VARIABLE.fullmatch(name):
        return tr(
            "This is not the name of a variable. To enter the key itself, choose another place."
        )
    return ""


def read_headers(text: str) -> tuple[dict[str, str], str]:
    """Return headers from lines `Name: value`, and their problem; empty for none."""
    headers: dict[str, str] = {}
    for line in filter(str.strip, text.splitlines()):
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not colon or not _HEADER.fullmatch(name):
            return headers, tr("Write each header as `Name: value`, not as {value!r}.").format(
                value=line.strip()[:40]
            )
        if names_secret(name):
            return headers, tr(
                "{name} would contain a key, and keys are never stored in files: use Key."
            ).format(name=name)
        headers[name] = value
    return headers, ""


def headers_text(headers: Mapping[str, str]) -> str:
    """Return headers as lines."""
    return "\n".join(f"{name}: {value}" for name, value in headers.items())


def _warnings(connection: Connection) -> Iterator[tuple[Field, str]]:
    if connection.kind in ("azure", "compatible") and not connection.base_url:
        yield ("base_url", tr("Enter the address before it can be used."))
    if connection.kind == "scripted" and not connection.settings.get("script"):
        yield ("script", tr("Choose a script before it can be used."))
    if connection.kind == "replay" and not connection.settings.get("recording"):
        yield ("recording", tr("Choose a file before it can be used."))
    path = connection.settings.get("recording")
    is_replayed = connection.kind == "replay" and not connection.settings.get("through")
    if is_replayed and isinstance(path, str) and path and not Path(path).expanduser().is_file():
        yield ("recording", tr("There is nothing recorded yet: choose a connection to record."))


def _name(connection: Connection) -> str:
    return "" if connection.name.strip() else tr("Give it a name.")


def _base_url(connection: Connection) -> str:
    address = connection.base_url
    if not address:
        return ""
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        return tr("This is not a web address.")
    if parts.scheme not in ("http", "https") or not parts.hostname or " " in address:
        return tr("Write the full address, such as https://host/v1 or http://localhost:8000/v1.")
    if "@" in parts.netloc:
        return tr("A password in the address would be stored in a file: enter it under Key.")
    if parts.query or parts.fragment:
        return tr("Leave out the part after ? or #: it may contain a key, and the path is enough.")
    return ""


def _key(connection: Connection) -> str:
    variable = environment_name(connection.key)
    if variable is not None:
        return variable_problem(variable)
    return "" if is_reference(connection.key) else variable_problem("")


def _weights(connection: Connection) -> str:
    path = connection.settings.get("weights")
    if not isinstance(path, str) or not path:
        return ""
    try:
        weights_at(Path(path).expanduser())
    except ModelError as error:
        return error.message
    return ""


def _script(connection: Connection) -> str:
    path = connection.settings.get("script")
    if not isinstance(path, str) or not path:
        return ""
    try:
        read_script(Path(path).expanduser())
    except ModelError as error:
        return error.message
    return ""


def _recording(connection: Connection) -> str:
    path = connection.settings.get("recording")
    if not isinstance(path, str) or not path:
        return ""
    place = Path(path).expanduser()
    if place.is_dir():
        return tr("This is a folder: name a file.")
    return (
        ""
        if place.parent.is_dir()
        else tr("There is no folder {parent!r}.").format(parent=str(place.parent))
    )


_CHECKS: Mapping[Field, Callable[[Connection], str]] = {
    "name": _name,
    "base_url": _base_url,
    "key": _key,
    "weights": _weights,
    "script": _script,
    "recording": _recording,
}


# Functions that change the list of connections.


def with_added(connections: Connections, connection: Connection, after: str = "") -> Connections:
    """Return the list with a connection added under a free name, after `after` or at the end."""
    each = list(connections.connections)
    names = {one.name for one in each}
    made = replace(connection, name=free_name(connection.name, names.__contains__))
    place = next((index + 1 for index, one in enumerate(each) if one.name == after), len(each))
    each.insert(place, made)
    return replace(connections, connections=tuple(each))


def with_changed(connections: Connections, name: str, changed: Connection) -> Connections:
    """Return the list with one connection changed; references to its old name are updated."""
    each = tuple(
        changed if one.name == name else _follow(one, name, changed.name)
        for one in connections.connections
    )
    default = changed.name if connections.default == name else connections.default
    folders = {
        folder: changed.name if chosen == name else chosen
        for folder, chosen in connections.folders.items()
    }
    return replace(connections, connections=each, default=default, folders=folders)


def without(connections: Connections, name: str) -> Connections:
    """Return the list without a connection; if it was the default, the embedded one becomes it.

    Raises:
        ValueError: it is the last embedded model, which must exist.
    """
    if is_last_embedded(connections, name):
        raise ValueError("the embedded model is always there")
    each = tuple(one for one in connections.connections if one.name != name)
    default = connections.default
    if default == name:
        default = next((one.name for one in each if one.kind == "embedded"), EMBEDDED.name)
    folders = {folder: chosen for folder, chosen in connections.folders.items() if chosen != name}
    kept = connections.folder_models.items()
    models = {folder: model for folder, model in kept if folder in folders}
    return replace(
        connections, connections=each, default=default, folders=folders, folder_models=models
    )


def with_folder(connections: Connections, folder: Path, name: str, model: str = "") -> Connections:
    """Return the list with the connection and model for a folder's prompts.

    Args:
        connections: the list.
        folder: the folder.
        name: name of the connection; empty to remove the choice.
        model: model id; empty for each prompt's own, or the connection's.
    """
    key = str(folder.resolve())
    folders = {each: chosen for each, chosen in connections.folders.items() if each != key}
    models = {each: kept for each, kept in connections.folder_models.items() if each != key}
    if model:
        models[key] = model
    if name:
        folders[key] = name
    return replace(connections, folders=folders, folder_models=models)


def keyless_if_local(connection: Connection) -> Connection:
    """Return the connection without a key in the key store if its server is on this machine."""
    needs_none = connection.key == KEYRING and is_local(connection.base_url)
    return replace(connection, key="") if needs_none else connection


def stand_ins(connections: Connections) -> tuple[Connection, ...]:
    """Return the replacements for a missing connection: the default, and one server.

    A default without a server comes last.
    """
    default = connections.default_connection
    others = (each for each in connections.connections if each.is_remote and each != default)
    found = (default, *islice(others, 1))
    return found if default.is_remote else found[::-1]


def is_last_embedded(connections: Connections, name: str) -> bool:
    """Return whether a connection is the only embedded one."""
    return [one.name for one in connections.connections if one.kind == "embedded"] == [name]


def with_trusted(connections: Connections, origin: str) -> Connections:
    """Return the list with an endpoint to which documents may send."""
    return replace(connections, trusted=tuple(dict.fromkeys((*connections.trusted, origin))))


def without_trusted(connections: Connections, origin: str) -> Connections:
    """Return the list without an allowed endpoint."""
    return replace(
        connections, trusted=tuple(each for each in connections.trusted if each != origin)
    )


def _follow(connection: Connection, old: str, new: str) -> Connection:
    if connection.settings.get("through") != old or old == new:
        return connection
    return replace(connection, settings={**connection.settings, "through": new})
