"""The timeline's item model: cards of a `Timeline`, told to a view by what really changed."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from studio.application.run.cards.card_list import CardList
from studio.application.run.cards.timeline import Timeline

CARD_ROLE = int(Qt.ItemDataRole.UserRole)
"""Role that gives the whole `StepCard`."""


class StepListModel(QAbstractListModel):
    """One row for each card."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._cards = CardList()

    @property
    def cards(self) -> CardList:
        """The cards, in order."""
        return self._cards

    def show_timeline(self, timeline: Timeline) -> None:
        """Take new cards; rows that are the same are not touched."""
        new, old = timeline.cards, self._cards
        same = old.shares(new)
        shared = min(len(old), len(new))
        if len(new) < len(old):
            self.beginRemoveRows(QModelIndex(), len(new), len(old) - 1)
            self._cards = old.upto(len(new))
            self.endRemoveRows()
        if len(new) > len(old):
            self.beginInsertRows(QModelIndex(), len(old), len(new) - 1)
            self._cards = new
            self.endInsertRows()
        self._cards = new
        if same < shared:
            self.dataChanged.emit(self.index(same), self.index(shared - 1))

    def row_of(self, key: tuple[int, str, int | None]) -> int:
        """The row of the card with that key, searched from the newest; -1 where there is none."""
        first, last = self._cards.before(key[0] - 1), self._cards.before(key[0])
        for row in range(last - 1, first - 1, -1):
            if self._cards[row].key == key:
                return row
        return -1

    def live_row(self) -> int:
        """The row where the run stands: the marked card, else the last one; -1 when empty."""
        for row in range(len(self._cards) - 1, max(-1, len(self._cards) - 64), -1):
            if self._cards[row].phase in ("live", "paused", "done"):
                return row
        return len(self._cards) - 1

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        """How many cards there are."""
        return 0 if parent is not None and parent.isValid() else len(self._cards)

    def data(
        self,
        index: QModelIndex | QPersistentModelIndex,
        role: int = int(Qt.ItemDataRole.DisplayRole),
    ) -> Any:  # noqa: ANN401 - Qt's signature
        """The card, its text, or its words for a screen reader."""
        if not index.isValid() or index.row() >= len(self._cards):
            return None
        card = self._cards[index.row()]
        if role == CARD_ROLE:
            return card
        if role == int(Qt.ItemDataRole.DisplayRole):
            return card.title if not card.summary else f"{card.title}: {card.summary}"
        if role == int(Qt.ItemDataRole.AccessibleTextRole):
            return card.spoken
        if role == int(Qt.ItemDataRole.ToolTipRole):
            return "\n".join(filter(None, (card.summary or card.title, card.touched)))
        return None

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        """All rows can be chosen."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
