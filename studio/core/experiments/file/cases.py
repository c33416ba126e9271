"""Cases as an experiment file states them: inline, scenarios, and references to datasets.

Rows come of them: defaults added, lists spread, and a key that the row keeps.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice, product
from typing import Literal

from studio.core.experiments.file.assertions import key_names, read_assertions
from studio.core.experiments.file.nodes import FOREIGN_KEYS, YamlNode
from studio.core.experiments.values import (
    DatasetReference,
    ExperimentCase,
    ExperimentRow,
    FileReference,
)
from studio.core.text.source import SourceText
from studio.core.text.values import Json, JsonObject

_DATASET_KEYS = ("path", "take", "seed", "where", "columns", "config")
DATA_SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".yaml", ".yml")
"""Files that rows are read from."""

CaseEntry = ExperimentCase | DatasetReference | Literal["samples"]

_MOST_OF_ONE = 10_000
"""Rows that the lists of one case are spread to at most."""


def read_cases(
    node: YamlNode, templates: Mapping[str, YamlNode], source: SourceText
) -> Iterator[CaseEntry]:
    """Read the cases of `tests:`."""
    for item in node.items():
        if isinstance(item.value, str):
            if item.value == "samples":
                yield "samples"
            else:
                made = _dataset(item, item.value)
                if made is not None:
                    yield made
        elif isinstance(item.value, Mapping) and "path" in item and "vars" not in item:
            made = _dataset(item, item.get("path").text("The path"))
            if made is not None:
                yield made
        elif isinstance(item.value, Mapping):
            yield read_case(item, templates, source)
        else:
            item.wrong("A test is a mapping with `vars`, or the path of a file of rows.")


def read_case(
    node: YamlNode, templates: Mapping[str, YamlNode], source: SourceText
) -> ExperimentCase:
    """One case; also `defaultTest`."""
    node.check_keys((*key_names("case"), *FOREIGN_KEYS["test"]), "A test")
    node.check_foreign("test")
    _check_options(node.get("options"))
    expected = node.get("expected")
    values = node.get("vars")
    files: tuple[FileReference, ...] = ()
    if isinstance(values.value, str | list):
        files = tuple(file_reference(each, "A file of values") for each in values.items())
    variables = values.object("vars") if isinstance(values.value, Mapping) else {}
    return ExperimentCase(
        variables={str(key): value for key, value in variables.items()},
        files=files,
        assertions=tuple(read_assertions(node.get("assert"), templates)),
        id=node.get("id").text("The id"),
        description=node.get("description").text("The description"),
        tags=node.get("tags").texts("A tag"),
        metadata=node.get("metadata").object("metadata"),
        threshold=node.get("threshold").number("The threshold"),
        expected=expected.text("expected") if "expected" in node else None,
        options=node.get("options").object("options"),
        prompts=_references(node.get("prompts"), "A prompt"),
        providers=_references(node.get("providers"), "A provider"),
        line=source.position(node.span.start).line,
    )


def _check_options(node: YamlNode) -> None:
    """Refuse options that promptfoo sends with the request, or that change a verdict."""
    node.check_foreign("options")
    for name, child in node.fields():
        if name not in (*key_names("case_options"), *FOREIGN_KEYS["options"]):
            message = f"`options.{name}` is not followed here: put it into a provider's `config`."
            node.findings.error("experiment-unsupported", message, child.key_span)


def read_scenarios(
    node: YamlNode, templates: Mapping[str, YamlNode], source: SourceText
) -> Iterator[ExperimentCase]:
    """Every test of a scenario with every one of its configurations."""
    for scenario in node.items():
        if not isinstance(scenario.value, Mapping):
            scenario.wrong("A scenario is a mapping with `config` and `tests`.")
            continue
        tests = [
            each
            for each in read_cases(scenario.get("tests"), templates, source)
            if isinstance(each, ExperimentCase)
        ] or [ExperimentCase()]
        for config in scenario.get("config").items():
            outer = read_case(config, templates, source)
            for test in tests:
                yield merged_case(outer, test)


def merged_case(outer: ExperimentCase, inner: ExperimentCase) -> ExperimentCase:
    """A case with what holds around it; its own values count."""
    drops = inner.options.get("disableDefaultAsserts") is True
    asserted = outer.assertions if not inner.assertions else (*outer.assertions, *inner.assertions)
    return replace(
        inner,
        variables=_over(outer.variables, inner.variables),
        files=(*outer.files, *inner.files),
        assertions=inner.assertions if drops else asserted,
        description=inner.description or outer.description,
        tags=tuple(dict.fromkeys((*outer.tags, *inner.tags))),
        metadata=_over(outer.metadata, inner.metadata),
        threshold=outer.threshold if inner.threshold is None else inner.threshold,
        expected=outer.expected if inner.expected is None else inner.expected,
        options=_over(outer.options, inner.options),
        prompts=outer.prompts if inner.prompts is None else inner.prompts,
        providers=outer.providers if inner.providers is None else inner.providers,
    )


def _references(node: YamlNode, what: str) -> tuple[str, ...] | None:
    """Read the prompts or providers of a test; None if it names none."""
    return node.texts(what) if node.value is not None else None


def file_reference(node: YamlNode, what: str) -> FileReference:
    """The file that a text names, `file://` or not."""
    return FileReference(node.text(what).removeprefix("file://"), node.span)


def _over(outer: JsonObject, inner: JsonObject) -> JsonObject:
    """Both, the inner ones counting; no copy for each of many rows where one of them is empty."""
    return {**outer, **inner} if outer and inner else inner or outer


def _dataset(item: YamlNode, written: str) -> DatasetReference | None:
    path = written.removeprefix("file://")
    if written.startswith("huggingface://"):
        item.wrong(
            "Datasets are not loaded from a hub: export it as CSV or JSONL and name the file.",
            "experiment-unsupported",
        )
        return None
    if written.startswith(("http:", "https:")):
        item.wrong("Rows are read from files only: save it beside the experiment and name it.")
        return None
    if not path.lower().endswith((*DATA_SUFFIXES, "*")):
        kinds = ", ".join(DATA_SUFFIXES)
        item.wrong(f"Rows cannot be read from {path!r}; files of rows end in {kinds}.")
        return None
    columns: dict[str, str] = {}
    if isinstance(item.value, Mapping):
        item.check_keys(_DATASET_KEYS, "A file of rows")
        for name, value in item.get("columns").fields():
            columns[name] = value.text("The meaning of a column")
    return DatasetReference(
        path,
        take=item.get("take").whole("take", 1) if isinstance(item.value, Mapping) else None,
        seed=(item.get("seed").whole("seed") or 0) if isinstance(item.value, Mapping) else 0,
        where=item.get("where").text("where") if isinstance(item.value, Mapping) else "",
        columns=columns,
        span=item.span,
    )


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
    """A case for each combination of the values that are lists, whose first item is a text.

    Source: promptfoo 0.123, `generateVarCombinations`: any other list is one value.
    """
    lists = {
        name: value
        for name, value in case.variables.items()
        if isinstance(value, list)
        and name not in whole
        and isinstance(next(iter(value), None), str)
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
