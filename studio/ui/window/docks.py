"""Applies a `WindowLayout` to the window, and saves and restores the layout.

The value decides which panes are shown; this module hides, shows and resizes docks. Before each
change, it reads the user's manual changes from the window.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QByteArray, QObject, QSettings, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDockWidget, QMainWindow, QToolBar, QWidget

from studio.core.text.files import private_file
from studio.ui.window import layout as steps
from studio.ui.window.docked_panes import DockedPanes
from studio.ui.window.layout import PanePlace, PaneSizes, WindowLayout, inputs_height
from studio.viewmodels.app.jobs import single_shot

_VERSION = 1
_COLUMN_KEY, _RUN_KEY = "width/writing", "width/running"
_COLUMN = ("inputs", "preview")


class Docks(QObject):
    """The docks of one window."""

    changed = Signal()  # a pane was shown or hidden

    def __init__(self, window: QMainWindow, store: QSettings) -> None:
        super().__init__(window)
        self._window = window
        self._store = store
        self._panes = DockedPanes(window)
        self._panes.changed.connect(self.changed)
        self._panes.request_maximize.connect(self.maximize)
        self._panes.request_close.connect(self.hide)
        self._panes.toggled.connect(self._on_toggled)
        self._layout = WindowLayout()
        self._sizes = PaneSizes(
            column=self._kept_width(_COLUMN_KEY), run=self._kept_width(_RUN_KEY)
        )
        self._together: tuple[WindowLayout, QByteArray] | None = None
        """Layout to restore after a maximized part; None for the initial layout."""
        self._has_ended = False
        self._halves = 1
        self._inputs_height = 0
        self._share = single_shot(self, self._share_column)
        """Timer until the column is complete; before, Qt treats heights as shares of the old."""

    # -- the panes ------------------------------------------------------------------------------

    def fill(self, panes: dict[str, QWidget]) -> None:
        """Put panes into their empty docks."""
        self._panes.fill(panes)

    def add(self, panes: dict[str, QWidget | None]) -> None:
        """Create docks for the existing panes."""
        self._panes.add(panes)

    def __getitem__(self, name: str) -> QDockWidget:
        return self._panes[name]

    def __contains__(self, name: str) -> bool:
        return name in self._panes

    def toggles(self) -> list[QAction]:
        """Return a toggle for each dock."""
        return self._panes.toggles()

    def name_at(self, widget: QWidget | None) -> str:
        """Return the name of the pane that contains a widget; empty for none."""
        return self._panes.name_at(widget)

    def is_shown(self, name: str) -> bool:
        """Return whether a pane is visible."""
        return self._panes.is_shown(name)

    def give_height(self, name: str, height: int) -> None:
        """Set the height of a dock in pixels, at the expense of others in its column."""
        self._panes.give_height(name, height)

    def fit_inputs(self, height: int) -> None:
        """Set the height of the inputs to that of their form, if the cards keep enough room."""
        self._inputs_height = height
        self._share.start()

    def show(self, name: str) -> None:
        """Show a pane in front, with the width of its side."""
        if name not in self._panes:
            return
        tabs = self._panes.tabs_of(name)
        self._change(lambda layout: steps.ask_for(layout, name, tabs))
        self._panes[name].raise_()
        if self._layout.is_column_in_place and self._layout.places[name] is PanePlace.COLUMN:
            self._focus_column()

    def hide(self, name: str) -> None:
        """Hide a pane."""
        self._change(lambda layout: steps.close_pane(layout, name))

    # -- sides ----------------------------------------------------------------------------------

    def toggle_side(self) -> None:
        """Hide or show the panes on the left."""
        self._change(lambda layout: steps.toggle(layout, PanePlace.LEFT))

    def toggle_right(self) -> None:
        """Hide or show the column on the right.

        In a narrow window, it replaces the editor, since there is no room for both.
        """
        self._change(lambda layout: steps.toggle(layout, PanePlace.COLUMN))
        if self._layout.is_column_in_place:
            self._focus_column()

    def toggle_bottom(self) -> None:
        """Hide or show the panel below."""
        self._change(lambda layout: steps.toggle(layout, PanePlace.BOTTOM))

    def toggle_all(self) -> None:
        """Hide everything except the editor, or restore the layout."""
        self._change(steps.toggle_all)

    def maximize(self, name: str) -> None:
        """Maximize a pane, or the editor without a name; or restore the layout."""
        self._change(lambda layout: steps.maximize(layout, name))

    def set_welcome(self, shown: bool) -> None:
        """Show the welcome page alone, or restore the panes after it."""
        self._change(lambda layout: steps.show_welcome(layout, shown))

    def write(self) -> None:
        """Return from the run to its cases, or to the panes for editing."""
        self._change(steps.leave_run)

    def leave_to_window(self, name: str) -> None:
        """Restore the parts that made room for a pane that now has its own window."""
        if self._panes[name].isFloating():
            self._change(lambda layout: layout)

    @property
    def is_running(self) -> bool:
        """Return whether the run has the right column."""
        return self._layout.has_run

    def show_center(self) -> None:
        """Replace the right column by the editor in a narrow window."""
        self._change(steps.center)

    def show_tab(self, tab: str, *, is_prompt: bool) -> None:
        """Show the panes for the active tab: its run, or else the panes for editing.

        Args:
            tab: id of its content; empty for none.
            is_prompt: whether it has inputs and a preview; an experiment has neither.
        """
        self._change(lambda layout: steps.show_tab(layout, tab, is_prompt))

    def set_halves(self, count: int) -> None:
        """Set the number of editors side by side, each of which needs room."""
        self._halves = count
        self.fit()

    def fit(self) -> None:
        """Hide panes that do not fit beside the editor at this width, and show others again."""
        if self._window.isVisible():
            width = self._window.width()
            self._change(lambda layout: steps.fit(layout, width, self._halves))

    # -- saving ---------------------------------------------------------------------------------

    def reset(self) -> None:
        """Restore the initial layout."""
        for key in (_COLUMN_KEY, _RUN_KEY):
            self._store.remove(key)
        self._sizes = PaneSizes()
        self._together = None
        self._arrange()
        self._layout = steps.reset(self._observed())
        self._apply(self._layout)
        self.fit()

    def restore(self) -> bool:
        """Restore the window's size and the docks' places, if they were saved."""
        geometry = self._store.value("geometry")
        if isinstance(geometry, QByteArray):
            self._window.restoreGeometry(geometry)
        state = self._store.value("state")
        done = isinstance(state, QByteArray) and self._window.restoreState(state, _VERSION)
        for bar in self._toolbars():
            bar.show()  # the menus are in one; a saved layout may have hidden it
        if "search" in self._panes:
            self._panes["search"].hide()  # it is empty before a search
        self._layout = steps.restore(self._layout, self._panes.places(), self._panes.seen())
        return done

    def save(self) -> None:
        """Save the window's size and the docks' places."""
        with suppress(OSError):
            private_file(Path(self._store.fileName()))
        self._store.setValue("geometry", self._window.saveGeometry())
        if self._layout.is_alone and self._together is None:
            self._store.remove("state")  # the initial layout was never shown
        else:
            self._change(steps.to_keep)
            self._store.setValue("state", self._window.saveState(_VERSION))
        self._store.sync()

    def end(self) -> None:
        """Stop watching the docks: changes while the window closes are not the user's."""
        self._has_ended = True
        self._share.stop()
        self._panes.end()

    # -- changes of the layout ------------------------------------------------------------------

    def _observed(self) -> WindowLayout:
        return steps.observe(self._layout, self._panes.places(), self._panes.seen())

    def _change(self, change: Callable[[WindowLayout], WindowLayout]) -> None:
        if self._has_ended:
            return
        before, observed = self._layout, self._observed()
        after = self._layout = change(observed)
        if after.is_alone and not before.is_alone:
            self._together = observed, self._window.saveState(_VERSION)
        elif before.is_alone and not after.is_alone:
            before = self._leave_alone()
            self._panes.show_titles_soon()
        if not after.is_alone:
            self._measure(before, after)
        had_center = before.shows_center
        self._apply(after)
        if not after.is_alone:
            self._give_sizes(before, after)
            if after.is_narrow and after.shows_center and not had_center:
                self._center().setFocus(Qt.FocusReason.OtherFocusReason)

    def _leave_alone(self) -> WindowLayout:
        """Restore the layout from before one part was maximized, and return the previous state."""
        together, self._together = self._together, None
        self._center().show()
        self._share.start()
        if together is None:
            self._arrange()
            return steps.reset(self._layout)
        before, state = together
        self._window.restoreState(state, _VERSION)
        return before

    def _apply(self, layout: WindowLayout) -> None:
        self._panes.hide_all_but(layout.shown)
        if layout.shows_center:
            self._center().show()  # before the parts below, which would take all its room
        self._panes.show_all(layout.shown)
        self._center().setVisible(layout.shows_center)

    # -- widths and heights ---------------------------------------------------------------------

    def _measure(self, before: WindowLayout, after: WindowLayout) -> None:
        """Store the user's widths of panes that are about to be hidden."""
        qt = self._window.layout()
        if before.shown == after.shown or before.is_narrow or qt is None:
            return
        qt.activate()  # a pane that was just shown does not have its final width yet
        left = self._docked(before, PanePlace.LEFT)
        column = self._docked(before, PanePlace.COLUMN)
        run = self._docked(before, PanePlace.RUN)
        below = self._docked(before, PanePlace.BOTTOM)
        if below and not after.shown_in(PanePlace.BOTTOM):
            self._sizes = replace(self._sizes, bottom=below.height())
        if left and not before.has_run and left.width() > left.minimumSizeHint().width():
            self._sizes = replace(self._sizes, side=left.width())
        if column and after.has_run and not before.has_run:
            self._sizes = replace(self._sizes, column=column.width())
            self._store.setValue(_COLUMN_KEY, column.width())
        is_column_gone = after.is_narrow or not after.shown_in(PanePlace.COLUMN)
        if column and is_column_gone and self._is_wide(column):
            self._sizes = replace(self._sizes, column=column.width())
        if run and not after.has_run and not left:
            self._sizes = replace(self._sizes, run=run.width())
            self._store.setValue(_RUN_KEY, run.width())

    def _give_sizes(self, before: WindowLayout, after: WindowLayout) -> None:
        """Give shown panes the user's sizes, taken from the editor."""
        has_changed = before.shown_in(PanePlace.LEFT) != after.shown_in(PanePlace.LEFT)
        has_column_come = before.is_narrow or not before.shown_in(PanePlace.COLUMN)
        if after.is_narrow:
            if after.shows_center != before.shows_center or has_changed:
                # The editor expands into free room and leaves the column its minimum.
                right = self._first(after, PanePlace.RUN) or self._first(after, PanePlace.COLUMN)
                rest = self._window.width() - self._strip_width() - self._sizes.side
                self._give_side(after, right, rest)
        elif after.has_run:
            if not before.has_run or before.is_narrow or has_changed:
                self._give_run(after)
        elif before.has_run or (has_column_come and self._is_spread(after)):
            self._give_column(after)
        elif has_changed:
            column = self._first(before, PanePlace.COLUMN)
            held = column if column in after.shown and not before.is_narrow else ""
            self._give_side(after, held, self._panes[held].width() if held else 0)
        bottom = self._first(after, PanePlace.BOTTOM)
        if bottom and not before.shown_in(PanePlace.BOTTOM):
            self._panes.give_height(bottom, self._sizes.bottom)
        if after.is_column_in_place or before.is_prompt != after.is_prompt:
            self._share.start()

    def _give_side(self, layout: WindowLayout, other: str = "", width: int = 0) -> None:
        """Set the width of the side bar, and of a pane at the right beside it, if there is one."""
        widths = dict.fromkeys(self._in(layout, PanePlace.LEFT)[:1], self._sizes.side)
        if widths and other:
            widths[other] = width
        self._panes.give_widths(widths)

    def _give_column(self, layout: WindowLayout) -> None:
        """Set the widths of the column and the side bar."""
        if column := self._first(layout, PanePlace.COLUMN):
            width = self._sizes.column_in(self._window.width())
            side = dict.fromkeys(self._in(layout, PanePlace.LEFT)[:1], self._sizes.side)
            self._panes.give_widths({column: width} | side)

    def _give_run(self, layout: WindowLayout) -> None:
        """Share the width between a run and the pane at its left."""
        width = self._window.width()
        if layout.wide not in layout.shown:
            return
        if left := self._first(layout, PanePlace.LEFT):
            least = self._panes[left].minimumSizeHint().width()
            side, run = self._sizes.beside_run(width, self._strip_width(), least)
            self._panes.give_widths({left: side, layout.wide: run})
        else:
            self._panes.give_widths({layout.wide: self._sizes.run_in(width, layout.halves)})

    def _is_spread(self, layout: WindowLayout) -> bool:
        """Return whether the column still has the width of the editor."""
        column = self._docked(layout, PanePlace.COLUMN)
        return column is not None and self._is_wide(column)

    def _is_wide(self, column: QDockWidget) -> bool:
        return column.width() > self._sizes.column_in(self._window.width())

    def _share_column(self) -> None:
        if self._inputs_height and self._layout.shown_in(PanePlace.COLUMN) >= set(_COLUMN):
            height = inputs_height(self._inputs_height, self._window.height())
            self._panes.give_height("inputs", height)

    def _arrange(self) -> None:
        self._panes.arrange()
        first = WindowLayout(places=self._panes.places(), open=self._panes.seen())
        self._give_side(first)
        if "preview" in self._panes:
            self._give_column(first)

    # -- internals ------------------------------------------------------------------------------

    def _in(self, layout: WindowLayout, place: PanePlace) -> list[str]:
        return self._panes.in_order(layout.shown_in(place))

    def _first(self, layout: WindowLayout, place: PanePlace) -> str:
        return next(iter(self._in(layout, place)), "")

    def _docked(self, layout: WindowLayout, place: PanePlace) -> QDockWidget | None:
        """Return the first dock that a layout had in a place, unless it is a window now."""
        docks = (self._panes[name] for name in self._in(layout, place))
        return next((dock for dock in docks if not dock.isFloating()), None)

    def _center(self) -> QWidget:
        center = self._window.centralWidget()
        assert center is not None
        return center

    def _focus_column(self) -> None:
        """Focus the pane that replaces the editor."""
        place = PanePlace.RUN if self._layout.has_run else PanePlace.COLUMN
        pane = self._panes[self._first(self._layout, place)].widget()
        if pane is not None:
            pane.setFocus(Qt.FocusReason.OtherFocusReason)

    def _strip_width(self) -> int:
        """Return the width of the icon strip at the left edge."""
        left = Qt.ToolBarArea.LeftToolBarArea
        return sum(bar.width() for bar in self._toolbars() if self._window.toolBarArea(bar) == left)

    def _toolbars(self) -> list[QToolBar]:
        # Not of the whole tree: each visited widget gets a Python object.
        near = Qt.FindChildOption.FindDirectChildrenOnly
        return self._window.findChildren(QToolBar, options=near)

    def _kept_width(self, key: str) -> int | None:
        kept = self._store.value(key)
        return int(kept) if isinstance(kept, int | str) else None

    def _on_toggled(self, name: str, on: bool) -> None:
        if on:
            self.show(name)
        else:
            self._change(lambda layout: layout)
