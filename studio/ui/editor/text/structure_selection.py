"""Selections by structure, by brackets and by columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QTextCursor

from studio.core.text.span import Span
from studio.ui.editor.text.brackets import matching_bracket

if TYPE_CHECKING:
    from studio.ui.editor.text.prompt_view import PromptView

_KEEP = QTextCursor.MoveMode.KeepAnchor


class StructureSelection:
    """Grows and shrinks the selection, and goes to the bracket that belongs to one."""

    def __init__(self, view: PromptView) -> None:
        self._view = view
        self._before: list[tuple[Span, Span]] = []
        """What was selected before each growth, with what it grew to."""

    def grow(self) -> None:
        """Select the next larger part of the prompt."""
        from studio.application.editing.structure import next_larger
        from studio.core.prompty.parse import parse

        source = self._view.source()
        cursor = self._view.textCursor()
        chosen = Span(
            source.from_utf16(cursor.selectionStart()), source.from_utf16(cursor.selectionEnd())
        )
        larger = next_larger(parse(source.text, source.path), chosen)
        if larger != chosen:
            self._before.append((chosen, larger))
            self._select(larger)

    def shrink(self) -> None:
        """Select what was selected before the last growth."""
        source, cursor = self._view.source(), self._view.textCursor()
        start, end = cursor.selectionStart(), cursor.selectionEnd()
        chosen = Span(source.from_utf16(start), source.from_utf16(end))
        if self._before and self._before[-1][1] == chosen:
            self._select(self._before.pop()[0])
        else:
            self._before.clear()

    def go_to_bracket(self) -> None:
        """Put the caret at the bracket that belongs to the one beside it."""
        source, cursor = self._view.source(), self._view.textCursor()
        at = source.from_utf16(cursor.position())
        pair = matching_bracket(source.text, at)
        if pair is not None:
            here, other = pair
            # Outside of both, so that the same key leads back.
            self._view.set_caret(other + (1 if other > here else 0))
            self._view.ensureCursorVisible()

    def _select(self, span: Span) -> None:
        self._view.leave_carets()
        source, cursor = self._view.source(), self._view.textCursor()
        cursor.setPosition(source.to_utf16(span.start))
        cursor.setPosition(source.to_utf16(span.end), _KEEP)
        self._view.setTextCursor(cursor)
