"""Arguments that stand in the question: the words a tiny model may put into a call.

A 135M model writes fluent arguments that have nothing to do with the question. Offering it only
what was really said carries the results, more than syntax (docs/design/embedded-model.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_WORD = re.compile(r"\S+")
_EDGES = "?.,!;:=\"'`“”‘’«»…"
_BRACKETS = "()[]{}"
_PAIRS = {")": "(", "]": "[", "}": "{"}
_MOST_WORDS = 12
_MOST_FREE_WORDS = 4
_MOST_TEXT_WORDS = 300
_MOST_SPANS = 120
_LONGEST_PATTERN_TEXT = 120

_FUNCTION_WORDS = frozenset(
    re.findall(
        r"\S+",
        "a an and are as at be but by can could did do does for from give had has have how i in is "
        "it know me my of on or please show tell than that the their there these they this to was "
        "were what what's when where which who whose why will with would you your",
    )
)
_BREAK = re.compile(r"[,;:?!]\s")


def phrases(text: str, pattern: str | None = None) -> tuple[str, ...]:
    """The phrases of a text that can be an argument, in the order in which they start.

    Args:
        text: the question.
        pattern: regular expression that the whole phrase must match. With one, only the longest
            phrases are kept (not "46" where "128 * 46" fits); without, short phrases that neither
            start nor end with a function word.
    """
    found = _matching(text, pattern) if pattern else _content(text)
    return tuple(dict.fromkeys(found))[:_MOST_SPANS]


def numbers(text: str, *, whole: bool) -> tuple[str, ...]:
    """The numbers of a text as JSON writes them."""
    shape = r"(?<![\w.])-?(?:0|[1-9]\d{0,15})" + ("" if whole else r"(?:\.\d{1,9})?")
    return tuple(dict.fromkeys(re.findall(shape + r"(?![\w]|\.\d)", text)))


def _matching(text: str, pattern: str) -> list[str]:
    try:
        compiled = re.compile(pattern)
    except re.error:
        return []
    kept: list[tuple[int, int, str]] = []
    for start, end, phrase in _spans(text, _MOST_WORDS):
        if len(phrase) > _LONGEST_PATTERN_TEXT or not compiled.fullmatch(phrase):
            continue
        if not any(first <= start and end <= last for first, last, _ in kept):
            # Spans come longest first for each start, so only earlier starts can cover this one.
            kept.append((start, end, phrase))
    return [phrase for _, _, phrase in kept]


def _content(text: str) -> list[str]:
    found: list[str] = []
    for _, _, phrase in _spans(text, _MOST_FREE_WORDS):
        words = phrase.lower().split()
        if all(_is_content(word) for word in (words[0], words[-1])) and not _BREAK.search(phrase):
            found.append(phrase)
    return found


def _is_content(word: str) -> bool:
    return word not in _FUNCTION_WORDS and any(char.isalnum() for char in word)


def _spans(text: str, most: int) -> Iterator[tuple[int, int, str]]:
    """Runs of whole words with their place, punctuation at the edges left out."""
    words = list(_WORD.finditer(text))[:_MOST_TEXT_WORDS]
    for first, word in enumerate(words):
        for last in range(min(first + most, len(words)) - 1, first - 1, -1):
            for phrase in _trimmed(text[word.start() : words[last].end()]):
                yield first, last, phrase


def _trimmed(phrase: str) -> Iterable[str]:
    bare = phrase.strip(_EDGES)
    if not _is_balanced(bare):
        bare = bare.strip(_BRACKETS + _EDGES)
    if bare and _is_balanced(bare) and any(char.isalnum() for char in bare):
        return (bare,)
    return ()


def _is_balanced(text: str) -> bool:
    open_brackets: list[str] = []
    for char in text:
        if char in "([{":
            open_brackets.append(char)
        elif char in _PAIRS and (not open_brackets or open_brackets.pop() != _PAIRS[char]):
            return False
    return not open_brackets
