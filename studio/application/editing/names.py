"""Find the declarations and uses of inputs and tools in a parsed document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from studio.core.text.source import Span, TextEdit

if TYPE_CHECKING:
    from studio.core.prompty.document import PromptDocument

_WORD = re.compile(r"[\w-]+")
_TOOL_NAME = re.compile(r"[A-Za-z_][\w-]*")
_FILE = re.compile(r"\$\{file:(?P<path>[^}\n]+)\}")
_ENV = re.compile(r"\$\{env:(?P<name>\w+)(?P<default>:[^}\n]*)?\}")


def name_at(document: PromptDocument, offset: int) -> str | None:
    """Return the input used or declared at `offset`; None if there is none."""
    for variable in document.variables:
        if variable.span.touches(offset):
            return variable.name
    for parameter in document.parameters:
        if any(span.touches(offset) for span in parameter.names):
            return parameter.name
    for declared in document.inputs:
        if declared.name_span is not None and declared.name_span.touches(offset):
            return declared.name
    return None


def uses(document: PromptDocument, name: str) -> tuple[Span, ...]:
    """Return every use of an input, in the template or as a parameter, in order."""
    spans = [variable.span for variable in document.variables if variable.name == name]
    parameter = document.parameter(name)
    return tuple(sorted((*spans, *(parameter.names if parameter is not None else ()))))


def places_of(document: PromptDocument, offset: int) -> tuple[str, tuple[Span, ...]]:
    """Return the input or tool at `offset`, with its declaration and every use, in order.

    A tool's uses are its name as a whole word, since prompts mention tools in plain text.
    """
    name = name_at(document, offset)
    if name is not None:
        declared = document.input(name)
        places = set(uses(document, name))
        if declared is not None and declared.name_span is not None:
            places.add(declared.name_span)
        return name, tuple(sorted(places))
    text = document.source.text
    word = word_at(text, offset)
    if not any(tool.name == word for tool in document.tools):
        return "", ()
    whole = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
    return word, tuple(Span(*match.span()) for match in whole.finditer(text))


def tool_at(document: PromptDocument, offset: int) -> str | None:
    """Return the declared tool whose name touches `offset`."""
    word = word_at(document.source.text, offset)
    return word if any(tool.name == word for tool in document.tools) else None


def tool_rename(document: PromptDocument, old: str, new: str) -> tuple[TextEdit, ...]:
    """Return the edits that rename a tool in its declaration and in references to it.

    Prose is not changed: in a body only names in backticks, in quotes, as the value of `name`, and
    after a ReAct `Action:` are references.

    Raises:
        ValueError: `new` is not a name, or exists already; the text says which.
    """
    if not _TOOL_NAME.fullmatch(new):
        raise ValueError(f"{new!r} is not a name: letters, digits, _ and - only, no digit first")
    if any(tool.name == new for tool in document.tools):
        raise ValueError(f"the name {new!r} is taken already")
    name = re.escape(old)
    named = re.compile(
        rf"(?<=`){name}(?=`)|(?<=\"){name}(?=\")|(?<='){name}(?=')"
        rf"|(?<=name=){name}(?![\w-])|(?<=name: ){name}(?![\w-])|(?<=Action: ){name}(?![\w-])"
    )
    text = document.source.text
    places = {Span(*match.span()) for match in named.finditer(text, document.body.start)}
    for entry in document.entries:
        written = text[entry.value.start : entry.value.end]
        if entry.path[:1] == ("tools",) and entry.path[2:] in (("name",), ("id",)):
            quoted = written[:1] in "\"'" and written[:1] == written[-1:]
            if written.strip("\"'") == old and entry.value.end > entry.value.start:
                by = 1 if quoted else 0
                places.add(Span(entry.value.start + by, entry.value.end - by))
    return tuple(TextEdit(place, new) for place in sorted(places))


def file_at(document: PromptDocument, offset: int) -> str | None:
    """Return the path in the `${file:…}` at `offset`, as written; None if there is none."""
    match = _reference_at(_FILE, document, offset)
    return match["path"] if match is not None else None


def variable_at(document: PromptDocument, offset: int) -> tuple[str, str | None] | None:
    """Return the environment variable of the `${env:…}` at `offset`, and its default."""
    match = _reference_at(_ENV, document, offset)
    if match is None:
        return None
    return match["name"], match["default"][1:] if match["default"] is not None else None


def _reference_at(
    kind: re.Pattern[str], document: PromptDocument, offset: int
) -> re.Match[str] | None:
    text = document.source.text
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    for match in kind.finditer(text, start, end if end >= 0 else len(text)):
        if match.start() <= offset <= match.end():
            return match
    return None


def definition(document: PromptDocument, offset: int) -> Span | None:
    """Return the declaration of the name at `offset`; for the declaration, its first use."""
    name = name_at(document, offset)
    if name is not None:
        declared = document.input(name)
        place = declared.name_span if declared else None
        if place is not None and place.touches(offset):
            used = uses(document, name)
            return used[0] if used else None
        if place is not None:
            return place
    word = word_at(document.source.text, offset)
    for tool in document.tools:
        if tool.name == word and tool.span is not None and not tool.span.touches(offset):
            return tool.span
    return None


def tool_on_line(document: PromptDocument, line: int) -> str | None:
    """Return the tool declared on a line (from 0); None if there is none."""
    source = document.source
    for tool in document.tools:
        if tool.span is None:
            continue
        last = source.line_of(max(tool.span.start, tool.span.end - 1))
        if source.line_of(tool.span.start) <= line <= last:
            return tool.name
    return None


def message_on_line(document: PromptDocument, line: int) -> str | None:
    """Return the message whose role marker is on a line (from 0): `user 2`."""
    from studio.core.prompty.document import named_messages

    source = document.source
    for name, section in named_messages(document):
        if section.marker is not None and source.line_of(section.marker.start) == line:
            return name
    return None


def message_around(document: PromptDocument, line: int) -> str | None:
    """Return the name of the message that contains a line (from 0): `user 2`."""
    from studio.core.prompty.document import named_messages

    source = document.source
    for name, section in named_messages(document):
        last = source.line_of(max(section.span.start, section.span.end - 1))
        if source.line_of(section.span.start) <= line <= last:
            return name
    return None


def word_at(text: str, offset: int) -> str:
    """Return the word that touches `offset`; empty if there is none."""
    start = max(text.rfind("\n", 0, offset) + 1, offset - 200)
    end = text.find("\n", offset)
    for match in _WORD.finditer(text[start : end if end >= 0 else len(text)]):
        if match.start() <= offset - start <= match.end():
            return match[0]
    return ""


_MEDIA = re.compile(r"!\[[^\]\n]*\]\((?P<path>[^)\s]+)\)")


def references_to_files(document: PromptDocument) -> Iterator[tuple[str, Span]]:
    """Yield the paths in `${file:…}` and media tokens, as written, with their spans."""
    text = document.source.text
    for kind, start in ((_FILE, 0), (_MEDIA, document.body.start)):
        for match in kind.finditer(text, start):
            path = match["path"]
            if "{" not in path and "://" not in path and not path.startswith("data:"):
                yield path, Span(*match.span("path"))
