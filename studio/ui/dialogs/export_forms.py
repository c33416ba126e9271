"""The list of forms that a prompt can be exported to, under their headings."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QSize, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QListWidget, QListWidgetItem

from studio.core.export.target import ExportTarget
from studio.ui.icons import icon
from studio.ui.theme import Theme

_TARGET = Qt.ItemDataRole.UserRole
_ICONS = {
    "Prompt files": "file-text",
    "Requests": "braces",
    "Code": "terminal",
    "Documents": "files",
}
_HEADINGS = (
    QT_TRANSLATE_NOOP("Export", "Prompt files"),
    QT_TRANSLATE_NOOP("Export", "Requests"),
    QT_TRANSLATE_NOOP("Export", "Code"),
    QT_TRANSLATE_NOOP("Export", "Documents"),
)
"""The groups of the forms, in the words that are translated."""


class FormList(QListWidget):
    """Headings cannot be chosen; the arrow keys jump over them."""

    target_chosen = Signal(object)  # ExportTarget

    def __init__(self, targets: Sequence[ExportTarget], theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName(QCoreApplication.translate("Export", "Forms"))
        self.setIconSize(QSize(16, 16))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        groups = list(dict.fromkeys(target.group for target in targets))
        for group in groups:
            heading = QListWidgetItem(QCoreApplication.translate("Export", group))
            heading.setFlags(Qt.ItemFlag.NoItemFlags)
            font = self.font()
            font.setBold(True)
            heading.setFont(font)
            heading.setForeground(QColor(theme.muted))
            heading.setSizeHint(QSize(0, 30))
            self.addItem(heading)
            for target in targets:
                if target.group == group:
                    item = QListWidgetItem(icon(_ICONS[group], theme.muted), target.label)
                    item.setData(_TARGET, target)
                    item.setToolTip(target.about)
                    item.setSizeHint(QSize(0, 28))
                    self.addItem(item)
        self.currentItemChanged.connect(lambda *_: self.target_chosen.emit(self.target))

    @property
    def target(self) -> ExportTarget | None:
        """The form chosen."""
        item = self.currentItem()
        return item.data(_TARGET) if item is not None else None

    def choose(self, name: str) -> None:
        """Choose a form by its stable name."""
        for row in range(self.count()):
            target = self.item(row).data(_TARGET)
            if target is not None and target.name == name:
                self.setCurrentRow(row)
