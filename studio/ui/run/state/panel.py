"""The panel below the inspector: variables and breakpoints at the left, console at the right.

The console shows the messages of a run and evaluates expressions.
"""

from collections.abc import Mapping, Sequence

from PySide6 import QtWidgets
from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QResizeEvent

from studio.application.run.breakpoints import BreakpointSet, describe
from studio.application.run.cursor import RunCursor
from studio.application.run.debugging.console import ConsoleLine, ConsoleLineKind, names_for
from studio.application.run.debugging.variables import RunVariable, command_for, variables_at
from studio.application.run.displayed_run import RunView
from studio.application.words import tr
from studio.core.agent.values.commands import Command
from studio.ui.parts.kit import Separator, column_of, named, toned_label
from studio.ui.run.state.variables import ExpressionField, VariablesTable
from studio.ui.style.theme import FollowsTheme, fixed_font, icon, theme_in_use

_LINE = Qt.ItemDataRole.UserRole
_SIGNS: dict[ConsoleLineKind, str] = {
    "log": "◆",
    "output": "│",
    "warning": "!",
    "error": "✕",
    "asked": "›",
    "value": "=",
    "wrong": "✕",
}


class _Input(ExpressionField):
    """Expression field with a history: Up and Down show earlier expressions."""

    entered = Signal(str)  # an expression to evaluate at the shown point

    def __init__(self) -> None:
        super().__init__()
        self._past: list[str] = []
        self._at = 0
        self.returnPressed.connect(self._ask)

    def _ask(self) -> None:
        text = self.text().strip()
        if text:
            self._past = [each for each in self._past if each != text] + [text]
            self._at = len(self._past)
            self.clear()
            self.entered.emit(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go through the history on Up and Down."""
        by = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        if by and self._past and not self.offered:
            self._at = max(0, min(len(self._past), self._at + by))
            self.setText(self._past[self._at] if self._at < len(self._past) else "")
            return
        super().keyPressEvent(event)


class Console(FollowsTheme, QtWidgets.QWidget):
    """Messages of the run and the user's evaluations, in the order of their arrival."""

    line_chosen = Signal(int, object)  # iteration and row of the call of a line

    def __init__(self) -> None:
        super().__init__()
        self._taken: tuple[ConsoleLine, ...] = ()
        self.list = named(QtWidgets.QListWidget(), tr("Console"))
        self.field = _Input()
        self.list.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self.list.setWordWrap(True)
        self.list.setLayoutMode(QtWidgets.QListWidget.LayoutMode.Batched)
        self.list.setResizeMode(QtWidgets.QListWidget.ResizeMode.Adjust)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setFont(fixed_font(self.font()))
        self.field.setFont(fixed_font(self.font()))
        self.field.setPlaceholderText(tr("Evaluate an expression: args, tokens.total …"))
        self.field.setAccessibleName(tr("Expression to evaluate at the shown point"))
        line = column_of(self.field, margins=(4, 0, 4, 4))
        column_of((self.list, 1), line, on=self, margins=0, spacing=0)
        self.list.itemClicked.connect(self._on_item)
        self.list.itemActivated.connect(self._on_item)
        self.follow_theme()

    @property
    def lines(self) -> list[str]:
        """The texts of the lines."""
        return [self.list.item(row).text() for row in range(self.list.count())]

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        for row in range(self.list.count()):
            self._paint(self.list.item(row))

    def show_lines(self, lines: tuple[ConsoleLine, ...]) -> None:
        """Show a run's lines; only new ones are appended."""
        if lines is self._taken:
            return
        before, self._taken = self._taken, lines
        if lines[: len(before)] == before:
            self.add(lines[len(before) :])
        elif before and lines and before[-1] in lines:
            self.add(lines[len(lines) - 1 - lines[::-1].index(before[-1]) + 1 :])
        else:
            self.list.clear()
            self.add(lines)

    def add(self, lines: Sequence[ConsoleLine]) -> None:
        """Append lines and scroll to the last one."""
        for line in lines:
            item = QtWidgets.QListWidgetItem(f"{_SIGNS[line.kind]} {line.text}")
            item.setData(_LINE, line)
            where = tr("Iteration {number}").format(number=line.step) if line.step else ""
            item.setToolTip("\n".join(filter(None, (where, line.text))))
            self._paint(item)
            self.list.addItem(item)
        if lines:
            self.list.scrollToBottom()

    def _paint(self, item: QtWidgets.QListWidgetItem) -> None:
        theme, line = theme_in_use(), item.data(_LINE)
        inks: dict[ConsoleLineKind, str] = {
            "log": theme.text,
            "output": theme.muted,
            "warning": theme.warning,
            "error": theme.error,
            "asked": theme.accent,
            "value": theme.text,
            "wrong": theme.error,
        }
        item.setForeground(QColor(inks[line.kind]))

    def _on_item(self, item: QtWidgets.QListWidgetItem) -> None:
        line = item.data(_LINE)
        if isinstance(line, ConsoleLine) and line.step:
            self.line_chosen.emit(line.step, line.call)


BREAKPOINT_ID = Qt.ItemDataRole.UserRole
"""Role of a row's breakpoint id."""

_HEAD = 28

LOWEST_STATE = 108
"""Minimum height in pixels at which values and console lines are readable."""

_UNBOUNDED = (1 << 24) - 1
"""Maximum height of a widget in Qt (`QWIDGETSIZE_MAX`)."""

_WIDE, _CONSOLE = 550, 334
"""Width of both from which the console gets room for lines of 42 letters, in pixels."""

_NARROWEST = 120
"""Minimum width of each half in pixels; the inspector above sets the run's minimum."""


class BreakpointList(QtWidgets.QListWidget):
    """List of breakpoints: Space enables or disables one, Return opens it in the dialog."""

    breakpoint_switched = Signal(str, bool)  # id, whether it is on

    def __init__(self, empty: str) -> None:
        """Create it with the sentence of the empty list."""
        super().__init__()
        self._set = BreakpointSet()
        self._hits: Mapping[str, int] = {}
        self._filling = False
        self._empty = toned_label("muted", empty, wraps=True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        QtWidgets.QVBoxLayout(self).addWidget(self._empty)
        self.setAccessibleName(tr("Breakpoints"))
        self.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self.itemChanged.connect(self._on_item)

    def show_breakpoints(self, value: BreakpointSet) -> None:
        """Show the set of the open prompt."""
        self._set = value
        self._fill()

    def show_hits(self, hits: Mapping[str, int]) -> None:
        """Show how often each breakpoint was hit in the shown run."""
        if hits != self._hits:
            self._hits = hits
            self._fill()

    def _fill(self) -> None:
        self._filling = True
        current = self.currentItem()
        chosen = current.data(BREAKPOINT_ID) if current is not None else None
        self.clear()
        for one in self._set.breakpoints:
            met = self._hits.get(one.id, 0)
            times = tr("   hit {count}×").format(count=met) if met else ""
            item = QtWidgets.QListWidgetItem(describe(one) + times)
            item.setData(BREAKPOINT_ID, one.id)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked if one.enabled else Qt.CheckState.Unchecked)
            item.setToolTip(item.text())
            self.addItem(item)
            if one.id == chosen:
                self.setCurrentItem(item)
        self._empty.setVisible(not self.count())
        self._filling = False

    def _on_item(self, item: QtWidgets.QListWidgetItem) -> None:
        if not self._filling:
            is_on = item.checkState() == Qt.CheckState.Checked
            self.breakpoint_switched.emit(item.data(BREAKPOINT_ID), is_on)


class StatePanel(QtWidgets.QWidget):
    """Panel that collapses to one line, which then counts new messages."""

    command_given = Signal(tuple)  # commands for the run: a value was changed
    folded = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self._view = RunView()
        self._shown_run = ""
        self._is_dragged = False
        self.is_open = True
        """Whether more than the header is shown."""
        self.fold = QtWidgets.QToolButton()
        self.tabs = QtWidgets.QTabBar()
        self.variables = VariablesTable()
        self.breakpoints = BreakpointList(
            tr("None yet: F9 in the prompt, or Ctrl+click in the diagram.")
        )
        self.console = Console()
        self._title = QtWidgets.QLabel()
        self._left = QtWidgets.QStackedWidget()
        self._body = QtWidgets.QSplitter(Qt.Orientation.Horizontal)
        self._lay_out()
        self.fold.clicked.connect(self._on_fold)
        self.tabs.currentChanged.connect(self._left.setCurrentIndex)
        self.tabs.tabBarClicked.connect(self._on_tab)
        self.variables.value_written.connect(self._on_value)
        self.set_open(is_open=False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the console room for its lines, or half if there is little room."""
        super().resizeEvent(event)
        if not self._is_dragged:
            half = self.width() // 2
            console = max(half, _CONSOLE) if self.width() >= _WIDE else half
            self._body.setSizes([self.width() - console, console])

    def _on_dragged(self) -> None:
        """Remember the widths that the user set."""
        self._is_dragged = True

    def set_open(self, *, is_open: bool) -> None:
        """Expand the panel, or collapse it to its header."""
        self.is_open = is_open
        for part in (self._left, self.console):
            part.setVisible(is_open)
        self.setMinimumHeight(LOWEST_STATE if is_open else _HEAD)
        self.setMaximumHeight(_UNBOUNDED if is_open else _HEAD)
        self.fold.setIcon(icon("chevron-down" if is_open else "chevron-up"))
        words = tr("Fold variables and console") if is_open else tr("Show variables and console")
        self.fold.setToolTip(words)
        self.fold.setAccessibleName(words)

    def open_console(self) -> None:
        """Focus the field for expressions."""
        if not self.is_open:
            self._on_fold()
        self.console.field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def show_view(self, view: RunView) -> None:
        """Show the console lines of a run and the hits of its breakpoints."""
        before, self._view = self._view, view
        self.console.show_lines(view.console)
        self.breakpoints.show_hits(view.hits)
        if view.state is not before.state:
            self.console.field.set_names(names_for(view.state))
        count = len(view.console)
        words = tr("Console")
        self._title.setText(f"{words}  {count}" if count else words)

    def show_moment(self, moment: RunCursor | None) -> None:
        """Show the variables at a run cursor; None for the current point."""
        state = self._view.state
        if state is None:
            self.variables.show_rows((), None)
            return
        was, self._shown_run = self._shown_run, state.setup.run
        is_between = moment is None and state.pause is None and not state.is_over
        if is_between and was == self._shown_run:
            return  # the last values stay until the next ones arrive
        rows = variables_at(state, moment)
        place = (state.setup.run, state.iteration, state.place, state.call)
        self.variables.show_rows(rows, moment if moment is not None else place)

    def show_breakpoints(self, value: BreakpointSet) -> None:
        """Show the breakpoints of the open prompt."""
        self.breakpoints.show_breakpoints(value)
        count = len(value.breakpoints)
        words = tr("Breakpoints")
        self.tabs.setTabText(1, f"{words} {count}" if count else words)

    def _on_fold(self) -> None:
        self.set_open(is_open=not self.is_open)
        self.folded.emit(not self.is_open)

    def _on_tab(self) -> None:
        if not self.is_open:
            self._on_fold()

    def _on_value(self, row: RunVariable, text: str) -> None:
        state = self._view.state
        if state is None:
            return
        try:
            command: Command = command_for(row, text, state)
        except ValueError as problem:
            table = self.variables
            place = table.visualRect(table.currentIndex()).bottomLeft()
            QtWidgets.QToolTip.showText(
                table.viewport().mapToGlobal(place + QPoint(0, 4)), str(problem)
            )
            table.recolor()  # the change was rejected: show the unchanged values
            return
        self.command_given.emit((command,))

    def _lay_out(self) -> None:
        self.setAccessibleName(tr("State of the run"))
        for words in (tr("Variables"), tr("Breakpoints")):
            self.tabs.addTab(words)
        self.tabs.setExpanding(False)
        self.tabs.setDrawBase(False)
        self.tabs.setAccessibleName(tr("Variables or breakpoints"))
        self._title.setProperty("title", "true")
        self.fold.setAutoRaise(True)
        self._left.addWidget(self.variables)
        self._left.addWidget(self.breakpoints)
        first, second = QtWidgets.QHBoxLayout(), QtWidgets.QHBoxLayout()
        first.addWidget(self.tabs)
        first.addStretch(1)
        second.addWidget(self._title, 1)
        second.addWidget(self.fold)
        self._body.addWidget(_column(first, self._left))
        self._body.addWidget(_column(second, self.console))
        self._body.setChildrenCollapsible(False)
        self._body.splitterMoved.connect(self._on_dragged)
        column_of(Separator(), (self._body, 1), on=self, margins=0, spacing=0)


def _column(head: QtWidgets.QHBoxLayout, body: QtWidgets.QWidget) -> QtWidgets.QWidget:
    """Return a column with a header line and a body; the header's place is fixed."""
    made, row = QtWidgets.QWidget(), QtWidgets.QWidget()
    made.setMinimumWidth(_NARROWEST)
    row.setFixedHeight(_HEAD - 1)
    head.setContentsMargins(8, 0, 4, 0)
    head.setSpacing(4)
    row.setLayout(head)
    column_of(row, (body, 1), 0, on=made, margins=0, spacing=0)
    return made
