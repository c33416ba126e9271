"""Snippets with placeholders, for each dialect and template language.

A body marks its placeholders as `${1:initial text}`, and the final position of the caret as `$0`.
Pure; `snippet_session.py` moves the caret.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from studio.application.words import tr
from studio.core.paths import resource_text
from studio.core.prompty.document import Dialect, PromptDocument, TemplateFormat
from studio.core.text.source import Span

SnippetContext: TypeAlias = Literal["body", "statement", "root", "inputs", "tools"]
"""Scope of a snippet: in the body, after `{%`, or in a mapping of the front matter."""

_STOP = re.compile(r"\$\{(?P<number>\d+):(?P<words>[^}]*)\}|\$(?P<bare>\d)")


@dataclass(frozen=True, slots=True)
class Snippet:
    """A text with placeholders."""

    name: str
    """Name by which the snippet is found."""

    help: str
    """English description, which is translated for display."""

    body: str
    """Text with placeholders."""

    place: SnippetContext = "body"
    """Scope in which the snippet is valid."""

    dialects: tuple[Dialect, ...] = ("prompty", "section", "legacy")
    """Dialects in which the snippet is valid."""

    formats: tuple[TemplateFormat, ...] = ("jinja2", "mustache", "fstring")
    """Template languages in which the snippet is valid."""

    declares: str = ""
    """Name of the input of kind thread to declare with it; empty for none."""

    @property
    def detail(self) -> str:
        """The description in the user's language."""
        return tr(self.help)


@dataclass(frozen=True, slots=True)
class Expanded:
    """A snippet's text, with its placeholders in order, the caret's final position last."""

    text: str
    """Text without the marks."""

    stops: tuple[Span, ...]
    """Spans of the placeholders in `text`."""


def expand(body: str, indent: str = "") -> Expanded:
    """Expand the body of a snippet.

    Args:
        body: the text with placeholders.
        indent: indentation of each line except the first.
    """
    text, stops, at = "", [], 0
    body = body.replace("\n", f"\n{indent}")
    for match in _STOP.finditer(body):
        text += body[at : match.start()]
        words = match["words"] or ""
        stops.append((int(match["number"] or match["bare"]), len(text), len(words)))
        text += words
        at = match.end()
    text += body[at:]
    if all(number for number, _, _ in stops):
        stops.append((0, len(text), 0))
    stops.sort(key=lambda each: (each[0] == 0, each[0]))
    return Expanded(text, tuple(Span(start, start + length) for _, start, length in stops))


def fitting(document: PromptDocument | None, place: SnippetContext) -> Iterator[Snippet]:
    """Yield the snippets that are valid in a context of a document."""
    dialect = document.dialect if document is not None else "section"
    template = document.template.format if document is not None else "jinja2"
    for snippet in SNIPPETS:
        if snippet.place == place and dialect in snippet.dialects and template in snippet.formats:
            yield _with_thread(snippet, document) if snippet.declares and document else snippet


def _with_thread(snippet: Snippet, document: PromptDocument) -> Snippet:
    """Return the snippet with the document's thread input, else with a free name."""
    declared = next((each.name for each in document.inputs if each.kind == "thread"), "")
    free = (each for each in (snippet.declares, "conversation") if not document.input(each))
    name = declared or next(free, "messages")
    body = snippet.body.replace(snippet.declares, name)
    return replace(snippet, body=body, declares="" if declared else name)


def _bundled_snippets() -> Iterator[Snippet]:
    for row in tomllib.loads(resource_text("words", "snippets.toml"))["snippet"]:
        lists = {name: tuple(each) for name, each in row.items() if isinstance(each, list)}
        values: dict[str, Any] = row | lists
        yield Snippet(**values)


SNIPPETS = tuple(_bundled_snippets())
