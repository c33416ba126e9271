"""The button of a tool's saved calls: one is made again, the last one is saved, all are opened."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from studio.application.tools.saved_calls import SavedCall
from studio.core.text.invisible import reveal
from studio.ui.style.icons import icon

_MOST_LISTED = 20


class SavedCallsButton(QToolButton):
    """A menu that is filled when it opens."""

    request_saved = Signal()  # the saved calls are wanted
    request_save = Signal()  # the call that is looked at is to be saved
    request_calls = Signal()  # all saved calls are to be shown, and rows of a file
    chosen = Signal(SavedCall)  # to be called again

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        words = self.tr("Saved calls: call one again, save this one, run all as tests or over rows")
        self.setIcon(icon("save"))
        self.setToolTip(words)
        self.setAccessibleName(words)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        self._can_save = False
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self._open)
        self.setMenu(self._menu)
        self.show_calls(())

    def allow_saving(self, allowed: bool) -> None:
        """Whether there is a call that could be saved."""
        self._can_save = allowed

    def show_calls(self, calls: Sequence[SavedCall]) -> None:
        """List the saved calls of the tool."""
        self._menu.clear()
        for call in calls[:_MOST_LISTED]:
            words = reveal(call.name, lines=False).replace("&", "&&")
            action = self._menu.addAction(icon("rotate-ccw"), words)
            action.triggered.connect(partial(self._choose, call))
        self._menu.addSeparator()
        save = self._menu.addAction(self.tr("Save this call"))
        save.setEnabled(self._can_save)
        save.triggered.connect(self.request_save)
        everything = self._menu.addAction(self.tr("Saved calls and rows…"))
        everything.triggered.connect(self.request_calls)

    def _open(self) -> None:
        self.show_calls(())
        self.request_saved.emit()

    def _choose(self, call: SavedCall, _: bool = False) -> None:
        self.chosen.emit(call)
