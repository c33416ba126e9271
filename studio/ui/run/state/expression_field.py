"""A line for an expression, which completes the names that it can hold."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QStringListModel, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCompleter, QLineEdit, QListView, QWidget

_NAME = re.compile(r"[A-Za-z_][\w.]*$")


class ExpressionField(QLineEdit):
    """Completes the name at the caret; Tab and Return take what the list has chosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._names = QStringListModel(self)
        self._list = QCompleter(self._names, self)
        self._list.setWidget(self)
        self._list.setCompletionMode(QCompleter.CompletionMode.PopupCompletion)
        self._list.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._popup = QListView()
        self._list.setPopup(self._popup)
        for widget in (self, self._popup):
            widget.installEventFilter(self)
        self._list.activated.connect(self._take)
        self.textEdited.connect(self._complete)

    def set_names(self, names: Sequence[str]) -> None:
        """The names that can be completed."""
        if list(names) != self._names.stringList():
            self._names.setStringList(list(names))

    @property
    def offered(self) -> list[str]:
        """Return the items of the open list; empty while it is closed."""
        if not self._popup.isVisible():
            return []
        rows = self._list.completionModel()
        return [str(rows.index(row, 0).data()) for row in range(rows.rowCount())]

    def focusNextPrevChild(self, forward: bool) -> bool:
        """While the list is open Tab is not for the next field."""
        return False if self._popup.isVisible() else super().focusNextPrevChild(forward)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take the chosen line of an open list by Tab, else its first."""
        if (
            self._popup.isVisible()
            and isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and event.key() == Qt.Key.Key_Tab
        ):
            self._take_chosen()
            return True
        return super().eventFilter(watched, event)

    def _take_chosen(self) -> None:
        chosen = self._popup.currentIndex().data() or self._list.currentCompletion()
        self._popup.hide()
        self._take(str(chosen))

    def _start(self) -> int:
        found = _NAME.search(self.text()[: self.cursorPosition()])
        return found.start() if found is not None else -1

    def _complete(self) -> None:
        start = self._start()
        written = self.text()[start : self.cursorPosition()] if start >= 0 else ""
        self._list.setCompletionPrefix(written)
        count = self._list.completionCount()
        is_whole = count == 1 and self._list.currentCompletion() == written
        if written and count and not is_whole:
            self._list.complete()
        else:
            self._popup.hide()

    def _take(self, name: str) -> None:
        start, caret = self._start(), self.cursorPosition()
        start = caret if start < 0 else start
        self.setText(self.text()[:start] + name + self.text()[caret:])
        self.setCursorPosition(start + len(name))
