"""Painting of a timeline card: background, icon, title, summary, facts and badges."""

from collections.abc import Iterator, Mapping, Sequence

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTableView

from studio.application.run.cards.card import CardKind, StepCard, badge_word
from studio.application.run.cards.timeline import PLACE_OF_CARD
from studio.application.run.past.branches import ForkKey, ForkView
from studio.core.text.invisible import reveal
from studio.ui.style.theme import blend, icon, paint_focus, small_font, theme_in_use
from studio.viewmodels.run.controller import CARD_ROLE

_ICONS: dict[CardKind, str] = {
    "prompt": "file-text",
    "thought": "brain",
    "reply": "message-square",
    "action": "wrench",
    "observation": "eye",
    "final": "flag",
    "error": "triangle-alert",
    "note": "corner-down-right",
    "message": "user",
}
CARD_PAD = 12
_INDENT = 14
_ICON = 16
_SWITCH = 52
ARROW_ROOM = 16
"""Width in pixels at the left of a header in which a click folds its iteration."""


class CardDelegate(QStyledItemDelegate):
    """Paints cards."""

    def __init__(self, view: QTableView) -> None:
        super().__init__(view)
        self.forks: Mapping[ForkKey, ForkView] = {}
        """Forks of the run by position."""
        self._view = view

    def fork_of(self, card: StepCard) -> ForkView | None:
        """Return the branches that start at a card."""
        return self.forks.get((card.step, PLACE_OF_CARD[card.kind], card.call))

    def switch_at(self, card: StepCard, rect: QRect, place: QPointF) -> int:
        """Return the half of a card's switch at a position (-1 or 1); 0 outside of it."""
        box = self._switch_box(rect)
        if self.fork_of(card) is None or not box.contains(place):
            return 0
        return -1 if place.x() < box.center().x() else 1

    def _switch_box(self, rect: QRect) -> QRectF:
        height = min(16, rect.height() // 2)
        top = rect.bottom() - height - 3
        return QRectF(rect.right() - _INDENT - _SWITCH, top, _SWITCH, height)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Paint background, icon, title, summary, facts and badges."""
        card = index.data(CARD_ROLE)
        if not isinstance(card, StepCard):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_card(painter, QRect(option.rect), card, option)
        if card.kind == "prompt":
            self._paint_head(painter, QRect(option.rect), card, index)
        if card.kind == "prompt" and index.row():
            painter.setPen(QColor(theme_in_use().border))
            painter.drawLine(option.rect.topLeft(), option.rect.topRight())
        painter.restore()

    def _paint_card(
        self, painter: QPainter, rect: QRect, card: StepCard, option: QStyleOptionViewItem
    ) -> None:
        theme = theme_in_use()
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        tone = self._tone(card)
        ground = theme.raised if card.kind == "prompt" else theme.surface
        if card.phase in ("live", "paused", "error", "done") and tone is not None:
            ground = blend(tone, theme.surface, 0.10)
        if selected:
            ground = theme.selection
        elif hovered:
            ground = blend(theme.text, ground, 0.05)
        painter.fillRect(rect, QColor(ground))
        if tone is not None:
            painter.fillRect(QRect(rect.left(), rect.top(), 3, rect.height()), QColor(tone))
        ink = tone if tone is not None else theme.muted
        location = QPoint(rect.left() + _INDENT, rect.top() + (rect.height() - _ICON) // 2)
        icon(_ICONS[card.kind], ink).paint(painter, QRect(location, QSize(_ICON, _ICON)))
        inner = rect.adjusted(_INDENT + _ICON + 10, CARD_PAD // 2, -_INDENT, -CARD_PAD // 2)
        self._paint_lines(painter, inner, card, ink if card.phase != "past" else theme.text)
        fork = self.fork_of(card)
        if fork is not None:
            self._paint_switch(painter, rect, fork)
        if option.state & QStyle.StateFlag.State_HasFocus:
            paint_focus(painter, rect)

    def _paint_lines(self, painter: QPainter, inner: QRect, card: StepCard, ink: str) -> None:
        theme = theme_in_use()
        line = inner.height() // 2
        top = QRect(inner.left(), inner.top(), inner.width(), line)
        below = QRect(inner.left(), inner.top() + line, inner.width(), line)
        font = QFont(self._view.font())
        heads = card.kind == "prompt"
        font.setWeight(QFont.Weight.DemiBold if heads else QFont.Weight.Medium)
        metrics = QFontMetrics(font)
        title = metrics.elidedText(reveal(card.title), Qt.TextElideMode.ElideRight, top.width())
        left = top.left() + metrics.horizontalAdvance(title) + 8
        badges = self._badges_in(card, top.right() - left)
        self._paint_facts(painter, top, left + self._width_of(badges), card)
        painter.setFont(font)
        painter.setPen(QColor(ink))
        painter.drawText(top, Qt.AlignmentFlag.AlignVCenter, title)
        self._paint_badges(painter, QPoint(left, top.top()), line, badges)
        painter.setFont(self._view.font())
        painter.setPen(QColor(theme.muted if card.phase == "past" else theme.text))
        fork = self.fork_of(card)
        if fork is not None:
            below.setWidth(below.width() - _SWITCH - 8)
        summary = self._view.fontMetrics().elidedText(
            reveal(card.summary), Qt.TextElideMode.ElideRight, below.width()
        )
        painter.drawText(below, Qt.AlignmentFlag.AlignVCenter, summary)

    def _paint_switch(self, painter: QPainter, rect: QRect, fork: ForkView) -> None:
        """Paint the switch `‹ 2/3 ›` between the branches that start here."""
        theme = theme_in_use()
        box, accent = self._switch_box(rect), QColor(theme.accent)
        painter.setPen(QPen(accent, 1.0))
        painter.setBrush(QColor(theme.surface))
        painter.drawRoundedRect(box, 4, 4)
        painter.setFont(small_font(self._view.font(), 7.0))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, f"‹ {fork.words} ›")

    def _paint_head(
        self,
        painter: QPainter,
        rect: QRect,
        card: StepCard,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Paint an iteration's header on its first card: fold arrow and shares of the time."""
        theme, rows = theme_in_use(), self._view.model()
        behind = index.row() + 1
        is_folded = behind < rows.rowCount() and self._view.isRowHidden(behind)
        painter.setPen(QPen(QColor(theme.muted), 1.4))
        x, y = rect.left() + 6.5, rect.top() + rect.height() / 2
        points = (
            ((-1.5, -3), (1.5, 0), (-1.5, 3)) if is_folded else ((-3, -1.5), (0, 1.5), (3, -1.5))
        )
        painter.drawPolyline([QPointF(x + dx, y + dy) for dx, dy in points])
        spent = [(each.seconds, each) for each in self._step_cards(index) if each.seconds]
        total = sum(seconds for seconds, _ in spent)
        if not total:
            return
        left, width = float(rect.left()), float(rect.width())
        for seconds, each in spent:
            tone = (
                theme.error
                if each.phase == "error"
                else theme.roles["tool" if each.kind == "observation" else "assistant"]
            )
            part = width * seconds / total
            painter.fillRect(QRectF(left, rect.bottom() - 2, part, 3), QColor(tone))
            left += part

    def _step_cards(self, index: QModelIndex | QPersistentModelIndex) -> Iterator[StepCard]:
        """Yield the cards of the iteration that starts with a card."""
        rows, row = index.model(), index.row() + 1
        while row < rows.rowCount():
            card = rows.index(row, 0).data(CARD_ROLE)
            if not isinstance(card, StepCard) or card.kind == "prompt":
                return
            yield card
            row += 1

    def _paint_facts(self, painter: QPainter, top: QRect, left: int, card: StepCard) -> None:
        """Paint the numbers at the right; in a narrow column, the title replaces them."""
        small = small_font(self._view.font(), 7.0)
        if left + QFontMetrics(small).horizontalAdvance(card.facts) <= top.left() + top.width():
            painter.setFont(small)
            painter.setPen(QColor(theme_in_use().muted))
            at = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
            painter.drawText(top, at, card.facts)

    def _width_of(self, badges: Sequence[str]) -> int:
        metrics = QFontMetrics(small_font(self._view.font(), 7.0))
        return sum(metrics.horizontalAdvance(badge_word(each)) + 16 for each in badges)

    def _badges_in(self, card: StepCard, room: int) -> tuple[str, ...]:
        """Return the badges that fit beside the title."""
        return next(
            card.badges[:count]
            for count in range(len(card.badges), -1, -1)
            if not count or self._width_of(card.badges[:count]) - 4 <= room
        )

    def _paint_badges(
        self, painter: QPainter, start: QPoint, line: int, badges: Sequence[str]
    ) -> None:
        theme = theme_in_use()
        small = small_font(self._view.font(), 7.0)
        metrics = QFontMetrics(small)
        painter.setFont(small)
        left = start.x()
        for badge in badges:
            word = badge_word(badge)
            loud = badge in ("warned", "invalid", "unknown", "rejected")
            color = theme.warning if loud else theme.accent
            width = metrics.horizontalAdvance(word) + 12
            box = QRectF(left, start.y() + (line - metrics.height()) / 2, width, metrics.height())
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(blend(color, theme.surface, 0.16)))
            painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
            painter.setPen(QColor(color))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, word)
            left += width + 4

    def _tone(self, card: StepCard) -> str | None:
        theme = theme_in_use()
        match card.phase:
            case "live" | "paused":
                return theme.accent
            case "error":
                return theme.error
            case "done":
                return theme.success
            case "past":
                return None
