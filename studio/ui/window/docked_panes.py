"""The docks of a window, each with a header: their places and visibility."""

from collections.abc import Iterable, Iterator
from functools import partial

from PySide6 import QtWidgets
from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QAction, QContextMenuEvent, QMouseEvent
from shiboken6 import isValid

from studio.application.words import marked, tr
from studio.ui.base.menus import add_actions, add_own, keys_of, own_menu
from studio.ui.parts.kit import row_of
from studio.ui.style.theme import icon
from studio.ui.window.layout import CASES, FIRST, LEAST_RUN, RUN, PanePlace
from studio.viewmodels.app.jobs import single_shot

_LEFT = Qt.DockWidgetArea.LeftDockWidgetArea
_RIGHT = Qt.DockWidgetArea.RightDockWidgetArea
_BOTTOM = Qt.DockWidgetArea.BottomDockWidgetArea
_PLACES = {_LEFT: PanePlace.LEFT, _RIGHT: PanePlace.COLUMN, _BOTTOM: PanePlace.BOTTOM}

PLACES: tuple[tuple[str, str, Qt.DockWidgetArea], ...] = (
    ("files", marked("Files"), _LEFT),
    ("outline", marked("Outline"), _LEFT),
    ("tools", marked("Tools"), _LEFT),
    ("history", marked("History"), _LEFT),
    ("inputs", marked("Inputs"), _RIGHT),
    ("preview", marked("Preview"), _RIGHT),
    ("run", marked("Run"), _RIGHT),
    ("cases", marked("Cases"), _RIGHT),
    ("problems", marked("Problems"), _BOTTOM),
    ("search", marked("Search"), _BOTTOM),
)
"""Every pane with its title and initial place, in order."""

_OWN_HEAD = ("inputs", "preview", "run", "cases")
"""Panes whose first row is their header: a title above would repeat it."""


_HEAD_HEIGHT = 36
_HEAD_MARK = 16


class DockHead(QtWidgets.QWidget):
    """A replacement for Qt's title bar, whose buttons are too small."""

    request_maximize = Signal()
    request_close = Signal()

    def __init__(self, dock: QtWidgets.QDockWidget, title: str) -> None:
        super().__init__(dock)
        self._dock = dock
        self._bare = False
        self.setObjectName("dockHead")
        label = QtWidgets.QLabel(title)
        label.setProperty("title", True)
        row = row_of((label, 1), on=self, margins=(12, 0, 4, 0), spacing=0)
        for drawing, tip, act in (
            ("external-link", tr("In a separate window"), self._float),
            ("x", tr("Close"), self.request_close.emit),
        ):
            button = QtWidgets.QToolButton(autoRaise=True)
            button.setIcon(icon(drawing))
            button.setIconSize(QSize(_HEAD_MARK, _HEAD_MARK))
            button.setToolTip(tip)
            button.setAccessibleName(f"{title}: {tip}")
            button.clicked.connect(act)
            row.addWidget(button)

    def set_bare(self, bare: bool) -> None:
        """Set whether a tab already shows the name."""
        if bare != self._bare:
            self._bare = bare
            for child in self.findChildren(QtWidgets.QWidget):
                child.setVisible(not bare)
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Return the height of the adjacent row of tabs."""
        return QSize(super().sizeHint().width(), 0 if self._bare else _HEAD_HEIGHT)

    def minimumSizeHint(self) -> QSize:
        """Return no minimum width, since the name may be elided, but the full height."""
        return QSize(0, 0 if self._bare else _HEAD_HEIGHT)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show the menu of the pane."""
        self.menu().popup(event.globalPos())

    def menu(self) -> QtWidgets.QMenu:
        """Build the context menu."""
        menu = own_menu(self)
        window = self._dock.parentWidget() or self
        keys = keys_of(window, "view.maximize")
        add_own(menu, tr("Maximize"), self.request_maximize.emit, keys=keys)
        add_own(menu, tr("In a separate window"), self._float, drawing="external-link")
        add_own(menu, tr("Close"), self.request_close.emit, drawing="x")
        menu.addSeparator()
        add_actions(menu, window, ("view.all_sides", "view.reset"))
        return menu

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Maximize the pane, or restore the layout."""
        self.request_maximize.emit()

    def _float(self) -> None:
        self._dock.setFloating(True)


class OwnHead(QtWidgets.QWidget):
    """An empty header for a pane whose first row contains its title."""

    request_maximize = Signal()

    def watch(self, pane: QtWidgets.QWidget) -> None:
        """Handle a double click on the pane's first row as on other headers."""
        for each in (
            pane,
            *pane.findChildren(QtWidgets.QTabBar),
        ):  # which handle clicks themselves
            each.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle double clicks in the first row that hit no button."""
        if (
            event.type() == QEvent.Type.MouseButtonDblClick
            and isinstance(event, QMouseEvent)
            and event.button() == Qt.MouseButton.LeftButton
            and self.mapFromGlobal(event.globalPosition()).y() < _HEAD_HEIGHT
        ):
            self.request_maximize.emit()
            return True
        return super().eventFilter(watched, event)


class DockedPanes(QObject):
    """Manages the docks, without knowing why one is shown."""

    changed = Signal()  # a pane was shown or hidden
    request_maximize = Signal(str)  # name of a pane
    request_close = Signal(str)  # name of a pane
    toggled = Signal(str, bool)  # name of a pane that a menu showed or hid, whether it is shown

    def __init__(self, window: QtWidgets.QMainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._docks: dict[str, QtWidgets.QDockWidget] = {}
        self._heads: dict[str, QtWidgets.QWidget] = {}
        window.setDockNestingEnabled(True)
        window.setTabPosition(
            Qt.DockWidgetArea.AllDockWidgetAreas, QtWidgets.QTabWidget.TabPosition.North
        )
        window.setDocumentMode(True)
        window.setCorner(Qt.Corner.BottomLeftCorner, _LEFT)
        window.setCorner(Qt.Corner.BottomRightCorner, _RIGHT)
        self._titles = single_shot(self, self._show_titles)

    # -- the panes ------------------------------------------------------------------------------

    def add(self, panes: dict[str, QtWidgets.QWidget | None]) -> None:
        """Create docks for the existing panes."""
        for name, words, area in PLACES:
            title = tr(words)
            pane = panes.get(name)
            if pane is None:
                continue
            dock = QtWidgets.QDockWidget(title, self._window)
            dock.setObjectName(f"dock.{name}")
            dock.setAccessibleName(title)
            dock.dockLocationChanged.connect(self.show_titles_soon)
            dock.topLevelChanged.connect(self.show_titles_soon)
            dock.visibilityChanged.connect(self.show_titles_soon)
            dock.toggleViewAction().triggered.connect(partial(self._on_toggled, name))
            self._docks[name] = dock
            head = OwnHead(dock) if name in _OWN_HEAD else DockHead(dock, title)
            head.request_maximize.connect(partial(self.request_maximize.emit, name))
            if isinstance(head, DockHead):
                head.request_close.connect(partial(self.request_close.emit, name))
            self._heads[name] = head
            self._put(name, pane)
            dock.setTitleBarWidget(head)
            # Placed by a saved layout, or by `arrange` when the window has its size.
            self._window.addDockWidget(area, dock)

    def fill(self, panes: dict[str, QtWidgets.QWidget]) -> None:
        """Put panes into their empty docks."""
        for name, pane in panes.items():
            room = self._docks[name].widget()
            self._put(name, pane)
            if room is not None:
                room.deleteLater()

    def arrange(self) -> None:
        """Put every dock in its initial place, without setting widths."""
        last: dict[Qt.DockWidgetArea, QtWidgets.QDockWidget] = {}
        for name, _, area in PLACES:
            dock = self._docks.get(name)
            if dock is None:
                continue
            dock.setFloating(False)
            self._window.addDockWidget(area, dock)
            if area in last:
                self._window.splitDockWidget(last[area], dock, Qt.Orientation.Vertical)
            last[area] = dock
            dock.setVisible(name in FIRST)

    def end(self) -> None:
        """Stop watching the docks: changes while the window closes are not the user's."""
        self._titles.stop()
        for dock in self._docks.values():
            dock.blockSignals(True)
            if dock.isFloating():  # floating windows do not close with another one
                dock.hide()

    # -- places ---------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> QtWidgets.QDockWidget:
        return self._docks[name]

    def __contains__(self, name: str) -> bool:
        return name in self._docks

    def __iter__(self) -> Iterator[str]:
        return iter(self._docks)

    def toggles(self) -> list[QAction]:
        """Return a toggle for each dock."""
        return [dock.toggleViewAction() for dock in self._docks.values()]

    def places(self) -> dict[str, PanePlace]:
        """Return the current place of each pane, which the user may have changed."""
        return {name: self._place(dock) for name, dock in self._docks.items()}

    def seen(self) -> frozenset[str]:
        """Return the panes that are not hidden or behind another tab."""
        return frozenset(name for name, dock in self._docks.items() if not dock.isHidden())

    def tabs_of(self, name: str) -> frozenset[str]:
        """Return the panes that are tabs in the same place as a pane."""
        docks = self._window.tabifiedDockWidgets(self._docks[name])
        return frozenset(each for each, dock in self._docks.items() if dock in docks)

    def is_shown(self, name: str) -> bool:
        """Return whether a pane is visible."""
        dock = self._docks.get(name)
        return dock is not None and not dock.isHidden() and not self._is_behind(dock)

    def name_at(self, widget: QtWidgets.QWidget | None) -> str:
        """Return the name of the pane that contains a widget; empty for none."""
        if widget is None:
            return ""
        return next((name for name, dock in self._docks.items() if dock.isAncestorOf(widget)), "")

    def in_order(self, names: Iterable[str]) -> list[str]:
        """Return the panes in order from top to bottom."""
        wanted = set(names)
        return [name for name in self._docks if name in wanted]

    # -- visibility -----------------------------------------------------------------------------

    def hide_all_but(self, names: Iterable[str]) -> None:
        """Hide all panes except the named ones."""
        for name in self._docks.keys() - set(names):
            self._docks[name].hide()

    def show_all(self, names: Iterable[str]) -> None:
        """Show the named panes."""
        for name in self.in_order(names):
            self._docks[name].show()

    def give_widths(self, widths: dict[str, int]) -> None:
        """Set widths in pixels in one call; Qt would otherwise distribute the rest."""
        docks = [self._docks[name] for name in widths]
        self._window.resizeDocks(docks, list(widths.values()), Qt.Orientation.Horizontal)

    def give_height(self, name: str, height: int) -> None:
        """Set the height of a pane in pixels, at the expense of others in its column."""
        self._window.resizeDocks([self._docks[name]], [height], Qt.Orientation.Vertical)

    def show_titles_soon(self) -> None:
        """Emit the visible panes, and title those that are tabs, after they are placed."""
        # A window that is deleted without being closed deletes its docks first.
        if isValid(self._window) and self._window.isVisible():
            self._titles.start()

    # -- internals ------------------------------------------------------------------------------

    def _put(self, name: str, pane: QtWidgets.QWidget) -> None:
        if name in (RUN, CASES):
            pane.setMinimumWidth(LEAST_RUN)
        self._docks[name].setWidget(pane)
        head = self._heads[name]
        if isinstance(head, OwnHead):
            head.watch(pane)

    def _place(self, dock: QtWidgets.QDockWidget) -> PanePlace:
        if dock.isFloating():
            return PanePlace.WINDOW
        return _PLACES.get(self._window.dockWidgetArea(dock), PanePlace.TOP)

    def _is_behind(self, dock: QtWidgets.QDockWidget) -> bool:
        """Return whether a dock is a tab behind another one."""
        return bool(self._window.tabifiedDockWidgets(dock)) and dock.visibleRegion().isEmpty()

    def _on_toggled(self, name: str, _: bool = False) -> None:
        self.toggled.emit(name, self._docks[name].toggleViewAction().isChecked())

    def _show_titles(self) -> None:
        """Title each pane that is a tab or a separate window."""
        for name, dock in self._docks.items():
            tabbed = bool(self._window.tabifiedDockWidgets(dock))
            own = None if dock.isFloating() else self._heads[name]
            if dock.titleBarWidget() is not own:
                dock.setTitleBarWidget(own)  # type: ignore[arg-type]
            head = self._heads[name]
            if isinstance(head, DockHead):
                head.set_bare(tabbed)
            is_tool = dock.isFloating() and dock.windowType() == Qt.WindowType.Tool
            if is_tool and not QtWidgets.QApplication.mouseButtons():  # or it is being dragged
                _as_window(dock)
        self.changed.emit()


def _as_window(dock: QtWidgets.QDockWidget) -> None:
    """Let the separate window of a pane be maximized and be behind others."""
    dock.setWindowFlags(Qt.WindowType.Window)
    dock.show()
    dock.windowHandle().setTransientParent(None)  # type: ignore[arg-type]
