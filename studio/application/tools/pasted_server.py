"""Servers that the user pastes: the JSON of a README, a command line, a URL, an `mcp add`."""

import json
import os
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from studio.core.masking.masker import Masker
from studio.core.prompty.document import ToolSpec
from studio.core.text.files import read_text, write_private
from studio.core.text.naming import free_name
from studio.core.text.values import Json, JsonDict, JsonObject, object_of, parse_json, reason_of
from studio.core.tools.document import McpServer
from studio.core.tools.mcp import server_config
from studio.core.tools.mcp.connection import AskForInput
from studio.core.tools.secrets import ToolSecrets
from studio.core.tools.source import DEFAULT_LIMITS, ToolSourceError
from studio.core.tools.sources.opening import open_source, source_key

# MCP servers of other programs, or written by the user, added to the user's own file.

_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')
_FOREIGN = re.compile(r"\$\{(workspaceFolder|userHome|input:[^}]*|env:\w+)\}")


class ServerFileError(Exception):
    """Raised when a file of servers cannot be read or written; the message is for the user."""


@dataclass(frozen=True, slots=True)
class PastedServer:
    """A server from another program's file, or pasted by the user."""

    name: str
    """Its name, as written or derived from its package or host."""

    entry: JsonObject
    """Its settings in the form of a `.mcp.json`, with another program's references converted."""

    shown: str
    """Its command line or URL, keys masked."""

    program: str = ""
    """Display name of its program; empty for one that the user pasted."""


def server_files(
    home: Path, environment: Mapping[str, str], platform: str, folder: Path | None = None
) -> dict[str, Path]:
    """Return the server files of other programs, whether or not they exist.

    Args:
        home: the user's home.
        environment: the variables of the process.
        platform: as in `sys.platform`.
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


def servers_of(program: str, path: Path, home: Path) -> tuple[PastedServer, ...]:
    """Return the servers of another program's file; none if there is no such file.

    Args:
        program: name of the program.
        path: its file.
        home: the user's home.

    Raises:
        ServerFileError: the file exists and cannot be read.
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
    for name, entry in (server_config.listed_servers(data) or {}).items():
        if isinstance(entry, Mapping):
            ours = translated(dict(entry), workspace, home)
            shown = shown_address(ours)
            if shown and isinstance(ours, dict):
                found.append(PastedServer(name, ours, shown, program))
    return tuple(found)


def without_comments(text: str) -> str:
    """Remove comments and trailing commas from JSON, which VS Code allows."""
    bare = _COMMENT.sub(lambda match: match[1] or " ", text)
    return _LAST_COMMA.sub(lambda match: match[1] or "", bare)


def shown_address(entry: Json) -> str:
    """Return an entry's command line or URL, keys masked; empty if it has neither."""
    match server_config.server_address(entry, Path()) if isinstance(entry, Mapping) else None:
        case server_config.StdioServer(command, arguments):
            return server_config.shown_command(command, arguments)
        case server_config.HttpServer(url):
            return server_config.shown_command(url, ())
        case None:
            return ""


def add_servers(
    path: Path, servers: Iterable[tuple[str, JsonObject]], instead_of: str = ""
) -> tuple[str, ...]:
    """Add servers to a file of servers.

    Args:
        path: the file; created if it does not exist.
        servers: (name, settings); a name that is taken gets a number.
        instead_of: the server of the file that they replace; without servers it is removed.

    Returns:
        Their names in the file.

    Raises:
        ServerFileError: the file cannot be read or written; it is unchanged.
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
    """Return the settings of a server in a file; None if the file has no server of that name.

    Raises:
        ServerFileError: the file cannot be read.
    """
    entry = _servers_in(path)[2].get(name)
    return entry if isinstance(entry, Mapping) else None


def _servers_in(path: Path) -> tuple[JsonObject, str, JsonDict]:
    """Return the content of a file, the key of its servers, and the servers by name."""
    try:
        data = parse_json(read_text(path)) if path.exists() else {}
    except (OSError, ValueError) as error:
        raise ServerFileError(f"{path} cannot be read: {reason_of(error)}") from error
    if not isinstance(data, dict):
        raise ServerFileError(f"{path} contains no object")
    listed = server_config.listed_servers(data)
    key = "servers" if listed is not None and data.get("servers") is listed else "mcpServers"
    return data, key, dict(listed or {})


def translated(value: Json, workspace: Path, home: Path) -> Json:
    """Convert another program's references to the studio's: `${input:key}` is a variable."""
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


_ADDRESSES = ("http://", "https://")
_VARIABLE = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_FENCE = re.compile(r"```\w*\n(.*?)```", re.DOTALL)
_LAUNCHERS = frozenset(
    {
        *("npx", "npm", "bunx", "bun", "pnpm", "pnpx", "yarn", "dlx", "exec", "uvx", "uv"),
        *("pipx", "run", "docker", "podman", "node", "deno", "python", "python3", "cmd", "/c"),
    }
)
_WITH_VALUE = frozenset(
    {
        *("-e", "--env", "-v", "--volume", "--mount", "-p", "--publish", "--name", "--network"),
        *("--directory", "--project", "--from", "--with", "--python", "--user", "-w", "--workdir"),
    }
)
"""Options of launchers that are followed by a value."""

_NO_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_AROUND = re.compile(
    r"^(?:mcp[-_]?server[-_]|server[-_]mcp[-_]|server[-_]|mcp[-_])|"
    r"(?:[-_]mcp[-_]server|[-_]server|[-_]mcp)$"
)


def read_pasted(text: str, settings: str = "", name: str = "") -> tuple[PastedServer, ...]:
    """Recognize the pasted text.

    Args:
        text: JSON of servers, a command line, a URL, or a command of another program that adds a
            server (`claude mcp add …`).
        settings: variables of the program (`NAME=value`) or headers (`Name: value`), one per line.
        name: the name of a single server; empty for its own.

    Raises:
        ServerFileError: it is none of these; the message says what is wrong.
    """
    fenced = _FENCE.search(text)
    text = (fenced[1] if fenced else text).strip().removeprefix("$ ").strip()
    if not text:
        raise ServerFileError("give a command line, an address, or the JSON of a README")
    if _is_json(text):
        found = _of_json(text)
    elif text.startswith(_ADDRESSES):
        found = {"": {"type": "http", "url": text}}
    else:
        found = _of_words(_words(text))
    if name and len(found) == 1:
        found = {name: next(iter(found.values()))}
    servers = []
    for own, entry in found.items():
        whole = _with_settings(object_of(translated(entry, Path.cwd(), Path.home())), settings)
        shown = shown_address(whole)
        if not shown:
            raise ServerFileError(f"{own or 'it'} has no command and no address")
        servers.append(PastedServer(own or _name_of(whole), whole, shown))
    return tuple(servers)


async def list_pasted(
    server: PastedServer, folder: Path, ask: AskForInput | None = None
) -> tuple[ToolSpec, ...]:
    """Start or connect to a server once, and return its tools: the user named it.

    Args:
        server: the pasted server.
        folder: its working folder.
        ask: asks the user for the information that the server requests.

    Raises:
        ToolSourceError: it does not start, cannot be reached, or is no MCP server.
    """
    secrets = ToolSecrets(Masker(os.environ))
    declaration = McpServer(server.name, server_config.server_address(server.entry, folder))
    secrets.note_written(declaration)
    source = open_source(
        declaration,
        DEFAULT_LIMITS,
        lambda: None,
        environment=secrets.environment(source_key(declaration)),
        masker=secrets.masker,
        ask=ask,
    )
    try:
        return secrets.masked(await source.list_tools())
    except LookupError as error:
        raise ToolSourceError(f"{source.label}: {error.args[0]}") from error
    finally:
        await source.close()


def settings_text(entry: JsonObject) -> str:
    """Return the variables or headers of a server in the form of the dialog, one per line."""
    lines = [f"{name}={value}" for name, value in object_of(entry.get("env")).items()]
    lines += [f"{name}: {value}" for name, value in object_of(entry.get("headers")).items()]
    return "\n".join(lines)


def address_text(entry: JsonObject) -> str:
    """Return the command line or URL of a server in the form of the dialog."""
    address = entry.get("url")
    if isinstance(address, str) and address:
        return address
    arguments = entry.get("args")
    words = [entry.get("command"), *(arguments if isinstance(arguments, list | tuple) else ())]
    return shlex.join(str(word) for word in words if word is not None)


def _is_json(text: str) -> bool:
    return text[:1] in "{[" or re.match(r'"[^"]+"\s*:\s*\{', text) is not None


def _of_json(text: str) -> dict[str, JsonObject]:
    whole = text if text[:1] in "{[" else f"{{{text.rstrip().rstrip(',')}}}"
    try:
        data = parse_json(without_comments(whole))
    except ValueError as error:
        raise ServerFileError(f"the JSON cannot be read: {reason_of(error)}") from error
    given = object_of(data)
    for key in ("mcp", "mcpServers", "servers"):  # VS Code's settings hold the list under 'mcp'
        if server_config.listed_servers(given) is None and isinstance(given.get(key), Mapping):
            given = object_of(given[key])
    listed = server_config.listed_servers(given)
    if listed is None:
        is_one = bool(shown_address(_in_our_words(given)))
        listed = {str(given.get("name") or ""): given} if is_one else given
    found = {
        name: _in_our_words(object_of(each))
        for name, each in listed.items()
        if isinstance(each, Mapping)
    }
    if not found:
        raise ServerFileError("the JSON contains no server: it has no command and no address")
    return found


def _in_our_words(entry: JsonObject) -> JsonObject:
    """Return an entry whose URL is named `url`, which Windsurf and Gemini name differently."""
    address = entry.get("url") or entry.get("serverUrl") or entry.get("httpUrl")
    kept = {
        key: value for key, value in entry.items() if key not in ("serverUrl", "httpUrl", "name")
    }
    return {**kept, "url": address} if address else kept


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text.replace("\\\n", " "))
    except ValueError as error:
        raise ServerFileError(f"the command line cannot be read: {reason_of(error)}") from error


def _of_words(words: Sequence[str]) -> dict[str, JsonObject]:
    match list(words):
        case [_, "mcp", "add-json", *rest] if len([w for w in rest if w[:1] != "-"]) >= 2:
            name, written = [word for word in rest if word[:1] in "{" or word[:1] != "-"][-2:]
            return {name: next(iter(_of_json(written).values()))}
        case [_, "--add-mcp", written]:
            return _of_json(written)
        case [_, "mcp", "add", *rest]:
            return _of_add(rest)
    given: JsonDict = {}
    rest = list(words)
    while rest and (found := _VARIABLE.fullmatch(rest[0])):
        given[found[1]] = found[2]
        del rest[0]
    if not rest:
        raise ServerFileError("there is no program after the variables")
    return {"": _command(rest, given)}


def _of_add(rest: list[str]) -> dict[str, JsonObject]:
    """Parse `claude mcp add [options] NAME [--] COMMAND… | URL`, and those of Codex and Gemini."""
    plain: list[str] = []
    settings: dict[str, list[str]] = {"env": [], "header": [], "transport": []}
    short = {"-e": "env", "-H": "header", "-t": "transport"}
    while rest:
        word = rest.pop(0)
        option, equals, value = word.partition("=")
        key = short.get(option, option.removeprefix("--"))
        if word == "--":
            plain += rest
            break
        if word.startswith("-") and (len(plain) < 2 or plain[1].startswith(_ADDRESSES)):
            taken = [value] if equals else [rest.pop(0)] if rest else []
            while key == "env" and rest and _VARIABLE.fullmatch(rest[0]):
                taken.append(rest.pop(0))
            if key == "url":
                plain += taken
            elif key in settings:
                settings[key] += taken
        else:
            plain.append(word)
    if len(plain) < 2:
        raise ServerFileError(
            "the command names no server: it needs NAME, and a command line or an address"
        )
    name, *command = plain
    given = dict(each.partition("=")[::2] for each in settings["env"])
    if not command[0].startswith(_ADDRESSES):
        return {name: _command(command, given)}
    headers = {
        key.strip(): value.strip()
        for key, _, value in (each.partition(":") for each in settings["header"])
    }
    kind = settings["transport"][-1] if settings["transport"] else "http"
    entry: JsonObject = {"type": kind, "url": command[0]}
    return {name: {**entry, "headers": headers} if headers else entry}


def _command(words: Sequence[str], given: JsonObject) -> JsonObject:
    entry: JsonObject = {"command": words[0], "args": list(words[1:])}
    return {**entry, "env": dict(given)} if given else entry


def _with_settings(entry: JsonObject, settings: str) -> JsonObject:
    """Return the settings of a server with additional variables or headers."""
    is_web = "command" not in entry
    pairs: JsonDict = {}
    for line in filter(None, (each.strip() for each in settings.splitlines())):
        name, mark, value = line.partition(":" if is_web else "=")
        if not mark or not name.strip():
            form = "Name: value" if is_web else "NAME=value"
            raise ServerFileError(f"{line!r} does not have the form {form}")
        pairs[name.strip()] = value.strip()
    key = "headers" if is_web else "env"
    return {**entry, key: {**object_of(entry.get(key)), **pairs}} if pairs else entry


def _name_of(entry: JsonObject) -> str:
    """Return a name for a server, from its package or its host."""
    address = entry.get("url")
    if isinstance(address, str) and address:
        place = address.partition("://")[2].partition("/")[0].rpartition("@")[2]
        host = place.partition(":")[0].strip("[]").lower() or "server"
        parts = [each for each in host.split(".") if each not in ("mcp", "www", "api")]
        return _plain(parts[-2] if len(parts) > 1 and not parts[-1].isdigit() else host)
    arguments = entry.get("args")
    words = [str(each) for each in (arguments if isinstance(arguments, list | tuple) else ())]
    waiting, skips = [str(entry.get("command")), *words], False
    for word in waiting:
        if skips or word.startswith("-") or word.lower() in _LAUNCHERS:
            skips = not skips and word in _WITH_VALUE
            continue
        return _plain(word)
    return _plain(waiting[0])


def _plain(word: str) -> str:
    last = re.split(r"[/\\]", word.rstrip("/\\"))[-1] or word
    last = re.sub(r"(?<=.)@.*$|:[\w.]+$|\.(?:py|m?js|ts|sh|exe)$", "", last)
    return _NO_NAME.sub("_", _AROUND.sub("", last) or last).strip("_") or "server"
