"""Convert body constructs of the section dialect to Prompty 2.

`tools:` moves to the front matter, `![thread]` and written tool calls become thread inputs, media
become image, file or audio inputs; other constructs stay and are reported.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from studio.core.prompty.body.hoist import has_statements, hoist_tools
from studio.core.prompty.body.media import decided_kind, find_media, find_threads
from studio.core.prompty.body.read import read_messages
from studio.core.prompty.body.sections import (
    Marker,
    fenced_ranges,
    find_markers,
    is_inside,
    read_marker,
)
from studio.core.prompty.body.source_yaml import expression_ranges
from studio.core.prompty.document import (
    BodySection,
    HoistedTool,
    Message,
    PromptDocument,
    Rendering,
    Segment,
)
from studio.core.prompty.edit.edits import ConversionDraft, write_scalar
from studio.core.prompty.front.declarations import properties_of_schema
from studio.core.prompty.reference_values import find_references, whole_reference
from studio.core.prompty.threads import thread_calls
from studio.core.text.source import Span, TextEdit
from studio.core.text.values import Json, JsonDict

_MEDIA = frozenset({"image", "file", "audio"})


@dataclass(slots=True)
class _Body:
    """The changes so far; spans refer to the original source."""

    document: PromptDocument
    draft: ConversionDraft
    edits: list[TextEdit] = field(default_factory=list)
    inputs: list[tuple[str, JsonDict]] = field(default_factory=list)
    tools: list[JsonDict] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    numbers: dict[str, int] = field(default_factory=dict)
    notes: set[str] = field(default_factory=set)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.add(text)
            self.draft.notes.append(text)

    def new_name(self, base: str) -> str:
        """Return a free input name: `base`, or `base` with a number."""
        number = self.numbers.get(base, 0) + 1
        name = base if number == 1 else f"{base}_{number}"
        while name in self.taken:
            number += 1
            name = f"{base}_{number}"
        self.numbers[base] = number
        self.taken.add(name)
        return name

    def use(self, name: str) -> str:
        """Return the template expression that inserts an input."""
        return f"{{{name}}}" if self.document.template.format == "fstring" else f"{{{{{name}}}}}"


def convert_body(draft: ConversionDraft, document: PromptDocument) -> None:
    """Convert the body of a section or Prompty 1 file to Prompty 2.

    Args:
        draft: The file, not yet changed.
        document: The parsed original file.
    """
    work = _Body(document, draft)
    work.taken = {item.name for item in document.inputs}
    work.taken |= {variable.name for variable in document.variables}
    sections = document.sections
    index = 0
    while index < len(sections):
        run = _run_of_calls(work, sections, index)
        if run:
            _calls_to_thread(work, sections[index : index + run])
            index += run
            continue
        _section(work, sections[index])
        index += 1
    _general_notes(work)
    draft.apply(work.edits)
    draft.add_items(("tools",), work.tools)
    if isinstance(draft.value("inputs"), list):
        draft.add_items(("inputs",), [{"name": name, **item} for name, item in work.inputs])
    else:
        draft.add_values(("inputs",), dict(work.inputs))


def hoist_body_tools(draft: ConversionDraft, document: PromptDocument) -> None:
    """Move only the tools of the body's `tools:` section to the front matter."""
    work = _Body(document, draft)
    for section in document.sections:
        if section.role == "tools":
            _tools(work, section)
    draft.apply(work.edits)
    draft.add_items(("tools",), work.tools)


def write_user_after_threads(draft: ConversionDraft, document: PromptDocument) -> None:
    """Add the user markers that Prompty 1 implies for text after `![thread]`."""
    edits: list[TextEdit] = []
    for section in document.sections:
        text = document.source.slice(section.content)
        for place in find_threads(text):
            if text[place.end :].strip():
                at = section.content.start + place.end
                edits.append(TextEdit(Span(at, at), "\n\nuser:"))
    draft.apply(edits)


def _section(work: _Body, section: BodySection) -> None:
    if section.role == "tools":
        _tools(work, section)
        return
    if section.role == "thread" and section.marker is not None:
        if "[" in work.document.source.slice(section.marker):
            work.note("the attributes of thread[…]: are not possible in Prompty 2")
        edit = TextEdit(section.marker, work.use(_thread_name(work)))
        work.edits.append(edit)
    elif section.marker is not None:
        _marker(work, section)
    _content(work, section)


def _content(work: _Body, section: BodySection) -> None:
    """Convert the threads and media in one section."""
    text = work.document.source.slice(section.content)
    start = section.content.start
    for place in find_threads(text):
        replacement = work.use(_thread_name(work))
        if work.document.dialect == "legacy" and text[place.end :].strip():
            replacement += "\n\nuser:"  # in the Prompty 1 runtime the rest is a user message
        work.edits.append(TextEdit(place.shift(start), replacement))
    threads = [place.start for place in find_threads(text)]
    media = 0
    for token in find_media(text):
        if token.span.start in threads:
            continue
        source = text[token.target.start : token.target.end]
        template = next(iter(expression_ranges(source, work.document.template.format)), None)
        kind = decided_kind(token, source)
        if kind not in _MEDIA or template is not None or section.role != "user":
            work.note(
                f"{text[token.span.start : token.span.end]!r} stays text: Prompty 2 takes images, "
                "files and recordings from inputs, in user messages"
            )
            continue
        name = work.new_name(kind)
        work.inputs.append((name, {"kind": kind, "default": source}))
        # Runtimes insert only one rich input per message: each further one gets its own section.
        media += 1
        own = "\n\nuser:\n" if media > 1 else ""
        work.edits.append(TextEdit(token.span.shift(start), own + work.use(name)))
        extra = [item.key for item in token.attributes if item.key != "type"]
        if extra or token.alt is not None:
            lost = ", ".join(extra) or "the alternative text"
            work.note(f"{source}: {lost} is not possible in Prompty 2")


def _thread_name(work: _Body) -> str:
    """Return the file's thread input, declared at its first use."""
    for item in work.document.inputs:
        if item.kind == "thread":
            return item.name
    for name, declaration in work.inputs:
        if declaration == {"kind": "thread"}:
            return name
    name = "thread" if work.document.input("thread") is None else work.new_name("thread")
    work.taken.add(name)
    work.inputs.append((name, {"kind": "thread"}))
    return name


def _tools(work: _Body, section: BodySection) -> None:
    """Convert the body's tools to declared tools; expressions stay as written."""
    if has_statements(work.document, section):
        work.note("the tools: section has loops or conditions, so it stays in the body")
        return
    as_written = {variable.name: work.use(variable.name) for variable in work.document.variables}
    tools, problems = hoist_tools(work.document, section, as_written)
    if any(problem.severity == "error" for problem in problems) or not tools:
        work.note("the tools: section cannot be read, so it stays in the body")
        return
    for tool in tools:
        work.tools.append(_declared_tool(work, tool))
        if tool.dynamic_inputs:
            work.note(
                f"the tool {tool.id!r} takes values of {', '.join(tool.dynamic_inputs)}; "
                "declared tools of Prompty 2 have no templates"
            )
    work.edits.append(TextEdit(section.span, ""))


def _declared_tool(work: _Body, tool: HoistedTool) -> JsonDict:
    found: JsonDict = {"name": tool.id, "kind": tool.type}
    options = dict(tool.options)
    for line in [key for key, value in options.items() if value is None and whole_reference(key)]:
        options.pop(line)
        work.note(
            f"the tool {tool.id!r}: the keys of {line} cannot be combined with others in a "
            "declared tool; write them out"
        )
    if "description" in options:
        found["description"] = options.pop("description")
    parameters = options.pop("parameters", None) if tool.type == "function" else None
    if isinstance(parameters, list):
        found["parameters"] = [_with_kind(item) for item in parameters]
    elif isinstance(parameters, Mapping):
        found["parameters"] = list(properties_of_schema(parameters))
    if tool.reference:
        found["options"] = tool.reference  # Prompty 2 resolves it there (§4.3)
        if options:
            lost = ", ".join(options)
            work.note(f"the tool {tool.id!r}: {lost} cannot be combined with {tool.reference}")
    elif options:
        found["options"] = options
    if tool.type != "function":
        work.note(
            f"the tool {tool.id!r}: Prompty 2 requires a connection for its kind {tool.type!r}"
        )
    return found


def _with_kind(item: Json) -> Json:
    if not isinstance(item, Mapping) or "kind" in item:
        return item
    kinds = {"number": "float"}
    return {
        ("kind" if key == "type" else key): (
            kinds.get(value, value) if key == "type" and isinstance(value, str) else value
        )
        for key, value in item.items()
    }


def _run_of_calls(work: _Body, sections: Sequence[BodySection], index: int) -> int:
    """Return the number of sections from here on that are written tool calls and results."""
    count = 0
    while index + count < len(sections) and _is_call(work, sections[index + count]):
        count += 1
    return count


def _is_call(work: _Body, section: BodySection) -> bool:
    if work.document.dialect != "section" or section.marker is None:
        return False
    marker = read_marker(work.document.source.slice(section.marker), "section")
    if marker is None:
        return False
    return marker.role in ("tool", "function") or marker.attribute("type") == "tool_call"


def _calls_to_thread(work: _Body, run: Sequence[BodySection]) -> None:
    """Convert written calls and results to the default of a thread input."""
    place = run[0].span.cover(run[-1].span)
    text = work.document.source.slice(place)
    if next(iter(expression_ranges(text, work.document.template.format)), None) is not None:
        work.note("a tool call or result with template values stays in the body as text")
        return
    segment = Segment("literal", text, place)
    messages = read_messages(work.document, Rendering((segment,)), {}).messages
    name = work.new_name("tool_messages")
    work.inputs.append((name, {"kind": "thread", "default": [_as_item(m) for m in messages]}))
    work.edits.append(TextEdit(place, f"{work.use(name)}\n\n"))


def _as_item(message: Message) -> JsonDict:
    """Return a message as an item of a thread input."""
    found: JsonDict = {"role": message.role, **message.attributes, "content": message.text}
    return found | thread_calls(message)


def _marker(work: _Body, section: BodySection) -> None:
    """Rewrite a marker whose attributes Prompty 2 cannot read."""
    if section.marker is None:
        return
    line = work.document.source.slice(section.marker)
    old = read_marker(line, work.document.dialect)
    if old is None or not old.attributes:
        return
    new = read_marker(line, "prompty")
    if new is not None and _pairs(new) == _pairs(old):
        return
    written = ", ".join(_attribute(item.key, item.value) for item in old.attributes)
    work.edits.append(TextEdit(section.marker, f"{old.role}[{written}]:"))
    again = read_marker(f"{old.role}[{written}]:", "prompty")
    if again is None or _pairs(again) != _pairs(old):
        work.note(f"{line!r}: Prompty 2 reads other names or types of these attributes")


def _attribute(key: str, value: Json) -> str:
    name = key.replace("-", "_").replace(".", "_")
    if isinstance(value, str):
        return f'{name}="{value}"'
    return f"{name}={write_scalar(value)}"


def _pairs(marker: Marker) -> list[tuple[str, Json, str]]:
    return [(item.key, item.value, type(item.value).__name__) for item in marker.attributes]


def _general_notes(work: _Body) -> None:
    """Report body constructs that change or lose their meaning in Prompty 2."""
    body = work.document.source.slice(work.document.body)
    fences = fenced_ranges(body) if work.document.dialect == "section" else []
    if any(is_inside(fences, marker.span.start) for marker in find_markers(body, "prompty")):
        work.note("role markers in code blocks start messages in Prompty 2")
    if any(item.protocol == "params" for item in find_references(work.document.source.text)):
        work.note("${params:…} is unknown to Prompty 2: where it stays, its runtimes keep the text")
