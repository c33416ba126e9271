"""Search in the whole run: a field above the timeline that goes from card to card."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QToolButton, QWidget

from studio.ui.style.colours import paint_text
from studio.ui.style.icons import icon
from studio.ui.style.theme import LIGHT, Theme

_TYPING_MS = 120


class SearchBar(QWidget):
    """Hidden until it is wanted; asks for the next place with the words."""

    words_changed = Signal(str)
    next_asked = Signal(int)  # 1: the next place, -1: the one before
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = LIGHT
        self.field = QLineEdit()
        self.count = QLabel()
        self._close = QToolButton()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_TYPING_MS)
        self._timer.timeout.connect(self._on_words)
        self.field.setPlaceholderText(self.tr("Find in the whole run"))
        self.field.setAccessibleName(self.tr("Find in the whole run"))
        self._close.setIcon(icon("x"))
        self._close.setAutoRaise(True)
        self._close.setAccessibleName(self.tr("Close the search"))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(8, 4, 4, 4)
        layout.setSpacing(8)
        layout.addWidget(self.field, 1)
        layout.addWidget(self.count)
        layout.addWidget(self._close)
        self.field.textChanged.connect(self._timer.start)
        self._close.clicked.connect(self.close_search)
        for keys, slot in (
            ("Return", self._on_next), ("Enter", self._on_next), ("Shift+Return", self._on_before),
            ("Esc", self.close_search),
        ):  # fmt: skip
            shortcut = QShortcut(QKeySequence(keys), self.field)
            shortcut.activated.connect(slot)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Paint in these colours."""
        self._theme = theme
        paint_text(self.count, theme.muted)

    def open_search(self) -> None:
        """Show it, ready to be written in."""
        self.show()
        self.field.setFocus()
        self.field.selectAll()

    def close_search(self) -> None:
        """Hide it, and look for nothing."""
        self.field.clear()
        self._on_words()
        self.hide()
        self.closed.emit()

    def show_count(self, at: int, count: int, *, is_whole: bool = True) -> None:
        """Say which of how many places is chosen.

        Args:
            at: the chosen one, from 0; below 0 for none.
            count: how many were found.
            is_whole: whether the whole run has been looked through.
        """
        if not self.field.text().strip():
            self.count.clear()
        elif not is_whole:
            self.count.setText(self.tr("{count}, searching …").format(count=count))
        elif not count:
            self.count.setText(self.tr("nowhere"))
        else:
            self.count.setText(
                self.tr("{number} of {count}").format(number=at + 1, count=count)
                if at >= 0
                else f"{count}"
            )
        is_fine = count or not is_whole
        paint_text(self.count, self._theme.muted if is_fine else self._theme.error)

    def show_fault(self, why: str) -> None:
        """Say that the run cannot be looked through."""
        self.count.setText(self.tr("not all of the run can be read"))
        self.count.setToolTip(why)
        paint_text(self.count, self._theme.error)

    def _on_words(self) -> None:
        self._timer.stop()
        self.words_changed.emit(self.field.text())

    def _on_next(self) -> None:
        self._go(1)

    def _on_before(self) -> None:
        self._go(-1)

    def _go(self, by: int) -> None:
        if self._timer.isActive():
            self._on_words()
        self.next_asked.emit(by)
