"""Repairs of JSON with common mistakes; offered to the user, never made silently.

The reader below accepts the usual mistakes of models and gives up if it would have to guess. Cut
text is never completed: "delete … older than 1" may be the start of "… older than 10".
"""

import re
from dataclasses import dataclass

from studio.core.agent.values.json_text import Decoded, decode_at, json_text
from studio.core.agent.values.step import Repair
from studio.core.paths import resource_table
from studio.core.text.source import Span
from studio.core.text.values import Json, JsonDict

LARGEST = 200_000
"""Maximum length of JSON to repair, in characters, since the reader is slow."""

_DEEPEST = 100
_CLOSERS = {'"': '"', "'": "'", "“": "”", "‘": "’", "„": "“", "`": "`"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_PYTHON_WORDS: JsonDict = {"True": True, "False": False, "None": None}
_JSON_WORDS: JsonDict = {"true": True, "false": False, "null": None}
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_BARE = re.compile(r"[^\W\d_][\w .@/+-]*")
_AFTER_SINGLE = re.compile(r"\s*(?:[,:}\]]|//|/\*|#|\Z)")

_TITLES = resource_table("words", "terms.txt")["json_repairs"]


class _Cut(Exception):  # noqa: N818 - an ending, not a fault
    """Raised when the text ends inside the value."""


class _Hopeless(Exception):  # noqa: N818
    """Raised when reading on would be guessing."""


@dataclass(frozen=True, slots=True)
class RepairedObject:
    """A value that the tolerant reader read."""

    value: Json
    """The value."""

    end: int
    """Offset after its last character."""

    names: tuple[str, ...]
    """Names of the mistakes, in order."""


def repair_object(text: str, start: int) -> RepairedObject | None:
    """Read the object that begins at `start`, accepting the usual mistakes.

    Returns:
        The object; None if the text is cut, too long, nested deeper than 100, or ambiguous.
    """
    if len(text) - start > LARGEST:
        return None
    reader = _Reader(text, start)
    read = reader.read()
    return read and RepairedObject(*read, tuple(dict.fromkeys(reader.names)))


def read_value(text: str, start: int) -> tuple[Json, int] | None:
    """Read the value that begins at `start` as above; return it and its end."""
    return _Reader(text, start).read()


def ends_inside(text: str, start: int) -> bool:
    """Return whether a broken object was cut off, as far as the tolerant reader can detect."""
    if len(text) - start > LARGEST:
        return False
    try:
        _Reader(text, start).value(0)
    except _Cut:
        return True
    except _Hopeless:
        return False
    return False


def repair_of(text: str, start: int, end: int, value: Json, names: tuple[str, ...]) -> Repair:
    """Return the repair that replaces a slice of the reply by `value`."""
    titles = [_TITLES.get(name, name) for name in names]
    title = ", ".join(titles)
    return Repair(
        "+".join(names),
        title[:1].upper() + title[1:],
        text[start:end],
        json_text(value),
        Span(start, end),
    )


def find_repair(text: str, start: int, end: int) -> Repair | None:
    """Find a repair for the slice `start`–`end` of a reply that should be one JSON object.

    Text or a fence may come before the object, which begins at the first `{`.
    """
    brace = text.find("{", start, end)
    if brace < 0:
        return None
    piece = text[:end]
    names: list[str] = []
    before = piece[start:brace].strip()
    if before:
        names.append("fenced_args" if before in ("```json", "```") else "text_before_json")
    decoded = decode_at(piece, brace)
    if isinstance(decoded, Decoded):
        value, stop = decoded.value, decoded.end
        if decoded.has_raw_breaks:
            names.append("raw_breaks")
    elif piece.startswith("{{", brace) and isinstance(
        inner := decode_at(piece, brace + 1), Decoded
    ):
        value, stop = inner.value, inner.end + 1
        if piece[inner.end : stop] != "}":
            return None
        names.append("doubled_braces")
    else:
        repaired = repair_object(piece, brace)
        if repaired is None:
            return None
        value, stop = repaired.value, repaired.end
        names += repaired.names
    after = piece[stop:].strip()
    if after and after != "```":
        names.append("text_after_json")
    if not isinstance(value, dict) or not names:
        return None
    return repair_of(text, start, end, value, tuple(names))


class _Reader:
    """A recursive reader; `names` collects the mistakes."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self.at = start
        self.names: list[str] = []
        self.has_escape = False

    def read(self) -> tuple[Json, int] | None:
        """Return the value and its end; None if the text is cut or ambiguous."""
        try:
            value = self.value(0)
        except (_Cut, _Hopeless):
            return None
        # If one escape is wrong, valid ones may be meant as text: the tab in `C:\\Users\\tom`.
        is_ambiguous = self.has_escape and "bad_escape" in self.names
        return None if is_ambiguous else (value, self.at)

    def value(self, depth: int) -> Json:
        if depth > _DEEPEST:
            raise _Hopeless
        char = self._peek()
        if char == "{":
            return self._object(depth)
        if char == "[":
            return self._array(depth)
        if char in _CLOSERS:
            return self._string()
        return self._word()

    def _peek(self) -> str:
        """Return the next character that is no blank and in no comment."""
        text = self._text
        while self.at < len(text):
            if text[self.at].isspace():
                if text[self.at] not in " \t\r\n":
                    self.names.append("odd_blanks")
                self.at += 1
            elif text.startswith("/*", self.at):
                self._skip_to("*/", 2)
            elif text.startswith(("//", "#"), self.at):
                self._skip_to("\n", 0)
            else:
                return text[self.at]
        raise _Cut

    def _skip_to(self, mark: str, beyond: int) -> None:
        self.names.append("comments")
        found = self._text.find(mark, self.at + 1)
        if found < 0:
            raise _Cut
        self.at = found + beyond

    def _object(self, depth: int) -> JsonDict:
        self.at += 1
        made: JsonDict = {}
        while True:
            if self._peek() == "}":
                self.at += 1
                return made
            key = self._string() if self._peek() in _CLOSERS else self._bare_key()
            if self._peek() == ":":
                self.at += 1
            elif self._peek() in _CLOSERS:
                self.names.append("missing_colon")
            else:
                raise _Hopeless
            if key in made:
                raise _Hopeless
            made[key] = self.value(depth + 1)
            self._comma("}")

    def _array(self, depth: int) -> list[Json]:
        self.at += 1
        made: list[Json] = []
        while True:
            if self._peek() == "]":
                self.at += 1
                return made
            made.append(self.value(depth + 1))
            self._comma("]")

    def _comma(self, closer: str) -> None:
        char = self._peek()
        if char == ",":
            self.at += 1
            if self._peek() == closer:
                self.names.append("trailing_comma")
        elif char in _CLOSERS:
            self.names.append("missing_comma")
        elif char != closer:
            raise _Hopeless

    def _string(self) -> str:
        text, quote = self._text, self._text[self.at]
        if quote != '"':
            self.names.append("single_quotes" if quote in "'`" else "smart_quotes")
        closer = _CLOSERS[quote]
        self.at += 1
        made: list[str] = []
        while self.at < len(text):
            char = text[self.at]
            if char == "\\":
                made.append(self._escape(closer))
                continue
            self.at += 1
            if char == closer and (quote != "'" or _AFTER_SINGLE.match(text, self.at)):
                return "".join(made)
            if char in "\n\r\t":
                self.names.append("raw_breaks")
            made.append(char)
        raise _Cut

    def _escape(self, closer: str) -> str:
        """Read an escape; keep the backslash of an unknown one, as in a regular expression."""
        text = self._text
        if self.at + 1 >= len(text):
            raise _Cut
        char = text[self.at + 1]
        if char not in ('"', "\\", "/", "u", "'", closer, *_ESCAPES):
            self.names.append("bad_escape")
            self.at += 1
            return "\\"
        self.has_escape |= char != '"'
        self.at += 2
        if char == "u":
            code = text[self.at : self.at + 4]
            if not re.fullmatch(r"[0-9a-fA-F]{4}", code):
                raise _Hopeless
            self.at += 4
            return chr(int(code, 16))
        if char not in ('"', "\\", "/", *_ESCAPES):
            self.names.append("escaped_quote")
        return _ESCAPES.get(char, char)

    def _bare_key(self) -> str:
        found = re.compile(r"[^\W\d]\w*").match(self._text, self.at)
        if found is None:
            raise _Hopeless
        self.names.append("unquoted")
        self.at = found.end()
        return found.group()

    def _word(self) -> Json:
        number = _NUMBER.match(self._text, self.at)
        if number is not None and number.end() > self.at:
            self.at = number.end()
            digits = number.group()
            if len(digits) > 300:
                raise _Hopeless
            return float(digits) if set(digits) & set(".eE") else int(digits)
        found = _BARE.match(self._text, self.at)
        if found is None or found.group() in ("NaN", "Infinity"):
            raise _Hopeless
        self.at = found.end()
        if self.at == len(self._text):
            raise _Cut
        word = found.group().strip()
        if word in _JSON_WORDS:
            return _JSON_WORDS[word]
        self.names.append("python_words" if word in _PYTHON_WORDS else "unquoted")
        return _PYTHON_WORDS.get(word, word)
