"""Replaces what was found in files: in the editor where a file is open, else on the disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from studio.application.document.files import FileError, read_file, write_file
from studio.core.search_files import Query, replaced
from studio.core.text.problem import apply_edits
from studio.ui.editor.page.page import EditorPage

if TYPE_CHECKING:
    from studio.ui.editor.tabs.tabs import EditorTabs


@dataclass(frozen=True, slots=True)
class Replaced:
    """What came of it."""

    places: int = 0
    """How many places have the new text."""

    files: int = 0
    """In how many files."""

    failed: tuple[str, ...] = ()
    """Why files were left as they were, one sentence each."""


class FileReplacer:
    """Knows which files are open."""

    def __init__(self, tabs: EditorTabs) -> None:
        self._tabs = tabs

    def texts(self) -> dict[Path, str]:
        """The unsaved texts of open files, which count in place of what is on disk."""
        return {path: page.editor.text() for path, page in self._pages().items()}

    def replace(self, paths: tuple[Path, ...], query: Query, new: str) -> Replaced:
        """Replace every match in some files.

        An open file gets the edits as one step that can be undone, and is not saved; any other is
        written whole or left as it was.
        """
        pages = self._pages()
        places, files, failed = 0, 0, []
        for path in paths:
            try:
                count = self._in_one(path, pages, query, new)
            except FileError as error:
                failed.append(str(error))
                continue
            places += count
            files += bool(count)
        return Replaced(places, files, tuple(failed))

    def _in_one(self, path: Path, pages: Mapping[Path, EditorPage], query: Query, new: str) -> int:
        page = pages.get(path.resolve())
        if page is not None:
            edits = replaced(page.editor.text(), query, new)
            page.editor.apply_edits(edits)
            return len(edits)
        file = read_file(path)
        edits = replaced(file.text, query, new)
        if edits:
            write_file(path, replace(file, text=apply_edits(file.text, edits)))
        return len(edits)

    def _pages(self) -> dict[Path, EditorPage]:
        found: dict[Path, EditorPage] = {}
        for page in self._tabs.pages():
            path = page.controller.path
            if path is not None:
                found.setdefault(path.resolve(), page)
        return found
