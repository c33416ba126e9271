"""Every variable of the prompt: value, where that comes from, where it is used."""

from __future__ import annotations

import json

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QAbstractItemView,
    QStackedWidget,
    QTreeWidgetItem,
    QWidget,
)

from studio.application.inputs.fields import given_words
from studio.application.preview.value import Preview
from studio.application.preview.variables import VariableRow
from studio.application.words import marked, tr
from studio.core.text.amounts import shortened
from studio.core.text.invisible import plain_tip
from studio.core.text.source import SourceText, Span
from studio.ui.parts.empty_state import EmptyState
from studio.ui.parts.kit import column_of, row_list
from studio.ui.style.theme import FollowsTheme, dot, input_color, theme_in_use

_ORIGINS = {
    "given": marked("given"),
    "default": marked("default"),
    "sample": marked("sample"),
    "reserved": marked("supplied by the run"),
    "missing": marked("missing"),
}
_ROW = Qt.ItemDataRole.UserRole
_SHORT = 120


class VariablesTab(FollowsTheme, QWidget):
    """A table; a double click or Enter leads to the declaration, or to the use that is chosen."""

    place_chosen = Signal(Span)
    input_chosen = Signal(str)  # name of a declared input

    def __init__(self) -> None:
        super().__init__()
        self._rows: tuple[VariableRow, ...] = ()
        self._source = SourceText("")
        heads = (tr("Variable"), tr("Value"), tr("From"), tr("Uses"), tr("Tokens"))
        self.tree = row_list(tr("Variables"), heads, 1, fitted=(0, 2, 3, 4), has_children=True)
        self.tree.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.tree.setIconSize(QSize(10, 10))
        self.tree.setExpandsOnDoubleClick(False)
        self.tree.header().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft)
        self.tree.itemActivated.connect(self._activate)
        self._empty = EmptyState(
            "variable",
            tr("No variables"),
            tr("Write {{ name }} in the prompt, or declare inputs in its front matter."),
        )
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self.tree)
        column_of(self._stack, on=self, margins=0)
        self.follow_theme()

    def show_rows(self, preview: Preview | None, rows: tuple[VariableRow, ...] = ()) -> None:
        """Show the variables of a preview."""
        source = preview.shown.source if preview is not None else SourceText("")
        if rows == self._rows and source.text == self._source.text:
            return
        self._rows, self._source = rows, source
        self._draw()

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        self._draw()

    def _draw(self) -> None:
        current = self.tree.currentItem()
        chosen = current.text(0) if current is not None else ""
        open_names = {
            item.text(0)
            for index in range(self.tree.topLevelItemCount())
            if (item := self.tree.topLevelItem(index)) is not None and item.isExpanded()
        }
        self.tree.clear()
        for number, row in enumerate(self._rows):
            item = self._item(number, row)
            self.tree.addTopLevelItem(item)
            item.setExpanded(row.name in open_names)
            if row.name == chosen:
                self.tree.setCurrentItem(item)
        self._stack.setCurrentWidget(self.tree if self._rows else self._empty)

    def _item(self, number: int, row: VariableRow) -> QTreeWidgetItem:
        theme = theme_in_use()
        origin = tr(_ORIGINS[row.origin]) if row.declared else _undeclared(row)
        origin = (given_words(row.given) if row.given is not None else "") or origin
        uses = f"{len(row.uses)}" if row.uses else tr("unused")
        tokens = f"{row.tokens:,}" if row.tokens else ""
        item = QTreeWidgetItem([row.name, value_text(row), origin, uses, tokens])
        item.setIcon(0, dot(input_color(theme, number)))
        item.setData(0, _ROW, row.place)
        item.setToolTip(1, plain_tip(value_text(row, 1_000)))
        warn = row.origin == "missing" or (not row.declared and row.origin != "reserved")
        muted = QColor(theme.muted)
        item.setForeground(2, QColor(theme.warning) if warn else muted)
        item.setForeground(3, muted)
        item.setForeground(4, muted)
        for span in row.uses:
            place = self._source.position(span.start)
            use = QTreeWidgetItem(
                [tr("line {line}, column {column}").format(line=place.line, column=place.column)]
            )
            use.setForeground(0, muted)
            use.setData(0, _ROW, span)
            item.addChild(use)
        return item

    def _activate(self, item: QTreeWidgetItem, column: int) -> None:
        span = item.data(0, _ROW)
        if column == 1 and item.parent() is None:
            self.input_chosen.emit(item.text(0))
        elif span is not None:
            self.place_chosen.emit(span)


def value_text(row: VariableRow, limit: int = _SHORT) -> str:
    """Return a variable's value on one line."""
    if row.origin == "missing":
        return "—"
    value = row.value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = " ".join(text.split()) if limit <= _SHORT else text
    if text == "":
        return tr("(empty)")
    return shortened(text, limit)


def _undeclared(row: VariableRow) -> str:
    if row.origin == "reserved":
        return tr(_ORIGINS["reserved"])
    if row.origin == "missing":
        return tr("undeclared")
    return tr("{origin}, undeclared").format(origin=tr(_ORIGINS[row.origin]))
