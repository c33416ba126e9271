"""The prompt files of folders, without what version control and tools keep there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from studio.core.experiments.file.names import SUFFIXES
from studio.core.prompty.agent_files.read import agent_file_kind
from studio.core.text.files import read_text

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SUFFIX = ".prompty"

LEFT_OUT = frozenset(
    {".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".mypy_cache"}
)
"""Folders that are never looked into."""


def prompt_files(
    folders: Iterable[Path],
    exclude: Sequence[str] = (),
    *,
    ignored: bool = False,
    with_others: bool = False,
) -> Iterator[Path]:
    """Yield every prompt file below some folders, in order, each once.

    Args:
        folders: where to look.
        exclude: patterns as in a `.gitignore`, relative to each folder.
        ignored: also those that a `.gitignore` of the folder, or of one in it, leaves out.
        with_others: also experiments, and the files that coding agents read (`SKILL.md`, …).
    """
    seen: set[Path] = set()
    for folder in folders:
        for path in _walk(folder, exclude, ignored=ignored, with_others=with_others):
            if path not in seen:
                seen.add(path)
                yield path


def _walk(
    folder: Path, exclude: Sequence[str], *, ignored: bool, with_others: bool
) -> Iterator[Path]:
    rules: list[tuple[Path, GitIgnoreSpec]] = []
    if exclude:
        rules.append((folder, _spec(exclude)))
    for root, names, files in os.walk(folder):
        here = Path(root)
        if not ignored and ".gitignore" in files:
            rules.append((here, _spec(_lines(here / ".gitignore"))))
        names[:] = sorted(
            name for name in names if name not in LEFT_OUT and not _hidden(rules, here / name, "/")
        )
        for name in sorted(files):
            path = here / name
            is_wanted = path.suffix == SUFFIX or (with_others and _is_other(path))
            if is_wanted and not _hidden(rules, path) and not _is_device(path):
                yield path


def _is_other(path: Path) -> bool:
    return path.name.lower().endswith(SUFFIXES) or agent_file_kind(path) is not None


def _is_device(path: Path) -> bool:
    """Return whether it is a pipe, a socket or a device: reading one may wait for ever."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False  # what reads it says so
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _hidden(rules: Sequence[tuple[Path, GitIgnoreSpec]], path: Path, end: str = "") -> bool:
    return any(
        spec.match_file(path.relative_to(base).as_posix() + end)
        for base, spec in rules
        if path.is_relative_to(base)
    )


def _lines(path: Path) -> list[str]:
    try:
        return read_text(path, errors="replace").splitlines()
    except OSError:
        return []  # what cannot be read leaves nothing out


def _spec(lines: Iterable[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # not for a folder without any rule

    return GitIgnoreSpec.from_lines(lines)
