"""Completion in the front matter."""

import re
from collections.abc import Sequence

from studio.application.editing.editor_context import CompletionItem, EditorContext
from studio.application.editing.snippets import SnippetContext, fitting
from studio.application.words import tr
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.front.schema import key_at, keys_below, values_at
from studio.core.text.values import KeyPath

# The mapping to which a line of YAML belongs, even while it cannot be parsed.

_LEAD = re.compile(r"(?P<indent> *)(?P<dashes>(?:- +)*)(?:-$)?")
_KEY = re.compile(r"(?P<key>\"[^\"]*\"|'[^']*'|[\w$./-][\w$ ./-]*?)\s*:(?:\s|$)")
_DASH = 0
"""Index of any list item in a path, since all items have the same keys."""
_FARTHEST = 2000


def path_at(text: str, caret: int) -> KeyPath:
    """Return the path of the mapping that contains the caret's line.

    Only columns are compared, so that it works while the line is being typed; every list item has
    index 0.
    """
    *above, line = text[:caret].split("\n")
    own = _LEAD.match(line)
    limit = own.end() if own else 0
    path: list[str | int] = []
    # A row has a line's marks from left to right; the search goes up and, within a line, left.
    rows = [[mark for mark in _marks(line) if mark[1] == _DASH]]
    for each in reversed(above[-_FARTHEST:]):
        if each.strip() in ("---", "+++"):
            break
        if each.strip() and not each.lstrip().startswith("#"):
            rows.append(_marks(each))
    for row in rows:
        for column, mark in reversed(row):
            # A list may be in the same column as its key.
            beside = mark != _DASH and column == limit and path[:1] == [_DASH]
            if column < limit or beside:
                path.insert(0, mark)
                limit = column
        if limit == 0 and path[:1] != [_DASH]:
            break
    return tuple(path)


def _marks(line: str) -> list[tuple[int, str | int]]:
    """Return the dashes and the key at the start of a line, each with its column."""
    lead = _LEAD.match(line)
    if lead is None:
        return []
    marks: list[tuple[int, str | int]] = [
        (lead.start("dashes") + at, _DASH)
        for at, char in enumerate(line[lead.start("dashes") : lead.end()])
        if char == "-"
    ]
    key = _KEY.match(line, lead.end("dashes"))
    if key is not None:
        marks.append((key.start(), key["key"].strip("\"' ")))
    return marks


_KEY_LINE = re.compile(r"(?P<lead>\s*(?:- )*)(?P<word>[\w$-]*)$")
_VALUE_LINE = re.compile(r"\s*(?:- )*(?P<key>[\w$-]+):\s+[\"']?(?P<word>[\w./:-]*)$")
PLACES: dict[KeyPath, SnippetContext] = {
    (): "root",
    ("inputs",): "inputs",
    ("tools",): "tools",
}
"""Mappings of the front matter to which snippets add keys."""


def front_matter(
    text: str,
    caret: int,
    line: str,
    document: PromptDocument | None,
    *,
    asked: bool,
    editor_context: EditorContext,
) -> tuple[str, list[CompletionItem]]:
    """Return the typed part of a key or value, and its completions.

    Args:
        text: the whole text.
        caret: offset of the caret.
        line: the caret's line up to the caret.
        document: the newest parsed document.
        asked: whether the user requested completion.
        editor_context: model ids of the connection.
    """
    value = _VALUE_LINE.match(line)
    if value:
        path = (*path_at(text, caret), value["key"])
        key = key_at(path)
        words = values_at(path)
        if path == ("model", "id"):
            return value["word"], _models(editor_context.models)
        if key is not None and not words and "boolean" in key.types:
            words = ("true", "false")
        return value["word"], [CompletionItem(word, word, "", "value") for word in words]
    key_line = _KEY_LINE.match(line)
    if key_line and (asked or key_line["word"]):
        parent = path_at(text, caret)
        indent = " " * len(key_line["lead"])
        taken = siblings(text, caret, len(indent))
        found = [
            key_completion(key.name, key.help, key.types, indent)
            for key in keys_below(parent)
            if key.name not in taken or key.name == key_line["word"]
        ]
        return key_line["word"], found + _snippets(document, parent, taken, line)
    return "", []


def _snippets(
    document: PromptDocument | None, parent: KeyPath, taken: set[str], line: str
) -> list[CompletionItem]:
    """Return the snippets of blocks that can be added here, except those that exist."""
    place = PLACES.get(parent)
    if place is None or "- " in line or (place == "root" and line[:1] == " "):
        return []
    if place == "inputs" and document and isinstance(document.data.get("inputs"), list):
        return []
    return [
        CompletionItem(each.name, each.body, each.detail, "snippet", snippet=True)
        for each in fitting(document, place)
        if place != "root" or each.body.partition(":")[0] not in taken
    ]


def _models(offered: Sequence[str]) -> list[CompletionItem]:
    """Return completions for the connection's models, then for other known ids."""
    from studio.core.known_models import known_models

    found = {
        name: CompletionItem(name, name, tr("Offered by the connection"), "value")
        for name in offered
    }
    for name, window in known_models():
        words = tr("{number}k tokens of context").format(number=window // 1000)
        found.setdefault(name, CompletionItem(name, name, words if window else "", "value"))
    return list(found.values())


def key_completion(name: str, help_: str, types: Sequence[str], indent: str) -> CompletionItem:
    """Return the completion of a key with the start of its value."""
    if types and types[0] in ("mapping", "list"):
        dash = "- " if types[0] == "list" else ""
        return CompletionItem(name, f"{name}:\n{indent}  {dash}", help_, "key")
    return CompletionItem(name, f"{name}: ", help_, "key", again=True)


def siblings(text: str, caret: int, indent: int) -> set[str]:
    """Return the other keys of the mapping that contains the caret's line."""
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
