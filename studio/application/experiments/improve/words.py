"""What a search found, in words, as a diff, and as a chart of where its texts come from."""

from __future__ import annotations

from collections.abc import Iterator

from studio.application.experiments.charts import ChartFigure, ChartPoint
from studio.application.experiments.experiment_report import percent
from studio.application.experiments.improve.values import (
    Candidate,
    Improvement,
    ImproveProgress,
)
from studio.application.words import tr
from studio.core.experiments.statistics import shown_p, wilson
from studio.core.text.amounts import money
from studio.core.text.diff import unified_diff

_CONTEXT = 2


def improvement_diff(found: Improvement) -> list[str]:
    """The lines of a unified diff of the section, without file names."""
    return section_diff(found.before, found.after)


def section_diff(before: str, after: str) -> list[str]:
    """The same for any two texts of a section."""
    return unified_diff(f"{before}\n", f"{after}\n", context=_CONTEXT).splitlines()


def improvement_sentences(found: Improvement) -> Iterator[str]:
    """What came of it, plain: the unseen rows first."""
    learn, choose, decide = found.rows
    if not found.found:
        yield tr("No text was better than the section as it is.")
    elif found.report is None or not found.report.is_whole:
        yield tr(
            "A text was better on the rows that choose, but the unseen rows were not all "
            "asked: nothing is proven."
        )
    else:
        yield _unseen(found)
        yield from (each for each in found.report.sentences if each != found.report.headline)
    words = tr("{learn} rows to learn from, {choose} to choose by, {decide} unseen until the end.")
    if learn == 1:
        words = tr("1 row to learn from, {choose} to choose by, {decide} unseen until the end.")
    yield words.format(learn=learn, choose=choose, decide=decide)
    proposed = len(found.candidates) - 1
    kept = sum(each.state == "kept" for each in found.candidates)
    refused = sum(each.state == "refused" for each in found.candidates)
    words = tr(
        "{proposed} texts were proposed: {kept} scored, {refused} refused before they were sent."
    )
    if proposed == 1:
        words = tr("1 text was proposed: {kept} scored, {refused} refused before it was sent.")
    yield words.format(proposed=proposed, kept=kept, refused=refused)
    cost = tr("cost not known") if found.cost is None else money(found.cost)
    words = tr("{calls} cells asked, {tokens:,} tokens, {cost}.")
    if found.calls == 1:
        words = tr("1 cell asked, {tokens:,} tokens, {cost}.")
    yield words.format(calls=found.calls, tokens=found.tokens, cost=cost)
    if found.ended:
        yield found.ended


def _unseen(found: Improvement) -> str:
    """Rows won and lost on the unseen rows, with the exact p-value."""
    report = found.report
    assert report is not None
    compared = next(each for each in report.variants if each.comparison is not None)
    comparison = compared.comparison
    assert comparison is not None
    low, high = wilson(comparison.passed, comparison.rows)
    words = tr(
        "On {rows} unseen rows: {after} pass ({low} to {high}), {before} before; {won} won, "
        "{lost} lost, {p}: {verdict}"
    )
    if comparison.rows == 1:
        words = tr(
            "On 1 unseen row: {after} pass ({low} to {high}), {before} before; {won} won, "
            "{lost} lost, {p}: {verdict}"
        )
    clear, unclear = tr("unlikely to be chance."), tr("this cannot be distinguished from chance.")
    return words.format(
        rows=comparison.rows,
        after=comparison.passed,
        before=comparison.baseline_passed,
        low=percent(low),
        high=percent(high),
        won=len(comparison.won),
        lost=len(comparison.lost),
        p=shown_p(comparison.p_value),
        verdict=clear if comparison.is_clear else unclear,
    )


def candidate_words(each: Candidate) -> str:
    """A text of the search in one line."""
    match each.state:
        case "start":
            words = tr("as it is")
        case "kept":
            words = tr("scored")
        case "dropped":
            words = tr("dropped")
        case "refused":
            words = tr("refused")
    parent = "" if each.parent is None else tr(" from #{parent}").format(parent=each.parent)
    score = "" if each.score is None else f", {percent(each.score)}"
    reason = f" ({each.reason})" if each.reason else ""
    return f"#{each.number}{parent}: {words}{score}{reason}"


def lineage_figure(found: Improvement) -> ChartFigure:
    """The texts in the order of their making, each joined with the one that it was made of.

    A text that was never scored has no height of its own: it is not among them.
    """
    by_number = {each.number: each for each in found.candidates}
    points: list[ChartPoint] = []
    for each in found.candidates:
        if each.score is None:
            continue
        parent = by_number.get(each.parent) if each.parent is not None else None
        name = f"#{each.number}"
        words = candidate_words(each)
        is_muted = each.text != found.after
        if parent is not None and parent.score is not None:
            points.append(ChartPoint(name, float(parent.number), parent.score, "", is_muted))
        points.append(ChartPoint(name, float(each.number), each.score, words, is_muted))
    most = max(1.0, float(len(found.candidates) - 1))
    title = tr("Mean score on the rows that choose, text by text")
    return ChartFigure(title, points=tuple(points), most=most, unit="#")


def progress_words(found: ImproveProgress) -> str:
    """How far a search is, in one line."""
    words = tr("texts {proposals} of {most} · cells {calls} · tokens {tokens:,}").format(
        proposals=found.proposals, most=found.most, calls=found.calls, tokens=found.tokens
    )
    if found.cost:
        words += f" · {money(found.cost)}"
    if found.best is not None:
        words += tr(" · best {score}").format(score=percent(found.best))
    return words + (tr(" · asking the unseen rows") if found.is_deciding else "")
