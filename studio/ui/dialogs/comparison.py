"""Dialogs that compare two texts: a prompt with its earlier text, its rewrite, or its file."""

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialogButtonBox, QLabel, QTabWidget, QWidget

from studio.application.comparison import ComparedPart, compare_texts
from studio.application.words import tr
from studio.core.agent.protocols.convert import convert_fix
from studio.core.agent.protocols.loops import choose_protocol
from studio.core.models.base import PROTOCOLS
from studio.core.prompty.document import PromptDocument
from studio.core.text.source import Fix, apply_edits
from studio.ui.parts.fields import ComboBox
from studio.ui.parts.kit import ClosingDialog, column_of, named, row_of, toned_label
from studio.ui.parts.text_views import ComparisonView


class ComparisonDialog(ClosingDialog):
    """Shows differences with changed words marked, one tab for each kind; not modal."""

    taken_back = Signal(tuple)  # tuple[TextEdit, ...] for the newer text

    def __init__(
        self, title: str, kinds: Mapping[str, Sequence[ComparedPart]], parent: QWidget | None = None
    ) -> None:
        """Create it.

        Args:
            title: names of the compared texts.
            kinds: differing parts by the title of their tab.
            parent: the window.
        """
        super().__init__(parent, title, (960, 680))
        legend = toned_label("muted", tr("− earlier   + now"), parent=self)
        self.tabs = QTabWidget(self, documentMode=True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        column_of(legend, (self.tabs, 1), buttons, on=self)
        self.show_kinds(kinds)

    def show_kinds(self, kinds: Mapping[str, Sequence[ComparedPart]]) -> None:
        """Replace the shown differences; the selected tab stays."""
        chosen = max(0, self.tabs.currentIndex())
        self.tabs.clear()
        for name, parts in kinds.items():
            view = ComparisonView()
            view.setAccessibleName(name)
            view.part_chosen.connect(partial(self._take_back, parts))
            if parts:
                view.show_parts(parts)
            else:
                view.show_rows((), tr("Both are the same."))
            same = tr("{title} (same)").format(title=name)
            self.tabs.addTab(view, name if parts else same)
        self.tabs.setCurrentIndex(chosen)

    def _take_back(self, parts: Sequence[ComparedPart], number: int) -> None:
        if 0 <= number < len(parts) and parts[number].take_back:
            self.taken_back.emit(parts[number].take_back)


class DiskComparisonDialog(ClosingDialog):
    """Shows what would be lost with each choice before the user decides."""

    def __init__(self, title: str, mine: str, disk: str, parent: QWidget | None = None) -> None:
        super().__init__(parent, tr("Compare {title}").format(title=title), (820, 560))
        rows = compare_texts(disk, mine)
        self.view = ComparisonView(self)
        self.view.show_rows(rows, "" if rows else tr("The texts are the same."))
        legend = toned_label("muted", tr("− on disk only   + in the editor only"), parent=self)
        buttons = QDialogButtonBox(self)
        self.reload = buttons.addButton(tr("Reload"), QDialogButtonBox.ButtonRole.DestructiveRole)
        self.keep = buttons.addButton(tr("Keep mine"), QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.addButton(QDialogButtonBox.StandardButton.Cancel)
        self.reload.setToolTip(tr("Use the text on disk; undo restores yours"))
        self.reload.clicked.connect(self.accept)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column_of(legend, (self.view, 1), buttons, on=self)


class RewriteDialog(ClosingDialog):
    """Shows the changes of a rewrite before it is applied as one undo step."""

    accepted_fix = Signal(Fix)  # Fix to apply

    def __init__(self, document: PromptDocument, parent: QWidget | None = None) -> None:
        """Create the dialog.

        Args:
            document: the current prompt of the editor.
            parent: the window.
        """
        super().__init__(parent, tr("Rewrite for another protocol"), (860, 600))
        self._document = document
        self._fix: Fix | None = None
        now = choose_protocol(document)
        self.target = named(ComboBox(self), tr("Protocol to rewrite for"))
        for protocol, facts in PROTOCOLS.items():
            if protocol != now.protocol:
                self.target.addItem(tr(facts.title), protocol)
        self.view = ComparisonView()
        self.buttons = self._make_buttons()
        self._lay_out(
            tr("This prompt uses {name}: {reason}.").format(
                name=tr(PROTOCOLS[now.protocol].title), reason=now.reason
            )
        )
        self.target.currentIndexChanged.connect(self._show)
        self._show()

    def _make_buttons(self) -> QDialogButtonBox:
        buttons = QDialogButtonBox(self)
        make = buttons.addButton(tr("Rewrite"), QDialogButtonBox.ButtonRole.AcceptRole)
        make.setToolTip(tr("Change the text in the editor, as one undo step"))
        buttons.addButton(QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self._accept)
        buttons.rejected.connect(self.reject)
        return buttons

    def _lay_out(self, now: str) -> None:
        words = toned_label("muted", now, parent=self, wraps=True)
        label = QLabel(tr("&Rewrite for"), self)
        label.setBuddy(self.target)
        line = row_of(label, self.target, 1)
        column_of(words, line, (self.view, 1), self.buttons, on=self, spacing=12)

    def _show(self) -> None:
        self._fix = convert_fix(self._document, self.target.currentData())
        before = self._document.source.text
        after = apply_edits(before, self._fix.edits) if self._fix is not None else before
        rows = compare_texts(before, after)
        self.view.show_rows(rows, tr("What changes in the text of the prompt:"))

    def _accept(self) -> None:
        if self._fix is not None:
            self.accepted_fix.emit(self._fix)
        self.accept()
