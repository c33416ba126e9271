"""Several carets: each key and each command acts at every caret, as one undo step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QColor, QPainter, QTextCursor

if TYPE_CHECKING:
    from studio.ui.editor.text.prompt_view import PromptView

MOST_CARETS = 1000
"""Maximum number of carets besides the text widget's own."""

_KEEP = QTextCursor.MoveMode.KeepAnchor

Selected = tuple[int, int]
"""Anchor and position of a caret, in UTF-16 units."""


class Carets(QObject):
    """The carets in addition to the text widget's own, which is the first."""

    moved = Signal()  # by a key or an edit, so that earlier selections are gone
    dropped = Signal()  # only the text widget's caret is left

    def __init__(self, view: PromptView) -> None:
        super().__init__(view)
        self._view = view
        self._more: list[QTextCursor] = []
        self._steps: dict[tuple[int, int], tuple[list[Selected], list[Selected]]] = {}
        """Carets before and after a step, by the undo position of the step."""
        self._written: tuple[int, list[Selected]] | None = None
        """Revision of the text and the carets after a change that the next one may join."""
        view.document().undoCommandAdded.connect(self._forget_undone)

    def __len__(self) -> int:
        """Return the number of additional carets."""
        return len(self._more)

    def all(self) -> list[QTextCursor]:
        """Return all carets, starting with that of the text widget."""
        return [self._view.textCursor(), *self._more]

    @property
    def more(self) -> list[QTextCursor]:
        """The additional carets, in the order of their creation."""
        return list(self._more)

    def set_more(self, carets: Sequence[QTextCursor]) -> None:
        """Set the additional carets, up to the maximum."""
        self._more = list(carets[:MOST_CARETS])
        self.show()

    def put(self, places: Sequence[Selected]) -> None:
        """Set carets at these places; the first is that of the text widget."""
        self._more = [self.at(each) for each in places[1 : MOST_CARETS + 1]]
        self._view.setTextCursor(self.at(places[0]))
        self.show()

    def at(self, place: Selected) -> QTextCursor:
        """Return a caret that selects from one place to another."""
        most = self._view.document().characterCount() - 1
        cursor = QTextCursor(self._view.document())
        cursor.setPosition(min(place[0], most))
        cursor.setPosition(min(place[1], most), _KEEP)
        return cursor

    def places(self) -> list[Selected]:
        """Return the anchor and position of each caret, starting with that of the text widget."""
        return [(each.anchor(), each.position()) for each in self.all()]

    def in_order(self) -> list[QTextCursor]:
        """Return all carets from top to bottom."""
        return sorted(self.all(), key=QTextCursor.selectionStart)

    def selected(self) -> list[str]:
        """Return the non-empty selected texts from top to bottom."""
        texts = (each.selectedText() for each in self.in_order() if each.hasSelection())
        return [text.replace("\u2029", "\n") for text in texts]

    @property
    def rows_of_a_page(self) -> int:
        """Return the number of rows that a page key moves: one less than the viewport shows."""
        rows = self._view.viewport().height() // max(1, self._view.fontMetrics().lineSpacing())
        return max(1, rows - 1)

    def lines(self) -> list[tuple[int, int]]:
        """Return the first and last line of each block of lines with carets, from top to bottom."""
        found: list[tuple[int, int]] = []
        document = self._view.document()
        for each in self.in_order():
            first = document.findBlock(each.selectionStart()).blockNumber()
            end = document.findBlock(each.selectionEnd())
            last = end.blockNumber()
            if each.hasSelection() and end.position() == each.selectionEnd():
                last = max(first, last - 1)  # no text of that line is selected
            if found and first <= found[-1][1] + 1:
                found[-1] = (found[-1][0], max(found[-1][1], last))
            else:
                found.append((first, last))
        return found

    def drop(self) -> None:
        """Remove the additional carets."""
        self.dropped.emit()
        if self._more:
            self._more = []
            self.show()

    # -- edits at all carets --------------------------------------------------------------------

    @contextmanager
    def one_step(self, *, keep: bool = False) -> Iterator[list[QTextCursor]]:
        """Group the changes of the block into one undo step, which also restores the carets.

        Args:
            keep: whether a caret stays before text that is inserted at its position.

        Yields:
            All carets, starting with that of the text widget; they move with the text.
        """
        with self._going_along() as places:
            held = [_hold(each) for each in places] if keep else []
            step = QTextCursor(self._view.document())
            step.setPosition(places[0].position())  # where Qt's undo puts the caret
            step.beginEditBlock()
            try:
                yield places
            finally:
                step.endEditBlock()
                for each in held:
                    _let_go(*each)

    def edit(self, act: Callable[[QTextCursor], object], *, typed: str = "") -> None:
        """Change the text at every caret, from top to bottom.

        Args:
            act: changes the text at a caret.
            typed: the typed character, if any; except for blanks, it joins the undo step of the
                characters before it.

        Each change has its own edit block, joined with the previous one: with a single block, Qt
        would highlight everything from the first to the last caret again at each key.
        """
        if self._view.isReadOnly():
            return
        document = self._view.document()
        goes_on = bool(typed.strip()) and self._written == (document.revision(), self.places())
        with self._going_along(goes_on=goes_on) as places:
            steps, held = document.availableUndoSteps(), []
            for each in sorted(places, key=QTextCursor.selectionStart):
                if document.availableUndoSteps() == steps and not goes_on:
                    each.beginEditBlock()
                else:
                    each.joinPreviousEditBlock()
                act(each)
                each.endEditBlock()
                held.append(_hold(each))  # the next caret's text is inserted after it
            for one in held:
                _let_go(*one)
        self._written = (document.revision(), self.places()) if typed else None
        self._view.ensureCursorVisible()

    @contextmanager
    def _going_along(self, *, goes_on: bool = False) -> Iterator[list[QTextCursor]]:
        """Use the carets after the edits, and record them for undo and redo."""
        self._merge()  # another edit may have removed the text between them
        document, places = self._view.document(), self.all()
        before, steps = self.places(), document.availableUndoSteps()
        self.moved.emit()
        try:
            yield places
        finally:
            self._view.setTextCursor(places[0])
            self._more = places[1:]
            self.show()
            made = (steps, document.availableUndoSteps())
            if goes_on and self._steps:
                (first, _), (before, _) = self._steps.popitem()
                made = (first, made[1])
            if made[1] != made[0]:
                self._steps[made] = (before, self.places())
                if len(self._steps) > MOST_CARETS:
                    del self._steps[next(iter(self._steps))]

    def move(self, step: Callable[[QTextCursor], object]) -> None:
        """Move every caret."""
        self.moved.emit()
        places = self.all()
        for each in places:
            step(each)
        self._view.setTextCursor(places[0])
        self._more = places[1:]
        self._view.ensureCursorVisible()
        self.show()

    def undo_by(self, undo: Callable[[], None]) -> None:
        """Undo or redo a step and restore its carets."""
        document = self._view.document()
        before = document.availableUndoSteps()
        self.moved.emit()
        undo()
        after = document.availableUndoSteps()
        places = self._steps.get((min(before, after), max(before, after)))
        if places is not None:
            self.put(places[0 if after < before else 1])
            self._view.ensureCursorVisible()
        else:
            self.show()

    def paint(self) -> None:
        """Paint the additional carets, which the text widget does not know."""
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

    # -- internals ------------------------------------------------------------------------------

    def _forget_undone(self) -> None:
        """Forget the carets of undone steps after a new step."""
        self.moved.emit()
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

    def show(self) -> None:
        """Merge carets that meet, and mark their selections; they are hidden without the focus."""
        self._merge()
        if self._view.folding.is_any_closed:
            self._view.folding.show_lines([each.blockNumber() for each in self._more])
        self._view.marks.set_carets(
            [(e.selectionStart(), e.selectionEnd()) for e in self._more if e.hasSelection()]
        )
        self._view.viewport().update()


def _hold(cursor: QTextCursor) -> tuple[QTextCursor, QTextCursor]:
    """Keep a caret before text that is inserted at its position; return it with its anchor.

    Qt keeps only the position and moves the anchor, so the anchor has its own cursor.
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
    """Return whether two selections overlap, if the second does not start before the first.

    A caret without a selection overlaps a selection that it touches.
    """
    is_bare = first[0] == first[1] or second[0] == second[1]
    return second[0] <= first[1] if is_bare else second[0] < first[1]


def _union(cursors: Sequence[QTextCursor]) -> QTextCursor:
    """Return one caret with the joined selection of several overlapping ones."""
    start = min(each.selectionStart() for each in cursors)
    end = max(each.selectionEnd() for each in cursors)
    leading = next((each for each in cursors if each.hasSelection()), cursors[0])
    is_back = leading.hasSelection() and leading.position() == leading.selectionStart()
    one = QTextCursor(cursors[0])
    one.setPosition(end if is_back else start)
    one.setPosition(start if is_back else end, _KEEP)
    return one
