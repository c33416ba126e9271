"""What an experiment will do, worked out and checked before anything is sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from studio.application.experiments.prompts import (
    ExperimentError,
    Folder,
    documents_of,
    inputs_read,
)
from studio.application.experiments.providers import choice_for, with_options
from studio.application.experiments.report import GIT
from studio.application.run.start.readiness import refusal_of
from studio.application.words import translate
from studio.core.experiments.assertions.marking import judged_by, lacks_judge
from studio.core.experiments.datasets import DatasetError, read_dataset, unread_columns
from studio.core.experiments.file.cases import DATA_SUFFIXES
from studio.core.experiments.file.nodes import ExperimentFindings, read_nodes
from studio.core.experiments.file.read import read_experiment
from studio.core.experiments.file.variants import is_provider_file, read_providers
from studio.core.experiments.rows import expand_rows
from studio.core.experiments.values import (
    DatasetReference,
    EvaluateOptions,
    ExperimentCase,
    ExperimentFile,
    ExperimentRow,
    VariantEntry,
)
from studio.core.models.choice import ModelChoice
from studio.core.models.connection_file import Connections
from studio.core.models.embedded.server import EmbeddedServer
from studio.core.models.secrets import SecretStore
from studio.core.prompty.document import InputDeclaration, PromptDocument
from studio.core.text.foreign_json import parse_json
from studio.core.text.problem import Severity
from studio.core.text.values import Json
from studio.core.tools.trust.store import TrustStore

_tr = partial(translate, "ExperimentPlan")

_MOST_REASONS = 20
_LIST_KINDS = ("array", "thread", "list")


@dataclass(frozen=True)
class ExperimentServices:
    """What experiments are run with, the same for each."""

    trust: TrustStore
    """The folders that the user trusts."""

    connections: Connections
    """What the user has set up."""

    secrets: SecretStore
    """Where keys are, and what is masked."""

    embedded: EmbeddedServer | None = None
    """The one embedded model; None starts one for the experiment."""

    allow_tools: bool = False
    """Whether tools are allowed as they are in trusted folders (`--trust`)."""

    approve: bool = False
    """Whether calls that ask for approval are made, once for the whole experiment."""

    sharers: int = 1
    """Processes that ask at once on this machine, and share its processor."""


@dataclass(frozen=True)
class ExperimentChoices:
    """What the command line or the window asks for, over the file."""

    variants: tuple[str, ...] = ()
    """Names of the variants to run; empty runs all."""

    first: int = 1
    """The first row."""

    last: int | None = None
    """The last row."""

    tags: tuple[str, ...] = ()
    """Only rows with one of these tags."""

    repeat: int | None = None
    """Repeats, over the file's."""

    baseline: str = ""
    """What is compared with, over the file's."""


@dataclass(frozen=True)
class PlannedVariant:
    """One column, with the prompt and the model that answer for it."""

    name: str
    """Unique in the experiment."""

    entry: VariantEntry
    """As the file has it."""

    document: PromptDocument
    """The prompt, with the options of its provider."""

    choice: ModelChoice | None
    """The connection and model; None for `echo`."""

    base: str = ""
    """The column that it is compared with, where not all are compared with one."""


@dataclass(frozen=True)
class ExperimentPlan:
    """An experiment that can be run."""

    file: ExperimentFile
    """What was read."""

    folder: Folder
    """Where its files are."""

    variants: tuple[PlannedVariant, ...]
    """The columns."""

    rows: tuple[ExperimentRow, ...]
    """The rows."""

    repeats: int
    """Repeats of each row."""

    baseline: str = ""
    """What is compared with."""

    warnings: tuple[str, ...] = ()
    """What is odd, a sentence each."""

    values: Mapping[tuple[int, int], Mapping[str, Json]] = field(default_factory=dict, repr=False)
    """Values of a row where a variant's prompt wants other kinds: by variant (from 0) and row."""

    @property
    def options(self) -> EvaluateOptions:
        """How it is run."""
        return self.file.options

    @property
    def cells(self) -> int:
        """How many there are."""
        return len(self.variants) * len(self.rows) * self.repeats

    def values_of(self, variant: int, row: ExperimentRow) -> Mapping[str, Json]:
        """The values that a variant's prompt gets for a row."""
        return self.values.get((variant, row.number), row.case.variables)


def plan_experiment(
    path: Path, services: ExperimentServices, choices: ExperimentChoices | None = None,
    text: str | None = None, on_rows: Callable[[int], None] | None = None,
) -> ExperimentPlan:  # fmt: skip
    """Read a file and all that it names, and check it.

    Args:
        path: the experiment file.
        services: what it is run with.
        choices: over the file.
        text: the file's text where it is not saved; None reads it.
        on_rows: told now and then how many rows were read since it was told last.

    Raises:
        ExperimentError: it cannot be run; each line of the text is one reason.
    """
    chosen = choices or ExperimentChoices()
    if text is None:
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise ExperimentError(f"{path}: {getattr(error, 'strerror', '') or error}") from None
    file = read_experiment(text, path.resolve())
    wrong = [each for each in file.problems if each.severity is Severity.ERROR]
    if wrong:
        raise ExperimentError(
            "\n".join(_told(file, each.span.start, each.message) for each in wrong)
        )
    folder = Folder(path.resolve(), services.trust)
    variants = _variants(file, folder, services, chosen)
    warnings = [_told(file, each.span.start, each.message) for each in file.problems]
    rows = _rows(file, folder, variants, warnings, chosen, on_rows)
    baseline = chosen.baseline or file.baseline
    if baseline.startswith(GIT):
        variants = _with_revision(baseline, variants, file, folder)
    without = next(filter(None, (
        lacks_judge(judged_by(row.case.assertions, row.case.options)) for row in rows
    )), "")  # fmt: skip
    if without:
        warnings.append(
            _tr("No judge is named for {type!r}, so it is not run: give it a `provider`, or "
                "defaultTest.options one.").format(type=without)
        )  # fmt: skip
    values = _checked_values(variants, rows)
    repeats = chosen.repeat or file.options.repeat
    if not rows:
        raise ExperimentError(_tr("No row is left to ask."))
    if file.budget.cost is not None:
        _check_prices(variants)
    return ExperimentPlan(
        file, folder, tuple(variants), rows, repeats, baseline, tuple(warnings), values
    )


def _told(file: ExperimentFile, offset: int, message: str) -> str:
    place = file.source.position(offset)
    name = file.path.name if file.path is not None else "experiment"
    return f"{name}:{place.line}:{place.column}: {message}"


def _variants(
    file: ExperimentFile, folder: Folder, services: ExperimentServices, chosen: ExperimentChoices
) -> list[PlannedVariant]:
    made: list[PlannedVariant] = []
    reasons: list[str] = []
    for entry in _with_provider_files(file, folder, reasons):
        place = entry.prompt.span
        try:
            for label, found in documents_of(entry.prompt, folder):
                name = entry.name.replace(entry.prompt.label, label, 1)
                document = with_options(found, entry.provider.config)
                place = entry.provider.span if entry.provider.id else place
                choice = choice_for(
                    entry.provider, document, services.connections, trusted=folder.trusted
                )
                made.append(PlannedVariant(name, entry, document, choice))
        except ExperimentError as error:
            reasons.append(_told(file, place.start, str(error)))
    if reasons:
        raise ExperimentError("\n".join(dict.fromkeys(reasons)))
    if chosen.variants:
        known = [each.name for each in made]
        for name in chosen.variants:
            if name not in known:
                raise ExperimentError(
                    _tr("There is no variant {name!r}; there are: {known}.").format(
                        name=name, known=", ".join(known)
                    )
                )
        made = [each for each in made if each.name in chosen.variants]
    if not made:
        raise ExperimentError(_tr("The experiment has no variant to run."))
    return made


def _with_provider_files(
    file: ExperimentFile, folder: Folder, reasons: list[str]
) -> Iterator[VariantEntry]:
    """The columns, with the providers that stand in files of their own."""
    for entry in file.variants:
        given = entry.provider
        if not is_provider_file(given.id):
            yield entry
            continue
        findings = ExperimentFindings()
        try:
            found = read_providers(read_nodes(folder.read(given.id), findings))
        except ExperimentError as error:
            reasons.append(_told(file, given.span.start, str(error)))
            continue
        wrong = next((each for each in findings.problems if each.severity is Severity.ERROR), None)
        if wrong is not None or not found:
            why = wrong.message if wrong is not None else _tr("it holds no provider")
            reasons.append(_told(file, given.span.start, f"{given.id}: {why}"))
            continue
        for each in found:
            label = given.label or each.label or each.id
            name = entry.name.replace(given.id, label)
            if len(found) > 1 and label not in name:
                name = f"{name} · {label}"
            config = {**each.config, **given.config}
            yield replace(
                entry, name=name, provider=replace(each, config=config, span=given.span)
            )  # fmt: skip


def _with_revision(
    baseline: str, variants: Sequence[PlannedVariant], file: ExperimentFile, folder: Folder
) -> list[PlannedVariant]:
    """The columns, and those of the same prompts as they are at a revision of git: their bases.

    Prompts that differ by their edits only have one column in common.
    """
    pairs: dict[tuple[str, str], PlannedVariant] = {}
    for each in variants:
        prompt = each.entry.prompt
        if prompt.id.endswith(".prompty") and prompt.text is None and not prompt.revision:
            pairs.setdefault((prompt.id, each.entry.provider.id), each)
    if not pairs:
        place = file.source.text.find(baseline)
        message = _tr("{name} needs a prompt that is a file.").format(name=baseline)
        raise ExperimentError(_told(file, max(0, place), message))
    bases: dict[tuple[str, str], PlannedVariant] = {}
    for pair, each in pairs.items():
        entry = replace(each.entry.prompt, revision=baseline.removeprefix(GIT), edit={})
        try:
            ((_, document),) = documents_of(entry, folder)
        except ExperimentError as error:
            place = file.source.text.find(baseline)
            raise ExperimentError(_told(file, max(0, place), str(error))) from None
        name = baseline if len(pairs) == 1 else f"{each.name} @ {baseline}"
        bases[pair] = replace(
            each,
            name=name,
            entry=replace(each.entry, name=name, prompt=entry),
            document=with_options(document, each.entry.provider.config),
        )
    compared = []
    for each in variants:
        base = bases.get((each.entry.prompt.id, each.entry.provider.id))
        compared.append(replace(each, base=base.name if base is not None else ""))
    return [*compared, *bases.values()]


def _rows(
    file: ExperimentFile, folder: Folder, variants: Sequence[PlannedVariant],
    warnings: list[str], chosen: ExperimentChoices, on_rows: Callable[[int], None] | None,
) -> tuple[ExperimentRow, ...]:  # fmt: skip
    cases = list(_cases(file, folder, variants, warnings, on_rows))
    whole = frozenset(
        item.name for each in variants for item in each.document.inputs if item.kind in _LIST_KINDS
    )
    read = frozenset(name for each in variants for name in inputs_read(each.document))
    in_values = {name for each in cases for name in _names_in_assertions(each)}
    in_values |= set(_names_in_assertions(file.default))
    unread = [name for name in unread_columns(cases, read) if name not in in_values]
    if unread:
        names = ", ".join(repr(name) for name in unread[:5])
        warnings.append(_tr("No prompt reads {names}.").format(names=names))
    cases.reverse()
    rows = expand_rows(_let_go(cases), file.default, whole)
    last = chosen.last if chosen.last is not None else len(rows)
    kept = [
        row for row in rows
        if chosen.first <= row.number <= last
        and (not chosen.tags or set(chosen.tags) & set(row.case.tags))
    ]  # fmt: skip
    return tuple(replace(row, number=number) for number, row in enumerate(kept, 1))


def _let_go(cases: list[ExperimentCase]) -> Iterator[ExperimentCase]:
    """The cases from the last to the first; those that are taken take no memory any more."""
    while cases:
        yield cases.pop()


def _names_in_assertions(case: ExperimentCase) -> Iterator[str]:
    """Words in the assertions of a case; a column that one of them names is read."""
    import re

    for spec in case.assertions:
        yield from re.findall(r"\w+", json.dumps(spec.value, default=str))
        for inner in spec.nested:
            yield from re.findall(r"\w+", json.dumps(inner.value, default=str))


def _cases(
    file: ExperimentFile, folder: Folder, variants: Sequence[PlannedVariant], warnings: list[str],
    on_rows: Callable[[int], None] | None,
) -> Iterator[ExperimentCase]:  # fmt: skip
    for each in file.cases:
        if isinstance(each, ExperimentCase):
            yield each
        elif isinstance(each, DatasetReference):
            yield from _dataset(each, file, folder, warnings, on_rows)
        else:
            samples = {
                item.name: item.sample if item.has_sample else item.default
                for item in variants[0].document.inputs
                if item.has_sample or item.has_default
            }
            yield ExperimentCase(samples, id="samples")


def _dataset(
    reference: DatasetReference, file: ExperimentFile, folder: Folder, warnings: list[str],
    on_rows: Callable[[int], None] | None,
) -> Iterator[ExperimentCase]:  # fmt: skip
    paths = (
        sorted(each for each in folder.path.glob(reference.path)
               if each.suffix.lower() in DATA_SUFFIXES)
        if "*" in reference.path else [folder.path / reference.path]
    )  # fmt: skip
    if not paths:
        message = _tr("{name}: no file has such a name.").format(name=reference.path)
        raise ExperimentError(_told(file, reference.span.start, message))
    for path in paths:
        name = path.relative_to(folder.path) if path.is_relative_to(folder.path) else path
        try:
            if path.exists():
                folder.find(str(reference.path if "*" not in reference.path else name))
            found = read_dataset(reference, path, on_rows)
        except (DatasetError, ExperimentError) as error:
            raise ExperimentError(_told(file, reference.span.start, str(error))) from None
        warnings += found.warnings
        yield from found.cases


# Values -------------------------------------------------------------------------------------------


def _checked_values(
    variants: Sequence[PlannedVariant], rows: Sequence[ExperimentRow]
) -> dict[tuple[int, int], Mapping[str, Json]]:
    """Values by variant and row where texts become what the prompt declares.

    Raises:
        ExperimentError: a value does not fit, or one is missing.
    """
    made: dict[tuple[int, int], Mapping[str, Json]] = {}
    reasons: list[str] = []
    for at, variant in enumerate(variants):
        for row in rows:
            try:
                values = _fitting(variant.document, row.case.variables)
            except ValueError as error:
                reasons.append(f"{_place(row)}: {error}")
                continue
            if values is not row.case.variables:
                made[at, row.number] = values
            refusal = refusal_of(variant.document, values)
            if refusal is not None:
                reasons.append(f"{_place(row)}, {variant.name}: {refusal.text}")
            if len(reasons) > _MOST_REASONS:
                reasons.append("…")
                raise ExperimentError("\n".join(reasons))
    if reasons:
        raise ExperimentError("\n".join(dict.fromkeys(reasons)))
    return made


def _place(row: ExperimentRow) -> str:
    case = row.case
    where = f"{case.file or 'tests'}:{case.line}" if case.line else f"row {row.number}"
    return f"{where} (row {row.number})"


def _fitting(document: PromptDocument, values: Mapping[str, Json]) -> Mapping[str, Json]:
    """The values, a text from a table read as the kind that its input declares."""
    changed: dict[str, Json] = {}
    for item in document.inputs:
        value = values.get(item.name)
        if isinstance(value, str) and item.kind not in ("string", "image", "file", "audio", "any"):
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
            _tr("the input {name!r} is declared as {kind}; {text!r} is not one").format(
                name=item.name, kind=item.kind, text=text[:40]
            )
        ) from None
    return value


def _check_prices(variants: Sequence[PlannedVariant]) -> None:
    """Refuse a budget of money for a model whose price nobody knows."""
    from studio.core.models.capabilities import facts_of

    for each in variants:
        if each.choice is None or not each.choice.connection.is_remote:
            continue
        corrections = each.choice.connection.capabilities
        facts = facts_of(
            each.choice.declaration.id, corrections=corrections, connection=each.choice.connection
        )
        if facts.price is None:
            raise ExperimentError(
                _tr("The price of {model!r} is not known, so a budget of money cannot hold. Enter "
                    "the price in its connection, or set a budget of tokens.").format(
                    model=each.choice.declaration.id)
            )  # fmt: skip
