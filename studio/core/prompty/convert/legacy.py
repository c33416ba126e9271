"""Convert Prompty 2 and the section dialect to Prompty 1, for older programs.

The reverse of `convert_front`: keys that Prompty 1 does not have keep their name, which its
runtimes ignore, and are reported (docs/design/file-format.md).
"""

from collections.abc import Callable, Mapping

from studio.core.prompty.convert.body import hoist_body_tools
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.edit.edits import ConversionDraft, write_scalar
from studio.core.prompty.front.declarations import is_declaration, kind_of_value
from studio.core.prompty.front.front_matter import LEGACY_OPTIONS, parameter_schema, read_bindings
from studio.core.prompty.runtimes.prompty1 import MODEL_KEYS, ROOT_KEYS
from studio.core.text.source import TextEdit
from studio.core.text.values import Json, JsonDict, JsonObject

_TYPES = {"foundry": "azure_openai", "azure": "azure_openai"}
_OPTIONS = {
    new: old for old, new in reversed(LEGACY_OPTIONS.items()) if old != "max_completion_tokens"
}
_KINDS = {"float": "number", "integer": "number"}
_CONNECTION = {"apiKey": "api_key"}
_ROOT_KEYS = ("authors", "tags", "version")
_ROLES = ("tool", "function", "developer", "thread")
_RICH = ("image", "file", "audio")


def convert_to_legacy(draft: ConversionDraft, document: PromptDocument) -> None:
    """Convert a file to Prompty 1.

    Args:
        draft: The file, not yet changed.
        document: The parsed original file.
    """
    if document.dialect == "section":
        hoist_body_tools(draft, document)
    _threads(draft, document)
    for step in _STEPS:
        step(draft)
    _body_notes(draft, document)


def _threads(draft: ConversionDraft, document: PromptDocument) -> None:
    """Replace a thread input in the body by `![thread]`."""
    if document.dialect != "prompty":
        return
    names = {item.name for item in document.inputs if item.kind == "thread"}
    shift = len(draft.text) - len(document.source.text)
    edits = [
        TextEdit(variable.expression.shift(shift), "![thread]")
        for variable in document.variables
        if variable.name in names
    ]
    draft.apply(edits)
    for name in names - {"thread"}:
        draft.notes.append(
            f"inputs.{name}: Prompty 1 takes a conversation from the input 'thread' alone"
        )


def _model(draft: ConversionDraft) -> None:
    model = draft.value("model")
    if isinstance(model, str):
        draft.remove("model")
        draft.add_value(("model",), "api", "chat")
        draft.add_value(("model", "configuration"), "type", "openai")
        draft.add_value(("model", "configuration"), "name", model)
        return
    if draft.has("model", "apiType"):
        draft.rename(("model", "apiType"), "api")
    elif not draft.has("model", "api"):
        draft.add_value(("model",), "api", "chat")
    if draft.has("model", "connection"):
        draft.rename(("model", "connection"), "configuration")
    elif draft.has("model", "provider") or draft.has("model", "id"):
        draft.add_value(("model",), "configuration", {"type": _type(draft)})
    _configuration(draft)


def _type(draft: ConversionDraft) -> str:
    provider = draft.value("model", "provider")
    word = provider if isinstance(provider, str) and provider else "openai"
    return _TYPES.get(word, word)


def _configuration(draft: ConversionDraft) -> None:
    at = ("model", "configuration")
    if not draft.has(*at):
        return
    word = _type(draft)
    is_azure = word == "azure_openai"
    kind = draft.value(*at, "kind")
    if kind not in (None, "key"):
        draft.notes.append(
            f"model.connection.kind: Prompty 1 has no connection of kind {kind!r}; write its "
            "endpoint and key there"
        )
    if draft.has(*at, "kind"):
        draft.replace((*at, "kind"), word)
        draft.rename((*at, "kind"), "type")
    elif not draft.has(*at, "type"):
        draft.add_value(at, "type", word)
    if draft.has(*at, "endpoint"):
        draft.rename((*at, "endpoint"), "azure_endpoint" if is_azure else "base_url")
    for new, old in _CONNECTION.items():
        if draft.has(*at, new):
            draft.rename((*at, new), old)
    if draft.has("model", "provider"):
        draft.remove("model", "provider")
    if draft.has("model", "id"):
        name = "azure_deployment" if is_azure else "name"
        if draft.has(*at, name):
            draft.notes.append(f"model.connection.{name}: it now contains the model's id")
            draft.remove(*at, name)
        draft.move(("model", "id"), at, name)


def _options(draft: ConversionDraft) -> None:
    at = ("model", "parameters")
    if draft.has("model", "options"):
        draft.rename(("model", "options"), "parameters")
    for key in list(draft.block(*at)):
        if key in _OPTIONS:
            draft.rename((*at, key), _OPTIONS[key])
    for key in list(draft.block(*at, "additionalProperties")):
        draft.move((*at, "additionalProperties", key), at, key)
    if draft.has(*at, "additionalProperties"):
        draft.remove(*at, "additionalProperties")


def _declarations(draft: ConversionDraft) -> None:
    for block in ("inputs", "outputs"):
        value = draft.value(block)
        if isinstance(value, list):
            named = {
                str(item.get("name")): {k: v for k, v in item.items() if k != "name"}
                for item in value
                if isinstance(item, Mapping)
            }
            if "#" in draft.document.source.slice(draft.document.entry(block).value):  # type: ignore[union-attr]
                draft.notes.append(f"{block}: comments inside the list are not carried over")
            draft.remove(block)
            draft.add_value((), block, named)
        for name, item in draft.block(block).items():
            if not isinstance(item, Mapping) or not is_declaration(item):
                draft.remove(block, name)
                kept = {} if item is None else {"default": item}
                draft.add_value((block,), name, {"type": _type_of(item), **kept})
            else:
                _declaration(draft, (block, name), item)
    _samples(draft)


def _type_of(value: Json) -> str:
    kind = kind_of_value(value)
    return _KINDS.get(kind, kind)


def _samples(draft: ConversionDraft) -> None:
    """Write the root `sample` with the values that Prompty 1 uses, since it ignores defaults."""
    inputs = draft.block("inputs")
    samples: JsonDict = {}
    for name, item in inputs.items():
        if isinstance(item, Mapping):
            key = "default" if "default" in item else "sample" if "sample" in item else "example"
            if key in item:
                samples[name] = item[key]
            for gone in ("sample", "example"):
                draft.remove("inputs", name, gone)
    known = draft.block("sample")
    added = {name: value for name, value in samples.items() if name not in known}
    draft.add_values(("sample",), added)


_PROPERTY_KEYS = ("kind", "type", "default", "description", "sample", "example")


def _root(draft: ConversionDraft) -> None:
    """Remove the keys that prevent Prompty 1's runtime from loading the file."""
    for path, known in (((), ROOT_KEYS), (("model",), MODEL_KEYS)):
        for key in draft.block(*path) if path else draft.document.data:
            if key not in known:
                draft.remove(*path, key)
                words = ".".join((*path, key))
                draft.notes.append(f"{words}: Prompty 1 loads no file with this key; left out")


def _declaration(draft: ConversionDraft, path: tuple[str, str], item: JsonObject) -> None:
    kind = item.get("kind")
    if isinstance(kind, str):
        if kind in _KINDS:
            draft.replace((*path, "kind"), _KINDS[kind])
        draft.rename((*path, "kind"), "type")
        if kind in _RICH:
            draft.notes.append(
                f"{'.'.join(path)}: Prompty 1 has no inputs of kind {kind!r}; write the file into "
                "the body as ![image](path)"
            )
        elif kind == "integer":
            draft.notes.append(f"{'.'.join(path)}: an integer is a number in Prompty 1")
    lost = [key for key in item if key not in _PROPERTY_KEYS]
    for key in lost:
        draft.remove(*path, key)
    if lost:
        words = ", ".join(lost)
        draft.notes.append(f"{'.'.join(path)}: Prompty 1 does not support {words}; left out")


def _tools(draft: ConversionDraft) -> None:
    """Move declared functions to Prompty 1's place: the model's parameters."""
    tools = draft.value("tools")
    pairs: list[tuple[str, Json]] = []
    if isinstance(tools, Mapping):
        pairs = [(str(name), item) for name, item in tools.items()]
    elif isinstance(tools, list):
        pairs = [(str(item.get("name", "")), item) for item in tools if isinstance(item, Mapping)]
    if not pairs:
        return
    for name, item in pairs:
        block = item if isinstance(item, Mapping) else {"kind": item}
        kind = block.get("kind", block.get("type", "function"))
        if kind != "function":
            draft.notes.append(f"tools.{name}: Prompty 1 has no tools of kind {kind!r}")
            continue
        if block.get("bindings"):
            draft.notes.append(f"tools.{name}.bindings: Prompty 1 binds no inputs to arguments")
        draft.add_item(("model", "parameters", "tools"), _request_tool(name, block))
    entry = draft.document.entry("tools")
    if entry is not None and "#" in draft.document.source.slice(entry.value):
        draft.notes.append("tools: comments inside the list are not carried over")
    draft.remove("tools")


def _request_tool(name: str, item: JsonObject) -> JsonDict:
    options = item.get("options")
    parameters = item.get("parameters")
    if parameters is None and isinstance(options, Mapping):
        parameters = options.get("parameters")
    bound = frozenset(read_bindings(item.get("bindings")))
    function: JsonDict = {"name": name}
    if item.get("description"):
        function["description"] = item["description"]
    function["parameters"] = parameter_schema(parameters, bound)
    if item.get("strict") is True:
        function["strict"] = True
    return {"type": "function", "function": function}


def _metadata(draft: ConversionDraft) -> None:
    for key in _ROOT_KEYS:
        if draft.has("metadata", key) and not draft.has(key):
            draft.move(("metadata", key), (), key)
    if draft.has("metadata") and not draft.block("metadata"):
        draft.remove("metadata")


def _template(draft: ConversionDraft) -> None:
    template = draft.value("template")
    form: Json = "jinja2"
    strict: Json = None
    if isinstance(template, Mapping):
        inner = template.get("format", "jinja2")
        form = inner.get("kind", "jinja2") if isinstance(inner, Mapping) else inner
        strict = inner.get("strict") if isinstance(inner, Mapping) else None
    elif isinstance(template, str):
        form = template
    draft.remove("template")
    draft.add((), "template", [write_scalar(form)], f"template: {form}")
    if form not in ("jinja2", "mustache"):
        draft.notes.append(f"template.format: Prompty 1 has no template language {form!r}")
    if strict is True:
        draft.notes.append("template.format.strict: values may add messages in Prompty 1")


def _body_notes(draft: ConversionDraft, document: PromptDocument) -> None:
    for role in dict.fromkeys(item.role for item in document.sections if item.role in _ROLES):
        draft.notes.append(f"{role}: is not a role of Prompty 1, so the marker is text there")


_STEPS: tuple[Callable[[ConversionDraft], None], ...] = (
    _model,
    _options,
    _declarations,
    _tools,
    _metadata,
    _template,
    _root,
)
