"""What can stand at the caret in a template expression."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from studio.application.editing import words as known_words
from studio.application.editing.completion_items import CompletionItem
from studio.application.editing.snippets import fitting
from studio.application.preview.inline_values import short_value
from studio.application.words import translate
from studio.core.prompty.document import EACH, PromptDocument
from studio.core.prompty.known_fields import Known, known_at
from studio.core.text.source import SourceText
from studio.core.text.values import Json

_WORD = re.compile(r"[\w-]*$")
_LOOP = re.compile(
    r"\{%[-+]?\s*(?:for\s+(?P<names>[\w\s,]+?)\s+in\s+(?P<source>[\w.]+)|(?P<end>endfor)\b)"
)
_INDEX = re.compile(r"\[\d+\]")
_SET = re.compile(r"\{%[-+]?\s*set\s+(\w+)")


def expression_words(
    text: str,
    caret: int,
    expression: re.Match[str],
    document: PromptDocument | None,
    given: Sequence[Mapping[str, Json]] = (),
) -> tuple[str, list[CompletionItem]]:
    """What was typed inside `{{` or `{%`, and what can stand there."""
    inside = expression["inside"]
    word = _WORD.search(inside)
    typed = word[0] if word else ""
    before = inside[: len(inside) - len(typed)].rstrip()
    if before.endswith("|"):
        return typed, _words(known_words.FILTERS, "filter")
    if re.search(r"\bis(\s+not)?$", before):
        return typed, _words(known_words.TESTS, "filter")
    if before.endswith("."):
        chain = re.search(r"([\w.*]+)\.$", _INDEX.sub(f".{EACH}", before))
        return typed, _fields(chain[1] if chain else "", text, caret, document, given)
    if (before.count('"') % 2) or (before.count("'") % 2):
        return typed, []
    items = variables(text, caret, document)
    statement = expression["open"].startswith("{%")
    if statement and not before:
        return typed, _words(known_words.STATEMENTS, "word") + _blocks(text, caret, document)
    return typed, items


def _blocks(text: str, caret: int, document: PromptDocument | None) -> list[CompletionItem]:
    """Statements with their ends; the closing `%}` is put in where it is not there yet."""
    closed = re.match(r"\s*[-+]?%\}", text[caret : caret + 40]) is not None
    return [
        CompletionItem(
            f"{each.name} …", each.body if closed else f"{each.body} %}}", each.detail, "snippet",
            snippet=True,
        )
        for each in fitting(document, "statement")
    ]  # fmt: skip


def _words(words: Mapping[str, str], kind: str) -> list[CompletionItem]:
    return [CompletionItem(name, name, help_, kind) for name, help_ in words.items()]


def variables(text: str, caret: int, document: PromptDocument | None) -> list[CompletionItem]:
    """Inputs first, then the template's own names, then what a run supplies."""
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
                    name,
                    name,
                    translate("Completion", "each of {source}").format(source=source),
                    "word",
                ),
            )
    for name in _SET.findall(text[:caret]):
        found.setdefault(
            name,
            CompletionItem(name, name, translate("Completion", "set in the template"), "word"),
        )
    if "loop" not in found and loops:
        found["loop"] = CompletionItem(
            "loop",
            "loop",
            translate("Completion", "index, first, last, length"),
            "word",
        )
    for name, help_ in known_words.RESERVED.items():
        found.setdefault(name, CompletionItem(name, name, help_, "word"))
    return list(found.values())


def loops_at(text: str, caret: int) -> list[tuple[list[str], str]]:
    """The names and the source of each loop that is open at the caret, the outermost first."""
    opened: list[tuple[list[str], str]] = []
    for match in _LOOP.finditer(text, 0, caret):
        if match["end"] is None:
            opened.append((re.split(r"[,\s]+", match["names"]), match["source"]))
        elif opened:
            opened.pop()
    return opened


def _fields(
    chain: str,
    text: str,
    caret: int,
    document: PromptDocument | None,
    given: Sequence[Mapping[str, Json]],
) -> list[CompletionItem]:
    """The fields of a value: declared ones, and those that values of the prompt have."""
    root, *rest = chain.split(".")
    if root == "loop":
        names = ("index", "index0", "first", "last", "length", "previtem", "nextitem")
        return [
            CompletionItem(name, name, translate("Completion", "of the loop"), "word")
            for name in names
        ]
    path = path_before((root, *rest), loops_at(text, caret))
    known = known_at(document or PromptDocument(SourceText("")), path, given)
    said = known_words.ITEM_FIELDS.get(path[-2], {}) if path[-1] == EACH and len(path) > 1 else {}
    return [
        CompletionItem(name, name, _told(known.at(name), said.get(name, "")), "input")
        for name in (known.fields if known.fields else said)
    ]


def path_before(chain: tuple[str, ...], loops: Sequence[tuple[list[str], str]]) -> tuple[str, ...]:
    """The path that dotted names stand for: variables of loops are the items of their sources.

    Args:
        chain: the names between the dots.
        loops: names and source of each loop that is open there, the outermost first.
    """
    for depth in range(len(loops) - 1, -1, -1):
        names, source = loops[depth]
        if names == [chain[0]]:
            return (*path_before(tuple(source.split(".")), loops[:depth]), EACH, *chain[1:])
    return chain


def _told(known: Known, otherwise: str) -> str:
    """What is known of a field: its description, else its kind with a value."""
    for declared in known.declared:
        if declared.description:
            return declared.description
    if otherwise:
        return otherwise
    shown = [short_value(value) for value in known.values[:1] if value is not None]
    kinds = [declared.kind for declared in known.declared[:1]]
    return " · ".join([*kinds, *shown])
