"""The menu bar, the toolbar and the icon strip at the left, built from the table of actions."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QColor, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QMenuBar, QSizePolicy, QToolBar, QToolButton, QWidget

from studio.application.words import marked, tr
from studio.ui.base.menus import MENUS, PANES, RECENT, SEPARATOR, ActionSet, spec_of
from studio.ui.style.theme import icon, theme_in_use
from studio.ui.window.docks import Docks

# The model button in the toolbar: name, price of 1,000 runs, and an arrow.

_WIDEST = 340
_ROUNDING = 4
"""Pixels by which a text may be wider than the sum of its letters."""
_ICON, _ARROW, _PAD, _GAP = 16, 12, 10, 8
"""Pixels of the icon, the arrow, the padding at both ends, and the gaps."""


class ModelButton(QToolButton):
    """Shows the model for runs; a click opens the popover to select one."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("model")
        self.setAccessibleName(tr("Model"))
        self.price = ""
        """Price of 1,000 runs as text; empty while it is being computed."""
        self._drawing = "cpu"
        self.show_model(tr("Model"), "")

    def show_model(
        self, name: str, tip: str, drawing: str = "cpu", *, is_replaced: bool = False
    ) -> None:
        """Show the model for runs.

        Args:
            name: the model's name.
            tip: reason for the choice.
            drawing: icon of its kind.
            is_replaced: whether the file requests another model.
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
        """Return the same size: the toolbar has a menu for buttons without room."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the frame with the style sheet, then the parts; the name is elided first."""
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


RUN = ("run.step", "run.start")
"""Actions of a prompt, which the toolbar has while one is shown."""


def build_toolbar(actions: ActionSet, model: ModelButton, menus: QMenuBar) -> QToolBar:
    """Build the toolbar: menus, commands, settings of a run, and run buttons."""
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
    for identifier in RUN:
        bar.addAction(actions[identifier])
    for identifier in ("view.commands", *RUN):
        button = bar.widgetForAction(actions[identifier])
        if isinstance(button, QToolButton):
            is_run = identifier == "run.start"  # the filled button; icons are drawn for plain ones
            style = Qt.ToolButtonStyle
            button.setToolButtonStyle(
                style.ToolButtonTextOnly if is_run else style.ToolButtonTextBesideIcon
            )
            button.setProperty("primary", is_run)
    return bar


_ROOM = 1100
"""Width of a window in pixels below which the menus need the room of the shortcuts."""


class RunButtons(QObject):
    """Shows shortcuts on the run buttons; the filled one becomes plain beside a choice."""

    def __init__(self, bar: QToolBar, actions: ActionSet) -> None:
        super().__init__(bar)
        self._bar, self._actions = bar, actions
        self._run = tr("Run", "verb")
        self._is_muted = False
        bar.installEventFilter(self)
        self._name()

    def name_run(self, words: str) -> None:
        """Set the text of the filled button: start or continue."""
        self._run = words
        self._name()

    def tell_step(self, verb: str) -> None:
        """Show in the tooltip what a step does at the current pause; empty for a plain step."""
        self._actions["run.step"].setToolTip(
            f"{verb or tr(spec_of('run.step').tip)}  ({self._keys('run.step')})"
        )

    def mute_run(self, is_muted: bool) -> None:
        """Make the button plain while the action bar has a filled one."""
        button = self._bar.widgetForAction(self._actions["run.start"])
        if is_muted != self._is_muted:
            self._is_muted = is_muted
            button.setProperty("primary", not is_muted)
            button.style().polish(button)

    def show_stops(self, is_live: bool) -> None:
        """Show Pause and Stop while a run can be stopped."""
        for identifier in ("run.pause", "run.stop"):
            if is_live:
                self._bar.insertAction(self._actions["run.step"], self._actions[identifier])
            else:
                self._bar.removeAction(self._actions[identifier])

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Show the shortcuts if the window has room for them."""
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
    """Add the titles of the menus to the bar; `fill_menus` adds the items."""
    return [bar.addMenu(tr(title)) for title, _ in MENUS]


def fill_menus(menus: Sequence[QMenu], actions: ActionSet, docks: Docks, recent: QMenu) -> None:
    """Fill the menus.

    Args:
        menus: one menu for each of `MENUS`.
        actions: the actions.
        docks: the panes, which have toggles in a menu.
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
    """An icon for each pane of the side bar; a second click hides the pane."""

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
        # A partial ignores the argument of `clicked`: the button holds the state.
        if self._buttons[name].isChecked():
            self._docks.show(name)
        else:
            self._docks.hide(name)

    def _follow(self) -> None:
        for name, button in self._buttons.items():
            button.setVisible(name in self._docks)
            button.setChecked(self._docks.is_shown(name))
