"""The tools of the body's `tools:` section: rendered, resolved, and parsed (seed: "Tools").

Values never become structure: every value is one opaque word while YAML is read, so it cannot
become a key, a list item or another line (docs/design/file-format.md). If loops or conditions
decide which tools exist, the template is rendered first; otherwise each scalar is rendered by
itself (`source_yaml`).
"""

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from studio.core.prompty.body.content import cut
from studio.core.prompty.body.source_yaml import SourceYaml
from studio.core.prompty.document import (
    BodySection,
    FrontMatterEntry,
    HoistedTool,
    PromptDocument,
    Segment,
)
from studio.core.prompty.reference_values import LookUp, is_input, whole_reference
from studio.core.prompty.yaml.reader import YamlReading, read_yaml
from studio.core.text.source import Problem, Severity, Span
from studio.core.text.values import Json, JsonDict, JsonObject, KeyPath

_OPEN, _CLOSE = "\ue000", "\ue001"
_DIGITS = str.maketrans("0123456789", "".join(chr(0xE010 + digit) for digit in range(10)))
_BACK = {new: old for old, new in _DIGITS.items()}
_WORD = re.compile(f"{_OPEN}([\ue010-\ue019]{{1,9}}){_CLOSE}")
_WORD_AND_COLON = re.compile(f"{_WORD.pattern}(:?)")
_END_OF_LINE = re.compile(r"[ \t]*(?:\r|\n|$)")
_SCALAR = re.compile(r"true|false|-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?")


class RenderedYaml:
    """The YAML of a range of a rendering."""

    def __init__(self, pieces: Sequence[Segment], inputs: JsonObject) -> None:
        self._pieces = tuple(pieces)
        self._inputs = inputs
        self._spread = frozenset(_spreads(self._pieces))
        reading = self._read()
        if reading.broken and self._spread:
            self._spread = frozenset()  # no reference's line was read as a mapping
            reading = self._read()
        self._entries: dict[KeyPath, FrontMatterEntry] = {
            entry.path: entry for entry in reading.entries
        }
        self._raw = reading.value
        self.broken = reading.broken
        """Whether there was a syntax error, so that values may be missing."""
        self.problems: tuple[Problem, ...] = reading.problems
        """Problems with offsets of the opaque text; `source` maps them back."""

    def _read(self) -> YamlReading:
        texts = [
            _opaque(piece, index) + (":" if index in self._spread else "")
            for index, piece in enumerate(self._pieces)
        ]
        self._starts = [0, *accumulate(map(len, texts))]
        self._text = "".join(texts)
        return read_yaml(self._text)

    @property
    def value(self) -> Json:
        """The whole value, with rendered values inserted."""
        return self._filled(self._raw, (), set())

    def items(self) -> list[tuple[Json, frozenset[str], Span | None]] | None:
        """Return a list's items, each with its used inputs and span; None if it is no list."""
        if not isinstance(self._raw, list):
            return None
        found = []
        for index, item in enumerate(self._raw):
            used: set[str] = set()
            value = self._filled(item, (index,), used)
            entry = self._entries.get((index,))
            place = self.source(entry.value) if entry else None
            found.append((value, frozenset(filter(is_input, used)), place))
        return found

    def source(self, span: Span) -> Span | None:
        """Return the template source of a span in the opaque text."""
        last = max(span.end, span.start + 1)
        spans = []
        first = max(0, bisect_right(self._starts, span.start) - 1)
        for index in range(first, bisect_left(self._starts, last, first, len(self._pieces))):
            piece, start = self._pieces[index], self._starts[index]
            if piece.kind == "literal":
                place = cut(piece, max(0, span.start - start), last - start).span
            else:
                place = piece.span
            spans += [] if place is None else [place]
        return spans[0].cover(spans[-1]) if spans else None

    def _filled(self, value: Json, path: KeyPath, used: set[str]) -> Json:
        if isinstance(value, Mapping):
            return self._filled_mapping(value, path, used)
        if isinstance(value, list):
            return [self._filled(item, (*path, index), used) for index, item in enumerate(value)]
        if not isinstance(value, str):
            return value
        only = _WORD.fullmatch(value)
        if only is not None and not self._is_quoted(path):
            piece = self._piece(only)
            if piece is not None:
                used |= {piece.input} if piece.input else set()
                return self._typed(piece)
        return self._put_in(value, used)

    def _filled_mapping(self, value: JsonObject, path: KeyPath, used: set[str]) -> Json:
        spread: JsonDict = {}
        own: JsonDict = {}
        for key, item in value.items():
            word = _WORD.fullmatch(key) if item is None else None
            piece = self._piece(word) if word is not None else None
            if word is not None and piece is not None and _index(word) in self._spread:
                used |= {piece.input} if piece.input else set()
                if len(value) == 1:
                    return piece.value
                if isinstance(piece.value, Mapping):
                    spread |= piece.value
                    continue
            own[self._put_in(key, used)] = self._filled(item, (*path, key), used)
        return {**spread, **own}  # an explicit key takes precedence

    def _typed(self, piece: Segment) -> Json:
        """Return the value of a single input; a text that looks like a number stays text."""
        if piece.value is not None:
            return piece.value
        own = self._inputs.get(piece.input) if piece.input else None
        if isinstance(own, list | Mapping) and piece.text == str(own):
            return own
        if isinstance(own, str) or not _SCALAR.fullmatch(piece.text):
            return piece.text
        value: Json = json.loads(piece.text)
        return value

    def _put_in(self, text: str, used: set[str]) -> str:
        def rendered(word: re.Match[str]) -> str:
            piece = self._piece(word)
            if piece is None:
                return word[0]
            used.update({piece.input} if piece.input else set())
            return piece.text + ("" if _index(word) in self._spread else word[2])

        return _WORD_AND_COLON.sub(rendered, text) if _OPEN in text else text

    def _piece(self, word: re.Match[str]) -> Segment | None:
        index = _index(word)
        is_value = index < len(self._pieces) and self._pieces[index].kind != "literal"
        return self._pieces[index] if is_value else None

    def _is_quoted(self, path: KeyPath) -> bool:
        entry = self._entries.get(path)
        start = entry.value.start if entry else 0
        return entry is not None and self._text[start : start + 1] in ('"', "'", "|", ">")


def _index(word: re.Match[str]) -> int:
    return int(word[1].translate(_BACK))


def _spreads(pieces: Sequence[Segment]) -> Iterator[int]:
    """Yield the pieces that contain a mapping or a list and are alone on their line.

    They are written as a key, so that other keys or items can be beside them.
    """
    for index, piece in enumerate(pieces):
        if not isinstance(piece.value, Mapping | list):
            continue
        before = pieces[index - 1].text if index else ""
        after = pieces[index + 1].text if index + 1 < len(pieces) else ""
        line = before[before.rfind("\n") + 1 :] if "\n" in before or index <= 1 else "-"
        if not line.strip(" ") and _END_OF_LINE.match(after):
            yield index


def _opaque(piece: Segment, index: int) -> str:
    if piece.kind == "literal":
        return piece.text.replace("\r\n", " \n").replace("\r", "\n")
    return f"{_OPEN}{str(index).translate(_DIGITS)}{_CLOSE}"


_OWN_KEYS = ("id", "name", "type", "kind", "options", "function")


class _NoToolError(Exception):
    """Raised for an item that is no tool; `code` is the problem's code, the text its message."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def hoist_tools(
    document: PromptDocument,
    section: BodySection,
    inputs: JsonObject,
    look_up: LookUp | None = None,
) -> tuple[tuple[HoistedTool, ...], tuple[Problem, ...]]:
    """Return the tools of a `tools:` section without loops and conditions.

    Args:
        document: The prompt.
        section: The section, as the document has it.
        inputs: Values of the inputs.
        look_up: Resolves references; None leaves them as written.
    """
    yaml = SourceYaml(document, section.content, inputs, look_up)
    value, is_broken = yaml.read()
    yaml.problems[:] = map(_as_tools, yaml.problems)
    raw = document.source.slice(section.content)
    whole = Span(section.content.start, section.content.start + len(raw.rstrip()))
    tools: list[HoistedTool] = []
    if isinstance(value, list):
        for index, item in enumerate(value):
            made, used = yaml.filled(item, (index,))
            waits = isinstance(item, Mapping) and yaml.has_expression(item.get("id"))
            place = yaml.place((index,))
            _add_tool(tools, yaml.problems, made, used, place, whole, waits=waits)
        return tuple(tools), tuple(yaml.problems)
    held, used = yaml.filled(value, ())  # one reference may be the whole list
    if isinstance(held, list):
        for item in held:
            _add_tool(tools, yaml.problems, item, used, None, whole)
    elif value is not None or not is_broken:
        _add_not_list(yaml.problems, held, whole)
    return tuple(tools), tuple(yaml.problems)


def hoist_rendered(
    yaml: RenderedYaml, place: Span
) -> tuple[tuple[HoistedTool, ...], tuple[Problem, ...]]:
    """Return the tools of a `tools:` section whose loops and conditions were rendered.

    Args:
        yaml: The rendered content of the section.
        place: Span of the section, for tools without their own span.
    """
    problems = [
        replace(_as_tools(problem), span=yaml.source(problem.span) or place, fixes=())
        for problem in yaml.problems
    ]
    items = yaml.items()
    if items is None:
        if yaml.value is not None:
            _add_not_list(problems, yaml.value, place)
        return (), tuple(problems)
    tools: list[HoistedTool] = []
    for value, used, span in items:
        _add_tool(tools, problems, value, used, span, place)
    return tuple(tools), tuple(problems)


def has_statements(document: PromptDocument, section: BodySection) -> bool:
    """Return whether the template (a loop, a condition) decides which tools exist."""
    raw = document.source.slice(section.content)
    match document.template.format:
        case "jinja2":
            return "{%" in raw
        case "mustache":
            return "{{#" in raw or "{{^" in raw
        case "fstring":
            return False


def _add_not_list(problems: list[Problem], value: Json, place: Span) -> None:
    """Report that a section is not a list, or that a reference in it has no value."""
    if isinstance(value, str) and whole_reference(value) is not None:
        return
    message = "A tools: section must contain a list of tools."
    problems.append(Problem("tools-not-list", Severity.ERROR, message, place))


def _add_tool(
    tools: list[HoistedTool],
    problems: list[Problem],
    value: Json,
    used: Collection[str],
    span: Span | None,
    section: Span,
    *,
    waits: bool = False,
) -> None:
    """Add a tool; `waits` means that its id is an expression that may have no value yet."""
    try:
        tools.append(_tool_of(value, span, used))
    except _NoToolError as error:
        severity, text = Severity.ERROR, str(error)
        if error.code == "tool-without-id" and waits:
            severity = Severity.WARNING
            text = "The id of this tool has no value here, and the tool is left out."
        problems.append(Problem(error.code, severity, text, span or section))


def _tool_of(rendered: Json, span: Span | None, used: Collection[str]) -> HoistedTool:
    """Return the tool of a rendered item.

    Raises:
        _NoToolError: the item is no tool.
    """
    if not isinstance(rendered, Mapping):
        raise _NoToolError("tool-shape", "A tool is a mapping with id, type and options.")
    function = rendered.get("function")
    if isinstance(function, Mapping):
        rendered = {**rendered, **function}
    name = rendered.get("id", rendered.get("name"))
    if isinstance(name, int | float) and not isinstance(name, bool):
        name = str(name)  # `id: 3` is the id "3"
    if not isinstance(name, str) or not name:
        raise _NoToolError("tool-without-id", "This tool has no id; add one.")
    kind = rendered.get("type", rendered.get("kind"))
    options, reference = rendered.get("options"), ""
    if isinstance(options, str) and whole_reference(options) is not None:
        reference = options
    elif options is not None and not isinstance(options, Mapping):
        what = f"The options of the tool {name!r} are keys and values, not {options!r}."
        raise _NoToolError("tool-options", what)
    rest = {key: value for key, value in rendered.items() if key not in _OWN_KEYS}
    return HoistedTool(
        name,
        "function" if kind is None else str(kind),
        {**rest, **options} if isinstance(options, Mapping) else rest,
        span,
        tuple(sorted(used)),
        reference,
    )


def _as_tools(problem: Problem) -> Problem:
    """Return a problem of YAML reworded for a `tools:` section instead of front matter."""
    what = problem.message.removeprefix("Invalid frontmatter: ")
    return (
        replace(problem, message=f"These tools cannot be read as YAML: {what}")
        if (what != problem.message)
        else problem
    )
