"""The open files and their carets: a start restores the last session."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from studio.core.text.files import read_text, write_private

SESSION = "session.json"
"""Its name in the user's data folder."""

_MOST = 40


@dataclass(frozen=True, slots=True)
class OpenFile:
    """One file that was open."""

    path: str
    """The file, absolute."""

    caret: int = 0
    """Place of the caret in the editor's document (UTF-16 units)."""

    scroll: int = 0
    """Value of the editor's vertical scroll bar."""


@dataclass(frozen=True, slots=True)
class Session:
    """The open files."""

    files: tuple[OpenFile, ...] = ()
    """From left to right."""

    current: str = ""
    """Path of the file in front; empty where none was."""


def load_session(path: Path) -> Session:
    """Read it; empty where there is none or where it makes no sense."""
    if not path.exists():
        return Session()
    import json

    try:
        data = json.loads(read_text(path))
        files = [
            OpenFile(str(each["path"]), int(each.get("caret", 0)), int(each.get("scroll", 0)))
            for each in data["files"]
        ]
        return Session(tuple(files[:_MOST]), str(data.get("current", "")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        # Nothing of worth is lost with it: the files themselves are where they were.
        return Session()


def save_session(path: Path, session: Session) -> bool:
    """Write it, whole or not at all; False where it cannot be written."""
    import json

    try:
        write_private(path, json.dumps(asdict(session), indent=1).encode())
    except OSError:
        return False
    return True
