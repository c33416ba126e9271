"""The table of rows and variants: editable values, answers as text, states as shapes."""

from collections.abc import Sequence

from PySide6 import QtCore, QtGui, QtWidgets

from studio.application.experiments.grid import DotState, GridCell
from studio.application.words import tr
from studio.ui.style.theme import SOFT_TINT, Theme, blend, icon, theme_in_use
from studio.viewmodels.experiments.grid_model import (
    ANSWER_ROLE,
    CELL_ROLE,
    GROUP_ROLE,
    ExperimentGridModel,
    RowGroup,
    ShownAnswer,
)

_EditTrigger = QtWidgets.QAbstractItemView.EditTrigger
_ScrollHint = QtWidgets.QAbstractItemView.ScrollHint
_ROW_HEIGHT, _GROUP_HEIGHT = 60, 28
_HEAD_HEIGHT = 44
_LINES = 3
"""Number of text lines in a row."""

_DOT = 9.0
_GAP = 6.0
_MOST_DOTS = 8
_PAD = 10
_TOP = 5
_NUMBER_WIDTH = 36
_FIRST_WIDTH, _FIRST_IN_LITTLE = 176, 136
_LEAST_WIDTH, _MOST_WIDTH = 72, 136
"""Minimum and maximum width of the columns of values after the first one, in pixels."""

_LITTLE = 800
"""Width of the table in pixels up to which the first column of values is narrower."""

_LEAST_ANSWER = 132
_MEASURED = 50
"""Number of rows whose values determine the width of a column."""

_LONGEST = 2_000
"""Maximum number of characters of a text that are painted."""

_ACROSS = QtCore.Qt.Orientation.Horizontal
_Index = QtCore.QModelIndex | QtCore.QPersistentModelIndex


def paint_lines(
    painter: QtGui.QPainter,
    room: QtCore.QRectF,
    text: str,
    most: int,
    changed: Sequence[tuple[int, int]] = (),
) -> float:
    """Paint a text in a few lines, the last one shortened; return its height.

    Args:
        painter: painter with the font and the pen of the text.
        room: top left corner and width.
        text: the text; line breaks are painted as blanks.
        most: maximum number of lines.
        changed: ranges of words to highlight.
    """
    height, begin = 0.0, 0
    flat = text.replace("\n", " ")[:_LONGEST]
    for number in range(1, most + 1):
        rest, marks = flat[begin:], [(start - begin, end - begin) for start, end in changed]
        if number == most:
            elide = QtCore.Qt.TextElideMode.ElideRight
            rest = painter.fontMetrics().elidedText(rest, elide, int(room.width()))
        layout = QtGui.QTextLayout(rest, painter.font())
        layout.setFormats([_changed_format(max(0, start), end) for start, end in marks if end > 0])
        layout.beginLayout()
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(room.width())
        layout.endLayout()
        line.draw(painter, room.topLeft() + QtCore.QPointF(0, height))
        height += line.height()
        begin += line.textLength()
        if begin >= len(flat):
            break
    return height


def _changed_format(start: int, end: int) -> QtGui.QTextLayout.FormatRange:
    theme = theme_in_use()
    mark = QtGui.QTextLayout.FormatRange()
    mark.start, mark.length = start, end - start
    tint = QtGui.QTextCharFormat()
    tint.setBackground(QtGui.QColor(blend(theme.accent, theme.surface, SOFT_TINT)))
    tint.setFontUnderline(True)
    tint.setUnderlineColor(QtGui.QColor(theme.accent))
    mark.format = tint
    return mark


class CellDelegate(QtWidgets.QStyledItemDelegate):
    """Paints values and answers in three lines; a value is edited as text of several lines."""

    def sizeHint(self, option: QtWidgets.QStyleOptionViewItem, index: _Index) -> QtCore.QSize:
        """Return a fixed size: all rows have the same height."""
        return QtCore.QSize(_FIRST_WIDTH, _ROW_HEIGHT)

    def paint(
        self, painter: QtGui.QPainter, option: QtWidgets.QStyleOptionViewItem, index: _Index
    ) -> None:
        """Paint the background, then a value of the row or a cell."""
        painter.save()
        painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing)
        rect = QtCore.QRect(option.rect)
        selected = bool(option.state & QtWidgets.QStyle.StateFlag.State_Selected)
        theme = theme_in_use()
        painter.fillRect(rect, QtGui.QColor(theme.selection if selected else theme.surface))
        painter.setFont(option.font)
        room = QtCore.QRectF(rect).adjusted(_PAD, _TOP, -_PAD, -_TOP)
        cell, group = index.data(CELL_ROLE), index.data(GROUP_ROLE)
        if isinstance(group, RowGroup):
            if not selected:
                painter.fillRect(rect, QtGui.QColor(theme.window))
            self._paint_group(painter, room, group, str(index.data()), index.column())
        elif isinstance(cell, GridCell):
            self._paint_cell(painter, room, cell, index.data(ANSWER_ROLE))
        else:
            head = str(index.model().headerData(index.column(), QtCore.Qt.Orientation.Horizontal))
            is_plain = index.column() == 1 or head.startswith("expected")
            painter.setPen(QtGui.QColor(theme.text if is_plain else theme.muted))
            paint_lines(painter, room, str(index.data() or ""), _LINES)
        if option.state & QtWidgets.QStyle.StateFlag.State_HasFocus:
            painter.setPen(QtGui.QPen(QtGui.QColor(theme.accent), 2))
            painter.setBrush(QtCore.Qt.BrushStyle.NoBrush)  # set by the cell's last sign
            painter.drawRect(QtCore.QRectF(rect).adjusted(1, 1, -1, -1))
        painter.restore()

    def _paint_group(
        self, painter: QtGui.QPainter, room: QtCore.QRectF, group: RowGroup, words: str, column: int
    ) -> None:
        if not column:
            size = int(room.height())
            mark = icon("chevron-right" if group.is_folded else "chevron-down")
            mark.paint(painter, QtCore.QRect(int(room.left()), int(room.top()), size, size))
            room = room.adjusted(size + _GAP, 0, 0, 0)
        painter.setPen(QtGui.QColor(theme_in_use().text))
        font = painter.font()
        font.setBold(not column)
        painter.setFont(font)
        paint_lines(painter, room, words, 1)

    def _paint_cell(
        self,
        painter: QtGui.QPainter,
        room: QtCore.QRectF,
        cell: GridCell,
        answer: ShownAnswer | None,
    ) -> None:
        theme = theme_in_use()
        line = float(painter.fontMetrics().height())
        at = QtCore.QPointF(room.left(), room.top() + (line - _DOT) / 2)
        is_coming = answer is not None and answer.tone in ("comes", "waits")
        for dot in cell.dots[:_MOST_DOTS]:
            shown = DotState.COMING if is_coming and dot is DotState.WAITING else dot
            paint_dot(painter, at, shown, theme)
            at += QtCore.QPointF(_DOT + _GAP, 0)
        right = room.right()
        if cell.change:
            right -= 16
            _paint_change(painter, right + 10, room.top() + line / 2, won=cell.change == "won")
        align = int(QtCore.Qt.AlignmentFlag.AlignRight | QtCore.Qt.AlignmentFlag.AlignTop)
        if note := _note_of(cell):
            painter.setPen(QtGui.QColor(theme.muted))
            painter.drawText(
                QtCore.QRectF(room.left(), room.top(), right - room.left(), line), align, note
            )
            right -= painter.fontMetrics().horizontalAdvance(note) + _GAP
        first = QtCore.QRectF(at.x(), room.top(), max(0.0, right - at.x()), line)
        if answer is None:
            waits = cell.dots and cell.dots[0] is DotState.WAITING
            painter.setPen(QtGui.QColor(theme.muted))
            paint_lines(painter, first, tr("waits") if waits else "", 1)
            return
        failed = answer.tone == "error" or DotState.FAILED in cell.dots
        is_amber = answer.tone in ("error", "waits")
        painter.setPen(
            QtGui.QColor(theme.warning if is_amber else theme.error if failed else theme.text)
        )
        paint_lines(painter, first, answer.first, 1, answer.changed)
        painter.setPen(QtGui.QColor(theme.muted))
        gap = len(answer.first) + 1
        marks = [(start - gap, end - gap) for start, end in answer.changed if end > gap]
        paint_lines(painter, room.adjusted(0, line, 0, 0), answer.rest, _LINES - 1, marks)

    # -- editing --------------------------------------------------------------------------------

    def createEditor(
        self, parent: QtWidgets.QWidget, option: QtWidgets.QStyleOptionViewItem, index: _Index
    ) -> QtWidgets.QPlainTextEdit:
        """Return a field that preserves the line breaks of a value."""
        field = QtWidgets.QPlainTextEdit(parent)
        field.setFrameShape(QtWidgets.QPlainTextEdit.Shape.NoFrame)
        field.setTabChangesFocus(True)
        field.setAccessibleName(str(index.model().headerData(index.column(), _ACROSS)))
        return field

    def setEditorData(self, editor: QtWidgets.QWidget, index: _Index) -> None:
        """Show the value and select it."""
        assert isinstance(editor, QtWidgets.QPlainTextEdit)
        editor.setPlainText(str(index.data(QtCore.Qt.ItemDataRole.EditRole) or ""))
        editor.selectAll()

    def setModelData(
        self, editor: QtWidgets.QWidget, model: QtCore.QAbstractItemModel, index: _Index
    ) -> None:
        """Pass the edited value to the model."""
        assert isinstance(editor, QtWidgets.QPlainTextEdit)
        model.setData(index, editor.toPlainText())

    def eventFilter(self, editor: QtCore.QObject, event: QtCore.QEvent) -> bool:
        """Save the value on Enter, as a spreadsheet does; Shift+Enter inserts a line break."""
        if (
            isinstance(event, QtGui.QKeyEvent)
            and isinstance(editor, QtWidgets.QWidget)
            and event.type() == QtCore.QEvent.Type.KeyPress
            and event.key() in (QtCore.Qt.Key.Key_Return, QtCore.Qt.Key.Key_Enter)
            and not event.modifiers() & QtCore.Qt.KeyboardModifier.ShiftModifier
        ):
            self.commitData.emit(editor)
            self.closeEditor.emit(editor, QtWidgets.QStyledItemDelegate.EndEditHint.NoHint)
            return True
        return super().eventFilter(editor, event)


def _note_of(cell: GridCell) -> str:
    """Return the text beside the dots: the number of passes, or a score that is neither 0 nor 1."""
    if len(cell.dots) > _MOST_DOTS:
        return f"{cell.dots.count(DotState.PASSED)}/{len(cell.dots)}"
    is_mean = len(cell.dots) > 1 and cell.score is not None and 0 < cell.score < 1
    return f"{cell.score:.2f}" if is_mean else ""


def _paint_change(painter: QtGui.QPainter, x: float, y: float, *, won: bool) -> None:
    theme = theme_in_use()
    tip, foot = (y - 5, y + 4) if won else (y + 5, y - 4)
    painter.setPen(QtCore.Qt.PenStyle.NoPen)
    painter.setBrush(QtGui.QColor(theme.success if won else theme.error))
    corners = [QtCore.QPointF(x, tip), QtCore.QPointF(x - 5.5, foot), QtCore.QPointF(x + 5.5, foot)]
    painter.drawPolygon(QtGui.QPolygonF(corners))


def paint_dot(painter: QtGui.QPainter, at: QtCore.QPointF, dot: DotState, theme: Theme) -> None:
    """Paint a repeat's dot: filled if it passes, otherwise a ring; a cross without an answer.

    Args:
        painter: painter with antialiasing.
        at: top left corner of a square of 9 pixels.
        dot: state of the repeat.
        theme: theme with the colors.
    """
    box = QtCore.QRectF(at.x(), at.y(), _DOT, _DOT)
    painter.setBrush(QtCore.Qt.BrushStyle.NoBrush)
    match dot:
        case DotState.PASSED:
            painter.setPen(QtCore.Qt.PenStyle.NoPen)
            painter.setBrush(QtGui.QColor(theme.success))
            painter.drawEllipse(box)
        case DotState.FAILED:
            painter.setPen(QtGui.QPen(QtGui.QColor(theme.error), 1.8))
            painter.drawEllipse(box.adjusted(0.9, 0.9, -0.9, -0.9))
        case DotState.ERROR:
            painter.setPen(QtGui.QPen(QtGui.QColor(theme.warning), 2))
            inner = box.adjusted(1.2, 1.2, -1.2, -1.2)
            painter.drawLine(inner.topLeft(), inner.bottomRight())
            painter.drawLine(inner.topRight(), inner.bottomLeft())
        case DotState.UNDECIDED:
            painter.setPen(QtGui.QPen(QtGui.QColor(theme.warning), 1.8))
            painter.drawRect(box.adjusted(1.2, 1.2, -1.2, -1.2))
        case DotState.COMING:
            painter.setPen(QtGui.QPen(QtGui.QColor(theme.accent), 1.8))
            painter.drawArc(box.adjusted(0.9, 0.9, -0.9, -0.9), 0, 270 * 16)
        case DotState.UNCHECKED:
            painter.setPen(QtGui.QPen(QtGui.QColor(theme.muted), 1.4))
            painter.drawEllipse(box.adjusted(1.6, 1.6, -1.6, -1.6))
        case DotState.NOT_PLANNED:
            painter.setPen(QtGui.QPen(QtGui.QColor(blend(theme.muted, theme.surface, 0.45)), 1.4))
            painter.drawLine(
                box.center() - QtCore.QPointF(2.5, 0), box.center() + QtCore.QPointF(2.5, 0)
            )
        case _:
            painter.setPen(QtCore.Qt.PenStyle.NoPen)
            painter.setBrush(QtGui.QColor(blend(theme.muted, theme.surface, 0.45)))
            painter.drawEllipse(box.adjusted(2.8, 2.8, -2.8, -2.8))


class GridHeader(QtWidgets.QHeaderView):
    """Column headers with the model of each column in a second line."""

    def __init__(self, parent: QtWidgets.QWidget) -> None:
        super().__init__(_ACROSS, parent)
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setMinimumSectionSize(_NUMBER_WIDTH)

    def sizeHint(self) -> QtCore.QSize:
        """Return the size for two lines."""
        return QtCore.QSize(super().sizeHint().width(), _HEAD_HEIGHT)

    def paintSection(  # noqa: N802 - Qt's name
        self, painter: QtGui.QPainter, rect: QtCore.QRect, section: int
    ) -> None:
        """Paint the name, and the second line in a muted color."""
        theme, model = theme_in_use(), self.model()
        painter.save()
        painter.fillRect(rect, QtGui.QColor(theme.window))
        painter.setPen(QtGui.QColor(theme.border))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.drawLine(rect.topRight(), rect.bottomRight())
        bold = QtGui.QFont(self.font())
        bold.setBold(True)
        painter.setFont(bold)
        room = QtCore.QRectF(rect).adjusted(_PAD, 4, -_PAD, 0)
        painter.setPen(QtGui.QColor(theme.text))
        height = paint_lines(painter, room, str(model.headerData(section, _ACROSS) or ""), 1)
        painter.setFont(self.font())
        painter.setPen(QtGui.QColor(theme.muted))
        words = str(model.headerData(section, _ACROSS, ANSWER_ROLE) or "")
        paint_lines(painter, room.adjusted(0, height, 0, 0), words, 1)
        painter.restore()


class _Rows(QtWidgets.QTableView):
    """A view of the rows, used for the table and for its frozen columns at the left."""

    def __init__(self, model: ExperimentGridModel, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self._has_groups = False
        # Before there are rows: Qt scrolls to the first one when the mode changes.
        self.setVerticalScrollMode(QtWidgets.QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QtWidgets.QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setModel(model)
        self._delegate = CellDelegate(self)
        self.setItemDelegate(self._delegate)
        self.setHorizontalHeader(GridHeader(self))
        self.horizontalHeader().sectionClicked.connect(model.sort_by_column)
        self.setSelectionMode(QtWidgets.QAbstractItemView.SelectionMode.SingleSelection)
        self.setSelectionBehavior(QtWidgets.QAbstractItemView.SelectionBehavior.SelectRows)
        self.setTabKeyNavigation(model.is_editable)
        if model.is_editable:
            self.setEditTriggers(
                _EditTrigger.EditKeyPressed
                | _EditTrigger.AnyKeyPressed
                | _EditTrigger.DoubleClicked
            )
        self.setWordWrap(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(_ROW_HEIGHT)
        self.verticalHeader().setSectionResizeMode(QtWidgets.QHeaderView.ResizeMode.Fixed)
        self.clicked.connect(model.fold)

    def fit_groups(self, places: Sequence[int], columns: int) -> None:
        """Set the height of group headers, and let their first cell span all columns of values."""
        if places or self._has_groups:
            self.clearSpans()
            self.verticalHeader().setDefaultSectionSize(_ROW_HEIGHT)
        self._has_groups = bool(places)
        for place in places:
            self.setRowHeight(place, _GROUP_HEIGHT)
            if columns > 1:
                self.setSpan(place, 0, 1, columns)


class ExperimentTable(_Rows):
    """The grid: the focus moves from cell to cell, and the values stay while answers scroll."""

    def __init__(self, model: ExperimentGridModel) -> None:
        super().__init__(model)
        self._grid = model
        self.setAccessibleName(tr("Rows and variants"))
        self.frozen = _Rows(model, self)
        """Frozen columns: row number and values, painted over the same columns of the table."""
        self.frozen.setSelectionModel(self.selectionModel())
        self.frozen.setFocusPolicy(QtCore.Qt.FocusPolicy.NoFocus)
        self.frozen.setFocusProxy(self)
        self.frozen.setFrameShape(QtWidgets.QTableView.Shape.NoFrame)
        off = QtCore.Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.frozen.setVerticalScrollBarPolicy(off)
        self.frozen.setHorizontalScrollBarPolicy(off)
        mine, theirs = self.verticalScrollBar(), self.frozen.verticalScrollBar()
        mine.valueChanged.connect(theirs.setValue)
        theirs.valueChanged.connect(mine.setValue)
        self.frozen.hide()
        model.modelReset.connect(self._fit_columns)
        model.modelReset.connect(self._fit_groups)

    def _fit_groups(self) -> None:
        for rows in (self, self.frozen):
            rows.fit_groups(self._grid.lines, self._grid.first_variant)

    def _fit_columns(self) -> None:
        """Fit the columns of values to their content; the answers share the remaining width."""
        model, first = self._grid, self._grid.first_variant
        if not model.columnCount():
            return
        self.setColumnWidth(0, _NUMBER_WIDTH)
        for section in range(1, first):
            self.setColumnWidth(section, self._value_width(section))
        answers = model.columnCount() - first
        room = self.viewport().width() - sum(map(self.columnWidth, range(first)))
        for section in range(first, model.columnCount()):
            self.setColumnWidth(section, max(_LEAST_ANSWER, room // answers))
        self._freeze(first)

    def _freeze(self, first: int) -> None:
        """Freeze columns of values within half of the width, if the answers need to scroll."""
        frozen, width = self.frozen, 0
        room = self.viewport().width()
        for section in range(self._grid.columnCount()):
            frozen.setColumnWidth(section, self.columnWidth(section))
            is_kept = section < first and width + self.columnWidth(section) <= room // 2
            first = first if is_kept else min(first, section)
            frozen.setColumnHidden(section, not is_kept)
            width += self.columnWidth(section) if is_kept else 0
        frozen.setVisible(width > 0 and self.horizontalHeader().length() > room)
        edge = self.frameWidth()
        frozen.setGeometry(edge, edge, width, _HEAD_HEIGHT + self.viewport().height())

    def _value_width(self, section: int) -> int:
        if section == 1:
            return _FIRST_WIDTH if self.viewport().width() > _LITTLE else _FIRST_IN_LITTLE
        metrics, model = self.fontMetrics(), self._grid
        rows = [at for at in range(min(_MEASURED, model.rowCount())) if not model.group_at(at)]
        texts = [str(model.headerData(section, _ACROSS)) + "  "]
        texts += [str(model.index(row, section).data() or "")[:_MEASURED] for row in rows]
        wanted = max(map(metrics.horizontalAdvance, texts)) + 2 * _PAD
        return max(_LEAST_WIDTH, min(_MOST_WIDTH, wanted))

    def _is_frozen(self, column: int) -> bool:
        return self.frozen.isVisibleTo(self) and not self.frozen.isColumnHidden(column)

    def edit(  # type: ignore[override]
        self,
        index: QtCore.QModelIndex,
        trigger: _EditTrigger = _EditTrigger.AllEditTriggers,
        event: QtCore.QEvent | None = None,
    ) -> bool:
        """Edit a value in the view in which it is visible."""
        cause = event or QtCore.QEvent(QtCore.QEvent.Type.None_)
        if self._is_frozen(index.column()):
            return self.frozen.edit(index, trigger, cause)
        return super().edit(index, trigger, cause)

    def scrollTo(  # noqa: N802 - Qt's name
        self,
        index: _Index,
        hint: _ScrollHint = _ScrollHint.EnsureVisible,
    ) -> None:
        """Scroll to a cell; frozen values are always visible and must not cover an answer."""
        bar = self.horizontalScrollBar()
        before = bar.value()
        super().scrollTo(index, hint)
        if not index.isValid():
            return
        if self._is_frozen(index.column()):
            bar.setValue(before)
        elif self.frozen.isVisibleTo(self):
            hidden = self.frozen.width() - self.visualRect(index).left()
            bar.setValue(bar.value() - max(0, hidden))

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Share the width among the answers, and keep the selected row visible."""
        super().resizeEvent(event)
        self._fit_columns()
        if self.currentIndex().isValid():
            self.scrollTo(self.currentIndex())
