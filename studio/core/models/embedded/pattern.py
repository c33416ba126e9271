"""Regular expressions of JSON schemas, translated to GBNF for the inside of a JSON string.

A grammar can only follow what is regular: look-around, back references and word boundaries have no
translation, and the caller falls back to a free string. Repetitions without a bound get one,
because a tiny model that may go on does (docs/design/embedded-model.md).
"""

from __future__ import annotations

import re

LONGEST = 80
"""Characters of an unbounded repetition."""

_CLASSES = {"d": "0-9", "w": "A-Za-z0-9_", "s": " "}
_NEVER_IN_STRINGS = '"\\\\\\x00-\\x1f'
_ANY = f"[^{_NEVER_IN_STRINGS}]"
_QUANTIFIER = re.compile(r"\{(\d+)(?:(,)(\d*))?\}")
_GROUP_NAME = re.compile(r"\?P?<[A-Za-z_]\w*>")
_DEEPEST = 40


class _UntranslatableError(Exception):
    pass


def pattern_to_gbnf(pattern: str) -> str | None:
    """A GBNF expression whose every text, written into a JSON string, matches a pattern.

    The whole text matches; anchors at the ends therefore change nothing (JSON Schema would allow
    more around a pattern without anchors).

    Args:
        pattern: an ECMA or Python regular expression.

    Returns:
        The expression, or `None` where there is no translation.
    """
    try:
        re.compile(pattern)
        reader = _Reader(pattern)
        expression = reader.alternatives()
    except (_UntranslatableError, re.error, IndexError, RecursionError):
        return None
    return expression if reader.at_end else None


class _Reader:
    """Recursive descent over one pattern."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._depth = 0

    @property
    def at_end(self) -> bool:
        return self._at >= len(self._pattern)

    def alternatives(self) -> str:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _UntranslatableError
        branches = [self._sequence()]
        while not self.at_end and self._pattern[self._at] == "|":
            self._at += 1
            branches.append(self._sequence())
        self._depth -= 1
        return branches[0] if len(branches) == 1 else "(" + " | ".join(branches) + ")"

    def _sequence(self) -> str:
        items: list[str] = []
        while not self.at_end and self._pattern[self._at] not in "|)":
            atom = self._atom()
            if atom:
                items.append(atom + self._quantifier())
        return " ".join(items) or '""'

    def _atom(self) -> str:
        char = self._take()
        match char:
            case "^" | "$":
                return self._anchor(char)
            case "(":
                return self._group()
            case "[":
                return self._class()
            case ".":
                return _ANY
            case "\\":
                return self._escape()
            case "*" | "+" | "?" | "{":
                raise _UntranslatableError
        return _literal(char)

    def _anchor(self, char: str) -> str:
        """Only where it says nothing: at the ends, or beside a branch or group border."""
        before = self._pattern[: self._at - 1]
        after = self._pattern[self._at :]
        redundant = (
            (not before or before[-1] in "(|" or before.endswith("(?:"))
            if char == "^"
            else (not after or after[0] in "|)")
        )
        if not redundant:
            raise _UntranslatableError
        return ""

    def _group(self) -> str:
        if self._pattern.startswith("?", self._at):
            name = _GROUP_NAME.match(self._pattern, self._at)
            if self._pattern.startswith("?:", self._at):
                self._at += 2
            elif name:
                self._at = name.end()
            else:
                raise _UntranslatableError  # look-around, flags
        inside = self.alternatives()
        if self._take() != ")":
            raise _UntranslatableError
        return inside if inside.startswith("(") and inside.endswith(")") else f"({inside})"

    def _class(self) -> str:
        negated = self._pattern.startswith("^", self._at)
        self._at += negated
        content = ""
        first = True
        while first or self._pattern[self._at] != "]":
            first = False
            char = self._take()
            if char == "\\":
                kind = self._take()
                content += _CLASSES.get(kind) or _in_class(_plain_escape(kind))
            elif char == "-":
                # A range, or itself at the ends; as it stands it means the same in GBNF only
                # between two characters.
                at_end = self._pattern[self._at] == "]"
                content += "\\x2d" if not content or at_end else "-"
            else:
                content += _in_class(char)
        self._at += 1
        if negated:
            return f"[^{content}{_NEVER_IN_STRINGS}]"
        if not content:
            raise _UntranslatableError
        return f"[{content}]"

    def _escape(self) -> str:
        kind = self._take()
        if kind in _CLASSES:
            return f"[{_CLASSES[kind]}]"
        if kind in "DWS":
            return f"[^{_CLASSES[kind.lower()]}{_NEVER_IN_STRINGS}]"
        return _literal(_plain_escape(kind))

    def _quantifier(self) -> str:
        if self.at_end:
            return ""
        char = self._pattern[self._at]
        bounds = _QUANTIFIER.match(self._pattern, self._at)
        if char in "*+?":
            self._at += 1
            written = {"*": f"{{0,{LONGEST}}}", "+": f"{{1,{LONGEST}}}", "?": "?"}[char]
        elif bounds:
            self._at = bounds.end()
            written = _bounded(bounds)
        else:
            return ""
        if not self.at_end and self._pattern[self._at] in "?+":
            self._at += 1  # lazy or possessive: the same texts
        return written

    def _take(self) -> str:
        char = self._pattern[self._at]
        self._at += 1
        return char


def _bounded(bounds: re.Match[str]) -> str:
    least = int(bounds[1])
    open_end = int(bounds[3]) if bounds[3] else max(least, LONGEST)
    most = least if bounds[2] is None else open_end
    if least > 4 * LONGEST:
        raise _UntranslatableError
    return f"{{{least},{max(least, min(most, 4 * LONGEST))}}}"


def _plain_escape(kind: str) -> str:
    """The character that an escape means; only punctuation means itself."""
    if kind.isalnum():
        raise _UntranslatableError  # \b, \1, \u0041, …
    return kind


def _literal(char: str) -> str:
    if char == '"':
        return '"\\\\\\""'
    if char == "\\":
        return '"\\\\\\\\"'
    if char < " ":
        raise _UntranslatableError
    return f'"{char}"'


def _in_class(char: str) -> str:
    """One character inside a class; a quote or backslash would need escaping in JSON."""
    if char in '"\\' or char < " ":
        return ""
    return f"\\x{ord(char):02x}" if char in "]^-[" else char
