"""Plan an experiment, and check it before anything is sent."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from studio.application.experiments import prompts
from studio.application.experiments.planned_variants import (
    PlannedVariant,
    ValueFiles,
    at_place,
    files_at,
    message_at,
    named_at,
    planned_variants,
    with_files,
    with_revision,
    with_values,
)
from studio.application.experiments.providers import unpriced
from studio.application.experiments.report import GIT
from studio.application.run.start.session import refusal_of
from studio.application.words import tr
from studio.core.experiments.assertions.marking import judged_by, lacks_judge
from studio.core.experiments.datasets import read_dataset, unread_columns
from studio.core.experiments.file.cases import DATA_SUFFIXES, expand_rows, unread_expected
from studio.core.experiments.file.read import read_experiment
from studio.core.experiments.values import (
    MOST_REPEATS,
    DatasetReference,
    EvaluateOptions,
    ExperimentCase,
    ExperimentFile,
    ExperimentRow,
)
from studio.core.models.connections import Connections
from studio.core.models.embedded.server import EmbeddedServer
from studio.core.models.secrets import SecretStore
from studio.core.prompty.document import TEXT_KINDS, InputDeclaration, PromptDocument
from studio.core.text.files import read_text
from studio.core.text.source import Severity
from studio.core.text.values import Json, JsonDict, JsonObject, parse_json, reason_of
from studio.core.tools.trust.store import TrustStore

# The rows of an experiment from its tests and data files, with values of the declared kinds.

_MOST_REASONS = 20
_TESTS = (".yaml", ".yml")
"""Suffixes of files of tests, in the experiment's format."""

_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_LIST_KINDS = ("array", "thread", "list")


@dataclass(frozen=True)
class _RowSource:
    """The parts from which the rows of an experiment are read."""

    file: ExperimentFile
    """Experiment as read from its file."""

    folder: prompts.Folder
    """Folder of its files."""

    variants: Sequence[PlannedVariant]
    """Variants, whose prompts decide which values are used."""

    warnings: list[str]
    """Warnings, one sentence each, to which reading adds."""

    on_rows: Callable[[int], None] | None
    """Callback for progress, with the number of rows read since its last call."""


def _planned_rows(source: _RowSource) -> Sequence[ExperimentRow]:
    """Return all rows of a file, in order; raise ExperimentError if one cannot be read."""
    file, variants = source.file, source.variants
    values = ValueFiles(file, source.folder)
    cases = list(_cases(source, values))
    whole = frozenset(
        item.name for each in variants for item in each.document.inputs if item.kind in _LIST_KINDS
    )
    read = frozenset(name for each in variants for name in prompts.inputs_read(each.document))
    in_values = {name for each in cases for name in _names_in_assertions(each)}
    in_values |= set(_names_in_assertions(file.default))
    unread = [name for name in unread_columns(cases, read) if name not in in_values]
    if unread:
        names = ", ".join(repr(name) for name in unread[:5])
        source.warnings.append(tr("No prompt reads {names}.").format(names=names))
    cases.reverse()
    rows = expand_rows(_let_go(cases), values.of(file.default), whole)
    reasons = [reason for row in rows if not row.case.file for reason in _templates_in(row)]
    if reasons:
        raise prompts.ExperimentError("\n".join(dict.fromkeys(reasons[:_MOST_REASONS])))
    return rows


def _templates_in(row: ExperimentRow) -> Iterator[str]:
    """Yield why values of the file are refused: promptfoo renders them with other values."""
    for name, value in row.case.variables.items():
        found = _VARIABLE.search(value) if isinstance(value, str) else None
        if found is not None and found[1] in row.case.variables:
            yield tr(
                "{place}: the value {name!r} reads {{{{ {other} }}}}, and a value is not a "
                "template here: write the text, or insert it into the prompt."
            ).format(place=_place(row), name=name, other=found[1])


def _let_go(cases: list[ExperimentCase]) -> Iterator[ExperimentCase]:
    """Yield the cases from last to first, freeing each to save memory."""
    while cases:
        yield cases.pop()


def _names_in_assertions(case: ExperimentCase) -> Iterator[str]:
    """Yield the words in the assertions of a case, which mark the columns that it uses."""
    for spec in case.assertions:
        yield from re.findall(r"\w+", json.dumps(spec.value, default=str))
        for inner in spec.nested:
            yield from re.findall(r"\w+", json.dumps(inner.value, default=str))


def _cases(source: _RowSource, values: ValueFiles) -> Iterator[ExperimentCase]:
    file, folder = source.file, source.folder
    for each in file.cases:
        if isinstance(each, ExperimentCase):
            yield values.of(each)
        elif isinstance(each, DatasetReference):
            for case in _dataset(source, each):
                whole = with_values(named_at(case, each.span), file, folder) if case.files else case
                # Rows of a table are data: a value in one is never a file name.
                yield values.of(whole) if whole.file.endswith(_TESTS) else whole
        else:
            samples = {
                item.name: item.sample if item.has_sample else item.default
                for item in source.variants[0].document.inputs
                if item.has_sample or item.has_default
            }
            yield ExperimentCase(samples, id="samples")


def _dataset(source: _RowSource, reference: DatasetReference) -> Iterator[ExperimentCase]:
    file, folder = source.file, source.folder
    paths = [folder.path / reference.path]
    if "*" in reference.path:
        paths = files_at(reference, file, folder, DATA_SUFFIXES)
    for path in paths:
        name = path.relative_to(folder.path) if path.is_relative_to(folder.path) else path
        with at_place(file, reference.span.start):
            if path.exists():
                folder.find(str(reference.path if "*" not in reference.path else name))
            dataset = read_dataset(reference, path, source.on_rows)
        source.warnings.extend(dataset.warnings)
        yield from dataset.cases


def checked_values(
    variants: Sequence[PlannedVariant],
    rows: Sequence[ExperimentRow],
    faults: dict[tuple[int, int], str] | None = None,
) -> dict[tuple[int, int], JsonObject]:
    """Return values by variant and row that were converted to the declared kinds.

    Args:
        variants: the columns.
        rows: the rows.
        faults: receives the reasons why cells cannot run; None raises them.

    Raises:
        ExperimentError: a value is invalid or missing.
    """
    made: dict[tuple[int, int], JsonObject] = {}
    reasons: list[str] = []
    for at, variant in enumerate(variants):
        for row in rows:
            if not variant.takes(row.case):
                continue
            values, fault = row.case.variables, ""
            try:
                values = _fitting(variant.document, values)
                refusal = refusal_of(variant.document, values)
                fault = refusal.text if refusal is not None else unread_expected(row.case)
                place = f"{_place(row)}, {variant.name}"
            except ValueError as error:
                fault, place = str(error), _place(row)
            if values is not row.case.variables:
                made[at, row.number] = values
            if fault and faults is not None:
                faults[at, row.number] = fault
            elif fault:
                reasons.append(f"{place}: {fault}")
            if len(reasons) > _MOST_REASONS:
                reasons.append("…")
                raise prompts.ExperimentError("\n".join(reasons))
    if reasons:
        raise prompts.ExperimentError("\n".join(dict.fromkeys(reasons)))
    return made


def _place(row: ExperimentRow) -> str:
    case = row.case
    where = f"{case.file or 'tests'}:{case.line}" if case.line else f"row {row.number}"
    return f"{where} (row {row.number})"


def _fitting(document: PromptDocument, values: JsonObject) -> JsonObject:
    """Return the values, with texts from a table converted to their input's kind."""
    changed: JsonDict = {}
    for item in document.inputs:
        value = values.get(item.name)
        if isinstance(value, str) and item.kind not in (*TEXT_KINDS, "any"):
            made = _read(item, value)
            if made is not value:
                changed[item.name] = made
    return {**values, **changed} if changed else values


def _read(item: InputDeclaration, text: str) -> Json:
    if item.kind not in ("integer", "number", "float", "boolean", "array", "object", "thread"):
        return text
    if not text.strip() and not item.required:
        return None
    lowered = text.strip().lower()
    try:
        value: Json = parse_json(lowered if item.kind == "boolean" else text)
    except ValueError:
        raise ValueError(
            tr("the input {name!r} is declared as {kind}; {text!r} is not one").format(
                name=item.name, kind=item.kind, text=text[:40]
            )
        ) from None
    return value


MOST_CELLS = 2_000_000
"""Maximum number of cells of one experiment, since their keys and hashes are kept in memory."""


@dataclass(frozen=True)
class ExperimentServices:
    """Services that all experiments share."""

    trust: TrustStore
    """The folders that the user trusts."""

    connections: Connections
    """Connections that the user has set up."""

    secrets: SecretStore
    """Store of the keys, whose values are masked."""

    embedded: EmbeddedServer | None = None
    """The shared embedded model; None starts one for the experiment."""

    allow_tools: bool = False
    """Whether functions of Python files in trusted folders are allowed in their current form
    (`--trust`).
    """

    allowed: tuple[str, ...] = ()
    """Names of tools that may be called without approval (`--allow`)."""

    approve: bool = False
    """Whether calls that need approval are made, for the whole experiment."""

    sharers: int = 1
    """Number of processes that run cells on this machine and share its processor."""

    drafts: Mapping[Path, str] = field(default_factory=dict, repr=False)
    """Texts of open editors by file, used instead of the saved ones."""


@dataclass(frozen=True)
class ExperimentChoices:
    """Options of the command line or the window, which override the file's."""

    variants: tuple[str, ...] = ()
    """Names of the variants to run; empty for all."""

    first: int = 1
    """Number of the first row."""

    last: int | None = None
    """Number of the last row; None for all."""

    tags: tuple[str, ...] = ()
    """Tags, one of which a row must have; empty for all rows."""

    repeat: int | None = None
    """Number of repeats, which overrides the file's."""

    baseline: str = ""
    """Baseline, which overrides the file's."""

    keeps_faults: bool = False
    """Whether rows that cannot run are kept with their reason, instead of refusing the
    experiment.
    """


@dataclass(frozen=True)
class ExperimentPlan:
    """An experiment that is ready to run."""

    file: ExperimentFile
    """Experiment as read from its file."""

    folder: prompts.Folder
    """Folder of its files."""

    variants: tuple[PlannedVariant, ...]
    """The variants."""

    rows: tuple[ExperimentRow, ...]
    """The rows."""

    repeats: int
    """Number of repeats of each row."""

    baseline: str = ""
    """Baseline of the comparison."""

    warnings: tuple[str, ...] = ()
    """Warnings, a sentence each."""

    values: Mapping[tuple[int, int], JsonObject] = field(default_factory=dict, repr=False)
    """Values of a row converted for a variant's prompt, by variant (from 0) and row."""

    faults: Mapping[tuple[int, int], str] = field(default_factory=dict, repr=False)
    """Reasons why cells cannot run, by variant (from 0) and row."""

    @property
    def options(self) -> EvaluateOptions:
        """The options of the run."""
        return self.file.options

    @cached_property
    def cells(self) -> int:
        """The number of cells, without rows that skip a variant."""
        pairs = sum(each.takes(row.case) for row in self.rows for each in self.variants)
        return pairs * self.repeats

    def first_values(self, variant: int) -> JsonObject:
        """Return the values of the first row for a variant; empty without one."""
        column = self.variants[variant]
        first = next((row for row in self.rows if column.takes(row.case)), self.rows[0])
        return self.values_of(variant, first)

    def values_of(self, variant: int, row: ExperimentRow) -> JsonObject:
        """Return the values of a row for a variant's prompt."""
        fitting = self.values.get((variant, row.number), row.case.variables)
        turns = row.case.variables.get(prompts.CONVERSATION)
        return fitting if turns is None else {**fitting, prompts.CONVERSATION: turns}

    @cached_property
    def turns_before(self) -> Mapping[tuple[int, int], int]:
        """The row with the previous turn, by variant (from 0) and row."""
        made: dict[tuple[int, int], int] = {}
        for at in self._conversing:
            last: dict[str, int] = {}
            for row in self.rows:
                if self.variants[at].takes(row.case):
                    name = str(row.case.metadata.get("conversationId", ""))
                    if name in last:
                        made[at, row.number] = last[name]
                    last[name] = row.number
        return made

    @cached_property
    def _conversing(self) -> tuple[int, ...]:
        """The variants whose prompts use the previous turns."""
        return tuple(
            at
            for at, each in enumerate(self.variants)
            if any(variable.name == prompts.CONVERSATION for variable in each.document.variables)
        )


def plan_experiment(
    path: Path,
    services: ExperimentServices,
    choices: ExperimentChoices | None = None,
    text: str | None = None,
    on_rows: Callable[[int], None] | None = None,
) -> ExperimentPlan:
    """Read and check an experiment file and everything that it names.

    Args:
        path: the experiment file.
        services: the shared services.
        choices: options that override the file's.
        text: unsaved text of the file; None reads it.
        on_rows: called repeatedly with the number of rows read since its last call.

    Raises:
        ExperimentError: it cannot be run; each line of the text is one reason.
    """
    chosen = choices or ExperimentChoices()
    if text is None:
        try:
            text = read_text(path, encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise prompts.ExperimentError(f"{path}: {reason_of(error)}") from None
    file = read_experiment(text, path.resolve())
    wrong = [each for each in file.problems if each.severity is Severity.ERROR]
    if wrong:
        raise prompts.ExperimentError(
            "\n".join(message_at(file, each.span.start, each.message) for each in wrong)
        )
    folder = prompts.Folder(path.resolve(), services.trust, services.drafts)
    variants = planned_variants(file, folder, services.connections, chosen.variants)
    warnings = [message_at(file, each.span.start, each.message) for each in file.problems]
    file = with_files(file, folder, warnings)
    source = _RowSource(file, folder, variants, warnings, on_rows)
    rows = _chosen(_planned_rows(source), chosen)
    baseline = chosen.baseline or file.baseline
    if baseline.startswith(GIT):
        variants = with_revision(baseline, variants, file, folder)
    without = next(
        filter(
            None, (lacks_judge(judged_by(row.case.assertions, row.case.options)) for row in rows)
        ),
        "",
    )
    if without:
        warnings.append(
            tr(
                "No judge is named for {type!r}, so it is not run: give it a `provider`, or "
                "defaultTest.options one."
            ).format(type=without)
        )
    rows = _asked(rows, variants, file, warnings)
    free = sum(all(each.weight == 0 for each in row.case.assertions) for row in rows)
    if free and any(each.type == "expected" for each in file.default.assertions):
        words = tr("{count} of {rows} rows have no assertions: their answers are not checked.")
        warnings.append(words.format(count=free, rows=len(rows)))
    faults: dict[tuple[int, int], str] = {}
    values = checked_values(variants, rows, faults if chosen.keeps_faults else None)
    repeats = chosen.repeat or file.options.repeat
    if not rows and not chosen.keeps_faults:
        raise prompts.ExperimentError("\n".join((*warnings, tr("No row is left to run."))))
    _check_size(len(variants) * len(rows), repeats)
    if file.budget.cost is not None:
        _check_prices(variants)
    return ExperimentPlan(
        file, folder, tuple(variants), rows, repeats, baseline, tuple(warnings), values, faults
    )


def _chosen(rows: Sequence[ExperimentRow], chosen: ExperimentChoices) -> tuple[ExperimentRow, ...]:
    last = chosen.last if chosen.last is not None else len(rows)
    return _numbered(
        row
        for row in rows
        if chosen.first <= row.number <= last
        and (not chosen.tags or set(chosen.tags) & set(row.case.tags))
    )


def _numbered(rows: Iterable[ExperimentRow]) -> tuple[ExperimentRow, ...]:
    """Return the rows numbered from 1, in order."""
    return tuple(replace(row, number=number) for number, row in enumerate(rows, 1))


def _asked(
    rows: Sequence[ExperimentRow],
    variants: Sequence[PlannedVariant],
    file: ExperimentFile,
    warnings: list[str],
) -> tuple[ExperimentRow, ...]:
    """Return the rows that are for some variant; raise an error if there are none."""
    alone = [row for row in rows if not any(each.takes(row.case) for each in variants)]
    if not alone:
        return tuple(rows)
    name = file.path.name if file.path is not None else "tests"
    places = [f"{row.case.file or name}:{row.case.line}" for row in alone]
    warnings.append(
        tr("Tests without a variant are skipped: {places}. The variants are: {names}.").format(
            places=", ".join([*places[:5], *(["…"] if len(places) > 5 else [])]),
            names=", ".join(each.name for each in variants),
        )
    )
    gone = {row.number for row in alone}
    return _numbered(row for row in rows if row.number not in gone)


def _check_size(pairs: int, repeats: int) -> None:
    """Refuse an experiment whose requests would take hours to prepare."""
    if not 1 <= repeats <= MOST_REPEATS:
        raise prompts.ExperimentError(
            tr("A row can be repeated 1 to {most:,} times, not {count:,}.").format(
                most=MOST_REPEATS, count=repeats
            )
        )
    if pairs * repeats > MOST_CELLS:
        raise prompts.ExperimentError(
            tr(
                "These are {count:,} cells (rows × variants × repeats), and an experiment has "
                "{most:,} at most: use fewer repeats, or part of the rows."
            ).format(count=pairs * repeats, most=MOST_CELLS)
        )


def _check_prices(variants: Sequence[PlannedVariant]) -> None:
    """Refuse a cost budget for a model without a known price."""
    choice = unpriced(each.choice for each in variants)
    if choice is not None:
        raise prompts.ExperimentError(
            tr(
                "The price of {model!r} is not known, so a budget of money cannot be enforced. "
                "Enter the price in its connection, or set a budget of tokens."
            ).format(model=choice.declaration.id)
        )


def with_rows(plan: ExperimentPlan, keys: Collection[str]) -> ExperimentPlan:
    """Return the plan with only some of its rows."""
    kept = [row for row in plan.rows if row.key in keys]
    numbers = {row.number: number for number, row in enumerate(kept, 1)}
    return replace(
        plan,
        rows=_numbered(kept),
        values={
            (at, numbers[number]): values
            for (at, number), values in plan.values.items()
            if number in numbers
        },
        faults={
            (at, numbers[number]): fault
            for (at, number), fault in plan.faults.items()
            if number in numbers
        },
    )
