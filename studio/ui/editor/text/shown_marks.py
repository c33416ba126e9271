"""What one editor marks in its text: problems, the caret's line, brackets and matches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtGui import QTextBlock, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

from studio.ui.editor.text import marks
from studio.ui.editor.text.typing_rules import matching_bracket

if TYPE_CHECKING:
    from studio.core.text.problem import Problem
    from studio.core.text.source import SourceText
    from studio.core.text.span import Span
    from studio.ui.style.theme import Theme


class ShownMarks:
    """Keeps the extra selections of an editor, and sets them anew only where they change."""

    def __init__(self, editor: QPlainTextEdit, theme: Theme) -> None:
        self._editor = editor
        self._theme = theme
        self._squiggles: list[marks.Selection] = []
        self._found: list[marks.Selection] = []
        self._stops: list[marks.Selection] = []
        self._spelling: list[marks.Selection] = []
        self._line = QTextCursor()
        """In the caret's line as marked. No `QTextBlock`: that of a line which went away still says
        that it is valid, and Qt crashes on it.
        """
        self._line_shown = False
        self._bracket: tuple[int, int] | None = None

    def set_theme(self, theme: Theme) -> None:
        """Take other colours, from the next marks on."""
        self._theme = theme

    def set_problems(self, problems: Sequence[Problem], source: SourceText) -> None:
        """Underline problems of a text."""
        self._squiggles = marks.squiggles(self._editor.document(), source, problems, self._theme)
        self.show()

    def set_found(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Mark matches of a search, given in UTF-16 positions."""
        color = "#f6dca0" if self._theme.name == "light" else "#5c4a1e"
        self._found = marks.range_marks(
            self._editor.document(), ranges[: marks.MOST_SQUIGGLES], color
        )
        self.show()

    def set_spelling(self, spans: Sequence[Span], source: SourceText) -> None:
        """Underline words that the dictionary does not have, fainter than problems."""
        if not spans and not self._spelling:
            return
        self._spelling = marks.dashed(self._editor.document(), source, spans, self._theme.muted)
        self.show()

    def set_stops(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Mark the places of a snippet that are still to be filled, in UTF-16 positions."""
        self._stops = marks.range_marks(self._editor.document(), ranges, self._theme.raised)
        self.show()

    def follow_caret(self) -> QTextBlock | None:
        """The caret moved: mark its line and bracket; returns the line left, where there is one.

        Within a line the marks move with the text: setting them anew paints everything.
        """
        cursor, before = self._editor.textCursor(), self._line.block()
        if (
            cursor.block() == before
            and self._line_shown != cursor.hasSelection()
            and self._bracket is None
            and self._pair() is None
        ):
            return None
        self.show()
        return before if before.isValid() and cursor.block() != before else None

    def show(self) -> None:
        """Set every mark."""
        cursor = self._editor.textCursor()
        self._line_shown = not cursor.hasSelection()
        self._line = QTextCursor(cursor.block())
        self._bracket = self._pair()
        shown: list[marks.Selection] = []
        if self._line_shown:
            shown.append(marks.line_mark(cursor, self._theme.current_line))
        shown += self._stops
        shown += self._found
        shown += self._brackets()
        shown += self._spelling
        shown += self._squiggles
        self._editor.setExtraSelections(shown)

    def _pair(self) -> tuple[int, int] | None:
        cursor = self._editor.textCursor()
        return matching_bracket(cursor.block().text(), cursor.positionInBlock())

    def _brackets(self) -> list[marks.Selection]:
        if self._bracket is None:
            return []
        start = self._line.block().position()
        ranges = [(start + at, start + at + 1) for at in self._bracket]
        return marks.range_marks(
            self._editor.document(), ranges, self._theme.selection, strong=True
        )
