"""Comparison of runs or branches: two side by side, or several in a table."""

from PySide6 import QtWidgets
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QKeyEvent

from studio.application.run.cards.card import StepCard, badge_word
from studio.application.run.past import compare
from studio.application.words import marked, tr
from studio.ui.parts import kit
from studio.ui.run.styled_text import StyledText
from studio.ui.style.theme import FollowsTheme, blend, paint_page, paint_text, theme_in_use
from studio.viewmodels.app.row_table import ALIGNMENT, DISPLAY, TIP, RowTable

_MARKS = {"same": "=", "differs": "≠", "left": "←", "right": "→"}
_MATCH_NAMES = {
    "same": marked("the same"),
    "differs": marked("different"),
    "left": marked("left only"),
    "right": marked("right only"),
}


class CompareModel(RowTable[int]):
    """Table model with left card, mark and right card of each listed row.

    Only visible rows are queried, even for long runs.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(3, parent)
        self._comparison: compare.RunComparison | None = None

    def show_comparison(self, comparison: compare.RunComparison, *, only_differences: bool) -> None:
        """List the rows of a comparison."""
        self.beginResetModel()
        self._comparison = comparison
        everything = tuple(range(len(comparison.rows)))
        self._rows = comparison.differences if only_differences else everything
        self.endResetModel()

    def head(self, column: int, role: int) -> object:
        """Return the names of the two branches."""
        held = self._comparison
        if role == DISPLAY and held is not None:
            return (held.left.title, "", held.right.title)[column]
        side = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return int(side) if role == ALIGNMENT else None

    def cell(self, row: int, column: int, role: int) -> object:
        """Return a card's text, its color, or a description of the mark for screen readers."""
        if self._comparison is None:
            return None
        held = self._comparison.rows[row]
        if role in (DISPLAY, TIP):
            return (_words(held.left), _MARKS[held.match], _words(held.right))[column]
        if role == int(Qt.ItemDataRole.AccessibleTextRole) and column == 1:
            return tr(_MATCH_NAMES[held.match])
        if role == ALIGNMENT and column == 1:
            return int(Qt.AlignmentFlag.AlignCenter)
        return self._brush(held, role)

    def _brush(self, row: compare.CompareRow, role: int) -> QBrush | None:
        theme = theme_in_use()
        if role == int(Qt.ItemDataRole.ForegroundRole) and row.match == "same":
            return QBrush(QColor(theme.muted))
        if role == int(Qt.ItemDataRole.BackgroundRole) and row.match != "same":
            return QBrush(QColor(blend(theme.warning, theme.surface, 0.12)))
        return None


def _words(card: StepCard | None) -> str:
    """Return a card in one line, with the user's edits."""
    if card is None:
        return ""
    return "  ·  ".join((f"{card.title}: {card.summary}", *map(badge_word, card.badges)))


_TITLE, _ENDING = 220, 200


class FiguresTable(FollowsTheme, QtWidgets.QWidget):
    """The figures of both branches, one per row: first, second, difference."""

    def __init__(self) -> None:
        super().__init__()
        self._comparison: compare.RunComparison | None = None
        self._grid = QtWidgets.QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(24)
        self._grid.setVerticalSpacing(2)
        self.setAccessibleName(tr("Figures of both"))
        self.follow_theme()

    @property
    def words(self) -> list[list[str]]:
        """Return the shown texts, one list for each figure."""
        if self._comparison is None:
            return []
        return [
            [each.name, each.left, each.right, each.difference]
            for each in compare.figures_of(self._comparison)
        ]

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        self._fill()

    def show_comparison(self, comparison: compare.RunComparison) -> None:
        """Show the figures of a comparison."""
        self._comparison = comparison
        self._fill()

    def _fill(self) -> None:
        kit.empty_layout(self._grid)
        if self._comparison is None:
            return
        theme, held = theme_in_use(), self._comparison
        for row, title in enumerate((held.left.title, held.right.title, tr("Difference")), 1):
            self._put(row, 0, title, theme.muted)
        for column, each in enumerate(compare.figures_of(held), 1):
            self._put(0, column, each.name, theme.muted)
            self._put(1, column, each.left, theme.text)
            self._put(2, column, each.right, theme.text)
            tone = theme.success if each.is_less else theme.warning
            self._put(3, column, each.difference or "–", tone if each.difference else theme.muted)
        self._grid.setColumnMinimumWidth(0, _TITLE)
        self._grid.setColumnMinimumWidth(1, _ENDING)
        self._grid.setColumnStretch(7, 1)

    def _put(self, row: int, column: int, text: str, color: str) -> None:
        label = kit.ElidedLabel() if column <= 1 and row in (1, 2) else QtWidgets.QLabel(text)
        if isinstance(label, kit.ElidedLabel):
            label.show_text(text)
        paint_text(label, color)
        self._grid.addWidget(label, row, column)


_LINES_OPEN = 6
"""Number of rows of the list that are visible above the texts."""


class RunComparisonDialog(FollowsTheme, QtWidgets.QDialog):
    """Shows a `RunComparison`: the steps, and the texts of the selected one. Not modal."""

    def __init__(self, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self._comparison: compare.RunComparison | None = None
        self.summary = QtWidgets.QLabel()
        self.model = CompareModel(self)
        self.table = QtWidgets.QTableView()
        self.only_differences = QtWidgets.QCheckBox(tr("Only differences"))
        self.before = kit.push_button(tr("Previous difference"), self.go_before)
        self.next = kit.push_button(tr("Next difference"), self.go_next)
        self.sides = QtWidgets.QTabBar()
        self.figures = FiguresTable()
        self.left = StyledText(tr("The whole text, left"), tr("Nothing on this side."))
        self.right = StyledText(tr("The whole text, right"), tr("Nothing on this side."))
        self.setWindowTitle(tr("Compare"))
        self._lay_out()
        self.table.selectionModel().currentRowChanged.connect(self._on_row)
        self.only_differences.toggled.connect(self._list)
        self.sides.currentChanged.connect(self._on_row)
        self.follow_theme()

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        for text in (self.left, self.right):
            paint_page(text)

    def show_comparison(self, comparison: compare.RunComparison) -> None:
        """Show two branches from the point where they diverge."""
        self._comparison = comparison
        self.summary.setText(comparison.summary)
        self.figures.show_comparison(comparison)
        differs = comparison.first_difference is not None
        self.only_differences.setChecked(False)
        for part in (self.only_differences, self.before, self.next):
            part.setEnabled(differs)
        self._list()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to the next or previous difference on F8 and Shift+F8, as for problems."""
        if event.key() != Qt.Key.Key_F8:
            super().keyPressEvent(event)
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.go_before()
        else:
            self.go_next()

    def go_next(self) -> None:
        """Select the next row that differs; wrap around at the end."""
        self._go(1)

    def go_before(self) -> None:
        """Select the previous row that differs; wrap around at the start."""
        self._go(-1)

    def _list(self) -> None:
        comparison = self._comparison
        if comparison is None:
            return
        self.model.show_comparison(comparison, only_differences=self.only_differences.isChecked())
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QtWidgets.QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QtWidgets.QHeaderView.ResizeMode.Fixed)
        header.resizeSection(1, 36)
        self._choose(comparison.first_difference or 0)

    def _choose(self, row: int) -> None:
        rows = self.model.rows
        if row not in rows:
            return
        index = self.model.index(rows.index(row), 0)
        self.table.setCurrentIndex(index)
        self.table.scrollTo(index, QtWidgets.QAbstractItemView.ScrollHint.PositionAtCenter)

    def _go(self, by: int) -> None:
        comparison, rows = self._comparison, self.model.rows
        if comparison is None or not rows:
            return
        at = self.table.currentIndex().row()
        now = rows[at] if 0 <= at < len(rows) else -1
        found = comparison.differences
        if not found:
            return
        if by > 0:
            self._choose(next((row for row in found if row > now), found[0]))
        else:
            self._choose(next((row for row in reversed(found) if row < now), found[-1]))

    def _on_row(self) -> None:
        comparison, at = self._comparison, self.table.currentIndex().row()
        if comparison is None or not 0 <= at < len(self.model.rows):
            self._show_texts(compare.Sides())
            return
        row = self.model.rows[at]
        is_body = self.sides.currentIndex() == 1
        self._show_texts(comparison.bodies(row) if is_body else comparison.texts(row))

    def _show_texts(self, sides: compare.Sides) -> None:
        for text, blocks in ((self.left, sides.left), (self.right, sides.right)):
            text.show_blocks(blocks)
            marked = next((i for i, each in enumerate(blocks) if each.kind != "body"), 0)
            text.show_block(marked)

    def _lay_out(self) -> None:
        table = self.table
        table.setModel(self.model)
        kit.style_table(table, tr("Comparison"), 28)
        table.setWordWrap(False)
        table.setTabKeyNavigation(False)
        table.setSelectionBehavior(QtWidgets.QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QtWidgets.QAbstractItemView.SelectionMode.SingleSelection)
        table.setMinimumHeight(_LINES_OPEN * 28)
        self.summary.setProperty("title", "true")
        self.summary.setWordWrap(True)
        self.before.setToolTip("Shift+F8")
        self.next.setToolTip("F8")
        for button in (self.before, self.next):
            button.setAutoDefault(False)
        head = kit.row_of(
            (self.summary, 1), self.only_differences, self.before, self.next, spacing=8
        )
        below = self._lay_out_texts(kit.split_of(self.left, self.right))
        whole = kit.split_of(table, below, stretch=(2, 3), is_column=True)
        self.setSizeGripEnabled(True)
        kit.column_of(head, self.figures, (whole, 1), on=self, margins=16, spacing=8)
        self.resize(1080, 680)

    def _lay_out_texts(self, texts: QtWidgets.QWidget) -> QtWidgets.QWidget:
        """Lay out both texts, with tabs for the compared parts of a step above."""
        for words in (tr("Text"), tr("Request body")):
            self.sides.addTab(words)
        self.sides.setDrawBase(False)
        self.sides.setExpanding(False)
        self.sides.setAccessibleName(tr("Compared part of a step"))
        below = QtWidgets.QWidget()
        kit.column_of(self.sides, (texts, 1), on=below, margins=0, spacing=0)
        return below


class _OverviewModel(RowTable[compare.OverviewRow]):
    def __init__(self, shown: compare.RunOverview, parent: QObject) -> None:
        super().__init__(1 + len(shown.sides), parent)
        self._shown = shown
        self.show_rows(shown.rows)

    def head(self, column: int, role: int) -> object:
        if role not in (DISPLAY, TIP) or not column:
            return None
        return self._shown.sides[column - 1].title

    def cell(self, row: compare.OverviewRow, column: int, role: int) -> object:
        theme = theme_in_use()
        if role in (DISPLAY, TIP):
            return row.cells[column - 1] if column else row.name
        if role == int(Qt.ItemDataRole.ForegroundRole):
            if not column:
                return QColor(theme.muted)
            return QColor(theme.accent) if row.differs[column - 1] else None
        return None


class RunOverviewDialog(QtWidgets.QDialog):
    """A column for each side; two selected columns can be compared step by step."""

    request_compare = Signal(int, int)  # indices of two sides, from 0

    def __init__(self, shown: compare.RunOverview, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Compare {count} runs").format(count=len(shown.sides)))
        self.table = kit.named(QtWidgets.QTableView(wordWrap=True), tr("Figures of the runs"))
        self.table.setModel(_OverviewModel(shown, self))
        self.table.setSelectionBehavior(QtWidgets.QAbstractItemView.SelectionBehavior.SelectColumns)
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setSectionResizeMode(
            QtWidgets.QHeaderView.ResizeMode.ResizeToContents
        )
        self.table.setColumnWidth(0, 130)
        for column in range(1, len(shown.sides) + 1):
            self.table.setColumnWidth(column, 220)
        hint = QtWidgets.QLabel(tr("Choose two columns (Ctrl+click) to see them step by step."))
        hint.setWordWrap(True)
        self.compare_button = kit.push_button(tr("Compare these two"), self._on_compare)
        self.compare_button.setEnabled(False)
        below = kit.row_of((hint, 1), self.compare_button)
        kit.column_of((self.table, 1), below, on=self)
        self.resize(min(1200, 180 + 220 * len(shown.sides)), 420)
        self.table.selectionModel().selectionChanged.connect(self._on_chosen)

    def chosen(self) -> tuple[int, ...]:
        """Return the indices of the selected columns' sides."""
        columns = {index.column() for index in self.table.selectionModel().selectedIndexes()}
        return tuple(sorted(column - 1 for column in columns if column))

    def _on_chosen(self) -> None:
        self.compare_button.setEnabled(len(self.chosen()) == 2)

    def _on_compare(self) -> None:
        chosen = self.chosen()
        if len(chosen) == 2:
            self.request_compare.emit(*chosen)
