"""Pictures that a tool gave, as pictures; audio by its kind and size."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from PySide6.QtCore import QBuffer, QIODevice, Qt
from PySide6.QtGui import QImageReader, QPixmap
from PySide6.QtWidgets import QHBoxLayout, QLabel, QScrollArea, QWidget

from studio.core.tools.source import ToolPicture

_HEIGHT = 180
"""Most height of a picture, in pixels."""

_MOST_MEGAPIXELS = 40


class PicturesView(QScrollArea):
    """A row of pictures; nothing is fetched from anywhere."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setAccessibleName(self.tr("Pictures of the result"))
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
            label = QLabel(row)
            label.setTextFormat(Qt.TextFormat.PlainText)
            pixmap, size = _pixmap(picture)
            if pixmap is None:
                label.setText(
                    self.tr("{kind}, {size}: cannot be shown").format(kind=picture.kind, size=size)
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
