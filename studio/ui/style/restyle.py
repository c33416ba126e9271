"""Another palette on widgets that have a style sheet: what is seen at once, the rest in slices.

Qt keeps each widget's rules with the colors that they were made with. Nine of ten widgets of the
window lie in panes and dialogs that nobody looks at: nobody waits for those.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

import shiboken6
from PySide6.QtCore import QCoreApplication, QObject, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from studio.ui.style.in_use import FollowsTheme, recolor_now

_SLICE_SECONDS = 0.008
"""Time that hidden widgets take from the window at once."""


def restyle(app: QApplication) -> None:
    """Let all widgets take the palette's colors: those that are seen now, the others soon."""
    # The sheet is read anew for its drawings, which lie in another folder now.
    app.style().unpolish(app)
    seen: list[QWidget] = []
    hidden: list[QWidget] = []
    for widget in app.allWidgets():
        (seen if widget.isVisible() else hidden).append(widget)
    for widget in seen:
        _polish(widget)
    _tell(seen)
    recolor_now()
    rest = app.findChild(_Rest) or _Rest(app)
    rest.begin(hidden)


def finish_restyling() -> None:
    """Give the hidden widgets their colors now."""
    app = QCoreApplication.instance()
    rest = app.findChild(_Rest) if app is not None else None
    if rest is not None:
        rest.finish()


def _polish(widget: QWidget) -> None:
    style = widget.style()
    style.unpolish(widget)
    style.polish(widget)
    widget.update()


def _tell(widgets: Iterable[QWidget]) -> None:
    for widget in widgets:
        if isinstance(widget, FollowsTheme):
            widget.hear_of_theme()


class _Rest(QObject):
    """The hidden widgets that still have the colors of the theme before."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._widgets: list[QWidget] = []
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._on_turn)

    def begin(self, widgets: list[QWidget]) -> None:
        """Style these, in the place of any that were left over."""
        self._widgets = widgets
        self._timer.start()

    def finish(self) -> None:
        """Style all that are left."""
        self._work_until(None)

    def _on_turn(self) -> None:
        self._work_until(time.monotonic() + _SLICE_SECONDS)

    def _work_until(self, end: float | None) -> None:
        done = []
        while self._widgets and (end is None or time.monotonic() < end):
            widget = self._widgets.pop()
            # To color may have ended some of them, and made others.
            if shiboken6.isValid(widget):
                _polish(widget)
                done.append(widget)
        _tell(each for each in done if shiboken6.isValid(each))
        recolor_now()
        if not self._widgets:
            self._timer.stop()
