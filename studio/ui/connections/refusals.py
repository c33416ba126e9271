"""Options that a connection's server refused, with a button that forgets them."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from studio.core.models.connections import Connection
from studio.core.models.refused_options import kept_refusals
from studio.core.models.remote.model import shown_address
from studio.ui.parts.layouts import row_of


class RefusalsLine(QWidget):
    """Says what is left out of requests; hidden while that is nothing."""

    def __init__(self) -> None:
        super().__init__()
        self._refusals = kept_refusals()
        self._address = ""
        self.words = QLabel(wordWrap=True)
        self.words.setTextFormat(Qt.TextFormat.PlainText)  # names come from a server
        self.forget = QPushButton(self.tr("Forget"), autoDefault=False)
        self.forget.setToolTip(self.tr("Send these options again, to see whether they are taken"))
        self.forget.clicked.connect(self._on_forget)
        row_of((self.words, 1), self.forget, on=self, margins=0, spacing=8)

    def show_connection(self, connection: Connection) -> None:
        """Show what is kept for the address of a connection."""
        self._address = shown_address(connection) if connection.is_remote else ""
        found = self._refusals.at(self._address) if self._address else ()
        named = (
            self.tr("{option} by {model} ({day})").format(
                option=each.option, model=each.model, day=each.learned
            )
            for each in found
        )
        words = self.tr("Not taken by the server, so not sent for 30 days: {names}.")
        self.words.setText(words.format(names=", ".join(named)))
        self.setVisible(bool(found))

    def _on_forget(self) -> None:
        self._refusals.forget(self._address)
        self.hide()
