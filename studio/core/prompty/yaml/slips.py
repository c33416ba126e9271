"""Slips in the lines of block YAML: depth, dashes, blanks behind colons."""

from __future__ import annotations

import re
from collections.abc import Callable

from studio.core.prompty.yaml.bracket_slips import (
    before_bracket,
    stray_closer,
    unquoted_reference,
    wrong_closer,
)
from studio.core.prompty.yaml.lines import depth_of, key_word, line_above, line_at, line_end
from studio.core.prompty.yaml.mistake import YamlMistake
from studio.core.text.counted import counted
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


def told_slip(what: str, place: Span, text: str) -> YamlMistake | None:
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
    start, _ = line_at(text, min(place.start, len(text) - 1))
    for line in (start, line_above(text, start)):
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
    start, _ = line_at(text, place.start)
    for line in (start, line_above(text, start)):
        found = _EQUALS.match(text, line) if line is not None else None
        if found is not None and ":" not in text[found.start() : found.end()]:
            span = Span(*found.span("sign"))
            fix = Fix("Write a colon", (TextEdit(span, ": "),))
            whole = Span(found.start(), line_at(text, found.start())[1])
            return YamlMistake("a colon stands between key and value, and not =", whole, (fix,))
    return None


def _odd_depth(what: str, place: Span, text: str) -> YamlMistake | None:
    """A key that stands neither with the keys above it nor with those around them."""
    if "did not find expected key" not in what:
        return None
    start, end = line_at(text, place.start)
    depth, above = depth_of(text, start), line_above(text, start)
    if above is None or not _KEY.match(text, start) or text.startswith("- ", start + depth):
        return None
    while above is not None and depth_of(text, above) > depth + 1:
        above = line_above(text, above)
    if above is None or depth_of(text, above) <= depth or not _KEY.match(text, above):
        return None
    wanted = depth_of(text, above)
    edit = TextEdit(Span(start, start), " " * (wanted - depth))
    name = key_word(text[above:])
    fix = Fix(f"Put it below {name!r}", (edit,))
    told = f"this line stands at {counted(depth, 'space')}, and {name!r} above it at {wanted}"
    return YamlMistake(told, Span(start + depth, end), (fix,))


def _block_not_deeper(what: str, place: Span, text: str) -> YamlMistake | None:
    """`description: |` with its text at the depth of the key."""
    start, _ = line_at(text, max(0, min(place.start, len(text) - 1)))
    line: int | None = start
    lines: list[int] = []
    while line is not None and len(lines) < 40:
        end = line_end(text, line)
        found = _BLOCK.fullmatch(text, line, end)
        if found is not None:
            below = [each for each in reversed(lines) if text[each : line_end(text, each)].strip()]
            first = next(iter(below), None)
            indent = len(found["indent"])
            if first is None or depth_of(text, first) > indent or _KEY.match(text, first):
                return None
            moved: list[int] = []
            for each in below:
                if _KEY.match(text, each):
                    break
                moved.append(each)
            edits = tuple(TextEdit(Span(each, each), " " * (indent + 2)) for each in moved)
            told = f"the text of this block stands deeper than its key {key_word(found[0])!r}"
            place = Span(first, line_end(text, first))
            return YamlMistake(told, place, (Fix("Indent the text", edits),))
        lines.append(line)
        line = line_above(text, line)
    return None


def _too_deep(what: str, place: Span, text: str) -> YamlMistake | None:
    """A key below a key that has its value already."""
    if "mapping values are not allowed" not in what:
        return None
    start, end = line_at(text, place.start)
    above = line_above(text, start)
    if above is None or not _KEY.match(text, start):
        return None
    deeper, depth = depth_of(text, start), depth_of(text, above)
    if deeper <= depth or not _WITH_VALUE.fullmatch(text, above, line_end(text, above)):
        return None
    if text.startswith("- ", above + depth):
        depth += 2
    if deeper <= depth:
        return None
    edits: list[TextEdit] = []
    line = start
    while line < len(text) and (not text[line : line_end(text, line)].strip()
                                or depth_of(text, line) >= deeper):  # fmt: skip
        if text[line : line_end(text, line)].strip():
            edits.append(TextEdit(Span(line, line + deeper - depth), ""))
        line = line_end(text, line) + 1
    told = f"this line stands deeper than {key_word(text[above:])!r} above it, which has its value"
    if _is_moved_out(text, above, deeper):
        edit = TextEdit(Span(above, above), " " * (deeper - depth))
        fix = Fix(f"Put {key_word(text[above:])!r} at its depth", (edit,))
        return YamlMistake(told, Span(start + deeper, end), (fix,))
    return YamlMistake(told, Span(start + deeper, end), (Fix("Move it out", tuple(edits)),))


def _is_moved_out(text: str, line: int, deeper: int) -> bool:
    """Whether a line is the one that is odd: it is to be the first of the block that is deeper."""
    before = line_above(text, line)
    if before is None or text.startswith("- ", line + depth_of(text, line)):
        return False
    opens = _OPENS_BLOCK.fullmatch(text, before, line_end(text, before)) is not None
    return opens and depth_of(text, before) == depth_of(text, line) < deeper


def _no_dash(what: str, place: Span, text: str) -> YamlMistake | None:
    """A line of a list without its dash."""
    if "could not find expected ':'" not in what and "'-' indicator" not in what:
        return None
    at = min(place.start, max(0, len(text.rstrip()) - 1))
    start, end = line_at(text, at)
    above = line_above(text, start)
    line = text[start:end]
    depth = depth_of(text, start)
    if above is None or line.lstrip().startswith("-"):
        return None
    if not text.startswith("- ", above + depth) or depth_of(text, above) != depth:
        return None
    at = start + depth
    item = text[above + depth + 2 : line_end(text, above)]
    if _KEY.match(text, start) and not (_KEY.match(item) and key_word(item) == key_word(line)):
        return _beside_list(text, Span(at, end), depth, item)
    fix = Fix("Write a dash before it", (TextEdit(Span(at, at), "- "),))
    return YamlMistake("each item of this list begins with a dash", Span(at, end), (fix,))


def _beside_list(text: str, place: Span, depth: int, item: str) -> YamlMistake:
    """A key where the dashes of a list stand: one of the item above it, or one behind the list."""
    line = place.start - depth
    if _KEY.match(item):
        fix = Fix(f"Put it below {key_word(item)!r}", (TextEdit(Span(line, line), "  "),))
        told = "this key stands where the dashes of a list stand, and not below its item"
        return YamlMistake(told, place, (fix,))
    above: int | None = line
    while above is not None and depth_of(text, above) >= depth:
        above = line_above(text, above)
    wanted = 0 if above is None else depth_of(text, above)
    fix = Fix("Move it out", (TextEdit(Span(line, line + depth - wanted), ""),))
    return YamlMistake("this key stands where the dashes of a list stand", place, (fix,))


_LOOKS: tuple[Callable[[str, Span, str], YamlMistake | None], ...] = (
    unquoted_reference,
    _no_dash,
    _block_not_deeper,
    before_bracket,
    wrong_closer,
    stray_closer,
    _equals,
    _no_blank,
    _too_deep,
    _odd_depth,
)
