"""Settings of a prompt as expressions of a script: model, address, key, stop sequences, tools."""

from __future__ import annotations

from studio.core.export.python_literal import environment_variable, python_literal
from studio.core.export.target import ExportSource
from studio.core.models.base import ProtocolName
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.loop_format import agent_settings
from studio.core.prompty.reference_values import whole_reference
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.values import Json, JsonObject
from studio.core.wire.chat import function_definition

_STOP: dict[ProtocolName, list[Json]] = {"react": ["\nObservation:"]}


def chat_tool(tool: ToolSpec) -> JsonObject:
    """A tool as chat completions take it."""
    return {"type": "function", "function": function_definition(tool)}


def stops(source: ExportSource, protocol: ProtocolName) -> tuple[str, ...]:
    """Stop sequences: the prompt's own, otherwise the protocol's usual ones."""
    own = agent_settings(source.document).get("stop")
    given = own if isinstance(own, list) else [own] if own else _STOP.get(protocol, [])
    return tuple(item for item in given if isinstance(item, str))


def setting(value: str, variable: str) -> str:
    """A text of the front matter as an expression: `${env:…}` is looked up when the script runs."""
    reference = whole_reference(value.strip())
    if reference is not None and reference.protocol == "env":
        return environment_variable(reference.argument, reference.default)
    if variable and not value:
        return f'os.environ.get("{variable}", "gpt-4o-mini")'
    return quoted(value)


def quoted(text: str) -> str:
    """A text as Python source."""
    return python_literal(text)


def key_variable(document: PromptDocument) -> str:
    """The variable that the prompt takes its key from; a key written out is never exported."""
    key = document.model.connection.get("apiKey")
    reference = whole_reference(key.strip()) if isinstance(key, str) else None
    if reference is not None and reference.protocol == "env":
        return reference.argument
    return "ANTHROPIC_API_KEY" if document.model.provider == "anthropic" else "OPENAI_API_KEY"
