"""Convert Prompty 1's front matter to Prompty 2; other keys move to metadata.legacy.

Source: the migration table that the public runtimes once shipped; docs/design/file-format.md.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from studio.core.prompty.convert.declarations import convert_declarations, convert_tools, items_of
from studio.core.prompty.edit.edits import ConversionDraft, flow_value, insert_below
from studio.core.prompty.front import declarations, front_matter
from studio.core.prompty.front.schema import SHAPES
from studio.core.prompty.reference_values import (
    ReferenceContext,
    UnresolvedReference,
    resolve_reference,
    whole_reference,
)
from studio.core.prompty.runtimes.prompty2 import trust_faults
from studio.core.prompty.yaml.reader import write_yaml
from studio.core.text.values import Json, JsonDict, KeyPath, objects_of

LEGACY_HOME = ("metadata", "legacy")
"""Path for keys that Prompty 2 does not have."""

_CONNECTION_NAMES = {
    "azure_endpoint": "endpoint",
    "base_url": "endpoint",
    "api_key": "apiKey",
    "key": "apiKey",
}
_CONNECTION_KEYS = {key.name for key in SHAPES["connection"]}
_OPTION_KEYS = {key.name for key in SHAPES["options"]}
_API_TYPES = {"chat": "chat", "embedding": "embedding", "image": "image", "responses": "responses"}
_COMMENT = re.compile(r"(?:^|\s)#", re.MULTILINE)
_IN_A_REFERENCE = re.compile(r"https?://[^\s{}$@]+")
_EMITTED_MARKER = re.compile(r"^[ \t]*(?:#[ \t]*)?\{\{[^{}\n]*\}\}[ \t]*:[ \t]*\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Files:
    """A reader of the files that a prompt names, if that is allowed."""

    context: ReferenceContext | None = None
    """Resolver of references; None reads none."""

    def read(self, value: str) -> Json:
        """Read the file named by `${file:…}` or by a plain path to JSON; None if it is unknown."""
        place = value.strip()
        reference = whole_reference(place)
        if reference is None and place.endswith(".json"):  # as in the first Prompty 1 files
            reference = whole_reference(f"${{file:{place.removeprefix('file:')}}}")
        if self.context is None or reference is None or reference.protocol != "file":
            return None
        try:
            return resolve_reference(reference, self.context)
        except UnresolvedReference:
            return None


def convert_front(
    draft: ConversionDraft, parser: str, references: ReferenceContext | None = None
) -> None:
    """Convert the front matter, key by key.

    Args:
        draft: The file.
        parser: The parser kind to write: `prompty` or `section`.
        references: Resolver for files whose values Prompty 2 needs inline.
    """
    for step in _STEPS:
        step(draft, Files(references))
    if parser == "prompty":
        _untrusted_endpoint(draft)
    _template(draft, parser)


def keep(draft: ConversionDraft, path: KeyPath, why: str) -> None:
    """Move a key to metadata.legacy, under its own path, and report it."""
    draft.move(path, (*LEGACY_HOME, *(str(part) for part in path[:-1])), str(path[-1]))
    draft.notes.append(f"{'.'.join(map(str, path))}: {why}; kept under metadata.legacy")


def _api(draft: ConversionDraft, files: Files) -> None:
    api = draft.value("model", "api")
    if not draft.has("model", "api"):
        return
    if isinstance(api, str) and api in _API_TYPES and not draft.has("model", "apiType"):
        draft.rename(("model", "api"), "apiType")
    else:
        keep(draft, ("model", "api"), f"Prompty 2 has no API named {api!r}")


def _connection(draft: ConversionDraft, files: Files) -> None:
    if draft.has("model", "configuration"):
        if draft.has("model", "connection"):
            keep(draft, ("model", "configuration"), "there is a connection as well")
        else:
            draft.rename(("model", "configuration"), "connection")
    value = draft.value("model", "connection")
    if isinstance(value, str) and whole_reference(value) is None:  # the name of a kept connection
        draft.replace(("model", "connection"), f"{{kind: reference, name: {flow_value(value)}}}")
    if not isinstance(draft.value("model", "connection"), Mapping):
        return
    _connection_type(draft)
    for key in list(draft.block("model", "connection")):
        name = _CONNECTION_NAMES.get(key)
        if name is not None and not draft.has("model", "connection", name):
            draft.rename(("model", "connection", key), name)
        elif key not in _CONNECTION_KEYS:
            keep(draft, ("model", "connection", key), "a Prompty 2 connection has no such key")


def _connection_type(draft: ConversionDraft) -> None:
    """Convert `type` and the deployment to provider, kind and model id."""
    old = draft.block("model", "connection")
    word = old.get("type")
    azure = "azure_deployment" in old or "azure_endpoint" in old
    provider = front_matter.LEGACY_PROVIDERS.get(word, word) if isinstance(word, str) else None
    if provider is None and azure:
        provider = "foundry"
    if "kind" not in old:
        if "type" in old:
            draft.replace(("model", "connection", "type"), "key")
            draft.rename(("model", "connection", "type"), "kind")
            if isinstance(word, str) and word not in front_matter.LEGACY_PROVIDERS:
                draft.add_value((*LEGACY_HOME, "model", "connection"), "type", word)
                draft.notes.append(f"model.connection.type: {word!r} is kept as the provider")
        else:
            draft.add_value(("model", "connection"), "kind", "key")
    for key in ("azure_deployment", "name", "model"):
        if key not in old or (key == "name" and old.get("kind") in ("reference", "remote")):
            continue
        if draft.has("model", "id"):
            keep(draft, ("model", "connection", key), "the model has an id already")
        else:
            draft.move(("model", "connection", key), ("model",), "id")
    if provider is not None and not draft.has("model", "provider"):
        draft.add_value(("model",), "provider", provider)


def _untrusted_endpoint(draft: ConversionDraft) -> None:
    """Move an address to which Prompty 2 sends no environment key to a variable."""
    path = ("model", "connection", "endpoint")
    place = draft.value(*path)
    connection = draft.block("model", "connection")
    if not isinstance(place, str) or not any(True for _ in trust_faults(connection)):
        return
    if whole_reference(place.strip()) is not None or not _IN_A_REFERENCE.fullmatch(place.strip()):
        return
    host = place.partition("://")[2].partition("/")[0]
    name = re.sub(r"\W+", "_", host).strip("_").upper() + "_ENDPOINT"
    name = name if name[0].isalpha() else f"HOST_{name}"
    draft.replace(path, flow_value(f"${{env:{name}:{place.strip()}}}"))
    draft.notes.append(
        f"model.connection.endpoint: {place.strip()} is the default of ${{env:{name}}} now; "
        "Prompty 2 sends a key of the environment there once that variable is set"
    )


def _options(draft: ConversionDraft, files: Files) -> None:
    if draft.has("model", "parameters"):
        if draft.has("model", "options"):
            for key in list(draft.block("model", "parameters")):
                draft.move(("model", "parameters", key), ("model", "options"), key)
            draft.remove("model", "parameters")
        else:
            draft.rename(("model", "parameters"), "options")
    for key, value in list(draft.block("model", "options").items()):
        path = ("model", "options", key)
        if key in front_matter.LEGACY_OPTIONS:
            if key == "stop" and isinstance(value, str):
                entry = draft.document.entry(*path)
                if entry is not None:
                    draft.replace(path, f"[{draft.document.source.slice(entry.value)}]")
            draft.rename(path, front_matter.LEGACY_OPTIONS[key])
        elif key == "tools":
            _option_tools(draft, files)
        elif key not in _OPTION_KEYS and key not in front_matter.SAME_OPTIONS:
            draft.move(path, ("model", "options", "additionalProperties"), key)
    if draft.has("model", "options") and draft.value("model", "options") is None:
        draft.remove("model", "options")
    if draft.has("model", "response"):
        keep(draft, ("model", "response"), "Prompty 2 has no such setting")


def _option_tools(draft: ConversionDraft, files: Files) -> None:
    """Move tools in a request's form from the options to the top level."""
    path = ("model", "options", "tools")
    value = draft.value(*path)
    if isinstance(value, str):
        value = files.read(value)
        if not isinstance(value, list):
            draft.move(path, (), "tools")
            draft.losses.append(
                "model.parameters.tools: the file cannot be read here, and Prompty 2 needs each "
                "of its tools as {name, kind: function, description, parameters}"
            )
            return
        draft.notes.append("model.parameters.tools: the file's tools are written out under tools")
    entry = draft.document.entry(*path)
    if entry is not None and _COMMENT.search(draft.document.source.slice(entry.value)):
        draft.notes.append("model.options.tools: comments inside it are not carried over")
    draft.add_items(("tools",), [declarations.function_tool(item) for item in objects_of(value)])
    draft.remove(*path)


def _declarations(draft: ConversionDraft, files: Files) -> None:
    for block in ("inputs", "outputs"):
        value = draft.value(block)
        if isinstance(value, str):
            draft.notes.append(
                f"{block}: the file behind {value} must declare each of them with kind as well"
            )
            continue
        for name, item in list(draft.block(block).items()):
            for key in ("json_schema", "strict"):
                if isinstance(item, Mapping) and declarations.is_declaration(item) and key in item:
                    keep(draft, (block, name, key), "a Prompty 2 declaration has no such key")
        convert_declarations(draft, block)


def _samples(draft: ConversionDraft, files: Files) -> None:
    """Convert root samples, which a run used, to defaults, including samples in a file."""
    sample = draft.value("sample")
    if not draft.has("sample"):
        return
    if isinstance(sample, str):
        given = sample
        sample = files.read(sample)
        if isinstance(sample, Mapping):
            draft.notes.append(f"sample: the values of {given} are written into inputs")
    if not isinstance(sample, Mapping):
        draft.losses.append(
            "sample: only a mapping of samples is possible, or a readable file with one"
        )
        keep(draft, ("sample",), "only a mapping of samples is possible")
        return
    inputs = draft.value("inputs")
    if isinstance(inputs, str):
        keep(draft, ("sample",), "the inputs are declared in another file")
        draft.losses.append("sample: the inputs are declared in another file")
        return
    is_list = isinstance(inputs, list)
    names = (
        [item.get("name") if isinstance(item, Mapping) else None for item in inputs]
        if isinstance(inputs, list)
        else list(draft.block("inputs"))
    )
    added: dict[str, JsonDict] = {}
    defaults: dict[KeyPath, Json] = {}
    for name, value in ((each, front_matter.stripped(item)) for each, item in sample.items()):
        if name not in names:
            kind = declarations.kind_of_value(value)
            items = {"items": items_of(value)} if kind == "array" else {}
            added[name] = {"kind": kind, **items, "default": value}
            continue
        path = ("inputs", names.index(name) if is_list else name)
        if draft.has(*path, "default") and draft.value(*path, "default") != value:
            keep(draft, (*path, "default"), "Prompty 1 takes the sample, which is the default now")
        if not draft.has(*path, "default"):
            defaults[path] = value
    document = draft.document
    draft.apply(
        [
            edit
            for path, value in defaults.items()
            for edit in insert_below(
                document, path, write_yaml({"default": value}), f"default: {flow_value(value)}"
            )
        ]
    )
    if is_list:
        draft.add_items(("inputs",), [{"name": name, **item} for name, item in added.items()])
    else:
        draft.add_values(("inputs",), added)
    draft.remove("sample")


def _root_keys(draft: ConversionDraft, files: Files) -> None:
    for key in ("authors", "tags", "version"):
        if draft.has(key) and not draft.has("metadata", key):
            draft.move((key,), ("metadata",), key)
    if draft.has("base"):
        keep(draft, ("base",), "Prompty 2 has no base prompts")


def _tools(draft: ConversionDraft, files: Files) -> None:
    """Convert declared tools to Prompty 2; a file of tools in a request's form is inserted."""
    value = draft.value("tools")
    if isinstance(value, str):
        tools = files.read(value)
        if isinstance(tools, list) and any(
            isinstance(item, Mapping) and "kind" not in item for item in tools
        ):
            draft.remove("tools")
            draft.add_value(
                (),
                "tools",
                [declarations.declared_tool(t) for t in tools if isinstance(t, Mapping)],
            )
            draft.notes.append(f"tools: those of {value} are written out")
        return
    convert_tools(draft)


def _template(draft: ConversionDraft, parser: str) -> None:
    """Write the whole template block: format and parser as blocks with a kind."""
    emits = _EMITTED_MARKER.search(draft.document.source.slice(draft.document.body)) is not None
    strict = ", strict: false" if emits else ""
    if emits:
        draft.notes.append(
            "template.format.strict is false, because the template writes role markers itself "
            "({{…}}: on a line); a value could add messages too"
        )
    value = draft.value("template")
    if not isinstance(value, Mapping):
        kind = front_matter.FORMATS.get(value, value) if isinstance(value, str) else "jinja2"
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
        kind = front_matter.FORMATS.get(form, form)
        draft.replace(("template", "format"), f"{{kind: {kind}{strict}}}")
    else:
        draft.add_value(("template",), "format", {"kind": "jinja2", "strict": not emits})
    if isinstance(draft.value("template", "parser"), str):
        draft.replace(("template", "parser"), f"{{kind: {parser}}}")
    else:
        draft.set(("template", "parser", "kind"), parser)


_STEPS: tuple[Callable[[ConversionDraft, Files], None], ...] = (
    _api,
    _connection,
    _options,
    _declarations,
    _samples,
    _root_keys,
    _tools,
)
