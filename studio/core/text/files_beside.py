"""The files that a text can name: those of its folder."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path, PurePath

_MOST_FILES = 300
_WILD = frozenset("*?[")


class OutsidePatternError(ValueError):
    """A pattern leads where nothing may be looked for."""


def files_beside(path: Path | None) -> tuple[str, ...]:
    """Files that a prompt can name: those in its folder, two levels deep."""
    if path is None:
        return ()
    found: list[str] = []
    for pattern in ("*", "*/*"):
        for each in itertools.islice(path.parent.glob(pattern), _MOST_FILES):
            if each.is_file() and each != path and not each.name.startswith("."):
                found.append(each.relative_to(path.parent).as_posix())
    return tuple(sorted(found))


def files_matching(folder: Path, pattern: str, allows: Callable[[Path], bool]) -> list[Path]:
    """The files that a pattern with `*` means, in order; no folder is listed that is not allowed.

    Args:
        folder: where the pattern begins.
        pattern: as `Path.glob` reads it; it may go up by `..`.
        allows: whether a folder may be listed; a link to one that may not is left out.

    Raises:
        OutsidePatternError: it leads nowhere else.
        ValueError: it is no pattern, or begins elsewhere.
        OSError: a folder cannot be listed.
    """
    places, parts = [folder], PurePath(pattern)
    if parts.anchor:
        raise ValueError("a pattern begins in the folder")
    for part in parts.parts:
        if not _WILD & set(part):
            places = [place / part for place in places]
            continue
        kept = [place for place in places if allows(place)]
        if places and not kept:
            raise OutsidePatternError(pattern)
        # Each once: `**/**` meets a folder by many ways.
        places = list(dict.fromkeys(each for place in kept for each in place.glob(part)))
    return sorted(place for place in places if place.is_file())
