"""Places panes around the editor and brings them back as the user left them.

Left the side bar, one pane at a time; right one column, in which inputs and preview stand while
writing, and the run alone while it is looked at; the problems below, closed until asked for.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QByteArray, QCoreApplication, QObject, QSettings, Qt, QTimer, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabWidget, QToolBar, QWidget
from shiboken6 import isValid

from studio.ui.base.marked_text import QT_TRANSLATE_NOOP
from studio.ui.window.dock_head import DockHead, OwnHead

_VERSION = 1
_NARROW = 1100
"""Below this width the right column takes the place of the editor, and goes back, by a key."""
_VERY_NARROW = 1000
"""Below this width the side bar is its icons, until one is pressed."""
_SIDE_WIDTH, _RIGHT_WIDTH, _RIGHT_WIDTH_SMALL = 248, 440, 400
_WIDE = 1400
_RUN_SHARE = 0.6
_MOST_INPUTS = 0.28
"""Of the window's height: the cards below need the rest."""
_LEAST_RUN = 560
"""What its rows would like to have is more; they are cut at their ends before the editor is."""
_LEAST_EDITOR = 360
"""Beside a run and the side bar: a pane that comes takes its room from the run."""
_LEAST_HALF = 320
"""Of an editor that is split: the side bar is its icons before a half is narrower than this."""
_BOTTOM_HEIGHT = 200
_LEFT = Qt.DockWidgetArea.LeftDockWidgetArea
_RIGHT = Qt.DockWidgetArea.RightDockWidgetArea
_BOTTOM = Qt.DockWidgetArea.BottomDockWidgetArea

PLACES: tuple[tuple[str, str, Qt.DockWidgetArea], ...] = (
    ("files", QT_TRANSLATE_NOOP("Docks", "Files"), _LEFT),
    ("outline", QT_TRANSLATE_NOOP("Docks", "Outline"), _LEFT),
    ("tools", QT_TRANSLATE_NOOP("Docks", "Tools"), _LEFT),
    ("history", QT_TRANSLATE_NOOP("Docks", "History"), _LEFT),
    ("inputs", QT_TRANSLATE_NOOP("Docks", "Inputs"), _RIGHT),
    ("preview", QT_TRANSLATE_NOOP("Docks", "Preview"), _RIGHT),
    ("run", QT_TRANSLATE_NOOP("Docks", "Run"), _RIGHT),
    ("problems", QT_TRANSLATE_NOOP("Docks", "Problems"), _BOTTOM),
    ("search", QT_TRANSLATE_NOOP("Docks", "Search"), _BOTTOM),
)
"""Every pane with its title and first place, in order."""

_FIRST = ("files", "inputs", "preview")
"""The panes that stand at the first start."""
_OWN_HEAD = ("inputs", "preview", "run")
"""Panes whose first row says what they are: a title above it would say it twice."""


class Docks(QObject):
    """The docks of one window."""

    changed = Signal()  # a pane came or went

    def __init__(self, window: QMainWindow, store: QSettings) -> None:
        super().__init__(window)
        self._window = window
        self._store = store
        self._docks: dict[str, QDockWidget] = {}
        self._heads: dict[str, QWidget] = {}
        self._together: QByteArray | None = None
        """The layout that comes back, while one part has the window for itself."""
        self._alone = ""
        """What has the window for itself: "editor", "welcome" or a pane; empty: nothing."""
        self._fresh = False
        """Whether the layout to come back to is the first one, which was never on the screen."""
        self._writing: list[str] = []
        """The panes that come back when the run gives the room back; empty while writing."""
        self._is_prompt = True
        """Whether a prompt is looked at, and not an experiment."""
        self._aside: list[str] = []
        """The panes that come back with the next prompt that is looked at."""
        self._hidden: dict[str, list[str]] = {}
        """The panes of a side that its key brings back."""
        self._narrowed: dict[str, list[str]] = {}
        """The panes that come back when the window is wide again, by side."""
        window.setDockNestingEnabled(True)
        window.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        window.setDocumentMode(True)
        window.setCorner(Qt.Corner.BottomLeftCorner, _LEFT)
        window.setCorner(Qt.Corner.BottomRightCorner, _RIGHT)
        self._titles = QTimer(self)
        self._titles.setSingleShot(True)
        self._titles.setInterval(0)
        self._titles.timeout.connect(self._show_titles)
        self._side_width = _SIDE_WIDTH
        """Of the side bar while writing, as the user left it; a pane that needs more takes it."""
        self._halves = 1
        """How many editors stand beside each other."""
        self._inputs_height = 0
        self._share = QTimer(self)
        """Once the column stands: before that, Qt takes a height for a share of what was there."""
        self._share.setSingleShot(True)
        self._share.setInterval(0)
        self._share.timeout.connect(self._share_column)

    # -- the panes ------------------------------------------------------------------------------

    def fill(self, panes: dict[str, QWidget]) -> None:
        """Put panes into docks that held their places."""
        for name, pane in panes.items():
            room = self._docks[name].widget()
            self._put(name, pane)
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
            dock.setAccessibleName(title)
            dock.dockLocationChanged.connect(self._on_moved)
            dock.topLevelChanged.connect(self._on_moved)
            dock.visibilityChanged.connect(self._on_moved)
            dock.toggleViewAction().triggered.connect(partial(self._on_toggled, name))
            self._docks[name] = dock
            head = OwnHead(dock) if name in _OWN_HEAD else DockHead(dock, title)
            head.request_maximize.connect(partial(self.maximize, name))
            if isinstance(head, DockHead):
                head.request_close.connect(partial(self.hide, name))
            self._heads[name] = head
            self._put(name, pane)
            dock.setTitleBarWidget(head)
            # Only known so far: `restore` or, when the window has its size, `reset` places it.
            self._window.addDockWidget(area, dock)

    def _put(self, name: str, pane: QWidget) -> None:
        if name == "run":
            pane.setMinimumWidth(_LEAST_RUN)
        self._docks[name].setWidget(pane)
        head = self._heads[name]
        if isinstance(head, OwnHead):
            head.watch(pane)

    def __getitem__(self, name: str) -> QDockWidget:
        return self._docks[name]

    def __contains__(self, name: str) -> bool:
        return name in self._docks

    def toggles(self) -> list[QAction]:
        """A switch for each dock."""
        return [dock.toggleViewAction() for dock in self._docks.values()]

    def name_at(self, widget: QWidget | None) -> str:
        """The pane that a widget is in; empty for none."""
        return next(
            (
                name
                for name, dock in self._docks.items()
                if widget is not None and dock.isAncestorOf(widget)
            ),
            "",
        )

    def is_shown(self, name: str) -> bool:
        """Whether a pane is there to be seen."""
        dock = self._docks.get(name)
        return dock is not None and not dock.isHidden() and not self._is_behind(dock)

    def give_height(self, name: str, height: int) -> None:
        """Give a dock a height in pixels, from the others of its column."""
        self._window.resizeDocks([self[name]], [height], Qt.Orientation.Vertical)

    def fit_inputs(self, height: int) -> None:
        """Give the inputs the height that their form wants, where the cards keep theirs."""
        self._inputs_height = height
        self._share.start()

    def _share_column(self) -> None:
        most = int(self._window.height() * _MOST_INPUTS)
        both = {"inputs", "preview"} <= set(self._visible(_RIGHT))
        if both and self._inputs_height:
            self.give_height("inputs", min(self._inputs_height, most))

    def show(self, name: str) -> None:
        """Bring a pane to the front, in the room that its side gives it."""
        dock = self._docks.get(name)
        if dock is None:
            return
        if self._alone not in ("", "welcome", name):
            self.stand_together()
        if not self._alone:
            self._make_room(name)
        dock.show()
        dock.raise_()
        if self._area(name) == _LEFT:
            self._give_side(name)
        self._share_running()

    def hide(self, name: str) -> None:
        """Take a pane away."""
        if name == "run" and self._writing:
            self.write()
        elif name in self._docks:
            self._keep_side()
            self._docks[name].hide()
            self._share_running()

    # -- sides ----------------------------------------------------------------------------------

    def toggle_side(self) -> None:
        """Hide the panes on the left, or bring them back."""
        self._toggle(_LEFT, ["files"])
        self._share_running()

    def toggle_right(self) -> None:
        """Hide the column on the right, or bring it back; in a narrow window in the editor's place.

        There the editor goes as the column comes: there is no room for both.
        """
        back, self._aside = self._aside, []
        if self._is_narrow and not self._alone:
            shown = self._visible(_RIGHT)
            if shown:
                self._hidden["right"] = shown
                self.show_center()
            else:
                self._swap_in(self._hidden.get("right") or list(_FIRST[1:]))
            return
        for name in back:
            self._docks[name].show()
        if not back:
            self._toggle(_RIGHT, list(_FIRST[1:]))

    def toggle_bottom(self) -> None:
        """Hide the panel below, or bring it back."""
        self._toggle(_BOTTOM, ["problems"])

    def toggle_all(self) -> None:
        """Leave nothing but the editor, or bring everything back."""
        if self._alone:
            self.stand_together()
        else:
            self.maximize("")

    def maximize(self, name: str) -> None:
        """Give a pane, or the editor where there is no name, the window for itself; or back."""
        if self._alone and self._alone != "welcome":
            self.stand_together()
        elif not self._alone:
            self._stand_alone(name or "editor")

    def set_welcome(self, shown: bool) -> None:
        """Show the welcome page with nothing around it, and everything again after it."""
        if shown and not self._alone:
            self._stand_alone("welcome")
        elif not shown and self._alone == "welcome":
            self.stand_together()

    def stand_together(self) -> None:
        """Bring back what went away for one part."""
        state, self._together = self._together, None
        self._alone = ""
        self._center().show()
        if self._fresh:
            self._fresh = False
            self._arrange()
        elif state is not None:
            self._window.restoreState(state, _VERSION)
        self.fit()
        self._settle_column()
        self._share.start()
        self._titles.start()

    def write(self) -> None:
        """Give the room of the run back to what stands beside the editor while writing."""
        back, self._writing = self._writing, []
        if not back:
            return
        self._keep_width("running", "run")
        self._docks["run"].hide()
        if self._is_narrow:
            self._hidden["right"] = [name for name in back if self._area(name) == _RIGHT]
            self.show_center()
            return
        for name in back:
            if self._area(name) == _LEFT and "left" in self._narrowed:
                self._narrowed["left"].append(name)
            else:
                self._docks[name].show()
        self._give_width(next((n for n in back if self._area(n) == _RIGHT), ""), "writing")
        self._settle_column()

    def leave_to_window(self, name: str) -> None:
        """A pane has a window of its own now: what stood aside for it comes back."""
        if self._docks[name].isFloating() and self._writing:
            back, self._writing = self._writing, []
            for each in back:
                self._docks[each].show()

    @property
    def is_running(self) -> bool:
        """Whether the run has the room on the right for itself."""
        return bool(self._writing)

    def show_center(self) -> None:
        """In a narrow window: give the place of the right column back to the editor."""
        if self._is_narrow and not self._alone:
            for name in self._visible(_RIGHT):
                self._docks[name].hide()
        if self._alone in ("", "editor") and self._center().isHidden():
            self._center().show()
            # A side pane has spread over the place that was free.
            left = [self._docks[name] for name in self._visible(_LEFT)]
            self._window.resizeDocks(
                left, [self._side_width] * len(left), Qt.Orientation.Horizontal
            )
            self._center().setFocus(Qt.FocusReason.OtherFocusReason)

    # -- keeping --------------------------------------------------------------------------------

    def reset(self) -> None:
        """Everything in its first place."""
        welcome = self._alone == "welcome"
        self._alone, self._together, self._writing = "", None, []
        self._hidden.clear()
        self._narrowed.clear()
        for key in ("writing", "running"):
            self._store.remove(f"width/{key}")
        self._aside = []
        self._center().show()
        self._arrange()
        self.fit()
        self._settle_column()
        if welcome:
            self._stand_alone("welcome")
            self._fresh = True

    def restore(self) -> bool:
        """Take the window's size and the docks' places of the last time, where there are any."""
        geometry = self._store.value("geometry")
        if isinstance(geometry, QByteArray):
            self._window.restoreGeometry(geometry)
        state = self._store.value("state")
        done = isinstance(state, QByteArray) and self._window.restoreState(state, _VERSION)
        for bar in self._toolbars():
            bar.show()  # the menus are in one; a kept layout may have been without
        if "search" in self._docks:
            self._docks["search"].hide()  # there is nothing in it before somebody searches
        return done

    def save(self) -> None:
        """Keep the window's size and the docks' places."""
        self._store.setValue("geometry", self._window.saveGeometry())
        if self._fresh:
            self._store.remove("state")
        else:
            if self._alone:
                self.stand_together()
            self.write()
            self._widen()
            for name in self._aside:
                self._docks[name].show()
            self._store.setValue("state", self._window.saveState(_VERSION))
        self._store.sync()

    def end(self) -> None:
        """The window closes: what happens to the docks now is not the user's doing."""
        self._titles.stop()
        self._share.stop()
        self._alone = "end"
        for dock in self._docks.values():
            dock.blockSignals(True)

    def fit(self) -> None:
        """The window has another width: what has no room beside the editor goes, or comes back."""
        if self._alone or not self._window.isVisible():
            return
        width = self._window.width()
        for side, area, least in (
            ("left", _LEFT, _VERY_NARROW + (self._halves - 1) * _LEAST_HALF),
            ("right", _RIGHT, _NARROW),
        ):
            if width < least and side not in self._narrowed:
                self._keep_side()
                self._narrowed[side] = shown = self._visible(area)
                if side == "right" and shown:
                    self._hidden["right"] = shown
                for name in shown:
                    self._docks[name].hide()
            elif width >= least and side in self._narrowed:
                self._center().show()
                for name in self._narrowed.pop(side):
                    self._docks[name].show()
                    if area == _LEFT:
                        self._give_side(name)

    def set_prompt(self, shown: bool) -> None:
        """Say whether a prompt is looked at: an experiment has no inputs and no preview."""
        self._is_prompt = shown
        self._settle_column()

    def set_halves(self, count: int) -> None:
        """So many editors stand beside each other now, and each needs its room."""
        self._halves = count
        self.fit()

    # -- inside ---------------------------------------------------------------------------------

    @property
    def _is_narrow(self) -> bool:
        return "right" in self._narrowed

    def _settle_column(self) -> None:
        """Take the column on the right away from what is no prompt, or give it back."""
        if self._alone or self._is_prompt != bool(self._aside):
            return
        if self._is_prompt:
            back, self._aside = self._aside, []
            if self._writing:
                self._writing = [*back, *self._writing]
            elif self._is_narrow:
                self._hidden["right"] = self._narrowed["right"] = back
            else:
                for name in back:
                    self._docks[name].show()
                self._share.start()
        elif not self._writing and not self._is_narrow:
            self._aside = [name for name in self._visible(_RIGHT) if name != "run"]
            for name in self._aside:
                self._docks[name].hide()

    def _widen(self) -> None:
        """What a narrow window hides is there in the layout that is kept."""
        for names in self._narrowed.values():
            for name in names:
                self._docks[name].show()
        self._narrowed.clear()

    def _center(self) -> QWidget:
        center = self._window.centralWidget()
        assert center is not None
        return center

    def _area(self, name: str) -> Qt.DockWidgetArea:
        return self._window.dockWidgetArea(self._docks[name])

    def _is_behind(self, dock: QDockWidget) -> bool:
        """Whether it is a tab that another one covers."""
        return bool(self._window.tabifiedDockWidgets(dock)) and dock.visibleRegion().isEmpty()

    def _visible(self, area: Qt.DockWidgetArea) -> list[str]:
        return [
            name
            for name, dock in self._docks.items()
            if not dock.isHidden() and not dock.isFloating() and self._area(name) == area
        ]

    def _make_room(self, name: str) -> None:
        dock = self._docks[name]
        area = self._area(name)
        if dock.isFloating():
            return
        beside = self._window.tabifiedDockWidgets(dock)
        if area == _RIGHT and name == "run" and not beside:
            self._give_room_to_run()
        elif area == _RIGHT and self._writing:
            self.write()
        if area == _BOTTOM and self._is_narrow:
            self.show_center()  # below the text, and not a column of its own
        if area in (_LEFT, _BOTTOM):
            self._keep_side()
            for other in self._visible(area):
                if other != name and self._docks[other] not in beside:
                    self._docks[other].hide()
        if area == _RIGHT and self._is_narrow:
            self._swap_in([name] if name == "run" else list(_FIRST[1:]))

    def _give_room_to_run(self) -> None:
        if self._writing:
            return
        right = [name for name in self._visible(_RIGHT) if name != "run"]
        if right:
            self._keep_width("writing", right[0])
        self._keep_side()
        if not self._visible(_LEFT) and self._is_narrow:
            right = self._hidden.get("right", [])
        self._writing = [*right, *self._visible(_LEFT)] or list(_FIRST[1:])
        for name in self._writing:
            self._docks[name].hide()
        self._docks["run"].show()
        self._give_width("run", "running")

    def _swap_in(self, names: list[str]) -> None:
        """Have panes of the right column in the editor's place."""
        for name in self._visible(_RIGHT):
            if name not in names:
                self._docks[name].hide()
        for name in names:
            if name in self._docks:
                self._docks[name].show()
        self._center().hide()
        self._share.start()
        pane = self._docks[names[0]].widget()
        if pane is not None:
            pane.setFocus(Qt.FocusReason.OtherFocusReason)

    def _toggle(self, area: Qt.DockWidgetArea, usual: list[str]) -> None:
        if self._alone and self._alone != "welcome":
            self.stand_together()
        key, shown = str(area.name), self._visible(area)
        if shown:
            self._keep_side()
            self._hidden[key] = shown
            for name in shown:
                self._docks[name].hide()
        else:
            for name in self._hidden.get(key) or usual:
                if name in self._docks:
                    self._docks[name].show()

    def _stand_alone(self, kept: str) -> None:
        self._together, self._alone = self._window.saveState(_VERSION), kept
        for name, dock in self._docks.items():
            if name != kept and not dock.isFloating():
                dock.hide()
        self._center().setVisible(kept in ("editor", "welcome"))

    def _share_running(self) -> None:
        """Beside a run: what comes or goes on the left takes from the run and gives back to it."""
        if not self._writing or self._is_narrow or self._alone or "run" not in self._docks:
            return
        left = self._visible(_LEFT)
        if not left:
            self._give_width("run", "running")
            return
        side = self._docks[left[0]]
        least = max(self._side_width, side.minimumSizeHint().width())
        room = self._window.width() - self._strip_width() - least - _LEAST_EDITOR
        run = max(_LEAST_RUN, min(room, int(self._window.width() * _RUN_SHARE)))
        self._window.resizeDocks(
            [side, self._docks["run"]], [least, run], Qt.Orientation.Horizontal
        )

    def _strip_width(self) -> int:
        """Of the icons at the left edge."""
        left = Qt.ToolBarArea.LeftToolBarArea
        return sum(bar.width() for bar in self._toolbars() if self._window.toolBarArea(bar) == left)

    def _toolbars(self) -> list[QToolBar]:
        # Not of the whole tree: each widget that is looked at gets a Python object.
        near = Qt.FindChildOption.FindDirectChildrenOnly
        return self._window.findChildren(QToolBar, options=near)

    def _keep_side(self) -> None:
        """Keep the side bar's width, unless a pane has no less, or the room of a run's layout."""
        left = self._visible(_LEFT)
        layout = self._window.layout()
        if not left or layout is None or self._alone or self._writing or self._is_narrow:
            return
        layout.activate()  # a pane that has just come has the width of no layout yet
        side = self._docks[left[0]]
        if side.width() > side.minimumSizeHint().width():
            self._side_width = side.width()

    def _give_side(self, name: str) -> None:
        """Give a pane of the side bar the width that the user gave the bar, from the editor."""
        if self._writing or self._is_narrow or self._alone or self._docks[name].isFloating():
            return
        docks, widths = [self._docks[name]], [self._side_width]
        if right := self._visible(_RIGHT):
            docks.append(self._docks[right[0]])
            widths.append(docks[-1].width())
        self._window.resizeDocks(docks, widths, Qt.Orientation.Horizontal)

    def _keep_width(self, layout: str, name: str) -> None:
        is_squeezed = layout == "running" and self._visible(_LEFT)
        if not self._docks[name].isHidden() and not self._is_narrow and not is_squeezed:
            self._store.setValue(f"width/{layout}", self._docks[name].width())

    def _give_width(self, name: str, layout: str) -> None:
        if not name:
            return
        width = self._window.width()
        usual = {
            "writing": _RIGHT_WIDTH if width >= _WIDE else _RIGHT_WIDTH_SMALL,
            "running": max(
                _LEAST_RUN,
                int(width * _RUN_SHARE) - (self._halves - 1) * _LEAST_HALF // 2,
            ),
        }[layout]
        kept = self._store.value(f"width/{layout}")
        wanted = int(kept) if isinstance(kept, int | str) else usual
        most = int(width * 0.75)
        docks, widths = [self._docks[name]], [min(wanted, most)]
        left = self._visible(_LEFT)
        if left:
            # Said with it: what one side gives back, Qt would share out to both.
            docks.append(self._docks[left[0]])
            widths.append(self._side_width)
        self._window.resizeDocks(docks, widths, Qt.Orientation.Horizontal)

    def _arrange(self) -> None:
        last: dict[Qt.DockWidgetArea, QDockWidget] = {}
        for name, _, area in PLACES:
            dock = self._docks.get(name)
            if dock is None:
                continue
            dock.setFloating(False)
            self._window.addDockWidget(area, dock)
            if area in last:
                self._window.splitDockWidget(last[area], dock, Qt.Orientation.Vertical)
            last[area] = dock
            dock.setVisible(name in _FIRST)
        self._window.resizeDocks(
            [dock for name, dock in self._docks.items() if self._area(name) == _LEFT],
            [_SIDE_WIDTH] * sum(self._area(name) == _LEFT for name in self._docks),
            Qt.Orientation.Horizontal,
        )
        self._give_width("preview" if "preview" in self._docks else "", "writing")
        if "problems" in self._docks:
            self.give_height("problems", _BOTTOM_HEIGHT)

    def _on_toggled(self, name: str, on: bool) -> None:
        if on:
            self.show(name)
        elif name == "run" and self._writing:
            self._docks[name].show()
            self.write()

    def _on_moved(self) -> None:
        # A window that is deleted without being closed takes its docks away first.
        if isValid(self._window) and self._window.isVisible():
            self._titles.start()

    def _show_titles(self) -> None:
        """A pane that is a tab, or has a window of its own, is named there."""
        for name, dock in self._docks.items():
            tabbed = bool(self._window.tabifiedDockWidgets(dock))
            own = None if dock.isFloating() else self._heads[name]
            if dock.titleBarWidget() is not own:
                dock.setTitleBarWidget(own)  # type: ignore[arg-type]
            head = self._heads[name]
            if isinstance(head, DockHead):
                head.set_bare(tabbed)
        self.changed.emit()
