"""Export as AgentSchema's prompt agent in YAML: the front matter's text, with the body inside.

Source: the public schema, `PromptAgent` v1.0 (`inputSchema.properties`, `instructions`).
"""

import json
import re
from collections.abc import Iterator, Mapping

from studio.core.export.prompt_files import prompt_rounds, utf8_problem
from studio.core.export.target import ExportResult, ExportSource, result
from studio.core.imports.agentschema import import_agent_schema
from studio.core.imports.imported import ImportFailure
from studio.core.prompty.convert.whole import convert
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.edit.edits import ConversionDraft, nest, set_value, write_scalar
from studio.core.prompty.edit.keep_dialect import keeping_dialect
from studio.core.prompty.parse import parse
from studio.core.prompty.reference_values import whole_reference
from studio.core.prompty.yaml.reader import read_yaml
from studio.core.prompty.yaml.tree import value_at
from studio.core.text.source import Fix, Problem, Severity, Span, TextEdit
from studio.core.text.values import Json, JsonObject, pairs_of

_BREAKS = re.compile("[\x7f-\x9f\u2028\u2029\ufeff]")
"""Characters that YAML treats as line breaks, or does not allow."""

_KINDS = ("string", "integer", "float", "boolean", "array", "object")
_TOOLS = ("function", "mcp", "openapi", "web_search", "file_search", "code_interpreter")
_KEYS = tuple(
    """
    kind name displayName description metadata model inputs outputs tools template
""".split()
)
_PROPERTY_KEYS = tuple(
    """
    name kind description required default example enumValues items properties
""".split()
)


def agent_schema_file(source: ExportSource) -> ExportResult:
    """Return the agent, verified by reading it back into a prompt."""
    document = source.document
    converted = convert(document, "prompty", source.references)
    draft = ConversionDraft(converted.text)
    losses = [*_of_agent_framework(document), *_words(draft, document)]
    losses += [*converted.notes, *_losses(parse(converted.text, document.source.path))]
    text = _agent(draft, document)
    problems: list[Problem] = [*document.problems]
    if not document.model.id:
        problems.append(_no_model(document, source.model))
    fault = utf8_problem(text)
    if fault is not None:
        return result(text, (*problems, fault), before=document.source.text)
    try:
        again = import_agent_schema(text)
    except ImportFailure as error:
        fault = Problem("export-unreadable", Severity.ERROR, str(error), Span(0, 0))
        return result(text, (*problems, fault), before=document.source.text)
    round_trips = prompt_rounds(again.text, source)
    return result(text, problems, losses, round_trips, before=document.source.text)


_PROVIDERS = {"openai": "OpenAI", "azure": "AzureOpenAI", "anthropic": "Anthropic"}
"""Agent Framework's names of providers (`PROVIDER_TYPE_OBJECT_MAPPING`)."""


def _of_agent_framework(document: PromptDocument) -> Iterator[str]:
    """Yield notes on what the runtime of such files does with the instructions."""
    if not _plain_instructions(document):
        yield (
            "No runtime renders these instructions: Agent Framework has no templates or roles, "
            "and sends them unchanged. Users' messages are added at run time."
        )
    if document.tools or document.outputs:
        yield "Agent Framework writes the schemas of tools and outputs in its own way."


def _plain_instructions(document: PromptDocument) -> str:
    """Return the text of a prompt with one system message and no expressions; else empty."""
    sections = document.sections
    body = document.source.slice(document.body)
    if len(sections) > 1 or document.variables or document.parameters or "{" in body:
        return ""
    if sections and sections[0].role not in ("", "system"):
        return ""
    return body[body.index("\n") + 1 :] if sections and sections[0].role else body


def _words(draft: ConversionDraft, document: PromptDocument) -> Iterator[str]:
    """Write providers, APIs and variables for Agent Framework; yield what it cannot read."""
    model = document.model
    if isinstance(draft.value("model"), Mapping):
        is_keyed = model.connection.get("kind") == "key" or "apiKey" in model.connection
        known = {**_PROVIDERS, "foundry": "AzureOpenAI" if is_keyed else "Foundry"}
        word = known.get(model.provider)
        if word is not None:
            draft.replace(("model", "provider"), word)
        elif model.provider:
            yield f"model.provider: Agent Framework has no provider {model.provider!r}."
        if model.provider and draft.has("model", "apiType"):
            draft.replace(("model", "apiType"), model.api_type.capitalize())
        elif model.provider:  # its reader uses Responses if no API is given
            draft.add_value(("model",), "apiType", model.api_type.capitalize())
        elif model.api_type == "chat":  # without a provider, its reader ignores the API
            draft.remove("model", "apiType")
    edits = []
    for entry in draft.document.entries:
        reference = whole_reference(str(draft.value(*entry.path)))
        if reference is not None and reference.protocol == "env" and len(entry.value):
            edits.append(TextEdit(entry.value, write_scalar(f"=Env.{reference.argument}")))
            if reference.default:
                yield f"{reference.argument}: Agent Framework supports no default of a variable."
    draft.apply(edits)


def _agent(draft: ConversionDraft, document: PromptDocument) -> str:
    body = _plain_instructions(document) or draft.text[draft.document.body.start :]
    body = body.replace("\r\n", "\n")
    path = document.source.path
    for key in ("inputs", "outputs"):
        _samples(draft, key)
        nest(draft, (key,), f"{key[:-1]}Schema", "properties")
    for tool, _ in pairs_of(draft.value("tools")):
        parameters = draft.value("tools", tool, "parameters")
        is_schema = isinstance(parameters, Mapping) and parameters.get("type") == "object"
        if parameters is not None and not is_schema:
            nest(draft, ("tools", tool, "parameters"), "parameters", "properties")
    if isinstance(draft.value("model"), Mapping) and not draft.has("model", "id"):
        draft.add_value(("model",), "id", "")
    elif not draft.has("model"):
        draft.add_value((), "model", {"id": ""})
    front = draft.document.front_matter
    lines = draft.text[front.start : front.end].replace("\r\n", "\n").strip("\n") if front else ""
    head = [] if draft.has("kind") else ["kind: prompt"]
    if not draft.has("name"):
        head.append(f"name: {write_scalar(path.stem if path else 'prompt')}")
    if draft.document.data and lines.startswith("{"):
        # A mapping in braces allows no lines beside it; JSON is also YAML.
        from studio.core.prompty.yaml.reader import write_yaml

        lines = "\n".join(write_yaml(draft.document.data))
    return "\n".join([*head, lines, *_instructions(body)]) + "\n"


def _samples(draft: ConversionDraft, block: str) -> None:
    """Write the studio's `sample` as AgentSchema's `example`."""
    for key, _ in pairs_of(draft.value(block)):
        path = (block, key)
        if draft.has(*path, "sample") and not draft.has(*path, "example"):
            draft.rename((*path, "sample"), "example")


def _instructions(body: str) -> list[str]:
    """Return the body as a YAML block, or in quotes if a block cannot hold it."""
    text = body.strip("\n")
    block = ["instructions: |-", *(f"  {line}" if line else "" for line in text.split("\n"))]
    if text[:1] in (" ", "\t"):
        block[0] = "instructions: |2-"
    read = read_yaml("\n".join(block) + "\n").value
    if isinstance(read, Mapping) and read.get("instructions") == text:
        return block
    quoted = _BREAKS.sub(
        lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False)
    )
    return [f"instructions: {quoted}"]


def _losses(document: PromptDocument) -> Iterator[str]:
    for key in document.data:
        if key not in _KEYS:
            yield f"{key}: is not a key of AgentSchema; it stays in the file; readers ignore it."
    yield from _references(document)
    for item in (*document.inputs, *document.outputs):
        if item.kind not in _KINDS:
            yield (
                f"{item.name}: AgentSchema has no properties of kind {item.kind!r}; it stays in "
                "the file unchanged."
            )
    for block in ("inputs", "outputs"):
        for name, written in _items(document.data.get(block)):
            extra = [key for key in written if key not in (*_PROPERTY_KEYS, "sample")]
            if extra:
                yield f"{block}.{name}: AgentSchema ignores {', '.join(extra)}."
    for name, tool in _items(document.data.get("tools")):
        kind = tool.get("kind")
        if kind not in _TOOLS and "connection" not in tool:
            yield f"tools.{name}: AgentSchema needs a connection for a tool of kind {kind!r}."


def _references(document: PromptDocument) -> Iterator[str]:
    """Yield the references to blocks and lists in other files."""
    for path in (("model",), ("model", "options"), ("model", "connection")):
        block = value_at(document.data, path)
        if isinstance(block, str) and whole_reference(block) is not None:
            yield f"{'.'.join(path)}: AgentSchema supports no reference in place of this block."
    for key in ("inputs", "outputs", "tools"):
        if isinstance(document.data.get(key), str):
            yield f"{key}: AgentSchema does not support a file or reference in place of this list."


def _items(value: Json) -> list[tuple[str, JsonObject]]:
    if isinstance(value, Mapping):
        return [(str(key), item) for key, item in value.items() if isinstance(item, Mapping)]
    if isinstance(value, list):
        return [(str(item.get("name")), item) for item in value if isinstance(item, Mapping)]
    return []


def _no_model(document: PromptDocument, model: str) -> Problem:
    at = document.model.span or Span(0, 0)
    message = "AgentSchema requires model.id, but no model is named: it will be empty."
    fixes: tuple[Fix, ...] = ()
    if model:
        edits = keeping_dialect(document, set_value(document, ("model", "id"), write_scalar(model)))
        fixes = (Fix(f"Write {model!r} into the prompt", edits),)
    return Problem("export-no-model", Severity.WARNING, message, at, fixes)
