"""Changing the list of connections: pure functions from one list to the next."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path

from studio.core.models.connection_file import Connections
from studio.core.models.connections import EMBEDDED, Connection
from studio.core.models.endpoint_trust import is_local
from studio.core.models.secrets import KEYRING
from studio.core.text.naming import free_name


def with_added(connections: Connections, connection: Connection, after: str = "") -> Connections:
    """The list with one more, under a name of its own; behind `after`, or at the end."""
    each = list(connections.connections)
    names = {one.name for one in each}
    made = replace(connection, name=free_name(connection.name, names.__contains__))
    place = next((index + 1 for index, one in enumerate(each) if one.name == after), len(each))
    each.insert(place, made)
    return replace(connections, connections=tuple(each))


def with_changed(connections: Connections, name: str, changed: Connection) -> Connections:
    """The list with one connection changed; what named it by its old name follows."""
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
    """The list without one; the embedded model takes its place as the default.

    Raises:
        ValueError: it is the last embedded model, which is always there.
    """
    if is_last_embedded(connections, name):
        raise ValueError("the embedded model is always there")
    each = tuple(one for one in connections.connections if one.name != name)
    default = connections.default
    if default == name:
        default = next((one.name for one in each if one.kind == "embedded"), EMBEDDED.name)
    folders = {folder: chosen for folder, chosen in connections.folders.items() if chosen != name}
    return replace(connections, connections=each, default=default, folders=folders)


def with_folder(connections: Connections, folder: Path, name: str) -> Connections:
    """Return the list with the connection that a folder's prompts use; an empty name undoes it."""
    key = str(folder.resolve())
    folders = {each: chosen for each, chosen in connections.folders.items() if each != key}
    return replace(connections, folders={**folders, key: name} if name else folders)


def keyless_if_local(connection: Connection) -> Connection:
    """Return the connection without a key of the key store where its server is on this machine."""
    needs_none = connection.key == KEYRING and is_local(connection.base_url)
    return replace(connection, key="") if needs_none else connection


def stand_ins(connections: Connections) -> tuple[Connection, ...]:
    """Return what is offered in place of a missing connection: the default, and one server.

    A default without a server comes last.
    """
    default = connections.default_connection
    others = (each for each in connections.connections if each.is_remote and each != default)
    found = (default, *islice(others, 1))
    return found if default.is_remote else found[::-1]


def is_last_embedded(connections: Connections, name: str) -> bool:
    """Whether a connection is the only one to the embedded model."""
    embedded = [one.name for one in connections.connections if one.kind == "embedded"]
    return embedded == [name]


def with_trusted(connections: Connections, origin: str) -> Connections:
    """The list with one more endpoint that documents may send to."""
    return replace(connections, trusted=tuple(dict.fromkeys((*connections.trusted, origin))))


def without_trusted(connections: Connections, origin: str) -> Connections:
    """The list with one endpoint asked about again."""
    return replace(
        connections, trusted=tuple(each for each in connections.trusted if each != origin)
    )


def _follow(connection: Connection, old: str, new: str) -> Connection:
    if connection.settings.get("through") != old or old == new:
        return connection
    return replace(connection, settings={**connection.settings, "through": new})
