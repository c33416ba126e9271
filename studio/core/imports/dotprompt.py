"""Google's dotprompt files (`.prompt`): front matter, and a Handlebars template with roles.

Source: the public dotprompt specification: `model`, `config`, `input`, `output` with Picoschema,
`tools`, and the helpers `role`, `history`, `media`, `json`, `section`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from studio.core.imports.compose import Composition, compose
from studio.core.imports.handlebars import rewrite
from studio.core.imports.imported import Imported, ImportFailure
from studio.core.imports.record import with_unread_keys
from studio.core.prompty.front.declarations import INPUT_KINDS, kind_of_value, kind_of_word
from studio.core.prompty.front.front_matter import legacy_options
from studio.core.prompty.front.tool_shapes import properties_of_schema
from studio.core.prompty.messages import Message, TextPart
from studio.core.prompty.split import split_front_matter
from studio.core.prompty.yaml.reader import read_yaml
from studio.core.text.values import Json, JsonObject, object_of

_PROVIDERS = {
    "googleai": "google",
    "vertexai": "google",
    "openai": "openai",
    "anthropic": "anthropic",
}
_PICO = re.compile(r"(?P<name>[^(?]+)(?P<optional>\?)?(?:\((?P<kind>\w+)(?:,\s*(?P<told>.*))?\))?")
_ROLES = ("system", "user", "assistant", "developer")


def import_dotprompt(text: str, read: Callable[[str], str]) -> Imported:
    """A `.prompt` file as a Prompty 2 file.

    Args:
        text: the file's text.
        read: Reads a file beside it, for partials; raises `ImportFailure` where it cannot.

    Raises:
        ImportFailure: its front matter cannot be read.
    """
    split = split_front_matter(text)
    reading = read_yaml(text[split.front.start : split.front.end] if split.front else "")
    if reading.broken:
        raise ImportFailure(f"The front matter cannot be read: {reading.problems[0].message}")
    return with_unread_keys(reading.value, lambda data: _made(data, text[split.body.start :], read))


def _made(front: Json, body: str, read: Callable[[str], str]) -> Imported:
    data = object_of(front)
    work = Composition(is_template=True)
    for key in ("name", "description"):
        if isinstance(data.get(key), str):
            work.front[key] = data[key]
    if data.get("metadata"):
        work.front["metadata"] = data["metadata"]
    model = _model(data, work)
    if model:
        work.front["model"] = model
    _inputs(data.get("input"), work)
    _outputs(data.get("output"), work)
    if data.get("tools"):
        work.notes.append("tools: only their names are in the file; declare them, or add tools.")
    _body(body, work, read)
    if not work.messages:
        raise ImportFailure("The file holds no template.")
    name = work.front.get("name")
    return Imported(
        compose(work), "dotprompt file", tuple(work.notes), title=str(name) if name else ""
    )


def _model(data: JsonObject, work: Composition) -> dict[str, Json]:
    found: dict[str, Json] = {}
    word = data.get("model")
    if isinstance(word, str) and word:
        provider, slash, rest = word.partition("/")
        found["id"] = rest if slash and provider in _PROVIDERS else word
        if slash and provider in _PROVIDERS:
            found["provider"] = _PROVIDERS[provider]
    config = data.get("config")
    options = legacy_options(object_of(config))
    if options:
        found["options"] = options
    return found


def _inputs(value: Json, work: Composition) -> None:
    if not isinstance(value, Mapping):
        return
    for name, declared in _schema(value.get("schema")).items():
        work.inputs[name] = declared
    defaults = value.get("default")
    for name, default in defaults.items() if isinstance(defaults, Mapping) else ():
        known = work.inputs.get(name, {"kind": kind_of_value(default)})
        work.inputs[name] = {k: v for k, v in known.items() if k != "required"} | {
            "default": default
        }


def _outputs(value: Json, work: Composition) -> None:
    if not isinstance(value, Mapping):
        return
    found = _schema(value.get("schema"))
    if found:
        work.front["outputs"] = {name: dict(item) for name, item in found.items()}
        if value.get("format") not in (None, "json"):
            work.notes.append(f"output.format: {value['format']!r} has no place beside a schema.")
    elif value.get("schema") is not None:
        work.notes.append("output.schema: it cannot be read; declare outputs.")
    elif value.get("format") not in (None, "text"):
        work.notes.append(f"output.format: {value['format']!r} has no place without a schema.")


def _schema(value: Json) -> dict[str, JsonObject]:
    """Picoschema, or a JSON schema, as declarations."""
    if not isinstance(value, Mapping):
        return {}
    if value.get("type") == "object" and isinstance(value.get("properties"), Mapping):
        listed = [each for each in properties_of_schema(value) if isinstance(each, Mapping)]
        return {
            str(item["name"]): {key: each for key, each in item.items() if key != "name"}
            for item in listed
        }
    found: dict[str, JsonObject] = {}
    for key, item in value.items():
        read = _PICO.fullmatch(str(key))
        if read is not None and read["name"] != "":
            found[read["name"].strip()] = _property(read, item)
    return found


def _property(read: re.Match[str], item: Json) -> JsonObject:
    """`name?(kind, description): value` of Picoschema."""
    word, _, after = str(item).partition(",") if isinstance(item, str) else ("", "", "")
    kind = kind_of_word((read["kind"] or word or "object").strip())
    made: dict[str, Json] = {"kind": kind if kind in INPUT_KINDS else "string"}
    description = (read["told"] or after or "").strip()
    if description:
        made["description"] = description
    if read["kind"] == "enum" and isinstance(item, list):
        made |= {"kind": "string", "enumValues": item}
    elif made["kind"] == "array":
        inner: dict[str, Json] = (
            {"kind": "object", "properties": _schema(item)}
            if isinstance(item, Mapping)
            else {"kind": _plain(item)}
        )
        made["items"] = inner
    elif made["kind"] == "object" and isinstance(item, Mapping):
        made["properties"] = _schema(item)
    if read["optional"] is None:
        made["required"] = True
    return made


def _plain(item: Json) -> str:
    kind = kind_of_word(str(item).partition(",")[0].strip())
    return kind if kind in INPUT_KINDS else "string"


def _body(text: str, work: Composition, read: Callable[[str], str]) -> None:
    def partial(name: str) -> str | None:
        try:
            return read(f"_{name}.prompt").rstrip("\n")
        except ImportFailure:
            return None

    made = rewrite(text, partial)
    work.notes += made.notes
    for role, template in made.roles:
        if role == "history":
            work.add_thread("history")
            continue
        if role not in _ROLES:
            work.notes.append(f"The role {role!r} is not a role of a prompt file; it is user now.")
        word = role if role in _ROLES else "user"
        work.messages.append(Message(word, (TextPart(template),)))  # type: ignore[arg-type]
    if made.marked_media:
        work.parser = "section"
        work.notes.append(
            "media in a loop, in an object or with a fixed address stand as ![image](…), which is "
            "the section dialect: other runtimes of Prompty send it as text."
        )
    for name in made.media:
        work.inputs[name] = {**work.inputs.get(name, {}), "kind": "image"}
