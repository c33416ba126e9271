"""The exact body of the request, for each provider's shape."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QMenu,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from studio.bridge.preview_copy import request_as_curl, request_as_python
from studio.bridge.preview_value import PROVIDERS, Preview, RequestPreview
from studio.core.wire.request import Provider
from studio.ui.icons import icon
from studio.ui.parts.colours import paint_text
from studio.ui.parts.empty_state import EmptyState
from studio.ui.parts.json_view import JsonView
from studio.ui.theme import Theme


class RequestTab(QWidget):
    """Combo, copy menu, the body, and what the shape cannot carry."""

    provider_changed = Signal(str)  # Provider

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._requests: dict[Provider, RequestPreview] = {}
        self.provider = QComboBox()
        self.provider.setAccessibleName("Shape of the request")
        for key, title in PROVIDERS.items():
            self.provider.addItem(title, key)
        self._by_hand = False
        self.provider.activated.connect(self._choose)
        self._size = QLabel()
        self.copy_button = QToolButton()
        self.copy_button.setText("Copy")
        self.copy_button.setIcon(icon("copy"))
        self.copy_button.setToolTip("Copy the request")
        self.copy_button.setAccessibleName("Copy the request")
        self.copy_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.copy_button.setMenu(self._copy_menu())
        bar = QHBoxLayout()
        bar.setContentsMargins(12, 8, 12, 8)
        bar.setSpacing(8)
        bar.addWidget(self.provider)
        bar.addWidget(self._size, 1)
        bar.addWidget(self.copy_button)
        self.view = JsonView(theme)
        self.view.setAccessibleName("Body of the request, JSON")
        self._notes = QLabel()
        self._notes.setWordWrap(True)
        self._notes.setContentsMargins(12, 8, 12, 8)
        self._notes.hide()
        self._empty = EmptyState(
            "send", "No request yet", "Open a prompt to see the exact request it makes.", theme
        )
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self.view)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(bar)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self._notes)
        self.set_theme(theme)

    def show_preview(self, preview: Preview | None) -> None:
        """Show the bodies of a preview."""
        self._requests = dict(preview.requests) if preview is not None else {}
        if preview is not None and not self._by_hand:
            index = self.provider.findData(preview.provider)
            self.provider.blockSignals(True)
            self.provider.setCurrentIndex(max(0, index))
            self.provider.blockSignals(False)
        self._show()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self.view.set_theme(theme)
        self._empty.set_theme(theme)
        paint_text(self._size, theme.muted)
        paint_text(self._notes, theme.warning)

    @property
    def current(self) -> RequestPreview | None:
        """The body that is shown."""
        return self._requests.get(self.provider.currentData())

    def _choose(self, _: int) -> None:
        self._by_hand = True  # from now on the person's choice stays
        self.provider_changed.emit(self.provider.currentData())
        self._show()

    def _show(self) -> None:
        request = self.current
        has_text = request is not None and bool(request.text)
        self.copy_button.setEnabled(has_text)
        if request is None or not has_text:
            self._size.setText("")
            self._notes.hide()
            self._stack.setCurrentWidget(self._empty)
            return
        self._size.setText(f"{max(1, round(len(request.text.encode()) / 1000)):,} kB")
        self.view.show_json(request.text)
        self._notes.setText("\n".join(f"• {note}" for note in request.notes))
        self._notes.setVisible(bool(request.notes))
        self._stack.setCurrentWidget(self.view)

    def _copy_menu(self) -> QMenu:
        menu = QMenu(self)
        menu.addAction("As JSON", self.copy_json)
        menu.addAction("As curl", self.copy_curl)
        menu.addAction("As Python", self.copy_python)
        return menu

    def copy_json(self) -> None:
        """Put the body on the clipboard."""
        if self.current is not None:
            QGuiApplication.clipboard().setText(self.current.text)

    def copy_curl(self) -> None:
        """Put a curl command on the clipboard; the key is read from the environment."""
        if self.current is not None:
            QGuiApplication.clipboard().setText(request_as_curl(self.current))

    def copy_python(self) -> None:
        """Put a Python script on the clipboard; the key is read from the environment."""
        if self.current is not None:
            QGuiApplication.clipboard().setText(request_as_python(self.current))
