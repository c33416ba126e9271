"""`mcp`: the server for coding agents."""

from __future__ import annotations

import argparse
from pathlib import Path

from studio.cli.arguments import add_trust, trust_of
from studio.cli.exit_codes import FINE, UsageError
from studio.cli.numbers import whole


def add_mcp(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `mcp`."""
    parser.add_argument(
        "folder",
        nargs="?",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="folder to serve (default: the working directory)",
    )
    parser.add_argument(
        "--http",
        type=whole(0, 65_535),
        metavar="PORT",
        help="use HTTP on this machine, with a token (0: any free port), instead of stdio",
    )
    parser.add_argument(
        "--yes",
        action="store_true",
        help="allow without asking: sending to models, tool calls, exported files",
    )
    add_trust(parser, "its tools may run, and what its prompts refer to is read and sent")
    parser.set_defaults(action=_mcp)


def _mcp(options: argparse.Namespace) -> int:
    if not options.folder.is_dir():
        raise UsageError(f"{options.folder}: no such folder")
    from studio.servers.mcp.server import serve

    trust = trust_of(options, options.folder.resolve())
    serve(options.folder, port=options.http, allow_all=options.yes, trust=trust)
    return FINE
