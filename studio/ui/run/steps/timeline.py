"""The timeline: a list of painted step cards, so that ten thousand of them scroll smoothly."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from PySide6 import QtWidgets
from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent

from studio.application.run.cards.card import CardList, StepCard
from studio.application.run.cards.timeline import CardKind, Timeline
from studio.application.run.edits.in_place import EditKind
from studio.application.run.past.branches import ForkKey, ForkView
from studio.application.words import marked, tr
from studio.ui.base.menus import ON_RUN, add_actions
from studio.ui.parts.kit import OwnKeys
from studio.ui.run.steps.card_painter import ARROW_ROOM, CARD_PAD, CardDelegate
from studio.ui.style.theme import icon
from studio.viewmodels.run.controller import CARD_ROLE, StepListModel

EDIT_OF_CARD: dict[CardKind, tuple[EditKind, str]] = {
    "prompt": ("messages", marked("Edit the messages…")),
    "thought": ("reply", marked("Edit the reply…")),
    "reply": ("reply", marked("Edit the reply…")),
    "action": ("arguments", marked("Edit the arguments…")),
    "observation": ("observation", marked("Edit the observation…")),
    "final": ("answer", marked("Edit the answer…")),
}
"""Kind of edit for each kind of card, with its menu text."""


class TimelineView(QtWidgets.QTableView):
    """Shows a run's cards and follows the run until the user selects a card.

    It is a table with one column: a list view lays out all rows again at each change, which takes
    150 ms at 40,000 cards; a table queries only visible rows (5 ms).
    """

    card_chosen = Signal(StepCard)
    following_changed = Signal(bool)
    request_fork = Signal(StepCard)  # StepCard to go back to
    request_rerun = Signal(StepCard)  # StepCard to run again from
    request_edit = Signal(StepCard, str)  # StepCard, EditKind of the edit
    request_prompt = Signal(int, bool)  # step of the call; whether to include similar calls
    request_now = Signal(int)  # step to repeat with the current prompt
    request_case = Signal(int)  # step whose recorded call becomes a case of the open prompt
    request_search = Signal()
    request_branch = Signal(int)  # id of the last checkpoint of another branch

    def __init__(self) -> None:
        super().__init__()
        self._cards = StepListModel(self)
        self.is_following = True
        """Whether the newest card is selected while the run continues."""
        self._moving = False
        self._forks: Mapping[ForkKey, ForkView] = {}
        self._delegate = CardDelegate(self)
        self.folds = TimelineFolds(self, self._all_cards)
        """Folded parts of the timeline."""
        self.setModel(self._cards)
        self.setItemDelegate(self._delegate)
        self.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.horizontalHeader().hide()
        self.horizontalHeader().setSectionResizeMode(QtWidgets.QHeaderView.ResizeMode.Stretch)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QtWidgets.QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setMinimumSectionSize(1)
        self._set_row_height()
        self.setVerticalScrollMode(QtWidgets.QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSelectionMode(QtWidgets.QAbstractItemView.SelectionMode.SingleSelection)
        self.setAccessibleName(tr("Steps of the run"))
        self.setMinimumWidth(220)
        self.selectionModel().currentChanged.connect(self._on_current_changed)
        OwnKeys(
            self,
            {
                "Ctrl+Return": self.ask_fork,
                "Ctrl+Enter": self.ask_fork,
                "Ctrl+Shift+Return": self.ask_rerun,
                "Ctrl+Shift+Enter": self.ask_rerun,
                "F2": self.ask_edit,
                "Ctrl+F": self.request_search.emit,
                "Left": partial(self.fold_current, folded=True),
                "Right": partial(self.fold_current, folded=False),
                "Alt+Left": partial(self.switch_way, -1),
                "Alt+Right": partial(self.switch_way, 1),
            },
        )

    @property
    def cards(self) -> Sequence[StepCard]:
        """The shown cards."""
        return self._cards.cards

    def _all_cards(self) -> CardList:
        return self._cards.cards

    @property
    def current_card(self) -> StepCard | None:
        """The selected card."""
        card = self.currentIndex().data(CARD_ROLE)
        return card if isinstance(card, StepCard) else None

    def changeEvent(self, event: QEvent) -> None:
        """Keep rows two lines high when the font changes."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._set_row_height()

    def _set_row_height(self) -> None:
        height = 2 * self.fontMetrics().height() + CARD_PAD
        self.verticalHeader().setDefaultSectionSize(height)

    def show_timeline(self, timeline: Timeline) -> None:
        """Show cards; select the current one unless the user has selected another."""
        self._moving = True
        chosen = self.current_card
        kept = self._cards.cards.shares(timeline.cards) if self.folds.is_active else 0
        self._cards.show_timeline(timeline)
        self.folds.refresh(kept)
        if self.is_following:
            row = self._cards.live_row()
        else:
            row = self._cards.row_of(chosen.key) if chosen is not None else -1
            if row >= 0 and row == self._cards.live_row():
                self._set_following(following=True)  # the run went back to the selected card
        if row >= 0:
            self._go_to(row)
        self._moving = False

    def show_forks(self, forks: Mapping[ForkKey, ForkView]) -> None:
        """Show a branch switch on the cards with forks."""
        if forks != self._forks:
            self._forks = forks
            self._delegate.forks = forks
            self.viewport().update()

    def fork_at(self, card: StepCard) -> ForkView | None:
        """Return the branches that start at a card; None if there is only one."""
        return self._delegate.fork_of(card)

    def switch_way(self, by: int) -> None:
        """Go to the previous or next branch at the selected card's fork."""
        card = self.current_card
        fork = self.fork_at(card) if card is not None else None
        end = fork.beside(by) if fork is not None else None
        if end is not None:
            self.request_branch.emit(end)

    def fold_current(self, *, folded: bool) -> None:
        """Fold or unfold the iteration of the selected card."""
        card = self.current_card
        if card is not None:
            self.folds.fold(card.step, folded=folded)
            if folded:
                self.choose((card.step, "prompt", None))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Fold an iteration by a click on its arrow, or switch branches by a card's switch."""
        index = self.indexAt(event.position().toPoint())
        card = index.data(CARD_ROLE)
        if isinstance(card, StepCard) and event.button() == Qt.MouseButton.LeftButton:
            by = self._delegate.switch_at(card, self.visualRect(index), event.position())
            if by:
                self.setCurrentIndex(index)
                self.switch_way(by)
                return
            if card.kind == "prompt" and event.position().x() < ARROW_ROOM:
                self.folds.fold(card.step, folded=not self.folds.is_folded(card.step))
                return
        super().mousePressEvent(event)

    def follow(self) -> None:
        """Go to the current card of the run, and follow the run."""
        self._set_following(following=True)
        row = self._cards.live_row()
        if row >= 0:
            self._moving = True
            self._go_to(row)
            self._moving = False

    def choose(self, key: tuple[int, str, int | None]) -> bool:
        """Select a card like a click on it; return False if it does not exist."""
        row = self._cards.row_of(key)
        if row < 0:
            return False
        self.folds.bring(row)
        self.setCurrentIndex(self._cards.index(row))
        return True

    def moveCursor(  # noqa: N802 - Qt's name
        self, action: QtWidgets.QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        """Go to the first card on Home and to the last on End, as in a list."""
        match action:
            case QtWidgets.QAbstractItemView.CursorAction.MoveHome:
                return self._cards.index(0)
            case QtWidgets.QAbstractItemView.CursorAction.MoveEnd:
                return self._cards.index(len(self._cards.cards) - 1)
            case _:
                return super().moveCursor(action, modifiers)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave digits to the choices of a pause instead of a search in the list."""
        if event.text().isdigit():
            event.ignore()
            return
        super().keyPressEvent(event)

    def ask_fork(self) -> None:
        """Request to go back to the selected card on a new branch."""
        card = self.current_card
        if card is not None:
            self.request_fork.emit(card)

    def ask_rerun(self) -> None:
        """Request to run again from the selected card on a new branch."""
        card = self.current_card
        if card is not None:
            self.request_rerun.emit(card)

    def ask_edit(self) -> None:
        """Request an edit at the selected card."""
        card = self.current_card
        if card is not None and card.kind in EDIT_OF_CARD:
            self.request_edit.emit(card, EDIT_OF_CARD[card.kind][0])

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show the menu of a card."""
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())
        card = index.data(CARD_ROLE)
        if not isinstance(card, StepCard):
            return
        menu = self.menu_of(card)
        place = self.viewport().mapToGlobal(self.visualRect(index).center())
        menu.exec(place if by_key else event.globalPos())
        menu.deleteLater()

    def menu_of(self, card: StepCard) -> QtWidgets.QMenu:
        """Build the menu of a card; each command creates a branch, and the old one is kept."""
        menu = QtWidgets.QMenu(self, toolTipsVisible=True)
        back = menu.addAction(icon("git-branch"), tr("Go back to this point") + tr("\tCtrl+Return"))
        back.triggered.connect(partial(self.request_fork.emit, card))
        again = menu.addAction(
            icon("rotate-ccw"), tr("Run again from here") + tr("\tCtrl+Shift+Return")
        )
        again.triggered.connect(partial(self.request_rerun.emit, card))
        now = menu.addAction(icon("refresh-cw"), tr("Run from here with the open prompt"))
        now.setToolTip(tr("Tools return the recorded results for equal calls"))
        now.triggered.connect(partial(self.request_now.emit, card.step))
        if card.kind in EDIT_OF_CARD:
            kind, words = EDIT_OF_CARD[card.kind]
            edit = menu.addAction(icon("pencil"), tr(words) + "\tF2")
            edit.triggered.connect(partial(self.request_edit.emit, card, kind))
        if card.kind == "action":
            skip = menu.addAction(
                icon("corner-down-right"), tr("Skip the call and enter its result…")
            )
            skip.triggered.connect(partial(self.request_edit.emit, card, "answer_call"))
        menu.addSeparator()
        prompt = menu.addAction(icon("file-input"), tr("Open as prompt…"))
        prompt.triggered.connect(partial(self.request_prompt.emit, card.step, False))
        alike = menu.addAction(icon("file-plus"), tr("Open with similar calls as cases…"))
        alike.triggered.connect(partial(self.request_prompt.emit, card.step, True))
        case = menu.addAction(icon("plus"), tr("Save as case of the open prompt"))
        case.triggered.connect(partial(self.request_case.emit, card.step))
        menu.addSeparator()
        self.folds.add_to(menu, card.step)
        menu.addSeparator()
        copy = menu.addAction(icon("copy"), tr("Copy"))
        copy.triggered.connect(
            partial(QtWidgets.QApplication.clipboard().setText, card.summary or card.title)
        )
        menu.addSeparator()
        add_actions(menu, self.window(), ON_RUN)
        return menu

    def _go_to(self, row: int) -> None:
        self.folds.bring(row)
        index = self._cards.index(row)
        if index != self.currentIndex():
            self.selectionModel().setCurrentIndex(
                index, QItemSelectionModel.SelectionFlag.ClearAndSelect
            )
        self.scrollTo(index)

    def _on_current_changed(self, current: QModelIndex, previous: QModelIndex) -> None:
        card = current.data(CARD_ROLE)
        if not isinstance(card, StepCard):
            return
        if not self._moving:
            self._set_following(following=current.row() == self._cards.live_row())
            self.card_chosen.emit(card)

    def _set_following(self, *, following: bool) -> None:
        if following != self.is_following:
            self.is_following = following
            self.following_changed.emit(following)


# Hidden cards of the timeline, by folding and by a filter, with their menus.


_MOST_FILTERED = 5_000
"""Maximum number of cards to filter: for a longer past run, all events would be read."""

CardFilter: TypeAlias = Callable[[StepCard], bool]
"""Function that decides whether a card is shown."""


def _errors_only(card: StepCard) -> bool:
    """Return whether a card shows a failure or a reply that could not be used unchanged."""
    return card.phase == "error" or card.kind == "error" or "invalid" in card.badges


def _edits_only(card: StepCard) -> bool:
    """Return whether the user edited a card."""
    marks = {"edited", "forked", "answered", "rejected", "skipped", "repaired", "cut"}
    return card.kind == "message" or bool(marks & set(card.badges))


def _of_tool(name: str) -> CardFilter:
    """Return a filter for the calls of a tool."""

    def shows(card: StepCard) -> bool:
        return card.kind == "action" and card.summary.startswith(f"{name}(")

    return shows


class TimelineFolds(QObject):
    """Hides rows without removing them, so that row numbers stay the same."""

    def __init__(self, view: QtWidgets.QTableView, cards: Callable[[], CardList]) -> None:
        super().__init__(view)
        self._view = view
        self._cards = cards
        self._folded: set[int] = set()
        self._filter: CardFilter | None = None

    @property
    def is_active(self) -> bool:
        """Whether any cards may be hidden."""
        return bool(self._folded) or self._filter is not None

    def is_folded(self, step: int) -> bool:
        """Return whether an iteration is folded to its header."""
        return step in self._folded

    def fold(self, step: int, *, folded: bool) -> None:
        """Fold an iteration to its header, or unfold it."""
        if folded != (step in self._folded):
            self._folded ^= {step}
            cards = self._cards()
            self._apply(cards.before(step - 1), cards.before(step))

    def fold_all(self, *, folded: bool) -> None:
        """Fold or unfold all iterations."""
        cards = self._cards()
        last = cards[-1].step if len(cards) else 0
        self._folded = set(range(1, last + 1)) if folded else set()
        self._apply(0, len(cards))

    def set_filter(self, wanted: CardFilter | None) -> None:
        """Show only matching cards, with the headers of their iterations."""
        self._filter = wanted
        self._apply(0, len(self._cards()))

    def reset(self) -> None:
        """Show all cards, for another run."""
        if self.is_active:
            self._folded, self._filter = set(), None
            self._apply(0, len(self._cards()))

    def refresh(self, first: int) -> None:
        """Apply folds and filter to new cards, from a row on."""
        if self.is_active:
            self._apply(first, len(self._cards()))

    def bring(self, row: int) -> None:
        """Make a card visible: unfold its iteration, and remove a filter that hides it."""
        if not self._view.isRowHidden(row):
            return
        card = self._cards()[row]
        if self._filter is not None and not self._filter(card):
            self.set_filter(None)
        self.fold(card.step, folded=False)

    def add_to(self, menu: QtWidgets.QMenu, step: int) -> None:
        """Add the items to fold an iteration or all of them."""
        folded = self.is_folded(step)
        words = tr("Unfold this iteration") if folded else tr("Fold this iteration")
        menu.addAction(words + ("\tRight" if folded else "\tLeft")).triggered.connect(
            partial(self.fold, step, folded=not folded)
        )
        menu.addAction(tr("Fold all")).triggered.connect(partial(self.fold_all, folded=True))
        menu.addAction(tr("Unfold all")).triggered.connect(partial(self.fold_all, folded=False))

    def filter_menu(self) -> QtWidgets.QMenu:
        """Return the menu for the shown cards: all, errors, edits, or the calls of one tool."""
        menu = QtWidgets.QMenu(self._view)
        cards = self._cards()
        if len(cards) > _MOST_FILTERED:
            menu.addAction(tr("This run is too long to filter")).setEnabled(False)
            return menu
        offers: list[tuple[str, CardFilter | None]] = [
            (tr("All steps"), None),
            (tr("Errors"), _errors_only),
            (tr("Your edits and decisions"), _edits_only),
        ]
        calls = (card.summary.partition("(")[0] for card in cards if card.kind == "action")
        for name in sorted(set(calls)):
            offers.append((tr("Calls of {tool}").format(tool=name), _of_tool(name)))
        for words, wanted in offers:
            menu.addAction(words).triggered.connect(partial(self.set_filter, wanted))
        return menu

    def _apply(self, first: int, last: int) -> None:
        cards, view = self._cards(), self._view
        view.setUpdatesEnabled(False)
        for row in range(first, last):
            hidden = self._hides(cards, row)
            if view.isRowHidden(row) != hidden:
                view.setRowHidden(row, hidden)
        view.setUpdatesEnabled(True)

    def _hides(self, cards: CardList, row: int) -> bool:
        if not self.is_active:
            return False
        card = cards[row]
        if card.kind == "prompt":
            return self._filter is not None and not self._has_match(cards, card.step)
        if card.step in self._folded:
            return True
        return self._filter is not None and not self._filter(card)

    def _has_match(self, cards: CardList, step: int) -> bool:
        rows = range(cards.before(step - 1), cards.before(step))
        return any(self._filter is None or self._filter(cards[row]) for row in rows)
