"""Completion at the caret, from the text before it and the parsed document."""

import re
from collections.abc import Sequence

from studio.application.editing import words as known
from studio.application.editing.editor_context import (
    NOTHING,
    CompletionItem,
    CompletionList,
    EditorContext,
)
from studio.application.editing.experiment.assist import experiment_offers
from studio.application.editing.front import PLACES, front_matter, path_at
from studio.application.editing.snippets import Snippet, fitting
from studio.application.editing.template import expression_words, format_fields, variables
from studio.core.prompty.body.media import kind_of_source
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.foreign import in_front_matter
from studio.core.text.naming import score
from studio.core.text.source import Span
from studio.core.text.values import JsonObject

_EXPRESSION = re.compile(r"(?P<open>\{\{\{?[#^/&]?|\{%[-+]?)(?P<inside>(?:(?!\}\}|%\}).)*)$")
_FSTRING = re.compile(
    r"(?<!\{)(?:\{\{)*\{\s*(?:(?P<path>[^\W\d]\w*(?:\.\w+|\[[^\[\]{}]*\])*)(?:\.|(?P<index>\[)))?"
    r"(?P<word>\w*)$"
)
_REFERENCE = re.compile(r"\$\{(?P<inside>[^}\s]*)$")
_MARKER_OPEN = re.compile(r"#?\s*(?:\w+)\[(?:[^\]]*,)?\s*(?P<word>[\w-]*)$")
_MEDIA_OPEN = re.compile(r"!\[(?P<word>\w*)$")
_MEDIA_TARGET = re.compile(r"!\[(?P<word>\w*)\]\((?P<path>[^()\n]*)$")
_MEDIA_KINDS = {"pdf": "file", "document": "file", "recording": "audio"}
_READABLE = (".json", ".yaml", ".yml", ".txt", ".md", ".csv", ".jsonl")
"""Suffixes of files for `${file:}`."""
_NAMED = re.compile(r"`(?P<word>[\w-]*)$")
_TOOL_VALUE = re.compile(
    r"""(?:\s*(?:tool|function)\[(?:.*,)?\s*name=["']?|\s*name:\s+["']?|\s*Action:\s*)"""
    r"(?P<word>[\w-]*)$"
)
"""Matches the start of a tool's name outside backticks: a marker, a tool call, a ReAct example."""
_LONGEST_LINE = 5000


def complete(
    text: str,
    caret: int,
    document: PromptDocument | None,
    *,
    asked: bool,
    editor_context: EditorContext = NOTHING,
) -> CompletionList:
    """Return all completions at the caret.

    Args:
        text: the whole text.
        caret: offset of the caret.
        document: the newest parsed document, which may be a few keys behind.
        asked: whether the user requested completion; otherwise only clear cases are offered.
        editor_context: tools, models, files and variables for the prompt.
    """
    start = text.rfind("\n", 0, caret) + 1
    line = text[max(start, caret - _LONGEST_LINE) : caret]
    typed, items = _find(text, caret, line, document, asked=asked, editor_context=editor_context)
    ranked = []
    for number, item in enumerate(items):
        points = score(typed, item.label)
        if points is not None and item.insert != typed:
            # Among equal matches, plain words come before snippets.
            ranked.append((-points, item.snippet, number, item))
    ranked.sort(key=lambda each: each[:3])
    return CompletionList(tuple(item for *_, item in ranked[:200]), Span(caret - len(typed), caret))


def _find(
    text: str,
    caret: int,
    line: str,
    document: PromptDocument | None,
    *,
    asked: bool,
    editor_context: EditorContext,
) -> tuple[str, list[CompletionItem]]:
    if document is not None and document.is_experiment:
        return experiment_offers(
            text, caret, line, document, asked=asked, editor_context=editor_context
        )
    if document is not None and document.agent_file:
        return "", []
    reference = _REFERENCE.search(line)
    if reference:
        return _references(reference["inside"], document, editor_context)
    if in_front_matter(text, caret):
        return front_matter(text, caret, line, document, asked=asked, editor_context=editor_context)
    template = document.template.format if document else "jinja2"
    pattern, words = (
        (_FSTRING, _format_words) if template == "fstring" else (_EXPRESSION, expression_words)
    )
    expression = pattern.search(line)
    if expression:
        return words(text, caret, expression, document, editor_context.given)
    tools = _tools(document, editor_context)
    named = _NAMED.search(line) if line.count("`") % 2 else _TOOL_VALUE.match(line)
    if named and tools:
        return named["word"], tools
    marker = _MARKER_OPEN.match(line)
    if marker:
        return marker["word"], [
            CompletionItem(name, f'{name}=""', help_, "key", 1)
            for name, help_ in known.ATTRIBUTES.items()
            if name != "type" or not _is_prompty(document)
        ]
    media = _MEDIA_OPEN.search(line)
    if media:  # Prompty 2 reads all of it as text
        return media["word"], [] if _is_prompty(document) else _media(text, caret)
    target = _MEDIA_TARGET.search(line)
    if target:
        return target["path"], _media_files(target["word"], editor_context)
    return _roles(line, document, asked=asked)


def _format_words(
    text: str,
    caret: int,
    field: re.Match[str],
    document: PromptDocument | None,
    given: Sequence[JsonObject],
) -> tuple[str, list[CompletionItem]]:
    """Return the typed part inside `{` of a format string, and its completions."""
    path = field["path"]
    if path is None:
        return field["word"], variables(text, caret, document, given)
    return field["word"], format_fields(path, document, given, indexed=bool(field["index"]))


def _is_prompty(document: PromptDocument | None) -> bool:
    """Return whether the section dialect's words would be text, or change the dialect."""
    return document is not None and document.dialect == "prompty"


def _media(text: str, caret: int) -> list[CompletionItem]:
    """Return the words in the brackets of a media token, with the missing text after them."""
    if text.startswith("](", caret):
        return [CompletionItem(name, name, help_, "value") for name, help_ in known.MEDIA.items()]
    return [
        CompletionItem(name, f"{name}]", help_, "value", closes="]")
        if name == "thread"
        else CompletionItem(name, f"{name}]()", help_, "value", 1, closes="]", again=True)
        for name, help_ in known.MEDIA.items()
    ]


def _media_files(word: str, editor_context: EditorContext) -> list[CompletionItem]:
    """Return the files for a media token: those of its kind, else all."""
    kind = _MEDIA_KINDS.get(word, word)
    files = editor_context.files()
    fitting_ones = [name for name in files if kind_of_source(name) == kind] or list(files)
    return [
        CompletionItem(name, f"<{name}>" if ' "' in name else name, "", "file")
        for name in fitting_ones
    ]


def _tools(document: PromptDocument | None, editor_context: EditorContext) -> list[CompletionItem]:
    found = {tool.name: tool for tool in (document.tools if document else ())}
    for tool in editor_context.tools:
        found.setdefault(tool.name, tool)
    return [
        CompletionItem(tool.name, tool.name, tool.description, "value") for tool in found.values()
    ]


def snippets_at(text: str, caret: int, document: PromptDocument | None) -> list[Snippet]:
    """Return every snippet that is valid at an offset, for the palette."""
    if not in_front_matter(text, caret):
        return list(fitting(document, "body"))
    place = PLACES.get(path_at(text, caret))
    return list(fitting(document, place)) if place is not None else []


def _references(
    inside: str, document: PromptDocument | None, editor_context: EditorContext
) -> tuple[str, list[CompletionItem]]:
    kind, colon, rest = inside.partition(":")
    if not colon:
        return inside, [
            CompletionItem(name, name, help_, "value", 0, again=True)
            for name, help_ in known.REFERENCES.items()
            if name != "params:" or not _is_prompty(document)
        ]
    if kind == "file":
        return rest, [
            CompletionItem(name, name, "", "file")
            for name in editor_context.files()
            if name.lower().endswith(_READABLE)
        ]
    if kind == "env" and ":" not in rest:
        names = sorted(editor_context.environment() or ())
        return rest, [CompletionItem(name, name, "set", "value") for name in names]
    if kind == "params" and document is not None:
        return rest, _parameters(document, rest)
    return rest, []


def _parameters(document: PromptDocument, typed: str) -> list[CompletionItem]:
    """Return the prompt's inputs and parameters, except the one being typed."""
    inputs = {item.name: item.description or item.kind for item in document.inputs}
    others = {
        item.name: "" for item in document.parameters if item.name != typed or len(item.uses) > 1
    }
    return [CompletionItem(name, name, help_, "value") for name, help_ in (others | inputs).items()]


def _roles(
    line: str, document: PromptDocument | None, *, asked: bool
) -> tuple[str, list[CompletionItem]]:
    if not re.fullmatch(r"[a-z]*", line) or (not asked and len(line) < 2):
        return "", []
    dialect = document.dialect if document is not None else "section"
    plain = dialect != "section"
    items = [
        CompletionItem(name, f"{name}:\n", help_, "role")
        for name, help_ in known.ROLES.items()
        if (asked or name.startswith(line))
        and not (plain and name in known.SECTION_ROLES)
        and not (dialect == "legacy" and name == "developer")  # Prompty 1 reads it as text
    ]
    items += [
        CompletionItem(
            each.name, each.body, each.detail, "snippet", snippet=True, declares=each.declares
        )
        for each in fitting(document, "body")
        if asked or each.name.startswith(line)
    ]
    return line, items
