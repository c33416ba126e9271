"""One cell: its answer beside the baseline's, the results of its assertions, and its actions."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence

from PySide6 import QtWidgets
from PySide6.QtCore import QSize, Qt, Signal

from studio.application.comparison import changed_words
from studio.application.experiments.asked_cell import sent_of
from studio.application.experiments.exports.cells import row_title
from studio.application.experiments.grid import answer_fields
from studio.application.words import tr
from studio.core.experiments.assertions.result import AssertionResult
from studio.core.experiments.results.cells import CellKey, CellOutcome, left_out_of
from studio.core.experiments.results.ratings import Rating
from studio.core.runs.codec import JournalError
from studio.core.text.amounts import duration, money
from studio.ui.experiments.rating import RatingBar
from studio.ui.parts.kit import (
    Drawing,
    ElidedLabel,
    FlowLayout,
    column_of,
    empty_layout,
    push_button,
    row_of,
    scroll_area,
)
from studio.ui.parts.text_views import ClosedText
from studio.ui.style.theme import SOFT_TINT, FollowsTheme, Theme, blend, paint_text, theme_in_use
from studio.viewmodels.experiments.result_answers import ShownCell

_WORDS = re.compile(r"\S+|\s+")
_MOST_DIFF = 4000
_LEAST_ANSWER = 64
"""Minimum height in pixels."""
_ICONS = {
    "passed": "circle-check",
    "failed": "circle-x",
    "error": "triangle-alert",
    "not_run": "circle-help",
}


class _Answer(ClosedText):
    """Text that uses the available room but requests little."""

    def sizeHint(self) -> QSize:
        """Return the size for a few lines."""
        return QSize(super().sizeHint().width(), _LEAST_ANSWER)

    def minimumSizeHint(self) -> QSize:
        """Return the size for a few lines."""
        return QSize(super().minimumSizeHint().width(), _LEAST_ANSWER)


class CellDetail(FollowsTheme, QtWidgets.QWidget):
    """Shows a cell and emits requests for its actions."""

    request_step = Signal(CellKey)
    request_run = Signal(CellKey)  # open the stored run
    request_edit = Signal(CellKey)  # open the prompt
    request_accept = Signal(CellKey)
    request_repeat = Signal(CellKey)  # show another repeat
    rated = Signal(CellKey, Rating)

    def __init__(self, *, is_low: bool = False) -> None:
        """Create it.

        Args:
            is_low: whether it is below the grid, with the checks beside the answer.
        """
        super().__init__()
        self._is_low = is_low
        self._cell: ShownCell | None = None
        self._compares = True
        self.title = QtWidgets.QLabel()
        self.facts = ElidedLabel() if is_low else QtWidgets.QLabel()
        paint_text(self.facts, "muted")
        self.tabs = QtWidgets.QTabBar(expanding=False, drawBase=False)
        self.answer = _Answer()
        self.checks = QtWidgets.QVBoxLayout()
        self._inner = QtWidgets.QWidget()
        self.compare_button = QtWidgets.QPushButton(tr("Against the baseline"))
        self.repeat_button = push_button(tr("Next repeat"), self._next_repeat)
        self.step_button = push_button(tr("Step through"), lambda: self.request_step.emit(self.key))
        self.run_button = push_button(tr("Open the run"), lambda: self.request_run.emit(self.key))
        self.edit_button = push_button(tr("Edit prompt"), lambda: self.request_edit.emit(self.key))
        self.accept_button = QtWidgets.QPushButton(tr("Accept answer"))
        self.rating = RatingBar()
        self._lay_out()
        self._connect()
        self.show_cell(None)
        self.follow_theme()

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        self.show_cell(self._cell)

    @property
    def key(self) -> CellKey | None:
        """Key of the shown cell."""
        return self._cell.key if self._cell is not None else None

    def show_cell(self, cell: ShownCell | None) -> None:
        """Show a cell; None shows instructions."""
        self._cell = cell
        empty_layout(self.checks)
        outcome = cell.outcome if cell is not None else None
        is_over = outcome is not None
        for button in (self.step_button, self.edit_button):
            button.setEnabled(cell is not None)
        self.run_button.setEnabled(cell is not None and cell.journal is not None)
        self.accept_button.setEnabled(is_over and not (outcome and outcome.error))
        self.repeat_button.setVisible(cell is not None and len(cell.repeats) > 1)
        self.compare_button.setVisible(cell is not None and cell.baseline is not None)
        self.answer.setVisible(cell is not None)
        self.tabs.setVisible(cell is not None)
        self.rating.setVisible(is_over and not (outcome and outcome.error))
        self.rating.show_rating(cell.rating if cell is not None else Rating())
        if cell is None:
            self.title.setText(tr("Choose a cell"))
            self._say(tr("Its answer, its assertions and its run are shown here."))
            return
        self.title.setText(
            tr("Row {row} · {variant}").format(row=cell.key.row, variant=cell.variant)
        )
        self._say(self._facts(cell))
        self._show_answer(cell)
        for result in outcome.results if outcome is not None else ():
            self._add_check(result)
        if outcome is not None and not outcome.error and not outcome.results:
            nothing = QtWidgets.QLabel(
                tr("Nothing is checked: the row has no assertions."), wordWrap=True
            )
            paint_text(nothing, "muted")
            self.checks.addWidget(nothing)
        self._inner.updateGeometry()  # otherwise lines keep their unwrapped height

    def _say(self, words: str) -> None:
        if isinstance(self.facts, ElidedLabel):
            self.facts.show_text(words)
        else:
            self.facts.setText(words)

    def _facts(self, cell: ShownCell) -> str:
        outcome = cell.outcome
        words = [] if self._is_low else [row_title(cell.row)]
        if not cell.is_planned:
            words.append(tr("the test is for other variants"))
        if len(cell.repeats) > 1:
            words.append(
                tr("repeat {number} of {count}").format(
                    number=cell.key.repeat, count=len(cell.repeats)
                )
            )
        if outcome is not None and not outcome.error:
            words.append(
                tr("1 step")
                if outcome.steps == 1
                else tr("{steps} steps").format(steps=outcome.steps)
            )
            words.append(duration(outcome.ms / 1000))
            tokens = outcome.input_tokens + outcome.output_tokens
            used = tr("1 token") if tokens == 1 else tr("{count} tokens")
            words.append(used.format(count=tokens))
            if outcome.cost:
                words.append(money(outcome.cost))
            if outcome.is_cached:
                words.append(tr("reused"))
            if names := ", ".join(left_out_of(outcome)):
                words.append(tr("without {names}: the server rejects it").format(names=names))
        return "  ·  ".join(words)

    def _show_answer(self, cell: ShownCell) -> None:
        outcome, theme = cell.outcome, theme_in_use()
        if self.tabs.currentIndex() > 0:
            self._show_request(cell, theme)
            return
        if outcome is None:
            waits = tr("Not run yet. Ctrl+F5 runs this cell only.")
            asked = waits if self._is_low else tr("Not run yet.")
            asked = asked if cell.is_planned else tr("Not planned.")
            self.answer.setPlainText(cell.coming or asked)
            return
        if outcome.error:
            again = tr("The next run repeats it.")
            self.answer.setPlainText(f"{outcome.error}\n\n{again}")
            return
        base = cell.baseline
        compared = base if base is not None and not base.error and self._compares else None
        fields = answer_fields(outcome.output)
        if fields[0][0]:
            before = dict(answer_fields(compared.output)) if compared is not None else None
            self.answer.setHtml(_table(fields, before, theme))
        elif compared is not None:
            self.answer.setHtml(_marked(compared.output, outcome.output, theme))
        else:
            self.answer.setHtml(_spanned(outcome, theme))

    def _show_request(self, cell: ShownCell, theme: Theme) -> None:
        """Show the stored messages or request body."""
        try:
            messages, body = sent_of(cell.journal) if cell.journal is not None else ((), "")
        except JournalError as error:
            messages, body = (), str(error)
        if not messages and not body:
            is_asked = cell.outcome is not None
            words = tr("The request was not saved.") if is_asked else tr("Not run yet.")
            self.answer.setPlainText(words)
        elif self.tabs.currentIndex() == 1:
            lines = (
                f"<p><b style='color:{theme.muted}'>{each.role}</b><br>{_escaped(each.text)}</p>"
                for each in messages
            )
            self.answer.setHtml("".join(lines))
        else:
            code = f"<pre style='white-space: pre-wrap'>{html.escape(body)}</pre>"
            self.answer.setHtml(code)

    def _add_check(self, result: AssertionResult, depth: int = 0) -> None:
        theme = theme_in_use()
        line = QtWidgets.QWidget()
        row = row_of(on=line, margins=(10 + 18 * depth, 6, 10, 6), spacing=12)
        tone = {"passed": "success", "failed": "error"}.get(result.state, "warning")
        words = QtWidgets.QLabel(
            f"{html.escape(result.label)}<br><span style='color:{theme.muted}'>"
            f"{html.escape(self._state_words(result))}</span>",
            wordWrap=True,
            textFormat=Qt.TextFormat.RichText,
        )
        words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row.addWidget(Drawing(_ICONS[result.state], 16, tone), 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(words, 1)
        self.checks.addWidget(line)
        line.show()
        for inner in result.nested:
            self._add_check(inner, depth + 1)

    def _state_words(self, result: AssertionResult) -> str:
        names = {"error": tr("could not be decided"), "not_run": tr("not run")}
        name = names.get(result.state)
        return f"{name}: {result.reason}" if name else result.reason

    def _lay_out(self) -> None:
        self.title.setProperty("title", True)
        self.title.setWordWrap(True)
        self.facts.setWordWrap(True)
        self.answer.setAccessibleName(tr("Answer"))
        self.answer.setOpenLinks(False)
        for name in (tr("Answer"), tr("Messages"), tr("Request")):
            self.tabs.addTab(name)
        self.tabs.setAccessibleName(tr("Answer, messages, request"))
        self.step_button.setToolTip(tr("Run this row with the debugger, step by step (F10)"))
        self.accept_button.setToolTip(
            tr("Save the answer in its row as the expected one; this can be undone")
        )
        self.compare_button.setCheckable(True)
        self.compare_button.setChecked(True)
        self.compare_button.setToolTip(tr("Mark the words that differ (D)"))
        if self._is_low:
            self._lay_low()
            return
        head = row_of((self.title, 1), self.repeat_button)
        over = row_of(self.tabs, 1, self.compare_button)
        column_of(self.checks, 1, on=self._inner, margins=0)
        self._inner.setAccessibleName(tr("Assertions"))
        actions = FlowLayout()
        for button in (self.step_button, self.run_button, self.edit_button, self.accept_button):
            actions.addWidget(button)
        whole = QtWidgets.QWidget()
        column_of(
            head,
            self.facts,
            over,
            (self.answer, 2),
            (self._inner, 3),
            self.rating,
            actions,
            on=whole,
            margins=(16, 12, 16, 12),
            spacing=8,
        )
        # As a whole: beside a run, there is too little room for stretchable parts.
        area = scroll_area(whole)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        column_of(area, on=self, margins=0)

    def _lay_low(self) -> None:
        """Arrange names and buttons in one line, with the answer and the checks side by side."""
        self.accept_button.setText(tr("Expect this"))
        self.compare_button.setText(tr("Against A"))
        self.facts.setWordWrap(False)
        self.title.setWordWrap(False)
        buttons = (self.repeat_button, self.compare_button, self.run_button, self.accept_button)
        head = row_of(self.title, self.tabs, (self.facts, 1), *buttons, self.step_button)
        column_of(self.checks, 1, on=self._inner, margins=0)
        area = scroll_area(self._inner)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        unseen = QtWidgets.QWidget(self, visible=False)
        for part in (self.edit_button, self.rating):
            part.setParent(unseen)
        body = row_of((self.answer, 2), (area, 1), spacing=12)
        column_of(head, (body, 1), on=self, margins=(0, 4, 0, 0), spacing=4)

    def _connect(self) -> None:
        self.accept_button.clicked.connect(lambda: self.request_accept.emit(self.key))
        self.rating.rated.connect(self._on_rated)
        self.compare_button.toggled.connect(self._on_compare)
        self.tabs.currentChanged.connect(lambda _at: self.show_cell(self._cell))

    def _on_rated(self, rating: Rating) -> None:
        if self._cell is not None:
            self.rated.emit(self._cell.key, rating)

    def _next_repeat(self) -> None:
        if self._cell is not None:
            repeats = self._cell.repeats
            self.request_repeat.emit(repeats[self._cell.key.repeat % len(repeats)])

    def _on_compare(self, on: bool) -> None:
        self._compares = on
        self.show_cell(self._cell)


def _table(
    fields: Sequence[tuple[str, str]], before: Mapping[str, str] | None, theme: Theme
) -> str:
    """Format an answer's fields, one per line, with the words that differ from another answer."""
    lines = []
    for name, value in fields:
        words = _escaped(value) if before is None else _marked(before.get(name, ""), value, theme)
        head = f"<td style='color:{theme.muted}'>{_escaped(name)}&nbsp;&nbsp;</td>"
        lines.append(f"<tr>{head}<td>{words}</td></tr>")
    return f"<table cellspacing='0' cellpadding='1'>{''.join(lines)}</table>"


def _spanned(outcome: CellOutcome, theme: Theme) -> str:
    """Format the answer with the ranges that assertions refer to highlighted."""
    text = outcome.output
    spans = sorted(
        (each.span.start, each.span.end, each.state)
        for each in outcome.results
        if each.span is not None and len(each.span) < len(text)
    )
    made, at = [], 0
    for start, end, state in spans:
        if start < at or start >= end:
            continue
        ground = blend(theme.success if state == "passed" else theme.error, theme.surface, 0.2)
        made.append(_escaped(text[at:start]))
        made.append(f"<span style='background:{ground}'>{_escaped(text[start:end])}</span>")
        at = end
    return "".join([*made, _escaped(text[at:])])


def _marked(old: str, new: str, theme: Theme) -> str:
    """Format the new text with added words highlighted and removed words struck out."""
    if len(old) > _MOST_DIFF or len(new) > _MOST_DIFF:
        return _escaped(new)
    return "".join(_pieces(old, new, theme))


def _pieces(old: str, new: str, theme: Theme) -> Iterator[str]:
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    come = blend(theme.accent, theme.surface, SOFT_TINT)
    for was, now, changed in changed_words(before, after):
        if not changed:
            yield _escaped(now)
            continue
        if was:
            yield f"<span style='color:{theme.muted}'><s>{_escaped(was)}</s></span> "
        if now:
            yield f"<span style='background:{come}'><u>{_escaped(now)}</u></span>"


def _escaped(text: str) -> str:
    return html.escape(text).replace("\n", "<br>")
