"""Outline: the keys of the front matter and the sections of the body."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QBrush, QColor
from PySide6.QtWidgets import QLabel, QMenu, QStackedWidget, QTreeWidget, QTreeWidgetItem

from studio.application.words import tr
from studio.core.text.source import Span
from studio.ui.base.menus import ON_OUTLINE, add_actions, add_own, own_menu
from studio.ui.parts.kit import named
from studio.ui.style.theme import FollowsTheme, icon, theme_in_use
from studio.viewmodels.app.jobs import single_shot

if TYPE_CHECKING:
    from studio.core.prompty.document import BodySection, PromptDocument
    from studio.core.text.values import KeyPath

_NUMBER = Qt.ItemDataRole.UserRole
_PATH = Qt.ItemDataRole.UserRole + 1
_PREVIEW = 60
_MOST = 3000
_SLICE = 250
"""Number of parts listed at once, in 5 ms, so that 10,000 sections do not delay key presses."""


class OutlinePane(FollowsTheme, QStackedWidget):
    """A tree that follows the caret; selecting a line goes there."""

    request_reveal = Signal(Span)  # Span to scroll to
    request_go = Signal(Span)  # Span to go to with the focus

    def __init__(self) -> None:
        super().__init__()
        self._document: PromptDocument | None = None
        self._items: list[QTreeWidgetItem] = []
        """Items of the keys, then of the sections."""
        self._spans: list[Span] = []
        """Span of each item."""
        self._keys: tuple[KeyPath, ...] = ()
        """Paths of the listed keys."""
        self._said: list[tuple[str, str]] = []
        """Role and beginning of each listed section."""
        self._caret = 0
        self._steps: Iterator[None] = iter(())
        self.is_settled = True
        """Whether all parts are listed."""
        self._timer = single_shot(self, self._go_on)
        empty = QLabel(tr("Open a prompt to see its parts here."), wordWrap=True)
        empty.setProperty("tone", "muted")  # `toned_label` would create QStyle too early
        empty.setAlignment(Qt.AlignmentFlag.AlignTop)
        empty.setContentsMargins(12, 12, 12, 12)
        self.addWidget(empty)
        self.follow_theme()

    @cached_property
    def _tree(self) -> QTreeWidget:
        """Tree of the outline, created with the first parsed document."""
        tree = named(QTreeWidget(columnCount=1), tr("Outline"))
        tree.setHeaderHidden(True)
        tree.setIndentation(14)
        tree.setUniformRowHeights(True)
        tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        tree.customContextMenuRequested.connect(self._on_menu)
        tree.itemActivated.connect(self._go)
        tree.itemClicked.connect(self._show)
        self.addWidget(tree)
        return tree

    def set_document(self, document: PromptDocument | None) -> None:
        """Show a document's parts; only changed items are updated."""
        self._document = document
        if document is None:
            self._timer.stop()
            self._steps, self.is_settled = iter(()), True
            self._clear()
            self.setCurrentIndex(0)
            return
        self.setCurrentWidget(self._tree)
        self._steps = self._list(document)
        self._go_on()

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        for item, (role, _) in zip(self._items[len(self._keys) :], self._said, strict=True):
            _color(item, role)

    def show_caret(self, offset: int) -> None:
        """Highlight the part that contains the caret."""
        self._caret = offset
        index = bisect_right(self._spans, offset, key=lambda span: span.start) - 1
        if index >= 0 and self._items[index] is not self._tree.currentItem():
            self._tree.setCurrentItem(self._items[index])

    def symbols(self) -> list[tuple[str, Span]]:
        """Return all parts by name, for the palette."""
        if self._document is None:
            return []
        found = [
            (" › ".join(str(key) for key in entry.path), entry.key)
            for entry in self._document.entries
        ]
        found += [
            (f"{section.role or 'text'}: {_summary(self._document, section.content)}", section.span)
            for section in self._document.sections
        ]
        return found

    # -- internals ------------------------------------------------------------------------------

    def _clear(self) -> None:
        if self._items:
            self._tree.clear()
        self._items, self._spans, self._keys, self._said = [], [], (), []

    def _go_on(self) -> None:
        """List parts for one time slice; continue when the window is idle."""
        for _ in islice(self._steps, _SLICE):
            pass
        if not self.is_settled:
            self._timer.start(0)

    def _list(self, document: PromptDocument) -> Iterator[None]:
        """Update the items, one per step."""
        self.is_settled = False
        keys = tuple(entry.path for entry in document.entries[:_MOST])
        if keys != self._keys:
            self._build_keys(document, keys)
        else:
            self._spans[: len(keys)] = [entry.key for entry in document.entries[:_MOST]]
            self._name_items(document)
        yield
        for number, section in enumerate(document.sections, len(keys)):
            self._list_section(document, section, number)
            yield
        for item in self._items[len(keys) + len(document.sections) :]:
            self._tree.takeTopLevelItem(self._tree.indexOfTopLevelItem(item))
        count = len(keys) + len(document.sections)
        del self._items[count:], self._spans[count:], self._said[len(document.sections) :]
        self.is_settled = True
        self.show_caret(self._caret)

    def _build_keys(self, document: PromptDocument, keys: tuple[KeyPath, ...]) -> None:
        """Build the tree of the front matter; expanded items stay expanded."""
        from studio.ui.editor.page.crumb_bar import (
            key_label,  # imported with the first document, not the window
        )

        opened = {
            item.data(0, _PATH): item.isExpanded() for item in self._items if item.childCount()
        }
        self._clear()
        by_path: dict[KeyPath, QTreeWidgetItem] = {}
        for entry in document.entries[:_MOST]:
            parent = by_path.get(entry.path[:-1])
            item = QTreeWidgetItem([key_label(document, entry.path)])
            item.setData(0, _NUMBER, len(self._items))
            item.setData(0, _PATH, repr(entry.path))
            if parent is None:
                item.setIcon(0, icon(_ICONS.get(str(entry.path[-1]), "braces")))
                self._tree.addTopLevelItem(item)
            else:
                parent.addChild(item)
            by_path[entry.path] = item
            self._items.append(item)
            self._spans.append(entry.key)
        for item in self._items:
            item.setExpanded(opened.get(item.data(0, _PATH), item.parent() is None))
        self._keys = keys

    def _name_items(self, document: PromptDocument) -> None:
        """Update the names of list items, which may have changed."""
        from studio.ui.editor.page.crumb_bar import key_label

        for entry, item in zip(document.entries[:_MOST], self._items, strict=False):
            if isinstance(entry.path[-1], int):
                label = key_label(document, entry.path)
                if label != item.text(0):
                    item.setText(0, label)

    def _list_section(self, document: PromptDocument, section: BodySection, number: int) -> None:
        """Create or update the item of a section of the body."""
        role, place = section.role or "text", section.marker or section.content
        row = (role, _summary(document, section.content))
        at = number - len(self._keys)
        if number == len(self._items):
            item = QTreeWidgetItem()
            item.setData(0, _NUMBER, number)
            self._tree.addTopLevelItem(item)
            self._items.append(item)
            self._spans.append(place)
            self._said.append(("", ""))
        self._spans[number] = place
        if self._said[at] == row:
            return
        self._said[at] = row
        item = self._items[number]
        item.setText(0, f"{role}   {row[1]}")
        _color(item, role)

    def _on_menu(self, at: QPoint) -> None:
        menu = self.menu_for(self._tree.itemAt(at))
        menu.popup(self._tree.viewport().mapToGlobal(at))

    def menu_for(self, item: QTreeWidgetItem | None) -> QMenu:
        """Build the context menu of a part."""
        menu = own_menu(self)
        if item is not None:
            add_own(
                menu, tr("Go to its text"), partial(self._go, item), drawing="pencil", keys="Return"
            )
            menu.addSeparator()
        add_actions(menu, self.window(), ON_OUTLINE)
        return menu

    def _show(self, item: QTreeWidgetItem) -> None:
        self.request_reveal.emit(self._span_of(item))

    def _go(self, item: QTreeWidgetItem) -> None:
        self.request_go.emit(self._span_of(item))

    def _span_of(self, item: QTreeWidgetItem) -> Span | None:
        number = item.data(0, _NUMBER)
        return self._spans[number] if number is not None and number < len(self._spans) else None


_ICONS = {
    "model": "cpu",
    "inputs": "sliders-horizontal",
    "outputs": "file-output",
    "tools": "wrench",
    "template": "braces",
    "metadata": "info",
    "name": "type",
    "description": "file-text",
}


def _color(item: QTreeWidgetItem, role: str) -> None:
    theme = theme_in_use()
    color = theme.roles.get("tool" if role in ("function", "tools") else role)
    item.setForeground(0, QBrush(QColor(color or theme.muted)))
    item.setIcon(0, icon("message-square", color or "muted"))


def _summary(document: PromptDocument, content: Span) -> str:
    text = document.source.text[content.start : min(content.end, content.start + 200)].strip()
    line = text.split("\n", 1)[0]
    from studio.core.text.amounts import shortened

    return shortened(line, _PREVIEW)
