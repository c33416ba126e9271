"""The conversation as cards: visible ones are created first, and unchanged ones are kept."""

import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from PySide6 import QtGui
from PySide6.QtCore import QEvent, QRect, Qt, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from studio.application.preview.variables import CardData, same_ends
from studio.application.words import tr
from studio.core.prompty.document import HoistedTool, MediaPart, ToolCallPart, ToolSpec
from studio.core.text.source import Span
from studio.core.tokens.conversation import ConversationTokens
from studio.ui.preview.cards.card import MessageCard
from studio.ui.preview.cards.tools_card import ToolsCard
from studio.ui.style.theme import FollowsTheme, theme_in_use
from studio.viewmodels.app.jobs import repeating_timer

# The column of cards: a slot for each message, with a card only near the visible part.

GAP = 8
EDGE = 12
_HEADER = 48
_MEDIA = 110
_ALWAYS_REAL = 16
_MOST_REAL = 48
_DROPPED_AT_ONCE = 4  # deleting one takes a millisecond


@dataclass(slots=True, eq=False)
class Slot:
    """The place of a message."""

    data: CardData
    """The message."""

    height: int
    """Height in pixels; an estimate until the card was measured at this width."""

    top: int = 0
    """Distance from the top of the column, in pixels."""

    card: MessageCard | None = None
    """The card, while it is near the visible part."""

    is_behind: bool = False
    """Whether the card still shows an earlier message."""

    is_whole: bool = False
    """Whether the user expanded a long text."""


class CardColumn(QWidget):
    """Places slots one below the other; creates and deletes their cards on demand."""

    place_clicked = Signal(Span)
    input_clicked = Signal(str, QRect)  # input name, rectangle in which its value is edited
    request_place = Signal()  # a height changed: place the slots again and keep the scroll position

    def __init__(self) -> None:
        super().__init__()
        self._folder: Path | None = None
        self._raw = False
        self._tokens = ConversationTokens()
        self.lit: Slot | None = None
        """Slot that contains the caret."""
        self._tops: list[int] = []
        self._is_unordered = False
        self.slots: list[Slot] = []
        self.tools_card = ToolsCard(self)
        self.tools_card.place_clicked.connect(self.place_clicked)

    @property
    def cards(self) -> tuple[MessageCard, ...]:
        """The existing cards, in order."""
        return tuple(slot.card for slot in self.slots if slot.card is not None)

    def show_cards(self, cards: Sequence[CardData], folder: Path | None) -> None:
        """Set the conversation; slots whose message looks the same keep their cards."""
        self._folder = folder
        old = self.slots
        head, tail = same_ends([slot.data for slot in old], cards)
        middle, fresh = old[head : len(old) - tail], len(cards) - head - tail
        for slot in middle[fresh:]:
            self._drop(slot)
            if slot is self.lit:
                self.lit = None
        unmatched = cards[head + len(middle) : head + fresh]
        added = [Slot(data, self._estimate(data)) for data in unmatched]
        self.slots = [*old[:head], *middle[:fresh], *added, *old[len(old) - tail :]]
        for slot, data in zip(self.slots, cards, strict=True):
            self._take(slot, data)
        self.request_place.emit()

    def show_tokens(self, tokens: ConversationTokens) -> None:
        """Set the cost of each message; cards with other values become outdated."""
        self._tokens = tokens
        for slot in self.slots:
            slot.is_behind = slot.is_behind or self._is_outdated(slot)

    def set_raw(self, raw: bool) -> None:
        """Show texts raw, or as Markdown."""
        self._raw = raw
        for slot in self.slots:
            slot.is_behind = slot.card is not None

    def set_lit(self, slot: Slot | None) -> None:
        """Mark the slot that contains the caret."""
        for each, is_lit in ((self.lit, False), (slot, True)):
            if each is not None and each.card is not None:
                each.card.set_lit(is_lit)
        self.lit = slot

    def slot_at(self, y: int) -> int:
        """Return the index of the slot at a vertical position, or of the next one below."""
        return max(0, bisect_right(self._tops, y) - 1)

    def near(self, top: int, bottom: int) -> range:
        """Return the slots that overlap a vertical range; all if there are only a few."""
        count = len(self.slots)
        if count <= _ALWAYS_REAL:
            return range(count)
        return range(self.slot_at(top), bisect_left(self._tops, bottom))

    # -- places ---------------------------------------------------------------------------------

    def place(self, width: int, least: int) -> None:
        """Place the slots one below the other; set the column's height, at least `least`."""
        inner = max(1, width - 2 * EDGE)
        if width != self.width():
            self._measure_anew(inner)
        y = EDGE
        if not self.tools_card.isHidden():
            height = _height_of(self.tools_card, inner)
            self.tools_card.setGeometry(EDGE, y, inner, height)
            y += height + GAP
        self._tops = []
        for slot in self.slots:
            slot.top = y
            self._tops.append(y)
            if slot.card is not None:
                slot.card.setGeometry(EDGE, y, inner, slot.height)
            y += slot.height + GAP
        self.resize(width, max(least, y - GAP + EDGE))
        self.update()

    def event(self, event: QEvent) -> bool:
        """Place the slots again when a card needs another height."""
        if event.type() == QEvent.Type.LayoutRequest:
            tools = self.tools_card
            wanted = _height_of(tools, self.width() - 2 * EDGE)
            if self._measure_real() or (not tools.isHidden() and wanted != tools.height()):
                self.request_place.emit()
        return super().event(event)

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        """Paint an empty card for each slot without a card."""
        theme = theme_in_use()
        painter = QtGui.QPainter(self)
        painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing)
        painter.setPen(QtGui.QColor(theme.border))
        painter.setBrush(QtGui.QColor(theme.surface))
        seen = event.rect()
        for index in self.near(seen.top(), seen.bottom() + 1):
            slot = self.slots[index]
            if slot.card is None:
                box = QRect(EDGE, slot.top, self.width() - 2 * EDGE, slot.height)
                painter.drawRoundedRect(box.toRectF().adjusted(0.75, 0.75, -0.75, -0.75), 6, 6)

    # -- cards ----------------------------------------------------------------------------------

    def wanted(self, places: Sequence[range]) -> Slot | None:
        """Return the first slot whose card is missing or outdated; None if all are ready."""
        for place in places:
            for index in place:
                slot = self.slots[index]
                if slot.card is None or slot.is_behind:
                    return slot
        return None

    def realize(self, slot: Slot) -> bool:
        """Create or update a slot's card; return whether its height changed."""
        card, before = slot.card, slot.height
        if card is None:
            card = slot.card = MessageCard(self)
            card.place_clicked.connect(self.place_clicked)
            card.input_clicked.connect(self.input_clicked)
            card.whole_shown.connect(self._keep_whole)
            self._is_unordered = True
        card.show_card(slot.data, self._folder, raw=self._raw, whole=slot.is_whole)
        card.refresh(self._tokens)
        card.set_lit(slot is self.lit)
        slot.is_behind = False
        inner = self.width() - 2 * EDGE
        card.setGeometry(EDGE, slot.top, inner, slot.height)
        card.show()
        slot.height = _height_of(card, inner)
        return slot.height != before

    def drop_far(self, kept: range) -> bool:
        """Delete a few cards that are far away and not in use.

        Returns:
            Whether there are more.
        """
        real = [slot for slot in self.slots if slot.card is not None]
        room = max(_MOST_REAL, len(kept))
        if len(real) <= room:
            return False
        near = {id(self.slots[index]) for index in kept}
        far = [slot for slot in real if id(slot) not in near and not _is_in_use(slot.card)]
        for slot in far[:_DROPPED_AT_ONCE]:
            self._drop(slot)
        return len(far) > _DROPPED_AT_ONCE and len(real) - _DROPPED_AT_ONCE > room

    def order_focus(self) -> None:
        """Set the Tab order of the cards, which are created in any order."""
        if self._is_unordered:
            self._is_unordered = False
            for before, after in pairwise(_focusable(self.cards)):
                QWidget.setTabOrder(before, after)

    def _take(self, slot: Slot, data: CardData) -> None:
        looks_same = slot.data.look == data.look
        slot.data = data
        if slot.card is None:
            if not looks_same:
                slot.height = self._estimate(data)
        elif not slot.card.adopt(data, self._folder, raw=self._raw) or self._is_outdated(slot):
            slot.is_behind = True

    def _is_outdated(self, slot: Slot) -> bool:
        return slot.card is not None and slot.card.is_outdated(self._tokens)

    def _drop(self, slot: Slot) -> None:
        card, slot.card, slot.is_behind = slot.card, None, False
        if card is not None:
            card.hide()
            card.deleteLater()

    def _keep_whole(self) -> None:
        card = self.sender()
        for slot in self.slots:
            slot.is_whole = slot.is_whole or slot.card is card

    def _measure_anew(self, inner: int) -> None:
        """Estimate all heights for another width."""
        self.resize(inner + 2 * EDGE, self.height())
        for slot in self.slots:
            if slot.card is None:
                slot.height = self._estimate(slot.data)
            else:
                slot.card.resize(inner, slot.height)
        self._measure_real()

    def _measure_real(self) -> bool:
        inner, changed = self.width() - 2 * EDGE, False
        for slot in self.slots:
            if slot.card is not None:
                height = _height_of(slot.card, inner)
                changed = changed or height != slot.height
                slot.height = height
        return changed

    def _estimate(self, data: CardData) -> int:
        metrics = self.fontMetrics()
        columns = max(10, (self.width() - 2 * EDGE - 28) // max(1, metrics.averageCharWidth()))
        characters, lines = data.extent
        height = _HEADER + round((lines + characters / columns / 2) * metrics.lineSpacing())
        kinds = MediaPart | ToolCallPart
        return height + _MEDIA * sum(isinstance(part, kinds) for part in data.message.parts)


def _height_of(widget: QWidget, width: int) -> int:
    layout = widget.layout()
    if layout is None:
        return widget.sizeHint().height()
    layout.activate()
    return (
        layout.heightForWidth(width) if layout.hasHeightForWidth() else layout.sizeHint().height()
    )


def _is_in_use(card: MessageCard | None) -> bool:
    if card is None:
        return False
    has_selection = any(body.textCursor().hasSelection() for body in card.bodies)
    focused = card.window().focusWidget()
    return has_selection or (focused is not None and card.isAncestorOf(focused)) or card.hasFocus()


def _focusable(cards: Sequence[MessageCard]) -> Iterator[QWidget]:
    for card in cards:
        yield card
        for child in card.findChildren(QWidget):
            if child.focusPolicy() & Qt.FocusPolicy.TabFocus and not child.isHidden():
                yield child


_SLICE_SECONDS = 0.008  # each slice also costs a repaint of 4 ms


class _Veil(QWidget):
    """Overlay that dims outdated cards; clicks pass through it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.color = QtGui.QColor(0, 0, 0)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        """Paint the background color at half opacity."""
        ground = QtGui.QColor(self.color)
        ground.setAlphaF(0.55)
        QtGui.QPainter(self).fillRect(self.rect(), ground)


class MessagesView(FollowsTheme, QScrollArea):
    """Cards of all messages, with the tools above."""

    place_clicked = Signal(Span)
    input_clicked = Signal(str, QRect)  # input name, rectangle in which its value is edited
    request_undo = Signal()  # undo the last value that was edited here
    settled = Signal()  # all cards in or near the visible part exist

    def __init__(self) -> None:
        super().__init__()
        self._caret: int | None = None
        self._goal: Slot | None = None
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click on a card does not move the focus
        self.setAccessibleName(tr("Messages"))
        self._column = CardColumn()
        self._column.place_clicked.connect(self.place_clicked)
        self._column.input_clicked.connect(self.input_clicked)
        self._column.request_place.connect(self._place)
        self.setWidget(self._column)
        self._veil = _Veil(self.viewport())
        self._timer = repeating_timer(self, self._continue)
        self.verticalScrollBar().valueChanged.connect(self._wake)
        self.follow_theme()

    @property
    def cards(self) -> tuple[MessageCard, ...]:
        """Return the existing cards in order: in a long conversation, the nearly visible ones."""
        return self._column.cards

    @property
    def count(self) -> int:
        """Return the number of messages, each of which has a slot."""
        return len(self._column.slots)

    @property
    def tools_card(self) -> ToolsCard:
        """The card of the tools, above the first message."""
        return self._column.tools_card

    @property
    def is_settled(self) -> bool:
        """Return whether every card near the visible part exists; True for a hidden view."""
        return self._is_made and not self._timer.isActive()

    @property
    def is_dimmed(self) -> bool:
        """Whether the cards are dimmed as outdated."""
        return self._veil.isVisibleTo(self.viewport())

    def show_cards(self, cards: Sequence[CardData], folder: Path | None) -> None:
        """Show a conversation; cards that look the same are kept."""
        self._column.show_cards(cards, folder)
        self._continue()

    def show_tokens(self, tokens: ConversationTokens) -> None:
        """Show the cost of each message."""
        self._column.show_tokens(tokens)
        self._continue()

    def show_tools(
        self, specs: Sequence[ToolSpec], hoisted: Sequence[HoistedTool], choice: str = ""
    ) -> None:
        """Show the tools of the conversation; `choice` says which of all tools they are."""
        self.tools_card.show_tools(specs, hoisted, choice)
        self._place()

    def set_raw(self, raw: bool) -> None:
        """Show texts raw, or as Markdown."""
        self._column.set_raw(raw)
        self._continue()

    def set_dimmed(self, dimmed: bool) -> None:
        """Dim the cards as outdated."""
        self._veil.setGeometry(self.viewport().rect())
        self._veil.setVisible(dimmed)
        self._veil.raise_()

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        theme = theme_in_use()
        self._veil.color = QtGui.QColor(theme.window)
        palette = self.palette()
        palette.setColor(QtGui.QPalette.ColorRole.Window, QtGui.QColor(theme.window))
        self.setPalette(palette)
        self.viewport().setPalette(palette)

    def light(self, offset: int) -> None:
        """Mark the card whose source contains `offset`, and scroll to it."""
        self._caret = offset
        slots = self._column.slots
        found = next((slot for slot in slots if slot.data.holds(offset)), None)
        if found is None:
            found = next((slot for slot in reversed(slots) if slot.data.ends_at(offset)), None)
        if found is self._column.lit:
            return
        self._column.set_lit(found)
        if found is not None:
            self._bring(found)

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Fit the overlay to the viewport, and the heights to the width."""
        super().resizeEvent(event)
        self._veil.setGeometry(self.viewport().rect())
        self._place()

    def showEvent(self, event: QtGui.QShowEvent) -> None:
        """Create the visible cards."""
        super().showEvent(event)
        self._place()

    def wheelEvent(self, event: QtGui.QWheelEvent) -> None:
        """Stop following the caret when the user scrolls."""
        self._goal = None
        super().wheelEvent(event)

    def event(self, event: QEvent) -> bool:
        """Undo an edited value on Ctrl+Z, which elsewhere undoes an edit of the text."""
        if not (
            isinstance(event, QtGui.QKeyEvent)
            and event.matches(QtGui.QKeySequence.StandardKey.Undo)
        ):
            return super().event(event)
        if event.type() == QEvent.Type.KeyPress:
            self.request_undo.emit()
        event.accept()
        return True

    def _bring(self, slot: Slot) -> None:
        bar = self.verticalScrollBar()
        seen = range(bar.value(), bar.value() + self.viewport().height())
        if slot.top not in seen and slot.top + slot.height not in seen:
            self._goal = slot  # heights on the way there are estimates: keep it visible
            bar.setValue(max(0, slot.top - EDGE))
            self._wake()

    def _place(self) -> None:
        """Place the cards again and keep the scroll position."""
        bar, slots = self.verticalScrollBar(), self._column.slots
        anchor = self._goal if self._goal in slots else None
        offset = EDGE
        if anchor is None and slots and bar.value() > 0:
            anchor = slots[min(len(slots) - 1, self._column.slot_at(bar.value()))]
            offset = anchor.top - bar.value()
        self._column.place(self.viewport().width(), self.viewport().height())
        if anchor is not None:
            bar.setValue(max(0, anchor.top - offset))
        self._wake()

    def _wanted_places(self) -> tuple[range, range]:
        """Return the visible slots, and those within a page above and below."""
        top, page = self.verticalScrollBar().value(), max(400, self.viewport().height())
        near = self._column.near
        return near(top, top + page), near(top - page, top + 2 * page)

    @property
    def _is_made(self) -> bool:
        # A hidden card has no layout and cannot be measured: cards are created when the view is
        # shown.
        return not self.isVisible() or self._column.wanted(self._wanted_places()) is None

    def _wake(self, *_: object) -> None:
        if not self._timer.isActive() and not self._is_made:
            self._timer.start()

    def _continue(self) -> None:
        """Create cards for a few milliseconds; continue in the next iteration of the event loop."""
        if not self.isVisible():
            self._timer.stop()
            return
        column, end = self._column, time.monotonic() + _SLICE_SECONDS
        while (slot := column.wanted(self._wanted_places())) is not None:
            if column.realize(slot):
                self._place()
            if time.monotonic() >= end:
                self._timer.start()
                return
        if column.drop_far(self._wanted_places()[1]):
            self._timer.start()
            return
        self._timer.stop()
        column.order_focus()
        if self._caret is not None:
            self.light(self._caret)
        self._goal = None
        self.settled.emit()
