"""Find a text or a pattern in the files of a folder."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from studio.core.patterns import compile_pattern, expanded, matches
from studio.core.text.files import read_bounded
from studio.core.text.source import Span, TextEdit

SKIPPED = frozenset(
    {"node_modules", "__pycache__", ".git", ".venv", "venv", "dist", "build", ".mypy_cache"}
)
"""Folders without users' files."""

SUFFIXES = frozenset(
    """
    .prompty .prompt .md .mdc .txt .py .json .jsonl .ndjson .yaml .yml .toml .csv .tsv .tracy .xml
    .j2 .jinja .jinja2
""".split()
)
"""Suffixes of the files to search."""

_LARGEST_BYTES = 2_000_000
_MOST_FILES = 5_000
_LONGEST_LINE = 400
_FILE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class SearchMatch:
    """A match of a search."""

    path: Path
    """Path of the file."""

    line: int
    """Line, from 1."""

    span: Span
    """Span in the file's text with LF line breaks."""

    text: str
    """The line, truncated if it is long."""


@dataclass(frozen=True, slots=True)
class Query:
    """The text and options of a search."""

    text: str
    """Words or pattern to search for."""

    regex: bool = False
    """Whether the text is a regular expression."""

    case: bool = False
    """Whether case matters."""

    most: int = 1000
    """Maximum number of matches."""

    def pattern(self) -> object:
        """Return the compiled pattern.

        Raises:
            PatternError: the text is no regular expression.
        """
        return compile_pattern(self.text, regex=self.regex, case=self.case)


def files_of(root: Path, suffixes: Set[str] = SUFFIXES, most: int = _MOST_FILES) -> Iterator[Path]:
    """Yield the text files below a folder, without hidden ones and links.

    Args:
        root: the folder.
        suffixes: suffixes of their names, in lower case.
        most: maximum number of files.
    """
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
            elif path.suffix.lower() in suffixes:
                if count == most:
                    return
                count += 1
                yield path


def files_below(
    roots: Iterable[Path], suffixes: Set[str] = SUFFIXES, most: int = _MOST_FILES
) -> Iterator[Path]:
    """Yield the text files below some folders, each once even if the folders are nested."""
    seen: set[Path] = set()
    for root in roots:
        for path in files_of(root, suffixes, most):
            if len(seen) == most:
                return
            if path not in seen:
                seen.add(path)
                yield path


def innermost(path: Path, roots: Iterable[Path]) -> Path | None:
    """Return the folder that contains a file; the innermost of nested ones."""
    holding = (root for root in roots if path.is_relative_to(root))
    return max(holding, key=lambda root: len(root.parts), default=None)


def real_files_below(roots: Sequence[Path]) -> Iterator[Path]:
    """Yield the text files below some folders, each once and without links to them."""
    found = list(files_below(roots))
    links = {path for path in found if path.is_symlink()}
    seen = {path.resolve() for path in found if path not in links} if links else set()
    for path in found:
        if path in links:
            real = path.resolve()
            if real in seen:
                continue
            seen.add(real)
        yield path


def below(path: Path, root: Path, roots: Sequence[Path]) -> str:
    """Return a path relative to its folder, with the folder's name if there are several."""
    inside = path.relative_to(root).as_posix() if path != root else ""
    if len(roots) < 2:
        return inside
    return f"{root.name}/{inside}" if inside else root.name


def search(
    roots: Sequence[Path], query: Query, texts: Mapping[Path, str] | None = None
) -> tuple[SearchMatch, ...]:
    """Find every match below some folders, file by file.

    Args:
        roots: the folders.
        query: the search.
        texts: unsaved texts by resolved path, used instead of the files on disk.

    Raises:
        PatternError: the pattern is no regular expression, or takes too long.
    """
    pattern = query.pattern()
    found: list[SearchMatch] = []
    if not query.text:
        return ()
    for path in real_files_below(roots):
        text = texts.get(path.resolve()) if texts else None
        found += _in_file(path, text, pattern, query.most - len(found))
        if len(found) >= query.most:
            break
    return tuple(found)


def replaced(text: str, query: Query, new: str) -> tuple[TextEdit, ...]:
    r"""Return the edits that replace every match by `new` (`\1`, `\g<name>`: a pattern's groups).

    Raises:
        PatternError: the pattern is invalid or takes too long, or `new` refers to an unknown group.
    """
    return tuple(
        TextEdit(Span(*match.span()), expanded(match, new) if query.regex else new)
        for match in matches(query.pattern(), text, _FILE_SECONDS)
    )


def _in_file(path: Path, text: str | None, pattern: object, most: int) -> list[SearchMatch]:
    if text is None:
        text = _read(path)
    found: list[SearchMatch] = []
    line, counted = 1, 0
    for match in matches(pattern, text, _FILE_SECONDS):
        if len(found) >= most:
            break
        line += text.count("\n", counted, match.start())
        counted = match.start()
        start = text.rfind("\n", 0, counted) + 1
        end = text.find("\n", counted)
        whole = text[start : end if end >= 0 else len(text)]
        found.append(SearchMatch(path, line, Span(*match.span()), whole[:_LONGEST_LINE]))
    return found


def _read(path: Path) -> str:
    """Return a file's text; empty if it is too large or cannot be read."""
    try:
        text = read_bounded(path, _LARGEST_BYTES).decode("utf-8-sig", "replace")
    except OSError:
        return ""
    return text.replace("\r\n", "\n").replace("\r", "\n")
