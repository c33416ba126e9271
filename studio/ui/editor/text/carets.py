"""More carets than one: each key and each command acts at every caret, as one step to undo."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QColor, QPainter, QTextBlock, QTextCursor

from studio.ui.editor.text.caret_matches import places_like
from studio.ui.editor.text.line_columns import position_at, shown_column

if TYPE_CHECKING:
    from studio.ui.editor.text.prompt_view import PromptView

_MOST = 1000
_REMEMBERED = 200
_KEEP = QTextCursor.MoveMode.KeepAnchor

Selected = tuple[int, int]
"""Anchor and position of a caret, in UTF-16 units."""


class Carets(QObject):
    """The carets beside that of the text widget, which is the first."""

    def __init__(self, view: PromptView) -> None:
        super().__init__(view)
        self._view = view
        self._more: list[QTextCursor] = []
        self._word: Selected | None = None
        """The word that the first choice of a match selected: only whole words are its matches."""
        self._chosen: list[list[Selected]] = []
        """The carets before each one that was added."""
        self._steps: dict[tuple[int, int], tuple[list[Selected], list[Selected]]] = {}
        """The carets before and after a step, by the steps that could be undone then."""
        view.document().undoCommandAdded.connect(self._forget_undone)

    def __len__(self) -> int:
        """How many there are beside the usual one."""
        return len(self._more)

    def all(self) -> list[QTextCursor]:
        """All carets, that of the text widget first."""
        return [self._view.textCursor(), *self._more]

    def in_order(self) -> list[QTextCursor]:
        """All carets, from top to bottom."""
        return sorted(self.all(), key=QTextCursor.selectionStart)

    def selected(self) -> list[str]:
        """What each caret selects, from top to bottom; nothing of those that select nothing."""
        texts = (each.selectedText() for each in self.in_order() if each.hasSelection())
        return [text.replace("\u2029", "\n") for text in texts]

    @property
    def rows_of_a_page(self) -> int:
        """How far a page key goes: one row less than the window shows."""
        rows = self._view.viewport().height() // max(1, self._view.fontMetrics().lineSpacing())
        return max(1, rows - 1)

    def lines(self) -> list[tuple[int, int]]:
        """First and last line of each run of lines that the carets touch, from top to bottom."""
        found: list[tuple[int, int]] = []
        document = self._view.document()
        for each in self.in_order():
            first = document.findBlock(each.selectionStart()).blockNumber()
            end = document.findBlock(each.selectionEnd())
            last = end.blockNumber()
            if each.hasSelection() and end.position() == each.selectionEnd():
                last = max(first, last - 1)  # nothing of that line is selected
            if found and first <= found[-1][1] + 1:
                found[-1] = (found[-1][0], max(found[-1][1], last))
            else:
                found.append((first, last))
        return found

    # -- where carets come from -----------------------------------------------------------------

    def add_next(self) -> None:
        """Select the word at each caret; with a selection, add the next place of the same text."""
        if not self._select_words():
            found = self._next_match()
            if found is not None:
                self._add(found)

    def skip_next(self) -> None:
        """Go on to the next place of the selected text without the one chosen last."""
        if self._select_words():
            return
        found = self._next_match()
        if found is None:
            return
        self._note()
        if self._more:
            self._more[-1] = self._cursor(found)
        else:
            self._view.setTextCursor(self._cursor(found))
            self._word = found if self._word is not None else None
        self._show_place(found[1])
        self._show()

    def add_all(self) -> None:
        """A caret at every place of the selected text, or of the word at the caret."""
        self._note()
        self._select_words()
        main = self._view.textCursor()
        places = [each for each in self._matches() if each[0] != main.selectionStart()]
        self._more = [self._cursor(each) for each in places[:_MOST]]
        self._show()

    def select(self, places: Sequence[Selected]) -> None:
        """A caret for each of these selections; the first that is not above the caret leads."""
        self._note()
        at = self._view.textCursor().selectionStart()
        first = next((i for i, each in enumerate(places) if each[0] >= at), 0)
        chosen = [*places[first:], *places[:first]][: _MOST + 1]
        self._view.folding.show_line(self._view.document().findBlock(chosen[0][0]).blockNumber())
        self._put(chosen)
        self._view.ensureCursorVisible()

    def take_back(self) -> None:
        """As it was before the caret that was added last."""
        if self._chosen:
            self._put(self._chosen.pop())

    def toggle_at(self, place: QTextCursor) -> None:
        """A caret where there was none, or none where there was one."""
        self._note()
        position = place.position()
        kept = [each for each in self._more if each.position() != position]
        is_main = position == self._view.textCursor().position()
        if is_main and self._more:
            self._view.setTextCursor(kept.pop(0))
        elif len(kept) == len(self._more) and not is_main:
            kept.append(place)
        self._more = kept[:_MOST]
        self._show()

    def add_line(self, by: int) -> None:
        """A caret in the line above (-1) or below (1) the outermost one, in the same column."""
        carets = self.in_order()
        outer = QTextCursor(carets[0] if by < 0 else carets[-1])
        move = QTextCursor.MoveOperation
        outer.clearSelection()
        if outer.movePosition(move.Up if by < 0 else move.Down):
            self._note()
            self._more = [*self._more, outer][:_MOST]
            self._show_place(outer.position())
            self._show()

    def at_line_ends(self) -> None:
        """A caret at the end of each line selected."""
        self._note()
        document, made = self._view.document(), []
        for first, last in self.lines():
            for number in range(first, last + 1):
                block = document.findBlockByNumber(number)
                end = block.position() + block.length() - 1
                made.append((end, end))
        self._put(made[: _MOST + 1])

    def select_column(self, start: QTextCursor, end: QTextCursor) -> None:
        """A caret in each line from one place to another, each selecting the same columns."""
        document = self._view.document()
        first, last = start.blockNumber(), end.blockNumber()
        step = 1 if last >= first else -1
        left, right = (_column_of(each) for each in (start, end))
        made = []
        for number in range(first, last + step, step)[:_MOST]:
            block = document.findBlockByNumber(number)
            if block.isVisible():
                text, begin = block.text(), block.position()
                made.append((begin + position_at(text, left), begin + position_at(text, right)))
        self._more = [self._cursor(each) for each in made[:-1]]
        self._view.setTextCursor(self._cursor(made[-1]))
        self._show()

    def drop(self) -> None:
        """Leave only the usual caret."""
        self._chosen.clear()
        self._word = None
        if self._more:
            self._more = []
            self._show()

    # -- edits at all of them -------------------------------------------------------------------

    @contextmanager
    def one_step(self, *, keep: bool = False) -> Iterator[list[QTextCursor]]:
        """What is changed within is one step to undo, which brings the carets back too.

        Args:
            keep: whether a caret stays before what is put in just where it stands.

        Yields:
            The carets, that of the text widget first; they go along with the text.
        """
        with self._going_along() as places:
            held = [_hold(each) for each in places] if keep else []
            step = QTextCursor(self._view.document())
            step.setPosition(places[0].position())  # where Qt's own undo puts the caret
            step.beginEditBlock()
            try:
                yield places
            finally:
                step.endEditBlock()
                for each in held:
                    _let_go(*each)

    def edit(self, act: Callable[[QTextCursor], object]) -> None:
        """Let every caret in turn, from the top, change the text.

        Each has an edit block of its own, joined with the one before: in one for all, Qt takes
        everything from the first caret to the last for changed, and colors it anew at each key.
        """
        if self._view.isReadOnly():
            return
        document = self._view.document()
        with self._going_along() as places:
            steps, held = document.availableUndoSteps(), []
            for each in sorted(places, key=QTextCursor.selectionStart):
                if document.availableUndoSteps() == steps:
                    each.beginEditBlock()
                else:
                    each.joinPreviousEditBlock()
                act(each)
                each.endEditBlock()
                held.append(_hold(each))  # what the next writes just here comes behind it
            for one in held:
                _let_go(*one)
        self._view.ensureCursorVisible()

    @contextmanager
    def _going_along(self) -> Iterator[list[QTextCursor]]:
        """Take the carets as they are after the edits within, and note them for undo and redo."""
        self._merge()  # an edit of somebody else may have taken away what was between them
        document, places = self._view.document(), self.all()
        before, steps = self._places(), document.availableUndoSteps()
        self._chosen.clear()
        try:
            yield places
        finally:
            self._view.setTextCursor(places[0])
            self._more = places[1:]
            self._show()
            made = (steps, document.availableUndoSteps())
            if made[1] != steps:
                self._steps[made] = (before, self._places())
                if len(self._steps) > _MOST:
                    del self._steps[next(iter(self._steps))]

    def move(self, step: Callable[[QTextCursor], object]) -> None:
        """Move every caret."""
        self._chosen.clear()
        places = self.all()
        for each in places:
            step(each)
        self._view.setTextCursor(places[0])
        self._more = places[1:]
        self._view.ensureCursorVisible()
        self._show()

    def undo_by(self, undo: Callable[[], None]) -> None:
        """Undo or redo a step; where carets made it, they stand again as they did."""
        document = self._view.document()
        before = document.availableUndoSteps()
        self._chosen.clear()
        undo()
        after = document.availableUndoSteps()
        places = self._steps.get((min(before, after), max(before, after)))
        if places is not None:
            self._put(places[0 if after < before else 1])
            self._view.ensureCursorVisible()
        else:
            self._show()

    def paint(self) -> None:
        """Paint the carets that the text widget does not know."""
        view = self._view
        painter = QPainter(view.viewport())
        color = QColor(view.palette().text().color())
        shown = [block.blockNumber() for block, _, _ in view.visible_blocks()]
        for each in self._more:
            if shown and shown[0] <= each.blockNumber() <= shown[-1]:
                rectangle = view.cursorRect(each)
                rectangle.setWidth(2)
                painter.fillRect(rectangle, color)
        painter.end()

    # -- what they stand on ---------------------------------------------------------------------

    def _select_words(self) -> bool:
        """Select the word at each caret that selects nothing; whether there was one."""
        places = self.all()
        bare = [each for each in places if not each.hasSelection()]
        for each in bare:
            each.select(QTextCursor.SelectionType.WordUnderCursor)
        if bare:
            self._view.setTextCursor(places[0])
            self._more = places[1:]
            self._word = (places[0].selectionStart(), places[0].selectionEnd())
            self._show()
        return bool(bare)

    def _matches(self) -> Iterator[Selected]:
        main, last = self._view.textCursor(), self.all()[-1].selectionEnd()
        chosen = (main.selectionStart(), main.selectionEnd())
        return places_like(self._view.source(), chosen, last, whole=self._word == chosen)

    def _next_match(self) -> Selected | None:
        taken = {each.selectionStart() for each in self.all()}
        if len(self._more) >= _MOST:
            return None
        return next((each for each in self._matches() if each[0] not in taken), None)

    def _add(self, place: Selected) -> None:
        self._note()
        self._more.append(self._cursor(place))
        self._show_place(place[1])
        self._show()

    def _show_place(self, position: int) -> None:
        """Scroll there; the usual caret stays where it is."""
        view, main = self._view, self._view.textCursor()
        view.folding.show_line(view.document().findBlock(position).blockNumber())
        view.blockSignals(True)
        view.setTextCursor(self._cursor((position, position)))
        view.ensureCursorVisible()
        view.setTextCursor(main)
        view.blockSignals(False)

    def _cursor(self, place: Selected) -> QTextCursor:
        most = self._view.document().characterCount() - 1
        cursor = QTextCursor(self._view.document())
        cursor.setPosition(min(place[0], most))
        cursor.setPosition(min(place[1], most), _KEEP)
        return cursor

    def _put(self, places: Sequence[Selected]) -> None:
        self._more = [self._cursor(each) for each in places[1:]]
        self._view.setTextCursor(self._cursor(places[0]))
        self._show()

    def _places(self) -> list[Selected]:
        return [(each.anchor(), each.position()) for each in self.all()]

    def _note(self) -> None:
        self._chosen.append(self._places())
        del self._chosen[:-_REMEMBERED]

    def _forget_undone(self) -> None:
        """A step comes in the place of those that were undone; carets stood in another text."""
        self._chosen.clear()
        steps = self._view.document().availableUndoSteps()
        while self._steps and next(reversed(self._steps))[1] >= steps:
            self._steps.popitem()

    def _merge(self) -> None:
        places = self.all()
        spans = [(each.selectionStart(), each.selectionEnd()) for each in places]
        groups: list[list[int]] = []
        reach = (-1, -1)
        for at in sorted(range(len(places)), key=spans.__getitem__):
            if groups and _meet(reach, spans[at]):
                groups[-1].append(at)
                reach = (reach[0], max(reach[1], spans[at][1]))
            else:
                groups.append([at])
                reach = spans[at]
        if len(groups) < len(places):
            groups.sort(key=min)
            met = [_union([places[at] for at in sorted(group)]) for group in groups]
            self._more = met[1:]
            self._view.setTextCursor(met[0])

    def _show(self) -> None:
        """Carets that met are one; mark what they select. None writes where nobody sees it."""
        self._merge()
        if self._view.folding.is_any_closed:
            self._view.folding.show_lines([each.blockNumber() for each in self._more])
        self._view.marks.set_carets(
            [(e.selectionStart(), e.selectionEnd()) for e in self._more if e.hasSelection()]
        )
        self._view.viewport().update()


def _hold(cursor: QTextCursor) -> tuple[QTextCursor, QTextCursor]:
    """Have a caret stay before what is put in just where it stands; gives it with its anchor.

    Qt holds the position alone and lets the anchor move on, so that one has a cursor of its own.
    """
    anchor = QTextCursor(cursor)
    anchor.setPosition(cursor.anchor())
    for each in (cursor, anchor):
        each.setKeepPositionOnInsert(True)
    return cursor, anchor


def _let_go(cursor: QTextCursor, anchor: QTextCursor) -> None:
    position = cursor.position()
    cursor.setKeepPositionOnInsert(False)
    cursor.setPosition(anchor.position())
    cursor.setPosition(position, _KEEP)


def _meet(first: Selected, second: Selected) -> bool:
    """Whether two selections share something, where the second does not begin before the first.

    A caret that selects nothing is one with a selection that it touches.
    """
    is_bare = first[0] == first[1] or second[0] == second[1]
    return second[0] <= first[1] if is_bare else second[0] < first[1]


def _union(cursors: Sequence[QTextCursor]) -> QTextCursor:
    """One caret for several that met, which selects what they did."""
    start = min(each.selectionStart() for each in cursors)
    end = max(each.selectionEnd() for each in cursors)
    leading = next((each for each in cursors if each.hasSelection()), cursors[0])
    is_back = leading.hasSelection() and leading.position() == leading.selectionStart()
    one = QTextCursor(cursors[0])
    one.setPosition(end if is_back else start)
    one.setPosition(start if is_back else end, _KEEP)
    return one


def _column_of(cursor: QTextCursor) -> int:
    block: QTextBlock = cursor.block()
    return shown_column(block.text(), cursor.positionInBlock())
