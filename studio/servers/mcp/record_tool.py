"""The recorder's tool: an agent holds, edits and steps the calls of a program that it starts."""

import asyncio
import os
from contextlib import AsyncExitStack, suppress
from typing import Annotated, Literal

from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from studio.core.agent.values.breakpoints import Breakpoint
from studio.core.agent.values.events import Event
from studio.core.agent.values.options import RunOptions
from studio.core.models.base import ModelError
from studio.servers.mcp.debug_tools import OUTWARD, Answer, Breaks, Wait, breakpoints_of
from studio.servers.mcp.live_runs import LiveRuns
from studio.servers.mcp.served_folder import ServedFolder, UserConsent, ask, needs
from studio.servers.record.exchange import AddressError
from studio.servers.record.program_run import ProgramRun
from studio.servers.record.proxy import RecorderProxy, Recording, upstreams_of

_MOST_RUNS = 50
"""Maximum number of conversations in an answer; the newest are listed."""


class ProgramRecording:
    """The recording of this server: one at a time."""

    def __init__(self, folder: ServedFolder, runs: LiveRuns) -> None:
        self._folder, self._runs = folder, runs
        self._recording: Recording | None = None
        self._opened = AsyncExitStack()
        self._variables: list[str] = []
        self._changed = asyncio.Event()

    async def start(self, breakpoints: tuple[Breakpoint, ...], *, holds_first: bool) -> None:
        """Listen on a port of this machine; the runs of an earlier recording end.

        Raises:
            ToolError: an address in the environment of this server leads to no server.
        """
        await self.stop()
        options = RunOptions(approve="always", stop_at_entry=holds_first, breakpoints=breakpoints)
        history, masker = self._folder.history, self._folder.secrets.masker
        self._recording = Recording((), masker, options, history, self._follow)
        try:
            proxy = RecorderProxy(upstreams_of(os.environ), self._recording)
        except (AddressError, ModelError) as error:
            raise ToolError(str(error)) from None
        await self._opened.enter_async_context(proxy.serving())
        self._opened.push_async_callback(self._recording.close)
        self._variables = proxy.settings()

    async def stop(self) -> None:
        """End the recording; held requests are refused."""
        opened, self._opened = self._opened, AsyncExitStack()
        self._recording, self._variables = None, []
        await opened.aclose()

    async def described(self, wait: float) -> Answer:
        """Return the variables for the program and its conversations, once one is held.

        Args:
            wait: maximum number of seconds to wait for that.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(wait):
                while not any(each.get("status") == "paused" for each in self._listed()):
                    self._changed.clear()
                    await self._changed.wait()
        tag = self._recording.tag if self._recording is not None else "none"
        return {"recording": tag, "variables": self._variables, "runs": self._listed()}

    def _listed(self) -> list[Answer]:
        kept = self._recording.conversations if self._recording is not None else ()
        return [_line(each) for each in kept[-_MOST_RUNS:] if each.run.events]

    def _follow(self, conversation: ProgramRun, event: Event) -> None:
        name = conversation.run.state.setup.run
        if not self._runs.holds(name) and self._recording is not None:
            self._runs.adopt(conversation, dict(self._recording.going)[conversation])
        if self._runs.holds(name):
            self._runs.get(name).follow(event)
        self._changed.set()


def _line(conversation: ProgramRun) -> Answer:
    state = conversation.run.state
    return {
        "run": state.setup.run,
        "title": state.setup.prompt,
        "called_by": conversation.caller or None,
        "status": "paused" if state.pause is not None and not state.is_over else state.status,
        "step": state.iteration,
        "place": state.place.word if state.place is not None else None,
    }


def add_record_tool(server: MCPServer, folder: ServedFolder, recording: ProgramRecording) -> None:
    """Add the tool of the recorder to a server."""

    async def may_record(ctx: Context, action: str) -> Elicit[UserConsent] | UserConsent:
        if action != "start":
            return UserConsent(allow=True)
        return ask(folder, ctx, "May the calls of a program to its models be held and recorded?")

    @server.tool(annotations=OUTWARD)
    async def record(
        action: Literal["start", "list", "stop"],
        consent: Annotated[UserConsent, Resolve(may_record)],
        breakpoints: Breaks = None,
        hold_first: Annotated[
            bool, Field(description="Pause each conversation before its first request")
        ] = False,
        wait: Wait = 0,
    ) -> Answer:
        """Record any program: start it with `variables`, then `step` or `edit` its `runs`."""
        needs(consent)
        if action == "start":
            await recording.start(breakpoints_of(breakpoints or []), holds_first=hold_first)
        elif action == "stop":
            await recording.stop()
        return await recording.described(wait)
