"""The run pane in a small window: nothing is pushed out of sight."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.application.run.displayed_run import RunView, view_of
from studio.application.run.inspector.tabs import Inspection, inspector_view
from studio.ui.run.pane import RunPane
from studio.ui.style.application import apply_theme
from studio.ui.style.theme import LIGHT
from tests.application.run import examples as run

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")


@pytest.fixture
def pane(qtbot: QtBot, qapp: QApplication) -> Iterator[RunPane]:
    """A pane as low and narrow as a window of 900 x 600 has it, at a problem."""
    apply_theme(qapp, LIGHT)
    one = RunPane()
    qtbot.addWidget(one)
    state = run.at_broken_reply()

    def inspect(wanted: Inspection) -> None:
        one.inspector.show_inspector(inspector_view(state, wanted, run.SOURCES))

    one.views.request_inspection.connect(inspect)
    one.resize(900, 204)
    one.show()
    one.show_view(view_of(state))
    QApplication.processEvents()
    yield one
    one.close()


def test_a_problem_fits_into_a_small_window(pane: RunPane) -> None:
    assert pane.width() == 900
    assert pane.minimumSizeHint().width() <= 900
    bar = pane.actions_bar
    shown = [button for button in bar.buttons if button.isVisible()]
    assert len({button.geometry().top() for button in shown}) == 1, "one row"
    assert len(shown) + len(bar.more.menu().actions()) == len(bar.buttons)
    last = max(shown, key=lambda button: button.geometry().bottom())
    bottom = last.mapTo(pane, last.rect().bottomLeft()).y()
    assert bottom < pane.inspector.mapTo(pane, pane.inspector.rect().topLeft()).y()


def test_the_words_on_a_problem_do_not_lie_over_its_buttons(pane: RunPane, qtbot: QtBot) -> None:
    bar = pane.actions_bar
    assert not bar._detail.isVisible()
    assert bar._detail.text()
    pane.resize(900, 420)
    qtbot.waitUntil(bar._detail.isVisible)
    qtbot.waitUntil(lambda: bar._detail.geometry().top() >= bar.buttons[0].geometry().bottom())


def test_the_loop_gives_way_in_a_very_low_dock_and_comes_back(pane: RunPane) -> None:
    assert not pane.diagram.isVisible()
    pane.resize(900, 400)
    assert pane.diagram.isVisible()
    pane.resize(900, 204)
    pane.show_view(RunView())
    assert not pane.diagram.isVisible()  # without a run there is nothing to draw


def test_the_legend_of_a_reply_is_there_where_it_has_room(pane: RunPane) -> None:
    def shown() -> bool:
        return pane.inspector._legend.isVisible()

    assert not shown()
    pane.resize(1400, 400)
    QApplication.processEvents()
    assert shown()
