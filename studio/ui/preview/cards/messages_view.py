"""The conversation as cards: those that are seen come first, and those that stay are kept."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import (
    QColor,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from studio.application.preview.value import CardData
from studio.application.words import tr
from studio.core.prompty.document import HoistedTool, ToolSpec
from studio.core.text.source import Span
from studio.core.tokens.conversation import ConversationTokens
from studio.ui.preview.cards.card import MessageCard
from studio.ui.preview.cards.column import EDGE, CardColumn, Slot
from studio.ui.preview.cards.tools_card import ToolsCard
from studio.ui.style.colors import FollowsTheme, theme_in_use
from studio.viewmodels.app.jobs import repeating_timer

_SLICE_SECONDS = 0.008  # each slice costs a repaint of 4 ms besides


class _Veil(QWidget):
    """Lies over cards that are no longer true, so that they look it; lets clicks through."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.color = QColor(0, 0, 0)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the ground's color, half through."""
        ground = QColor(self.color)
        ground.setAlphaF(0.55)
        QPainter(self).fillRect(self.rect(), ground)


class MessagesView(FollowsTheme, QScrollArea):
    """Cards of all messages, tools on top."""

    place_clicked = Signal(Span)
    input_clicked = Signal(str)  # input name
    settled = Signal()  # every card that is seen, or nearly, stands

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._caret: int | None = None
        self._goal: Slot | None = None
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click on a card leaves the keyboard
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
        """Return the existing cards, in order: in a long conversation the nearly visible ones."""
        return self._column.cards

    @property
    def count(self) -> int:
        """Return the number of messages, each with its place in the column."""
        return len(self._column.slots)

    @property
    def tools_card(self) -> ToolsCard:
        """The tools, above the first message."""
        return self._column.tools_card

    @property
    def is_settled(self) -> bool:
        """Return whether every card near the visible part exists; true for a hidden view."""
        return self._is_made and not self._timer.isActive()

    @property
    def is_dimmed(self) -> bool:
        """Whether the cards are shown as no longer true."""
        return self._veil.isVisibleTo(self.viewport())

    def show_cards(self, cards: Sequence[CardData], folder: Path | None) -> None:
        """Show a conversation; cards that look as before are kept as they are."""
        self._column.show_cards(cards, folder)
        self._continue()

    def show_tokens(self, tokens: ConversationTokens) -> None:
        """Show what each message costs."""
        self._column.show_tokens(tokens)
        self._continue()

    def show_tools(
        self, specs: Sequence[ToolSpec], hoisted: Sequence[HoistedTool], choice: str = ""
    ) -> None:
        """Show the tools that go with the conversation; `choice` says which of all they are."""
        self.tools_card.show_tools(specs, hoisted, choice)
        self._place()

    def set_raw(self, raw: bool) -> None:
        """Show texts as they are sent, or as Markdown."""
        self._column.set_raw(raw)
        self._continue()

    def set_dimmed(self, dimmed: bool) -> None:
        """Show the cards as no longer true."""
        self._veil.setGeometry(self.viewport().rect())
        self._veil.setVisible(dimmed)
        self._veil.raise_()

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        theme = theme_in_use()
        self._veil.color = QColor(theme.window)
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.Window, QColor(theme.window))
        self.setPalette(palette)
        self.viewport().setPalette(palette)

    def light(self, offset: int) -> None:
        """Mark the card whose source holds `offset`, and bring it into view."""
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

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The veil covers what is seen; another width gives other heights."""
        super().resizeEvent(event)
        self._veil.setGeometry(self.viewport().rect())
        self._place()

    def showEvent(self, event: QShowEvent) -> None:
        """Make what is seen now."""
        super().showEvent(event)
        self._place()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """A user who scrolls looks elsewhere than where the caret led."""
        self._goal = None
        super().wheelEvent(event)

    def _bring(self, slot: Slot) -> None:
        bar = self.verticalScrollBar()
        seen = range(bar.value(), bar.value() + self.viewport().height())
        if slot.top not in seen and slot.top + slot.height not in seen:
            self._goal = slot  # heights on the way there are estimates: it is kept in view
            bar.setValue(max(0, slot.top - EDGE))
            self._wake()

    def _place(self) -> None:
        """Place the cards anew, so that what is looked at stays where it is."""
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
        """The slots that are seen, and those a page above and below."""
        top, page = self.verticalScrollBar().value(), max(400, self.viewport().height())
        near = self._column.near
        return near(top, top + page), near(top - page, top + 2 * page)

    @property
    def _is_made(self) -> bool:
        # A hidden card cannot be measured: its text has no layout yet. They are made once shown.
        return not self.isVisible() or self._column.wanted(self._wanted_places()) is None

    def _wake(self, *_: object) -> None:
        if not self._timer.isActive() and not self._is_made:
            self._timer.start()

    def _continue(self) -> None:
        """Make cards for a few milliseconds; the rest comes at the next turn of the event loop."""
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
