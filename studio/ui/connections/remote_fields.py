"""The fields of a connection to a server: address, model, key, and what is rarely set.

Where a connection's key is, and a way to give a new one; a key is never shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import (
    QFormLayout,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from studio.application.connections.editing import Field, headers_text, read_headers
from studio.application.words import marked, tr
from studio.core.models.connections import Api, Connection, address_of
from studio.core.models.secrets import KEYRING, environment_name
from studio.ui.connections.abilities_field import AbilitiesField
from studio.ui.connections.model_field import ModelField
from studio.ui.parts.fields import ComboBox, DoubleSpinBox, SpinBox
from studio.ui.style.colors import paint_text
from studio.viewmodels.connections.trials import KeyState

_PLACES = (
    ("none", marked("No key")),
    ("environment", marked("In an environment variable")),
    ("keyring", marked("In the system's key store")),
    ("session", marked("For this session only")),
)
_KEPT = {
    "keyring": marked("A key is kept in the system's key store."),
    "session": marked("A key is held for this session; it is gone when the studio ends."),
    "environment": marked("The variable is set."),
}


class KeyField(QWidget):
    """A place, and what goes with it."""

    changed = Signal()  # another place or variable
    request_keep = Signal(str, bool)  # the key, whether for this session only
    request_forget = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._has_key = False
        self._is_warning = False
        self.is_picked = False
        """Whether the user chose the place that is shown."""
        self.place = ComboBox()
        self.place.setAccessibleName(tr("Where the key is"))
        for value, name in _PLACES:
            self.place.addItem(tr(name), value)
        self.variable = QLineEdit(placeholderText=tr("NAME_OF_THE_VARIABLE"))
        self.variable.setAccessibleName(tr("Name of the variable"))
        self.key = QLineEdit(echoMode=QLineEdit.EchoMode.Password)
        self.key.setAccessibleName(tr("New key"))
        self.key.setPlaceholderText(tr("Paste a key; it is not shown again"))
        self.keep = QPushButton(tr("Keep"), autoDefault=False)
        self.keep.setToolTip(tr("Keep this key"))
        self.forget = QPushButton(tr("Forget"), autoDefault=False)
        self.forget.setToolTip(tr("Remove the key from where it is kept"))
        self.state = QLabel(wordWrap=True)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(1, 1)
        grid.addWidget(self.place, 0, 0)
        grid.addWidget(self.variable, 0, 1, 1, 2)
        grid.addWidget(self.key, 0, 1)
        grid.addWidget(self.keep, 0, 2)
        grid.addWidget(self.state, 1, 0, 1, 2)
        grid.addWidget(self.forget, 1, 2)
        self.place.activated.connect(self._on_place)
        self.variable.editingFinished.connect(self.changed)
        self.key.textChanged.connect(lambda text: self.keep.setEnabled(bool(text.strip())))
        self.key.returnPressed.connect(self._on_keep)
        self.keep.clicked.connect(self._on_keep)
        self.forget.clicked.connect(self.request_forget)
        self._show()
        self._paint()

    def reference(self) -> str:
        """Return the saved reference to the key."""
        place = self.place.currentData()
        if place == "environment":
            return f"${{env:{self.variable.text().strip()}}}"
        return "" if place == "none" else KEYRING

    def set_reference(self, reference: str) -> None:
        """Show where a key is; whether there is one comes by `set_state`."""
        self.is_picked = False
        variable = environment_name(reference)
        place = "environment" if variable is not None else "keyring" if reference else "none"
        self.place.setCurrentIndex(self.place.findData(place))
        self.variable.setText(variable or "")
        self.key.clear()
        self._has_key = False
        self._say("")
        self._show()

    def set_state(self, state: KeyState) -> None:
        """Say whether there is a key."""
        self._has_key = state.place in ("keyring", "session")
        if state.place == "session" and self.place.currentData() == "keyring":
            self.place.setCurrentIndex(self.place.findData("session"))
        kept = tr(_KEPT[state.place]) if state.place in _KEPT else ""
        if state.place == "none" and self.place.currentData() != "none":
            kept = f"{state.reason[:1].upper()}{state.reason[1:]}." if state.reason else ""
        elif state.place == "session" and state.reason:
            kept += tr(" The key store was not used: {reason}.").format(reason=state.reason)
        self._say(kept, is_warning=state.place == "none")
        self._show()

    def _on_place(self) -> None:
        self.is_picked = True
        self.key.clear()
        self._has_key = False
        self._say("")
        self._show()
        if self.place.currentData() == "environment":
            self.variable.setFocus()
        elif self.place.currentData() != "none":
            self.key.setFocus()
        if self.place.currentData() != "environment" or self.variable.text().strip():
            self.changed.emit()

    def _on_keep(self) -> None:
        key = self.key.text().strip()
        if not key:
            return
        self.key.clear()
        self.request_keep.emit(key, self.place.currentData() == "session")

    def _show(self) -> None:
        place = self.place.currentData()
        takes_key = place in ("keyring", "session")
        self.variable.setVisible(place == "environment")
        self.key.setVisible(takes_key)
        self.keep.setVisible(takes_key)
        self.keep.setEnabled(bool(self.key.text().strip()))
        self.forget.setVisible(takes_key and self._has_key)
        self.state.setVisible(bool(self.state.text()))

    def _say(self, text: str, *, is_warning: bool = False) -> None:
        self.state.setText(text)
        self._is_warning = is_warning
        self._paint()

    def _paint(self) -> None:
        paint_text(self.state, "warning" if self._is_warning else "muted")


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
        self.api_version.setPlaceholderText(tr("None: the v1 API, which has no versions"))
        self.model = ModelField()
        self.key = KeyField()
        self.api = ComboBox()
        self.api.addItem(tr("Chat completions"), "chat")
        self.api.addItem(tr("Responses"), "responses")
        self.headers = _HeadersEdit()
        self.headers.setPlaceholderText(tr("Name: value, one a line; none of them secret"))
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
        """Return the fields that are always shown, by line."""
        return {
            "base_url": self.base_url,
            "api_version": self.api_version,
            "model": self.model,
            "key": self.key,
        }

    @property
    def rare(self) -> dict[Field, QWidget]:
        """Return the fields that are folded away, by line."""
        return {"api": self.api, "headers": self.headers, "limits": self.limits}

    @property
    def header_problem(self) -> str:
        """Return what is wrong with the headers; empty if they are valid."""
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
        """Return the connection with the contents of the fields."""
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
            (tr("Reply begins within"), self.first_byte),
            (tr("Reply pauses at most"), self.stall),
            (tr("A call ends within"), self.longest_call),
            (tr("Further tries"), self.retries),
            (tr("Longest reply"), self.longest_reply),
            (tr("Longest event of a reply"), self.longest_event),
            (tr("Longest text of an error"), self.longest_error),
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
