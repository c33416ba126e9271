"""What may stand in place of a section: the same expressions, no other role, tool or file.

Whoever proposes a text has read rows and answers, which anybody may have written. So no proposal is
sent to a model before it has passed here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from studio.application.experiments.prompts import ExperimentError, section_edit, section_span
from studio.application.words import tr
from studio.core.prompty.body.media import find_media, find_threads
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.parse import parse
from studio.core.text.problem import Severity, apply_edits
from studio.core.text.span import Span

_TAGS = {
    "jinja2": (("{{", "}}"), ("{%", "%}"), ("{#", "#}")),
    "mustache": (("{{{", "}}}"), ("{{", "}}")),
    "fstring": (("{", "}"),),
}
_BLOCKS = ("{%", "{{ #", "{{ ^", "{{ /", "{{ >", "{{ =")
_REFERENCE = re.compile(r"\$\{[^{}\n]*\}")
_MOST_CHARACTERS = 60_000


def section_text(document: PromptDocument, title: str) -> str:
    """The text of a section, without the blank lines around it.

    Raises:
        ExperimentError: there is no such section.
    """
    edit = section_edit(document, title, "", document.name or "prompt")
    return _plain(document.source.slice(edit.span))


def with_section(document: PromptDocument, title: str, text: str) -> PromptDocument:
    """The prompt with another text in place of a section; options of its provider stay.

    Raises:
        ExperimentError: there is no such section.
    """
    edit = section_edit(document, title, text, document.name or "prompt")
    changed = parse(apply_edits(document.source.text, [edit]), document.source.path)
    return replace(changed, model=document.model)


def candidate_refusal(document: PromptDocument, title: str, text: str) -> str:
    """Why a text may not stand in place of a section; empty where it may."""
    if not text.strip():
        return tr("It is empty.")
    if len(text) > _MOST_CHARACTERS:
        return tr("It is longer than {count:,} characters.").format(count=_MOST_CHARACTERS)
    if text.lstrip().startswith("file://"):
        return tr("It names a file instead of a text.")
    try:
        changed = with_section(document, title, text)
    except ExperimentError as error:
        return str(error)
    return next(_refusals(document, changed, title, text), "")


def _refusals(
    before: PromptDocument, after: PromptDocument, title: str, text: str
) -> Iterator[str]:
    if _roles(before) != _roles(after):
        found = Counter(_roles(after)) - Counter(_roles(before))
        names = ", ".join(repr(marker or role) for role, marker in found)
        yield tr("It adds or removes a role: {names}.").format(names=names or "?")
    if _lines_of_roles(section_text(before, title)) != _lines_of_roles(text):
        yield tr("It has a line that begins a message of a role in another dialect.")
    if before.data != after.data or before.tools != after.tools or before.inputs != after.inputs:
        yield tr("It changes what the file declares.")
    place = section_span(after, title)
    if place is None or _plain(after.source.slice(place)) != _plain(text):
        yield tr("It does not stay inside of its section: a heading or a role begins another one.")
    old = section_span(before, title)
    assert old is not None  # `with_section` has found it
    yield from _changed_parts(before, after, old, place or old)
    known = Counter(each.code for each in before.problems if each.severity is Severity.ERROR)
    for each in after.problems:
        if each.severity is Severity.ERROR:
            known[each.code] -= 1
            if known[each.code] < 0:
                yield tr("It has an error: {message}").format(message=each.message)


def _changed_parts(
    before: PromptDocument, after: PromptDocument, old: Span, new: Span
) -> Iterator[str]:
    """What is not the same of that which a text may not choose by itself."""
    old_text, new_text = before.source.slice(old), after.source.slice(new)
    kind = before.template.format
    was, now = list(_tags(old_text, kind)), list(_tags(new_text, kind))
    if any(each.startswith(_BLOCKS) for each in (*was, *now)):
        if was != now:
            yield _difference(Counter(was), Counter(now)) or tr(
                "Its expressions stand in another order, and blocks are among them."
            )
    elif Counter(was) != Counter(now):
        yield _difference(Counter(was), Counter(now))
    for read in (_variables_in, _fields_in):
        if read(before, old) != read(after, new):
            yield tr("Its expressions read other values.")
    if Counter(_REFERENCE.findall(old_text)) != Counter(_REFERENCE.findall(new_text)):
        yield tr("It has other references (${…}) than the section has now.")
    if Counter(_media(old_text)) != Counter(_media(new_text)):
        yield tr("It has other images, files or threads than the section has now.")


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").strip("\n")


def _difference(was: Counter[str], now: Counter[str]) -> str:
    """What is too much and what is missing, a sentence; empty for the same."""
    added, lost = list((now - was).elements()), list((was - now).elements())
    lines = []
    if added:
        lines.append(tr("It adds expressions: {names}.").format(names=", ".join(added[:5])))
    if lost:
        lines.append(tr("It lacks expressions: {names}.").format(names=", ".join(lost[:5])))
    return " ".join(lines)


def _roles(document: PromptDocument) -> list[tuple[str, str]]:
    return [
        (each.role, document.source.slice(each.marker) if each.marker is not None else "")
        for each in document.sections
    ]


def _lines_of_roles(text: str) -> list[tuple[str, str]]:
    """Lines that are role markers in the dialect that knows the most of them."""
    return _roles(parse(f"system:\n{text}\n"))


def _tags(text: str, kind: str) -> Iterator[str]:
    """The tags of a template in order, with one blank at either end."""
    pairs = _TAGS[kind]
    at = 0
    while True:
        found = [(place, head, tail) for head, tail in pairs if (place := text.find(head, at)) >= 0]
        if not found:
            return
        # The longest of those that begin first: `{{{` before `{{`.
        start, head, tail = min(found, key=lambda each: (each[0], -len(each[1])))
        end = text.find(tail, start + len(head))
        if end < 0:
            yield text[start:]
            return
        at = end + len(tail)
        yield f"{head} {text[start + len(head) : at - len(tail)].strip()} {tail}"


def _variables_in(document: PromptDocument, place: Span) -> Counter[str]:
    return Counter(
        each.name for each in document.variables if place.start <= each.expression.start < place.end
    )


def _fields_in(document: PromptDocument, place: Span) -> Counter[tuple[str, ...]]:
    return Counter(
        each.path for each in document.fields if place.start <= each.expression.start < place.end
    )


def _media(text: str) -> Iterator[str]:
    for token in find_media(text):
        yield text[token.span.start : token.span.end]
    for span in find_threads(text):
        yield text[span.start : span.end].strip()
