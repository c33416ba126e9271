"""The cases of an experiment file: inline, scenarios, and references to datasets.

They are expanded to rows: defaults added, lists spread, and a stable key for each row.
"""

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice, product
from pathlib import Path
from typing import Literal, get_args

from studio.core.experiments.file.nodes import FOREIGN_KEYS, YamlNode, foreign_code, foreign_type
from studio.core.experiments.values import (
    AssertionSpec,
    DatasetReference,
    ExperimentCase,
    ExperimentRow,
    FileReference,
    KeepRule,
)
from studio.core.models.base import ProtocolName
from studio.core.paths import resource_table
from studio.core.prompty.front.schema import json_schema, read_shapes
from studio.core.text.naming import nearest
from studio.core.text.source import Fix, SourceText, TextEdit
from studio.core.text.values import Json, JsonDict, JsonObject, parse_json

# Assertions in an experiment file.

ASSERTION_HELP = resource_table("words", "assertions.txt")["assertions"]
"""Description of each type of assertion."""

TYPES = tuple(ASSERTION_HELP)
"""The supported types of assertions."""

_KEYS = tuple(
    """
    type value threshold weight metric provider rubricPrompt transform config assert
    contextTransform $ref
""".split()
)
_WITHOUT_VALUE = frozenset(
    """
    is-json contains-json is-refusal is-valid-openai-tools-call no-error expected
    is-valid-openai-function-call latency cost assert-set tokens final-answer trace-error-spans
    word-count is-xml contains-xml contains-html
""".split()
)


def read_assertions(
    node: YamlNode, templates: Mapping[str, YamlNode], depth: int = 0
) -> Iterator[AssertionSpec]:
    """Yield the assertions of a list.

    Args:
        node: the list, or one assertion.
        templates: `assertionTemplates`, by name.
        depth: number of enclosing sets.
    """
    if node.value is not None and not isinstance(node.value, list | Mapping):
        node.wrong("assert is a list of assertions, each with a `type`.")
        return
    for item in node.items():
        resolved = _referenced(item, templates)
        if resolved is not None:
            made = _assertion(resolved, templates, depth)
            if made is not None:
                yield made


def _referenced(item: YamlNode, templates: Mapping[str, YamlNode]) -> YamlNode | None:
    """Return the assertion itself, or the template that its `$ref` names; None if there is none."""
    reference = item.get("$ref").value
    if not isinstance(reference, str):
        return item
    name = reference.rpartition("/")[2]
    if name in templates:
        return templates[name]
    known = ", ".join(repr(each) for each in templates) or "none"
    item.get("$ref").wrong(f"There is no assertion template {name!r}; there are: {known}.")
    return None


def _assertion(
    item: YamlNode, templates: Mapping[str, YamlNode], depth: int
) -> AssertionSpec | None:
    if not isinstance(item.value, Mapping):
        item.wrong("An assertion is a mapping with a `type`, such as {type: contains, value: yes}.")
        return None
    item.check_keys(_KEYS, "An assertion")
    kind = item.get("type")
    written = kind.text("The type of an assertion").strip()
    if not written:
        if not isinstance(kind.value, str | None) or "type" not in item:
            item.wrong("The assertion has no `type`.", "assertion-type")
        return None
    name = written.removeprefix("not-")
    value = item.get("value")
    foreign = foreign_type(name) or foreign_code(value.value)
    if foreign:
        kind.wrong(foreign, "experiment-unsupported")
        return None
    if name not in TYPES:
        _unknown_type(kind, name, negated=name != written)
    if "contextTransform" in item:
        item.get("contextTransform").wrong(
            "`contextTransform` is not supported here: remove it.", "experiment-unsupported"
        )
    metric = item.get("metric").text("The metric")
    if "{{" in metric:
        item.get("metric").wrong(
            "The name of a metric is not rendered here: write it out.", "experiment-unsupported"
        )
    if name in TYPES and "value" not in item and not _needs_no_value(name, item):
        item.wrong(f"An assertion of type {name!r} needs a `value`.", "assertion-value")
    nested: tuple[AssertionSpec, ...] = ()
    if name == "assert-set":
        if depth >= 4:
            item.wrong("Sets of assertions are nested too deeply.")
            return None
        nested = tuple(read_assertions(item.get("assert"), templates, depth + 1))
        if not nested:
            item.wrong("The set contains no assertions.", "assertion-value")
    weight = item.get("weight").number("The weight", 0)
    return AssertionSpec(
        name,
        negated=name != written,
        value=value.value,
        threshold=item.get("threshold").number("The threshold"),
        weight=1.0 if weight is None else weight,
        metric=metric,
        provider=item.get("provider").value,
        rubric=item.get("rubricPrompt").value,
        transform=item.get("transform").text("transform"),
        config=item.get("config").object("config"),
        nested=nested,
        span=item.span,
    )


def _needs_no_value(name: str, item: YamlNode) -> bool:
    """Return whether an assertion needs no `value`, such as a rubric with its own prompt."""
    if name == "llm-rubric":
        return any("rubricPrompt" in path for path in item.places)
    return name in _WITHOUT_VALUE


def _unknown_type(kind: YamlNode, name: str, *, negated: bool) -> None:
    near = nearest(name, TYPES)
    written = f"not-{near}" if near and negated else near
    fixes = (Fix(f"Write {written!r}", (TextEdit(kind.span, written),)),) if near else ()
    meant = f" Did you mean {written!r}?" if near else ""
    message = f"There is no assertion type {name!r}.{meant}"
    kind.findings.error("assertion-type", message, kind.span, *fixes)


def assertion_of_column(text: str) -> AssertionSpec:
    """Read an assertion in a CSV cell: `contains: Paris`, `is-json`, or a text.

    Source: promptfoo, "Test case configuration": a text without a type means `equals`.

    Raises:
        ValueError: its type is not supported.
    """
    written = text.strip()
    negated = written.startswith("not-")
    body = written.removeprefix("not-")
    for prefix, kind in (
        ("javascript:", "javascript"),
        ("fn:", "javascript"),
        ("eval:", "javascript"),
        ("python:", "python"),
        ("grade:", "llm-rubric"),
        ("file://", "javascript"),
    ):
        if body.startswith(prefix):
            if prefix == "file://" and body.endswith(".prompty"):
                return AssertionSpec("llm-rubric", negated, body)
            if prefix == "file://":
                return AssertionSpec("python" if ".py" in body else kind, negated, body)
            return AssertionSpec(kind, negated, body.removeprefix(prefix).strip())
    head, colon, rest = body.partition(":")
    name, bracket, inner = head.partition("(")
    threshold = _number(inner.rstrip(")")) if bracket else None
    name = name.strip()
    foreign = foreign_type(name)
    if foreign:
        raise ValueError(foreign)
    if name in TYPES and name != "expected":
        value: Json = rest.strip() if colon else None
        if name.endswith(("-all", "-any")) and isinstance(value, str):
            value = [each.strip() for each in value.split(",") if each.strip()]
        if name in ("latency", "cost") and threshold is None:
            threshold, value = _number(str(value or "")), None
        return AssertionSpec(name, negated, value, threshold)
    for kind in ("trajectory:tool-used", "trajectory:tool-sequence", "trajectory:step-count"):
        if body.startswith(f"{kind}:"):
            return AssertionSpec(kind, negated, body.removeprefix(f"{kind}:").strip())
    return AssertionSpec("equals", value=written)


def expected_assertion(text: str) -> AssertionSpec | None:
    """Read the assertion in the `expected` of a row; None if it is empty.

    It is an assertion as in `__expected`, the fields of a JSON object, or a text that the answer
    must contain. The text is not rendered: a row is data.

    Raises:
        ValueError: its type is not supported.
    """
    written = text.strip()
    if not written:
        return None
    with suppress(ValueError):
        fields = parse_json(written) if written.startswith("{") else None
        if isinstance(fields, Mapping):
            must: JsonDict = {name: {"const": value} for name, value in fields.items()}
            schema: JsonDict = {"properties": must, "required": list(must)}
            return AssertionSpec("is-json", value=schema)
    spec = assertion_of_column(written)
    is_plain = spec == AssertionSpec("equals", value=written) or not {":", "-"} & set(written)
    return AssertionSpec("contains", value="{{ expected }}") if is_plain else spec


def plain_expected(text: str) -> str:
    """Return the `expected` that requires a text in the answer, even one like an assertion."""
    with suppress(ValueError):
        spec = expected_assertion(text)
        if spec is None or spec.value == "{{ expected }}" or isinstance(spec.value, Mapping):
            return text
    return f"contains: {text}"


def _with_expected(specs: tuple[AssertionSpec, ...], text: str) -> Iterator[AssertionSpec]:
    """Yield assertions with the row's own for `expected`; an unsupported one carries its reason."""
    for each in specs:
        if each.nested:
            nested = tuple(_with_expected(each.nested, text))
            yield from [replace(each, nested=nested)] if nested else []
        elif each.type != "expected":
            yield each
        else:
            try:
                made = expected_assertion(text)
            except ValueError as error:
                made = replace(each, value=str(error))
            if made is not None:
                negated = made.negated is not each.negated
                yield replace(made, negated=negated, weight=each.weight, metric=each.metric)


def unread_expected(case: ExperimentCase) -> str:
    """Return why the `expected` of a row cannot be read; empty if it can."""
    wrong = (str(each.value) for each in case.assertions if each.type == "expected")
    return next(wrong, "")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


# The keys of an experiment file: the single source of completion, hover and the schema.

SHAPES = read_shapes(
    "experiment.keys",
    keep=get_args(KeepRule),
    protocols=get_args(ProtocolName),
    assertions=(*TYPES, *(f"not-{each}" for each in TYPES if each != "assert-set")),
)
"""The keys of each mapping of an experiment file, by the name of its shape."""


def key_names(shape: str) -> tuple[str, ...]:
    """Return the keys of the mapping with that shape."""
    return tuple(key.name for key in SHAPES[shape])


def main(arguments: list[str]) -> int:
    """Write the schema to the given file, or to `resources/schema/experiment.schema.json`."""
    from studio.core.paths import resource

    target = Path(arguments[0]) if arguments else resource("schema", "experiment.schema.json")
    text = json.dumps(json_schema(SHAPES, "An experiment"), indent=2, ensure_ascii=False)
    target.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))


_DATASET_KEYS = ("path", "take", "seed", "where", "columns", "config")
DATA_SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".yaml", ".yml")
"""Suffixes of files of rows."""

CaseEntry = ExperimentCase | DatasetReference | Literal["samples"]

_MOST_OF_ONE = 10_000
"""Maximum number of rows that the lists of one case are expanded to."""


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
    """Read one case; also used for `defaultTest`."""
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
    """Refuse promptfoo's options that change the request or the verdict."""
    node.check_foreign("options")
    for name, child in node.fields():
        if name not in (*key_names("case_options"), *FOREIGN_KEYS["options"]):
            message = f"`options.{name}` is not supported here: put it into a provider's `config`."
            node.findings.error("experiment-unsupported", message, child.key_span)


def read_scenarios(
    node: YamlNode, templates: Mapping[str, YamlNode], source: SourceText
) -> Iterator[ExperimentCase]:
    """Yield every test of a scenario combined with each of its configurations."""
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
    """Return a case with the defaults around it; its own values take precedence."""
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
    """Read the prompts or providers of a test; None if it has none."""
    return node.texts(what) if node.value is not None else None


def file_reference(node: YamlNode, what: str) -> FileReference:
    """Return the file that a text names, with or without `file://`."""
    return FileReference(node.text(what).removeprefix("file://"), node.span)


def _over(outer: JsonObject, inner: JsonObject) -> JsonObject:
    """Return both mappings merged, inner keys first; copies only if both have keys."""
    return {**outer, **inner} if outer and inner else inner or outer


def _dataset(item: YamlNode, written: str) -> DatasetReference | None:
    path = written.removeprefix("file://")
    if written.startswith("huggingface://"):
        item.wrong(
            "Datasets cannot be loaded from a hub: export it as CSV or JSONL and name the file.",
            "experiment-unsupported",
        )
        return None
    if written.startswith(("http:", "https:")):
        item.wrong(
            "Rows can only be read from files: save them beside the experiment and name the file."
        )
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
    cases: Iterable[ExperimentCase], default: ExperimentCase, whole: frozenset[str] = frozenset()
) -> tuple[ExperimentRow, ...]:
    """Return every row of an experiment.

    Args:
        cases: cases of the file and its datasets, in order.
        default: defaults for each case.
        whole: names whose lists are one value (inputs of the kinds `array` and `thread`).
    """
    rows: list[ExperimentRow] = []
    seen: dict[str, int] = {}
    for case in cases:
        merged = merged_case(default, case)
        if any(each.type == "expected" or each.nested for each in merged.assertions):
            checks = tuple(_with_expected(merged.assertions, merged.expected or ""))
            merged = replace(merged, assertions=checks)
        for spread in _spread(merged, whole):
            key = spread.id or row_hash(spread.variables)
            seen[key] = seen.get(key, 0) + 1
            unique = key if seen[key] == 1 else f"{key}#{seen[key]}"
            rows.append(ExperimentRow(unique, spread, len(rows) + 1))
    return tuple(rows)


def _spread(case: ExperimentCase, whole: frozenset[str]) -> Iterator[ExperimentCase]:
    """Yield a case for each combination of its list values whose first item is a text.

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


def row_hash(variables: JsonObject) -> str:
    """Return a short hash of the values, which does not depend on the expected answer.

    So a row keeps its key when its answer is accepted as the expected one.
    """
    asked = {name: value for name, value in variables.items() if name != "expected"}
    text = json.dumps(asked or variables, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
