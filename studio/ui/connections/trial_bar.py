"""Trying a connection: the button, the wait, and the outcome in plain words."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from studio.ui.style.colors import paint_text
from studio.ui.style.icons import icon
from studio.ui.style.in_use import FollowsTheme, theme_in_use
from studio.viewmodels.connections.trials import ConnectionTrial

_ICONS = {"works": "circle-check", "fails": "circle-x"}


class TrialBar(FollowsTheme, QWidget):
    """One line at the foot of the form."""

    request_test = Signal()
    request_cancel = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._trial = ConnectionTrial()
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
        self.picture = QLabel()
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
        row.setSpacing(10)
        row.addWidget(self.test)
        row.addWidget(self.cancel)
        row.addWidget(self.progress)
        row.addWidget(self.picture)
        row.addLayout(words, 1)
        self.test.clicked.connect(self.request_test)
        self.cancel.clicked.connect(self.request_cancel)
        self.show_trial(ConnectionTrial())
        self.follow_theme()

    def show_trial(self, trial: ConnectionTrial) -> None:
        """Say how it stands."""
        self._trial = trial
        is_running = trial.state == "running" or bool(trial.asks)
        self.test.setVisible(not is_running)
        self.cancel.setVisible(is_running)
        self.progress.setVisible(is_running)
        probe = trial.probe
        self.outcome.setText(probe.message if probe else self.tr("Trying …") if is_running else "")
        asks = self.tr("Asking {model} what it can do …").format(model=trial.asks)
        self.hint.setText(asks if trial.asks else probe.hint if probe is not None else "")
        self.hint.setVisible(bool(self.hint.text()))
        self._paint()

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        self._paint()

    def _paint(self) -> None:
        theme = theme_in_use()
        name = _ICONS.get(self._trial.state)
        color = theme.success if self._trial.state == "works" else theme.error
        self.picture.setVisible(name is not None)
        if name is not None:
            self.picture.setPixmap(icon(name, color).pixmap(18, 18))
        paint_text(self.outcome, "text")
        paint_text(self.hint, "muted")
