"""What models see of a tool: its exact form for each provider and each protocol."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from studio.core.tools.forms import tool_forms
from studio.core.tools.registry import ToolEntry
from studio.ui.parts.json_view import JsonView
from studio.ui.style.colours import paint_text
from studio.ui.style.theme import Theme


class FormsPage(QScrollArea):
    """One title and one text a form; a form that is not sent says why."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._entry: ToolEntry | None = None
        self.views: dict[str, JsonView] = {}
        """The texts, by the form's title."""
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)

    def show_entry(self, entry: ToolEntry) -> None:
        """Show every form of a tool, from the top."""
        self._entry = entry
        self.views = {}
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(12, 12, 12, 12)
        column.setSpacing(6)
        for form in tool_forms(entry.spec):
            self._add(page, column, form.title, self._theme.muted)
            if form.remark:
                self._add(page, column, form.remark, self._theme.warning)
            if form.text:
                view = JsonView(self._theme, page, coloured=form.language == "json")
                view.setAccessibleName(
                    self.tr("{tool} as {form}").format(tool=entry.name, form=form.title)
                )
                view.show_json(form.text)
                view.grow(40)
                column.addWidget(view)
                self.views[form.title] = view
            column.addSpacing(6)
        column.addStretch(1)
        self.setWidget(page)

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        if self._entry is not None:
            self.show_entry(self._entry)

    def _add(self, page: QWidget, column: QVBoxLayout, text: str, colour: str) -> None:
        label = QLabel(text, page)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        paint_text(label, colour)
        column.addWidget(label)
