"""List what a document needs to start, reach and read, and the tools of a source.

Servers and variables for tools are allowed individually: a new or changed one in a trusted folder
needs permission again. Everything else is covered by the trust in its folder.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import assert_never

from studio.core.prompty.document import PromptDocument, ToolSpec
from studio.core.prompty.reference_values import find_references
from studio.core.text.values import JsonObject, texts_in
from studio.core.tools.document import (
    McpServer,
    OpenApi,
    PluginTool,
    PythonFile,
    SourceDeclaration,
    named_sources,
    needs_reading,
    referencing_texts,
    tool_variables,
)
from studio.core.tools.mcp.server_config import (
    StdioServer,
    WorkspaceServers,
    address_pin,
    variables_in,
)
from studio.core.tools.mcp.source import McpSource, ServerFacts
from studio.core.tools.openapi.credentials import FindConnection, name_of
from studio.core.tools.openapi.source import OpenApiSource
from studio.core.tools.python.interpreter import find_interpreter
from studio.core.tools.python.source import PythonFileSource
from studio.core.tools.python.worker import UnusableToolFileError
from studio.core.tools.registry import VARIABLES_KEY, SourceStatus, SourceTools
from studio.core.tools.secrets import ToolSecrets
from studio.core.tools.source import ToolSource, ToolSourceError
from studio.core.tools.sources.opening import (
    declared_approvals,
    source_key,
    source_label,
    source_path,
)
from studio.core.tools.toolbox import LARGE_TOOL, about_tokens, spec_size
from studio.core.tools.trust.store import Doubt, Pin, ToolReview, Trust, TrustStore, Want, WantKind

MOST_TOOLS = 128
"""OpenAI's maximum number of tools per request; most others allow as many, or fewer."""

_MOST_PROBLEMS = 5
_LONGEST_INSTRUCTIONS = 20_000
_OPERATIONS = "'operations' (ids, tags, paths, methods)"


async def list_source(
    source: ToolSource,
    declaration: SourceDeclaration,
    review: ToolReview,
    find: FindConnection,
    secrets: ToolSecrets,
) -> tuple[SourceStatus, SourceTools | None]:
    """Return the state of a source, and its tools if it could list them.

    Args:
        source: the source, which may be started.
        declaration: the source's declaration in the document.
        review: finds tools that differ from their allowed form.
        find: returns the connection for a name.
        secrets: masks the secrets that the source was given.
    """
    key, label, path = source_key(declaration), source_label(declaration), source_path(declaration)
    try:
        specs = secrets.masked(await source.list_tools())
        facts = await source.facts() if isinstance(source, McpSource) else ServerFacts()
    except ToolSourceError as error:
        line = error.line if isinstance(error, UnusableToolFileError) else 0
        log = source.log if isinstance(source, McpSource) else ""
        stopped = isinstance(source, OpenApiSource) and source.is_stopped
        failed = SourceStatus(
            key, label, "failed", str(error), path, line, log=log, stopped=stopped
        )
        return secrets.masked(failed), None
    remark = remark_on(declaration, find)
    status = SourceStatus(key, label, "ready", remark, path, tools=len(specs))
    changes = review.changes(key, source, specs)
    offered = SourceTools(
        key, label, specs, path=path, changes=changes, marks=review.marks(key, specs)
    )
    if isinstance(source, PythonFileSource):
        status = replace(status, facts={"python": source.python})
        first = source.problems[0] if source.problems else None
        if first is not None:
            message = "; ".join(problem.message for problem in source.problems)
            status = replace(status, message=message, line=first.line)
        return status, replace(offered, lines=source.lines, python_names=source.python_names)
    if isinstance(source, OpenApiSource | McpSource):
        chosen_by = "'allowedTools'" if isinstance(source, McpSource) else _OPERATIONS
        remarks = (remark, *_size_remarks(specs, chosen_by), *source.problems[:_MOST_PROBLEMS])
        status = replace(status, message="; ".join(filter(None, remarks)))
    if isinstance(source, OpenApiSource):
        routes = {each.spec.name: (each.method.upper(), each.path) for each in source.operations}
        offered = replace(offered, routes=routes)
    if isinstance(source, McpSource):
        status = replace(status, facts=facts.words, offers=facts.offers, log=source.log)
        status = secrets.masked(status)
        told = status.facts.get("instructions", "")[:_LONGEST_INSTRUCTIONS]
        offered = replace(offered, specs=tuple(replace(s, instructions=told) for s in specs))
    return status, replace(
        offered,
        stands_alone=True,
        further=isinstance(declaration, McpServer) and declaration.further,
        approvals=declared_approvals(declaration, specs),
        allowed=declaration.allowed if isinstance(declaration, McpServer) else (),
    )


def _size_remarks(specs: Sequence[ToolSpec], chosen_by: str) -> Iterator[str]:
    """Yield remarks on a large number of tools and on large tools.

    Args:
        specs: the tools.
        chosen_by: the prompt's key that selects some of them.
    """
    sizes = {spec.name: spec_size(spec) for spec in specs}
    if len(specs) > MOST_TOOLS:
        yield (
            f"{len(specs):,} tools, about {about_tokens(sizes.values()):,} tokens with each "
            f"request; providers take {MOST_TOOLS}: select some with {chosen_by}"
        )
    large = [f"{name} ({size // 1024} KB)" for name, size in sizes.items() if size > LARGE_TOOL]
    if large:
        more = f" and {len(large) - _MOST_PROBLEMS} more" if len(large) > _MOST_PROBLEMS else ""
        yield (
            f"larger than {LARGE_TOOL // 1024} KB in each request: "
            f"{', '.join(large[:_MOST_PROBLEMS])}{more}"
        )


GIVEN = "give:"
"""Prefix of the key of a variable for Python tools."""


@dataclass(frozen=True, slots=True)
class Consent:
    """The requests of a document, and those not allowed in their current form."""

    wants: tuple[Want, ...] = ()
    """Everything that trust in its folder covers."""

    asked: Mapping[str, Want] = field(default_factory=dict)
    """Requests that need individual permission, by key; including servers that no prompt names."""

    doubts: Mapping[str, Doubt] = field(default_factory=dict)
    """Requests that are not allowed in their current form, by key."""

    def given(self) -> tuple[str, ...]:
        """Return the variables that Python tools get."""
        keys = (key for key in self.asked if key.startswith(GIVEN) and key not in self.doubts)
        return tuple(key.removeprefix(GIVEN) for key in keys)


def consent_of(
    document: PromptDocument, own: WorkspaceServers, further: Iterable[McpServer], trust: TrustStore
) -> Consent:
    """Compare the requests of a document with the user's permissions.

    Args:
        document: the prompt.
        own: the servers of the user's settings, which need no trust.
        further: servers that the prompt does not name.
        trust: the user's permissions, to which a folder's first requests may be added.
    """
    wants = wants_of(document, own)
    others = [want for server in further if (want := server_want(server))]
    asked = {want.key: want for want in (*wants, *others) if want.key}
    path = document.source.path
    if path is None:
        return Consent(wants, asked)
    now = trust.adopt(path.parent, asked.values())
    doubts = {key: doubt for key, want in asked.items() if (doubt := doubt_about(want, now))}
    return Consent(wants, asked, doubts)


def wants_of(document: PromptDocument, own: WorkspaceServers | None = None) -> tuple[Want, ...]:
    """Return everything that trust in the document's folder covers; starts nothing.

    Args:
        document: the prompt.
        own: the servers of the user's settings, which need no trust.
    """
    found: dict[Want, None] = {}
    for declaration in named_sources(document, own or WorkspaceServers()):
        found.update(dict.fromkeys(_wants(declaration)))
    wants = {(want.kind, want.text) for want in found}
    of_prompt = _of_the_prompt(document)
    found.update(dict.fromkeys(want for want in of_prompt if (want.kind, want.text) not in wants))
    folder = document.source.path.parent if document.source.path else None
    for name in tool_variables(document):
        found[variable_want(name, folder)] = None
    return tuple(found)


def server_want(server: McpServer) -> Want | None:
    """Return the request for a server; None for one of the user's settings."""
    if server.address is None or server.origin is None:
        return None
    pin = address_pin(server.address)
    kind: WantKind = "command" if isinstance(server.address, StdioServer) else "address"
    label = source_label(server)
    return Want(kind, pin.lines[0], label, source_key(server), server.origin.parent, pin)


def variable_want(name: str, folder: Path | None) -> Want:
    """Return the request for an environment variable for a document's Python tools."""
    return Want("variable", name, "tools", GIVEN + name, folder, Pin(name, (name,)))


def doubt_about(want: Want, trust: Trust) -> Doubt | None:
    """Return why a request is not allowed in its current form; None if it is.

    Args:
        want: a request that needs individual permission.
        trust: the user's permissions.
    """
    if want.folder is None or want.pin is None or trust.is_bundled(want.folder):
        return None
    before = trust.allowed_in(want.folder).get(want.key)
    return None if before is not None and before.digest == want.pin.digest else Doubt(want, before)


def _wants(declaration: SourceDeclaration) -> Iterator[Want]:
    label = source_label(declaration)
    match declaration:
        case PythonFile(path, _, python):
            yield Want("file", str(path), label)
            interpreter = find_interpreter(path, python)
            if interpreter.path is not None:
                yield Want("command", str(interpreter.path), label)
        case McpServer(address=address):
            want = server_want(declaration)
            if want is not None and address is not None:
                yield want
                yield from (Want("variable", name, label) for name in variables_in(address))
        case OpenApi(place=place, connection=connection):
            yield Want("address" if isinstance(place, str) else "file", str(place), label)
            yield from _of_connection(connection, label)
        case PluginTool(options=options):
            for text in options.values():
                for reference in find_references(text) if isinstance(text, str) else ():
                    yield Want("variable", reference.argument, label)
        case _:
            assert_never(declaration)


def _of_connection(connection: JsonObject, label: str) -> Iterator[Want]:
    """Yield the requests of an API's connection: addresses for requests and logins, variables."""
    endpoint = connection.get("endpoint") or connection.get("url")
    for place in (endpoint, connection.get("tokenUrl")):
        if isinstance(place, str) and place:
            yield Want("address", place, label)
    for text in texts_in(connection):
        for reference in find_references(text):
            yield Want("variable", reference.argument, label)


def _of_the_prompt(document: PromptDocument) -> Iterator[Want]:
    """Yield the requests of the prompt itself: its model's address, variables and files."""
    kinds: Mapping[str, WantKind] = {"env": "variable", "file": "file"}
    endpoint = document.model.connection.get("endpoint")
    if isinstance(endpoint, str) and endpoint:
        yield Want("address", endpoint, "model")
    for text in referencing_texts(document):
        for reference in find_references(text):
            if reference.protocol in kinds:
                yield Want(kinds[reference.protocol], reference.argument, "")


# Decides which sources of a document may be started, and describes the others.

VARIABLES = "variables and files"
"""Label for a prompt's `${env:}` and `${file:}`, which need trust like a source."""


def fault_of(
    declaration: SourceDeclaration, folder: Path | None, trust: TrustStore
) -> SourceStatus | None:
    """Return why a source may not be started; None if it may.

    Args:
        declaration: the source's declaration.
        folder: the prompt's folder; None for an unsaved prompt, which starts nothing.
        trust: the trusted folders.

    Returns:
        A status, whose key and label the caller sets.
    """
    if folder is None:
        message = "it does not run until the prompt is saved in a folder that you trust"
        return SourceStatus("", "", "untrusted", message)
    place = source_path(declaration)
    for each in (folder, place.parent if place else None):
        if each is not None and not trust.is_trusted(each):
            message = f"{each} is not trusted, so none of it runs"
            return SourceStatus("", "", "untrusted", message, folder=each)
    if place is not None and not trust.is_trusted(place):
        message = f"{place} is outside the trusted folder, so it does not run"
        return SourceStatus("", "", "untrusted", message, folder=place.resolve().parent)
    if isinstance(declaration, McpServer) and declaration.address is None:
        return SourceStatus(
            "",
            "",
            "failed",
            f"there is no command or address for the server {declaration.name!r}: "
            "name it in .mcp.json, or give its connection an endpoint",
        )
    return None


def waiting(doubt: Doubt) -> SourceStatus:
    """Return the status that something new or changed in a trusted folder needs permission."""
    want = doubt.want
    is_variable = want.key.startswith(GIVEN)
    what = f"its tools would get {want.text}" if is_variable else want.text
    if doubt.before is None:
        message = f"new in a trusted folder, so it waits for your consent: {what}"
    else:
        before = "; ".join(doubt.before.lines) or "something else"
        now = "; ".join(want.pin.lines) if want.pin is not None else what
        message = f"it differs from what you allowed, so it waits. Before: {before}. Now: {now}"
    label = VARIABLES if is_variable else want.of
    return SourceStatus(want.key, label, "waiting", message, doubt=doubt)


def remark_on(declaration: SourceDeclaration, find: FindConnection) -> str:
    """Return a remark on an omitted part of a source; empty if there is none."""
    if isinstance(declaration, OpenApi):
        name = name_of(declaration.connection)
        if name and find(name) is None:
            return (
                f"the connection {name!r} is not configured here, so no key is sent: add it in "
                "Run → Connections, or give the tool's own connection an apiKey, as ${env:NAME}"
            )
    return ""


def unresolved_variables(document: PromptDocument, trust: TrustStore) -> Iterable[SourceStatus]:
    """Return the status that the prompt's references are not resolved in an untrusted folder."""
    path = document.source.path
    if path is None or trust.is_trusted(path.parent) or not needs_reading(document):
        return ()
    message = f"{path.parent} is not trusted, so no ${{env:}} and no ${{file:}} of it is read"
    return (SourceStatus(VARIABLES_KEY, VARIABLES, "untrusted", message, folder=path.parent),)


def available(server: McpServer) -> SourceStatus:
    """Return the status of a server that the prompt does not name, with its command or address."""
    where = server.origin.name if server.origin else "your settings"
    what = f": {address_pin(server.address).lines[0]}" if server.address is not None else ""
    return SourceStatus(
        source_key(server),
        source_label(server),
        "available",
        f"named in {where}, not used by this prompt{what}",
        server.origin,
    )


def broken_files(*files: WorkspaceServers) -> Iterable[SourceStatus]:
    """Return the statuses of faulty files of servers."""
    return (
        SourceStatus(f"servers:{each.path}", each.path.name, "failed", each.problem, each.path)
        for each in files
        if each.problem and each.path is not None
    )
