"""Adding, editing and removing an MCP server: pasted, tried, and written down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QWidget,
)

from studio.application.tools.pasted_server import (
    PastedServer,
    ServerFileError,
    address_text,
    read_pasted,
    settings_text,
)
from studio.application.words import tr
from studio.core.prompty.document import ToolSpec
from studio.core.text.invisible import plain_tip, reveal
from studio.core.text.values import JsonObject, text_of
from studio.ui.parts.fields import FieldForm
from studio.ui.parts.labels import named, toned_label
from studio.ui.parts.layouts import column_of
from studio.ui.style.colors import fixed_font, paint_text

ServerPlace: TypeAlias = Literal["prompt", "folder", "own"]
"""Place of a new server: the folder's `.mcp.json` and the prompt, that file, or the user's."""

_LINES = 3
_EXAMPLES = {
    "address": "npx -y @modelcontextprotocol/server-everything",
    "settings": "API_KEY=${env:API_KEY}",
}
"""Texts of the empty lines; they have no words."""
_SHOWN_ROWS = 6


class AddServerDialog(QDialog):
    """Emits what is to be tried and written; starts nothing itself."""

    request_try = Signal(tuple)  # tuple[PastedServer, ...]
    # tuple[tuple[str, JsonObject], ...], ServerPlace, tuple[str, ...] of tools; empty for all
    request_add = Signal(tuple, str, tuple)
    request_remove = Signal()

    def __init__(
        self,
        known: Sequence[PastedServer],
        problems: Sequence[str],
        parent: QWidget,
        places: Sequence[ServerPlace] = ("own",),
        edited: tuple[str, JsonObject] | None = None,
    ) -> None:
        """Make a dialog.

        Args:
            known: servers of other programs.
            problems: why those of some programs cannot be read.
            parent: the pane that asks.
            places: where the server can be written, the usual one first.
            edited: name and settings of the server that is edited; None to add one.
        """
        super().__init__(parent)
        self._known = tuple(known)
        self._edited = edited
        self._tried: tuple[PastedServer, ...] = ()
        title = tr("Edit MCP server") if edited else tr("Add MCP servers")
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(560)
        words = {
            "prompt": tr("This prompt and the .mcp.json of its folder"),
            "folder": tr("The .mcp.json of the folder"),
            "own": tr("Your own servers"),
        }
        self.form = FieldForm("server", choices={"place": [(each, words[each]) for each in places]})
        for key, example in _EXAMPLES.items():
            self.form.set_hint(key, example)
            lines = self.form.widgets[key]
            lines.setFont(fixed_font(self.font()))
            lines.setFixedHeight(lines.fontMetrics().lineSpacing() * _LINES + 14)
        self.tools = named(QListWidget(self), tr("Tools of the server"))
        self.others = named(QListWidget(self), tr("Servers of other programs"))
        for server in self._known:
            line = f"{server.name}   {server.program}   {server.shown}"
            self._add_row(self.others, line, Qt.CheckState.Unchecked)
        rows = min(max(self.others.count(), 2), _SHOWN_ROWS)
        self.others.setFixedHeight(self.others.fontMetrics().lineSpacing() * rows * 3 // 2 + 10)
        self.remark = toned_label(
            "warning", "\n".join(problems), parent=self, wraps=True, is_plain=True
        )
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.add_button = self.buttons.addButton("", QDialogButtonBox.ButtonRole.AcceptRole)
        self.remove_button = self.buttons.addButton(
            tr("Remove"), QDialogButtonBox.ButtonRole.DestructiveRole
        )
        self._arrange()
        self._fill()
        self.form.changed.connect(self._on_written)
        self.others.itemChanged.connect(self._forget_trial)
        self.buttons.accepted.connect(self._go_on)
        self.buttons.rejected.connect(self.reject)
        self.remove_button.clicked.connect(self._remove)

    def show_tools(self, specs: tuple[ToolSpec, ...], problem: str) -> None:
        """Show the tools of the server that was tried, ticked, or why it has none.

        Args:
            specs: its tools.
            problem: why it does not work; empty where it does.
        """
        self.add_button.setEnabled(True)
        if problem:
            self._say(problem)
            self.add_button.setText(tr("Add anyway"))
            return
        self.remark.clear()
        self.tools.clear()
        for spec in specs:
            item = self._add_row(self.tools, spec.name, Qt.CheckState.Checked)
            item.setToolTip(plain_tip(reveal(spec.description)))
        self.tools.setFixedHeight(
            self.tools.fontMetrics().lineSpacing() * min(max(len(specs), 2), _SHOWN_ROWS) * 2
        )
        self.tools.setVisible(True)
        self.add_button.setText(tr("Save") if self._edited else tr("Add"))

    def _add_row(self, rows: QListWidget, words: str, state: Qt.CheckState) -> QListWidgetItem:
        item = QListWidgetItem(reveal(words, lines=False), rows)
        item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
        item.setCheckState(state)
        return item

    def _arrange(self) -> None:
        title = QLabel(tr("Or take over from other programs:"), self)
        nothing = QLabel(
            tr("None found of Claude Desktop, Claude Code, VS Code, Cursor and Windsurf."),
            self,
        )
        paint_text(nothing, "muted")
        title.setHidden(self._edited is not None)
        nothing.setHidden(bool(self._known) or self._edited is not None)
        self.others.setHidden(not self._known)
        self.remove_button.setHidden(self._edited is None)
        parts = (
            self.form.laid_out(),
            self.tools,
            title,
            nothing,
            self.others,
            self.remark,
            self.buttons,
            1,
        )
        column_of(*parts, on=self, margins=(20, 16, 20, 16), spacing=12)

    def _fill(self) -> None:
        self._forget_trial()
        if self._edited is None:
            return
        name, entry = self._edited
        self.form.set_values(
            {
                "name": name,
                "address": address_text(entry),
                "settings": settings_text(entry),
                "folder": text_of(entry.get("cwd")),
                "login": entry.get("auth") in ("browser", "oauth"),
            }
        )
        self.form.widgets["place"].setEnabled(False)

    def _on_written(self, key: str) -> None:
        if key != "place":
            self._forget_trial()

    def _forget_trial(self) -> None:
        """Ask for a trial before what changed is written."""
        self._tried = ()
        self.tools.setVisible(False)
        others = bool(self._ticked(self.others))
        is_pasted = bool(self.form.text("address").strip())
        self.add_button.setText(tr("Try") if is_pasted or not others else tr("Add"))
        self.add_button.setEnabled(True)

    def _go_on(self) -> None:
        """Try what was pasted; write it when it was tried."""
        taken = [
            (self._known[row].name, self._known[row].entry) for row in self._ticked(self.others)
        ]
        if not self._tried and (self.form.text("address").strip() or not taken):
            try:
                self._tried = self._read()
            except ServerFileError as error:
                self._say(str(error))
                return
            self.add_button.setEnabled(False)
            self.add_button.setText(tr("Trying…"))
            self.request_try.emit(self._tried)
            return
        wanted = self._ticked(self.tools)
        are_all = len(wanted) == self.tools.count() or len(self._tried) != 1
        names = () if are_all else tuple(self.tools.item(row).text() for row in wanted)
        servers = [(each.name, each.entry) for each in self._tried]
        self.request_add.emit((*servers, *taken), self.form.text("place"), names)
        self.accept()

    def _read(self) -> tuple[PastedServer, ...]:
        servers = read_pasted(
            self.form.text("address"), self.form.text("settings"), self.form.text("name")
        )
        before = self._edited[1] if self._edited is not None else {}
        kept = {
            key: value
            for key, value in before.items()
            if key not in ("command", "args", "env", "url", "headers", "cwd", "auth")
        }
        if before.get("auth") not in (None, "browser", "oauth"):
            kept["auth"] = before["auth"]
        if self.form.text("folder"):
            kept["cwd"] = self.form.text("folder")
        if self.form.value("login"):
            kept["auth"] = "browser"
        return tuple(
            PastedServer(each.name, {**each.entry, **kept}, each.shown) for each in servers
        )

    def _ticked(self, rows: QListWidget) -> list[int]:
        return [
            row
            for row in range(rows.count())
            if rows.item(row).checkState() == Qt.CheckState.Checked
        ]

    def _remove(self) -> None:
        self.request_remove.emit()
        self.accept()

    def _say(self, text: str) -> None:
        paint_text(self.remark, "error")
        self.remark.setText(text)
