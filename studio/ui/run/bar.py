"""The header of the run pane: prompt, state, usage and commands of the run."""

from functools import partial

from PySide6.QtCore import QElapsedTimer, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QInputDialog, QLabel, QMenu, QToolButton, QWidget

from studio.application.run.displayed_run import RunView, step_verb
from studio.application.run.past.branches import BranchView, as_tree
from studio.application.run.words import LimitLine, limit_lines
from studio.application.words import tr
from studio.core.agent.values.events import LimitRaised
from studio.core.text.amounts import duration
from studio.ui.parts.fields import ask_text
from studio.ui.parts.kit import ElidedLabel, icon_button, row_of, toned_label
from studio.ui.run.file_choice import fill_form_menu
from studio.ui.style.theme import icon, paint_text
from studio.viewmodels.app.jobs import repeating_timer

_TICK_MS = 250


class RunBar(QWidget):
    """The state of the run as text, and its commands, most of them in a menu."""

    run_named = Signal(str)  # current text of the button: start or continue
    step_named = Signal(str)  # what a step does at the current pause; empty for a plain step
    choice_shown = Signal(bool)  # whether the action bar has the filled button
    branch_chosen = Signal(int)  # id of the branch's last checkpoint
    branch_named = Signal(int, str)  # number of the branch, its new name
    compare_chosen = Signal(BranchView, BranchView)  # BranchView, BranchView
    compare_all_chosen = Signal()  # all branches in one table
    export_chosen = Signal(str)  # name of the form

    def __init__(self) -> None:
        super().__init__()
        self._view = RunView()
        self.run = self._act("play", tr("Run", "verb"))
        self.over = self._act("skip-forward", tr("Step"))
        self.into = self._act("arrow-down", tr("Step into"))
        self.out = self._act("arrow-up", tr("Step out"))
        self.pause = self._act("pause", tr("Pause"))
        self.stop = self._act("square", tr("Stop"))
        self.restart = self._act("rotate-ccw", tr("Run again from the start"))
        self.breakpoints = self._act("circle-dot", tr("Breakpoints…"))
        self.branches = self._act("git-branch", tr("Branches…"))
        self.filter = self._act("funnel", tr("Show errors, edits or calls of a tool only…"))
        self.times = self._act("clock", tr("Show this iteration on a time axis"))
        self.diagram = self._act("list-tree", tr("Show the diagram of the loop"))
        self.export = self._act("file-output", tr("Export this run…"))
        for action in (self.times, self.diagram):
            action.setCheckable(True)
        self.search = self._act("search", tr("Find in the whole run (Ctrl+F in the timeline)"))
        self.more = icon_button("ellipsis", tr("More for this run"))
        find = QToolButton(autoRaise=True)
        find.setDefaultAction(self.search)
        self.more.setAutoRaise(True)
        self.sentence = ElidedLabel()
        self._clock = repeating_timer(self, self._on_tick, _TICK_MS)
        """Timer while a model or a tool works."""
        self._since = QElapsedTimer()
        self._words = ""
        font = self.sentence.font()
        font.setWeight(font.Weight.DemiBold)
        self.sentence.setFont(font)
        row_of((self.sentence, 1), find, self.more, on=self, margins=0, spacing=2)
        self.more.clicked.connect(lambda: open_below(self.more_menu(), self.more))
        self.branches.triggered.connect(lambda: open_below(self.branch_menu(), self.more))
        self.export.triggered.connect(lambda: open_below(self.export_menu(), self.more))
        self.show_view(RunView())
        self._paint()

    def _act(self, drawing: str, words: str) -> QAction:
        return QAction(icon(drawing), words, self)

    def more_menu(self) -> QMenu:
        """Build the menu of commands that are not needed at each pause."""
        menu = QMenu(self)
        groups = (
            (self.diagram, self.times, self.filter),
            (self.breakpoints, self.branches),
            (self.restart, self.export),
        )
        for group in groups:
            menu.addActions([action for action in group if action.isVisible()])
            menu.addSeparator()
        return menu

    def show_view(self, view: RunView) -> None:
        """Enable the possible actions, and show the state of the run."""
        before, self._view = self._view, view
        if view.state is not None and _says(view) == _says(before):
            return  # a reply is streaming: only the timeline has changed
        waiting, busy = view.is_waiting, view.is_busy
        goes_on = waiting or busy
        self.run.setEnabled(not busy)
        words = tr("Continue") if waiting else tr("Run", "verb")
        self.run.setText(words)
        self.run_named.emit(words)
        for action in (self.over, self.into):
            action.setEnabled(not busy)
        self.out.setEnabled(waiting or bool(view.record))
        self.step_named.emit(step_verb(view))
        self.choice_shown.emit(waiting and any(each.is_primary for each in view.offers.offers))
        self.pause.setEnabled(busy)
        self.stop.setEnabled(goes_on)
        is_own = view.state is not None and not view.state.setup.program
        self.restart.setEnabled(not goes_on and is_own)
        self.branches.setVisible(len(view.branches) > 1)
        self.branches.setEnabled(len(view.branches) > 1)
        for part in (self.search, self.filter, self.times, self.export):
            part.setEnabled(view.state is not None)
        record = f"{view.record} · " if view.record else ""
        # The text before the first run is a default of the view, in English.
        sentence = tr(view.sentence)
        self._words = record + sentence
        self.sentence.show_text(self._words)
        if busy:
            self._since.start()
            self._clock.start()
        else:
            self._clock.stop()
        self._paint()

    def _on_tick(self) -> None:
        """Show the elapsed time when it is long."""
        spent = self._since.elapsed() / 1000
        if spent >= 1:
            self.sentence.show_text(f"{self._words} · {duration(int(spent))}")

    def _paint(self) -> None:
        tones = {
            "running": "accent",
            "paused": "accent",
            "error": "error",
            "done": "success",
            "stopped": "muted",
            "idle": "muted",
            "incomplete": "warning",
        }
        paint_text(self.sentence, tones[self._view.diagram.phase])

    def branch_menu(self) -> QMenu:
        """Return the menu of branches: go to one, or compare it with the shown one."""
        menu = QMenu(self)
        shown = self._view.branches
        current = next((one for one in shown if one.is_current), shown[-1])
        for one in as_tree(shown):
            indent = "\u2003" * (one.depth - 1) + "└ " if one.depth else ""
            parted = f" ({one.parted})" if one.parted else ""
            action = menu.addAction(f"{indent}{one.title}, {one.detail}{parted}")
            action.setCheckable(True)
            action.setChecked(one is current)
            action.triggered.connect(partial(self.branch_chosen.emit, one.last))
        menu.addSeparator()
        for one in shown:
            if one is not current:
                words = tr("Compare {one} with {other}").format(one=one.title, other=current.title)
                action = menu.addAction(icon("git-compare"), words)
                action.triggered.connect(partial(self.compare_chosen.emit, one, current))
        if len(shown) > 2:
            words = tr("Compare all {count}").format(count=len(shown))
            menu.addAction(icon("git-compare"), words).triggered.connect(self.compare_all_chosen)
        menu.addSeparator()
        words = tr("Name {branch}…").format(branch=current.title)
        naming = menu.addAction(icon("pencil"), words)
        naming.triggered.connect(partial(self.ask_name, current))
        return menu

    def ask_name(self, branch: BranchView) -> QInputDialog:
        """Ask for a branch's name; an empty one restores the default."""
        label = tr("Name of {branch}, {detail}:").format(branch=branch.title, detail=branch.detail)
        take = partial(self.branch_named.emit, branch.number)
        return ask_text(self, tr("Name a branch"), label, branch.title, take)

    def export_menu(self) -> QMenu:
        """Return the menu of export formats for the run."""
        menu = QMenu(self)
        fill_form_menu(menu, self.export_chosen.emit)
        return menu


def open_below(menu: QMenu, button: QWidget) -> None:
    """Show a temporary menu below its button, with the first item selected."""
    menu.aboutToHide.connect(menu.deleteLater)
    menu.popup(button.mapToGlobal(button.rect().bottomLeft()))
    if menu.actions():
        menu.setActiveAction(menu.actions()[0])


def _says(view: RunView) -> tuple[object, ...]:
    """Return the shown parts of a view; the state is the same object during a stream."""
    return (id(view.state), view.record, view.sentence, view.branches, view.choice)


# The header of the run pane: prompt and branch of the run, and usage of its limits.

_HEIGHT = 40


class RunHead(QWidget):
    """Prompt, model and protocol; buttons to switch the branch; one small meter."""

    command_given = Signal(tuple)  # commands for the run: a changed limit
    branch_chosen = Signal(int)  # id of the last checkpoint of a branch

    def __init__(self, bar: RunBar) -> None:
        """Create it around the bar, which is at its right end."""
        super().__init__()
        self._view = RunView()
        self._is_older = False
        self._bar = bar
        self.present = QToolButton(autoRaise=True)
        self.prompt = QLabel()
        self.about = ElidedLabel()
        self.before = QToolButton()
        self.branch = toned_label("text")
        self.after = QToolButton()
        self.meter = QToolButton()
        self._lay_out()
        self.before.clicked.connect(partial(self.switch, -1))
        self.after.clicked.connect(partial(self.switch, 1))
        self.meter.clicked.connect(self._on_meter)
        paint_text(self.about, "muted")

    def show_view(self, view: RunView) -> None:
        """Show the prompt, the branch and the usage of a run."""
        before, self._view = self._view, view
        if view.state is not before.state or view.branches != before.branches:
            self._show()

    def show_text(self, is_older: bool) -> None:
        """Show whether the text has changed since the run, with a button to run the new text."""
        if is_older != self._is_older:
            self._is_older = is_older
            self.present.setVisible(is_older)
            self._show()

    def _show(self) -> None:
        view, state = self._view, self._view.state
        if state is None:
            return
        setup = state.setup
        self.prompt.setText(setup.prompt or tr("Prompt"))
        older = tr("earlier text") if self._is_older else ""
        parts = [older, state.answered_by.name, view.protocol if setup.tools else ""]
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
        """Go to the previous (-1) or next (1) branch."""
        ways = self._view.branches
        at = next((index for index, one in enumerate(ways) if one.is_current), -1)
        if at >= 0 and 0 <= at + by < len(ways):
            self.branch_chosen.emit(ways[at + by].last)

    def limits_menu(self) -> QMenu:
        """Build the menu of limits; those of a running run can be changed."""
        menu = QMenu(self)
        state = self._view.state
        for line in limit_lines(state) if state is not None else ():
            if not self._view.is_live:
                menu.addAction(line.words).setEnabled(False)
                continue
            below = menu.addMenu(line.words)
            more = below.addAction(line.more_words)
            more.triggered.connect(partial(self._raise, line, line.more))
            other = below.addAction(tr("Change limit…"))
            other.triggered.connect(partial(self.ask_limit, line))
            none = below.addAction(tr("No limit"))
            none.setEnabled(line.allowed is not None)
            none.triggered.connect(partial(self._raise, line, None))
        return menu

    def ask_limit(self, line: LimitLine) -> QInputDialog:
        """Ask for a new limit in its unit."""
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
        self.setAccessibleName(tr("Prompt of the run"))
        self.prompt.setProperty("title", "true")
        for button, name, words in (
            (self.before, "arrow-left", tr("Previous branch")),
            (self.after, "arrow-right", tr("Next branch")),
        ):
            button.setIcon(icon(name))
            button.setAutoRaise(True)
            button.setToolTip(words)
            button.setAccessibleName(words)
        self.branch.setAccessibleName(tr("Shown branch"))
        self.meter.setAutoRaise(True)
        self.meter.setAccessibleName(tr("Used so far, and limits"))
        layout = row_of(self.prompt, on=self, margins=(16, 2, 12, 0), spacing=4)
        layout.addSpacing(4)
        layout.addWidget(self.about, 1)
        self.present.setText(tr("Run the current text"))
        self.present.hide()
        self.present.setToolTip(
            tr("This run uses the text from its start. Run the editor's text from the beginning.")
        )
        for part in (self.present, self.before, self.branch, self.after):
            layout.addWidget(part)
        layout.addSpacing(8)
        layout.addWidget(self.meter)
        layout.addWidget(self._bar, 1)
