"""The test of a connection: its button, progress and result."""

from collections.abc import Mapping
from typing import get_args

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QProgressBar, QWidget

from studio.application.words import marked, tr
from studio.core.models.connections import Connection
from studio.core.models.probe import AbilityAnswer, AbilityName
from studio.ui.parts.kit import Drawing, column_of, named, push_button, row_of, toned_label
from studio.ui.style.theme import paint_text
from studio.viewmodels.connections.trials import ConnectionTrial

_MARKS = {"works": ("circle-check", "success"), "fails": ("circle-x", "error")}
"""Icon and tone of the result of a test."""

_NAMES: Mapping[AbilityName, str] = {
    "streaming": marked("Streaming"),
    "tools": marked("Tools"),
    "parallel": marked("Several calls at once"),
    "schema": marked("Schema for the answer"),
    "vision": marked("Images"),
    "reasoning": marked("Reasoning"),
    "stop": marked("Stop sequences"),
}

_VERDICTS: Mapping[AbilityAnswer, str] = {
    "yes": marked("yes"),
    "no": marked("no"),
    "refused": marked("refused"),
    "failed": marked("no answer"),
}


class TrialBar(QWidget):
    """One line at the bottom of the form."""

    request_test = Signal()
    request_cancel = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.test = push_button(tr("Test"), self.request_test, takes_enter=False)
        self.test.setToolTip(
            tr("Test whether the server responds, and each ability of the model with one request")
        )
        self.cancel = push_button(tr("Cancel"), self.request_cancel, takes_enter=False)
        self.progress = named(QProgressBar(textVisible=False), tr("Trying"))
        self.progress.setRange(0, 0)
        self.progress.setFixedWidth(90)
        self.picture = Drawing("circle-check", 18, "success")
        self.outcome = toned_label("text", wraps=True)
        self.outcome.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.hint = toned_label("muted", wraps=True)
        words = column_of(1, self.outcome, self.hint, 1, spacing=2)
        row_of(
            self.test,
            self.cancel,
            self.progress,
            self.picture,
            (words, 1),
            on=self,
            margins=(20, 8, 20, 8),
            spacing=12,
        )
        self.show_trial(ConnectionTrial())

    def show_trial(self, trial: ConnectionTrial) -> None:
        """Show the state of a test."""
        is_running = trial.state == "running" or bool(trial.asks)
        self.test.setVisible(not is_running)
        self.cancel.setVisible(is_running)
        self.progress.setVisible(is_running)
        probe = trial.probe
        self.outcome.setText(probe.message if probe else tr("Trying …") if is_running else "")
        asks = tr("Testing the abilities of {model} …").format(model=trial.asks)
        self.hint.setText(asks if trial.asks else probe.hint if probe is not None else "")
        self.hint.setVisible(bool(self.hint.text()))
        mark = _MARKS.get(trial.state)
        self.picture.setVisible(mark is not None)
        if mark is not None:
            self.picture.draw(*mark)


class TriedTable(QWidget):
    """Table of the results of the current or last test, or of a saved one."""

    def __init__(self) -> None:
        super().__init__()
        self.about = QLabel(wordWrap=True)
        self.rows: dict[AbilityName, tuple[QLabel, QLabel]] = {}
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(2, 1)
        grid.addWidget(self.about, 0, 0, 1, 3)
        for row, (name, words) in enumerate(_NAMES.items(), 1):
            verdict, statement = QLabel(), QLabel()
            statement.setWordWrap(True)
            statement.setTextFormat(Qt.TextFormat.PlainText)  # text from a server is not HTML
            grid.addWidget(QLabel(tr(words)), row, 0)
            grid.addWidget(verdict, row, 1)
            grid.addWidget(statement, row, 2)
            self.rows[name] = (verdict, statement)
        self._paint()

    @property
    def has_rows(self) -> bool:
        """Whether there is anything to show."""
        return any(verdict.text() for verdict, _ in self.rows.values()) or bool(self.about.text())

    def show_table(self, connection: Connection, trial: ConnectionTrial) -> None:
        """Show the results of a connection's test."""
        now = {each.name: each for each in trial.tried}
        kept = {} if trial.asks or now else connection.tried
        model = trial.asks or str(connection.tried.get("model", ""))
        self.about.setText(tr("Model: {model}").format(model=model) if model else "")
        for name, (verdict, words) in self.rows.items():
            tried = now.get(name)
            word = tried.verdict if tried is not None else kept.get(name)
            known = next((each for each in get_args(AbilityAnswer) if each == word), None)
            waits = "…" if trial.asks else ""
            shown = tr(_VERDICTS[known]) if known else waits
            verdict.setText(shown)
            words.setText(tried.remark if tried is not None else "")
        self._paint()

    def _paint(self) -> None:
        yes = tr(_VERDICTS["yes"])
        paint_text(self.about, "muted")
        for verdict, words in self.rows.values():
            paint_text(verdict, "success" if verdict.text() == yes else "text")
            paint_text(words, "muted")
