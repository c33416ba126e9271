"""Keeping values in the file, as samples of its inputs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from studio.core.prompty.document import PromptDocument
from studio.core.prompty.edit.edits import set_value, write_scalar
from studio.core.prompty.edit.keep_dialect import difference, keeping_dialect
from studio.core.prompty.parse import parse
from studio.core.text.problem import TextEdit, apply_edits
from studio.core.text.values import Json


@dataclass(frozen=True, slots=True)
class SampleEdits:
    """What is written into the file."""

    edits: tuple[TextEdit, ...]
    """The change, as one edit; none where nothing can be kept."""

    left_out: tuple[str, ...] = ()
    """Inputs whose values cannot be kept: not declared, or declared in a way without room."""


def sample_edits(document: PromptDocument, values: Mapping[str, Json]) -> SampleEdits:
    """Edits that make values the samples of their inputs; each is proven by reading it again."""
    text = document.source.text
    newest = document
    left_out = []
    for name, value in values.items():
        changed = _with_sample(newest, name, value)
        if changed is None:
            left_out.append(name)
        else:
            newest = changed
    return SampleEdits(difference(text, newest.source.text), tuple(left_out))


def _with_sample(document: PromptDocument, name: str, value: Json) -> PromptDocument | None:
    """The document with one sample more, or `None` where that cannot be."""
    if document.input(name) is None:
        return None
    path = _place(document, name)
    if path is None:
        return None
    written = (
        write_scalar(value)
        if isinstance(value, str)
        else json.dumps(value, ensure_ascii=False, default=str)
    )
    try:
        edits = keeping_dialect(document, set_value(document, path, written))
        text = apply_edits(document.source.text, edits)
    except ValueError:
        return None
    changed = parse(text, document.source.path)
    item = changed.input(name)
    is_kept = item is not None and item.has_sample and item.sample == value
    body = document.source.slice(document.body)
    is_whole = len(changed.inputs) == len(document.inputs)
    is_whole = is_whole and changed.source.slice(changed.body) == body
    return changed if is_kept and is_whole else None


def _place(document: PromptDocument, name: str) -> tuple[str | int, ...] | None:
    """The keys that lead to an input's sample; inputs stand by name, or in a list (Prompty 2)."""
    if document.dialect == "legacy":
        return ("sample", name)
    if document.entry("inputs", name) is not None:
        return ("inputs", name, "sample")
    for number in range(len(document.inputs)):
        entry = document.entry("inputs", number, "name")
        declared = document.input(name)
        if entry and declared and entry.value == declared.name_span:
            return ("inputs", number, "sample")
    return None
