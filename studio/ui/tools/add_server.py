"""Dialogs that add tools: an MCP server, or selected operations of an API."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from PySide6 import QtWidgets
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent

from studio.application.tools import pasted_server
from studio.application.words import tr
from studio.core.prompty.document import ToolSpec
from studio.core.text.invisible import plain_tip, reveal
from studio.core.text.values import JsonObject, text_of
from studio.core.tools.openapi.loading import OperationRow
from studio.core.tools.sources.consent import MOST_TOOLS
from studio.ui.parts.fields import FieldForm
from studio.ui.parts.kit import ClosingDialog, column_of, named, row_of, search_line, toned_label
from studio.ui.style.theme import fixed_font, icon, paint_text, theme_in_use
from studio.viewmodels.app.jobs import single_shot

ServerPlace: TypeAlias = Literal["prompt", "folder", "own"]
"""Place of a new server: the folder's `.mcp.json` and the prompt, that file only, or the user's."""

_LINES = 3
_EXAMPLES = {
    "address": "npx -y @modelcontextprotocol/server-everything",
    "settings": "API_KEY=${env:API_KEY}",
}
"""Placeholders of empty lines, which need no translation."""
_SHOWN_ROWS = 6


class AddServerDialog(QtWidgets.QDialog):
    """Dialog for an MCP server; emits requests and starts nothing itself."""

    request_try = Signal(tuple)  # tuple[PastedServer, ...]
    # tuple[tuple[str, JsonObject], ...], ServerPlace, tuple[str, ...] of tools; empty for all
    request_add = Signal(tuple, str, tuple)
    request_remove = Signal()

    def __init__(
        self,
        known: Sequence[pasted_server.PastedServer],
        problems: Sequence[str],
        parent: QtWidgets.QWidget,
        places: Sequence[ServerPlace] = ("own",),
        edited: tuple[str, JsonObject] | None = None,
    ) -> None:
        """Create the dialog.

        Args:
            known: servers of other programs.
            problems: reasons why the servers of some programs cannot be read.
            parent: pane that opens the dialog.
            places: places where the server can be saved, the default first.
            edited: name and settings of the server that is edited; None to add one.
        """
        super().__init__(parent)
        self._known = tuple(known)
        self._edited = edited
        self._tried: tuple[pasted_server.PastedServer, ...] = ()
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
        self.tools = named(QtWidgets.QListWidget(self), tr("Tools of the server"))
        self.others = named(QtWidgets.QListWidget(self), tr("Servers of other programs"))
        for server in self._known:
            line = f"{server.name}   {server.program}   {server.shown}"
            self._add_row(self.others, line, Qt.CheckState.Unchecked)
        rows = min(max(self.others.count(), 2), _SHOWN_ROWS)
        self.others.setFixedHeight(self.others.fontMetrics().lineSpacing() * rows * 3 // 2 + 10)
        self.remark = toned_label(
            "warning", "\n".join(problems), parent=self, wraps=True, is_plain=True
        )
        self.buttons = QtWidgets.QDialogButtonBox(
            QtWidgets.QDialogButtonBox.StandardButton.Cancel, self
        )
        self.add_button = self.buttons.addButton(
            "", QtWidgets.QDialogButtonBox.ButtonRole.AcceptRole
        )
        self.remove_button = self.buttons.addButton(
            tr("Remove"), QtWidgets.QDialogButtonBox.ButtonRole.DestructiveRole
        )
        self._arrange()
        self._fill()
        self.form.changed.connect(self._on_written)
        self.others.itemChanged.connect(self._forget_trial)
        self.buttons.accepted.connect(self._go_on)
        self.buttons.rejected.connect(self.reject)
        self.remove_button.clicked.connect(self._remove)

    def show_tools(self, specs: tuple[ToolSpec, ...], problem: str) -> None:
        """Show the tools of the tested server, all enabled, or why it has none.

        Args:
            specs: the tools of the server.
            problem: reason why it does not work; empty if it does.
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

    def _add_row(
        self, rows: QtWidgets.QListWidget, words: str, state: Qt.CheckState
    ) -> QtWidgets.QListWidgetItem:
        item = QtWidgets.QListWidgetItem(reveal(words, lines=False), rows)
        item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
        item.setCheckState(state)
        return item

    def _arrange(self) -> None:
        title = QtWidgets.QLabel(tr("Or import from other programs:"), self)
        nothing = QtWidgets.QLabel(
            tr(
                "No servers of Claude Desktop, Claude Code, VS Code, Cursor or Windsurf were found."
            ),
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
                "address": pasted_server.address_text(entry),
                "settings": pasted_server.settings_text(entry),
                "folder": text_of(entry.get("cwd")),
                "login": entry.get("auth") in ("browser", "oauth"),
            }
        )
        self.form.widgets["place"].setEnabled(False)

    def _on_written(self, key: str) -> None:
        if key != "place":
            self._forget_trial()

    def _forget_trial(self) -> None:
        """Require a new test before a changed server is saved."""
        self._tried = ()
        self.tools.setVisible(False)
        others = bool(self._ticked(self.others))
        is_pasted = bool(self.form.text("address").strip())
        self.add_button.setText(tr("Try") if is_pasted or not others else tr("Add"))
        self.add_button.setEnabled(True)

    def _go_on(self) -> None:
        """Test the pasted server, or save it if it was tested."""
        taken = [
            (self._known[row].name, self._known[row].entry) for row in self._ticked(self.others)
        ]
        if not self._tried and (self.form.text("address").strip() or not taken):
            try:
                self._tried = self._read()
            except pasted_server.ServerFileError as error:
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

    def _read(self) -> tuple[pasted_server.PastedServer, ...]:
        servers = pasted_server.read_pasted(
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
            pasted_server.PastedServer(each.name, {**each.entry, **kept}, each.shown)
            for each in servers
        )

    def _ticked(self, rows: QtWidgets.QListWidget) -> list[int]:
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


# Selection of the operations of an API: by group, by search, or one by one.

_NAME = int(Qt.ItemDataRole.UserRole)
_NEARLY = 100
"""Number of tools from which limits of providers are mentioned."""

_WIDTH, _HEIGHT = 760, 560
_NAME_WIDTH = 300


class OperationTree(QtWidgets.QTreeWidget):
    """Groups with their operations; Space toggles all selected ones."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Toggle all selected operations to the opposite state of the first."""
        items = [each for each in self.selectedItems() if each.data(0, _NAME) or each.childCount()]
        if event.key() != Qt.Key.Key_Space or len(items) < 2:
            super().keyPressEvent(event)
            return
        is_on = items[0].checkState(0) == Qt.CheckState.Checked
        for item in items:
            item.setCheckState(0, Qt.CheckState.Unchecked if is_on else Qt.CheckState.Checked)


class OperationsDialog(ClosingDialog):
    """Dialog that selects operations; its owner writes the prompt."""

    chosen = Signal(frozenset)  # names of the selected tools

    def __init__(self, label: str, rows: Sequence[OperationRow], parent: QtWidgets.QWidget) -> None:
        super().__init__(parent, tr("Operations of {label}").format(label=label), (_WIDTH, _HEIGHT))
        self._rows = {row.name: row for row in rows}
        self._searched = {row.name: _searched(row) for row in rows}
        self._items: dict[str, QtWidgets.QTreeWidgetItem] = {}
        self.search = search_line(tr("Search operations"), parent=self)
        self.tree = OperationTree(self)
        self.tree.setAccessibleName(tr("Operations by group"))
        self.tree.setHeaderLabels([tr("Operation"), tr("Method"), tr("Path"), tr("Tokens")])
        self.tree.setSelectionMode(QtWidgets.QTreeWidget.SelectionMode.ExtendedSelection)
        self.tree.headerItem().setToolTip(
            3,
            tr("Estimated as a quarter of the characters. The status bar uses the tokenizer."),
        )
        self.tree.setUniformRowHeights(True)
        self.tree.ensurePolished()  # a size hint computed earlier is cached without padding
        self._fill(rows)
        self.meter = QtWidgets.QLabel(self, wordWrap=True)
        self.all_button = QtWidgets.QPushButton(tr("Select all listed"), self, autoDefault=False)
        self.none_button = QtWidgets.QPushButton(tr("Clear all listed"), self, autoDefault=False)
        self.buttons = QtWidgets.QDialogButtonBox(
            QtWidgets.QDialogButtonBox.StandardButton.Cancel, self
        )
        self.write_button = self.buttons.addButton(
            tr("Write into the prompt"), QtWidgets.QDialogButtonBox.ButtonRole.AcceptRole
        )
        self._arrange()
        self.search.textChanged.connect(self._filter)
        # A group toggles each of its operations: measure once.
        self._measuring = single_shot(self, self._measure)
        self.tree.itemChanged.connect(lambda *_: self._measuring.start())
        self.all_button.clicked.connect(lambda: self._tick_listed(Qt.CheckState.Checked))
        self.none_button.clicked.connect(lambda: self._tick_listed(Qt.CheckState.Unchecked))
        self.buttons.accepted.connect(self._write)
        self.buttons.rejected.connect(self.reject)
        self._measure()

    def wanted(self) -> frozenset[str]:
        """Return the names of the enabled operations, whether they are listed or not."""
        return frozenset(
            name
            for name, item in self._items.items()
            if item.checkState(0) == Qt.CheckState.Checked
        )

    def _fill(self, rows: Sequence[OperationRow]) -> None:
        groups: dict[str, list[QtWidgets.QTreeWidgetItem]] = {}
        for row in rows:
            cells = [row.name, row.method, row.path]
            item = _Item([*(reveal(text, lines=False) for text in cells), f"{row.tokens:,}"])
            item.setData(0, _NAME, row.name)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            state = Qt.CheckState.Checked if row.is_chosen else Qt.CheckState.Unchecked
            item.setCheckState(0, state)
            item.setToolTip(0, plain_tip(reveal(row.summary)))
            if row.is_large:
                item.setIcon(3, icon("triangle-alert", "warning"))
                item.setToolTip(3, tr("It adds over 20 KB to each request."))
            self._items[row.name] = item
            groups.setdefault(row.tag, []).append(item)
        for tag, items in groups.items():
            words = reveal(tag, lines=False) if tag else tr("(no tag)")
            group = _Item([f"{words} ({len(items)})"])
            group.setFlags(
                group.flags() | Qt.ItemFlag.ItemIsUserCheckable | Qt.ItemFlag.ItemIsAutoTristate
            )
            group.addChildren(items)
            self.tree.addTopLevelItem(group)
        self.tree.setSortingEnabled(True)
        self.tree.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(2, QtWidgets.QHeaderView.ResizeMode.Stretch)
        self.tree.setColumnWidth(0, _NAME_WIDTH)
        if len(groups) == 1:
            self.tree.expandAll()

    def _arrange(self) -> None:
        ticks = row_of(self.all_button, self.none_button, 1)
        column_of(self.search, (self.tree, 1), ticks, self.meter, self.buttons, on=self, margins=12)

    def _filter(self, text: str) -> None:
        words = text.lower().split()
        for place in range(self.tree.topLevelItemCount()):
            group = self.tree.topLevelItem(place)
            assert group is not None
            shown = 0
            for number in range(group.childCount()):
                item = group.child(number)
                assert item is not None
                whole = self._searched[item.data(0, _NAME)]
                is_found = all(word in whole for word in words)
                if item.isHidden() is is_found:
                    item.setHidden(not is_found)
                shown += is_found
            group.setHidden(not shown)
            group.setExpanded(bool(words) and bool(shown))

    def _tick_listed(self, state: Qt.CheckState) -> None:
        self.tree.blockSignals(True)
        for item in self._items.values():
            if not item.isHidden():
                item.setCheckState(0, state)
        self.tree.blockSignals(False)
        self.tree.viewport().update()
        self._measure()

    def _measure(self) -> None:
        """Show the cost of the selection in each request, and limits of providers."""
        theme = theme_in_use()
        wanted = self.wanted()
        tokens = sum(self._rows[name].tokens for name in wanted)
        words = tr("{count} of {all} selected, about {tokens} tokens in each request.").format(
            count=f"{len(wanted):,}", all=f"{len(self._rows):,}", tokens=f"{tokens:,}"
        )
        color = theme.muted
        if len(wanted) >= _NEARLY:
            color = theme.error if len(wanted) > MOST_TOOLS else theme.warning
            words += " " + tr("Most providers accept {most} tools.").format(most=MOST_TOOLS)
        paint_text(self.meter, color)
        self.meter.setText(words)
        self.write_button.setEnabled(bool(wanted))

    def _write(self) -> None:
        self.chosen.emit(self.wanted())
        self.accept()


def _searched(row: OperationRow) -> str:
    tags = " ".join(row.tags)
    return f"{row.name} {row.identifier} {row.method} {row.path} {tags} {row.summary}".lower()


class _Item(QtWidgets.QTreeWidgetItem):
    """An item that is sorted by number in columns with numbers."""

    def __lt__(self, other: QtWidgets.QTreeWidgetItem) -> bool:
        column = self.treeWidget().sortColumn()
        own, others = self.text(column), other.text(column)
        if column == 3 and own and others:
            return int(own.replace(",", "")) < int(others.replace(",", ""))
        return own.casefold() < others.casefold()
