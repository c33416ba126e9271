"""The text editor: a plain text widget with gutter, squiggles and typing rules for prompts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6 import QtGui
from PySide6.QtCore import QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from studio.application.words import tr
from studio.core.text.source import Problem, Severity
from studio.ui.editor.text.painting.gutter import Breakpoints, Gutter
from studio.ui.editor.text.painting.rows import (
    CaretLine,
    FrontLine,
    GhostValues,
    MarkBar,
    RunLines,
    StickyHeader,
)
from studio.ui.editor.text.prompt_text import PromptText
from studio.ui.editor.text.prompt_view import ParseTracker
from studio.ui.editor.text.text_input import TextInput
from studio.ui.style.theme import FollowsTheme, mono_font

if TYPE_CHECKING:
    from studio.application.document.revisions import LineChange
    from studio.core.prompty.document import PromptDocument
    from studio.core.text.source import SourceText


_CARET_MS = 30  # other parts of the window follow the caret after the key
_LONG_CARET_MS = 200
_LONG_CHARACTERS = 500_000
"""Number of characters at which reading the text takes as long as a key: updates are delayed."""
_SMALLEST, _LARGEST = 6.0, 40.0


class PromptEditor(FollowsTheme, TextInput):
    """Editor of one prompt. Offsets in signals and methods are code points, as in `Span`."""

    caret_moved = Signal(int)  # offset
    breakpoint_toggled = Signal(str)  # name of the tool
    message_breakpoint_toggled = Signal(str)  # message: "user 2"
    request_fixes = Signal(int)  # line, from 0, whose light bulb was clicked

    def __init__(self, parent: QWidget | None = None, prompt: PromptText | None = None) -> None:
        """Create it.

        Args:
            parent: parent widget.
            prompt: the text of another editor, to be shown here as well; None creates a new one.
        """
        super().__init__(parent, prompt)
        self.reading = ParseTracker(self)
        self.problems: tuple[Problem, ...] = ()
        """The underlined problems."""
        self._breakpoints = Breakpoints()
        self._is_going = False
        self._row_height = 0.0
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFont(mono_font())
        self.setAccessibleName(tr("Prompt text"))
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.setTabStopDistance(2 * self.fontMetrics().horizontalAdvance(" "))
        self._gutter = Gutter(self, lambda: self.breakpoints)
        self._front = FrontLine(self)
        self._caret_line = CaretLine(self)
        self.run_lines = RunLines(self, self._gutter)
        """The lines of the run cursor."""
        self.ghosts = GhostValues(self)
        self.mark_bar = MarkBar(self)
        self.setVerticalScrollBar(self.mark_bar)
        self.sticky = StickyHeader(self)
        self._caret_timer = QTimer(self, singleShot=True, interval=_CARET_MS)
        self._wire()
        self._fit_gutter()
        self.prompt.shown_in(self)
        self.follow_theme()

    def _wire(self) -> None:
        self.document().contentsChanged.connect(self.ghosts.follow_edit)
        self.mark_bar.rangeChanged.connect(self._scroll_past_end)
        self.mark_bar.valueChanged.connect(self.sticky.follow)
        self.sticky.request_line.connect(lambda line: self.go_to_line(line + 1))
        self.blockCountChanged.connect(self._fit_gutter)
        self.updateRequest.connect(self._on_update)
        self.cursorPositionChanged.connect(self._on_caret)
        self.highlighter.colored.connect(self._on_colored)
        self.folding.changed.connect(self._on_folded)
        self.folding.found.connect(self._gutter.update)
        self._gutter.request_breakpoint.connect(self.toggle_breakpoint)
        self._gutter.request_fixes.connect(self.request_fixes)
        self._caret_timer.timeout.connect(lambda: self.caret_moved.emit(self.caret()))
        self.prompt.lines.all_changed.connect(self.viewport().update)
        self.prompt.lines.all_changed.connect(self._gutter.update)
        self.prompt.lines.rows_changed.connect(self._on_rows)

    # -- state of the text ----------------------------------------------------------------------

    @property
    def parsed(self) -> PromptDocument | None:
        """The newest parsed document, which may be a few keys behind the text."""
        return self.reading.document

    def document_now(self) -> PromptDocument | None:
        """Return the document of the current text; None while a long one is being parsed."""
        return self.reading.now()

    def set_document(self, document: PromptDocument) -> None:
        """Set a parsed document with its problems and folds."""
        self.reading.take(document)
        self.folding.read(document)
        self.sticky.read(document)
        self.set_problems(document.problems)

    def set_problems(self, problems: Sequence[Problem]) -> None:
        """Underline problems of the document and of later stages (rendering)."""
        self.problems = tuple(problems)
        source = self.parsed.source if self.parsed else self.source()
        severities: dict[int, Severity] = {}
        fixable: set[int] = set()
        for problem in sorted(problems, key=_weight, reverse=True):
            line = source.line_of(problem.span.start)
            severities[line] = problem.severity
            if problem.fixes:
                fixable.add(line)
        self._gutter.set_marks(severities, frozenset(fixable))
        for severity in Severity:
            lines = (line for line, worst in severities.items() if worst is severity)
            self.mark_bar.mark(severity.value, lines)
        self.ghosts.show_fixes(_fixes_by_line(problems, source))
        self.marks.set_problems(problems, source)

    def show_changes(self, source: SourceText, changes: Mapping[int, LineChange]) -> None:
        """Mark the lines, from 0, that changed since the shown run or the last commit."""
        if source.text == self.source().text or not changes:
            self._gutter.set_changes(changes)
            self.mark_bar.mark("change", changes)

    # -- breakpoints ----------------------------------------------------------------------------

    @property
    def breakpoints(self) -> frozenset[int]:
        """Lines, from 0, of tools and messages with breakpoints."""
        return self._breakpoints.lines(self.parsed)

    def show_breakpoints(
        self, tools: frozenset[str], messages: frozenset[str] = frozenset()
    ) -> None:
        """Mark tools and messages with breakpoints."""
        self._breakpoints.show(tools, messages)
        self._gutter.update()

    def toggle_breakpoint(self, line: int | None = None) -> bool:
        """Toggle a breakpoint of the tool or message at a line, counted from 0, or at the caret.

        Returns:
            False if there is neither at the line.
        """
        if self.parsed is None:
            return False
        from studio.application.editing.names import message_around, message_on_line, tool_on_line

        at = self.textCursor().blockNumber() if line is None else line
        tool = tool_on_line(self.parsed, at)
        # In the text of a message, the message is meant, as in other debuggers.
        message = message_on_line(self.parsed, at) or message_around(self.parsed, at)
        if tool is not None:
            self.breakpoint_toggled.emit(tool)
        elif message is not None:
            self.message_breakpoint_toggled.emit(message)
        return tool is not None or message is not None

    # -- appearance -----------------------------------------------------------------------------

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        self.highlighter.recolor()
        self.marks.recolor()
        self._caret_line.recolor()
        self.set_problems(self.problems)
        self.run_lines.paint_again()

    def set_font_size(self, points: float, family: str = "") -> None:
        """Set the font size in points and the family; empty for the bundled font."""
        points = max(_SMALLEST, min(points, _LARGEST))
        self.setFont(mono_font(points, family))
        self.setTabStopDistance(2 * self.fontMetrics().horizontalAdvance(" "))
        self._fit_gutter()

    # -- events ---------------------------------------------------------------------------------

    def closeEvent(self, event: QtGui.QCloseEvent) -> None:
        """Stop all delayed work."""
        self.rest()
        super().closeEvent(event)

    def rest(self) -> None:
        """Stop all delayed work: the editor is about to be closed."""
        self._is_going = True
        self.reading.rest()
        self.prompt.left_by(self)
        self._caret_timer.stop()
        self.marks.rest()
        if self.prompt.parent() is self:
            self.prompt.rest()

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Set the gutter's height, and keep the caret visible if a bar takes room."""
        was_shown = 0 <= self.cursorRect().bottom() <= event.oldSize().height()
        super().resizeEvent(event)
        if was_shown and event.size().height() < event.oldSize().height() and self.hasFocus():
            self.ensureCursorVisible()
        self._place_gutter()
        self.sticky.follow()
        self.prompt.fit_views()

    def showEvent(self, event: QtGui.QShowEvent) -> None:
        """Add the window's actions for texts, and fit the views, since two may show the text."""
        super().showEvent(event)
        in_text = Qt.ShortcutContext.WidgetShortcut
        self.addActions([e for e in self.window().actions() if e.shortcutContext() == in_text])
        self.prompt.fit_views()

    def hideEvent(self, event: QtGui.QHideEvent) -> None:
        """Fit the views: another one may now show the text alone."""
        super().hideEvent(event)
        if not self._is_going:
            self.prompt.fit_views()

    def set_wrapped(self, wrapped: bool) -> None:
        """Set whether long lines wrap."""
        super().set_wrapped(wrapped)
        self.prompt.fit_views()

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        """Color the visible lines and highlight the caret's line before painting the text."""
        if not self.highlighter.is_done and not self.highlighter.is_done_to(self._lowest_line()):
            blocks = [block for block, _, _ in self.visible_blocks()]
            if blocks:
                self.highlighter.show_range(blocks[0], blocks[-1])
        self._caret_line.paint()
        super().paintEvent(event)
        self.ghosts.paint(event.rect())
        if len(self.carets):
            self.carets.paint()
        if self.folding.is_any_closed and self.folding.is_closed(0) and self.parsed is not None:
            self._front.paint(event.rect(), self.parsed)

    def _lowest_line(self) -> int:
        """Return a line at or below the lowest visible one, without iterating."""
        if self.folding.is_any_closed:
            return self.blockCount()
        rows = self.viewport().height() // max(1, self.fontMetrics().height()) + 1
        return self.firstVisibleBlock().blockNumber() + rows

    def _scroll_past_end(self, _least: int, most: int) -> None:
        """Allow scrolling the last line to the top if the text is longer than the view."""
        last = self.document().lineCount() - 1
        if 0 < most < last:
            # Before Qt limits the value to the shorter range, so that the view does not jump.
            self.mark_bar.setMaximum(last)

    def _on_update(self, rect: QRect, dy: int) -> None:
        """Update the gutter when the text scrolls or changes, except for one edited line."""
        if dy:
            self._gutter.scroll(0, dy)
        elif not self.prompt.lines.is_one_line and rect.height() > self._row_height:
            self._gutter.update(0, rect.y(), self._gutter.width(), rect.height())

    def _on_caret(self) -> None:
        if self._is_going:
            return  # another editor of the text moved the caret
        cursor = self.textCursor()
        left = self._caret_line.follow(cursor)
        if left is not None:
            self._on_line(left, cursor.block())
        self.marks.follow_caret(cursor)
        long = self.prompt.document.characterCount() > _LONG_CHARACTERS
        self._caret_timer.start(_LONG_CARET_MS if long else _CARET_MS)

    def _on_line(self, left: QtGui.QTextBlock, line: QtGui.QTextBlock) -> None:
        """Update the gutter and the hints for the caret's new line."""
        self.sticky.follow()
        if not line.isVisible():
            self.folding.show_line(line.blockNumber())
        self._gutter.update_line(left)
        self._gutter.update_line(line)

    def _on_rows(self) -> None:
        if self.hasFocus() or self.prompt.parent() is self:
            self.ensureCursorVisible()

    def _on_folded(self) -> None:
        """Move carets out of folded lines."""
        if not all(each.block().isVisible() for each in self.carets.all()):
            self.carets.move(_leave_hidden)
        self.viewport().update()
        self._gutter.update()

    def _on_colored(self, first: int, last: int) -> None:
        if last < self.firstVisibleBlock().blockNumber():
            return
        below = self.cursorForPosition(QPoint(0, self.viewport().height()))
        if first <= below.blockNumber():
            self.viewport().update()

    def _fit_gutter(self) -> None:
        self._row_height = self.fontMetrics().lineSpacing() * 1.5
        self.leave_room_left(self._gutter.needed_width())
        self._place_gutter()

    def _place_gutter(self) -> None:
        inside = self.contentsRect()
        self._gutter.setGeometry(
            inside.left(), inside.top(), self._gutter.needed_width(), inside.height()
        )


def _leave_hidden(cursor: QtGui.QTextCursor) -> None:
    while cursor.block().previous().isValid() and not cursor.block().isVisible():
        cursor.movePosition(QtGui.QTextCursor.MoveOperation.PreviousBlock)


def _fixes_by_line(problems: Sequence[Problem], source: SourceText) -> dict[int, str]:
    """Return the description of the first fix for each line with a problem."""
    found: dict[int, str] = {}
    for problem in sorted(problems, key=_weight):
        if problem.fixes and problem.severity is not Severity.HINT:
            found.setdefault(
                source.line_of(problem.span.start), f"Ctrl+.  {problem.fixes[0].title}"
            )
    return found


def _weight(problem: Problem) -> int:
    return {Severity.ERROR: 0, Severity.WARNING: 1, Severity.HINT: 2}[problem.severity]
