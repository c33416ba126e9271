"""One shape's body with its name and what the shape cannot carry."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from studio.application.preview.value import PROVIDERS, RequestPreview
from studio.core.wire.request import Provider
from studio.ui.parts.json_view import JsonView
from studio.ui.style.colours import paint_text
from studio.ui.style.theme import Theme
from studio.viewmodels.plain_tip import plain_tip


class RequestColumn(QWidget):
    """The body as JSON; beside others it has its name above it and only counts its remarks."""

    def __init__(self, provider: Provider, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.provider = provider
        self.setMinimumWidth(120)
        self._title = QLabel(PROVIDERS[provider], self)
        self._title.setContentsMargins(12, 0, 12, 6)
        self._title.hide()
        self.view = JsonView(theme)
        name = self.tr("Body of the request, JSON, {shape}")
        self.view.setAccessibleName(name.format(shape=PROVIDERS[provider]))
        self.notes = QLabel(self)
        self.notes.setTextFormat(Qt.TextFormat.PlainText)
        self.notes.setWordWrap(True)
        self.notes.setContentsMargins(12, 8, 12, 8)
        self.notes.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._title)
        layout.addWidget(self.view, 1)
        layout.addWidget(self.notes)

    def show_request(self, request: RequestPreview, *, is_beside: bool) -> None:
        """Show a body."""
        self.view.show_json(request.text)
        self._title.setVisible(is_beside)
        said = "\n".join(f"• {note}" for note in request.notes)
        count = len(request.notes)
        short = self.tr("1 note") if count == 1 else self.tr("{count} notes").format(count=count)
        self.notes.setText(short if is_beside else said)
        self.notes.setToolTip(plain_tip(said) if is_beside else "")
        self.notes.setVisible(bool(said))

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self.view.set_theme(theme)
        paint_text(self._title, theme.muted)
        paint_text(self.notes, theme.warning)
