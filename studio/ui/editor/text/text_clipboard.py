"""Cut, copy and paste where nothing is selected, and where there are several carets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QGuiApplication

if TYPE_CHECKING:
    from studio.ui.editor.text.carets import Carets
    from studio.ui.editor.text.line_edits import LineEdits

_LINES = "application/x-prompt-studio-lines"
"""Present where whole lines were taken: they go in above the line of the caret."""
_PARTS = "application/x-prompt-studio-parts"
"""What each caret had selected, as a JSON array."""


class TextClipboard:
    """Takes what the carets select, else their lines, and puts it in again."""

    def __init__(self, carets: Carets, lines: LineEdits) -> None:
        self._carets = carets
        self._lines = lines

    def copy(self) -> None:
        """Copy what the carets select; their lines where nothing is selected."""
        data = QMimeData()
        parts = self._carets.selected()
        if parts:
            data.setText("\n".join(parts))
            if len(parts) > 1:
                import json  # not before the first paint

                data.setData(_PARTS, json.dumps(parts).encode("utf-8"))
        else:
            data.setText(self._lines.text())
            data.setData(_LINES, b"1")
        QGuiApplication.clipboard().setMimeData(data)

    def cut(self) -> None:
        """Copy, and take it away."""
        self.copy()
        if self._carets.selected():
            self._carets.edit(lambda cursor: cursor.removeSelectedText())
        else:
            self._lines.delete()

    def paste(self) -> bool:
        """Paste whole lines, or at every caret; False leaves it to the text widget."""
        data = QGuiApplication.clipboard().mimeData()
        text = data.text() if data is not None and data.hasText() else ""
        if not text:
            return False
        if data.hasFormat(_LINES) and not self._carets.selected():
            self._lines.put_above(text)
        elif len(self._carets):
            parts = _parts(data, text, len(self._carets) + 1)
            self._carets.edit(lambda cursor: cursor.insertText(next(parts)))
        else:
            return False
        return True


def _parts(data: QMimeData, text: str, count: int) -> Iterator[str]:
    """What each caret gets, from top to bottom: its own part where there are as many."""
    parts = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    if data.hasFormat(_PARTS):
        import json

        parts = json.loads(bytes(data.data(_PARTS).data()))
    return iter(parts if len(parts) == count else [text] * count)
