"""The model popover of the toolbar: a searchable list with the facts of each model."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import assert_never

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QListWidget, QListWidgetItem, QWidget

from studio.application.connections.model import (
    Ask,
    ProviderAnswers,
    ProviderStart,
    connection_of,
    missing,
    next_step,
    offered_models,
    tidied_key,
)
from studio.application.connections.model_list import (
    AllowFolder,
    AskFor,
    ModelOffer,
    ModelSources,
    PromptSize,
    UseModel,
    model_offers,
    passport,
    price_of,
)
from studio.application.words import marked, tr
from studio.core.models.base import PROTOCOLS
from studio.core.models.connections import Connection
from studio.core.models.embedded.policy import LEVELS
from studio.ui.connections.connection_list import ICONS, Row, RowDelegate, help_words
from studio.ui.connections.model_passport import ModelPassport
from studio.ui.parts.fields import ComboBox
from studio.ui.parts.kit import column_of, named, row_of
from studio.viewmodels.connections.controller import ConnectionsController
from studio.viewmodels.connections.trials import ConnectionTrial, KeyState

_ROW = 44
_LIST_WIDTH, _PASSPORT_WIDTH, _HEIGHT = 430, 400, 600
_NARROW = 1100
"""Width of a window in pixels below which the popover has no facts."""

_OFFER = Qt.ItemDataRole.UserRole
_ASKS: dict[Ask, str] = {
    "address": marked("Address, such as https://host/v1"),
    "key": marked("Paste the key"),
    "deployment": marked("Name of the deployment"),
}


class ModelPopover(QFrame):
    """Popover of models: typing filters, arrow keys move, Enter uses a model for the folder."""

    request_use = Signal(UseModel, bool)  # model, whether for the whole folder
    request_file = Signal()  # let the file decide again
    request_connections = Signal()
    request_folder = Signal(Path)  # folder whose model files are listed
    protocol_chosen = Signal(str)  # ProtocolName, or empty for the file's protocol
    level_chosen = Signal(str)  # GrammarLevel

    def __init__(self, controller: ConnectionsController, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("popup")
        self.setAccessibleName(tr("Model"))
        self._window = parent.window()
        self._controller = controller
        self._sources: ModelSources | None = None
        self._size = PromptSize()
        self._asking: ProviderStart | None = None
        self._answers = ProviderAnswers()
        self._ask: Ask | None = None
        self._tried: Connection | None = None
        self._models: tuple[str, ...] = ()
        """Models of the connection that is being created."""
        self._lists_providers = False
        self._pasted: dict[str, str] = {}
        """Keys in a test, by connection; a key is stored when its connection is saved."""
        self.line = named(QLineEdit(), tr("Model, server address, key or folder"))
        self.note = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.note.setContentsMargins(4, 0, 4, 0)
        self.list = named(QListWidget(), tr("Models"))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setItemDelegate(RowDelegate(self, self._row_of, _ROW))
        self.list.setMouseTracking(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.protocol, self.level = ComboBox(), ComboBox()
        self.protocol.addItem(tr("Protocol of the file"), "")
        for name, facts in PROTOCOLS.items():
            self.protocol.addItem(tr(facts.title), name)
        for level in LEVELS:
            self.level.addItem(help_words(level)[0], level)
        self.protocol.setAccessibleName(tr("Protocol"))
        self.level.setAccessibleName(tr("Help"))
        self.agent = QWidget()
        self.passport = ModelPassport()
        self._lay_out()
        self._connect()

    def open(
        self, sources: ModelSources, size: PromptSize, folder: str, *, is_agent: bool, is_toy: bool
    ) -> None:
        """Show the models for the open prompt.

        Args:
            sources: data of the list.
            size: size of the prompt, for prices.
            folder: name of the folder for which a choice is stored; empty for none.
            is_agent: whether a protocol can be chosen for the prompt.
            is_toy: whether the embedded model is used, which has grammar levels.
        """
        self._size = size
        self.passport.show_folder(folder)
        self.agent.setVisible(is_agent)
        self.level.setVisible(is_toy)
        self.level.setCurrentIndex(LEVELS.index(self._controller.level))
        is_wide = self._window.width() >= _NARROW
        self.passport.setVisible(is_wide)
        self.setFixedSize(_LIST_WIDTH + (_PASSPORT_WIDTH if is_wide else 0), _HEIGHT)
        self._leave_asking()
        self.show_sources(sources)
        self.list.setCurrentRow(max(self._row_in_use(), 1))
        self.show()
        self.line.setFocus(Qt.FocusReason.PopupFocusReason)

    def show_sources(self, sources: ModelSources) -> None:
        """Update the list after a server was found or has listed its models."""
        self._sources = sources
        self._show_list()

    def ask_for(self, start: ProviderStart, answers: ProviderAnswers | None = None) -> None:
        """Ask for the data of a provider one by one, then test the connection."""
        self._asking, self._answers, self._tried = start, answers or ProviderAnswers(), None
        if answers is None and start.connection.base_url and "address" in start.asks:
            self._answers = replace(self._answers, address=start.connection.base_url)
        self._go_on()

    # -- connecting a provider ------------------------------------------------------------------

    def _go_on(self) -> None:
        """Ask for the next missing value, or test the connection if none is missing."""
        start = self._asking
        if start is None:
            return
        wanted = missing(start, self._answers)
        if wanted is not None:
            self._ask_line(wanted[0], wanted[1])
            return
        self._ask = self._tried = None
        connection = connection_of(start, self._answers)
        self._controller.trials.cancel(connection.name)  # its cancellation is reported again
        if self._answers.key:
            self._controller.keys.keep(connection.name, self._answers.key, only_session=True)
            self._pasted[connection.name] = self._answers.key
        self._tried, self._models = connection, ()
        self._set_line(tr("Model of {name}").format(name=connection.name))
        self._controller.trials.start(connection)

    def _ask_line(self, ask: Ask, note: str) -> None:
        start = self._asking
        if start is None:
            return
        self._ask = ask
        self._set_line(tr(_ASKS[ask]), is_secret=ask == "key")
        given = {"address": self._answers.address, "deployment": self._answers.model}
        self.line.setText(given.get(ask, ""))
        self.line.selectAll()
        self._say(f"{start.connection.name}: {note}")
        self._show_list()

    def _take_line(self) -> None:
        """Use the typed text for the requested value."""
        typed = self.line.text().strip()
        match self._ask:
            case "address":
                self._answers = replace(self._answers, address=typed)
            case "key":
                self._answers = replace(self._answers, key=tidied_key(typed))
            case "deployment":
                self._answers = replace(self._answers, model=typed)
            case None:
                return
            case _:
                assert_never(self._ask)
        self._go_on()

    def _on_trial(self, name: str, trial: ConnectionTrial) -> None:
        start, tried = self._asking, self._tried
        if start is None or tried is None or name != tried.name or self._ask is not None:
            return  # keep the typed text, also while the key is requested again
        probe = trial.probe
        if probe is None:
            self._say(tr("Trying …") if trial.state == "running" else "")
        elif probe.works:
            self._say(next_step(start, probe) or probe.message)
            self._models = (tried.model,) if tried.model else offered_models(probe)
        else:
            self._say(f"{probe.message} {probe.hint}")
            if "key" in start.asks and probe.lists:
                self._answers = replace(self._answers, key="")
                self._ask_line("key", f"{probe.message} {probe.hint}")
        self._show_list()
        self.list.setCurrentRow(1)

    def _on_key(self, name: str, state: KeyState) -> None:
        """Report a key that could not be stored and is lost when the studio exits."""
        if name in self._pasted and state.place == "session" and state.reason:
            words = tr("The key is stored for this session only: {reason}.")
            self._say(words.format(reason=state.reason))

    def _leave_asking(self) -> None:
        """Return to the list of models and forget keys that were only tested."""
        if self._tried is not None:
            self._controller.trials.cancel(self._tried.name)
        for name in self._pasted:
            self._controller.keys.let_go(name)
        self._pasted.clear()
        self._asking = self._tried = self._ask = None
        self._models, self._lists_providers = (), False
        self._set_line(tr("Model, server address, key or folder"))
        self._say("")

    def _set_line(self, hint: str, *, is_secret: bool = False) -> None:
        modes = QLineEdit.EchoMode
        self.line.setEchoMode(modes.Password if is_secret else modes.Normal)
        self.line.setPlaceholderText(hint)
        self.line.clear()

    def _say(self, words: str) -> None:
        self.note.setText(words.strip())
        self.note.setVisible(bool(words.strip()))

    # -- display --------------------------------------------------------------------------------

    def _offers(self) -> tuple[ModelOffer, ...]:
        if self._sources is None or self._ask is not None:
            return ()
        words = self.line.text()
        tried = self._tried
        if tried is None:
            return model_offers(self._sources, words, providers=self._lists_providers)
        typed = words.strip()
        fitting = [each for each in self._models if typed.lower() in each.lower()]
        has_failed = self._controller.trials.of(tried).state == "fails"
        if typed and typed not in fitting and (not self._models or has_failed):
            fitting.insert(0, typed)
        group = tr("Models of {name}").format(name=tried.name)
        return tuple(ModelOffer(group, each, "", UseModel(tried, each)) for each in fitting[:500])

    def _show_list(self) -> None:
        before = self.current
        self.list.clear()
        group = None
        for each in self._offers():
            if each.group != group:
                group = each.group
                self._add_heading(group)
            item = QListWidgetItem(each.title)
            item.setData(_OFFER, each)
            item.setToolTip(each.detail)
            used = tr("in use") if each.is_used else ""
            words = ", ".join(filter(None, (each.title, each.detail, used)))
            item.setData(Qt.ItemDataRole.AccessibleTextRole, words)
            self.list.addItem(item)
            if before is not None and (each.act, each.title) == (before.act, before.title):
                self.list.setCurrentItem(item)
        if self.list.currentItem() is None:
            self.list.setCurrentRow(1)
        self._show_passport()

    def _add_heading(self, words: str) -> None:
        heading = QListWidgetItem(words)
        heading.setFlags(Qt.ItemFlag.NoItemFlags)
        self.list.addItem(heading)

    def _row_in_use(self) -> int:
        rows = range(self.list.count())
        offers = (self.list.item(row).data(_OFFER) for row in rows)
        return next(
            (
                row
                for row, each in zip(rows, offers, strict=True)
                if each is not None and each.is_used
            ),
            -1,
        )

    @property
    def current(self) -> ModelOffer | None:
        """The selected model."""
        item = self.list.currentItem()
        offer = item.data(_OFFER) if item is not None else None
        return offer if isinstance(offer, ModelOffer) else None

    def _row_of(self, index: QModelIndex | QPersistentModelIndex) -> Row | None:
        offer = index.data(_OFFER)
        if not isinstance(offer, ModelOffer):
            return None
        return Row(
            offer.title,
            offer.detail,
            _drawing_of(offer),
            tr("in use") if offer.is_used else self._price(offer),
            is_accented=offer.is_used,
            is_warning=offer.is_replaced,
        )

    def _price(self, offer: ModelOffer) -> str:
        """Return the price of a model in a few words; empty if it has none."""
        if not isinstance(offer.act, UseModel):
            return ""
        connection, model = offer.act.connection, offer.act.model
        listed = self._controller.trials.listed(connection, model)
        return price_of(connection, model, self._size, listed)[0]

    def _show_passport(self) -> None:
        offer = self.current
        use = offer.act if offer is not None and isinstance(offer.act, UseModel) else None
        if use is None and offer is not None and offer.act == "file" and self._sources is not None:
            asked = self._sources.asked
            use = UseModel(asked.connection, asked.declaration.id)
        rows: Sequence[tuple[str, str]] = ()
        if use is not None:
            listed = self._controller.trials.listed(use.connection, use.model)
            rows = passport(use, self._size, listed)
        self.passport.show_rows(offer, rows)

    # -- selection ------------------------------------------------------------------------------

    def choose(self, *, for_folder: bool = True) -> None:
        """Use the selected model or start the selected action."""
        if self._ask is not None:
            self._take_line()
            return
        offer = self.current
        if offer is None:
            return
        match offer.act:
            case UseModel():
                key = self._pasted.pop(offer.act.connection.name, "")
                self._tried = None
                self.hide()
                self.request_use.emit(offer.act, for_folder)
                if key:
                    self._controller.keys.keep(offer.act.connection.name, key, only_session=False)
            case AskFor():
                given = offer.act.answers
                self.ask_for(offer.act.start, given if given != ProviderAnswers() else None)
            case AllowFolder(folder=folder):
                self.line.clear()
                self.request_folder.emit(folder)
            case "file":
                self.hide()
                self.request_file.emit()
            case "providers":
                self._lists_providers = True
                self._set_line(tr("Provider, or the address of a server"))
                self._show_list()
                self.list.setCurrentRow(1)
            case "connections":
                self.hide()
                self.request_connections.emit()
            case _:
                assert_never(offer.act)

    # -- events ---------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle the keys that move in the list and are not used by the line edit."""
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        match event.key():
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                held = event.modifiers() & Qt.KeyboardModifier.ControlModifier
                self.choose(for_folder=not held)
            case Qt.Key.Key_Escape if self._asking is not None or self._lists_providers:
                self._leave_asking()
                self._show_list()
            case Qt.Key.Key_Escape:
                self.hide()
            case Qt.Key.Key_Down:
                self._move(1)
            case Qt.Key.Key_Up:
                self._move(-1)
            case _:
                return super().eventFilter(watched, event)
        return True

    def _move(self, step: int) -> None:
        row, count = self.list.currentRow() + step, self.list.count()
        while 0 <= row < count and self.list.item(row).data(_OFFER) is None:
            row += step
        if 0 <= row < count:
            self.list.setCurrentRow(row)

    def hideEvent(self, event: QHideEvent) -> None:
        """Cancel unfinished input and tests."""
        super().hideEvent(event)
        self._leave_asking()

    # -- building -------------------------------------------------------------------------------

    def _connect(self) -> None:
        self.line.installEventFilter(self)
        self.line.textEdited.connect(self._on_edited)
        self.list.currentItemChanged.connect(self._show_passport)
        self.list.itemClicked.connect(self.choose)
        self.passport.use.clicked.connect(self.choose)
        self.passport.once.clicked.connect(lambda: self.choose(for_folder=False))
        self.protocol.activated.connect(
            lambda: self.protocol_chosen.emit(self.protocol.currentData())
        )
        self.level.activated.connect(lambda: self.level_chosen.emit(self.level.currentData()))
        self._controller.trials.changed.connect(self._on_trial)
        self._controller.keys.found.connect(self._on_key)
        self._controller.prices.changed.connect(self._show_passport)
        self._controller.prices.changed.connect(lambda: self.list.viewport().update())

    def _on_edited(self) -> None:
        if self._ask is None:
            self._show_list()
            self.list.setCurrentRow(1)

    def _lay_out(self) -> None:
        row_of(self.protocol, self.level, 1, on=self.agent, margins=(8, 4, 8, 8), spacing=8)
        left = column_of(
            self.line, self.note, (self.list, 1), self.agent, margins=(8, 8, 8, 4), spacing=4
        )
        row_of((left, 1), self.passport, on=self, margins=0, spacing=0)
        self.passport.setFixedWidth(_PASSPORT_WIDTH)


def _drawing_of(offer: ModelOffer) -> str:
    match offer.act:
        case UseModel(connection=connection):
            return ICONS[connection.kind]
        case AskFor():
            return "key"
        case AllowFolder():
            return "folder"
        case "file":
            return "file-text"
        case "providers":
            return "plus"
        case "connections":
            return "sliders-horizontal"
        case _:
            assert_never(offer.act)
