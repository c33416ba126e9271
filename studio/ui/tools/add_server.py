"""Adding MCP servers to the user's own: written down, or taken over from other programs."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QWidget,
)

from studio.application.tools.known_servers import KnownServer, ServerFileError, entry_of
from studio.core.text.invisible import reveal
from studio.ui.parts.layouts import column_of
from studio.ui.style.colors import fixed_font, paint_text

_LINES = 3
_COMMAND = "npx -y @modelcontextprotocol/server-everything"
"""A command as an example; it has no words."""
_SHOWN_SERVERS = 6


class AddServerDialog(QDialog):
    """Emits what is to be added; nothing is started by it."""

    # tuple[tuple[str, JsonObject], ...]: name and settings of each
    request_add = Signal(tuple)

    def __init__(
        self, known: Sequence[KnownServer], problems: Sequence[str], parent: QWidget
    ) -> None:
        """Make a dialog.

        Args:
            known: servers of other programs.
            problems: why those of some programs cannot be read.
            parent: the pane that asks.
        """
        super().__init__(parent)
        self._known = tuple(known)
        self.setWindowTitle(self.tr("Add MCP servers"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(560)
        self.name = QLineEdit(self)
        self.address = QLineEdit(self, placeholderText=_COMMAND)
        self.settings = QPlainTextEdit(
            self, placeholderText="API_KEY=${env:API_KEY}", tabChangesFocus=True
        )
        self.settings.setFont(fixed_font(self.font()))
        self.settings.setFixedHeight(self.settings.fontMetrics().lineSpacing() * _LINES + 14)
        self.others = QListWidget(self)
        self.others.setAccessibleName(self.tr("Servers of other programs"))
        for server in self._known:
            words = f"{server.name}   {server.program}   {server.shown}"
            item = QListWidgetItem(reveal(words, lines=False), self.others)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Unchecked)
        rows = min(max(self.others.count(), 2), _SHOWN_SERVERS)
        self.others.setFixedHeight(self.others.fontMetrics().lineSpacing() * rows * 3 // 2 + 10)
        self.remark = QLabel(
            "\n".join(problems), self, wordWrap=True, textFormat=Qt.TextFormat.PlainText
        )
        paint_text(self.remark, "warning")
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.add_button = self.buttons.addButton(
            self.tr("Add"), QDialogButtonBox.ButtonRole.AcceptRole
        )
        self.buttons.accepted.connect(self._add)
        self.buttons.rejected.connect(self.reject)
        self._arrange()

    def _arrange(self) -> None:
        form = QFormLayout()
        form.addRow(self.tr("Name"), self.name)
        form.addRow(self.tr("Command line or address"), self.address)
        form.addRow(self.tr("Variables or headers"), self.settings)
        title = QLabel(self.tr("Or take over from other programs:"), self)
        nothing = QLabel(
            self.tr("None found of Claude Desktop, Claude Code, VS Code, Cursor and Windsurf."),
            self,
        )
        paint_text(nothing, "muted")
        nothing.setVisible(not self._known)
        self.others.setVisible(bool(self._known))
        column_of(
            form,
            title,
            nothing,
            self.others,
            self.remark,
            self.buttons,
            1,
            on=self,
            margins=(20, 16, 20, 16),
            spacing=12,
        )

    def _add(self) -> None:
        wanted = [
            (server.name, server.entry)
            for row, server in enumerate(self._known)
            if self.others.item(row).checkState() == Qt.CheckState.Checked
        ]
        if self.address.text().strip() or not wanted:
            try:
                entry = entry_of(self.address.text(), self.settings.toPlainText())
            except ServerFileError as error:
                self._say(str(error))
                return
            name = self.name.text().strip()
            if not name:
                self._say(self.tr("Give the server a name."))
                return
            wanted.insert(0, (name, entry))
        self.request_add.emit(tuple(wanted))
        self.accept()

    def _say(self, text: str) -> None:
        paint_text(self.remark, "error")
        self.remark.setText(text)
