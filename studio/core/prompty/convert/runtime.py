"""The end of a conversion to Prompty 2: what its runtimes want, and what they make of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from studio.core.prompty.convert.declarations import convert_declarations, convert_tools
from studio.core.prompty.document import Dialect
from studio.core.prompty.edit.draft import ConversionDraft
from studio.core.prompty.edit.edits import flow_value
from studio.core.prompty.front.declarations import output_schema
from studio.core.prompty.front.front_matter import FORMATS
from studio.core.prompty.meaning import first_difference, tool_difference
from studio.core.prompty.messages import MediaPart, Message, TextPart
from studio.core.prompty.prepare import Prepared
from studio.core.prompty.reference_values import whole_reference
from studio.core.prompty.runtimes import prompty1, prompty2
from studio.core.prompty.runtimes.prompty2 import RuntimeRefusal
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
        _template(draft)
        for block in ("inputs", "outputs"):
            convert_declarations(draft, block)
        convert_tools(draft)
        _connection(draft)
    _dashes(draft)


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
        if isinstance(value, str) and _DASHES.search(written) and "\n" not in written:
            safe = flow_value(value).replace("---", "-\\u002d-").replace("+++", "+\\u002b+")
            edits.append(TextEdit(entry.value, safe if safe[0] == '"' else f'"{safe}"'))
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


@dataclass(frozen=True, slots=True)
class Compared:
    """The prompt before a conversion and after it, prepared with the same values."""

    before: Prepared
    """As it was."""

    after: Prepared
    """As it was converted."""

    loose: bool = False
    """Blanks at the ends of messages do not count: Prompty 1 took them off."""


def differences(pair: Compared) -> Iterator[str]:
    """What the converted file says otherwise, a sentence each."""
    before, after = pair.before.document, pair.after.document
    told = tool_difference(before.tools, after.tools)
    if told:
        yield told
    if output_schema(before.outputs) != output_schema(after.outputs):
        yield "the schema of the outputs is different."
    changed = [
        key
        for key in dict.fromkeys((*before.model.options, *after.model.options))
        if before.model.options.get(key) != after.model.options.get(key)
    ]
    if changed:
        yield f"the model options are different: {', '.join(changed)}."


def runtime_difference(pair: Compared, to: Dialect) -> str:
    """What Prompty's own runtime makes of the converted file otherwise; empty where nothing."""
    name, prepare_as_runtime = RUNTIMES[to]
    loose = pair.loose or to == "legacy"
    try:
        got = prepare_as_runtime(pair.after, forgiving=True)
    except RuntimeRefusal as error:
        return f"{name} does not take the file: {error}"
    told = first_difference(
        comparable(pair.before.messages.messages, loose=loose), comparable(got, loose=loose)
    )
    return f"{name} makes other messages of it: {told}" if told else ""


class PrepareAsRuntime(Protocol):
    """Prepares a prompt as another program does."""

    def __call__(self, prepared: Prepared, *, forgiving: bool = False) -> tuple[Message, ...]:
        """The messages.

        Raises:
            RuntimeRefusal: it cannot load or prepare it.
        """
        ...


RUNTIMES: Mapping[Dialect, tuple[str, PrepareAsRuntime]] = {
    "prompty": (prompty2.RUNTIME, prompty2.prepare_as_runtime),
    "legacy": (prompty1.RUNTIME, prompty1.prepare_as_runtime),
}
"""The program that a dialect is for: its name in a sentence, and what it makes of a prompt."""


def comparable(messages: tuple[Message, ...], *, loose: bool = False) -> tuple[Message, ...]:
    """Messages without what no program tells apart: empty texts, texts that stand side by side."""
    return tuple(replace(message, parts=_parts(message, loose=loose)) for message in messages)


def _parts(message: Message, *, loose: bool) -> tuple[TextPart | MediaPart, ...]:
    found: list[TextPart | MediaPart] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            text = part.text
            if found and isinstance(found[-1], TextPart):
                text = found.pop().text + text  # type: ignore[union-attr]
            found.append(TextPart(text))
        else:
            found.append(part)  # type: ignore[arg-type]
    if loose:
        found = [TextPart(p.text.strip()) if isinstance(p, TextPart) else p for p in found]
    return tuple(p for p in found if not isinstance(p, TextPart) or p.text)
