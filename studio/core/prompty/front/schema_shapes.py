"""The tables of `schema`: every mapping of the front matter with its keys, types and help."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from studio.core.prompty.front.declarations import INPUT_KINDS


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a mapping."""

    name: str
    """As it is written."""

    help: str
    """One or two sentences for hover and completion."""

    types: tuple[str, ...] = ("text",)
    """What its value may be: text, number, integer, boolean, list, mapping, any."""

    values: tuple[str, ...] = ()
    """The words that it is chosen from, where there is a choice."""

    shape: str | None = None
    """The keys of the mapping that it holds: a name in `SHAPES`."""

    container: Literal["one", "named", "list"] = "one"
    """`one`: the value itself has that shape; `named`: a list of them, or a mapping from names to
    them; `list`: a list of them."""

    closed: bool = False
    """Whether another word than `values` is an error."""


_ROOT = (
    Key("name", "Name of the prompt, for lists and logs."),
    Key("displayName", "Name as people read it."),
    Key("description", "What the prompt is for, in a sentence."),
    Key(
        "metadata",
        "Anything for people and tools: authors, tags, version, agent settings.",
        ("mapping",),
        shape="metadata",
    ),
    Key(
        "model",
        "The model the prompt is written for: an id, or a block with its connection and options.",
        ("text", "mapping"),
        shape="model",
    ),
    Key(
        "inputs",
        "The values that the template uses, by name.",
        ("mapping", "list", "text"),
        shape="property",
        container="named",
    ),
    Key(
        "outputs",
        "The fields of a structured answer.",
        ("mapping", "list", "text"),
        shape="property",
        container="named",
    ),
    Key(
        "tools",
        "The tools that the model may call.",
        ("list", "mapping", "text"),
        shape="tool",
        container="named",
    ),
    Key(
        "template",
        "The template language and the rules for the body.",
        ("mapping", "text"),
        shape="template",
    ),
)

_METADATA = (
    Key("authors", "Who wrote it.", ("list", "text")),
    Key("tags", "Words to find it by.", ("list", "text")),
    Key("version", "Version of the prompt.", ("text", "number")),
    Key("agent", "How the agent loop runs this prompt.", ("mapping",), shape="agent"),
    Key("legacy", "What a conversion from Prompty 1 found no other place for.", ("mapping",)),
)

_AGENT = (
    Key(
        "protocol",
        "How the model says what to do: `native` tool calls, `react` text, or "
        "`json_action` objects.",
        values=("native", "react", "json_action"),
        closed=True,
    ),
    Key("max_iterations", "How many times the model is asked before the run pauses.", ("integer",)),
    Key("max_tokens", "How many tokens a run may use before it pauses.", ("integer",)),
    Key("max_cost", "How many US dollars a run may cost before it pauses.", ("number",)),
    Key(
        "max_seconds", "How long models and tools may work in a run before it pauses.", ("number",)
    ),
    Key("stop", "Texts at which the model's reply is cut.", ("list", "text")),
    Key(
        "parallel_tool_calls",
        "Whether the calls of one reply may run at once, and the "
        "model may ask for several. A call that waits for approval runs alone.",
        ("boolean",),
    ),
    Key(
        "final_words",
        "Further words that end a JSON-action run, besides `final_answer`.",
        ("list", "text"),
    ),
    Key(
        "compose",
        "Template of one more step that writes the answer, where the model ends with "
        "`final_answer` and no words.",
    ),
    Key("tools", "Python files with tools, relative to the prompt.", ("list", "text")),
    Key(
        "most_tools",
        "How many tools the model is told of: those that share most words with the question.",
        ("integer",),
    ),
    Key(
        "tools_embedding",
        "The model that chooses them by meaning: vectors of the question and "
        "of the tools are asked for at the connection of the run.",
    ),
    Key(
        "mcp_servers",
        "MCP servers of the workspace or of your settings, by name.",
        ("list", "text"),
    ),
    Key("effects", "Tools that change something outside, by name.", ("list", "text")),
    Key("read_only", "Tools that change nothing, by name.", ("list", "text")),
    Key(
        "env",
        "Environment variables that Python tools are given, by name; you are asked about each.",
        ("list", "text"),
    ),
    Key(
        "python", "The Python that runs its tool files: a program, or the folder of an environment."
    ),
    Key("tool_seconds", "The longest time of a tool's call.", ("number",)),
    Key("tool_megabytes", "The most memory of a Python tool's process.", ("integer",)),
    Key("server_megabytes", "The most memory that an MCP server may hold.", ("integer",)),
    Key("tool_answer_megabytes", "The longest answer of an MCP server.", ("number",)),
    Key(
        "tool_output",
        "How many characters of an answer the model gets; with `keep`, which.",
        ("integer", "mapping"),
    ),
    Key(
        "not_secret",
        "Environment variables, by name, whose values are shown and kept as they are.",
        ("list", "text"),
    ),
)

_MODEL = (
    Key("id", "Model id or deployment name, as the provider knows it."),
    Key("provider", "Who serves it.", values=("openai", "anthropic", "foundry", "azure")),
    Key(
        "apiType",
        "Which API is called.",
        values=("chat", "responses", "embedding", "image"),
        closed=True,
    ),
    Key(
        "connection",
        "Where and how to connect. Keep keys out of the file: `${env:NAME}`.",
        ("mapping", "text"),
        shape="connection",
    ),
    Key("options", "Sampling options.", ("mapping", "text"), shape="options"),
)

_CONNECTION = (
    Key(
        "kind",
        "How the connection is made.",
        values=("key", "reference", "remote", "anonymous", "foundry", "oauth"),
    ),
    Key("endpoint", "Base address of the service."),
    Key("apiKey", "The key; write `${env:NAME}`, never the key itself."),
    Key("name", "Name of a connection kept outside the file."),
    Key("target", "What a referenced connection points to."),
    Key("authenticationMode", "Who is authenticated.", values=("system", "user")),
    Key("usageDescription", "What the connection is for."),
    Key("connectionType", "Type of a Foundry connection."),
    Key("clientId", "OAuth client."),
    Key("clientSecret", "OAuth secret; write `${env:NAME}`."),
    Key("tokenUrl", "OAuth token address."),
    Key("scopes", "OAuth scopes.", ("list",)),
)

_OPTIONS = (
    Key("temperature", "Randomness; 0 is the most repeatable.", ("number",)),
    Key("maxOutputTokens", "Longest answer, in tokens.", ("integer",)),
    Key("topP", "Nucleus sampling: only the likeliest tokens up to this probability.", ("number",)),
    Key("topK", "Only this many of the likeliest tokens.", ("integer",)),
    Key("frequencyPenalty", "Penalty for tokens by how often they were used.", ("number",)),
    Key("presencePenalty", "Penalty for tokens that were used at all.", ("number",)),
    Key("seed", "Start of the random numbers, for repeatable answers.", ("integer",)),
    Key("stopSequences", "Texts at which the model stops.", ("list",)),
    Key("allowMultipleToolCalls", "Whether one reply may call several tools.", ("boolean",)),
    Key(
        "reasoningEffort",
        "How much a reasoning model thinks.",
        values=("none", "minimal", "low", "medium", "high"),
    ),
    Key(
        "additionalProperties", "Further options, passed to the provider as they are.", ("mapping",)
    ),
)

_PROPERTY = (
    Key("name", "Name, as the template uses it (in a list of inputs)."),
    Key("kind", "Type of the value.", values=INPUT_KINDS, closed=True),
    Key("description", "What to give here."),
    Key("required", "Whether a run without a value is an error.", ("boolean",)),
    Key("nullable", "Whether null is a value.", ("boolean",)),
    Key("default", "Value used when none is given.", ("any",)),
    Key("sample", "Value for the preview only; a run never uses it.", ("any",)),
    Key("example", "Value for the preview only; a run never uses it.", ("any",)),
    Key("enumValues", "The values that are allowed.", ("list",)),
    Key("items", "What an array holds.", ("mapping", "text"), shape="property"),
    Key(
        "properties",
        "The fields of an object.",
        ("mapping", "list"),
        shape="property",
        container="named",
    ),
    Key(
        "oneOf",
        "The forms of a union, exactly one of which holds.",
        ("list",),
        shape="property",
        container="list",
    ),
    Key(
        "anyOf",
        "The forms of a union, at least one of which holds.",
        ("list",),
        shape="property",
        container="list",
    ),
    Key("strict", "Whether the value may never make a role marker.", ("boolean",)),
)

_TOOL = (
    Key("name", "Name that the model calls it by."),
    Key(
        "kind",
        "What it is; any other word is a tool of your own runtime.",
        values=("function", "mcp", "openapi", "custom"),
    ),
    Key("description", "What it does, for the model."),
    Key(
        "parameters",
        "Its arguments: properties, or a JSON schema.",
        ("list", "mapping"),
        shape="property",
        container="named",
    ),
    Key("strict", "Whether the provider enforces the parameters' schema.", ("boolean",)),
    Key(
        "bindings",
        "Parameters filled from inputs, which the model is not told of.",
        ("mapping", "list"),
        shape="binding",
        container="named",
    ),
    Key("connection", "Where the tool's service is.", ("mapping", "text"), shape="connection"),
    Key("options", "Settings of a tool of your own runtime.", ("mapping",)),
    Key("serverName", "Name of the MCP server."),
    Key("serverDescription", "What the MCP server offers."),
    Key("approvalMode", "When the user is asked.", ("text", "mapping"), values=("always", "never")),
    Key("allowedTools", "The tools of the MCP server that may be used.", ("list",)),
    Key("specification", "Path or address of the OpenAPI document."),
    Key(
        "operations",
        "Which of its operations are tools: names, or ids, tags, paths and methods.",
        ("list", "mapping"),
    ),
    Key("id", "Name of the tool in the section dialect."),
    Key("type", "Kind of the tool in the section dialect."),
)

_BINDING = (
    Key("name", "The parameter (in a list of bindings)."),
    Key("input", "The input whose value is put in."),
)

_TEMPLATE = (
    Key("format", "The template language.", ("mapping", "text"), shape="format"),
    Key(
        "parser",
        "The rules by which the body becomes messages.",
        ("mapping", "text"),
        shape="parser",
    ),
)

_FORMAT = (
    Key("kind", "The template language.", values=("jinja2", "mustache", "fstring"), closed=True),
    Key(
        "strict",
        "Whether only the author's own text makes messages (true unless said otherwise).",
        ("boolean",),
    ),
    Key("options", "Settings of the template language.", ("mapping",)),
)

_PARSER = (
    Key(
        "kind",
        "`prompty`: Prompty 2. `section`: with tools:, tool calls, threads and media.",
        values=("prompty", "section"),
        closed=True,
    ),
    Key("options", "Settings of the parser.", ("mapping",)),
)

SHAPES: Mapping[str, tuple[Key, ...]] = MappingProxyType(
    {
        "root": _ROOT,
        "metadata": _METADATA,
        "agent": _AGENT,
        "model": _MODEL,
        "connection": _CONNECTION,
        "options": _OPTIONS,
        "property": _PROPERTY,
        "tool": _TOOL,
        "binding": _BINDING,
        "template": _TEMPLATE,
        "format": _FORMAT,
        "parser": _PARSER,
    }
)
"""Every mapping by name."""

OPEN_SHAPES = frozenset({"metadata", "connection"})
"""Mappings that may hold any further key."""

LEGACY_KEYS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "root": frozenset({"sample", "authors", "tags", "version", "base"}),
        "model": frozenset({"api", "configuration", "parameters", "response"}),
        "options": frozenset(
            """
            max_tokens max_completion_tokens top_p top_k frequency_penalty presence_penalty stop
            tools tool_choice response_format n logit_bias user logprobs parallel_tool_calls
        """.split()
        ),
        "property": frozenset({"type", "json_schema", "enum"}),
        "tool": frozenset({"function"}),
        "template": frozenset({"type", "strict", "content"}),
    }
)
"""Keys of Prompty 1, by the mapping they stood in."""
