"""The list of completions below the caret; the focus stays in the editor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QLabel, QListWidget, QListWidgetItem

from studio.application.editing.editor_context import CompletionItem, CompletionList
from studio.application.words import tr
from studio.core.text.naming import score
from studio.core.text.source import Span
from studio.ui.parts.kit import column_of, named
from studio.ui.style.theme import icon

if TYPE_CHECKING:
    from studio.ui.editor.text.view import PromptEditor

_ROWS = 9
_WIDTH = 360
_GAP = 4
_ICONS = {
    "key": "key",
    "value": "square-check",
    "input": "variable",
    "word": "type",
    "role": "user",
    "filter": "funnel",
    "file": "file-text",
    "snippet": "braces",
}
_ITEM = Qt.ItemDataRole.UserRole


class CompletionPopup(QFrame):
    """List of completions: Up and Down select, Enter and Tab insert, Esc closes."""

    chosen = Signal(CompletionItem, Span)  # Completion, Span that it replaces

    def __init__(self, editor: PromptEditor) -> None:
        super().__init__(editor)
        self._editor = editor
        self._offered: CompletionList | None = None
        self.setObjectName("popup")
        self._list = named(QListWidget(), tr("Completions"))
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setUniformItemSizes(True)
        self._list.setIconSize(QSize(14, 14))
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._detail = QLabel(wordWrap=True)
        self._detail.setProperty("tone", "muted")
        self._detail.setContentsMargins(8, 4, 8, 4)
        column_of(self._list, self._detail, on=self, margins=(4, 4, 4, 2), spacing=0)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.currentItemChanged.connect(self._on_current)
        self._list.itemClicked.connect(self._take)
        editor.verticalScrollBar().valueChanged.connect(self.hide)
        self.hide()

    def labels(self) -> list[str]:
        """Return the shown labels from top to bottom."""
        return [self._list.item(row).text() for row in range(self._list.count())]

    def offer(self, offered: CompletionList) -> None:
        """Show completions at the caret."""
        self._offered = offered
        self._list.clear()
        for completion in offered.items:
            item = QListWidgetItem(icon(_ICONS.get(completion.kind, "type")), completion.label)
            item.setData(_ITEM, completion)
            self._list.addItem(item)
        self._list.setCurrentRow(0)
        self._place()
        self.show()
        self.raise_()

    def _place(self) -> None:
        """Place the list below or above the caret's line, with as many rows as fit.

        It may extend over the whole window, since an editor may be only a few lines high. It never
        covers the caret's line.
        """
        window = self._editor.window()
        if self.parentWidget() is not window:
            self.setParent(window)
        caret, viewport = self._editor.cursorRect(), self._editor.viewport()
        line_top = viewport.mapTo(window, caret.topLeft()).y() - _GAP
        at = viewport.mapTo(window, caret.bottomLeft()) + QPoint(0, _GAP)
        below, above = window.height() - at.y() - _GAP, line_top - _GAP
        row = self._list.sizeHintForRow(0)
        around = self._fit_detail() + 8 + 6
        wanted = min(self._list.count(), _ROWS)
        is_below = row * wanted + around <= below or below >= above
        rows = max(1, min(wanted, ((below if is_below else above) - around) // row))
        self._list.setFixedHeight(row * rows + 6)
        height = row * rows + around
        x = max(0, min(at.x() - 24, window.width() - _WIDTH - _GAP))
        self.setGeometry(x, at.y() if is_below else line_top - height, _WIDTH, height)

    def _fit_detail(self) -> int:
        """Show the line of details if there are any; return its height."""
        items = self._offered.items if self._offered is not None else ()
        has_any = any(each.detail for each in items)
        self._detail.setVisible(has_any)
        if has_any:
            self._detail.setFixedHeight(self._detail.fontMetrics().height() * 2 + 10)
        return self._detail.height() if has_any else 0

    def _on_current(self, item: QListWidgetItem | None) -> None:
        completion: CompletionItem | None = item.data(_ITEM) if item else None
        detail = completion.detail if completion else ""
        # The texts of `completion_words` are translated; other details stay unchanged.
        self._detail.setText(tr(detail) if detail else "")

    def _take(self, item: QListWidgetItem | None = None) -> None:
        chosen = item or self._list.currentItem()
        offered = self._offered
        self.hide()
        if chosen is not None and offered is not None:
            self.chosen.emit(chosen.data(_ITEM), offered.span)

    def showEvent(self, event: QShowEvent) -> None:
        """Filter the editor's keys only while the list is open: each event costs time."""
        super().showEvent(event)
        self._editor.installEventFilter(self)

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop filtering the keys of the editor."""
        super().hideEvent(event)
        self._editor.removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle keys while the list is open; close it when the editor loses the focus."""
        if not self.isVisible():
            return False
        if event.type() == QEvent.Type.FocusOut:
            self.hide()
            return False
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return False
        return self.press(event)

    def press(self, event: QKeyEvent) -> bool:
        """Handle a key; return False to leave it to the editor."""
        row, count = self._list.currentRow(), self._list.count()
        match event.key():
            case Qt.Key.Key_Escape:
                self.hide()
            case Qt.Key.Key_Return | Qt.Key.Key_Enter | Qt.Key.Key_Tab if self._is_of_now():
                self._take()
            case Qt.Key.Key_Down:
                self._list.setCurrentRow((row + 1) % count)
            case Qt.Key.Key_Up:
                self._list.setCurrentRow((row - 1) % count)
            case Qt.Key.Key_PageDown:
                self._list.setCurrentRow(min(count - 1, row + _ROWS))
            case Qt.Key.Key_PageUp:
                self._list.setCurrentRow(max(0, row - _ROWS))
            case _:
                if not _goes_on(event):
                    self.hide()  # the word is complete; what follows is completed again
                return False
        return True

    def _is_of_now(self) -> bool:
        """Return whether the selection continues the typed text; the list may lag behind."""
        item, offered, caret = self._list.currentItem(), self._offered, self._editor.caret()
        if item is None or offered is None or caret < offered.span.start:
            return False
        typed = self._editor.text()[offered.span.start : caret]
        completion: CompletionItem = item.data(_ITEM)
        is_whole = typed == completion.insert  # then Enter starts a line, as without the list
        return "\n" not in typed and not is_whole and score(typed, completion.label) is not None


_LEAVING = (
    Qt.Key.Key_Return,
    Qt.Key.Key_Enter,
    Qt.Key.Key_Tab,
    Qt.Key.Key_Left,
    Qt.Key.Key_Right,
    Qt.Key.Key_Home,
    Qt.Key.Key_End,
)


def _goes_on(event: QKeyEvent) -> bool:
    """Return whether a key continues the completed word and is not only a modifier."""
    return event.key() not in _LEAVING and all(
        char.isalnum() or char in "_-./" or not char.isprintable() for char in event.text()
    )
