"""Where the parts of the loop diagram stand, for a size and a font."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainterPath

from studio.application.run.diagram import NODES, Node

_MARGIN = 16.0
_MAX_GAP = 56.0
_TIP = 3.0
"""Pixels between an arrow's tip and the node that it points to."""


@dataclass(frozen=True, slots=True)
class DiagramLayout:
    """Boxes and paths, in the widget's pixels."""

    size: tuple[int, int]
    """The size that it was made for."""

    nodes: Mapping[Node, QRectF]
    """Box of each node."""

    arrows: tuple[tuple[Node, Node, QPainterPath], ...]
    """Straight arrows between neighbours: from, to, line."""

    loop: QPainterPath
    """Back from Observation to Prompt, above the nodes."""

    leave: QPainterPath
    """From Reply to Final, below the nodes."""

    loop_label: QPointF
    """Middle of the iteration's label, on the loop."""

    leave_level: float
    """Height of the way out's long line; the tool's name stands on it."""


def lay_out(
    width: int,
    height: int,
    label_widths: Mapping[Node, float],
    text_height: float,
    reach: float,
) -> DiagramLayout:
    """Place all nodes in one row, the loop above and the way out below.

    Args:
        width: pixels.
        height: pixels.
        label_widths: width of each node's label.
        text_height: height of a label.
        reach: how far the two arcs stand off the row, in pixels.
    """
    pad = 14.0
    count = len(NODES)
    labels = sum(label_widths.values())
    gap = (width - 2 * _MARGIN - labels - 2 * pad * count) / (count - 1)
    if gap < 18.0:
        # Narrow: give up padding before the arrows, which carry the meaning.
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
        # Half pixels keep 1-px edges crisp.
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
        leave_level=top + box_height + reach,
    )


def _arrows(nodes: Mapping[Node, QRectF]) -> list[tuple[Node, Node, QPainterPath]]:
    found: list[tuple[Node, Node, QPainterPath]] = []
    for start, end in pairwise(NODES):
        if (start, end) == ("observation", "final"):
            continue  # an observation leads back into the loop, never out of it
        middle = round(nodes[start].center().y()) + 0.5
        path = QPainterPath(QPointF(nodes[start].right() + _TIP, middle))
        path.lineTo(QPointF(nodes[end].left() - _TIP, middle))
        found.append((start, end, path))
    return found


def _bow(start: QRectF, end: QRectF, *, up: bool, reach: float) -> QPainterPath:
    """A path with round corners that leaves `start` and comes to `end` above or below the row."""
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
