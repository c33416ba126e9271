"""Read YAML as plain values with the span of every key; the only module that imports yaml.

It uses libyaml's events, so that nesting, aliases and size are limited before values are created,
and the readable part of incomplete front matter is returned.
"""

import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml
from yaml.constructor import ConstructorError, SafeConstructor
from yaml.resolver import Resolver

from studio.core.prompty.document import FrontMatterEntry
from studio.core.prompty.yaml.mistakes import explain_yaml
from studio.core.prompty.yaml.tree import STRING_TAGS, NoReference, TreeBuilder, YamlEvent
from studio.core.text.source import Fix, Problem, Severity, Span, TextEdit
from studio.core.text.values import Json, JsonDict

MAX_DEPTH = 100
"""Maximum depth of nesting."""

MAX_NODES = 50_000
"""Maximum number of values; an alias counts as all of its values."""

_NESTING_LIMIT = "maximum nesting"
"""Message of libyaml 0.2.6 (PyYAML 6.0.4) for brackets beyond its own limit; 0.2.5 has none."""

_RETRIES = 3
_MOST_BITS = 14_000
_NOT_YAML = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SUSPECT = re.compile("[\t\u2028\u2029\x85]|[|>][-+0-9]*#|(?:^|[\\s\\[{,])!", re.MULTILINE)
_QUOTED = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'")
_FLOW_QUESTION = re.compile(r"[\[{][^\]}]*\?")
_UNSEEN = "\u200b\u200c\u200d\ufeff"
_ODD = "\u00a0\u2000-\u200d\u202f\u205f\u3000\ufeff"
_ODD_INDENT = re.compile(f"(?m)^([ ]*[{_ODD}][ {_ODD}]*)")
"""Matches leading blanks that are not all spaces: pasted from a web page or a chat."""
_TAB_INDENT = re.compile(r"(?m)^( *)(\t[\t ]*)(?=\S)")
_RESOLVERS = Resolver.yaml_implicit_resolvers
_CONSTRUCTOR = SafeConstructor()


@dataclass(frozen=True, slots=True)
class YamlReading:
    """The readable part of a YAML text."""

    value: Json
    """Plain value; None for an empty text."""

    entries: tuple[FrontMatterEntry, ...]
    """All keys and list items, in source order."""

    problems: tuple[Problem, ...]
    """Syntax errors, duplicate keys and the like, in the order found."""

    broken: bool
    """Whether there was a syntax error, so that `value` may be incomplete."""


def read_yaml(text: str, offset: int = 0) -> YamlReading:
    """Read one YAML document.

    Args:
        text: The YAML.
        offset: Start of `text` in the source, added to all spans.
    """
    problems: list[Problem] = []
    text = _replace_unreadable(text, offset, problems)
    text = _replace_odd_blanks(text, offset, problems)
    attempt = text
    for _ in range(_RETRIES + 1):
        tree = TreeBuilder(attempt, offset, _resolve, _construct)
        error = _run(tree)
        if error is None:
            break
        if attempt is text:
            problems.append(error)
        shorter = _blank_line(attempt, error.span.start - offset)
        if shorter == attempt or error.code == "yaml-too-large":
            break
        attempt = shorter
    if error is None and attempt is text and _is_suspect(text):
        problems += _refused_by_pyyaml(tree)
    problems += tree.problems
    broken = attempt is not text or error is not None
    return YamlReading(tree.value, tuple(tree.entries), tuple(problems), broken)


def _is_suspect(text: str) -> bool:
    if _SUSPECT.search(text) is not None:
        return True
    return "?" in text and _FLOW_QUESTION.search(_QUOTED.sub('""', text)) is not None


def _refused_by_pyyaml(tree: TreeBuilder) -> list[Problem]:
    """Return problems of text that libyaml accepts but PyYAML, used by Prompty, rejects.

    PyYAML's own reader is slow, so it only reads texts with one of the few known differences (found
    by reading random texts with both).
    """
    try:
        for _ in yaml.parse(tree.text, Loader=yaml.SafeLoader):
            pass
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = min(mark.index if mark is not None else 0, len(tree.text))
        if tree.text[at : at + 1] == "\t":
            return [_tab_at(tree, at)]
        entry = next((e for e in reversed(tree.entries) if _spans(e.value, at + tree.offset)), None)
        message = "Prompty's runtimes read with PyYAML, which refuses this"
        if entry is None:
            end = tree.text.find("\n", at)
            place = Span(at, len(tree.text) if end < 0 else end)
            return [tree.problem("yaml-portable", f"{message}.", place)]
        written = tree.text[entry.value.start - tree.offset : entry.value.end - tree.offset]
        quoted = TextEdit(entry.value, json.dumps(written, ensure_ascii=False))
        fix = (Fix("Quote it", (quoted,)),) if "\n" not in written else ()
        if written[:1] in ("{", "[", '"', "'", "|", ">", "&", "!"):
            fix = ()
        message += "; put it in quotes." if fix else "."
        return [Problem("yaml-portable", Severity.ERROR, message, entry.value, fix)]
    except yaml.YAMLError:
        message = "Prompty's runtimes read with PyYAML, which refuses this front matter."
        return [tree.problem("yaml-portable", message, Span(0, 0))]
    return []


def _spans(place: Span, at: int) -> bool:
    return place.start <= at <= place.end and len(place) > 0


def _tab_at(tree: TreeBuilder, at: int) -> Problem:
    end = at
    while tree.text[end : end + 1] in ("\t", " "):
        end += 1
    place = Span(at, end).shift(tree.offset)
    message = (
        "Invalid frontmatter: PyYAML, as Prompty's runtimes have it, does not accept a tab here."
    )
    fix = Fix("Write a space", (TextEdit(place, " "),))
    return Problem("yaml-tab", Severity.ERROR, message, place, (fix,))


def plain_scalar(text: str) -> Json:
    """Return the value of an unquoted scalar in YAML 1.1 (`true`, `12`, `null`, text)."""
    return _construct(_resolve(text), text)


def write_yaml(value: Json) -> list[str]:
    """Return a value as lines of block-style YAML, with keys in order."""
    text = yaml.dump(
        plain(value),
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=False,
        width=10_000,
    )
    lines = text.rstrip("\n").split("\n")
    return lines[:-1] if lines[-1] == "..." else lines


class _Dumper(yaml.SafeDumper):
    """A YAML dumper that writes a dollar sign outside of references as an escape."""

    def write_double_quoted(self, text: str, split: bool = True) -> None:
        stream, self.stream = self.stream, (part := io.StringIO())
        super().write_double_quoted(text, split)
        is_text = isinstance(text, NoReference)
        stream.write(part.getvalue().replace("${", "\\x24{") if is_text else part.getvalue())
        self.stream = stream


_Dumper.add_representer(
    NoReference,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'),
)


def plain(value: Json) -> Json:
    """Return a copy with standard types and no shared objects, which would become anchors."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def _replace_unreadable(text: str, offset: int, problems: list[Problem]) -> str:
    """Return the text with characters that YAML forbids replaced by U+FFFD; report the first."""
    found = _NOT_YAML.search(text)
    if found is None:
        return text
    place = Span(offset + found.start(), offset + found.end())
    message = f"The character U+{ord(found[0]):04X} is not allowed in YAML; remove it."
    fix = Fix("Remove the character", (TextEdit(place, ""),))
    problems.append(Problem("yaml-character", Severity.ERROR, message, place, (fix,)))
    return _NOT_YAML.sub("\ufffd", text)


def _replace_odd_blanks(text: str, offset: int, problems: list[Problem]) -> str:
    """Return the text with other blanks that indent keys replaced by spaces; report the first."""
    places = [Span(*found.span(1)) for found in _ODD_INDENT.finditer(text)]
    if not places:
        return text
    right = _ODD_INDENT.sub(lambda found: " " * len(found[1]), text)
    if not _indents_keys(places, text, right):
        return text
    edits = []
    for place in places:
        odd = text[place.start : place.end]
        plain = "".join("" if each in _UNSEEN else " " for each in odd)
        edits.append(TextEdit(place.shift(offset), plain))
    first = places[0].shift(offset)
    message = "YAML is indented with spaces, but these are other blanks (U+{:04X}).".format(
        ord(next(each for each in text[places[0].start : places[0].end] if each != " "))
    )
    fix = Fix("Write spaces", tuple(edits))
    problems.append(Problem("yaml-character", Severity.ERROR, message, first, (fix,)))
    return right


def _indents_keys(places: Sequence[Span], text: str, right: str) -> bool:
    """Return whether such blanks precede keys or dashes; in a value's text they are allowed.

    Args:
        places: the blanks.
        text: the YAML.
        right: the text with spaces in their place.
    """
    tree = TreeBuilder(text, 0, _resolve, _construct)
    if _run(tree) is not None:
        return _run(TreeBuilder(right, 0, _resolve, _construct)) is None
    odd = {place.end - len(text[place.start : place.end].lstrip(" ")): place for place in places}
    return any(
        each.key.start in odd
        or (each.value.start in odd and text.startswith("- ", odd[each.value.start].end))
        for each in tree.entries
    )


def _blank_line(text: str, at: int) -> str:
    """Return the text with the line at `at` (or the last nonblank one before) blanked."""
    at = max(0, min(at, len(text)))
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    while True:
        start = text.rfind("\n", 0, end) + 1
        if text[start:end].strip():
            return text[:start] + " " * (end - start) + text[end:]
        if start == 0:
            return text
        end = start - 1


def _run(tree: TreeBuilder) -> Problem | None:
    """Read all events; return the problem that ended it early, if any."""
    try:
        for event in yaml.parse(tree.text, Loader=yaml.CSafeLoader):
            if isinstance(event, yaml.DocumentStartEvent) and tree.has_value:
                message = "Only the first YAML document is read; remove the second one."
                tree.problems.append(tree.problem("yaml-documents", message, _place(event)))
                return None
            _take(tree, event)
            if tree.nodes > MAX_NODES or tree.depth > MAX_DEPTH:
                what = "deeply nested" if tree.depth > MAX_DEPTH else "large"
                return _too_large(tree, what, _place(event).start)
    except yaml.MarkedYAMLError as error:
        if _NESTING_LIMIT in (error.problem or ""):
            mark = error.problem_mark or error.context_mark
            return _too_large(tree, "deeply nested", mark.index if mark is not None else 0)
        return _syntax_problem(tree, error)
    except yaml.YAMLError:
        message = "Invalid frontmatter: it is not valid YAML."
        return tree.problem("yaml-syntax", message, Span(0, 0))
    return None


def _take(tree: TreeBuilder, event: YamlEvent) -> None:
    match event:
        case yaml.ScalarEvent():
            tree.scalar(event)
        case yaml.MappingStartEvent():
            tree.open(event, {}, None)
        case yaml.SequenceStartEvent():
            tree.open(event, None, [])
        case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
            tree.close(event)
        case yaml.AliasEvent():
            tree.alias(event)


def _too_large(tree: TreeBuilder, what: str, start: int) -> Problem:
    message = (
        f"This YAML is too {what} to be read completely (at most {MAX_NODES} values, "
        f"{MAX_DEPTH} levels)."
    )
    return tree.problem("yaml-too-large", message, Span(start, start))


def _syntax_problem(tree: TreeBuilder, error: yaml.MarkedYAMLError) -> Problem:
    what = str(error.problem or error.context or "it cannot be read")
    mark = error.problem_mark or error.context_mark
    context = error.context or ""
    if error.context_mark is not None and ("flow" in context or "quoted" in context):
        mark = error.context_mark
        what = f"{what} ({context})"
    at = mark.index if mark is not None else 0
    if at >= len(tree.text):
        at = len(tree.text.rstrip())
    end = tree.text.find("\n", at)
    place = Span(at, len(tree.text) if end < 0 else max(end, at))
    tab = next((tab for tab in _TAB_INDENT.finditer(tree.text) if tab.end() >= at), None)
    if "\\t" in what or (tab is not None and tab.start() <= at <= tab.end()):
        return _tab_problem(tree, tab or _TAB_INDENT.search(tree.text), place)
    explained = explain_yaml(what, place, tree.text)
    return tree.problem(
        "yaml-syntax", f"Invalid frontmatter: {explained.message}.", explained.span, explained.fixes
    )


def _tab_problem(tree: TreeBuilder, tab: re.Match[str] | None, place: Span) -> Problem:
    fixes: tuple[Fix, ...] = ()
    if tab is not None:
        place = Span(*tab.span(2))
        edits = tuple(
            TextEdit(Span(*found.span(2)).shift(tree.offset), found[2].replace("\t", "  "))
            for found in _TAB_INDENT.finditer(tree.text)
        )
        fixes = (Fix("Indent with spaces", edits),)
    message = "Invalid frontmatter: YAML is indented with spaces, but this is a tab."
    return Problem("yaml-tab", Severity.ERROR, message, place.shift(tree.offset), fixes)


def _place(event: YamlEvent) -> Span:
    return Span(event.start_mark.index, event.end_mark.index)


def _resolve(text: str) -> str:
    """Return the tag of a plain scalar (YAML 1.1, as the public runtime reads it)."""
    for tag, pattern in _RESOLVERS.get(text[:1], ()):
        if pattern.match(text):
            return str(tag)
    return "tag:yaml.org,2002:str"


def _construct(tag: str, text: str) -> Json:
    """Return the plain value of a scalar; text if JSON has no such value."""
    if tag in STRING_TAGS:
        return text
    node = yaml.ScalarNode(tag, text)
    try:
        match tag.rpartition(":")[2]:
            case "null":
                return None
            case "bool":
                return bool(_CONSTRUCTOR.construct_yaml_bool(node))
            case "int":
                whole = int(_CONSTRUCTOR.construct_yaml_int(node))
                # Python prints no longer integer in decimal; hexadecimal ones can have any length.
                return whole if whole.bit_length() <= _MOST_BITS else text
            case "float":
                number = float(_CONSTRUCTOR.construct_yaml_float(node))
                return number if number - number == 0 else text  # JSON has no .inf and no .nan
    except (ValueError, KeyError, OverflowError, ConstructorError):
        return text
    return text


# Large YAML as plain values without spans, created directly from libyaml's events.

MOST_NODES = 10_000_000
"""Maximum number of values; an alias counts as all of its values."""

_DEEPEST = 200
_REPORTED_DEPTH = 3  # the progress is reported after each key of these levels
_MERGE = "<<"


class YamlTextError(ValueError):
    """Raised for text that is no YAML, or exceeds a limit; says what and where."""


def read_plain_yaml(text: str, reached: Callable[[int], None] = lambda done: None) -> Json:
    """Return the value of one YAML document.

    Args:
        text: the document.
        reached: called repeatedly with the number of characters read; its exceptions end the
            reading.

    Raises:
        YamlTextError: it is no YAML, or too deep or large.
    """
    try:
        return _Values(text, reached).read()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}: " if mark is not None else ""
        raise YamlTextError(f"{place}{error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise YamlTextError(str(error)) from error


class _Values:
    """A builder of the values of one text."""

    def __init__(self, text: str, reached: Callable[[int], None]) -> None:
        self._reached = reached
        self._events = yaml.parse(text, Loader=yaml.CSafeLoader)
        self._anchors: dict[str, tuple[Json, int]] = {}
        self._scalars: JsonDict = {}
        self._nodes = 0

    def read(self) -> Json:
        """Read the first document's value; None for an empty text."""
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                value = self._value(next(self._events), 0)
                for rest in self._events:  # the rest must be YAML, too
                    if isinstance(rest, yaml.DocumentStartEvent):
                        break
                return value
        return None

    def _value(self, event: Any, depth: int) -> Json:  # noqa: ANN401 - yaml has no types
        kind = type(event)
        self._count(1)
        if kind is yaml.ScalarEvent:
            value = self._scalar(event)
            if event.anchor:
                self._anchors[event.anchor] = (value, 1)
            return value
        if kind is yaml.AliasEvent:
            if event.anchor not in self._anchors:
                line = event.start_mark.line + 1
                raise YamlTextError(f"line {line}: there is no anchor {event.anchor!r} before it")
            value, size = self._anchors[event.anchor]
            self._count(size)
            return value
        if depth >= _DEEPEST:
            line = event.start_mark.line + 1
            raise YamlTextError(f"line {line}: it is nested more than {_DEEPEST} levels deep")
        before = self._nodes
        made: Json = (
            self._mapping(depth) if kind is yaml.MappingStartEvent else self._sequence(depth)
        )
        if event.anchor:
            self._anchors[event.anchor] = (made, self._nodes - before + 1)
        return made

    def _count(self, number: int) -> None:
        self._nodes += number
        if self._nodes > MOST_NODES:
            raise YamlTextError(f"it contains more than {MOST_NODES:,} values")

    def _scalar(self, event: Any) -> Json:  # noqa: ANN401 - yaml has no types
        text: str = event.value
        tag = event.tag
        if tag is None or tag == "!":
            if not event.implicit[0]:
                return text
            found = self._scalars.get(text, self)
            if found is self:
                found = self._scalars[text] = plain_scalar(text)
            return found  # type: ignore[return-value]
        return text if tag.endswith(":str") else plain_scalar(text)

    def _sequence(self, depth: int) -> list[Json]:
        items: list[Json] = []
        for event in self._events:
            if type(event) is yaml.SequenceEndEvent:
                break
            items.append(self._value(event, depth + 1))
        return items

    def _mapping(self, depth: int) -> JsonDict:
        made: JsonDict = {}
        merged: list[Json] = []
        for event in self._events:
            if type(event) is yaml.MappingEndEvent:
                break
            if depth < _REPORTED_DEPTH and event.start_mark is not None:
                self._reached(event.start_mark.index)
            key = self._value(event, depth + 1)
            value = self._value(next(self._events), depth + 1)
            if key == _MERGE and type(event) is yaml.ScalarEvent and event.implicit[0]:
                merged += value if isinstance(value, list) else [value]
            else:
                made[event.value if type(event) is yaml.ScalarEvent else str(key)] = value
        for other in merged:
            if isinstance(other, dict):
                made = {**other, **made}
        return made
