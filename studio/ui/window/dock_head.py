"""The head of a pane: its name, and the marks to close it or give it a window of its own."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QMouseEvent
from PySide6.QtWidgets import (
    QDockWidget,
    QHBoxLayout,
    QLabel,
    QMenu,
    QTabBar,
    QToolButton,
    QWidget,
)

from studio.ui.base.menus import add_actions, add_own, keys_of, own_menu
from studio.ui.style.icons import icon

_HEIGHT = 36
_MARK = 16


class DockHead(QWidget):
    """Stands in the place of Qt's title bar, whose marks are too small to be hit."""

    request_maximize = Signal()
    request_close = Signal()

    def __init__(self, dock: QDockWidget, title: str) -> None:
        super().__init__(dock)
        self._dock = dock
        self._bare = False
        self.setObjectName("dockHead")
        label = QLabel(title)
        label.setProperty("title", True)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 0, 4, 0)
        row.setSpacing(0)
        row.addWidget(label, 1)
        for drawing, tip, act in (
            ("external-link", self.tr("In a window of its own"), self._float),
            ("x", self.tr("Close"), self.request_close.emit),
        ):
            button = QToolButton()
            button.setIcon(icon(drawing))
            button.setIconSize(QSize(_MARK, _MARK))
            button.setAutoRaise(True)
            button.setToolTip(tip)
            button.setAccessibleName(f"{title}: {tip}")
            button.clicked.connect(act)
            row.addWidget(button)

    def set_bare(self, bare: bool) -> None:
        """Whether a tab says the name already."""
        if bare != self._bare:
            self._bare = bare
            for child in self.findChildren(QWidget):
                child.setVisible(not bare)
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        """As high as the row of tabs beside it."""
        return QSize(super().sizeHint().width(), 0 if self._bare else _HEIGHT)

    def minimumSizeHint(self) -> QSize:
        """Its name may be cut, its height not."""
        return QSize(0, 0 if self._bare else _HEIGHT)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """What can be done with the pane."""
        self.menu().popup(event.globalPos())

    def menu(self) -> QMenu:
        """What a right click offers."""
        menu = own_menu(self)
        window = self._dock.parentWidget() or self
        keys = keys_of(window, "view.maximize")
        add_own(menu, self.tr("Maximize"), self.request_maximize.emit, keys=keys)
        add_own(menu, self.tr("In a window of its own"), self._float, drawing="external-link")
        add_own(menu, self.tr("Close"), self.request_close.emit, drawing="x")
        menu.addSeparator()
        add_actions(menu, window, ("view.all_sides", "view.reset"))
        return menu

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Give the pane the window for itself, or everything back."""
        self.request_maximize.emit()

    def _float(self) -> None:
        self._dock.setFloating(True)


class OwnHead(QWidget):
    """Stands for the head of a pane whose first row says what it is; takes no room."""

    request_maximize = Signal()

    def watch(self, pane: QWidget) -> None:
        """A double click on the pane's first row asks for what one on other heads does."""
        direct = Qt.FindChildOption.FindDirectChildrenOnly
        for each in (pane, *pane.findChildren(QTabBar, options=direct)):
            each.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Find the double clicks in the first row that no button of it takes."""
        if (
            event.type() == QEvent.Type.MouseButtonDblClick
            and isinstance(event, QMouseEvent)
            and isinstance(watched, QWidget)
            and event.button() == Qt.MouseButton.LeftButton
            and event.position().y() < _HEIGHT
        ):
            self.request_maximize.emit()
            return True
        return super().eventFilter(watched, event)
