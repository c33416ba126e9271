"""The table of rows and variants: repeats as dots, states by shape and color.

Before the first run a page stands in its place that says what a run would ask.
"""

from __future__ import annotations

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from studio.application.experiments.grid import DotState, GridCell, GridRow
from studio.application.experiments.plan import ExperimentPlan
from studio.application.experiments.planned_variants import PlannedVariant
from studio.application.words import tr
from studio.ui.parts.empty_state import EmptyState
from studio.ui.parts.layouts import column_of
from studio.ui.style.colors import blend, theme_in_use
from studio.ui.style.icons import icon
from studio.ui.style.theme import Theme
from studio.viewmodels.experiments.grid_model import (
    CELL_ROLE,
    FIRST_VARIANT,
    ROW_ROLE,
    ExperimentGridModel,
)

_ROW_HEIGHT = 32
_DOT = 9.0
_GAP = 6.0
_MOST_DOTS = 8
_PAD = 12
_NUMBER_WIDTH = 52
_ROW_WIDTH = 180
"""The least width of what a row is about."""

_MOST_NAMED = 6
"""Variants that are named before the first run."""


class CellDelegate(QStyledItemDelegate):
    """Paints the repeats of a cell as dots, its score, and a triangle where it changed."""

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """Fixed: a row is as high as any other."""
        return QSize(_ROW_WIDTH, _ROW_HEIGHT)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Paint ground, then the row's head or a cell."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = QRect(option.rect)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        theme = theme_in_use()
        painter.fillRect(rect, QColor(theme.selection if selected else theme.surface))
        cell = index.data(CELL_ROLE)
        if isinstance(cell, GridCell):
            self._paint_cell(painter, rect, cell)
        else:
            self._paint_head(painter, rect, index)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(QColor(theme.accent), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)  # of the cell's last sign
            painter.drawRect(QRectF(rect).adjusted(1, 1, -1, -1))
        painter.restore()

    def _paint_head(
        self, painter: QPainter, rect: QRect, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        theme = theme_in_use()
        room = rect.adjusted(_PAD, 0, -_PAD, 0)
        row = index.data(ROW_ROLE)
        if not isinstance(row, GridRow):
            return
        middle = Qt.AlignmentFlag.AlignVCenter
        if not index.column():
            painter.setPen(QColor(theme.muted))
            painter.drawText(room, int(Qt.AlignmentFlag.AlignLeft | middle), str(row.number))
            return
        metrics = painter.fontMetrics()
        if row.tags:
            tag = metrics.elidedText(row.tags[0], Qt.TextElideMode.ElideRight, 90)
            width = metrics.horizontalAdvance(tag) + 14
            box = QRectF(room.right() - width, room.center().y() - 9, width, 19)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.raised))
            painter.drawRoundedRect(box, 5, 5)
            painter.setPen(QColor(theme.muted))
            painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), tag)
            room.setRight(int(box.left()) - 8)
        painter.setPen(QColor(theme.text))
        text = metrics.elidedText(row.title, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, int(Qt.AlignmentFlag.AlignLeft | middle), text)

    def _paint_cell(self, painter: QPainter, rect: QRect, cell: GridCell) -> None:
        theme = theme_in_use()
        at = QPointF(rect.left() + _PAD, rect.center().y() + 0.5 - _DOT / 2)
        for dot in cell.dots[:_MOST_DOTS]:
            paint_dot(painter, at, dot, theme)
            at += QPointF(_DOT + _GAP, 0)
        painter.setPen(QColor(theme.text))
        middle = Qt.AlignmentFlag.AlignVCenter
        right = QRect(rect).adjusted(0, 0, -34, 0)
        align = int(Qt.AlignmentFlag.AlignRight | middle)
        if len(cell.dots) > _MOST_DOTS:
            passed = f"{cell.dots.count(DotState.PASSED)}/{len(cell.dots)}"
            painter.drawText(QRect(right).adjusted(0, 0, -42, 0), align, passed)
        if cell.score is not None:
            painter.drawText(right, align, f"{cell.score:.2f}")
        if cell.change:
            self._paint_change(painter, rect, won=cell.change == "won")

    def _paint_change(self, painter: QPainter, rect: QRect, *, won: bool) -> None:
        theme = theme_in_use()
        x, y = rect.right() - 18.0, rect.center().y() + 0.5
        tip, foot = (y - 5, y + 4) if won else (y + 5, y - 4)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.success if won else theme.error))
        painter.drawPolygon(
            QPolygonF([QPointF(x, tip), QPointF(x - 5.5, foot), QPointF(x + 5.5, foot)])
        )


def paint_dot(painter: QPainter, at: QPointF, dot: DotState, theme: Theme) -> None:
    """A repeat: filled where it passes, a ring where not, a cross without an answer.

    Args:
        painter: with antialiasing.
        at: upper left corner of a square of 9 pixels.
        dot: what is drawn.
        theme: its colors.
    """
    box = QRectF(at.x(), at.y(), _DOT, _DOT)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    match dot:
        case DotState.PASSED:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.success))
            painter.drawEllipse(box)
        case DotState.FAILED:
            painter.setPen(QPen(QColor(theme.error), 1.8))
            painter.drawEllipse(box.adjusted(0.9, 0.9, -0.9, -0.9))
        case DotState.ERROR:
            painter.setPen(QPen(QColor(theme.warning), 2))
            inner = box.adjusted(1.2, 1.2, -1.2, -1.2)
            painter.drawLine(inner.topLeft(), inner.bottomRight())
            painter.drawLine(inner.topRight(), inner.bottomLeft())
        case DotState.UNDECIDED:
            painter.setPen(QPen(QColor(theme.warning), 1.8))
            painter.drawRect(box.adjusted(1.2, 1.2, -1.2, -1.2))
        case DotState.NOT_PLANNED:
            painter.setPen(QPen(QColor(blend(theme.muted, theme.surface, 0.45)), 1.4))
            painter.drawLine(box.center() - QPointF(2.5, 0), box.center() + QPointF(2.5, 0))
        case _:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(blend(theme.muted, theme.surface, 0.45)))
            painter.drawEllipse(box.adjusted(2.8, 2.8, -2.8, -2.8))


class ExperimentTable(QTableView):
    """The grid; the keyboard goes from cell to cell."""

    def __init__(self, model: ExperimentGridModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._delegate = CellDelegate(self)
        self.setModel(model)
        self.setItemDelegate(self._delegate)
        self.setAccessibleName(tr("Rows and variants"))
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)
        self.setShowGrid(True)
        self.setWordWrap(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(_ROW_HEIGHT)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setMinimumSectionSize(_NUMBER_WIDTH)
        model.modelReset.connect(self._fit_columns)

    def _fit_columns(self) -> None:
        head = self.horizontalHeader()
        for section in range(head.count()):
            head.setSectionResizeMode(section, QHeaderView.ResizeMode.Interactive)
            if section >= FIRST_VARIANT:
                self.setColumnWidth(section, self._variant_width(section))
        self.setColumnWidth(0, _NUMBER_WIDTH)
        self._give_rest()

    def _variant_width(self, section: int) -> int:
        """Room for the dots, the score and the triangle, and for the name as far as it goes."""
        model = self.model()
        grid = model.grid if isinstance(model, ExperimentGridModel) else None
        dots = min(grid.repeats, _MOST_DOTS) if grid is not None else 1
        wanted = int(2 * _PAD + dots * (_DOT + _GAP)) + 78
        name = self.horizontalHeader().sectionSizeHint(section)
        return max(wanted, min(name, wanted + 60))

    def _give_rest(self) -> None:
        """Give the first column the width that the variants leave."""
        if self.model().columnCount() < FIRST_VARIANT:
            return
        others = sum(
            self.columnWidth(each) for each in range(self.horizontalHeader().count()) if each != 1
        )
        self.setColumnWidth(1, max(_ROW_WIDTH, self.viewport().width() - others))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the row's head as wide as there is room, and the chosen row in sight."""
        super().resizeEvent(event)
        self._give_rest()
        if self.currentIndex().isValid():
            self.scrollTo(self.currentIndex())


class NotRunPage(QWidget):
    """Says what a run would ask, and offers it; or what to do first."""

    request_run = Signal()
    request_file = Signal()  # open the experiment's text

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.empty = EmptyState("list-ordered", tr("Reading the file …"), "")
        self.run_button = QPushButton()
        self.file_button = QPushButton(tr("Edit file"))
        self.run_button.setProperty("primary", True)
        self.run_button.setIconSize(QSize(14, 14))
        self.run_button.hide()
        self.file_button.hide()
        self.run_button.clicked.connect(self.request_run)
        self.file_button.clicked.connect(self.request_file)
        self.empty.offer(self.run_button, self.file_button)
        column_of(self.empty, on=self, margins=0)

    def show_plan(self, plan: ExperimentPlan | None) -> None:
        """Say what a plan has; None where there is none, and the head says why."""
        self.run_button.setVisible(plan is not None)
        self.file_button.setVisible(plan is None)
        if plan is None:
            self.empty.say(
                tr("This experiment cannot run"),
                tr("The problem is named above. Fix it in the file, and save the file."),
            )
            return
        self.run_button.setIcon(icon("play", "on_accent"))
        rows, variants, repeats = len(plan.rows), len(plan.variants), plan.repeats
        words = tr("Run 1 cell") if plan.cells == 1 else tr("Run {count:,} cells")
        self.run_button.setText(words.format(count=plan.cells))
        factors = [
            (tr("1 row") if rows == 1 else tr("{count:,} rows")).format(count=rows),
            (tr("1 variant") if variants == 1 else tr("{count:,} variants")).format(count=variants),
        ]
        if repeats > 1:
            factors.append(tr("{count:,} repeats").format(count=repeats))
        lines = [_column(each) for each in plan.variants[:_MOST_NAMED]]
        if len(plan.variants) > _MOST_NAMED:
            lines.append("…")
        lines += ["", tr("Answers and marks appear here, a row for each case.")]
        self.empty.say(" × ".join(factors), "\n".join(lines))


def _column(variant: PlannedVariant) -> str:
    """The name of a variant, with the model that answers."""
    if variant.choice is None:
        return variant.name
    model = variant.choice.declaration.id or variant.choice.connection.name
    return variant.name if model in variant.name else f"{variant.name}: {model}"
