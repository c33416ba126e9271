"""Extra selections: squiggles, the caret's line, brackets and matches of a search."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor, QTextDocument, QTextFormat
from PySide6.QtWidgets import QTextEdit

from studio.core.text.problem import Problem, Severity
from studio.core.text.span import Span

if TYPE_CHECKING:
    from studio.core.text.source import SourceText
    from studio.ui.style.theme import Theme

MOST_SQUIGGLES = 500
"""More would cost every repaint; the Problems list has them all."""

Selection = QTextEdit.ExtraSelection


def cursor_for(document: QTextDocument, source: SourceText, span: Span) -> QTextCursor:
    """A cursor that selects `span`, which counts code points, where Qt counts UTF-16 units."""
    last = max(0, document.characterCount() - 1)
    cursor = QTextCursor(document)
    cursor.setPosition(min(source.to_utf16(span.start), last))
    cursor.setPosition(min(source.to_utf16(span.end), last), QTextCursor.MoveMode.KeepAnchor)
    return cursor


def squiggles(
    document: QTextDocument, source: SourceText, problems: Iterable[Problem], theme: Theme
) -> list[Selection]:
    """Underline problems, errors first where there are too many to show."""
    order = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.HINT: 2}
    chosen = sorted(problems, key=lambda problem: order[problem.severity])[:MOST_SQUIGGLES]
    colors = {
        Severity.ERROR: theme.error,
        Severity.WARNING: theme.warning,
        Severity.HINT: theme.hint,
    }
    made = []
    for problem in reversed(chosen):
        selection = Selection()
        selection.cursor = cursor_for(document, source, _visible(source, problem.span))
        style = (
            QTextCharFormat.UnderlineStyle.DotLine
            if problem.severity == Severity.HINT
            else QTextCharFormat.UnderlineStyle.SpellCheckUnderline
        )
        selection.format.setUnderlineStyle(style)
        selection.format.setUnderlineColor(QColor(colors[problem.severity]))
        made.append(selection)
    return made


def dashed(
    document: QTextDocument, source: SourceText, spans: Iterable[Span], color: str
) -> list[Selection]:
    """Underline spans with a row of dashes."""
    made = []
    for span in spans:
        selection = Selection()
        selection.cursor = cursor_for(document, source, span)
        selection.format.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DashUnderline)
        selection.format.setUnderlineColor(QColor(color))
        made.append(selection)
    return made


def _visible(source: SourceText, span: Span) -> Span:
    """A span with something to underline: an empty one grows by the character beside it."""
    if span.end > span.start:
        return Span(span.start, min(span.end, len(source)))
    if span.start < len(source) and source.text[span.start] != "\n":
        return Span(span.start, span.start + 1)
    return Span(max(0, span.start - 1), span.start)


def line_mark(cursor: QTextCursor, color: str) -> Selection:
    """A whole line in another background."""
    selection = Selection()
    selection.cursor = QTextCursor(cursor)
    selection.cursor.clearSelection()
    selection.format.setBackground(QColor(color))
    selection.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
    return selection


def range_marks(
    document: QTextDocument, ranges: Sequence[tuple[int, int]], color: str, *, strong: bool = False
) -> list[Selection]:
    """Backgrounds behind ranges of UTF-16 positions."""
    made = []
    for start, end in ranges:
        selection = Selection()
        selection.cursor = QTextCursor(document)
        selection.cursor.setPosition(start)
        selection.cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        selection.format.setBackground(QColor(color))
        if strong:
            selection.format.setFontWeight(700)
        made.append(selection)
    return made
