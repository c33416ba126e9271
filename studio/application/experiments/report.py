"""The report on a result: how good each variant is, what changed, and which gates pass."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from studio.application.experiments.facets import slice_sentences
from studio.application.experiments.prompts import ExperimentError
from studio.application.words import tr
from studio.core.experiments.results.cells import ResultHead, ResultRow, RowTotal, VariantTotal
from studio.core.experiments.results.comparison import (
    GateCheck,
    GateSubject,
    PairedComparison,
    RowVerdict,
    check_gates,
    compare,
    corrected,
    mcnemar,
    quantile,
    row_verdicts,
    shown_p,
    wilson,
)
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.experiments.results.ratings import JudgeAgreement, judge_agreements
from studio.core.experiments.values import Gates, PassRule
from studio.core.paths import user_paths
from studio.core.text.amounts import duration
from studio.core.text.values import Json, JsonDict, JsonObject, object_of

# The report on a result: numbers, and their description in sentences.

FEW_ROWS = 20
"""Number of rows below which a share is not reliable."""


@dataclass(frozen=True)
class VariantReport:
    """The report on one variant of a result."""

    name: str
    """Name of the variant."""

    total: VariantTotal
    """Totals of its cells."""

    rows: Sequence[RowTotal]
    """Totals of its rows."""

    verdicts: Mapping[str, RowVerdict]
    """Verdicts on its rows, by key."""

    p50_ms: float
    """Median time of a cell, in milliseconds."""

    p95_ms: float
    """95th percentile of the time of a cell, in milliseconds."""

    comparison: PairedComparison | None
    """Comparison with the baseline; None for the baseline, and without one."""

    gates: tuple[GateCheck, ...]
    """Checks of the gates."""

    same_as: str = ""
    """Name of an earlier variant that sent the same requests; empty for none."""

    left_out: tuple[str, ...] = ()
    """Options that were not sent because the server rejects them."""

    is_baseline: bool = False
    """Whether other variants are compared with it."""

    @property
    def slowest(self) -> str:
        """The 95th percentile as text; a dash if no cell was timed."""
        return duration(self.p95_ms / 1000) if self.p95_ms else "–"

    @property
    def rows_passed(self) -> int:
        """Number of rows that pass."""
        return sum(each.passed for each in self.verdicts.values())

    @property
    def interval(self) -> tuple[float, float]:
        """Interval of the share of rows that pass."""
        return wilson(self.rows_passed, len(self.verdicts))

    @property
    def share(self) -> float:
        """Share of rows that pass."""
        return self.rows_passed / len(self.verdicts) if self.verdicts else 0.0


@dataclass(frozen=True)
class ExperimentReport:
    """The report on a whole result."""

    head: ResultHead
    """Head of the result."""

    variants: tuple[VariantReport, ...]
    """Reports on the variants, in order."""

    baseline: str
    """Name of the baseline; empty for none."""

    rows: int
    """Number of rows."""

    is_whole: bool
    """Whether every cell is finished."""

    sentences: tuple[str, ...]
    """Sentences of the report, in plain text."""

    tags: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Keys of the rows with each tag."""

    agreements: tuple[JudgeAgreement, ...] = ()
    """Agreement of judges with users' ratings, if there are any."""

    @property
    def headline(self) -> str:
        """The sentence on the first compared variant, else on the first one."""
        compared = [each for each in self.variants if each.comparison is not None]
        first = next(iter(compared or self.variants), None)
        if first is None:
            return ""
        same = next((each for each in self.variants if each.same_as), None)
        if same is not None:
            return _same(same)
        base = next((each for each in self.variants if each.name == self.baseline), None)
        return _passes(first, base if first is not base else None, self.baseline)

    @property
    def gates(self) -> tuple[GateCheck, ...]:
        """All gates of all variants."""
        return tuple(gate for each in self.variants for gate in each.gates)

    @property
    def gates_hold(self) -> bool:
        """Whether all gates pass; without gates, whether every row of every variant passes."""
        if self.gates:
            return all(gate.held for gate in self.gates)
        return all(
            each.rows_passed == len(each.verdicts) and not each.total.undecided
            for each in self.variants
        )

    @property
    def errors(self) -> int:
        """Number of cells without an answer."""
        return sum(each.total.errors for each in self.variants)


def percent(share: float) -> str:
    """Return a share as a percentage for the user."""
    return f"{round(100 * share)} %"


def sentences_of(
    variants: Sequence[VariantReport], baseline: str, rows: int, *, is_whole: bool
) -> list[str]:
    """Return sentences that describe the numbers.

    Args:
        variants: the variants.
        baseline: name of the baseline.
        rows: number of rows.
        is_whole: whether every cell is finished.
    """
    made = [_same(each) for each in variants if each.same_as]
    told = {name for each in variants if each.same_as for name in (each.name, each.same_as)}
    made += [_lacks(each) for each in variants if each.left_out and each.name not in told]
    if rows < FEW_ROWS:
        made.append(
            tr(
                "Too few rows for a reliable result ({count}): for 8 passes in 10 rows, the 95 % "
                "interval is 49 to 94 %."
            ).format(count=rows)
        )
    base = next((each for each in variants if each.name == baseline), None)
    for each in variants:
        if each is base:
            continue
        made.append(_passes(each, base, baseline))
        if each.comparison is not None and is_whole:
            made.append(_chance(each.comparison))
    if base is not None and len(variants) == 1:
        made.append(_passes(base, None, ""))
    return made


def _same(each: VariantReport) -> str:
    words = tr("{name} and {other} sent the same requests.")
    if each.left_out:
        words = tr("{name} and {other} sent the same requests: the server rejects {names}.")
    return words.format(name=each.name, other=each.same_as, names=", ".join(each.left_out))


def _lacks(each: VariantReport) -> str:
    words = tr("{name} was run without {names}: the server rejects it.")
    return words.format(name=each.name, names=", ".join(each.left_out))


def _passes(each: VariantReport, base: VariantReport | None, baseline: str) -> str:
    if not each.verdicts:
        return tr("{name} has no verdict: no row was answered.").format(name=each.name)
    low, high = each.interval
    words = tr("{name} passes {share} of {rows} rows ({low} to {high})")
    if len(each.verdicts) == 1:
        words = tr("{name} passes {share} of 1 row ({low} to {high})")
    text = words.format(
        name=each.name,
        share=percent(each.share),
        rows=len(each.verdicts),
        low=round(100 * low),
        high=round(100 * high),
    )
    found = each.comparison
    if found is None:
        return f"{text}."
    share = base.share if base is not None else found.baseline_passed / max(1, found.rows)
    words = tr("{text}, {baseline} {share}: {won} rows won, {lost} lost.")
    if len(found.won) == 1:
        words = tr("{text}, {baseline} {share}: 1 row won, {lost} lost.")
    return words.format(
        text=text, baseline=baseline, share=percent(share), won=len(found.won), lost=len(found.lost)
    )


def _chance(found: PairedComparison) -> str:
    p_value = shown_p(found.corrected)
    if found.is_clear:
        return tr("This is unlikely to be chance ({p}).").format(p=p_value)
    text = tr("It cannot be distinguished from chance ({p}).").format(p=p_value)
    if not found.won and not found.lost:
        return tr("No row changed.")
    if found.enough_for > found.rows:
        more = tr(
            "To detect a difference of 5 points at this rate of change, about {needed} rows "
            "are needed; there are {rows}."
        ).format(needed=found.enough_for, rows=found.rows)
        return f"{text} {more}"
    return text


GIT = "git:"
"""Prefix of a baseline that is a git revision: the prompts at that revision."""

ACCEPTED = "accepted"
"""Name of the baseline that the user accepted."""


def ledger_path(experiment: Path) -> Path:
    """Return the path of an experiment's ledger: one per folder, in the user's data folder."""
    import hashlib

    folder = str(experiment.resolve().parent)
    name = hashlib.sha256(folder.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return user_paths().data / "experiments" / f"{name}.db"


def report_of(
    ledger: ExperimentLedger, result: int, baseline: str | None = None
) -> ExperimentReport:
    """Build the report on a result.

    Args:
        ledger: the ledger with the result.
        result: number of the result.
        baseline: overrides the run's baseline: a variant, `#12`, a label, or `accepted`.
    """
    head = ledger.result(result)
    names = ledger.variants(result)
    gates = _gates(object_of(head.spec.get("gates")))
    rows = ledger.rows(result, with_values=bool(gates.slices))
    row_totals = ledger.scans.row_totals(result)
    verdicts = _verdicts(row_totals, head, rows)
    free = _unchecked(rows)
    is_checked = len(free) < len(rows)
    totals = ledger.scans.variant_totals(result)
    by_variant: dict[int, list[RowTotal]] = {}
    for row_total in row_totals:
        by_variant.setdefault(row_total.variant, []).append(row_total)
    wanted = str(head.spec.get("baseline") or "") if baseline is None else baseline
    title, bases = _bases(ledger, head, names, verdicts, wanted)
    is_whole = all(each.done + each.errors == each.cells for each in totals)
    same, left_out = ledger.scans.same_variants(result), ledger.scans.left_out(result)
    gated = {at: compare(verdicts.get(at, {}), base) for at, base in bases.items()}
    compared = {at: each for at, each in gated.items() if not _is_same(at, title, names, same)}
    compared = dict(zip(compared, corrected(list(compared.values())), strict=True))
    slices = _slices(rows, {*gates.slices, "tags"})
    reports = []
    for at, total in enumerate(totals):
        times = ledger.scans.times(result, at)
        subject = GateSubject(
            names[at],
            total,
            [each for each in by_variant.get(at, ()) if each.row not in free],
            verdicts.get(at, {}) if is_checked else {},
            times,
            gated.get(at) if is_checked else None,
            slices,
        )
        is_baseline = names[at] == title or names[at] in _own_bases(head, title).values()
        checks = () if is_baseline else tuple(check_gates(gates, subject))
        reports.append(
            VariantReport(
                names[at],
                total,
                by_variant.get(at, []),
                verdicts.get(at, {}),
                quantile(times, 0.5),
                quantile(times, 0.95),
                compared.get(at),
                checks,
                names[same[at]] if at in same else "",
                left_out.get(at, ()),
                is_baseline,
            )
        )
    found = tuple(reports)
    agreements = _agreements(ledger, result)
    lines = [
        *sentences_of(found, title, len(rows), is_whole=is_whole),
        *(words for each in found for words in slice_sentences(each.comparison, slices)),
        *map(_agreed, agreements),
        *_preferred(ledger, result, names),
    ]
    return ExperimentReport(
        head, found, title, len(rows), is_whole, tuple(lines), slices.get("tags", {}), agreements
    )


def _is_same(at: int, base: str, names: Sequence[str], same: Mapping[int, int]) -> bool:
    """Return whether a variant sent the same requests as the one that it is compared with."""
    if base not in names:
        return False
    other = names.index(base)
    return same.get(at, at) == same.get(other, other)


def _agreements(ledger: ExperimentLedger, result: int) -> tuple[JudgeAgreement, ...]:
    ratings = ledger.ratings.of(result)
    outcomes = {key: ledger.outcome(result, key) for key in ratings}
    found = {key: each.results for key, each in outcomes.items() if each is not None}
    return judge_agreements(ratings, found)


def _preferred(ledger: ExperimentLedger, result: int, names: Sequence[str]) -> Iterator[str]:
    """Yield sentences on the answers that users preferred in blind ratings, by pair of variants."""
    counts: dict[tuple[int, int], Counter[int | None]] = {}
    for _, one, other, winner in ledger.ratings.preferences(result):
        counts.setdefault((one, other), Counter())[winner] += 1
    for (one, other), found in counts.items():
        text = tr(
            "In blind comparisons, {one} was better {first} times, {other} {second} times"
        ).format(one=names[one], other=names[other], first=found[one], second=found[other])
        yield f"{text} ({shown_p(mcnemar(found[one], found[other]))})."


def _agreed(found: JudgeAgreement) -> str:
    words = tr("{name} agrees with the ratings of {agreed} of {of} answers")
    if found.of == 1:
        words = tr("{name} agrees with people on {agreed} of 1 rated answer")
    text = words.format(name=found.name, agreed=found.agreed, of=found.of)
    return f"{text}." if found.kappa is None else f"{text} (kappa {found.kappa:.1f})."


def _verdicts(
    totals: Sequence[RowTotal], head: ResultHead, rows: Sequence[ResultRow]
) -> dict[int, dict[str, RowVerdict]]:
    """Return the verdict on each row, by variant and key, without rows that have no assertion."""
    keys = {row.number: row.key for row in rows}
    free = _unchecked(rows)
    if len(free) < len(rows):
        totals = [each for each in totals if each.row not in free]
    thresholds = {row.number: _number(row.facts.get("threshold")) for row in rows}
    return row_verdicts(totals, keys, pass_rule_of(head.spec), thresholds)


def _unchecked(rows: Sequence[ResultRow]) -> set[int]:
    """Return the numbers of the rows without an assertion that decides whether they pass."""
    return {row.number for row in rows if row.facts.get("unchecked")}


def pass_rule_of(spec: JsonObject) -> PassRule:
    """Return the pass rule of a result."""
    rule = spec.get("pass_rule", "mean")
    if rule in ("all", "any", "mean"):
        return rule
    return float(str(rule))


def _gates(kept: Mapping[str, Any]) -> Gates:
    """Return gates from the form stored by `asdict`."""
    hat, slices = kept.get("pass_hat"), object_of(kept.get("slices"))
    inner = {name: _gates(object_of(item)) for name, item in slices.items()}
    return Gates(**{**kept, "pass_hat": tuple(hat) if hat else None, "slices": inner})


def _bases(
    ledger: ExperimentLedger,
    head: ResultHead,
    names: Sequence[str],
    verdicts: Mapping[int, Mapping[str, RowVerdict]],
    wanted: str,
) -> tuple[str, dict[int, Mapping[str, RowVerdict]]]:
    """Return the name of the baseline, and the verdicts with which each variant is compared."""
    if not wanted:
        wanted = next(
            (
                ACCEPTED
                for each in ledger.results(head.file)
                if each.is_accepted and each.id != head.id
            ),
            "",
        )
    if wanted in names:
        at = names.index(wanted)
        return wanted, {other: verdicts.get(at, {}) for other in range(len(names)) if other != at}
    bases = _own_bases(head, wanted)
    if bases:
        made: dict[int, Mapping[str, RowVerdict]] = {
            at: verdicts.get(names.index(bases[name]), {})
            for at, name in enumerate(names)
            if bases.get(name) in names
        }
        return wanted, made
    earlier = _earlier(ledger, head.file, wanted, head.id)
    if earlier is None:
        return "", {}
    theirs = ledger.variants(earlier.id)
    rows = ledger.rows(earlier.id, with_values=False)
    found = _verdicts(ledger.scans.row_totals(earlier.id), earlier, rows)
    made = {}
    for at, name in enumerate(names):
        if name in theirs:
            made[at] = found.get(theirs.index(name), {})
        elif len(theirs) == 1:
            made[at] = found.get(0, {})
    return earlier.label or f"#{earlier.id}", made


def _own_bases(head: ResultHead, wanted: str) -> dict[str, str]:
    """Return the variant with which each variant is compared, if each has its own."""
    kept = head.spec.get("bases")
    if not wanted.startswith(GIT) or not isinstance(kept, Mapping):
        return {}
    return {name: str(base) for name, base in kept.items()}


def check_baseline(
    ledger: ExperimentLedger,
    file: str,
    names: Collection[str],
    asked: AbstractSet[str],
    wanted: str,
    gates: Gates,
) -> None:
    """Refuse a baseline that does not exist, and gates without a comparison.

    Args:
        ledger: the ledger with earlier results.
        file: path of the experiment.
        names: names of its variants.
        asked: names of the variants that are asked.
        wanted: the baseline; empty for the accepted result, if there is one.
        gates: the gates.

    Raises:
        ExperimentError: there is no such baseline.
    """
    compared = [name for name in ("lost_rows", "p_value") if getattr(gates, name) is not None]
    if compared and {wanted} == asked:
        raise ExperimentError(
            tr(
                "gates: {gates} compare with {name!r}, which is the only variant that is asked: "
                "add another one, or name git:REVISION or an earlier result under `baseline`."
            ).format(gates=", ".join(compared), name=wanted)
        )
    if wanted in names or wanted.startswith(GIT):
        return
    if _earlier(ledger, file, wanted or ACCEPTED, None) is not None:
        return
    if wanted:
        raise ExperimentError(
            tr(
                "The baseline {name!r} does not exist: it is not a variant ({names}), and no "
                "result on this machine has that number or label. Name another, git:REVISION, or "
                "set one with `prompt-studio baseline set FILE`."
            ).format(name=wanted, names=", ".join(names))
        )
    if compared:
        raise ExperimentError(
            tr(
                "gates: {gates} need a baseline: name a variant, git:REVISION or an earlier result "
                "under `baseline`."
            ).format(gates=", ".join(compared))
        )


def _earlier(
    ledger: ExperimentLedger, file: str, wanted: str, but: int | None
) -> ResultHead | None:
    """Return an earlier result by its number or label, or the accepted one."""
    for each in ledger.results():
        if each.id == but:
            continue
        if wanted == ACCEPTED and each.is_accepted and each.file == file:
            return each
        if wanted and wanted in (f"#{each.id}", each.label):
            return each
    return None


def _slices(
    rows: Sequence[ResultRow], wanted: Collection[str]
) -> dict[str, dict[str, frozenset[str]]]:
    """Return the keys of rows by their values, metadata and tags, as far as requested."""
    made: dict[str, dict[str, set[str]]] = {}
    for row in rows:
        metadata = row.facts.get("metadata")
        variables = row.facts.get("vars")
        named: JsonDict = {
            **(
                {k: v for k, v in variables.items() if isinstance(v, str) and len(v) < 40}
                if isinstance(variables, Mapping)
                else {}
            ),
            **(metadata if isinstance(metadata, Mapping) else {}),
            "tags": row.facts.get("tags", []),
        }
        for name, value in named.items():
            if name not in wanted:
                continue
            for each in value if isinstance(value, list) else [value]:
                made.setdefault(name, {}).setdefault(str(each), set()).add(row.key)
    return {
        name: {value: frozenset(keys) for value, keys in values.items()}
        for name, values in made.items()
    }


def _number(value: Json) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(str(value)) if is_number else None
