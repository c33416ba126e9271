"""What differs between two texts, in a dialog: of a prompt now and before, of editor and disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QTabWidget, QVBoxLayout, QWidget

from studio.application.comparison import ComparedPart, compare_texts
from studio.ui.parts.comparison_view import ComparisonView


class ComparisonDialog(QDialog):
    """Shows what differs, with the changed words marked; one tab a kind."""

    def __init__(
        self,
        title: str,
        kinds: Mapping[str, Sequence[ComparedPart]],
        parent: QWidget | None = None,
    ) -> None:
        """Make it.

        Args:
            title: what is compared with what.
            kinds: what differs, by the title of its tab; no part where nothing does.
            parent: the window.
        """
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.resize(960, 680)
        legend = QLabel(self.tr("− earlier   + now"), self)
        legend.setProperty("tone", "muted")
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        for name, parts in kinds.items():
            view = ComparisonView()
            view.setAccessibleName(name)
            if parts:
                view.show_parts(parts)
            else:
                view.show_rows((), self.tr("Both are the same."))
            same = self.tr("{title} (same)").format(title=name)
            self.tabs.addTab(view, name if parts else same)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        box = QVBoxLayout(self)
        box.addWidget(legend)
        box.addWidget(self.tabs, 1)
        box.addWidget(buttons)


class DiskComparisonDialog(QDialog):
    """Shows what would be lost either way before the user chooses."""

    def __init__(self, title: str, mine: str, disk: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Compare {title}").format(title=title))
        self.resize(820, 560)
        rows = compare_texts(disk, mine)
        self.view = ComparisonView(self)
        self.view.show_rows(rows, "" if rows else self.tr("The texts are the same."))
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
