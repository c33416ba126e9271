"""Colors the text with the pure lexer, in time slices if the text is long."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING

from PySide6 import QtGui
from PySide6.QtCore import Signal

from studio.ui.style.theme import theme_in_use
from studio.viewmodels.app.jobs import single_shot

if TYPE_CHECKING:
    from studio.application.highlight.lexer import State, Token
    from studio.ui.style.theme import Theme

_SLICE_SECONDS = 0.006
_REST_MS = 60
"""Delay after the last key before invisible lines are colored, in milliseconds."""
_LONG_LINES = 2_000
"""Number of lines from which a loaded text gets its visible lines colored first."""
_UNKNOWN = -1  # Qt's state of a block that was never highlighted


class Highlighter(QtGui.QSyntaxHighlighter):
    """Highlights blocks with `lex_line`.

    A change of many lines (an opened fence) or a long new text is colored for a few milliseconds,
    and the rest when the window is idle, so that no key press waits for it.
    """

    colored = Signal(int, int)  # first and last line, from 0, that were colored in the background
    recounted = Signal(int, int)  # revision before and after, for the same text

    def __init__(self, document: QtGui.QTextDocument) -> None:
        self._numbers: dict[State, int] = {}
        self._states: list[State] = []
        self._formats: dict[str, QtGui.QTextCharFormat] = {}
        self._deadline = 0.0
        self._pending: list[QtGui.QTextCursor] = []
        """Cursors in lines to continue from. Not `QTextBlock`s: lines may be removed meanwhile."""
        self._unread_from: int | None = None
        self._changed_to = -1
        self._is_own = False
        """Whether the next line is the edited one, which is never delayed."""
        self._stop_at = sys.maxsize
        self._first_done, self._last_done = sys.maxsize, -1
        self._held = False
        self._loading = False
        self._colored_in = theme_in_use()
        self._make_formats(self._colored_in)
        super().__init__(None)  # type: ignore[call-overload] # as Qt lets it; the text comes below
        self._timer = single_shot(self, self._go_on)
        # Connected before Qt's own slot, so that each change starts with a new time budget.
        document.contentsChange.connect(self._begin)
        self._deadline = perf_counter() + _SLICE_SECONDS
        self.setDocument(document)
        # The document owns it; Qt would never delete it without a parent.
        self.setParent(document)

    @property
    def is_done(self) -> bool:
        """Whether every line is colored."""
        return not self._pending and self._unread_from is None

    def is_done_to(self, line: int) -> bool:
        """Return whether every line up to a line number, from 0, is colored."""
        return self._first_open() > line

    def recolor(self) -> None:
        """Use the colors of the current theme; a second view of the same text calls this again."""
        theme = theme_in_use()
        if theme is self._colored_in:
            return
        self._colored_in = theme
        self._make_formats(theme)
        block = self.document().firstBlock()
        while block.isValid():
            block.setUserState(_UNKNOWN)
            block = block.next()
        self._pending, self._unread_from = [], 0
        self._go_on()

    def begin_with(self, state: State) -> None:
        """Set the lexer state for the first line of the next text: a file that is not a prompt."""
        self._first = state

    def load(self, text: str) -> None:
        """Load a new text; coloring of a long one starts with its first paint.

        Qt requests every line while the text is set. Delaying each line separately took three
        quarters of the time to open 50,000 lines.
        """
        document = self.document()
        self._loading = text.count("\n") >= _LONG_LINES
        try:
            document.setPlainText(text)
        finally:
            if self._loading:
                self._loading = False
                document.firstBlock().setUserState(_UNKNOWN)
                self._pending, self._unread_from = [], 0
                if not self._held:
                    self._timer.start(0)

    def hold(self) -> None:
        """Delay coloring until `release`: the window is about to be painted."""
        self._held = True

    def release(self) -> None:
        """Start the delayed coloring."""
        if self._held:
            self._held = False
            self._go_on()

    def pause(self) -> None:
        """Stop coloring in the background until the text changes or is shown again."""
        self._timer.stop()

    def state_before(self, block: QtGui.QTextBlock) -> State:
        """Return the lexer's state at the start of a line after lexing the lines above.

        It is a guess if lexing so many lines would delay a key press.
        """
        line = block.blockNumber() - 1
        if not self.is_done and line - self._first_open() < _LONG_LINES:
            self.read_to(line)
        return self._known_before(block)

    def read_to(self, line: int) -> None:
        """Color every line up to a line number, from 0, without a time limit."""
        if self._held or self.is_done_to(line):
            return
        revision = self.document().revision()
        self._changed_to = -1
        self._deadline, self._stop_at = math.inf, line
        while self._first_open() <= line:
            block = self._take_pending(line) or self._first_unread()
            if block is None or block.blockNumber() > line:
                break
            self.rehighlightBlock(block)
        self._deadline, self._stop_at = perf_counter() + _SLICE_SECONDS, sys.maxsize
        self.recounted.emit(revision, self.document().revision())

    def show_range(self, first: QtGui.QTextBlock, last: QtGui.QTextBlock) -> None:
        """Color the visible lines now, regardless of the slices."""
        if self._held:
            return
        block = first
        self._changed_to = -1
        self._deadline = perf_counter() + 10 * _SLICE_SECONDS
        self._stop_at = last.blockNumber()
        revision = self.document().revision()
        while block.isValid() and block.blockNumber() <= self._stop_at:
            if block.userState() == _UNKNOWN:
                self.rehighlightBlock(block)
            block = block.next()
        self._stop_at = sys.maxsize
        self.recounted.emit(revision, self.document().revision())

    def highlightBlock(self, text: str) -> None:
        """Color one line while time is left for this change."""
        if self._loading:
            return
        block = self.currentBlock()
        line = block.blockNumber()
        is_own, self._is_own = self._is_own, False
        late = not is_own and perf_counter() > self._deadline
        if self._held or late or line > self._stop_at:
            self._put_off(block)
            return
        number = self.previousBlockState()
        before = self._states[number] if number != _UNKNOWN else self._known_before(block)
        tokens, after = self._lex(text if text.isascii() else _readable(text), before)
        self._paint(text, tokens)
        self._first_done = min(self._first_done, line)
        self._last_done = max(self._last_done, line)
        if number == _UNKNOWN or after is not before:
            number = self._number_of(after)
        self.setCurrentBlockState(number)

    # Neither module is loaded for the first paint, which has no colors.

    @cached_property
    def _first(self) -> State:
        """State before the first line."""
        from studio.application.highlight.lexer import START

        return START

    @cached_property
    def _body(self) -> State:
        """Best guess of the state for a line below unread lines."""
        from studio.application.highlight.lexer import State

        return State(zone="body")

    @cached_property
    def _lex(self) -> Callable[[str, State], tuple[tuple[Token, ...], State]]:
        """Function that lexes a line.

        Its tables take longer to load than a window takes to paint.
        """
        from studio.application.highlight.lexer import lex_line

        return lex_line

    def _number_of(self, state: State) -> int:
        number = self._numbers.get(state)
        if number is None:
            number = self._numbers[state] = len(self._states)
            self._states.append(state)
        return number

    def _paint(self, text: str, tokens: tuple[Token, ...]) -> None:
        wide = not text.isascii() and any(char > "\uffff" for char in text)
        for token in tokens:
            made = self._formats.get(token.style)
            if made is None:
                continue
            start, end = token.start, token.end
            if wide:
                start, end = _units(text, start), _units(text, end)
            self.setFormat(start, end - start, made)

    def _put_off(self, block: QtGui.QTextBlock) -> None:
        """Leave a line for a later slice and keep its present colors."""
        for each in block.layout().formats():  # Qt removes them before it requests new ones
            self.setFormat(each.start, each.length, each.format)
        if block.position() <= self._changed_to:
            # Qt removed the line's colors, as in the whole range of a change.
            self.setCurrentBlockState(_UNKNOWN)
            number = block.blockNumber()
            if self._unread_from is None or number < self._unread_from:
                self._unread_from = number
        else:
            # No state is set, so Qt stops here.
            self._pending.append(QtGui.QTextCursor(block))
        if not self._held and not self._timer.isActive():
            self._timer.start(0)

    def _begin(self, position: int, removed: int, added: int) -> None:
        self._deadline = perf_counter() + _SLICE_SECONDS
        self._changed_to = position + added
        self._is_own = True
        if self._timer.isActive():
            self._timer.start(_REST_MS)

    def _go_on(self) -> None:
        """Color for one slice: first delayed lines, then unread lines."""
        self._deadline = perf_counter() + _SLICE_SECONDS
        self._changed_to = -1
        self._first_done, self._last_done = sys.maxsize, -1
        # Otherwise each line would repaint the whole viewport (measured: 80 % of the time).
        layout = self.document().documentLayout()
        layout.blockSignals(True)
        revision = self.document().revision()
        while perf_counter() < self._deadline:
            block = self._take_pending() or self._first_unread()
            if block is None:
                break
            # Qt continues from here while states change.
            self.rehighlightBlock(block)
        layout.blockSignals(False)
        self.recounted.emit(revision, self.document().revision())
        if self._last_done >= 0:
            self.colored.emit(self._first_done, self._last_done)
        if not self.is_done:
            self._timer.start(0)

    def _known_before(self, block: QtGui.QTextBlock) -> State:
        before = block.previous()
        if not before.isValid():
            return self._first
        number = before.userState()
        return self._states[number] if number != _UNKNOWN else self._body

    def _first_open(self) -> int:
        """Return the first line to continue from, or a number past the end if all are colored."""
        pending = min((place.blockNumber() for place in self._pending), default=sys.maxsize)
        return min(pending, sys.maxsize if self._unread_from is None else self._unread_from)

    def _take_pending(self, last: int = sys.maxsize) -> QtGui.QTextBlock | None:
        """Return the first delayed line, up to a last one."""
        if not self._pending:
            return None
        first = min((place.block() for place in self._pending), key=QtGui.QTextBlock.blockNumber)
        if first.blockNumber() > last:
            return None
        self._pending = [place for place in self._pending if place.block() != first]
        return first

    def _first_unread(self) -> QtGui.QTextBlock | None:
        """Return a line that was skipped because lines after it were colored earlier."""
        if self._unread_from is None:
            return None
        block = self.document().findBlockByNumber(self._unread_from)
        while block.isValid():
            if block.userState() == _UNKNOWN:
                self._unread_from = block.blockNumber()
                return block
            block = block.next()
        self._unread_from = None
        return None

    def _make_formats(self, theme: Theme) -> None:
        self._formats = {}
        for style, color in theme.syntax.items():
            made = QtGui.QTextCharFormat()
            made.setForeground(QtGui.QColor(color))
            if style in ("role", "heading", "strong"):
                made.setFontWeight(QtGui.QFont.Weight.Bold)
            if style in ("emphasis", "comment"):
                made.setFontItalic(True)
            if style == "link":
                made.setFontUnderline(True)
            self._formats[style] = made


def _readable(text: str) -> str:
    """Return the line with Qt's line separators as spaces, which the lexer's tables accept."""
    return text.replace("\u2028", " ")


def _units(text: str, offset: int) -> int:
    return offset + sum(1 for char in text[:offset] if char > "\uffff")
