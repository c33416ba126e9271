"""The action bar: at a pause it says what is asked, and offers what can be done there."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QRectF, Qt, QVariantAnimation, Signal
from PySide6.QtGui import QColor, QFont, QIcon, QPainter, QPaintEvent, QPen, QPixmap, QResizeEvent
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QPushButton, QSizePolicy, QWidget

from studio.application.run.offers.offer import Offer, Offers
from studio.application.words import tr
from studio.ui.parts.layouts import FlowLayout, column_of
from studio.ui.style.colors import FollowsTheme, blend, is_motion_reduced, paint_text, theme_in_use

_MOST_BUTTONS = 5
"""More offers than this go into a menu at the end."""

_USUAL, _FLASH = 0.08, 0.45
"""Opacity of the bar's tone: usually, and at the height of a flash."""

_FLASH_MS = 700

_CAP = 15
"""Pixels of a figure's key cap."""


class ActionBar(FollowsTheme, QWidget):
    """A tinted strip with a question and its buttons; hidden while nothing is asked."""

    offer_taken = Signal(Offer)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._offers = Offers()
        self._is_terse = False
        self._focus_went_to: QWidget | None = None
        """Widget that got the keyboard after the bar was hidden."""
        self._title = QLabel()
        self._title.setProperty("title", "true")
        self._title.setContentsMargins(0, 4, 8, 4)
        self._detail = QLabel(wordWrap=True)
        self._detail.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._buttons = QWidget()
        self._flow = FlowLayout(self._buttons)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self._buttons.setSizePolicy(policy)
        self._flash = QVariantAnimation(self, startValue=1.0, endValue=0.0, duration=_FLASH_MS)
        self._flash.setCurrentTime(_FLASH_MS)
        self._flash.valueChanged.connect(self._on_flash)
        column_of(self._buttons, self._detail, on=self, margins=(16, 4, 8, 4), spacing=2)
        self.setAccessibleName(tr("What to do at this pause"))
        self.hide()
        self.follow_theme()

    @property
    def buttons(self) -> tuple[QPushButton, ...]:
        """The buttons, in order; those of the menu are not among them."""
        return tuple(self._buttons.findChildren(QPushButton))

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        self._fill()
        self._paint_texts()

    def show_offers(self, offers: Offers) -> None:
        """Show what can be done; nothing hides the bar."""
        if offers == self._offers:
            return
        self._offers = offers
        focused = QApplication.focusWidget()
        had_focus = focused is not None and (
            self.isAncestorOf(focused) or focused is self._focus_went_to
        )
        self._title.setText(offers.title)
        self._detail.setText(offers.detail)
        self._show_detail()
        self.setAccessibleDescription(f"{offers.title} {offers.detail}".strip())
        self._fill()
        self._keep_lines()
        self._paint_texts()
        self.setVisible(bool(offers.title))
        self._focus_went_to = None
        if had_focus and self.buttons:
            self.buttons[0].setFocus()
        elif had_focus:
            self._focus_went_to = QApplication.focusWidget()
        self.update()

    def point_out(self) -> None:
        """Show that something must be chosen here: the first button has the keyboard, all flash."""
        if self.isVisibleTo(self.window()) and self.buttons:
            self.buttons[0].setFocus(Qt.FocusReason.OtherFocusReason)
            self._flash.stop()
            if not is_motion_reduced():
                self._flash.start()

    @property
    def is_flashing(self) -> bool:
        """Whether the bar still shows that something must be chosen."""
        return self._flash.state() == QVariantAnimation.State.Running

    def _on_flash(self) -> None:
        self.update()

    def set_terse(self, terse: bool) -> None:
        """Leave the detail to the tip of the question: where there is room for the buttons only."""
        if terse != self._is_terse:
            self._is_terse = terse
            self._show_detail()

    def _show_detail(self) -> None:
        self._detail.setVisible(bool(self._offers.detail) and not self._is_terse)
        self._title.setToolTip(self._offers.detail)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Every line of buttons is seen whole, whatever else there is room for."""
        super().resizeEvent(event)
        self._keep_lines()

    def _keep_lines(self) -> None:
        self._buttons.setMinimumHeight(self._flow.heightForWidth(self._buttons.width()))

    def paintEvent(self, event: QPaintEvent) -> None:
        """A breath of the accent (or of the error color), with a stripe at the left."""
        theme = theme_in_use()
        painter = QPainter(self)
        tone = self._tone()
        strength = _USUAL + (_FLASH - _USUAL) * self._flash.currentValue()
        painter.fillRect(self.rect(), QColor(blend(tone, theme.surface, strength)))
        painter.fillRect(0, 0, 3, self.height(), QColor(tone))
        painter.setPen(QColor(theme.border))
        painter.drawLine(self.rect().bottomLeft(), self.rect().bottomRight())

    def _tone(self) -> str:
        theme = theme_in_use()
        return theme.error if self._offers.is_error else theme.accent

    def _paint_texts(self) -> None:
        paint_text(self._title, self._tone() if self._offers.is_error else "text")
        paint_text(self._detail, "text")

    def _fill(self) -> None:
        while (item := self._flow.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None and widget is not self._title:
                widget.hide()
                widget.setParent(None)
                widget.deleteLater()
        # The question stands in the row of its buttons: docks are low.
        self._flow.addWidget(self._title)
        offers = self._offers.offers
        shown = offers if len(offers) <= _MOST_BUTTONS else offers[: _MOST_BUTTONS - 1]
        for number, offer in enumerate(shown, 1):
            self._flow.addWidget(self._button(number, offer))
        if len(shown) < len(offers):
            self._flow.addWidget(self._more(offers[len(shown) :]))

    def _button(self, number: int, offer: Offer) -> QPushButton:
        theme = theme_in_use()
        button = QPushButton(offer.label, self._buttons)
        ink = theme.on_accent if offer.is_primary else theme.muted
        button.setIcon(_figure(number, ink, self.font(), self.devicePixelRatioF()))
        keys = f"{number}, {offer.key}" if offer.key else f"{number}"
        button.setToolTip(f"{offer.tip} ({keys})")
        button.setAccessibleDescription(offer.tip)
        if offer.is_primary:
            button.setProperty("primary", "true")
        button.clicked.connect(partial(self.offer_taken.emit, offer))
        return button

    def _more(self, offers: tuple[Offer, ...]) -> QPushButton:
        button = QPushButton(tr("More"), self._buttons)
        menu = QMenu(button, toolTipsVisible=True)
        for offer in offers:
            action = menu.addAction(offer.label)
            action.setToolTip(offer.tip)
            action.triggered.connect(partial(self.offer_taken.emit, offer))
        button.setMenu(menu)
        return button


def _figure(number: int, ink: str, font: QFont, ratio: float) -> QIcon:
    """The figure that takes a choice, on a key cap."""
    picture = QPixmap(round(_CAP * ratio), round(_CAP * ratio))
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    box = QRectF(0.5, 0.5, _CAP - 1, _CAP - 1)
    color = QColor(ink)
    color.setAlphaF(0.6)
    painter.setPen(QPen(color, 1.0))
    painter.drawRoundedRect(box, 3, 3)
    small = QFont(font)
    small.setPixelSize(10)
    painter.setFont(small)
    painter.setPen(QColor(ink))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, f"{number}")
    painter.end()
    return QIcon(picture)
