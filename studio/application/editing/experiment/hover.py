"""What hovering over an experiment tells: keys, assertions, values of rows and files."""

from __future__ import annotations

from html import escape

from studio.application.editing.experiment.names import files_named, value_name_at
from studio.application.experiments.text import inputs_of
from studio.application.words import translate
from studio.core.experiments.file.keys import ASSERTION_HELP, SHAPES
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.front.schema import key_at


def experiment_hover(document: PromptDocument, offset: int) -> str:
    """The tooltip of a place, as rich text; empty where there is nothing to say."""
    return (
        _value_name(document, offset)
        or _assertion(document, offset)
        or _file(document, offset)
        or _key(document, offset)
    )


def _value_name(document: PromptDocument, offset: int) -> str:
    found = value_name_at(document, offset)
    if found is None:
        return ""
    name = found[0]
    inputs = inputs_of(document)
    if name not in inputs:
        return translate("Hover", "<b>{name}</b>: no prompt of the experiment reads it").format(
            name=escape(name)
        )
    item = inputs[name]
    if item is None:
        return translate("Hover", "<b>{name}</b>: used and not declared").format(name=escape(name))
    text = f"<b>{escape(name)}</b> ({escape(item.kind)})"
    return f"{text}<br>{escape(item.description)}" if item.description else text


def _assertion(document: PromptDocument, offset: int) -> str:
    for entry in document.entries:
        if entry.path[-1:] == ("type",) and entry.value.touches(offset):
            name = document.source.slice(entry.value).strip("\"'")
            help_ = ASSERTION_HELP.get(name.removeprefix("not-"))
            if help_ is None:
                return ""
            turned = translate("Hover", "Not: ") if name.startswith("not-") else ""
            return f"<b>{escape(name)}</b><br>{turned}{escape(help_)}"
    return ""


def _file(document: PromptDocument, offset: int) -> str:
    path = document.source.path
    for name, span in files_named(document):
        if span.touches(offset) and path is not None:
            size = (path.parent / name).stat().st_size
            said = translate("Hover", "{size:,} bytes; F12 opens it").format(size=size)
            return f"<b>{escape(name)}</b><br>{escape(said)}"
    return ""


def _key(document: PromptDocument, offset: int) -> str:
    for entry in document.entries:
        if entry.key.touches(offset):
            key = key_at(entry.path, SHAPES)
            return f"<b>{escape(key.name)}</b><br>{escape(key.help)}" if key is not None else ""
    return ""
