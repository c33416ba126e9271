"""Assertions as an experiment file states them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import get_args

from studio.core.experiments.file.nodes import YamlNode, foreign_code, foreign_type
from studio.core.experiments.values import AssertionSpec, KeepRule
from studio.core.models.base import ProtocolName
from studio.core.paths import resource_table
from studio.core.prompty.front.schema import json_schema, read_shapes
from studio.core.text.naming import nearest
from studio.core.text.source import Fix, TextEdit
from studio.core.text.values import Json

ASSERTION_HELP = resource_table("words", "assertions.txt")["assertions"]
"""Description of each type of assertion."""

TYPES = tuple(ASSERTION_HELP)
"""Types that are decided here."""

_KEYS = tuple(
    """
    type value threshold weight metric provider rubricPrompt transform config assert
    contextTransform $ref
""".split()
)
_WITHOUT_VALUE = frozenset(
    """
    is-json contains-json is-refusal is-valid-openai-tools-call no-error
    is-valid-openai-function-call latency cost assert-set tokens final-answer trace-error-spans
    word-count is-xml contains-xml contains-html
""".split()
)


def read_assertions(
    node: YamlNode, templates: Mapping[str, YamlNode], depth: int = 0
) -> Iterator[AssertionSpec]:
    """The assertions of a list.

    Args:
        node: the list, or one assertion.
        templates: `assertionTemplates`, by name.
        depth: how many sets are around it.
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
    """The assertion itself, or the template that its `$ref` names."""
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
            "`contextTransform` is not followed here: remove it.", "experiment-unsupported"
        )
    metric = item.get("metric").text("The metric")
    if "{{" in metric:
        item.get("metric").wrong(
            "The name of a metric is not filled in here: write it out.", "experiment-unsupported"
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
            item.wrong("The set holds no assertions.", "assertion-value")
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
    """Whether an assertion is whole without a `value`, as a rubric whose prompt says it all."""
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


def assertion_of_column(text: str, span_line: int = 0) -> AssertionSpec:
    """An assertion as a cell of a CSV file states it: `contains: Paris`, `is-json`, or a text.

    Source: promptfoo, "Test case configuration": a text without a type means `equals`.

    Raises:
        ValueError: it is of a type that is not run here.
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
    if name in TYPES:
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


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


# The keys of an experiment file: the one definition behind completion, hover and the schema.

SHAPES = read_shapes(
    "experiment.keys",
    keep=get_args(KeepRule),
    protocols=get_args(ProtocolName),
    assertions=(*TYPES, *(f"not-{each}" for each in TYPES if each != "assert-set")),
)
"""Every mapping of an experiment file with its keys."""


def key_names(shape: str) -> tuple[str, ...]:
    """The keys of a mapping, by the name of its shape."""
    return tuple(key.name for key in SHAPES[shape])


def main(arguments: list[str]) -> int:
    """Write the schema to the named file, or to `resources/schema/experiment.schema.json`."""
    from studio.core.paths import resource

    target = Path(arguments[0]) if arguments else resource("schema", "experiment.schema.json")
    text = json.dumps(json_schema(SHAPES, "An experiment"), indent=2, ensure_ascii=False)
    target.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
