"""The progress, rate and spending of a run, and its budget.

Also estimates the end of a run from the rate of finished cells.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from studio.application.experiments.report import ExperimentReport
from studio.application.words import tr
from studio.core.experiments.results.cells import CellOutcome, CellState, VariantTotal
from studio.core.experiments.values import EvaluateOptions, ExperimentBudget
from studio.core.text.amounts import duration, money

_SECONDS = 60.0
"""Time span of the rate, in seconds; cached cells finish at once and would distort it."""

_APART = 0.5
_FEWEST = 0.2


class Pace:
    """The times of the finished cells in the last minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start without any measurement."""
        self._clock = clock
        self._seen: deque[tuple[float, int]] = deque()
        self._last = (0.0, 0)

    def note(self, over: int) -> None:
        """Record the number of finished cells."""
        now = self._clock()
        self._last = (now, over)
        if not self._seen or now - self._seen[-1][0] >= _APART:
            self._seen.append((now, over))
        while len(self._seen) > 2 and now - self._seen[1][0] > _SECONDS:
            self._seen.popleft()

    @property
    def rate(self) -> float:
        """Cells per second; 0 if unknown."""
        if not self._seen:
            return 0.0
        began, before = self._seen[0]
        seconds = max(self._last[0], self._clock()) - began
        return (self._last[1] - before) / seconds if seconds >= _FEWEST else 0.0


@dataclass(frozen=True, slots=True)
class ExperimentProgress:
    """The progress of a run."""

    total: int
    """Number of cells of the result."""

    over: int
    """Number of finished cells."""

    errors: int
    """Number of finished cells without an answer."""

    cached: int
    """Number of finished cells with a reused answer."""

    cost: float
    """Cost so far, in US dollars."""

    tokens: int
    """Tokens so far."""

    seconds: float
    """Seconds since the start."""

    rate: float = 0.0
    """Current rate in cells per second; 0 if unknown."""

    cost_at_end: float | None = None
    """Estimated total cost in US dollars; None if unknown."""

    worked_out: int | None = None
    """Number of prepared requests before the first is sent; None afterwards. If the total is still
    0, number of rows read.
    """

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds to the end; None if unknown."""
        return (self.total - self.over) / self.rate if self.rate else None


class ExperimentSpending:
    """A count of finished cells that reports when a budget is used up."""

    def __init__(self, total: int, budget: ExperimentBudget, options: EvaluateOptions) -> None:
        """Start without any spending."""
        self._total, self._budget, self._options = total, budget, options
        self._started = time.monotonic()
        self._over = self._errors = self._cached = self._tokens = 0
        self._cost = self._dearest = self._usual_cost = self._usual_tokens = 0.0
        self._to_send = self._asked = 0
        self._asked_cost = 0.0
        self._pace = Pace()
        self._worked_out: int | None = 0

    def expect(self, tokens: float, cost: float, count: int) -> None:
        """Set the expected use of a cell and the number of cells that will be asked."""
        self._usual_tokens, self._usual_cost, self._to_send = tokens, cost, count

    def work_out(self, cells: int) -> None:
        """Set the number of prepared requests, before the first is sent."""
        self._worked_out = cells

    def start(self, before: Iterable[VariantTotal]) -> None:
        """Start the clock, with the cells that are finished already."""
        totals = list(before)
        self._worked_out = None
        self._started = time.monotonic()
        self._over = sum(each.done + each.errors for each in totals)
        self._errors = sum(each.errors for each in totals)
        self._cost = sum(each.cost for each in totals)
        self._tokens = sum(each.tokens for each in totals)
        self._pace.note(self._over)

    def count(self, outcome: CellOutcome) -> None:
        """Count a finished cell."""
        self._over += 1
        self._errors += outcome.state is CellState.ERROR
        self._cached += outcome.is_cached
        self._pace.note(self._over)
        if not outcome.is_cached:
            self._asked += 1
            self._asked_cost += outcome.cost or 0.0
            self._cost += outcome.cost or 0.0
            self._dearest = max(self._dearest, outcome.cost or 0.0)
            self._tokens += outcome.input_tokens + outcome.output_tokens

    @property
    def progress(self) -> ExperimentProgress:
        """The current progress."""
        return ExperimentProgress(
            self._total,
            self._over,
            self._errors,
            self._cached,
            self._cost,
            self._tokens,
            time.monotonic() - self._started,
            self._pace.rate,
            self._cost_at_end,
            self._worked_out,
        )

    @property
    def _cost_at_end(self) -> float | None:
        """The cost so far plus the average cost of the remaining cells."""
        each = self._asked_cost / self._asked if self._asked else self._usual_cost
        left = min(max(0, self._to_send - self._asked), self._total - self._over)
        return self._cost + left * each if each or self._cost else None

    @property
    def used_up(self) -> str:
        """The budget that is used up, in a sentence; empty for none."""
        budget = self._budget
        allowed = [each for each in (budget.minutes, self._options.minutes) if each is not None]
        minutes = (time.monotonic() - self._started) / 60
        if budget.cost is not None and self._cost >= budget.cost:
            return tr("The budget of {amount} is used up.").format(amount=money(budget.cost))
        if budget.tokens is not None and self._tokens >= budget.tokens:
            return tr("The budget of {count:,} tokens is used up.").format(count=budget.tokens)
        if allowed and minutes >= min(allowed):
            words = tr("The time limit of {minutes:g} minutes has been reached.")
            if min(allowed) == 1:
                words = tr("The time limit of 1 minute is reached.")
            return words.format(minutes=min(allowed))
        return ""

    def may_begin(self, under_way: int) -> bool:
        """Return whether the budget allows one more cell, if running ones have the highest cost."""
        budget = self._budget
        if not under_way:
            return True
        asked = max(1, self._over - self._cached)
        tokens = max(self._tokens / asked, self._usual_tokens)
        cost = max(self._dearest, self._usual_cost)
        if budget.tokens is not None and self._tokens + tokens * under_way >= budget.tokens:
            return False
        return budget.cost is None or self._cost + cost * under_way < budget.cost


# The progress and end of a run as text for window, terminal and desktop.

_MINUTE, _HOUR = 60, 3600


def progress_line(found: ExperimentProgress) -> str:
    """Return the progress on one line: cells, rate, cost so far and at the end, time left.

    Before the first request it shows the progress of preparation.
    """
    if found.worked_out is not None:
        if not found.total:
            words = tr("1 row is read") if found.worked_out == 1 else tr("{count} rows are read")
            return words.format(count=f"{found.worked_out:,}")
        words = tr("{count} of {total} requests are prepared")
        if found.total == 1:
            words = tr("{count} of 1 request is prepared")
        return words.format(count=f"{found.worked_out:,}", total=f"{found.total:,}")
    words = tr("{over} of 1 cell") if found.total == 1 else tr("{over} of {total} cells")
    parts = [words.format(over=found.over, total=found.total)]
    if found.errors:
        parts.append(tr("{count} without an answer").format(count=found.errors))
    if found.rate:
        parts.append(tr("{rate} a second").format(rate=short_number(found.rate)))
    if found.cost:
        at_end = found.cost_at_end
        words = money(found.cost)
        if at_end is not None and found.over < found.total:
            words = tr("{cost} of about {whole}").format(cost=words, whole=money(at_end))
        parts.append(words)
    left = found.seconds_left
    if left and found.over < found.total:
        parts.append(tr("{time} left").format(time=duration(max(1, round(left)))))
    return " · ".join(parts)


def short_number(value: float) -> str:
    """Return a number with two digits, or all before the point; never with an exponent."""
    digits = max(0, 1 - math.floor(math.log10(abs(value)))) if value else 0
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if digits else text


def ended_words(report: ExperimentReport) -> tuple[str, str]:
    """Return title and text of the desktop notification for a finished run."""
    name, state = report.head.name, report.head.state
    match state:
        case "done":
            head = tr("{name}: the experiment has ended").format(name=name)
        case "paused":
            head = tr("{name}: the experiment is paused").format(name=name)
        case _:
            head = tr("{name}: the experiment was stopped").format(name=name)
    cost = sum(each.total.cost for each in report.variants)
    spent = f" {money(cost)}" if cost else ""
    words = tr(" {count} cells have no answer.")
    if report.errors == 1:
        words = tr(" 1 cell has no answer.")
    errors = words.format(count=report.errors)
    return head, f"{report.headline}{errors if report.errors else ''}{spent}"
