"""The column of cards: a slot for every message, and a real card only near what is seen.

500 real cards took eight seconds to make and their layouts up to 160 ms at once; a slot costs
next to nothing. A slot without a card has an estimated height and is painted as an empty card.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import QEvent, QRect, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from studio.application.preview.value import CardData, same_ends
from studio.core.prompty.document import MediaPart, ToolCallPart
from studio.core.text.source import Span
from studio.core.tokens.conversation import ConversationTokens
from studio.ui.preview.cards.card import MessageCard
from studio.ui.preview.cards.tools_card import ToolsCard
from studio.ui.style.colors import theme_in_use

GAP = 8
EDGE = 12
_HEADER = 48
_MEDIA = 110
_ALWAYS_REAL = 16
_MOST_REAL = 48
_DROPPED_AT_ONCE = 4  # taking one away costs a millisecond


@dataclass(slots=True, eq=False)
class Slot:
    """The place of one message."""

    data: CardData
    """The message."""

    height: int
    """In pixels; an estimate until a card was measured at this width."""

    top: int = 0
    """Distance from the column's top."""

    card: MessageCard | None = None
    """Its card, while it is near what is seen."""

    is_behind: bool = False
    """Whether the card still shows an earlier message."""

    is_whole: bool = False
    """Whether the user asked for the whole of a long text."""


class CardColumn(QWidget):
    """Places slots one under the other; creates and drops their cards on demand."""

    place_clicked = Signal(Span)
    input_clicked = Signal(str)  # input name
    request_place = Signal()  # a height changed: place again, and keep what is looked at

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
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
        """The real cards, in order."""
        return tuple(slot.card for slot in self.slots if slot.card is not None)

    def show_cards(self, cards: Sequence[CardData], folder: Path | None) -> None:
        """Take a conversation; slots whose message looks as before keep their cards."""
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
        """Take what each message costs; cards that say something else are behind."""
        self._tokens = tokens
        for slot in self.slots:
            slot.is_behind = slot.is_behind or self._is_outdated(slot)

    def set_raw(self, raw: bool) -> None:
        """Show texts as they are sent, or as Markdown."""
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
        """The index of the slot at a height, or of the next one below it."""
        return max(0, bisect_right(self._tops, y) - 1)

    def near(self, top: int, bottom: int) -> range:
        """The slots that a stretch of the column touches; all where there are only a few."""
        count = len(self.slots)
        if count <= _ALWAYS_REAL:
            return range(count)
        return range(self.slot_at(top), bisect_left(self._tops, bottom))

    # -- places ---------------------------------------------------------------------------------

    def place(self, width: int, least: int) -> None:
        """Put every slot under the one before it; be as high as all of them, or `least`."""
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
        """Lay out again when a card wants another height."""
        if event.type() == QEvent.Type.LayoutRequest:
            tools = self.tools_card
            wanted = _height_of(tools, self.width() - 2 * EDGE)
            if self._measure_real() or (not tools.isHidden() and wanted != tools.height()):
                self.request_place.emit()
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """An empty card where there is none yet."""
        theme = theme_in_use()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(theme.border))
        painter.setBrush(QColor(theme.surface))
        seen = event.rect()
        for index in self.near(seen.top(), seen.bottom() + 1):
            slot = self.slots[index]
            if slot.card is None:
                box = QRect(EDGE, slot.top, self.width() - 2 * EDGE, slot.height)
                painter.drawRoundedRect(box.toRectF().adjusted(0.75, 0.75, -0.75, -0.75), 6, 6)

    # -- cards ----------------------------------------------------------------------------------

    def wanted(self, places: Sequence[range]) -> Slot | None:
        """Return the first slot whose card is missing or outdated; `None` if all are ready."""
        for place in places:
            for index in place:
                slot = self.slots[index]
                if slot.card is None or slot.is_behind:
                    return slot
        return None

    def realize(self, slot: Slot) -> bool:
        """Make a slot's card, or bring it up to date; says whether the height changed."""
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
        """Let go of a few cards that are far away; never of one that is in use.

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
        """Let Tab go from card to card, in whatever order they were made."""
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
        """Every height at another width."""
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
