"""Checks of front-matter keys against their definition, and of unrecognized front matter."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from studio.core.known_models import known_models
from studio.core.prompty.body.sections import plain_newlines
from studio.core.prompty.checks.declarations import is_lone_tool
from studio.core.prompty.document import FrontMatterEntry, PromptDocument
from studio.core.prompty.edit.edits import remove_entry, set_value, write_scalar
from studio.core.prompty.front.declarations import INPUT_KINDS, kind_of_word
from studio.core.prompty.front.front_matter import FORMATS, LEGACY_OPTIONS
from studio.core.prompty.front.schema import LEGACY_KEYS, OPEN_SHAPES, SHAPES, Key
from studio.core.prompty.yaml.tree import Places, in_quotes, value_at
from studio.core.text.naming import nearest
from studio.core.text.source import Fix, Problem, Severity, Span, TextEdit
from studio.core.text.values import Json, KeyPath

_TABLES: dict[str, dict[str, Key]] = {
    name: {key.name: key for key in keys} for name, keys in SHAPES.items()
}
_TYPE_WORDS = {
    "text": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "list": "a list",
    "mapping": "a block of keys",
}
_ALIKE = 0.65
_GLUED = re.compile(r"(\w+):(?=[^\s/])")
_BRACKET = re.compile(r"(\w+)([ ]*=[ ]*|[ ]+)[\[{]")
_DASHED = re.compile(r"-\w")
_DASHES = re.compile(r"(?m)^[ ]*-(?=\w)")
_OF_MODEL = frozenset(("provider", "apiType", "connection"))
"""Keys that only a model's block has."""
_JSON_SCHEMA_KEYS = frozenset({"properties", "$ref", "allOf"})


def check_keys(document: PromptDocument) -> Iterator[Problem]:
    """Report unknown keys, values of the wrong type, words that are not allowed."""
    walker = _Walker(document, Places.of(document.entries))
    yield from walker.walk_mapping(document.data, "root", ())


@dataclass(frozen=True, slots=True)
class _Walker:
    """A walk through the values with their definition."""

    document: PromptDocument
    places: Places

    def walk_mapping(self, value: Json, shape: str, path: KeyPath) -> Iterator[Problem]:
        if not isinstance(value, Mapping):
            return
        table = _TABLES[shape]
        for name, item in value.items():
            key = table.get(name)
            if key is None:
                yield from self._unknown(name, shape, (*path, name))
            elif (*path, name) != ("tools",) or not is_lone_tool(
                item
            ):  # reported once, as a lone tool
                yield from self._walk_value(item, key, (*path, name))

    def _walk_value(self, value: Json, key: Key, path: KeyPath) -> Iterator[Problem]:
        if value is None or _is_reference(value):
            return
        if path == ("template",) and not isinstance(value, Mapping):
            yield from self._template_word(value, path)
            return
        glued = self._glued(value, key, path)
        if glued is not None:
            yield glued
            return
        if not any(_has_type(value, kind) for kind in key.types):
            yield self._wrong_type(value, key, path)
            return
        if key.closed and isinstance(value, str) and value not in key.values:
            yield self._other_word(value, key, path) or self._wrong_word(value, key, path)
        if path[-1] == "type" and self.document.dialect == "legacy" and key.name == "type":
            yield from self._legacy_type(value, path)
        yield from self._walk_inside(value, key, path)

    def _walk_inside(self, value: Json, key: Key, path: KeyPath) -> Iterator[Problem]:
        if key.shape is None:
            return
        if key.container == "one":
            yield from self.walk_mapping(value, key.shape, path)
        elif isinstance(value, list):
            for index, item in enumerate(value):
                yield from self.walk_mapping(item, key.shape, (*path, index))
        elif isinstance(value, Mapping) and not (_JSON_SCHEMA_KEYS & value.keys()):
            for name, item in value.items():
                glued = self._glued_key(item, key.shape, (*path, name))
                if glued is not None:
                    yield glued
                yield from self.walk_mapping(item, key.shape, (*path, name))

    def _glued(self, value: Json, key: Key, path: KeyPath) -> Problem | None:
        """Report `id:gpt` or `-one` below a key: a text because a blank is missing."""
        if not isinstance(value, str):
            return None
        if "list" in key.types and "text" not in key.types and _DASHED.match(value):
            place = self._value_place(path)
            written = self.document.source.slice(place)
            starts = (found.end() for found in _DASHES.finditer(written))
            edits = tuple(TextEdit(Span(at, at).shift(place.start), " ") for at in starts)
            fix = Fix("Add a space after each dash", edits)
            message = "A space is missing after the dash of each item."
            return Problem("wrong-type", Severity.WARNING, message, place, (fix,))
        return self._glued_key(value, key.shape, path) if key.container == "one" else None

    def _glued_key(self, value: Json, shape: str | None, path: KeyPath) -> Problem | None:
        found = _GLUED.match(value) if isinstance(value, str) else None
        if found is None or shape is None or found[1] not in _TABLES[shape]:
            return None
        place = self._value_place(path)
        if not self.document.source.slice(place).startswith(found[1]):
            return None  # a quoted text
        colon = Span(place.start + found.end() - 1, place.start + found.end())
        fix = Fix("Add a space after it", (TextEdit(Span(colon.end, colon.end), " "),))
        message = "A space is missing after this colon."
        return Problem("wrong-type", Severity.WARNING, message, colon, (fix,))

    def _unknown(self, name: str, shape: str, path: KeyPath) -> Iterator[Problem]:
        if shape in OPEN_SHAPES or name.startswith(("x-", "$")):
            return
        place = self.places.key(*path)
        if place is None:
            return
        if name in LEGACY_KEYS.get(shape, frozenset()):
            is_request = isinstance(value_at(self.document.data, path), Mapping)
            if shape == "tool" and name == "function" and is_request:
                return  # reported as a tool without a name
            if self.document.dialect == "prompty":
                yield self._legacy(name, shape, path, place)
            return
        if self.document.dialect == "legacy":  # extra keys are common: report typos only
            known = (*_TABLES[shape], *LEGACY_KEYS.get(shape, ()))
            if nearest(name, known):
                yield self._unlike(name, known, path, place)
            elif shape in ("root", "model"):
                message = f"prompty 0.1.50 refuses the key {name!r}."
                yield Problem("legacy-key", Severity.HINT, message, place)
            return
        glued = _glued_name(name, shape, place)
        if glued is not None:
            yield glued
            return
        elsewhere = self._elsewhere(name, shape, path, place)
        if elsewhere is not None:
            yield elsewhere
            return
        yield self._unlike(name, _TABLES[shape], path, place)

    def _unlike(self, name: str, known: Iterable[str], path: KeyPath, place: Span) -> Problem:
        """Report an unknown key, with the known key that is probably meant."""
        names = {key.lower(): key for key in known}
        same = names.get(name.lower().replace("-", "").replace("_", ""))
        meant = same or nearest(name, known)
        where = f" in {'.'.join(map(str, path[:-1]))}" if path[:-1] else ""
        message = f"The key {name!r} is unknown{where}; it is kept but has no effect."
        fixes: tuple[Fix, ...] = ()
        if meant and self.places.key(*path[:-1], meant) is None:
            message = f"The key {name!r} is unknown{where}; did you mean {meant!r}?"
            fixes = (Fix(f"Change to {meant!r}", (TextEdit(place, meant),)),)
        elif same is not None:
            message = f"The key {name!r} is unknown{where}, and {same!r} already exists."
        return Problem("unknown-key", Severity.WARNING, message, place, fixes)

    def _legacy(self, name: str, shape: str, path: KeyPath, place: Span) -> Problem:
        """Report a key of Prompty 1, with Prompty 2's name if only the name changed."""
        message = f"{name!r} is a key of Prompty 1; Prompty 2 ignores it."
        new = LEGACY_OPTIONS.get(name) if shape == "options" else None
        is_list = isinstance(value_at(self.document.data, path), list)
        if new is None or (new == "stopSequences" and not is_list):
            return Problem("legacy-key", Severity.WARNING, message, place)
        message = f"{name!r} is a key of Prompty 1; in Prompty 2 it is {new!r}."
        fixes: tuple[Fix, ...] = ()
        if self.places.key(*path[:-1], new) is None:
            fixes = (Fix(f"Change to {new!r}", (TextEdit(place, new),)),)
        return Problem("legacy-key", Severity.WARNING, message, place, fixes)

    def _elsewhere(self, name: str, shape: str, path: KeyPath, place: Span) -> Problem | None:
        """Report a key in the wrong place: `temperature` beside `model`."""
        option = LEGACY_OPTIONS.get(name, name)
        if shape in ("root", "model") and option in _TABLES["options"]:
            home: KeyPath = ("model", "options", option)
        elif shape in ("root", "options") and name in _OF_MODEL:
            home = ("model", name)
        else:
            return None
        message = f"{name!r} has no effect here: it belongs in {'.'.join(map(str, home[:-1]))}."
        fixes: tuple[Fix, ...] = ()
        entry = self.document.entry(*path)
        value = value_at(self.document.data, path)
        model = self.document.data.get("model")
        is_free = not isinstance(model, str) and self.places.key(*home) is None
        if entry is not None and is_free and isinstance(value, str | int | float | bool):
            written = self.document.source.slice(entry.value)
            removed = remove_entry(self.document, entry)
            edits = (*removed, *set_value(self.document, home, written))
            is_apart = len(edits) == 2 and not edits[0].span.touches(edits[1].span.start)
            fixes = (Fix("Move it there", edits),) if removed and is_apart else ()
        return Problem("unknown-key", Severity.WARNING, message, place, fixes)

    def _wrong_type(self, value: Json, key: Key, path: KeyPath) -> Problem:
        wanted = " or ".join(_TYPE_WORDS[kind] for kind in key.types if kind != "any")
        place = self._value_place(path)
        message = f"{path[-1]!r} must be {wanted}."
        fixes: tuple[Fix, ...] = ()
        if "text" in key.types and isinstance(value, bool | int | float) and len(place):
            written = self.document.source.slice(place)
            quoted = TextEdit(place, write_scalar(written) if '"' in written else f'"{written}"')
            fixes = (Fix("Write it as text", (quoted,)),)
        return Problem("wrong-type", Severity.WARNING, message, place, fixes)

    def _other_word(self, value: str, key: Key, path: KeyPath) -> Problem | None:
        """Report a word in another spelling: other case, or another name."""
        lower = value.strip().lower()
        word = lower if lower in key.values else ""
        if key.name == "kind" and "jinja2" in key.values:
            word = word or FORMATS.get(lower, "")
        elif key.name == "kind" and "thread" in key.values:
            word = word or kind_of_word(value)
        if word not in key.values:
            return None
        message = f"{value!r} is read as {word!r} here; other programs only accept that word."
        place = self._value_place(path)
        fix = Fix(f"Change to {word!r}", (TextEdit(place, word),))
        return Problem("other-word", Severity.WARNING, message, place, (fix,))

    def _legacy_type(self, value: Json, path: KeyPath) -> Iterator[Problem]:
        """Report an unknown word for a type in a Prompty 1 declaration."""
        if isinstance(value, str) and kind_of_word(value) not in INPUT_KINDS:
            message = f"{value!r} is not a type; it is one of {', '.join(INPUT_KINDS[:6])}."
            place = self._value_place(path)
            yield Problem("invalid-value", Severity.WARNING, message, place)

    def _wrong_word(self, value: str, key: Key, path: KeyPath) -> Problem:
        near = nearest(value, key.values)
        message = f"{value!r} is not a value of {path[-1]!r}; it is one of {', '.join(key.values)}."
        place = self._value_place(path)
        fixes = (Fix(f"Change to {near!r}", (TextEdit(place, near),)),) if near else ()
        return Problem("invalid-value", Severity.ERROR, message, place, fixes)

    def _template_word(self, value: Json, path: KeyPath) -> Iterator[Problem]:
        """Report `template: jinja2`, Prompty 2's `template_string_invalid`."""
        if self.document.dialect == "legacy":
            return
        place = self._value_place(path)
        known = value if value in _TABLES["format"]["kind"].values else "jinja2"
        message = (
            f"Invalid template format: write {{format: {{kind: {known}}}}} instead of {value!r}."
        )
        edit = TextEdit(place, f"{{format: {{kind: {known}}}}}")
        fix = Fix("Write the template as a block", (edit,))
        yield Problem("invalid-template", Severity.ERROR, message, place, (fix,))

    def _value_place(self, path: KeyPath) -> Span:
        return self.places.value(*path) or self.places.nearest(*path)


def _glued_name(name: str, shape: str, place: Span) -> Problem | None:
    """Report `-name: x` and `model:{id: x}`."""
    found, other = _GLUED.match(name), _BRACKET.match(name)
    if other is not None and other[1] in _TABLES[shape]:
        sign = Span(*other.span(2)).shift(place.start)
        fix = Fix("Write a colon", (TextEdit(sign, ": "),))
        message = f"A colon is missing after {other[1]!r}."
        return Problem("unknown-key", Severity.WARNING, message, place, (fix,))
    if name.startswith("-"):
        sign, what = Span(place.start, place.start + 1), "dash"
    elif found is not None and found[1] in _TABLES[shape]:
        sign, what = Span(place.start + found.end() - 1, place.start + found.end()), "colon"
    else:
        return None
    fix = Fix("Add a space after it", (TextEdit(Span(sign.end, sign.end), " "),))
    message = f"A space is missing after this {what}."
    return Problem("unknown-key", Severity.WARNING, message, sign, (fix,))


def _is_reference(value: Json) -> bool:
    return isinstance(value, str) and value.startswith("${")


def _has_type(value: Json, kind: str) -> bool:
    match kind:
        case "text":
            return isinstance(value, str)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "list":
            return isinstance(value, list)
        case "mapping":
            return isinstance(value, Mapping)
        case _:
            return True


_ODD_FRONT = re.compile(
    r"(?P<first>[-–—]{1,2}|-{4,80}|[–—]{3,}|[ \t]*`{3,}[ \t]*ya?ml)[ \t]*\n"
    r"(?=(?:name|description|model|inputs|tools|template|metadata|version)[ \t]*:)"
    r"(?:[^\n]*\n){1,400}?(?P<last>(?P=first)|`{3,}|---)[ \t]*(?:\n|\Z)"
)
"""Matches front matter between lines other than three dashes."""
_OF_A_PROMPT = re.compile(r"^(?:model|inputs|template)[ \t]*:", re.MULTILINE)
"""Keys that identify a prompt's YAML; name, version and description do not."""
_FENCED_FILE = re.compile(r"[ \t]*(?P<fence>`{3,})[^`\n]*\n\Z")
_LATE_FRONT = re.compile(
    r"(?P<before>(?:[^\n]{0,200}\n){0,3}?[^\n]{0,200}?)---[ \t]*\n"
    r"(?=(?:name|description|model|inputs|tools|template|metadata|version)[ \t]*:)"
    r"(?=(?:[^\n]*\n){1,400}?---[ \t]*(?:\n|\Z))"
)


def check_front_matter(document: PromptDocument) -> Iterator[Problem]:
    """Report text before the front matter, which makes all of it part of the prompt."""
    if document.front_matter is not None:
        return
    body = plain_newlines(document.source.slice(document.body))
    found = _LATE_FRONT.match(body)
    odd = _ODD_FRONT.match(body)
    if odd is not None and ("`" not in odd["first"] or _OF_A_PROMPT.search(odd[0])):
        yield _odd_front(document, odd)
        return
    if found is None or not found["before"].strip():
        return
    place = Span(*found.span("before")).shift(document.body.start)
    edits = [TextEdit(place, "")]
    fenced = _FENCED_FILE.search(found["before"])
    if fenced is not None:
        ends = re.search(rf"^[ \t]*{fenced['fence']}[ \t]*\Z", body.rstrip(), re.MULTILINE)
        if ends is not None:
            edits.append(TextEdit(Span(ends.start(), len(body)).shift(document.body.start), ""))
    message = (
        "This precedes the front matter, which must be at the start of the file: now all of it "
        "is text of the prompt."
    )
    title = "Remove the text before it" if len(edits) == 1 else "Remove the fence around it"
    fix = Fix(title, tuple(edits))
    yield Problem("front-matter-late", Severity.WARNING, message, place, (fix,))


def _odd_front(document: PromptDocument, odd: re.Match[str]) -> Problem:
    """Report front matter between `----` or fences, which makes it part of the prompt."""
    places = [Span(*odd.span(name)).shift(document.body.start) for name in ("first", "last")]
    fix = Fix("Write --- above and below it", tuple(TextEdit(place, "---") for place in places))
    message = (
        f"{odd['first'].strip()!r} does not start front matter, so all of it is text of the "
        "prompt: write three dashes alone on a line, ---."
    )
    return Problem("front-matter-late", Severity.WARNING, message, places[0], (fix,))


# Values of the front matter that YAML reads differently from what is meant, and model ids.

_CURLY = re.compile(r"[“„‟](?P<text>[^“”„‟]+)[”“]|[‘‚](?P<single>[^‘’‚]+)[’‘]")
_DEEPER_DASH = re.compile(r"\n[ ]+(?=- )")
_NOT_PLAIN = ("|", ">", '"', "'", "[", "{", "&", "!", "*")
"""First characters of YAML values that are not plain text."""
_PARTS = re.compile(r"[a-z]+|\d+")
_NAMES_DEPLOYMENTS = ("azure", "foundry")
"""Prefixes of providers whose model ids are chosen by users."""


def check_written_values(document: PromptDocument) -> Iterator[Problem]:
    """Report typographic quotes around values, deeper dashes, and misspelled model ids."""
    text = document.source.text
    for entry in document.entries:
        start, end = entry.value.start, entry.value.end
        if text[start : start + 1] in "“„‟‘‚" and _CURLY.fullmatch(text, start, end):
            yield _curly(document, entry)
        elif isinstance(entry.path[-1], int) and not text.startswith(_NOT_PLAIN, start):
            edits = tuple(_dashes(text, entry))
            if edits and isinstance(value_at(document.data, entry.path), str):
                message = "This is one text: a dash in a deeper column does not start an item."
                fix = Fix("Put the dashes below each other", edits)
                yield Problem("list-staircase", Severity.WARNING, message, entry.value, (fix,))
    yield from _near_model(document)


def _curly(document: PromptDocument, entry: FrontMatterEntry) -> Problem:
    written = document.source.slice(entry.value)
    message = (
        f"{written[0]} and {written[-1]} are part of the text here; YAML's quotes are straight."
    )
    fix = Fix("Write straight quotes", (TextEdit(entry.value, in_quotes(written[1:-1])),))
    return Problem("curly-quotes", Severity.WARNING, message, entry.value, (fix,))


def _dashes(text: str, entry: FrontMatterEntry) -> Iterator[TextEdit]:
    """Yield edits that move each deeper dash of an item to the column of its own dash."""
    line = text.rfind("\n", 0, entry.value.start) + 1
    dash = text.rfind("-", line, entry.value.start)
    if dash < 0:
        return
    for found in _DEEPER_DASH.finditer(text, entry.value.start, entry.value.end):
        yield TextEdit(Span(*found.span()), "\n" + " " * (dash - line))


def _near_model(document: PromptDocument) -> Iterator[Problem]:
    """Report a known id with one misspelled word; different numbers are different models."""
    model = document.model
    entry = document.entry("model", "id") or document.entry("model")
    name = model.id
    if entry is None or document.source.slice(entry.value) != name:
        return
    if model.provider.lower().startswith(_NAMES_DEPLOYMENTS):
        return
    parts = _PARTS.findall(name)
    known = {prefix: _PARTS.findall(prefix) for prefix, _ in known_models()}
    words = {part for each in known.values() for part in each}
    for meant, others in known.items():
        differing = [pair for pair in zip(parts, others, strict=False) if pair[0] != pair[1]]
        if len(parts) != len(others) or len(differing) != 1 or len(parts) < 2:
            continue
        word, other = differing[0]
        if (
            other.isalpha()
            and word not in words
            and _is_slip(word, other, is_family=other == others[0])
        ):
            message = f"The model {name!r} is unknown; did you mean {meant!r}?"
            fix = Fix(f"Change to {meant!r}", (TextEdit(entry.value, meant),))
            yield Problem("near-model", Severity.WARNING, message, entry.value, (fix,))
            return


def _is_slip(word: str, other: str, *, is_family: bool) -> bool:
    """Return whether a word of an id is a typing error; `llava` and `mixtral` are own families."""
    is_other_family = is_family and len(word) == len(other)
    return sorted(word) == sorted(other) or (not is_other_family and bool(nearest(word, [other])))
