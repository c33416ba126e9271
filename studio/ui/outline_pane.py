"""Outline: the keys of the front matter and the sections of the body."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QBrush, QColor
from PySide6.QtWidgets import QLabel, QStackedWidget, QTreeWidget, QTreeWidgetItem

from studio.ui.icons import icon

if TYPE_CHECKING:
    from studio.core.prompty.document import PromptDocument
    from studio.core.text.span import Span
    from studio.ui.theme import Theme

_SPAN = Qt.ItemDataRole.UserRole
_PATH = Qt.ItemDataRole.UserRole + 1
_PREVIEW = 60
_MOST = 3000


class OutlinePane(QStackedWidget):
    """A tree that follows the caret; choosing a line goes there."""

    reveal_requested = Signal(object)  # Span

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._document: PromptDocument | None = None
        self._items: list[tuple[Span, QTreeWidgetItem]] = []
        self._shape: tuple[object, ...] = ()
        self._tree = QTreeWidget()
        self._tree.setHeaderHidden(True)
        self._tree.setColumnCount(1)
        self._tree.setAccessibleName(self.tr("Outline"))
        self._tree.setIndentation(14)
        self._tree.setUniformRowHeights(True)
        empty = QLabel(self.tr("Open a prompt to see its parts here."))
        empty.setProperty("muted", True)
        empty.setAlignment(Qt.AlignmentFlag.AlignTop)
        empty.setWordWrap(True)
        empty.setContentsMargins(12, 12, 12, 12)
        self.addWidget(empty)
        self.addWidget(self._tree)
        self._tree.itemActivated.connect(self._go)
        self._tree.itemClicked.connect(self._go)

    def set_document(self, document: PromptDocument | None) -> None:
        """Show a document's parts; the tree is built anew only when its shape changed."""
        self._document = document
        if document is None:
            self._shape, self._items = (), []
            self._tree.clear()
            self.setCurrentIndex(0)
            return
        self.setCurrentIndex(1)
        shape = (
            tuple(entry.path for entry in document.entries[:_MOST]),
            tuple(
                (section.role, _gist(document, section.content)) for section in document.sections
            ),
        )
        spans = [entry.key for entry in document.entries[:_MOST]]
        spans += [section.marker or section.content for section in document.sections]
        if shape == self._shape and len(spans) == len(self._items):
            for number, (span, (_, item)) in enumerate(zip(spans, self._items, strict=True)):
                item.setData(0, _SPAN, span)
                self._items[number] = (span, item)
            return
        self._shape = shape
        self._build(document)

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._theme = theme
        self._shape = ()
        if self._document is not None:
            self.set_document(self._document)

    def show_caret(self, offset: int) -> None:
        """Light the part that holds the caret."""
        best: tuple[Span, QTreeWidgetItem] | None = None
        for span, item in self._items:
            if span.start <= offset and (best is None or span.start >= best[0].start):
                best = (span, item)
        if best is not None and best[1] is not self._tree.currentItem():
            self._tree.setCurrentItem(best[1])

    def symbols(self) -> list[tuple[str, Span]]:
        """Every part by name, for the palette."""
        if self._document is None:
            return []
        found = [
            (" › ".join(str(key) for key in entry.path), entry.key)
            for entry in self._document.entries
        ]
        found += [
            (f"{section.role or 'text'}: {_gist(self._document, section.content)}", section.span)
            for section in self._document.sections
        ]
        return found

    def _build(self, document: PromptDocument) -> None:
        from studio.ui.editor.crumbs import key_label  # with the first document, not the window

        opened = {
            item.data(0, _PATH): item.isExpanded() for _, item in self._items if item.childCount()
        }
        self._tree.setUpdatesEnabled(False)
        self._tree.clear()
        self._items = []
        by_path: dict[tuple[str | int, ...], QTreeWidgetItem] = {}
        muted = QBrush(QColor(self._theme.muted))
        for entry in document.entries[:_MOST]:
            parent = by_path.get(entry.path[:-1])
            item = QTreeWidgetItem([key_label(document, entry.path)])
            item.setData(0, _SPAN, entry.key)
            item.setData(0, _PATH, repr(entry.path))
            if parent is None:
                item.setIcon(0, icon(_ICONS.get(str(entry.path[-1]), "braces")))
                self._tree.addTopLevelItem(item)
            else:
                parent.addChild(item)
            by_path[entry.path] = item
            self._items.append((entry.key, item))
        for section in document.sections:
            role = section.role or "text"
            item = QTreeWidgetItem([f"{role}   {_gist(document, section.content)}"])
            colour = self._theme.roles.get("tool" if role in ("function", "tools") else role)
            item.setForeground(0, QBrush(QColor(colour)) if colour else muted)
            item.setIcon(0, icon("message-square", colour or self._theme.muted))
            place = section.marker or section.content
            item.setData(0, _SPAN, place)
            self._tree.addTopLevelItem(item)
            self._items.append((place, item))
        for _, item in self._items:
            item.setExpanded(opened.get(item.data(0, _PATH), item.parent() is None))
        self._tree.setUpdatesEnabled(True)

    def _go(self, item: QTreeWidgetItem) -> None:
        span = item.data(0, _SPAN)
        if span is not None:
            self.reveal_requested.emit(span)


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


def _gist(document: PromptDocument, content: Span) -> str:
    text = document.source.text[content.start : min(content.end, content.start + 200)].strip()
    line = text.split("\n", 1)[0]
    return line if len(line) <= _PREVIEW else line[: _PREVIEW - 1] + "…"
