"""Puts a key of a file that is being converted one level deeper, or takes it out of one."""

from __future__ import annotations

from studio.core.prompty.edit.draft import ConversionDraft
from studio.core.prompty.yaml.places import KeyPath
from studio.core.text.problem import TextEdit
from studio.core.text.span import Span


def nest(draft: ConversionDraft, path: KeyPath, outer: str, inner: str) -> None:
    """`inputs: …` becomes `outer: {inner: …}`, at the same place, comments and all."""
    entry = draft.document.entry(*path)
    if entry is None:
        return
    lines = draft.lines_of(entry)
    if lines is None:
        value = draft.document.source.slice(entry.value)
        whole = Span(entry.key.start, max(entry.value.end, entry.key.end))
        draft.apply((TextEdit(whole, f"{outer}: {{{inner}: {value}}}"),))
        return
    head = lines[0].partition(":")[2]
    new = [f"{outer}:", f"  {inner}:{head}", *(f"  {line}" if line else "" for line in lines[1:])]
    _replace(draft, entry.key.start, max(entry.value.end, entry.key.end), new)


def unnest(draft: ConversionDraft, path: KeyPath, new: str) -> bool:
    """`outer: {inner: …}` becomes `new: …`; False where other keys stand beside the inner one.

    Args:
        draft: The file.
        path: The inner key.
        new: The name that takes the place of the outer one.
    """
    outer, inner = draft.document.entry(*path[:-1]), draft.document.entry(*path)
    if outer is None or inner is None or len(draft.block(*path[:-1])) != 1:
        return False
    lines = draft.lines_of(inner)
    value = draft.document.source.slice(inner.value)
    if lines is None:
        whole = Span(outer.key.start, max(outer.value.end, outer.key.end))
        draft.apply((TextEdit(whole, f"{new}: {value}"),))
        return True
    between = draft.text[outer.key.end : inner.key.start].partition(":")[2]
    comments = [line.strip() for line in between.split("\n")[1:] if line.strip()]
    head = lines[0].partition(":")[2]
    made = [f"{new}:{head}", *(f"  {line}" for line in comments), *lines[1:]]
    _replace(draft, outer.key.start, max(inner.value.end, inner.key.end), made)
    return True


def _replace(draft: ConversionDraft, start: int, value_end: int, lines: list[str]) -> None:
    """Put lines in place of a block that begins at a key."""
    line_start = draft.text.rfind("\n", 0, start) + 1
    indent = draft.text[line_start:start]
    if indent.strip():  # `- key: …`: what follows stands below the key, not below the dash
        indent = " " * len(indent)
    end = draft.text.find("\n", value_end)
    end = len(draft.text) if end < 0 else end
    if draft.text[end - 1 : end] == "\r":
        end -= 1
    newline = "\r\n" if "\r\n" in draft.text else "\n"
    rest = [indent + line if line else "" for line in lines[1:]]
    draft.apply((TextEdit(Span(start, end), newline.join([lines[0], *rest])),))
