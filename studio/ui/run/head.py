"""The head of the run pane: whose run it is, on which way, and what it has used of its limits."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QInputDialog, QLabel, QMenu, QToolButton, QWidget

from studio.application.run.view import RunView
from studio.application.run.words import LimitLine, limit_lines
from studio.application.words import tr
from studio.core.agent.values.user_events import LimitRaised
from studio.ui.parts.elided_label import ElidedLabel
from studio.ui.parts.layouts import row_of
from studio.ui.style.colors import paint_text
from studio.ui.style.icons import icon

_HEIGHT = 32


class RunHead(QWidget):
    """Prompt, model and protocol; a switch between the ways through; one small meter."""

    command_given = Signal(tuple)  # Commands for the run: a limit is another
    branch_chosen = Signal(int)  # id of the last checkpoint of a way

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = RunView()
        self.prompt = QLabel()
        self.about = ElidedLabel()
        self.before = QToolButton()
        self.branch = QLabel()
        self.after = QToolButton()
        self.meter = QToolButton()
        self._lay_out()
        self.before.clicked.connect(partial(self.switch, -1))
        self.after.clicked.connect(partial(self.switch, 1))
        self.meter.clicked.connect(self._on_meter)
        paint_text(self.about, "muted")
        paint_text(self.branch, "text")

    def show_view(self, view: RunView) -> None:
        """Name the run, its way, and what it has used."""
        before, self._view = self._view, view
        state = view.state
        if state is None or (state is before.state and view.branches == before.branches):
            return
        setup = state.setup
        self.prompt.setText(setup.prompt or tr("Prompt"))
        parts = [state.answered_by.name, view.protocol if setup.tools else ""]
        current = next((one for one in view.branches if one.is_current), None)
        several = len(view.branches) > 1
        if several and current is not None:
            parts.append(current.title)
            at = view.branches.index(current) + 1
            self.branch.setText(f"{at}/{len(view.branches)}")
            self.before.setEnabled(at > 1)
            self.after.setEnabled(at < len(view.branches))
        for part in (self.before, self.branch, self.after):
            part.setVisible(several)
        self.about.show_text("  ·  ".join(part for part in parts if part))
        tip = "\n".join(filter(None, (self.about.whole, setup.path, view.protocol_reason)))
        self.about.setToolTip(tip)
        self.prompt.setToolTip(tip)
        self.meter.setText(f"{view.facts or tr('Limits')} ▾")
        self.meter.setToolTip("\n".join(line.words for line in limit_lines(state)))

    def switch(self, by: int) -> None:
        """Go to the way before or after the one that is shown."""
        ways = self._view.branches
        at = next((index for index, one in enumerate(ways) if one.is_current), -1)
        if at >= 0 and 0 <= at + by < len(ways):
            self.branch_chosen.emit(ways[at + by].last)

    def limits_menu(self) -> QMenu:
        """What is used of each limit; of a run that goes on each can be set."""
        menu = QMenu(self)
        state = self._view.state
        for line in limit_lines(state) if state is not None else ():
            if not self._view.is_live:
                menu.addAction(line.words).setEnabled(False)
                continue
            below = menu.addMenu(line.words)
            more = below.addAction(line.more_words)
            more.triggered.connect(partial(self._raise, line, line.more))
            other = below.addAction(tr("Another limit…"))
            other.triggered.connect(partial(self.ask_limit, line))
            none = below.addAction(tr("No limit"))
            none.setEnabled(line.allowed is not None)
            none.triggered.connect(partial(self._raise, line, None))
        return menu

    def ask_limit(self, line: LimitLine) -> QInputDialog:
        """Ask for another limit, in its own unit."""
        dialog = QInputDialog(self)
        dialog.setWindowTitle(tr("Limit"))
        dialog.setLabelText(line.question)
        dialog.setInputMode(QInputDialog.InputMode.DoubleInput)
        dialog.setDoubleDecimals(2 if line.name == "cost" else 0)
        dialog.setDoubleRange(0, 1e9)
        dialog.setDoubleValue(line.allowed if line.allowed is not None else line.more)
        dialog.doubleValueSelected.connect(partial(self._raise, line))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
        return dialog

    def _raise(self, line: LimitLine, to: float | None, *_: object) -> None:
        whole = line.name in ("iterations", "tokens")
        wanted = int(to) if whole and to is not None and not isinstance(to, bool) else to
        self.command_given.emit((LimitRaised(line.name, wanted),))

    def _on_meter(self) -> None:
        menu = self.limits_menu()
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.meter.mapToGlobal(self.meter.rect().bottomLeft()))

    def _lay_out(self) -> None:
        self.setFixedHeight(_HEIGHT)
        self.setAccessibleName(tr("Whose run it is"))
        self.prompt.setProperty("title", "true")
        for button, name, words in (
            (self.before, "arrow-left", tr("The way before")),
            (self.after, "arrow-right", tr("The way after")),
        ):
            button.setIcon(icon(name))
            button.setAutoRaise(True)
            button.setToolTip(words)
            button.setAccessibleName(words)
        self.branch.setAccessibleName(tr("Way that is shown"))
        self.meter.setAutoRaise(True)
        self.meter.setAccessibleName(tr("Used so far, and limits"))
        layout = row_of(self.prompt, on=self, margins=(16, 2, 12, 0), spacing=4)
        layout.addSpacing(8)
        layout.addWidget(self.about, 1)
        for part in (self.before, self.branch, self.after):
            layout.addWidget(part)
        layout.addSpacing(8)
        layout.addWidget(self.meter)
