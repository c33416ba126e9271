"""The files that a text can name: those of its folder."""

from __future__ import annotations

import itertools
from pathlib import Path

_MOST_FILES = 300


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
