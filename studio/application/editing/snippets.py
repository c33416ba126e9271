"""Snippets with placeholders, for each dialect and template language.

A body marks its places as `${1:words that stand there first}` and `$0` for where the caret ends.
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
"""Place where a snippet is valid: the body, after `{%`, or a mapping of the front matter."""

_STOP = re.compile(r"\$\{(?P<number>\d+):(?P<words>[^}]*)\}|\$(?P<bare>\d)")


@dataclass(frozen=True, slots=True)
class Snippet:
    """A text with places to fill."""

    name: str
    """Name that is typed to find the snippet."""

    help: str
    """Description in English; shown translated."""

    body: str
    """The text with its places."""

    place: SnippetContext = "body"
    """Place where the snippet is valid."""

    dialects: tuple[Dialect, ...] = ("prompty", "section", "legacy")
    """Whose words it is in."""

    formats: tuple[TemplateFormat, ...] = ("jinja2", "mustache", "fstring")
    """Template languages that it is right in."""

    declares: str = ""
    """Name of the input of kind thread that its body shows and the front matter lacks."""

    @property
    def detail(self) -> str:
        """Return the description in the user's language."""
        return tr(self.help)


@dataclass(frozen=True, slots=True)
class Expanded:
    """A snippet's text, and its places in the order of their numbers, the caret's end last."""

    text: str
    """Without the marks of places."""

    stops: tuple[Span, ...]
    """Offsets in `text`."""


def expand(body: str, indent: str = "") -> Expanded:
    """Read a body.

    Args:
        body: the text with its places.
        indent: what each line but the first begins with.
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
    """Yield the snippets that are right in a place of a document."""
    dialect = document.dialect if document is not None else "section"
    template = document.template.format if document is not None else "jinja2"
    for snippet in SNIPPETS:
        if snippet.place == place and dialect in snippet.dialects and template in snippet.formats:
            yield _with_thread(snippet, document) if snippet.declares and document else snippet


def _with_thread(snippet: Snippet, document: PromptDocument) -> Snippet:
    """Return the snippet with the thread that the document declares, else with a free name."""
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
