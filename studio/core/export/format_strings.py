"""Convert simple Jinja2 to format strings, which need no package."""

import re
from dataclasses import replace

from studio.core.export import chat_template
from studio.core.prompty.document import MediaPart, TextPart, ToolCallPart, ToolResultPart
from studio.core.prompty.templates import find_variables

_VALUE = re.compile(r"\{\{ *([A-Za-z_]\w*) *\}\}")
_TAG = re.compile(r"\{[{%#]|\}\}")


class _NotSimple(Exception):  # noqa: N818 - it is a finding, no failure of the program
    """Raised when a text does more than insert values."""


def as_format_strings(template: chat_template.ChatTemplate) -> chat_template.ChatTemplate:
    """Return the messages as format strings if their texts only insert values."""
    if template.format != "jinja2" or template.is_plain:
        return template
    try:
        items = tuple(
            item if isinstance(item, chat_template.ThreadPlace) else _message(item)
            for item in template.items
        )
    except _NotSimple:
        return template
    return replace(template, items=items, format="fstring")


def _message(item: chat_template.TemplateMessage) -> chat_template.TemplateMessage:
    attributes = {
        key: _text(value) if isinstance(value, str) else value
        for key, value in item.attributes.items()
    }
    return chat_template.TemplateMessage(item.role, tuple(map(_part, item.parts)), attributes)


def _part(part: chat_template.TemplatePart) -> chat_template.TemplatePart:
    match part:
        case TextPart():
            return TextPart(_text(part.text))
        case ToolResultPart():
            return ToolResultPart(_text(part.text))
        case MediaPart():
            return replace(part, source=_text(part.source))
        case ToolCallPart():
            return replace(part, arguments=_text(part.arguments))
        case chat_template.InputMedia():
            return part


def _text(text: str) -> str:
    """Convert one text.

    Raises:
        _NotSimple: the text has statements, comments or other expressions.
    """
    found: list[str] = []
    at = 0
    for value in _VALUE.finditer(text):
        found += (_literal(text[at : value.start()]), f"{{{value[1]}}}")
        at = value.end()
    found.append(_literal(text[at:]))
    names = {value[1] for value in _VALUE.finditer(text)}
    if names - {variable.name for variable in find_variables(text, "jinja2")[0]}:
        raise _NotSimple  # `true`, `none`, `range`: names of Jinja's own
    return "".join(found)


def _literal(text: str) -> str:
    if _TAG.search(text) is not None:
        raise _NotSimple
    return text.replace("{", "{{").replace("}", "}}")
