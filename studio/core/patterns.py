"""Searching with patterns that people type: no pattern can hold the studio up."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

SLOW_SECONDS = 0.3
"""A search ends after so long; `(a|aa)+$` would take years."""


class PatternError(Exception):
    """The pattern is none, or its search takes too long; the text is for the user."""


def compile_pattern(text: str, *, regex: bool, case: bool, word: bool = False) -> Any:  # noqa: ANN401 - of a package without types
    """A pattern of what was typed.

    Args:
        text: the words, or the pattern.
        regex: whether it is a pattern.
        case: whether capitals matter.
        word: whether only whole words count.

    Raises:
        PatternError: it is no pattern.
    """
    import regex as engine

    wanted = text if regex else re.escape(text)
    if word:
        wanted = rf"\b(?:{wanted})\b"
    return _compiled(wanted, engine.MULTILINE | (0 if case else engine.IGNORECASE))


def schema_pattern(text: str) -> Any:  # noqa: ANN401
    """The pattern of a schema; what it means is what it has always meant.

    Not by `re`: it warns of patterns such as `[[`, which a later Python may read otherwise.

    Raises:
        PatternError: it is no pattern.
    """
    return _compiled(text, 0)


def _compiled(text: str, flags: int) -> Any:  # noqa: ANN401
    import regex as engine

    try:
        return engine.compile(text, flags)
    except (engine.error, ValueError, OverflowError, RecursionError) as error:
        # `regex` lets errors of its own reader through: `a{1d<`, `a{99999999999999999999}`.
        raise PatternError(str(error)) from error


def matches(pattern: Any, text: str, seconds: float = SLOW_SECONDS) -> Iterator[Any]:  # noqa: ANN401
    """Every match that is not empty.

    Raises:
        PatternError: the search takes longer than `seconds`.
    """
    try:
        for match in pattern.finditer(text, timeout=seconds, concurrent=True):
            if match.end() > match.start():
                yield match
    except TimeoutError as error:
        raise PatternError("it takes too long in this text") from error


def expanded(match: Any, new: str) -> str:  # noqa: ANN401
    """The text that takes a match's place: `new` with the groups that it names.

    Raises:
        PatternError: it names a group that there is not.
    """
    import regex as engine

    try:
        return str(match.expand(new))
    except (engine.error, IndexError) as error:
        raise PatternError(str(error)) from error
