"""The scroll bar with its marks, and the heading of a section that is scrolled off."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QScrollBar, QWidget

from studio.application.words import tr
from studio.ui.style.colors import theme_in_use

if TYPE_CHECKING:
    from studio.core.prompty.document import PromptDocument
    from studio.ui.editor.text.prompt_view import PromptView

_MARK_HEIGHT = 3.0
_ORDER = ("change", "match", "hint", "warning", "error")
"""Order of painting, from below."""
_LEFT = int((Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter).value)


class MarkBar(QScrollBar):
    """Shows where in the whole text something is; a click on it scrolls there, as ever."""

    def __init__(self, view: PromptView) -> None:
        super().__init__(Qt.Orientation.Vertical, view)
        self._view = view
        self.marks: dict[str, tuple[int, ...]] = {}
        """The lines marked, from 0, by kind."""
        self.setAccessibleName(tr("Place in the text"))

    def mark(self, kind: str, lines: Iterable[int]) -> None:
        """Mark lines, from 0, as of a kind: `error`, `warning`, `hint`, `match` or `change`."""
        shown = tuple(sorted(set(lines)))
        if shown != self.marks.get(kind, ()):
            self.marks[kind] = shown
            self._tell()
            self.update()

    def _tell(self) -> None:
        lines = [
            ("error", tr("1 error"), tr("{count} errors")),
            ("warning", tr("1 warning"), tr("{count} warnings")),
            ("match", tr("1 match"), tr("{count} matches")),
            ("change", tr("1 changed line"), tr("{count} changed lines")),
        ]
        counts = ((len(self.marks.get(kind, ())), one, many) for kind, one, many in lines)
        texts = [
            (one if count == 1 else many).format(count=count)
            for count, one, many in counts
            if count
        ]
        self.setAccessibleDescription(", ".join(texts))

    def paintEvent(self, event: QPaintEvent) -> None:
        """The bar, then the marks over it."""
        super().paintEvent(event)
        if not any(self.marks.values()):
            return
        painter = QPainter(self)
        theme = theme_in_use()
        colors = {
            "error": theme.error,
            "warning": theme.warning,
            "hint": theme.hint,
            "match": theme.accent,
            "change": theme.success,
        }
        count = max(1, self._view.blockCount())
        room = self.height() - _MARK_HEIGHT
        for kind in _ORDER:
            # Changes stand at the left edge and the others at the right: neither hides the other.
            left = 0.0 if kind == "change" else self.width() / 2
            width = self.width() / 3 if kind == "change" else self.width() / 2
            for line in self.marks.get(kind, ()):
                top = room * min(line, count) / count
                painter.fillRect(QRectF(left, top, width, _MARK_HEIGHT), QColor(colors[kind]))
        painter.end()


class StickyHeader(QWidget):
    """The marker of the section that the top of the text belongs to, while it is scrolled away.

    One row over the top of the text; a click goes to the marker.
    """

    request_line = Signal(int)  # line, from 0

    def __init__(self, view: PromptView) -> None:
        super().__init__(view)
        self._view = view
        self._lines: list[int] = []
        self._markers: list[tuple[str, str]] = []
        self._line = -1
        self._text = self._role = ""
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.hide()

    @property
    def text(self) -> str:
        """Return the shown text; empty while it is hidden."""
        return "" if self.isHidden() else self._text

    def read(self, document: PromptDocument) -> None:
        """Take the sections of the newest text."""
        source = document.source
        marked = [section for section in document.sections if section.marker is not None]
        self._lines = [source.line_of(section.marker.start) for section in marked if section.marker]
        self._markers = [
            (section.role, source.slice(section.marker)) for section in marked if section.marker
        ]
        self.follow()

    def follow(self) -> None:
        """The view scrolled, or the caret moved: show the marker that is out of sight."""
        top = self._view.firstVisibleBlock().blockNumber()
        index = bisect_right(self._lines, top) - 1
        is_shown = (
            index >= 0
            and self._lines[index] < top
            and (index + 1 >= len(self._lines) or self._lines[index + 1] > top + 1)
            and self._view.textCursor().blockNumber() != top  # the caret's line is never covered
        )
        if is_shown:
            self._line = self._lines[index]
            self._role, self._text = self._markers[index]
            self.setAccessibleName(tr("Section: {name}").format(name=self._text))
            room = self._view.viewport().geometry()
            height = self._view.fontMetrics().lineSpacing() + 4
            self.setGeometry(room.left(), room.top(), room.width(), height)
            self.update()
        self.setVisible(is_shown)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The marker, in the color of its role."""
        theme = theme_in_use()
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(theme.raised))
        painter.setPen(QColor(theme.border))
        painter.drawLine(0, self.height() - 1, self.width(), self.height() - 1)
        painter.setFont(self._view.font())
        painter.setPen(QColor(theme.roles.get(self._role, theme.muted)))
        inside = self.rect().adjusted(int(self._view.document().documentMargin()), 0, -8, 0)
        shown = painter.fontMetrics().elidedText(
            self._text, Qt.TextElideMode.ElideRight, inside.width()
        )
        painter.drawText(inside, _LEFT, shown)
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go to the marker."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.request_line.emit(self._line)
