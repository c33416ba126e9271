"""Files of the tabs: dialogs for opening and saving, and questions about unsaved changes."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from enum import Enum, auto
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from studio.application.words import marked, tr
from studio.viewmodels.document.controller import UNTITLED

if TYPE_CHECKING:
    from studio.ui.editor.page.page import EditorPage
    from studio.ui.editor.tabs.sides import EditorSides
    from studio.viewmodels.app.settings import SettingsStore
    from studio.viewmodels.document.swap import SwapFolder

_PROMPT_FILTER = marked(
    "Prompts (*.prompty);;Markdown and text (*.md *.txt);;Python tools (*.py);;All files (*)"
)

_EXPERIMENT_FILTER = marked("Experiments (*.experiment.yaml *.experiment.yml)")

_NAMED = 12
"""Maximum number of documents that the question lists by name."""


class PageFiles(QObject):
    """Saves pages and asks the user about their files."""

    named = Signal(Path)  # the file that the user chose for a page

    def __init__(
        self, tabs: QWidget, sides: EditorSides, swaps: SwapFolder, settings: SettingsStore
    ) -> None:
        """Create it.

        Args:
            tabs: parent of the dialogs.
            sides: the pages.
            swaps: store of unsaved text.
            settings: settings, for the open folder.
        """
        super().__init__(tabs)
        self._tabs = tabs
        self._sides = sides
        self._swaps = swaps
        self._settings = settings

    def ask_open(self) -> list[Path]:
        """Ask for files to open; return none if the user cancels."""
        return _ask_open(self._tabs, self.folder())

    def save(self, page: EditorPage) -> bool:
        """Save a page; ask for a name if it has none."""
        return self.save_as(page) if page.controller.path is None else page.save()

    def save_as(self, page: EditorPage) -> bool:
        """Save a page under another name."""
        start = page.controller.path or Path(self.folder()) / _first_name(page)
        path = _ask_save(self._tabs, start)
        if path is None or not page.save(path):
            return False
        self.named.emit(page.controller.path)
        return True

    def save_all(self) -> bool:
        """Save every page with unsaved changes; continue after a page that cannot be saved."""
        saved = True
        for page in list(self._sides.pages()):
            if page.controller.is_dirty and not self.save(page):
                saved = False
        return saved

    def may_close(self, pages: Collection[EditorPage]) -> bool:
        """Ask what to do with texts that no other page shows; close nothing yet."""
        dirty: dict[str, EditorPage] = {}
        for page in pages:
            if page.controller.is_dirty and all(
                view in pages for view in self._sides.views_of(page)
            ):
                dirty[page.controller.id] = page
        if not dirty:
            return True
        unsaved = list(dirty.values())
        if len(unsaved) == 1:
            self._sides.select(unsaved[0])
        answer = _ask_unsaved(self._tabs.window(), [page.controller.title for page in unsaved])
        if answer is _Unsaved.SAVE:
            return all(self.save(page) for page in unsaved)
        return answer is _Unsaved.DISCARD

    def keep_for_next_start(self) -> bool:
        """Store all unsaved texts for the next start; if one fails, store none and return False."""
        unsaved = {
            page.controller.id: page for page in self._sides.pages() if page.controller.is_dirty
        }
        for page in unsaved.values():
            if not page.controller.keep_for_next_start(page.editor.textCursor().position()):
                self._swaps.keep_none()
                return False
        return True

    def folder(self) -> str:
        """Return the initial folder of file dialogs: the open file's, else the open one."""
        page = self._sides.current
        if page is not None and page.controller.path is not None:
            return str(page.controller.path.parent)
        return self._settings.value.workspace or str(Path.home())


class _Unsaved(Enum):
    """Answers to the question about unsaved changes."""

    SAVE = auto()
    DISCARD = auto()
    STAY = auto()


def _ask_open(parent: QWidget, folder: str) -> list[Path]:
    """Ask for files to open; return none if the user cancels."""
    names, _ = QFileDialog.getOpenFileNames(
        parent,
        tr("Open prompt"),
        folder,
        ";;".join(tr(each) for each in (_PROMPT_FILTER, _EXPERIMENT_FILTER)),
    )
    return [Path(name) for name in names]


def _first_name(page: EditorPage) -> str:
    """Return the suggested file name of a new text, from its `name:`."""
    document, title = page.document, page.controller.title
    name = document.data.get("name") if document is not None else None
    words = re.findall(r"\w+", name.lower()) if isinstance(name, str) else []
    return f"{'-'.join(words)[:80]}.prompty" if words and title.startswith(UNTITLED) else title


def _ask_save(parent: QWidget, start: Path) -> Path | None:
    """Ask for the file to save to, and add the format's suffix if it has none."""
    name, _ = QFileDialog.getSaveFileName(parent, tr("Save prompt"), str(start), tr(_PROMPT_FILTER))
    if not name:
        return None
    path = Path(name)
    return path if path.suffix else path.with_suffix(".prompty")


def _ask_unsaved(parent: QWidget, titles: Sequence[str]) -> _Unsaved:
    """Ask about the unsaved documents to close: one answer for all."""
    button = QMessageBox.StandardButton
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.NoIcon)
    box.setWindowTitle(tr("Unsaved changes"))
    lost = tr("They are lost if you do not save them.")
    if len(titles) == 1:
        words = tr("Save the changes to {title}?")
        box.setText(words.format(title=titles[0]))
        box.setInformativeText(lost)
        save, discard = button.Save, button.Discard
    else:
        words = tr("Save the changes to {count} prompts?")
        box.setText(words.format(count=len(titles)))
        more = len(titles) - _NAMED
        names = [*titles[:_NAMED], *([f"… +{more}"] if more > 0 else [])]
        box.setInformativeText("\n".join([*names, "", lost]))
        save, discard = button.SaveAll, button.Discard
    box.setStandardButtons(save | discard | button.Cancel)
    box.setDefaultButton(save)
    answer = box.exec()
    if answer == save:
        return _Unsaved.SAVE
    return _Unsaved.DISCARD if answer == discard else _Unsaved.STAY
