"""The Console: what was said while a run went, and a line that works expressions out."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem, QWidget

from studio.application.run.debugging.console import ConsoleLine, ConsoleLineKind
from studio.ui.parts.layouts import column_of
from studio.ui.run.state.expression_field import ExpressionField
from studio.ui.style.colors import fixed_font
from studio.ui.style.in_use import FollowsTheme, theme_in_use

_LINE = Qt.ItemDataRole.UserRole
_SIGNS: dict[ConsoleLineKind, str] = {
    "log": "◆",
    "output": "│",
    "warning": "!",
    "error": "✕",
    "asked": "›",
    "value": "=",
    "wrong": "✕",
}


class _Input(ExpressionField):
    """Up and Down bring back what was asked before."""

    entered = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._past: list[str] = []
        self._at = 0
        self.returnPressed.connect(self._ask)

    def _ask(self) -> None:
        text = self.text().strip()
        if text:
            self._past = [each for each in self._past if each != text] + [text]
            self._at = len(self._past)
            self.clear()
            self.entered.emit(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go through what was asked."""
        by = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        if by and self._past and not self.offered:
            self._at = max(0, min(len(self._past), self._at + by))
            self.setText(self._past[self._at] if self._at < len(self._past) else "")
            return
        super().keyPressEvent(event)


class Console(FollowsTheme, QWidget):
    """Lines of the run with those of the user's own between them, in the order that they came."""

    request_value = Signal(str)  # an expression, to be worked out at the moment shown
    line_chosen = Signal(int, object)  # iteration and row of the call that a line is of

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._taken: tuple[ConsoleLine, ...] = ()
        self.list = QListWidget()
        self.field = _Input()
        self.list.setAccessibleName(self.tr("Console"))
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setUniformItemSizes(True)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setFont(fixed_font(self.font()))
        self.field.setFont(fixed_font(self.font()))
        self.field.setPlaceholderText(self.tr("Work out an expression: args, tokens.total …"))
        self.field.setAccessibleName(self.tr("Expression to work out at the moment shown"))
        column = column_of((self.list, 1), on=self, margins=0, spacing=0)
        line = column_of(self.field, margins=(4, 0, 4, 4))
        column.addLayout(line)
        self.field.entered.connect(self.request_value)
        self.list.itemClicked.connect(self._on_item)
        self.list.itemActivated.connect(self._on_item)
        self.follow_theme()

    @property
    def lines(self) -> list[str]:
        """The lines as they read."""
        return [self.list.item(row).text() for row in range(self.list.count())]

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        for row in range(self.list.count()):
            self._paint(self.list.item(row))

    def show_lines(self, lines: tuple[ConsoleLine, ...]) -> None:
        """Show a run's lines; those that it had before stand there already."""
        if lines is self._taken:
            return
        before, self._taken = self._taken, lines
        if lines[: len(before)] == before:
            self.add(lines[len(before) :])
        elif before and lines and before[-1] in lines:
            self.add(lines[len(lines) - 1 - lines[::-1].index(before[-1]) + 1 :])
        else:
            self.list.clear()
            self.add(lines)

    def add(self, lines: Sequence[ConsoleLine]) -> None:
        """Put lines at the end, and show the last one."""
        for line in lines:
            item = QListWidgetItem(f"{_SIGNS[line.kind]} {line.text}")
            item.setData(_LINE, line)
            where = self.tr("Iteration {number}").format(number=line.step) if line.step else ""
            item.setToolTip("\n".join(filter(None, (where, line.text))))
            self._paint(item)
            self.list.addItem(item)
        if lines:
            self.list.scrollToBottom()

    def _paint(self, item: QListWidgetItem) -> None:
        theme, line = theme_in_use(), item.data(_LINE)
        inks: dict[ConsoleLineKind, str] = {
            "log": theme.text,
            "output": theme.muted,
            "warning": theme.warning,
            "error": theme.error,
            "asked": theme.accent,
            "value": theme.text,
            "wrong": theme.error,
        }
        item.setForeground(QColor(inks[line.kind]))

    def _on_item(self, item: QListWidgetItem) -> None:
        line = item.data(_LINE)
        if isinstance(line, ConsoleLine) and line.step:
            self.line_chosen.emit(line.step, line.call)
