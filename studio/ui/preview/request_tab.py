"""The exact request body for each provider."""

from collections.abc import Callable, Mapping
from functools import partial

from PySide6 import QtWidgets
from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication

from studio.application.preview.diff import request_as_curl, request_as_json, request_as_python
from studio.application.preview.places import ValueSource, source_of
from studio.application.preview.requests import PROVIDERS, RequestPreview, provider_for
from studio.application.preview.variables import Preview, PreviewTarget
from studio.application.words import tr
from studio.core.text.amounts import by_count, size
from studio.core.text.invisible import plain_tip
from studio.core.text.source import SourceText, Span
from studio.core.wire.request import Provider
from studio.ui.parts.empty_state import EmptyState
from studio.ui.parts.fields import ComboBox
from studio.ui.parts.kit import (
    Chip,
    FlowLayout,
    column_of,
    empty_layout,
    icon_button,
    named,
    row_of,
    scroll_area,
    toned_label,
)
from studio.ui.parts.text_views import JsonView
from studio.ui.style.theme import icon, paint_text

_LEAST_BESIDE, _LEAST_ALONE = 280, 120
"""Minimum widths of a body in pixels, beside others and alone."""


class RequestColumn(QtWidgets.QWidget):
    """A body as JSON; beside others, with its provider's name. Several remarks are counted."""

    def __init__(self, provider: Provider) -> None:
        super().__init__()
        self.provider = provider
        self._title = toned_label("muted", PROVIDERS[provider], parent=self)
        self._title.setContentsMargins(12, 0, 12, 4)
        self._title.hide()
        self.view = JsonView()
        name = tr("Request body, JSON, {shape}")
        self.view.setAccessibleName(name.format(shape=PROVIDERS[provider]))
        self.notes = toned_label("warning", parent=self, wraps=True, is_plain=True)
        self.notes.setContentsMargins(12, 8, 12, 8)
        self.fold = QtWidgets.QPushButton(icon("triangle-alert", "warning"), "", flat=True)
        named(self.fold, tr("Notes on the request")).setCheckable(True)
        self.fold.toggled.connect(self.notes.setVisible)
        parts = (self._title, (self.view, 1), row_of(self.fold, 1), self.notes)
        column_of(*parts, on=self, margins=0, spacing=0)

    def show_request(self, request: RequestPreview, *, is_beside: bool) -> None:
        """Show a body."""
        self.view.show_json(request.text)
        self._title.setVisible(is_beside)
        notes = request.notes
        self.notes.setText("\n".join(f"• {note}" for note in notes))
        self.fold.setText(by_count(len(notes), tr("1 note"), tr("{count} notes")))
        is_folded = len(notes) > (0 if is_beside else 1)
        self.fold.setVisible(is_folded)
        self.notes.setVisible(self.fold.isChecked() if is_folded else bool(notes))


class RequestTab(QtWidgets.QWidget):
    """Choice of providers, copy menu, bodies, and what a provider's format cannot express."""

    request_bodies = Signal(tuple)  # of Provider: the visible bodies, from now on
    place_chosen = Signal(Span)  # source of the clicked value
    input_chosen = Signal(str)  # input of the value that was clicked with Ctrl
    request_sample = Signal(str)  # use the sample of this input as the user's value

    def __init__(self) -> None:
        super().__init__()
        self._preview: Preview | None = None
        self._requests: Mapping[Provider, RequestPreview] = {}
        self._asked: tuple[Provider, ...] = ()
        self._is_seen = False
        self.provider = named(ComboBox(), tr("Format of the request"))
        for key, title in PROVIDERS.items():
            self.provider.addItem(title, key)
        self._by_hand = False
        self.provider.activated.connect(self._choose)
        self._size = toned_label("muted")
        self._change = toned_label("accent", wraps=True, is_plain=True)
        self._change.setContentsMargins(12, 0, 12, 8)
        self._change.hide()
        self.copy_button = icon_button("copy", tr("Copy the request"))
        self.copy_button.setText(tr("Copy"))
        self.copy_button.setPopupMode(QtWidgets.QToolButton.ToolButtonPopupMode.InstantPopup)
        self.copy_button.setMenu(self._copy_menu())
        self._columns = {key: self._make_column(key) for key in PROVIDERS}
        self._beside = QtWidgets.QSplitter(childrenCollapsible=False)
        for column in self._columns.values():
            self._beside.addWidget(column)
            column.setHidden(column.view is not self.view)
        self._empty = EmptyState(
            "send",
            tr("No request yet"),
            tr("Open a prompt to see its exact request."),
        )
        self._stack = QtWidgets.QStackedWidget()
        self._stack.addWidget(self._empty)
        self._scroll = scroll_area(self._beside)
        self._stack.addWidget(self._scroll)
        layout = column_of(on=self, margins=0, spacing=0)
        self.chosen = QtWidgets.QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.chosen.setContentsMargins(12, 0, 12, 8)
        self.samples = QtWidgets.QWidget()
        self._chips = FlowLayout(self.samples)
        self.samples.setContentsMargins(12, 0, 12, 8)
        self.samples.hide()
        layout.addLayout(self._make_bar())
        layout.addWidget(self._change)
        layout.addWidget(self.chosen)
        layout.addWidget(self.samples)
        layout.addWidget(self._stack, 1)

    def _make_bar(self) -> QtWidgets.QHBoxLayout:
        bar = row_of(self.provider, (self._size, 1), margins=(12, 8, 12, 8), spacing=8)
        self.beside_button = icon_button("panel-right", tr("All request formats side by side"))
        self.beside_button.setCheckable(True)
        self.beside_button.toggled.connect(self._ask)
        bar.addWidget(self.beside_button)
        bar.addWidget(self.copy_button)
        return bar

    def show_preview(self, preview: Preview | None) -> None:
        """Set the preview; its bodies are set by `show_bodies`."""
        self._preview = preview
        target = preview.job.target if preview is not None else PreviewTarget()
        self.chosen.setText(target.chosen)
        self.chosen.setVisible(bool(target.chosen))
        paint_text(self.chosen, "warning" if target.is_refused else "muted")
        if preview is None:
            self.show_bodies({})
        elif not self._by_hand:
            index = self.provider.findData(provider_for(preview))
            self.provider.blockSignals(True)
            self.provider.setCurrentIndex(max(0, index))
            self.provider.blockSignals(False)
        self._ask()

    def show_change(self, words: str) -> None:
        """Show how many tokens it has more than the request of the shown run."""
        self._change.setText(tr("{change} since the run").format(change=words) if words else "")
        self._change.setVisible(bool(words))

    def show_bodies(self, requests: Mapping[Provider, RequestPreview]) -> None:
        """Show the bodies of the newest preview."""
        self._requests = requests
        self._show_samples()
        self._show()

    def _show_samples(self) -> None:
        """Offer the samples that are not in the body."""
        names = self.current.samples if self.current is not None else ()
        empty_layout(self._chips)
        for name in names:
            chip = Chip(tr("Use the sample of {name}").format(name=name))
            chip.setToolTip(tr("It is not in the request: a run does not send a sample."))
            chip.clicked.connect(lambda _, name=name: self.request_sample.emit(name))
            self._chips.addWidget(chip)
            chip.show()
        self.samples.setVisible(bool(names))

    def set_seen(self, seen: bool) -> None:
        """Set whether the tab is visible, so that bodies are requested."""
        self._is_seen = seen
        self._ask()

    @property
    def current(self) -> RequestPreview | None:
        """The shown body."""
        return self._requests.get(self.provider.currentData())

    @property
    def view(self) -> JsonView:
        """The view of the selected provider's body."""
        return self._columns[self.provider.currentData()].view

    @property
    def shown(self) -> tuple[JsonView, ...]:
        """The visible bodies."""
        return tuple(item.view for item in self._columns.values() if not item.isHidden())

    def _make_column(self, provider: Provider) -> RequestColumn:
        column = RequestColumn(provider)
        view = column.view
        view.place_clicked.connect(partial(self._choose_place, provider))
        view.request_input.connect(partial(self._choose_input, provider))
        view.request_tip.connect(partial(self._tell_place, provider))
        return column

    def _choose_place(self, provider: Provider, place: int) -> None:
        source = self._source(provider, place)
        if source is not None and source.span is not None:
            self.place_chosen.emit(source.span)

    def _choose_input(self, provider: Provider, place: int) -> None:
        source = self._source(provider, place)
        if source is not None and source.input:
            self.input_chosen.emit(source.input)
        else:
            self._choose_place(provider, place)

    def _tell_place(self, provider: Provider, place: int, point: QPoint) -> None:
        tip = self.source_tip(provider, place)
        QtWidgets.QToolTip.showText(point, plain_tip(tip), self._columns[provider].view)

    def source_tip(self, provider: Provider, place: int) -> str:
        """Return the tooltip of the value at a position of a body, in UTF-16 units."""
        preview, source = self._preview, self._source(provider, place)
        if preview is None:
            return ""
        if source is None or source.span is None:
            return tr("Not from the prompt: set by the request format or the connection.")
        line = preview.shown.source.line_of(source.span.start) + 1
        if source.input:
            text = tr("Value of the input “{name}”, line {line}. Ctrl+click edits it.")
            return text.format(name=source.input, line=line)
        return tr("Written in line {line}: click to go there.").format(line=line)

    def _source(self, provider: Provider, place: int) -> ValueSource | None:
        request = self._requests.get(provider)
        if request is None or self._preview is None:
            return None
        return source_of(self._preview.shown, request, SourceText(request.text).from_utf16(place))

    def _choose(self, _: int) -> None:
        self._by_hand = True  # keep the user's choice from now on
        self._ask()

    def _ask(self, *_: object) -> None:
        """Emit which bodies are visible if that has changed."""
        chosen = (self.provider.currentData(),)
        seen = tuple(PROVIDERS) if self.beside_button.isChecked() else chosen
        asked = seen if self._is_seen else ()
        if asked != self._asked:
            self._asked = asked
            self.request_bodies.emit(asked)

    def _show(self) -> None:
        request = self.current
        is_beside = self.beside_button.isChecked()
        for provider, column in self._columns.items():
            is_seen = is_beside or column.view is self.view
            column.setHidden(not is_seen)
            column.setMinimumWidth(_LEAST_BESIDE if is_beside else _LEAST_ALONE)
            if is_seen and (body := self._requests.get(provider)) is not None:
                column.show_request(body, is_beside=is_beside)
        has_text = request is not None and bool(request.text)
        self.copy_button.setEnabled(has_text)
        if request is None or not has_text:
            self._size.setText("")
            self._stack.setCurrentWidget(self._empty)
            return
        self._size.setText(size(request.size))
        self._stack.setCurrentWidget(self._scroll)

    def _copy_menu(self) -> QtWidgets.QMenu:
        menu = QtWidgets.QMenu(self)
        for words, write in (
            (tr("As JSON"), request_as_json),
            (tr("As curl"), request_as_curl),
            (tr("As Python"), request_as_python),
        ):
            menu.addAction(words, partial(self.copy, write))
        return menu

    def copy(self, write: Callable[[RequestPreview], str]) -> None:
        """Copy the request to the clipboard; its key is a reference to the environment."""
        if self.current is not None:
            QGuiApplication.clipboard().setText(write(self.current))
