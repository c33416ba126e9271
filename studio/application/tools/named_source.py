"""Sources of tools that are named by themselves: a Python file, a server, an API, an address."""

from __future__ import annotations

from pathlib import Path

from studio.core.text.files import read_text
from studio.core.text.values import JsonObject, parse_json
from studio.core.tools.document import McpServer, OpenApi, PythonFile, SourceDeclaration
from studio.core.tools.mcp.server_config import HttpServer, listed_servers, read_workspace_servers

_DESCRIPTIONS = (".json", ".yaml", ".yml")


class UnknownSourceError(ValueError):
    """The error for a name that is no source of tools; its text says why."""


def is_address(place: str) -> bool:
    """Whether a source is named by its address."""
    return place.startswith(("http://", "https://"))


def named_by(
    place: str, server: str = "", connection: JsonObject | None = None
) -> SourceDeclaration:
    """The source that a file or an address is.

    Args:
        place: a Python file, a `.mcp.json`, an OpenAPI description, or the address of a description
            (it ends in .json or .yaml) or of an MCP server.
        server: the server of a file that names several.
        connection: endpoint and keys of an API.

    Raises:
        UnknownSourceError: it is none of these, or the server is not in it.
        OSError: the file cannot be read.
    """
    if is_address(place):
        if place.partition("?")[0].endswith(_DESCRIPTIONS):
            return OpenApi(place.rpartition("/")[2], place, connection or {})
        return McpServer(place, HttpServer(place))
    path = Path(place).resolve()
    if path.suffix == ".py":
        return PythonFile(path)
    if path.suffix == ".json" and _names_servers(path):
        return _server(path, server)
    if path.suffix in _DESCRIPTIONS:
        return OpenApi(path.stem, path, connection or {})
    raise UnknownSourceError(
        f"{path.name} is not a source of tools: a Python file, a prompt, a .mcp.json, an OpenAPI "
        "description (.json, .yaml), or an address"
    )


def servers_in(place: str) -> tuple[str, ...]:
    """Names of the servers of a `.mcp.json`; none of any other source.

    Raises:
        UnknownSourceError: it names servers, and cannot be used.
        OSError: the file cannot be read.
    """
    path = Path(place)
    if is_address(place) or path.suffix != ".json" or not _names_servers(path):
        return ()
    found = read_workspace_servers(path.resolve())
    if found.problem:
        raise UnknownSourceError(found.problem)
    return tuple(found.servers)


def _names_servers(path: Path) -> bool:
    try:
        data = parse_json(read_text(path, errors="replace"))
    except ValueError:
        return path.name.endswith("mcp.json")  # it says itself what is wrong with it
    return listed_servers(data) is not None


def _server(path: Path, wanted: str) -> McpServer:
    found = read_workspace_servers(path)
    if found.problem:
        raise UnknownSourceError(found.problem)
    names = ", ".join(found.servers)
    if wanted and wanted not in found.servers:
        raise UnknownSourceError(f"{path.name} has no server {wanted!r}; it has {names}")
    if not wanted and len(found.servers) != 1:
        raise UnknownSourceError(f"{path.name} has several servers; say --server, one of {names}")
    name = wanted or next(iter(found.servers))
    return McpServer(name, found.servers[name], origin=path)
