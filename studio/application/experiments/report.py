"""A result in words and figures: how good each variant is, what changed, and which gates hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from studio.application.experiments.experiment_report import (
    ExperimentReport,
    VariantReport,
    sentences_of,
)
from studio.application.experiments.prompts import ExperimentError
from studio.application.words import tr
from studio.core.experiments.results.cells import RowTotal
from studio.core.experiments.results.comparison import (
    RowVerdict,
    compare,
    corrected,
    row_verdicts,
)
from studio.core.experiments.results.gates import GateSubject, check_gates
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.experiments.results.ratings import JudgeAgreement, judge_agreements
from studio.core.experiments.results.result import ResultHead, ResultRow
from studio.core.experiments.statistics import mcnemar, quantile, shown_p
from studio.core.experiments.values import Gates, PassRule
from studio.core.paths import user_paths
from studio.core.text.values import Json

GIT = "git:"
"""Begins a baseline that is a revision of git: the prompts as they were there."""

ACCEPTED = "accepted"
"""The baseline that was blessed by hand."""


def ledger_path(experiment: Path) -> Path:
    """The ledger of an experiment: one for each folder, among the user's own data."""
    import hashlib

    folder = str(experiment.resolve().parent)
    name = hashlib.sha256(folder.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return user_paths().data / "experiments" / f"{name}.db"


def report_of(
    ledger: ExperimentLedger, result: int, baseline: str | None = None
) -> ExperimentReport:
    """Read a result.

    Args:
        ledger: where it is.
        result: its number.
        baseline: over the one that it was run with: a variant, `#12`, a label, or `accepted`.
    """
    head = ledger.result(result)
    names = ledger.variants(result)
    gates = gates_of(head.spec)
    rows = ledger.rows(result, with_values=bool(gates.slices))
    row_totals = ledger.scans.row_totals(result)
    verdicts = _verdicts(row_totals, head, rows)
    totals = ledger.scans.variant_totals(result)
    by_variant: dict[int, list[RowTotal]] = {}
    for row_total in row_totals:
        by_variant.setdefault(row_total.variant, []).append(row_total)
    wanted = str(head.spec.get("baseline") or "") if baseline is None else baseline
    title, bases = _bases(ledger, head, names, verdicts, wanted)
    is_whole = all(each.done + each.errors == each.cells for each in totals)
    same, left_out = ledger.scans.same_variants(result), ledger.scans.left_out(result)
    compared = {
        at: compare(verdicts.get(at, {}), bases[at])
        for at in range(len(names))
        if at in bases and not _is_same(at, title, names, same)
    }
    compared = dict(zip(compared, corrected(list(compared.values())), strict=True))
    slices = _slices(rows, {*gates.slices, "tags"})
    reports = []
    for at, total in enumerate(totals):
        times = ledger.scans.times(result, at)
        subject = GateSubject(
            names[at],
            total,
            by_variant.get(at, []),
            verdicts.get(at, {}),
            times,
            compared.get(at),
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
        *map(_agreed, agreements),
        *_preferred(ledger, result, names),
    ]
    return ExperimentReport(
        head, found, title, len(rows), is_whole, tuple(lines), slices.get("tags", {}), agreements
    )


def _is_same(at: int, base: str, names: Sequence[str], same: Mapping[int, int]) -> bool:
    """Whether a variant sent the same requests as the variant that it is compared with."""
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
    """What people found better without names, by pair of variants."""
    counts: dict[tuple[int, int], Counter[int | None]] = {}
    for _, one, other, winner in ledger.ratings.preferences(result):
        counts.setdefault((one, other), Counter())[winner] += 1
    for (one, other), found in counts.items():
        text = tr("Without names {one} was better {first} times, {other} {second} times").format(
            one=names[one], other=names[other], first=found[one], second=found[other]
        )
        yield f"{text} ({shown_p(mcnemar(found[one], found[other]))})."


def _agreed(found: JudgeAgreement) -> str:
    words = tr("{name} agrees with people on {agreed} of {of} rated answers")
    if found.of == 1:
        words = tr("{name} agrees with people on {agreed} of 1 rated answer")
    text = words.format(name=found.name, agreed=found.agreed, of=found.of)
    return f"{text}." if found.kappa is None else f"{text} (kappa {found.kappa:.1f})."


def verdicts_of(
    ledger: ExperimentLedger, head: ResultHead, rows: Sequence[ResultRow]
) -> dict[int, dict[str, RowVerdict]]:
    """Whether each row passes, by variant and key."""
    return _verdicts(ledger.scans.row_totals(head.id), head, rows)


def _verdicts(
    totals: Sequence[RowTotal], head: ResultHead, rows: Sequence[ResultRow]
) -> dict[int, dict[str, RowVerdict]]:
    keys = {row.number: row.key for row in rows}
    thresholds = {row.number: _number(row.facts.get("threshold")) for row in rows}
    return row_verdicts(totals, keys, pass_rule_of(head.spec), thresholds)


def pass_rule_of(spec: Mapping[str, Json]) -> PassRule:
    """The rule that a result was run with."""
    rule = spec.get("pass_rule", "mean")
    if rule in ("all", "any", "mean"):
        return rule
    return float(str(rule))


def gates_of(spec: Mapping[str, Json]) -> Gates:
    """The gates that a result was run with."""
    kept = spec.get("gates")
    return _gates(kept) if isinstance(kept, Mapping) else Gates()


def _gates(kept: Mapping[str, Json]) -> Gates:
    hat, slices = kept.get("pass_hat"), kept.get("slices")
    lost = kept.get("lost_rows")
    return Gates(
        pass_rate=_number(kept.get("pass_rate")),
        row_pass_rate=_number(kept.get("row_pass_rate")),
        pass_hat=(int(str(hat[0])), float(str(hat[1]))) if isinstance(hat, list) else None,
        lost_rows=lost if isinstance(lost, int) else None,
        p_value=_number(kept.get("p_value")),
        cost=_number(kept.get("cost")),
        p95_ms=_number(kept.get("p95_ms")),
        slices={
            name: _gates(item)
            for name, item in (slices.items() if isinstance(slices, Mapping) else ())
            if isinstance(item, Mapping)
        },
    )


def _bases(
    ledger: ExperimentLedger,
    head: ResultHead,
    names: Sequence[str],
    verdicts: Mapping[int, Mapping[str, RowVerdict]],
    wanted: str,
) -> tuple[str, dict[int, Mapping[str, RowVerdict]]]:
    """The name of the baseline, and what each variant is compared with."""
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
    found = verdicts_of(ledger, earlier, ledger.rows(earlier.id, with_values=False))
    made = {}
    for at, name in enumerate(names):
        if name in theirs:
            made[at] = found.get(theirs.index(name), {})
        elif len(theirs) == 1:
            made[at] = found.get(0, {})
    return earlier.label or f"#{earlier.id}", made


def _own_bases(head: ResultHead, wanted: str) -> dict[str, str]:
    """The column that each variant is compared with, where each has one of its own."""
    kept = head.spec.get("bases")
    if not wanted.startswith(GIT) or not isinstance(kept, Mapping):
        return {}
    return {name: str(base) for name, base in kept.items()}


def check_baseline(
    ledger: ExperimentLedger, file: str, names: Collection[str], wanted: str, gates: Gates
) -> None:
    """Refuse a baseline that does not exist, and gates that have nothing to compare with.

    Args:
        ledger: where earlier results are.
        file: path of the experiment.
        names: of its variants.
        wanted: the baseline; empty for the accepted result, where there is one.
        gates: what must hold.

    Raises:
        ExperimentError: there is no such baseline.
    """
    if wanted in names or wanted.startswith(GIT):
        return
    if _earlier(ledger, file, wanted or ACCEPTED, None) is not None:
        return
    compared = [name for name in ("lost_rows", "p_value") if getattr(gates, name) is not None]
    if wanted:
        raise ExperimentError(
            tr(
                "The baseline {name!r} does not exist: it is no variant ({names}), and no result "
                "on this machine has that number or label. Name another, git:REVISION, or make one "
                "by `prompt-studio baseline set FILE`."
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
    """An earlier result by its number, label, or that it is accepted."""
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
    """Keys of rows by their values, metadata and tags, as far as they are wanted."""
    made: dict[str, dict[str, set[str]]] = {}
    for row in rows:
        metadata = row.facts.get("metadata")
        variables = row.facts.get("vars")
        named: dict[str, Json] = {
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
