"""The timeline: a list of step cards, painted, so that ten thousand of them scroll smoothly."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import (
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFont,
    QFontMetrics,
    QKeySequence,
    QPainter,
    QPen,
    QShortcut,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QFrame,
    QHeaderView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from studio.bridge.run_cards import CardKind, StepCard, Timeline
from studio.bridge.run_steps import CARD_ROLE, StepListModel
from studio.ui.icons import icon
from studio.ui.parts.colours import blend
from studio.ui.theme import LIGHT, Theme

_ICONS: dict[CardKind, str] = {
    "prompt": "file-text", "thought": "brain",
    "reply": "message-square", "action": "wrench", "observation": "eye", "final": "flag",
    "error": "triangle-alert", "note": "corner-down-right",
}  # fmt: skip
_CARD_PAD = 12
_INDENT = 12
_ICON = 16


class _CardDelegate(QStyledItemDelegate):
    """Paints one card."""

    def __init__(self, view: QTableView) -> None:
        super().__init__(view)
        self.theme = LIGHT
        self._view = view

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Paint ground, icon, title, gist, facts and badges."""
        card = index.data(CARD_ROLE)
        if not isinstance(card, StepCard):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_card(painter, QRect(option.rect), card, option)
        if card.kind == "prompt" and index.row():
            painter.setPen(QColor(self.theme.border))
            painter.drawLine(option.rect.topLeft(), option.rect.topRight())
        painter.restore()

    def _paint_card(
        self, painter: QPainter, rect: QRect, card: StepCard, option: QStyleOptionViewItem
    ) -> None:
        theme = self.theme
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        tone = self._tone(card)
        ground = theme.raised if card.kind == "prompt" else theme.surface
        if card.mood in ("live", "paused", "error", "done") and tone is not None:
            ground = blend(tone, theme.surface, 0.10)
        if selected:
            ground = theme.selection
        elif hovered:
            ground = blend(theme.text, ground, 0.05)
        painter.fillRect(rect, QColor(ground))
        if tone is not None:
            painter.fillRect(QRect(rect.left(), rect.top(), 3, rect.height()), QColor(tone))
        ink = tone if tone is not None else theme.muted
        spot = QPoint(rect.left() + _INDENT, rect.top() + (rect.height() - _ICON) // 2)
        icon(_ICONS[card.kind], ink).paint(painter, QRect(spot, QSize(_ICON, _ICON)))
        inner = rect.adjusted(_INDENT + _ICON + 10, _CARD_PAD // 2, -_INDENT, -_CARD_PAD // 2)
        self._paint_lines(painter, inner, card, ink if card.mood != "past" else theme.text)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(QColor(theme.accent), 1.0))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5))

    def _paint_lines(self, painter: QPainter, inner: QRect, card: StepCard, ink: str) -> None:
        theme = self.theme
        line = inner.height() // 2
        top = QRect(inner.left(), inner.top(), inner.width(), line)
        below = QRect(inner.left(), inner.top() + line, inner.width(), line)
        small = self._small()
        painter.setFont(small)
        painter.setPen(QColor(theme.muted))
        painter.drawText(
            top, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, card.facts
        )
        font = QFont(self._view.font())
        heads = card.kind == "prompt"
        font.setWeight(QFont.Weight.DemiBold if heads else QFont.Weight.Medium)
        painter.setFont(font)
        painter.setPen(QColor(ink))
        painter.drawText(top, Qt.AlignmentFlag.AlignVCenter, card.title)
        left = top.left() + QFontMetrics(font).horizontalAdvance(card.title) + 8
        self._paint_badges(painter, QPoint(left, top.top()), line, card)
        painter.setFont(self._view.font())
        painter.setPen(QColor(theme.muted if card.mood == "past" else theme.text))
        gist = self._view.fontMetrics().elidedText(
            card.gist, Qt.TextElideMode.ElideRight, below.width()
        )
        painter.drawText(below, Qt.AlignmentFlag.AlignVCenter, gist)

    def _paint_badges(self, painter: QPainter, start: QPoint, line: int, card: StepCard) -> None:
        theme = self.theme
        small = self._small()
        metrics = QFontMetrics(small)
        painter.setFont(small)
        left = start.x()
        for badge in card.badges:
            loud = badge in ("warned", "invalid", "unknown", "rejected")
            colour = theme.warning if loud else theme.accent
            width = metrics.horizontalAdvance(badge) + 12
            box = QRectF(left, start.y() + (line - metrics.height()) / 2, width, metrics.height())
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(blend(colour, theme.surface, 0.16)))
            painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
            painter.setPen(QColor(colour))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, badge)
            left += width + 4

    def _small(self) -> QFont:
        font = QFont(self._view.font())
        font.setPointSizeF(max(7.0, font.pointSizeF() - 1.0))
        return font

    def _tone(self, card: StepCard) -> str | None:
        theme = self.theme
        match card.mood:
            case "live" | "paused":
                return theme.accent
            case "error":
                return theme.error
            case "done":
                return theme.success
            case "past":
                return None


class TimelineView(QTableView):
    """Shows a run's cards; follows the run until the person chooses a card.

    A table of one column: a list view lays out all of its rows anew at each change, which takes
    150 ms at 40,000 cards; a table asks only for what is in sight (5 ms).
    """

    card_chosen = Signal(object)  # StepCard
    following_changed = Signal(bool)
    fork_asked = Signal(object)  # StepCard to go back to
    search_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cards = StepListModel(self)
        self._following = True
        self._moving = False
        self._delegate = _CardDelegate(self)
        self.setModel(self._cards)
        self.setItemDelegate(self._delegate)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.horizontalHeader().hide()
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setMinimumSectionSize(1)
        self._set_row_height()
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setAccessibleName(self.tr("Steps of the run"))
        self.setMinimumWidth(180)
        self.selectionModel().currentChanged.connect(self._on_current_changed)
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            shortcut = QShortcut(QKeySequence(keys), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(self.ask_fork)
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        find.setContext(Qt.ShortcutContext.WidgetShortcut)
        find.activated.connect(self.search_asked)

    @property
    def cards(self) -> tuple[StepCard, ...]:
        """The cards shown."""
        return self._cards.cards

    @property
    def is_following(self) -> bool:
        """Whether the newest card is chosen as the run goes on."""
        return self._following

    @property
    def current_card(self) -> StepCard | None:
        """The chosen card."""
        card = self.currentIndex().data(CARD_ROLE)
        return card if isinstance(card, StepCard) else None

    def set_theme(self, theme: Theme) -> None:
        """Paint in these colours."""
        self._delegate.theme = theme
        self.viewport().update()

    def changeEvent(self, event: QEvent) -> None:
        """Keep two lines in a row when the font changes."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._set_row_height()

    def _set_row_height(self) -> None:
        height = 2 * self.fontMetrics().height() + _CARD_PAD
        self.verticalHeader().setDefaultSectionSize(height)

    def show_timeline(self, timeline: Timeline) -> None:
        """Show cards, and go to the live one where the person has not chosen another."""
        self._moving = True
        chosen = self.current_card
        self._cards.show_timeline(timeline)
        if self._following:
            row = self._cards.live_row()
        else:
            row = self._cards.row_of(chosen.key) if chosen is not None else -1
        if row >= 0:
            self._go_to(row)
        self._moving = False

    def follow(self) -> None:
        """Go to where the run stands, and stay with it."""
        self._set_following(following=True)
        row = self._cards.live_row()
        if row >= 0:
            self._moving = True
            self._go_to(row)
            self._moving = False

    def choose(self, key: tuple[int, str, int | None]) -> bool:
        """Choose a card, as a click on it would; False where there is none."""
        row = self._cards.row_of(key)
        if row < 0:
            return False
        self.setCurrentIndex(self._cards.index(row))
        return True

    def ask_fork(self) -> None:
        """Ask to go back to the chosen card, as a new branch."""
        card = self.current_card
        if card is not None:
            self.fork_asked.emit(card)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to go back to a card, or to copy it."""
        card = self.indexAt(event.pos()).data(CARD_ROLE)
        if not isinstance(card, StepCard):
            return
        menu = QMenu(self)
        back = menu.addAction(icon("git-branch"), self.tr("Go back to here, as a new branch"))
        back.triggered.connect(partial(self.fork_asked.emit, card))
        copy = menu.addAction(icon("copy"), self.tr("Copy"))
        copy.triggered.connect(partial(QApplication.clipboard().setText, card.gist or card.title))
        menu.exec(event.globalPos())
        menu.deleteLater()

    def _go_to(self, row: int) -> None:
        index = self._cards.index(row)
        if index != self.currentIndex():
            self.selectionModel().setCurrentIndex(
                index, QItemSelectionModel.SelectionFlag.ClearAndSelect
            )
        self.scrollTo(index)

    def _on_current_changed(self, current: QModelIndex, previous: QModelIndex) -> None:
        card = current.data(CARD_ROLE)
        if not isinstance(card, StepCard):
            return
        if not self._moving:
            self._set_following(following=current.row() == self._cards.live_row())
            self.card_chosen.emit(card)

    def _set_following(self, *, following: bool) -> None:
        if following != self._following:
            self._following = following
            self.following_changed.emit(following)
