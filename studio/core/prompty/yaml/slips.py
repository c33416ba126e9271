"""Slips in YAML: in the lines of blocks (depth, dashes, blanks behind colons), and in brackets."""

from __future__ import annotations

import re
from collections.abc import Callable

from studio.core.prompty.yaml.mistake import YamlMistake, in_quotes
from studio.core.text.amounts import counted
from studio.core.text.problem import Fix, TextEdit
from studio.core.text.span import Span

_GLUED = re.compile(r"[ ]*(?:-[ ]+)?(?P<key>[A-Za-z_]\w*):(?=[^\s/\\])")
"""A key with its value right behind the colon; an address (`https://…`) is none."""
_GLUED_DASH = re.compile(r"[ ]*-(?=[A-Za-z_]\w*:[ \n])")
_KEY = re.compile(r"[ ]*(?:-[ ]+)?[\w.-]+[ ]*:(?=[ \n]|\Z)")
_EQUALS = re.compile(r"[ ]*(?:-[ ]+)?[\w.-]+(?P<sign>[ ]*=[ ]*)(?=[^\s=])")
_WITH_VALUE = re.compile(r"[ ]*(?:-[ ]+)?[\w.-]+:[ ]+[^\s#|>&*!\[{].*")
_BLOCK = re.compile(r"(?P<indent>[ ]*)(?:-[ ]+)?[\w.-]+:[ ]+[|>][-+0-9]*[ ]*")
_OPENS_BLOCK = re.compile(r"[ ]*[\w.-]+:[ ]*")
_BEFORE_BRACKET = re.compile(
    r"[ ]*(?:-[ ]+)?[A-Za-z_][\w.-]*(?P<sign>:|[ ]*=[ ]*|[ ]+)(?=[\[{])|[ ]*-(?P<dash>)(?=[\[{])"
)
"""What stands before a bracket in place of a colon, or a dash, with its blank."""
_REFERENCE = re.compile(r"\$\{[^}\n]*\}|\{\{[^}\n]*\}\}")
_TEMPLATE = re.compile(r"[ ]*(?:-[ ]+)?[\w.-]+:[ ]+(?P<value>\{\{[^\n]*\S)")
_CLOSERS = {"[": "]", "{": "}"}


def explain_slip(what: str, place: Span, text: str) -> YamlMistake | None:
    """The slip behind a mistake that the scanner met further on.

    Args:
        what: the scanner's words.
        place: where it stopped.
        text: the YAML.
    """
    for look in _LOOKS:
        found = look(what, place, text)
        if found is not None:
            return found
    return None


def _no_blank(what: str, place: Span, text: str) -> YamlMistake | None:
    """`name:Trip`, on the line where the reader stopped or on one above it."""
    if "flow" in what or "quoted" in what:
        return None
    start, _ = _line_at(text, min(place.start, len(text) - 1))
    for line in (start, _line_above(text, start)):
        found = _GLUED.match(text, line) if line is not None else None
        if found is not None:
            colon = Span(found.end() - 1, found.end())
            fix = Fix("Put a space behind it", (TextEdit(Span(colon.end, colon.end), " "),))
            return YamlMistake("a space belongs behind this colon", colon, (fix,))
        dash = _GLUED_DASH.match(text, line) if line is not None else None
        if dash is not None:
            fix = Fix("Put a space behind it", (TextEdit(Span(dash.end(), dash.end()), " "),))
            return YamlMistake(
                "a space belongs behind this dash", Span(dash.end() - 1, dash.end()), (fix,)
            )
    return None


def _equals(what: str, place: Span, text: str) -> YamlMistake | None:
    """`name = Trip`."""
    if "could not find expected ':'" not in what and "mapping values" not in what:
        return None
    start, _ = _line_at(text, place.start)
    for line in (start, _line_above(text, start)):
        found = _EQUALS.match(text, line) if line is not None else None
        if found is not None and ":" not in text[found.start() : found.end()]:
            span = Span(*found.span("sign"))
            fix = Fix("Write a colon", (TextEdit(span, ": "),))
            whole = Span(found.start(), _line_at(text, found.start())[1])
            return YamlMistake("a colon stands between key and value, and not =", whole, (fix,))
    return None


def _odd_depth(what: str, place: Span, text: str) -> YamlMistake | None:
    """A key that stands neither with the keys above it nor with those around them."""
    if "did not find expected key" not in what:
        return None
    start, end = _line_at(text, place.start)
    depth, above = _depth_of(text, start), _line_above(text, start)
    if above is None or not _KEY.match(text, start) or text.startswith("- ", start + depth):
        return None
    while above is not None and _depth_of(text, above) > depth + 1:
        above = _line_above(text, above)
    if above is None or _depth_of(text, above) <= depth or not _KEY.match(text, above):
        return None
    wanted = _depth_of(text, above)
    edit = TextEdit(Span(start, start), " " * (wanted - depth))
    name = _key_word(text[above:])
    fix = Fix(f"Put it below {name!r}", (edit,))
    words = f"this line stands at {counted(depth, 'space')}, and {name!r} above it at {wanted}"
    return YamlMistake(words, Span(start + depth, end), (fix,))


def _block_not_deeper(what: str, place: Span, text: str) -> YamlMistake | None:
    """`description: |` with its text at the depth of the key."""
    start, _ = _line_at(text, max(0, min(place.start, len(text) - 1)))
    line: int | None = start
    lines: list[int] = []
    while line is not None and len(lines) < 40:
        end = _line_end(text, line)
        found = _BLOCK.fullmatch(text, line, end)
        if found is not None:
            below = [each for each in reversed(lines) if text[each : _line_end(text, each)].strip()]
            first = next(iter(below), None)
            indent = len(found["indent"])
            if first is None or _depth_of(text, first) > indent or _KEY.match(text, first):
                return None
            moved: list[int] = []
            for each in below:
                if _KEY.match(text, each):
                    break
                moved.append(each)
            edits = tuple(TextEdit(Span(each, each), " " * (indent + 2)) for each in moved)
            words = f"the text of this block stands deeper than its key {_key_word(found[0])!r}"
            place = Span(first, _line_end(text, first))
            return YamlMistake(words, place, (Fix("Indent the text", edits),))
        lines.append(line)
        line = _line_above(text, line)
    return None


def _too_deep(what: str, place: Span, text: str) -> YamlMistake | None:
    """A key below a key that has its value already."""
    if "mapping values are not allowed" not in what:
        return None
    start, end = _line_at(text, place.start)
    above = _line_above(text, start)
    if above is None or not _KEY.match(text, start):
        return None
    deeper, depth = _depth_of(text, start), _depth_of(text, above)
    if deeper <= depth or not _WITH_VALUE.fullmatch(text, above, _line_end(text, above)):
        return None
    if text.startswith("- ", above + depth):
        depth += 2
    if deeper <= depth:
        return None
    edits: list[TextEdit] = []
    line = start
    while line < len(text) and (not text[line : _line_end(text, line)].strip()
                                or _depth_of(text, line) >= deeper):  # fmt: skip
        if text[line : _line_end(text, line)].strip():
            edits.append(TextEdit(Span(line, line + deeper - depth), ""))
        line = _line_end(text, line) + 1
    words = (
        f"this line stands deeper than {_key_word(text[above:])!r} above it, which has its value"
    )
    if _is_moved_out(text, above, deeper):
        edit = TextEdit(Span(above, above), " " * (deeper - depth))
        fix = Fix(f"Put {_key_word(text[above:])!r} at its depth", (edit,))
        return YamlMistake(words, Span(start + deeper, end), (fix,))
    return YamlMistake(words, Span(start + deeper, end), (Fix("Move it out", tuple(edits)),))


def _is_moved_out(text: str, line: int, deeper: int) -> bool:
    """Whether a line is the one that is odd: it is to be the first of the block that is deeper."""
    before = _line_above(text, line)
    if before is None or text.startswith("- ", line + _depth_of(text, line)):
        return False
    opens = _OPENS_BLOCK.fullmatch(text, before, _line_end(text, before)) is not None
    return opens and _depth_of(text, before) == _depth_of(text, line) < deeper


def _no_dash(what: str, place: Span, text: str) -> YamlMistake | None:
    """A line of a list without its dash."""
    if "could not find expected ':'" not in what and "'-' indicator" not in what:
        return None
    at = min(place.start, max(0, len(text.rstrip()) - 1))
    start, end = _line_at(text, at)
    above = _line_above(text, start)
    line = text[start:end]
    depth = _depth_of(text, start)
    if above is None or line.lstrip().startswith("-"):
        return None
    if not text.startswith("- ", above + depth) or _depth_of(text, above) != depth:
        return None
    at = start + depth
    item = text[above + depth + 2 : _line_end(text, above)]
    if _KEY.match(text, start) and not (_KEY.match(item) and _key_word(item) == _key_word(line)):
        return _beside_list(text, Span(at, end), depth, item)
    fix = Fix("Write a dash before it", (TextEdit(Span(at, at), "- "),))
    return YamlMistake("each item of this list begins with a dash", Span(at, end), (fix,))


def _beside_list(text: str, place: Span, depth: int, item: str) -> YamlMistake:
    """A key where the dashes of a list stand: one of the item above it, or one behind the list."""
    line = place.start - depth
    if _KEY.match(item):
        fix = Fix(f"Put it below {_key_word(item)!r}", (TextEdit(Span(line, line), "  "),))
        words = "this key stands where the dashes of a list stand, and not below its item"
        return YamlMistake(words, place, (fix,))
    above: int | None = line
    while above is not None and _depth_of(text, above) >= depth:
        above = _line_above(text, above)
    wanted = 0 if above is None else _depth_of(text, above)
    fix = Fix("Move it out", (TextEdit(Span(line, line + depth - wanted), ""),))
    return YamlMistake("this key stands where the dashes of a list stand", place, (fix,))


# In brackets, and right before them --------------------------------------------------------------


def _unquoted_reference(what: str, place: Span, text: str) -> YamlMistake | None:
    """`{key: ${KEY}}`: between brackets, the braces of a reference are YAML's own."""
    if "flow" not in what:
        return None
    start, end = _line_at(text, place.start)
    whole = _TEMPLATE.match(text, start, end)
    if whole is not None:
        span = Span(*whole.span("value"))
        fix = Fix("Put it in quotes", (TextEdit(span, in_quotes(whole["value"])),))
        return YamlMistake("a value with {{ … }} is put in quotes", span, (fix,))
    depths, done = dict.fromkeys(_CLOSERS, 0), start
    for found in _REFERENCE.finditer(text, start, end):
        before, done = text[done : found.start()], found.start()
        for one, other in _CLOSERS.items():
            depths[one] += before.count(one) - before.count(other)
        if max(depths.values()) > 0 and before.rstrip()[-1:] in (":", ",", "["):
            span = Span(*found.span())
            fix = Fix("Put it in quotes", (TextEdit(span, in_quotes(found[0])),))
            words = f"between brackets, {found[0]} is put in quotes: its braces are YAML's own"
            return YamlMistake(words, span, (fix,))
    return None


def _before_bracket(what: str, place: Span, text: str) -> YamlMistake | None:
    """`model:{id: m}`, `model = {id: m}`, `model {id: m}` and `-{name: a}`."""
    found = _BEFORE_BRACKET.match(text, *_line_at(text, min(place.start, len(text) - 1)))
    if found is None:
        return None
    span = Span(*found.span("sign" if found["sign"] is not None else "dash"))
    match found["sign"]:
        case None | ":":
            what, end = ("dash", span.end) if found["sign"] is None else ("colon", span.end)
            fix = Fix("Put a space behind it", (TextEdit(Span(end, end), " "),))
            return YamlMistake(f"a space belongs behind this {what}", Span(end - 1, end), (fix,))
        case sign:
            fix = Fix("Write a colon", (TextEdit(span, ": "),))
            words = "a colon stands between key and value" + (", and not =" if "=" in sign else "")
            return YamlMistake(
                words, Span(found.start() + _depth_of(text, found.start()), span.end), (fix,)
            )


def _wrong_closer(what: str, place: Span, text: str) -> YamlMistake | None:
    """`[a, b}`, and a comma or bracket too many."""
    if "node content" in what:
        at = next((each for each in range(place.start, place.end) if text[each] in ",]}"), -1)
        if at < 0:
            return YamlMistake("a value is missing here", place)
        span = Span(at, at + 1)
        if text[at] != ",":
            return YamlMistake(f"this {text[at]} closes nothing", span)
        fix = Fix("Remove the comma", (TextEdit(span, ""),))
        return YamlMistake("a value is missing before this comma", span, (fix,))
    if "flow" not in what or text[place.start : place.start + 1] not in _CLOSERS:
        return None
    open_: list[str] = []
    for at in range(place.start, place.end):
        char = text[at]
        if char in "\"'":
            return None
        if char in _CLOSERS:
            open_.append(char)
        elif char in _CLOSERS.values() and open_:
            wanted = _CLOSERS[open_.pop()]
            if char != wanted:
                span = Span(at, at + 1)
                if _is_too_many(char, text[slice(*_line_at(text, at))]):
                    return _nothing_closed(char, span)
                fix = Fix(f"Write {wanted}", (TextEdit(span, wanted),))
                return YamlMistake(f"{wanted} belongs here, not {char}", span, (fix,))
    return None


def _stray_closer(what: str, place: Span, text: str) -> YamlMistake | None:
    """`[a, b]]`."""
    here = text[place.start : place.start + 1]
    if "flow" in what or here not in ("]", "}") or "did not find expected" not in what:
        return None
    return _nothing_closed(here, Span(place.start, place.start + 1))


def _nothing_closed(bracket: str, span: Span) -> YamlMistake:
    fix = Fix(f"Remove {bracket}", (TextEdit(span, ""),))
    return YamlMistake(f"this {bracket} closes nothing", span, (fix,))


def _is_too_many(closer: str, line: str) -> bool:
    """Whether a line closes more brackets of one kind than it opens, and the others are even."""
    surplus = {end: line.count(end) - line.count(start) for start, end in _CLOSERS.items()}
    return surplus[closer] > 0 and not any(surplus[end] for end in surplus if end != closer)


# Lines by their places ----------------------------------------------------------------------------


def _line_end(text: str, start: int) -> int:
    """Where the line ends, its line break not counted."""
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _line_at(text: str, at: int) -> tuple[int, int]:
    """Where the line around a place begins and ends, without the blanks at its end."""
    start = text.rfind("\n", 0, max(at, 0)) + 1
    return start, start + len(text[start : _line_end(text, start)].rstrip())


def _line_above(text: str, start: int) -> int | None:
    """Where the next line above with text on it begins."""
    while start > 0:
        end, start = start - 1, text.rfind("\n", 0, start - 1) + 1
        if text[start:end].strip() and not text[start:end].lstrip().startswith("#"):
            return start
    return None


def _depth_of(text: str, start: int) -> int:
    """How many spaces a line begins with."""
    line = text[start : _line_end(text, start)]
    return len(line) - len(line.lstrip(" "))


def _key_word(line: str) -> str:
    """The key that a line begins with."""
    return line.strip().removeprefix("- ").partition(":")[0].strip()


_LOOKS: tuple[Callable[[str, Span, str], YamlMistake | None], ...] = (
    _unquoted_reference,
    _no_dash,
    _block_not_deeper,
    _before_bracket,
    _wrong_closer,
    _stray_closer,
    _equals,
    _no_blank,
    _too_deep,
    _odd_depth,
)
