"""Find texts in a tool's name and description that may mislead the model or the user.

These are warnings for the user, no protection: any wording can mislead. Names of arguments are
split into words, encoded sentences are decoded, and look-alike letters count as hidden.
"""

import re
import unicodedata
from base64 import b64decode
from binascii import Error
from collections.abc import Iterator

from studio.core.paths import resource_table
from studio.core.prompty.document import ToolSpec
from studio.core.text.invisible import has_invisible
from studio.core.text.values import Json, texts_in

_PHRASES = resource_table("words", "suspicion.txt")
_ADDRESSED = re.compile("|".join(_PHRASES["english"].values()), re.IGNORECASE | re.DOTALL)
_ADDRESSED_ELSEWHERE = re.compile(
    "|".join(_PHRASES["elsewhere"].values()), re.IGNORECASE | re.DOTALL
)
_MARKUP = re.compile(
    r"</?(?:img|script|style|svg|iframe|object|embed|form|input|link|meta|base"
    r"|system|important|instructions?|user|assistant|tool)(?:\s[^<>]*)?/?>"
    r"|<!--|!\[[^\]]*\]\([^)]*\)",
    re.IGNORECASE,
)
"""Matches tags that load, run or request something, tags of prompts, and images; formatting, a
placeholder such as `<owner>`, and links are harmless (GitHub's API has a thousand links,
DigitalOcean's 23 `<br>`).
"""

_WORD = re.compile(r"[^\W\d_]{2,}")
_ENCODED = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/]{24,}={0,2}(?![A-Za-z0-9+/=])")
_LIKE_LATIN = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE")


def suspicions(spec: ToolSpec) -> tuple[str, ...]:
    """Return warnings about a tool's texts, one sentence each.

    Args:
        spec: the tool, whose name, description and schema texts are checked.
    """
    texts = list(_texts(spec))
    decoded = [text for each in texts for text in _decoded(each)]
    found = []
    if any(has_invisible(text) for text in texts):
        found.append("It contains invisible characters; they are shown as ⟨U+…⟩.")
    if any(_is_mixed(word) for text in texts if not text.isascii() for word in _WORD.findall(text)):
        found.append("It contains letters of other alphabets that look like Latin ones.")
    if decoded:
        found.append(f"It contains an encoded text: {decoded[0][:80]!r}.")
    if any(_is_addressed(text) for text in (*texts, *decoded)):
        found.append("Its text contains instructions to the model.")
    if any(_MARKUP.search(text) for text in texts):
        found.append("It contains markup, which is shown as text.")
    return tuple(found)


def _texts(spec: ToolSpec) -> Iterator[str]:
    """Yield the tool's texts; names unchanged, and split into words."""
    names = (spec.name, *_keys(spec.parameters))
    yield from (spec.description, *texts_in(spec.parameters), *names)
    yield from (name.replace("_", " ").replace("-", " ") for name in names)


def _keys(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield name
            yield from _keys(each)
    elif isinstance(value, list):
        for each in value:
            yield from _keys(each)


def _is_addressed(text: str) -> bool:
    plain = unicodedata.normalize("NFKC", text)
    return bool(_ADDRESSED.search(plain) or _ADDRESSED_ELSEWHERE.search(plain))


def _is_mixed(word: str) -> bool:
    """Return whether a word mixes Latin letters with similar letters of other scripts."""
    alphabets = {unicodedata.name(letter, "").partition(" ")[0] for letter in word}
    return "LATIN" in alphabets and not alphabets.isdisjoint(_LIKE_LATIN)


def _decoded(text: str) -> Iterator[str]:
    """Yield the sentences that a text contains in base64, without keys and images."""
    for match in _ENCODED.finditer(text):
        try:
            words = b64decode(match[0] + "=" * (-len(match[0]) % 4)).decode()
        except (Error, UnicodeDecodeError):
            continue
        if words.isprintable() and words.count(" ") >= 2:
            yield words
