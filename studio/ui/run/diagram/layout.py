"""The layout of the loop diagram, for a size and a font."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainterPath

from studio.application.run.diagram import CHAT_NODES, NODES, Node

_MARGIN = 16.0
_MAX_GAP = 56.0
_TIP = 3.0
"""Pixels between the tip of an arrow and its node."""


@dataclass(frozen=True, slots=True)
class DiagramLayout:
    """Boxes and paths, in the widget's pixels."""

    size: tuple[int, int]
    """Size for which it was computed, in pixels."""

    nodes: Mapping[Node, QRectF]
    """Box of each node."""

    arrows: tuple[tuple[Node, Node, QPainterPath], ...]
    """Straight arrows between adjacent nodes: from, to, line."""

    loop: QPainterPath
    """Path from Observation back to Prompt, above the nodes."""

    leave: QPainterPath
    """Path from Reply to Final, below the nodes."""

    loop_label: QPointF
    """Center of the iteration's label, on the loop."""

    has_facts: bool = False
    """Whether the nodes have room for a second line."""

    lanes: Mapping[int, QRectF] = field(default_factory=dict)
    """Box of each shown call, by its row, between Reply and Observation."""

    fans: tuple[tuple[int, QPainterPath, QPainterPath], ...] = ()
    """Paths into and out of each lane, by row."""

    more: QRectF = field(default_factory=QRectF)
    """Box of the calls without a lane of their own; empty if there are none."""


def lay_out(
    width: int, height: int, label_widths: Mapping[Node, float], text_height: float, reach: float
) -> DiagramLayout:
    """Place all nodes in one row, the loop above and the exit below.

    Args:
        width: width in pixels.
        height: height in pixels.
        label_widths: width of each node's label.
        text_height: height of a label.
        reach: distance of the two arcs from the row, in pixels.
    """
    pad = 14.0
    count = len(NODES)
    labels = sum(label_widths.values())
    gap = (width - 2 * _MARGIN - labels - 2 * pad * count) / (count - 1)
    if gap < 18.0:
        # Narrow: reduce padding before the arrows, which carry the meaning.
        pad = max(5.0, (width - 2 * _MARGIN - labels - 18.0 * (count - 1)) / (2 * count))
        gap = max(8.0, (width - 2 * _MARGIN - labels - 2 * pad * count) / (count - 1))
    gap = min(gap, _MAX_GAP)
    used = labels + 2 * pad * count + gap * (count - 1)
    left = max(_MARGIN, (width - used) / 2)
    box_height = text_height + 10.0
    top = (height - box_height) / 2
    nodes: dict[Node, QRectF] = {}
    for node in NODES:
        box_width = label_widths[node] + 2 * pad
        # Half pixels keep edges of one pixel sharp.
        nodes[node] = QRectF(round(left) + 0.5, round(top) + 0.5, round(box_width), box_height)
        left += box_width + gap
    loop = _bow(nodes["observation"], nodes["prompt"], up=True, reach=reach)
    leave = _bow(nodes["reply"], nodes["final"], up=False, reach=reach)
    between = (nodes["prompt"].center().x() + nodes["observation"].center().x()) / 2
    return DiagramLayout(
        size=(width, height),
        nodes=nodes,
        arrows=tuple(_arrows(nodes)),
        loop=loop,
        leave=leave,
        loop_label=QPointF(between, round(top - reach) + 0.5),
    )


_WIDEST, _NARROWEST = 132.0, 52.0
_AROUND = 8.0
"""Pixels around a label in its box."""

_OVER = 24.0
"""Pixels above the row of nodes, for the loop with the iteration number."""

_UNDER = 16.0
"""Pixels below the row of nodes, for the exit or for a chat's notes."""

_CHAT_OVER = _OVER + 10.0 - _UNDER
"""Pixels above the nodes of a prompt without tools, which has no loop."""


def height_of(text_height: float, nodes: Sequence[Node] = NODES) -> float:
    """Return the height in pixels of the diagram with facts."""
    box = 2 * text_height + 12.0
    below = 0.0 if tuple(nodes) == CHAT_NODES else _UNDER + text_height + 8.0
    return _OVER + box + below + 10.0


def lay_out_with_facts(
    width: int,
    height: int,
    label_widths: Mapping[Node, float],
    text_height: float,
    nodes: Sequence[Node] = NODES,
) -> DiagramLayout:
    """Place the loop in one row of nodes with two lines, and the exit below it.

    A prompt without tools has no loop: all of its nodes are in one row.

    Args:
        width: pixels.
        height: pixels.
        label_widths: width of each node's label.
        text_height: height of a line.
        nodes: the nodes to draw.
    """
    is_chat = tuple(nodes) == CHAT_NODES
    row = tuple(nodes) if is_chat else NODES[:6]
    gap = max(14.0, min(40.0, width * 0.035))
    widths = _box_widths(row, width - 2 * _MARGIN - gap * (len(row) - 1), label_widths)
    left = (width - sum(widths) - gap * (len(row) - 1)) / 2
    top, box_height = _CHAT_OVER if is_chat else _OVER, 2 * text_height + 12.0
    boxes: dict[Node, QRectF] = {}
    for node, box_width in zip(row, widths, strict=True):
        boxes[node] = QRectF(round(left) + 0.5, top + 0.5, round(box_width), round(box_height))
        left += box_width + gap
    arrows = [(start, end, _straight(boxes[start], boxes[end])) for start, end in pairwise(row)]
    loop, leave = QPainterPath(), QPainterPath()
    between = (boxes[row[0]].center().x() + boxes[row[-1]].center().x()) / 2
    if not is_chat:
        below = top + box_height + _UNDER
        ways_out: tuple[tuple[Node, QRectF], ...] = (
            ("final", boxes["action"]),
            ("done", boxes["tool"]),
        )
        for node, above in ways_out:
            wide = max(above.width(), label_widths[node] + _AROUND)
            box = QRectF(above.left(), round(below) + 0.5, wide, round(text_height + 8.0))
            boxes[node] = box
        arrows.append(("final", "done", _straight(boxes["final"], boxes["done"])))
        loop = _bow(boxes["observation"], boxes["prompt"], up=True, reach=top / 2)
        leave = _down(boxes["reply"], boxes["final"])
    return DiagramLayout(
        size=(width, height),
        nodes=boxes,
        arrows=tuple(arrows),
        loop=loop,
        leave=leave,
        loop_label=QPointF(between, round(top / 2) + 0.5),
        has_facts=True,
    )


def _box_widths(
    row: Sequence[Node], room: float, label_widths: Mapping[Node, float]
) -> list[float]:
    """Return equal box widths; if there is little room, each box fits its own label."""
    equal = max(_NARROWEST, min(_WIDEST, room / len(row)))
    needs = [label_widths[node] + _AROUND for node in row]
    if equal >= max(needs):
        return [equal] * len(row)
    spare = (room - sum(needs)) / len(row)
    return [need + spare for need in needs]


MOST_LANES = 4
"""Maximum number of lanes; the last lane shows the number of further calls."""

_LANE_GAP = 3.0


def lay_out_with_lanes(
    width: int, height: int, text_height: float, rows: Sequence[int], *, has_more: bool
) -> DiagramLayout:
    """Place an iteration with several calls, which fan out from Reply and join in the results.

    Args:
        width: pixels.
        height: pixels.
        text_height: height of a line.
        rows: rows of the calls that have a lane.
        has_more: whether there is one more lane, for the other calls.
    """
    gap = max(14.0, min(40.0, width * 0.035))
    fan = gap * 1.5
    room = width - 2 * _MARGIN - 2 * gap - 2 * fan
    box_width = max(_NARROWEST, min(_WIDEST, room / 6.2))
    lane_width = min(room - 4 * box_width, 2.6 * box_width)
    left = (width - 4 * box_width - lane_width - 2 * gap - 2 * fan) / 2
    top, box_height = _OVER, 2 * text_height + 12.0
    boxes: dict[Node, QRectF] = {}
    row: tuple[tuple[Node, float], ...] = (
        ("prompt", gap),
        ("model", gap),
        ("reply", fan + lane_width + fan),
    )
    for node, after in row:
        boxes[node] = QRectF(round(left) + 0.5, top + 0.5, round(box_width), round(box_height))
        left += box_width + after
    boxes["observation"] = QRectF(round(left) + 0.5, top + 0.5, round(box_width), round(box_height))
    below = top + box_height + _UNDER
    ways_out: tuple[tuple[Node, QRectF], ...] = (
        ("final", boxes["model"]),
        ("done", boxes["prompt"]),
    )
    for node, above in ways_out:
        boxes[node] = QRectF(
            above.left(), round(below) + 0.5, above.width(), round(text_height + 8.0)
        )
    count = len(rows) + has_more
    first = _OVER + 2.0
    lane_height = min(26.0, (height - 6.0 - first - _LANE_GAP * (count - 1)) / count)
    middle = boxes["reply"].center().y()
    begin = max(first, middle - (count * (lane_height + _LANE_GAP) - _LANE_GAP) / 2)
    start = boxes["reply"].right() + fan
    places = [
        QRectF(
            round(start) + 0.5,
            round(begin + index * (lane_height + _LANE_GAP)) + 0.5,
            round(lane_width),
            round(lane_height),
        )
        for index in range(count)
    ]
    lanes = dict(zip(rows, places, strict=False))
    return DiagramLayout(
        size=(width, height),
        nodes=boxes,
        arrows=(
            ("prompt", "model", _straight(boxes["prompt"], boxes["model"])),
            ("model", "reply", _straight(boxes["model"], boxes["reply"])),
            ("final", "done", _straight(boxes["final"], boxes["done"])),
        ),
        loop=_bow(boxes["observation"], boxes["prompt"], up=True, reach=top / 2),
        leave=_down(boxes["reply"], boxes["final"]),
        loop_label=QPointF(
            (boxes["prompt"].center().x() + boxes["observation"].center().x()) / 2,
            round(top / 2) + 0.5,
        ),
        has_facts=True,
        lanes=lanes,
        fans=tuple(
            (at, _curve(boxes["reply"], box), _curve(box, boxes["observation"]))
            for at, box in lanes.items()
        ),
        more=places[-1] if has_more else QRectF(),
    )


def _curve(start: QRectF, end: QRectF) -> QPainterPath:
    """Return a curve from the right side of a box to the left side of another one."""
    begin = QPointF(start.right() + _TIP, round(start.center().y()) + 0.5)
    close = QPointF(end.left() - _TIP, round(end.center().y()) + 0.5)
    half = (close.x() - begin.x()) / 2
    path = QPainterPath(begin)
    path.cubicTo(begin + QPointF(half, 0), close - QPointF(half, 0), close)
    return path


def _straight(start: QRectF, end: QRectF) -> QPainterPath:
    """Return a line from the side of a box to the facing side of another one."""
    middle = round(start.center().y()) + 0.5
    is_back = end.left() < start.left()
    path = QPainterPath(QPointF(start.left() - _TIP if is_back else start.right() + _TIP, middle))
    path.lineTo(QPointF(end.right() + _TIP if is_back else end.left() - _TIP, middle))
    return path


def _down(start: QRectF, end: QRectF) -> QPainterPath:
    """Return a path from below `start` around a corner to the side of `end`."""
    x, level = round(start.center().x()) + 0.5, round(end.center().y()) + 0.5
    way = 1.0 if end.left() > x else -1.0
    path = QPainterPath(QPointF(x, start.bottom() + _TIP))
    path.lineTo(x, level - 8.0)
    path.quadTo(x, level, x + way * 8.0, level)
    path.lineTo(end.left() - _TIP if way > 0 else end.right() + _TIP, level)
    return path


def _arrows(nodes: Mapping[Node, QRectF]) -> list[tuple[Node, Node, QPainterPath]]:
    """Return the arrows of the row; an observation leads back into the loop, not out of it."""
    return [
        (start, end, _straight(nodes[start], nodes[end]))
        for start, end in pairwise(NODES)
        if (start, end) != ("observation", "final")
    ]


def _bow(start: QRectF, end: QRectF, *, up: bool, reach: float) -> QPainterPath:
    """Return a rounded path from `start` to `end` above or below the row."""
    sign = -1.0 if up else 1.0
    begin = QPointF(start.center().x(), start.top() - _TIP if up else start.bottom() + _TIP)
    close = QPointF(end.center().x(), end.top() - _TIP if up else end.bottom() + _TIP)
    level = round((start.top() if up else start.bottom()) + sign * reach) + 0.5
    way = -1.0 if close.x() < begin.x() else 1.0
    radius = min(8.0, abs(level - begin.y()))
    path = QPainterPath(begin)
    path.lineTo(begin.x(), level - sign * radius)
    path.quadTo(begin.x(), level, begin.x() + way * radius, level)
    path.lineTo(close.x() - way * radius, level)
    path.quadTo(close.x(), level, close.x(), level - sign * radius)
    path.lineTo(close)
    return path
