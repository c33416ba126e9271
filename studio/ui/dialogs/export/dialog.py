"""Export: choose a target, see checks and result, then write the file."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6 import QtWidgets
from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication

from studio.application.comparison import ComparedPart
from studio.application.exchange.export import targets
from studio.application.exchange.judge import Judgment, judge_of
from studio.application.words import marked, tr
from studio.core.export.target import ExportResult, ExportSource, ExportTarget
from studio.core.prompty.document import PromptDocument
from studio.core.text.amounts import by_count, one_line
from studio.core.text.source import Fix, Problem
from studio.ui.dialogs.export.result import CheckList, ResultTabs
from studio.ui.dialogs.import_prompt import StateLine
from studio.ui.parts import kit
from studio.ui.style.theme import FollowsTheme, icon, theme_in_use
from studio.viewmodels.app.notifications import Notifications
from studio.viewmodels.exchange import ExportController

# Parts of the dialog: target, accepted errors, and file.

_TARGET = Qt.ItemDataRole.UserRole
_ICONS = {
    marked("Give to a colleague"): "files",
    marked("Use in code"): "terminal",
    marked("Other prompt formats"): "file-text",
}
"""The icon of each purpose, in the order of the list."""


class FormList(FollowsTheme, QtWidgets.QListWidget):
    """List of targets with headings that cannot be selected; the arrow keys skip them."""

    target_chosen = Signal(ExportTarget)

    def __init__(self, targets: Sequence[ExportTarget]) -> None:
        super().__init__()
        self.setAccessibleName(tr("Forms"))
        self.setIconSize(QSize(16, 16))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for group in dict.fromkeys((*_ICONS, *(target.group for target in targets))):
            heading = QtWidgets.QListWidgetItem(tr(group))
            heading.setFlags(Qt.ItemFlag.NoItemFlags)
            font = self.font()
            font.setWeight(QFont.Weight.DemiBold)
            heading.setFont(font)
            heading.setSizeHint(QSize(0, 30))
            self.addItem(heading)
            for target in targets:
                if target.group == group:
                    item = QtWidgets.QListWidgetItem(target.label)
                    item.setData(_TARGET, target)
                    item.setToolTip(target.about)
                    item.setSizeHint(QSize(0, 28))
                    item.setIcon(icon(_ICONS.get(group, "files"), "muted"))
                    self.addItem(item)
        self.follow_theme()
        self.currentItemChanged.connect(lambda *_: self.target_chosen.emit(self.target))

    @property
    def target(self) -> ExportTarget | None:
        """The selected target."""
        item = self.currentItem()
        target: ExportTarget | None = item.data(_TARGET) if item is not None else None
        return target

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        for item in map(self.item, range(self.count())):
            if not item.flags():
                item.setForeground(QColor(theme_in_use().muted))

    def show_matching(self, words: str) -> None:
        """Show the targets whose name or description has these words; select one of them."""
        heading, wanted, found = self.item(0), words.casefold().split(), []
        for item in map(self.item, range(self.count())):
            if (target := item.data(_TARGET)) is None:
                heading = item
            said = f"{target.name} {target.label} {target.about}".casefold() if target else ""
            item.setHidden(not all(word in said for word in wanted))
            if target is not None and not item.isHidden():
                heading.setHidden(False)
                found.append(item)
        if found and self.currentItem() not in found:
            self.setCurrentItem(found[0])

    def choose(self, name: str) -> None:
        """Select a target by its stable name."""
        for row in range(self.count()):
            target = self.item(row).data(_TARGET)
            if target is not None and target.name == name:
                self.setCurrentRow(row)


class ErrorConsents(QtWidgets.QWidget):
    """Checkboxes for errors that the user can accept; hidden if there are none."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.boxes: dict[str, QtWidgets.QCheckBox] = {}
        """Checkboxes by the code of their errors."""
        self._column = kit.column_of(on=self, margins=0, spacing=2)
        self.hide()

    @property
    def accepted(self) -> frozenset[str]:
        """Codes of the accepted errors."""
        return frozenset(code for code, box in self.boxes.items() if box.isChecked())

    def show_errors(self, errors: Mapping[str, Problem]) -> None:
        """Show an unchecked box for each kind of error."""
        for box in self.boxes.values():
            self._column.removeWidget(box)
            box.deleteLater()
        self.boxes = {}
        for code, problem in errors.items():
            words = tr("Write it despite: {message}").format(message=one_line(problem.message, 90))
            box = QtWidgets.QCheckBox(words.replace("&", "&&"))
            box.setToolTip(code)
            box.toggled.connect(lambda _: self.changed.emit())
            self._column.addWidget(box)
            self.boxes[code] = box
        self.setVisible(bool(errors))


class ExportFooter(QtWidgets.QWidget):
    """File name and buttons; the name starts in the prompt's folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._suffix = ""
        self.place = kit.named(
            QtWidgets.QLineEdit(placeholderText=tr("File to write")), tr("File to write")
        )
        self.browse = self._button(tr("Browse…"))
        self.copy = self._button(tr("Copy"))
        self.leave = self._button(tr("Close"))
        self.save = QtWidgets.QPushButton(tr("Export"), default=True)
        self.save.setProperty("primary", True)
        kit.row_of(
            (self.place, 1),
            self.browse,
            self.copy,
            self.leave,
            self.save,
            on=self,
            margins=0,
            spacing=8,
        )
        self.browse.clicked.connect(self._ask_where)

    @property
    def path(self) -> Path | None:
        """Return the path of the file."""
        text = self.place.text().strip()
        return self._folder / Path(text).expanduser() if text else None

    def propose(self, path: Path) -> None:
        """Suggest a file."""
        self._suffix = path.suffix
        self.place.setText(str(path))

    def offer(self, *, may_write: bool, may_copy: bool, is_ready: bool) -> None:
        """Enable the possible actions, and set the text of the button."""
        path = self.path
        replaces = is_ready and path is not None and path.is_file()
        self.save.setText(tr("Replace") if replaces else tr("Export"))
        self.save.setEnabled(may_write and path is not None)
        self.copy.setEnabled(may_copy)

    def _button(self, text: str) -> QtWidgets.QPushButton:
        return QtWidgets.QPushButton(text, autoDefault=False)

    def _ask_where(self) -> None:
        start = str(self.path or self._folder)
        options = (
            QtWidgets.QFileDialog.Option.DontConfirmOverwrite
        )  # the button and the difference show it
        name, _ = QtWidgets.QFileDialog.getSaveFileName(
            self, tr("Export"), start, f"*{self._suffix}", options=options
        )
        if name:
            self.place.setText(name)


_WAIT = 250
"""Delay before a running check is announced, in milliseconds."""


class ExportDialog(QtWidgets.QDialog):
    """Dialog that writes only after the user chose a file and accepted the losses."""

    request_fix = Signal(Fix)  # edits for the prompt in the editor

    def __init__(
        self, source: ExportSource, title: str, messages: Notifications, parent: QtWidgets.QWidget
    ) -> None:
        """Create the dialog.

        Args:
            source: the prompt to export.
            title: name of its tab.
            messages: notifications.
            parent: the window.
        """
        super().__init__(parent)
        self.setWindowTitle(tr("Export {title}").format(title=title))
        kit.resize_within_screen(self, 1080, 700)
        self._source, self._title = source, title
        self._messages = messages
        self.made: ExportResult | None = None
        """Result to write; None while it is being computed."""
        self._controller = ExportController(self)
        self._waiting = QTimer(self, singleShot=True, interval=_WAIT)
        self._make_parts()
        self._lay_out()
        self._wire()
        self.forms.choose("file")

    # -- display --------------------------------------------------------------------------------

    @property
    def target(self) -> ExportTarget | None:
        """The selected target."""
        return self.forms.target

    @property
    def path(self) -> Path | None:
        """Return the path of the file."""
        return self.footer.path

    def choose(self, name: str) -> None:
        """Select a target by its stable name."""
        self.forms.choose(name)

    def set_document(self, document: PromptDocument) -> None:
        """Set the prompt after a fix, and check it again."""
        self._source = replace(self._source, document=document)
        self._order()

    def write(self, path: Path) -> bool:
        """Write the file; report a failure and return False."""
        if self.made is None or not self._may_write():
            return False
        failure = self._controller.write(path, self.made)
        if failure:
            self._messages.error(
                failure, tr("Nothing was changed. Choose another place."), str(path)
            )
            self.state.say("circle-x", "error", failure)
            return False
        words = tr("Exported {name}.").format(name=path.name)
        self._messages.say("success", words, where=str(path))
        return True

    # -- parts ----------------------------------------------------------------------------------

    def _make_parts(self) -> None:
        self.search = kit.search_line(tr("Search targets"))
        self.forms = FormList(targets())
        self.heading = QtWidgets.QLabel()
        self.heading.setProperty("title", True)
        self.about = kit.toned_label("muted", wraps=True)
        self.state = StateLine()
        self.checks = CheckList()
        self.tabs = ResultTabs()
        self.text, self.diff, self.round_trips = (
            self.tabs.text,
            self.tabs.diff,
            self.tabs.round_trips,
        )
        self.consent = QtWidgets.QCheckBox()
        self.errors = ErrorConsents()
        self.footer = ExportFooter(self._folder)
        self.place, self.copy, self.save = self.footer.place, self.footer.copy, self.footer.save

    def _lay_out(self) -> None:
        frame = QtWidgets.QFrame(frameShape=QtWidgets.QFrame.Shape.StyledPanel)
        kit.column_of(self.tabs, on=frame, margins=0)
        right = QtWidgets.QWidget()
        kit.column_of(
            self.heading,
            self.about,
            self.state,
            self.checks,
            (frame, 1),
            self.errors,
            self.consent,
            on=right,
            margins=(16, 0, 0, 0),
            spacing=8,
        )
        left = QtWidgets.QWidget()
        kit.column_of(self.search, (self.forms, 1), on=left, margins=0, spacing=8)
        split = kit.split_of(left, right, stretch=(0, 1), sizes=(270, 780))
        kit.column_of((split, 1), self.footer, on=self, margins=16, spacing=12)

    def _wire(self) -> None:
        self.search.textChanged.connect(self.forms.show_matching)
        kit.OwnKeys(self.search, dict.fromkeys(("Return", "Down"), self.forms.setFocus))
        self.forms.target_chosen.connect(lambda _: self._on_target())
        self._controller.made.connect(self._show)
        self._controller.compared.connect(self._on_compared)
        self._controller.judged.connect(self._on_judged)
        self._controller.failed.connect(self._on_failed)
        self._waiting.timeout.connect(self._say_waiting)
        self.tabs.ask.clicked.connect(self._ask)
        self.checks.fix_chosen.connect(self.request_fix)
        self.consent.toggled.connect(lambda _: self._offer())
        self.errors.changed.connect(self._offer)
        self.place.textChanged.connect(lambda _: self._on_place())
        self.copy.clicked.connect(self._copy)
        self.save.clicked.connect(self._on_save)
        self.footer.leave.clicked.connect(self.reject)
        self.finished.connect(self._controller.close)
        self.finished.connect(self.deleteLater)

    @property
    def _folder(self) -> Path:
        """Folder of the prompt; the user's home folder if it has no file."""
        path = self._source.document.source.path
        return path.parent if path is not None else Path.home()

    def _path_for(self, target: ExportTarget) -> Path:
        """Return a file beside the prompt that is not the prompt's own."""
        own = self._source.document.source.path
        stem = Path(self._title).stem or "prompt"
        path = self._folder / f"{stem}{target.suffix}"
        if path == own or (target.suffix == ".prompty" and own is None):
            return self._folder / f"{stem}.export{target.suffix}"
        return path

    # -- events ---------------------------------------------------------------------------------

    def _on_target(self) -> None:
        target = self.target
        if target is None:
            return
        self.heading.setText(target.label)
        self.about.setText(target.about)
        self.footer.propose(self._path_for(target))
        self._order()

    def _order(self) -> None:
        target = self.target
        if target is None:
            return
        self.made = None
        self.consent.setChecked(False)
        self.errors.show_errors({})
        self._offer()
        self._waiting.start()
        self._controller.order(target, self._source)

    def _show(self, result: ExportResult) -> None:
        self._waiting.stop()
        self.made = result
        self.tabs.show_text(result.text)
        self.checks.show_result(result, self._source.document.source)
        self.tabs.show_round_trips(result.round_trips, is_judged=bool(result.judge))
        self._show_state(result)
        target = self.target
        may_ask = target is not None and judge_of(target.name) is not None
        references = self._source.references
        is_trusted = references is None or references.trusted
        self.tabs.ask.setVisible(may_ask and result.content_is_there and is_trusted)
        self.tabs.ask.setEnabled(True)
        count = len(result.losses)
        self.errors.show_errors({} if result.is_impossible else result.errors)
        self.consent.setVisible(bool(count) and not result.is_impossible)
        one = tr("Write it although one item is lost or changed")
        many = tr("Write it although {count} items are lost or changed")
        self.consent.setText(by_count(count, one, many))
        self._on_place()

    def _show_state(self, result: ExportResult) -> None:
        if result.is_impossible:
            words = tr("Cannot be exported yet: fix the errors below first")
            self.state.say("circle-x", "error", words)
        elif result.blocked:
            words = tr("Fix the errors below, or accept each kind")
            self.state.say("circle-x", "error", words)
        elif result.needs_consent:
            words = tr("Can be exported, but parts are changed or lost")
            self.state.say("triangle-alert", "warning", words)
        elif result.round_trips and result.judge:
            words = tr("Checked by the rules of {program}: messages and tools are equal")
            self.state.say("circle-check", "success", words.format(program=result.judge))
        elif result.round_trips:
            words = tr("Checked, and read back by this program only: no differences")
            self.state.say("info", "muted", words)
        else:
            words = tr("Checked: no problems were found. No program read it back")
            self.state.say("info", "muted", words)

    def _on_place(self) -> None:
        """Compare with the file that would be replaced, and set the text of the button."""
        if self.made is not None:
            self._controller.compare(self.made, self.path)
        self._offer()

    def _on_compared(self, made: ComparedPart) -> None:
        self.diff.show_rows(made.rows, made.title)

    def _offer(self) -> None:
        result = self.made
        self.footer.offer(
            may_write=self._may_write(),
            # Copying is like writing: not before the user has accepted the losses.
            may_copy=self._may_write() and result is not None and result.data is None,
            is_ready=result is not None,
        )
        if result is None:
            self.consent.hide()

    def _may_write(self) -> bool:
        result = self.made
        if result is None:
            return False
        return result.may_write(errors=self.errors.accepted, losses=self.consent.isChecked())

    def _say_waiting(self) -> None:
        self.state.say("loader", "muted", tr("Checking…"))

    def _ask(self) -> None:
        if self.target is not None and self.made is not None:
            self.tabs.ask.setEnabled(False)
            self.state.say("loader", "muted", tr("The program reads the file…"))
            self._controller.judge(self.target, self._source, self.made)

    def _on_judged(self, found: Judgment) -> None:
        """Show how the target program read the file."""
        self.tabs.ask.setEnabled(True)
        self.tabs.show_round_trips(found.rounds, is_judged=True)
        self.tabs.setCurrentWidget(self.round_trips)
        if all(each.is_same for each in found.rounds):
            words = tr("{program} read the file: the messages are the same")
            self.state.say("circle-check", "success", words.format(program=found.program))
        else:
            words = tr("{program} reads other messages: see the round trips")
            self.state.say("triangle-alert", "warning", words.format(program=found.program))

    def _on_failed(self, sentence: str) -> None:
        self._waiting.stop()
        self.state.say("circle-x", "error", sentence)
        self.tabs.ask.setEnabled(True)
        if self.made is None:
            self.text.clear()
            self.checks.hide()

    def _copy(self) -> None:
        if self.made is not None:
            QGuiApplication.clipboard().setText(self.made.text)

    def _on_save(self) -> None:
        if self.path is not None and self.write(self.path):
            self.accept()
