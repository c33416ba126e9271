"""Snippets: texts with places to fill, in the words of each dialect and template language.

A body marks its places as `${1:words that stand there first}` and `$0` for where the caret ends.
Pure; `snippet_session.py` moves the caret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from studio.application.words import marked, tr
from studio.core.prompty.document import Dialect, PromptDocument, TemplateFormat
from studio.core.text.span import Span

SnippetContext: TypeAlias = Literal["body", "statement", "root", "inputs", "tools"]
"""Where a snippet can stand: the body, after `{%`, and mappings of the front matter."""

_STOP = re.compile(r"\$\{(?P<number>\d+):(?P<words>[^}]*)\}|\$(?P<bare>\d)")


@dataclass(frozen=True, slots=True)
class Snippet:
    """A text with places to fill."""

    name: str
    """What is typed to find it."""

    help: str
    """What it is, in English; shown translated."""

    body: str
    """The text with its places."""

    place: SnippetContext = "body"
    """Where it can stand."""

    dialects: tuple[Dialect, ...] = ("prompty", "section", "legacy")
    """Whose words it is in."""

    formats: tuple[TemplateFormat, ...] = ("jinja2", "mustache", "fstring")
    """Template languages that it is right in."""

    declares: str = ""
    """Name of the input of kind thread that its body shows and the front matter lacks."""

    @property
    def detail(self) -> str:
        """What it is, in the user's language."""
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
    """The snippets that are right in a place of a document."""
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


_SECTION: tuple[Dialect, ...] = ("section",)
_OTHERS: tuple[Dialect, ...] = ("prompty", "legacy")
_JINJA: tuple[TemplateFormat, ...] = ("jinja2",)
_MUSTACHE: tuple[TemplateFormat, ...] = ("mustache",)

SNIPPETS: tuple[Snippet, ...] = (
    Snippet(
        "system section",
        marked("Instructions for the model"),
        "system:\n${1:You are a helpful assistant.}\n$0",
    ),
    Snippet(
        "user section",
        marked("What the user says"),
        "user:\n{{ ${1:question} }}\n$0",
        formats=("jinja2", "mustache"),
    ),
    Snippet(
        "user section",
        marked("What the user says"),
        "user:\n{${1:question}}\n$0",
        formats=("fstring",),
    ),
    Snippet(
        "assistant section", marked("An answer, as an example"), "assistant:\n${1:An answer}\n$0"
    ),
    Snippet(
        "developer section",
        marked("Instructions for newer models"),
        "developer:\n${1:Instructions}\n$0",
        dialects=("prompty", "section"),
    ),
    Snippet(
        "example",
        marked("A question and its answer"),
        "user:\n${1:A question}\n\nassistant:\n${2:Its answer}\n\n$0",
    ),
    Snippet(
        "user with a name",
        marked("Who speaks is named"),
        'user[name="${1:name}"]:\n${2:Text}\n$0',
        dialects=_SECTION,
    ),
    Snippet(
        "tool result",
        marked("What a tool answered"),
        'tool[name="${1:name}", tool_call_id="${2:call_1}"]:\n${3:Result}\n$0',
        dialects=_SECTION,
    ),
    Snippet(
        "tool call",
        marked("A call that the model made"),
        'assistant[type="tool_call"]:\nid: ${1:call_1}\ntype: function\nfunction:\n'
        "  name: ${2:name}\n  arguments:\n    ${3:city}: ${4:Oslo}\n$0",
        dialects=_SECTION,
    ),
    Snippet(
        "tools block",
        marked("Tools of this prompt, before any text"),
        "tools:\n  - id: ${1:name}\n    type: ${2:function}\n    options:\n"
        "      ${3:key}: ${4:value}\n\n$0",
        dialects=_SECTION,
    ),
    Snippet("thread", marked("The conversation so far"), "![thread]\n$0", dialects=_SECTION),
    Snippet(
        "thread",
        marked("The conversation so far"),
        "{{ thread }}\n$0",
        dialects=_OTHERS,
        formats=("jinja2", "mustache"),
        declares="thread",
    ),
    Snippet(
        "image",
        marked("A picture, by path or address"),
        "![image](${1:picture.png})$0",
        dialects=_SECTION,
    ),
    Snippet(
        "image with quality",
        marked("A picture with attributes"),
        '![type="image", quality="${1:high}"](${2:picture.png})$0',
        dialects=_SECTION,
    ),
    Snippet(
        "file", marked("A file, by path or address"), "![file](${1:paper.pdf})$0", dialects=_SECTION
    ),
    Snippet("code", marked("Fenced code"), "```${1:python}\n${2:code}\n```\n$0"),
    Snippet(
        "if block",
        marked("Text under a condition"),
        "{% if ${1:condition} %}\n${2:Text}\n{% endif %}\n$0",
        formats=_JINJA,
    ),
    Snippet(
        "if else block",
        marked("One text or another"),
        "{% if ${1:condition} %}\n${2:Text}\n{% else %}\n${3:Text}\n{% endif %}\n$0",
        formats=_JINJA,
    ),
    Snippet(
        "for block",
        marked("Text for each item of a list"),
        "{% for ${1:item} in ${2:items} %}\n- {{ ${3:item} }}\n{% endfor %}\n$0",
        formats=_JINJA,
    ),
    Snippet(
        "set", marked("A name for a value"), "{% set ${1:name} = ${2:value} %}\n$0", formats=_JINJA
    ),
    Snippet(
        "list block",
        marked("Text for each item of a list"),
        "{{#${1:items}}}\n- {{${2:.}}}\n{{/${3:items}}}\n$0",
        formats=_MUSTACHE,
    ),
    Snippet(
        "if",
        marked("With its end"),
        "if ${1:condition} %}${2:text}{% endif",
        "statement",
        formats=_JINJA,
    ),
    Snippet(
        "if else",
        marked("With its end"),
        "if ${1:condition} %}${2:text}{% else %}${3:text}{% endif",
        "statement",
        formats=_JINJA,
    ),
    Snippet(
        "for",
        marked("With its end"),
        "for ${1:item} in ${2:items} %}${3:text}{% endfor",
        "statement",
        formats=_JINJA,
    ),
    Snippet(
        "model block",
        marked("Which model, and how it samples"),
        "model:\n  id: ${1:gpt-4o-mini}\n  provider: ${2:openai}\n  options:\n"
        "    temperature: ${3:0.7}\n$0",
        "root",
        ("prompty", "section"),
    ),
    Snippet(
        "inputs block",
        marked("What the prompt is given"),
        "inputs:\n  ${1:question}:\n    kind: ${2:string}\n"
        "    description: ${3:What is asked}\n    sample: ${4:Why is the sky blue?}\n$0",
        "root",
        ("prompty", "section"),
    ),
    Snippet(
        "tools list",
        marked("A function that the model may call"),
        "tools:\n  - name: ${1:get_weather}\n    kind: function\n"
        "    description: ${2:The weather in a city}\n    parameters:\n"
        "      - name: ${3:city}\n        kind: ${4:string}\n        required: ${5:true}\n$0",
        "root",
        ("prompty", "section"),
    ),
    Snippet(
        "template block",
        marked("Template language and rule set"),
        "template:\n  format:\n    kind: ${1:jinja2}\n  parser:\n    kind: ${2:prompty}\n$0",
        "root",
        ("prompty",),
    ),
    Snippet(
        "template block",
        marked("Template language and rule set"),
        "template:\n  format:\n    kind: ${1:jinja2}\n  parser:\n    kind: ${2:section}\n$0",
        "root",
        _SECTION,
    ),
    Snippet(
        "new input",
        marked("One more input"),
        "${1:name}:\n  kind: ${2:string}\n  description: ${3:What it is}\n$0",
        "inputs",
        ("prompty", "section"),
    ),
    Snippet(
        "new function tool",
        marked("One more tool"),
        "- name: ${1:name}\n  kind: function\n  description: ${2:What it does}\n"
        "  parameters:\n    - name: ${3:city}\n      kind: ${4:string}\n"
        "      required: ${5:true}\n$0",
        "tools",
        ("prompty", "section"),
    ),
    Snippet(
        "new MCP tool",
        marked("The tools of an MCP server"),
        "- name: ${1:name}\n  kind: mcp\n  serverName: ${2:server}\n  connection:\n"
        "    kind: ${3:reference}\n    name: ${2:server}\n$0",
        "tools",
        ("prompty", "section"),
    ),
)
