"""Places panes around the editor and brings them back as the person left them."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QCoreApplication, QObject, QSettings, Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabWidget, QWidget
from shiboken6 import isValid

from studio.ui.base.marked_text import QT_TRANSLATE_NOOP

_VERSION = 1
_ROOM_FOR_TWO = 900
"""Window height from which Inputs and Preview stand one above the other, in pixels."""
_LEFT = Qt.DockWidgetArea.LeftDockWidgetArea
_RIGHT = Qt.DockWidgetArea.RightDockWidgetArea
_BOTTOM = Qt.DockWidgetArea.BottomDockWidgetArea

PLACES: tuple[tuple[str, str, Qt.DockWidgetArea], ...] = (
    ("files", QT_TRANSLATE_NOOP("Docks", "Files"), _LEFT),
    ("outline", QT_TRANSLATE_NOOP("Docks", "Outline"), _LEFT),
    ("tools", QT_TRANSLATE_NOOP("Docks", "Tools"), _LEFT),
    ("inputs", QT_TRANSLATE_NOOP("Docks", "Inputs"), _RIGHT),
    ("preview", QT_TRANSLATE_NOOP("Docks", "Preview"), _RIGHT),
    ("run", QT_TRANSLATE_NOOP("Docks", "Run"), _BOTTOM),
    ("problems", QT_TRANSLATE_NOOP("Docks", "Problems"), _BOTTOM),
    ("history", QT_TRANSLATE_NOOP("Docks", "History"), _BOTTOM),
)
"""Every pane with its title and first place, in order."""


class Docks(QObject):
    """The docks of one window."""

    def __init__(self, window: QMainWindow, store: QSettings) -> None:
        super().__init__(window)
        self._window = window
        self._store = store
        self._docks: dict[str, QDockWidget] = {}
        window.setDockNestingEnabled(True)
        window.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        window.setDocumentMode(True)
        for corner in (Qt.Corner.BottomLeftCorner, Qt.Corner.BottomRightCorner):
            window.setCorner(corner, _BOTTOM)
        self._to_size = False
        self._titles = QTimer(self)
        self._titles.setSingleShot(True)
        self._titles.setInterval(0)
        self._titles.timeout.connect(self._show_titles)

    def fill(self, panes: dict[str, QWidget]) -> None:
        """Put panes into docks that held their places."""
        for name, pane in panes.items():
            room = self._docks[name].widget()
            self._docks[name].setWidget(pane)
            if room is not None:
                room.deleteLater()

    def add(self, panes: dict[str, QWidget | None]) -> None:
        """Dock the panes that there are."""
        for name, words, area in PLACES:
            title = QCoreApplication.translate("Docks", words)
            pane = panes.get(name)
            if pane is None:
                continue
            dock = QDockWidget(title, self._window)
            dock.setObjectName(f"dock.{name}")
            dock.setWidget(pane)
            dock.setAccessibleName(title)
            dock.dockLocationChanged.connect(self._on_moved)
            dock.topLevelChanged.connect(self._on_moved)
            dock.visibilityChanged.connect(self._on_moved)
            self._docks[name] = dock
            if area != _RIGHT:
                # They will have tabs; to take a title bar away later is a layout more for each.
                dock.setTitleBarWidget(QWidget(dock))
            # Only known so far: `restore` or, when the window has its size, `reset` places it.
            self._window.addDockWidget(area, dock)

    def __getitem__(self, name: str) -> QDockWidget:
        return self._docks[name]

    def __contains__(self, name: str) -> bool:
        return name in self._docks

    def toggles(self) -> list[QAction]:
        """A switch for each dock."""
        return [dock.toggleViewAction() for dock in self._docks.values()]

    def give_height(self, name: str, height: int) -> None:
        """Give a dock a height in pixels, from the others of its column."""
        self._window.resizeDocks([self[name]], [height], Qt.Orientation.Vertical)

    def show(self, name: str) -> None:
        """Bring a pane to the front."""
        dock = self._docks.get(name)
        if dock is not None:
            dock.show()
            dock.raise_()

    def reset(self) -> None:
        """Everything in its first place."""
        last: dict[Qt.DockWidgetArea, QDockWidget] = {}
        for name, _, area in PLACES:
            dock = self._docks.get(name)
            if dock is None:
                continue
            dock.setFloating(False)
            self._window.addDockWidget(area, dock)
            if area in last and (area != _RIGHT or self._window.height() < _ROOM_FOR_TWO):
                self._window.tabifyDockWidget(last[area], dock)
            elif area in last:
                self._window.splitDockWidget(last[area], dock, Qt.Orientation.Vertical)
            dock.show()
            last[area] = dock
        for name in ("outline", "preview", "run" if "run" in self._docks else "problems"):
            self.show(name)
        self._size()
        # And once more when titles and tabs stand: they change what fits.
        self._to_size = True
        self._titles.start()

    def restore(self) -> bool:
        """Take the window's size and the docks' places of the last time, where there are any."""
        geometry = self._store.value("geometry")
        if isinstance(geometry, QByteArray):
            self._window.restoreGeometry(geometry)
        state = self._store.value("state")
        return isinstance(state, QByteArray) and self._window.restoreState(state, _VERSION)

    def save(self) -> None:
        """Keep the window's size and the docks' places."""
        self._store.setValue("geometry", self._window.saveGeometry())
        self._store.setValue("state", self._window.saveState(_VERSION))
        self._store.sync()

    def end(self) -> None:
        """The window closes: what happens to the docks now is not the person's doing."""
        self._titles.stop()
        for dock in self._docks.values():
            dock.blockSignals(True)

    def _on_moved(self) -> None:
        # A window that is deleted without being closed takes its docks away first.
        if isValid(self._window) and self._window.isVisible():
            self._titles.start()

    def _size(self) -> None:
        width, height = self._window.width(), self._window.height()
        sides = [self._docks[name] for name in ("files", "preview") if name in self._docks]
        widths = [max(200, int(width * 0.17)), max(int(width * 0.32), min(480, int(width * 0.375)))]
        self._window.resizeDocks(sides, widths[: len(sides)], Qt.Orientation.Horizontal)
        bottom = next(
            (self._docks[name] for name in ("run", "problems") if name in self._docks), None
        )
        if bottom is not None:
            share = 0.34 if "run" in self._docks else 0.2
            self._window.resizeDocks([bottom], [int(height * share)], Qt.Orientation.Vertical)
        if "inputs" in self._docks and "preview" in self._docks:
            self._window.resizeDocks(
                [self._docks["inputs"], self._docks["preview"]],
                [int(height * 0.22), int(height * 0.42)],
                Qt.Orientation.Vertical,
            )

    def _show_titles(self) -> None:
        """A dock that has a tab needs no title bar that says the same again."""
        for dock in self._docks.values():
            tabbed = bool(self._window.tabifiedDockWidgets(dock)) and not dock.isFloating()
            bare = dock.titleBarWidget()
            if tabbed and bare is None:
                dock.setTitleBarWidget(QWidget(dock))
            elif not tabbed and bare is not None:
                dock.setTitleBarWidget(None)  # type: ignore[arg-type]
                bare.deleteLater()
        if self._to_size:
            self._to_size = False
            self._size()
