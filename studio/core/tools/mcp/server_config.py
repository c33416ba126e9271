"""Configurations of MCP servers in a document, a workspace or the user's settings.

A workspace has its servers in `.mcp.json`, the format of other MCP clients: an object `mcpServers`
(in VS Code `servers`) with, by name, either `command`, `args` and `env`, or `url` and `headers`.
The user's own servers are stored in the same format in the settings folder, as `mcp.json`.
"""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeAlias, assert_never

from studio.core.masking.redact import DOTS, is_placeholder, names_secret_variable, without_keys
from studio.core.text.files import read_text
from studio.core.text.values import Json, JsonObject, parse_json, reason_of
from studio.core.tools.trust.store import Approval, Pin

# A server's command line and address without keys, for display and for storage.

_NAMED = re.compile(r"([A-Za-z][\w.-]*)(=|:\s+(?:Bearer\s+|Basic\s+)?)([^\s&;'\"#]+)")
"""Matches `NAME=value` of a flag, a variable or a query, and `Name: value` of a header."""

_LOGIN = re.compile(r"(?<=://)([^\s/@:'\"]*):([^\s/@'\"]+)(?=@)")


@dataclass(frozen=True, slots=True)
class WrittenSecret:
    """A secret in a command line or an address."""

    name: str
    """Name of its flag, variable, header or parameter."""

    value: str
    """Value of the secret."""


def without_secrets(words: Sequence[str]) -> tuple[tuple[str, ...], tuple[WrittenSecret, ...]]:
    """Return a command line or an address with secrets replaced by dots, and the secrets.

    Args:
        words: the arguments; a flag's value may be the next one.
    """
    found: list[WrittenSecret] = []

    def hidden(match: re.Match[str]) -> str:
        name, between, value = match.groups()
        if not _is_secret(name, value):
            return match[0]
        found.append(WrittenSecret(name, value))
        return f"{name}{between}{DOTS}"

    def without_login(match: re.Match[str]) -> str:
        if "${" in match[2]:
            return match[0]
        found.append(WrittenSecret("login", match[2]))
        return f"{match[1]}:{DOTS}"

    shown: list[str] = []
    flag = ""
    for word in words:
        if flag and not word.startswith("-") and _is_secret(flag, word):
            found.append(WrittenSecret(flag, word))
            shown.append(DOTS)
        else:
            plain = _NAMED.sub(hidden, _LOGIN.sub(without_login, word))
            shown.append(without_keys(plain, DOTS))
        flag = word.lstrip("-") if word.startswith("-") and "=" not in word else ""
    return tuple(shown), tuple(found)


def _is_secret(name: str, value: str) -> bool:
    """Return whether a value's name means a secret; a reference is not secret."""
    return names_secret_variable(name) and "${" not in value and not is_placeholder(value)


WORKSPACE_FILE = ".mcp.json"
"""File name, searched beside the prompt and in its parent folders."""

OWN_FILE = "mcp.json"
"""File name of the user's own servers, in the settings folder."""


@dataclass(frozen=True, slots=True)
class StdioServer:
    """A server that is a command."""

    command: str
    """Program."""

    arguments: tuple[str, ...] = ()
    """Arguments of the program."""

    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables set for it, with references unresolved."""

    folder: Path | None = None
    """Working directory."""

    is_old: bool = False
    """Whether to use the protocols before 2026-07-28, though it supports newer ones."""


@dataclass(frozen=True, slots=True)
class HttpLogin:
    """The settings of a login by OAuth, with references unresolved."""

    client_id: str = ""
    """Id of the client for a login as a program or by the user; empty if the server registers the
    client when the user logs in.
    """

    client_secret: str = ""
    """Secret of the client."""

    scope: str = ""
    """Requested scopes, separated by blanks; empty for those of the server."""

    issuer: str = ""
    """Issuer of the client's id and secret; empty for the one named by the server."""

    in_browser: bool = False
    """Whether the user logs in with a browser."""

    port: int = 0
    """Port on this machine to which the browser returns; 0 for any free port."""


@dataclass(frozen=True, slots=True)
class HttpServer:
    """A server that is a URL."""

    url: str
    """Address of the endpoint."""

    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers of each request, with references unresolved; never shown, as they may contain
    keys.
    """

    transport: Literal["http", "sse"] = "http"
    """Streamable HTTP, with events (SSE) if a server rejects that; or only events."""

    login: HttpLogin | None = None
    """Login by OAuth; None to use the headers only."""

    is_old: bool = False
    """Whether to use the protocols before 2026-07-28, though it supports newer ones."""


ServerAddress: TypeAlias = StdioServer | HttpServer
"""All kinds of servers, a closed union: consumers use `match` and `assert_never`."""


@dataclass(frozen=True, slots=True)
class WorkspaceServers:
    """The contents of a workspace's file."""

    path: Path | None = None
    """Path of the file; None if there is none."""

    servers: Mapping[str, ServerAddress] = field(default_factory=dict)
    """Servers by name."""

    problem: str = ""
    """Reason why the file, or a part of it, cannot be used; empty for none."""


def find_workspace_servers(folder: Path) -> WorkspaceServers:
    """Return the servers of the nearest `.mcp.json` at or above a folder; starts nothing."""
    for place in (folder, *folder.parents):
        candidate = place / WORKSPACE_FILE
        if candidate.is_file():
            return read_workspace_servers(candidate)
    return WorkspaceServers()


def find_own_servers(path: Path) -> WorkspaceServers:
    """Return the servers of the user's settings; empty if the file does not exist."""
    return read_workspace_servers(path) if path.is_file() else WorkspaceServers()


def read_workspace_servers(path: Path) -> WorkspaceServers:
    """Read one `.mcp.json`; problems are returned, never raised."""
    try:
        data = parse_json(read_text(path))
    except OSError as error:
        return WorkspaceServers(path, problem=f"{path.name} cannot be read: {error.strerror}")
    except ValueError as error:
        return WorkspaceServers(path, problem=f"{path.name} is not JSON: {reason_of(error)}")
    listed = listed_servers(data)
    if listed is None:
        return WorkspaceServers(path, problem=f"{path.name} has no object 'mcpServers'")
    servers: dict[str, ServerAddress] = {}
    unusable: list[str] = []
    for name, entry in listed.items():
        address = server_address(entry, path.parent) if isinstance(entry, dict) else None
        if address is None:
            unusable.append(name)
        else:
            servers[name] = address
    problem = f"{path.name}: no command and no URL for {', '.join(unusable)}" if unusable else ""
    return WorkspaceServers(path, servers, problem)


def listed_servers(data: Json) -> JsonObject | None:
    """Return the entries of such a file by name, under any program's key; None without one."""
    if not isinstance(data, Mapping):
        return None
    for key in ("mcpServers", "servers"):
        listed = data.get(key)
        if isinstance(listed, dict):
            return listed
    return None


def server_address(entry: JsonObject, folder: Path) -> ServerAddress | None:
    """Return a server's address from an entry of `.mcp.json` or a `connection` block."""
    command, version = entry.get("command"), entry.get("protocol")
    is_old = isinstance(version, str) and version < "2026"  # they are dates
    if isinstance(command, str) and command:
        given, place = _text_map(entry.get("env")), entry.get("cwd")
        folder = folder / place if isinstance(place, str) else folder
        return StdioServer(command, _texts(entry.get("args")), given, folder, is_old)
    url = entry.get("url") or entry.get("endpoint")
    if isinstance(url, str) and url:
        headers = dict(_text_map(entry.get("headers")))
        key = entry.get("apiKey")
        if isinstance(key, str) and key:
            headers.setdefault("Authorization", f"Bearer {key}")
        transport: Literal["http", "sse"] = "sse" if entry.get("type") == "sse" else "http"
        return HttpServer(url, headers, transport, _login(entry.get("auth")), is_old)
    return None


def _login(auth: Json) -> HttpLogin | None:
    """Return an entry's `auth`: "browser", or `clientId`, `clientSecret`, `scopes`, `issuer`.

    `browser: true` in addition means the user's login with a registered client.
    """
    if auth in ("browser", "oauth"):
        return HttpLogin(in_browser=True)
    if not isinstance(auth, Mapping):
        return None
    words = _text_map(auth)
    listed, port = auth.get("scopes"), auth.get("port")
    scopes = " ".join(_texts(listed)) if isinstance(listed, list | tuple) else words.get("scopes")
    return HttpLogin(
        words.get("clientId", ""),
        words.get("clientSecret", ""),
        scopes or "",
        words.get("issuer", ""),
        auth.get("browser") is True,
        port if isinstance(port, int) and 0 < port < 65_536 else 0,
    )


def address_pin(address: ServerAddress) -> Pin:
    """Return the pin of an allowed server: its whole address, including parts not shown."""
    match address:
        case StdioServer(command, arguments, environment, folder):
            lines = [shown_command(command, arguments)]
            lines += [f"variable {name}" for name in environment]
            lines += [f"in {folder}"] if folder is not None else []
            whole: Json = [command, list(arguments), dict(environment), str(folder)]
        case HttpServer(url, headers, _, login):
            lines = [*without_secrets([url])[0], *(f"header {name}" for name in headers)]
            whole = [url, dict(headers)]  # the transport does not make it another server
            if login is not None:
                who = login.client_id or "you, in a browser"
                if login.client_id and login.in_browser:
                    who = f"you, in a browser, by {login.client_id}"
                    whole.append("browser")
                lines.append(f"login as {who}")
                whole += [login.client_id, login.client_secret, login.scope, login.issuer]
        case _:
            assert_never(address)
    text = json.dumps(whole, ensure_ascii=True, sort_keys=True)
    return Pin(sha256(text.encode()).hexdigest(), tuple(lines))


def shown_command(command: str, arguments: Sequence[str]) -> str:
    """Return a command line for display, with dots in place of keys."""
    shown, _ = without_secrets([command, *arguments])
    return " ".join(word if word == DOTS else shlex.quote(word) for word in shown)


def approval_mode(value: Json, tool: str) -> Approval | None:
    """Return a tool's `approvalMode` (Prompty 2 §2.9): always, never, or by lists."""
    match value.get("kind") if isinstance(value, Mapping) else value:
        case "always":
            return "always"
        case "never":
            return "allow"
        case "specify" if isinstance(value, Mapping):
            if tool in _texts(value.get("alwaysRequireApprovalTools")):
                return "always"
            if tool in _texts(value.get("neverRequireApprovalTools")):
                return "allow"
    return None


_REFERENCE = re.compile(
    r"\$\{(?:env:(?P<a>\w+)(?::(?P<da>[^}]*))?|(?P<b>\w+)(?::-(?P<db>[^}]*))?)\}"
)


def expand(text: str, environment: Mapping[str, str]) -> str:
    """Return a text with environment variables inserted: `${env:NAME:default}`, `${NAME:-default}`.

    Only for trusted folders, and only when a server is started.

    Raises:
        LookupError: a variable is not set and has no default; its text names it.
    """

    def value(match: re.Match[str]) -> str:
        name = match["a"] or match["b"]
        default = match["da"] if match["a"] else match["db"]
        found = environment.get(name, default)
        if found is None:
            raise LookupError(f"the environment variable {name!r} is not set")
        return found

    return _REFERENCE.sub(value, text)


def variables_in(address: ServerAddress) -> tuple[str, ...]:
    """Return the names of the environment variables in a server's address."""
    match address:
        case StdioServer(command, arguments, environment):
            texts = [command, *arguments, *environment.values()]
        case HttpServer(url, headers, _, login):
            texts = [url, *headers.values()]
            if login is not None:
                texts += [login.client_id, login.client_secret, login.issuer]
        case _:
            assert_never(address)
    found = (match["a"] or match["b"] for text in texts for match in _REFERENCE.finditer(text))
    return tuple(dict.fromkeys(found))


def _texts(value: Json) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        return ()
    return tuple(str(item) for item in value)


def _text_map(value: Json) -> Mapping[str, str]:
    if not isinstance(value, Mapping):
        return {}
    return {name: str(item) for name, item in value.items() if item is not None}
