"""How the files of a folder differ from the last commit: changed, added, or unknown to git."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from studio.core.text.bounded_file import read_bounded

FileState: TypeAlias = Literal["M", "A", "U"]
"""Git's usual letters: modified, added to the index, untracked."""

_MOST = 5_000
"""Files of a folder that are looked at."""


def file_states(folder: Path) -> Mapping[Path, FileState]:
    """The files below a folder that differ from the last commit; empty without a repository.

    Not `git status`: that runs the filters that a repository sets up, which may be any program.
    """
    from studio.application.document.revisions import run_git  # not before the first paint

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
    """Names and hashes: `ls-files --stage` says mode, hash, stage; `ls-tree` mode, type, hash."""
    for line in listed.split(b"\0"):
        facts, tab, name = line.partition(b"\t")
        words = facts.decode("ascii", "replace").split()
        if tab and len(words) == 3:
            yield name.decode("utf-8", "replace"), words[2] if len(words[2]) > 3 else words[1]


def _differs(path: Path, held: str) -> bool:
    """Whether a file's bytes are others than those of a blob, but for its line ends."""
    try:
        if path.is_symlink():
            return False
        data = read_bounded(path)
    except OSError:
        return False  # gone: there is no row for it
    return held not in (_hash(data, held), _hash(data.replace(b"\r\n", b"\n"), held))


def _hash(data: bytes, like: str) -> str:
    kind = hashlib.sha256 if len(like) == 64 else hashlib.sha1
    return kind(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
