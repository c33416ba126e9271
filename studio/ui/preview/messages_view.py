"""The conversation as cards: those that are seen come first, and those that stay are kept."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from studio.bridge.preview_cards import CardData, same_ends
from studio.core.prompty.messages import HoistedTool
from studio.core.prompty.tool_spec import ToolSpec
from studio.ui.preview.card import MessageCard
from studio.ui.preview.tools_card import ToolsCard
from studio.ui.theme import Theme

_SLICE_SECONDS = 0.008  # each slice costs a repaint of 4 ms besides
_GROUP_SIZE = 16
_GAP = 8


class _Veil(QWidget):
    """Lies over cards that are no longer true, so that they look it; lets clicks through."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.colour = QColor(0, 0, 0)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the ground's colour, half through."""
        ground = QColor(self.colour)
        ground.setAlphaF(0.55)
        QPainter(self).fillRect(self.rect(), ground)


class _Group(QWidget):
    """A few cards; with 500 in one layout each new one would lay all of them out again."""

    def __init__(self) -> None:
        super().__init__()
        self.cards = QVBoxLayout(self)
        self.cards.setContentsMargins(0, 0, 0, 0)
        self.cards.setSpacing(_GAP)


class MessagesView(QScrollArea):
    """Cards of all messages, tools on top."""

    place_clicked = Signal(object)  # Span
    input_clicked = Signal(str)  # input name
    settled = Signal()  # every card stands

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._cards: list[MessageCard] = []
        self._groups: list[_Group] = []
        self._waiting: deque[CardData] = deque()
        self._changed: deque[tuple[MessageCard, CardData | None]] = deque()
        self._folder: Path | None = None
        self._raw = False
        self._lit: MessageCard | None = None
        self._caret: int | None = None
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Messages")
        page = QWidget()
        self._layout = QVBoxLayout(page)
        self._layout.setContentsMargins(12, 12, 12, 12)
        self._layout.setSpacing(_GAP)
        self.tools_card = ToolsCard(theme)
        self.tools_card.place_clicked.connect(self.place_clicked)
        self._layout.addWidget(self.tools_card)
        self._layout.addStretch(1)
        self.setWidget(page)
        self._veil = _Veil(self.viewport())
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._continue)
        self.set_theme(theme)

    @property
    def cards(self) -> tuple[MessageCard, ...]:
        """The cards that stand, in order."""
        return tuple(self._cards)

    @property
    def is_settled(self) -> bool:
        """Whether every card stands."""
        return not self._waiting and not self._changed

    @property
    def is_dimmed(self) -> bool:
        """Whether the cards are shown as no longer true."""
        return self._veil.isVisibleTo(self.viewport())

    def show_cards(self, cards: Sequence[CardData], folder: Path | None) -> None:
        """Show a conversation; cards that look as before are kept as they are."""
        self._folder = folder
        old = [card.data for card in self._cards if card.data is not None]
        head, tail = same_ends(old, cards)
        self._resize(head, len(old) - head - tail, len(cards) - head - tail)
        self._changed = deque()
        for card, data in zip(self._cards, cards, strict=False):
            if card.adopt(data, folder, raw=self._raw):
                self._changed.append((card, None))
            else:
                self._changed.appendleft((card, data))  # what changed comes before mere places
        self._waiting = deque(cards[len(self._cards) :])
        self._continue()
        if not self.is_settled:
            self._timer.start()

    def show_tools(self, specs: Sequence[ToolSpec], hoisted: Sequence[HoistedTool]) -> None:
        """Show the tools that go with the conversation."""
        self.tools_card.show_tools(specs, hoisted)

    def set_raw(self, raw: bool) -> None:
        """Show texts as they are sent, or as Markdown."""
        self._raw = raw
        for card in self._cards:
            if card.data is not None:
                card.show_card(card.data, self._folder, raw=raw)

    def set_dimmed(self, dimmed: bool) -> None:
        """Show the cards as no longer true."""
        self._veil.setGeometry(self.viewport().rect())
        self._veil.setVisible(dimmed)
        self._veil.raise_()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self._veil.colour = QColor(theme.window)
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.Window, QColor(theme.window))
        self.setPalette(palette)
        self.tools_card.set_theme(theme)
        for card in self._cards:
            card.set_theme(theme)

    def light(self, offset: int) -> None:
        """Mark the card whose source holds `offset`, and bring it into view."""
        self._caret = offset
        found = next((card for card in self._cards if card.data and card.data.holds(offset)), None)
        if found is self._lit:
            return
        if self._lit is not None:
            self._lit.set_lit(False)
        self._lit = found
        if found is not None:
            found.set_lit(True)
            self._bring(found)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The veil covers what is seen."""
        super().resizeEvent(event)
        self._veil.setGeometry(self.viewport().rect())

    def _bring(self, card: MessageCard) -> None:
        top = card.mapTo(self.widget(), card.rect().topLeft()).y()
        bar = self.verticalScrollBar()
        seen = range(bar.value(), bar.value() + self.viewport().height())
        if top not in seen and top + card.height() not in seen:
            bar.setValue(max(0, top - 12))

    def _resize(self, head: int, old_middle: int, new_middle: int) -> None:
        """Add or take cards where the conversation changed, so that the ends keep theirs."""
        for _ in range(old_middle - new_middle):
            card = self._cards.pop(head + new_middle)
            if card is self._lit:
                self._lit = None
            self._take_out(card)
        has_tail = head + old_middle < len(self._cards)
        if has_tail:
            for extra in range(new_middle - old_middle):
                self._insert(head + old_middle + extra)

    def _insert(self, index: int) -> MessageCard:
        card = MessageCard(self._theme)
        card.place_clicked.connect(self.place_clicked)
        card.input_clicked.connect(self.input_clicked)
        if index < len(self._cards):
            follower = self._cards[index]
            group = self._group_of(follower)
            group.cards.insertWidget(group.cards.indexOf(follower), card)
        else:
            self._last_group().cards.addWidget(card)
        self._cards.insert(index, card)
        return card

    def _last_group(self) -> _Group:
        if self._groups and self._groups[-1].cards.count() < _GROUP_SIZE:
            return self._groups[-1]
        group = _Group()
        self._groups.append(group)
        self._layout.insertWidget(len(self._groups), group)
        return group

    def _group_of(self, card: MessageCard) -> _Group:
        return next(group for group in self._groups if group.cards.indexOf(card) >= 0)

    def _take_out(self, card: MessageCard) -> None:
        group = self._group_of(card)
        group.cards.removeWidget(card)
        card.hide()
        card.deleteLater()
        if not group.cards.count():
            self._groups.remove(group)
            self._layout.removeWidget(group)
            group.hide()
            group.deleteLater()

    def _continue(self) -> None:
        """Add cards for a few milliseconds; the rest comes at the next turn of the event loop."""
        end = time.monotonic() + _SLICE_SECONDS
        while not self.is_settled and time.monotonic() < end:
            if self._changed:
                card, changed = self._changed.popleft()
                if changed is None:
                    card.refresh()
                else:
                    card.show_card(changed, self._folder, raw=self._raw)
            else:
                data = self._waiting.popleft()
                self._insert(len(self._cards)).show_card(data, self._folder, raw=self._raw)
        if self.is_settled:
            self._timer.stop()
            if self._caret is not None:
                self.light(self._caret)
            self.settled.emit()
