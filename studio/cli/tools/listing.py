"""`prompt-studio tools list`: the tools of a source, or of each server that a `.mcp.json` names."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from studio.cli.exit_codes import FINE, PROBLEMS, UsageError
from studio.cli.tools.opening import needs, opened, say
from studio.core.text.invisible import reveal
from studio.core.text.reason import named_reason
from studio.core.tools.trust.suspicion import suspicions

if TYPE_CHECKING:
    from studio.core.prompty.tool_spec import ToolSpec

_MOST_MARKED = 5
"""Tools that are named where the same is to be looked at in many."""


def list_tools(options: argparse.Namespace) -> int:
    """Write the tools of what the command line names."""
    servers = _servers(options)
    if len(servers) > 1 and not options.server:
        return asyncio.run(_list_servers(options, servers))
    return asyncio.run(_list_source(options))


def _servers(options: argparse.Namespace) -> Sequence[str]:
    from studio.application.tools.named_source import UnknownSourceError, is_address, servers_in

    if not is_address(options.source):
        needs(Path(options.source))
    try:
        return servers_in(options.source)
    except (UnknownSourceError, OSError) as error:
        raise UsageError(named_reason(error)) from None


async def _list_source(options: argparse.Namespace) -> int:
    from studio.core.tools.forms import native_function

    async with opened(options) as tools:
        specs = await tools.specs()
        problems = say(tools.problems)
    if options.json:
        print(json.dumps([native_function(spec) for spec in specs], ensure_ascii=False, indent=2))
    else:
        _print(specs)
    return PROBLEMS if problems else FINE


@dataclass(frozen=True, slots=True)
class _ListedServer:
    """What one server of a `.mcp.json` offers."""

    name: str
    specs: Sequence[ToolSpec] = ()
    problems: Sequence[str] = ()


async def _list_servers(options: argparse.Namespace, names: Sequence[str]) -> int:
    """All servers at once; one that cannot be listed is named, and hides no other."""
    from studio.core.tools.forms import native_function

    listed = await asyncio.gather(*(_of_server(options, name) for name in names))
    if options.json:
        found = [
            {"server": each.name, **native_function(spec)} for each in listed for spec in each.specs
        ]
        print(json.dumps(found, ensure_ascii=False, indent=2))
    for number, each in enumerate(listed):
        if not options.json:
            print(f"{'' if number == 0 else chr(10)}{reveal(each.name, lines=False)}:")
            _print(each.specs)
            sys.stdout.flush()
        say([f"prompt-studio: {reveal(each.name, lines=False)}: {text}" for text in each.problems])
    return PROBLEMS if any(each.problems for each in listed) else FINE


async def _of_server(options: argparse.Namespace, name: str) -> _ListedServer:
    try:
        async with opened(argparse.Namespace(**{**vars(options), "server": name})) as tools:
            return _ListedServer(name, await tools.specs(), tools.problems)
    except UsageError as error:
        return _ListedServer(name, problems=[str(error)])


def _print(specs: Sequence[ToolSpec]) -> None:
    """Write tools as a prompt tells of them, and what is to be looked at in their texts."""
    from studio.core.tools.forms import react_lines

    if not specs:
        return
    print(reveal("\n".join(react_lines(spec) for spec in specs)))
    sys.stdout.flush()
    for line in _marked(specs):
        print(f"prompt-studio: {reveal(line, lines=False)}", file=sys.stderr)


def _marked(specs: Iterable[ToolSpec]) -> Iterator[str]:
    """What to look at, a line for each sentence, with the tools that it is said of."""
    found: dict[str, list[str]] = {}
    for spec in specs:
        for mark in suspicions(spec):
            found.setdefault(mark, []).append(spec.name)
    for mark, names in found.items():
        more = f" and {len(names) - _MOST_MARKED:,} more" if len(names) > _MOST_MARKED else ""
        yield f"{', '.join(names[:_MOST_MARKED])}{more}: {mark}"
