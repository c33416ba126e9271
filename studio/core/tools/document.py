"""Read the tools that a document declares, and the sources that it names.

An open Python file is a document too, which names itself as source and declares no tools.

Keys under `metadata.agent`:

* `tools`: paths of Python files, relative to the prompt. A function with the name of a declared
    tool runs it; if no tools are declared, every function is offered.
* `mcp_servers`: names of servers of the workspace's `.mcp.json` or of the user's settings. A
  front-matter tool of kind `mcp` names one too, by its `connection` or `serverName`.
* `effects`: names of tools with external effects.
* `read_only`: names of tools without effects.
* `offered`: whether a tool is offered to the model, by name, if not the default.
* `env`: names of variables for its Python tools; the user must allow each.
* `python`: the interpreter or environment that runs its Python files.
* `tool_seconds`: maximum time of a call.
* `tool_megabytes`: maximum memory of a Python file's process.
* `server_megabytes`: maximum memory of an MCP server and its child processes.
* `tool_answer_megabytes`: maximum size of an answer from an MCP server.
* `tool_output`: the part of a long result that the model gets.
* `not_secret`: names of environment variables whose values are not masked.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from studio.core.plugins import installed
from studio.core.prompty.document import HoistedTool, PromptDocument, ToolSpec
from studio.core.prompty.front.front_matter import parameter_schema, read_bindings
from studio.core.prompty.loop_format import agent_settings
from studio.core.prompty.reference_values import find_references, whole_reference
from studio.core.text.values import Json, JsonObject, object_of
from studio.core.tools.mcp.server_config import (
    ServerAddress,
    WorkspaceServers,
    find_workspace_servers,
    server_address,
)
from studio.core.tools.source import OutputRule, ToolLimits, read_rule


@dataclass(frozen=True, slots=True)
class PythonFile:
    """A tool file that the document names."""

    path: Path
    """Absolute path, with links not resolved."""

    variables: tuple[str, ...] = ()
    """Names of further variables for its process."""

    python: str = ""
    """Interpreter or environment named in the document; empty for none."""


@dataclass(frozen=True, slots=True)
class McpServer:
    """An MCP server that the document names."""

    name: str
    """Name for the user and in `.mcp.json`."""

    address: ServerAddress | None
    """Address of the server; None if none is given."""

    allowed: tuple[str, ...] = ()
    """Names of the tools that may be used; empty for all."""

    approval: Json = None
    """Value of `approvalMode` as written."""

    origin: Path | None = None
    """The file whose folder must be trusted; None if the server is in the user's settings."""

    further: bool = False
    """Whether no prompt names it: only the user can start it."""


@dataclass(frozen=True, slots=True)
class OpenApi:
    """An OpenAPI description whose operations are tools."""

    name: str
    """Name of the declared tool."""

    place: Path | str
    """Place of the description: a file beside the prompt, or a URL."""

    connection: JsonObject = field(default_factory=dict)
    """Endpoint and key, with references unresolved."""

    operations: Json = None
    """Selected operations (`operations:` as written); None for all."""


@dataclass(frozen=True, slots=True)
class PluginTool:
    """A declared tool of a kind that a plug-in provides (docs/extending.md)."""

    kind: str
    """The plug-in's kind as written."""

    name: str
    """Name of the declared tool."""

    options: JsonObject
    """The whole declaration, with references unresolved."""

    folder: Path
    """Folder of the prompt."""


_LONGEST_SECONDS = 86_400
_LEAST_MEGABYTES = 256
_MOST_MEGABYTES = 2**24
_LEAST_ANSWER, _MOST_ANSWER = 0.001, 2048.0
_TOLD = ("description", "bindings")
"""Options of a tool in the body that are separate fields of its specification."""

_NO_SERVERS = WorkspaceServers()

SourceDeclaration: TypeAlias = PythonFile | McpServer | OpenApi | PluginTool
"""All kinds of sources, a closed union: consumers use `match` and `assert_never`."""


def declared_tools(
    document: PromptDocument, hoisted: Iterable[HoistedTool] = ()
) -> tuple[ToolSpec, ...]:
    """Return the document's tools that are offered to the model."""
    chosen = chosen_offers(document)
    every = every_declared_tool(document, hoisted)
    return tuple(spec for spec in every if chosen.get(spec.name, True))


def every_declared_tool(
    document: PromptDocument, hoisted: Iterable[HoistedTool] = ()
) -> tuple[ToolSpec, ...]:
    """Return the document's tools: front matter first, then the body's `tools:` section."""
    if document.is_tool_file:
        return ()
    effects = tools_with_effects(document)
    read_only = _names(agent_settings(document).get("read_only"))
    found = {spec.name: spec for spec in document.tools}
    for tool in hoisted:
        found.setdefault(tool.id, hoisted_spec(tool))
    return tuple(
        replace(
            spec,
            has_effects=spec.has_effects or spec.name in effects,
            reads_only=spec.name in read_only and spec.name not in effects,
        )
        for spec in found.values()
    )


def chosen_offers(document: PromptDocument) -> dict[str, bool]:
    """Return which tools are offered if not the default (`metadata.agent.offered`)."""
    chosen = object_of(agent_settings(document).get("offered"))
    return {name: value for name, value in chosen.items() if isinstance(value, bool)}


def tools_with_effects(document: PromptDocument) -> frozenset[str]:
    """Return the names of the tools declared to have effects (`metadata.agent.effects`)."""
    return frozenset(_names(agent_settings(document).get("effects")))


def needs_reading(document: PromptDocument) -> bool:
    """Return whether a run would read variables or files for `${env:…}` or `${file:…}`."""
    texts = referencing_texts(document)
    references = (item for text in texts for item in find_references(text))
    return any(item.protocol in ("env", "file") for item in references)


def referencing_texts(document: PromptDocument) -> tuple[str, ...]:
    """Return the parts of a document in which `${…}` is a reference instead of text."""
    if document.is_tool_file:
        return ()
    source = document.source
    texts = [source.slice(document.front_matter)] if document.front_matter is not None else []
    body = source.slice(document.body)
    # docs/design/file-format.md: elsewhere a body is text, unless it is a single reference.
    if document.dialect == "section" or whole_reference(body.strip()) is not None:
        texts.append(body)
    return tuple(texts)


def tool_variables(document: PromptDocument) -> tuple[str, ...]:
    """Return the names of the variables for the document's Python tools."""
    if document.is_tool_file:
        return ()
    names = dict.fromkeys(_names(agent_settings(document).get("env")))
    return tuple(name for name in names if name.isidentifier())


def tool_limits(document: PromptDocument, base: ToolLimits) -> ToolLimits:
    """Return the limits of calls, with those of the document if they are valid."""
    agent = agent_settings(document)
    memory = _number(agent.get("tool_megabytes"), _LEAST_MEGABYTES)
    resident = _number(agent.get("server_megabytes"), _LEAST_MEGABYTES)
    answer = _number(agent.get("tool_answer_megabytes"), _LEAST_ANSWER, _MOST_ANSWER)
    seconds = _number(agent.get("tool_seconds"), 0.0, _LONGEST_SECONDS)
    return replace(
        base,
        seconds=seconds or base.seconds,
        memory_megabytes=int(memory or base.memory_megabytes),
        resident_megabytes=int(resident or base.resident_megabytes),
        answer_megabytes=answer or base.answer_megabytes,
    )


def output_rule(document: PromptDocument) -> OutputRule:
    """Return the document's rule for the length of a tool's result."""
    return read_rule(agent_settings(document).get("tool_output"))


def _number(value: Json, least: float, most: float = _MOST_MEGABYTES) -> float | None:
    """Return a number within bounds; None for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if least <= value <= most else None


def hoisted_spec(tool: HoistedTool) -> ToolSpec:
    """Return a tool of the body's section as offered to the model (section dialect)."""
    options = tool.options
    description = options.get("description")
    bindings = read_bindings(options.get("bindings"))
    is_function = tool.type == "function"
    is_described = is_function or isinstance(options.get("parameters"), Mapping)
    return ToolSpec(
        tool.id,
        description if isinstance(description, str) else "",
        parameter_schema(options.get("parameters"), frozenset(bindings))
        if is_described
        else {"type": "object", "properties": {}},
        kind="function" if is_function else "custom",
        source="tools: section",
        bindings=bindings,
        dynamic=bool(tool.dynamic_inputs),
        options={
            key: value
            for key, value in options.items()
            if key not in _TOLD and (key != "parameters" or not is_described)
        },
        span=tool.span,
    )


def named_sources(
    document: PromptDocument, own: WorkspaceServers = _NO_SERVERS
) -> tuple[SourceDeclaration, ...]:
    """Return every source that the document names; reads `.mcp.json`, but starts nothing.

    Args:
        document: the prompt.
        own: the servers of the user's settings; those of the workspace take precedence.
    """
    path = document.source.path
    if path is not None and document.is_tool_file:
        return (PythonFile(path),)
    folder = path.parent if path is not None else None
    found: list[SourceDeclaration] = []
    if folder is not None:
        python = _python(document, folder)
        found += [
            PythonFile(folder / name, python=python)
            for name in _names(agent_settings(document).get("tools"))
        ]
    workspace = workspace_servers(document)
    for name, item in declared_items(document.data.get("tools")):
        kind = item.get("kind") or item.get("type")
        if kind == "mcp":
            found.append(_server(name, item, (workspace, own), path))
        elif kind == "openapi" and folder is not None:
            place = item.get("specification")
            if isinstance(place, str) and place:
                found.append(_openapi(name, item, place, folder))
        elif isinstance(kind, str) and kind in plugin_kinds() and folder is not None:
            found.append(PluginTool(kind, name, item, folder))
    declared = {item.name for item in found if isinstance(item, McpServer)}
    for name in _names(agent_settings(document).get("mcp_servers")):
        if name not in declared:  # the declaration selects its tools
            found.append(_known_server(name, (workspace, own)))
    return tuple(found)


def plugin_kinds() -> frozenset[str]:
    """Return the kinds of tools that plug-ins provide."""
    return frozenset(str(getattr(each.value, "kind", "")) for each in installed("tool_sources"))


def workspace_servers(document: PromptDocument) -> WorkspaceServers:
    """Return the servers of the document's workspace."""
    path = document.source.path
    return find_workspace_servers(path.parent) if path is not None else WorkspaceServers()


def further_servers(
    document: PromptDocument, own: WorkspaceServers = _NO_SERVERS
) -> tuple[McpServer, ...]:
    """Return the workspace's and the user's servers that the document does not name."""
    if document.is_tool_file:
        return ()
    named = {item.name for item in named_sources(document, own) if isinstance(item, McpServer)}
    workspace = workspace_servers(document)
    names = [name for name in {**workspace.servers, **own.servers} if name not in named]
    return tuple(replace(_known_server(name, (workspace, own)), further=True) for name in names)


def _known_server(name: str, known: tuple[WorkspaceServers, WorkspaceServers]) -> McpServer:
    workspace, own = known
    if name not in workspace.servers and name in own.servers:
        return McpServer(name, own.servers[name])
    return McpServer(name, workspace.servers.get(name), origin=workspace.path)


def _openapi(name: str, item: JsonObject, place: str, folder: Path) -> OpenApi:
    return OpenApi(
        name,
        place if place.startswith(("http://", "https://")) else folder / place,
        object_of(item.get("connection")),
        item.get("operations"),
    )


def _server(
    name: str,
    item: JsonObject,
    known: tuple[WorkspaceServers, WorkspaceServers],
    document: Path | None,
) -> McpServer:
    block = object_of(item.get("connection"))
    names = server_names(name, item)
    allowed = _names(item.get("allowedTools"))
    address = server_address(block, document.parent if document else Path())
    if address is not None:
        return McpServer(name, address, allowed, item.get("approvalMode"), document)
    chosen = next((word for word in names if any(word in each.servers for each in known)), names[0])
    return replace(_known_server(chosen, known), allowed=allowed, approval=item.get("approvalMode"))


def server_names(name: str, item: JsonObject) -> list[str]:
    """Return the possible names of a declared tool's MCP server, the preferred one first."""
    given = [object_of(item.get("connection")).get("name"), item.get("serverName"), name]
    return [word for word in given if isinstance(word, str) and word]


def declared_items(tools: Json) -> list[tuple[str, JsonObject]]:
    """Return (name, block) of each front-matter tool, from a list or a mapping."""
    if isinstance(tools, Mapping):
        return [(name, item) for name, item in tools.items() if isinstance(item, Mapping)]
    if isinstance(tools, list | tuple):
        return [
            (str(item.get("name") or item.get("id") or ""), item)
            for item in tools
            if isinstance(item, Mapping)
        ]
    return []


def public_variables(document: PromptDocument) -> tuple[str, ...]:
    """Return the environment variables that a prompt declares as not secret."""
    return _names(agent_settings(document).get("not_secret"))


def _python(document: PromptDocument, folder: Path) -> str:
    """Return the interpreter or environment named in a prompt, relative to its folder."""
    named = agent_settings(document).get("python")
    if not isinstance(named, str) or not named:
        return ""
    if "/" not in named and "\\" not in named and not (folder / named).exists():
        return named  # a program, to be searched in PATH
    return str(folder / Path(named).expanduser())


def _names(value: Json) -> tuple[str, ...]:
    """Return a list of texts, or a single text; empty for other values."""
    if isinstance(value, str):
        return (value,) if value else ()
    if not isinstance(value, list | tuple):
        return ()
    return tuple(item for item in value if isinstance(item, str) and item)
