"""Navigation: find a command, file, symbol or line by name, and go back and forward."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QKeySequence

from studio.application.words import tr
from studio.ui.editor.page.page import EditorPage
from studio.ui.editor.tabs.tabs import EditorTabs
from studio.ui.style.theme import icon
from studio.ui.window.examples import bundled
from studio.ui.window.palette import CommandPalette, PaletteItem

if TYPE_CHECKING:
    from studio.core.text.source import Span
    from studio.ui.editor.page.page import EditorPage
    from studio.ui.window.parts import WindowParts


_MOST_BESIDE = 500
_PROMPT_LEAD = 9
"""Score by which a prompt precedes other files of the same name, whose endings are shorter."""
_LINE = re.compile(r"(?P<line>\d{1,9})(?:[:,](?P<column>\d{1,9})?)?")


class Chooser(QObject):
    """Fills the palette of the window and opens the chosen item."""

    def __init__(
        self, window: WindowParts, new_from: Callable[[Path], None], parent: QObject
    ) -> None:
        """Create it.

        Args:
            window: parts of the window.
            new_from: creates a prompt from a template file.
            parent: owner.
        """
        super().__init__(parent)
        self._window = window
        self._new_from = new_from
        self.palette = CommandPalette(window.widget)
        """The palette for choosing one of many items."""

    def ask_command(self) -> None:
        """Choose any action."""
        choices = []
        for action in self._window.actions:
            if action.objectName() == "view.commands":
                continue
            keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            choices.append(
                PaletteItem(
                    action.text().removesuffix("…"),
                    # After the palette has returned the focus to the editor.
                    partial(QTimer.singleShot, 0, action, action.trigger),
                    keys,
                    action.icon() if not action.icon().isNull() else None,
                    action.isEnabled(),
                )
            )
        for toggle in self._window.docks.toggles():
            choices.append(
                PaletteItem(
                    tr("Show or hide {toggle}").format(toggle=toggle.text()), toggle.trigger
                )
            )
        self.palette.ask(tr("Type a command"), choices)

    def ask_symbol(self) -> None:
        """Choose a key or section of the document to go to."""
        self.palette.ask(
            tr("Go to symbol"),
            [
                PaletteItem(name, partial(self._window.tabs.go_to, span))
                for name, span in self._window.outline.symbols()
            ],
        )

    def ask_use(self) -> None:
        """Choose a use of the input or tool at the caret to go to."""
        page = self._window.tabs.current
        if page is not None:
            page.names.find_uses(lambda name, places: self._ask_use(page, name, places))

    def _ask_use(self, page: EditorPage, name: str, places: tuple[Span, ...]) -> None:
        if not places:
            self._window.messages.info(
                tr("There is no input or tool at the caret."),
                tr("Put the caret on an input or a tool to find its uses."),
            )
            return
        source = page.editor.source()
        lines = source.text.split("\n")
        choices = []
        for place in places:
            line = source.line_of(place.start)
            choices.append(
                PaletteItem(
                    lines[line].strip() or name,
                    partial(self._window.tabs.go_to, place),
                    tr("line {line}").format(line=line + 1),
                )
            )
        self.palette.ask(tr("Uses of {name}").format(name=name), choices)

    def ask_snippet(self) -> None:
        """Choose a snippet that is valid at the caret, and insert it."""
        from studio.application.editing.offers import snippets_at

        page = self._window.tabs.current
        if page is None:
            return
        found = snippets_at(page.editor.text(), page.editor.caret(), page.document)
        self.palette.ask(
            tr("Insert snippet"),
            [
                PaletteItem(
                    each.name,
                    # After the palette has returned the focus to the editor.
                    partial(
                        QTimer.singleShot,
                        0,
                        page.assist,
                        partial(page.assist.insert_snippet, each.body, declares=each.declares),
                    ),
                    each.detail,
                    icon("braces"),
                )
                for each in found
            ],
        )

    def ask_spelling(self) -> None:
        """Choose the language for the spelling check, or none."""
        from studio.core.spelling import languages

        store = self._window.services.settings

        def choose(language: str) -> None:
            store.set(replace(store.value, spelling=language))

        now = store.value.spelling
        choices = [PaletteItem(tr("Off"), lambda: choose(""), "" if now else tr("now"))]
        choices += [
            PaletteItem(each, partial(choose, each), tr("now") if each == now else "")
            for each in languages()
        ]
        self.palette.ask(tr("Language of the spelling check"), choices)

    def ask_line(self) -> None:
        """Choose a line, or a line and column such as `12:5`."""
        page = self._window.tabs.current
        if page is None:
            return
        last = page.editor.blockCount()

        def lines(query: str) -> list[PaletteItem]:
            found = _LINE.fullmatch(query.strip().removeprefix(":"))
            if found is None:
                return []
            line = max(1, min(int(found["line"]), last))
            column = int(found["column"] or 1)
            text = page.editor.document().findBlockByNumber(line - 1).text().strip()
            words = tr("Line {line}").format(line=line)
            return [PaletteItem(words, partial(page.editor.go_to_line, line, column), text)]

        prompt = tr("Line, 1 to {count}").format(count=last)
        self.palette.ask_typed(prompt, lines)

    def ask_file(self) -> None:
        """Choose a file of the folder, a recent one, or one beside the active prompt."""
        window = self._window
        page = window.tabs.current
        paths = [Path(name) for name in window.services.settings.value.recent]
        paths += [path for path in window.files.prompts() if path not in paths]
        if page is not None and page.controller.path is not None:
            beside = itertools.islice(page.controller.path.parent.glob("*.prompty"), _MOST_BESIDE)
            paths += sorted(path for path in beside if path not in paths)
        self.palette.ask(
            tr("Go to file"),
            [
                PaletteItem(
                    path.name,
                    partial(window.tabs.open, path),
                    _short(path.parent, window.files.root_of(path), window.files.roots),
                    icon("file-text"),
                    lead=_PROMPT_LEAD if path.suffix == ".prompty" else 0,
                )
                for path in paths
            ],
        )

    def ask_template(self) -> None:
        """Choose a template."""
        self.palette.ask(
            tr("New from template"),
            [
                PaletteItem(
                    each.name,
                    partial(self._new_from, each.path),
                    each.description,
                    icon("file-plus"),
                )
                for each in bundled("templates")
            ],
        )


def _short(folder: Path, root: Path | None, roots: Sequence[Path]) -> str:
    if root is not None:
        from studio.core.search_files import below  # not before the first paint

        return below(folder, root, roots)
    with contextlib.suppress(ValueError, RuntimeError):
        return f"~/{folder.relative_to(Path.home())}"
    return str(folder)


class Navigation(QObject):
    """Records positions of the caret and opened runs, and goes back to them."""

    def __init__(self, tabs: EditorTabs, parent: QObject) -> None:
        super().__init__(parent)
        self._tabs = tabs
        self._history = PlaceHistory()
        self.open_run: Callable[[str], object] | None = None
        """Shows a run by id; None before the panes exist."""
        tabs.caret_moved.connect(self._on_caret)
        tabs.jumping.connect(self._on_jump)
        tabs.current_changed.connect(self._on_page)

    def note_place(self) -> None:
        """Record the current position of the user."""
        self._note(self._tabs.current)

    def visit_run(self, run: str) -> None:
        """Add an opened run to the history of places."""
        self._history.visit(RunPlace(run))

    def go(self, by: int) -> None:
        """Go back (-1) or forward (1)."""
        self._note(self._tabs.current)
        place = self._history.step(by)
        while place is not None and not self._show(place):
            self._history.forget(place)
            place = self._history.step(min(by, 0))

    def _show(self, place: VisitedPlace) -> bool:
        match place:
            case RunPlace(run):
                if self.open_run is None:
                    return False
                self.open_run(run)
                return True
            case TextPlace():
                return self._show_text(place)
            case _:
                assert_never(place)

    def _show_text(self, place: TextPlace) -> bool:
        pages = self._tabs.pages()
        page = next((each for each in pages if each.controller.id == place.document), None)
        if page is not None:
            self._tabs.sides.select(page)
            self._tabs.show_tabs()
        elif place.path is not None and place.path.is_file():
            page = self._tabs.open(place.path)
        if page is None:
            return False
        page.editor.show_place(place.offset)
        return True

    def _on_jump(self) -> None:
        self._note(self._tabs.current)
        self._history.leave()

    def _on_caret(self, _offset: int) -> None:
        self._note(self._tabs.current)

    def _on_page(self, page: EditorPage | None) -> None:
        self._note(page)

    def _note(self, page: EditorPage | None) -> None:
        if page is not None:
            line = page.editor.textCursor().blockNumber()
            controller = page.controller
            place = TextPlace(controller.id, controller.path, line, page.editor.caret())
            self._history.visit(place)


# History of places to go back and forward.


_NEAR = 10
"""Number of lines within which a move of the caret is not a jump, as in other editors."""
_MOST = 100


@dataclass(frozen=True, slots=True)
class TextPlace:
    """A position in a text."""

    document: str
    """Identifier of the open document."""

    path: Path | None
    """File of the document, if it has one, to open it again."""

    line: int
    """Line of the caret, from 0."""

    offset: int
    """Offset of the caret in the text."""


@dataclass(frozen=True, slots=True)
class RunPlace:
    """A run that was opened."""

    run: str
    """Id of the run in the history."""


VisitedPlace = TextPlace | RunPlace


class PlaceHistory:
    """The visited places in order, with the current one."""

    def __init__(self) -> None:
        self._places: list[VisitedPlace] = []
        self._at = -1
        self._leaves = False

    def leave(self) -> None:
        """Record a jump: the next place is new if its line differs, even if it is near."""
        self._leaves = True

    def visit(self, place: VisitedPlace) -> None:
        """Record the user's place: a new one after a jump, otherwise the current one moves."""
        lines = 0 if self._leaves else _NEAR
        self._leaves = False
        if self._at >= 0 and _is_near(self._places[self._at], place, lines):
            self._places[self._at] = place
            return
        del self._places[self._at + 1 :]
        self._places.append(place)
        del self._places[: len(self._places) - _MOST]
        self._at = len(self._places) - 1

    def step(self, by: int) -> VisitedPlace | None:
        """Go back (-1) or forward (1); return None if there is no further place."""
        if not 0 <= self._at + by < len(self._places):
            return None
        self._at += by
        return self._places[self._at]

    def forget(self, place: VisitedPlace) -> None:
        """Remove a place that no longer exists."""
        index = self._places.index(place)
        del self._places[index]
        if index <= self._at:
            self._at -= 1


def _is_near(one: VisitedPlace, other: VisitedPlace, lines: int) -> bool:
    if isinstance(one, TextPlace) and isinstance(other, TextPlace):
        return one.document == other.document and abs(one.line - other.line) <= lines
    return one == other
