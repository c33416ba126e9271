"""Selection commands: more matches of the same text, lines, columns, parts of the prompt."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QTextCursor

from studio.core.text.source import Span
from studio.ui.editor.text.carets.carets import MOST_CARETS, Carets, Selected
from studio.ui.editor.text.marks import matching_bracket

if TYPE_CHECKING:
    from studio.core.prompty.document import PromptDocument
    from studio.core.text.source import SourceText
    from studio.ui.editor.text.prompt_view import PromptView


# Conversion between visible columns of a line and Qt's UTF-16 positions.


def whole_position(text: str, position: int) -> int:
    """Return the UTF-16 position, or the previous one if it would split a character."""
    if text.isascii():
        return min(position, len(text))
    units = 0
    for char in text:
        width = _units(char)
        if units + width > position:
            break
        units += width
    return units


def shown_column(text: str, position: int) -> int:
    """Return the number of screen cells before a UTF-16 position of a line."""
    units = column = 0
    for char in text:
        if units >= position:
            break
        units += _units(char)
        column += _cells(char)
    return column


def position_at(text: str, column: int) -> int:
    """Return the UTF-16 position of a screen column in a line; its end if it is shorter."""
    if text.isascii():
        return min(column, len(text))
    units = cells = 0
    for char in text:
        if cells + _cells(char) > column:
            break
        cells += _cells(char)
        units += _units(char)
    return units


def _units(char: str) -> int:
    return 2 if char > "\uffff" else 1


def _cells(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


_KEEP = QTextCursor.MoveMode.KeepAnchor
_REMEMBERED = 200


class CaretChoice(QObject):
    """Adds carets and removes them one by one."""

    def __init__(self, view: PromptView, carets: Carets) -> None:
        super().__init__(view)
        self._view = view
        self._carets = carets
        self._word: Selected | None = None
        """The word that was selected first: then only whole words match."""
        self._chosen: list[list[Selected]] = []
        """The carets before each addition."""
        carets.moved.connect(self._forget)
        carets.dropped.connect(self._on_dropped)

    # -- matches of the same text ---------------------------------------------------------------

    def add_next(self) -> None:
        """Select the word at each caret, or add the next match of the selected text."""
        if self._select_words():
            return
        found = self._next_match()
        if found is not None:
            self._note()
            self._carets.set_more([*self._carets.more, self._carets.at(found)])
            self._show_place(found[1])

    def skip_next(self) -> None:
        """Go to the next match of the selected text without the last added one."""
        if self._select_words():
            return
        found = self._next_match()
        if found is None:
            return
        self._note()
        more = self._carets.more
        if more:
            self._carets.set_more([*more[:-1], self._carets.at(found)])
        else:
            self._carets.put([found])
            self._word = found if self._word is not None else None
        self._show_place(found[1])

    def add_all(self) -> None:
        """Set a caret at every match of the selected text or of the word at the caret."""
        self._note()
        self._select_words()
        main = self._view.textCursor()
        places = [each for each in self._matches() if each[0] != main.selectionStart()]
        self._carets.set_more([self._carets.at(each) for each in places[:MOST_CARETS]])

    def select(self, places: Sequence[Selected]) -> None:
        """Set a caret for each selection; the first one not above the caret is the main one."""
        self._note()
        at = self._view.textCursor().selectionStart()
        first = next((i for i, each in enumerate(places) if each[0] >= at), 0)
        chosen = [*places[first:], *places[:first]]
        self._view.folding.show_line(self._view.document().findBlock(chosen[0][0]).blockNumber())
        self._carets.put(chosen)
        self._view.ensureCursorVisible()

    def take_back(self) -> None:
        """Restore the carets from before the last one was added."""
        if self._chosen:
            self._carets.put(self._chosen.pop())

    # -- clicks, lines, columns -----------------------------------------------------------------

    def toggle_at(self, place: QTextCursor) -> None:
        """Add a caret, or remove the caret at the same place."""
        self._note()
        position, more = place.position(), self._carets.more
        kept = [each for each in more if each.position() != position]
        is_main = position == self._view.textCursor().position()
        if is_main and more:
            self._view.setTextCursor(kept.pop(0))
        elif len(kept) == len(more) and not is_main:
            kept.append(place)
        self._carets.set_more(kept)

    def add_line(self, by: int) -> None:
        """Add a caret in the line above (-1) or below (1) the outermost one, in the same column."""
        carets = self._carets.in_order()
        outer = QTextCursor(carets[0] if by < 0 else carets[-1])
        move = QTextCursor.MoveOperation
        outer.clearSelection()
        if outer.movePosition(move.Up if by < 0 else move.Down):
            self._note()
            position = outer.position()
            self._carets.set_more([*self._carets.more, outer])
            self._show_place(position)

    def at_line_ends(self) -> None:
        """Set a caret at the end of each selected line."""
        self._note()
        document, made = self._view.document(), []
        for first, last in self._carets.lines():
            for number in range(first, last + 1):
                block = document.findBlockByNumber(number)
                end = block.position() + block.length() - 1
                made.append((end, end))
        self._carets.put(made)

    def select_column(self, start: QTextCursor, end: QTextCursor) -> None:
        """Set a caret in each line between two positions, selecting the same columns."""
        document = self._view.document()
        first, last = start.blockNumber(), end.blockNumber()
        step = 1 if last >= first else -1
        left, right = (_column_of(each) for each in (start, end))
        made = []
        for number in range(first, last + step, step)[:MOST_CARETS]:
            block = document.findBlockByNumber(number)
            if block.isVisible():
                text, begin = block.text(), block.position()
                made.append((begin + position_at(text, left), begin + position_at(text, right)))
        self._carets.put([made[-1], *made[:-1]])

    # -- internals ------------------------------------------------------------------------------

    def _select_words(self) -> bool:
        """Select the word at each caret without a selection; return whether there was one."""
        carets = self._carets.all()
        bare = [each for each in carets if not each.hasSelection()]
        for each in bare:
            each.select(QTextCursor.SelectionType.WordUnderCursor)
        if bare:
            self._view.setTextCursor(carets[0])
            self._word = (carets[0].selectionStart(), carets[0].selectionEnd())
            self._carets.set_more(carets[1:])
        return bool(bare)

    def _matches(self) -> Iterator[Selected]:
        main, last = self._view.textCursor(), self._carets.all()[-1].selectionEnd()
        chosen = (main.selectionStart(), main.selectionEnd())
        return _places_like(self._view.source(), chosen, last, whole=self._word == chosen)

    def _next_match(self) -> Selected | None:
        if len(self._carets) >= MOST_CARETS:
            return None
        taken = {each.selectionStart() for each in self._carets.all()}
        return next((each for each in self._matches() if each[0] not in taken), None)

    def _show_place(self, position: int) -> None:
        """Scroll to a position; the main caret stays."""
        view, main = self._view, self._view.textCursor()
        view.folding.show_line(view.document().findBlock(position).blockNumber())
        view.blockSignals(True)
        view.setTextCursor(self._carets.at((position, position)))
        view.ensureCursorVisible()
        view.setTextCursor(main)
        view.blockSignals(False)

    def _note(self) -> None:
        self._chosen.append(self._carets.places())
        del self._chosen[:-_REMEMBERED]

    def _forget(self) -> None:
        self._chosen.clear()

    def _on_dropped(self) -> None:
        self._chosen.clear()
        self._word = None


class StructureSelection:
    """Expands and shrinks the selection by structure, and goes to matching brackets."""

    def __init__(self, view: PromptView) -> None:
        self._view = view
        self._before: list[tuple[Span, Span]] = []
        """Selections before and after each expansion."""

    def grow(self, document: PromptDocument) -> None:
        """Expand the selection to the next larger part of the prompt."""
        from studio.application.editing.structure import next_larger

        source = document.source
        cursor = self._view.textCursor()
        chosen = Span(
            source.from_utf16(cursor.selectionStart()), source.from_utf16(cursor.selectionEnd())
        )
        larger = next_larger(document, chosen)
        if larger != chosen:
            self._before.append((chosen, larger))
            self._select(larger)

    def shrink(self) -> None:
        """Restore the selection before the last expansion."""
        source, cursor = self._view.source(), self._view.textCursor()
        start, end = cursor.selectionStart(), cursor.selectionEnd()
        chosen = Span(source.from_utf16(start), source.from_utf16(end))
        if self._before and self._before[-1][1] == chosen:
            self._select(self._before.pop()[0])
        else:
            self._before.clear()

    def go_to_bracket(self) -> None:
        """Move the caret to the matching bracket."""
        source, cursor = self._view.source(), self._view.textCursor()
        at = source.from_utf16(cursor.position())
        pair = matching_bracket(source.text, at)
        if pair is not None:
            here, other = pair
            # Outside both brackets, so that the same key returns.
            self._view.set_caret(other + (1 if other > here else 0))
            self._view.ensureCursorVisible()

    def _select(self, span: Span) -> None:
        self._view.leave_carets()
        source, cursor = self._view.source(), self._view.textCursor()
        cursor.setPosition(source.to_utf16(span.start))
        cursor.setPosition(source.to_utf16(span.end), _KEEP)
        self._view.setTextCursor(cursor)


def _column_of(cursor: QTextCursor) -> int:
    return shown_column(cursor.block().text(), cursor.positionInBlock())


def _places_like(
    source: SourceText, chosen: tuple[int, int], start: int, *, whole: bool
) -> Iterator[tuple[int, int]]:
    """Yield matches of the selected text from a position on, then from the start.

    Args:
        source: the text.
        chosen: the selection; it and the matches are in UTF-16 units.
        start: the position.
        whole: whether to match only whole words.
    """
    text = source.text
    wanted = text[source.from_utf16(chosen[0]) : source.from_utf16(chosen[1])]
    if not wanted:
        return
    begin = source.from_utf16(start)
    for low, high in ((begin, len(text)), (0, begin)):
        at = text.find(wanted, low, high)
        while at >= 0:
            end = at + len(wanted)
            around = text[max(0, at - 1) : at] + text[end : end + 1]
            if not whole or not any(each.isalnum() or each == "_" for each in around):
                yield source.to_utf16(at), source.to_utf16(end)
            at = text.find(wanted, end, high)
