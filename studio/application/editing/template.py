"""What can stand at the caret in a template expression."""

from __future__ import annotations

import re
from collections.abc import Mapping

from studio.application.editing import words as known
from studio.application.editing.completion_items import CompletionItem
from studio.application.editing.snippets import fitting
from studio.application.words import translate
from studio.core.prompty.document import InputDeclaration, PromptDocument

_WORD = re.compile(r"[\w-]*$")
_LOOP = re.compile(
    r"\{%[-+]?\s*(?:for\s+(?P<names>[\w\s,]+?)\s+in\s+(?P<source>[\w.]+)|(?P<end>endfor)\b)"
)
_SET = re.compile(r"\{%[-+]?\s*set\s+(\w+)")


def expression_words(
    text: str, caret: int, expression: re.Match[str], document: PromptDocument | None
) -> tuple[str, list[CompletionItem]]:
    """What was typed inside `{{` or `{%`, and what can stand there."""
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
    items = variables(text, caret, document)
    statement = expression["open"].startswith("{%")
    if statement and not before:
        return typed, _words(known.STATEMENTS, "word") + _blocks(text, caret, document)
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
    loops = _loops_at(text, caret)
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
    for name, help_ in known.RESERVED.items():
        found.setdefault(name, CompletionItem(name, name, help_, "word"))
    return list(found.values())


def _loops_at(text: str, caret: int) -> list[tuple[list[str], str]]:
    """The names and the source of each loop that is open at the caret, the outermost first."""
    opened: list[tuple[list[str], str]] = []
    for match in _LOOP.finditer(text, 0, caret):
        if match["end"] is None:
            opened.append((re.split(r"[,\s]+", match["names"]), match["source"]))
        elif opened:
            opened.pop()
    return opened


def _fields(
    chain: str, text: str, caret: int, document: PromptDocument | None
) -> list[CompletionItem]:
    """The fields of a value: an object's properties, or those of a reserved list's items."""
    root, *rest = chain.split(".")
    if root == "loop":
        names = ("index", "index0", "first", "last", "length", "previtem", "nextitem")
        return [
            CompletionItem(name, name, translate("Completion", "of the loop"), "word")
            for name in names
        ]
    sources = {
        name: source.split(".")[-1] for names, source in _loops_at(text, caret) for name in names
    }
    declared = document.input(sources.get(root, root)) if document else None
    if declared is not None:
        return [
            CompletionItem(each.name, each.name, each.description or each.kind, "input")
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
