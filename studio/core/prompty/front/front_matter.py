"""Read the typed blocks of the front matter from plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from studio.core.prompty.document import (
    Dialect,
    InputDeclaration,
    ModelDeclaration,
    TemplateDeclaration,
    TemplateFormat,
    ToolKind,
    ToolSpec,
)
from studio.core.prompty.front.declarations import (
    kind_of_value,
    object_schema,
    read_declarations,
    written_text,
)
from studio.core.prompty.yaml.tree import Places
from studio.core.text.values import Json, JsonDict, JsonObject, KeyPath, object_of

LEGACY_OPTIONS = {
    "max_tokens": "maxOutputTokens",
    "max_completion_tokens": "maxOutputTokens",
    "top_p": "topP",
    "top_k": "topK",
    "frequency_penalty": "frequencyPenalty",
    "presence_penalty": "presencePenalty",
    "stop": "stopSequences",
    "parallel_tool_calls": "allowMultipleToolCalls",
}
"""Prompty 2's names of Prompty 1's sampling options."""

SAME_OPTIONS = frozenset({"temperature", "seed"})
"""Options with the same name in both versions."""

LEGACY_PROVIDERS = {
    "azure_openai": "foundry",
    "azure": "foundry",
    "openai": "openai",
    "anthropic": "anthropic",
}
"""Prompty 2's providers by Prompty 1's connection types."""

FORMATS: dict[str, TemplateFormat] = {
    "jinja2": "jinja2",
    "jinja": "jinja2",
    "nunjucks": "jinja2",
    "mustache": "mustache",
    "fstring": "fstring",
}
"""Template languages by name."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The declarations of a front matter."""

    name: str
    """Value of `name`."""

    description: str
    """Value of `description`."""

    model: ModelDeclaration
    """The `model` block."""

    inputs: tuple[InputDeclaration, ...]
    """Declarations of `inputs`, including Prompty 1's root samples."""

    outputs: tuple[InputDeclaration, ...]
    """Declarations of `outputs`."""

    tools: tuple[ToolSpec, ...]
    """Tools of `tools`, and of Prompty 1's options."""

    template: TemplateDeclaration
    """The `template` block."""

    metadata: JsonObject
    """Value of `metadata`."""


def read_front_matter(data: JsonObject, places: Places, dialect: Dialect) -> FrontMatter:
    """Read every typed block; one of a wrong type counts as missing (checks report it)."""
    metadata = data.get("metadata")
    model = _read_model(data.get("model"), places, dialect)
    tools = _read_tools(data.get("tools"), places, ("tools",))
    if dialect == "legacy":
        tools += _legacy_tools(data.get("model"), places)
    return FrontMatter(
        written_text(data.get("name")),
        written_text(data.get("description")),
        model,
        _read_inputs(data, places),
        read_declarations(data.get("outputs"), places, ("outputs",)),
        tools,
        _read_template(data.get("template"), places, dialect),
        metadata if isinstance(metadata, Mapping) else {},
    )


def _read_inputs(data: JsonObject, places: Places) -> tuple[InputDeclaration, ...]:
    """Read the declared inputs and a root `sample`, whose values Prompty 1 uses in a run."""
    inputs = read_declarations(data.get("inputs"), places, ("inputs",))
    samples = stripped(data.get("sample"))
    if not isinstance(samples, Mapping):
        return inputs
    known = {item.name for item in inputs}
    filled = tuple(
        replace(
            item,
            default=samples[item.name],
            has_default=True,
            sample=samples[item.name],
            has_sample=True,
        )
        if item.name in samples
        else item
        for item in inputs
    )
    extra = tuple(
        InputDeclaration(
            name,
            kind_of_value(value),
            default=value,
            has_default=True,
            sample=value,
            has_sample=True,
            span=places.whole("sample", name),
            name_span=places.key("sample", name),
        )
        for name, value in samples.items()
        if name not in known
    )
    return filled + extra


def stripped(value: Json) -> Json:
    """Return a sample as Prompty 1 reads it: with blanks stripped from all texts.

    Source: `Prompty.normalize` of prompty 0.1.50, which reads the front matter and its files.
    """
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, Mapping):
        return {key: stripped(item) for key, item in value.items()}
    return [stripped(item) for item in value] if isinstance(value, list) else value


def _read_model(value: Json, places: Places, dialect: Dialect) -> ModelDeclaration:
    span = places.value("model")
    if isinstance(value, str):
        return ModelDeclaration(value, span=span)
    if not isinstance(value, Mapping):
        return ModelDeclaration(span=span)
    if dialect == "legacy":
        return _read_legacy_model(value, places)
    return ModelDeclaration(
        written_text(value.get("id")),
        written_text(value.get("provider")),
        written_text(value.get("apiType")) or "chat",
        object_of(value.get("connection")),
        object_of(value.get("options")),
        span,
    )


def _read_legacy_model(value: JsonObject, places: Places) -> ModelDeclaration:
    """Read Prompty 1's block with Prompty 2's names; v2 keys take precedence."""
    old = object_of(value.get("connection")) or object_of(value.get("configuration"))
    model_id = (
        written_text(value.get("id"))
        or written_text(old.get("azure_deployment"))
        or written_text(old.get("name"))
        or written_text(old.get("model"))
    )
    kind = written_text(old.get("type"))
    provider = written_text(value.get("provider")) or LEGACY_PROVIDERS.get(kind, kind)
    if not provider and ("azure_deployment" in old or "azure_endpoint" in old):
        provider = "foundry"
    connection: JsonDict = {"kind": "key"} if old else {}
    for key, item in old.items():
        new = {
            "azure_endpoint": "endpoint",
            "base_url": "endpoint",
            "api_key": "apiKey",
            "key": "apiKey",
        }
        if key not in ("type", "azure_deployment", "name", "model"):
            connection[new.get(key, key)] = item
    options = object_of(value.get("parameters")) or object_of(value.get("options"))
    return ModelDeclaration(
        model_id,
        provider,
        written_text(value.get("apiType")) or "chat",
        connection,
        legacy_options(options),
        places.value("model"),
        kind,
    )


def legacy_options(options: JsonObject) -> JsonDict:
    """Return Prompty 1's options under Prompty 2's names; others in `additionalProperties`."""
    found: JsonDict = {}
    rest: JsonDict = {}
    for key, value in options.items():
        if key in LEGACY_OPTIONS:
            name = LEGACY_OPTIONS[key]
            found[name] = [value] if name == "stopSequences" and isinstance(value, str) else value
        elif key in SAME_OPTIONS or key in LEGACY_OPTIONS.values():
            found[key] = value
        elif key != "tools":
            rest[key] = value
    if rest:
        found["additionalProperties"] = rest
    return found


def _read_template(value: Json, places: Places, dialect: Dialect) -> TemplateDeclaration:
    span = places.value("template")
    legacy = dialect == "legacy"
    if isinstance(value, str):
        return TemplateDeclaration(FORMATS.get(value, "jinja2"), strict=not legacy, span=span)
    if not isinstance(value, Mapping):
        return TemplateDeclaration(strict=not legacy, span=span)
    form, parser = value.get("format"), value.get("parser")
    kind = form.get("kind") if isinstance(form, Mapping) else form
    if kind is None and "type" in value:
        kind = value.get("type")  # Prompty 1
    strict = form.get("strict") if isinstance(form, Mapping) else value.get("strict")
    word = parser.get("kind") if isinstance(parser, Mapping) else parser
    return TemplateDeclaration(
        FORMATS.get(written_text(kind), "jinja2"),
        written_text(word),
        strict is True if legacy else strict is not False,
        span,
    )


def _read_tools(value: Json, places: Places, path: KeyPath) -> tuple[ToolSpec, ...]:
    """Return the tools in a list, or in a mapping by name (Prompty 2 §2.9)."""
    if isinstance(value, Mapping):
        pairs: list[tuple[str | int, Json]] = list(value.items())
    elif isinstance(value, list):
        pairs = list(enumerate(value))
    else:
        return ()
    found = (read_tool(item, key, places, (*path, key)) for key, item in pairs)
    return tuple(tool for tool in found if tool is not None)


def read_tool(item: Json, key: str | int, places: Places, path: KeyPath) -> ToolSpec | None:
    """Return a declared tool; None if it has no name."""
    if isinstance(item, str) and isinstance(key, str):
        item = {"kind": item}
    if not isinstance(item, Mapping):
        return None
    inner = item.get("function")
    if isinstance(inner, Mapping):  # a request's form, as in Prompty 1's options
        item = {**inner, "kind": "function"}
    default_name = key if isinstance(key, str) else ""
    name = written_text(item.get("name")) or written_text(item.get("id")) or default_name
    if not name:
        return None
    kind = written_text(item.get("kind")) or written_text(item.get("type"))
    bindings = read_bindings(item.get("bindings"))
    options = object_of(item.get("options"))
    parameters = item["parameters"] if "parameters" in item else options.get("parameters")
    return ToolSpec(
        name,
        written_text(item.get("description")),
        parameter_schema(parameters, frozenset(bindings)),
        _tool_kind(kind),
        strict=item.get("strict") is True,
        bindings=bindings,
        options={key: value for key, value in options.items() if key != "parameters"},
        span=places.whole(*path),
    )


def read_bindings(value: Json) -> dict[str, str]:
    """Read input names by parameter, in either form (`unit: {input: x}`, `unit: x`)."""
    found: dict[str, str] = {}
    if isinstance(value, Mapping):
        for name, item in value.items():
            source = item.get("input") if isinstance(item, Mapping) else item
            if isinstance(source, str) and source:
                found[str(name)] = source
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, Mapping) and isinstance(item.get("input"), str):
                found[written_text(item.get("name"))] = written_text(item["input"])
    return found


def parameter_schema(value: Json, bound: frozenset[str] = frozenset()) -> JsonObject:
    """Return the JSON schema of a tool's arguments, without bound parameters.

    `value` is a list or mapping of properties (Prompty 2), or a JSON schema.
    """
    if isinstance(value, Mapping) and value.get("type") == "object":
        properties = object_of(value.get("properties"))
        schema: JsonDict = {**value}
        schema["properties"] = {
            name: item for name, item in properties.items() if name not in bound
        }
        required = value.get("required")
        if isinstance(required, list):
            schema["required"] = [
                name for name in required if isinstance(name, str) and name not in bound
            ]
        return schema
    return object_schema(read_declarations(value), bound)


def _tool_kind(word: str) -> ToolKind:
    match word:
        case "function" | "mcp" | "openapi":
            return word
        case _:
            return "custom"


def _legacy_tools(model: Json, places: Places) -> tuple[ToolSpec, ...]:
    """Return the tools in Prompty 1's model options."""
    found: list[ToolSpec] = []
    for block in ("parameters", "options"):
        options = object_of(object_of(model).get(block))
        found += _read_tools(options.get("tools"), places, ("model", block, "tools"))
    return tuple(found)
