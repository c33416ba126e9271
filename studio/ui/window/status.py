"""The status bar: position, dialect, problems, tokens, speed, run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QIcon, QResizeEvent
from PySide6.QtWidgets import QStatusBar, QToolButton

from studio.application.words import marked, tr
from studio.core.text.amounts import by_count
from studio.core.text.source import Problem, Severity
from studio.ui.base.menus import ON_STATUS, open_menu
from studio.ui.style.theme import icon

if TYPE_CHECKING:
    from studio.application.preview.requests import Fullness
    from studio.application.trust import FolderTrust
    from studio.core.prompty.document import PromptDocument
    from studio.core.text.source import SourceText

_DIALECTS = {
    "prompty": marked("Prompty 2"),
    "section": marked("Section dialect"),
    "legacy": marked("Prompty 1 (legacy)"),
}


_MOST_OF_A_RUN = 48
"""Maximum characters of the run's text; a whole sentence would push other cells out."""
_LEAST_OF_A_RUN = 16
"""Minimum characters of the run's text; below that, cells that seldom change are hidden."""
_BESIDE = 6
"""Pixels that Qt leaves beside a cell."""
_SPARE = 24
"""Pixels by which a cell may be wider than its text."""


class StatusBar(QStatusBar):
    """Flat buttons with tooltips; some go to other parts of the window."""

    request_trust = Signal(QPoint)  # position of the menu on the screen

    def __init__(self) -> None:
        super().__init__()
        self._problem_counts = (0, 0, 0)
        self._run_text = ("", "")
        self.setSizeGripEnabled(False)
        self.setMinimumWidth(1)  # the cells shrink, not the window
        self._cells: list[QToolButton] = []
        self.place = self._cell(tr("Line and column"), permanent=False)
        self._dialect = self._cell(tr("Dialect"), permanent=False)
        self._file = self._cell(tr("Encoding and line ends"), permanent=False)
        self.problems = self._cell(tr("Problems"), permanent=False)
        self._trust = self._cell(tr("Trust in the folder"), permanent=False)
        self._run = self._cell(tr("Run"), permanent=True)
        self._tokens = self._cell(tr("Tokens"), permanent=True)
        self._speed = self._cell(tr("Speed of the model"), permanent=True)
        self._yielding = (self._file, self._speed, self._dialect)
        """The cells that are hidden if there is no room, in this order."""
        self._told: set[QToolButton] = set()
        """The cells with a text."""
        self._trust.clicked.connect(self.offer_trust)

    def _cell(self, name: str, *, permanent: bool) -> QToolButton:
        button = QToolButton(autoRaise=True)
        button.setAccessibleName(name)
        button.hide()
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        if permanent:
            self.addPermanentWidget(button)
        else:
            self.addWidget(button)
        self._cells.append(button)
        return button

    def clear_document(self) -> None:
        """Clear the document's cells if no document is open."""
        document = (self.place, self._dialect, self._file, self.problems, self._trust)
        for cell in (*document, self._tokens):
            self._told.discard(cell)
        self._fit()

    def set_place(self, source: SourceText, offset: int, selected: int = 0) -> None:
        """Show the position of the caret."""
        # By Qt's line ends: computing all lines of an edited text is not necessary.
        before, start = source.text.count("\n", 0, offset), source.text.rfind("\n", 0, offset)
        chosen = tr(" ({selected} selected)").format(selected=selected) if selected else ""
        self._say(
            self.place,
            tr("Ln {line}, Col {column}{chosen}").format(
                line=before + 1, column=offset - start, chosen=chosen
            ),
            tr("Go to a line"),
        )

    def set_document(self, document: PromptDocument) -> None:
        """Show the dialect and why it was chosen."""
        kind = tr(_DIALECTS[document.dialect])
        if not document.is_prompt:
            kind = tr("Python") if document.is_tool_file else tr("Experiment")
        if document.is_data_file:
            kind = tr("Data")
        if document.agent_file:
            kind = tr("Agent file")
        self._say(self._dialect, kind, document.dialect_reason)

    def set_file(self, encoding: str, newline: str, *, bom: bool) -> None:
        """Show encoding and line ends of the file."""
        ends = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}[newline]
        name = encoding.upper() + (tr(" with BOM") if bom else "")
        self._say(self._file, f"{name} · {ends}", tr("Not changed when the file is saved"))

    def set_problems(self, problems: Sequence[Problem]) -> None:
        """Show the number of problems."""
        counts = [
            sum(1 for problem in problems if problem.severity == severity)
            for severity in (Severity.ERROR, Severity.WARNING, Severity.HINT)
        ]
        self._problem_counts = (counts[0], counts[1], counts[2])
        self._show_problems()

    def set_trust(self, held: FolderTrust) -> None:
        """Show whether the file's folder is trusted; hidden if no trust is needed."""
        if held.is_trusted:
            text = tr("Trusted") if held.is_given else ""
            tip = tr("Click to stop trusting {folder}.")
            self._trust.setIcon(icon("shield-check", "muted"))
        else:
            text = tr("Restricted")
            tip = tr(
                "The folder is not trusted: its tools do not run, no variables are read, and its "
                "files are not sent. Click to trust {folder}."
            )
            if held.folder is None:
                tip = tr("Move the file to a folder of its own to trust it.")
            self._trust.setIcon(icon("triangle-alert", "warning"))
        self._say(self._trust, text, tip.format(folder=held.folder) if text else "")

    def offer_trust(self) -> None:
        """Request the menu for trust."""
        self.request_trust.emit(self._trust.mapToGlobal(QPoint(0, 0)))

    def set_tokens(self, text: str, detail: str = "", fullness: Fullness = "free") -> None:
        """Show the token count, with a warning if the context window is nearly or more than full.

        Args:
            text: the count.
            detail: its composition.
            fullness: remaining room for a reply.
        """
        tones = {"free": "", "close": "warning", "over": "error"}
        tone = tones[fullness]
        self._tokens.setIcon(icon("triangle-alert", tone) if tone else QIcon())
        self._say(self._tokens, text, detail)

    def set_speed(self, text: str, detail: str = "") -> None:
        """Show the speed of the model's last reply; the toolbar has its name."""
        self._say(self._speed, text, detail)

    def set_run(self, text: str, detail: str = "") -> None:
        """Show the run's state; empty if there is none."""
        self._run_text = (text, detail or text)
        self._say(self._run, text, detail)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show the window's actions for the status bar."""
        open_menu(self, event, ON_STATUS)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the cells: the run's text is elided; others that do not fit are hidden."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Distribute the width: elide the run's text first, then hide cells that seldom change."""
        text, tip = self._run_text
        metrics = self._run.fontMetrics()
        letter = metrics.averageCharWidth()
        whole = metrics.horizontalAdvance(text)
        least = min(whole, letter * _LEAST_OF_A_RUN)
        wanted = {}
        for cell in self._told - {self._run}:
            # Fixed, since Qt would lay out the whole window again at each change of the text.
            cell.setFixedSize(self._width_of(cell), cell.sizeHint().height())
            wanted[cell] = cell.minimumWidth() + _BESIDE
        frame = _BESIDE + self._width_of(self._run) - metrics.horizontalAdvance(self._run.text())
        for cell in self._yielding:
            if sum(wanted.values()) + frame + least <= self.width():
                break
            wanted.pop(cell, None)
        room = min(letter * _MOST_OF_A_RUN, self.width() - sum(wanted.values()) - frame)
        self._run.setText(metrics.elidedText(text, Qt.TextElideMode.ElideRight, room))
        self._run.setToolTip(tip)
        for cell in self._cells:
            cell.setVisible(cell in wanted or (cell is self._run and bool(text)))

    def _width_of(self, cell: QToolButton) -> int:
        """Return the width of a cell; one that is slightly wider than its text stays unchanged."""
        cell.ensurePolished()
        wanted, held = cell.sizeHint().width(), cell.minimumWidth()
        return held if wanted <= held < wanted + _SPARE else wanted

    def _show_problems(self) -> None:
        errors, warnings, hints = self._problem_counts
        if errors:
            self.problems.setIcon(icon("circle-x", "error"))
        elif warnings:
            self.problems.setIcon(icon("triangle-alert", "warning"))
        else:
            self.problems.setIcon(icon("circle-check", "success"))
        parts = [
            by_count(count, one, many)
            for count, one, many in (
                (errors, tr("1 error"), tr("{count} errors")),
                (warnings, tr("1 warning"), tr("{count} warnings")),
                (hints, tr("1 hint"), tr("{count} hints")),
            )
            if count
        ]
        self._say(self.problems, ", ".join(parts) or tr("No problems"), tr("Show the problems"))

    def _say(self, cell: QToolButton, text: str, tip: str) -> None:
        # Qt leaves two pixels between a tool button's icon and its text.
        words = f" {text}" if text and not cell.icon().isNull() else text
        cell.setToolTip(tip or text)
        if words == cell.text() and bool(text) == (cell in self._told):
            return
        cell.setText(words)
        if text:
            self._told.add(cell)
        else:
            self._told.discard(cell)
        if cell.isHidden() or cell is self._run or cell.minimumWidth() != self._width_of(cell):
            self._fit()
