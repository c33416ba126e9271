"""Accessible names and places for parts that a widget paints by hand."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QWidget

from studio.viewmodels.app.jobs import single_shot


@dataclass(frozen=True, slots=True)
class PaintedPart:
    """A painted part."""

    name: str
    """Name and state of the part."""

    place: QRect
    """Rectangle in the widget's coordinates."""


class PaintedParts(QObject):
    """Holds an empty child widget over each painted part, for screen readers.

    The children ignore mouse and focus and paint nothing. They exist only with a screen reader.
    """

    def __init__(self, owner: QWidget, parts: Callable[[], Sequence[PaintedPart]]) -> None:
        """Watch a widget.

        Args:
            owner: the widget that paints.
            parts: returns the currently painted parts, in order.
        """
        super().__init__(owner)
        self._owner = owner
        self._parts = parts
        self._children: list[QWidget] = []
        self._later = single_shot(self, self._show)
        owner.installEventFilter(self)

    @property
    def children_shown(self) -> tuple[QWidget, ...]:
        """Return the child widgets in order."""
        return tuple(self._children)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Update the children when the widget is repainted."""
        if event.type() == QEvent.Type.Paint and QAccessible.isActive():
            self._later.start()
        return False

    def _show(self) -> None:
        parts = self._parts()
        while len(self._children) > len(parts):
            self._children.pop().deleteLater()
        while len(self._children) < len(parts):
            child = QWidget(self._owner, focusPolicy=Qt.FocusPolicy.NoFocus)
            child.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            child.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
            child.show()
            self._children.append(child)
        for child, part in zip(self._children, parts, strict=True):
            if child.accessibleName() != part.name:
                child.setAccessibleName(part.name)
            if child.geometry() != part.place:
                child.setGeometry(part.place)
