"""Read messages from a rendering: roles, attributes, content, threads and hoisted tools."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from studio.core.prompty.body import sections
from studio.core.prompty.body.content import (
    PLACEHOLDER,
    Conversation,
    MaskedText,
    SectionHead,
    TrustRule,
    attribute_values,
    read_content,
    thread_input,
    trim_newlines,
    with_plain_newlines,
)
from studio.core.prompty.body.hoist import RenderedYaml, has_statements, hoist_rendered, hoist_tools
from studio.core.prompty.body.media import without_threads
from studio.core.prompty.document import (
    HoistedTool,
    MediaPart,
    Message,
    MessageOrigin,
    PromptDocument,
    PromptMessages,
    Rendering,
    Role,
    ToolCallPart,
    ToolResultPart,
)
from studio.core.prompty.loop_format import drives_loop
from studio.core.prompty.reference_values import LookUp
from studio.core.prompty.threads import read_call
from studio.core.text.source import Problem, Severity, Span
from studio.core.text.values import JsonObject

_MOST = 50


def injected_markers(
    document: PromptDocument, masked: MaskedText, markers: Sequence[sections.Marker]
) -> Iterator[Problem]:
    """Report each value with a line that would be a role marker in the prompt."""
    if not masked.hides_values:
        return
    accepted = {marker.span.start for marker in markers}
    reported: set[tuple[Span | None, str | None]] = set()
    for segment in masked.segments:
        if segment.kind != "value" or len(reported) >= _MOST or ":" not in segment.text:
            continue
        if (segment.span, segment.input) in reported:
            continue
        line = _marker_line(document, segment.text)
        if line is None:
            continue
        reported.add((segment.span, segment.input))
        yield _problem(document, segment.span, segment.input, line)
    yield from _completed_lines(document, masked, accepted, reported)


def _marker_line(document: PromptDocument, text: str) -> str | None:
    """Return the first line of a value that looks like a role marker; None without one."""
    return next(
        (line for line in text.split("\n") if sections.read_marker(line, document.dialect)), None
    )


def _completed_lines(
    document: PromptDocument,
    masked: MaskedText,
    accepted: set[int],
    reported: set[tuple[Span | None, str | None]],
) -> Iterator[Problem]:
    """Report the lines that become a role marker only through a value (`{{who}}:`)."""
    for at, segment in masked.placed():
        if segment.kind != "value" or _is_own_text(document, segment.span):
            continue
        if len(reported) >= _MOST or (segment.span, segment.input) in reported:
            continue
        if len(segment.text) > 40 or "\n" in segment.text:
            continue
        start = masked.text.rfind("\n", 0, at) + 1
        end = masked.text.find("\n", at)
        end = len(masked.text) if end < 0 else end
        if start in accepted or end - start > 400:
            continue
        if not masked.text[start:end].rstrip().endswith((":", PLACEHOLDER)):
            continue
        line = masked.read(start, end)
        if sections.read_marker(line, document.dialect):
            reported.add((segment.span, segment.input))
            yield _problem(document, segment.span, segment.input, line)


def _is_own_text(document: PromptDocument, span: Span | None) -> bool:
    """Return whether a value is a text in quotes, by which a prompt writes a line of letters."""
    words = document.source.slice(span).strip("{}- ") if span is not None else ""
    return words[:1] in ("'", '"') and words.find(words[0], 1) == len(words) - 1


def _problem(document: PromptDocument, span: Span | None, name: str | None, line: str) -> Problem:
    who = f"The value of {name!r}" if name else "A value"
    message = f"{who} contains the role marker {line.strip()!r}; it stays text."
    start = document.body.start
    return Problem("injected-marker", Severity.WARNING, message, span or Span(start, start))


_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_KNOWN_TYPES = (*sections.YAML_TYPES, "text", "tool_result")


def read_messages(
    document: PromptDocument,
    rendering: Rendering,
    inputs: JsonObject,
    look_up: LookUp | None = None,
) -> PromptMessages:
    """Read the messages of a rendering. Never raises.

    A marker counts only if it is the author's text (docs/design/file-format.md).

    Args:
        document: The prompt that was rendered.
        rendering: Rendering of the body.
        inputs: The values of the rendering; also used for threads and media.
        look_up: Resolves references in a `tools:` section; those in messages are resolved in the
            rendering. None leaves them as written.
    """
    masked = MaskedText(rendering, _trust(document), sections.STANDARD_ROLES)
    markers = sections.find_markers(masked.text, document.dialect)
    talk = Conversation(document, masked, inputs, look_up)
    first = markers[0].span.start if markers else len(masked.text)
    if masked.read(0, first).strip() or masked.rich_places(0, first):
        span = masked.source(0, first)
        head = SectionHead(_implicit_role(document, markers), {}, MessageOrigin("implicit", span))
        read_content(talk, head, 0, first)
        talk.messages = [_for_user(message) for message in talk.messages]
    tools: list[HoistedTool] = []
    role: Role = "system"
    for index, marker in enumerate(markers):
        end = markers[index + 1].span.start if index + 1 < len(markers) else len(masked.text)
        if marker.role == "tools":
            tools += _read_tools(talk, marker, end)
        else:
            role = _read_section(talk, marker, end, role)
    _append_unused_threads(talk)
    talk.problems += injected_markers(document, masked, markers)
    return PromptMessages(
        tuple(talk.messages), tuple(tools), tuple(talk.problems), tuple(talk.threads)
    )


def _implicit_role(document: PromptDocument, markers: Sequence[sections.Marker]) -> Role:
    """Return the role of the text before the first marker: usually system.

    The published agent prompts have no marker, and their programs send them, with the question, as
    a user message; the section dialect does the same, so that they can be used unchanged.
    """
    is_whole = all(marker.role == "tools" for marker in markers)
    if is_whole and document.dialect == "section" and drives_loop(document):
        return "user"
    return "system"


def _for_user(message: Message) -> Message:
    """Return media without role and text as a user message: no provider accepts it from the system.

    A media part without a role is a user message (docs/design/file-format.md).
    """
    is_media = message.parts and all(isinstance(part, MediaPart) for part in message.parts)
    return replace(message, role="user") if is_media and message.role == "system" else message


def _trust(document: PromptDocument) -> TrustRule:
    if document.dialect == "legacy":
        return "literal" if document.template.strict else "role-words"
    return "literal" if document.template.strict else "all"


def _read_section(talk: Conversation, marker: sections.Marker, end: int, role: Role) -> Role:
    """Read one section; return the role of text after a thread."""
    masked = talk.masked
    start = _content_start(masked.text, marker.span.end, end)
    attributes = attribute_values(masked, marker.attributes)
    marker_span = masked.source(marker.span.start, marker.span.end)
    origin = MessageOrigin("template", masked.source(marker.span.start, end), marker_span)
    if marker.role == "thread":
        talk.add_thread(thread_input(talk), attributes, marker_span)
        below = masked.read(start, end)
        if below.strip():
            read_content(talk, SectionHead(role, {}, origin), start, end)
        if without_threads(below).strip():
            line = masked.read(marker.span.start, marker.span.end).strip()
            text = (
                f"The text below {line} is not part of the thread: it is a separate {role} message."
            )
            talk.report("text-below-thread", Severity.WARNING, text, marker_span)
        return role
    role = _ROLES[marker.role]
    head = SectionHead(role, attributes, origin)
    for key in ("role", "content"):
        if key in attributes and talk.document.dialect == "section":
            text = f"The attribute {key!r} is already set by the section; it is left out."
            talk.report("attribute-taken", Severity.WARNING, text, marker_span)
    kind = attributes.get("type")
    if talk.document.dialect == "section" and kind is not None:
        _report_type(talk, str(kind), role, marker_span)
    if kind in sections.YAML_TYPES and talk.document.dialect == "section":
        _read_calls(talk, head, start, end)
    elif role == "tool" and talk.document.dialect != "legacy":
        _read_result(talk, head, start, end)
    else:
        read_content(talk, head, start, end)
    return role


def _report_type(talk: Conversation, kind: str, role: Role, place: Span | None) -> None:
    """Report a content type that is unknown or belongs to another role."""
    if kind not in _KNOWN_TYPES:
        text = f"The content type {kind!r} is unknown; its content is read as text."
        talk.report("unknown-content-type", Severity.HINT, text, place)
    elif kind == "tool_result" and role != "tool":
        text = "A tool's result needs a section tool[tool_call_id=…]:; this is read as text."
        talk.report("type-of-other-role", Severity.WARNING, text, place)
    elif kind in sections.YAML_TYPES and role != "assistant":
        text = f"Only the assistant calls tools: providers refuse a call of the {role}."
        talk.report("type-of-other-role", Severity.WARNING, text, place)


def _content_start(text: str, line_end: int, end: int) -> int:
    """Return the start of a section's content: after the marker's line and following blanks."""
    while line_end < end and text[line_end] in " \t\f\v":
        line_end += 1
    return sections.after_line(text, line_end)


def _read_calls(talk: Conversation, head: SectionHead, start: int, end: int) -> None:
    """Read a section with `type="tool_call"`: YAML of one call, or of a list of calls."""
    source = talk.masked.source(start, end)
    reading = RenderedYaml(talk.masked.pieces(start, end), talk.inputs)
    value = reading.value
    calls = value if isinstance(value, list) else [value]
    parts: list[ToolCallPart] = []
    for call in calls:
        if isinstance(call, Mapping):
            parts.append(read_call(call, source))
    if not parts or reading.broken or any(not part.name for part in parts):
        what, place = "it needs function.name", source
        if reading.problems:
            what = reading.problems[0].message.removeprefix("Invalid frontmatter: ")
            place = reading.source(reading.problems[0].span) or source
        message = f"This tool call is YAML with id, type and function: {what}"
        talk.report("tool-call-yaml", Severity.ERROR, message, place or head.origin.marker)
    attributes = {key: item for key, item in head.attributes.items() if key != "type"}
    talk.messages.append(Message(head.role, tuple(parts), attributes, head.origin))


def _read_result(talk: Conversation, head: SectionHead, start: int, end: int) -> None:
    """Read a `tool[…]:` section: a tool's result, as text."""
    pieces = with_plain_newlines(trim_newlines(talk.masked.pieces(start, end)))
    text = "".join(piece.text for piece in pieces)
    part = ToolResultPart(text, pieces, talk.masked.source(start, end))
    talk.messages.append(Message("tool", (part,), head.attributes, head.origin))


def _read_tools(talk: Conversation, marker: sections.Marker, end: int) -> tuple[HoistedTool, ...]:
    """Read the `tools:` section of a marker in the rendering."""
    span = talk.masked.source(marker.span.start, marker.span.end)
    section = talk.tool_sections.pop(span.start, None) if span else None
    if section is None:
        return ()
    if has_statements(talk.document, section):
        start = _content_start(talk.masked.text, marker.span.end, end)
        yaml = RenderedYaml(talk.masked.pieces(start, end), talk.inputs)
        tools, problems = hoist_rendered(yaml, section.marker or section.span)
    else:
        tools, problems = hoist_tools(talk.document, section, talk.inputs, talk.look_up)
    talk.problems += problems
    for tool in tools:
        if tool.dynamic_inputs:
            names = ", ".join(map(repr, tool.dynamic_inputs))
            text = f"The tool {tool.id!r} contains the value of {names}; it needs approval."
            talk.report("dynamic-tool", Severity.HINT, text, tool.span)
    _report_duplicates(talk, tools)
    return tools


def _report_duplicates(talk: Conversation, tools: tuple[HoistedTool, ...]) -> None:
    """Report each hoisted tool whose name exists already."""
    names = {tool.name for tool in talk.document.tools}
    for tool in tools:
        if tool.id in names:
            text = f"There are two tools named {tool.id!r}; rename one."
            talk.report("duplicate-tool", Severity.ERROR, text, tool.span)
        names.add(tool.id)


def _append_unused_threads(talk: Conversation) -> None:
    """Append threads that have no place in the body, if no rich input has one (as Prompty does)."""
    if talk.used_rich or talk.document.dialect != "prompty":
        return
    for item in talk.document.inputs:
        if item.kind == "thread" and item.name in talk.inputs:
            end = talk.document.body.end
            talk.add_thread(item.name, {}, Span(end, end))
