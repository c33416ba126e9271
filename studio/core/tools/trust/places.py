"""Folders that are too wide to be trusted, and those that are trusted only by themselves."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path


class TooWideError(ValueError):
    """A folder is never trusted as a whole: what others write lies in it, too."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"The folder {folder} is never trusted as a whole; keep the prompt in a folder of its "
            "own, and trust that."
        )


def resolved(path: Path) -> Path:
    """Return a path with its links followed, as far as that is possible."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path.absolute()


def is_too_wide(folder: Path) -> bool:
    """Whether a resolved folder is the home folder, the temporary one, or holds one of them."""
    return any(folder == each or folder in each.parents for each in _shared())


def is_repository(folder: Path) -> bool:
    """Whether a folder is the root of a git repository or of a submodule."""
    return (folder / ".git").exists()


@cache
def _shared() -> tuple[Path, ...]:
    """Return the folders that any program of the user puts files into, resolved."""
    places = [Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp")]
    with suppress(RuntimeError):  # a user without a home
        places.append(Path.home())
    return tuple(dict.fromkeys(map(resolved, places)))
