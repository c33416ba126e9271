"""The text of an empty pane: one sentence on what to do."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from studio.application.words import tr
from studio.ui.parts.kit import Drawing, column_of, push_button, row_of, toned_label
from studio.ui.style.theme import blend, color_of, paint_text, theme_in_use


class EmptyState(QWidget):
    """A title, a sentence and buttons in the center of an empty pane."""

    def __init__(
        self, icon_name: str, title: str, sentence: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._title = QLabel(title, alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        self._title.setProperty("title", True)
        self._sentence = QLabel(sentence, alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        layout = column_of(1, on=self, margins=(32, 24, 32, 24), spacing=8)
        layout.addWidget(Drawing(icon_name, 28, "muted"), 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addWidget(self._title)
        layout.addWidget(self._sentence)
        layout.addStretch(2)
        paint_text(self._sentence, "muted")

    @property
    def title(self) -> str:
        """Return the title."""
        return self._title.text()

    @property
    def sentence(self) -> str:
        """Return the sentence."""
        return self._sentence.text()

    def offer(self, *buttons: QWidget) -> None:
        """Show buttons below the sentence."""
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertSpacing(layout.count() - 1, 8)
        for each in buttons:
            layout.insertWidget(layout.count() - 1, each, 0, Qt.AlignmentFlag.AlignHCenter)

    def say(self, title: str, sentence: str) -> None:
        """Show another title and sentence."""
        self._title.setText(title)
        self._sentence.setText(sentence)


# A line across a pane that describes a problem and links to its place.


class Banner(QWidget):
    """Line with a message, hidden if there is none."""

    activated = Signal()
    fix_clicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tone = "error"
        self._picture = Drawing("triangle-alert", 16, self._tone)
        self._text = toned_label("text", wraps=True, is_plain=True)
        self._place = QLabel()
        row = row_of(on=self, margins=(12, 8, 12, 8), spacing=8)
        row.addWidget(self._picture, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._text, 1)
        self.fix_button = push_button(tr("Fix"), self.fix_clicked)
        self.fix_button.hide()
        self.fix_button.setCursor(Qt.CursorShape.PointingHandCursor)
        row.addWidget(self.fix_button, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._place, 0, Qt.AlignmentFlag.AlignTop)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.hide()

    @property
    def text(self) -> str:
        """Return the text."""
        return self._text.text()

    def say(self, text: str, place: str = "", tone: str = "error", fix: str = "") -> None:
        """Show a text.

        Args:
            text: the problem.
            place: name of the place that a click goes to.
            tone: `error` or `warning`.
            fix: text of its button; empty for none.
        """
        if fix:
            self.fix_button.setText(fix)
        self.fix_button.setVisible(bool(fix))
        self._tone = "error" if tone == "error" else "warning"
        self._picture.draw("triangle-alert", self._tone)
        paint_text(self._place, self._tone)
        self._text.setText(text)
        self._place.setText(place)
        self.setAccessibleName(f"{text} {place}".strip())
        self.update()
        self.show()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Go to the place on a click."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.activated.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to the place on Enter and Space."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.activated.emit()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint a tint of the tone's color, with a bar at the left."""
        painter = QPainter(self)
        color = color_of(self._tone)
        share = 0.22 if self.hasFocus() else 0.12
        painter.fillRect(self.rect(), QColor(blend(color, theme_in_use().surface, share)))
        painter.fillRect(0, 0, 3, self.height(), QColor(color))
