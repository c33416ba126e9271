"""Assertions on JSON, XML and HTML in an answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from xml.parsers import expat

import regex

from studio.core.experiments.assertions.result import CellAnswer, UndecidedError, Verdict
from studio.core.experiments.assertions.text import TextDecision
from studio.core.experiments.values import AssertionSpec
from studio.core.patterns import with_bounded_patterns
from studio.core.prompty.yaml.reader import read_yaml
from studio.core.text.source import Span
from studio.core.text.values import Json, JsonObject, parse_json, reason_of

_MOST_OBJECTS = 200


def decide_json(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check that the answer is or contains JSON (`is-json`, `contains-json`) that fits a schema."""
    schema = _schema(value)
    if spec.type == "is-json":
        try:
            found: Json = parse_json(answer.text)
        except ValueError as error:
            where = getattr(error, "pos", 0)
            return Verdict(
                False, f"The answer is not JSON: {reason_of(error)}.", span=Span(where, where + 1)
            )
        return _fits(found, schema, Span(0, len(answer.text)))
    worst = Verdict(False, "The answer contains no JSON.")
    for part, span in objects_in(answer.text):
        verdict = _fits(part, schema, span)
        if verdict.passed:
            return verdict
        worst = verdict
    return worst


def objects_in(text: str) -> Iterator[tuple[Json, Span]]:
    """Yield every outermost JSON object and list in a text."""
    decoder = json.JSONDecoder()
    at = tries = 0
    while tries < _MOST_OBJECTS:
        starts = [found for found in (text.find("{", at), text.find("[", at)) if found >= 0]
        if not starts:
            return
        start = min(starts)
        tries += 1
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            at = start + 1
            continue
        yield value, Span(start, end)
        at = end


def _schema(value: Json) -> JsonObject | None:
    if value is None:
        return None
    if isinstance(value, str):
        value = read_yaml(value).value
    if not isinstance(value, Mapping):
        raise UndecidedError("The schema is not a JSON object.")
    return value


def _fits(value: Json, schema: JsonObject | None, span: Span) -> Verdict:
    if schema is None:
        return Verdict(True, "It is JSON.", span=span)
    validator = _validator(json.dumps(schema, sort_keys=True))
    try:
        error = next(iter(validator.iter_errors(value)), None)
    except Exception as problem:
        raise UndecidedError(f"The schema cannot be applied: {problem}") from problem
    if error is None:
        return Verdict(True, "The JSON matches the schema.", span=span)
    where = "/".join(str(each) for each in error.absolute_path)
    place = f" at {where}" if where else ""
    return Verdict(False, f"The JSON does not match the schema{place}: {error.message}", span=span)


@lru_cache(maxsize=64)
def _validator(text: str) -> Any:  # noqa: ANN401 - a class that jsonschema chooses
    from jsonschema import FormatChecker, SchemaError
    from jsonschema.validators import Draft202012Validator, validator_for
    from referencing import Registry

    schema = json.loads(text)
    kind: Any = with_bounded_patterns(validator_for(schema, default=Draft202012Validator))
    try:
        kind.check_schema(schema, FormatChecker(formats=()))  # the `regex` format uses `re`
    except SchemaError as error:
        raise UndecidedError(f"The schema is invalid: {error.message}") from error
    # Nothing is downloaded: an empty registry knows no schema but this one.
    return kind(schema, registry=Registry(), format_checker=kind.FORMAT_CHECKER)


# Assertions on XML and HTML in an answer, with promptfoo's meaning.


@dataclass(slots=True)
class XmlElement:
    """An XML element with its child elements by name."""

    children: dict[str, list[XmlElement]] = field(default_factory=dict)
    """Children by name, including attributes as `@_name`."""

    has_text: bool = False
    """Whether it contains text."""

    def add(self, name: str) -> XmlElement:
        """Add a child element."""
        made = XmlElement()
        self.children.setdefault(name, []).append(made)
        return made

    def has(self, path: Sequence[str]) -> bool:
        """Return whether the path leads to an element: `a.b`, or `a.0.b` if there are many `a`."""
        found = [self]
        for name in path:
            if len(found) > 1:
                if not name.isdecimal() or str(int(name)) != name or int(name) >= len(found):
                    return False
                found = [found[int(name)]]
                continue
            here = found[0]
            if name == "#text" and here.children and here.has_text:
                found = [XmlElement()]
                continue
            found = here.children.get(name, [])
            if not found:
                return False
        return True


def decide_xml(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check that the answer is or contains XML (`is-xml`, `contains-xml`) with given elements."""
    wanted = _wanted(value)
    if spec.type == "is-xml":
        return _whole(answer.text, wanted)
    missing: list[str] = []
    for part, span in xml_parts(answer.text):
        missing = [each for each in wanted if not part.has(each.split("."))]
        if not missing:
            return Verdict(True, "It contains XML.", span=span)
    if missing:
        return Verdict(False, f"No XML in the answer has {', '.join(missing)}.")
    return Verdict(False, "The answer contains no XML.")


def _wanted(value: Json) -> list[str]:
    if isinstance(value, Mapping) and value:
        value = value.get("requiredElements")
        if not isinstance(value, list):
            raise UndecidedError("The value is a text, a list, or {requiredElements: [a.b]}.")
    if isinstance(value, str):
        return [each.strip() for each in value.split(",")]
    return [str(each) for each in value] if isinstance(value, list) else []


# The whole answer ---------------------------------------------------------------------------------


class _OwnDeclarationsError(Exception):
    """Raised when the document declares entities or elements."""


def _whole(text: str, wanted: Sequence[str]) -> Verdict:
    root = XmlElement()
    stack = [root]
    parser = expat.ParserCreate("utf-8", " ")
    parser.namespace_prefixes = True

    def begin(name: str, attributes: dict[str, str]) -> None:
        made = stack[-1].add(_written(name))
        for each in attributes:
            made.add(f"@_{_written(each)}")
        stack.append(made)

    def words(found: str) -> None:
        stack[-1].has_text = stack[-1].has_text or bool(found.strip())

    def doctype(name: str, system: str | None, public: str | None, has_own: int) -> None:
        if has_own:
            raise _OwnDeclarationsError

    parser.StartElementHandler = begin
    parser.EndElementHandler = lambda _: stack.pop()
    parser.CharacterDataHandler = words
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(text.encode("utf-8", "surrogatepass"), True)
    except _OwnDeclarationsError:
        return Verdict(False, "The document type has declarations, which are ignored.")
    except expat.ExpatError as error:
        statement = expat.ErrorString(error.code)
        reason = (
            f"The answer is not XML: {statement} (line {error.lineno}, column {error.offset + 1})."
        )
        return Verdict(False, reason)
    missing = [each for each in wanted if not root.has(each.split("."))]
    if missing:
        return Verdict(False, f"The XML has no {', '.join(missing)}.")
    return Verdict(True, "The answer is XML.", span=Span(0, len(text)))


def _written(name: str) -> str:
    """Return a name with its prefix as written; expat gives `namespace name prefix`."""
    parts = name.split(" ")
    return f"{parts[2]}:{parts[1]}" if len(parts) == 3 else parts[-1]


# XML in any text ----------------------------------------------------------------------------------

_TAG = regex.compile(
    r"<!--(?:(?!-->).)*+(?:-->)?|<!\[CDATA\[(?:(?!\]\]>).)*+(?:\]\]>)?|<\?(?:(?!\?>).)*+(?:\?>)?"
    r"|<!(?:[^>\"']|\"[^\"]*+\"|'[^']*+')*+>?"
    r"|<(?P<closes>/?)(?P<name>[^\W\d][\w:.\-]*+|:[\w:.\-]*+)"
    r"(?P<rest>(?:[^<>\"']|\"[^\"]*+\"|'[^']*+')*+)>",
    regex.DOTALL,
)
_ATTRIBUTE = regex.compile(r"[\s]([^\s=/\"']++)(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'))?")


@dataclass(slots=True)
class _OpenTag:
    """A tag that is not closed yet, or the text itself."""

    name: str
    start: int
    element: XmlElement
    closed: list[tuple[str, XmlElement, Span]] = field(default_factory=list)
    """The closed elements in it: name, element and span."""


def xml_parts(text: str) -> Iterator[tuple[XmlElement, Span]]:
    """Yield every outermost XML element of a text; adjacent ones are one part."""
    parts: list[list[tuple[str, XmlElement, Span]]] = []
    outside = _OpenTag("", 0, XmlElement())
    stack = [outside]
    for found in _TAG.finditer(text):
        name = found["name"]
        if name is None:
            continue
        if found["closes"]:
            if len(stack) > 1 and stack[-1].name == name:
                _close(stack, found.end())
            else:  # a stray closing tag: the tags open before it are never closed
                parts += [each.closed for each in stack[1:]]
                del stack[1:]
            continue
        element = XmlElement()
        for attribute in _ATTRIBUTE.finditer(found["rest"]):
            element.add(f"@_{attribute[1]}")
        stack.append(_OpenTag(name, found.start(), element))
        if found["rest"].rstrip().endswith("/"):
            _close(stack, found.end())
    parts += [each.closed for each in stack]
    for part in sorted((each for each in parts if each), key=lambda each: each[0][2].start):
        whole = XmlElement()
        for name, element, _ in part:
            whole.children.setdefault(name, []).append(element)
        yield whole, Span(part[0][2].start, part[-1][2].end)


def _close(stack: list[_OpenTag], end: int) -> None:
    tag = stack.pop()
    for name, element, _ in tag.closed:
        tag.element.children.setdefault(name, []).append(element)
    stack[-1].closed.append((tag.name, tag.element, Span(tag.start, end)))


# HTML ---------------------------------------------------------------------------------------------

_LONGEST_HTML = 10_485_760
_OPENING = regex.compile(r"<[a-zA-Z][a-zA-Z0-9\-]*+(?:\s[^>]*+)?+>")
_CLOSING = regex.compile(r"</[a-zA-Z][a-zA-Z0-9\-]*+\s*+>")
_EMPTY = regex.compile(r"<[a-zA-Z][a-zA-Z0-9\-]*+(?:/\Z|\s)")
"""Matches a tag that closes itself, in a piece of text that ends with `/` before a `>`."""

_SIGNS: tuple[tuple[int, regex.Pattern[str]], ...] = (
    (1, regex.compile(r"&(?:[a-zA-Z]++|#[0-9]++|#x[0-9a-fA-F]++);")),
    (2, regex.compile(r"(?i)<!DOCTYPE\s++html")),
    (1, regex.compile(r"<!--[^\-]*+(?:-[^\-]++)*+-->")),
    (1, regex.compile(r"\s[a-zA-Z\-]++=\s*+[\"'][^\"']*+[\"']")),
    (
        2,
        regex.compile(
            r"(?ai)<(?:html|head|body|div|span|p|a|img|h[1-6]|ul|ol|li|table|tr|td|th|form|input"
            r"|button|script|style|link|meta|br|hr)\b"
        ),
    ),
)
"""Patterns of HTML, with their weights."""


def decide_contains_html(spec: AssertionSpec, value: Json, answer: CellAnswer) -> Verdict:
    """Check that the answer contains HTML: two weak signs, or one clear one."""
    text = answer.text
    if len(text) > _LONGEST_HTML:
        return Verdict(False, "The answer is too long to look for HTML in it.")
    # Only up to the last `>`: each `<a ` without one would be searched to the text's end.
    tags = [_OPENING.search(text, 0, text.rfind(">") + 1), _CLOSING.search(text)]
    found = sum(tag is not None for tag in tags)
    pieces = text.split(">")[:-1]
    found += any(each.endswith("/") and _EMPTY.search(each) is not None for each in pieces)
    found += sum(weight for weight, sign in _SIGNS if sign.search(text))
    if found < 2:
        return Verdict(False, "The answer contains no HTML.")
    first = tags[0] or tags[1]
    place = Span(first.start(), first.end()) if first is not None else None
    return Verdict(True, "The answer contains HTML.", span=place)


MARKUP: Mapping[str, TextDecision] = {
    "contains-html": decide_contains_html,
    "contains-xml": decide_xml,
    "is-xml": decide_xml,
}
"""Function for each type of assertion."""
