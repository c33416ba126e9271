"""Where inputs and tools are declared and used: pure look-ups in a parsed document."""

from __future__ import annotations

import re

from studio.core.prompty.document import PromptDocument
from studio.core.text.span import Span

_WORD = re.compile(r"[\w-]+")


def name_at(document: PromptDocument, offset: int) -> str | None:
    """The input that a use or a declaration at `offset` names."""
    for variable in document.variables:
        if variable.span.touches(offset):
            return variable.name
    for declared in document.inputs:
        if declared.name_span is not None and declared.name_span.touches(offset):
            return declared.name
    return None


def uses(document: PromptDocument, name: str) -> tuple[Span, ...]:
    """Every use of an input in the body, in order."""
    return tuple(variable.span for variable in document.variables if variable.name == name)


def places_of(document: PromptDocument, offset: int) -> tuple[str, tuple[Span, ...]]:
    """The input or tool named at `offset`, with its declaration and every use, in order.

    A tool's uses are its name as a whole word: prompts speak of tools in plain text.
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


def definition(document: PromptDocument, offset: int) -> Span | None:
    """Where the name at `offset` is declared; at the declaration itself, its first use."""
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
    """The tool that is declared on a line, counted from 0."""
    source = document.source
    for tool in document.tools:
        if tool.span is None:
            continue
        last = source.line_of(max(tool.span.start, tool.span.end - 1))
        if source.line_of(tool.span.start) <= line <= last:
            return tool.name
    return None


def word_at(text: str, offset: int) -> str:
    """The word that touches `offset`; empty when there is none."""
    start = max(text.rfind("\n", 0, offset) + 1, offset - 200)
    end = text.find("\n", offset)
    line = text[start : end if end >= 0 else len(text)]
    for match in _WORD.finditer(line):
        if match.start() <= offset - start <= match.end():
            return match[0]
    return ""
