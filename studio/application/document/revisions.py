"""Earlier texts of a file: from its git repository, and from earlier saves."""

import contextlib
import hashlib
import os
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeAlias

from studio.application.document.files import FileError, decode, read_file
from studio.core.search_files import files_of
from studio.core.text.diff import changes
from studio.core.text.files import read_bounded, write_private

_SECONDS = 10
_MOST_REVISIONS = 100
_MOST_KEPT = 30
_LARGEST = 5_000_000
"""Maximum size of a stored or read text, in bytes."""
# No program from the repository's settings is run: no pager, filter or signature check.
_GIT = (
    "git",
    "--literal-pathspecs",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "log.showSignature=false",
    "--no-pager",
)
_ENVIRONMENT = {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1"}

_DUBIOUS = re.compile(r"dubious ownership in repository at '(.*)'")
"""Matches git's error for a repository of another user; the remaining output is advice."""

LineChange: TypeAlias = Literal["added", "changed", "removed"]
"""Kind of change of a line; `removed`: lines before it were removed."""


@dataclass(frozen=True, slots=True)
class Revision:
    """An earlier text of a file."""

    name: str
    """The commit, or the file with the stored text."""

    path: str = field(default="", kw_only=True)
    """Path of the file in the commit, from the root of the repository."""

    title: str
    """Subject of the commit; empty for a stored text."""

    time: datetime
    """Time of the text."""


def revisions(path: Path) -> tuple[Revision, ...]:
    """Return the commits that changed a file, newest first, following renames.

    Empty without a repository.
    """
    form = "--format=%x01%H%x00%ct%x00%s"
    output = run_git(
        path.parent,
        "log",
        "--follow",
        "--name-only",
        "-z",
        form,
        f"--max-count={_MOST_REVISIONS}",
        "--",
        f"./{path.name}",
    )
    found = []
    for entry in (output or b"").decode("utf-8", "replace").split("\1"):
        name, when, title, *named = (*entry.split("\0"), "", "", "")
        if name and when.isdigit():
            moment = datetime.fromtimestamp(int(when), tz=UTC)
            then = next((each.strip("\n") for each in named if each.strip("\n")), "")
            found.append(Revision(name, title, moment, path=then))
    return tuple(found)


def text_at(path: Path, revision: str = "HEAD", name: str = "") -> str | None:
    """Return a file's text in a commit; None if it is not in it, or there is no repository.

    Args:
        path: the file.
        revision: the commit.
        name: its path in the commit, from the root of the repository; empty for the current one.
    """
    if revision.startswith("-"):
        return None
    place = name or f"./{path.name}"
    raw = run_git(path.parent, "cat-file", "blob", f"{revision}:{place}")
    if raw is None or len(raw) > _LARGEST:
        return None
    try:
        return decode(raw).text
    except FileError:
        return None


def refused_repository(folder: Path) -> str:
    """Return the repository of a folder that git refuses because it belongs to another user.

    Empty if git reads it, or there is none. A refused one must not look like a missing one.
    """
    try:
        done = _run(folder, "rev-parse", "--show-toplevel", LC_ALL="C")
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = _DUBIOUS.search(done.stderr.decode("utf-8", "replace")) if done.returncode else None
    return found[1] if found else ""


def run_git(folder: Path, *words: str) -> bytes | None:
    """Return the output of a git command in a folder; None if it fails or git is missing."""
    try:
        done = _run(folder, *words)
    except (OSError, subprocess.TimeoutExpired):
        return None  # git is missing, or the repository blocks
    return done.stdout if done.returncode == 0 else None


def _run(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        (*_GIT, *words),
        cwd=folder,
        env={**os.environ, **_ENVIRONMENT, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_SECONDS,
        check=False,
    )


def line_changes(before: str, after: str) -> dict[int, LineChange]:
    """Return the changes of a text by line number, from 0."""
    old, new = before.split("\n"), after.split("\n")
    found: dict[int, LineChange] = {}
    for kind, _, _, first, last in changes(old, new):
        if kind == "delete":
            found.setdefault(min(first, len(new) - 1), "removed")
        elif kind != "equal":
            change: LineChange = "added" if kind == "insert" else "changed"
            found.update(dict.fromkeys(range(first, last), change))
    return found


class EarlierTexts:
    """The stored texts of files at each save, the newest thirty of each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, path: Path, text: str) -> None:
        """Store a saved text, unless it is the newest one already.

        Raises:
            OSError: the text cannot be written.
        """
        if len(text) > _LARGEST:
            return
        place = self._place(path)
        kept = sorted(place.glob("*.txt"))
        if kept and _read(kept[-1]) == text:
            return
        write_private(place / f"{time.time_ns():020d}.txt", text.encode("utf-8"))
        for old in kept[: max(0, len(kept) + 1 - _MOST_KEPT)]:
            with contextlib.suppress(OSError):
                old.unlink()

    def follow(self, old: Path, new: Path) -> None:
        """Move the earlier texts of a renamed file or folder to its new path.

        Raises:
            OSError: the texts cannot be moved.
        """
        below = files_of(new) if new.is_dir() else (new,)
        for each in below:
            place = self._place(old / each.relative_to(new) if each != new else old)
            target = self._place(each)
            if place.is_dir() and not target.exists():
                place.rename(target)

    def of(self, path: Path) -> tuple[Revision, ...]:
        """Return the stored texts of a file, newest first."""
        found = []
        for each in sorted(self._place(path).glob("*.txt"), reverse=True):
            if each.stem.isdigit():
                moment = datetime.fromtimestamp(int(each.stem) / 1e9, tz=UTC)
                found.append(Revision(str(each), "", moment))
        return tuple(found)

    def text(self, kept: Revision) -> str | None:
        """Return a stored text; None if it no longer exists."""
        return _read(Path(kept.name))

    def _place(self, path: Path) -> Path:
        return self._folder / hashlib.sha256(str(path.absolute()).encode()).hexdigest()[:32]


def _read(path: Path) -> str | None:
    try:
        return read_file(path).text
    except FileError:
        return None


# The differences of a folder's files from the last commit: changed, added, or untracked.

FileState: TypeAlias = Literal["M", "A", "U"]
"""State in git's letters: modified, added to the index, untracked."""

_MOST = 5_000
"""Maximum number of files checked in a folder."""


def file_states(folder: Path) -> Mapping[Path, FileState]:
    """Return the files below a folder that differ from the last commit; {} without a repository.

    `git status` is not used, because it runs the repository's filters, which may be any program.
    """
    listed = run_git(folder, "ls-files", "--stage", "-z")
    if listed is None:
        return {}
    committed = dict(_entries(run_git(folder, "ls-tree", "-r", "-z", "HEAD") or b""))
    others = run_git(folder, "ls-files", "--others", "--exclude-standard", "-z") or b""
    found: dict[Path, FileState] = {}
    for name, held in list(_entries(listed))[:_MOST]:
        path = folder / name
        if name not in committed:
            found[path] = "A"
        elif committed[name] != held or _differs(path, held):
            found[path] = "M"
    for raw in others.split(b"\0")[:_MOST]:
        if raw:
            found[folder / raw.decode("utf-8", "replace")] = "U"
    return found


def _entries(listed: bytes) -> Iterator[tuple[str, str]]:
    """Yield names and hashes (`ls-files --stage`: mode hash stage; `ls-tree`: mode type hash)."""
    for line in listed.split(b"\0"):
        facts, tab, name = line.partition(b"\t")
        words = facts.decode("ascii", "replace").split()
        if tab and len(words) == 3:
            yield name.decode("utf-8", "replace"), words[2] if len(words[2]) > 3 else words[1]


def _differs(path: Path, held: str) -> bool:
    """Return whether a file's bytes differ from a blob, ignoring line breaks."""
    try:
        if path.is_symlink():
            return False
        data = read_bounded(path)
    except OSError:
        return False  # deleted, so it has no row
    return held not in (_hash(data, held), _hash(data.replace(b"\r\n", b"\n"), held))


def _hash(data: bytes, like: str) -> str:
    kind = hashlib.sha256 if len(like) == 64 else hashlib.sha1
    return kind(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
