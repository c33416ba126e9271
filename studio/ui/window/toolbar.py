"""The menu bar, the toolbar and the strip of icons at the left, from the table of actions."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QColor, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QMenuBar, QSizePolicy, QToolBar, QToolButton, QWidget

from studio.application.words import marked, tr
from studio.ui.base.menus import MENUS, PANES, RECENT, SEPARATOR, ActionSet, spec_of
from studio.ui.style.theme import icon, theme_in_use
from studio.ui.window.docks import Docks

# The toolbar's button for the model: its name, the price of 1,000 runs, and an arrow.

_WIDEST = 340
_ROUNDING = 4
"""Pixels by which a text may be wider than its letters are said to be."""
_ICON, _ARROW, _PAD, _GAP = 16, 12, 10, 8
"""Pixels of the two drawings, of the room at both ends, and between the parts."""


class ModelButton(QToolButton):
    """Names what answers a run; a click opens the popover in which it is chosen."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("model")
        self.setAccessibleName(tr("Model"))
        self.price = ""
        """Price of 1,000 runs in few words; empty while it is being worked out."""
        self._drawing = "cpu"
        self.show_model(tr("Model"), "")

    def show_model(
        self, name: str, tip: str, drawing: str = "cpu", *, is_replaced: bool = False
    ) -> None:
        """Say what answers a run.

        Args:
            name: the model's name.
            tip: why this one.
            drawing: icon of its kind.
            is_replaced: whether the file asks for another.
        """
        self.setText(name)
        self.setToolTip(tip or name)
        self._drawing = drawing
        if bool(self.property("replaced")) != is_replaced:
            self.setProperty("replaced", is_replaced)
            self.style().polish(self)
        self._show_all()

    def show_price(self, price: str) -> None:
        """Show the price of 1,000 runs."""
        self.price = price
        self._show_all()

    def _show_all(self) -> None:
        self.setAccessibleDescription(", ".join(filter(None, (self.text(), self.price))))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Return the size of the name, the price and the arrow in one line."""
        words = [each for each in (self.text(), self.price) if each]
        width = sum(self.fontMetrics().horizontalAdvance(each) + _GAP for each in words)
        height = max(28, self.fontMetrics().height() + 10)
        width += 2 * _PAD + _ICON + _ARROW + _GAP + _ROUNDING
        return QSize(min(_WIDEST, width), height)

    def minimumSizeHint(self) -> QSize:
        """Return the same size: the toolbar has a menu for what has no room."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the frame by the style sheet, then the parts; the name yields first."""
        super().paintEvent(event)
        theme, metrics = theme_in_use(), self.fontMetrics()
        painter = QPainter(self)
        room = self.rect().adjusted(_PAD, 0, -_PAD, 0)
        middle = room.center().y()
        tone = "warning" if self.property("replaced") else None
        icon(self._drawing, tone).paint(painter, room.left(), middle - 7, _ICON, _ICON)
        arrow = room.right() - _ARROW
        icon("chevron-down", "muted").paint(painter, arrow, middle - 5, _ARROW, _ARROW)
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        price = metrics.horizontalAdvance(self.price) + _GAP if self.price else 0
        name = room.adjusted(_ICON + _GAP, 0, -price - _ARROW - _GAP, 0)
        painter.setPen(QColor(theme.text))
        cut = metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, name.width())
        painter.drawText(name, flags, cut)
        painter.setPen(QColor(theme.muted))
        painter.drawText(room.adjusted(arrow - _PAD - price, 0, 0, 0), flags, self.price)

    def initStyleOption(self, option: object) -> None:
        """Leave the text to `paintEvent`."""
        super().initStyleOption(option)  # type: ignore[arg-type]
        option.text = ""  # type: ignore[attr-defined]


_RUN = ("run.step", "run.start")


def build_toolbar(actions: ActionSet, model: ModelButton, menus: QMenuBar) -> QToolBar:
    """Build the one row above: menus, commands, a run's settings, and the run."""
    bar = QToolBar(tr("Toolbar"), movable=False)
    bar.setObjectName("toolbar")
    bar.setIconSize(QSize(16, 16))
    bar.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
    if not menus.isNativeMenuBar():
        menus.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        bar.addWidget(menus)
    room = QWidget()
    room.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    bar.addWidget(room)
    actions["view.commands"].setIconText(tr(" Commands"))
    bar.addAction(actions["view.commands"])
    bar.addWidget(model)
    for identifier in _RUN:
        bar.addAction(actions[identifier])
    for identifier in ("view.commands", *_RUN):
        button = bar.widgetForAction(actions[identifier])
        if isinstance(button, QToolButton):
            is_run = identifier == "run.start"  # the filled one; icons are drawn for plain ones
            style = Qt.ToolButtonStyle
            button.setToolButtonStyle(
                style.ToolButtonTextOnly if is_run else style.ToolButtonTextBesideIcon
            )
            button.setProperty("primary", is_run)
    return bar


_ROOM = 1100
"""Width of a window below which the menus need the room of the keys."""


class RunButtons(QObject):
    """Names the toolbar's buttons of the run with their keys; the filled one yields to a choice."""

    def __init__(self, bar: QToolBar, actions: ActionSet) -> None:
        super().__init__(bar)
        self._bar, self._actions = bar, actions
        self._run = tr("Run", "verb")
        self._is_muted = False
        bar.installEventFilter(self)
        self._name()

    def name_run(self, words: str) -> None:
        """Say what the filled button does: begin, or go on."""
        self._run = words
        self._name()

    def tell_step(self, verb: str) -> None:
        """Say in the tip what a step does where the run stands; empty where it just steps."""
        self._actions["run.step"].setToolTip(
            f"{verb or tr(spec_of('run.step').tip)}  ({self._keys('run.step')})"
        )

    def mute_run(self, is_muted: bool) -> None:
        """Fill the button only where the bar of choices has no filled one."""
        button = self._bar.widgetForAction(self._actions["run.start"])
        if is_muted != self._is_muted:
            self._is_muted = is_muted
            button.setProperty("primary", not is_muted)
            button.style().polish(button)

    def show_stops(self, is_live: bool) -> None:
        """Show Pause and Stop while there is something to stop."""
        for identifier in ("run.pause", "run.stop"):
            if is_live:
                self._bar.insertAction(self._actions["run.step"], self._actions[identifier])
            else:
                self._bar.removeAction(self._actions[identifier])

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Show the keys where the window has room for them."""
        if event.type() == QEvent.Type.Resize:
            self._name()
        return super().eventFilter(watched, event)

    def _name(self) -> None:
        for identifier, words in (("run.start", self._run), ("run.step", tr(" Step"))):
            keys = self._keys(identifier) if self._bar.width() >= _ROOM else ""
            self._actions[identifier].setIconText(f"{words}  {keys}" if keys else words)

    def _keys(self, identifier: str) -> str:
        shortcut = self._actions[identifier].shortcut()
        return shortcut.toString(QKeySequence.SequenceFormat.NativeText)


def name_menus(bar: QMenuBar) -> list[QMenu]:
    """Put the names of the menus into the bar: what is seen of them; `fill_menus` does the rest."""
    return [bar.addMenu(tr(title)) for title, _ in MENUS]


def fill_menus(menus: Sequence[QMenu], actions: ActionSet, docks: Docks, recent: QMenu) -> None:
    """Fill the menus.

    Args:
        menus: one for each of `MENUS`.
        actions: what they offer.
        docks: the panes, which have switches there.
        recent: the menu of recent files, which is filled when it opens.
    """
    for menu, (_, identifiers) in zip(menus, MENUS, strict=True):
        menu.setToolTipsVisible(True)
        for identifier in identifiers:
            if identifier == SEPARATOR:
                menu.addSeparator()
            elif identifier == RECENT:
                menu.addMenu(recent)
            elif identifier == PANES:
                panes = menu.addMenu(tr("Panes"))
                panes.addActions(docks.toggles())
            else:
                menu.addAction(actions[identifier])


_STRIP_PANES = (
    ("files", "files", marked("Files")),
    ("outline", "list-tree", marked("Outline")),
    ("tools", "wrench", marked("Tools")),
    ("history", "history", marked("History")),
)
_STRIP_ACTIONS = ("view.right", "view.bottom", "file.settings")
_STRIP_ICON, _STRIP_BUTTON, _STRIP = 20, 40, 48


class SideStrip(QToolBar):
    """One icon for each pane of the side bar; a second click hides the pane."""

    def __init__(self, actions: ActionSet, docks: Docks) -> None:
        super().__init__(tr("Side bar"))
        self.setObjectName("sideStrip")
        self.setOrientation(Qt.Orientation.Vertical)
        self.setMovable(False)
        self.setIconSize(QSize(_STRIP_ICON, _STRIP_ICON))
        self.setFixedWidth(_STRIP)
        self._docks = docks
        self._buttons: dict[str, QToolButton] = {}
        for name, drawing, words in _STRIP_PANES:
            title = tr(words)
            button = QToolButton()
            button.setIcon(icon(drawing))
            button.setCheckable(True)
            button.setToolTip(title)
            button.setAccessibleName(title)
            button.setFixedSize(_STRIP - 1, _STRIP_BUTTON)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(partial(self._press, name))
            self._buttons[name] = button
            self.addWidget(button)
        room = QWidget()
        room.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.addWidget(room)
        for identifier in _STRIP_ACTIONS:
            self.addAction(actions[identifier])
        docks.changed.connect(self._follow)

    def _press(self, name: str, _: bool = False) -> None:
        # A partial gets no argument of `clicked`: whether it is on, the button knows.
        if self._buttons[name].isChecked():
            self._docks.show(name)
        else:
            self._docks.hide(name)

    def _follow(self) -> None:
        for name, button in self._buttons.items():
            button.setVisible(name in self._docks)
            button.setChecked(self._docks.is_shown(name))
