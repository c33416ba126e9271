"""A picture, file or recording in a message: a thumbnail where it can be shown safely."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QCoreApplication, QIODevice, QSize, Qt, Signal
from PySide6.QtGui import QImage, QImageReader, QMouseEvent, QPixmap
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from studio.core.prompty.messages import MediaPart
from studio.core.text import amounts
from studio.core.text.bounded_file import read_bounded
from studio.core.text.plain_tip import plain_tip
from studio.core.text.reason import reason_of
from studio.core.text.shortened import shortened
from studio.ui.parts.layouts import column_of, row_of
from studio.ui.style.colors import paint_text
from studio.viewmodels.app.jobs import LatestJob

BYTES_LIMIT = 10_000_000
"""A larger picture is named, not shown."""

_THUMB = QSize(160, 120)


@dataclass(frozen=True, slots=True)
class Picture:
    """What came of reading a picture."""

    image: QImage | None
    """The thumbnail, where it could be made."""

    note: str
    """Size and kind, or why there is none."""


def read_picture(source: str, folder: Path | None, limit: int = BYTES_LIMIT) -> Picture:
    """Read a thumbnail from a data URI or from a file inside `folder`; nothing else is touched.

    Network addresses are never fetched for a preview.
    """
    if source.startswith("data:"):
        return _from_data(source, limit)
    if "://" in source:
        return Picture(
            None, QCoreApplication.translate("Thumbnail", "at a network address; not fetched")
        )
    if folder is None:
        return Picture(
            None,
            QCoreApplication.translate(
                "Thumbnail", "not read: the prompt is not saved, or its folder is not trusted"
            ),
        )
    try:
        path = (folder / source).resolve()
        if path.is_relative_to(folder.resolve()):
            return _decode(read_bounded(path, limit))
    except (OSError, ValueError) as error:
        return Picture(None, reason_of(error))
    return Picture(
        None, QCoreApplication.translate("Thumbnail", "outside the prompt's folder; not read")
    )


def _from_data(source: str, limit: int) -> Picture:
    head, _, payload = source.partition(",")
    if len(payload) > limit * 4 // 3:
        return Picture(None, QCoreApplication.translate("Thumbnail", "data too large to show"))
    try:
        data = base64.b64decode(payload, validate=True) if head.endswith(";base64") else b""
    except (binascii.Error, ValueError):
        return Picture(
            None, QCoreApplication.translate("Thumbnail", "the data is not valid base64")
        )
    return _decode(data)


def _decode(data: bytes) -> Picture:
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    reader.setAutoTransform(True)
    size = reader.size()
    if not size.isValid():
        return Picture(
            None,
            QCoreApplication.translate("Thumbnail", "{size}, no picture that can be shown").format(
                size=amounts.size(len(data))
            ),
        )
    note = f"{size.width()} × {size.height()}, {amounts.size(len(data))}"
    if size.width() > _THUMB.width() * 2 or size.height() > _THUMB.height() * 2:
        reader.setScaledSize(size.scaled(_THUMB * 2, Qt.AspectRatioMode.KeepAspectRatio))
    image = reader.read()
    return Picture(None if image.isNull() else image, note)


class MediaView(QWidget):
    """Names a media part and shows its picture once it has been read, off the GUI thread."""

    clicked = Signal()

    def __init__(self, part: MediaPart, folder: Path | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._picture = QLabel()
        self._picture.hide()
        self._title = QLabel(f"<b>{part.kind}</b>")
        self._source = QLabel(shortened(part.source, 60), textFormat=Qt.TextFormat.PlainText)
        self._source.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._source.setToolTip(plain_tip(shortened(part.source, 200)))
        self._note = QLabel()
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(f"{part.kind}: {shortened(part.source, 60)}")
        words = column_of(self._title, self._source, self._note, spacing=2)
        details = ", ".join(f"{key}={value}" for key, value in part.attributes.items())
        if part.alt:
            details = f"“{part.alt}” {details}"
        if details.strip():
            label = QLabel(details.strip(), textFormat=Qt.TextFormat.PlainText)
            words.addWidget(label)
        words.addStretch(1)
        row_of(self._picture, (words, 1), on=self, margins=(0, 4, 0, 4), spacing=12)
        paint_text(self._source, "muted")
        paint_text(self._note, "muted")
        self._job = LatestJob(self, self._show)
        if part.kind == "image":
            self._job.submit(partial(read_picture, part.source, folder))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click leads to the source."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit()

    def _show(self, picture: Picture) -> None:
        self._note.setText(picture.note)
        if picture.image is None:
            return
        scale = self.devicePixelRatioF()
        pixmap = QPixmap.fromImage(picture.image).scaled(
            _THUMB * scale,
            Qt.AspectRatioMode.KeepAspectRatio,
            Qt.TransformationMode.SmoothTransformation,
        )
        pixmap.setDevicePixelRatio(scale)
        self._picture.setPixmap(pixmap)
        self._picture.show()
