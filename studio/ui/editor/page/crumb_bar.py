"""The breadcrumbs above the text (file › section › key), for orientation and navigation."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QSizePolicy, QToolButton, QWidget

from studio.application.words import tr
from studio.core.text.amounts import shortened
from studio.core.text.source import Span
from studio.ui.base.menus import ON_CRUMB, open_menu
from studio.ui.parts.kit import row_of

if TYPE_CHECKING:
    from studio.core.prompty.document import FrontMatterEntry, PromptDocument
    from studio.core.text.values import KeyPath
    from studio.ui.editor.text.view import PromptEditor

_HEIGHT = 28
_MOST_FILES = 100


class CrumbBar(QWidget):
    """A row of buttons, each with a menu of its siblings. Left and Right move the focus."""

    request_open = Signal(Path)  # path of a prompt in the same folder

    def __init__(self, editor: PromptEditor, path: Callable[[], Path | None]) -> None:
        """Make it.

        Args:
            editor: editor whose caret is followed.
            path: returns the prompt's file, if it has one.
        """
        super().__init__()
        self._editor = editor
        self._path = path
        self._crumbs: tuple[Crumb, ...] = ()
        self._buttons: list[QToolButton] = []
        self._marks: list[QLabel] = []
        self.setObjectName("crumbs")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(tr("Breadcrumbs"))
        self.setFixedHeight(_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._row = row_of(on=self, margins=(8, 0, 8, 0), spacing=0)
        self._row.setSizeConstraint(QHBoxLayout.SizeConstraint.SetNoConstraint)
        self._steps = 1
        """Number of steps including the file; the first are hidden if there is no room."""
        self._row.addStretch(1)
        self.moment = QLabel()
        """Label of the run cursor whose lines are highlighted; hidden if there is none."""
        self.moment.setProperty("tone", "accent")
        self.moment.setContentsMargins(8, 0, 4, 0)
        self.moment.hide()
        self._row.addWidget(self.moment)
        self._file = self._add_button()

    @property
    def labels(self) -> list[str]:
        """Return the shown labels, from left to right."""
        shown = [button for button in self._buttons if not button.isHidden()]
        return [button.text() for button in shown]

    def set_title(self, title: str) -> None:
        """Set the name of the file."""
        self._file.setText(title.replace("&", "&&"))
        self._fit()

    def show_moment(self, words: str) -> None:
        """Show the run cursor of the highlighted lines; an empty text hides it."""
        self.moment.setText(words)
        self.moment.setVisible(bool(words))
        self._fit()

    def follow(self, offset: int) -> None:
        """Show the path to the caret."""
        document = self._editor.parsed
        crumbs: tuple[Crumb, ...] = ()
        if document is not None:
            crumbs = crumbs_at(document, offset)
        same = [(each.label, each.summary) for each in crumbs] == [
            (each.label, each.summary) for each in self._crumbs
        ]
        self._crumbs = crumbs
        if not same:
            self._show()

    def take_keyboard(self) -> None:
        """Focus the last step."""
        shown = [button for button in self._buttons if not button.isHidden()]
        shown[-1].setFocus(Qt.FocusReason.ShortcutFocusReason)

    def menu_of(self, index: int) -> QMenu:
        """Return the menu of a step; 0 is the file."""
        menu = QMenu(self)
        menu.aboutToHide.connect(menu.deleteLater)
        if index == 0:
            self._fill_files(menu)
        else:
            self._fill_steps(menu, self._crumbs[index - 1])
        if menu.isEmpty():
            menu.addAction(tr("No siblings")).setEnabled(False)
        return menu

    # -- internals ------------------------------------------------------------------------------

    def _add_button(self) -> QToolButton:
        if self._buttons:
            mark = QLabel("›")
            mark.setProperty("tone", "muted")
            mark.setContentsMargins(2, 0, 2, 2)
            self._marks.append(mark)
            self._row.insertWidget(self._row.count() - 2, mark)
        button = QToolButton()
        button.setProperty("crumb", True)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.installEventFilter(self)
        index = len(self._buttons)
        button.clicked.connect(lambda: self._open(index))
        self._buttons.append(button)
        self._row.insertWidget(self._row.count() - 2, button)
        return button

    def _show(self) -> None:
        while len(self._buttons) <= len(self._crumbs):
            self._add_button()
        self._steps = len(self._crumbs) + 1
        for index, crumb in enumerate(self._crumbs, 1):
            button = self._buttons[index]
            button.setText(self._name(crumb).replace("&", "&&"))
            button.setToolTip(crumb.summary)
            button.setAccessibleDescription(crumb.summary)
        self._fit()

    def _fit(self) -> None:
        """Show the last steps that fit; the tab shows the file name anyway."""
        room = self.width() - self._row.contentsMargins().left() * 2
        room -= self.moment.sizeHint().width() if self.moment.text() else 0
        first = self._steps - 1
        used = self._buttons[first].sizeHint().width()
        while first > 0:
            used += self._buttons[first - 1].sizeHint().width()
            used += self._marks[first - 1].sizeHint().width()
            if used > room:
                break
            first -= 1
        for index, button in enumerate(self._buttons):
            button.setVisible(first <= index < self._steps)
            if index:
                self._marks[index - 1].setVisible(first < index < self._steps)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show the window's actions for the breadcrumbs."""
        open_menu(self, event, ON_CRUMB)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as many steps as fit."""
        super().resizeEvent(event)
        self._fit()

    def _name(self, crumb: Crumb) -> str:
        if crumb.label:
            return crumb.label
        return tr("front matter") if crumb.path is not None else tr("text")

    def _open(self, index: int) -> None:
        button = self._buttons[index]
        self.menu_of(index).popup(button.mapToGlobal(QPoint(0, button.height())))

    def _fill_steps(self, menu: QMenu, crumb: Crumb) -> None:

        document = self._editor.parsed
        for each in beside(document, crumb) if document is not None else ():
            text = self._name(each) + (f"   {each.summary}" if each.summary else "")
            action = menu.addAction(text.replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(each.place == crumb.place)
            action.triggered.connect(lambda _=False, place=each.place: self._editor.reveal(place))
            if each.place == crumb.place:
                menu.setActiveAction(action)

    def _fill_files(self, menu: QMenu) -> None:
        own = self._path()
        if own is None:
            return
        try:
            found = sorted(each for each in own.parent.glob("*.prompty") if each.is_file())
        except OSError:
            return
        for path in found[:_MOST_FILES]:
            action = menu.addAction(path.name.replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(path.name == own.name)
            action.triggered.connect(lambda _=False, path=path: self.request_open.emit(path))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle keys on a step."""
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        shown = [button for button in self._buttons if not button.isHidden()]
        at = next((index for index, each in enumerate(shown) if each is watched), -1)
        match event.key():
            case Qt.Key.Key_Left if at > 0:
                shown[at - 1].setFocus(Qt.FocusReason.OtherFocusReason)
            case Qt.Key.Key_Right if 0 <= at < len(shown) - 1:
                shown[at + 1].setFocus(Qt.FocusReason.OtherFocusReason)
            case Qt.Key.Key_Down | Qt.Key.Key_Return | Qt.Key.Key_Enter if at >= 0:
                self._open(at)
            case Qt.Key.Key_Escape:
                self._editor.setFocus(Qt.FocusReason.OtherFocusReason)
            case _:
                return super().eventFilter(watched, event)
        return True


# The path to the caret in a prompt, computed from the document.


_LEAD = re.compile(r" *(?:- +)*")
_LONGEST = 36
_MOST = 200


@dataclass(frozen=True, slots=True)
class Crumb:
    """A step of the path, or an item in a menu of steps."""

    label: str
    """Label of the step; empty for the whole front matter and for text before any marker."""

    place: Span
    """Start in the text."""

    path: KeyPath | None = None
    """The key's path; None for a section of the body."""

    summary: str = ""
    """Start of a section's text."""


def crumbs_at(document: PromptDocument, offset: int) -> tuple[Crumb, ...]:
    """Return the path to an offset: the front matter and its keys, or the section of the body."""
    if document.front_matter is not None and offset < document.body.start:
        front = _front(document)
        offset = max(offset, _text_begins(document, offset))
        index = bisect_right(document.entries, offset, key=lambda entry: entry.key.start) - 1
        if index < 0:
            return (front,)
        path = document.entries[index].path
        steps = [document.entry(*path[: depth + 1]) for depth in range(len(path))]
        return (front, *(_key(document, step) for step in steps if step is not None))
    index = bisect_right(document.sections, offset, key=lambda each: each.span.start) - 1
    return (_section(document, index),) if index >= 0 else ()


def _text_begins(document: PromptDocument, offset: int) -> int:
    """Return the start of the line's key: a caret in the indentation belongs to the key."""
    text = document.source.text
    lead = _LEAD.match(text, text.rfind("\n", 0, offset) + 1)
    return lead.end() if lead is not None else offset


def beside(document: PromptDocument, crumb: Crumb) -> tuple[Crumb, ...]:
    """Return the siblings of a crumb, in the order of the text."""
    if crumb.path:
        parent = crumb.path[:-1]
        found = [
            _key(document, entry)
            for entry in document.entries
            if len(entry.path) == len(crumb.path) and entry.path[:-1] == parent
        ]
    else:
        found = [_front(document)] if document.front_matter is not None else []
        found += [_section(document, index) for index in range(len(document.sections))]
    return tuple(found[:_MOST])


def _front(document: PromptDocument) -> Crumb:
    start = document.front_matter.start if document.front_matter is not None else 0
    return Crumb("", Span(start, start), ())


def _key(document: PromptDocument, entry: FrontMatterEntry) -> Crumb:
    return Crumb(key_label(document, entry.path), entry.key, entry.path)


def key_label(document: PromptDocument, path: KeyPath) -> str:
    """Return the display name of a key; an item of a list is named by its `name`."""
    key = path[-1]
    if isinstance(key, str):
        return shortened(key, _LONGEST)
    named = document.entry(*path, "name") or document.entry(*path, "id")
    words = document.source.slice(named.value).strip("\"' ") if named is not None else ""
    return shortened(words, _LONGEST) if words else f"[{key}]"


def _section(document: PromptDocument, index: int) -> Crumb:
    section = document.sections[index]
    text = document.source.text
    content = section.content
    summary = text[content.start : min(content.end, content.start + 200)].strip()
    place = section.marker or section.content
    return Crumb(section.role, place, None, shortened(summary.split("\n", 1)[0], _LONGEST))
