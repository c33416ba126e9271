"""Tests of a promptfoo configuration: input sets, and what the experiment beside asserts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, product

from studio.core.export.target import ExportSource
from studio.core.prompty.prepare import Prepared
from studio.core.text.values import Json, JsonObject

_OWN_TYPES = frozenset(("ends-with", "final-answer", "no-error", "tokens"))
"""Types of assertions that the studio decides and promptfoo does not know."""

_OWN_KEYS = ("id", "tags", "expected")
"""Keys of a case that promptfoo does not know."""

_MOST_ROWS = 1000
_SHARED = ("defaultTest", "scenarios", "assertionTemplates")


def asserted_tests(source: ExportSource, losses: list[str]) -> dict[str, Json]:
    """The keys of a configuration that say what is asked, and what must hold of the answers.

    Args:
        source: The prompt with its sets and its experiment.
        losses: Takes what promptfoo has no place for, a sentence each.
    """
    written = source.experiment.get("tests")
    entries = written if isinstance(written, list) else [written] if written else []
    asked = [row for item in entries for row in _rows(item)]
    tests: list[Json] = [
        {
            "description": name,
            **_vars({**_values(source, prepared), **source.set_values.get(name, {})}),
        }
        for name, prepared in source.sets.items()
        if source.set_values.get(name, {}) not in asked
    ]
    for item in entries:
        tests += _entry(item, source, losses)
    if not tests:
        tests.append(_vars(_values(source, source.prepared)))
    shared = {
        key: _without_own(source.experiment[key], losses)
        for key in _SHARED
        if key in source.experiment
    }
    return {**shared, "tests": tests}


def _rows(item: Json) -> Iterator[JsonObject]:
    """The values that a test asks with, its lists spread."""
    values = item.get("vars") if isinstance(item, Mapping) else None
    if not isinstance(values, Mapping):
        return
    lists = {key: value for key, value in values.items() if isinstance(value, list)}
    for row in islice(product(*lists.values()), _MOST_ROWS):
        yield {**values, **dict(zip(lists, row, strict=True))}


def _entry(item: Json, source: ExportSource, losses: list[str]) -> Iterator[Json]:
    if item == "samples":
        yield {"description": "samples", **_vars(_values(source, source.prepared))}
    elif isinstance(item, Mapping) and isinstance(item.get("path"), str):
        further = ", ".join(key for key in item if key != "path")
        if further:
            losses.append(f"tests of {item['path']}: promptfoo takes no {further}; left out.")
        yield item["path"]
    elif isinstance(item, str):
        yield item
    elif isinstance(item, Mapping):
        kept = {key: value for key, value in item.items() if key not in _OWN_KEYS}
        if "expected" in item:  # what assertions write as {{ expected }}
            values = kept.get("vars")
            known = values if isinstance(values, Mapping) else {}
            kept["vars"] = {"expected": item["expected"], **known}
        yield _without_own(kept, losses)


def _vars(values: JsonObject) -> dict[str, Json]:
    """The values of a test; promptfoo would make several tests of a list."""
    if any(isinstance(value, list) for value in values.values()):
        return {"vars": dict(values), "options": {"disableVarExpansion": True}}
    return {"vars": dict(values)}


def _values(source: ExportSource, prepared: Prepared) -> JsonObject:
    """What the template is filled with: given values, and what a run supplies at its start."""
    names = {item.name for item in source.document.inputs}
    names |= {item.name for item in source.document.variables}
    names |= {item.name for item in source.document.parameters}
    return {key: value for key, value in prepared.inputs.items() if key in names}


def _without_own(value: Json, losses: list[str]) -> Json:
    """The same without assertions that promptfoo does not know, which are told."""
    if isinstance(value, list):
        found: list[Json] = []
        for item in value:
            kind = item.get("type") if isinstance(item, Mapping) else None
            word = kind.removeprefix("not-") if isinstance(kind, str) else ""
            if word in _OWN_TYPES:
                told = f"promptfoo knows no assertion {kind!r}; it is left out."
                losses += [told] if told not in losses else []
            else:
                found.append(_without_own(item, losses))
        return found
    if isinstance(value, Mapping):
        return {
            key: _without_own(item, losses) if key != "vars" else item
            for key, item in value.items()
        }
    return value
