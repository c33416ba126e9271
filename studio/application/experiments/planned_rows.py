"""The rows of an experiment: its tests and data files, with values as its prompts declare them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from studio.application.experiments.planned_files import ValueFiles, named_at, with_values
from studio.application.experiments.planned_variants import (
    PlannedVariant,
    message_at,
)
from studio.application.experiments.prompts import (
    ExperimentError,
    Folder,
    inputs_read,
)
from studio.application.run.start.readiness import refusal_of
from studio.application.words import tr
from studio.core.experiments.datasets import DatasetError, read_dataset, unread_columns
from studio.core.experiments.file.cases import DATA_SUFFIXES, expand_rows
from studio.core.experiments.values import (
    DatasetReference,
    ExperimentCase,
    ExperimentFile,
    ExperimentRow,
)
from studio.core.prompty.document import InputDeclaration, PromptDocument
from studio.core.text.foreign_json import parse_json
from studio.core.text.values import Json

_MOST_REASONS = 20
_TESTS = (".yaml", ".yml")
"""Files of tests, written as the experiment file is."""

_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_LIST_KINDS = ("array", "thread", "list")


def planned_rows(
    file: ExperimentFile,
    folder: Folder,
    variants: Sequence[PlannedVariant],
    warnings: list[str],
    on_rows: Callable[[int], None] | None,
) -> Sequence[ExperimentRow]:
    """All rows of a file, in its order.

    Args:
        file: the experiment.
        folder: where its files are.
        variants: the columns, whose prompts say what is read.
        warnings: what is odd is added to them.
        on_rows: told now and then how many were read since it was told last.

    Raises:
        ExperimentError: a data file cannot be read.
    """
    values = ValueFiles(file, folder)
    cases = list(_cases(file, folder, variants, warnings, on_rows, values))
    whole = frozenset(
        item.name for each in variants for item in each.document.inputs if item.kind in _LIST_KINDS
    )
    read = frozenset(name for each in variants for name in inputs_read(each.document))
    in_values = {name for each in cases for name in _names_in_assertions(each)}
    in_values |= set(_names_in_assertions(file.default))
    unread = [name for name in unread_columns(cases, read) if name not in in_values]
    if unread:
        names = ", ".join(repr(name) for name in unread[:5])
        warnings.append(tr("No prompt reads {names}.").format(names=names))
    cases.reverse()
    rows = expand_rows(_let_go(cases), values.of(file.default), whole)
    reasons = [reason for row in rows if not row.case.file for reason in _templates_in(row)]
    if reasons:
        raise ExperimentError("\n".join(dict.fromkeys(reasons[:_MOST_REASONS])))
    return rows


def _templates_in(row: ExperimentRow) -> Iterator[str]:
    """Why values of the experiment file are refused: promptfoo puts other values into them."""
    for name, value in row.case.variables.items():
        found = _VARIABLE.search(value) if isinstance(value, str) else None
        if found is not None and found[1] in row.case.variables:
            yield tr(
                "{place}: the value {name!r} reads {{{{ {other} }}}}, and a value is no template "
                "here: write the text out, or put it into the prompt."
            ).format(place=_place(row), name=name, other=found[1])


def _let_go(cases: list[ExperimentCase]) -> Iterator[ExperimentCase]:
    """The cases from the last to the first; those that are taken take no memory any more."""
    while cases:
        yield cases.pop()


def _names_in_assertions(case: ExperimentCase) -> Iterator[str]:
    """Words in the assertions of a case; a column that one of them names is read."""
    for spec in case.assertions:
        yield from re.findall(r"\w+", json.dumps(spec.value, default=str))
        for inner in spec.nested:
            yield from re.findall(r"\w+", json.dumps(inner.value, default=str))


def _cases(
    file: ExperimentFile,
    folder: Folder,
    variants: Sequence[PlannedVariant],
    warnings: list[str],
    on_rows: Callable[[int], None] | None,
    values: ValueFiles,
) -> Iterator[ExperimentCase]:
    for each in file.cases:
        if isinstance(each, ExperimentCase):
            yield values.of(each)
        elif isinstance(each, DatasetReference):
            for case in _dataset(each, file, folder, warnings, on_rows):
                whole = with_values(named_at(case, each.span), file, folder) if case.files else case
                # Rows of a table are data: what one says is not a name of a file.
                yield values.of(whole) if whole.file.endswith(_TESTS) else whole
        else:
            samples = {
                item.name: item.sample if item.has_sample else item.default
                for item in variants[0].document.inputs
                if item.has_sample or item.has_default
            }
            yield ExperimentCase(samples, id="samples")


def _dataset(
    reference: DatasetReference,
    file: ExperimentFile,
    folder: Folder,
    warnings: list[str],
    on_rows: Callable[[int], None] | None,
) -> Iterator[ExperimentCase]:
    paths = [folder.path / reference.path]
    if "*" in reference.path:
        try:
            found = folder.matching(reference.path)
        except ExperimentError as error:
            raise ExperimentError(message_at(file, reference.span.start, str(error))) from None
        paths = [each for each in found if each.suffix.lower() in DATA_SUFFIXES]
    if not paths:
        message = tr("{name}: no file has such a name.").format(name=reference.path)
        raise ExperimentError(message_at(file, reference.span.start, message))
    for path in paths:
        name = path.relative_to(folder.path) if path.is_relative_to(folder.path) else path
        try:
            if path.exists():
                folder.find(str(reference.path if "*" not in reference.path else name))
            dataset = read_dataset(reference, path, on_rows)
        except (DatasetError, ExperimentError) as error:
            raise ExperimentError(message_at(file, reference.span.start, str(error))) from None
        warnings += dataset.warnings
        yield from dataset.cases


def checked_values(
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
            if not variant.takes(row.case):
                continue
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
            tr("the input {name!r} is declared as {kind}; {text!r} is not one").format(
                name=item.name, kind=item.kind, text=text[:40]
            )
        ) from None
    return value
