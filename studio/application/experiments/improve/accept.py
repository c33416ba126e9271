"""Turn a proposed text into a variant of the experiment or into an edit of the prompt."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from studio.application.experiments.cases import with_item
from studio.application.experiments.charts import ChartFigure, ChartPoint
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
"""State of a candidate: the prompt's own text, kept after the choosing rows, dropped because it was
no better, or refused before it was sent.
"""


MOST_PROPOSALS = 1_000
"""Maximum number of texts proposed in one search."""


class ImproveError(Exception):
    """Raised when a section cannot be improved; the text says why."""


@dataclass(frozen=True, slots=True)
class ImproveChoices:
    """The options of a search."""

    section: str
    """Section to rewrite: a role, `role#2`, or a heading."""

    cost: float | None = None
    """Maximum total cost in US dollars."""

    tokens: int | None = None
    """Maximum total number of tokens."""

    calls: int | None = None
    """Maximum number of cells; requests of the proposer do not count."""

    proposals: int = 12
    """Maximum number of proposed texts."""

    seed: int = 1
    """Seed of the draw of rows and of the search."""

    wish: str = ""
    """The user's instructions for the proposer."""

    @property
    def is_bounded(self) -> bool:
        """Whether there is a budget."""
        return any(each is not None for each in (self.cost, self.tokens, self.calls))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text of the section, with its origin."""

    number: int
    """Number, from 0 for the prompt's own text."""

    parent: int | None
    """Number of the candidate that it was made from; None for the prompt's own text."""

    text: str
    """Text of the section."""

    state: CandidateState
    """State of the candidate."""

    score: float | None = None
    """Mean score on the choosing rows; None if it was not scored."""

    reason: str = ""
    """Reason why it was refused or dropped; else empty."""


@dataclass(frozen=True, slots=True)
class Spending:
    """The tokens, calls and cost so far."""

    calls: int = 0
    """Number of cells that were run."""

    tokens: int = 0
    """Tokens of all requests."""

    cost: float | None = 0.0
    """Cost in US dollars; None if a price is not known."""

    def with_cell(self, outcome: CellOutcome, *, is_remote: bool) -> Spending:
        """Return the spending including one more cell."""
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
    """Number of proposed texts."""

    most: int
    """Maximum number of texts."""

    spent: Spending
    """Spending so far, including the proposer's."""

    best: float | None
    """Best score so far on the choosing rows; None before one."""

    is_deciding: bool = False
    """Whether the unseen rows are running."""


@dataclass(frozen=True)
class Improvement:
    """The result of a search."""

    section: str
    """The section."""

    prompt: str
    """Path of the prompt."""

    before: str
    """Current text of the section."""

    after: str
    """Best text; equal to `before` if none was better."""

    candidates: tuple[Candidate, ...]
    """All texts in the order proposed, beginning with the prompt's own."""

    rows: tuple[int, int, int]
    """Numbers of rows for proposing, choosing, and deciding."""

    result: int | None
    """Number of the result for the unseen rows; None if they did not run."""

    report: ExperimentReport | None
    """Report of that result, with the current prompt as its baseline."""

    spent: Spending
    """Total spending."""

    ended: str
    """Reason why the search ended, one sentence."""

    @property
    def found(self) -> bool:
        """Whether a different text was found."""
        return self.after != self.before


# Checks whether and on which rows a section can be improved, and the options.

FEWEST_ROWS = 6
"""Minimum number of rows, so that each third has some."""


def variant_to_improve(plan: ExperimentPlan, name: str = "") -> int:
    """Return the index of the variant to improve: the named one, else the first possible one.

    Raises:
        ImproveError: there is no such variant, or its prompt is no writable file.
    """
    for at, each in enumerate(plan.variants):
        if each.name == name or (not name and is_improvable(each)):
            if not is_improvable(each):
                break
            return at
    names = ", ".join(each.name for each in plan.variants if is_improvable(each)) or tr("none")
    raise ImproveError(
        tr(
            "Choose a variant with an unchanged .prompty file, without `edit` or a revision: "
            "{names}."
        ).format(names=names)
    )


def is_improvable(variant: PlannedVariant) -> bool:
    """Return whether a variant's prompt is an unchanged, writable file."""
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
    """Return rows to learn from, to choose by, and the unseen third that decides.

    Rows with equal values, and those of one `metadata.group`, stay in the same part.

    Raises:
        ImproveError: there are too few rows.
    """
    groups: dict[str, list[ExperimentRow]] = {}
    for row in rows:
        group = row.case.metadata.get("group")
        of = dict(row.case.variables) if group is None else {"group": group}
        groups.setdefault(json.dumps(of, sort_keys=True, default=str), []).append(row)
    if len(groups) < FEWEST_ROWS:
        raise ImproveError(
            tr(
                "Different rows: {count}; improving needs at least {least}, and several dozen for "
                "a reliable result."
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
        ImproveError: there is no budget, no assertion, or no known price.
    """
    if not choices.is_bounded:
        raise ImproveError(tr("Set a budget: of money, of tokens, or of calls."))
    if not any(row.case.assertions for row in plan.rows):
        raise ImproveError(tr("The experiment has no assertions to decide which text is better."))
    if choices.cost is not None:
        choice = unpriced((plan.variants[at].choice, proposer))
        if choice is not None:
            raise ImproveError(
                tr(
                    "The price of {model!r} is not known, so a budget of money cannot be enforced. "
                    "Enter the price in its connection, or set a budget of tokens or calls."
                ).format(model=choice.declaration.id or choice.connection.name)
            )


def with_variants(text: str, variant: PlannedVariant, title: str, texts: Sequence[str]) -> str:
    """Return an experiment's text with one variant added for each text of a section.

    Raises:
        ExperimentError: the variants must be added by hand.
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
                "Adding prompts would rename the baseline {name!r}; first give the prompts labels."
            ).format(name=baseline)
        )
    return added


def _with_named(text: str, variant: PlannedVariant, name: str, title: str, new: str) -> str:
    """Return the text with an entry added at the end of `variants`."""
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
        raise ExperimentError(
            tr("It cannot be added to the file automatically; write it yourself.")
        )
    return added


def acceptance(document: PromptDocument, found: Improvement) -> TextEdit:
    """Return the edit that inserts the better text into a prompt.

    Raises:
        ImproveError: the section has changed since the search began.
    """
    try:
        current = section_text(document, found.section)
        edit = section_edit(document, found.section, found.after, Path(found.prompt).name)
    except ExperimentError as error:
        raise ImproveError(str(error)) from None
    if current != found.before:
        raise ImproveError(
            tr(
                "The section {title!r} of {name} has changed since the search began; insert the "
                "text yourself."
            ).format(title=found.section, name=Path(found.prompt).name)
        )
    return edit


# The result of a search as text, as a diff, and as a chart of the lineage.

_CONTEXT = 2


def improvement_diff(found: Improvement) -> list[str]:
    """Return the lines of a unified diff of the section, without file names."""
    return section_diff(found.before, found.after)


def section_diff(before: str, after: str) -> list[str]:
    """Return the lines of a unified diff of any two texts of a section."""
    return unified_diff(f"{before}\n", f"{after}\n", context=_CONTEXT).splitlines()


def improvement_sentences(found: Improvement) -> Iterator[str]:
    """Yield sentences on the result of a search, beginning with the unseen rows."""
    learn, choose, decide = found.rows
    if not found.found:
        yield tr("No text was better than the current section.")
    elif found.report is None or not found.report.is_whole:
        yield tr(
            "A text was better on the selection rows, but not all unseen rows were run: the "
            "result is not reliable."
        )
    else:
        yield _unseen(found)
        yield from (each for each in found.report.sentences if each != found.report.headline)
    words = tr("{learn} training rows, {choose} selection rows, {decide} unseen until the end.")
    if learn == 1:
        words = tr("1 training row, {choose} selection rows, {decide} unseen until the end.")
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
    words = tr("{calls} cells run, {tokens:,} tokens, {cost}.")
    if found.spent.calls == 1:
        words = tr("1 cell run, {tokens:,} tokens, {cost}.")
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
    """Return a candidate on one line."""
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
    """Return the chart of candidates in order, each connected with the one it was made from.

    Candidates without a score are omitted.
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
    """Return the progress of a search on one line."""
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
    return words + (tr(" · running the unseen rows") if found.is_deciding else "")
