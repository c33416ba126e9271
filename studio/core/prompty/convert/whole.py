"""Convert a prompt file from one dialect to another, and prove what that did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from studio.core.prompty.convert.body import convert_body, write_user_after_threads
from studio.core.prompty.convert.compare import (
    RUNTIMES,
    Compared,
    differences,
    old_runtime_difference,
    runtime_difference,
)
from studio.core.prompty.convert.front import convert_front
from studio.core.prompty.convert.legacy import convert_to_legacy
from studio.core.prompty.convert.runtime import (
    complete_for_runtimes,
    format_string_as_jinja,
    send_last_only_with_text,
    take_byte_order_mark_out,
)
from studio.core.prompty.document import Dialect, PromptDocument, first_unreadable, hides_text
from studio.core.prompty.edit.draft import ConversionDraft
from studio.core.prompty.parameters import parameters_as_variables
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.prompty.shapes import messages_to_json
from studio.core.text.diff import line_edits
from studio.core.text.problem import Problem, TextEdit
from studio.core.text.values import Json


@dataclass(frozen=True, slots=True)
class Conversion:
    """A conversion that is offered, and what it would do."""

    edits: tuple[TextEdit, ...]
    """Changes to the file's text; none where it is in that dialect already."""

    text: str
    """The file after them."""

    notes: tuple[str, ...]
    """What has no home in the other dialect, and what a user should look at."""

    same_messages: bool
    """Whether the messages of a preview are the same before and after."""

    losses: tuple[str, ...] = ()
    """What the converted file does not carry, or what its readers make of it otherwise."""

    of_messages: tuple[str, ...] = ()
    """Those of the notes and losses that speak of the messages of a preview."""

    refusal: Problem | None = None
    """Why nothing was converted: a part of the file could not be read."""


def convert(
    document: PromptDocument, to: Dialect, references: ReferenceContext | None = None
) -> Conversion:
    """Convert a document to another dialect; one that was not read whole stays as it is.

    Args:
        document: As `parse` gave it.
        to: The dialect to write; `legacy` is for programs that stayed with Prompty 1.
        references: Where the files are read that the prompt names; variables stay references.
            None: no file is read, so nothing of them can be compared either.
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
    if to in RUNTIMES:
        take_byte_order_mark_out(draft)
    if draft.text == old:
        return Conversion((), old, (), True)
    return _proven(draft, before, to, references)


def prove(
    document: PromptDocument, to: Dialect, references: ReferenceContext | None = None
) -> Conversion:
    """A file that needs no change, with what the programs of its dialect make of it.

    Args:
        document: As `parse` gave it.
        to: The dialect that it is of.
        references: Where the files are read that the prompt names.
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
    """The conversion with what it changes: compared by our own rules, and by the runtime's."""
    after = parse(draft.text, before.source.path)
    context = references
    if context is None and before.parameters:
        context = ReferenceContext(trusted=False)
    # What a parameter is before is an input after: both get the same value to compare.
    values: dict[str, Json] = {
        item.name: item.name for item in before.parameters if before.input(item.name) is None
    }
    known = {problem.code for problem in before.problems}
    for problem in after.problems:
        if problem.code not in known and hides_text(problem):
            draft.losses.append(f"the front matter would not be read: {problem.message}")
    pair = Compared(
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
        draft.losses += differences(pair) if to == "prompty" else ()
        difference = runtime_difference(pair, to)
        bare = _without_stand_ins(pair, values, context) if not difference else None
        difference = runtime_difference(bare, to) if bare is not None else difference
        if difference:
            draft.losses.append(difference)
        old = old_runtime_difference(bare or pair) if to == "prompty" else ""
        if old:
            draft.losses.append(old)
        # What keeps a reader from taking the file is no matter of these values alone.
        of_messages += [each for each in (difference, old) if each and "does not take" not in each]
    edits = line_edits(before.source.text, draft.text)
    return Conversion(
        edits, draft.text, tuple(draft.notes), same, tuple(draft.losses), tuple(of_messages)
    )


def _same_messages(pair: Compared) -> bool:
    """Whether a preview shows the same; a last message without a text is none in Prompty 1."""
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
    pair: Compared, values: Mapping[str, Json], context: ReferenceContext | None
) -> Compared | None:
    """The same prompts with nothing where a preview here puts a text of its own; None: nowhere.

    No other program knows such texts: what it is not given is empty.
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
    """Write each `${params:name}` of the messages as a template expression, and declare the input.

    The file stays a prompt section. References in the front matter and in a `tools:` section have
    no template to stand in and stay as they are.

    Args:
        draft: The file, not yet changed.
        document: The same file as it was parsed.
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
    declared: dict[str, Mapping[str, Json]] = {}
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
