from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from studio.core.models.capabilities import is_loaded
from studio.viewmodels.app.background import Background
from studio.viewmodels.connections.controller import PricesFetch


@pytest.fixture
def background(qapp: object) -> Iterator[Background]:
    one = Background()
    yield one
    one.stop()


def test_it_is_told_once_the_prices_are_here(qtbot: QtBot, background: Background) -> None:
    prices = PricesFetch(background)
    for _ in range(2):  # then they are here
        with qtbot.waitSignal(prices.changed) as told:
            prices.load()
        assert told.args == [""]
        assert is_loaded()
