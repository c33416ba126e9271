"""The last message, which Prompty 1 leaves out without a text and Prompty 2 sends empty.

Source: `prompty` 0.1.50, `parsers.py` ("if last chunk is role entry, then remove"); `prompty` 2.1
makes a message of each marker.
"""

from __future__ import annotations

import re

from studio.core.prompty.body.source_yaml import expression_ranges
from studio.core.prompty.document import BodySection, PromptDocument
from studio.core.prompty.edit.draft import ConversionDraft
from studio.core.prompty.parse import parse
from studio.core.prompty.runtimes.prompty1 import ROLES, check_file
from studio.core.text.problem import TextEdit
from studio.core.text.span import Span

_JINJA = re.compile(r"\{\{[-+]?\s*(.+?)\s*[-+]?\}\}", re.DOTALL)
_MUSTACHE = re.compile(r"\{\{[{&]?\s*([\w.]+)\s*\}?\}\}")
_NAME = re.compile(r"[A-Za-z_][\w.]*")


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
    told = ", ".join(_names(document, section))
    draft.notes.append(
        f"the last message ({section.role}) is sent only where {told} has a text: Prompty 1 left "
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
