"""The text of the editor beside the text on disk, line by line."""

from __future__ import annotations

import difflib
from html import escape

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QTextBrowser, QVBoxLayout, QWidget

from studio.ui.style.in_use import theme_in_use
from studio.ui.style.theme import Theme, mono_font

_AROUND = 3
_MOST_LINES = 5000


class DiskComparisonDialog(QDialog):
    """Shows what would be lost either way before the user chooses."""

    def __init__(self, title: str, mine: str, disk: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Compare {title}").format(title=title))
        self.resize(820, 560)
        self.view = QTextBrowser(self)
        self.view.setAccessibleName(self.tr("Differences"))
        self.view.setFont(mono_font())
        self.view.setOpenLinks(False)
        self.view.setHtml(as_html(mine, disk, theme_in_use()))
        legend = QLabel(self.tr("− on disk only   + in the editor only"), self)
        legend.setProperty("tone", "muted")
        buttons = QDialogButtonBox(self)
        self.reload = buttons.addButton(
            self.tr("Reload"), QDialogButtonBox.ButtonRole.DestructiveRole
        )
        self.keep = buttons.addButton(self.tr("Keep mine"), QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.addButton(QDialogButtonBox.StandardButton.Cancel)
        self.reload.setToolTip(self.tr("Take the text on disk; undo leads back to yours"))
        self.reload.clicked.connect(self.accept)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        box = QVBoxLayout(self)
        box.addWidget(legend)
        box.addWidget(self.view, 1)
        box.addWidget(buttons)


def as_html(mine: str, disk: str, theme: Theme) -> str:
    """The differences with a few lines around them; signs tell what colours tell."""
    rows = []
    lines = difflib.unified_diff(disk.split("\n"), mine.split("\n"), n=_AROUND, lineterm="")
    for number, line in enumerate(lines):
        if number < 2:
            continue  # the file names
        if number > _MOST_LINES:
            more = QCoreApplication.translate("Compare", "… and more")
            rows.append(f'<span style="color:{theme.muted}">{more}</span>')
            break
        sign, rest = line[:1], escape(line[1:])
        match sign:
            case "+":
                rows.append(f'<span style="color:{theme.success}">+ {rest}</span>')
            case "-":
                rows.append(f'<span style="color:{theme.error}">− {rest}</span>')
            case "@":
                rows.append(f'<span style="color:{theme.muted}">{escape(line)}</span>')
            case _:
                rows.append(f"&nbsp; {rest}")
    if not rows:
        return QCoreApplication.translate("Compare", "<p>The texts are the same.</p>")
    family = mono_font().families()[0]
    style = f"white-space:pre-wrap; font-family:'{family}'"
    return f'<pre style="{style}">' + "\n".join(rows) + "</pre>"
