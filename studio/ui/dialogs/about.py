"""About: what this is, and whose work it stands on."""

from __future__ import annotations

from PySide6.QtCore import Qt, qVersion
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QVBoxLayout, QWidget

from studio import __version__


class AboutDialog(QDialog):
    """A few lines."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("About Prompt Studio"))
        title = QLabel(self.tr("Prompt Studio {version}").format(version=__version__))
        title.setProperty("scale", "heading")
        text = QLabel(
            self.tr(
                "Prompts and agents as files: edit, preview, step, export.<br><br>"
                "Made with Qt {qversion} and Python. Icons by Lucide (ISC). Fonts: Inter and "
                "JetBrains Mono (SIL Open Font License).<br>Licence: MIT."
            ).format(qversion=qVersion())
        )
        text.setWordWrap(True)
        text.setMinimumWidth(380)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        box = QVBoxLayout(self)
        box.setContentsMargins(20, 20, 20, 16)
        box.setSpacing(12)
        for widget in (title, text, buttons):
            box.addWidget(widget)
