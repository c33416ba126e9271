"""Find a text or a pattern in the files of a folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from studio.core.text.span import Span

SKIPPED = frozenset(
    {"node_modules", "__pycache__", ".git", ".venv", "venv", "dist", "build", ".mypy_cache"}
)
"""Folders that hold nothing a person wrote."""

SUFFIXES = frozenset(
    {".prompty", ".md", ".txt", ".py", ".json", ".yaml", ".yml", ".toml", ".csv", ".tracy"}
)
"""Files that are looked into."""

_LARGEST_BYTES = 2_000_000
_MOST_FILES = 5_000
_LONGEST_LINE = 400


@dataclass(frozen=True, slots=True)
class Match:
    """One place where the text stands."""

    path: Path
    """The file."""

    line: int
    """From 1."""

    span: Span
    """The place in the file's text with LF line ends."""

    text: str
    """The line, cut where it is long."""


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for."""

    text: str
    """The words, or the pattern."""

    regex: bool = False
    """Whether the text is a regular expression."""

    case: bool = False
    """Whether capitals matter."""

    most: int = 1000
    """Matches after which the search ends."""

    def pattern(self) -> re.Pattern[str]:
        """The compiled pattern.

        Raises:
            re.error: it is no regular expression.
        """
        flags = re.MULTILINE | (0 if self.case else re.IGNORECASE)
        return re.compile(self.text if self.regex else re.escape(self.text), flags)


def files_of(root: Path) -> Iterator[Path]:
    """The text files below a folder, folders first to last by name; hidden ones are left out."""
    folders, count = [root], 0
    while folders:
        folder = folders.pop()
        try:
            inside = sorted(folder.iterdir())
        except OSError:
            continue
        for path in inside:
            if path.name.startswith("."):
                continue
            if path.is_dir():
                if path.name not in SKIPPED and not path.is_symlink():
                    folders.append(path)
            elif path.suffix.lower() in SUFFIXES:
                count += 1
                if count > _MOST_FILES:
                    return
                yield path


def search(root: Path, query: Query) -> tuple[Match, ...]:
    """Every match below a folder, file by file.

    Raises:
        re.error: the pattern is no regular expression.
    """
    pattern = query.pattern()
    found: list[Match] = []
    if not query.text:
        return ()
    for path in files_of(root):
        found += _in_file(path, pattern, query.most - len(found))
        if len(found) >= query.most:
            break
    return tuple(found)


def _in_file(path: Path, pattern: re.Pattern[str], most: int) -> list[Match]:
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            return []
        text = path.read_bytes().decode("utf-8-sig", "replace")
    except OSError:
        return []
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    found: list[Match] = []
    line, counted = 1, 0
    for match in pattern.finditer(text):
        if match.start() == match.end():
            continue
        if len(found) >= most:
            break
        line += text.count("\n", counted, match.start())
        counted = match.start()
        start = text.rfind("\n", 0, counted) + 1
        end = text.find("\n", counted)
        whole = text[start : end if end >= 0 else len(text)]
        found.append(Match(path, line, Span(*match.span()), whole[:_LONGEST_LINE]))
    return found
