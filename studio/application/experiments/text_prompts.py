"""Prompts that are texts or chats as promptfoo writes them, as documents of the studio.

Source: promptfoo 0.123, `renderPrompt` and `parseChatPrompt`: a text that is JSON before it is
rendered is a chat whose texts are templates; any other text is rendered first and is a chat where
JSON or YAML of messages comes out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from studio.application.words import tr
from studio.core.experiments.assertions.result import UndecidedError
from studio.core.imports.compose import Composition, declare_variables, write_document
from studio.core.imports.imported import ImportFailure
from studio.core.imports.promptfoo_parts import (
    ReadFile,
    as_nunjucks,
    is_chat,
    messages_of,
    prompts_of,
)
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.inputs import resolve_inputs
from studio.core.prompty.parse import parse
from studio.core.prompty.rendering import Segment
from studio.core.prompty.templates import find_variables, render_template
from studio.core.prompty.yaml.reader import read_yaml
from studio.core.text.foreign_json import parse_json
from studio.core.text.problem import Severity
from studio.core.text.reason import reason_of
from studio.core.text.source import SourceText
from studio.core.text.values import Json

CONVERSATION = "_conversation"
"""The value that holds the turns before: `prompt`, `input` and `output` of each."""

_CHAT_START = re.compile(r"\s*(?:\[|\{(?![{%#])|-\s+role:)")
_CHAT = parse("---\ninputs:\n  chat: {kind: thread}\n---\n{{ chat }}\n")
"""The prompt that sends a rendered chat."""


def text_documents(
    content: str, label: str, read: ReadFile, path: Path
) -> Iterator[PromptDocument]:
    """The prompts of a text, or of the file that `file://…` names.

    Args:
        content: the text.
        label: names the prompt in messages.
        read: reads a file; raises `ImportFailure` where it cannot.
        path: what the documents are called.

    Raises:
        ImportFailure: the file cannot be read, or a template in it.
    """
    whole = ""

    def noted(name: str) -> str:
        nonlocal whole
        whole = read(name)
        return whole

    for _, found in prompts_of([{"id": label, "raw": content}], noted, lambda _: ()):
        if isinstance(found, ImportFailure):
            raise found
        if isinstance(found, str):
            before = whole[: max(0, whole.find(found))]
            _check_template(as_nunjucks(found), label if whole else "", before.count("\n"))
        work = Composition(is_template=True)
        work.messages += messages_of(found, as_nunjucks)
        declare_variables(work, {}, "sample")
        work.inputs.pop(CONVERSATION, None)
        yield parse(write_document(work), path)


def _check_template(text: str, name: str, lines: int) -> None:
    """Refuse a template that would reach the model with its braces."""
    variables, problems = find_variables(text, "jinja2")
    faults = [(each.span, each.message) for each in problems if each.severity is Severity.ERROR]
    unread = tr("Variables of the environment are not read in a text: name it under `vars`.")
    faults += [(each.span, unread) for each in variables if each.name == "env"]
    if not faults:
        return
    span, fault = faults[0]
    place = lines + SourceText(text).position(span.start).line
    where = f"{name}:{place}" if name else tr("line {number}").format(number=place)
    raise ImportFailure(
        tr("{where}: {fault} Change the template; nothing is sent until then.").format(
            where=where, fault=fault
        )
    )


def rendered_chat(
    document: PromptDocument, values: Mapping[str, Json]
) -> tuple[PromptDocument, Mapping[str, Json]] | None:
    """The prompt and values of a chat that a text makes with a row's values; None for a text.

    A value inside of a JSON text is escaped, so that no row adds messages.

    Args:
        document: a prompt of `text_documents`.
        values: of the row.

    Raises:
        UndecidedError: what the template makes is not a chat.
    """
    template = _only_text(document)
    is_chat_text = starts_as_chat(document)
    if not is_chat_text and not template.startswith("{"):
        return None
    given = resolve_inputs(document, values).sent
    rendering = render_template(template, given, format="jinja2")
    if any(each.severity is Severity.ERROR for each in rendering.problems):
        return None  # the run tells it with its place
    if not is_chat_text:
        _refuse_chat_of_values(rendering.text)
        return None
    is_yaml = template.startswith("-")
    try:
        chat = (
            _yaml_value(rendering.text) if is_yaml else parse_json(_json_text(rendering.segments))
        )
    except ValueError as error:
        raise UndecidedError(
            tr("The prompt makes JSON or YAML that cannot be read: {why}.").format(
                why=reason_of(error)
            )
        ) from None
    if not is_chat(chat):
        raise UndecidedError(
            tr("The prompt makes JSON that is no list of messages with `role` and `content`.")
        )
    made = replace(_CHAT, model=document.model, tools=document.tools)
    return replace(made, source=replace(_CHAT.source, path=document.source.path)), {
        **values,
        "chat": chat,
    }


def starts_as_chat(document: PromptDocument) -> bool:
    """Whether a prompt is one text whose template begins as JSON or YAML of messages."""
    return _CHAT_START.match(_only_text(document)) is not None


def _only_text(document: PromptDocument) -> str:
    """The template of the only section; empty where there are several."""
    if len(document.sections) != 1:
        return ""
    return document.source.slice(document.sections[0].content).strip()


def _refuse_chat_of_values(text: str) -> None:
    """Refuse what promptfoo sends as messages: a value may not begin a role here."""
    try:
        chat = parse_json(text) if text.lstrip().startswith("[") else None
    except ValueError:
        return
    if is_chat(chat):
        raise UndecidedError(
            tr(
                "The value is a chat as JSON, and a value makes no roles: declare a `thread` input "
                "in a .prompty file."
            )
        )


def _yaml_value(text: str) -> Json:
    reading = read_yaml(text)
    if reading.broken:
        raise ValueError(reading.problems[0].message)
    return reading.value


def _json_text(segments: tuple[Segment, ...]) -> str:
    """JSON with the values in its texts escaped.

    Raises:
        ValueError: a value outside of the texts is not JSON by itself.
    """
    made, in_text = [], False
    for segment in segments:
        text = segment.text
        if segment.kind == "literal":
            in_text = _ends_in_text(text, in_text=in_text)
        elif in_text:
            text = json.dumps(text, ensure_ascii=False)[1:-1]
        else:
            parse_json(text)
        made.append(text)
    return "".join(made)


def _ends_in_text(json_part: str, *, in_text: bool) -> bool:
    quotes = re.findall(r'(?<!\\)(?:\\\\)*"', json_part)
    return in_text ^ (len(quotes) % 2 == 1)
