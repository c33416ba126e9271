"""The inspector: the tabs with details of one step."""

from collections.abc import Sequence

from PySide6 import QtWidgets
from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor, QFont, QKeySequence, QPalette, QResizeEvent, QShortcut

from studio.application.run.cards.timeline import Tab
from studio.application.run.debugging.console import HINT, WatchRow, names_for
from studio.application.run.inspector.tabs import InspectorView, UsageRow, usage_heads
from studio.application.run.text import whole_text
from studio.application.words import marked, tr
from studio.ui.parts.kit import ElidedLabel, OwnKeys, Separator, column_of, row_of, style_table
from studio.ui.parts.yielding_tabs import YieldingTabs
from studio.ui.run.state.variables import ExpressionField
from studio.ui.run.styled_text import StyledText
from studio.ui.style.theme import FollowsTheme, icon, paint_page, paint_text, theme_in_use
from studio.viewmodels.app.jobs import single_shot
from studio.viewmodels.app.row_table import ALIGNMENT, DISPLAY, RowTable


class _UsageModel(RowTable[UsageRow]):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(len(usage_heads()), parent)

    def head(self, column: int, role: int) -> object:
        if role == DISPLAY:
            return usage_heads()[column]
        return self._alignment(column) if role == ALIGNMENT else None

    def step_of(self, row: int) -> int:
        return self._rows[row].step if 0 <= row < len(self._rows) else 0

    def cell(self, row: UsageRow, column: int, role: int) -> object:
        if role == DISPLAY:
            return row.label if column == 0 else row.cells[column - 1]
        if role == ALIGNMENT:
            return self._alignment(column)
        if role == int(Qt.ItemDataRole.FontRole) and row is self._rows[-1]:
            font = QFont()
            font.setWeight(QFont.Weight.DemiBold)
            return font
        return None

    def _alignment(self, column: int) -> int:
        side = Qt.AlignmentFlag.AlignLeft if column == 0 else Qt.AlignmentFlag.AlignRight
        return int(side | Qt.AlignmentFlag.AlignVCenter)


_ALWAYS = frozenset((1, 2))
"""Columns that are always visible: tokens in and out."""


class UsageTable(QtWidgets.QTableView):
    """Table of `UsageRow` values; the row of the shown step is selected."""

    step_chosen = Signal(int)  # number of the step of the selected row

    def __init__(self) -> None:
        super().__init__()
        self._model = _UsageModel(self)
        self.setModel(self._model)
        style_table(self, tr("Usage"), 26)
        self.setSelectionBehavior(QtWidgets.QAbstractItemView.SelectionBehavior.SelectRows)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QtWidgets.QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(0, QtWidgets.QHeaderView.ResizeMode.Fixed)
        self._is_showing = False
        self.selectionModel().currentRowChanged.connect(self._on_row)

    def show_rows(self, rows: tuple[UsageRow, ...], step: int = 0) -> None:
        """Show figures with the total last; the row of `step` is the current one."""
        self._is_showing = True
        self._model.show_rows(rows)
        widest = max((each.label for each in rows), key=len, default="")
        room = self.fontMetrics().horizontalAdvance(f"{widest}MM")
        self.horizontalHeader().resizeSection(0, room)
        for column in range(1, self._model.columnCount()):
            # Columns without values (such as cache or reasoning) are hidden.
            shown = {each.cells[column - 1] for each in rows}
            self.setColumnHidden(column, column not in _ALWAYS and shown <= {"0", "–"})
        row = next((at for at, each in enumerate(rows) if each.step and each.step == step), -1)
        if row >= 0:
            self.setCurrentIndex(self._model.index(row, 0))
        elif rows:
            self.scrollToBottom()
        self._is_showing = False

    def _on_row(self, current: QModelIndex, before: QModelIndex) -> None:
        step = self._model.step_of(current.row())
        if step and not self._is_showing:
            self.step_chosen.emit(step)


_BESIDE_TABS = 72
"""Width of the copy button and margins beside the tabs and the search, in pixels."""

TABS: tuple[tuple[Tab, str], ...] = (
    ("messages", marked("Messages")),
    ("request", marked("Request")),
    ("reply", marked("Reply")),
    ("tool", marked("Tool")),
    ("usage", marked("Usage")),
    ("watch", marked("Watch")),
)
"""The tabs in order, with their names."""

_EMPTY: dict[Tab, str] = {
    "messages": marked("The messages of a step appear here exactly as they are sent."),
    "request": marked("The request body appears here exactly as it is sent."),
    "reply": marked("The model's reply appears here unchanged, colored by how it was parsed."),
    "tool": marked("This step called no tool. Arguments, result and error stream appear here."),
    "usage": "",
    "watch": "",
}


class Inspector(FollowsTheme, QtWidgets.QWidget):
    """Shows an `InspectorView`; requests another one when a tab is selected."""

    tab_chosen = Signal(str)  # Tab

    def __init__(self, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.view = InspectorView()
        """The shown view."""
        self._tabs = YieldingTabs(fits_itself=False)
        self._tabs.setSizePolicy(
            QtWidgets.QSizePolicy.Policy.Maximum, QtWidgets.QSizePolicy.Policy.Fixed
        )
        self._tabs.setAccessibleName(tr("Details of the step"))
        for _, name in TABS:
            self._tabs.addTab(tr(name))
        self._texts: dict[Tab, StyledText] = {
            tab: StyledText(tr(name), tr(_EMPTY[tab])) for tab, name in TABS[:4]
        }
        self.usage = UsageTable()
        self.watch = WatchTable()
        self._summary = ElidedLabel()
        self._legend = QtWidgets.QLabel()
        self.only_changes = QtWidgets.QToolButton()
        self.search = QtWidgets.QLineEdit()
        self._copy = QtWidgets.QToolButton()
        self._stack = QtWidgets.QStackedWidget()
        self._lay_out()
        self._connect()
        self._show_tab("messages")
        paint_text(self._summary, "muted")
        self.follow_theme()

    @property
    def tab(self) -> Tab:
        """The active tab."""
        return TABS[self._tabs.currentIndex()][0]

    def text_of(self, tab: Tab) -> str:
        """Return the text of a tab."""
        return self._texts[tab].toPlainText()

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        for text in self._texts.values():
            paint_page(text)
        self._show_legend()

    def show_inspector(self, view: InspectorView) -> None:
        """Show a tab of a step."""
        before, self.view = self.view, view
        tab = view.inspection.tab
        self._show_tab(tab)
        if tab in self._texts:
            text = self._texts[tab]
            text.show_blocks(view.blocks, follow=view.is_streaming)
            if view.inspection != before.inspection or view.first_change != before.first_change:
                text.show_block(view.first_change)
                if self.search.text():
                    self._on_find()  # search the new text for the same words
        elif tab == "watch":
            self.watch.show_rows(view.watches)
        else:
            self.usage.show_rows(view.usage, view.inspection.step)
        self._summary.show_text(view.summary)
        self._show_legend()

    def focus_search(self) -> None:
        """Focus the search field."""
        self.search.setVisible(self.tab in self._texts)
        self.search.setFocus()
        self.search.selectAll()

    def _show_tab(self, tab: Tab) -> None:
        self._tabs.blockSignals(True)  # a programmatic change is not a choice of the user
        self._tabs.setCurrentIndex(_index(tab))
        self._tabs.blockSignals(False)
        self._stack.setCurrentIndex(_index(tab))
        self.only_changes.setVisible(tab == "messages")
        self._copy.setVisible(tab in self._texts)
        self._fit_tabs()
        self._fit_search()

    def _show_legend(self) -> None:
        view, theme = self.view, theme_in_use()
        colors = {
            "thought": theme.roles["system"],
            "tool": theme.accent,
            "args": theme.warning,
            "answer": theme.success,
        }
        names = [
            f'<span style="color:{colors.get(style, theme.muted)}">'
            f"{'<s>' + name + '</s>' if style == 'ignored' else name}</span>"
            for name, style in view.legend
        ]
        self._legend.setText("&nbsp;&nbsp;".join(names))
        self._fit_legend()

    def _fit_legend(self) -> None:
        """Hide the legend if the tabs and the search need the room."""
        parts = (self._tabs, self.search, self._copy, self._legend)
        needed = sum(part.sizeHint().width() for part in parts) + 8 * len(parts)
        self._legend.setVisible(bool(self.view.legend) and self.width() >= needed)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show the legend if there is room."""
        super().resizeEvent(event)
        self._fit_tabs()
        self._fit_search()
        self._fit_legend()

    def _fit_tabs(self) -> None:
        """Give the tabs the room beside the buttons."""
        beside = (self._copy, self.only_changes)
        taken = sum(each.sizeHint().width() + 8 for each in beside if not each.isHidden())
        self._tabs.fit(self.width() - taken - 16)

    def _fit_search(self) -> None:
        """Hide the search field if it does not fit beside the tabs, until Ctrl+F."""
        needed = self._tabs.sizeHint().width() + self.search.width() + _BESIDE_TABS
        if not self.only_changes.isHidden():
            needed += self.only_changes.sizeHint().width() + 8
        wanted = bool(self.search.text()) or self.search.hasFocus()
        self.search.setVisible(self.tab in self._texts and (wanted or self.width() >= needed))

    def _on_tab(self, index: int) -> None:
        self._stack.setCurrentIndex(index)
        self.tab_chosen.emit(TABS[index][0])

    def _on_find(self) -> None:
        theme = theme_in_use()
        text = self._texts.get(self.tab)
        found = text is not None and text.find_next(self.search.text())
        wanted = bool(self.search.text())
        palette = self.search.palette()
        ink = theme.error if wanted and not found else theme.text
        palette.setColor(QPalette.ColorRole.Text, QColor(ink))
        self.search.setPalette(palette)

    def _on_copy(self) -> None:
        QtWidgets.QApplication.clipboard().setText(whole_text(self.view.blocks))

    def _connect(self) -> None:
        self._tabs.currentChanged.connect(self._on_tab)
        self._texts["messages"].fold_clicked.connect(lambda: self.only_changes.setChecked(False))
        self.search.returnPressed.connect(self._on_find)
        self.search.textChanged.connect(self._on_find)
        self._copy.clicked.connect(self._on_copy)
        OwnKeys(self, {"Ctrl+F": self.focus_search})

    def _lay_out(self) -> None:
        self._legend.setMinimumWidth(1)  # otherwise no part of the window could be narrower
        self._summary.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.only_changes.setText(tr("Changes only"))
        self.only_changes.setCheckable(True)
        self.only_changes.setToolTip(tr("Hide what has not changed since the previous step"))
        self.search.setPlaceholderText(tr("Find"))
        self.search.setAccessibleName(tr("Find in this tab"))
        self.search.setFixedWidth(112)
        self.search.setClearButtonEnabled(True)
        self._copy.setIcon(icon("copy"))
        self._copy.setToolTip(tr("Copy this tab"))
        self._copy.setAccessibleName(tr("Copy this tab"))
        for page in (*self._texts.values(), self.usage, self.watch):
            self._stack.addWidget(page)
        head = row_of(
            self._tabs,
            (self._summary, 1),
            self._legend,
            self.only_changes,
            self.search,
            self._copy,
            margins=(4, 0, 8, 0),
            spacing=8,
        )
        column_of(head, Separator(), (self._stack, 1), on=self, margins=0, spacing=0)


def _index(tab: Tab) -> int:
    return next(index for index, (name, _) in enumerate(TABS) if name == tab)


# The Watch tab: expressions of the user, with their values at the current place.


_NEW = marked("Add an expression: args.city, tokens.total > 1000 …")


class _ExpressionDelegate(QtWidgets.QStyledItemDelegate):
    """Completes names while an expression is edited."""

    names: tuple[str, ...] = ()

    def createEditor(
        self,
        parent: QtWidgets.QWidget,
        option: QtWidgets.QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> QtWidgets.QWidget:
        """Return a field for the first column; the second one is read-only."""
        field = ExpressionField(parent)
        field.setFrame(False)
        field.set_names(self.names)
        return field

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the field handle keys first: a table uses Tab for the next cell."""
        if isinstance(watched, ExpressionField) and watched.eventFilter(watched, event):
            return True
        return super().eventFilter(watched, event)


class WatchTable(FollowsTheme, QtWidgets.QTableWidget):
    """Editable list of expressions: the last row adds one, an emptied one is removed."""

    expressions_changed = Signal(tuple)  # expressions, in order

    def __init__(self) -> None:
        super().__init__(0, 2)
        self._rows: tuple[WatchRow, ...] = ()
        self._filling = False
        self._is_stale = False
        self._refill = single_shot(self, self._on_refill)
        self._delegate = _ExpressionDelegate(self)
        self.setItemDelegate(self._delegate)
        self.set_names(names_for(None))
        self.setHorizontalHeaderLabels([tr("Expression"), tr("Value")])
        style_table(self, tr("Watch"), 28)
        self.setToolTip(HINT)
        self.setTabKeyNavigation(False)
        self.setSelectionMode(QtWidgets.QAbstractItemView.SelectionMode.SingleSelection)
        header = self.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(QtWidgets.QHeaderView.ResizeMode.Stretch)
        remove = QShortcut(QKeySequence("Del"), self)
        remove.setContext(Qt.ShortcutContext.WidgetShortcut)
        remove.activated.connect(self._remove)
        self.itemChanged.connect(self._on_changed)
        self._fill()
        self.follow_theme()

    @property
    def expressions(self) -> tuple[str, ...]:
        """The expressions, in order."""
        return tuple(row.expression for row in self._rows)

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        self._fill()

    def set_names(self, names: tuple[str, ...]) -> None:
        """Set the names for completion."""
        self._delegate.names = names

    def show_rows(self, rows: Sequence[WatchRow]) -> None:
        """Show values without disturbing an edited row."""
        if tuple(rows) == self._rows and self.rowCount():
            return
        self._rows = tuple(rows)
        if self.state() == QtWidgets.QAbstractItemView.State.EditingState:
            self._is_stale = True  # updated when the editor is closed
        else:
            self._fill()

    def closeEditor(
        self, editor: QtWidgets.QWidget, hint: QtWidgets.QAbstractItemDelegate.EndEditHint
    ) -> None:
        """Show the values that arrived while an expression was edited."""
        super().closeEditor(editor, hint)
        if self._is_stale:
            self._refill.start()  # later: Qt still uses the editor and its item

    def _on_refill(self) -> None:
        if self._is_stale and self.state() != QtWidgets.QAbstractItemView.State.EditingState:
            self._fill()

    def _fill(self) -> None:
        theme = theme_in_use()
        self._filling, self._is_stale = True, False
        row = self.currentRow()
        self.setRowCount(len(self._rows) + 1)
        for index, one in enumerate(self._rows):
            value = QtWidgets.QTableWidgetItem(one.value)
            value.setFlags(value.flags() & ~Qt.ItemFlag.ItemIsEditable)
            value.setToolTip(one.value)
            ink = theme.error if one.is_wrong else theme.text
            value.setForeground(QColor(ink))
            self.setItem(index, 0, QtWidgets.QTableWidgetItem(one.expression))
            self.setItem(index, 1, value)
        new, rest = (QtWidgets.QTableWidgetItem(""), QtWidgets.QTableWidgetItem(tr(_NEW)))
        rest.setFlags(Qt.ItemFlag.ItemIsEnabled)
        rest.setForeground(QColor(theme.muted))
        self.setItem(len(self._rows), 0, new)
        self.setItem(len(self._rows), 1, rest)
        if row >= 0:
            self.setCurrentCell(min(row, len(self._rows)), 0)
        self._filling = False

    def _on_changed(self, item: QtWidgets.QTableWidgetItem) -> None:
        if self._filling or item.column() != 0:
            return
        items = [self.item(row, 0) for row in range(self.rowCount())]
        texts = [item.text().strip() for item in items if item is not None]
        self.expressions_changed.emit(tuple(dict.fromkeys(text for text in texts if text)))

    def _remove(self) -> None:
        row = self.currentRow()
        if 0 <= row < len(self._rows):
            left = self.expressions[:row] + self.expressions[row + 1 :]
            self.expressions_changed.emit(left)
