"""Compare two sides of a prompt: its text, its messages one by one, and the request."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from studio.application.comparison import ComparedPart, compare_for_taking_back, compare_texts
from studio.application.document.files import FileError, read_file
from studio.application.preview.build import build_preview, prepare_job
from studio.application.preview.requests import (
    RequestPreview,
    provider_for,
    request_of,
    request_preview,
)
from studio.application.preview.variables import Preview, PreviewJob
from studio.application.words import tr
from studio.core.export.request_script import ApiEndpoint, curl_command, endpoint_of, python_script
from studio.core.prompty.document import Message, PromptDocument
from studio.core.prompty.parse import parse
from studio.core.prompty.shapes import message_text, part_text
from studio.core.text.diff import changes
from studio.core.text.values import JsonDict, JsonObject

# Exports of the preview as text: its messages and its request.


def messages_as_json(preview: Preview) -> str:
    """Return the messages in the shape of chat completions, else of the section dialect."""
    made = request_preview("openai-chat", preview.prepared, preview.tools, preview.job.target)
    listed = _whole(made).get("messages")
    return json.dumps(
        listed if listed is not None else [_plain(item) for item in preview.messages.messages],
        ensure_ascii=False,
        indent=2,
    )


def messages_as_markdown(messages: Sequence[Message]) -> str:
    """Return the messages as Markdown, each with a heading."""
    blocks = []
    for message in messages:
        attributes = ", ".join(f"{key}: {value}" for key, value in message.attributes.items())
        heading = f"## {message.role}" + (f" ({attributes})" if attributes else "")
        blocks.append("\n\n".join([heading, *(part_text(part) for part in message.parts)]))
    return "\n\n".join(blocks) + "\n" if blocks else ""


def message_as_text(message: Message) -> str:
    """Return one message with its attributes as text for a comparison."""
    attributes = ", ".join(f"{key}={value}" for key, value in message.attributes.items())
    head = f"{message.role}[{attributes}]:" if attributes else f"{message.role}:"
    return "\n".join([head, *(part_text(part) for part in message.parts)])


def messages_as_chat(messages: Sequence[Message]) -> str:
    """Return the messages as `role: text`, one after the other."""
    return "\n\n".join(f"{message.role}: {message_text(message)}" for message in messages)


def _plain(message: Message) -> JsonDict:
    return {"role": message.role, **message.attributes, "content": message_text(message)}


def request_as_json(request: RequestPreview) -> str:
    """Return the body as JSON, with the content of its files."""
    return json.dumps(_whole(request), ensure_ascii=False, indent=2)


def request_as_curl(request: RequestPreview) -> str:
    """Return a shell command that sends the body."""
    return curl_command(_whole(request), *_endpoint(request))


def request_as_python(request: RequestPreview) -> str:
    """Return a Python script that sends the body and prints the reply."""
    return python_script(_whole(request), *_endpoint(request))


def _whole(request: RequestPreview) -> JsonObject:
    return request.whole() if request.whole is not None else request.body


def _endpoint(request: RequestPreview) -> tuple[ApiEndpoint, str]:
    """Return the API endpoint of the request and its URL: the connection's own if it has one."""
    endpoint = endpoint_of(request.provider, request.api)
    endpoint = replace(endpoint, path=endpoint.path.replace("{model}", request.model or "MODEL"))
    return endpoint, request.base_url


_MOST_ROWS = 2_000
"""Maximum rows of a message; they are drawn again after each pause in typing."""


@dataclass(frozen=True, slots=True)
class ConversationSide:
    """One of the two conversations of a comparison."""

    title: str
    """Title for the user."""

    values: JsonObject | None = None
    """The input values; `None` for the values in the inputs pane."""

    is_saved: bool = False
    """Whether the text is the saved file instead of the editor's text."""

    read: Callable[[], str | None] | None = None
    """Function that reads an earlier version of the text; returns `None` if it is gone."""

    @property
    def is_editor(self) -> bool:
        """Whether the text is that of the editor."""
        return not self.is_saved and self.read is None


@dataclass(frozen=True, slots=True)
class Pair:
    """The two sides of a comparison."""

    before: ConversationSide
    """The side whose own lines are shown as removed."""

    after: ConversationSide
    """The side whose own lines are shown as added."""


@dataclass(frozen=True, slots=True)
class ConversationComparison:
    """The differences between two conversations."""

    pair: Pair
    """The compared sides."""

    messages: tuple[ComparedPart, ...] = ()
    """The messages that differ, in order."""

    unchanged: int = 0
    """Number of equal messages."""

    problem: str = ""
    """Reason why the comparison failed; empty if it succeeded."""


@dataclass(frozen=True, slots=True)
class PromptComparison:
    """The differences between two prompts; each is empty if there is none."""

    text: tuple[ComparedPart, ...]
    """Differences of the file's text, or of the values if inputs are compared."""

    messages: tuple[ComparedPart, ...]
    """Differences of the messages, in order."""

    request: tuple[ComparedPart, ...]
    """Differences of the request body."""


class MissingTextError(Exception):
    """Raised when a text to compare does not exist; the message gives the user the reason."""


def compare(order: PreviewJob, pair: Pair) -> ConversationComparison:
    """Compare the messages of two sides. Reads the saved file, so call it in a worker."""
    try:
        sides = [_of_side(order, side) for side in (pair.before, pair.after)]
    except MissingTextError as error:
        return ConversationComparison(pair, problem=str(error))
    before, after = (prepare_job(side)[0].messages.messages for side in sides)
    return ConversationComparison(pair, *_changes(before, after, pair))


def compare_whole(order: PreviewJob, pair: Pair) -> PromptComparison:
    """Compare texts, messages and requests of two sides with known texts. Call it in a worker."""
    sides = [_of_side(order, side) for side in (pair.before, pair.after)]
    before, after = map(build_preview, sides)
    texts = [side.document.source.text for side in sides]
    bodies = [request_of(made, provider_for(made)).text for made in (before, after)]
    messages, _ = _changes(before.messages.messages, after.messages.messages, pair)
    unlinked = tuple(replace(part, span=None) for part in messages)
    return PromptComparison(compare_for_taking_back(*texts), unlinked, _part(*bodies))


def _part(before: str, after: str) -> tuple[ComparedPart, ...]:
    rows = compare_texts(before, after)
    return (ComparedPart("", rows),) if rows else ()


def _of_side(order: PreviewJob, side: ConversationSide) -> PreviewJob:
    document = order.document
    if side.read is not None:
        text = side.read()
        if text is None:
            raise MissingTextError(tr("This text no longer exists."))
        document = parse(text, document.source.path)
    elif side.is_saved:
        document = _saved(document)
    values = order.inputs if side.values is None else side.values
    return replace(order, document=document, inputs=values)


def _saved(document: PromptDocument) -> PromptDocument:
    path = document.source.path
    if path is None:
        raise MissingTextError(tr("The prompt has not been saved yet."))
    try:
        return parse(read_file(path).text, path)
    except FileError as error:
        raise MissingTextError(str(error)) from error


def _changes(
    before: tuple[Message, ...], after: tuple[Message, ...], pair: Pair
) -> tuple[tuple[ComparedPart, ...], int]:
    """Return the messages that differ and the number of equal messages."""
    old = [message_as_text(item) for item in before]
    new = [message_as_text(item) for item in after]
    parts: list[ComparedPart] = []
    same = len(after)
    for kind, a, b, c, d in changes(old, new):
        if kind == "equal":
            continue
        same -= d - c
        for index in range(max(b - a, d - c)):
            was = before[a + index] if a + index < b else None
            here = after[c + index] if c + index < d else None
            rows = compare_texts(
                old[a + index] if was else "", new[c + index] if here else "", _MOST_ROWS
            )
            if here is not None:
                title = tr("{role}, message {number}").format(role=here.role, number=c + index + 1)
                title += "" if was is not None else tr(", only there now")
            else:
                title = tr("{role}, message {number}, no longer there").format(
                    role=before[a + index].role, number=a + index + 1
                )
            # The editor can only show spans of its own text.
            source = here if pair.after.is_editor else was if pair.before.is_editor else None
            origin = source.origin if source is not None else None
            span = (origin.marker or origin.span) if origin is not None else None
            parts.append(ComparedPart(title, rows, span))
    return tuple(parts), same
