"""Dialog for uncaught exceptions: what happened, what is safe, what to report."""

from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QLabel, QWidget

from studio.application.words import tr
from studio.ui.parts.kit import ClosingDialog, Drawing, column_of, push_button, row_of
from studio.ui.parts.text_views import fixed_text


class CrashDialog(ClosingDialog):
    """One dialog for all uncaught exceptions, whose reports are joined."""

    request_save_and_quit = Signal()

    def __init__(self, log: Path, parent: QWidget) -> None:
        """Create it.

        Args:
            log: folder of the log files.
            parent: the window.
        """
        super().__init__(parent, tr("Something went wrong"), (640, 460))
        self._log = log
        self._reports: list[str] = []
        self.picture = Drawing("triangle-alert", 28, "warning")
        self.title = QLabel(tr("Something went wrong inside the studio."))
        self.title.setProperty("scale", "heading")
        self.what = QLabel(wordWrap=True)
        self.what.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.safe = QLabel(
            tr(
                "What you typed is safe: unsaved text is saved on disk as you type, and is "
                "restored if the studio crashes. Saved files were not changed. Runs are in "
                "History up to their last step. You can continue working."
            ),
            wordWrap=True,
        )
        self.report = fixed_text(tr("Report of the error"), wraps=False)
        note = QLabel(
            tr("Keys are removed. Read it before you send it: it may contain file names.")
        )
        note.setProperty("tone", "muted")
        note.setWordWrap(True)
        self.copy = push_button(tr("Copy report"), self._copy, drawing="copy")
        self.folder = push_button(tr("Open log folder"), self._open_folder, drawing="folder")
        self.leave = push_button(tr("Save all and quit"), self._leave)
        self.go_on = push_button(tr("Go on"), self.accept, is_default=True)
        self.go_on.setProperty("primary", True)
        self._lay_out(note)

    def _lay_out(self, note: QLabel) -> None:
        head = row_of(self.picture, (self.title, 1), spacing=12)
        buttons = row_of(self.copy, self.folder, 1, self.leave, self.go_on)
        column_of(
            head,
            self.what,
            self.safe,
            (self.report, 1),
            note,
            buttons,
            on=self,
            margins=(20, 16, 20, 16),
            spacing=12,
        )
        self.go_on.setFocus()

    def add(self, summary: str, report: str) -> None:
        """Add an exception; a repeated one is only counted."""
        if report not in self._reports:
            self._reports.append(report)
        self.what.setText(
            summary
            if len(self._reports) == 1
            else tr("{summary}\nAnd {count} before it.").format(
                summary=summary, count=len(self._reports) - 1
            )
        )
        self.report.setPlainText("\n\n".join(reversed(self._reports)))

    def tell_of_end(self, report: str) -> None:
        """Report that the studio crashed in the last session."""
        self.setWindowTitle(tr("The studio ended unexpectedly"))
        self.title.setText(tr("The studio crashed in the last session."))
        self.leave.hide()
        self.add(
            tr("It crashed outside of Python. Unsaved text can be restored in the window."), report
        )

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.report.toPlainText())
        self.copy.setText(tr("Copied"))

    def _open_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._log)))

    def _leave(self) -> None:
        self.accept()
        self.request_save_and_quit.emit()
