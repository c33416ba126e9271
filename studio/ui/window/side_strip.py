"""The strip of icons at the left: which pane stands in the side bar, and the way to the rest."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QCoreApplication, QSize, Qt
from PySide6.QtWidgets import QSizePolicy, QToolBar, QToolButton, QWidget

from studio.ui.base.actions import ActionSet
from studio.ui.base.marked_text import QT_TRANSLATE_NOOP
from studio.ui.style.icons import icon
from studio.ui.window.docks import Docks

_PANES = (
    ("files", "files", QT_TRANSLATE_NOOP("Docks", "Files")),
    ("outline", "list-tree", QT_TRANSLATE_NOOP("Docks", "Outline")),
    ("tools", "wrench", QT_TRANSLATE_NOOP("Docks", "Tools")),
    ("history", "history", QT_TRANSLATE_NOOP("Docks", "History")),
)
_BELOW = ("view.right", "view.bottom", "file.settings")
_ICON, _BUTTON, _STRIP = 20, 40, 48


class SideStrip(QToolBar):
    """One icon for each pane of the side bar; a second click hides the pane."""

    def __init__(self, actions: ActionSet, docks: Docks) -> None:
        super().__init__(QCoreApplication.translate("SideStrip", "Side bar"))
        self.setObjectName("sideStrip")
        self.setOrientation(Qt.Orientation.Vertical)
        self.setMovable(False)
        self.setIconSize(QSize(_ICON, _ICON))
        self.setFixedWidth(_STRIP)
        self._docks = docks
        self._buttons: dict[str, QToolButton] = {}
        for name, drawing, words in _PANES:
            title = QCoreApplication.translate("Docks", words)
            button = QToolButton()
            button.setIcon(icon(drawing))
            button.setCheckable(True)
            button.setToolTip(title)
            button.setAccessibleName(title)
            button.setFixedSize(_STRIP - 1, _BUTTON)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(partial(self._press, name))
            self._buttons[name] = button
            self.addWidget(button)
        room = QWidget()
        room.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.addWidget(room)
        for identifier in _BELOW:
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
