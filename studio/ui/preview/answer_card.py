"""The answer of a run, below the sent messages."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QElapsedTimer, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from studio.application.preview.variables import CUT_CHARACTERS, TextRun
from studio.application.run.answer import OutputRow, RunAnswer, answer_of_run
from studio.application.run.displayed_run import RunView
from studio.application.run.inspector.reply import markdown_parts
from studio.application.run.offers.offer import Offer
from studio.application.words import tr
from studio.core.text.amounts import duration
from studio.ui.parts import kit
from studio.ui.parts.fields import ChatLine
from studio.ui.preview.cards.card import paint_card
from studio.ui.preview.cards.text_body import TextBody
from studio.ui.style.theme import (
    FollowsTheme,
    fixed_font,
    icon,
    paint_text,
    role_color,
    theme_in_use,
)

LEAST_HEIGHT = 120
"""Minimum height of a card with an answer, in pixels."""

_EMPTY_HEIGHT = 60
_ROW, _FIGURES = 28, 36
"""Minimum height of a field, and height of the line of figures, in pixels."""
_NAME_WIDTH = 64
_MARGINS = (12, 8, 12, 8)
_TICK_MS = 100


class AnswerCard(FollowsTheme, QWidget):
    """Card with model, answer, check of the outputs, and price; *Details* opens the run's steps."""

    request_run = Signal(str)  # id of another run of the prompt to show
    offer_taken = Signal(Offer)
    height_changed = Signal()  # the height of its content has changed

    def __init__(self) -> None:
        super().__init__()
        self.answer = RunAnswer()
        """The shown answer."""
        self._view = RunView()
        self._so_far = ""
        self._runs: tuple[str, ...] = ()
        self._parts: list[str] = []
        self.older = kit.Chip("")
        self.before = kit.icon_button("chevron-left", tr("Previous run"))
        self.after = kit.icon_button("chevron-right", tr("Next run"))
        self.copy = kit.icon_button("copy", tr("Copy the answer"), self._copy)
        self.steps = QPushButton(flat=True)
        self.stop = QPushButton(icon("square"), tr("Stop"))
        self.details = QPushButton(icon("bug"), tr("Details"))
        self.keep = QPushButton(icon("plus"), tr("Save as case"))
        self.reply = QPushButton(icon("corner-down-right"), tr("Reply"), flat=True)
        self.line = ChatLine()
        """The field for the user's next message."""
        self._role, self._model, self._place = QLabel(), kit.ElidedLabel(), QLabel()
        self._empty = QLabel()
        self._problem = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self._figures, self._verdict = QLabel(wordWrap=True), QLabel()
        self._rows, self._texts, self._flow = QGridLayout(), QVBoxLayout(), kit.FlowLayout()
        self.offers: list[QPushButton] = []
        """Buttons for the problem at which the run paused."""
        self._bodies: list[TextBody] = []
        self._fields: list[tuple[QLabel, QLabel, kit.Drawing]] = []
        self._body = QWidget()
        self._scroll = kit.scroll_area()
        self._since = QElapsedTimer()
        self._clock = QTimer(self, interval=_TICK_MS)
        self._arrange()
        self._connect()
        self.follow_theme()

    # -- display --------------------------------------------------------------------------------

    def show_view(self, view: RunView) -> None:
        """Show the answer of a run."""
        before, self._view = self._view, view
        if view.state is not before.state or view.is_starting or view.offers != before.offers:
            self._so_far = ""
            self._refresh()

    def show_streamed(self, text: str) -> None:
        """Show the text of the current reply so far."""
        self._so_far = text
        self._refresh()

    def show_runs(self, runs: Sequence[str]) -> None:
        """Set the ids of the prompt's stored runs, oldest first."""
        self._runs = tuple(runs)
        self._show_place()

    def show_compared(self, is_older: bool, has_other_inputs: bool) -> None:
        """Show whether the prompt or its input values have changed since the run."""
        self.older.setText(tr("for an older text") if is_older else tr("for other inputs"))
        self.older.setVisible(is_older or has_other_inputs)

    def height_within(self, most: int) -> int:
        """Return the height of the content in pixels, at most a maximum; the rest scrolls."""
        if self.answer.phase == "none":
            return _EMPTY_HEIGHT
        width = self._scroll.viewport().width()
        content = self._content.totalSizeHint().height()
        if self._content.hasHeightForWidth():
            content = self._content.totalHeightForWidth(width)
        wanted = max(LEAST_HEIGHT, self.height() - self._scroll.height() + content)
        # Not "as needed": a bar makes lines narrower and the text higher, which needs the bar.
        policy = Qt.ScrollBarPolicy
        bar = policy.ScrollBarAlwaysOff if wanted <= most else policy.ScrollBarAsNeeded
        self._scroll.setVerticalScrollBarPolicy(bar)
        return min(wanted, most)

    def showEvent(self, event: QShowEvent) -> None:
        """Show what has arrived while the card was hidden."""
        super().showEvent(event)
        self._refresh()

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        for label in (self._model, self._place, self._figures, self._empty):
            paint_text(label, "muted")
        self.older.set_color("warning")
        self._parts.clear()
        self._show(self.answer)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint a card with the role's stripe, red after a failure; dashed before the first run."""
        theme, painter = theme_in_use(), QPainter(self)
        box = self.rect().adjusted(_MARGINS[0], _MARGINS[1], -_MARGINS[2], -_MARGINS[3])
        if self.answer.phase != "none":
            is_failed = self.answer.phase == "failed"
            stripe = theme.error if is_failed else role_color(theme, "assistant")
            paint_card(painter, box, stripe)
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(theme.border), 1.0, Qt.PenStyle.DashLine))
        painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)

    # -- internals ------------------------------------------------------------------------------

    def _refresh(self) -> None:
        if self.isVisible():
            self._show(answer_of_run(self._view, self._so_far))

    def _show(self, answer: RunAnswer) -> None:
        is_other = answer.run != self.answer.run or answer.phase != self.answer.phase
        self.answer = answer
        is_there, is_going = answer.phase != "none", answer.phase == "streaming"
        bar = self._scroll.verticalScrollBar()
        follows = is_going and bar.value() >= bar.maximum()
        self._empty.setHidden(is_there)
        self._card.setVisible(is_there)
        self._model.show_text(answer.model)
        self._show_rows(answer.rows)
        text = "" if answer.rows else answer.text
        self._show_parts(list(markdown_parts(text[:CUT_CHARACTERS])))
        self.steps.setText(self._more(text) or answer.steps)
        self.steps.setVisible(bool(self.steps.text()))
        self._problem.setText(answer.problem)
        self._problem.setVisible(bool(answer.problem))
        is_failed = answer.phase == "failed"
        paint_text(self._problem, "error" if is_failed else "muted")
        self._role.setText(tr("failed") if is_failed else tr("answer"))
        tone = theme_in_use().error if is_failed else role_color(theme_in_use(), "assistant")
        paint_text(self._role, tone)
        self._figures.setText(answer.figures)
        self._verdict.setText(answer.verdict)
        paint_text(self._verdict, "success" if answer.fits else "error")
        self.stop.setVisible(is_going)
        self._foot.setVisible(is_going or bool(answer.figures))
        self._buttons.setHidden(is_going)
        self.reply.setVisible(answer.can_reply)
        self.copy.setVisible(bool(answer.text))
        if is_other:
            self.line.hide()
            self._show_offers(answer.offers)
        self._show_place()
        if is_going and not self._clock.isActive():
            self._since.start()
            self._clock.start()
            self._tick()
        elif not is_going:
            self._clock.stop()
        if follows:
            bar.setValue(bar.maximum())
        self.update()
        self.height_changed.emit()

    def _more(self, text: str) -> str:
        """Describe how much of a very long answer is only in the details."""
        left = len(text) - CUT_CHARACTERS
        return tr("{count:,} more characters").format(count=left) if left > 0 else ""

    def _show_parts(self, parts: Sequence[str]) -> None:
        """Update the text; while it is streamed, only the last part is laid out again."""
        del self._parts[len(parts) :]
        for gone in self._bodies[len(parts) :]:
            gone.hide()
            gone.deleteLater()
        del self._bodies[len(parts) :]
        for number, part in enumerate(parts):
            if number == len(self._bodies):
                body = kit.named(TextBody(), tr("Answer"))
                self._bodies.append(body)
                self._texts.addWidget(body)
                body.show()
            if self._parts[number : number + 1] != [part]:
                self._parts[number:] = [part]
                self._bodies[number].show_runs((TextRun(part),), {}, theme_in_use(), raw=False)

    def _show_rows(self, rows: Sequence[OutputRow]) -> None:
        """Update the fields; while they are streamed, only the last one changes."""
        if len(rows) < len(self._fields):
            kit.empty_layout(self._rows)
            self._fields.clear()
        for number, row in enumerate(rows):
            if number == len(self._fields):
                self._add_field(number)
            name, value, mark = self._fields[number]
            name.setText(row.name)
            value.setText("\n".join(filter(None, (row.text, row.problem))))
            paint_text(value, "error" if row.problem else "text")
            mark.draw("circle-x" if row.problem else "circle-check", _tone(row))
            mark.setVisible(row.is_whole)
            words = row.problem or (tr("fits") if row.is_whole else "")
            value.setAccessibleName(": ".join(filter(None, (row.name, row.text, words))))

    def _add_field(self, number: int) -> None:
        name = kit.toned_label("muted", is_plain=True)
        name.setFont(fixed_font(self.font()))
        name.setMinimumWidth(_NAME_WIDTH)
        value = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        value.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        parts = (name, value, kit.Drawing("circle-check", 16, "success"))
        self._fields.append(parts)
        for column, part in enumerate(parts):
            self._rows.addWidget(part, number, column, Qt.AlignmentFlag.AlignTop)
            part.show()
        self._rows.setRowMinimumHeight(number, _ROW)

    def _show_offers(self, offers: Sequence[Offer]) -> None:
        for gone in self.offers:
            gone.deleteLater()
        self.offers = [QPushButton(offer.label, self._buttons) for offer in offers]
        for offer, button in zip(offers, self.offers, strict=True):
            button.setToolTip(offer.tip)
            button.clicked.connect(lambda *_, offer=offer: self.offer_taken.emit(offer))
            button.show()
        empty = self._flow.takeAt
        while empty(0) is not None:
            pass
        for each in (*self.offers, self.details, self.keep, self.reply):
            self._flow.addWidget(each)
        self.keep.setHidden(bool(offers) or self.answer.phase == "failed")

    def _show_place(self) -> None:
        """Show which run of the prompt is shown; without one, link to the last."""
        run, count = self.answer.run, len(self._runs)
        link = tr("Show the last run of this prompt") if self._runs else ""
        words = tr("The answer appears here. Run: F5")
        self._empty.setText(f'{words}  <a href="last">{link}</a>' if link else words)
        at = self._runs.index(run) if run in self._runs else count
        is_going = self.answer.phase == "streaming"
        words = tr("run {number} of {count}").format(number=at + 1, count=count)
        self._place.setText(words if at < count else "")
        self.before.setEnabled(at > 0 and not is_going)
        self.after.setEnabled(at + 1 < count and not is_going)
        for part in (self.before, self._place, self.after):
            part.setHidden(count < 2 or is_going)

    def _go(self, by: int, *_: object) -> None:
        run = self.answer.run
        at = self._runs.index(run) if run in self._runs else len(self._runs)
        if 0 <= at + by < len(self._runs):
            self.request_run.emit(self._runs[at + by])

    def _tick(self) -> None:
        """Update the elapsed time and the amount received."""
        spent = duration(self._since.elapsed() / 1000)
        came = tr("{count:,} characters").format(count=len(self._so_far)) if self._so_far else ""
        words = came or self._view.sentence
        self._figures.setText(" · ".join((spent, words)))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.answer.text)

    def _arrange(self) -> None:
        self._role.setProperty("title", True)
        for button in (self.before, self.after, self.copy):
            button.setAutoRaise(True)
        head = kit.row_of(
            self._role,
            (self._model, 1),
            self.older,
            self.before,
            self._place,
            self.after,
            self.copy,
            margins=(16, 4, 8, 0),
            spacing=4,
        )
        self._rows.setColumnStretch(1, 1)
        self._rows.setHorizontalSpacing(8)
        self._rows.setVerticalSpacing(2)
        self._texts.setSpacing(0)
        self._content = kit.column_of(
            self._problem,
            self._rows,
            self._texts,
            kit.row_of(self.steps, 1),
            self.line,
            1,
            on=self._body,
            margins=(16, 4, 12, 4),
            spacing=4,
        )
        self._scroll.setWidget(self._body)
        for ground in (self._scroll.viewport(), self._body):
            ground.setAutoFillBackground(False)  # the card is painted behind it
        self._foot, self._buttons = QWidget(), QWidget()
        self._foot.setMinimumHeight(_FIGURES)
        kit.row_of(
            (self._figures, 1),
            self._verdict,
            self.stop,
            on=self._foot,
            margins=(16, 0, 8, 0),
            spacing=16,
        )
        kit.column_of(self._flow, on=self._buttons, margins=(12, 4, 8, 8))
        self._show_offers(())
        self._card = QWidget()
        kit.column_of(
            head,
            (self._scroll, 1),
            kit.Separator(),
            self._foot,
            self._buttons,
            on=self._card,
            margins=(0, 0, 0, 0),
            spacing=0,
        )
        kit.column_of(self._empty, (self._card, 1), on=self, margins=_MARGINS, spacing=0)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.older.hide()
        self.older.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.line.hide()
        self.steps.setAccessibleName(tr("Details of the run"))
        self.setAccessibleName(tr("Answer"))

    def _connect(self) -> None:
        self._clock.timeout.connect(self._tick)
        self.before.clicked.connect(partial(self._go, -1))
        self.after.clicked.connect(partial(self._go, 1))
        self._empty.linkActivated.connect(partial(self._go, -1))
        self.steps.clicked.connect(self.details.click)
        self.reply.clicked.connect(self._open_line)
        # A part with its final width has another height than at its creation.
        self._scroll.verticalScrollBar().rangeChanged.connect(self._on_range)

    def _on_range(self) -> None:
        self.height_changed.emit()

    def _open_line(self) -> None:
        self.line.show()
        self.line.setFocus()
        self.height_changed.emit()


def _tone(row: OutputRow) -> str:
    return "error" if row.problem else "success"
