"""Recording a program from the window: its options and the runs of its conversations."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QWidget

from studio.application.words import tr
from studio.core.agent.values.options import RunOptions
from studio.core.models.base import ModelError
from studio.core.runs.rows import RECORDING
from studio.core.runs.store import RunFilter, RunStore
from studio.ui.parts.fields import Choices, FieldForm, ask_text
from studio.ui.parts.kit import column_of, resize_within_screen, toned_label
from studio.ui.window.parts import WindowParts
from studio.viewmodels.app.background import Background
from studio.viewmodels.app.notifications import NotificationAction
from studio.viewmodels.run.controller import RunController

if TYPE_CHECKING:
    from studio.servers.record.session import (
        AskedRequest,
        ProgramSession,
        WantedRecording,
        WindowRecording,
    )


_OTHERS = ("folder", "to", "port", "replays", "faults", "steps")
"""Fields besides the command, by attribute name."""


class RecordDialog(QDialog):
    """Asks for the program to record, or for the port if the program is started elsewhere."""

    def __init__(
        self, last: WantedRecording, parent: QWidget | None = None, replays: Choices = ()
    ) -> None:
        """Create the dialog.

        Args:
            last: values of the fields at first.
            parent: the widget it belongs to.
            replays: a run of each recording that can answer in place of the models.
        """
        super().__init__(parent)
        self.wanted = last
        """The user's input, after the dialog is accepted."""
        models = ("", tr("of the models"))
        self.form = FieldForm("recording", choices={"replays": (models, *replays)})
        values = {key: getattr(last, key) for key in _OTHERS}
        self.form.set_values({"program": shlex.join(last.program), **values})
        self.problem = toned_label("error", wraps=True)
        self.setWindowTitle(tr("Record a program"))
        about = tr(
            "Its model calls go through Prompt Studio; the program needs no change. While a call "
            "is held, the program's own time limit applies: 600 seconds in the SDKs of OpenAI and "
            "Anthropic, none in Gemini's."
        )
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.record = buttons.addButton(tr("Record"), QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout = column_of(on=self, margins=16, spacing=16)
        layout.addWidget(toned_label("muted", about, wraps=True))
        layout.addLayout(self.form.laid_out())
        layout.addWidget(self.problem)
        self.problem.hide()
        layout.addWidget(buttons)
        resize_within_screen(self, 560, 340)

    def accept(self) -> None:
        """Read the fields, or show what is invalid."""
        from studio.servers.record.session import WantedRecording, faults_of

        try:
            words = tuple(shlex.split(self.form.text("program"), posix=sys.platform != "win32"))
        except ValueError:
            self._refuse(tr("The command has an unclosed quotation mark."))
            return
        folder = self.form.text("folder")
        if folder and not Path(folder).is_dir():
            self._refuse(tr("{name} is not a folder.").format(name=folder))
            return
        if words and shutil.which(words[0]) is None and not Path(folder, words[0]).is_file():
            text = tr("{name} is neither a program on the PATH nor a file in the folder.")
            self._refuse(text.format(name=words[0]))
            return
        try:
            faults_of(self.form.text("faults"))
        except ValueError as error:
            self._refuse(str(error))
            return
        self.wanted = self.form.written_to(WantedRecording(words), *_OTHERS)
        super().accept()

    def _refuse(self, text: str) -> None:
        self.problem.setText(text)
        self.problem.show()


class Recordings(QObject):
    """Records one program at a time; each conversation is a run of the window."""

    def __init__(
        self,
        window: WindowParts,
        run: RunController,
        background: Background,
        store: RunStore | None,
    ) -> None:
        super().__init__(window.widget)
        self._window, self._run = window, run
        self._background, self._store = background, store
        self._last: WantedRecording | None = None
        self._recording: WindowRecording | None = None
        self._begun = 0
        run.breakpoints.changed.connect(self._on_breakpoints)
        window.actions["run.record"].triggered.connect(self.ask)

    @property
    def is_recording(self) -> bool:
        """Whether a program is being recorded."""
        return self._recording is not None

    def ask(self) -> None:
        """Ask for a program to record; during a recording, show its conversation instead."""
        from studio.servers.record.session import WantedRecording

        if self._recording is not None:
            self._run.show_joined()
            self._window.docks.show("run")
            return
        if self._last is None:
            roots = self._window.files.roots
            self._last = WantedRecording((), str(roots[0]) if roots else "")
        dialog = RecordDialog(self._last, self._window.widget, tuple(self.replays()))
        if dialog.exec() == QDialog.DialogCode.Accepted:
            self.start(dialog.wanted)

    def replays(self) -> Iterator[tuple[str, str]]:
        """Yield a run of each of the last recordings, with words for it."""
        from studio.application.history.rows import when

        seen, now = set[str](), datetime.now().astimezone()
        for run in self._store.runs(RunFilter()) if self._store is not None else ():
            tag = run.shared_tag(RECORDING)
            if tag and tag not in seen:
                seen.add(tag)
                words = tr("of the recording of {program}, {time}")
                program = run.prompt.rpartition(" ")[0]
                yield run.id, words.format(program=program, time=when(run.started, now))

    def start(self, wanted: WantedRecording) -> None:
        """Record a program."""
        from studio.servers.record.session import WindowRecording

        self._last, self._begun = wanted, 0
        post = self._background.post
        recording = self._recording = WindowRecording(
            wanted,
            self._options(steps=wanted.steps),
            self._store,
            lambda session: post(partial(self._join, session)),
            lambda addresses: post(partial(self._tell_addresses, addresses)),
            lambda asked: post(partial(self._ask_for_answer, asked)),
        )
        self._background.start(recording.serve(), self._on_end)
        if wanted.program:
            words = tr("The program is being recorded: its first call opens as a run.")
            if wanted.replays:
                words = tr("The recording answers the program's calls; nothing is sent.")
            self._window.messages.say("info", words, offers=(self._offer_stop(),), key="record")

    def stop(self) -> None:
        """End the recorded program and its child processes."""
        if self._recording is not None:
            self._background.start(self._recording.end())

    def _offer_stop(self) -> NotificationAction:
        return NotificationAction(tr("Stop the program"), self.stop)

    def _options(self, *, steps: bool) -> RunOptions:
        value = self._run.breakpoints.value
        return RunOptions(
            approve="always",
            stop_at_entry=steps,
            breakpoints=value.breakpoints,
            exceptions=value.exceptions,
        )

    def _on_breakpoints(self) -> None:
        if self._recording is not None and self._last is not None:
            self._recording.recording.options = self._options(steps=self._last.steps)

    def _join(self, session: ProgramSession) -> None:
        self._run.join(session, is_first=not self._begun)
        self._begun += 1
        if self._begun == 1:
            self._window.docks.show("run")

    def _tell_addresses(self, addresses: str) -> None:
        def copy() -> None:
            QGuiApplication.clipboard().setText(addresses)

        offers = (NotificationAction(tr("Copy the addresses"), copy), self._offer_stop())
        words = tr("Start the program with these variables; it is recorded until you stop it.")
        self._window.messages.say("info", words, addresses, offers=offers, key="record")

    def _ask_for_answer(self, asked: AskedRequest) -> None:
        """Offer the answers to a request that the recording does not hold."""
        from studio.servers.record.session import Decision

        def answer(text: str) -> None:
            asked.decide(Decision("answer", text))

        def write() -> None:
            ask_text(self._window.widget, tr("Answer the request"), tr("Answer"), "", answer)

        offers = (
            NotificationAction(
                tr("Take the next recorded answer"), partial(asked.decide, Decision("take"))
            ),
            NotificationAction(tr("Ask the model"), partial(asked.decide, Decision("ask"))),
            NotificationAction(tr("Answer myself…"), write),
            NotificationAction(tr("Refuse it"), partial(asked.decide, Decision("refuse"))),
        )
        words = tr("The program asks something else than in the recording.")
        hint = f"{asked.words}\n{asked.said}"
        self._window.messages.say("warning", words, hint, offers=offers, key="answer")

    def _on_end(self, future: Future[str]) -> None:
        self._recording = None
        self._window.messages.withdraw("answer")
        error = None if future.cancelled() else future.exception()
        if isinstance(error, ModelError | OSError | ValueError | LookupError):
            self._window.messages.say(
                "error", tr("The program cannot be recorded."), str(error), key="record"
            )
            return
        count = self._begun
        words = tr("The recording has ended: {count} conversations.").format(count=count)
        if count == 1:
            words = tr("The recording has ended: 1 conversation.")
        if self._last is not None and self._last.replays:
            words = tr("The replay has ended.")
        ended = "" if future.cancelled() else future.result()
        self._window.messages.say("info", words, ended, key="record")
