"""The scroll bar of the text, with marks for problems, matches and changed lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QScrollBar

from studio.ui.style.in_use import theme_in_use

if TYPE_CHECKING:
    from studio.ui.editor.text.prompt_view import PromptView

_HEIGHT = 3.0
_ORDER = ("change", "match", "hint", "warning", "error")
"""What lies over what, from below."""


class MarkBar(QScrollBar):
    """Shows where in the whole text something is; a click on it scrolls there, as ever."""

    def __init__(self, view: PromptView) -> None:
        super().__init__(Qt.Orientation.Vertical, view)
        self._view = view
        self._lines: dict[str, tuple[int, ...]] = {}
        self.setAccessibleName(self.tr("Place in the text"))

    @property
    def marks(self) -> Mapping[str, tuple[int, ...]]:
        """The lines marked, from 0, by kind."""
        return self._lines

    def mark(self, kind: str, lines: Iterable[int]) -> None:
        """Mark lines, from 0, as of a kind: `error`, `warning`, `hint`, `match` or `change`."""
        shown = tuple(sorted(set(lines)))
        if shown != self._lines.get(kind, ()):
            self._lines[kind] = shown
            self._tell()
            self.update()

    def _tell(self) -> None:
        said = [
            ("error", self.tr("1 error"), self.tr("{count} errors")),
            ("warning", self.tr("1 warning"), self.tr("{count} warnings")),
            ("match", self.tr("1 match"), self.tr("{count} matches")),
            ("change", self.tr("1 changed line"), self.tr("{count} changed lines")),
        ]
        counts = ((len(self._lines.get(kind, ())), one, many) for kind, one, many in said)
        told = [(one if count == 1 else many).format(count=count)
                for count, one, many in counts if count]  # fmt: skip
        self.setAccessibleDescription(", ".join(told))

    def paintEvent(self, event: QPaintEvent) -> None:
        """The bar, then the marks over it."""
        super().paintEvent(event)
        if not any(self._lines.values()):
            return
        painter = QPainter(self)
        theme = theme_in_use()
        colors = {"error": theme.error, "warning": theme.warning, "hint": theme.hint,
                  "match": theme.accent, "change": theme.success}  # fmt: skip
        count = max(1, self._view.blockCount())
        room = self.height() - _HEIGHT
        for kind in _ORDER:
            # Changes stand at the left edge and the others at the right: neither hides the other.
            left = 0.0 if kind == "change" else self.width() / 2
            width = self.width() / 3 if kind == "change" else self.width() / 2
            for line in self._lines.get(kind, ()):
                top = room * min(line, count) / count
                painter.fillRect(QRectF(left, top, width, _HEIGHT), QColor(colors[kind]))
        painter.end()
