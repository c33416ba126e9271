"""What can stand at the caret: pure, from the text before it and the parsed document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from studio.core.prompty.document import InputDeclaration, PromptDocument
from studio.core.prompty.schema import key_at, keys_below, values_at
from studio.core.text.span import Span
from studio.ui.editor import completion_words as known
from studio.ui.editor.yaml_path import path_at
from studio.ui.fuzzy import score

_EXPRESSION = re.compile(r"(?P<open>\{\{\{?[#^/&]?|\{%[-+]?)(?P<inside>(?:(?!\}\}|%\}).)*)$")
_FSTRING = re.compile(r"(?<!\{)\{(?P<word>[A-Za-z_]\w*)?$")
_WORD = re.compile(r"[\w-]*$")
_REFERENCE = re.compile(r"\$\{(?P<inside>[^}\s]*)$")
_MARKER_OPEN = re.compile(r"#?\s*(?:\w+)\[(?:[^\]]*,)?\s*(?P<word>[\w-]*)$")
_MEDIA_OPEN = re.compile(r"!\[(?P<word>\w*)$")
_NAMED = re.compile(r"`(?P<word>[\w-]*)$")
_KEY_LINE = re.compile(r"(?P<lead>\s*(?:- )*)(?P<word>[\w$-]*)$")
_VALUE_LINE = re.compile(r"\s*(?:- )*(?P<key>[\w$-]+):\s+[\"']?(?P<word>[\w./-]*)$")
_LOOP = re.compile(r"\{%[-+]?\s*for\s+([\w\s,]+?)\s+in\s+([\w.]+)")
_SET = re.compile(r"\{%[-+]?\s*set\s+(\w+)")
_LONGEST_LINE = 5000


@dataclass(frozen=True, slots=True)
class Completion:
    """One thing that can be put in."""

    label: str
    """What the list shows."""

    insert: str
    """What is put in place of what was typed."""

    detail: str = ""
    """What it is or does."""

    kind: str = "word"
    """`key`, `value`, `input`, `word`, `role`, `filter`, `file`: its icon."""

    caret_back: int = 0
    """How far the caret goes back from the end of the text put in, in code points."""

    again: bool = False
    """Whether to offer again after it."""


@dataclass(frozen=True, slots=True)
class Offered:
    """Completions, the best first, with what they take the place of."""

    items: tuple[Completion, ...]
    """What can be chosen."""

    span: Span
    """What was typed of it already."""


def complete(
    text: str,
    caret: int,
    document: PromptDocument | None,
    *,
    asked: bool,
    files: Sequence[str] = (),
    environment: Iterable[str] = (),
) -> Offered:
    """Everything that can stand at the caret.

    Args:
        text: the whole text.
        caret: offset in it.
        document: the newest parsed document, which may be a few keys behind.
        asked: whether the person asked; otherwise only clear cases are offered.
        files: paths beside the prompt, for `${file:`.
        environment: names of environment variables, for `${env:`.
    """
    start = text.rfind("\n", 0, caret) + 1
    line = text[max(start, caret - _LONGEST_LINE) : caret]
    typed, items = _find(
        text, caret, line, document, asked=asked, files=files, environment=environment
    )
    ranked = []
    for number, item in enumerate(items):
        points = score(typed, item.label)
        if points is not None and item.insert != typed:
            ranked.append((-points, number, item))
    ranked.sort(key=lambda each: each[:2])
    return Offered(tuple(item for _, _, item in ranked[:200]), Span(caret - len(typed), caret))


def _find(
    text: str,
    caret: int,
    line: str,
    document: PromptDocument | None,
    *,
    asked: bool,
    files: Sequence[str],
    environment: Iterable[str],
) -> tuple[str, list[Completion]]:
    reference = _REFERENCE.search(line)
    if reference:
        return _references(reference["inside"], files, environment)
    if in_front_matter(text, caret):
        return _front(text, caret, line, asked=asked)
    template = document.template.format if document else "jinja2"
    if template == "fstring":
        field = _FSTRING.search(line)
        if field:
            return field["word"] or "", _variables(text, caret, document)
    else:
        expression = _EXPRESSION.search(line)
        if expression:
            return _expression(text, caret, expression, document)
    named = _NAMED.search(line)
    if named and document is not None and document.tools and line.count("`") % 2:
        return named["word"], [
            Completion(tool.name, tool.name, tool.description, "value") for tool in document.tools
        ]
    marker = _MARKER_OPEN.match(line)
    if marker:
        return marker["word"], [
            Completion(name, f'{name}=""', help_, "key", 1)
            for name, help_ in known.ATTRIBUTES.items()
        ]
    media = _MEDIA_OPEN.search(line)
    if media:
        return media["word"], [
            Completion(name, f"{name}]{'' if name == 'thread' else '()'}", help_, "value",
                       0 if name == "thread" else 1)
            for name, help_ in known.MEDIA.items()
        ]  # fmt: skip
    return _roles(line, asked=asked)


def in_front_matter(text: str, caret: int) -> bool:
    """Whether the caret is between the delimiters of the front matter."""
    body = text.removeprefix("\ufeff")
    skipped = len(text) - len(body)
    for delimiter in ("---", "+++"):
        if body.startswith(f"{delimiter}\n") and caret > skipped + 3:
            closed = re.compile(rf"^{re.escape(delimiter)}[ \t]*$", re.MULTILINE).search(body, 4)
            return closed is None or caret - skipped < closed.start()
    return False


def _references(
    inside: str, files: Sequence[str], environment: Iterable[str]
) -> tuple[str, list[Completion]]:
    kind, colon, rest = inside.partition(":")
    if not colon:
        return inside, [
            Completion(name, name, help_, "value", 0, again=True)
            for name, help_ in known.REFERENCES.items()
        ]
    if kind == "file":
        return rest, [Completion(name, name, "", "file") for name in files]
    if kind == "env" and ":" not in rest:
        return rest, [Completion(name, name, "set", "value") for name in sorted(environment)]
    return rest, []


def _front(text: str, caret: int, line: str, *, asked: bool) -> tuple[str, list[Completion]]:
    value = _VALUE_LINE.match(line)
    if value:
        path = (*path_at(text, caret), value["key"])
        key = key_at(path)
        words = values_at(path)
        if path == ("model", "id"):
            return value["word"], _models()
        if key is not None and not words and "boolean" in key.types:
            words = ("true", "false")
        return value["word"], [Completion(word, word, "", "value") for word in words]
    key_line = _KEY_LINE.match(line)
    if key_line and (asked or key_line["word"]):
        parent = path_at(text, caret)
        indent = " " * len(key_line["lead"])
        taken = _siblings(text, caret, len(indent))
        return key_line["word"], [
            _key_completion(key.name, key.help, key.types, indent)
            for key in keys_below(parent)
            if key.name not in taken or key.name == key_line["word"]
        ]
    return "", []


def _models() -> list[Completion]:
    """Model ids that something is known of; any other id can be typed too."""
    from studio.core.models.capabilities import known_models

    return [
        Completion(
            name,
            name,
            QCoreApplication.translate("Completion", "{number}k tokens of context").format(
                number=window // 1000
            )
            if window
            else "",
            "value",
        )
        for name, window in known_models()
    ]


def _key_completion(name: str, help_: str, types: Sequence[str], indent: str) -> Completion:
    if types and types[0] in ("mapping", "list"):
        dash = "- " if types[0] == "list" else ""
        return Completion(name, f"{name}:\n{indent}  {dash}", help_, "key")
    return Completion(name, f"{name}: ", help_, "key", again=True)


def _siblings(text: str, caret: int, indent: int) -> set[str]:
    """Keys of the same mapping, above and below the caret's line."""
    start = text.rfind("\n", 0, caret) + 1
    end = text.find("\n", caret)
    found: set[str] = set()
    above = text[:start].split("\n")[:-1]
    below = text[end + 1 :].split("\n") if end >= 0 else []
    for lines in (reversed(above), below):
        for number, line in enumerate(lines):
            bare = line.lstrip(" ")
            column = len(line) - len(bare)
            while bare.startswith("- "):
                bare = bare[2:].lstrip(" ")
                column = len(line) - len(bare)
            if line.strip() in ("---", "+++") or number > 500:
                break
            if bare and column < indent:
                break
            if column == indent and ":" in bare:
                found.add(bare.split(":", 1)[0].strip("\"' "))
    return found


def _expression(
    text: str, caret: int, expression: re.Match[str], document: PromptDocument | None
) -> tuple[str, list[Completion]]:
    inside = expression["inside"]
    word = _WORD.search(inside)
    typed = word[0] if word else ""
    before = inside[: len(inside) - len(typed)].rstrip()
    if before.endswith("|"):
        return typed, _words(known.FILTERS, "filter")
    if re.search(r"\bis(\s+not)?$", before):
        return typed, _words(known.TESTS, "filter")
    if before.endswith("."):
        chain = re.search(r"([\w.]+)\.$", before)
        return typed, _fields(chain[1] if chain else "", text, caret, document)
    if (before.count('"') % 2) or (before.count("'") % 2):
        return typed, []
    items = _variables(text, caret, document)
    statement = expression["open"].startswith("{%")
    if statement and not before:
        return typed, _words(known.STATEMENTS, "word")
    return typed, items


def _words(words: Mapping[str, str], kind: str) -> list[Completion]:
    return [Completion(name, name, help_, kind) for name, help_ in words.items()]


def _variables(text: str, caret: int, document: PromptDocument | None) -> list[Completion]:
    """Inputs first, then the template's own names, then what a run supplies."""
    found: dict[str, Completion] = {}
    for each in document.inputs if document else ():
        detail = f"{each.kind}{' · ' + each.description if each.description else ''}"
        found[each.name] = Completion(each.name, each.name, detail, "input")
    for names, source in _LOOP.findall(text[:caret]):
        for name in re.split(r"[,\s]+", names):
            found.setdefault(
                name,
                Completion(
                    name,
                    name,
                    QCoreApplication.translate("Completion", "each of {source}").format(
                        source=source
                    ),
                    "word",
                ),
            )
    for name in _SET.findall(text[:caret]):
        found.setdefault(
            name,
            Completion(
                name, name, QCoreApplication.translate("Completion", "set in the template"), "word"
            ),
        )
    if "loop" not in found and _LOOP.search(text[:caret]):
        found["loop"] = Completion(
            "loop",
            "loop",
            QCoreApplication.translate("Completion", "index, first, last, length"),
            "word",
        )
    for name, help_ in known.RESERVED.items():
        found.setdefault(name, Completion(name, name, help_, "word"))
    return list(found.values())


def _fields(chain: str, text: str, caret: int, document: PromptDocument | None) -> list[Completion]:
    """The fields of a value: an object's properties, or those of a reserved list's items."""
    root, *rest = chain.split(".")
    if root == "loop":
        names = ("index", "index0", "first", "last", "length", "previtem", "nextitem")
        return [
            Completion(name, name, QCoreApplication.translate("Completion", "of the loop"), "word")
            for name in names
        ]
    sources = {
        name: source.split(".")[-1]
        for names, source in _LOOP.findall(text[:caret])
        for name in re.split(r"[,\s]+", names)
    }
    declared = document.input(sources.get(root, root)) if document else None
    if declared is not None:
        return [
            Completion(each.name, each.name, each.description or each.kind, "input")
            for each in _properties(declared, rest)
        ]
    fields = known.ITEM_FIELDS.get(sources.get(root, ""), {}) if not rest else {}
    return _words(fields, "word")


def _properties(declared: InputDeclaration, rest: list[str]) -> tuple[InputDeclaration, ...]:
    here = declared.items if declared.items is not None else declared
    for name in rest:
        found = next((each for each in here.properties if each.name == name), None)
        if found is None:
            return ()
        here = found
    return here.properties


def _roles(line: str, *, asked: bool) -> tuple[str, list[Completion]]:
    if not re.fullmatch(r"[a-z]*", line) or (not asked and len(line) < 2):
        return "", []
    items = [
        Completion(name, f"{name}:\n", help_, "role")
        for name, help_ in known.ROLES.items()
        if asked or name.startswith(line)
    ]
    return line, items
