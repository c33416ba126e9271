"""Messages with templates in the form of chat completions, as literals that a program can hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from studio.core.export.chat_template import ChatTemplate, InputMedia, TemplateMessage, ThreadPlace
from studio.core.export.consumers import Render
from studio.core.prompty.document import ModelDeclaration, TemplateFormat
from studio.core.prompty.messages import MediaPart, Message, Part
from studio.core.prompty.threads import read_thread
from studio.core.text.problem import Problem
from studio.core.text.values import Json, JsonObject, list_of
from studio.core.wire.message_rules import CHAT, NAME_CHANGED, sendable_name
from studio.core.wire.request import to_request

THREAD = "thread"
"""Key of an item that stands for a whole conversation."""

_FIXED = ("role", "type", "id", "tool_call_id", "detail", "format")
"""Keys whose texts are words of the API, never templates."""


def chat_items(template: ChatTemplate) -> tuple[list[JsonObject], tuple[Problem, ...]]:
    """The template's messages as chat completions write them, and what has no place there."""
    items: list[JsonObject] = []
    problems: list[Problem] = []
    for item in template.items:
        if isinstance(item, ThreadPlace):
            items.append({THREAD: item.name})
            continue
        made, found = chat_messages((_message(item, template.format),))
        items += made
        problems += found
    return items, tuple(problems)


def chat_messages(messages: Sequence[Message]) -> tuple[list[JsonObject], tuple[Problem, ...]]:
    """Messages in the form of chat completions; paths stay as the author wrote them."""
    # A template of a name stays as written: the program that fills it in has the name to send.
    nameless = [
        replace(message, attributes=_without_name(message))
        if has_template_name(message)
        else message
        for message in messages
    ]
    request = to_request(nameless, (), ModelDeclaration(id="-"), provider="openai-chat")
    listed = list_of(request.body["messages"])
    items = [
        {**item, "name": message.attributes["name"]} if has_template_name(message) else item
        for item, message in zip(listed, messages, strict=True)
        if isinstance(item, Mapping)
    ]
    lost = [
        item
        for item in request.problems
        if item.code.startswith("unsupported") or item.code == NAME_CHANGED
    ]
    return items, tuple(lost)


def has_template_name(message: Message) -> bool:
    """Whether the name of who speaks holds an expression, whose value nobody knows yet."""
    return "{" in str(message.attributes.get("name", ""))


def _without_name(message: Message) -> dict[str, Json]:
    return {key: value for key, value in message.attributes.items() if key != "name"}


def fill_items(
    items: Sequence[Json],
    render: Render | None,
    values: Mapping[str, Json],
    *,
    drops: bool = False,
) -> tuple[Message, ...]:
    """The messages that a program makes of the items with some values.

    Args:
        items: As `chat_items` gives them.
        render: How the program renders a text; None where the texts are no templates.
        values: Inputs by name.
        drops: Whether the program leaves out media whose input has no value.

    Raises:
        CannotRender: the program cannot.
    """
    made = read_thread(filled_items(items, render, values), {}, None) or ()
    return tuple(_without_empty(message) for message in made) if drops else made


def filled_items(
    items: Sequence[Json], render: Render | None, values: Mapping[str, Json]
) -> list[Json]:
    """Return the items as a program sends them with some values (`fill_items`)."""
    found: list[Json] = []
    for item in items:
        if not isinstance(item, Mapping):
            continue
        if THREAD in item:
            given = values.get(str(item[THREAD]))
            found += given if isinstance(given, list) else []
        else:
            found.append(item if render is None else _fill(item, render, values))
    return found


def _without_empty(message: Message) -> Message:
    parts = tuple(
        part for part in message.parts if not (isinstance(part, MediaPart) and not part.source)
    )
    return replace(message, parts=parts)


def _fill(value: Json, render: Render, values: Mapping[str, Json]) -> Json:
    if isinstance(value, str):
        return render(value, values)
    if isinstance(value, Mapping):
        return {
            key: item if key in _FIXED else _fill(item, render, values)
            for key, item in value.items()
        }
    return [_fill(item, render, values) for item in value] if isinstance(value, list) else value


def as_sent(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Messages as they come out of the form of chat completions, to compare like with like."""
    sent = fill_items(list(chat_messages(messages)[0]), None, {})
    return tuple(
        replace(message, attributes={**message.attributes, "name": sendable_name(name, CHAT)})
        if isinstance(name := message.attributes.get("name"), str)
        else message
        for message in sent
    )


def _message(item: TemplateMessage, form: TemplateFormat) -> Message:
    parts: list[Part] = []
    for part in item.parts:
        if isinstance(part, InputMedia):
            parts.append(MediaPart(part.kind, use(part.name, form)))  # type: ignore[arg-type]
        else:
            parts.append(replace(part, span=None))
    return Message(item.role, tuple(parts), item.attributes)  # type: ignore[arg-type]


def use(name: str, form: TemplateFormat) -> str:
    """The expression that puts an input in as it is."""
    match form:
        case "fstring":
            return f"{{{name}}}"
        case "mustache":
            return f"{{{{{{{name}}}}}}}"
        case _:
            return f"{{{{ {name} }}}}"
