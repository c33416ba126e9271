"""Colors the text with the pure lexer, in slices where the text is long."""

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
"""From here on a text that is loaded has its visible lines colored first."""
_UNKNOWN = -1  # Qt's word for a block that was never highlighted


class Highlighter(QtGui.QSyntaxHighlighter):
    """Runs `lex_line` over blocks.

    A change that makes many lines look different (an opened fence) or a long new text is colored
    for a few milliseconds at once and goes on when the window has nothing else to do, so that no
    key press waits for it.
    """

    colored = Signal(int, int)  # first and last line, from 0, colored in the background
    recounted = Signal(int, int)  # the document's revision before and after, its text being as is

    def __init__(self, document: QtGui.QTextDocument) -> None:
        self._numbers: dict[State, int] = {}
        self._states: list[State] = []
        self._formats: dict[str, QtGui.QTextCharFormat] = {}
        self._deadline = 0.0
        self._pending: list[QtGui.QTextCursor] = []
        """In lines to go on from. No `QTextBlock`s: lines may go away in between."""
        self._unread_from: int | None = None
        self._changed_to = -1
        self._is_own = False
        """Whether the next line is the one that was typed in: it is never put off, however busy the
        machine is.
        """
        self._stop_at = sys.maxsize
        self._first_done, self._last_done = sys.maxsize, -1
        self._held = False
        self._loading = False
        self._colored_in = theme_in_use()
        self._make_formats(self._colored_in)
        super().__init__(None)  # type: ignore[call-overload] # as Qt lets it; the text comes below
        self._timer = single_shot(self, self._go_on)
        # Connected before Qt's own slot, so that each change begins with a fresh budget.
        document.contentsChange.connect(self._begin)
        self._deadline = perf_counter() + _SLICE_SECONDS
        self.setDocument(document)
        # It goes with its text; given to Qt without a parent, nobody would ever delete it.
        self.setParent(document)

    @property
    def is_done(self) -> bool:
        """Whether every line is colored."""
        return not self._pending and self._unread_from is None

    def is_done_to(self, line: int) -> bool:
        """Return whether every line up to one, counted from 0, is colored."""
        return self._first_open() > line

    def recolor(self) -> None:
        """Take the colors of the theme in use; a second editor of the same text asks again."""
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
        """Take another state for the first line of the next text: a file that is not a prompt."""
        self._first = state

    def load(self, text: str) -> None:
        """Put a new text into the document; a long one is colored from its first paint on.

        Qt asks for every line of it while the text is set. To put each of them off by itself took
        three quarters of the time that opening 50,000 lines does.
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
        """Leave the text without colors until `release`: the window is about to be painted."""
        self._held = True

    def release(self) -> None:
        """Color what was left."""
        if self._held:
            self._held = False
            self._go_on()

    def pause(self) -> None:
        """Stop coloring in the background until the text changes or is shown again."""
        self._timer.stop()

    def state_before(self, block: QtGui.QTextBlock) -> State:
        """Return the lexer's state at the start of a line, reading unread lines above it first.

        It is a guess where that would be so many that a key had to wait for them.
        """
        line = block.blockNumber() - 1
        if not self.is_done and line - self._first_open() < _LONG_LINES:
            self.read_to(line)
        return self._known_before(block)

    def read_to(self, line: int) -> None:
        """Color every line up to one, counted from 0, however long it takes."""
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
        """Color the visible lines at once, wherever the slices are."""
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
        """Color one line, while the budget of this change lasts."""
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

    # Neither is loaded with the first paint, which has no colors.

    @cached_property
    def _first(self) -> State:
        """Before the first line."""
        from studio.application.highlight.lexer import START

        return START

    @cached_property
    def _body(self) -> State:
        """The best guess for a line whose lines before are not read yet."""
        from studio.application.highlight.lexer import State

        return State(zone="body")

    @cached_property
    def _lex(self) -> Callable[[str, State], tuple[tuple[Token, ...], State]]:
        """Reads a line. Its tables take longer to load than a window to paint."""
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
        """Leave a line for a later slice, with the colors that it has."""
        for each in block.layout().formats():  # Qt takes them away before it asks for new ones
            self.setFormat(each.start, each.length, each.format)
        if block.position() <= self._changed_to:
            # Qt took the line's colors away, as it does in the whole range of a change.
            self.setCurrentBlockState(_UNKNOWN)
            number = block.blockNumber()
            if self._unread_from is None or number < self._unread_from:
                self._unread_from = number
        else:
            # No state is set, so Qt's walk over the following lines ends here.
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
        """Color for one slice: the rest of an interrupted walk, then unread lines."""
        self._deadline = perf_counter() + _SLICE_SECONDS
        self._changed_to = -1
        self._first_done, self._last_done = sys.maxsize, -1
        # Else each line would have the whole viewport painted again (measured: 8 of 10 parts).
        layout = self.document().documentLayout()
        layout.blockSignals(True)
        revision = self.document().revision()
        while perf_counter() < self._deadline:
            block = self._take_pending() or self._first_unread()
            if block is None:
                break
            # Qt walks on from here as long as states change.
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
        """Return the first line to go on from; beyond every line where all are colored."""
        pending = min((place.blockNumber() for place in self._pending), default=sys.maxsize)
        return min(pending, sys.maxsize if self._unread_from is None else self._unread_from)

    def _take_pending(self, last: int = sys.maxsize) -> QtGui.QTextBlock | None:
        """Return the first line that was put off, up to a last one."""
        if not self._pending:
            return None
        first = min((place.block() for place in self._pending), key=QtGui.QTextBlock.blockNumber)
        if first.blockNumber() > last:
            return None
        self._pending = [place for place in self._pending if place.block() != first]
        return first

    def _first_unread(self) -> QtGui.QTextBlock | None:
        """Return a line that a walk missed because it met lines colored before their turn."""
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
    """Return the line with Qt's soft line separator as a space, which no lexer table trips over."""
    return text.replace("\u2028", " ")


def _units(text: str, offset: int) -> int:
    return offset + sum(1 for char in text[:offset] if char > "\uffff")
