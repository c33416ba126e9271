"""Finding labels ("Thought:", "Action:", …) at the starts of lines, and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

LabelKind: TypeAlias = Literal["thought", "action", "args", "final", "observation"]
"""What a label announces."""

_WORDS: dict[str, LabelKind] = {
    "Thought": "thought",
    "Action": "action",
    "Args": "args",
    "Action Input": "args",
    "Final Answer": "final",
    "Observation": "observation",
}
# Runs of blanks are bounded: two in a row would make a line of a million blanks quadratic.
_DECORATION = r"[ \t]{0,20}(?:[-*+>#][ \t]{1,9}|#{1,6}[ \t]{1,9}|\d{1,9}[.)][ \t]{1,9})?"


@dataclass(frozen=True, slots=True)
class Label:
    """One label."""

    kind: LabelKind
    """What it announces."""

    word: str
    """As written, without colon."""

    start: int
    """First character of the line's label, decoration included."""

    end: int
    """One past the colon (and its closing `**`)."""

    is_strict: bool
    """Whether it is written exactly as the prompt says."""


@lru_cache(maxsize=16)
def _patterns(extra_final: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    words = sorted((*_WORDS, *extra_final), key=len, reverse=True)
    either = "|".join(re.escape(word).replace(r"\ ", r"[ \t]{1,9}") for word in words)
    strict = re.compile(rf"^[ \t]*(?P<word>{either}):", re.MULTILINE)
    bold = r"(?P<mark>\*\*|__|`)?"
    lenient = re.compile(
        rf"^{_DECORATION}{bold}[ \t]{{0,9}}(?P<word>{either})"
        r"[ \t]{0,9}(?:#?\d{1,9})?[ \t]{0,9}"
        r"(?:(?P=mark)[ \t]{0,9}[:：]|[:：][ \t]{0,9}(?P=mark)|(?(mark)(?!)|[:：]))",
        re.MULTILINE | re.IGNORECASE,
    )
    return strict, lenient


def find_labels(
    text: str, *, lenient: bool, extra_final: tuple[str, ...] = (), start: int = 0
) -> Iterator[Label]:
    """Labels from `start` on, in order of place.

    Strictly: the exact word and a colon after blanks at most. Leniently also: any case, bold,
    numbered, a list or heading mark before it, a full-width colon.
    """
    strict_form, lenient_form = _patterns(extra_final)
    kinds = {word.lower(): kind for word, kind in _WORDS.items()}
    kinds |= {word.lower(): "final" for word in extra_final}
    form = lenient_form if lenient else strict_form
    for found in form.finditer(text, start):
        word = " ".join(found.group("word").split())
        place = found.start() + len(found.group()) - len(found.group().lstrip())
        exact = strict_form.match(text, found.start()) is not None
        yield Label(kinds[word.lower()], word, place, found.end(), exact)
