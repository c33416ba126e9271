"""A prompt as a list of messages whose texts are templates, for programs that render them.

The body is read as if it were rendered, with only whole threads and media inserted. The texts still
contain the expressions, which the other program renders. If loops or conditions contain role
markers, there is no such list, and this is reported as a loss.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from studio.core.export.prompt_files import Render
from studio.core.export.target import ExportSource
from studio.core.prompty.body.read import read_messages
from studio.core.prompty.document import (
    InputDeclaration,
    MediaPart,
    Message,
    ModelDeclaration,
    Part,
    PromptDocument,
    Rendering,
    Segment,
    TemplateFormat,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from studio.core.prompty.parameters import parameters_as_variables
from studio.core.prompty.reference_values import find_references
from studio.core.prompty.templates import find_variables, render_template
from studio.core.prompty.templates.writer import rich_placeholder
from studio.core.prompty.threads import read_thread
from studio.core.text.source import Problem, Span
from studio.core.text.values import Json, JsonDict, JsonObject, list_of
from studio.core.wire.message_rules import CHAT, NAME_CHANGED, sendable_name
from studio.core.wire.request import to_request

_MARK = "\x00studio\x00"


@dataclass(frozen=True, slots=True)
class ThreadPlace:
    """The place of a thread input's messages in the list."""

    name: str
    """Name of the input."""


@dataclass(frozen=True, slots=True)
class InputMedia:
    """A whole image, file or recording from an input."""

    name: str
    """Name of the input."""

    kind: str
    """Kind: `image`, `file` or `audio`."""


TemplatePart: TypeAlias = Part | InputMedia
"""Part of a message whose text or source is a template."""


@dataclass(frozen=True, slots=True)
class TemplateMessage:
    """One message whose texts are templates."""

    role: str
    """Role of the message."""

    parts: tuple[TemplatePart, ...]
    """Content in order."""

    attributes: JsonObject = field(default_factory=dict)
    """Further keys of the message; their texts are templates."""


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """A prompt as a list of messages to render."""

    items: tuple[TemplateMessage | ThreadPlace, ...]
    """Messages and threads, in order."""

    format: TemplateFormat
    """Template language of the texts."""

    is_plain: bool = False
    """Whether the texts contain no templates."""

    losses: tuple[str, ...] = ()
    """Losses of this form, one sentence each."""


def chat_template(source: ExportSource) -> ChatTemplate:
    """Return the prompt as messages to render; with the current values if that is impossible."""
    document = source.document
    found = _read(document, source)
    losses = tuple(_reference_losses(document))
    if found is not None and all(_stands_alone(found, document)):
        is_plain = not document.variables and not document.parameters
        if is_plain and not _has_statements(document):
            found = replace(found, items=tuple(_rendered(found)), is_plain=True)
        return replace(found, losses=losses)
    messages = source.prepared.messages.messages
    items = tuple(
        TemplateMessage(message.role, message.parts, message.attributes) for message in messages
    )
    why = (
        "The template starts messages inside loops or conditions, which a list of messages "
        "cannot: the file contains the messages with the current values."
    )
    return ChatTemplate(items, document.template.format, is_plain=True, losses=(why, *losses))


def _without_escapes(item: TemplateMessage, form: TemplateFormat) -> TemplateMessage:
    def text(template: str) -> str:
        rendering = render_template(template, {}, format=form)
        return "".join(segment.text for segment in rendering.segments)

    parts: list[TemplatePart] = []
    for part in item.parts:
        match part:
            case TextPart():
                parts.append(TextPart(text(part.text).strip("\r\n")))
            case ToolResultPart():
                parts.append(ToolResultPart(text(part.text)))
            case MediaPart():
                parts.append(replace(part, source=text(part.source)))
            case ToolCallPart():
                parts.append(replace(part, arguments=text(part.arguments)))
            case InputMedia():
                parts.append(part)
    if len(parts) > 1:
        parts = [part for part in parts if not (isinstance(part, TextPart) and not part.text)]
    elif len(parts) == 1 and isinstance(parts[0], TextPart) and not parts[0].text:
        parts = []
    attributes = {
        key: text(value) if isinstance(value, str) else value
        for key, value in item.attributes.items()
    }
    return TemplateMessage(item.role, tuple(parts), attributes)


def _rendered(template: ChatTemplate) -> Iterator[TemplateMessage | ThreadPlace]:
    """Yield the items with their escapes undone (`{{` of a format string, `{% raw %}`)."""
    for item in template.items:
        if isinstance(item, ThreadPlace):
            yield item
        else:
            yield _without_escapes(item, template.format)


def _read(document: PromptDocument, source: ExportSource) -> ChatTemplate | None:
    """Read the body as if it were rendered; None if loops produce threads or media."""
    body = document.body
    loops = tuple(_conversation_loops(document))
    threads = {item.input for item in loops}
    rich = [item for item in source.prepared.rendering.segments if item.kind == "rich"]
    rich = sorted((*rich, *loops), key=lambda item: item.span.start if item.span else 0)
    places = [segment.span for segment in rich if segment.span is not None]
    if len(set(places)) != len(places) or places != sorted(places):
        return None
    segments: list[Segment] = []
    at = body.start
    for segment, place in zip(rich, places, strict=False):
        if not body.start <= place.start < place.end <= body.end:
            return None
        segments += (*_literals(document, at, place.start), segment)
        at = place.end
    segments += _literals(document, at, body.end)
    inputs: JsonDict = {}
    for item in document.inputs:
        if item.kind == "thread":
            inputs[item.name] = [{"role": "user", "content": f"{_MARK}{item.name}"}]
        elif item.kind in ("image", "file", "audio"):
            inputs[item.name] = f"{_MARK}{item.name}"
    if threads:
        declared = [item for item in document.inputs if item.name not in threads]
        added = [InputDeclaration(name, "thread") for name in threads if name]
        document = replace(document, inputs=(*declared, *added))
        inputs |= {n: [{"role": "user", "content": f"{_MARK}{n}"}] for n in threads if n}
    inputs.setdefault("thread", [{"role": "user", "content": f"{_MARK}thread"}])
    kept = tuple(segment for segment in segments if segment.text)
    messages = read_messages(document, Rendering(kept), inputs)
    items = tuple(_item(message) for message in messages.messages)
    return ChatTemplate(items, document.template.format)


_CONVERSATION = re.compile(
    r"""(?mx) ^[ \t]* \{% \s* for \s+ (?P<item>\w+) \s+ in \s+ (?P<name>\w+) \s*
    (?P<starts>-?)%\} \s*
    (?:\#[ \t]*)? \{\{ \s* (?P=item) (?: \.role | \[['"]role['"]\] ) \s* \}\} [ \t]* :
    [ \t]* \r?\n \s*
    \{\{-? \s* (?P=item) (?: \.content | \[['"]content['"]\] ) \s* -?\}\} \s*
    \{%(?P<ends>-?) \s* endfor \s* %\} [ \t]* (?:\r?\n|\Z)"""
)


def _conversation_loops(document: PromptDocument) -> Iterator[Segment]:
    """Yield the loops that write role and content of each item: threads in another form.

    Another message must follow, since the last item extends to it.
    """
    if document.template.format != "jinja2":
        return
    starts = [item.marker.start for item in document.sections if item.marker is not None]
    for found in _CONVERSATION.finditer(document.source.text, document.body.start):
        end = min((at for at in starts if at >= found.end()), default=document.body.end)
        is_one_line = found["starts"] and found["ends"]  # the next role is on the same line
        if not is_one_line and not document.source.text[found.end() : end].strip():
            name = found["name"]
            yield Segment("rich", rich_placeholder(name), Span(found.start(), found.end()), name)


def _literals(document: PromptDocument, start: int, end: int) -> Iterator[Segment]:
    """Yield a range of the body as written, with parameters as template expressions."""
    text = document.source.text
    if document.parameters and document.dialect == "section":
        first = start
        found = parameters_as_variables(text[start:end], document.template.format)
        for place, expression in found:
            span = place.shift(first)
            yield Segment("literal", text[start : span.start], Span(start, span.start))
            yield Segment("literal", expression, span)
            start = span.end
    yield Segment("literal", text[start:end], Span(start, end))


def _item(message: Message) -> TemplateMessage | ThreadPlace:
    parts: list[TemplatePart] = []
    for part in message.parts:
        if isinstance(part, TextPart) and part.text.startswith(_MARK):
            return ThreadPlace(part.text.removeprefix(_MARK))
        if isinstance(part, MediaPart) and part.source.startswith(_MARK):
            parts.append(InputMedia(part.source.removeprefix(_MARK), part.kind))
        elif isinstance(part, TextPart):
            parts.append(TextPart(part.text))
        elif isinstance(part, ToolResultPart):
            parts.append(ToolResultPart(part.text))
        else:
            parts.append(replace(part, span=None))
    return TemplateMessage(message.role, tuple(parts), message.attributes)


def _stands_alone(template: ChatTemplate, document: PromptDocument) -> Iterator[bool]:
    """Yield for each text whether it is a complete template by itself."""
    known = {variable.name for variable in document.variables}
    known |= {parameter.name for parameter in document.parameters}
    for text in _texts(template):
        variables, problems = find_variables(text, template.format)
        yield not any(problem.severity == "error" for problem in problems)
        yield all(variable.name in known for variable in variables)


def _texts(template: ChatTemplate) -> Iterator[str]:
    for item in template.items:
        if isinstance(item, ThreadPlace):
            continue
        yield from (value for value in item.attributes.values() if isinstance(value, str))
        for part in item.parts:
            match part:
                case TextPart(text=text) | ToolResultPart(text=text):
                    yield text
                case MediaPart(source=text) | ToolCallPart(arguments=text):
                    yield text
                case InputMedia():
                    pass


def _has_statements(document: PromptDocument) -> bool:
    body = document.source.slice(document.body)
    return document.template.format == "jinja2" and re.search(r"\{[%#{]", body) is not None


def _reference_losses(document: PromptDocument) -> Iterator[str]:
    body = document.source.slice(document.body)
    expressions = dict(parameters_as_variables(body, document.template.format))
    for reference in find_references(body):
        if reference.span in expressions and document.dialect == "section":
            continue
        written = body[reference.span.start : reference.span.end]
        yield f"The reference {written} in a message stays as text: the file does not look it up."


def used_inputs(document: PromptDocument, reserved: Sequence[str] = ()) -> JsonDict:
    """Return the names that rendering uses, with defaults: inputs, variables, parameters."""
    found: JsonDict = {}
    for item in document.inputs:
        if item.name and item.name not in reserved:
            found[item.name] = item.default if item.has_default else None
    used = [variable.name for variable in document.variables]
    for name in (*used, *(parameter.name for parameter in document.parameters)):
        if name not in reserved:
            found.setdefault(name, None)
    return found


# Messages with templates in the form of chat completions, as literals for a program.

THREAD = "thread"
"""Key of an item that is a whole conversation."""

_FIXED = ("role", "type", "id", "tool_call_id", "detail", "format")
"""Keys whose texts are constants of the API, never templates."""


def chat_items(template: ChatTemplate) -> tuple[list[JsonObject], tuple[Problem, ...]]:
    """Return the template's messages in chat completions' form, and the problems of it."""
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
    """Return messages in chat completions' form; paths stay as the author wrote them."""
    # A name's template stays as written, since the other program fills it in.
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
    """Return whether the message's `name` contains an expression."""
    return "{" in str(message.attributes.get("name", ""))


def _without_name(message: Message) -> JsonDict:
    return {key: value for key, value in message.attributes.items() if key != "name"}


def fill_items(
    items: Sequence[Json], render: Render | None, values: JsonObject, *, drops: bool = False
) -> tuple[Message, ...]:
    """Return the messages that a program builds from the items with some values.

    Args:
        items: Items from `chat_items`.
        render: Renders a text as the program does; None if the texts are no templates.
        values: Inputs by name.
        drops: Whether the program leaves out media whose input has no value.

    Raises:
        CannotRender: the program cannot.
    """
    made = read_thread(filled_items(items, render, values), {}, None) or ()
    return tuple(_without_empty(message) for message in made) if drops else made


def filled_items(items: Sequence[Json], render: Render | None, values: JsonObject) -> list[Json]:
    """Return the items as a program sends them, rendered with some values (`fill_items`)."""
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


def _fill(value: Json, render: Render, values: JsonObject) -> Json:
    if isinstance(value, str):
        return render(value, values)
    if isinstance(value, Mapping):
        return {
            key: item if key in _FIXED else _fill(item, render, values)
            for key, item in value.items()
        }
    return [_fill(item, render, values) for item in value] if isinstance(value, list) else value


def as_sent(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return messages normalized for a comparison with those read from chat completions' form."""
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
    """Return the expression that inserts an input unchanged."""
    match form:
        case "fstring":
            return f"{{{name}}}"
        case "mustache":
            return f"{{{{{{{name}}}}}}}"
        case _:
            return f"{{{{ {name} }}}}"
