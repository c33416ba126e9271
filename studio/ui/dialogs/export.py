"""Export: choose a form, see what was checked and what will be written, then write it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from studio.bridge.export import Difference, ExportController, ExportOrder, targets
from studio.bridge.messages import Messages, Notice
from studio.core.export.target import ExportResult, ExportTarget
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.problem import Fix
from studio.core.text.values import Json, JsonObject
from studio.ui.dialogs.export_checks import CheckList
from studio.ui.dialogs.export_forms import FormList
from studio.ui.dialogs.export_result import ResultTabs
from studio.ui.icons import icon
from studio.ui.theme import Theme

_WAIT = 250
"""Milliseconds before a check that goes on is said to be under way."""


@dataclass(frozen=True, slots=True)
class ExportSubject:
    """What is to be exported."""

    document: PromptDocument
    """The text as it is in the editor, parsed."""

    title: str
    """The name of its tab."""

    inputs: Mapping[str, Json] = field(default_factory=dict)
    """The values of now."""

    sets: Mapping[str, JsonObject] = field(default_factory=dict)
    """The saved input sets."""

    tools: tuple[ToolSpec, ...] | None = None
    """The tools that a run would have; None for those of the document."""

    base_url: str = ""
    """Address of the connection."""

    model: str = ""
    """Model id of the connection, where the prompt names none."""


class ExportDialog(QDialog):
    """Nothing is written before the person chose where, and agreed to what is lost."""

    fix_requested = Signal(object)  # Fix: edits to the prompt in the editor

    def __init__(
        self, subject: ExportSubject, messages: Messages, theme: Theme, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Export {title}").format(title=subject.title))
        self.resize(1080, 700)
        self._subject = subject
        self._messages = messages
        self._theme = theme
        self._result: ExportResult | None = None
        self._folder = _folder_of(subject)
        self._controller = ExportController(self)
        self._waiting = QTimer(self)
        self._waiting.setSingleShot(True)
        self._waiting.setInterval(_WAIT)
        self._make_parts(theme)
        self._lay_out()
        self._wire()
        self.forms.choose("file")

    # -- what it shows --------------------------------------------------------------------------

    @property
    def target(self) -> ExportTarget | None:
        """The form chosen."""
        return self.forms.target

    @property
    def made(self) -> ExportResult | None:
        """What would be written; None while it is being made."""
        return self._result

    @property
    def path(self) -> Path | None:
        """Where it will be written."""
        text = self.place.text().strip()
        return self._folder / Path(text).expanduser() if text else None

    def choose(self, name: str) -> None:
        """Choose a form by its stable name."""
        self.forms.choose(name)

    def set_document(self, document: PromptDocument) -> None:
        """Take the prompt as it is after a fix, and check it again."""
        self._subject = replace(self._subject, document=document)
        self._order()

    def write(self, path: Path) -> bool:
        """Write the file; says so itself when it cannot."""
        if self._result is None or not self._may_write():
            return False
        failure = self._controller.write(path, self._result)
        if failure:
            self._messages.error(
                failure, self.tr("Nothing was changed. Choose another place."), str(path)
            )
            self._say("circle-x", self._theme.error, failure)
            return False
        said = self.tr("Exported {name}.").format(name=path.name)
        self._messages.say(Notice("success", said, where=str(path)))
        return True

    # -- parts ----------------------------------------------------------------------------------

    def _make_parts(self, theme: Theme) -> None:
        self.forms = FormList(targets(), theme)
        self.heading = QLabel()
        self.heading.setProperty("title", True)
        self.about = _muted()
        self._mark = QLabel()
        self.state = QLabel()
        self.state.setWordWrap(True)
        self.checks = CheckList(theme)
        self.tabs = ResultTabs(theme)
        self.text, self.diff, self.rounds = self.tabs.text, self.tabs.diff, self.tabs.rounds
        self.consent = QCheckBox()
        self.place = QLineEdit()
        self.place.setAccessibleName(self.tr("File to write"))
        self.place.setPlaceholderText(self.tr("File to write"))
        self.browse = QPushButton(self.tr("Browse…"))
        self.browse.setAutoDefault(False)
        self.copy = QPushButton(self.tr("Copy"))
        self.copy.setAutoDefault(False)
        self.leave = QPushButton(self.tr("Close"))
        self.leave.setAutoDefault(False)
        self.save = QPushButton(self.tr("Export"))
        self.save.setDefault(True)
        self.save.setProperty("primary", True)

    def _lay_out(self) -> None:
        state = QHBoxLayout()
        state.setSpacing(8)
        state.addWidget(self._mark)
        state.addWidget(self.state, 1)
        frame = QFrame()
        frame.setFrameShape(QFrame.Shape.StyledPanel)
        inside = QVBoxLayout(frame)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addWidget(self.tabs)
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(14, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.heading)
        column.addWidget(self.about)
        column.addLayout(state)
        column.addWidget(self.checks)
        column.addWidget(frame, 1)
        column.addWidget(self.consent)
        split = QSplitter()
        split.addWidget(self.forms)
        split.addWidget(right)
        split.setSizes([270, 780])
        split.setStretchFactor(1, 1)
        split.setChildrenCollapsible(False)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        for widget in (self.place, self.browse, self.copy, self.leave, self.save):
            foot.addWidget(widget, 1 if widget is self.place else 0)
        box = QVBoxLayout(self)
        box.setContentsMargins(16, 16, 16, 16)
        box.setSpacing(12)
        box.addWidget(split, 1)
        box.addLayout(foot)

    def _wire(self) -> None:
        self.forms.target_chosen.connect(lambda _: self._on_target())
        self._controller.made.connect(self._show)
        self._controller.compared.connect(self._on_compared)
        self._controller.failed.connect(self._on_failed)
        self._waiting.timeout.connect(self._say_waiting)
        self.checks.fix_chosen.connect(self._on_fix)
        self.consent.toggled.connect(lambda _: self._offer())
        self.place.textChanged.connect(lambda _: self._on_place())
        self.browse.clicked.connect(self._ask_where)
        self.copy.clicked.connect(self._copy)
        self.save.clicked.connect(self._on_save)
        self.leave.clicked.connect(self.reject)
        self.finished.connect(self._controller.close)
        self.finished.connect(self.deleteLater)

    # -- what happens ---------------------------------------------------------------------------

    def _on_target(self) -> None:
        target = self.target
        if target is None:
            return
        self.heading.setText(target.label)
        self.about.setText(target.about)
        self.place.setText(_name_of(self._subject, target, self._folder))
        self._order()

    def _order(self) -> None:
        target = self.target
        if target is None:
            return
        subject = self._subject
        self._result = None
        self.consent.setChecked(False)
        self._offer()
        self._waiting.start()
        self._controller.order(
            ExportOrder(
                subject.document, target, subject.inputs, subject.tools, subject.sets,
                subject.base_url, subject.model,
            )
        )  # fmt: skip

    def _show(self, result: ExportResult) -> None:
        self._waiting.stop()
        self._result = result
        self.tabs.show_text(result.text)
        self.checks.show_result(result, self._subject.document.source)
        self.tabs.show_rounds(result.rounds)
        self._show_state(result)
        count = len(result.losses)
        self.consent.setVisible(bool(count) and not result.blocked)
        self.consent.setText(
            self.tr("Write it although one thing is lost or changed")
            if count == 1
            else self.tr("Write it although {count} things are lost or changed").format(count=count)
        )
        self._on_place()

    def _show_state(self, result: ExportResult) -> None:
        theme = self._theme
        if result.blocked:
            said = self.tr("Cannot be exported yet: mend the errors below first")
            self._say("circle-x", theme.error, said)
        elif result.needs_consent:
            said = self.tr("Can be exported, but not everything comes along as it is")
            self._say("triangle-alert", theme.warning, said)
        elif result.rounds:
            said = self.tr("Checked, and proven: read back, the messages and tools are the same")
            self._say("circle-check", theme.success, said)
        else:
            self._say(
                "circle-check",
                theme.success,
                self.tr("Checked: nothing stands in the way"),
            )

    def _on_place(self) -> None:
        """Compare with the file that would be replaced, and name the button after what it does."""
        if self._result is not None:
            self._controller.compare(self._result, self.path)
        self._offer()

    def _on_compared(self, made: Difference) -> None:
        self.diff.show_difference(made.text, made.against)

    def _offer(self) -> None:
        ready = self._result is not None
        replaces = ready and self.path is not None and self.path.is_file()
        self.save.setText(self.tr("Replace") if replaces else self.tr("Export"))
        self.save.setEnabled(self._may_write() and self.path is not None)
        self.copy.setEnabled(ready and self._result is not None and self._result.data is None)
        if not ready:
            self.consent.hide()

    def _may_write(self) -> bool:
        result = self._result
        if result is None or result.blocked:
            return False
        return not result.needs_consent or self.consent.isChecked()

    def _say(self, picture: str, colour: str, text: str) -> None:
        self._mark.setPixmap(icon(picture, colour).pixmap(18, 18))
        self.state.setText(text)

    def _say_waiting(self) -> None:
        self._say("loader", self._theme.muted, self.tr("Checking…"))

    def _on_failed(self, sentence: str) -> None:
        self._waiting.stop()
        self._say("circle-x", self._theme.error, sentence)
        self.text.clear()
        self.checks.hide()

    def _on_fix(self, fix: Fix) -> None:
        self.fix_requested.emit(fix)

    def _copy(self) -> None:
        if self._result is not None:
            QGuiApplication.clipboard().setText(self._result.text)

    def _on_save(self) -> None:
        if self.path is not None and self.write(self.path):
            self.accept()

    def _ask_where(self) -> None:
        target = self.target
        if target is None:
            return
        start = str(self.path or self._folder)
        options = QFileDialog.Option.DontConfirmOverwrite  # the button and the difference say it
        name, _ = QFileDialog.getSaveFileName(
            self, self.tr("Export"), start, f"*{target.suffix}", options=options
        )
        if name:
            self.place.setText(name)


def _muted() -> QLabel:
    label = QLabel()
    label.setProperty("muted", True)
    label.setWordWrap(True)
    return label


def _folder_of(subject: ExportSubject) -> Path:
    path = subject.document.source.path
    return path.parent if path is not None else Path.home()


def _name_of(subject: ExportSubject, target: ExportTarget, folder: Path) -> str:
    """A name beside the prompt that is not the prompt's own."""
    own = subject.document.source.path
    stem = Path(subject.title).stem or "prompt"
    path = folder / f"{stem}{target.suffix}"
    if path == own or (target.suffix == ".prompty" and own is None):
        path = folder / f"{stem}.export{target.suffix}"
    return str(path)
