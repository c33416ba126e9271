"""Text input: keys, input methods, drops and the mouse wheel."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6 import QtGui
from PySide6.QtCore import QEvent, QMimeData, QObject, QRect, QRectF, Qt, Signal
from PySide6.QtWidgets import QMenu, QWidget

from studio.ui.base.menus import IN_EDITOR, add_actions, own_menu
from studio.ui.editor.text.carets.carets import Carets
from studio.ui.editor.text.keys.key_moves import (
    erase_word,
    go_by_word,
    is_command,
    smart_home,
    word_key,
)
from studio.ui.editor.text.prompt_view import PromptView

if TYPE_CHECKING:
    from studio.ui.editor.text.carets.input import CaretKeys, TextClipboard
    from studio.ui.editor.text.carets.line_edits import LineEdits
    from studio.ui.editor.text.carets.selections import CaretChoice, StructureSelection
    from studio.ui.editor.text.keys.typing import TypingKeys
    from studio.ui.editor.text.media_drop import MediaDrop
    from studio.ui.editor.text.prompt_text import PromptText
    from studio.ui.editor.text.snippet_session import SnippetSession

_RECTANGLES = (
    Qt.InputMethodQuery.ImCursorRectangle,
    Qt.InputMethodQuery.ImAnchorRectangle,
    Qt.InputMethodQuery.ImInputItemClipRectangle,
)
_ANY_RECTANGLE = (_RECTANGLES[0] | _RECTANGLES[1] | _RECTANGLES[2]).value
"""Flags as a number: each `&` of Python's flags costs 2 µs, and each key needs four."""
_ROWS = {Qt.Key.Key_Up.value: -1, Qt.Key.Key_Down.value: 1}
_COLUMN = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.AltModifier
_COMMANDS = (
    Qt.KeyboardModifier.ControlModifier
    | Qt.KeyboardModifier.AltModifier
    | Qt.KeyboardModifier.MetaModifier
)


class TextInput(PromptView):
    """A text view that passes input first to the snippet, typing rules and media drops."""

    character_typed = Signal()  # a key inserted or deleted a character
    request_definition = Signal()  # of the name that was clicked with Ctrl
    request_zoom = Signal(int)  # steps of the mouse wheel
    pasting = Signal()  # text from elsewhere is about to be inserted
    pasted_whole = Signal(str)  # pasted text that is now the whole document

    media: MediaDrop | None = None
    """Inserts dropped files and pictures, if set."""
    snippet: SnippetSession | None = None
    """The snippet that is being filled in, if there was one."""
    take_offer: Callable[[QtGui.QKeyEvent], bool] | None = None
    """Handles Tab after a word whose completions are about to be shown."""

    def __init__(self, parent: QWidget | None = None, prompt: PromptText | None = None) -> None:
        super().__init__(parent, prompt)
        self.carets = Carets(self)
        self._column: QtGui.QTextCursor | None = None
        """Start of a column selection while the mouse button is pressed."""
        # Not `event` or `inputMethodQuery`: Qt would call each from C++ a dozen times for a key,
        # which took a fifth of the time until the key was painted.
        self.installEventFilter(self)

    # Modules that only a key needs are imported after the first paint (`studio.app`).

    @cached_property
    def caret_choice(self) -> CaretChoice:
        """Commands that add carets."""
        from studio.ui.editor.text.carets.selections import CaretChoice

        return CaretChoice(self, self.carets)

    @cached_property
    def lines(self) -> LineEdits:
        """Commands on whole lines."""
        from studio.ui.editor.text.carets.line_edits import LineEdits

        return LineEdits(self, self.carets)

    @cached_property
    def structure(self) -> StructureSelection:
        """Commands that select by the structure of the prompt."""
        from studio.ui.editor.text.carets.selections import StructureSelection

        return StructureSelection(self)

    @cached_property
    def _keys(self) -> TypingKeys:
        from studio.ui.editor.text.keys.typing import TypingKeys

        return TypingKeys(self)

    @cached_property
    def _caret_keys(self) -> CaretKeys:
        from studio.ui.editor.text.carets.input import CaretKeys

        return CaretKeys(self.carets, self._type_rule)

    @cached_property
    def _clipboard(self) -> TextClipboard:
        from studio.ui.editor.text.carets.input import TextClipboard

        return TextClipboard(self.carets, self.lines)

    def offer_mark(self) -> None:
        """Let the user type again a list marker that was just inserted before the caret."""
        self._keys.offer_mark()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Leave the keys of actions to the window, and give input methods correct positions.

        The text widget claims keys by desktop conventions: on X11, Ctrl+D deletes a character,
        Ctrl+K to the end of the line and Ctrl+U the line, which is unusual for an editor.
        """
        if watched is not self:
            return super().eventFilter(watched, event)
        if isinstance(event, QtGui.QInputMethodQueryEvent):
            return self._tell_places(event)
        if (
            isinstance(event, QtGui.QKeyEvent)
            and event.type() == QEvent.Type.ShortcutOverride
            and event.modifiers() & _COMMANDS
            and self._is_of_window(event)
        ):
            event.ignore()
            return True
        return False

    def _tell_places(self, event: QtGui.QInputMethodQueryEvent) -> bool:
        """Correct the positions that Qt reports to input methods: it ignores the gutter.

        Otherwise the list of an input method opens left of the caret by the width of the gutter.
        """
        if not event.queries().value & _ANY_RECTANGLE:
            return False
        self.event(event)
        for each in _RECTANGLES:
            place = event.value(each)
            if isinstance(place, QRectF | QRect):
                event.setValue(each, place.translated(self.viewport().pos()))
        return True

    def _is_of_window(self, event: QtGui.QKeyEvent) -> bool:
        pressed = QtGui.QKeySequence(event.keyCombination())
        return any(
            pressed.matches(keys) != QtGui.QKeySequence.SequenceMatch.NoMatch
            for action in self.window().actions()
            if action.isEnabled()
            for keys in action.shortcuts()
        )

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """Pass the key first to the snippet, the carets and the typing rules."""
        text = event.text()
        types = bool(text) and text.isprintable() and not is_command(event)
        if not types and (self._takes_offer(event) or self._takes_standard(event)):
            return
        if self._scrolls(event):
            return
        filled = self.snippet is not None and self.snippet.press(event)
        indents = not filled and not types and self._indents(event)
        if not filled and not indents and not self._caret_keys.press(event):
            if (not types and self._goes_far(event)) or self._keys.press(event):
                self.ensureCursorVisible()
            else:
                super().keyPressEvent(event)
        if types or (text and event.key() == Qt.Key.Key_Backspace and not is_command(event)):
            self.character_typed.emit()

    def _takes_offer(self, event: QtGui.QKeyEvent) -> bool:
        is_tab = event.key() == Qt.Key.Key_Tab
        return is_tab and self.take_offer is not None and self.take_offer(event)

    def _type_rule(self, event: QtGui.QKeyEvent, cursor: QtGui.QTextCursor) -> bool:
        return self._keys.write(event, cursor)

    def _scrolls(self, event: QtGui.QKeyEvent) -> bool:
        """Scroll by a line on Ctrl with Up or Down; the caret stays."""
        by = _ROWS.get(event.key())
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier if by else None
        if by is None or held != Qt.KeyboardModifier.ControlModifier:
            return False
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + by)
        return True

    def _takes_standard(self, event: QtGui.QKeyEvent) -> bool:
        """Handle the desktop's other clipboard keys (such as Shift+Insert)."""
        for keys, act in (
            (QtGui.QKeySequence.StandardKey.Copy, self.copy),
            (QtGui.QKeySequence.StandardKey.Cut, self.cut),
            (QtGui.QKeySequence.StandardKey.Paste, self.paste),
            (QtGui.QKeySequence.StandardKey.Undo, self.undo),
            (QtGui.QKeySequence.StandardKey.Redo, self.redo),
        ):
            if event.matches(keys):
                act()
                return True
        return False

    def _indents(self, event: QtGui.QKeyEvent) -> bool:
        """Indent selected lines on Tab, and unindent them on Shift+Tab."""
        is_tab = event.key() == Qt.Key.Key_Tab and not event.modifiers()
        if is_tab and any(each.hasSelection() for each in self.carets.all()):
            self.lines.indent(1)
        elif event.key() == Qt.Key.Key_Backtab and not is_command(event):
            self.lines.indent(-1)
        else:
            return False
        return True

    def _goes_far(self, event: QtGui.QKeyEvent) -> bool:
        return self._goes_home(event) or self._goes_by_word(event)

    def _goes_by_word(self, event: QtGui.QKeyEvent) -> bool:
        """Handle keys that move, select and delete by words."""
        key = word_key(event)
        if key is None or (key.erases and self.isReadOnly()):
            return False
        cursor = self.textCursor()
        if key.erases:
            erase_word(cursor, key.by)
        else:
            mode = QtGui.QTextCursor.MoveMode
            go_by_word(cursor, key.by, mode.KeepAnchor if key.selects else mode.MoveAnchor)
        self.setTextCursor(cursor)
        return True

    def _goes_home(self, event: QtGui.QKeyEvent) -> bool:
        """Go to the first word of the row on Home, and from there to the start of the row."""
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if event.key() != Qt.Key.Key_Home or held & ~Qt.KeyboardModifier.ShiftModifier:
            return False
        mode = QtGui.QTextCursor.MoveMode
        cursor = self.textCursor()
        smart_home(cursor, mode.KeepAnchor if held else mode.MoveAnchor)
        self.setTextCursor(cursor)
        return True

    def inputMethodEvent(self, event: QtGui.QInputMethodEvent) -> None:
        """Insert the text of an input method at every caret."""
        written = event.commitString()
        if not len(self.carets) or not written or event.replacementLength():
            super().inputMethodEvent(event)
            return
        super().inputMethodEvent(QtGui.QInputMethodEvent("", []))  # removes the text being composed
        self.carets.edit(lambda cursor: cursor.insertText(written))
        if event.preeditString():
            super().inputMethodEvent(
                QtGui.QInputMethodEvent(event.preeditString(), event.attributes())
            )

    def cut(self) -> None:
        """Cut the selections of the carets, or the line if nothing is selected."""
        if not self.isReadOnly():
            self._clipboard.cut()

    def copy(self) -> None:
        """Copy the selections of the carets, or the line if nothing is selected."""
        self._clipboard.copy()

    def paste(self) -> None:
        """Paste text at every caret, whole lines above the caret's line, or files and pictures."""
        if self.isReadOnly():
            return
        self.pasting.emit()
        data = QtGui.QGuiApplication.clipboard().mimeData()
        if self.media is not None and data is not None and self.media.wants(data):
            self.carets.drop()
            super().paste()
        elif not self._clipboard.paste():
            super().paste()
            pasted = data.text().replace("\r\n", "\n") if data is not None else ""
            if pasted and self.source().text == pasted:
                self.pasted_whole.emit(pasted)

    def selectAll(self) -> None:  # noqa: N802 - overrides Qt
        """Select the whole text with one caret."""
        self.carets.drop()
        super().selectAll()

    def leave_carets(self) -> None:
        """Remove additional carets before the caret is placed."""
        self.carets.drop()

    def load(self, text: str) -> None:
        """Load a text and clear the undo history."""
        self.carets.drop()
        super().load(text)

    def undo(self) -> None:
        """Undo one step and restore its carets."""
        with self.showing_changes():
            self.carets.undo_by(super().undo)

    def redo(self) -> None:
        """Redo one step."""
        with self.showing_changes():
            self.carets.undo_by(super().redo)

    def contextMenuEvent(self, event: QtGui.QContextMenuEvent) -> None:
        """Show the window's actions for a prompt, or Qt's menu if there are none."""
        menu = self.menu()
        if menu.isEmpty():
            super().contextMenuEvent(event)
            return
        if not any(each.hasSelection() for each in self.carets.all()):
            self.carets.drop()
            self.setTextCursor(self.cursorForPosition(event.pos()))
        menu.popup(event.globalPos())

    def menu(self) -> QMenu:
        """Build the context menu."""
        menu = own_menu(self)
        if self.window().actions():
            add_actions(menu, self.window(), IN_EDITOR)
        return menu

    def mousePressEvent(self, event: QtGui.QMouseEvent) -> None:
        """Toggle a caret on Alt with a click; a plain click leaves one caret."""
        self._column = None
        if event.button() == Qt.MouseButton.LeftButton and event.modifiers() == _COLUMN:
            self.carets.drop()
            self._column = self.cursorForPosition(event.position().toPoint())
            self.setTextCursor(self._column)
            return
        if (
            event.button() == Qt.MouseButton.LeftButton
            and event.modifiers() == Qt.KeyboardModifier.AltModifier
        ):
            self.caret_choice.toggle_at(self.cursorForPosition(event.position().toPoint()))
            return
        if event.button() != Qt.MouseButton.RightButton:  # the menu applies to all carets
            self.carets.drop()
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QtGui.QMouseEvent) -> None:
        """Select columns while dragging with Shift and Alt."""
        if self._column is not None and event.buttons() & Qt.MouseButton.LeftButton:
            place = self.cursorForPosition(event.position().toPoint())
            self.caret_choice.select_column(self._column, place)
            return
        super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QtGui.QMouseEvent) -> None:
        """End a drag; on a click with Ctrl, request the definition."""
        if self._column is not None:
            self._column = None
            return
        super().mouseReleaseEvent(event)
        with_control = event.modifiers() == Qt.KeyboardModifier.ControlModifier
        is_left = event.button() == Qt.MouseButton.LeftButton
        if is_left and with_control and not self.textCursor().hasSelection():
            self.request_definition.emit()

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Return whether the data can be inserted: files, pictures or text, not folders."""
        if self.media is not None and self.media.leaves(source):
            return False
        return bool(self.media and self.media.wants(source)) or super().canInsertFromMimeData(
            source
        )

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Insert dropped or pasted data: text unchanged, files and pictures as references."""
        if self.media is not None and self.media.wants(source) and not self.isReadOnly():
            self.media.take(source)
            return
        self.pasting.emit()
        super().insertFromMimeData(source)

    def wheelEvent(self, event: QtGui.QWheelEvent) -> None:
        """Zoom with Ctrl, scroll otherwise."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.request_zoom.emit(1 if event.angleDelta().y() > 0 else -1)
            event.accept()
            return
        super().wheelEvent(event)
