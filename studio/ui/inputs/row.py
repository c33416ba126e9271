"""A field with its name, type, state and problem; and groups of such rows."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6 import QtWidgets
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent

from studio.application.inputs.fields import ABSENT, FieldSpec, FieldValue, show_value
from studio.application.words import tr
from studio.core.text.amounts import shortened
from studio.core.text.invisible import plain_tip
from studio.core.text.source import Span
from studio.ui.base.menus import ON_INPUT, add_actions, add_own, own_menu
from studio.ui.inputs.fields import FieldEditor
from studio.ui.parts.kit import ElidedLabel, column_of, icon_button, row_of, toned_label
from studio.ui.style.theme import FollowsTheme, dot, icon, paint_text, theme_in_use

HIGH = ("object", "array", "thread")
"""Kinds of fields that do not fit on one line with their name."""

_ELIDE = Qt.TextElideMode.ElideRight
_NAME_WIDTH = 96
"""Width in pixels of the names of one-line rows."""


class FieldRow(QtWidgets.QWidget):
    """Label above or beside the editor, with a small button to remove the value."""

    changed = Signal()
    request_declare = Signal(str)  # name of an undeclared variable
    request_place = Signal(Span)

    def __init__(
        self, spec: FieldSpec, editor: FieldEditor, color: str = "", *, is_line: bool = False
    ) -> None:
        """Create it.

        Args:
            spec: the field.
            editor: its editor.
            color: color of its values in the preview; empty for none.
            is_line: use one line, with the description as a tooltip; an editor that does not fit
                into it opens below.
        """
        super().__init__()
        self.spec = spec
        self.editor = editor
        self._falls_back = True
        self._dot = QtWidgets.QLabel(self)
        self._dot.setHidden(not color)
        self._name = QtWidgets.QLabel(spec.name, textFormat=Qt.TextFormat.PlainText)
        font = self._name.font()
        font.setWeight(font.Weight.DemiBold)
        self._name.setFont(font)
        self._name.setBuddy(editor)
        self._type = QtWidgets.QLabel(spec.type_name + (tr(", required") if spec.required else ""))
        self._type.setTextFormat(Qt.TextFormat.PlainText)
        self.state = QtWidgets.QLabel()
        self.reset = QtWidgets.QToolButton()
        self.reset.setIcon(icon("rotate-ccw"))
        self.reset.setIconSize(QSize(12, 12))
        self.reset.setFixedSize(20, 20)
        self.reset.setStyleSheet("QToolButton { padding: 1px; }")
        self.reset.setAccessibleName(tr("Clear {name}").format(name=spec.name))
        self.reset.clicked.connect(self._clear)
        self.declare = QtWidgets.QPushButton(tr("Declare"), self)
        self.declare.setHidden(spec.declared)
        self.declare.setToolTip(
            tr("Add {name!r} to the inputs of the front matter").format(name=spec.name)
        )
        self.declare.clicked.connect(lambda: self.request_declare.emit(spec.name))
        self._description = QtWidgets.QLabel(
            spec.description, self, textFormat=Qt.TextFormat.PlainText
        )
        self._description.setWordWrap(True)
        self._description.setHidden(not spec.description)
        self._problem = toned_label("error", wraps=True, is_plain=True)
        self._problem.hide()
        self._shown = ElidedLabel()
        self.fold = icon_button("braces", tr("Edit the parts of {name}").format(name=spec.name))
        self.fold.setCheckable(True)
        self._is_folded = is_line and spec.kind in HIGH
        self._arrange(is_line=is_line)
        editor.changed.connect(self._edited)
        self.set_color(color)
        for label in (self._type, self.state, self._description, self._shown):
            paint_text(label, "muted")
        self._tell_state()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show the context menu of the input, with the window's actions and their keys."""
        self.menu().popup(event.globalPos())

    def menu(self) -> QtWidgets.QMenu:
        """Return the context menu of the row; the text of the field has its own."""
        menu = own_menu(self)
        can_clear = self.reset.isVisibleTo(self)
        add_own(menu, tr("Clear"), self._clear, drawing="rotate-ccw", enabled=can_clear)
        if not self.spec.declared:
            add_own(menu, tr("Declare"), self.declare.click, drawing="plus")
        menu.addSeparator()
        add_actions(menu, self.window(), ON_INPUT)
        return menu

    def _arrange(self, *, is_line: bool) -> None:
        ends = (self.state, self.reset, self.declare)
        if is_line:
            self._name.setFixedWidth(_NAME_WIDTH)
            name = self._name.fontMetrics().elidedText(self.spec.name, _ELIDE, _NAME_WIDTH)
            self._name.setText(name)
            self._description.hide()
            words = f"{self.spec.name} · {self._type.text()}"
            self._name.setToolTip(
                plain_tip("\n".join(filter(None, (words, self.spec.description))))
            )
            if not self._is_folded:
                line = row_of(self._dot, self._name, (self.editor, 1), *ends, spacing=8)
                column_of(line, self._problem, on=self, margins=0, spacing=4)
                return
            self.fold.toggled.connect(self.set_open)
            self.editor.hide()
            line = row_of(self._dot, self._name, (self._shown, 1), self.fold, *ends, spacing=8)
            column_of(line, self.editor, self._problem, on=self, margins=0, spacing=4)
            return
        header = row_of(self._dot, self._name, self._type, 1, *ends, spacing=8)
        header.addStrut(20)
        column_of(
            header, self._description, self.editor, self._problem, on=self, margins=0, spacing=4
        )

    @property
    def problem(self) -> str:
        """Return the shown problem."""
        return self._problem.text()

    def set_value(self, value: FieldValue) -> None:
        """Show a value."""
        self.editor.set_value(value)
        self._tell_state()

    def set_open(self, is_open: bool) -> None:
        """Show the parts of a list, an object or a conversation, or its value in one line."""
        self.fold.setChecked(is_open)
        if self.spec.kind in HIGH:
            self._is_folded = not is_open
            self.editor.setVisible(is_open)
            self._tell_state()

    def set_falls_back(self, falls_back: bool) -> None:
        """Set whether the fallback of the spec applies; that of a property may not."""
        if falls_back != self._falls_back:
            self._falls_back = falls_back
            self._tell_state()

    def set_color(self, color: str) -> None:
        """Set the color of this input's values in the preview."""
        if color:
            self._dot.setPixmap(dot(color))

    def show_missing(self) -> None:
        """Mark the field as required, after a run was tried without it."""
        if self.editor.value() is ABSENT and self.spec.required:
            self._problem.setText(tr("A value is needed."))
            self._problem.show()

    def _edited(self) -> None:
        self._tell_state()
        self.changed.emit()

    def _clear(self) -> None:
        self.editor.set_value(ABSENT)
        self._tell_state()
        self.changed.emit()

    def _tell_state(self) -> None:
        given = self.editor.value() is not ABSENT
        problem = self.editor.problem()
        self.reset.setVisible(given or bool(problem))
        origin = self.spec.fallback_origin if self._falls_back else ""
        back = (
            tr("Clear: use the {origin} again").format(origin=origin)
            if origin in ("sample", "default")
            else tr("Clear")
        )
        self.reset.setToolTip(back)
        missing = not given and not origin
        words = tr(origin)
        if missing:
            words = tr("missing") if self.spec.required else tr("not set")
        is_told = given or origin == self.spec.type_name
        self.state.setText("" if is_told else words)
        paint_text(self.state, "warning" if missing and self.spec.required else "muted")
        self._problem.setText(problem)
        self._problem.setVisible(bool(problem) and (self._is_folded or self.spec.kind != "object"))
        value = self.editor.value() if given else self.spec.fallback
        self._shown.show_text(show_value(value) if self._is_folded else "")


@dataclass(frozen=True, slots=True)
class GroupWords:
    """The texts of a group in the window's language."""

    heading: str
    """Heading; `{shown}` is the names, shortened if there are many."""

    name: str
    """Heading for screen readers; `{names}` is all names."""

    tip: str
    """Description of its values."""


class FieldGroup(FollowsTheme, QtWidgets.QWidget):
    """A heading that expands and collapses its rows; hidden without rows."""

    def __init__(self, words: GroupWords, parent: QtWidgets.QWidget) -> None:
        super().__init__(parent)
        self._words = words
        self.heading = QtWidgets.QToolButton(self, autoRaise=True)
        self.heading.setCheckable(True)
        self.heading.setIconSize(QSize(14, 14))
        self.heading.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.heading.setSizePolicy(
            QtWidgets.QSizePolicy.Policy.Ignored, QtWidgets.QSizePolicy.Policy.Fixed
        )
        self.heading.setToolTip(words.tip)
        self._page = QtWidgets.QWidget(self)
        self.rows = column_of(on=self._page, margins=0, spacing=12)
        column_of(self.heading, self._page, on=self, margins=0, spacing=8)
        self._page.hide()
        self.hide()
        self.heading.toggled.connect(self._show_rows)
        self.follow_theme()

    @property
    def is_open(self) -> bool:
        """Whether the rows are shown."""
        return self.heading.isChecked()

    def set_open(self, is_open: bool) -> None:
        """Expand or collapse the group."""
        self.heading.setChecked(is_open)

    def tell(self, names: Sequence[str], given: int) -> None:
        """Set the names of the inputs in the group, and how many of them the user filled in."""
        self.setHidden(not names)
        shown = ", ".join(names)
        shown = shortened(shown, 28)
        filled = tr(" · {given} given").format(given=given) if given else ""
        self.heading.setText(self._words.heading.format(shown=shown) + filled)
        self.heading.setAccessibleName(self._words.name.format(names=", ".join(names)) + filled)

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        theme = theme_in_use()
        self.heading.setStyleSheet(
            f"QToolButton {{ color: {theme.muted}; border: none; padding: 2px 0; }}"
            f"QToolButton:checked {{ background: transparent; }}"
            f"QToolButton:hover, QToolButton:focus {{ color: {theme.text}; }}"
        )
        self._show_rows(self.is_open)

    def _show_rows(self, is_open: bool) -> None:
        name = "chevron-down" if is_open else "chevron-right"
        self.heading.setIcon(icon(name, "muted"))
        self._page.setHidden(not is_open)
