"""Problems: all problems of the open document; selecting one goes there."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QLabel, QMenu, QStackedWidget, QTreeWidgetItem

from studio.application.words import tr
from studio.core.text.source import Fix, Problem, Severity, SourceText, Span
from studio.ui.base.menus import ON_PROBLEM, add_actions, add_own, own_menu
from studio.ui.parts.kit import row_list
from studio.ui.style.theme import icon

_PROBLEM = Qt.ItemDataRole.UserRole
_MOST = 1000
_WITH_CODE = 560
"""Width in pixels below which the code is hidden in favor of the sentence."""


class ProblemsPane(QStackedWidget):
    """List of problems, the most severe first."""

    request_reveal = Signal(Span)  # Span to scroll to
    request_go = Signal(Span)  # Span to go to with the focus
    request_fix = Signal(Fix)

    def __init__(self) -> None:
        super().__init__()
        self._problems: tuple[Problem, ...] = ()
        self._source = SourceText("")
        self._empty = QLabel(alignment=Qt.AlignmentFlag.AlignTop)
        self._empty.setProperty("tone", "muted")
        self._empty.setContentsMargins(12, 12, 12, 12)
        heads = (tr("Problem"), tr("Code"), tr("Place"))
        self._list = row_list(tr("Problems"), heads, 0, fitted=(1, 2))
        self._list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.addWidget(self._empty)
        self.addWidget(self._list)
        self._list.itemActivated.connect(self._go)
        self._list.itemClicked.connect(self._show)
        self._list.customContextMenuRequested.connect(self._menu)
        self.clear()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the sentence more room than its code."""
        super().resizeEvent(event)
        self._list.setColumnHidden(1, self.width() < _WITH_CODE)

    def clear(self) -> None:
        """Clear the list: no document is open."""
        self._problems = ()
        self._is_open = False
        self._list.clear()
        self._empty.setText(tr("Open a prompt to see its problems here."))
        self.setCurrentIndex(0)

    def set_problems(self, problems: Sequence[Problem], source: SourceText) -> None:
        """Show the problems of a text."""
        self._source = source
        if self._is_open and tuple(problems) == self._problems:
            return
        self._is_open = True
        self._problems = tuple(problems)
        self._list.clear()
        if not problems:
            self._empty.setText(tr("No problems found."))
            self.setCurrentIndex(0)
            return
        order = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.HINT: 2}
        for problem in sorted(problems, key=lambda each: (order[each.severity], each.span))[:_MOST]:
            self._list.addTopLevelItem(self._row(problem))
        self.setCurrentIndex(1)

    def _row(self, problem: Problem) -> QTreeWidgetItem:
        place = self._source.position(problem.span.start)
        item = QTreeWidgetItem(
            [
                problem.message,
                problem.code,
                tr("Ln {line}, Col {column}").format(line=place.line, column=place.column),
            ]
        )
        name, color = {
            Severity.ERROR: ("circle-x", "error"),
            Severity.WARNING: ("triangle-alert", "warning"),
            Severity.HINT: ("info", "hint"),
        }[problem.severity]
        item.setIcon(0, icon(name, color))
        item.setToolTip(0, f"{problem.severity.value}: {problem.message} ({problem.code})")
        item.setData(
            0, Qt.ItemDataRole.AccessibleTextRole, f"{problem.severity.value}: {problem.message}"
        )
        item.setData(0, _PROBLEM, problem)
        return item

    def _show(self, item: QTreeWidgetItem) -> None:
        self.request_reveal.emit(item.data(0, _PROBLEM).span)

    def _go(self, item: QTreeWidgetItem) -> None:
        self.request_go.emit(item.data(0, _PROBLEM).span)

    def _menu(self, at: QPoint) -> None:
        self.menu_for(self._list.itemAt(at)).popup(self._list.viewport().mapToGlobal(at))

    def menu_for(self, item: QTreeWidgetItem | None) -> QMenu:
        """Build the context menu of a problem."""
        menu = own_menu(self)
        if item is not None:
            problem: Problem = item.data(0, _PROBLEM)
            for fix in problem.fixes:
                add_own(menu, fix.title, partial(self.request_fix.emit, fix), drawing="lightbulb")
            go = partial(self._go, item)
            add_own(menu, tr("Go to its text"), go, drawing="pencil", keys="Return")
            copy = partial(QGuiApplication.clipboard().setText, problem.message)
            add_own(menu, tr("Copy message"), copy, drawing="copy")
            menu.addSeparator()
        add_actions(menu, self.window(), ON_PROBLEM)
        return menu
