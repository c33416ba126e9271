"""Start or reach one MCP server, and explain failures.

Also the OAuth login at a server: as a program, or by the user in a browser. The SDK implements the
protocol (metadata, registration, PKCE, tokens, refresh). Here are the parts that it leaves open:
the storage of tokens (in memory, while the source exists), the page to which the browser returns
(on this machine, any free port), and the question before a page is opened.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, assert_never
from urllib.parse import parse_qs, urlsplit

from studio.core.tools.mcp import server_config
from studio.core.tools.mcp.child import LONGEST_LOG, ChildProcess
from studio.core.tools.mcp.child_bounds import ChildBounds
from studio.core.tools.mcp.connection import AskForInput, HttpNotes, InputWanted, McpConnection
from studio.core.tools.mcp.streams import Opener, over_child, safe_environment
from studio.core.tools.source import ToolLimits, ToolSourceError, TrafficLog
from studio.core.whole_imports import MCP, import_packages

if TYPE_CHECKING:
    import httpx2
    from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthToken


_PAGE = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n\r\n"
    b"<p>Prompt Studio has the answer of the login. You can close this page."
)
_LONGEST_LINE = 16_384


class LoginRefusedError(Exception):
    """Raised when the user did not log in; the text says why."""


@dataclass
class MemoryTokens:
    """Tokens and registration, kept in memory only."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        """Return the tokens."""
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Store tokens."""
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return the registration."""
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Store the registration."""
        self.client = client_info


@dataclass
class ServerLogin:
    """The login at one server, while its source exists."""

    ask: AskForInput | None
    """Function that asks the user before a page is opened; None makes a login by browser
    impossible.
    """

    storage: MemoryTokens = field(default_factory=MemoryTokens)
    _refused: str = ""
    _listener: asyncio.Server | None = None
    _answer: asyncio.Future[Mapping[str, list[str]]] | None = None

    async def auth(self, url: str, login: server_config.HttpLogin) -> httpx2.Auth:
        """Return the authentication that adds a token to each request, and gets it if needed.

        Args:
            url: the server's endpoint.
            login: login settings, with references resolved.
        """
        from mcp.client.auth import OAuthClientProvider
        from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
        from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata
        from pydantic import AnyUrl

        if login.client_id and not login.in_browser:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a warning that version 3.0 will require an issuer
                return ClientCredentialsOAuthProvider(
                    url,
                    self.storage,
                    login.client_id,
                    login.client_secret,
                    scope=login.scope or None,
                    issuer=login.issuer or None,
                )
        if self._refused:
            raise LoginRefusedError(self._refused)  # not asked again before a restart
        if self._listener is None:
            self._listener = await asyncio.start_server(
                self._come_back, "127.0.0.1", login.port, limit=_LONGEST_LINE
            )
        port = self._listener.sockets[0].getsockname()[1]
        metadata = OAuthClientMetadata(
            client_name="Prompt Studio",
            redirect_uris=[AnyUrl(f"http://127.0.0.1:{port}/callback")],
            scope=login.scope or None,
        )
        if login.client_id and self.storage.client is None:
            self.storage.client = OAuthClientInformationFull(
                client_id=login.client_id,
                client_secret=login.client_secret or None,
                issuer=login.issuer or None,
                # RFC 6749 §2.3.1: every server must support it.
                token_endpoint_auth_method=(
                    "client_secret_basic" if login.client_secret else "none"
                ),
                **metadata.model_dump(
                    exclude={"issuer", "token_endpoint_auth_method"}, exclude_none=True
                ),
            )
        return OAuthClientProvider(url, metadata, self.storage, self._open_page, self._wait)

    @property
    def refused(self) -> str:
        """The reason why the user did not log in; empty if they did, or were not asked."""
        return self._refused

    def close(self) -> None:
        """Stop waiting for the browser."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    async def _open_page(self, address: str) -> None:
        """Ask the user to open the page, and wait until the browser returns."""
        if self.ask is None:
            raise self._refuse("it needs a login in a browser, but there is no user")
        self._answer = asyncio.get_running_loop().create_future()
        asked = await self.ask(InputWanted("Log in to use its tools.", url=address))
        if asked.action != "accept":
            raise self._refuse("it needs a login, which was declined; Restart asks again")

    async def _wait(self) -> AuthorizationCodeResult:
        from mcp.shared.auth import AuthorizationCodeResult

        assert self._answer is not None
        values = await self._answer
        if "code" not in values:
            words = values.get("error_description") or values.get("error") or ["no code"]
            raise self._refuse(f"the login was refused: {words[0]}")
        state, issuer = values.get("state"), values.get("iss")
        return AuthorizationCodeResult(
            code=values["code"][0],
            state=state[0] if state else None,
            iss=issuer[0] if issuer else None,
        )

    def _refuse(self, reason: str) -> LoginRefusedError:
        self._refused = reason
        return LoginRefusedError(reason)

    async def _come_back(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take the login's code, or its error, from the returning browser."""
        try:
            line = (await reader.readline()).decode("latin-1").split(" ")
            target = urlsplit(line[1]) if len(line) > 1 else None
            if target is not None and target.path == "/callback":
                writer.write(_PAGE)
                await writer.drain()
                if self._answer is not None and not self._answer.done():
                    self._answer.set_result(parse_qs(target.query))
        except (OSError, ValueError):
            return  # not our browser
        finally:
            writer.close()


_ERROR_LINE = re.compile(r"[\w.]*(?:Error|Exception|error|fatal|panic)\b.{0,9}:")
_LEAVING_SECONDS = 2.0
_MOST_UNREAD = 20  # maximum number of reported lines on a server's output that are no messages
_NOT_STREAMABLE = (400, 404, 405, 406, 415, 501)  # responses of servers that only support events
_LOGIN_SECONDS = 300.0  # time for the user to read, type, and find a password


class Connector:
    """A factory of connections to one server, one after another."""

    def __init__(
        self,
        address: server_config.ServerAddress,
        limits: ToolLimits,
        environment: Callable[[], Mapping[str, str]],
        ask: AskForInput | None,
        changed: Callable[[], None],
        traffic: TrafficLog,
    ) -> None:
        """Store the settings; nothing is started yet.

        Args:
            address: how to reach the server.
            limits: limits of a call.
            environment: returns the variables for references.
            ask: asks the user for input that the server requests; None to refuse such requests.
            changed: called when the server reports changed lists.
            traffic: records each message.
        """
        self._address = address
        self._limits = limits
        self._environment = environment
        self._ask = ask
        self._changed = changed
        self._traffic = traffic
        self._login = ServerLogin(ask)
        self.child: ChildProcess | None = None
        """The started process; None for a server reached by address."""
        self._notes = HttpNotes()
        self._log = ""
        self._unread = 0

    def take_child(self) -> ChildProcess | None:
        """Return the process, which the caller must end from now on."""
        child, self.child = self.child, None
        return child

    def close(self) -> None:
        """Stop waiting for a login."""
        self._login.close()

    def read_log(self, messages: str) -> str:
        """Return the server's newest output on stderr and its log messages.

        Args:
            messages: its log messages in the protocol since the last call.
        """
        if self.child is not None:
            self._log += self.child.take_log()
            ending = self._ending
            if ending and ending not in self._log:
                self._log += f"{ending}\n"
        self._log = (self._log + messages)[-LONGEST_LOG:]
        return self._log

    async def connect(self) -> McpConnection:
        """Start or reach the server, and complete the handshake.

        Raises:
            ToolSourceError: the server cannot be started or reached, or is no MCP server.
        """
        await import_packages(MCP)
        try:
            match self._address:
                case server_config.HttpServer():
                    return await self._reach(self._address)
                case server_config.StdioServer():
                    opener = over_child(await self._start(self._address), self._note_unread)
                case _:
                    assert_never(self._address)
        except LookupError as error:
            raise ToolSourceError(f"cannot be reached: {error.args[0]}") from error
        return await self._connect(opener)

    async def _connect(self, opener: Opener, *, is_old: bool = False) -> McpConnection:
        login = self._address.login if isinstance(self._address, server_config.HttpServer) else None
        is_by_user = login is not None and login.in_browser
        return await McpConnection.open(
            opener,
            _LOGIN_SECONDS if is_by_user else self._limits.start_seconds,
            self._changed,
            self._ask,
            is_old=is_old or self._address.is_old,
            traffic=self._traffic,
        )

    async def _reach(self, server: server_config.HttpServer) -> McpConnection:
        """Connect by streamable HTTP; if an old server rejects that, by events."""
        from studio.core.tools.mcp.http_streams import over_events, over_http

        known = self._environment()
        headers = {key: server_config.expand(text, known) for key, text in server.headers.items()}
        url = server_config.expand(server.url, known)
        most = int(self._limits.answer_megabytes * 1024**2)
        self._notes = HttpNotes()
        auth = None
        if server.login is not None:
            login = replace(
                server.login,
                client_id=server_config.expand(server.login.client_id, known),
                client_secret=server_config.expand(server.login.client_secret, known),
                issuer=server_config.expand(server.login.issuer, known),
            )
            try:
                auth = await self._login.auth(url, login)
            except LoginRefusedError as error:
                raise ToolSourceError(str(error)) from error
        if server.transport != "sse":
            try:
                return await self._connect(over_http(url, headers, most, self._notes, auth))
            except ToolSourceError:
                if self._notes.status not in _NOT_STREAMABLE:
                    raise
        notes = HttpNotes()
        try:
            connection = await self._connect(
                over_events(url, headers, most, notes, auth), is_old=True
            )
        except ToolSourceError:
            if server.transport == "sse":
                self._notes = notes
            raise
        self._notes = notes
        return connection

    async def _start(self, server: server_config.StdioServer) -> ChildProcess:
        known = self._environment()
        command = server_config.expand(server.command, known)
        arguments = [server_config.expand(text, known) for text in server.arguments]
        given = {key: server_config.expand(text, known) for key, text in server.environment.items()}
        self._unread = 0
        try:
            self.child = await ChildProcess.start(
                [command, *arguments],
                cwd=server.folder or Path.cwd(),
                env={**safe_environment(), **given},
                bounds=ChildBounds(
                    int(self._limits.answer_megabytes * 1024**2),
                    self._limits.resident_megabytes * 1024**2,
                ),
            )
        except OSError as error:
            shown = server_config.shown_command(server.command, server.arguments)
            raise ToolSourceError(f"cannot be started: {error.strerror}: {shown}") from error
        return self.child

    async def failure(self, error: Exception) -> str:
        """Explain a failed connection, with the most useful line of the log."""
        reason = await self._ended_by(error) or self.reason(error)
        log = self.read_log("").strip()
        return f"{reason} ({_telling_line(log)})" if log else reason

    def reason(self, error: Exception) -> str:
        """Return the reason of a failure: a limit, the HTTP response, or the error's text."""
        return self._ending or self._login.refused or self._notes.failure or str(error)

    @property
    def _ending(self) -> str:
        """The reason why the studio ended the process; empty if it did not."""
        passed = self.child.ended_for if self.child is not None else ""
        return f"the studio ended it, because {passed}" if passed else ""

    async def _ended_by(self, error: Exception) -> str:
        """Return how a program ended that closed its output before the connection; else empty."""
        if self.child is None or self._ending or "onnection closed" not in str(error):
            return ""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.child.wait(), _LEAVING_SECONDS)
        code = self.child.exit_code
        if code is None:
            return "closed its output before it responded"
        return f"ended before it responded (exit code {code})"

    def _note_unread(self, text: str) -> None:
        self._unread += 1
        if self._unread > _MOST_UNREAD:
            return
        self._log += f"on its output, where only messages are allowed: {text}\n"


def _telling_line(log: str) -> str:
    """Return the line that explains why a program ended: its last error."""
    lines = log.splitlines()
    return next((line for line in reversed(lines) if _ERROR_LINE.match(line)), lines[-1])
