"""The fields of a connection to a server: address, model, key, and what is rarely set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import (
    QFormLayout,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from studio.application.connections.check import Field, headers_text, read_headers
from studio.core.models.connections import Api, Connection, address_of
from studio.ui.connections.abilities_field import AbilitiesField
from studio.ui.connections.key_field import KeyField
from studio.ui.connections.model_field import ModelField
from studio.ui.parts.boxes import ComboBox, DoubleSpinBox, SpinBox


class _HeadersEdit(QPlainTextEdit):
    """A few lines; done when it is left."""

    left = Signal()

    def focusOutEvent(self, event: object) -> None:
        """Leaving is the end of writing."""
        super().focusOutEvent(event)  # type: ignore[arg-type]
        self.left.emit()


class RemoteFields(QObject):
    """Widgets for the form, and the way between them and a connection."""

    def __init__(self) -> None:
        super().__init__()
        self.base_url, self.api_version = QLineEdit(), QLineEdit()
        self.api_version.setPlaceholderText(self.tr("None: the v1 API, which has no versions"))
        self.model = ModelField()
        self.key = KeyField()
        self.api = ComboBox()
        self.api.addItem(self.tr("Chat completions"), "chat")
        self.api.addItem(self.tr("Responses"), "responses")
        self.headers = _HeadersEdit()
        self.headers.setPlaceholderText(self.tr("Name: value, one a line; none of them secret"))
        self.headers.setTabChangesFocus(True)
        self.headers.setFixedHeight(64)
        self.first_byte, self.stall, self.longest_call = (
            _bound(" s", most) for most in (3600, 3600, 86_400)
        )
        self.longest_reply, self.longest_event = (
            _bound(" MB", 2048, least=0.1, decimals=1) for _ in range(2)
        )
        self.longest_error = _bound(" KB", 65_536)
        self.retries = SpinBox()
        self.retries.setRange(0, 10)
        self.limits = self._limits()
        self.abilities = AbilitiesField()

    @property
    def main(self) -> dict[Field, QWidget]:
        """What is always seen, by the line it stands in."""
        return {
            "base_url": self.base_url,
            "api_version": self.api_version,
            "model": self.model,
            "key": self.key,
        }

    @property
    def rare(self) -> dict[Field, QWidget]:
        """What is folded away, by the line it stands in."""
        return {"api": self.api, "headers": self.headers, "limits": self.limits}

    @property
    def header_problem(self) -> str:
        """What is wrong with the headers as they are written; empty for nothing."""
        return read_headers(self.headers.toPlainText())[1]

    def set_value(self, connection: Connection) -> None:
        """Show a connection."""
        usual = address_of(replace(connection, base_url=""))
        own = "https://RESOURCE.openai.azure.com" if connection.kind == "azure" else ""
        self.base_url.setPlaceholderText(usual or own or "https://host/v1")
        self.base_url.setText(connection.base_url)
        self.api_version.setText(connection.api_version)
        self.model.set_models(())
        self.model.set_value(connection.model)
        self.key.set_reference(connection.key)
        self.api.setCurrentIndex(self.api.findData(connection.api))
        self.headers.setPlainText(headers_text(connection.headers))
        self.first_byte.setValue(connection.first_byte_seconds)
        self.stall.setValue(connection.stall_seconds)
        self.longest_call.setValue(connection.call_seconds)
        self.longest_reply.setValue(connection.reply_megabytes)
        self.longest_event.setValue(connection.event_megabytes)
        self.longest_error.setValue(connection.error_kilobytes)
        self.retries.setValue(connection.retries)
        self.abilities.set_value(connection.capabilities)

    def value(self, connection: Connection) -> Connection:
        """The connection with what stands in the fields."""
        return replace(
            connection,
            base_url=self.base_url.text().strip(),
            api_version=self.api_version.text().strip(),
            model=self.model.value(),
            key=self.key.reference(),
            api=cast("Api", self.api.currentData()),
            headers=read_headers(self.headers.toPlainText())[0],
            first_byte_seconds=self.first_byte.value(),
            stall_seconds=self.stall.value(),
            call_seconds=self.longest_call.value(),
            reply_megabytes=self.longest_reply.value(),
            event_megabytes=self.longest_event.value(),
            error_kilobytes=self.longest_error.value(),
            retries=self.retries.value(),
            capabilities=self.abilities.value(),
        )

    def when_written(self, commit: Callable[[], None]) -> None:
        """Call `commit` at each end of writing."""
        for part in (self.model, self.key, self.abilities):
            part.changed.connect(commit)
        for line in (self.base_url, self.api_version):
            line.editingFinished.connect(commit)
        bounds = (
            self.first_byte,
            self.stall,
            self.longest_call,
            self.longest_reply,
            self.longest_event,
            self.longest_error,
        )
        for spin in (*bounds, self.retries):
            spin.editingFinished.connect(commit)
            spin.setMinimumHeight(28)
        self.api.activated.connect(commit)
        for box in (self.api, self.model.combo, self.key.place):
            box.setMinimumHeight(28)  # as high as the lines beside them
        self.headers.left.connect(commit)

    def _limits(self) -> QWidget:
        limits = QWidget()
        times = QFormLayout(limits)
        times.setContentsMargins(0, 0, 0, 0)
        for name, spin in (
            (self.tr("Reply begins within"), self.first_byte),
            (self.tr("Reply pauses at most"), self.stall),
            (self.tr("A call ends within"), self.longest_call),
            (self.tr("Further tries"), self.retries),
            (self.tr("Longest reply"), self.longest_reply),
            (self.tr("Longest event of a reply"), self.longest_event),
            (self.tr("Longest text of an error"), self.longest_error),
        ):
            spin.setAccessibleName(name)
            times.addRow(name, spin)
        return limits


def _bound(unit: str, most: float, *, least: float = 1, decimals: int = 0) -> DoubleSpinBox:
    spin = DoubleSpinBox()
    spin.setDecimals(decimals)
    spin.setRange(least, most)
    spin.setSuffix(unit)
    return spin
