"""`prompt-studio tools add | remove`: a server that is pasted, tried, and written down."""

from __future__ import annotations

import argparse
import asyncio
import shlex
from pathlib import Path

from studio.application.tools.pasted_server import (
    PastedServer,
    ServerFileError,
    add_servers,
    list_pasted,
    read_pasted,
    server_in,
)
from studio.cli.arguments import load
from studio.cli.ask_input import terminal_asker
from studio.cli.exit_codes import FINE, PROBLEMS, UsageError
from studio.cli.terminal import tell
from studio.core.paths import user_paths
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.files import write_atomically
from studio.core.text.invisible import reveal
from studio.core.text.problem import apply_edits
from studio.core.tools.declaration import declare_server
from studio.core.tools.mcp.server_config import OWN_FILE, WORKSPACE_FILE, find_workspace_servers
from studio.core.tools.source import ToolSourceError


def add(options: argparse.Namespace) -> int:
    """Recognize servers, list their tools, and write the servers down."""
    words = options.text
    text = words[0] if len(words) == 1 else shlex.join(words)
    path = _file(options)
    try:
        servers = read_pasted(text, "\n".join(options.env), options.name)
        tools = [_tried(each, path.parent, options) for each in servers]
        if any(each is None for each in tools):
            return PROBLEMS
        wanted = [(each.name, each.entry) for each in servers]
        is_known = options.replace and len(servers) == 1
        names = add_servers(path, wanted, servers[0].name if is_known else "")
    except ServerFileError as error:
        raise UsageError(str(error)) from None
    print(f"{path}: {', '.join(names)}")
    if options.prompt is not None:
        for name in names:
            document = load(options.prompt)
            edits = declare_server(document, name, options.tool)
            write_atomically(options.prompt, apply_edits(document.source.text, edits))
            print(f"{options.prompt}: {name}")
    return FINE


def remove(options: argparse.Namespace) -> int:
    """Take a server out of its file."""
    path = _file(options)
    try:
        if server_in(path, options.name) is None:
            raise UsageError(f"{path} has no server {options.name!r}")
        add_servers(path, (), options.name)
    except ServerFileError as error:
        raise UsageError(str(error)) from None
    return FINE


def _file(options: argparse.Namespace) -> Path:
    """Return the file of servers: the named one, the user's, or the nearest of the folder."""
    if options.own:
        return user_paths().config / OWN_FILE
    if options.file is not None:
        return Path(options.file).resolve()
    place = Path.cwd() if options.prompt is None else options.prompt.resolve().parent
    return find_workspace_servers(place).path or place / WORKSPACE_FILE


def _tried(
    server: PastedServer, folder: Path, options: argparse.Namespace
) -> tuple[ToolSpec, ...] | None:
    """Return the tools of a server, written out; None, with the reason, where it has none."""
    print(f"{reveal(server.name, lines=False)}: {reveal(server.shown, lines=False)}")
    if options.untried:
        return ()
    try:
        specs = asyncio.run(list_pasted(server, folder, terminal_asker()))
    except ToolSourceError as error:
        tell(f"prompt-studio: {error}; nothing was written (--untried writes it)")
        return None
    for spec in specs:
        first = spec.description.strip().partition("\n")[0]
        print(reveal(f"  {spec.name}: {first}".removesuffix(": "), lines=False))
    unknown = [name for name in options.tool if name not in {spec.name for spec in specs}]
    if unknown:
        raise UsageError(f"{server.name} has no tool {unknown[0]!r}")
    return specs
