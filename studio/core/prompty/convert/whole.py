"""Convert a prompt file from one dialect to another, and verify the result.

Also adapts a conversion to Prompty 2's runtimes. Prompty 1 omits a last message without text,
Prompty 2 sends it empty. Source: `prompty` 0.1.50, `parsers.py` ("if last chunk is role entry, then
remove"); `prompty` 2.1 makes a message of each marker.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from studio.core.prompty.body.source_yaml import expression_ranges
from studio.core.prompty.convert import compare
from studio.core.prompty.convert.body import convert_body, write_user_after_threads
from studio.core.prompty.convert.declarations import convert_declarations, convert_tools
from studio.core.prompty.convert.front import convert_front
from studio.core.prompty.convert.legacy import convert_to_legacy
from studio.core.prompty.document import (
    BodySection,
    Dialect,
    PromptDocument,
    first_unreadable,
    hides_text,
)
from studio.core.prompty.edit.edits import ConversionDraft, flow_value
from studio.core.prompty.foreign import split_front_matter
from studio.core.prompty.front.front_matter import FORMATS
from studio.core.prompty.parameters import parameters_as_variables
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from studio.core.prompty.reference_values import ReferenceContext, whole_reference
from studio.core.prompty.runtimes.prompty1 import ROLES, check_file
from studio.core.prompty.runtimes.prompty2 import load_faults
from studio.core.prompty.shapes import messages_to_json
from studio.core.prompty.templates.fstring import fstring_as_jinja
from studio.core.text.diff import line_edits
from studio.core.text.source import Problem, Span, TextEdit
from studio.core.text.values import JsonDict, JsonObject

_DASHES = re.compile(r"---+|\+\+\++")

_JINJA = re.compile(r"\{\{[-+]?\s*(.+?)\s*[-+]?\}\}", re.DOTALL)

_MUSTACHE = re.compile(r"\{\{[{&]?\s*([\w.]+)\s*\}?\}\}")

_NAME = re.compile(r"[A-Za-z_][\w.]*")


def complete_for_runtimes(draft: ConversionDraft) -> None:
    """Add keys that Prompty 2's runtimes need and that the file lacks."""
    format_string_as_jinja(draft)
    if draft.document.front_matter is None or any(True for _ in load_faults(draft.document.data)):
        for path in _BLOCKS:
            if draft.has(*path) and draft.value(*path) is None:
                draft.remove(*path)
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


def take_byte_order_mark_out(draft: ConversionDraft) -> None:
    """Remove the byte order mark, after which the runtimes find no front matter."""
    if draft.text.startswith("\ufeff"):
        draft.apply([TextEdit(Span(0, 1), "")])
        draft.notes.append(
            "the byte order mark is removed: the runtimes cannot read the text after it"
        )


def format_string_as_jinja(draft: ConversionDraft) -> None:
    """Convert a format string to Jinja2, since the runtimes have no format strings."""
    value = draft.value("template")
    inner = value.get("format") if isinstance(value, Mapping) else value
    if (inner.get("kind") if isinstance(inner, Mapping) else inner) != "fstring":
        return
    body = draft.document.body
    made = fstring_as_jinja(draft.text[body.start : body.end])
    if made is None:
        draft.losses.append(
            "the body is a format string with formats, which Jinja2 writes in another way"
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
    """Rewrite `---` inside the front matter, which would end it for the runtimes."""
    text = draft.text
    front = split_front_matter(text).front
    if front is None or _DASHES.search(text, front.start, front.end) is None:
        return
    edits: list[TextEdit] = []
    for entry in draft.document.entries:
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
            "--- in the front matter is written differently: the runtimes end it at the first ---"
        )


def send_last_only_with_text(draft: ConversionDraft, before: PromptDocument) -> None:
    """Add a condition that omits an empty last message, as Prompty 1 does.

    If the message's values are in the file, both versions send it, and the template stays
    unchanged.

    Args:
        draft: The file, converted.
        before: The original file.
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
        f"the last message ({section.role}) is only sent if {words} has a text: Prompty 1 omitted "
        "it, and Prompty 2 would send it empty"
    )


def _is_of_prompty_1(document: PromptDocument) -> bool:
    """Return whether it is a Prompty 1 file: it says so, or only that runtime loads it."""
    return document.dialect == "legacy" or (
        "template" not in document.data and not any(True for _ in check_file(document))
    )


def _condition(document: PromptDocument, section: BodySection) -> tuple[str, str] | None:
    """Return the tags of that condition; None if the section contains more than values."""
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
    """Return whether a run without given values has a text for the name: default or sample."""
    declared = document.input(name)
    if declared is None or not declared.has_default:
        return False
    value = declared.default
    return not isinstance(value, str) or bool(value.strip())


@dataclass(frozen=True, slots=True)
class Conversion:
    """A possible conversion and its effects."""

    edits: tuple[TextEdit, ...]
    """Edits of the file's text; empty if it has that dialect already."""

    text: str
    """Text of the file after the edits."""

    notes: tuple[str, ...]
    """Notes on what the other dialect lacks, and what the user should check."""

    same_messages: bool
    """Whether the messages of a preview are the same before and after."""

    losses: tuple[str, ...] = ()
    """Losses of the converted file, and differences in its runtimes."""

    of_messages: tuple[str, ...] = ()
    """The notes and losses that concern the messages of a preview."""

    refusal: Problem | None = None
    """Problem that prevents the conversion: a part of the file is unreadable."""


def convert(
    document: PromptDocument, to: Dialect, references: ReferenceContext | None = None
) -> Conversion:
    """Convert a document to another dialect; one with unreadable parts stays unchanged.

    Args:
        document: The document from `parse`.
        to: The dialect to write; `legacy` is for programs that only support Prompty 1.
        references: Resolver for the prompt's files; variables stay references. None: no file is
            read, so their content is not compared.
    """
    old = document.source.text
    refusal = first_unreadable(document)
    if refusal is not None:
        lost = f"nothing was converted: {refusal.message}"
        return Conversion((), old, (), same_messages=False, losses=(lost,), refusal=refusal)
    draft = ConversionDraft(old)
    before = document
    if document.parameters and to != "section" and document.dialect == "section":
        parameters_to_inputs(draft, document)
        document = parse(draft.text, document.source.path)
    if to == "legacy" and document.template.format == "fstring":
        format_string_as_jinja(draft)
        document = parse(draft.text, document.source.path)
    _rewrite(draft, document, to, references)
    if to == "prompty":
        complete_for_runtimes(draft)
        send_last_only_with_text(draft, before)
    if to in compare.RUNTIMES:
        take_byte_order_mark_out(draft)
    if draft.text == old:
        return Conversion((), old, (), True)
    return _proven(draft, before, to, references)


def prove(
    document: PromptDocument, to: Dialect, references: ReferenceContext | None = None
) -> Conversion:
    """Return the conversion of a file that needs no edits, to compare its runtimes.

    Args:
        document: The document from `parse`.
        to: The dialect of the document.
        references: Resolver for the prompt's files.
    """
    return _proven(ConversionDraft(document.source.text), document, to, references)


def _rewrite(
    draft: ConversionDraft,
    document: PromptDocument,
    to: Dialect,
    references: ReferenceContext | None,
) -> None:
    if document.dialect != to and to == "legacy":
        convert_to_legacy(draft, document)
    elif document.dialect != to:
        if to == "prompty":
            convert_body(draft, document)
        elif document.dialect == "legacy":
            write_user_after_threads(draft, document)
        if document.dialect == "legacy":
            convert_front(draft, to, references)
        else:
            draft.set(("template", "parser", "kind"), to)


def _proven(
    draft: ConversionDraft, before: PromptDocument, to: Dialect, references: ReferenceContext | None
) -> Conversion:
    """Return the conversion with its effects, compared by the studio's and the runtime's rules."""
    after = parse(draft.text, before.source.path)
    context = references
    if context is None and before.parameters:
        context = ReferenceContext(trusted=False)
    # A parameter becomes an input: both get the same value for the comparison.
    values: JsonDict = {
        item.name: item.name for item in before.parameters if before.input(item.name) is None
    }
    known = {problem.code for problem in before.problems}
    for problem in after.problems:
        if problem.code not in known and hides_text(problem):
            draft.losses.append(f"the front matter would not be read: {problem.message}")
    pair = compare.Compared(
        prepare(before, values, references=context, preview=True),
        prepare(after, values, references=context, preview=True),
        loose=before.dialect == "legacy",
    )
    same = _same_messages(pair)
    of_messages: list[str] = []
    if not same:
        of_messages.append("the messages of a preview differ; compare them before you keep this")
        draft.notes += of_messages
    if to != "section":
        draft.losses += compare.differences(pair) if to == "prompty" else ()
        difference = compare.runtime_difference(pair, to)
        bare = _without_stand_ins(pair, values, context) if not difference else None
        difference = compare.runtime_difference(bare, to) if bare is not None else difference
        if difference:
            draft.losses.append(difference)
        old = compare.old_runtime_difference(bare or pair) if to == "prompty" else ""
        if old:
            draft.losses.append(old)
        # Errors of loading the file do not depend on these values.
        of_messages += [each for each in (difference, old) if each and "does not take" not in each]
    edits = line_edits(before.source.text, draft.text)
    return Conversion(
        edits, draft.text, tuple(draft.notes), same, tuple(draft.losses), tuple(of_messages)
    )


def _same_messages(pair: compare.Compared) -> bool:
    """Return whether a preview is the same; Prompty 1 omits a last message without text."""
    before, after = pair.before.messages, pair.after.messages
    got = messages_to_json(after, "prompty")
    if messages_to_json(before, "prompty") == got:
        return True
    if pair.before.document.dialect == "prompty" or not before.messages:
        return False
    if before.messages[-1].text.strip() or len(before.messages) != len(after.messages) + 1:
        return False
    return messages_to_json(replace(before, messages=before.messages[:-1]), "prompty") == got


def _without_stand_ins(
    pair: compare.Compared, values: JsonObject, context: ReferenceContext | None
) -> compare.Compared | None:
    """Return the prompts without the texts that only this preview inserts; else None.

    Other programs have no such texts: missing values are empty.
    """
    before = pair.before
    sampled = {item.name for item in before.document.inputs if item.has_sample}
    names = before.samples - sampled - values.keys()
    if not names:
        return None
    given = {**values, **dict.fromkeys(names, "")}
    return replace(
        pair,
        before=prepare(before.document, given, references=context, preview=True),
        after=prepare(pair.after.document, given, references=context, preview=True),
    )


def parameters_to_inputs(draft: ConversionDraft, document: PromptDocument) -> None:
    """Replace each `${params:name}` in messages by a template expression, and declare the input.

    The file stays a prompt section. References in the front matter and in a `tools:` section are
    outside templates and stay unchanged.

    Args:
        draft: The file, not yet changed.
        document: The parsed original file.
    """
    if isinstance(document.data.get("inputs"), str):
        return  # the inputs are declared in another file
    edits: list[TextEdit] = []
    written: list[str] = []
    names = {span: item.name for item in document.parameters for span in item.uses}
    for section in document.sections:
        if section.role == "tools":
            continue
        text = document.source.slice(section.span)
        for place, expression in parameters_as_variables(text, document.template.format):
            span = place.shift(section.span.start)
            if span in names:
                edits.append(TextEdit(span, expression))
                written.append(names[span])
    if not edits:
        return
    declared: dict[str, JsonObject] = {}
    for name in written:
        parameter = document.parameter(name)
        if parameter is not None and document.input(name) is None:
            declared[name] = {"kind": parameter.kind, "required": True}
    draft.apply(edits)
    draft.set(("template", "parser", "kind"), "section")
    if isinstance(document.data.get("inputs"), list):
        draft.add_items(("inputs",), [{"name": name, **item} for name, item in declared.items()])
    else:
        draft.add_values(("inputs",), declared)
