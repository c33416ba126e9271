from __future__ import annotations

from itertools import combinations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.application.run.diagram import DiagramState, Lane, LanePhase
from studio.ui.run.diagram.layout import height_of, lay_out_with_lanes
from studio.ui.run.diagram.widget import LoopDiagram
from studio.ui.style.theme import DARK, LIGHT, Theme, set_motion_reduced
from tests.support.themes import wear

_PHASES: tuple[LanePhase, ...] = ("done", "running", "waits", "failed", "asked", "decided")


def _state(count: int, lane: int | None = None, phase: LanePhase | None = None) -> DiagramState:
    lanes = tuple(
        Lane(row, f"tool_{row}", phase or _PHASES[row % 6], "x", 1000.0) for row in range(count)
    )
    return DiagramState("running", "tool", iteration=1, lanes=lanes, lane=lane)


@pytest.mark.parametrize("width", [640, 920, 1400, 2560])
@pytest.mark.parametrize(("count", "has_more"), [(2, False), (4, False), (3, True)])
def test_lanes_stand_apart_and_inside(width: int, count: int, has_more: bool) -> None:
    height = round(height_of(17.0))
    layout = lay_out_with_lanes(width, height, 17.0, range(count), has_more=has_more)
    boxes = [*layout.nodes.values(), *layout.lanes.values()]
    boxes += [layout.more] if has_more else []

    assert len(layout.lanes) == count
    assert not any(one.intersects(other) for one, other in combinations(boxes, 2))
    assert all(box.left() >= 0 and box.right() <= width for box in boxes)
    assert all(box.top() >= 0 and box.bottom() <= height for box in boxes)
    assert all(box.height() >= 20 and box.width() >= 120 for box in layout.lanes.values())


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_lanes_in_all_their_phases_are_painted(qtbot: QtBot, theme: Theme) -> None:
    diagram = LoopDiagram()
    qtbot.addWidget(diagram)
    wear(theme)
    diagram.resize(1000, diagram.sizeHint().height())
    pictures = []
    for phase in _PHASES:
        diagram.show_state(_state(2, phase=phase))
        pictures.append(diagram.grab().toImage())

    assert all(one != other for one, other in combinations(pictures[:4], 2))


def test_a_lane_is_chosen_by_mouse_and_by_keys(qtbot: QtBot) -> None:
    diagram = LoopDiagram()
    qtbot.addWidget(diagram)
    diagram.resize(1000, diagram.sizeHint().height())
    diagram.show_state(_state(4))
    diagram.show()
    chosen: list[int] = []
    diagram.lane_chosen.connect(chosen.append)
    layout = lay_out_with_lanes(1000, diagram.height(), 17.0, range(4), has_more=False)
    place = layout.lanes[2].center().toPoint()

    qtbot.mouseClick(diagram, Qt.MouseButton.LeftButton, pos=place)
    qtbot.keyClick(diagram, Qt.Key.Key_Down)
    qtbot.keyClick(diagram, Qt.Key.Key_Return)
    qtbot.mouseClick(diagram, Qt.MouseButton.LeftButton, pos=QPoint(2, 2))

    assert chosen == [2, 3]


def test_of_many_calls_those_around_the_one_looked_at_have_lanes(qtbot: QtBot) -> None:
    diagram = LoopDiagram()
    qtbot.addWidget(diagram)
    diagram.resize(1000, diagram.sizeHint().height())
    chosen: list[int] = []
    diagram.lane_chosen.connect(chosen.append)
    diagram.show_state(_state(20, lane=12))
    layout = lay_out_with_lanes(1000, diagram.height(), 17.0, (11, 12, 13), has_more=True)

    qtbot.mouseClick(diagram, Qt.MouseButton.LeftButton, pos=layout.lanes[12].center().toPoint())

    assert chosen == [12]


def test_with_less_motion_only_the_clock_ticks(qtbot: QtBot, qapp: QApplication) -> None:
    diagram = LoopDiagram()
    qtbot.addWidget(diagram)
    diagram.resize(1000, diagram.sizeHint().height())
    diagram.show()
    clock = diagram.clock

    diagram.show_state(_state(2, phase="running"))
    assert clock.isActive()
    assert clock.interval() < 50
    set_motion_reduced(qapp, reduced=True)
    try:
        diagram.show_state(_state(3, phase="running"))
        assert clock.interval() >= 100
    finally:
        set_motion_reduced(qapp, reduced=False)
    diagram.show_state(_state(2, phase="done"))
    assert not clock.isActive()
