"""Find and replace in one editor, with regular expressions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QLineEdit, QToolButton, QWidget

from studio.application.words import tr
from studio.core.patterns import PatternError, compile_pattern, expanded, matches
from studio.core.text.amounts import by_count
from studio.core.text.source import Span, TextEdit
from studio.ui.parts.kit import icon_button, named, push_button, search_line

if TYPE_CHECKING:
    from studio.ui.editor.text.view import PromptEditor

_MOST = 20_000
_DELAY_MS = 60


class FindBar(QWidget):
    """A bar above the text; Enter goes to the next match, Shift+Enter back, Esc closes."""

    def __init__(self, editor: PromptEditor, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._editor = editor
        self._matches: list[Any] = []
        self._find = search_line(tr("Find"))
        self._replace = named(QLineEdit(placeholderText=tr("Replace with")), tr("Replace with"))
        self._count = QLabel()
        self._count.setProperty("tone", "muted")
        self._count.setMinimumWidth(96)
        self._case = self._switch("case-sensitive", tr("Match case (Alt+C)"))
        self._word = self._switch("whole-word", tr("Whole words (Alt+W)"))
        self._regex = self._switch("regex", tr("Regular expression (Alt+R)"))
        self._switches = {
            Qt.Key.Key_C: self._case,
            Qt.Key.Key_W: self._word,
            Qt.Key.Key_R: self._regex,
        }
        self._again = QTimer(self, singleShot=True, interval=_DELAY_MS)
        self._lay_out()
        self._wire()
        self.hide()

    def _switch(self, drawing: str, tip: str) -> QToolButton:
        button = icon_button(drawing, tip)
        button.setCheckable(True)
        button.toggled.connect(self._search)
        return button

    def _lay_out(self) -> None:
        self._previous = icon_button("arrow-up", tr("Previous match (Shift+Enter)"))
        self._next = icon_button("arrow-down", tr("Next match (Enter)"), lambda: self.go(1))
        self._close = icon_button("x", tr("Close (Esc)"), self.leave)
        self._one = push_button(tr("Replace"), self.replace_one)
        self._all = push_button(tr("Replace all"), self.replace_all)
        grid = QGridLayout(self)
        grid.setContentsMargins(8, 4, 8, 4)
        grid.setSpacing(4)
        grid.addWidget(self._find, 0, 0)
        for column, widget in enumerate(
            (
                self._case,
                self._word,
                self._regex,
                self._count,
                self._previous,
                self._next,
                self._close,
            ),
            1,
        ):
            grid.addWidget(widget, 0, column)
        grid.addWidget(self._replace, 1, 0)
        grid.addWidget(self._one, 1, 1, 1, 3)
        grid.addWidget(self._all, 1, 4, 1, 4)
        grid.setColumnStretch(0, 1)
        order = (
            self._find,
            self._replace,
            self._one,
            self._all,
            self._case,
            self._word,
            self._regex,
            self._previous,
            self._next,
            self._close,
        )
        for one, other in pairwise(order):
            self.setTabOrder(one, other)

    def _wire(self) -> None:
        self._find.textChanged.connect(self._search)
        self._find.installEventFilter(self)
        self._replace.installEventFilter(self)
        self._previous.clicked.connect(lambda: self.go(-1))
        self._again.timeout.connect(self._search)
        self._editor.textChanged.connect(self._on_text)

    def ask(self, *, replace: bool) -> None:
        """Open the bar with the selected text as the search text."""
        selected = self._editor.textCursor().selectedText()
        if selected and "\u2029" not in selected:
            self._find.setText(selected)
        for widget in (self._replace, self._one, self._all):
            widget.setVisible(replace)
        self.show()
        self._find.selectAll()
        self._find.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._search()

    def leave(self) -> None:
        """Close the bar and return to the text."""
        self.hide()
        self._again.stop()
        self._matches = []
        self._mark(())
        self._editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def go(self, step: int) -> None:
        """Go to the next match (1) or the previous one (-1); wrap around at the end."""
        if not self._find.text():
            self.ask(replace=False)
            return
        self._search()
        if not self._matches:
            return
        source = self._editor.source()
        cursor = self._editor.textCursor()
        if step > 0:
            at = source.from_utf16(cursor.selectionEnd())
            chosen = next(
                (match for match in self._matches if match.start() >= at), self._matches[0]
            )
        else:
            at = source.from_utf16(cursor.selectionStart())
            chosen = next(
                (match for match in reversed(self._matches) if match.end() <= at), self._matches[-1]
            )
        had_focus = self.window().focusWidget()
        self._editor.reveal(Span(*chosen.span()), select=True)
        if had_focus in (self._find, self._replace):
            had_focus.setFocus(Qt.FocusReason.OtherFocusReason)
        self._tell(self._matches.index(chosen) + 1)

    def select_all(self) -> None:
        """Close the bar and select every match with a caret of its own."""
        self._search()
        source = self._editor.source()
        places = [(source.to_utf16(m.start()), source.to_utf16(m.end())) for m in self._matches]
        if places:
            self.leave()
            self._editor.caret_choice.select(places)

    def replace_one(self) -> None:
        """Replace the selected match and go to the next."""
        self._search()
        cursor = self._editor.textCursor()
        source = self._editor.source()
        here = (
            source.from_utf16(cursor.selectionStart()),
            source.from_utf16(cursor.selectionEnd()),
        )
        chosen = [match for match in self._matches if match.span() == here]
        if self._write(chosen):
            self.go(1)

    def replace_all(self) -> None:
        """Replace every match as one undo step."""
        self._search()
        count = len(self._matches)
        if self._write(self._matches):
            self._search()
            self._count.setText(tr("{count} replaced").format(count=count))

    def _write(self, found: list[Any]) -> bool:
        """Replace matches; return False if the new text names a group that does not exist."""
        try:
            edits = [TextEdit(Span(*each.span()), self._replacement(each)) for each in found]
        except PatternError as error:
            self._tell_error(error)
            return False
        self._editor.apply_edits(edits)
        return True

    def _replacement(self, match: Any) -> str:  # noqa: ANN401 - of a package without types
        if not self._regex.isChecked():
            return self._replace.text()
        return expanded(match, self._replace.text())

    def _on_text(self) -> None:
        if self.isVisible():
            self._again.start()

    def _search(self) -> None:
        pattern = self._find.text()
        self._matches = []
        if not pattern:
            self._count.clear()
            self._mark(())
            return
        source = self._editor.source()
        try:
            wanted = compile_pattern(
                pattern,
                regex=self._regex.isChecked(),
                case=self._case.isChecked(),
                word=self._word.isChecked(),
            )
            self._matches = list(islice(matches(wanted, source.text), _MOST))
        except PatternError as error:
            self._tell_error(error)
            return
        self._mark(
            [
                (source.to_utf16(match.start()), source.to_utf16(match.end()))
                for match in self._matches[:500]
            ]
        )
        self._editor.mark_bar.mark("match", (source.line_of(m.start()) for m in self._matches))
        self._tell(0)

    def _mark(self, ranges: Sequence[tuple[int, int]]) -> None:
        self._editor.marks.set_found(ranges)
        if not ranges:
            self._editor.mark_bar.mark("match", ())

    def _tell_error(self, error: PatternError) -> None:
        self._matches = []
        self._count.setText(tr("Pattern: {msg}").format(msg=error))
        self._count.setToolTip(str(error))
        self._mark(())

    def _tell(self, number: int) -> None:
        count = len(self._matches)
        if not count:
            self._count.setText(tr("No matches"))
        elif number:
            self._count.setText(tr("{number} of {count}").format(number=number, count=count))
        else:
            self._count.setText(by_count(count, tr("1 match"), tr("{count} matches")))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close on Esc wherever the focus is in the bar."""
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
            return
        super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle Enter and Esc in the fields, and the keys of the toggles."""
        if isinstance(event, QKeyEvent) and event.modifiers() == Qt.KeyboardModifier.AltModifier:
            switch = self._switches.get(Qt.Key(event.key()))
            if switch is not None:
                event.accept()  # before the window opens the menu of that letter
                if event.type() == QEvent.Type.KeyPress:
                    switch.toggle()
                return True
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Escape:
                self.leave()
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                if event.modifiers() & Qt.KeyboardModifier.AltModifier:
                    self.select_all()
                elif watched is self._replace:
                    self.replace_one()
                else:
                    back = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
                    self.go(-1 if back else 1)
                return True
        return super().eventFilter(watched, event)
