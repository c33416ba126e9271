"""Filling in a snippet: Tab and Shift+Tab go between its stops, Esc ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QKeyEvent, QTextCursor

from studio.application.editing.snippets import expand
from studio.core.text.source import Span, TextEdit

if TYPE_CHECKING:
    from studio.ui.editor.text.prompt_view import PromptView


class SnippetSession(QObject):
    """The stops of the last inserted snippet, which move with the text."""

    def __init__(self, editor: PromptView) -> None:
        super().__init__(editor)
        self._editor = editor
        self._stops: list[tuple[QTextCursor, QTextCursor]] = []
        self._at = 0
        editor.cursorPositionChanged.connect(self._on_caret)

    @property
    def is_active(self) -> bool:
        """Whether there are stops to go to."""
        return bool(self._stops)

    def start(
        self, where: Span, body: str, above: tuple[TextEdit, ...] = ()
    ) -> tuple[TextEdit, ...]:
        """Replace a span by a snippet as one undo step, and start filling it in.

        Args:
            where: the span.
            body: the text with its stops.
            above: edits above the span that belong to the same step.

        Returns:
            All edits.
        """
        self.end()
        editor = self._editor
        source = editor.source()
        line = source.text.rfind("\n", 0, where.start) + 1
        before = source.text[line : where.start]
        bare = before.lstrip(" ")
        indent = before[: len(before) - len(bare)] + (" " * len(bare) if bare == "- " else "")
        made = expand(body, indent)
        edits = (*above, TextEdit(where, made.text))
        editor.apply_edits(edits)
        source = editor.source()
        where = where.shift(sum(len(each.text) - len(each.span) for each in above))
        self._stops = [
            (
                self._cursor(source.to_utf16(where.start + stop.start), keep=True),
                self._cursor(source.to_utf16(where.start + stop.end), keep=False),
            )
            for stop in made.stops
        ]
        self._at = -1
        self.step(1)
        return edits

    def step(self, by: int) -> None:
        """Go to the next or previous stop; the last one ends the session."""
        self._at = max(0, self._at + by)
        first, last = self._stops[min(self._at, len(self._stops) - 1)]
        cursor = self._editor.textCursor()
        cursor.setPosition(first.position())
        cursor.setPosition(last.position(), QTextCursor.MoveMode.KeepAnchor)
        is_last = self._at >= len(self._stops) - 1
        stops, self._stops = self._stops, []  # moving there does not end the session
        self._editor.setTextCursor(cursor)
        self._editor.ensureCursorVisible()
        if not is_last:
            self._stops = stops
        self._mark()

    def end(self) -> None:
        """Forget the stops; the text stays."""
        if self._stops:
            self._stops = []
            self._mark()

    def press(self, event: QKeyEvent) -> bool:
        """Handle a key; return False to leave it to the editor."""
        if not self._stops:
            return False
        plain = not event.modifiers() & ~Qt.KeyboardModifier.ShiftModifier
        match event.key():
            case Qt.Key.Key_Tab if plain:
                self.step(1)
            case Qt.Key.Key_Backtab:
                self.step(-1)
            case Qt.Key.Key_Escape:
                self.end()
            case _:
                return False
        return True

    def _cursor(self, position: int, *, keep: bool) -> QTextCursor:
        cursor = QTextCursor(self._editor.document())
        cursor.setPosition(position)
        cursor.setKeepPositionOnInsert(keep)
        return cursor

    def _on_caret(self) -> None:
        """End the session when the caret leaves the snippet or it is undone."""
        if not self._stops:
            return
        at = self._editor.textCursor().position()
        first = min(stop[0].position() for stop in self._stops)
        last = max(stop[1].position() for stop in self._stops)
        if not first <= at <= last or first == last:
            self.end()

    def _mark(self) -> None:
        self._editor.marks.set_stops(
            [
                (first.position(), last.position())
                for first, last in self._stops
                if first.position() < last.position()
            ]
        )
