"""MCP servers of other programs, or that the user writes down, put into the user's own file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from studio.core.text.atomic_file import write_private
from studio.core.text.bounded_file import read_text
from studio.core.text.foreign_json import parse_json
from studio.core.text.naming import free_name
from studio.core.text.reason import reason_of
from studio.core.text.values import Json, JsonObject
from studio.core.tools.mcp.server_config import (
    HttpServer,
    StdioServer,
    listed_servers,
    server_address,
    shown_command,
)

_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')
_FOREIGN = re.compile(r"\$\{(workspaceFolder|userHome|input:[^}]*|env:\w+)\}")


class ServerFileError(Exception):
    """A file of servers cannot be read or written; the text is meant for the user."""


@dataclass(frozen=True, slots=True)
class KnownServer:
    """A server as another program has it."""

    name: str
    """Its name there."""

    program: str
    """Which program that is, for people."""

    entry: JsonObject
    """Its settings in the form of our own file; references of that program are ours."""

    shown: str
    """Its command line or address, keys masked."""


def server_files(
    home: Path, environment: Mapping[str, str], platform: str, folder: Path | None = None
) -> dict[str, Path]:
    """Where other programs keep their servers: the file by program; not all are there.

    Args:
        home: the user's home.
        environment: the variables of the process.
        platform: as `sys.platform` has it.
        folder: the prompt's folder, for the files of a workspace.
    """
    if platform == "win32":
        settings = Path(environment.get("APPDATA") or home / "AppData" / "Roaming")
    elif platform == "darwin":
        settings = home / "Library" / "Application Support"
    else:
        settings = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    files = {
        "Claude Desktop": settings / "Claude" / "claude_desktop_config.json",
        "Claude Code": home / ".claude.json",
        "VS Code": settings / "Code" / "User" / "mcp.json",
        "Cursor": home / ".cursor" / "mcp.json",
        "Windsurf": home / ".codeium" / "windsurf" / "mcp_config.json",
    }
    if folder is not None:
        for place in (folder, *folder.parents):
            if (place / ".vscode" / "mcp.json").is_file():
                files[f"VS Code ({place.name})"] = place / ".vscode" / "mcp.json"
                break
        for place in (folder, *folder.parents):
            if place != home and (place / ".cursor" / "mcp.json").is_file():
                files[f"Cursor ({place.name})"] = place / ".cursor" / "mcp.json"
                break
    return files


def servers_of(program: str, path: Path, home: Path) -> tuple[KnownServer, ...]:
    """The servers of another program's file; none where there is no such file.

    Args:
        program: which program it is.
        path: its file.
        home: the user's home.

    Raises:
        ServerFileError: the file is there, and cannot be read.
    """
    try:
        text = read_text(path, encoding="utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except (OSError, UnicodeDecodeError) as error:
        raise ServerFileError(f"{path} cannot be read: {reason_of(error)}") from error
    try:
        data = parse_json(without_comments(text))
    except ValueError as error:
        raise ServerFileError(f"{path} is not JSON: {reason_of(error)}") from error
    workspace = path.parent.parent if path.parent.name in (".vscode", ".cursor") else home
    found = []
    for name, entry in (listed_servers(data) or {}).items():
        if isinstance(entry, Mapping):
            ours = translated(dict(entry), workspace, home)
            shown = shown_address(ours)
            if shown and isinstance(ours, dict):
                found.append(KnownServer(name, program, ours, shown))
    return tuple(found)


def without_comments(text: str) -> str:
    """JSON with comments and commas at the end, as VS Code writes it, without either."""
    bare = _COMMENT.sub(lambda match: match[1] or " ", text)
    return _LAST_COMMA.sub(lambda match: match[1] or "", bare)


def shown_address(entry: Json) -> str:
    """The command line or address of an entry, keys masked; empty where it has neither."""
    address = server_address(entry, Path()) if isinstance(entry, Mapping) else None
    match address:
        case StdioServer(command, arguments):
            return shown_command(command, arguments)
        case HttpServer(url):
            return shown_command(url, ())
        case None:
            return ""


def add_servers(
    path: Path, servers: Iterable[tuple[str, JsonObject]], instead_of: str = ""
) -> tuple[str, ...]:
    """Write servers into a file of servers, beside those that it has.

    Args:
        path: the file; made where it is not there.
        servers: (name, settings); a name that is taken gets a number.
        instead_of: the server of the file that they replace; without servers it is removed.

    Returns:
        The names that they have there.

    Raises:
        ServerFileError: the file cannot be read or written; it is as it was.
    """
    data, key, known = _servers_in(path)
    known.pop(instead_of, None)
    names = []
    for name, entry in servers:
        fresh = free_name(name, known.__contains__, "_{}")
        known[fresh] = entry
        names.append(fresh)
    text = json.dumps({**data, key: known}, ensure_ascii=False, indent=2) + "\n"
    try:
        write_private(path, text.encode("utf-8"))  # variables and headers hold keys
    except OSError as error:
        raise ServerFileError(f"{path} cannot be written: {error.strerror}") from error
    return tuple(names)


def server_in(path: Path, name: str) -> JsonObject | None:
    """Return the settings of a server as its file has them; None where it has none of that name.

    Raises:
        ServerFileError: the file cannot be read.
    """
    entry = _servers_in(path)[2].get(name)
    return entry if isinstance(entry, Mapping) else None


def _servers_in(path: Path) -> tuple[JsonObject, str, dict[str, Json]]:
    """Return what a file holds, the key of its servers, and these by name."""
    try:
        data = parse_json(read_text(path)) if path.exists() else {}
    except (OSError, ValueError) as error:
        raise ServerFileError(f"{path} cannot be read: {reason_of(error)}") from error
    if not isinstance(data, dict):
        raise ServerFileError(f"{path} holds no object")
    listed = listed_servers(data)
    key = "servers" if listed is not None and data.get("servers") is listed else "mcpServers"
    return data, key, dict(listed or {})


def translated(value: Json, workspace: Path, home: Path) -> Json:
    """Return settings with another program's references as ours: `${input:key}` is a variable."""
    if isinstance(value, Mapping):
        return {name: translated(each, workspace, home) for name, each in value.items()}
    if isinstance(value, list):
        return [translated(each, workspace, home) for each in value]
    if not isinstance(value, str):
        return value

    def ours(match: re.Match[str]) -> str:
        kind, _, name = match[1].partition(":")
        match kind:
            case "workspaceFolder":
                return str(workspace)
            case "userHome":
                return str(home)
            case "input":
                return "${env:" + re.sub(r"\W", "_", name).upper() + "}"
            case _:
                return match[0]

    return _FOREIGN.sub(ours, value)
