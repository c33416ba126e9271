"""Trying a connection: the button, the wait, and the outcome in plain words."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from studio.ui.parts.drawing import Drawing
from studio.ui.style.colors import paint_text
from studio.viewmodels.connections.trials import ConnectionTrial

_MARKS = {"works": ("circle-check", "success"), "fails": ("circle-x", "error")}
"""Icon and tone of how a try ended."""


class TrialBar(QWidget):
    """One line at the foot of the form."""

    request_test = Signal()
    request_cancel = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.test = QPushButton(self.tr("Test"))
        self.test.setAutoDefault(False)
        self.test.setToolTip(self.tr("Ask whether it answers, and its model once for each ability"))
        self.cancel = QPushButton(self.tr("Cancel"))
        self.cancel.setAutoDefault(False)
        self.progress = QProgressBar()
        self.progress.setRange(0, 0)
        self.progress.setTextVisible(False)
        self.progress.setFixedWidth(90)
        self.progress.setAccessibleName(self.tr("Trying"))
        self.picture = Drawing("circle-check", 18, "success")
        self.outcome = QLabel()
        self.outcome.setWordWrap(True)
        self.outcome.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.hint = QLabel()
        self.hint.setWordWrap(True)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addStretch(1)
        words.addWidget(self.outcome)
        words.addWidget(self.hint)
        words.addStretch(1)
        row = QHBoxLayout(self)
        row.setContentsMargins(20, 8, 20, 8)
        row.setSpacing(12)
        row.addWidget(self.test)
        row.addWidget(self.cancel)
        row.addWidget(self.progress)
        row.addWidget(self.picture)
        row.addLayout(words, 1)
        self.test.clicked.connect(self.request_test)
        self.cancel.clicked.connect(self.request_cancel)
        paint_text(self.outcome, "text")
        paint_text(self.hint, "muted")
        self.show_trial(ConnectionTrial())

    def show_trial(self, trial: ConnectionTrial) -> None:
        """Say how it stands."""
        is_running = trial.state == "running" or bool(trial.asks)
        self.test.setVisible(not is_running)
        self.cancel.setVisible(is_running)
        self.progress.setVisible(is_running)
        probe = trial.probe
        self.outcome.setText(probe.message if probe else self.tr("Trying …") if is_running else "")
        asks = self.tr("Asking {model} what it can do …").format(model=trial.asks)
        self.hint.setText(asks if trial.asks else probe.hint if probe is not None else "")
        self.hint.setVisible(bool(self.hint.text()))
        mark = _MARKS.get(trial.state)
        self.picture.setVisible(mark is not None)
        if mark is not None:
            self.picture.draw(*mark)
