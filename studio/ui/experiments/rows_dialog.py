"""Rows that a model invents: asked for by a click, looked at, and added by another."""

from __future__ import annotations

import json

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QDialogButtonBox,
    QHeaderView,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from studio.application.experiments.generate import ROW_KINDS, GeneratedRow, GeneratedRows
from studio.application.words import marked, tr
from studio.core.text.amounts import money, shortened
from studio.ui.parts.fields import ComboBox, FieldForm
from studio.ui.parts.labels import StatusLabel
from studio.ui.parts.layouts import ClosingDialog, FlowLayout, column_of
from studio.viewmodels.experiments.dialog_tasks import InventedRowsController

_MOST_SENTENCES = 4


class InventedRowsDialog(ClosingDialog):
    """Nothing is sent before *Ask*, and nothing is written before *Add*."""

    def __init__(self, controller: InventedRowsController, parent: QWidget | None = None) -> None:
        """Make it; the controller becomes its own."""
        super().__init__(parent, tr("Generate rows"), (820, 640))
        self.controller = controller
        controller.setParent(self)
        self._rows: tuple[GeneratedRow, ...] = ()
        self.model = ComboBox()
        self.kinds = {name: QCheckBox(_kind_name(name)) for name in ROW_KINDS}
        self.form = FieldForm("rows", own={"model": self.model, "kinds": QWidget()})
        self.form.set_values({"about": controller.about})
        self.status_label = StatusLabel("muted")
        self.table = QTableWidget(0, 2)
        self.ask_button = QPushButton(tr("Ask"))
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.add_button = self.buttons.addButton(tr("Add"), QDialogButtonBox.ButtonRole.ActionRole)
        self._lay_out()
        self._connect()
        self._show_count()

    @property
    def chosen_kinds(self) -> list[str]:
        """The kinds that are asked for."""
        found = [name for name, box in self.kinds.items() if box.isChecked()]
        own = self.form.text("own_kind")
        return [*found, own] if own else found

    @property
    def chosen_rows(self) -> list[GeneratedRow]:
        """The rows that will be added."""
        return [
            row
            for at, row in enumerate(self._rows)
            if (item := self.table.item(at, 0)) is not None
            and item.checkState() == Qt.CheckState.Checked
        ]

    def _lay_out(self) -> None:
        self.model.setEditable(True)
        self.model.addItem(tr("The prompt's own"), "")
        for name in self.controller.connections:
            self.model.addItem(name, name)
        kinds = FlowLayout(self.form.placed["kinds"], spacing=12)
        for box in self.kinds.values():
            box.setChecked(True)
            kinds.addWidget(box)
        self.table.setAccessibleName(tr("Rows"))
        form = self.form.laid_out()
        form.addRow("", self.ask_button)
        table = self.table
        table.setHorizontalHeaderLabels([tr("Kind"), tr("Values")])
        table.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        table.verticalHeader().hide()
        table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setWordWrap(True)
        self.ask_button.setProperty("primary", True)
        column_of(form, (table, 1), self.status_label, self.buttons, on=self, spacing=12)

    def _connect(self) -> None:
        self.ask_button.clicked.connect(self._ask)
        self.add_button.clicked.connect(lambda: self.controller.add(self.chosen_rows))
        self.buttons.rejected.connect(self.reject)
        self.finished.connect(lambda _code: self.controller.close())
        for box in self.kinds.values():
            box.toggled.connect(lambda _on: self._show_count())
        self.form.changed.connect(lambda _key: self._show_count())
        self.table.itemChanged.connect(lambda _item: self._show_count())
        self.controller.generated.connect(self._show_rows)
        self.controller.failed.connect(self.status_label.complain)
        self.controller.running_changed.connect(self._show_running)
        self.controller.written.connect(lambda _change: self.accept())

    def _ask(self) -> None:
        provider = self.model.currentText().strip()
        if provider == self.model.itemText(0):
            provider = ""
        self.status_label.setText("")
        count = int(self.form.number("count"))
        self.controller.ask(provider, self.chosen_kinds, count, self.form.text("about"))

    def _show_running(self, running: bool) -> None:
        self.ask_button.setEnabled(not running and bool(self.chosen_kinds))
        if running:
            self.status_label.say(tr("Asking for one kind after the other…"))

    def _show_rows(self, found: GeneratedRows) -> None:
        self._rows = (*self._rows, *found.rows)
        self.table.setRowCount(len(self._rows))
        for at, row in enumerate(self._rows):
            kind = QTableWidgetItem(_kind_name(row.kind))
            kind.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsUserCheckable)
            kind.setCheckState(Qt.CheckState.Checked)
            values = json.dumps(dict(row.values), ensure_ascii=False)
            shown = QTableWidgetItem(shortened(values, 600))
            self.table.setItem(at, 0, kind)
            self.table.setItem(at, 1, shown)
        self.table.resizeRowsToContents()
        count = len(found.rows)
        words = [tr("1 row.") if count == 1 else tr("{count} rows.").format(count=count)]
        if found.cost:
            words.append(f"{money(found.cost)}.")
        left_out = list(found.left_out[:_MOST_SENTENCES])
        if len(found.left_out) > _MOST_SENTENCES:
            rest = len(found.left_out) - _MOST_SENTENCES
            left_out.append(tr("… and {count} more are left out").format(count=rest))
        self.status_label.say("\n".join([" ".join(words), *left_out]))
        self.status_label.setToolTip("\n".join(found.left_out))
        self._show_count()

    def _show_count(self) -> None:
        count = len(self.chosen_rows)
        add = tr("Add 1 row to {name}") if count == 1 else tr("Add {count} rows to {name}")
        self.add_button.setText(add.format(count=count, name=self.controller.target))
        self.add_button.setEnabled(count > 0)
        kinds = len(self.chosen_kinds)
        ask = tr("Ask (1 request)") if kinds == 1 else tr("Ask ({count} requests)")
        self.ask_button.setText(ask.format(count=kinds))
        self.ask_button.setEnabled(kinds > 0)


_KIND_NAMES = {
    "typical": marked("Typical"),
    "empty": marked("Empty"),
    "long": marked("Long"),
    "language": marked("Other languages"),
    "injection": marked("Injection"),
    "ambiguous": marked("Ambiguous"),
}


def _kind_name(kind: str) -> str:
    """A kind for people; words of the user's own as they are."""
    known = _KIND_NAMES.get(kind)
    return tr(known) if known else kind
