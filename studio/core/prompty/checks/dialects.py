"""Constructs of one dialect in a file of another."""

import re
from collections.abc import Iterator, Mapping

from studio.core.prompty.body.media import find_media, find_threads
from studio.core.prompty.dialect import section_markers
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.edit.edits import set_value
from studio.core.prompty.reference_values import PROTOCOLS, find_references
from studio.core.text.naming import nearest
from studio.core.text.source import Fix, Problem, Severity, Span, TextEdit
from studio.core.text.values import object_of

_BARE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")

_OTHER_WORD = re.compile(r"\$\{(?P<word>[A-Za-z]{2,12}):[^{}\n]*\}")
_UNCLOSED = re.compile(
    r"\$\{(?:env|file|params):[^{}\s\"']*[^{}\s\"'\])](?P<end>[\])]?)(?=[ \t]*$)", re.MULTILINE
)

_ODD = re.compile(r"[\s\"'`$,;\[\]<>|&]")
"""Characters that no shell allows in a variable's name; Windows has names with brackets."""


def check_dialect(document: PromptDocument) -> Iterator[Problem]:
    """Report what a Prompty 2 runtime would send as text, and a file of Prompty 1."""
    yield from _bare_references(document)
    yield from _odd_variables(document)
    yield from _near_references(document)
    match document.dialect:
        case "prompty":
            yield from _in_prompty(document)
        case "legacy":
            yield from _legacy(document)
        case "section":
            yield from _in_section(document)


def _bare_references(document: PromptDocument) -> Iterator[Problem]:
    """Report a shell's variable `${NAME}`, which no Prompty runtime reads."""
    if "${" not in document.source.text or document.front_matter is None:
        return
    for entry in document.entries:
        found = _BARE.fullmatch(document.source.slice(entry.value).strip("\"'"))
        if found is not None:
            message = (
                f"{found[0]} stays as it is written; a variable of the environment is "
                f"${{env:{found[1]}}}."
            )
            edit = TextEdit(entry.value, f"${{env:{found[1]}}}")
            fix = Fix(f"Write ${{env:{found[1]}}}", (edit,))
            yield Problem("bare-reference", Severity.WARNING, message, entry.value, (fix,))


def _odd_variables(document: PromptDocument) -> Iterator[Problem]:
    """Report a slip in a variable's name (`${env:KEY"}`), which no runtime finds."""
    if document.front_matter is None:
        return
    text = document.source.slice(document.front_matter)
    for reference in find_references(text):
        name = reference.argument
        if reference.protocol != "env" or not name or not _ODD.search(name):
            continue
        right = _ODD.sub("", name)
        place = reference.span.shift(document.front_matter.start)
        fixes: tuple[Fix, ...] = ()
        if right:
            start = place.start + len("${env:")
            edit = TextEdit(Span(start, start + len(name)), right)
            fixes = (Fix(f"Write ${{env:{right}}}", (edit,)),)
        message = f"No variable of the environment is named {name!r}: write letters, digits and _."
        yield Problem("variable-name", Severity.WARNING, message, place, fixes)


def _near_references(document: PromptDocument) -> Iterator[Problem]:
    """Report text that is nearly a reference: `${fle:rules.txt}`, `${env:KEY`."""
    text = document.source.text
    if "${" not in text:
        return
    for found in _OTHER_WORD.finditer(text):
        near = _slip_of(found["word"].lower())
        if near is not None:
            place = Span(*found.span("word"))
            message = f"{found[0]} stays as it is written; did you mean {near!r}?"
            fix = Fix(f"Change to {near!r}", (TextEdit(place, near),))
            yield Problem("bare-reference", Severity.WARNING, message, place, (fix,))
    for found in _UNCLOSED.finditer(text):
        message = "This ${ is never closed by }, so it stays as it is written."
        fix = Fix("Close it with }", (TextEdit(Span(*found.span("end")), "}"),))
        yield Problem("bare-reference", Severity.WARNING, message, Span(*found.span()), (fix,))


def _slip_of(word: str) -> str | None:
    """Return the word that differs by one slip; `${title:-x}` and `${filter:y}` are foreign."""
    if word in PROTOCOLS:
        return None
    near = nearest(word, PROTOCOLS)
    if near and abs(len(word) - len(near)) <= 1:
        return near
    return next((each for each in PROTOCOLS if sorted(word) == sorted(each)), None)


def _in_prompty(document: PromptDocument) -> Iterator[Problem]:
    body = document.source.slice(document.body)
    fix = Fix(
        "Use the section dialect", set_value(document, ("template", "parser", "kind"), "section")
    )
    for what, place in _section_constructs(body):
        message = f"A Prompty 2 runtime sends {what} to the model as text."
        yield Problem(
            "section-construct", Severity.WARNING, message, place.shift(document.body.start), (fix,)
        )


def _section_constructs(body: str) -> Iterator[tuple[str, Span]]:
    for role, span in section_markers(body):
        yield f"the {role}: section" if role else "the meaning of type=", span
    for place in find_threads(body):
        yield "![thread]", place
    for token in find_media(body):
        if token.alt is None:
            yield f"![{token.kind}](…)", token.span
    for reference in find_references(body):
        if reference.protocol == "params":
            yield "${params:…}", reference.span


def _legacy(document: PromptDocument) -> Iterator[Problem]:
    front = document.front_matter
    place = Span(front.start, front.start) if front else Span(0, 0)
    entry = next((item for item in document.entries if item.path == ("model",)), None)
    message = (
        f"This is a Prompty 1 file ({document.dialect_reason}). It works here; "
        "Prompty 2 runtimes refuse it; convert it, and whatever changes is named."
    )
    yield Problem("legacy-file", Severity.HINT, message, entry.key if entry else place)
    for name, value in object_of(document.data.get("inputs")).items():
        if isinstance(value, Mapping) and not value.keys() - {"type", "default", "description"}:
            continue
        entry = document.entry("inputs", name)
        message = (
            f"prompty 0.1.50 refuses the input {name!r}: it takes an object of type, default and "
            "description."
        )
        yield Problem("legacy-key", Severity.HINT, message, entry.key if entry else place)


def _in_section(document: PromptDocument) -> Iterator[Problem]:
    """Report Prompty 2's rich inputs: they work, but the section dialect has its own."""
    if document.template.parser != "section":
        return
    for item in document.inputs:
        if item.kind == "thread" and item.name != "thread" and item.name_span is not None:
            message = (
                f"Inputs of kind thread are a construct of Prompty 2; here the conversation is "
                f"![thread], or {{{{{item.name}}}}} as in Prompty 2."
            )
            yield Problem("prompty-construct", Severity.HINT, message, item.name_span)
