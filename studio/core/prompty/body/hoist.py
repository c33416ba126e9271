"""The body's `tools:` section, rendered as structure: a value can never become YAML.

Expressions are opaque scalars while the YAML is read; each scalar is rendered alone afterwards
(docs/design/file-format.md). So an unquoted `{{…}}` is fine, and a hostile value stays a value.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from studio.core.prompty.body.rendered_yaml import RenderedYaml
from studio.core.prompty.body.sections import plain_newlines
from studio.core.prompty.document import BodySection, Entry, PromptDocument, TemplateFormat
from studio.core.prompty.messages import HoistedTool
from studio.core.prompty.templates import render_template
from studio.core.prompty.yaml.reader import read_yaml
from studio.core.text.problem import Problem, Severity
from studio.core.text.span import Span
from studio.core.text.values import Json

_OPEN, _FILL = "\ue000", "\ue001"
_BASE, _DIGITS = 0xE100, 4096
_PAIRS: dict[TemplateFormat, tuple[tuple[str, str], ...]] = {
    "jinja2": (("{{", "}}"), ("{%", "%}"), ("{#", "#}")),
    "mustache": (("{{{", "}}}"), ("{{", "}}")),
    "fstring": (),
}
_MOST = _DIGITS * _DIGITS


@dataclass(slots=True)
class _Reader:
    """Reads one `tools:` section."""

    document: PromptDocument
    inputs: Mapping[str, Json]
    raw: str
    offset: int
    expressions: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    entries: dict[tuple[str | int, ...], Entry] = field(default_factory=dict)

    def read(self) -> tuple[HoistedTool, ...]:
        reading = read_yaml(self._opaque(), self.offset)
        self.problems += map(_as_tools, reading.problems)
        self.entries = {entry.path: entry for entry in reading.entries}
        value = reading.value
        if not isinstance(value, list):
            if value is not None or not reading.broken:
                self._report("tools-not-list", "A tools: section holds a list of tools.", None)
            return ()
        tools = (self._tool(item, index) for index, item in enumerate(value))
        return tuple(tool for tool in tools if tool is not None)

    def _tool(self, item: Json, index: int) -> HoistedTool | None:
        self.used = set()
        entry = self.entries.get((index,))
        span = entry.value if entry else None
        try:
            return _tool_of(self._render(item, (index,)), span, self.used)
        except _NoToolError as error:
            self._report(error.code, str(error), span)
            return None

    def _opaque(self) -> str:
        """The YAML with each expression as one word of its own length."""
        pieces: list[str] = []
        done = 0
        for start, end in expression_ranges(self.raw, self.document.template.format):
            index = len(self.expressions)
            if index >= _MOST:
                break
            text = self.raw[start:end]
            if text.startswith(("{%", "{#")):
                hole = " " * len(text)
            else:
                digits = chr(_BASE + index // _DIGITS) + chr(_BASE + index % _DIGITS)
                hole = (_OPEN + digits).ljust(len(text), _FILL)
                self.expressions.append(text)
            pieces += (self.raw[done:start], hole)
            done = end
        pieces.append(self.raw[done:])
        return plain_newlines("".join(pieces))

    def _render(self, value: Json, path: tuple[str | int, ...]) -> Json:
        if isinstance(value, Mapping):
            return {
                str(self._render_text(str(key), path, typed=False)): self._render(
                    item, (*path, key)
                )
                for key, item in value.items()
            }
        if isinstance(value, list):
            return [self._render(item, (*path, index)) for index, item in enumerate(value)]
        if isinstance(value, str):
            return self._render_text(value, path, typed=not self._is_quoted(path))
        return value

    def _render_text(self, text: str, path: tuple[str | int, ...], *, typed: bool) -> Json:
        template = self._restore(text)
        if template == text and self.document.template.format != "fstring":
            return text
        entry = self.entries.get(path)
        at = entry.value.start if entry else self.offset
        rendering = render_template(
            template, self.inputs, format=self.document.template.format, offset=at
        )
        self.problems += rendering.problems
        self.used |= {piece.input for piece in rendering.segments if piece.input}
        if typed and len(rendering.segments) == 1:
            only = rendering.segments[0]
            value = self.inputs.get(only.input) if only.input else None
            if isinstance(value, int | float) and only.text == _plain(value):
                return value
        return rendering.text

    def _restore(self, text: str) -> str:
        """The template that a scalar was written as."""
        if _OPEN not in text:
            return text
        pieces: list[str] = []
        at = 0
        while (start := text.find(_OPEN, at)) >= 0 and start + 2 < len(text):
            index = (ord(text[start + 1]) - _BASE) * _DIGITS + ord(text[start + 2]) - _BASE
            if not 0 <= index < len(self.expressions):
                break
            expression = self.expressions[index]
            pieces += (text[at:start], expression)
            at = start + len(expression)
        return "".join((*pieces, text[at:]))

    def _is_quoted(self, path: tuple[str | int, ...]) -> bool:
        entry = self.entries.get(path)
        return entry is not None and self.document.source.text[entry.value.start] in "\"'|>"

    def _report(self, code: str, message: str, span: Span | None) -> None:
        place = span or Span(self.offset, self.offset + len(self.raw.rstrip()))
        self.problems.append(Problem(code, Severity.ERROR, message, place))


class _NoToolError(Exception):
    """An item that is no tool; `code` is the problem's code, the text its message."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def _tool_of(rendered: Json, span: Span | None, used: Collection[str]) -> HoistedTool:
    """The tool that a rendered item says.

    Raises:
        _NoToolError: it says none.
    """
    if not isinstance(rendered, Mapping):
        raise _NoToolError("tool-shape", "A tool is a mapping with id, type and options.")
    function = rendered.get("function")
    if isinstance(function, Mapping):
        rendered = {**rendered, **function}
    name = rendered.get("id", rendered.get("name"))
    if not isinstance(name, str) or not name:
        raise _NoToolError("tool-without-id", "This tool has no id; give it one.")
    kind = rendered.get("type", rendered.get("kind"))
    options = rendered.get("options")
    rest: dict[str, Json] = {
        key: value
        for key, value in rendered.items()
        if key not in ("id", "name", "type", "kind", "options", "function")
    }
    if isinstance(options, Mapping):
        rest |= options
    return HoistedTool(
        name, "function" if kind is None else str(kind), rest, span, tuple(sorted(used))
    )


def has_statements(document: PromptDocument, section: BodySection) -> bool:
    """Whether the template decides which tools of a section there are (a loop, a condition)."""
    raw = document.source.slice(section.content)
    match document.template.format:
        case "jinja2":
            return "{%" in raw
        case "mustache":
            return "{{#" in raw or "{{^" in raw
        case "fstring":
            return False


def hoist_rendered(
    yaml: RenderedYaml, place: Span
) -> tuple[tuple[HoistedTool, ...], tuple[Problem, ...]]:
    """The tools of a `tools:` section whose loops and conditions have been run.

    Args:
        yaml: The section's content as it was rendered.
        place: The section in the source, for what has no place of its own.
    """
    problems = [
        replace(_as_tools(problem), span=yaml.source(problem.span) or place, fixes=())
        for problem in yaml.problems
    ]
    items = yaml.items()
    if items is None:
        if yaml.value is not None:
            message = "A tools: section holds a list of tools."
            problems.append(Problem("tools-not-list", Severity.ERROR, message, place))
        return (), tuple(problems)
    tools = []
    for value, used, span in items:
        try:
            tools.append(_tool_of(value, span, used))
        except _NoToolError as error:
            problems.append(Problem(error.code, Severity.ERROR, str(error), span or place))
    return tuple(tools), tuple(problems)


def _as_tools(problem: Problem) -> Problem:
    """A finding of the YAML reader, which speaks of front matter, about a `tools:` section."""
    what = problem.message.removeprefix("Invalid frontmatter: ")
    return (
        replace(problem, message=f"These tools cannot be read as YAML: {what}")
        if (what != problem.message)
        else problem
    )


def hoist_tools(
    document: PromptDocument, section: BodySection, inputs: Mapping[str, Json]
) -> tuple[tuple[HoistedTool, ...], tuple[Problem, ...]]:
    """The tools of one `tools:` section, their values rendered.

    Args:
        document: The prompt.
        section: The section, as the document has it.
        inputs: Values of the inputs.
    """
    raw = document.source.slice(section.content)
    reader = _Reader(document, inputs, raw, section.content.start)
    return reader.read(), tuple(reader.problems)


def expression_ranges(text: str, form: TemplateFormat) -> Iterator[tuple[int, int]]:
    """Where template expressions stand in a text, in order; an unclosed one counts as text."""
    pairs = _PAIRS[form]
    at = 0
    while pairs:
        found = [(text.find(opening, at), opening, closing) for opening, closing in pairs]
        found = [item for item in found if item[0] >= 0]
        if not found:
            return
        start, opening, closing = min(found, key=lambda item: (item[0], -len(item[1])))
        end = text.find(closing, start + len(opening))
        if end < 0:
            pairs = tuple(pair for pair in pairs if pair[0] != opening)
            continue
        at = end + len(closing)
        yield start, at


def _plain(value: int | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
