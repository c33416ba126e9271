from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from PySide6.QtCore import QPointF, Qt
from pytestqt.qtbot import QtBot

from studio.application.run.diagram import CHAT_NODES, NODES, DiagramState, Node
from studio.core.agent.values.step import PausePoint
from studio.ui.run.diagram.layout import height_of, lay_out, lay_out_with_facts
from studio.ui.run.diagram.widget import LoopDiagram
from studio.ui.style.theme import DARK, LIGHT, Theme
from tests.support.themes import wear

_LABELS = dict.fromkeys(NODES, 48.0)


@pytest.mark.parametrize("width", [420, 700, 1200, 2560])
def test_nodes_stand_in_order_and_inside(width: int) -> None:
    layout = lay_out(width, 76, _LABELS, 16.0, 14.0)
    boxes = [layout.nodes[node] for node in NODES]

    assert all(left.right() < right.left() for left, right in pairwise(boxes))
    if width >= 700:
        assert boxes[0].left() >= 0
        assert boxes[-1].right() <= width
    assert layout.loop.boundingRect().top() >= 0
    assert layout.leave.boundingRect().bottom() <= 76


def test_an_observation_leads_back_and_never_out() -> None:
    pairs = [(start, end) for start, end, _ in lay_out(1200, 76, _LABELS, 16.0, 14.0).arrows]

    assert ("observation", "final") not in pairs
    assert ("final", "done") in pairs


@pytest.mark.parametrize("width", [640, 920, 1400])
@pytest.mark.parametrize("nodes", [NODES, CHAT_NODES])
def test_with_facts_the_way_out_stands_below_and_nothing_overlaps(
    width: int, nodes: tuple[Node, ...]
) -> None:
    height = round(height_of(16.0, nodes))
    layout = lay_out_with_facts(width, height, _LABELS, 16.0, nodes)
    boxes = list(layout.nodes.values())

    assert set(layout.nodes) == set(nodes)
    assert not any(one.intersects(other) for one, other in combinations(boxes, 2))
    assert all(box.left() >= 0 and box.right() <= width for box in boxes)
    assert all(box.bottom() <= height for box in boxes)
    assert layout.loop.isEmpty() == (nodes == CHAT_NODES)


@pytest.mark.parametrize("width", [420, 560])
def test_in_a_narrow_diagram_each_box_holds_its_own_label(width: int) -> None:
    labels = {**dict.fromkeys(NODES, 40.0), "observation": 82.0}
    layout = lay_out_with_facts(width, round(height_of(16.0)), labels, 16.0)
    assert all(layout.nodes[node].width() >= labels[node] + 4 for node in NODES)
    assert layout.nodes["observation"].right() <= width


def test_the_notes_of_a_chat_have_room_below_its_nodes() -> None:
    height = round(height_of(16.0, CHAT_NODES))
    layout = lay_out_with_facts(860, height, _LABELS, 16.0, CHAT_NODES)
    assert all(box.bottom() + 15.0 <= height for box in layout.nodes.values())


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("phase", ["running", "paused", "error"])
def test_the_live_node_is_painted_unlike_the_others(qtbot: QtBot, theme: Theme, phase: str) -> None:
    diagram = LoopDiagram()
    qtbot.addWidget(diagram)
    wear(theme)
    diagram.resize(1000, diagram.sizeHint().height())
    idle = diagram.grab().toImage()
    diagram.show_state(DiagramState(phase, "action", sentence="x"))  # type: ignore[arg-type]
    live = diagram.grab().toImage()
    location = diagram._lay_out().nodes["action"]
    other = diagram._lay_out().nodes["tool"]

    def color(image: object, point: QPointF) -> int:
        return image.pixel(round(point.x()), round(point.y()))  # type: ignore[attr-defined]

    edge = QPointF(location.left() + 14, location.top())
    assert color(live, edge) != color(idle, edge)
    quiet = QPointF(other.left() + 6, other.center().y())
    assert color(live, quiet) == color(idle, quiet)


def test_a_click_shows_a_node_with_ctrl_it_breaks_there_and_its_menu_runs_to_it(
    qtbot: QtBot,
) -> None:
    diagram = LoopDiagram()
    qtbot.addWidget(diagram)
    diagram.resize(1000, 76)
    chosen: list[str] = []
    broken: list[str] = []
    diagram.node_chosen.connect(chosen.append)
    diagram.break_toggled.connect(broken.append)
    location = diagram._lay_out().nodes["reply"].center().toPoint()
    model = diagram._lay_out().nodes["model"].center().toPoint()
    qtbot.mouseClick(diagram, Qt.MouseButton.LeftButton, pos=location)
    control = Qt.KeyboardModifier.ControlModifier
    qtbot.mouseClick(diagram, Qt.MouseButton.LeftButton, control, location)
    qtbot.mouseClick(diagram, Qt.MouseButton.LeftButton, control, model)  # no place to stop at
    assert chosen == ["reply"]
    assert broken == [PausePoint.REPLY]
    assert diagram.window().focusWidget() is diagram  # its keys are those of the node

    wanted: list[str] = []
    diagram.request_run_to.connect(wanted.append)
    menu = diagram.menu_of("action")
    stop, run, *_ = menu.actions()
    stop.trigger()
    run.trigger()
    qtbot.keyClick(diagram, Qt.Key.Key_F10, control)  # at the model no run can stand
    assert broken == [PausePoint.REPLY, PausePoint.TOOL_CALL]
    assert wanted == [PausePoint.TOOL_CALL]
    qtbot.keyClick(diagram, Qt.Key.Key_Right)
    qtbot.keyClick(diagram, Qt.Key.Key_F10, control)
    assert wanted == [PausePoint.TOOL_CALL, PausePoint.REPLY]


def test_the_sentence_is_told_to_screen_readers(qtbot: QtBot) -> None:
    diagram = LoopDiagram()
    qtbot.addWidget(diagram)
    diagram.show_state(DiagramState(sentence="Paused before the tool runs: lookup"))

    assert diagram.accessibleDescription() == "Paused before the tool runs: lookup"


def test_a_compact_diagram_is_lower_and_keeps_its_arcs(qtbot: QtBot) -> None:
    diagram = LoopDiagram()
    qtbot.addWidget(diagram)
    whole = diagram.sizeHint().height()
    diagram.set_compact(True)
    low = diagram.sizeHint().height()
    diagram.resize(900, low)
    layout = diagram._lay_out()

    assert low < whole
    assert layout.loop.boundingRect().top() >= 0
    assert layout.leave.boundingRect().bottom() <= low
