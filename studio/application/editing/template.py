"""Completion in template expressions, including Mustache."""

import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from studio.application.editing import words as known_words
from studio.application.editing.editor_context import CompletionItem
from studio.application.editing.snippets import fitting
from studio.application.preview.variables import short_value
from studio.application.words import tr
from studio.core.prompty.document import EACH, LOOP, PromptDocument
from studio.core.prompty.known_fields import Known, known_at
from studio.core.prompty.templates.jinja.variables import UnreadableTemplateError, path_at
from studio.core.text.source import SourceText
from studio.core.text.values import JsonObject

# The part of a Jinja template at an offset: text, an expression, a comment, a raw block.

TagKind: TypeAlias = Literal["text", "expression", "statement", "comment", "raw"]

_TAGS = re.compile(
    r"\{#(?P<comment>.*?)(?:#\}|\Z)"
    r"|\{%[-+]?\s*raw\s*[-+]?%\}(?P<raw>.*?)(?:\{%[-+]?\s*endraw\s*[-+]?%\}|\Z)"
    r"|\{\{(?P<expression>(?:(?!\{[{%#]|\}\}).)*)(?:\}\})?"
    r"|\{%(?P<statement>(?:(?!\{[{%#]|%\}).)*)(?:%\})?",
    re.DOTALL,
)
"""Matches a tag; an unclosed one, which may be just being typed, ends where the next begins."""
_KINDS: tuple[TagKind, ...] = ("comment", "raw", "expression", "statement")

_BLOCK = re.compile(r"[-+]?\s*(?P<end>end)?(?P<name>if|for|macro|call|filter|block)\b")


class TagAt(NamedTuple):
    """The part of a template at an offset."""

    kind: TagKind
    """Kind of part."""

    start: int
    """Offset of the inside of the tag; for text, the caret."""


def tag_at(text: str, at: int, start: int = 0) -> TagAt:
    """Return the part of a template at an offset.

    Args:
        text: the text.
        at: the offset.
        start: start of the template in the text.
    """
    for match in _TAGS.finditer(text, min(start, at)):
        if match.start() >= at:
            break
        for kind in _KINDS:
            if match[kind] is not None and match.start(kind) <= at <= match.end(kind):
                return TagAt(kind, match.start(kind))
    return TagAt("text", at)


def open_block(text: str, at: int, start: int = 0) -> str:
    """Return the name of the innermost open block at an offset (`for`); empty for none."""
    opened: list[str] = []
    for match in _TAGS.finditer(text, min(start, at)):
        if match.start() >= at:
            break
        block = _BLOCK.match(match["statement"] or "")
        if block is None:
            continue
        if block["end"] is None:
            opened.append(block["name"])
        elif block["name"] in opened:
            del opened[len(opened) - 1 - opened[::-1].index(block["name"]) :]
    return opened[-1] if opened else ""


_SECTION = re.compile(r"\{\{[ ]*(?P<sign>[#^/])[ ]*(?P<name>[\w.]+|\.)[ ]*\}\}")

Contexts = tuple[Known, ...]
"""Known values of the open sections, innermost first."""

_WORD = re.compile(r"[\w-]*$")

_LOOP = re.compile(
    r"\{%[-+]?\s*(?:for\s+(?P<names>[\w\s,]+?)\s+in\s+"
    r"(?P<source>[^%{}\n]+?)(?=\s+(?:if|recursive)\b|\s*[-+]?%\})|(?P<end>endfor)\b)"
)

_INDEX = re.compile(r"\[\d+\]")

_DOTTED = re.compile(r"\w+(?:\.\w+)*")

_KEY_OPEN = re.compile(r"[\w\])]\[[\"']$")

_FOR_IF = re.compile(r"\s*(for\s+.+?\s+in\s+.+?)\s+if\b")

_SET = re.compile(r"\{%[-+]?\s*set\s+(\w+)")


def open_sections(text: str) -> tuple[str, ...]:
    """Return the names of the sections that are open at the end of a text, innermost last."""
    found: list[str] = []
    for each in _SECTION.finditer(text):
        if each["sign"] != "/":
            found.append(f"{each['sign']}{each['name']}")
        elif found and found[-1][1:] == each["name"]:
            found.pop()
    return tuple(found)


def contexts_at(text: str, document: PromptDocument, given: Sequence[JsonObject]) -> Contexts:
    """Return the known values in each open section: the items of a list."""
    found: list[Known] = []
    for section in open_sections(text):
        if section[0] == "^" or section[1:] == ".":
            continue
        known = looked_up(section[1:].split("."), tuple(found), document, given)
        is_list = any(isinstance(each, list) for each in known.values) or any(
            each.kind == "array" for each in known.declared
        )
        found.insert(0, known.at(EACH) if is_list else known)
    return tuple(found)


def looked_up(
    names: Sequence[str],
    contexts: Contexts,
    document: PromptDocument,
    given: Sequence[JsonObject],
) -> Known:
    """Look up dotted names in the innermost section that has the first one."""
    root, *rest = names
    known = next((each.at(root) for each in contexts if root in each.fields), None)
    if known is None:
        known = known_at(document, (root,), given)
    for name in rest:
        known = known.at(name)
    return known


def expression_words(
    text: str,
    caret: int,
    expression: re.Match[str],
    document: PromptDocument | None,
    given: Sequence[JsonObject] = (),
) -> tuple[str, list[CompletionItem]]:
    """Return the typed part inside `{{` or `{%`, and its completions."""
    if document is not None and document.template.format == "mustache":
        return _in_mustache(text, caret, expression, document, given)
    inside = expression["inside"]
    word = _WORD.search(inside)
    typed = word[0] if word else ""
    before = inside[: len(inside) - len(typed)].rstrip()
    around = tag_at(text, caret - len(expression[0]), document.body.start if document else 0)
    if around.kind == "comment":
        return typed, []
    statement = expression["open"].startswith("{%")
    if around.kind == "raw":  # text, except for the tag that ends it
        is_first = statement and not before
        return typed, _words(
            {"endraw": known_words.STATEMENTS["endraw"]} if is_first else {}, "word"
        )
    if before.endswith("|"):
        return typed, _words(known_words.FILTERS, "filter")
    if re.search(r"\bis(\s+not)?$", before):
        return typed, _words(known_words.TESTS, "filter")
    if before.endswith(".") or _KEY_OPEN.search(before):
        tag = caret - len(expression[0])
        whole = before[:-1] if before.endswith(".") else before[: before.rindex("[")]
        return typed, _fields(whole, text, tag, document, given)
    if (before.count('"') % 2) or (before.count("'") % 2):
        return typed, []
    items = variables(text, caret, document, given)
    if statement and not before:
        return typed, _statements(text, around.start, document) + _blocks(text, caret, document)
    return typed, items


def _statements(text: str, tag: int, document: PromptDocument | None) -> list[CompletionItem]:
    """Return the words that begin a tag, with only the end of the innermost open block."""
    end = f"end{open_block(text, tag, document.body.start if document else 0)}"
    words = known_words.STATEMENTS.items()
    fitting_ones = {name: help_ for name, help_ in words if name == end or name[:3] != "end"}
    return _words(fitting_ones, "word")


def _blocks(text: str, caret: int, document: PromptDocument | None) -> list[CompletionItem]:
    """Return statements with their ends; the closing `%}` is added if it is missing."""
    closed = re.match(r"\s*[-+]?%\}", text[caret : caret + 40]) is not None
    return [
        CompletionItem(
            f"{each.name} …",
            each.body if closed else f"{each.body} %}}",
            each.detail,
            "snippet",
            snippet=True,
        )
        for each in fitting(document, "statement")
    ]


def _words(words: Mapping[str, str], kind: str) -> list[CompletionItem]:
    return [CompletionItem(name, name, help_, kind) for name, help_ in words.items()]


def variables(
    text: str, caret: int, document: PromptDocument | None, given: Sequence[JsonObject] = ()
) -> list[CompletionItem]:
    """Return inputs first, then the template's own names, then variables of sets, rows and runs."""
    found: dict[str, CompletionItem] = {}
    for each in document.inputs if document else ():
        detail = f"{each.kind}{' · ' + each.description if each.description else ''}"
        found[each.name] = CompletionItem(each.name, each.name, detail, "input")
    loops = loops_at(text, caret)
    for names, source in reversed(loops):
        for name in names:
            found.setdefault(
                name,
                CompletionItem(
                    name, name, tr("each item of {source}").format(source=source), "word"
                ),
            )
    for name in _SET.findall(text[:caret]):
        found.setdefault(name, CompletionItem(name, name, tr("set in the template"), "word"))
    if "loop" not in found and loops:
        found["loop"] = CompletionItem("loop", "loop", tr("index, first, last, length"), "word")
    for values in given:
        for name, value in values.items():
            if name.isidentifier():
                found.setdefault(name, CompletionItem(name, name, short_value(value), "input"))
    for name, help_ in known_words.RESERVED.items():
        found.setdefault(name, CompletionItem(name, name, help_, "word"))
    return list(found.values())


def loops_at(text: str, caret: int) -> list[tuple[list[str], str]]:
    """Return the names and source of each loop open at the caret, outermost first."""
    opened: list[tuple[list[str], str]] = []
    for match in _LOOP.finditer(text, 0, caret):
        if match["end"] is None:
            opened.append((re.split(r"[,\s]+", match["names"]), match["source"]))
        elif opened:
            opened.pop()
    return opened


def format_fields(
    path: str,
    document: PromptDocument | None,
    given: Sequence[JsonObject],
    *,
    indexed: bool,
) -> list[CompletionItem]:
    """Return the fields of a value in a format string: `{customer.name}` or `{customer[name]}`.

    Args:
        path: the path before the dot or the bracket.
        document: the newest parsed document.
        given: further values by input.
        indexed: whether a bracket is open, which the completion closes.
    """
    steps = re.findall(r"\w+", path)
    names = (steps[0], *(EACH if each.isdecimal() else each for each in steps[1:]))
    known = known_at(document or PromptDocument(SourceText("")), names, given)
    return [
        CompletionItem(
            name,
            f"{name}]" if indexed else name,
            _documentation(known.at(name), ""),
            "input",
            closes="]" if indexed else "",
        )
        for name in known.fields
        if indexed or name.isidentifier()
    ]


def _fields(
    before: str,
    text: str,
    tag: int,
    document: PromptDocument | None,
    given: Sequence[JsonObject],
) -> list[CompletionItem]:
    """Return the fields of a value: declared ones, and those of the prompt's values.

    Args:
        before: text of the tag before the dot.
        text: the whole text.
        tag: start of the tag.
        document: the newest parsed document.
        given: further values by input.
    """
    path = _path_before(before, text, tag, document)
    if path is None:
        return []
    if path == (LOOP,):
        return _words(known_words.LOOP_FIELDS, "word")
    known = known_at(document or PromptDocument(SourceText("")), path, given)
    fields = known_words.ITEM_FIELDS.get(path[-2], {}) if path[-1] == EACH and len(path) > 1 else {}
    return [
        CompletionItem(name, name, _documentation(known.at(name), fields.get(name, "")), "input")
        for name in (known.fields if known.fields else fields)
    ]


def _path_before(
    before: str, text: str, tag: int, document: PromptDocument | None
) -> tuple[str, ...] | None:
    """Return the path of the value before a dot; None if it is unknown."""
    whole = _value_at_end(before)
    if not whole or before.removesuffix(whole).rstrip().endswith("|"):
        return None  # no name, or the name of a filter
    above = text[min(document.body.start if document is not None else 0, tag) : tag]
    loop = _FOR_IF.match(before)
    if loop is not None:
        above += f"{{% {loop[1]} %}}"
    try:
        return path_at(above, whole)
    except UnreadableTemplateError:
        pass  # another part is invalid: the surrounding text is used
    if not _DOTTED.fullmatch(_INDEX.sub("", whole)):
        return None
    return path_before(tuple(_INDEX.sub(f".{EACH}", whole).split(".")), loops_at(text, tag))


def _value_at_end(text: str) -> str:
    """Return the value at the end of an expression: `items[0].parts` in `x + items[0].parts`."""
    depth, at = 0, len(text)
    while at > 0:
        char = text[at - 1]
        if char in ")]":
            depth += 1
        elif char in "([":
            if depth == 0:
                break
            depth -= 1
        elif depth == 0 and not (char.isalnum() or char in "_."):
            break
        at -= 1
    return text[at:].strip() if depth == 0 else ""


def _in_mustache(
    text: str,
    caret: int,
    expression: re.Match[str],
    document: PromptDocument,
    given: Sequence[JsonObject],
) -> tuple[str, list[CompletionItem]]:
    """Return fields of the sections around the caret, then inputs; the name that a `/` closes."""
    typed = _WORD.search(expression["inside"])
    word = typed[0] if typed else ""
    above = text[document.body.start : caret - len(expression[0])]
    if expression["open"].endswith("/"):
        return word, [
            CompletionItem(name[1:], name[1:], tr("the open section"), "word")
            for name in open_sections(above)[-1:]
        ]
    before = expression["inside"][: len(expression["inside"]) - len(word)].strip()
    contexts = contexts_at(above, document, given)
    if before.endswith("."):
        names = before.strip(" .").split(".")
        if not all(names):
            return word, []
        known = looked_up(names, contexts, document, given)
        return word, [
            CompletionItem(n, n, _documentation(known.at(n), ""), "input") for n in known.fields
        ]
    if before.strip("#^/&>{ "):
        return word, []
    fields: dict[str, Known] = {}
    for each in contexts:
        for name in each.fields:
            fields.setdefault(name, each)
    items = [
        CompletionItem(n, n, _documentation(each.at(n), ""), "input") for n, each in fields.items()
    ]
    others = variables(text, caret, document, given)
    items += [each for each in others if each.label not in fields]
    return word, items


def path_before(chain: tuple[str, ...], loops: Sequence[tuple[list[str], str]]) -> tuple[str, ...]:
    """Return the path for dotted names; a loop variable is an item of its source.

    Args:
        chain: the names between the dots.
        loops: names and source of each open loop, outermost first.
    """
    for depth in range(len(loops) - 1, -1, -1):
        names, source = loops[depth]
        if names == [chain[0]] and not _DOTTED.fullmatch(source):
            return ("", *chain[1:])  # a filter may change the shape
        if names == [chain[0]]:
            return (*path_before(tuple(source.split(".")), loops[:depth]), EACH, *chain[1:])
    return chain


def _documentation(known: Known, otherwise: str) -> str:
    """Return a field's description, else its kind and value."""
    for declared in known.declared:
        if declared.description:
            return declared.description
    if otherwise:
        return otherwise
    shown = [short_value(value) for value in known.values[:1] if value is not None]
    kinds = [declared.kind for declared in known.declared[:1]]
    return " · ".join([*kinds, *shown])
