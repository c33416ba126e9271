"""Export: choose a form, see what was checked and what will be written, then write it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from studio.bridge.export import ExportController, ExportOrder, targets
from studio.bridge.messages import Messages, Notice
from studio.core.export.target import ExportResult, ExportTarget
from studio.core.prompty.document import PromptDocument
from studio.core.text.problem import Severity
from studio.core.text.source import SourceText
from studio.core.text.values import Json
from studio.ui.icons import icon
from studio.ui.theme import Theme, mono_font

_TARGET = Qt.ItemDataRole.UserRole
_SHOWN = 200_000


class ExportDialog(QDialog):
    """Nothing is written before the person chose where."""

    def __init__(
        self,
        document: PromptDocument,
        inputs: Mapping[str, Json],
        title: str,
        messages: Messages,
        theme: Theme,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Export {title}").format(title=title))
        self.resize(940, 640)
        self._document = document
        self._inputs = inputs
        self._title = title
        self._messages = messages
        self._theme = theme
        self._result: ExportResult | None = None
        self._controller = ExportController(self)
        self.forms = QListWidget()
        self.forms.setAccessibleName(self.tr("Forms"))
        for target in targets():
            item = QListWidgetItem(target.label)
            item.setData(_TARGET, target)
            item.setSizeHint(QSize(0, 30))
            self.forms.addItem(item)
        self.state = QLabel()
        self.state.setProperty("title", True)
        self.checks = QListWidget()
        self.checks.setAccessibleName(self.tr("Checks"))
        self.checks.setWordWrap(True)
        self.checks.setIconSize(QSize(16, 16))
        self.checks.setMaximumHeight(110)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setFont(mono_font(10))
        self.text.setAccessibleName(self.tr("Text to be written"))
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.copy = QPushButton(self.tr("Copy"))
        self.save = QPushButton(self.tr("Save as…"))
        self.save.setDefault(True)
        self.leave = QPushButton(self.tr("Close"))
        self._lay_out()
        self.forms.currentItemChanged.connect(self._order)
        self._controller.made.connect(self._show)
        self._controller.failed.connect(self._on_failed)
        self.copy.clicked.connect(self._copy)
        self.save.clicked.connect(self._ask_where)
        self.leave.clicked.connect(self.reject)
        self.finished.connect(self._controller.close)
        self.forms.setCurrentRow(0)

    @property
    def target(self) -> ExportTarget | None:
        """The form chosen."""
        item = self.forms.currentItem()
        return item.data(_TARGET) if item is not None else None

    def choose(self, name: str) -> None:
        """Choose a form by its stable name."""
        for row in range(self.forms.count()):
            if self.forms.item(row).data(_TARGET).name == name:
                self.forms.setCurrentRow(row)

    def write(self, path: Path) -> bool:
        """Write the text; says so itself when it cannot."""
        if self._result is None or self._result.blocked:
            return False
        failure = self._controller.write(path, self._result)
        if failure:
            self._messages.error(
                failure, self.tr("Nothing was changed. Choose another place."), str(path)
            )
            return False
        self._messages.say(
            Notice("success", self.tr("Exported {name}.").format(name=path.name), where=str(path))
        )
        return True

    def _lay_out(self) -> None:
        note = QLabel(
            self.tr(
                "Values come from Inputs and from defaults; samples are never exported. "
                "Secrets stay as references."
            )
        )
        note.setProperty("muted", True)
        note.setWordWrap(True)
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(12, 0, 0, 0)
        column.setSpacing(8)
        for widget in (self.state, self.checks, self.text, note):
            column.addWidget(widget, 1 if widget is self.text else 0)
        split = QSplitter()
        split.addWidget(self.forms)
        split.addWidget(right)
        split.setSizes([270, 650])
        split.setChildrenCollapsible(False)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        for button in (self.copy, self.leave, self.save):
            buttons.addWidget(button)
        box = QVBoxLayout(self)
        box.setContentsMargins(16, 16, 16, 16)
        box.setSpacing(12)
        box.addWidget(split, 1)
        box.addLayout(buttons)

    def _order(self) -> None:
        target = self.target
        if target is None:
            return
        self._result = None
        self.save.setEnabled(False)
        self.copy.setEnabled(False)
        self._controller.order(ExportOrder(self._document, target, self._inputs))

    def _show(self, result: ExportResult) -> None:
        self._result = result
        text = result.text
        self.text.setPlainText(
            text
            if len(text) <= _SHOWN
            else self.tr("{text}\n… shown up to here; saved whole").format(text=text[:_SHOWN])
        )
        self._show_checks(result)
        self.save.setEnabled(not result.blocked)
        self.copy.setEnabled(True)

    def _show_checks(self, result: ExportResult) -> None:
        self.checks.clear()
        source: SourceText = self._document.source
        order = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.HINT: 2}
        looks = {
            Severity.ERROR: ("circle-x", self._theme.error),
            Severity.WARNING: ("triangle-alert", self._theme.warning),
            Severity.HINT: ("info", self._theme.hint),
        }
        for problem in sorted(result.problems, key=lambda each: order[each.severity])[:100]:
            line = source.position(problem.span.start).line
            item = QListWidgetItem(
                self.tr("{problem}  (line {line})").format(problem=problem.message, line=line)
            )
            item.setIcon(icon(*looks[problem.severity]))
            self.checks.addItem(item)
        self.checks.setVisible(bool(result.problems))
        if result.blocked:
            self.state.setText(self.tr("Cannot be exported yet: mend the errors below first"))
        elif result.problems:
            self.state.setText(self.tr("Can be exported; there are remarks"))
        else:
            self.state.setText(self.tr("Checked: nothing found"))

    def _on_failed(self, sentence: str) -> None:
        self.state.setText(sentence)
        self.text.clear()
        self.checks.hide()

    def _copy(self) -> None:
        if self._result is not None:
            QGuiApplication.clipboard().setText(self._result.text)

    def _ask_where(self) -> None:
        target = self.target
        if target is None:
            return
        folder = self._document.source.path.parent if self._document.source.path else Path.home()
        start = folder / f"{Path(self._title).stem}{target.suffix}"
        name, _ = QFileDialog.getSaveFileName(
            self, self.tr("Export"), str(start), f"*{target.suffix}"
        )
        if name and self.write(Path(name)):
            self.accept()
