"""Import Google's dotprompt files (`.prompt`): front matter, and a Handlebars template.

Source: the public dotprompt specification: `model`, `config`, `input`, `output` with Picoschema,
`tools`, and the helpers `role`, `history`, `media`, `json`, `section`.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
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

# Converts dotprompt's Handlebars to Jinja2.

_TAG = re.compile(
    r"(?P<kept>\\)?\{\{\{?(?P<left>~)?(?P<inside>!--.*?--|[^{}]*?)(?P<right>~)?\}?\}\}", re.DOTALL
)
_NAME = re.compile(r"(?:(?:\.\./)+|\./)?[A-Za-z_][\w.]*|@[\w.-]+|\.")
_JSON = re.compile(rf"(?P<name>{_NAME.pattern})(?:\s+indent=(?P<indent>\d+))?")
_WORD = re.compile(r"\"[^\"]*\"|'[^']*'|[^\s]+")
_FIXED = re.compile(r"\"[^\"]*\"|'[^']*'|-?\d[\d.]*|true|false")
_JINJA = re.compile(r"\{[%#]")
_URL = re.compile(r"url=(?:(?P<name>[\w./@-]+)|[\"'](?P<text>[^\"']*)[\"'])")
_PAIR = re.compile(r"(?P<key>\w+)=(?P<value>\"[^\"]*\"|'[^']*'|[\w./@-]+)")
_OURS = "\0"
"""Prefix of a media mark written by this module."""
_IMAGE = re.compile(r"(?<!\0)!(?=\[[^\]\n]*\]\()")
_DEEPEST = 20
"""Maximum depth of nested partials."""
_SPECIAL = {"@index": "loop.index0", "@first": "loop.first", "@last": "loop.last"}
_CONDITIONS = {
    "if": "{}",
    "with": "{}",
    "unless": "not {}",
    "ifEquals": "{} == {}",
    "unlessEquals": "{} != {}",
}
"""Blocks that choose, as conditions of Jinja2."""


@dataclass(slots=True)
class Rewritten:
    """A template converted to Jinja2, with notes on what it cannot express."""

    text: str = ""
    """The template."""

    notes: list[str] = field(default_factory=list)
    """Notes on what was lost, one sentence each."""

    roles: list[tuple[str, str]] = field(default_factory=list)
    """Role and template of each message, in order; `history` stands for the conversation."""

    media: list[str] = field(default_factory=list)
    """Inputs that contain an image or a file."""

    marked_media: bool = False
    """Whether the text marks media with `![image](…)`, which only the section dialect supports."""


def rewrite(
    source: str, partial: Callable[[str], str | None], kinds: Mapping[str, Json]
) -> Rewritten:
    """Convert a dotprompt template; each `{{role "…"}}` begins a message.

    Args:
        source: the template.
        partial: returns the template of a partial by its name, or None.
        kinds: declared kinds of inputs.
    """
    work = _Work(partial, kinds)
    work.read(source)
    work.end()
    roles = work.made.roles
    if work.made.marked_media:  # other text that looks like a mark stays text
        roles = [(role, _IMAGE.sub('{{ "!" }}', text)) for role, text in roles]
    work.made.roles = [(role, text.replace(_OURS, "")) for role, text in roles]
    return work.made


class _Work:
    def __init__(self, partial: Callable[[str], str | None], kinds: Mapping[str, Json]) -> None:
        self.made = Rewritten()
        self._partial = partial
        self._kinds = kinds
        self._depth = 0
        self._role = "user"
        self._pieces: list[str] = []
        self._blocks: list[tuple[str, str]] = []
        self._keys: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._named_at = 0

    def read(self, source: str) -> None:
        """Rewrite a template, or a partial of one; a tag alone in its line leaves no line."""
        source = source.replace("\r\n", "\n")
        tags = [*_TAG.finditer(source)]
        words = [tag["inside"].strip() for tag in tags]
        places = [0, *(place for tag in tags for place in tag.span()), len(source)]
        texts = [source[a:b] for a, b in zip(places[::2], places[1::2], strict=True)]
        plain = [*texts]
        for at, (tag, word) in enumerate(zip(tags, words, strict=True)):
            before, after = plain[at : at + 2]
            is_alone = (
                re.match(r"[#/^>!]|else\b", word)
                and re.search(r"\n\s*$" if at else r"(?:^|\n)\s*$", before)
                and re.match(r"\s*?(?:\n|$)" if tag is tags[-1] else r"\s*?\n", after)
            )
            indent = before[len(before.rstrip(" \t")) :] if is_alone else ""
            if tag["left"] or is_alone:
                texts[at] = texts[at].rstrip(None if tag["left"] else " \t")
            if tag["right"] or is_alone:
                blank = r"\s+" if tag["right"] else r"[ \t]*\n?"
                texts[at + 1] = re.sub(f"^{blank}", "", texts[at + 1])
            self.write(_literal(texts[at]))
            if tag["kept"]:
                self.write(f"{{% raw %}}{tag[0][1:]}{{% endraw %}}")
            else:
                self.tag(word, tag[0], words[at + 1 :], indent)
        self.write(_literal(texts[-1]))

    def write(self, text: str) -> None:
        self._pieces.append(text)

    def end(self) -> None:
        """End the current message."""
        text = "".join(self._pieces)
        self._pieces.clear()
        if text.strip():
            self.made.roles.append((self._role, text.strip("\n")))

    def tag(self, inside: str, whole: str, following: Sequence[str], indent: str) -> None:
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
            self._role = "assistant"  # dotprompt's role after the history
        elif word == "media":
            self._media(rest)
        elif inside.startswith(">"):
            self._include(inside[1:].strip(), indent)
        elif inside.startswith("#"):
            self._open(inside, whole, following)
        elif inside.startswith("/"):
            kind = self._blocks.pop()[0] if self._blocks else ""
            self.write(f"{{% end{kind} %}}" if kind else "")
        elif word == "else" and self._blocks and self._blocks[-1][0]:
            self._else(rest, whole)
        elif word == "json" and (read := re.fullmatch(_JSON, rest)):
            self._json(self._path(read["name"]), read["indent"])
        elif _NAME.fullmatch(inside.removeprefix("&")):
            path = self._path(inside.removeprefix("&"))
            joined = ' | join(",")' if self._kinds.get(path) == "array" else ""
            self.write(f"{{{{ {path}{joined} }}}}")
        else:
            self._lost(f"The helper {whole} is not possible in a prompt file; it is left out.")

    def _lost(self, told: str) -> None:
        if told not in self.made.notes:
            self.made.notes.append(told)

    def _json(self, path: str, indent: str | None) -> None:
        blanks = "" if indent else ", and blanks after commas and colons"
        told = f"keys in order, <, >, &, ' and other alphabets as \\u escapes{blanks}"
        self._lost(f"{{{{json}}}} is tojson here: it writes {told}.")
        how = f"tojson(indent={indent})" if indent else "tojson"
        self.write(f"{{% if {path} is defined %}}{{{{ {path} | {how} }}}}{{% endif %}}")

    def _media(self, rest: str) -> None:
        found = _URL.search(rest)
        if found is None:
            self._lost(f"The medium {{{{media {rest}}}}} has no url; it is left out.")
            return
        name = self._path(found["name"]) if found["name"] else ""
        if name.isidentifier() and name not in self._scopes():
            self.write(f"{{{{ {name} }}}}")
            self.made.media.append(name)
            return
        self.made.marked_media = True
        self.write(f"{_OURS}![image]({f'{{{{ {name} }}}}' if name else found['text']})")

    def _include(self, rest: str, indent: str) -> None:
        """Insert the template of a partial, with its arguments as variables."""
        name, _, given = rest.partition(" ")
        source = self._partial(name) if self._depth < _DEEPEST else None
        if source is None:
            self._lost(f"The partial {name!r} is not in the folder of the file; it is left out.")
            return
        outer = self._blocks, self._names, self._named_at
        names = {pair["key"]: self._value(pair["value"]) for pair in _PAIR.finditer(given)}
        context = _PAIR.sub("", given).strip()  # `{{>card person}}`
        is_same = not context and len(self._scopes()) == self._named_at
        self._names = {**self._names, **names} if is_same else names
        self._blocks = [*self._blocks, *([("", self._path(context))] if context else [])]
        self._named_at = len(self._scopes())
        self._depth += 1
        self.read(re.sub(r"(?m)^(?=.)", indent, source))
        self._depth -= 1
        self._blocks, self._names, self._named_at = outer

    def _open(self, inside: str, whole: str, following: Sequence[str]) -> None:
        kind, *words = re.findall(_WORD, inside[1:])
        condition = self._condition(kind, words)
        if kind == "each" and len(words) == 1 and _NAME.fullmatch(words[0]):
            what = self._path(words[0])
            count = sum(1 for each, _ in self._blocks if each == "for") + 1
            item, key = f"item{count}", f"key{count}"
            is_map = self._kinds.get(what) == "object" or (
                self._kinds.get(what) != "array" and _has_key(following)
            )
            self._keys[item] = key if is_map else "loop.index0"
            each = f"{key}, {item} in {what}.items()" if is_map else f"{item} in {what}"
            self.write(f"{{% for {each} %}}")
            self._blocks.append(("for", item))
        elif condition:
            self.write(f"{{% if {condition} %}}")
            self._blocks.append(("if", condition if kind == "with" else ""))
        else:
            self._lost(f"The block {whole} is not possible in a prompt file; its text stays.")
            self._blocks.append(("", ""))

    def _else(self, rest: str, whole: str) -> None:
        kind, *words = re.findall(_WORD, rest) or [""]
        self._blocks[-1] = (self._blocks[-1][0], "")
        condition = self._condition(kind, words) if self._blocks[-1][0] == "if" else ""
        if rest and not condition:
            self._lost(f"The block {whole} is not possible in a prompt file; its text stays.")
        self.write(f"{{% elif {condition} %}}" if condition else "{% else %}")

    def _condition(self, kind: str, words: Sequence[str]) -> str:
        """Return the condition of a block that chooses; empty for any other."""
        form = _CONDITIONS.get(kind, "")
        fits = form.count("{}") == len(words)
        known = all(_NAME.fullmatch(word) or _FIXED.fullmatch(word) for word in words)
        return form.format(*map(self._value, words)) if form and fits and known else ""

    def _scopes(self) -> list[str]:
        return [scope for _, scope in self._blocks if scope]

    def _value(self, word: str) -> str:
        return word if _FIXED.fullmatch(word) else self._path(word)

    def _path(self, name: str) -> str:
        """Return a name as a Jinja2 expression; inside `#each` it belongs to the item."""
        if name.endswith(".length"):
            return f"{self._path(name.removesuffix('.length'))} | length"
        scopes = self._scopes()
        if name in _SPECIAL or name == "@key":
            return _SPECIAL.get(name) or self._keys.get(scopes[-1] if scopes else "", "loop.key")
        if name.startswith("@"):
            return name[1:].removeprefix("root.").replace("-", "_")
        while name.startswith("../"):
            name, scopes = name[3:], scopes[:-1]
        name = name.removeprefix("./").removeprefix("this.")
        first, dot, rest = name.partition(".")
        if first in self._names and len(scopes) == self._named_at:
            return f"{self._names[first]}{dot}{rest}"
        if name not in ("this", "."):
            return f"{scopes[-1]}.{name}" if scopes else name
        if not scopes:
            self._lost("{{this}} outside of a block is not possible in a prompt file.")
        return scopes[-1] if scopes else "this"


def _has_key(following: Iterable[str]) -> bool:
    """Return whether a loop uses the keys of the object that it iterates over."""
    depth = 0
    for inside in following:
        depth += inside.startswith("#each") - inside.startswith("/each")
        if depth < 0 or (depth == 0 and "@key" in inside):
            return depth == 0
    return False


def _literal(text: str) -> str:
    """Return text with escapes for what Jinja2 would read as a statement or a comment."""
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
        read: Reads a file beside it, for partials; raises `ImportFailure` if it cannot.

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
        raise ImportFailure("The file contains no template.")
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
            work.notes.append(f"output.format: {value['format']!r} is not possible with a schema.")
    elif value.get("schema") is not None:
        work.notes.append("output.schema: it cannot be read; declare outputs.")
    elif value.get("format") not in (None, "text"):
        work.notes.append(f"output.format: {value['format']!r} is not possible without a schema.")


def _schema(value: Json) -> dict[str, JsonObject]:
    """Convert Picoschema, or a JSON schema, to declarations."""
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
            return read(f"_{name}.prompt")
        except ImportFailure:
            return None

    kinds = {name: item.get("kind") for name, item in work.inputs.items()}
    made = rewrite(text, partial, kinds)
    work.notes += made.notes
    for role, template in made.roles:
        if role == "history":
            work.add_thread("history")
            continue
        if role not in _ROLES:
            work.notes.append(f"The role {role!r} is not a role of a prompt file; user is used.")
        word = role if role in _ROLES else "user"
        work.messages.append(Message(word, (TextPart(template),)))  # type: ignore[arg-type]
    if made.marked_media:
        work.parser = "section"
        work.notes.append(
            "media in a loop, in an object or with a fixed address are written as ![image](…), "
            "which is the section dialect: other runtimes of Prompty send it as text."
        )
    for name in made.media:
        work.inputs[name] = {**work.inputs.get(name, {}), "kind": "image"}
