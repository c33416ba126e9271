"""A text editor that is as high as its text."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

from studio.ui.parts.dropped import dropped_file, dropped_files, text_of
from studio.ui.parts.json_view import line_height

_MOST_LINES = 10


_SHIFT = Qt.KeyboardModifier.ShiftModifier


class GrowingText(QPlainTextEdit):
    """A text editor as high as its text, within limits."""

    submitted = Signal()  # Ctrl+Enter: what is written is done

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTabChangesFocus(True)
        self.setProperty("field", True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.is_sent_by_enter = False
        """Whether Enter belongs to the form around it; Shift+Enter is then a line break."""
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self.document().setDocumentMargin(3)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A narrower text is higher."""
        super().resizeEvent(event)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Ctrl+Enter ends a text, as in a chat; in a form that is sent by Enter, Enter does."""
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and self.is_sent_by_enter and not event.modifiers() & _SHIFT:
            event.ignore()  # the form sends it
        elif is_enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.submitted.emit()
            event.ignore()  # it may mean something to what is around, too
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll the form, unless there is more text than is seen."""
        if self.hasFocus() and self.verticalScrollBar().maximum() > 0:
            super().wheelEvent(event)
        else:
            event.ignore()

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """The text of a file, not its address as Qt would write it; a link is its text."""
        if dropped_files(source):
            path = dropped_file(source)
            return path is not None and text_of(path) is not None
        return super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Put in a text, or that of a file."""
        path = dropped_file(source)
        text = text_of(path) if path is not None else None
        if text is not None:
            self.insertPlainText(text)
        else:
            super().insertFromMimeData(source)

    def _fit(self, *_: object) -> None:
        # A plain text document measures its height in lines.
        lines = min(max(1, round(self.document().size().height())), _MOST_LINES)
        height = round(lines * line_height(self)) + 14
        if height != self.height() or height != self.minimumHeight():
            self.setFixedHeight(height)
