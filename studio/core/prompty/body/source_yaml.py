"""Read the YAML of a body with its expressions and references replaced by opaque words.

Each scalar is rendered separately afterwards, so that a value can never become YAML, and an
unquoted `{{…}}` or `[${params:x}]` is valid (docs/design/file-format.md, "Injection defense"). The
keys of a file may replace the reference to it (seed: "Replacement Constructs").
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from studio.core.prompty.body.sections import plain_newlines
from studio.core.prompty.document import FrontMatterEntry, PromptDocument, Segment, TemplateFormat
from studio.core.prompty.reference_values import (
    LookUp,
    Reference,
    as_text,
    find_references,
    is_input,
    source_name,
    whole_reference,
)
from studio.core.prompty.templates import render_template
from studio.core.prompty.yaml.reader import YamlReading, read_yaml
from studio.core.text.source import Problem, Severity, Span
from studio.core.text.values import Json, JsonDict, JsonObject, KeyPath

_OPEN, _FILL = "\ue000", "\ue001"
_BASE, _DIGITS = 0xE100, 4096
_MOST = _DIGITS * _DIGITS
_PAIRS: dict[TemplateFormat, tuple[tuple[str, str], ...]] = {
    "jinja2": (("{{", "}}"), ("{%", "%}"), ("{#", "#}")),
    "mustache": (("{{{", "}}}"), ("{{", "}}")),
    "fstring": (),
}
_REFERENCE = re.compile(r"\$\{[A-Za-z][\w.+-]*:[^{}\n]*\}")
"""Matches references; those of unknown protocols are text, and no YAML either."""
_MERGE = re.compile(r"<<:[ \t]+\Z")
_BEFORE = re.compile(r"(?:^|\n)[ ]*$")
_AFTER = re.compile(r"[ \t]*(?:\r?\n|\r|$)")


@dataclass(slots=True)
class SourceYaml:
    """The YAML of a range of the source, before rendering."""

    document: PromptDocument
    """The prompt."""

    span: Span
    """The range."""

    inputs: JsonObject
    """Values of the inputs."""

    look_up: LookUp | None = None
    """Resolves references; None leaves them as written."""

    problems: list[Problem] = field(default_factory=list)
    """Problems so far, with spans in the source."""

    _holes: list[str] = field(default_factory=list)
    _entries: dict[KeyPath, FrontMatterEntry] = field(default_factory=dict)
    _used: set[str] = field(default_factory=set)

    def read(self) -> tuple[Json, bool]:
        """Read the value with placeholders; return also whether the YAML is broken."""
        reading = self._reading(spreads=True)
        if reading.broken and any(map(whole_reference, self._holes)):
            reading = self._reading(spreads=False)  # no reference's line was read as a mapping
        self.problems += reading.problems
        self._entries = {entry.path: entry for entry in reading.entries}
        return reading.value, reading.broken

    def filled(self, value: Json, path: KeyPath) -> tuple[Json, frozenset[str]]:
        """Return a YAML value with all its scalars rendered, and the inputs that they use."""
        self._used = set()
        made = self._filled(value, path)
        return made, frozenset(name for name in self._used if is_input(name))

    def has_expression(self, value: Json) -> bool:
        """Return whether an unrendered YAML value contains an expression or a reference."""
        return isinstance(value, str) and _OPEN in value

    def place(self, path: KeyPath) -> Span | None:
        """Return the span of a value."""
        entry = self._entries.get(path)
        return entry.value if entry else None

    def _reading(self, *, spreads: bool) -> YamlReading:
        return read_yaml(self._opaque(spreads=spreads), self.span.start)

    def _opaque(self, *, spreads: bool) -> str:
        """Return the YAML with each expression and reference replaced by a word of equal length.

        A reference alone on its line, or after a merge key (`<<:`), is written as a key, so that
        other keys or items can be beside it.
        """
        raw = self.document.source.slice(self.span)
        self._holes = []
        pieces: list[str] = []
        done = 0
        for start, end in _opaque_ranges(raw, self.document.template.format):
            index = len(self._holes)
            if index >= _MOST:
                break
            text = raw[start:end]
            if text.startswith(("{%", "{#")):
                hole = " " * len(text)
            else:
                digits = chr(_BASE + index // _DIGITS) + chr(_BASE + index % _DIGITS)
                hole = (_OPEN + digits).ljust(len(text), _FILL)
                if spreads and whole_reference(text):
                    merge = _MERGE.search(raw, done, start)
                    if merge is not None:
                        hole = hole.ljust(end - merge.start() - 2, _FILL) + ": "
                    elif _is_alone(raw, start, end):
                        hole = hole[:-1] + ":"
                self._holes.append(text)
            pieces += (raw[done : end - len(hole)], hole)
            done = end
        pieces.append(raw[done:])
        return plain_newlines("".join(pieces))

    def _filled(self, value: Json, path: KeyPath) -> Json:
        if isinstance(value, Mapping):
            return self._filled_mapping(value, path)
        if isinstance(value, list):
            return [self._filled(item, (*path, index)) for index, item in enumerate(value)]
        if isinstance(value, str):
            return self._scalar(value, path)
        return value

    def _filled_mapping(self, value: JsonObject, path: KeyPath) -> Json:
        spread: JsonDict = {}
        own: JsonDict = {}
        for key, item in value.items():
            reference = self._reference(key) if item is None else None
            if reference is None:
                own[as_text(self._text(key, path, typed=False))] = self._filled(item, (*path, key))
                continue
            held = self._value_of(reference, path)
            if len(value) == 1:
                return held
            if isinstance(held, Mapping):
                spread |= held
            else:
                own[as_text(held)] = None
                if held != self._restore(key):
                    self._report_spread(reference, (*path, key))
        return {**spread, **own}  # an explicit key takes precedence

    def _scalar(self, text: str, path: KeyPath) -> Json:
        reference = self._reference(text)
        if reference is not None:
            return self._value_of(reference, path)
        return self._text(text, path, typed=not self._is_quoted(path))

    def _text(self, text: str, path: KeyPath, *, typed: bool) -> Json:
        template = self._restore(text)
        form = self.document.template.format
        if template == text and form != "fstring":
            return text
        entry = self._entries.get(path)
        at = entry.value.start if entry else self.span.start
        rendering = render_template(template, self.inputs, format=form, offset=at)
        self.problems += rendering.problems
        segments = [part for each in rendering.segments for part in self._resolved(each)]
        self._used |= {piece.input for piece in segments if piece.input}
        if typed and len(segments) == 1:
            only = segments[0]
            value = self.inputs.get(only.input) if only.input else None
            if isinstance(value, Mapping | list) and only.text == str(value):
                return value
            if isinstance(value, int | float) and only.text == _plain(value):
                return value
        return "".join(segment.text for segment in segments)

    def _resolved(self, segment: Segment) -> Iterator[Segment]:
        """Yield a segment with the references in the author's text resolved."""
        if self.look_up is None or segment.kind != "literal" or "${" not in segment.text:
            yield segment
            return
        done = 0
        for reference in find_references(segment.text):
            # Missing values are reported when the whole body is checked.
            value, found = self.look_up.find(reference, reference.span, [])
            if found:
                yield Segment("literal", segment.text[done : reference.span.start], None)
                yield Segment("value", as_text(value), None, source_name(reference))
                done = reference.span.end
        yield Segment("literal", segment.text[done:], None)

    def _reference(self, text: str) -> Reference | None:
        """Return the reference that makes up a whole scalar; None if it contains anything else."""
        if not text.startswith(_OPEN) or len(text) < 3 or text[3:].strip(_FILL):
            return None
        hole = self._hole_at(text, 0)
        return whole_reference(hole) if hole else None

    def _value_of(self, reference: Reference, path: KeyPath) -> Json:
        written = self._written(reference)
        if self.look_up is None:
            return written
        place = self.place(path) or self.span
        value, found = self.look_up.find(reference, place, [])
        if not found:
            return written
        self._used.add(source_name(reference))
        return self.look_up.find_all(value, place, self.problems)

    def _written(self, reference: Reference) -> str:
        return next(hole for hole in self._holes if whole_reference(hole) == reference)

    def _restore(self, text: str) -> str:
        """Return the template that a scalar stands for."""
        if _OPEN not in text:
            return text
        pieces: list[str] = []
        at = 0
        while (start := text.find(_OPEN, at)) >= 0 and start + 2 < len(text):
            hole = self._hole_at(text, start)
            if hole is None:
                break
            pieces += (text[at:start], hole)
            at = start + len(hole)
            while text.startswith(_FILL, at):  # a placeholder that also replaced a merge key
                at += 1
        return "".join((*pieces, text[at:]))

    def _hole_at(self, text: str, start: int) -> str | None:
        index = (ord(text[start + 1]) - _BASE) * _DIGITS + ord(text[start + 2]) - _BASE
        return self._holes[index] if 0 <= index < len(self._holes) else None

    def _is_quoted(self, path: KeyPath) -> bool:
        entry = self._entries.get(path)
        return entry is not None and self.document.source.text[entry.value.start] in "\"'|>"

    def _report_spread(self, reference: Reference, path: KeyPath) -> None:
        message = f"{self._written(reference)} returns no keys and values, which are needed here."
        entry = self._entries.get(path)
        self.problems.append(
            Problem("tool-options", Severity.ERROR, message, entry.key if entry else self.span)
        )


def _is_alone(raw: str, start: int, end: int) -> bool:
    line = raw.rfind("\n", 0, start) + 1
    return _BEFORE.search(raw[line:start]) is not None and _AFTER.match(raw, end) is not None


def _opaque_ranges(raw: str, form: TemplateFormat) -> Iterator[tuple[int, int]]:
    """Yield the spans of expressions, and of references outside them, in order."""
    expressions = list(expression_ranges(raw, form))
    references = [found.span() for found in _REFERENCE.finditer(raw)] if "${" in raw else []
    end = 0
    for range_ in sorted((*expressions, *references)):
        if range_[0] >= end:
            yield range_
            end = range_[1]


def expression_ranges(text: str, form: TemplateFormat) -> Iterator[tuple[int, int]]:
    """Yield the spans of the template expressions in a text; an unclosed one is text."""
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
