"""Import: convert a file of another format, list the losses, and choose the target file."""

from pathlib import Path
from typing import Literal, TypeAlias

from PySide6 import QtWidgets
from PySide6.QtCore import QSize, Qt, Signal

from studio.application.inputs.sets import sets_path, write_sets
from studio.application.tools.saved_calls import calls_file
from studio.application.words import tr
from studio.core.imports.imported import Imported, ImportFailure, experiment_path
from studio.core.imports.recognize import all_suffixes, import_file, import_text
from studio.core.text.files import write_atomically
from studio.ui.parts.fields import ComboBox
from studio.ui.parts.kit import column_of, named, push_button, resize_within_screen, row_of
from studio.ui.parts.text_views import fixed_text
from studio.ui.style.theme import FollowsTheme, icon, theme_in_use
from studio.viewmodels.app.notifications import Notifications

# An icon and a sentence that describe a state.

StateTone: TypeAlias = Literal["error", "warning", "success", "muted"]
"""Theme color of an icon."""


class StateLine(FollowsTheme, QtWidgets.QWidget):
    """Label that follows the colors of the theme."""

    def __init__(self) -> None:
        super().__init__()
        self._picture = ""
        self._tone: StateTone = "muted"
        self.mark = QtWidgets.QLabel()
        self._said = QtWidgets.QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        row = row_of(on=self, margins=0, spacing=8)
        row.addWidget(self.mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._said, 1)
        self.follow_theme()

    def text(self) -> str:
        """Return the sentence."""
        return self._said.text()

    def say(self, picture: str, tone: StateTone, text: str) -> None:
        """Show a state."""
        self._picture, self._tone = picture, tone
        self._said.setText(text)
        self._paint()

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        self._paint()

    def _paint(self) -> None:
        if self._picture:
            color: str = getattr(theme_in_use(), self._tone)
            self.mark.setPixmap(icon(self._picture, color).pixmap(18, 18))


_SHOWN = 200_000


def ask_file(parent: QtWidgets.QWidget, folder: str) -> Path | None:
    """Ask for the file to import, starting in a folder."""
    pattern = " ".join(f"*{suffix}" for suffix in all_suffixes())
    known = tr("Prompts of other formats ({pattern})")
    every = tr("All files (*)")
    name, _ = QtWidgets.QFileDialog.getOpenFileName(
        parent, tr("Import"), folder, f"{known.format(pattern=pattern)};;{every}"
    )
    return Path(name) if name else None


class ImportDialog(QtWidgets.QDialog):
    """Dialog that writes only on request; without a file, the result opens as a new prompt."""

    opened = Signal(str, str)  # text of the prompt, title
    written = Signal(Path)  # Path of the written prompt file

    def __init__(
        self,
        path: Path,
        messages: Notifications,
        parent: QtWidgets.QWidget,
        text: str | None = None,
        made: Imported | None = None,
    ) -> None:
        """Create it.

        Args:
            path: the file.
            messages: notifications.
            parent: the window.
            text: the text to import instead of the file's.
            made: the prompt if it is already converted.
        """
        super().__init__(parent)
        self._made = made
        self._path = path
        self._given = text
        self._messages = messages
        self.imported: Imported | None = None
        """Result of the import."""
        self.setWindowTitle(tr("Import {name}").format(name=path.name))
        resize_within_screen(self, 880, 640)
        self.state = StateLine()
        self.choice = named(ComboBox(), tr("Which prompt of the file"))
        self.notes = named(QtWidgets.QListWidget(), tr("What is changed or lost"))
        self.notes.setWordWrap(True)
        self.notes.setIconSize(QSize(16, 16))
        self.text = fixed_text(tr("The prompt file"), wraps=False)
        self.leave = push_button(tr("Close"), self.reject, takes_enter=False)
        self.save = push_button(tr("Save as…"), self._ask_where, takes_enter=False)
        self.save.setToolTip(tr("Write the prompt, and its input sets beside it, and open it"))
        self.take = push_button(tr("Open as new prompt"), self._open, is_default=True)
        self.take.setProperty("primary", True)
        self._lay_out()
        self.choice.activated.connect(self.read)
        self.finished.connect(self.deleteLater)

    def read(self, choose: int = 0) -> bool:
        """Read the file; report a failure and return False."""
        try:
            given = self._given
            made = self._made or (
                import_file(self._path, choose)
                if given is None
                else import_text(given, choose=choose)
            )
        except ImportFailure as error:
            self._messages.error(
                str(error),
                tr(
                    "Supported formats: Prompty, AgentSchema, request bodies, promptfoo, "
                    "LangChain and chat text."
                ),
                str(self._path),
            )
            return False
        self.imported = made
        self._show(made, choose)
        return True

    def write(self, path: Path) -> bool:
        """Write the prompt and its input sets; report a failure and return False."""
        made = self.imported
        if made is None:
            return False
        beside = [sets_path(path)] if made.input_sets else []
        beside += [experiment_path(path)] if made.experiment else []
        beside += [calls_file(path)] if made.answers else []
        for other in beside:
            if other.exists():
                self._messages.error(
                    tr("{name} already exists.").format(name=other.name),
                    tr("Choose another name to keep it."),
                    str(path),
                )
                return False
        try:
            write_atomically(path, made.text)
            if made.input_sets:
                write_sets(path, made.input_sets)
            if made.experiment:
                write_atomically(experiment_path(path), made.experiment_text(path))
            if made.answers:
                write_atomically(calls_file(path), made.answers_text())
        except OSError as error:
            self._messages.error(
                tr("{name!r} could not be written: {reason}.").format(
                    name=path.name, reason=(error.strerror or "error").lower()
                ),
                tr("Choose another place."),
                str(path),
            )
            return False
        words = tr("Imported {name}.").format(name=self._path.name)
        self._messages.say("success", words, where=str(path))
        self.written.emit(path)
        return True

    def _paint_notes(self) -> None:
        picture = icon("triangle-alert", "warning")
        for row in range(self.notes.count()):
            self.notes.item(row).setIcon(picture)

    def _lay_out(self) -> None:
        head = row_of((self.state, 1), self.choice, spacing=8)
        frame = QtWidgets.QFrame(frameShape=QtWidgets.QFrame.Shape.StyledPanel)
        inside = QtWidgets.QVBoxLayout(frame)
        inside.setContentsMargins(0, 0, 0, 0)
        self.text.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        inside.addWidget(self.text)
        footer = row_of(1, self.leave, self.save, self.take, spacing=8)
        column_of(head, self.notes, (frame, 1), footer, on=self, margins=16, spacing=12)

    def _show(self, made: Imported, choose: int) -> None:
        self.text.setPlainText(made.text[:_SHOWN])
        self.notes.clear()
        for note in made.notes:
            self.notes.addItem(QtWidgets.QListWidgetItem(note))
        self._paint_notes()
        self.notes.setVisible(bool(made.notes))
        self.notes.setFixedHeight(min(132, 10 + 26 * len(made.notes)))
        words = tr("Read as: {form}. Nothing is lost.")
        if made.notes:
            words = tr("Read as: {form}. Changed or lost:")
        text = words.format(form=made.form)
        if made.input_sets:
            more = tr("Saving also saves {count} input sets.")
            text = f"{text}\n{more.format(count=len(made.input_sets))}"
        if made.answers:
            text = "\n".join([text, tr("Saving also saves the recorded results of its tools.")])
        if made.notes:
            self.state.say("triangle-alert", "warning", text)
        else:
            self.state.say("circle-check", "success", text)
        self.choice.setVisible(bool(made.others))
        if made.others and self.choice.count() != len(made.others):
            self.choice.clear()
            self.choice.addItems(list(made.others))
        if made.others:
            self.choice.setCurrentIndex(choose)

    def _open(self) -> None:
        made = self.imported
        if made is None:
            return
        self.opened.emit(made.text, f"{self._path.stem}.prompty")
        self.accept()

    def _ask_where(self) -> None:
        start = self._path.with_suffix(".prompty")
        if self._made is None and start == self._path:
            start = self._path.with_name(f"{self._path.stem}.imported.prompty")
        name, _ = QtWidgets.QFileDialog.getSaveFileName(self, tr("Import"), str(start), "*.prompty")
        if name and self.write(Path(name)):
            self.accept()
