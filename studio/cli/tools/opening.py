"""Open the source or prompt of a `tools` command as a set of tools."""

import argparse
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias, cast

from studio.cli.arguments import allow_named, load, needs, trust_of
from studio.cli.ask_input import terminal_asker
from studio.cli.terminal import UsageError, agreed, tell
from studio.core.masking.masker import Masker
from studio.core.paths import user_paths
from studio.core.prompty.document import ToolId, ToolSpec
from studio.core.prompty.prepare import prepare
from studio.core.text.files import read_text, write_atomically
from studio.core.text.invisible import reveal
from studio.core.text.values import JsonObject, named_reason, parse_json
from studio.core.tools.document import McpServer, OpenApi, PythonFile, SourceDeclaration
from studio.core.tools.document_tools import ToolSession
from studio.core.tools.mcp import server_config
from studio.core.tools.mcp.source import McpSource
from studio.core.tools.openapi.source import OpenApiSource
from studio.core.tools.python.source import PythonFileSource
from studio.core.tools.python.worker import UnusableToolFileError
from studio.core.tools.secrets import ToolSecrets
from studio.core.tools.source import (
    DEFAULT_LIMITS,
    LiveSource,
    OfferContent,
    ServerOffer,
    ToolOutcome,
    ToolSource,
    ToolSourceError,
    lines_of,
    timed,
)
from studio.core.tools.sources.opening import open_source, source_key
from studio.core.tools.toolbox import check_arguments

# Tool sources that are named directly: a Python file, a server, an API, an address.

_DESCRIPTIONS = (".json", ".yaml", ".yml")


class UnknownSourceError(ValueError):
    """Error for a name that is not that of a tool source; the text says why."""


def is_address(place: str) -> bool:
    """Return whether the name of a source is an address."""
    return place.startswith(("http://", "https://"))


def named_by(
    place: str, server: str = "", connection: JsonObject | None = None
) -> SourceDeclaration:
    """Return the source for a file or an address.

    Args:
        place: a Python file, a `.mcp.json`, an OpenAPI description, or the address of a description
            (ending in .json or .yaml) or of an MCP server.
        server: name of a server if the file has several.
        connection: endpoint and keys of an API.

    Raises:
        UnknownSourceError: the source is none of these, or has no such server.
        OSError: the file cannot be read.
    """
    if is_address(place):
        if place.partition("?")[0].endswith(_DESCRIPTIONS):
            return OpenApi(place.rpartition("/")[2], place, connection or {})
        return McpServer(place, server_config.HttpServer(place))
    path = Path(place).resolve()
    if path.suffix == ".py":
        return PythonFile(path)
    if path.suffix == ".json" and _names_servers(path):
        return _server(path, server)
    if path.suffix in _DESCRIPTIONS:
        return OpenApi(path.stem, path, connection or {})
    raise UnknownSourceError(
        f"{path.name} is not a source of tools: a Python file, a prompt, a .mcp.json, an OpenAPI "
        "description (.json, .yaml), or an address"
    )


def servers_in(place: str) -> tuple[str, ...]:
    """Return the names of the servers of a `.mcp.json`; empty for any other source.

    Raises:
        UnknownSourceError: the file names servers but cannot be used.
        OSError: the file cannot be read.
    """
    path = Path(place)
    if is_address(place) or path.suffix != ".json" or not _names_servers(path):
        return ()
    found = server_config.read_workspace_servers(path.resolve())
    if found.problem:
        raise UnknownSourceError(found.problem)
    return tuple(found.servers)


def _names_servers(path: Path) -> bool:
    try:
        data = parse_json(read_text(path, errors="replace"))
    except ValueError:
        return path.name.endswith("mcp.json")  # the file is damaged; reading it reports the problem
    return server_config.listed_servers(data) is not None


def _server(path: Path, wanted: str) -> McpServer:
    found = server_config.read_workspace_servers(path)
    if found.problem:
        raise UnknownSourceError(found.problem)
    names = ", ".join(found.servers)
    if wanted and wanted not in found.servers:
        raise UnknownSourceError(f"{path.name} has no server {wanted!r}; it has {names}")
    if not wanted and len(found.servers) != 1:
        raise UnknownSourceError(
            f"{path.name} has several servers; use --server with one of {names}"
        )
    name = wanted or next(iter(found.servers))
    return McpServer(name, found.servers[name], origin=path)


class SourceToolSet:
    """The tools of a source; its output is masked."""

    def __init__(self, source: ToolSource, secrets: ToolSecrets) -> None:
        self._source = source
        self._secrets = secrets
        self._schemas: dict[str, JsonObject] = {}
        self.problems: list[str] = []
        """Problems as sentences; complete after `specs`."""

    async def specs(self) -> Sequence[ToolSpec]:
        """Return all tools; empty for a Python file that cannot be imported.

        Raises:
            ToolSourceError: the source cannot be read, started or reached.
        """
        source = self._source
        try:
            listed = await source.list_tools()
        except UnusableToolFileError as error:
            self.problems = [f"{error.path}:{error.line or 1}:1: error {error.message}"]
            return ()
        self._schemas = {spec.name: spec.parameters for spec in listed}
        if isinstance(source, PythonFileSource):
            self.problems = [
                f"{source.path}:{each.line or 1}:1: warning {each.message}"
                for each in source.problems
            ]
        elif isinstance(source, OpenApiSource):
            self.problems = [f"{source.label}: {each}" for each in source.problems]
        listed = tuple(replace(spec, id=ToolId("", spec.name)) for spec in listed)
        return self._secrets.masked(listed)

    def find(self, tool: ToolId) -> str:
        """Find the name of a tool, whichever source it was saved for; empty if there is none."""
        return tool.name if tool.name in self._schemas else ""

    def place_of(self, name: str) -> str:
        """Return the source of a tool."""
        return str(self._secrets.masked(self._source.place_of(name)))

    async def offers(self) -> tuple[ServerOffer, ...]:
        """Return the prompts and resources of a server.

        Raises:
            UsageError: the source is not a server.
        """
        return self._secrets.masked((await self._server().facts()).offers)

    async def open_offer(self, offer: ServerOffer, given: Mapping[str, str]) -> OfferContent:
        """Open a prompt or resource of a server."""
        return self._secrets.masked(await self._server().open_offer(offer, given))

    async def complete(
        self, offer: ServerOffer, argument: str, text: str, given: Mapping[str, str]
    ) -> tuple[str, ...]:
        """Return a server's suggestions for an argument."""
        return self._secrets.masked(await self._server().complete(offer, argument, text, given))

    def _server(self) -> McpSource:
        if not isinstance(self._source, McpSource):
            raise UsageError(f"{self._source.label} is not an MCP server, which this command needs")
        return self._source

    async def call(
        self, name: str, arguments: JsonObject, tell_line: Callable[[str], None] | None = None
    ) -> ToolOutcome:
        """Call a tool as a run does, with arguments that match its schema (known after `specs`).

        Args:
            name: the tool.
            arguments: arguments of the call.
            tell_line: called with each line of its output or progress.
        """
        wrong = check_arguments(self._schemas.get(name, {}), arguments)
        if wrong:
            return ToolOutcome("; ".join(wrong), "bad-arguments")
        rest = ""

        def hear(text: str) -> None:
            nonlocal rest
            *lines, rest = f"{rest}{text}".split("\n")
            for line in lines:
                if tell_line is not None:
                    tell_line(str(self._secrets.masked(line)))

        source = self._source
        is_live = tell_line is not None and isinstance(source, LiveSource)
        call = (
            cast("LiveSource", source).call_with_progress(name, arguments, hear)
            if is_live
            else source.call(name, arguments)
        )
        outcome = self._secrets.outcome(await timed(call))
        if rest:
            hear("\n")
        if outcome.is_error and isinstance(self._source, McpSource) and self._source.log:
            self.problems = [str(self._secrets.masked(self._source.log)).rstrip()]
        return outcome


class PromptToolSet:
    """All tools of a prompt, under the trust rules of its folder."""

    def __init__(self, session: ToolSession) -> None:
        self._session = session

    @property
    def problems(self) -> list[str]:
        """Return the problems of the sources as sentences."""
        return [
            f"prompt-studio: {each.label}: {each.message}"
            for each in self._session.registry.sources
            if (each.state != "ready" or each.message) and each.state != "available"
        ]

    async def specs(self) -> Sequence[ToolSpec]:
        """Return all tools, including disabled ones."""
        entries = self._session.registry.entries
        return [replace(entry.spec, id=entry.id) for entry in entries]

    def find(self, tool: ToolId) -> str:
        """Find the name by which the model calls a tool; empty if there is none."""
        entry = self._session.registry.find(tool.name, tool.source)
        return entry.name if entry is not None else ""

    def place_of(self, name: str) -> str:
        """Return the source of a tool; empty if there is none."""
        entry = self._session.registry.named(name)
        return entry.id.source if entry is not None else ""

    async def call(
        self, name: str, arguments: JsonObject, tell_line: Callable[[str], None] | None = None
    ) -> ToolOutcome:
        """Call a tool at the user's request; its output is part of the outcome."""
        del tell_line
        entry = self._session.registry.named(name)
        return await self._session.current.try_tool(
            entry.id if entry else ToolId("", name), arguments
        )


ToolSet: TypeAlias = SourceToolSet | PromptToolSet


@asynccontextmanager
async def opened(options: argparse.Namespace, *, calls: bool = False) -> AsyncIterator[ToolSet]:
    """Open the named source or prompt while the block runs.

    Args:
        options: options of the command line.
        calls: whether tools are called, not only listed.

    Raises:
        UsageError: the source does not exist, cannot be read, or is not trusted by the user.
    """
    place = options.source
    options.file = Path(place)
    try:
        if not is_address(place):
            needs(options.file)
        if options.file.suffix in (".prompty", ".md"):
            async with _of_prompt(options) as tools:
                yield tools
        else:
            async with _of_source(options, place, calls=calls) as tools:
                yield tools
    except ToolSourceError as error:
        raise UsageError(named_reason(error)) from None


def ask_trust(options: argparse.Namespace) -> None:
    """Ask once whether a file in an untrusted folder may run code or access addresses.

    Raises:
        UsageError: the user says no, or cannot be asked.
    """
    if is_address(options.source) or vars(options).get("is_agreed"):
        return
    path = Path(options.source).resolve()
    if not trust_of(options, path).is_trusted(path):
        words = f"{path.parent} is not trusted. Run the tools of {path.name} this time?"
        if not agreed(words, yes=False, options="--trust"):
            raise UsageError(f"nothing of {path.name} was run")
    options.is_agreed = True


@asynccontextmanager
async def _of_source(
    options: argparse.Namespace, place: str, *, calls: bool
) -> AsyncIterator[ToolSet]:
    connection = {"endpoint": options.endpoint, "apiKey": options.key}
    given = {name: text for name, text in connection.items() if text}
    try:
        declaration = named_by(place, options.server, given)
    except (UnknownSourceError, OSError) as error:
        raise UsageError(named_reason(error)) from None
    if calls or not isinstance(declaration, OpenApi):
        ask_trust(options)
    secrets = ToolSecrets(Masker(os.environ))
    secrets.note_written(declaration)
    environment = secrets.environment(source_key(declaration))
    source = open_source(
        declaration,
        DEFAULT_LIMITS,
        lambda: None,
        environment=environment,
        masker=secrets.masker,
        ask=terminal_asker(),
    )
    if options.session is not None and isinstance(source, OpenApiSource):
        raise UsageError(f"--session is for servers of tools; {source.label} is an API")
    try:
        yield SourceToolSet(source, secrets)
        if options.session is not None and isinstance(source, McpSource | PythonFileSource):
            messages = secrets.masked(source.traffic.messages)
            write_atomically(options.session, lines_of(messages))
    finally:
        await source.close()


@asynccontextmanager
async def _of_prompt(options: argparse.Namespace) -> AsyncIterator[ToolSet]:
    if options.session is not None:
        raise UsageError("--session is for one server of tools, not for a prompt")
    document = load(options.file)
    trust = trust_of(options, options.file)
    allow_named(options, document, trust)
    own = user_paths().config / server_config.OWN_FILE
    session = ToolSession(
        trust, own_servers=own, masker=Masker(os.environ), ask_input=terminal_asker()
    )
    hoisted = prepare(document, {}, preview=True).messages.tools
    try:
        await session.load(document, hoisted)
        yield PromptToolSet(session)
    finally:
        await session.close()


async def wanted(tools: ToolSet, name: str) -> ToolSpec:
    """Return the tool with a name.

    Raises:
        UsageError: there is no such tool.
    """
    specs = await tools.specs()
    meant = tools.find(ToolId("", name))
    found = next((spec for spec in specs if spec.name == meant), None)
    if found is None:
        for problem in tools.problems:
            tell(problem)
        names = reveal(", ".join(spec.name for spec in specs[:20]) or "none", lines=False)
        more = f" and {len(specs) - 20:,} more" if len(specs) > 20 else ""
        raise UsageError(f"there is no tool {name!r}; there are {names}{more}")
    return found
