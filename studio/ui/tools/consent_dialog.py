"""Asking before a stranger's files may start, reach or read something: what exactly is shown."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from studio.core.text.invisible import reveal
from studio.core.tools.trust.wants import Doubt, Want
from studio.ui.base.marked_text import QT_TRANSLATE_NOOP
from studio.ui.parts.drawing import Drawing
from studio.ui.parts.layouts import column_of, row_of
from studio.ui.style.colors import fixed_font, paint_text

_tr = partial(QCoreApplication.translate, "ConsentDialog")
_TITLES = {
    "command": QT_TRANSLATE_NOOP("ConsentDialog", "Programs that may be started"),
    "address": QT_TRANSLATE_NOOP("ConsentDialog", "Addresses that may be reached"),
    "variable": QT_TRANSLATE_NOOP("ConsentDialog", "Environment variables that may be read"),
    "file": QT_TRANSLATE_NOOP("ConsentDialog", "Files that may be run or read"),
}
_MOST_LINES = 14


class ConsentDialog(QDialog):
    """A question with all that a yes covers; no is the default, and closing it is a no."""

    def __init__(self, title: str, words: str, covered: str, yes: str, parent: QWidget) -> None:
        """Make a dialog.

        Args:
            title: the question.
            words: what a yes means.
            covered: what exactly it covers, in lines.
            yes: the words of the button that agrees.
            parent: the pane that asks.
        """
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setMinimumWidth(560)
        picture = Drawing("shield-check", 32, "warning")
        self.words = QLabel(words)
        self.covered = QPlainTextEdit(covered, readOnly=True, tabChangesFocus=True)
        self.covered.setFont(fixed_font(self.font()))
        self.covered.setAccessibleName(self.tr("What it covers"))
        rows = min(max(covered.count("\n") + 1, 2), _MOST_LINES)
        height = QFontMetrics(self.covered.font()).lineSpacing() * rows
        self.covered.setMinimumHeight(height + 18)
        self.warning = QLabel(self.tr("Agree only if you know who wrote the folder's files."))
        for label in (self.words, self.warning):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
        paint_text(self.warning, "muted")
        self.agree = QPushButton(yes, autoDefault=False)
        self.refuse = QPushButton(self.tr("No"), default=True)
        self.agree.clicked.connect(self.accept)
        self.refuse.clicked.connect(self.reject)
        self._arrange(picture)
        self.refuse.setFocus()

    def _arrange(self, picture: QWidget) -> None:
        column = column_of(self.words, (self.covered, 1), self.warning, spacing=12)
        top = QHBoxLayout()
        top.setSpacing(16)
        top.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
        top.addLayout(column, 1)
        buttons = row_of(1, self.agree, self.refuse)
        column_of((top, 1), buttons, on=self, margins=(20, 20, 20, 16), spacing=16)


def covered_text(wants: Sequence[Want]) -> str:
    """What trust covers, by kind: each thing once, with what wants it."""
    lines: list[str] = []
    for kind, title in _TITLES.items():
        found = dict.fromkeys(
            f"    {reveal(want.text, lines=False)}{_for(want)}"
            for want in wants
            if want.kind == kind
        )
        if found:
            lines += [_tr(title) + ":", *found]
    if not lines:
        return _tr("The prompt names no program, address, variable or file so far.")
    return "\n".join(lines)


def doubt_text(doubt: Doubt) -> str:
    """What is asked about, and where it changed what was allowed before."""
    now = doubt.want.pin.lines if doubt.want.pin is not None else (doubt.want.text,)
    if doubt.before is None:
        return _block(now)
    before = _tr("Allowed before:")
    after = _tr("Now:")
    if doubt.before.lines == now:
        now = (*now, _tr("(a value that is not shown)"))
    return "\n".join([before, _block(doubt.before.lines), after, _block(now)])


def _block(lines: Sequence[str]) -> str:
    return "\n".join(f"    {reveal(line, lines=False)}" for line in lines)


def _for(want: Want) -> str:
    return f"   ({reveal(want.of, lines=False)})" if want.of else ""
