"""Connects the form of MCP servers with their files, the prompt and the tools."""

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject

from studio.application.tools import pasted_server
from studio.application.words import tr
from studio.core.prompty.document import PromptDocument, ToolId
from studio.core.text.source import TextEdit
from studio.core.text.values import JsonObject
from studio.core.tools.declaration import declare_server, write_offers
from studio.core.tools.mcp.server_config import WORKSPACE_FILE, find_workspace_servers
from studio.core.tools.registry import SourceStatus, ToolRegistry
from studio.ui.tools.add_server import AddServerDialog, ServerPlace
from studio.ui.tools.pane import ToolsPane
from studio.ui.window.parts import WindowParts
from studio.viewmodels.tools.controller import ToolsController


class ServersCoordinator(QObject):
    """Adds, edits and removes MCP servers."""

    def __init__(
        self,
        pane: ToolsPane,
        tools: ToolsController,
        window: WindowParts,
        own_servers: Path,
        edit: Callable[[Callable[[PromptDocument], Iterable[TextEdit]]], None],
    ) -> None:
        """Connect the form.

        Args:
            pane: pane of the tools.
            tools: the tools of the open prompt.
            window: parts of the window.
            own_servers: file of the user's servers.
            edit: edits the open prompt.
        """
        super().__init__(window.widget)
        self._pane = pane
        self._tools = tools
        self._window = window
        self._own_servers = own_servers
        self._edit = edit
        self._added: set[str] = set()
        """Keys of servers that the user just added, which need no second consent."""
        pane.sources.request_new_server.connect(self._offer)
        pane.sources.requests.edit.connect(self._edit_server)
        tools.registry_changed.connect(self._allow_added)
        pane.request_change.connect(lambda tool, changes: self._write_ticks((tool,), changes))
        pane.request_changes.connect(self._write_ticks)

    def _offer(self) -> None:
        """Show the form for adding servers, with suggestions from other programs."""
        home = Path.home()
        known: list[pasted_server.PastedServer] = []
        problems: list[str] = []
        files = pasted_server.server_files(home, os.environ, sys.platform, self._window.tabs.folder)
        for program, path in files.items():
            try:
                known += pasted_server.servers_of(program, path, home)
            except pasted_server.ServerFileError as error:
                problems.append(str(error))
        places: tuple[ServerPlace, ...] = ("own",)
        if self._window.tabs.folder is not None:
            places = ("prompt", "folder", "own")
        self._open(AddServerDialog(known, problems, self._pane.window(), places))

    def _edit_server(self, source: SourceStatus) -> None:
        name, path = source.key.partition(":")[2], source.path or self._own_servers
        try:
            entry = pasted_server.server_in(path, name) if path.suffix == ".json" else None
        except pasted_server.ServerFileError as error:
            self._window.messages.error(str(error))
            return
        if entry is None:  # the prompt itself contains its address
            self._pane.sources.requests.open.emit(path, 1)
            return
        dialog = AddServerDialog((), (), self._pane.window(), ("own",), (name, entry))
        dialog.request_remove.connect(partial(self._write, path, (), name))
        self._open(dialog, path, name)

    def _open(self, dialog: AddServerDialog, path: Path | None = None, name: str = "") -> None:
        folder = path.parent if path is not None else self._window.tabs.folder or Path.cwd()
        dialog.request_try.connect(lambda servers: self._tools.try_servers(servers, folder))
        self._tools.server_tried.connect(dialog.show_tools)
        dialog.request_add.connect(partial(self._add, path, name))
        dialog.open()

    def _add(
        self,
        path: Path | None,
        instead_of: str,
        servers: tuple[tuple[str, JsonObject], ...],
        place: ServerPlace,
        wanted: tuple[str, ...],
    ) -> None:
        folder = self._window.tabs.folder
        if path is None:
            path = self._own_servers
            if place != "own" and folder is not None:
                path = find_workspace_servers(folder).path or folder / WORKSPACE_FILE
        names = self._write(path, servers, instead_of)
        if not instead_of and place == "prompt":
            for name in names:
                self._edit(partial(declare_server, name=name, allowed=wanted))

    def _write(
        self, path: Path, servers: tuple[tuple[str, JsonObject], ...], instead_of: str
    ) -> tuple[str, ...]:
        try:
            names = pasted_server.add_servers(path, servers, instead_of)
        except pasted_server.ServerFileError as error:
            words = tr("The servers were not changed: {error}").format(error=error)
            self._window.messages.error(words)
            return ()
        self._added |= {f"mcp:{name}" for name in names}
        self._tools.reload()
        if names:
            words = tr("Written into {file}: {names}")
            self._window.messages.info(words.format(file=path.name, names=", ".join(names)))
        return names

    def _write_ticks(self, tools: tuple[ToolId, ...], changes: Mapping[str, object]) -> None:
        """Write the enabled tools into the prompt, which the command line reads."""
        if "enabled" not in changes:
            return
        entries = self._tools.registry.entries
        of_servers = {
            entry.id: entry
            for entry in entries
            if entry.id.source.startswith("mcp:") and not entry.declared
        }
        is_on = bool(changes["enabled"])
        offers: dict[str, bool | None] = {}
        for entry in entries:
            if entry.id in tools and entry.id not in of_servers:
                is_usual = is_on == entry.usually_enabled and entry.name == entry.id.name
                offers[entry.name] = None if is_usual else is_on
        if offers:
            self._edit(partial(write_offers, offers=offers))
        for key in {tool.source for tool in tools if tool in of_servers}:
            own = [entry for entry in of_servers.values() if entry.id.source == key]
            ticked = [
                entry.id.name for entry in own if (is_on if entry.id in tools else entry.enabled)
            ]
            if not ticked:
                words = tr("To use none of its tools, remove the server from the prompt yourself.")
                self._window.messages.info(words)
                continue
            wanted = () if len(ticked) == len(own) else tuple(ticked)
            name = key.partition(":")[2]
            self._edit(partial(declare_server, name=name, allowed=wanted))

    def _allow_added(self, registry: ToolRegistry) -> None:
        for source in registry.sources:
            if source.state == "waiting" and source.key in self._added:
                self._added.discard(source.key)
                self._tools.allow_source(source.key)
