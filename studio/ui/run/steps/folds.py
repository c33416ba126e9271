"""Which cards of the timeline are out of sight, and the menus of it: by folding and by a filter."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu, QTableView

from studio.application.run.cards.card import CardList, StepCard
from studio.application.words import tr

_MOST_FILTERED = 5_000
"""Cards up to which they are filtered: of a longer run of the past all would have to be read."""

CardFilter: TypeAlias = Callable[[StepCard], bool]
"""Whether a card is shown."""


def _errors_only(card: StepCard) -> bool:
    """Return whether a card shows a failure or a reply that could not be used as it came."""
    return card.phase == "error" or card.kind == "error" or "invalid" in card.badges


def _edits_only(card: StepCard) -> bool:
    """Return the cards that the user edited."""
    marks = {"edited", "forked", "answered", "rejected", "skipped", "repaired", "cut"}
    return card.kind == "message" or bool(marks & set(card.badges))


def _of_tool(name: str) -> CardFilter:
    """Return the calls of a tool."""

    def shows(card: StepCard) -> bool:
        return card.kind == "action" and card.summary.startswith(f"{name}(")

    return shows


class TimelineFolds(QObject):
    """Rows are hidden, never taken away: each keeps its number."""

    def __init__(self, view: QTableView, cards: Callable[[], CardList]) -> None:
        super().__init__(view)
        self._view = view
        self._cards = cards
        self._folded: set[int] = set()
        self._filter: CardFilter | None = None

    @property
    def is_active(self) -> bool:
        """Whether anything may be out of sight."""
        return bool(self._folded) or self._filter is not None

    def is_folded(self, step: int) -> bool:
        """Return whether only the head of an iteration is shown."""
        return step in self._folded

    def fold(self, step: int, *, folded: bool) -> None:
        """Leave of an iteration only its head, or show all of it."""
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
        """Show some cards only, with the heads of their iterations."""
        self._filter = wanted
        self._apply(0, len(self._cards()))

    def reset(self) -> None:
        """Show everything again, for another run."""
        if self.is_active:
            self._folded, self._filter = set(), None
            self._apply(0, len(self._cards()))

    def refresh(self, first: int) -> None:
        """Apply the folds to the cards that are new, from this row on."""
        if self.is_active:
            self._apply(first, len(self._cards()))

    def bring(self, row: int) -> None:
        """Bring a card into view: unfold its iteration, and end a filter that hides it."""
        if not self._view.isRowHidden(row):
            return
        card = self._cards()[row]
        if self._filter is not None and not self._filter(card):
            self.set_filter(None)
        self.fold(card.step, folded=False)

    def add_to(self, menu: QMenu, step: int) -> None:
        """Offer to fold an iteration, or all of them."""
        folded = self.is_folded(step)
        words = tr("Unfold this iteration") if folded else tr("Fold this iteration")
        menu.addAction(words + ("\tRight" if folded else "\tLeft")).triggered.connect(
            partial(self.fold, step, folded=not folded)
        )
        menu.addAction(tr("Fold all")).triggered.connect(partial(self.fold_all, folded=True))
        menu.addAction(tr("Unfold all")).triggered.connect(partial(self.fold_all, folded=False))

    def filter_menu(self) -> QMenu:
        """Return the menu of which cards are shown: all, errors, edits, or one tool's calls."""
        menu = QMenu(self._view)
        cards = self._cards()
        if len(cards) > _MOST_FILTERED:
            menu.addAction(tr("This run is too long to be filtered")).setEnabled(False)
            return menu
        offers: list[tuple[str, CardFilter | None]] = [
            (tr("All steps"), None),
            (tr("Errors"), _errors_only),
            (tr("Edits and decisions of yours"), _edits_only),
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
