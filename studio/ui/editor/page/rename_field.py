"""The field in which a name is changed, over the name itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit

if TYPE_CHECKING:
    from studio.core.text.span import Span
    from studio.ui.editor.text.view import PromptEditor

_LEAST = 120
_AROUND = 16


class RenameField(QLineEdit):
    """Enter renames, Esc and a click elsewhere leave everything as it is."""

    def __init__(
        self, editor: PromptEditor, place: Span, name: str, rename: Callable[[str], bool]
    ) -> None:
        """Show it over a place.

        Args:
            editor: the text.
            place: the name in it.
            name: what stands there.
            rename: gives the new name; False where it cannot be used.
        """
        super().__init__(editor)
        self._editor = editor
        self._rename = rename
        self.setFont(editor.font())
        self.setText(name)
        self.setAccessibleName(self.tr("New name of {name!r}").format(name=name))
        self.setToolTip(self.tr("Enter renames everywhere, Esc leaves it"))
        self.textEdited.connect(self._fit)
        source, cursor = editor.source(), editor.textCursor()
        cursor.setPosition(source.to_utf16(place.start))
        at = editor.viewport().mapTo(editor, editor.cursorRect(cursor).topLeft())
        self._at = QPoint(at.x() - 5, at.y() - 4)
        self._fit()
        self.selectAll()
        self.show()
        self.setFocus(Qt.FocusReason.PopupFocusReason)

    def _fit(self) -> None:
        width = max(_LEAST, self.fontMetrics().horizontalAdvance(self.text()) + 2 * _AROUND)
        room = self._editor.width() - 4
        left = max(0, min(self._at.x(), room - width))
        self.setGeometry(left, max(0, self._at.y()), min(width, room), self.sizeHint().height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter and Esc end it."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            new = self.text().strip()
            self._leave()
            self._rename(new)
        elif event.key() == Qt.Key.Key_Escape:
            self._leave()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Somebody turned to something else."""
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._end()

    def _leave(self) -> None:
        self._end()
        self._editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def _end(self) -> None:
        self.hide()
        self.deleteLater()
