"""`prompt-studio tools`: list, show, call and record tools, and serve a Python file.

A source is a Python file, a `.mcp.json`, an OpenAPI description, an address, or a prompt with all
of its tools. Naming a source directly is consent to run it. A prompt may come from someone else, so
its tools run only if its folder is trusted.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from studio.application.tools import pasted_server
from studio.cli.arguments import add_trust, load, needs
from studio.cli.ask_input import terminal_asker
from studio.cli.terminal import FINE, PROBLEMS, UsageError, tell, whole
from studio.core.paths import user_paths
from studio.core.prompty.document import ToolSpec
from studio.core.text.amounts import counted
from studio.core.text.files import write_atomically
from studio.core.text.invisible import reveal
from studio.core.text.source import apply_edits
from studio.core.text.values import named_reason
from studio.core.tools.declaration import declare_server
from studio.core.tools.mcp.server_config import OWN_FILE, WORKSPACE_FILE, find_workspace_servers
from studio.core.tools.source import ToolSourceError
from studio.core.tools.trust.suspicion import suspicions

if TYPE_CHECKING:
    from studio.core.prompty.document import ToolSpec


_MOST_MEGABYTES = 1_000_000_000
_SOURCE = "a Python file, .mcp.json, OpenAPI description, prompt, or address"

_MOST_MARKED = 5
"""Maximum number of tools that are named with one remark."""


class _AnyOrderParser(argparse.ArgumentParser):
    """A parser that accepts options anywhere, as in `call SOURCE TOOL --endpoint URL '{}'`."""

    _is_inside = False

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse the options first and then the other arguments, each in a call of this method."""
        takes_rest = any(
            action.nargs == argparse.REMAINDER for action in self._get_positional_actions()
        )
        if self._is_inside or takes_rest:
            return super().parse_known_args(args, namespace)
        self._is_inside = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._is_inside = False


def add_tools(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands of `tools`."""
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_AnyOrderParser)
    serve = commands.add_parser("serve", help="serve a file over MCP on stdin and stdout")
    serve.add_argument(
        "file", type=Path, metavar="FILE", help="Python file, or recorded session (.jsonl)"
    )
    serve.add_argument(
        "--characters", type=whole(1), help="maximum length of a result in characters"
    )
    # A frozen program starts itself with this command (`python/worker.py`).
    serve.add_argument(
        "--memory", type=whole(0, _MOST_MEGABYTES), help="memory limit in megabytes (Linux)"
    )
    serve.add_argument(
        "--unchecked", action="store_true", help="do not check results against the return type"
    )
    serve.set_defaults(action=_serve)
    listed = commands.add_parser("list", help="list the tools of a source with their arguments")
    _add_source(listed)
    listed.set_defaults(action=list_tools)
    shown = commands.add_parser("show", help="show one tool: description, schema, where it runs")
    _add_source(shown)
    shown.add_argument("name", metavar="TOOL")
    shown.set_defaults(action=_show)
    called = commands.add_parser("call", help="call one tool and print its answer")
    _add_call(called)
    called.add_argument(
        "--rows",
        type=Path,
        metavar="FILE",
        help="call the tool for each row of a file (CSV, JSONL, JSON, YAML); "
        "prints one line of JSON for each",
    )
    called.set_defaults(action=_call, output=None, called="")
    recorded = commands.add_parser("record", help="call one tool and add the call to a file")
    _add_call(recorded)
    recorded.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FILE",
        help="file with one JSON call per line",
    )
    recorded.add_argument("--name", dest="called", default="", help="name of the call")
    recorded.add_argument(
        "--rows", type=Path, metavar="FILE", help="call the tool for each row of a file"
    )
    recorded.set_defaults(action=_call)
    tested = commands.add_parser(
        "test", help="repeat saved calls and check that their answers have not changed"
    )
    _add_source(tested)
    tested.add_argument(
        "calls",
        type=Path,
        metavar="FILE",
        help="saved calls (.calls.jsonl, or a file from `tools record`)",
    )
    tested.set_defaults(action=_test)
    _add_offers(commands)
    added = commands.add_parser(
        "add", help="recognize a pasted MCP server, list its tools, and save it"
    )
    added.add_argument("--name", default="", help="its name (default: of its package or host)")
    added.add_argument(
        "--env",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an environment variable of its program, or a header (Name: value) for its address",
    )
    _add_server_file(added)
    added.add_argument("--prompt", type=Path, metavar="FILE", help="also declare it in this prompt")
    added.add_argument(
        "--tool", action="append", default=[], metavar="NAME", help="a tool that the prompt uses"
    )
    added.add_argument("--replace", action="store_true", help="replace a server of that name")
    added.add_argument("--untried", action="store_true", help="save it without starting it")
    added.add_argument(
        "text",
        nargs=argparse.REMAINDER,
        metavar="TEXT",
        help="JSON of a README, command line, address, or a `claude mcp add` line",
    )
    added.set_defaults(action=_add)
    removed = commands.add_parser("remove", help="remove an MCP server from its file")
    removed.add_argument("name", metavar="NAME")
    _add_server_file(removed)
    removed.set_defaults(action=_remove, prompt=None)


def _add_offers(commands: argparse._SubParsersAction[_AnyOrderParser]) -> None:
    """Add the commands for what a server offers besides tools."""
    kinds = {"resources": ("resource", "resource template"), "prompts": ("prompt",)}
    for name, meant in kinds.items():
        shown = commands.add_parser(name, help=f"list the {name} of an MCP server, or read one")
        _add_source(shown)
        shown.add_argument("name", nargs="?", metavar="NAME", help="name, or address of a resource")
        _add_values(shown)
        shown.set_defaults(action=_offers, kinds=meant)
    completed = commands.add_parser("complete", help="list a server's suggestions for an argument")
    _add_source(completed)
    completed.add_argument("name", metavar="NAME", help="prompt, or resource template")
    completed.add_argument("completed", metavar="ARGUMENT")
    completed.add_argument("text", nargs="?", default="", metavar="TEXT", help="typed text")
    _add_values(completed)
    completed.set_defaults(action=_complete, kinds=("prompt", "resource template"))


def _add_server_file(parser: argparse.ArgumentParser) -> None:
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--file", metavar="FILE", help="file of servers (default: .mcp.json)")
    place.add_argument("--own", action="store_true", help="your own servers, in the settings")


def _add_source(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="SOURCE", help=_SOURCE)
    parser.add_argument("--server", default="", metavar="NAME", help="server of a .mcp.json")
    parser.add_argument("--endpoint", default="", metavar="URL", help="address of an API")
    parser.add_argument(
        "--key", default="", metavar="REFERENCE", help="key of an API, as ${env:NAME}"
    )
    parser.add_argument("--json", action="store_true", help="write JSON")
    parser.add_argument(
        "--session",
        type=Path,
        metavar="FILE",
        help="write the messages to and from the server to a file (.jsonl) for `tools serve`",
    )
    add_trust(parser, "its tools run")


def _add_call(parser: argparse.ArgumentParser) -> None:
    _add_source(parser)
    parser.add_argument("name", metavar="TOOL")
    parser.add_argument(
        "arguments", nargs="?", default="{}", metavar="JSON", help="arguments as a JSON object"
    )
    _add_values(parser)


def _add_values(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-a",
        "--argument",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="one argument; a JSON value is read as JSON",
    )


def _serve(options: argparse.Namespace) -> int:
    from studio.core.tools.python_server import serve

    needs(options.file)
    try:
        for pipe in (0, 1):
            os.fstat(pipe)
    except OSError:
        raise UsageError("serving needs standard input and output; one is closed") from None
    if options.file.suffix == ".jsonl":
        return _serve_session(options.file)
    rest = [str(options.file)]
    if options.characters is not None:
        rest += ["--characters", str(options.characters)]
    if options.memory is not None:
        rest += ["--memory", str(options.memory)]
    if options.unchecked:
        rest.append("--unchecked")
    return serve.main(rest)


def _serve_session(file: Path) -> int:
    from studio.servers.mcp.session_server import RecordedSession, SessionError, SessionServer

    try:
        session = RecordedSession(file)
    except SessionError as error:
        raise UsageError(str(error)) from None
    if session.cut:
        tell(f"{file.name}: {counted(session.cut, 'message')} incomplete because of their length")
    SessionServer(session, sys.stdout.buffer).serve(sys.stdin.buffer)
    return FINE


def _show(options: argparse.Namespace) -> int:
    return asyncio.run(_shown(options))


async def _shown(options: argparse.Namespace) -> int:
    from studio.cli.tools.opening import opened, wanted
    from studio.core.tools.forms import native_function

    async with opened(options) as tools:
        spec = await wanted(tools, options.name)
        place = tools.place_of(spec.name)
    marked = "changes something" if spec.has_effects else "unknown"
    effects = "only reads" if spec.reads_only else marked
    if options.json:
        whole = {**native_function(spec), "place": place, "effects": effects}
        if spec.returns:
            whole["returns"] = spec.returns
        whole["marks"] = list(suspicions(spec))
        print(json.dumps(whole, ensure_ascii=False, indent=2))
    else:
        name, about = reveal(spec.name, lines=False), reveal(spec.description)
        marks = "".join(f"\nLook out: {mark}" for mark in suspicions(spec))
        print(f"{name}\n{about}\n{marks}\nWhere: {reveal(place)}\nEffects: {effects}\nArguments:")
        print(reveal(json.dumps(spec.parameters, ensure_ascii=False, indent=2)))
        if spec.returns:
            print("Answer:")
            print(reveal(json.dumps(spec.returns, ensure_ascii=False, indent=2)))
    return FINE


def _call(options: argparse.Namespace) -> int:
    from studio.cli.tools.calls import call_tool

    return call_tool(options)


def _test(options: argparse.Namespace) -> int:
    from studio.cli.tools.calls import repeat_calls

    return repeat_calls(options)


def _add(options: argparse.Namespace) -> int:

    return add(options)


def _remove(options: argparse.Namespace) -> int:

    return remove(options)


def _offers(options: argparse.Namespace) -> int:
    from studio.cli.tools.calls import show_offers

    return show_offers(options)


def _complete(options: argparse.Namespace) -> int:
    from studio.cli.tools.calls import complete

    return complete(options)


def list_tools(options: argparse.Namespace) -> int:
    """Print the tools of the named source or prompt."""
    servers = _servers(options)
    if len(servers) > 1 and not options.server:
        if options.session is not None:
            raise UsageError(
                f"--session is for one server; use --server with one of {', '.join(servers)}"
            )
        return asyncio.run(_list_servers(options, servers))
    return asyncio.run(_list_source(options))


def _servers(options: argparse.Namespace) -> Sequence[str]:
    from studio.cli.tools.opening import UnknownSourceError, is_address, servers_in

    if not is_address(options.source):
        needs(Path(options.source))
    try:
        return servers_in(options.source)
    except (UnknownSourceError, OSError) as error:
        raise UsageError(named_reason(error)) from None


async def _list_source(options: argparse.Namespace) -> int:
    from studio.cli.tools.opening import opened
    from studio.core.tools.forms import native_function

    async with opened(options) as tools:
        specs = await tools.specs()
        problems = _say(tools.problems)
    if options.json:
        print(json.dumps([native_function(spec) for spec in specs], ensure_ascii=False, indent=2))
    else:
        _print(specs)
    return PROBLEMS if problems else FINE


@dataclass(frozen=True, slots=True)
class _ListedServer:
    """One server of a `.mcp.json` with its tools."""

    name: str
    specs: Sequence[ToolSpec] = ()
    problems: Sequence[str] = ()


async def _list_servers(options: argparse.Namespace, names: Sequence[str]) -> int:
    """List all servers at the same time; a server that fails is named and does not hide others."""
    from studio.cli.tools.opening import ask_trust
    from studio.core.tools.forms import native_function

    ask_trust(options)
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
        _say([f"prompt-studio: {reveal(each.name, lines=False)}: {text}" for text in each.problems])
    return PROBLEMS if any(each.problems for each in listed) else FINE


async def _of_server(options: argparse.Namespace, name: str) -> _ListedServer:
    from studio.cli.tools.opening import opened

    try:
        async with opened(argparse.Namespace(**{**vars(options), "server": name})) as tools:
            return _ListedServer(name, await tools.specs(), tools.problems)
    except UsageError as error:
        return _ListedServer(name, problems=[str(error)])


def _say(problems: Sequence[str]) -> bool:
    """Print the problems of a source; return whether there are any."""
    for problem in problems:
        tell(problem)
    return bool(problems)


def _print(specs: Sequence[ToolSpec]) -> None:
    """Print tools as a prompt declares them, with remarks about their texts."""
    from studio.core.tools.forms import react_lines

    if not specs:
        return
    for spec in specs:
        print(reveal(react_lines(spec)))
        if spec.id.name not in ("", spec.name):
            print(reveal(f"  - {spec.source} calls it {spec.id.name!r}", lines=False))
    sys.stdout.flush()
    for line in _marked(specs):
        tell(f"prompt-studio: {reveal(line, lines=False)}")


def _marked(specs: Iterable[ToolSpec]) -> Iterator[str]:
    """Yield one line for each remark with the tools that it concerns."""
    found: dict[str, list[str]] = {}
    for spec in specs:
        for mark in suspicions(spec):
            found.setdefault(mark, []).append(spec.name)
    for mark, names in found.items():
        more = f" and {len(names) - _MOST_MARKED:,} more" if len(names) > _MOST_MARKED else ""
        yield f"{', '.join(names[:_MOST_MARKED])}{more}: {mark}"


# `prompt-studio tools add | remove`: test a pasted server and save it.


def add(options: argparse.Namespace) -> int:
    """Parse pasted servers, list their tools, and save the servers to a file."""
    words = options.text
    text = words[0] if len(words) == 1 else shlex.join(words)
    path = _file(options)
    try:
        servers = pasted_server.read_pasted(text, "\n".join(options.env), options.name)
        tools = [_tried(each, path.parent, options) for each in servers]
        if any(each is None for each in tools):
            return PROBLEMS
        wanted = [(each.name, each.entry) for each in servers]
        is_known = options.replace and len(servers) == 1
        names = pasted_server.add_servers(path, wanted, servers[0].name if is_known else "")
    except pasted_server.ServerFileError as error:
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
    """Remove a server from its file."""
    path = _file(options)
    try:
        if pasted_server.server_in(path, options.name) is None:
            raise UsageError(f"{path} has no server {options.name!r}")
        pasted_server.add_servers(path, (), options.name)
    except pasted_server.ServerFileError as error:
        raise UsageError(str(error)) from None
    return FINE


def _file(options: argparse.Namespace) -> Path:
    """Return the file of servers: the given one, the user's, or the nearest one of the folder."""
    if options.own:
        return user_paths().config / OWN_FILE
    if options.file is not None:
        return Path(options.file).resolve()
    place = Path.cwd() if options.prompt is None else options.prompt.resolve().parent
    return find_workspace_servers(place).path or place / WORKSPACE_FILE


def _tried(
    server: pasted_server.PastedServer, folder: Path, options: argparse.Namespace
) -> tuple[ToolSpec, ...] | None:
    """Print and return the tools of a server; print the reason and return None if it fails."""
    print(f"{reveal(server.name, lines=False)}: {reveal(server.shown, lines=False)}")
    if options.untried:
        return ()
    try:
        specs = asyncio.run(pasted_server.list_pasted(server, folder, terminal_asker()))
    except ToolSourceError as error:
        tell(f"prompt-studio: {error}; nothing was saved (--untried saves it)")
        return None
    for spec in specs:
        first = spec.description.strip().partition("\n")[0]
        print(reveal(f"  {spec.name}: {first}".removesuffix(": "), lines=False))
    unknown = [name for name in options.tool if name not in {spec.name for spec in specs}]
    if unknown:
        raise UsageError(f"{server.name} has no tool {unknown[0]!r}")
    return specs
