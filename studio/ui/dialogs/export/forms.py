"""The list of forms that a prompt can be exported to, under their headings."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont
from PySide6.QtWidgets import QListWidget, QListWidgetItem

from studio.core.export.target import ExportTarget
from studio.ui.base.marked_text import QT_TRANSLATE_NOOP
from studio.ui.style.icons import icon
from studio.ui.style.in_use import FollowsTheme, theme_in_use

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


class FormList(FollowsTheme, QListWidget):
    """Headings cannot be chosen; the arrow keys jump over them."""

    target_chosen = Signal(ExportTarget)

    def __init__(self, targets: Sequence[ExportTarget]) -> None:
        super().__init__()
        self.setAccessibleName(QCoreApplication.translate("Export", "Forms"))
        self.setIconSize(QSize(16, 16))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._headings: list[QListWidgetItem] = []
        groups = list(dict.fromkeys(target.group for target in targets))
        for group in groups:
            heading = QListWidgetItem(QCoreApplication.translate("Export", group))
            heading.setFlags(Qt.ItemFlag.NoItemFlags)
            font = self.font()
            font.setWeight(QFont.Weight.DemiBold)
            heading.setFont(font)
            heading.setSizeHint(QSize(0, 30))
            self.addItem(heading)
            self._headings.append(heading)
            for target in targets:
                if target.group == group:
                    item = QListWidgetItem(target.label)
                    item.setData(_TARGET, target)
                    item.setToolTip(target.about)
                    item.setSizeHint(QSize(0, 28))
                    item.setIcon(icon(_ICONS[group], "muted"))
                    self.addItem(item)
        self.follow_theme()
        self.currentItemChanged.connect(lambda *_: self.target_chosen.emit(self.target))

    @property
    def target(self) -> ExportTarget | None:
        """The form chosen."""
        item = self.currentItem()
        target: ExportTarget | None = item.data(_TARGET) if item is not None else None
        return target

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        theme = theme_in_use()
        for heading in self._headings:
            heading.setForeground(QColor(theme.muted))

    def choose(self, name: str) -> None:
        """Choose a form by its stable name."""
        for row in range(self.count()):
            target = self.item(row).data(_TARGET)
            if target is not None and target.name == name:
                self.setCurrentRow(row)
