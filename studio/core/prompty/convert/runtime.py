"""The end of a conversion to Prompty 2: what its runtimes want, and what they make of it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from studio.core.prompty.convert.declarations import convert_declarations, convert_tools
from studio.core.prompty.edit.draft import ConversionDraft
from studio.core.prompty.edit.edits import flow_value
from studio.core.prompty.front.front_matter import FORMATS
from studio.core.prompty.reference_values import whole_reference
from studio.core.prompty.runtimes.shape import load_faults
from studio.core.prompty.split import split_front_matter
from studio.core.prompty.templates.fstring import fstring_as_jinja
from studio.core.text.problem import TextEdit
from studio.core.text.span import Span

_DASHES = re.compile(r"---+|\+\+\++")


def complete_for_runtimes(draft: ConversionDraft) -> None:
    """Add what Prompty 2's runtimes want and a file may leave unsaid; a file that has it stays."""
    format_string_as_jinja(draft)
    if draft.document.front_matter is None or any(True for _ in load_faults(draft.document.data)):
        _empty_blocks(draft)
        _template(draft)
        for block in ("inputs", "outputs"):
            convert_declarations(draft, block)
        convert_tools(draft)
        _connection(draft)
    _dashes(draft)


_BLOCKS = (
    ("model", "connection"), ("model", "options"), ("model",), ("template",),
    ("inputs",), ("outputs",), ("tools",),
)  # fmt: skip


def _empty_blocks(draft: ConversionDraft) -> None:
    """Keys without a value, which the runtimes read no block out of, are taken out."""
    for path in _BLOCKS:
        if draft.has(*path) and draft.value(*path) is None:
            draft.remove(*path)


def take_byte_order_mark_out(draft: ConversionDraft) -> None:
    """The runtimes find no front matter behind a byte order mark."""
    if draft.text.startswith("\ufeff"):
        draft.apply([TextEdit(Span(0, 1), "")])
        draft.notes.append("the byte order mark is taken out: the runtimes cannot read behind it")


def format_string_as_jinja(draft: ConversionDraft) -> None:
    """A format string as Jinja2: the runtimes know no format strings."""
    value = draft.value("template")
    inner = value.get("format") if isinstance(value, Mapping) else value
    if (inner.get("kind") if isinstance(inner, Mapping) else inner) != "fstring":
        return
    body = draft.document.body
    made = fstring_as_jinja(draft.text[body.start : body.end])
    if made is None:
        draft.losses.append(
            "the body is a format string with formats, which Jinja2 writes otherwise"
        )
        return
    path = ("template", "format", "kind") if isinstance(inner, Mapping) else ("template", "format")
    draft.apply([TextEdit(body, made)])
    if isinstance(value, Mapping):
        draft.replace(path, "jinja2")
    else:
        draft.replace(("template",), "{format: {kind: jinja2}, parser: {kind: prompty}}")


def _template(draft: ConversionDraft) -> None:
    value = draft.value("template")
    if isinstance(value, str) and whole_reference(value) is None:
        kind = FORMATS.get(value, value)
        draft.replace(("template",), f"{{format: {{kind: {kind}}}, parser: {{kind: prompty}}}}")
    elif not draft.has("template"):
        block = {"format": {"kind": "jinja2"}, "parser": {"kind": "prompty"}}
        draft.add((), "template", [flow_value(block)], f"template: {flow_value(block)}")
    elif isinstance(value, Mapping):
        for key, kind in (("format", "jinja2"), ("parser", "prompty")):
            inner = value.get(key)
            if inner is None:
                draft.set(("template", key, "kind"), kind)
            word = inner.get("kind") if isinstance(inner, Mapping) else inner
            known = FORMATS.get(word, word) if isinstance(word, str) else word
            if key == "format" and known != word and isinstance(known, str):
                path = (
                    ("template", key, "kind") if isinstance(inner, Mapping) else ("template", key)
                )
                draft.replace(path, known)


def _connection(draft: ConversionDraft) -> None:
    value = draft.value("model", "connection")
    if isinstance(value, str) and whole_reference(value) is None:
        draft.replace(("model", "connection"), f"{{kind: reference, name: {flow_value(value)}}}")
    elif isinstance(value, Mapping) and not value.get("kind"):
        draft.add_value(("model", "connection"), "kind", "key")


def _dashes(draft: ConversionDraft) -> None:
    """`---` inside the front matter, where the runtimes end it: written so that it stays."""
    text = draft.text
    front = split_front_matter(text).front
    if front is None or _DASHES.search(text, front.start, front.end) is None:
        return
    edits: list[TextEdit] = []
    data = draft.document
    for entry in data.entries:
        written = text[entry.value.start : entry.value.end]
        value = draft.value(*entry.path)
        if isinstance(value, str) and _DASHES.search(written):
            safe = json.dumps(value, ensure_ascii=False)
            safe = safe.replace("--", "-\\u002d").replace("++", "+\\u002b")
            edits.append(TextEdit(entry.value, safe + written[len(written.rstrip()) :]))
    taken = [edit.span for edit in edits]
    for found in _DASHES.finditer(text, front.start, front.end):
        start = text.rfind("\n", 0, found.start()) + 1
        inside = any(span.start <= found.start() < span.end for span in taken)
        if not inside and text[start : found.start()].lstrip().startswith("#"):
            edits.append(TextEdit(Span(*found.span()), " ".join(found[0])))
    if edits:
        draft.apply(edits)
        draft.notes.append(
            "--- in the front matter is written otherwise: the runtimes end it at the first of them"
        )
