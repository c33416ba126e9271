"""What is said of a page's file: another text on disk, gone, or read-only; and how that ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from studio.application.document.files import FileError, FileText
from studio.ui.parts.layouts import row_of

if TYPE_CHECKING:
    from studio.ui.editor.text.view import PromptEditor
    from studio.viewmodels.app.notifications import Notifications
    from studio.viewmodels.document.controller import DocumentController


class DiskBar(QWidget):
    """Says that the file on disk is another one now, and asks which to keep."""

    def __init__(
        self, editor: PromptEditor, controller: DocumentController, messages: Notifications
    ) -> None:
        """Make it; it is not shown before there is something to say.

        Args:
            editor: the text.
            controller: its file.
            messages: where is said what cannot be done.
        """
        super().__init__()
        self._editor = editor
        self._controller = controller
        self._messages = messages
        self._found = FileText("")
        """What is on disk now, while it differs from what was read here."""
        self.is_read_only = False
        """Whether the file cannot be written."""
        self.setObjectName("diskBar")
        self._text = QLabel(wordWrap=True)
        self.compare = QPushButton(self.tr("Compare…"))
        self.reload = QPushButton(self.tr("Reload"))
        self.keep = QPushButton(self.tr("Keep mine"))
        row_of(
            (self._text, 1), self.compare, self.reload, self.keep, on=self, margins=(12, 4, 8, 4)
        )
        self.hide()
        self._wire()

    def _wire(self) -> None:
        self._controller.saved.connect(self._on_saved)
        self._controller.changed_on_disk.connect(self._on_changed)
        self._controller.gone_from_disk.connect(self._on_gone)
        self._controller.disk_settled.connect(self._on_settled)
        self.reload.clicked.connect(self.take_file)
        self.keep.clicked.connect(self._keep)
        self.compare.clicked.connect(self.show_comparison)

    def take_file(self) -> None:
        """Take the text on disk, as a step that can be undone."""
        file, path = self._found, self._controller.path
        if not file.digest:
            if path is None:
                self._messages.info(
                    self.tr("There is no file to reload."), self.tr("Save the prompt first.")
                )
                return
            try:
                file = self._controller.open(path)
            except FileError as error:
                self._messages.error(str(error), error.hint, str(path))
                return
        self._editor.replace_all(file.text)
        self._editor.document().setModified(False)
        self._controller.accept_disk(file)

    def show_comparison(self) -> None:
        """Show how the text here and the text on disk differ."""
        from studio.ui.dialogs.comparison import DiskComparisonDialog

        dialog = DiskComparisonDialog(
            self._controller.title, self._editor.text(), self._found.text, self.parentWidget()
        )
        dialog.reload.clicked.connect(self.take_file)
        dialog.keep.clicked.connect(self._keep)
        dialog.open()

    def look_at_permissions(self) -> None:
        """Say it where the file cannot be written."""
        self.is_read_only = self._controller.is_read_only
        if self.is_read_only:
            self._tell(
                self.tr("{title} is read-only; changes need another name.").format(
                    title=self._controller.title
                ),
                reload=False,
            )

    def _on_saved(self) -> None:
        self.is_read_only = self._controller.is_read_only
        self.hide()

    def _on_changed(self, file: FileText) -> None:
        self._found = file
        if file.text == self._editor.text() or not self._controller.is_dirty:
            # Nothing of the user's is lost, and undo leads back.
            self.take_file()
            return
        self._tell(
            self.tr("{title} changed on disk.").format(title=self._controller.title), reload=True
        )

    def _on_gone(self) -> None:
        self._tell(
            self.tr("{title} was deleted or moved. Save to write it again.").format(
                title=self._controller.title
            ),
            reload=False,
        )

    def _keep(self) -> None:
        if self._found.digest:
            self._controller.keep_own(self._found)
        self._on_settled()

    def _on_settled(self) -> None:
        self._found = FileText("")
        self.hide()

    def _tell(self, text: str, *, reload: bool) -> None:
        """Show the bar."""
        self._text.setText(text)
        self.reload.setVisible(reload)
        self.compare.setVisible(reload)
        self.keep.setText(self.tr("Keep mine") if reload else self.tr("Close"))
        self.show()
