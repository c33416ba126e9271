"""The rows of a run that a search finds, waited for."""

from __future__ import annotations

from collections.abc import Sequence

from pytestqt.qtbot import QtBot

from studio.application.run.cards.card import StepCard
from studio.core.agent.values.state import RunState
from studio.viewmodels.run.controller import RunSearch


def rows_with(
    qtbot: QtBot, state: RunState | None, cards: Sequence[StepCard], words: str
) -> tuple[int, ...]:
    """The rows of the cards that hold the words, as the window's own search finds them."""
    search = RunSearch()
    search.look(state, cards, words)
    qtbot.waitUntil(lambda: search.found.is_whole)
    return search.found.rows
