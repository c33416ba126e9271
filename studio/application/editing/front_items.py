"""Whole items of the front matter: a tool that is added, a tool or input that is taken out.

The edits are read back before they are given out: what else the front matter says has to stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from studio.application.words import tr
from studio.core.prompty.document import FrontMatterEntry, PromptDocument
from studio.core.prompty.edit.edits import insert_below, remove_entry, write_scalar
from studio.core.prompty.edit.keep_dialect import keeping_dialect
from studio.core.prompty.parse import parse
from studio.core.prompty.yaml.places import KeyPath
from studio.core.text.problem import TextEdit, apply_edits
from studio.core.text.span import Span
from studio.core.text.values import Json

NewToolKind: TypeAlias = Literal["function", "mcp", "openapi", "custom"]
"""What a new tool can be."""

TOOL_KINDS: tuple[NewToolKind, ...] = ("function", "mcp", "openapi", "custom")
"""The kinds in the order in which they are offered."""

_DASH = re.compile(r"(?:\A|\n)(?P<item>[ \t]*)-\s+\Z")


class FrontFormError(ValueError):
    """What the front matter cannot take; the text is for the user."""


def add_tool(
    document: PromptDocument, name: str, kind: NewToolKind = "function"
) -> tuple[TextEdit, ...]:
    """Edits that declare one more tool, in the form that the file's other tools have.

    Raises:
        FrontFormError: the name is taken or is none, or the tools are written in a form of their
            own.
    """
    if not re.fullmatch(r"[\w-]+", name):
        words = tr("{name!r} is not a name of a tool: letters, digits, _ and -.")
        raise FrontFormError(words.format(name=name))
    if document.dialect == "legacy":
        raise FrontFormError(tr("Prompty 1 declares tools under model: write it in the text."))
    tools = document.data.get("tools")
    if name in _names(tools):
        words = tr("There is a tool {name!r} already.")
        raise FrontFormError(words.format(name=name))
    given = {"kind": kind, **_first_keys(name, kind)}
    written = write_scalar(name)
    pairs = [f"{key}: {write_scalar(value)}" for key, value in given.items()]
    flow = ", ".join(pairs)
    if isinstance(tools, Mapping) and tools:
        lines = [f"{written}:", *(f"  {pair}" for pair in pairs)]
        wanted: Json = {**tools, name: given}
        edits = insert_below(document, ("tools",), lines, f"{written}: {{{flow}}}")
    else:
        lines = [f"- name: {written}", *(f"  {pair}" for pair in pairs)]
        wanted = [*(tools if isinstance(tools, list) else ()), {"name": name, **given}]
        edits = insert_below(document, ("tools",), lines, f"{{name: {written}, {flow}}}")
    is_free = tools is None or isinstance(tools, list | Mapping)
    return changes_only(document, edits if is_free else (), ("tools",), wanted)


def remove_item(document: PromptDocument, path: KeyPath) -> tuple[TextEdit, ...]:
    """Edits that take one tool or input out with all that it says; the last one takes its key.

    Raises:
        FrontFormError: it is written so that its neighbours would change.
    """
    parent, last = path[:-1], path[-1]
    held = document.data.get(str(parent[0])) if len(parent) == 1 else None
    entry = document.entry(*path)
    wanted: Json = None
    if isinstance(held, list) and isinstance(last, int):
        wanted = [*held[:last], *held[last + 1 :]]
    elif isinstance(held, Mapping):
        wanted = {key: value for key, value in held.items() if key != last}
    whole = document.entry(*parent)
    if entry is None or whole is None:
        return ()
    edits = remove_entry(document, entry if wanted else whole)
    if wanted and (not edits or isinstance(last, int)):
        edits = _in_list(document, entry) or _in_brackets(document, parent, entry)
    return changes_only(document, edits, parent, wanted or None)


def _first_keys(name: str, kind: NewToolKind) -> dict[str, str]:
    """What a kind cannot do without."""
    return {"serverName": name} if kind == "mcp" else {}


def _names(tools: Json) -> set[str]:
    if isinstance(tools, Mapping):
        return set(tools)
    if not isinstance(tools, list):
        return set()
    return {str(each["name"]) for each in tools if isinstance(each, Mapping) and "name" in each}


def _in_list(document: PromptDocument, entry: FrontMatterEntry) -> tuple[TextEdit, ...]:
    """Edits that take out an item behind a dash, with its lines."""
    text = document.source.text
    dash = _DASH.search(text, 0, entry.value.start)
    if dash is None:
        return ()
    end = text.find("\n", entry.value.end)
    return (TextEdit(Span(dash.start("item"), len(text) if end < 0 else end + 1), ""),)


def _in_brackets(
    document: PromptDocument, parent: KeyPath, entry: FrontMatterEntry
) -> tuple[TextEdit, ...]:
    """Edits that take out an item between commas."""
    inside = [each for each in document.entries if each.path[:-1] == parent]
    at = inside.index(entry)
    if at + 1 < len(inside):
        gone = Span(_start(entry), _start(inside[at + 1]))
    else:
        gone = Span(inside[at - 1].value.end, entry.value.end)
    written = document.source.text[gone.start : gone.end]
    return () if "#" in written else (TextEdit(gone, ""),)


def _start(entry: FrontMatterEntry) -> int:
    return entry.value.start if isinstance(entry.path[-1], int) else entry.key.start


def changes_only(
    document: PromptDocument, edits: tuple[TextEdit, ...], path: KeyPath, wanted: Json
) -> tuple[TextEdit, ...]:
    """The edits, where the front matter then says what is wanted at a key and else what it said.

    An anchor says the same at several places, a block scalar ends where its last line does: what
    a form would change beside what is shown in its field, it leaves to the text.

    Raises:
        FrontFormError: something else would change.
    """
    kept = keeping_dialect(document, edits)
    after = parse(apply_edits(document.source.text, kept)).data
    expected = {each: value for each, value in _leaves(document.data) if each[: len(path)] != path}
    expected.update(_leaves(wanted, path))
    known = {*document.data, path[0]}  # what keeps the dialect may come in besides
    if {each: value for each, value in _leaves(after) if each[0] in known} == expected:
        return kept
    raise _of_its_own(path)


def adds_only(
    document: PromptDocument, edits: tuple[TextEdit, ...], path: KeyPath
) -> tuple[TextEdit, ...]:
    """The edits, where the front matter then still says all that it said, and something more.

    Raises:
        FrontFormError: something would be another, or nothing would be new.
    """
    kept = keeping_dialect(document, edits)
    after = dict(_leaves(parse(apply_edits(document.source.text, kept)).data))
    before = dict(_leaves(document.data))
    if len(after) > len(before) and before.items() <= after.items():
        return kept
    raise _of_its_own(path)


def _of_its_own(path: KeyPath) -> FrontFormError:
    words = tr("{key} is written in a form of its own: change it in the text.")
    return FrontFormError(words.format(key=".".join(map(str, path))))


def _leaves(value: Json, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Json]]:
    """Each value that holds no others, with its keys; nothing for what says nothing."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _leaves(item, (*path, at))
    elif value is not None:
        yield path, value
