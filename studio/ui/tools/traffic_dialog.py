"""The messages to and from a tool source, with their sizes and times."""

import time
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QHideEvent, QShowEvent
from PySide6.QtWidgets import QFileDialog, QTreeWidgetItem, QWidget

from studio.application.words import tr
from studio.core.text.amounts import duration
from studio.core.text.files import write_atomically
from studio.core.text.invisible import reveal
from studio.core.text.values import reason_of
from studio.core.tools.registry import SourceStatus
from studio.core.tools.source import TrafficMessage, lines_of
from studio.ui.parts.kit import (
    ClosingDialog,
    column_of,
    named,
    push_button,
    row_list,
    row_of,
    search_line,
    split_of,
    toned_label,
)
from studio.ui.parts.text_views import JsonView
from studio.ui.preview.cards.text_body import pretty_json
from studio.viewmodels.app.jobs import repeating_timer

_LOOK_MS = 500
_WIDTH, _HEIGHT = 760, 560

_FILE = "traffic.jsonl"


class TrafficDialog(ClosingDialog):
    """Non-modal dialog, so that tools can be called while it is open."""

    request_traffic = Signal(str)  # key of the source

    def __init__(self, source: SourceStatus, parent: QWidget) -> None:
        super().__init__(
            parent, tr("Traffic of {label}").format(label=source.label), (_WIDTH, _HEIGHT)
        )
        self._key = source.key
        self._messages: tuple[TrafficMessage, ...] = ()
        heads = (tr("Time"), tr("Direction"), tr("Message"), tr("Bytes"), tr("Took"))
        self.table = row_list(tr("Messages"), heads, 2, parent=self)
        self.text = named(JsonView(self), tr("The message"))
        self.filter = search_line(tr("Filter by words of the messages"), parent=self)
        self.filter.textChanged.connect(self._filter)
        self.save_button = push_button(tr("Save…"), self._ask_file, parent=self)
        self.save_button.setToolTip(tr("Save the messages to a file, one JSON object per line"))
        self.copy_button = push_button(tr("Copy"), lambda: self._copy("text"), parent=self)
        self.curl_button = push_button(tr("Copy as curl"), lambda: self._copy("curl"), parent=self)
        self.curl_button.setToolTip(tr("The request as a command with masked keys"))
        self.hint = toned_label("muted", tr("No messages yet. Keys are masked."), parent=self)
        self._timer = repeating_timer(self, self._ask, _LOOK_MS)
        self._arrange()
        self.table.currentItemChanged.connect(lambda *_: self._show_message())
        self._show_message()

    @property
    def message(self) -> TrafficMessage | None:
        """The selected message."""
        item = self.table.currentItem()
        number = item.data(0, Qt.ItemDataRole.UserRole) if item is not None else None
        return next((each for each in self._messages if each.number == number), None)

    def show_traffic(self, key: str, messages: Sequence[TrafficMessage]) -> None:
        """Show the messages so far; the selected one stays."""
        if key != self._key or tuple(messages) == self._messages:
            return
        known = {each.number for each in self._messages}
        self._messages = tuple(messages)
        first = self._messages[0].number if self._messages else 0
        while (top := self.table.topLevelItem(0)) is not None:
            if top.data(0, Qt.ItemDataRole.UserRole) >= first:
                break
            self.table.takeTopLevelItem(0)
        bar = self.table.verticalScrollBar()
        at_end = bar.value() == bar.maximum()
        for each in self._messages:
            if each.number not in known:
                self.table.addTopLevelItem(self._item(each))
        self._filter()
        if at_end:
            self.table.scrollToBottom()
        self.hint.setHidden(bool(self._messages))

    def showEvent(self, event: QShowEvent) -> None:
        """Follow the traffic while it is shown."""
        super().showEvent(event)
        self._ask()
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop reading the messages."""
        super().hideEvent(event)
        self._timer.stop()

    def _arrange(self) -> None:
        buttons = row_of(self.hint, 1, self.save_button, self.copy_button, self.curl_button)
        splitter = split_of(self.table, self.text, is_column=True, parent=self)
        column_of(self.filter, (splitter, 1), buttons, on=self, margins=12)

    @property
    def shown(self) -> tuple[TrafficMessage, ...]:
        """The messages that contain every word of the filter."""
        words = self.filter.text().casefold().split()
        return tuple(
            each
            for each in self._messages
            if all(word in f"{each.title}\n{each.text}".casefold() for word in words)
        )

    def _filter(self) -> None:
        numbers = {each.number for each in self.shown}
        for row in range(self.table.topLevelItemCount()):
            item = self.table.topLevelItem(row)
            if item is not None:
                item.setHidden(item.data(0, Qt.ItemDataRole.UserRole) not in numbers)
        self.save_button.setEnabled(bool(numbers))

    def _ask_file(self) -> None:
        kinds = tr("JSON lines (*.jsonl)")
        name, _ = QFileDialog.getSaveFileName(self, tr("Save"), _FILE, kinds)
        if name:
            self.save(Path(name))

    def save(self, path: Path) -> None:
        """Save the shown messages to a file; report a failure."""
        try:
            write_atomically(path, lines_of(self.shown))
        except (OSError, UnicodeEncodeError) as error:
            self.hint.setText(f"{path.name}: {reason_of(error)}")
            self.hint.show()

    def _item(self, message: TrafficMessage) -> QTreeWidgetItem:
        took = duration(message.seconds) if message.seconds is not None else ""
        direction = tr("→ sent") if message.direction == "sent" else tr("← received")
        when = time.strftime("%H:%M:%S", time.localtime(message.when))
        title = reveal(message.title, lines=False)
        item = QTreeWidgetItem([when, direction, title, f"{message.size:,}", took])
        item.setData(0, Qt.ItemDataRole.UserRole, message.number)
        return item

    def _ask(self) -> None:
        self.request_traffic.emit(self._key)

    def _show_message(self) -> None:
        message = self.message
        self.text.show_json(reveal(pretty_json(message.text)) if message is not None else "")
        self.copy_button.setEnabled(message is not None)
        self.curl_button.setVisible(message is not None and bool(message.curl))

    def _copy(self, which: str) -> None:
        message = self.message
        if message is not None:
            QGuiApplication.clipboard().setText(
                message.curl if which == "curl" else pretty_json(message.text)
            )
