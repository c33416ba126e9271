"""The prompts and resources of an MCP server: open them and insert them into the prompt."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QStringListModel, Qt, Signal
from PySide6.QtWidgets import QCompleter, QFormLayout, QLabel, QLineEdit, QListWidget, QWidget

from studio.application.tools.server_content import can_be_kept
from studio.application.words import tr
from studio.core.text.invisible import reveal
from studio.core.tools.registry import SourceStatus
from studio.core.tools.source import OfferContent, ServerOffer
from studio.ui.parts.kit import ClosingDialog, column_of, named, push_button, row_of, split_of
from studio.ui.parts.text_views import fixed_text
from studio.ui.style.theme import paint_text
from studio.ui.tools.try_panel import PicturesView
from studio.viewmodels.app.jobs import single_shot

_PAUSE_MS = 200
"""Milliseconds of a pause in typing before the server is asked for suggestions."""

_WIDTH, _HEIGHT = 760, 520
_LIST_WIDTH = 240
_MOST_SHOWN = 50_000
"""Maximum number of shown characters: a text view takes seconds for a million in one line."""


class OffersDialog(ClosingDialog):
    """The offers of one server; `show_content` shows what was opened."""

    request_open = Signal(str, ServerOffer, Mapping)  # key of the server, offer, its arguments
    # key of the server, offer, name of the argument, typed text, all arguments
    request_complete = Signal(str, ServerOffer, str, str, Mapping)
    request_insert = Signal(OfferContent)
    request_keep = Signal(ServerOffer, OfferContent)  # as a file that the prompt refers to

    def __init__(self, source: SourceStatus, parent: QWidget) -> None:
        super().__init__(
            parent,
            tr("Prompts and resources of {label}").format(label=source.label),
            (_WIDTH, _HEIGHT),
        )
        self._key = source.key
        self._offers: Sequence[ServerOffer] = source.offers
        self._content: OfferContent | None = None
        self.fields: dict[str, QLineEdit] = {}
        self._proposals: dict[str, QStringListModel] = {}
        self.list = named(QListWidget(self), tr("Prompts and resources"))
        for offer in self._offers:
            self.list.addItem(reveal(offer.name, lines=False))
        self.about = QLabel(self, wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self._arguments = QWidget(self)
        self._form = QFormLayout(self._arguments)
        self._form.setContentsMargins(0, 0, 0, 0)
        self.open_button = push_button(tr("Open"), self._open, parent=self, is_default=True)
        self.insert_button = push_button(tr("Insert into the prompt"), self._insert, parent=self)
        self.insert_button.setEnabled(False)
        self.keep_button = push_button(tr("Save as a file beside it"), self._keep, parent=self)
        self.keep_button.setToolTip(
            tr("The prompt gets an input with the default ${file:…}; the server is not asked again")
        )
        self.keep_button.setEnabled(False)
        self.text = fixed_text(tr("Opened content"), parent=self)
        self.pictures = PicturesView(self)
        self._arrange()
        self.list.currentRowChanged.connect(self._choose)
        self._asked = ""
        self._timer = single_shot(self, self._ask, _PAUSE_MS)
        self.list.setCurrentRow(0)

    @property
    def offer(self) -> ServerOffer | None:
        """The selected offer."""
        row = self.list.currentRow()
        return self._offers[row] if 0 <= row < len(self._offers) else None

    def show_content(self, offer: ServerOffer, content: OfferContent, problem: str) -> None:
        """Show the opened content, or why it could not be opened."""
        if offer != self.offer:
            return
        self._content = content if not problem else None
        self.about.setText(reveal(problem or offer.description))
        paint_text(self.about, "error" if problem else "text")
        self.text.setPlainText("" if problem else shown_text(content))
        self.pictures.show_pictures(content.pictures)
        self.insert_button.setEnabled(not problem and bool(content.parts))
        self.keep_button.setEnabled(not problem and can_be_kept(content))

    def show_proposals(self, offer: ServerOffer, argument: str, proposals: Sequence[str]) -> None:
        """Show the server's suggestions for an argument."""
        model = self._proposals.get(argument)
        field = self.fields.get(argument)
        if offer != self.offer or model is None or field is None:
            return
        model.setStringList([*proposals])
        completer = field.completer()
        if proposals and field.hasFocus() and completer is not None:
            completer.complete()

    def _arrange(self) -> None:
        buttons = row_of(self.open_button, self.insert_button, self.keep_button, 1)
        right = QWidget(self)
        column_of(
            self.about,
            self._arguments,
            buttons,
            (self.text, 1),
            self.pictures,
            on=right,
            margins=(8, 0, 0, 0),
        )
        sizes = (_LIST_WIDTH, _WIDTH - _LIST_WIDTH)
        splitter = split_of(self.list, right, stretch=(0, 1), sizes=sizes, parent=self)
        column_of(splitter, on=self, margins=12)

    def _choose(self) -> None:
        offer = self.offer
        while self._form.rowCount():
            self._form.removeRow(0)
        self.fields, self._proposals = {}, {}
        self._content = None
        self.text.clear()
        self.pictures.show_pictures(())
        self.insert_button.setEnabled(False)
        self.keep_button.setEnabled(False)
        if offer is None:
            self.open_button.setEnabled(False)
            return
        paint_text(self.about, "text")
        self.about.setText(reveal(offer.description))
        for argument in offer.arguments:
            field = QLineEdit(
                self._arguments,
                placeholderText=tr("required") if argument.required else tr("optional"),
            )
            field.setToolTip(reveal(argument.description))
            model = QStringListModel(field)
            completer = QCompleter(
                model, field, completionMode=QCompleter.CompletionMode.UnfilteredPopupCompletion
            )
            field.setCompleter(completer)
            field.textEdited.connect(lambda _, name=argument.name: self._ask_later(name))
            self.fields[argument.name], self._proposals[argument.name] = field, model
            self._form.addRow(reveal(argument.name, lines=False), field)
        self._arguments.setVisible(bool(offer.arguments))

    def _values(self) -> dict[str, str]:
        return {name: field.text() for name, field in self.fields.items()}

    def _ask_later(self, name: str) -> None:
        self._asked = name
        self._timer.start()

    def _ask(self) -> None:
        offer, field = self.offer, self.fields.get(self._asked)
        if offer is not None and field is not None:
            self.request_complete.emit(self._key, offer, self._asked, field.text(), self._values())

    def _open(self) -> None:
        offer = self.offer
        if offer is None:
            return
        missing = [
            each.name
            for each in offer.arguments
            if each.required and not self.fields[each.name].text()
        ]
        if missing:
            paint_text(self.about, "error")
            self.about.setText(
                tr("A value is needed for {names}.").format(names=", ".join(missing))
            )
            return
        self.request_open.emit(self._key, offer, self._values())

    def _insert(self) -> None:
        if self._content is not None:
            self.request_insert.emit(self._content)
            self.accept()

    def _keep(self) -> None:
        if self._content is not None and self.offer is not None:
            self.request_keep.emit(self.offer, self._content)
            self.accept()


def shown_text(content: OfferContent) -> str:
    """Return the opened content for display, with nothing hidden."""
    whole = "\n\n".join(f"{role}:\n{text}" if role else text for role, text in content.parts)
    more = f"\n… {len(whole):,} characters in all" if len(whole) > _MOST_SHOWN else ""
    return reveal(whole[:_MOST_SHOWN]) + more
