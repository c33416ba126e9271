"""Find, create, copy and rename the files of a folder, with the references to them."""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from studio.application.document.files import FileError, read_file, write_file
from studio.application.words import tr
from studio.core.experiments.file.names import SUFFIXES
from studio.core.prompty.agent_files.read import agent_file_kind
from studio.core.search_files import files_below
from studio.core.text.files import read_bounded, read_text
from studio.core.text.source import Span, TextEdit, apply_edits

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


SUFFIX = ".prompty"

LEFT_OUT = frozenset(
    {".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".mypy_cache"}
)
"""Folders that are never searched."""


def prompt_files(
    folders: Iterable[Path],
    exclude: Sequence[str] = (),
    *,
    ignored: bool = False,
    with_others: bool = False,
) -> Iterator[Path]:
    """Yield every prompt file below some folders, in order, each once.

    Args:
        folders: the folders to search.
        exclude: patterns as in a `.gitignore`, relative to each folder.
        ignored: whether to include files excluded by a `.gitignore`.
        with_others: whether to include experiments, and files of coding agents (`SKILL.md`, …).
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
    """Return whether it is a pipe, a socket or a device, whose reading may block forever."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False  # reading it reports the error
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
        return []  # an unreadable file excludes nothing


def _spec(lines: Iterable[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # not imported for a folder without rules

    return GitIgnoreSpec.from_lines(lines)


_TEXTS = frozenset({".prompty", ".md", ".txt", ".json", ".jsonl", ".yaml", ".yml", ".toml", ".py"})
_MOST_FILES = 5000
_NAME = re.compile(r"[^/\\\0-\x1f\x7f]+")
"""Matches a valid part of a path."""
_SUFFIX = re.compile(r"\.[A-Za-z]\w*\Z")
"""Matches a suffix that names a file type: `.md`, but not the `.2` of `v1.2`."""
_SUFFIXES = re.compile(r"(?<=.)(?:\.[A-Za-z]\w*)+\Z")
"""Matches all suffixes that name a file type: `.experiment.yaml`."""
_BELOW = re.compile(r"\A/[^\s\"'<>(){}]*")
"""Matches the path inside a renamed folder."""
_VALUE = re.compile(r"(?:^|\s)(?:-|[\w$-]+:)[ \t]+$")
_REST = re.compile(r"[ \t]*(?:#.*)?")
"""Matches spaces and a comment around a whole YAML value."""


@dataclass(frozen=True, slots=True)
class NamedIn:
    """A file with references to another one."""

    path: Path
    """Path of the file with the references."""

    old: str
    """Text of the references before the rename."""

    edits: tuple[TextEdit, ...]
    """Edits that insert the new name."""


def new_file(folder: Path, name: str, text: str = "") -> Path:
    """Create a file; `name` may contain folders, and only a prompt gets the text.

    Raises:
        FileError: it exists, or cannot be written.
    """
    path = _inside(folder, name if _SUFFIX.search(name) else f"{name}.prompty")
    _refuse_taken(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="") as stream:
            stream.write(text if path.suffix == ".prompty" else "")
    except OSError as error:
        raise _failed(path, error) from error
    return path


def new_folder(folder: Path, name: str) -> Path:
    """Create a folder.

    Raises:
        FileError: it exists, or cannot be created.
    """
    path = _inside(folder, name)
    _refuse_taken(path)
    try:
        path.mkdir(parents=True)
    except OSError as error:
        raise _failed(path, error) from error
    return path


def duplicate(path: Path) -> Path:
    """Copy a file or folder beside itself, under the first free name.

    Raises:
        FileError: it cannot be copied.
    """
    types = _SUFFIXES.search(path.name)
    suffix = types[0] if types is not None else ""
    stem = path.name.removesuffix(suffix)
    number = 1
    target = path.with_name(f"{stem}-copy{suffix}")
    while os.path.lexists(target):
        number += 1
        target = path.with_name(f"{stem}-copy-{number}{suffix}")
    try:
        if path.is_dir():
            shutil.copytree(path, target)
        else:
            shutil.copyfile(path, target)
    except OSError as error:
        raise _failed(path, error) from error
    return target


def delete(path: Path) -> Path:
    """Delete a file, a link or a folder with its content permanently.

    Raises:
        FileError: it cannot be deleted; a part of a folder may be gone.
    """
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    except OSError as error:
        raise _failed(path, error) from error
    return path


def renamed(path: Path, name: str) -> Path:
    """Return the path of a file or folder after a rename.

    Raises:
        FileError: the name is invalid.
    """
    if name in ("", ".", "..") or not _NAME.fullmatch(name):
        words = tr("{name!r} is not a name for a file.").format(name=name)
        raise FileError(words, tr("A name contains no / or \\; create folders in the tree."))
    return path.with_name(name)


def rename(path: Path, new: Path) -> None:
    """Rename a file or folder, with the input sets of a prompt.

    Raises:
        FileError: the name exists, or the file cannot be renamed.
    """
    try:
        is_itself = new.exists() and path.exists() and new.samefile(path) and new != path
        if not (is_itself and new.name.lower() == path.name.lower()):
            _refuse_taken(new)
        path.rename(new)
    except OSError as error:
        raise _failed(path, error) from error
    from studio.application.inputs.sets import sets_path  # not before the window's first paint

    sets, target = sets_path(path), sets_path(new)
    if new.is_file() and sets.is_file() and not target.exists():
        sets.rename(target)


def named_in(
    path: Path, new: Path, roots: Sequence[Path], texts: Mapping[Path, str] | None = None
) -> tuple[NamedIn, ...]:
    """Return the files below some folders that name a file, with the edits that rename it.

    A reference is the path relative to the file with the reference: in `${file:…}`, in a media
    token, or as a whole value of YAML or JSON.

    Args:
        path: path of the file.
        new: its new path.
        roots: the folders to search.
        texts: unsaved texts of open files, used instead of those on disk.
    """
    found, seen, unsaved = [], set(), texts or {}
    name = path.name.encode("utf-8", "surrogateescape")
    open_ = {real.name for real in unsaved}
    for each in files_below(roots, _TEXTS, _MOST_FILES):
        if not each.is_symlink() and each.name not in open_ and not _may_name(each, name):
            continue
        real = each.resolve()
        if path in (each, *each.parents) or real in seen:
            continue  # a link to a file is the same file, whose text is changed once
        seen.add(real)
        text = unsaved.get(real)
        if text is None:
            try:
                text = read_file(each).text
            except FileError:
                continue
        edits = tuple(_edits(text, each.parent, path, new))
        if edits:
            span = edits[0].span
            found.append(NamedIn(each, text[span.start : span.end], edits))
    return tuple(found)


def _may_name(path: Path, name: bytes) -> bool:
    """Return whether a file's bytes contain a name; True for UTF-16, which is not searched."""
    try:
        data = read_bounded(path)
    except OSError:
        return False
    return name in data or b"\0" in data


def rewrite(names: NamedIn) -> None:
    """Replace the old name in a file on disk.

    Raises:
        FileError: it cannot be written.
    """
    file = read_file(names.path)
    if any(file.text[each.span.start : each.span.end] != names.old for each in names.edits):
        words = tr("{name!r} was changed meanwhile.").format(name=names.path.name)
        raise FileError(words, tr("Nothing was changed."))
    write_file(names.path, replace(file, text=apply_edits(file.text, names.edits)))


def _edits(text: str, folder: Path, path: Path, new: Path) -> Iterator[TextEdit]:
    try:
        old = Path(os.path.relpath(path, folder)).as_posix()
        now = Path(os.path.relpath(new, folder)).as_posix()
    except ValueError:
        return  # on another drive, so that no relative path leads to it
    for match in re.finditer(re.escape(old), text):
        start, end = match.span()
        before = text[text.rfind("\n", 0, start) + 1 : start]
        last = text.find("\n", end)
        after = _BELOW.sub("", text[end : last if last >= 0 else len(text)])
        if _is_named(before.removesuffix("./").removesuffix("file://"), after):
            yield TextEdit(Span(start, end), now)


def _is_named(before: str, after: str) -> bool:
    """Return whether the text around a path makes it a reference."""
    if before.endswith("${file:"):
        return after.startswith("}")
    if before.endswith(("](", "](<")):
        return after.startswith((")", ">)", ' "'))
    if before.endswith(('"', "'")):
        return after.startswith(before[-1])
    return _VALUE.search(before) is not None and _REST.fullmatch(after) is not None


def _inside(folder: Path, name: str) -> Path:
    """Return the path of a name that may contain folders, but stays inside the folder."""
    parts = name.replace("\\", "/").split("/")
    if any(part in ("", ".", "..") or not _NAME.fullmatch(part) for part in parts):
        words = tr("{name!r} is not a name for a file.").format(name=name)
        raise FileError(words, tr("Write a name, or folders and a name: drafts/first.prompty."))
    return folder.joinpath(*parts)


def _refuse_taken(path: Path) -> None:
    if os.path.lexists(path):
        words = tr("{name!r} already exists.")
        raise FileError(words.format(name=path.name), tr("Choose another name."))


def _failed(path: Path, error: OSError) -> FileError:
    words = tr("{name!r}: {reason}.")
    return FileError(
        words.format(name=path.name, reason=error.strerror or error), tr("Nothing was changed.")
    )
