"""Import AgentSchema's prompt agents (YAML) by text edits, so that comments are kept.

Source: the public schema, `PromptAgent` v1.0: `inputSchema`, `outputSchema` and the parameters of a
function tool contain properties; `instructions` is the body.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from studio.core.imports.imported import Imported, ImportFailure
from studio.core.prompty.edit.edits import ConversionDraft, flow_value, unnest
from studio.core.prompty.front.front_matter import read_bindings
from studio.core.prompty.parse import parse
from studio.core.prompty.yaml.reader import read_yaml, write_yaml
from studio.core.text.source import TextEdit
from studio.core.text.values import Json, JsonObject, KeyPath, pairs_of, text_of
from studio.core.wire.request import provider_of

_AGENTS = ("prompt", "workflow", "hosted", "container")
_KEYS = ("instructions", "inputSchema", "outputSchema", "model", "tools", "template")
_FORMULA = re.compile(r"=\s*Env\.([A-Za-z_]\w*)")
_PROPERTY = {"enum": "enumValues"}


def is_agent_schema(data: Json) -> bool:
    """Return whether a YAML document is a prompt agent, or a manifest that contains one."""
    if not isinstance(data, Mapping):
        return False
    if _is_manifest(data):
        return True
    kind = data.get("kind")
    if isinstance(kind, str) and kind.lower() in _AGENTS:
        return True
    return "instructions" in data and any(key in data for key in _KEYS[1:])


def import_agent_schema(text: str) -> Imported:
    """Return a prompt agent as a Prompty 2 file.

    Raises:
        ImportFailure: the YAML cannot be read, or it is another kind of agent.
    """
    reading = read_yaml(text)
    data = reading.value
    if reading.broken or not isinstance(data, Mapping):
        words = reading.problems[0].message if reading.problems else "it is not a mapping of keys."
        raise ImportFailure(f"The YAML cannot be read: {words}")
    kind = data.get("kind", "prompt")
    if str(kind).lower() != "prompt":
        raise ImportFailure(f"This is an agent of kind {kind!r}; only prompt agents are prompts.")
    if _is_manifest(data):
        return _of_manifest(data)
    body = _text(data, "instructions")
    further = _text(data, "additionalInstructions")
    front = re.sub(r"\A(?:\ufeff)?(?:---[ \t]*\r?\n)?", "", text)
    front = re.sub(r"\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n)?\Z", "\n", front)
    draft = ConversionDraft(f"---\n{front.rstrip()}\n---\n")
    for key in ("instructions", "additionalInstructions", "kind"):
        draft.remove(key)
    for old, new in (("inputSchema", "inputs"), ("outputSchema", "outputs")):
        _schema(draft, (old,), new)
    _tools(draft, data)
    _template(draft, data)
    _words(draft)
    _bindings(draft)
    _variables(draft)
    if further:
        body = f"{body.rstrip()}\n\n{further}"
        draft.notes.append("additionalInstructions: joined to the end of the instructions")
    body = body.lstrip("\n") + ("" if body.endswith("\n") else "\n")
    body += _conversation(draft, body)
    return Imported(
        draft.text + body,
        "AgentSchema prompt agent",
        tuple(draft.notes),
        title=text_of(data.get("name")),
    )


def _variables(draft: ConversionDraft) -> None:
    """Replace `=Env.NAME`, a formula of Microsoft's agent framework, by a reference."""
    edits = []
    for entry in draft.document.entries:
        found = _FORMULA.fullmatch(str(draft.value(*entry.path)))
        if found is not None and len(entry.value):
            edits.append(TextEdit(entry.value, flow_value(f"${{env:{found[1]}}}")))
    draft.apply(edits)


def _conversation(draft: ConversionDraft, body: str) -> str:
    """Return a place for the user's messages, since providers need more than a system message."""
    document = parse(draft.text + body)
    has_place = any(section.role in ("user", "thread") for section in document.sections)
    if provider_of(document.model) == "openai-chat" or has_place:
        return ""
    if any(item.kind == "thread" for item in document.inputs):
        return ""
    name = "conversation"
    if document.input(name) is not None:
        return ""
    if isinstance(draft.value("inputs"), list):
        draft.add_items(("inputs",), [{"name": name, "kind": "thread"}])
    else:
        draft.add_value(("inputs",), name, {"kind": "thread"})
    draft.notes.append(f"{name}: the user's messages, which the agent gets as it runs, go there")
    return f"\n{{{{{name}}}}}\n"


def _is_manifest(data: JsonObject) -> bool:
    """Return whether the data is an AgentManifest with the agent as its template."""
    template = data.get("template")
    return isinstance(template, Mapping) and "instructions" in template


def _schema(draft: ConversionDraft, path: KeyPath, new: str) -> None:
    """Return whether the data is an AgentManifest with the agent as its template."""
    block = draft.block(*path)
    if not block:
        return
    for key in list(block):
        if key != "properties":
            value = block[key]
            if key == "strict" and value is False:
                draft.remove(*path, key)
                continue
            dotted = ".".join(map(str, (*path, key)))
            draft.move((*path, key), ("metadata", "agentSchema", *map(str, path)), key)
            draft.notes.append(
                f"{dotted}: Prompty has no such key; kept under metadata.agentSchema"
            )
    if not unnest(draft, (*path, "properties"), new):
        draft.notes.append(f"{'.'.join(map(str, path))}: cannot be read, so it stays as written")
        return
    _property_keys(draft, (*path[:-1], new))


def _property_keys(draft: ConversionDraft, path: KeyPath) -> None:
    for key, _ in pairs_of(draft.value(*path)):
        for old, new in _PROPERTY.items():
            if draft.has(*path, key, old) and not draft.has(*path, key, new):
                draft.rename((*path, key, old), new)


def _tools(draft: ConversionDraft, data: JsonObject) -> None:
    for key, _ in pairs_of(data.get("tools")):
        if isinstance(draft.value("tools", key, "parameters"), Mapping) and draft.has(
            "tools", key, "parameters", "properties"
        ):
            _schema(draft, ("tools", key, "parameters"), "parameters")


def _template(draft: ConversionDraft, data: JsonObject) -> None:
    """Write the template block in the form of the studio's files."""
    template = data.get("template")
    if not isinstance(template, Mapping):
        draft.remove("template")
        draft.set(("template", "format", "kind"), "jinja2")
    else:
        for key in ("format", "parser"):
            word = template.get(key)
            if isinstance(word, str):
                draft.replace(("template", key), f"{{kind: {word}}}")
    if not draft.has("template", "parser"):
        draft.set(("template", "parser", "kind"), "prompty")


def _of_manifest(data: JsonObject) -> Imported:
    """Return the agent of a manifest's template, with the manifest's name if it has none."""
    template = data.get("template")
    agent = dict(template) if isinstance(template, Mapping) else {}
    for key in ("name", "displayName", "description", "metadata"):
        if key in data and key not in agent:
            agent[key] = data[key]
    given = data.get("parameters")
    properties = given.get("properties", given) if isinstance(given, Mapping) else given
    if properties and not {"inputs", "inputSchema"} & set(agent):
        agent["inputs"] = properties
    made = import_agent_schema("\n".join(write_yaml(agent)) + "\n")
    taken = {"parameters"} if agent.get("inputs") is properties else set()
    lost = [key for key in data if key not in ("template", *agent, *taken)]
    notes = [f"{key}: belongs to the manifest, not to the prompt." for key in lost]
    return replace(made, form="AgentSchema agent manifest", notes=(*made.notes, *notes))


def _words(draft: ConversionDraft) -> None:
    """Correct the capitalization of values in Microsoft's samples: `apiType: Chat`."""
    for key in ("apiType", "provider"):
        word = draft.value("model", key)
        if isinstance(word, str) and word != word.lower():
            new = {"azureopenai": "foundry", "azure_openai": "foundry"}.get(
                word.lower(), word.lower()
            )
            if key == "apiType" and new not in ("chat", "responses", "embedding", "image"):
                draft.move(("model", key), ("metadata", "agentSchema", "model"), key)
                draft.notes.append(f"model.apiType: {word!r} is not an API of a prompt; kept aside")
            else:
                draft.replace(("model", key), new)


def _bindings(draft: ConversionDraft) -> None:
    """Remove bindings to functions of a program: only inputs can be bound."""
    tools = draft.value("tools")
    inputs = draft.value("inputs")
    names = (
        set(inputs)
        if isinstance(inputs, Mapping)
        else {
            str(item.get("name"))
            for item in (inputs if isinstance(inputs, list) else [])
            if isinstance(item, Mapping)
        }
    )
    for key, tool in pairs_of(tools):
        bound = read_bindings(tool.get("bindings")) if isinstance(tool, Mapping) else {}
        if bound and not set(bound.values()) <= names:
            name = str(tool.get("name", key)) if isinstance(tool, Mapping) else str(key)
            draft.move(
                ("tools", key, "bindings"), ("metadata", "agentSchema", "tools", name), "bindings"
            )
            draft.notes.append(
                f"tools.{name}.bindings: it names no input of the prompt; kept under "
                "metadata.agentSchema"
            )


def _text(data: JsonObject, key: str) -> str:
    """Return the text of a key; a list of texts is joined as paragraphs."""
    value = data.get(key)
    lines = value if isinstance(value, list) else [value or ""]
    if not all(isinstance(line, str) for line in lines):
        raise ImportFailure(f"{key}: AgentSchema needs one text here; write it as a text.")
    return "\n".join(str(line) for line in lines)
