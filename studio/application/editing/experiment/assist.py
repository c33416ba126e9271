"""Completion and hover in an experiment file."""

import re
from collections.abc import Iterable, Iterator
from html import escape

from studio.application.editing.editor_context import CompletionItem, EditorContext
from studio.application.editing.experiment.names import files_named, value_name_at
from studio.application.editing.front import key_completion, path_at, siblings
from studio.application.experiments.prompts import section_titles
from studio.application.experiments.text import columns_of, inputs_of, prompts_of, variants_of
from studio.application.words import tr
from studio.core.experiments.file.cases import ASSERTION_HELP, DATA_SUFFIXES, SHAPES
from studio.core.experiments.file.read import PROMPT_SUFFIXES
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.front.schema import key_at, keys_below
from studio.core.text.amounts import size
from studio.core.text.values import KeyPath

_EXPRESSION = re.compile(r"\{\{[^}]*?(?P<word>\w*)$")
_MARK = re.compile(r"[\[{]|[\]}]|,|(?P<key>[\w$.-]+):(?=\s|$)|\"[^\"]*\"|'[^']*'")
_WORD = re.compile(r"[\"']?(?P<word>[\w$./:@~-]*)$")
_LEAD = re.compile(r"\s*(?:- )*")


def experiment_offers(
    text: str,
    caret: int,
    line: str,
    document: PromptDocument,
    *,
    asked: bool,
    editor_context: EditorContext,
) -> tuple[str, list[CompletionItem]]:
    """Return the typed part of a key or value, and its completions.

    Args:
        text: the whole text.
        caret: offset of the caret.
        line: the caret's line up to the caret.
        document: the newest parsed experiment.
        asked: whether the user requested completion.
        editor_context: files beside the experiment, and connections.
    """
    expression = _EXPRESSION.search(line)
    if expression is not None:
        return expression["word"], list(_variables(document))
    found = _WORD.search(line)
    word = found["word"] if found is not None else ""
    path, is_value = place_of(text, caret, line)
    if is_value:
        return word, list(_values(path, document, editor_context))
    if not asked and not word:
        return "", []
    items = [*_keys(text, caret, line, path, document, editor_context)]
    if path[-1:] == (0,):  # an item of a list may also be a plain text
        items = [*_values(path[:-1], document, editor_context), *items]
    return word, items


def place_of(text: str, caret: int, line: str) -> tuple[KeyPath, bool]:
    """Return the mapping or key at the caret (also in flow style) and whether a value is typed."""
    path: list[str | int] = list(path_at(text, caret))
    lead = _LEAD.match(line)
    at = lead.end() if lead is not None else 0
    key = ""
    opened: list[int] = []
    for mark in _MARK.finditer(line, at):
        if mark["key"] is not None:
            key = mark["key"]
        elif mark[0] in "[{":
            opened.append(len(path))
            path += [key] if key else []
            path += [0] if mark[0] == "[" else []
            key = ""
        elif mark[0] in "]}" and opened:
            del path[opened.pop() :]
            key = ""
        elif mark[0] == ",":
            key = ""
    if key:
        return (*path, key), True
    return tuple(path), False


def _keys(
    text: str,
    caret: int,
    line: str,
    path: KeyPath,
    document: PromptDocument,
    editor_context: EditorContext,
) -> Iterator[CompletionItem]:
    lead = _LEAD.match(line)
    indent = " " * (lead.end() if lead is not None else 0)
    is_flow = line.lstrip(" -")[:1] in "[{" or bool(re.search(r"[\[{]", line))
    taken = set() if is_flow else siblings(text, caret, len(indent))
    if path[-1:] == ("vars",):
        for name, item in inputs_of(document).items():
            if name not in taken:
                help_ = item.description or item.kind if item is not None else ""
                yield CompletionItem(name, f"{name}: ", help_, "input")
    elif path[-1:] == ("edit",):
        titles = dict.fromkeys(t for each in prompts_of(document) for t in section_titles(each))
        yield from (CompletionItem(each, f"{each}: ", "", "key") for each in titles)
    for key in keys_below(path, SHAPES):
        if key.name in taken:
            continue
        if is_flow:
            yield CompletionItem(key.name, f"{key.name}: ", key.help, "key", again=True)
        else:
            yield key_completion(key.name, key.help, key.types, indent)


def _values(
    path: KeyPath, document: PromptDocument, editor_context: EditorContext
) -> Iterator[CompletionItem]:
    match path:
        case ("prompts",) | ("prompts", 0, "id") | ("variants", _, "prompt"):
            yield from _files(editor_context.files(), PROMPT_SUFFIXES, "")
        case ("tests",):
            yield CompletionItem("samples", "samples", "One row of the samples", "value")
            yield from _files(editor_context.files(), DATA_SUFFIXES, "file://")
        case ("tests", 0, "path"):
            yield from _files(editor_context.files(), DATA_SUFFIXES, "")
        case (*_, "provider") | ("providers" | "targets",) | ("providers" | "targets", 0, "id"):
            for name in (*editor_context.connections, "echo"):
                yield CompletionItem(name, name, "", "value")
        case ("baseline",):
            for name in (*variants_of(document), "accepted", "git:main"):
                yield CompletionItem(name, name, "", "value")
        case (*_, "rubricPrompt"):
            yield from _files(editor_context.files(), (".prompty",), "file://")
        case _:
            key = key_at(path, SHAPES)
            words = key.values if key is not None else ()
            if key is not None and not words and "boolean" in key.types:
                words = ("true", "false")
            for each in words:
                help_ = ASSERTION_HELP.get(each.removeprefix("not-"), "")
                yield CompletionItem(each, each, help_, "value")


def _files(
    names: Iterable[str], suffixes: tuple[str, ...], before: str
) -> Iterator[CompletionItem]:
    for name in names:
        if name.lower().endswith(suffixes) and ".experiment." not in name:
            yield CompletionItem(name, f"{before}{name}", "", "file")


def _variables(document: PromptDocument) -> Iterator[CompletionItem]:
    """Yield the variables for `{{ }}` in an assertion."""
    inputs = inputs_of(document)
    for name in dict.fromkeys((*inputs, *columns_of(document), "expected")):
        item = inputs.get(name)
        help_ = item.description or item.kind if item is not None else ""
        yield CompletionItem(name, name, help_, "input")


def experiment_hover(document: PromptDocument, offset: int) -> str:
    """Return the tooltip at an offset as rich text: of a key, an assertion, a value or a file.

    Empty if there is none.
    """
    return (
        _about_value_name(document, offset)
        or _about_assertion(document, offset)
        or _about_file(document, offset)
        or _about_key(document, offset)
    )


def _about_value_name(document: PromptDocument, offset: int) -> str:
    found = value_name_at(document, offset)
    if found is None:
        return ""
    name = found[0]
    inputs = inputs_of(document)
    if name not in inputs:
        return tr("<b>{name}</b>: no prompt of the experiment reads it").format(name=escape(name))
    item = inputs[name]
    if item is None:
        return tr("<b>{name}</b>: used and not declared").format(name=escape(name))
    text = f"<b>{escape(name)}</b> ({escape(item.kind)})"
    return f"{text}<br>{escape(item.description)}" if item.description else text


def _about_assertion(document: PromptDocument, offset: int) -> str:
    for entry in document.entries:
        if entry.path[-1:] == ("type",) and entry.value.touches(offset):
            name = document.source.slice(entry.value).strip("\"'")
            help_ = ASSERTION_HELP.get(name.removeprefix("not-"))
            if help_ is None:
                return ""
            turned = tr("Not: ") if name.startswith("not-") else ""
            return f"<b>{escape(name)}</b><br>{turned}{escape(help_)}"
    return ""


def _about_file(document: PromptDocument, offset: int) -> str:
    path = document.source.path
    for name, span in files_named(document):
        if span.touches(offset) and path is not None:
            count = (path.parent / name).stat().st_size
            words = tr("{size}; F12 opens it").format(size=size(count))
            return f"<b>{escape(name)}</b><br>{escape(words)}"
    return ""


def _about_key(document: PromptDocument, offset: int) -> str:
    for entry in document.entries:
        if entry.key.touches(offset):
            key = key_at(entry.path, SHAPES)
            return f"<b>{escape(key.name)}</b><br>{escape(key.help)}" if key is not None else ""
    return ""
