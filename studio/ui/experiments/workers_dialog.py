"""Choice of the cells' asker: this process, or workers."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QLabel,
    QLineEdit,
    QWidget,
)

from studio.application.experiments.cluster.dispatch import WorkersAddress, WorkersError
from studio.application.words import tr
from studio.ui.parts.fields import ComboBox
from studio.ui.parts.labels import push_button, toned_label
from studio.ui.parts.layouts import ClosingDialog, column_of, row_of
from studio.ui.style.colors import paint_text
from studio.viewmodels.experiments.controller import ExperimentController

_LOCAL = ("local:2", "local:4")


class WorkersDialog(ClosingDialog):
    """The address of workers; what cannot be used is refused with its reason."""

    def __init__(self, controller: ExperimentController, parent: QWidget | None = None) -> None:
        """Make it."""
        super().__init__(parent, tr("Workers"), (620, 300))
        self.controller = controller
        self.address = ComboBox()
        self.certificates = QLineEdit()
        self.status_label = toned_label("error")
        self.buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        self._lay_out()
        self.buttons.accepted.connect(self._take)
        self.buttons.rejected.connect(self.reject)

    def _lay_out(self) -> None:
        now = self.controller.workers
        self.address.setEditable(True)
        self.address.addItems([tr("This process"), *_LOCAL])
        self.address.setAccessibleName(tr("Address of the workers"))
        self.certificates.setAccessibleName(tr("Folder of the certificates"))
        self.certificates.setPlaceholderText(tr("ca.pem, cert.pem, key.pem"))
        if now is not None:
            self.address.setEditText(now.address)
            self.certificates.setText(str(now.certificates or ""))
        about = QLabel(
            tr(
                "local:4 starts four processes of this machine; tls://host:8786 is a scheduler of "
                "your own (prompt-studio cluster certificates makes what it needs). Secrets are "
                "never sent to workers. The page of the scheduler is shown with the experiment "
                "once it runs."
            )
        )
        about.setProperty("tone", "muted")
        for label in (about, self.status_label):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        paint_text(self.status_label, "error")
        browse = push_button(tr("Choose…"), self._browse)
        line = row_of((self.certificates, 1), browse)
        form = QFormLayout()
        form.addRow(tr("Ask on"), self.address)
        form.addRow(tr("Certificates"), line)
        column_of(about, form, self.status_label, 1, self.buttons, on=self, spacing=12)

    def _browse(self) -> None:
        dialog = QFileDialog(self, tr("Folder of the certificates"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(self.certificates.setText)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def _take(self) -> None:
        written = self.address.currentText().strip()
        address: WorkersAddress | None = None
        if written and written != self.address.itemText(0):
            folder = self.certificates.text().strip()
            address = WorkersAddress(written, Path(folder).expanduser() if folder else None)
        try:
            self.controller.use_workers(address)
        except WorkersError as error:
            self.status_label.setText(str(error))
            return
        self.accept()
