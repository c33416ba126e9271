"""From cases to rows: defaults added, lists spread, and a key that the row keeps."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice, product

from studio.core.experiments.file.cases import merged_case
from studio.core.experiments.values import ExperimentCase, ExperimentRow
from studio.core.text.values import Json

_MOST_OF_ONE = 10_000
"""Rows that the lists of one case are spread to at most."""


def expand_rows(
    cases: Iterable[ExperimentCase],
    default: ExperimentCase,
    whole: frozenset[str] = frozenset(),
) -> tuple[ExperimentRow, ...]:
    """Every row of an experiment.

    Args:
        cases: of the file and its datasets, in order.
        default: holds for each.
        whole: names whose lists are one value (inputs of the kinds `array` and `thread`).
    """
    rows: list[ExperimentRow] = []
    seen: dict[str, int] = {}
    for case in cases:
        for spread in _spread(merged_case(default, case), whole):
            key = spread.id or row_hash(spread.variables)
            seen[key] = seen.get(key, 0) + 1
            unique = key if seen[key] == 1 else f"{key}#{seen[key]}"
            rows.append(ExperimentRow(unique, spread, len(rows) + 1))
    return tuple(rows)


def _spread(case: ExperimentCase, whole: frozenset[str]) -> Iterator[ExperimentCase]:
    """A case for each combination of the values that are lists, as promptfoo does it."""
    lists = {
        name: value
        for name, value in case.variables.items()
        if isinstance(value, list) and name not in whole
    }
    if not lists or case.options.get("disableVarExpansion") is True:
        yield case
        return
    for values in islice(product(*lists.values()), _MOST_OF_ONE):
        chosen = dict(zip(lists, values, strict=True))
        yield replace(case, variables={**case.variables, **chosen})


def row_hash(variables: Mapping[str, Json]) -> str:
    """A short name of values; the same for equal values, whatever answer is expected of them.

    So a row is the same one before and after its answer is accepted as the expected one.
    """
    asked = {name: value for name, value in variables.items() if name != "expected"}
    text = json.dumps(asked or variables, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
