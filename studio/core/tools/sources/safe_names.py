"""Names of tools that every provider takes, for those that a source names otherwise."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

LONGEST_NAME = 64
"""Characters: OpenAI's and Anthropic's limit."""


_OTHER = re.compile(r"[^A-Za-z0-9_-]+")


def safe_names(names: Iterable[str]) -> dict[str, str]:
    """A name for each name, by the name as the source has it; no two are the same.

    Letters, digits, `_` and `-`, at most 64: names that are so stay as they are.
    """
    names = tuple(dict.fromkeys(names))
    found = {name: name for name in names if _made(name) == name}
    taken = set(found.values())
    for name in names:
        if name not in found:
            base = made = _made(name)
            count = 2
            while made in taken:
                end = f"_{count}"
                made, count = base[: LONGEST_NAME - len(end)] + end, count + 1
            found[name] = made
            taken.add(made)
    return found


def _made(name: str) -> str:
    if not _OTHER.search(name) and 0 < len(name) <= LONGEST_NAME:
        return name
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return _OTHER.sub("_", plain).strip("_")[:LONGEST_NAME] or "tool"
