"""The place of a connection's key, and a way to give a new one; a key is never shown."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QGridLayout,
    QLabel,
    QLineEdit,
    QWidget,
)

from studio.application.words import marked, tr
from studio.core.models.secrets import KEYRING, environment_name
from studio.ui.parts.fields import ComboBox, FieldForm
from studio.ui.parts.labels import push_button
from studio.ui.style.colors import paint_text
from studio.viewmodels.connections.trials import KeyState

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
        form = FieldForm("key")
        self.place = form.widget("place", ComboBox)
        self.variable = form.widget("variable", QLineEdit)
        self.key = form.widget("key", QLineEdit)
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.keep = push_button(tr("Keep"), tip=tr("Keep this key"), takes_enter=False)
        self.forget = push_button(tr("Forget"), self.request_forget, takes_enter=False)
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
