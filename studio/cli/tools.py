"""`prompt-studio tools`: serve a Python file of tools to any MCP client, or list what it has."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from pathlib import Path

from studio.cli.arguments import UsageError
from studio.cli.exit_codes import FINE, PROBLEMS


def add_tools(parser: argparse.ArgumentParser) -> None:
    """Add the commands."""
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    serve = commands.add_parser("serve", help="serve a Python file over MCP on stdin and stdout")
    serve.add_argument("file", type=Path, metavar="FILE")
    serve.add_argument("--characters", type=int, help="longest result")
    serve.set_defaults(action=_serve)
    listed = commands.add_parser("list", help="the tools of a Python file, with their schemas")
    listed.add_argument("file", type=Path, metavar="FILE")
    listed.add_argument("--json", action="store_true", help="write JSON")
    listed.set_defaults(action=_list)


def _serve(options: argparse.Namespace) -> int:
    from studio.core.tools.python import server

    _needs(options.file)
    rest = [str(options.file)]
    if options.characters is not None:
        rest += ["--characters", str(options.characters)]
    return server.main(rest)


def _list(options: argparse.Namespace) -> int:
    """List in a child process; the file is the caller's own, so naming it is consent to run it."""
    _needs(options.file)
    return asyncio.run(_listed(options.file.resolve(), as_json=options.json))


async def _listed(path: Path, *, as_json: bool) -> int:
    from studio.core.tools.forms import native_function, react_lines
    from studio.core.tools.python.source import PythonFileSource
    from studio.core.tools.python.worker import UnusableToolFileError

    source = PythonFileSource(path)
    try:
        specs = await source.list_tools()
    except UnusableToolFileError as error:
        print(f"{path}:{error.line or 1}:1: error {error.message}", file=sys.stderr)
        return PROBLEMS
    finally:
        await source.close()
    for problem in source.problems:
        print(f"{path}:{problem.line or 1}:1: warning {problem.message}", file=sys.stderr)
    if as_json:
        print(json.dumps([native_function(spec) for spec in specs], ensure_ascii=False, indent=2))
    else:
        print("\n".join(react_lines(spec) for spec in specs))
    return PROBLEMS if source.problems else FINE


def _needs(path: Path) -> None:
    if not path.is_file():
        raise UsageError(f"{path}: no such file")
