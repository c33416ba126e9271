"""How far a run is and how it ended, in words for window, terminal and desktop."""

from __future__ import annotations

import math

from studio.application.experiments.experiment_report import ExperimentReport
from studio.application.experiments.run.spending import ExperimentProgress
from studio.application.words import tr
from studio.core.text.amounts import duration, money

_MINUTE, _HOUR = 60, 3600


def progress_line(found: ExperimentProgress) -> str:
    """How far a run is, in one line: cells, rate, cost so far and at the end, time left.

    Before it asks: how far the plan is.
    """
    if found.worked_out is not None:
        if not found.total:
            words = tr("1 row is read") if found.worked_out == 1 else tr("{count} rows are read")
            return words.format(count=f"{found.worked_out:,}")
        words = tr("{count} of {total} requests are worked out")
        if found.total == 1:
            words = tr("{count} of 1 request is worked out")
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
    """A number in two figures, or all before the point; never as a power of ten."""
    digits = max(0, 1 - math.floor(math.log10(abs(value)))) if value else 0
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if digits else text


def ended_words(report: ExperimentReport) -> tuple[str, str]:
    """Head and text of what a desktop is told when a run has ended."""
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
