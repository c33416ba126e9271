"""Parts that a widget paints by hand, for those who cannot see them: a name and a place each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QWidget

from studio.viewmodels.app.jobs import single_shot


@dataclass(frozen=True, slots=True)
class PaintedPart:
    """One thing that is painted."""

    name: str
    """Name and state of the part."""

    place: QRect
    """Place in the widget's own coordinates."""


class PaintedParts(QObject):
    """Keeps an empty child widget over each painted part: a screen reader finds and names it.

    They take no mouse, no focus and paint nothing. Without a screen reader there are none.
    """

    def __init__(self, owner: QWidget, parts: Callable[[], Sequence[PaintedPart]]) -> None:
        """Begin.

        Args:
            owner: the widget that paints.
            parts: what it paints now, in order.
        """
        super().__init__(owner)
        self._owner = owner
        self._parts = parts
        self._children: list[QWidget] = []
        self._later = single_shot(self, self._show)
        owner.installEventFilter(self)

    @property
    def children_shown(self) -> tuple[QWidget, ...]:
        """Return the accessible parts, in order."""
        return tuple(self._children)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Update the parts when the widget is painted again."""
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
