"""The head of a tool's page: what it is, what is wrong with it, and how it has changed."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QResizeEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QWidget,
)

from studio.application.tools.rows import STATE_WORDS
from studio.application.words import tr
from studio.core.prompty.tool_spec import ToolId
from studio.core.text.invisible import reveal
from studio.core.tools.registry import ToolEntry
from studio.core.tools.trust.definitions import ToolChange
from studio.ui.parts.chip import Chip
from studio.ui.parts.layouts import column_of, row_of
from studio.ui.style.colors import fixed_font, paint_text
from studio.ui.style.icons import icon
from studio.ui.style.in_use import FollowsTheme, theme_in_use

_MOST_LINES = 8
_ROOM_FOR_WORDS = 396
"""Width, in pixels, from which the buttons beside the name have words."""

_STATE_TONES = {"bound": "success", "mocked": "accent"}
"""Tones of what a tool is in; the rest is a warning."""


class ChangeNote(FollowsTheme, QWidget):
    """How a tool differs from what was allowed, and a button that allows it; hidden otherwise."""

    allowed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._change: ToolChange | None = None
        self.words = QLabel(self, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.button = QPushButton(tr("Allow as it is"), self)
        self.button.setToolTip(tr("It then asks only as its approval says"))
        self.button.clicked.connect(self.allowed)
        self.difference = QPlainTextEdit(self, readOnly=True)
        self.difference.setFont(fixed_font(self.font()))
        self.difference.setAccessibleName(tr("How the tool has changed"))
        row = row_of((self.words, 1), spacing=8)
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignTop)
        column_of(row, self.difference, on=self, margins=0, spacing=8)
        self.hide()
        paint_text(self.words, "warning")
        self.follow_theme()

    def show_change(self, change: ToolChange | None) -> None:
        """Show why the tool asks; None where it is as it was allowed."""
        self._change = change
        self.setVisible(change is not None)
        if change is None:
            return
        lines = change.lines()
        self.words.setText(self._why(change))
        self.difference.setVisible(bool(lines))
        self.difference.setPlainText("\n".join(reveal(line, lines=False) for line in lines))
        rows = min(max(len(lines), 2), _MOST_LINES)
        height = QFontMetrics(self.difference.font()).lineSpacing() * rows
        self.difference.setFixedHeight(height + 14)
        self._paint()

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        self._paint()

    def _why(self, change: ToolChange) -> str:
        if change.before is not None:
            return tr("It is not the tool that it was. It asks before its next call.")
        if not change.now.effects:
            return tr(
                "It is new, and its source does not say whether it changes something. It asks "
                "before its first call."
            )
        return tr("It is new. It asks before its first call.")

    def _paint(self) -> None:
        """Color what went and what came."""
        theme = theme_in_use()
        colors = {"-": theme.error, "+": theme.success}
        block = self.difference.document().begin()
        while block.isValid():
            looks = QTextCharFormat()
            looks.setForeground(QColor(colors.get(block.text()[:1], theme.text)))
            cursor = QTextCursor(block)
            cursor.select(QTextCursor.SelectionType.BlockUnderCursor)
            cursor.mergeCharFormat(looks)
            block = block.next()


class ToolHead(QWidget):
    """Name, state and buttons; below them its description and what is wrong with it."""

    request_definition = Signal(ToolEntry)
    request_allow = Signal(ToolId)  # a tool that is not as it was allowed
    request_declare = Signal(ToolEntry)  # write it into the document
    request_declaration = Signal(ToolEntry)  # show where the document declares it

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entry: ToolEntry | None = None
        self._insertable = True
        self._name = QLabel(textFormat=Qt.TextFormat.PlainText)
        font = self._name.font()
        font.setPointSizeF(font.pointSizeF() * 1.15)
        font.setWeight(font.Weight.DemiBold)
        self._name.setFont(font)
        self._name.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._state = Chip("")
        self._state.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._state.setEnabled(False)
        self._effects = Chip(tr("has effects"), self)
        self._effects.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._effects.setEnabled(False)
        self._effects.setToolTip(tr("It changes something outside; it asks before its first call"))
        self.declare = QToolButton(self)
        self.declare.clicked.connect(self._declare)
        self.definition = QToolButton(self)
        self.definition.setText(tr("Definition"))
        self.definition.setIcon(icon("arrow-up-right"))
        self.definition.setAccessibleName(tr("Go to where the tool is defined"))
        self.definition.setToolTip(tr("Go to where the tool is defined"))
        self.definition.clicked.connect(lambda: self.request_definition.emit(self._entry))
        self._description = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self._problem = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.change = ChangeNote(self)
        self.change.allowed.connect(
            lambda: self.request_allow.emit(self._entry.id if self._entry else ToolId())
        )
        self._lay_out()
        paint_text(self._description, "text")
        paint_text(self._problem, "warning")
        self._effects.set_color("warning")

    def show_entry(self, entry: ToolEntry) -> None:
        """Show what a tool is."""
        self._entry = entry
        self._name.setText(reveal(entry.name, lines=False))
        self._state.setText(tr(STATE_WORDS[entry.state]))
        self._state.set_color(_STATE_TONES.get(entry.state, "warning"))
        self._state.updateGeometry()
        self._effects.setVisible(entry.spec.has_effects)
        self._allow_declaring()
        self._description.setText(reveal(entry.spec.description) or tr("No description."))
        problem = entry.problem if entry.mock is None else ""
        self._problem.setText(reveal("\n".join(filter(None, (problem, *entry.marks)))))
        self._problem.setVisible(bool(self._problem.text()))
        self.change.show_change(entry.change)
        self.definition.setEnabled(entry.path is not None or entry.spec.span is not None)

    def set_insertable(self, insertable: bool) -> None:
        """Whether a prompt is open that a tool could be inserted into."""
        self._insertable = insertable
        self._allow_declaring()

    def _allow_declaring(self) -> None:
        entry = self._entry
        if entry is None:
            return
        self.declare.setText(tr("In the prompt") if entry.declared else tr("Insert"))
        self.declare.setIcon(icon("file-text" if entry.declared else "plus"))
        if entry.declared:
            tip = tr("Show where the prompt declares it")
        elif self._insertable:
            tip = tr("Declare the tool in the prompt, as one step that can be undone")
        else:
            tip = tr("Open the prompt that the tool is to be inserted into")
        self.declare.setToolTip(tip)
        self.declare.setAccessibleName(tip)
        able = entry.spec.span is not None if entry.declared else self._insertable
        self.declare.setEnabled(able)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow dock the buttons are drawings only."""
        super().resizeEvent(event)
        is_wide = self.width() >= _ROOM_FOR_WORDS
        style = Qt.ToolButtonStyle
        for button in (self.declare, self.definition):
            button.setToolButtonStyle(
                style.ToolButtonTextBesideIcon if is_wide else style.ToolButtonIconOnly
            )

    def _declare(self) -> None:
        if self._entry is not None:
            asked = self.request_declaration if self._entry.declared else self.request_declare
            asked.emit(self._entry)

    def _lay_out(self) -> None:
        row = row_of(
            self._name, self._state, self._effects, 1, self.declare, self.definition, spacing=8
        )
        column_of(row, self._description, self._problem, self.change, on=self, margins=0, spacing=8)
