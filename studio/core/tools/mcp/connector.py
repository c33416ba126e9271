"""How one MCP server is started or reached, and why that failed."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import assert_never

from studio.core.tools.imports import MCP, import_packages
from studio.core.tools.limits import ToolLimits
from studio.core.tools.mcp.asking import AskForInput
from studio.core.tools.mcp.child import LONGEST_LOG, ChildProcess
from studio.core.tools.mcp.child_bounds import ChildBounds
from studio.core.tools.mcp.connection import McpConnection
from studio.core.tools.mcp.login import LoginRefusedError, ServerLogin
from studio.core.tools.mcp.server_config import (
    HttpServer,
    ServerAddress,
    StdioServer,
    expand,
    shown_command,
)
from studio.core.tools.mcp.streams import Opener, over_child, safe_environment
from studio.core.tools.mcp.values import HttpNotes
from studio.core.tools.source import ToolSourceError
from studio.core.tools.traffic import TrafficLog

_ERROR_LINE = re.compile(r"[\w.]*(?:Error|Exception|error|fatal|panic)\b.{0,9}:")
_LEAVING_SECONDS = 2.0
_MOST_UNREAD = 20  # lines on a server's output that are no messages; further ones are not told
_NOT_STREAMABLE = (400, 404, 405, 406, 415, 501)  # how servers for events alone refuse
_LOGIN_SECONDS = 300.0  # the user reads, types, and looks for a password


class Connector:
    """Makes the connections to one server, one after the other."""

    def __init__(
        self,
        address: ServerAddress,
        limits: ToolLimits,
        environment: Callable[[], Mapping[str, str]],
        ask: AskForInput | None,
        changed: Callable[[], None],
        traffic: TrafficLog,
    ) -> None:
        """Make it; nothing is started yet.

        Args:
            address: how to reach the server.
            limits: bounds of a call.
            environment: the variables that references are resolved with.
            ask: asks the user for what the server wants to know; without it none may ask.
            changed: called when the server says that its lists changed.
            traffic: notes each message.
        """
        self._address = address
        self._limits = limits
        self._environment = environment
        self._ask = ask
        self._changed = changed
        self._traffic = traffic
        self._login = ServerLogin(ask)
        self._child: ChildProcess | None = None
        self._notes = HttpNotes()
        self._log = ""
        self._unread = 0

    @property
    def child(self) -> ChildProcess | None:
        """The process, where it is one that was started."""
        return self._child

    def take_child(self) -> ChildProcess | None:
        """The process, which is the caller's to end from now on."""
        child, self._child = self._child, None
        return child

    def close(self) -> None:
        """No login is waited for any more."""
        self._login.close()

    def read_log(self, messages: str) -> str:
        """The newest of what the server wrote on its error stream, and logged by the protocol.

        Args:
            messages: what it logged by the protocol since the last time.
        """
        if self._child is not None:
            self._log += self._child.take_log()
            ending = self._ending
            if ending and ending not in self._log:
                self._log += f"{ending}\n"
        self._log = (self._log + messages)[-LONGEST_LOG:]
        return self._log

    async def connect(self) -> McpConnection:
        """Start or reach it, and shake hands.

        Raises:
            ToolSourceError: it cannot be started or reached, or is no MCP server.
        """
        await import_packages(MCP)
        try:
            match self._address:
                case HttpServer():
                    return await self._reach(self._address)
                case StdioServer():
                    opener = over_child(await self._start(self._address), self._note_unread)
                case _:
                    assert_never(self._address)
        except LookupError as error:
            raise ToolSourceError(f"cannot be reached: {error.args[0]}") from error
        return await self._connect(opener)

    async def _connect(self, opener: Opener, *, is_old: bool = False) -> McpConnection:
        login = self._address.login if isinstance(self._address, HttpServer) else None
        is_by_user = login is not None and login.in_browser
        return await McpConnection.open(
            opener,
            _LOGIN_SECONDS if is_by_user else self._limits.start_seconds,
            self._changed,
            self._ask,
            is_old=is_old or self._address.is_old,
            traffic=self._traffic,
        )

    async def _reach(self, server: HttpServer) -> McpConnection:
        """Connect by streamable HTTP; where a server refuses that, as old ones do, by events."""
        from studio.core.tools.mcp.http_streams import over_events, over_http

        known = self._environment()
        headers = {key: expand(text, known) for key, text in server.headers.items()}
        url = expand(server.url, known)
        most = int(self._limits.answer_megabytes * 1024**2)
        self._notes = HttpNotes()
        auth = None
        if server.login is not None:
            login = replace(
                server.login,
                client_id=expand(server.login.client_id, known),
                client_secret=expand(server.login.client_secret, known),
                issuer=expand(server.login.issuer, known),
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

    async def _start(self, server: StdioServer) -> ChildProcess:
        known = self._environment()
        command = expand(server.command, known)
        arguments = [expand(text, known) for text in server.arguments]
        given = {key: expand(text, known) for key, text in server.environment.items()}
        self._unread = 0
        try:
            self._child = await ChildProcess.start(
                [command, *arguments],
                cwd=server.folder or Path.cwd(),
                env={**safe_environment(), **given},
                bounds=ChildBounds(
                    int(self._limits.answer_megabytes * 1024**2),
                    self._limits.resident_megabytes * 1024**2,
                ),
            )
        except OSError as error:
            shown = shown_command(server.command, server.arguments)
            raise ToolSourceError(f"cannot be started: {error.strerror}: {shown}") from error
        return self._child

    async def failure(self, error: Exception) -> str:
        """Why no connection was made, with the line of the log that tells most."""
        reason = await self._ended_by(error) or self.reason(error)
        log = self.read_log("").strip()
        return f"{reason} ({_telling_line(log)})" if log else reason

    def reason(self, error: Exception) -> str:
        """Why it failed: a bound that it passed, what it said by HTTP, or the error's own text."""
        return self._ending or self._login.refused or self._notes.failure or str(error)

    @property
    def _ending(self) -> str:
        """Why the studio ended the process; empty where it did not."""
        passed = self._child.ended_for if self._child is not None else ""
        return f"the studio ended it, because {passed}" if passed else ""

    async def _ended_by(self, error: Exception) -> str:
        """How a program ended that closed its output before it was connected; empty for others."""
        if self._child is None or self._ending or "onnection closed" not in str(error):
            return ""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._child.wait(), _LEAVING_SECONDS)
        code = self._child.exit_code
        if code is None:
            return "closed its output before it answered"
        return f"ended before it answered (exit code {code})"

    def _note_unread(self, text: str) -> None:
        self._unread += 1
        if self._unread > _MOST_UNREAD:
            return
        self._log += f"on its output, where only messages may stand: {text}\n"


def _telling_line(log: str) -> str:
    """The line that says why a program ended: its last error; Node writes more after it."""
    lines = log.splitlines()
    return next((line for line in reversed(lines) if _ERROR_LINE.match(line)), lines[-1])
