"""Extra selections: squiggles, brackets, search matches, lines of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor, QTextDocument, QTextFormat
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

from studio.core.text.source import Problem, Severity, Span
from studio.ui.style.theme import blend, theme_in_use
from studio.viewmodels.app.jobs import single_shot

if TYPE_CHECKING:
    from studio.core.text.source import SourceText
    from studio.ui.style.theme import Theme


# Matching brackets: a pure function without the typing rules.

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_OPENING = {closing: opening for opening, closing in _CLOSING.items()}


def matching_bracket(text: str, position: int) -> tuple[int, int] | None:
    """Return the offsets of the bracket at the caret and of its partner; None without a pair.

    It searches at most 20,000 characters, so that a long text does not slow a key press.
    """
    for at in (position - 1, position):
        if not 0 <= at < len(text):
            continue
        char = text[at]
        if char in "([{":
            step, stop, other = 1, min(len(text), at + 20_000), _CLOSING[char]
        elif char in _OPENING:
            step, stop, other = -1, max(-1, at - 20_000), _OPENING[char]
        else:
            continue
        depth = 0
        for index in range(at, stop, step):
            if text[index] == char:
                depth += 1
            elif text[index] == other:
                depth -= 1
                if not depth:
                    return at, index
    return None


MOST_SQUIGGLES = 500
"""Maximum number of squiggles: each costs time at a repaint; the Problems list shows all."""

Selection = QTextEdit.ExtraSelection


def cursor_for(document: QTextDocument, source: SourceText, span: Span) -> QTextCursor:
    """Return a cursor that selects `span`, converting code points to UTF-16 units."""
    last = max(0, document.characterCount() - 1)
    cursor = QTextCursor(document)
    cursor.setPosition(min(source.to_utf16(span.start), last))
    cursor.setPosition(min(source.to_utf16(span.end), last), QTextCursor.MoveMode.KeepAnchor)
    return cursor


def squiggles(
    document: QTextDocument, source: SourceText, problems: Iterable[Problem], theme: Theme
) -> list[Selection]:
    """Underline problems; errors come first if there are too many."""
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
    """Underline spans with dashes."""
    made = []
    for span in spans:
        selection = Selection()
        selection.cursor = cursor_for(document, source, span)
        selection.format.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DashUnderline)
        selection.format.setUnderlineColor(QColor(color))
        made.append(selection)
    return made


def _visible(source: SourceText, span: Span) -> Span:
    """Return a visible span: an empty one is extended by an adjacent character."""
    if span.end > span.start:
        return Span(span.start, min(span.end, len(source)))
    if span.start < len(source) and source.text[span.start] != "\n":
        return Span(span.start, span.start + 1)
    return Span(max(0, span.start - 1), span.start)


def line_mark(cursor: QTextCursor, color: str) -> Selection:
    """Return a background for a whole line."""
    selection = Selection()
    selection.cursor = QTextCursor(cursor)
    selection.cursor.clearSelection()
    selection.format.setBackground(QColor(color))
    selection.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
    return selection


def range_marks(
    document: QTextDocument,
    ranges: Sequence[tuple[int, int]],
    color: str | QColor,
    *,
    strong: bool = False,
) -> list[Selection]:
    """Return backgrounds for ranges of UTF-16 positions."""
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


def _found_color() -> str:
    return "#f6dca0" if theme_in_use().name == "light" else "#5c4a1e"


_FLASH_MS = 900
"""Duration of a flash, in milliseconds."""
_FLASH_ALPHA = 56
"""Opacity of the accent (0 to 255): the text stays readable and does not look selected."""

_RUN_TINT = 0.14
"""Opacity of the accent (0 to 1) for the lines of a run."""


class ShownMarks:
    """The extra selections of an editor, which are only updated when they change."""

    def __init__(self, editor: QPlainTextEdit) -> None:
        self._editor = editor
        self._squiggles: list[Selection] = []
        self._found: list[Selection] = []
        self._stops: list[Selection] = []
        self._spelling: list[Selection] = []
        self._carets: list[Selection] = []
        self._flashed: list[Selection] = []
        self._run: list[Selection] = []
        self._flash_timer = single_shot(editor, self._end_flash, _FLASH_MS)
        self._bracket: tuple[int, int] | None = None

    def set_problems(self, problems: Sequence[Problem], source: SourceText) -> None:
        """Underline the problems of a text."""
        self._squiggles = squiggles(self._editor.document(), source, problems, theme_in_use())
        self.show()

    def set_found(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Mark search matches, given in UTF-16 positions."""
        shown = ranges[:MOST_SQUIGGLES]
        self._found = range_marks(self._editor.document(), shown, _found_color())
        self.show()

    def set_spelling(self, spans: Sequence[Span], source: SourceText) -> None:
        """Underline words that are not in the dictionary, fainter than problems."""
        if not spans and not self._spelling:
            return
        self._spelling = dashed(self._editor.document(), source, spans, theme_in_use().muted)
        self.show()

    def set_carets(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Mark the selections of the additional carets, in UTF-16 positions."""
        self._carets = range_marks(self._editor.document(), ranges, theme_in_use().selection)
        self.show()

    def flash(self, place: tuple[int, int]) -> None:
        """Flash a range of UTF-16 positions for a moment without selecting it."""
        color = QColor(theme_in_use().accent)
        color.setAlpha(_FLASH_ALPHA)
        self._flashed = range_marks(self._editor.document(), [place], color)
        self._flash_timer.start()
        self.show()

    def set_run(self, lines: Sequence[int]) -> None:
        """Highlight the lines of the run cursor, counted from 0."""
        theme = theme_in_use()
        if not lines and not self._run:
            return
        document = self._editor.document()
        tint = blend(theme.accent, theme.surface, _RUN_TINT)
        self._run = [
            line_mark(QTextCursor(document.findBlockByNumber(line)), tint) for line in lines
        ]
        self.show()

    @property
    def flashed(self) -> str:
        """The text that is currently flashing."""
        return "".join(each.cursor.selectedText() for each in self._flashed)

    def _end_flash(self) -> None:
        self._flashed = []
        self.show()

    def rest(self) -> None:
        """Stop the timer when the editor is closed."""
        self._flash_timer.stop()

    def set_stops(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Mark the remaining stops of a snippet, in UTF-16 positions."""
        self._stops = range_marks(self._editor.document(), ranges, theme_in_use().raised)
        self.show()

    def recolor(self) -> None:
        """Apply the theme's colors to marks that are not repainted automatically."""
        theme = theme_in_use()
        for marks, color in (
            (self._found, _found_color()),
            (self._carets, theme.selection),
            (self._stops, theme.raised),
        ):
            for each in marks:
                each.format.setBackground(QColor(color))
        for each in self._spelling:
            each.format.setUnderlineColor(QColor(theme.muted))
        self.show()

    def follow_caret(self, cursor: QTextCursor) -> None:
        """Mark the bracket at the caret and its partner.

        If there is none, no marks are set, since setting marks repaints everything and existing
        ones move with the text.
        """
        if self._bracket is not None or self._pair(cursor) is not None:
            self.show()

    def show(self) -> None:
        """Set all marks."""
        cursor = self._editor.textCursor()
        self._bracket = self._pair(cursor)
        shown = list(self._run)
        shown += self._flashed
        shown += self._carets
        shown += self._stops
        shown += self._found
        shown += self._brackets(cursor.block().position())
        shown += self._spelling
        shown += self._squiggles
        self._editor.setExtraSelections(shown)

    def _pair(self, cursor: QTextCursor) -> tuple[int, int] | None:
        return matching_bracket(cursor.block().text(), cursor.positionInBlock())

    def _brackets(self, start: int) -> list[Selection]:
        """Mark both brackets, searching from the start of the line."""
        if self._bracket is None:
            return []
        ranges = [(start + at, start + at + 1) for at in self._bracket]
        return range_marks(self._editor.document(), ranges, theme_in_use().selection, strong=True)
