"""Google's dotprompt files (`.prompt`): front matter, and a Handlebars template with roles.

Source: the public dotprompt specification: `model`, `config`, `input`, `output` with Picoschema,
`tools`, and the helpers `role`, `history`, `media`, `json`, `section`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from studio.core.imports.compose import Composition, compose
from studio.core.imports.imported import Imported, ImportFailure, with_unread_keys
from studio.core.prompty.document import Message, TextPart
from studio.core.prompty.foreign import split_front_matter
from studio.core.prompty.front.declarations import (
    INPUT_KINDS,
    kind_of_value,
    kind_of_word,
    properties_of_schema,
)
from studio.core.prompty.front.front_matter import legacy_options
from studio.core.prompty.yaml.reader import read_yaml
from studio.core.text.values import Json, JsonDict, JsonObject, object_of

# Handlebars, as dotprompt has it, in the words of Jinja2.

_TAG = re.compile(r"\{\{(?P<raw>\{)?~?(?P<inside>[^{}]*)~?\}\}(?(raw)\})")
_NAME = re.compile(r"(?:\.\./|@)?[A-Za-z_][\w.-]*|this|\.")
_BLOCK = re.compile(r"#(?P<kind>\w+)\s+(?P<what>[\w./@-]+)")
_JINJA = re.compile(r"\{[%#]")
_URL = re.compile(r"url=(?:(?P<name>[\w./@-]+)|[\"'](?P<text>[^\"']*)[\"'])")
_PAIR = re.compile(r"(?P<key>\w+)=(?:(?P<text>\"[^\"]*\"|'[^']*')|(?P<value>[\w./@-]+))")
_OURS = "\0"
"""Prefix of a media mark that this module wrote."""
_IMAGE = re.compile(r"(?<!\0)!(?=\[[^\]\n]*\]\()")
_DEEPEST = 20
"""Most partials within partials."""
_SPECIAL = {"@index": "loop.index0", "@first": "loop.first", "@last": "loop.last"}


@dataclass(slots=True)
class Rewritten:
    """A template in Jinja2, with notes on what it cannot express."""

    text: str = ""
    """The template."""

    notes: list[str] = field(default_factory=list)
    """Notes on what has no place, a sentence each."""

    roles: list[tuple[str, str]] = field(default_factory=list)
    """Role and template of each message, in order; `history` is the conversation."""

    media: list[str] = field(default_factory=list)
    """Inputs that hold a picture or a file."""

    marked_media: bool = False
    """Whether media are marked in the text, `![image](…)`, which the section dialect alone has."""


def rewrite(source: str, partial: Callable[[str], str | None]) -> Rewritten:
    """Rewrite a dotprompt template; each `{{role "…"}}` begins a message.

    Args:
        source: the template.
        partial: the template of a partial by its name; None where there is none.
    """
    work = _Work(partial)
    work.read(source)
    work.end()
    roles = work.made.roles
    if work.made.marked_media:  # any other text that looks like a mark stays text
        roles = [(role, _IMAGE.sub('{{ "!" }}', text)) for role, text in roles]
    work.made.roles = [(role, text.replace(_OURS, "")) for role, text in roles]
    return work.made


class _Work:
    def __init__(self, partial: Callable[[str], str | None]) -> None:
        self.made = Rewritten()
        self._partial = partial
        self._depth = 0
        self._role = "user"
        self._pieces: list[str] = []
        self._blocks: list[tuple[str, str]] = []
        self._names: dict[str, str] = {}
        self._named_at = 0

    def read(self, source: str) -> None:
        """Rewrite a template, or a partial of one."""
        at = 0
        for tag in _TAG.finditer(source):
            self.write(_literal(source[at : tag.start()]))
            self.tag(tag["inside"].strip(), tag[0])
            at = tag.end()
        self.write(_literal(source[at:]))

    def write(self, text: str) -> None:
        self._pieces.append(text)

    def end(self) -> None:
        """End the message so far."""
        text = "".join(self._pieces)
        self._pieces.clear()
        if text.strip():
            self.made.roles.append((self._role, text.strip("\n")))

    def tag(self, inside: str, whole: str) -> None:
        word, _, rest = inside.partition(" ")
        rest = rest.strip()
        if inside.startswith("!"):
            return
        if word == "role":
            self.end()
            name = rest.strip("\"'")
            self._role = {"model": "assistant"}.get(name, name)
        elif word == "history":
            self.end()
            self.made.roles.append(("history", ""))
            self._role = "assistant"  # as dotprompt goes on after the history
        elif word == "media":
            self._media(rest)
        elif inside.startswith(">"):
            self._include(inside[1:].strip())
        elif inside.startswith("#"):
            self._open(inside, whole)
        elif inside.startswith("/"):
            self._close()
        elif inside == "else":
            self.write("{% else %}")
        elif word == "json" and _NAME.fullmatch(rest.partition(" ")[0]):
            path = self._path(rest.partition(" ")[0])
            self.write(f"{{% if {path} is defined %}}{{{{ {path} | tojson }}}}{{% endif %}}")
        elif _NAME.fullmatch(inside):
            self.write(f"{{{{ {self._path(inside)} }}}}")
        else:
            self._lost(f"The helper {whole} has no place in a prompt file; it is left out.")

    def _lost(self, told: str) -> None:
        if told not in self.made.notes:
            self.made.notes.append(told)

    def _media(self, rest: str) -> None:
        found = _URL.search(rest)
        if found is None:
            self._lost(f"The medium {{{{media {rest}}}}} has no url; it is left out.")
            return
        name = self._path(found["name"]) if found["name"] else ""
        if name.isidentifier() and name not in (each for _, each in self._blocks):
            self.write(f"{{{{ {name} }}}}")
            self.made.media.append(name)
            return
        self.made.marked_media = True
        self.write(f"{_OURS}![image]({f'{{{{ {name} }}}}' if name else found['text']})")

    def _include(self, rest: str) -> None:
        """Put the template of a partial in its place; its arguments are names in it."""
        name, _, given = rest.partition(" ")
        source = self._partial(name) if self._depth < _DEEPEST else None
        if source is None:
            self._lost(f"The partial {name!r} is not beside the file; it is left out.")
            return
        outer = self._blocks, self._names, self._named_at
        pairs = {pair["key"]: pair for pair in _PAIR.finditer(given)}
        names = {key: pair["text"] or self._path(pair["value"]) for key, pair in pairs.items()}
        is_context = bool(given.strip()) and not pairs  # `{{>card person}}`
        scope = [("with", self._path(given.strip()))] if is_context else []
        self._blocks = [*self._blocks, *scope]
        self._names = names if is_context else {**self._names, **names}
        self._named_at = len(self._scopes())
        self._depth += 1
        self.read(source)
        self._depth -= 1
        self._blocks, self._names, self._named_at = outer

    def _open(self, inside: str, whole: str) -> None:
        block = _BLOCK.fullmatch(inside)
        kind = block["kind"] if block is not None else ""
        if block is None or kind not in ("if", "unless", "each", "with"):
            self._lost(f"The block {whole} has no place in a prompt file; its text stays.")
            self._blocks.append(("", ""))
            return
        what = self._path(block["what"])
        if kind == "each":
            item = f"item{sum(1 for each, _ in self._blocks if each == 'for') + 1 or ''}"
            self.write(f"{{% for {item} in {what} %}}")
            self._blocks.append(("for", item))
        elif kind == "with":
            self._blocks.append(("with", what))
        else:
            self.write(f"{{% if {'not ' if kind == 'unless' else ''}{what} %}}")
            self._blocks.append(("if", ""))

    def _close(self) -> None:
        kind = self._blocks.pop()[0] if self._blocks else ""
        if kind in ("for", "if"):
            self.write(f"{{% end{kind} %}}")

    def _scopes(self) -> list[str]:
        return [scope for kind, scope in self._blocks if kind in ("for", "with")]

    def _path(self, name: str) -> str:
        """Return a name as Jinja2 finds it: inside `#each` it is one of the item's."""
        if name.endswith(".length"):
            return f"{self._path(name.removesuffix('.length'))} | length"
        first, dot, rest = name.removeprefix("this.").partition(".")
        if first in self._names and len(self._scopes()) == self._named_at:
            return f"{self._names[first]}{dot}{rest}"
        if name in _SPECIAL:
            return _SPECIAL[name]
        if name.startswith("@"):
            return name[1:].replace("-", "_")
        scopes = self._scopes()
        while name.startswith("../"):
            name = name[3:]
            scopes = scopes[:-1]
        scope = scopes[-1] if scopes else ""
        if name in ("this", "."):
            return scope or "this"
        name = name.removeprefix("this.").removeprefix("./")
        return f"{scope}.{name}" if scope else name


def _literal(text: str) -> str:
    """Return text that Jinja2 would take for a statement or a comment."""
    return _JINJA.sub(lambda found: f"{{{{ '{found[0]}' }}}}", text)


_PROVIDERS = {
    "googleai": "google",
    "vertexai": "google",
    "openai": "openai",
    "anthropic": "anthropic",
}
_PICO = re.compile(r"(?P<name>[^(?]+)(?P<optional>\?)?(?:\((?P<kind>\w+)(?:,\s*(?P<told>.*))?\))?")
_ROLES = ("system", "user", "assistant", "developer")


def import_dotprompt(text: str, read: Callable[[str], str]) -> Imported:
    """Return a `.prompt` file as a Prompty 2 file.

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


def _model(data: JsonObject, work: Composition) -> JsonDict:
    found: JsonDict = {}
    word = data.get("model")
    if isinstance(word, str) and word:
        provider, slash, rest = word.partition("/")
        found["id"] = rest if slash and provider in _PROVIDERS else word
        if slash and provider in _PROVIDERS:
            found["provider"] = _PROVIDERS[provider]
    options = legacy_options(object_of(data.get("config")))
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
    """Return Picoschema, or a JSON schema, as declarations."""
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
    """Return the declaration of Picoschema's `name?(kind, description): value`."""
    word, _, after = str(item).partition(",") if isinstance(item, str) else ("", "", "")
    kind = kind_of_word((read["kind"] or word or "object").strip())
    made: JsonDict = {"kind": kind if kind in INPUT_KINDS else "string"}
    description = (read["told"] or after or "").strip()
    if description:
        made["description"] = description
    if read["kind"] == "enum" and isinstance(item, list):
        made |= {"kind": "string", "enumValues": item}
    elif made["kind"] == "array":
        inner: JsonDict = (
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
