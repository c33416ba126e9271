"""Front matter of Prompty 1 in the words of Prompty 2; what has no home goes to metadata.legacy.

Source: the migration table that the public runtimes once shipped; docs/design/file-format.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from studio.core.prompty.edit.draft import ConversionDraft
from studio.core.prompty.edit.edits import insert_below
from studio.core.prompty.front.declarations import LEGACY_KINDS, is_declaration, kind_of_value
from studio.core.prompty.front.front_matter import LEGACY_OPTIONS, LEGACY_PROVIDERS, SAME_OPTIONS
from studio.core.prompty.front.schema_shapes import SHAPES
from studio.core.prompty.front.tool_shapes import function_tool
from studio.core.text.values import Json

LEGACY_HOME = ("metadata", "legacy")
"""Where keys without a Prompty 2 home are kept."""

_CONNECTION_NAMES = {"azure_endpoint": "endpoint", "base_url": "endpoint", "api_key": "apiKey"}
_CONNECTION_KEYS = {key.name for key in SHAPES["connection"]}
_OPTION_KEYS = {key.name for key in SHAPES["options"]}
_API_TYPES = {"chat": "chat", "embedding": "embedding", "image": "image", "responses": "responses"}
_COMMENT = re.compile(r"(?:^|\s)#", re.MULTILINE)
_EMITTED_MARKER = re.compile(r"^[ \t]*(?:#[ \t]*)?\{\{[^{}\n]*\}\}[ \t]*:[ \t]*\r?$", re.MULTILINE)


def convert_front(draft: ConversionDraft, parser: str) -> None:
    """Rewrite the front matter, key by key.

    Args:
        draft: The file.
        parser: The parser kind to write: `prompty` or `section`.
    """
    for step in _STEPS:
        step(draft)
    _template(draft, parser)


def keep(draft: ConversionDraft, path: tuple[str | int, ...], why: str) -> None:
    """Move a key to metadata.legacy, under its own path, and say so."""
    home = (*LEGACY_HOME, *(str(part) for part in path[:-1]))
    draft.move(path, home, str(path[-1]))
    draft.notes.append(f"{'.'.join(map(str, path))}: {why}; kept under metadata.legacy")


def _api(draft: ConversionDraft) -> None:
    api = draft.value("model", "api")
    if not draft.has("model", "api"):
        return
    if isinstance(api, str) and api in _API_TYPES and not draft.has("model", "apiType"):
        draft.rename(("model", "api"), "apiType")
    else:
        keep(draft, ("model", "api"), f"Prompty 2 has no API named {api!r}")


def _connection(draft: ConversionDraft) -> None:
    if draft.has("model", "configuration"):
        if draft.has("model", "connection"):
            keep(draft, ("model", "configuration"), "there is a connection as well")
        else:
            draft.rename(("model", "configuration"), "connection")
    if not isinstance(draft.value("model", "connection"), Mapping):
        return
    _connection_type(draft)
    for key in list(draft.block("model", "connection")):
        if key in _CONNECTION_NAMES:
            draft.rename(("model", "connection", key), _CONNECTION_NAMES[key])
        elif key not in _CONNECTION_KEYS:
            keep(draft, ("model", "connection", key), "a Prompty 2 connection has no such key")


def _connection_type(draft: ConversionDraft) -> None:
    """`type` and the deployment become provider, kind and model id."""
    old = draft.block("model", "connection")
    word = old.get("type")
    azure = "azure_deployment" in old or "azure_endpoint" in old
    provider = LEGACY_PROVIDERS.get(word, word) if isinstance(word, str) else None
    if provider is None and azure:
        provider = "foundry"
    if "kind" not in old:
        if "type" in old:
            draft.replace(("model", "connection", "type"), "key")
            draft.rename(("model", "connection", "type"), "kind")
            if isinstance(word, str) and word not in LEGACY_PROVIDERS:
                draft.add_value((*LEGACY_HOME, "model", "connection"), "type", word)
                draft.notes.append(f"model.connection.type: {word!r} is kept as the provider")
        else:
            draft.add_value(("model", "connection"), "kind", "key")
    for key in ("azure_deployment", "name"):
        if key not in old or (key == "name" and old.get("kind") in ("reference", "remote")):
            continue
        if draft.has("model", "id"):
            keep(draft, ("model", "connection", key), "the model has an id already")
        else:
            draft.move(("model", "connection", key), ("model",), "id")
    if provider is not None and not draft.has("model", "provider"):
        draft.add_value(("model",), "provider", provider)


def _options(draft: ConversionDraft) -> None:
    if draft.has("model", "parameters"):
        if draft.has("model", "options"):
            for key in list(draft.block("model", "parameters")):
                draft.move(("model", "parameters", key), ("model", "options"), key)
            draft.remove("model", "parameters")
        else:
            draft.rename(("model", "parameters"), "options")
    for key, value in list(draft.block("model", "options").items()):
        path = ("model", "options", key)
        if key in LEGACY_OPTIONS:
            if key == "stop" and isinstance(value, str):
                entry = draft.document.entry(*path)
                if entry is not None:
                    draft.replace(path, f"[{draft.document.source.slice(entry.value)}]")
            draft.rename(path, LEGACY_OPTIONS[key])
        elif key == "tools":
            _option_tools(draft)
        elif key not in _OPTION_KEYS and key not in SAME_OPTIONS:
            draft.move(path, ("model", "options", "additionalProperties"), key)
    if draft.has("model", "options") and draft.value("model", "options") is None:
        draft.remove("model", "options")
    if draft.has("model", "response"):
        keep(draft, ("model", "response"), "Prompty 2 has no such setting")


def _option_tools(draft: ConversionDraft) -> None:
    """Tools among the options, in the shape of a request, become top-level tools."""
    path = ("model", "options", "tools")
    value = draft.value(*path)
    if isinstance(value, str):
        draft.move(path, (), "tools")
        draft.notes.append(
            "model.options.tools: moved to tools; Prompty 2 runtimes want each tool of that file "
            "as {name, kind: function, description, parameters}"
        )
        return
    entry = draft.document.entry(*path)
    if entry is not None and _COMMENT.search(draft.document.source.slice(entry.value)):
        draft.notes.append("model.options.tools: comments inside it are not carried over")
    for item in value if isinstance(value, list) else []:
        if isinstance(item, Mapping):
            draft.add_item(("tools",), function_tool(item))
    draft.remove(*path)


def _inputs(draft: ConversionDraft) -> None:
    inputs = draft.value("inputs")
    if isinstance(inputs, str):
        draft.notes.append(
            f"inputs: the file behind {inputs} must declare each input with kind as well"
        )
        return
    pairs = list(inputs.items()) if isinstance(inputs, Mapping) else []
    for name, item in pairs:
        path = ("inputs", name)
        if not is_declaration(item):
            _expand(draft, path, item)
            continue
        if "type" in item and "kind" not in item:
            word = item["type"]
            if isinstance(word, str) and word in LEGACY_KINDS:
                draft.replace((*path, "type"), LEGACY_KINDS[word])
            draft.rename((*path, "type"), "kind")
        elif "kind" not in item:
            value = next((item[key] for key in ("default", "sample") if key in item), "")
            draft.add_value(path, "kind", kind_of_value(value))
        if "sample" in item and "example" not in item:
            draft.rename((*path, "sample"), "example")
        for key in ("json_schema", "strict"):
            if key in item:
                keep(draft, (*path, key), "a Prompty 2 input has no such key")
        if draft.value(*path, "kind") == "array" and "items" not in item:
            draft.add_value(path, "items", _items_of(item.get("default", item.get("sample"))))


def _expand(draft: ConversionDraft, path: tuple[str, str], value: Json) -> None:
    """`name: value` becomes kind and default; the value's own text is kept."""
    entry = draft.document.entry(*path)
    if entry is None:
        return
    kind = kind_of_value(value)
    items = _items_of(value) if kind == "array" else None
    extra = f", items: {{kind: {items['kind']}}}" if items else ""
    written = draft.document.source.slice(entry.value)
    if not written or "\n" in written or written.startswith(("|", ">", "&", "*", "!")):
        declared: dict[str, Json] = {"kind": kind}
        if items:
            declared["items"] = items
        if value is not None:
            declared["default"] = value
        draft.remove(*path)
        draft.add_value((path[0],), path[1], declared)
        return
    draft.replace(path, f"{{kind: {kind}{extra}, default: {_safe_in_flow(written, value)}}}")


def _safe_in_flow(written: str, value: Json) -> str:
    """A plain scalar as it may stand between braces."""
    if isinstance(value, str) and written[0] not in "\"'" and any(c in written for c in ",[]{}"):
        import json

        return json.dumps(value, ensure_ascii=False)
    return written


def _items_of(value: Json) -> dict[str, Json]:
    first = value[0] if isinstance(value, list) and value else ""
    kind = kind_of_value(first)
    return {"kind": kind}


def _samples(draft: ConversionDraft) -> None:
    """Root samples are what a run used: they become defaults."""
    sample = draft.value("sample")
    if not draft.has("sample"):
        return
    if not isinstance(sample, Mapping):
        keep(draft, ("sample",), "only a mapping of samples has a place")
        return
    for name, value in sample.items():
        if not draft.has("inputs", name):
            declared: dict[str, Json] = {"kind": kind_of_value(value)}
            if declared["kind"] == "array":
                declared["items"] = _items_of(value)
            draft.add_value(("inputs",), name, {**declared, "default": value})
        elif not draft.has("inputs", name, "default"):
            draft.add_value(("inputs", name), "default", value)
    draft.remove("sample")


def _root_keys(draft: ConversionDraft) -> None:
    for key in ("authors", "tags", "version"):
        if draft.has(key) and not draft.has("metadata", key):
            draft.move((key,), ("metadata",), key)
    if draft.has("base"):
        keep(draft, ("base",), "Prompty 2 has no base prompts")


def _tools(draft: ConversionDraft) -> None:
    """`id` and `type` of declared tools become name and kind."""
    tools = draft.value("tools")
    for index, item in enumerate(tools if isinstance(tools, list) else []):
        if not isinstance(item, Mapping):
            continue
        for old, new in (("id", "name"), ("type", "kind")):
            if old in item and new not in item:
                draft.rename(("tools", index, old), new)
        kind = item.get("kind", item.get("type"))
        if isinstance(kind, str) and kind != "function" and "connection" not in item:
            draft.notes.append(
                f"tools.{index}: Prompty 2 wants a connection for a tool of kind {kind!r}"
            )
        parameters = item.get("parameters")
        for at, parameter in enumerate(parameters if isinstance(parameters, list) else []):
            if isinstance(parameter, Mapping) and "type" in parameter and "kind" not in parameter:
                path = ("tools", index, "parameters", at, "type")
                word = parameter["type"]
                if isinstance(word, str) and word in LEGACY_KINDS:
                    draft.replace(path, LEGACY_KINDS[word])
                draft.rename(path, "kind")


def _template(draft: ConversionDraft, parser: str) -> None:
    """The template block, written out: format and parser as blocks with a kind."""
    body = draft.document.source.slice(draft.document.body)
    emits = _EMITTED_MARKER.search(body) is not None
    strict = ", strict: false" if emits else ""
    if emits:
        draft.notes.append(
            "template.format.strict is false, because the template writes role markers itself "
            "({{…}}: on a line); a value could add messages too"
        )
    value = draft.value("template")
    if not isinstance(value, Mapping):
        kind = value if isinstance(value, str) else "jinja2"
        block = f"{{format: {{kind: {kind}{strict}}}, parser: {{kind: {parser}}}}}"
        if draft.has("template"):
            draft.replace(("template",), block)
        else:
            draft.apply(
                insert_below(draft.document, (), [f"template: {block}"], f"template: {block}")
            )
        return
    if "type" in value and "format" not in value:
        draft.rename(("template", "type"), "format")
    for key in value:
        if key not in ("format", "parser", "type"):
            keep(draft, ("template", key), "a Prompty 2 template has no such key")
    form = draft.value("template", "format")
    if isinstance(form, Mapping):
        if emits:
            draft.set(("template", "format", "strict"), "false")
    elif isinstance(form, str):
        draft.replace(("template", "format"), f"{{kind: {form}{strict}}}")
    else:
        draft.add_value(("template",), "format", {"kind": "jinja2", "strict": not emits})
    if isinstance(draft.value("template", "parser"), str):
        draft.replace(("template", "parser"), f"{{kind: {parser}}}")
    else:
        draft.set(("template", "parser", "kind"), parser)


_STEPS: tuple[Callable[[ConversionDraft], None], ...] = (
    _api,
    _connection,
    _options,
    _inputs,
    _samples,
    _root_keys,
    _tools,
)
