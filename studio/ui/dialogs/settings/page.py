"""One page of the settings: rows with a label and a sentence, which a search can find."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QFrame,
    QLabel,
    QPushButton,
    QScrollArea,
    QWidget,
)

from studio.ui.parts.layouts import column_of

_FIELD_WIDTH = 320


class _Row(QWidget):
    """A setting: its name, what it does, and its field."""

    def __init__(self, name: str, sentence: str, field: QWidget | None) -> None:
        super().__init__()
        self.words = f"{name} {sentence}".casefold()
        title = QLabel(name)
        title.setProperty("title", True)
        box = column_of(title, on=self, margins=0, spacing=4)
        if sentence:
            label = QLabel(sentence, wordWrap=True)
            label.setProperty("tone", "muted")
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            box.addWidget(label)
        if field is not None:
            field.setMinimumHeight(max(28, field.sizeHint().height()))
            if not field.accessibleName():
                field.setAccessibleName(name)
            title.setBuddy(field)
            if isinstance(field, QPushButton):  # as wide as its words
                box.addWidget(field, 0, Qt.AlignmentFlag.AlignLeft)
            else:
                box.addWidget(field)


class SettingsPage(QScrollArea):
    """Rows one below the other; it scrolls where there is no room."""

    def __init__(self, title: str = "") -> None:
        """Make it; a page that makes its own rows sets its title itself."""
        super().__init__()
        self.title = title
        self._rows: list[_Row] = []
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setAccessibleName(title)
        inside = QWidget()
        self._box = column_of(1, on=inside, margins=(20, 8, 20, 16), spacing=16)
        self.setWidget(inside)

    def set_title(self, title: str) -> None:
        """Name the page."""
        self.title = title
        self.setAccessibleName(title)

    def add(
        self, name: str, sentence: str = "", field: QWidget | None = None, *, wide: bool = False
    ) -> None:
        """Add a setting; a wide field takes the page's whole width."""
        if field is not None and not wide and not isinstance(field, QAbstractButton):
            field.setMaximumWidth(_FIELD_WIDTH)
        row = _Row(name, sentence, field)
        self._rows.append(row)
        self._box.insertWidget(self._box.count() - 1, row)

    def search(self, query: str) -> int:
        """Show the rows that hold all words of a query; gives how many do."""
        wanted = query.casefold().split()
        title = self.title.casefold()
        hits = 0
        for row in self._rows:
            fits = all(word in row.words or word in title for word in wanted)
            row.setVisible(fits)
            hits += fits
        return hits
