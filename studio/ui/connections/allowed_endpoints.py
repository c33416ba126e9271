"""The endpoints that prompts may send to, and the way to be asked about one again."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu, QPushButton

from studio.ui.style.icons import icon


class AllowedEndpoints(QPushButton):
    """Opens the list; is there only while something is in it."""

    request_ask_again = Signal(str)  # origin that is allowed no longer

    def __init__(self) -> None:
        super().__init__()
        self.setText(self.tr("Allowed endpoints"))
        self.setAutoDefault(False)
        self._origins: Sequence[str] = ()
        self.clicked.connect(self._open)

    def show_origins(self, origins: Sequence[str]) -> None:
        """Take the endpoints that are allowed."""
        self._origins = origins
        self.setVisible(bool(origins))

    def menu_of_origins(self) -> QMenu:
        """One entry for each."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addSection(self.tr("Choose one to be asked again"))
        for origin in self._origins:
            menu.addAction(
                icon("x"), origin, lambda origin=origin: self.request_ask_again.emit(origin)
            )
        return menu

    def _open(self) -> None:
        self.menu_of_origins().popup(self.mapToGlobal(self.rect().topLeft()))
