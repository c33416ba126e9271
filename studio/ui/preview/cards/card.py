"""A message of the preview as a card.

It also shows a picture, file or recording in a message, as a thumbnail if that is safe.
"""

import base64
import binascii
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import assert_never

from PySide6 import QtGui
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtWidgets import QLabel, QMenu, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from studio.application.preview.variables import CUT_CHARACTERS, CUT_LINES, CardData, TextRun
from studio.application.words import tr
from studio.core.prompty.document import MediaPart, Part, TextPart, ToolCallPart, ToolResultPart
from studio.core.text import amounts
from studio.core.text.amounts import shortened
from studio.core.text.files import read_bounded
from studio.core.text.invisible import plain_tip
from studio.core.text.source import Span
from studio.core.text.values import reason_of
from studio.core.tokens.conversation import ConversationTokens
from studio.ui.base.menus import ON_CARD, add_actions, add_own, own_menu
from studio.ui.parts.kit import column_of, empty_layout, named, row_of, toned_label
from studio.ui.preview.cards.header import CardHeader, head_words
from studio.ui.preview.cards.text_body import LinkedPart, TextBody, pretty_json
from studio.ui.style.theme import FollowsTheme, paint_text, role_color, theme_in_use
from studio.viewmodels.app.jobs import LatestJob

BYTES_LIMIT = 10_000_000
"""Size in bytes above which a picture is only named."""

_THUMB = QSize(160, 120)


@dataclass(frozen=True, slots=True)
class Picture:
    """The result of reading a picture."""

    image: QtGui.QImage | None
    """The thumbnail, if it could be created."""

    note: str
    """Size and kind, or why there is no thumbnail."""


def read_picture(source: str, folder: Path | None, limit: int = BYTES_LIMIT) -> Picture:
    """Read a thumbnail from a data URI or from a file inside `folder`; read nothing else.

    Network addresses are never loaded for a preview.
    """
    if source.startswith("data:"):
        return _from_data(source, limit)
    if "://" in source:
        return Picture(None, tr("at a network address; not loaded"))
    if folder is None:
        return Picture(None, tr("not read: the prompt is not saved, or its folder is not trusted"))
    try:
        path = (folder / source).resolve()
        if path.is_relative_to(folder.resolve()):
            return _decode(read_bounded(path, limit))
    except (OSError, ValueError) as error:
        return Picture(None, reason_of(error))
    return Picture(None, tr("outside the prompt's folder; not read"))


def _from_data(source: str, limit: int) -> Picture:
    head, _, payload = source.partition(",")
    if len(payload) > limit * 4 // 3:
        return Picture(None, tr("data too large to show"))
    try:
        data = base64.b64decode(payload, validate=True) if head.endswith(";base64") else b""
    except (binascii.Error, ValueError):
        return Picture(None, tr("the data is not valid base64"))
    return _decode(data)


def _decode(data: bytes) -> Picture:
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QtGui.QImageReader(buffer)
    reader.setAutoTransform(True)
    size = reader.size()
    if not size.isValid():
        return Picture(None, tr("{size}, cannot be shown").format(size=amounts.size(len(data))))
    note = f"{size.width()} × {size.height()}, {amounts.size(len(data))}"
    if size.width() > _THUMB.width() * 2 or size.height() > _THUMB.height() * 2:
        reader.setScaledSize(size.scaled(_THUMB * 2, Qt.AspectRatioMode.KeepAspectRatio))
    image = reader.read()
    return Picture(None if image.isNull() else image, note)


class MediaView(LinkedPart):
    """Names a media part and shows its picture after it was read outside the GUI thread."""

    def __init__(self, part: MediaPart, folder: Path | None) -> None:
        super().__init__()
        self._picture = QLabel()
        self._picture.hide()
        self._title = QLabel(f"<b>{part.kind}</b>")
        self._source = toned_label("muted", shortened(part.source, 60), is_plain=True)
        self._source.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._source.setToolTip(plain_tip(shortened(part.source, 200)))
        self._note = toned_label("muted")
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
        self._job = LatestJob(self, self._show)
        if part.kind == "image":
            self._job.submit(partial(read_picture, part.source, folder))

    def _show(self, picture: Picture) -> None:
        self._note.setText(picture.note)
        if picture.image is None:
            return
        scale = self.devicePixelRatioF()
        pixmap = QtGui.QPixmap.fromImage(picture.image).scaled(
            _THUMB * scale,
            Qt.AspectRatioMode.KeepAspectRatio,
            Qt.TransformationMode.SmoothTransformation,
        )
        pixmap.setDevicePixelRatio(scale)
        self._picture.setPixmap(pixmap)
        self._picture.show()


def paint_card(painter: QtGui.QPainter, room: QRect, stripe: str, *, strong: bool = False) -> None:
    """Paint the background and border of a card, with a colored stripe at the left.

    Args:
        painter: painter of the card.
        room: rectangle of the card.
        stripe: color as `#rrggbb`.
        strong: whether it has the caret or the focus.
    """
    theme = theme_in_use()
    painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing)
    box = QRectF(room).adjusted(0.75, 0.75, -0.75, -0.75)
    pen = QtGui.QPen(QtGui.QColor(theme.accent if strong else theme.border))
    pen.setWidthF(1.5 if strong else 1.0)
    painter.setPen(pen)
    painter.setBrush(QtGui.QColor(theme.surface))
    painter.drawRoundedRect(box, 6, 6)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QtGui.QColor(stripe))
    painter.drawRoundedRect(box.adjusted(5, 9, 8 - box.width(), -9), 2, 2)


class ToolCallView(LinkedPart):
    """A call that the assistant requested: name, identifier, arguments."""

    def __init__(self, part: ToolCallPart) -> None:
        super().__init__()
        theme = theme_in_use()
        name = QLabel(tr("Calls {name}").format(name=part.name), textFormat=Qt.TextFormat.PlainText)
        font = name.font()
        font.setWeight(QtGui.QFont.Weight.DemiBold)
        name.setFont(font)
        paint_text(name, role_color(theme, "tool"))
        identifier = toned_label("muted", part.id, is_plain=True)
        self.arguments = named(TextBody(), tr("Arguments of {name}").format(name=part.name))
        self.arguments.place_clicked.connect(self.clicked)
        self.arguments.show_runs((TextRun(pretty_json(part.arguments)),), {}, theme, raw=True)
        layout = column_of(name, on=self, margins=(0, 4, 0, 4), spacing=2)
        if part.id:
            layout.addWidget(identifier)
        layout.addWidget(self.arguments)


class MessageCard(FollowsTheme, QWidget):
    """Card with role, attributes and content; each part links to its source."""

    place_clicked = Signal(Span)
    input_clicked = Signal(str, QRect)  # input name, rectangle in which its value is edited
    whole_shown = Signal()  # the user expanded a long text

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.data: CardData | None = None
        """The message."""
        self._raw = False
        self._folder: Path | None = None
        self.is_lit = False
        """Whether the caret is in this message's source."""
        self._whole = False
        self._said: tuple[int, str, str] | None = None
        self._stripe = theme_in_use().muted
        self._bodies: list[tuple[TextBody, int]] = []  # each with the index of its part
        self._header = CardHeader(self)
        self._header.chip_clicked.connect(self._reveal_attribute)
        self._content = QVBoxLayout()
        self._content.setSpacing(4)
        column_of(self._header, self._content, on=self, margins=(16, 8, 12, 8), spacing=8)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self.follow_theme()

    @property
    def bodies(self) -> tuple[TextBody, ...]:
        """The texts of the card, in order."""
        return tuple(body for body, _ in self._bodies)

    def is_outdated(self, tokens: ConversationTokens) -> bool:
        """Return whether the shown number and cost belong to another message."""
        return self.data is not None and self._said != head_words(self.data, tokens)

    def show_card(
        self, data: CardData, folder: Path | None, *, raw: bool, whole: bool = False
    ) -> None:
        """Show a message; `whole` shows a long text completely."""
        self._whole = self._whole or whole
        if not self.adopt(data, folder, raw=raw):
            self.data, self._raw, self._folder = data, raw, folder
            self._draw(data)

    def adopt(self, data: CardData, folder: Path | None, *, raw: bool) -> bool:
        """Use the spans of a message that looks the same; return whether it does.

        It is fast: updating the labels of 500 cards took 80 ms for each key, so `refresh` does
        that.
        """
        if self.data is None or self._raw != raw or self._folder != folder:
            return False
        if self.data.look != data.look:
            return False
        self.data = data
        self._move_places(data)
        return True

    def refresh(self, tokens: ConversationTokens) -> None:
        """Update the number and the cost of the message."""
        data = self.data
        if data is None:
            return
        words = head_words(data, tokens)
        if words != self._said:
            self._said = words
            self._header.say(words[2])
            self.setAccessibleName(
                tr("Message {number}, {role}").format(number=data.number, role=data.role)
            )
        description = data.message.text[:200]
        if description != self.accessibleDescription():
            self.setAccessibleDescription(description)

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        if self.data is not None:
            self._draw(self.data)

    def set_lit(self, lit: bool) -> None:
        """Mark the card that contains the caret."""
        if lit != self.is_lit:
            self.is_lit = lit
            self.update()

    def mouseReleaseEvent(self, event: QtGui.QMouseEvent) -> None:
        """Go to the message's marker on a click beside the text."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._reveal_marker()

    def contextMenuEvent(self, event: QtGui.QContextMenuEvent) -> None:
        """Show the context menu of a message, with the window's actions."""
        self.menu().popup(event.globalPos())

    def menu(self) -> QMenu:
        """Build the context menu."""
        menu = own_menu(self)
        data = self.data
        if data is not None:
            add_own(
                menu, tr("Go to its text"), self._reveal_marker, drawing="pencil", keys="Return"
            )
            add_own(
                menu,
                tr("Copy the message"),
                lambda: QtGui.QGuiApplication.clipboard().setText(data.message.text),
                drawing="copy",
            )
            menu.addSeparator()
        add_actions(menu, self.window(), ON_CARD)
        return menu

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """Act on Enter and Space as on a click beside the text."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._reveal_marker()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        """Paint the card's background, border and stripe in the role's color."""
        strong = self.is_lit or self.hasFocus()
        paint_card(QtGui.QPainter(self), self.rect(), self._stripe, strong=strong)

    def _draw(self, data: CardData) -> None:
        theme = theme_in_use()
        self._stripe = role_color(theme, data.role)
        self._header.show_message(data)
        self._bodies.clear()
        empty_layout(self._content)
        for index, part in enumerate(data.message.parts):
            self._add_part(data, index, part)
        if not data.message.parts or not (data.message.text or len(data.message.parts) > 1):
            self._add_empty(data)
        for index in range(self._content.count()):
            # Now, not in the event loop: otherwise the card would be measured without its text, and
            # everything below it would jump.
            item = self._content.itemAt(index)
            if item is not None and (widget := item.widget()) is not None:
                widget.show()
        self.update()

    def _reveal_attribute(self, name: str) -> None:
        """Show the source of the attribute's value if it is known, or else of the marker."""
        span = self.data.attribute_places.get(name) if self.data else None
        if span is not None:
            self.place_clicked.emit(span)
        else:
            self._reveal_marker()

    def _add_part(self, data: CardData, index: int, part: Part) -> None:
        match part:
            case TextPart() | ToolResultPart():
                if part.text:
                    self._add_text(data, index, part)
            case MediaPart():
                media = MediaView(part, self._folder)
                media.clicked.connect(lambda: self._reveal_part(index))
                self._content.addWidget(media)
            case ToolCallPart():
                call = ToolCallView(part)
                call.clicked.connect(lambda: self._reveal_part(index))
                self._content.addWidget(call)
            case _:
                assert_never(part)

    def _add_text(self, data: CardData, index: int, part: TextPart | ToolResultPart) -> None:
        body = TextBody()
        body.setAccessibleName(
            tr("Text of message {number}, {role}").format(number=data.number, role=data.role)
        )
        body.place_clicked.connect(self.place_clicked)
        body.input_clicked.connect(self.input_clicked)
        if self._whole:
            runs, left_out = tuple(data.runs(part)), 0
        else:
            runs, left_out = data.shown_runs(part, CUT_CHARACTERS, CUT_LINES)
        body.show_runs(runs, dict(data.colors), theme_in_use(), raw=self._raw or left_out > 0)
        self._bodies.append((body, index))
        self._content.addWidget(body)
        if left_out:
            more = QPushButton(tr("Show {left_out:,} more lines").format(left_out=left_out))
            more.clicked.connect(self._show_whole)
            self._content.addWidget(more, 0, Qt.AlignmentFlag.AlignLeft)

    def _add_empty(self, data: CardData) -> None:
        if data.message.parts and not all(
            isinstance(part, TextPart | ToolResultPart) for part in data.message.parts
        ):
            return
        label = QLabel(tr("Empty: the model gets a message with no text."), wordWrap=True)
        if data.is_open_thread:
            label.setText(tr("The run inserts the conversation here."))
        paint_text(label, "muted")
        self._content.addWidget(label)

    def _show_whole(self) -> None:
        self._whole = True
        self.whole_shown.emit()
        if self.data is not None:
            self._draw(self.data)

    def _move_places(self, data: CardData) -> None:
        for body, index in self._bodies:
            part = data.message.parts[index]
            if isinstance(part, TextPart | ToolResultPart):
                body.move_runs(partial(self._runs, data, part))

    def _runs(self, data: CardData, part: TextPart | ToolResultPart) -> tuple[TextRun, ...]:
        if self._whole:
            return tuple(data.runs(part))
        return data.shown_runs(part, CUT_CHARACTERS, CUT_LINES)[0]

    def _reveal_marker(self) -> None:
        origin = self.data.message.origin if self.data else None
        span = (origin.marker or origin.span) if origin else None
        if span is not None:
            self.place_clicked.emit(span)

    def _reveal_part(self, index: int) -> None:
        part = self.data.message.parts[index] if self.data else None
        if part is not None and part.span is not None:
            self.place_clicked.emit(part.span)
        else:
            self._reveal_marker()
