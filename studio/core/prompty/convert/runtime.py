"""The end of a conversion to Prompty 2: what its runtimes want, and what they make of it.

The last message is left out by Prompty 1 without a text, and sent empty by Prompty 2. Source:
`prompty` 0.1.50, `parsers.py` ("if last chunk is role entry, then remove"); `prompty` 2.1 makes a
message of each marker.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from studio.core.prompty.body.source_yaml import expression_ranges
from studio.core.prompty.convert.declarations import convert_declarations, convert_tools
from studio.core.prompty.document import BodySection, PromptDocument
from studio.core.prompty.edit.draft import ConversionDraft
from studio.core.prompty.edit.edits import flow_value
from studio.core.prompty.front.front_matter import FORMATS
from studio.core.prompty.parse import parse
from studio.core.prompty.reference_values import whole_reference
from studio.core.prompty.runtimes.prompty1 import ROLES, check_file
from studio.core.prompty.runtimes.shape import load_faults
from studio.core.prompty.split import split_front_matter
from studio.core.prompty.templates.fstring import fstring_as_jinja
from studio.core.text.problem import TextEdit
from studio.core.text.span import Span

_DASHES = re.compile(r"---+|\+\+\++")

_JINJA = re.compile(r"\{\{[-+]?\s*(.+?)\s*[-+]?\}\}", re.DOTALL)

_MUSTACHE = re.compile(r"\{\{[{&]?\s*([\w.]+)\s*\}?\}\}")

_NAME = re.compile(r"[A-Za-z_][\w.]*")


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
    ("model", "connection"),
    ("model", "options"),
    ("model",),
    ("template",),
    ("inputs",),
    ("outputs",),
    ("tools",),
)


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


def send_last_only_with_text(draft: ConversionDraft, before: PromptDocument) -> None:
    """Write the condition out under which Prompty 1 sends a last message that nothing fills.

    A message whose values stand in the file is sent by both; the template stays as it is then.

    Args:
        draft: The file, converted.
        before: The same file as it was.
    """
    if before.dialect == "prompty" or not _is_of_prompty_1(before):
        return
    document = parse(draft.text)
    section = document.sections[-1] if document.sections else None
    if section is None or section.marker is None or len(document.sections) < 2:
        return
    condition = _condition(document, section)
    if section.role not in ROLES or not condition:
        return
    if any(_has_text(document, name) for name in _names(document, section)):
        return
    opening, closing = condition
    newline = "\r\n" if "\r\n" in draft.text else "\n"
    end = section.content.start + len(document.source.slice(section.content).rstrip())
    start = section.marker.start
    draft.apply(
        [
            TextEdit(Span(start, start), f"{opening}{newline}"),
            TextEdit(Span(end, end), f"{newline}{closing}"),
        ]
    )
    words = ", ".join(_names(document, section))
    draft.notes.append(
        f"the last message ({section.role}) is sent only where {words} has a text: Prompty 1 left "
        "it out, and Prompty 2 would send it empty"
    )


def _is_of_prompty_1(document: PromptDocument) -> bool:
    """Whether the file says so, or says nothing and its runtime takes it."""
    return document.dialect == "legacy" or (
        "template" not in document.data and not any(True for _ in check_file(document))
    )


def _condition(document: PromptDocument, section: BodySection) -> tuple[str, str] | None:
    """The tags that hold the message back; None where more than values stand in it."""
    text = document.source.slice(section.content)
    ranges = list(expression_ranges(text, document.template.format))
    rest = text
    for start, end in reversed(ranges):
        rest = rest[:start] + rest[end:]
    if not ranges or rest.strip():
        return None
    written = [text[start:end] for start, end in ranges]
    if document.template.format == "mustache":
        found = _MUSTACHE.fullmatch(written[0])
        name = found[1] if found is not None and len(written) == 1 else ""
        return (f"{{{{#{name}}}}}", f"{{{{/{name}}}}}") if name else None
    values = [found[1] for each in written if (found := _JINJA.fullmatch(each)) is not None]
    if document.template.format != "jinja2" or len(values) != len(written):
        return None
    if len(values) > 1 or _NAME.fullmatch(values[0]) is None:
        values = [f"({' ~ '.join(f'({value})' for value in values)})"]
    return f"{{% if {values[0]}|trim %}}", "{% endif %}"


def _names(document: PromptDocument, section: BodySection) -> tuple[str, ...]:
    found = (
        item.name for item in document.variables if item.expression.start >= section.content.start
    )
    return tuple(dict.fromkeys(found))


def _has_text(document: PromptDocument, name: str) -> bool:
    """Whether a run without values has a text for the name: its default, which samples became."""
    declared = document.input(name)
    if declared is None or not declared.has_default:
        return False
    value = declared.default
    return not isinstance(value, str) or bool(value.strip())
