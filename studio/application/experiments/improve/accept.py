"""Turn a proposed text into a variant of the experiment or into an edit of the prompt."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from studio.application.experiments.charts import ChartFigure, ChartPoint
from studio.application.experiments.generate import with_item
from studio.application.experiments.improve.candidates import section_text
from studio.application.experiments.plan import ExperimentPlan
from studio.application.experiments.planned_variants import PlannedVariant
from studio.application.experiments.prompts import ExperimentError, section_edit
from studio.application.experiments.providers import unpriced
from studio.application.experiments.report import ExperimentReport, percent
from studio.application.words import tr
from studio.core.experiments.file.read import read_experiment
from studio.core.experiments.results.cells import CellOutcome, CellState
from studio.core.experiments.results.comparison import shown_p, wilson
from studio.core.experiments.values import ExperimentRow
from studio.core.models.choice import ModelChoice
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.yaml.reader import read_yaml, write_yaml
from studio.core.text.amounts import money
from studio.core.text.diff import unified_diff
from studio.core.text.naming import free_name
from studio.core.text.source import TextEdit
from studio.core.text.values import JsonDict

CandidateState: TypeAlias = Literal["start", "kept", "dropped", "refused"]
"""State of a text: the prompt's own, kept on the choosing rows, dropped because it was no better
on some rows, or refused before it was sent."""


MOST_PROPOSALS = 1_000
"""Texts that are proposed in one search at most."""


class ImproveError(Exception):
    """The reason why a section cannot be improved; a sentence."""


@dataclass(frozen=True, slots=True)
class ImproveChoices:
    """Options of a search."""

    section: str
    """Which section is written anew: a role, `role#2`, or a heading."""

    cost: float | None = None
    """US dollars at most, for everything."""

    tokens: int | None = None
    """Tokens at most, for everything."""

    calls: int | None = None
    """Cells that are asked at most; requests of the proposer do not count."""

    proposals: int = 12
    """Texts at most that are proposed."""

    seed: int = 1
    """Of the draw of rows and of the search."""

    wish: str = ""
    """Wish of the user for the section, in words for the proposer."""

    @property
    def is_bounded(self) -> bool:
        """Whether the user has set a budget."""
        return any(each is not None for each in (self.cost, self.tokens, self.calls))


@dataclass(frozen=True, slots=True)
class Candidate:
    """One text of the section, with where it comes from."""

    number: int
    """From 0, which is the prompt's own."""

    parent: int | None
    """The one that it was made of; None for the prompt's own."""

    text: str
    """The section."""

    state: CandidateState
    """State of the text."""

    score: float | None = None
    """Mean score on the rows that choose; None where it was not scored there."""

    reason: str = ""
    """Reason why it was refused or dropped."""


@dataclass(frozen=True, slots=True)
class Spending:
    """Tokens, calls and money used so far."""

    calls: int = 0
    """Cells that were asked."""

    tokens: int = 0
    """Tokens of everything that is counted."""

    cost: float | None = 0.0
    """US dollars; None where a price is not known."""

    def with_cell(self, outcome: CellOutcome, *, is_remote: bool) -> Spending:
        """Return the spending with that of one more cell."""
        if outcome.is_cached:
            return self
        spent = outcome.cost if is_remote or outcome.cost else 0.0
        if outcome.state is CellState.ERROR:
            spent = spent or 0.0
        return Spending(
            self.calls + 1,
            self.tokens + outcome.input_tokens + outcome.output_tokens,
            self.cost + spent if self.cost is not None and spent is not None else None,
        )


@dataclass(frozen=True, slots=True)
class ImproveProgress:
    """The progress of a search."""

    proposals: int
    """Texts that were proposed."""

    most: int
    """Texts at most."""

    spent: Spending
    """Spending so far, the proposer's included."""

    best: float | None
    """The best score so far on the rows that choose."""

    is_deciding: bool = False
    """Whether the unseen rows are being asked."""


@dataclass(frozen=True)
class Improvement:
    """The outcome of a search."""

    section: str
    """Which section."""

    prompt: str
    """Path of the prompt's file."""

    before: str
    """Its text as it is."""

    after: str
    """The best text; the same where none was better."""

    candidates: tuple[Candidate, ...]
    """All texts in the order in which they were proposed, the prompt's own first."""

    rows: tuple[int, int, int]
    """Numbers of rows for proposing, choosing, and deciding."""

    result: int | None
    """The number of the result that holds the unseen rows; None where they were not asked."""

    report: ExperimentReport | None
    """That result, the prompt as it is as its baseline."""

    spent: Spending
    """Spending of everything."""

    ended: str
    """Reason why the search ended, a sentence."""

    @property
    def found(self) -> bool:
        """Whether there is another text to look at."""
        return self.after != self.before


# Whether a section can be improved, on which rows, and what is wrong with a wish.

FEWEST_ROWS = 6
"""Rows from which there is something for each third."""


def variant_to_improve(plan: ExperimentPlan, name: str = "") -> int:
    """Return the index of the variant to improve: the named one, else the first that can be.

    Raises:
        ImproveError: it is not there, or its prompt is not a file that can be written.
    """
    for at, each in enumerate(plan.variants):
        if each.name == name or (not name and is_improvable(each)):
            if not is_improvable(each):
                break
            return at
    names = ", ".join(each.name for each in plan.variants if is_improvable(each)) or tr("none")
    raise ImproveError(
        tr(
            "Choose a variant whose prompt is a .prompty file as it is, without `edit` or a "
            "revision: {names}."
        ).format(names=names)
    )


def is_improvable(variant: PlannedVariant) -> bool:
    """Return whether the prompt of a variant is a file that can be written, as it is."""
    entry, path = variant.entry.prompt, variant.document.source.path
    return (
        entry.text is None
        and not entry.revision
        and not entry.edit
        and path is not None
        and path.suffix == ".prompty"
    )


def split_rows(
    rows: Sequence[ExperimentRow], seed: int
) -> tuple[tuple[ExperimentRow, ...], tuple[ExperimentRow, ...], tuple[ExperimentRow, ...]]:
    """Return rows to learn from, to choose by, and the third that decides and is never seen before.

    Rows with equal values, and those of one `metadata.group`, stay on one side.

    Raises:
        ImproveError: there are too few.
    """
    groups: dict[str, list[ExperimentRow]] = {}
    for row in rows:
        group = row.case.metadata.get("group")
        of = dict(row.case.variables) if group is None else {"group": group}
        groups.setdefault(json.dumps(of, sort_keys=True, default=str), []).append(row)
    if len(groups) < FEWEST_ROWS:
        raise ImproveError(
            tr(
                "Different rows: {count}; improving needs at least {least}, and some dozens to "
                "prove anything."
            ).format(count=len(groups), least=FEWEST_ROWS)
        )
    order = sorted(groups)
    random.Random(seed).shuffle(order)
    parts: list[list[ExperimentRow]] = [[], [], []]
    unseen = max(2, round(len(order) / 3))
    half = (len(order) - unseen) // 2
    for at, key in enumerate(order):
        parts[2 if at < unseen else 1 if at < unseen + half else 0] += groups[key]
    learn, choose, decide = (tuple(sorted(each, key=lambda row: row.number)) for each in parts)
    return learn, choose, decide


def check_choices(
    plan: ExperimentPlan, at: int, choices: ImproveChoices, proposer: ModelChoice
) -> None:
    """Refuse options that cannot work before anything is sent.

    Raises:
        ImproveError: there is no budget, no assertion, or a price that nobody knows.
    """
    if not choices.is_bounded:
        raise ImproveError(tr("Set a budget: of money, of tokens, or of calls."))
    if not any(row.case.assertions for row in plan.rows):
        raise ImproveError(
            tr("The experiment has no assertions, so nothing says which text is better.")
        )
    if choices.cost is not None:
        choice = unpriced((plan.variants[at].choice, proposer))
        if choice is not None:
            raise ImproveError(
                tr(
                    "The price of {model!r} is not known, so a budget of money cannot hold. "
                    "Enter the price in its connection, or set a budget of tokens or calls."
                ).format(model=choice.declaration.id or choice.connection.name)
            )


def with_variants(text: str, variant: PlannedVariant, title: str, texts: Sequence[str]) -> str:
    """Return an experiment's text with one more variant for each text of a section.

    Raises:
        ExperimentError: they cannot be added; write them by hand.
    """
    file = read_experiment(text)
    names = [each.name for each in file.variants]

    def is_taken(label: str) -> bool:
        return any(each == label or each.startswith(f"{label} · ") for each in names)

    reading = read_yaml(text).value
    is_named = isinstance(reading, dict) and isinstance(reading.get("variants"), dict)
    added = text
    for number, new in enumerate(texts, 1):
        label = free_name(f"{variant.entry.prompt.label} · {title} {number}", is_taken, " ({})")
        names.append(label)
        if is_named:
            added = _with_named(added, variant, label, title, new)
            continue
        entry: JsonDict = {"id": variant.entry.prompt.id, "label": label}
        if variant.entry.prompt.protocol:
            entry["protocol"] = variant.entry.prompt.protocol
        added = with_item(added, "prompts", {**entry, "edit": {title: new}})
    after = {each.name for each in read_experiment(added).variants}
    baseline = file.baseline
    if baseline in {each.name for each in file.variants} and baseline not in after:
        raise ExperimentError(
            tr(
                "With more prompts the variant {name!r}, the baseline, has another name; give the "
                "prompts labels first."
            ).format(name=baseline)
        )
    return added


def _with_named(text: str, variant: PlannedVariant, name: str, title: str, new: str) -> str:
    """Return the text with one more entry under `variants`, at the end of them."""
    reading = read_yaml(text)
    data = reading.value
    assert isinstance(data, dict)
    variants = data["variants"]
    assert isinstance(variants, dict)
    entry: JsonDict = {**variants[variant.name], "edit": {title: new}}
    places = [each for each in reading.entries if each.path[:1] == ("variants",)]
    first = next(each for each in places if len(each.path) == 2)
    if text[places[0].value.start] == "{":
        end = text.rindex("}", places[0].value.start, places[0].value.end + 1)
        added = (
            f"{text[:end]}, {json.dumps(name)}: {json.dumps(entry, ensure_ascii=False)}{text[end:]}"
        )
    else:
        indent = first.key.start - (text.rfind("\n", 0, first.key.start) + 1)
        end = max(max(each.value.end, each.key.end) for each in places[1:])
        until = end if text[end - 1 : end] == "\n" else text.find("\n", end) + 1
        before = text[:until] if until else f"{text}\n"
        lines = write_yaml({name: entry})
        block = "".join(f"{' ' * indent}{line}\n" if line else "\n" for line in lines)
        added = before + block + text[len(before) :]
    again = read_yaml(added).value
    if again != {**data, "variants": {**variants, name: entry}}:
        raise ExperimentError(tr("It cannot be added to the file; write it by hand."))
    return added


def acceptance(document: PromptDocument, found: Improvement) -> TextEdit:
    """Return the edit that puts the better text into a prompt.

    Raises:
        ImproveError: the section is not what the search began with.
    """
    try:
        current = section_text(document, found.section)
        edit = section_edit(document, found.section, found.after, Path(found.prompt).name)
    except ExperimentError as error:
        raise ImproveError(str(error)) from None
    if current != found.before:
        raise ImproveError(
            tr(
                "The section {title!r} of {name} was changed since the search began; put the text "
                "in by hand."
            ).format(title=found.section, name=Path(found.prompt).name)
        )
    return edit


# What a search found, in words, as a diff, and as a chart of where its texts come from.

_CONTEXT = 2


def improvement_diff(found: Improvement) -> list[str]:
    """Return the lines of a unified diff of the section, without file names."""
    return section_diff(found.before, found.after)


def section_diff(before: str, after: str) -> list[str]:
    """Return the lines of a unified diff of any two texts of a section."""
    return unified_diff(f"{before}\n", f"{after}\n", context=_CONTEXT).splitlines()


def improvement_sentences(found: Improvement) -> Iterator[str]:
    """Describe the outcome of a search, the unseen rows first."""
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
    cost = tr("cost not known") if found.spent.cost is None else money(found.spent.cost)
    words = tr("{calls} cells asked, {tokens:,} tokens, {cost}.")
    if found.spent.calls == 1:
        words = tr("1 cell asked, {tokens:,} tokens, {cost}.")
    yield words.format(calls=found.spent.calls, tokens=found.spent.tokens, cost=cost)
    if found.ended:
        yield found.ended


def _unseen(found: Improvement) -> str:
    """Return a sentence on the unseen rows won and lost, with the exact p-value."""
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
    """Return a text of the search in one line."""
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
    """Return the texts in the order of their making, each joined with the one that it was made of.

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
    title = tr("Mean score on the selection rows, by text")
    return ChartFigure(title, points=tuple(points), most=most, unit="#")


def progress_words(found: ImproveProgress) -> str:
    """Return the progress of a search in one line."""
    words = tr("texts {proposals} of {most} · cells {calls} · tokens {tokens:,}").format(
        proposals=found.proposals,
        most=found.most,
        calls=found.spent.calls,
        tokens=found.spent.tokens,
    )
    if found.spent.cost:
        words += f" · {money(found.spent.cost)}"
    if found.best is not None:
        words += tr(" · best {score}").format(score=percent(found.best))
    return words + (tr(" · asking the unseen rows") if found.is_deciding else "")
