"""The answer of a tried call: its text, pictures, status and headers, and what the tool printed."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from PySide6.QtCore import QBuffer, QIODevice, Qt
from PySide6.QtGui import QImageReader, QPixmap
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QWidget

from studio.application.words import marked, tr
from studio.core.text.invisible import reveal
from studio.core.tools.source import ToolOutcome, ToolPicture
from studio.ui.parts.labels import named, toned_label
from studio.ui.parts.layouts import column_of
from studio.ui.parts.text_views import JsonView, fixed_text
from studio.ui.preview.cards.text_body import pretty_json
from studio.ui.style.colors import paint_text

_HEIGHT = 180
"""Most height of a picture, in pixels."""

_MOST_MEGAPIXELS = 40

_LEAST_RESULT = 72
"""Height of the answer, in pixels, that headers and printed text leave to it."""


_STATUS_WORDS = {
    "ok": marked("Done"),
    "error": marked("The tool failed"),
    "timeout": marked("Stopped: it took too long"),
    "cancelled": marked("Stopped by you"),
    "crashed": marked("The tool's process crashed"),
    "unknown-tool": marked("Nothing runs this tool"),
    "bad-arguments": marked("The arguments do not fit the schema"),
}


def status_words(outcome: ToolOutcome) -> str:
    """Describe the outcome of a call, in words."""
    return tr(_STATUS_WORDS[outcome.status])


class PicturesView(QScrollArea):
    """A row of pictures; nothing is fetched from anywhere."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setAccessibleName(tr("Pictures of the result"))
        self.setFixedHeight(_HEIGHT + 24)
        self.labels: list[QLabel] = []
        self.show_pictures(())

    def show_pictures(self, pictures: Sequence[ToolPicture]) -> None:
        """Show them; without any, nothing is there."""
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 4, 0, 4)
        self.labels = []
        for picture in pictures:
            label = QLabel(row, textFormat=Qt.TextFormat.PlainText)
            pixmap, size = _pixmap(picture)
            if pixmap is None:
                label.setText(
                    tr("{kind}, {size}: cannot be shown").format(kind=picture.kind, size=size)
                )
            else:
                label.setPixmap(pixmap)
            label.setToolTip(f"{picture.kind}, {size}")
            self.labels.append(label)
            layout.addWidget(label)
        layout.addStretch(1)
        self.setWidget(row)
        self.setVisible(bool(pictures))


def _pixmap(picture: ToolPicture) -> tuple[QPixmap | None, str]:
    """The picture, no higher than the row, and its size in words; None for what is no picture."""
    try:
        data = base64.b64decode(picture.data, validate=True)
    except ValueError:
        return None, "0"
    size = f"{len(data):,} B"
    buffer = QBuffer()
    buffer.setData(data)
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    whole = reader.size()
    if not whole.isValid() or whole.width() * whole.height() > _MOST_MEGAPIXELS * 1_000_000:
        return None, size
    if whole.height() > _HEIGHT:
        reader.setScaledSize(
            whole.scaled(whole.width(), _HEIGHT, Qt.AspectRatioMode.KeepAspectRatio)
        )
    image = reader.read()
    if image.isNull():
        return None, size
    return QPixmap.fromImage(image), f"{whole.width()} × {whole.height()}, {size}"


class ToolAnswer(QScrollArea):
    """Shows one outcome; of a running call, its output so far."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.result = named(JsonView(), tr("Result of the call"))
        self.result.setMinimumHeight(_LEAST_RESULT)
        self.head = QLabel(
            textFormat=Qt.TextFormat.PlainText,
            wordWrap=True,
            textInteractionFlags=Qt.TextInteractionFlag.TextSelectableByMouse,
        )
        self.head.setAccessibleName(tr("Status and headers of the answer"))
        self.pictures = PicturesView()
        self.printed = fixed_text(tr("What the tool printed"), has_frame=False)
        self.printed.setMaximumHeight(110)
        self._printed_title = toned_label("muted", tr("Printed by the tool"))
        page = QWidget()
        column_of(
            (self.result, 1),
            self.pictures,
            self.head,
            self._printed_title,
            self.printed,
            on=page,
            margins=12,
            spacing=8,
        )
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setWidget(page)
        paint_text(self.head, "muted")
        self.show_outcome(None)

    def show_outcome(self, outcome: ToolOutcome | None) -> None:
        """Show how a call ended; without one there is nothing to see."""
        self.result.setVisible(outcome is not None)
        if outcome is not None:
            self.result.show_answer(pretty_json(outcome.text))
        head = outcome.head if outcome is not None else ""
        self.head.setText(reveal(head))
        self.head.setVisible(bool(head))
        self.pictures.show_pictures(outcome.pictures if outcome is not None else ())
        self.show_live_output(outcome.stderr.strip() if outcome is not None else "")

    def show_live_output(self, text: str) -> None:
        """Show the output of a call so far."""
        if text != self.printed.toPlainText():
            self.printed.setPlainText(text)
            bar = self.printed.verticalScrollBar()
            bar.setValue(bar.maximum())
        self.printed.setVisible(bool(text))
        self._printed_title.setVisible(bool(text))
