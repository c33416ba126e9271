"""Up and Down in a field bring back what was written there before."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit

from studio.application.inputs.history import ValueHistory
from studio.ui.inputs.fields import JsonField, NumberField, TextField
from studio.ui.inputs.file_field import FileField
from studio.ui.inputs.row import FieldRow


class HistoryKeys(QObject):
    """Watches one row's text; owned by the row."""

    def __init__(self, row: FieldRow, history: ValueHistory) -> None:
        super().__init__(row)
        self._history = history
        self._text: QPlainTextEdit | QLineEdit | None = None
        editor = row.editor
        if isinstance(editor, TextField | JsonField):
            self._text = editor.text
        elif isinstance(editor, NumberField | FileField):
            self._text = editor.line
        if self._text is not None:
            self._text.installEventFilter(self)

    def keep(self) -> None:
        """Remember what is written now, as when a run takes it."""
        if self._text is not None:
            self._history.keep(self._shown())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep what was written when the field is left; step where the caret can go no further."""
        if event.type() == QEvent.Type.FocusOut:
            self.keep()
        elif event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            key, plain = (
                event.key(),
                event.modifiers()
                in (
                    Qt.KeyboardModifier.NoModifier,
                    Qt.KeyboardModifier.KeypadModifier,
                ),
            )
            if plain and key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
                return self._step(key == Qt.Key.Key_Up)
        return super().eventFilter(watched, event)

    def _step(self, back: bool) -> bool:
        if not self._is_at_edge(back):
            return False
        text = self._history.step(back, self._shown())
        if text is None:
            return False
        self._show(text)
        return True

    def _shown(self) -> str:
        if isinstance(self._text, QPlainTextEdit):
            return self._text.toPlainText()
        return self._text.text() if self._text is not None else ""

    def _show(self, text: str) -> None:
        if isinstance(self._text, QPlainTextEdit):
            self._text.selectAll()
            self._text.insertPlainText(text)  # one step that can be undone
        elif self._text is not None:
            self._text.setText(text)
            self._text.textEdited.emit(text)

    def _is_at_edge(self, back: bool) -> bool:
        if not isinstance(self._text, QPlainTextEdit):
            return True
        cursor = self._text.textCursor()
        cursor.movePosition(cursor.MoveOperation.Up if back else cursor.MoveOperation.Down)
        return cursor.position() == self._text.textCursor().position()
