"""Known fields of values: from declarations, defaults and samples."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from studio.core.prompty.document import EACH, InputDeclaration, PromptDocument, Variable
from studio.core.prompty.front.declarations import kind_of_value
from studio.core.prompty.inputs import RESERVED_SAMPLES
from studio.core.text.values import Json, JsonObject

_NAME = re.compile(r"[A-Za-z_][\w-]*")
_MOST_FIELDS = 30
"""Maximum number of undeclared fields of an object; with more it is a table by key."""
_SHAPES = frozenset(("string", "integer", "float", "boolean", "object"))
"""Kinds of items that have their own fields in a form."""
_MOST_ITEMS = 200
"""Maximum number of items of a list that are read, since they are usually similar."""
_OPEN = (("history", EACH, "arguments"), ("thread", EACH))
"""Objects of a run whose fields differ from run to run."""


@dataclass(frozen=True, slots=True)
class Known:
    """The known facts about the values at a path."""

    declared: tuple[InputDeclaration, ...] = ()
    """Declarations for the path."""

    values: tuple[Json, ...] = ()
    """Values at the path in defaults, samples and entered inputs."""

    is_supplied: bool = False
    """Whether a run sets the value."""

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields of an object at the path, declared ones first."""
        names = [each.name for declared in self.declared for each in declared.properties]
        for value in self.values:
            if isinstance(value, Mapping):
                names += [name for name in value if isinstance(name, str)]
        return tuple(dict.fromkeys(name for name in names if name))

    @property
    def is_object(self) -> bool:
        """Whether all known values are objects."""
        given = [value for value in self.values if value is not None]
        return bool(self.fields) and all(isinstance(value, Mapping) for value in given)

    def at(self, name: str) -> Known:
        """Return the known facts about a field, or about each item (`EACH`)."""
        if name == EACH:
            items = (each.items for each in self.declared)
            lists = (value for value in self.values if isinstance(value, list | tuple))
            values = tuple(item for value in lists for item in value[:_MOST_ITEMS])
            return Known(
                tuple(item for item in items if item), values[:_MOST_ITEMS], self.is_supplied
            )
        inner = (each for declared in self.declared for each in declared.properties)
        objects = (value for value in self.values if isinstance(value, Mapping))
        return Known(
            tuple(each for each in inner if each.name == name),
            tuple(value[name] for value in objects if name in value),
            self.is_supplied,
        )


def known_at(
    document: PromptDocument, path: tuple[str, ...], given: Iterable[JsonObject] = ()
) -> Known:
    """Return the known facts about the values at a path in a template.

    Args:
        document: the prompt, with its declarations, defaults and samples.
        path: a root name and the fields below it, `EACH` for each item.
        given: further values by input: entered ones, input sets, rows of a dataset.
    """
    root, *rest = path
    declared = document.input(root)
    values = [each[root] for each in given if root in each]
    if declared is not None:
        values += [declared.default] if declared.has_default else []
        values += [declared.sample] if declared.has_sample else []
        known = Known((declared,), tuple(values))
    elif root in RESERVED_SAMPLES:
        if any(path[: len(each)] == each for each in _OPEN):
            return Known()
        known = Known((), (*values, RESERVED_SAMPLES[root]), is_supplied=True)
    else:
        known = Known((), tuple(values))
    for name in rest:
        known = known.at(name)
    return known


def shaped(declared: InputDeclaration, values: Iterable[Json] = ()) -> InputDeclaration:
    """Return a declaration with the fields of its values, if it declares none itself.

    Args:
        declared: an input, or a part of one.
        values: further values besides its default and sample.
    """
    known = [value for value in values if value is not None]
    known += [declared.default] if declared.has_default and declared.default is not None else []
    known += [declared.sample] if declared.has_sample and declared.sample is not None else []
    if declared.kind == "array":
        inside = [item for value in known if isinstance(value, list | tuple) for item in value]
        items = declared.items or InputDeclaration("", kind_of_values(inside)) if inside else None
        if items is None or (declared.items is None and items.kind not in _SHAPES):
            return declared
        return replace(declared, items=shaped(items, inside[:_MOST_ITEMS]))
    objects = [value for value in known if isinstance(value, Mapping)]
    if declared.kind != "object" or not objects or len(objects) < len(known):
        return declared
    by_name: dict[str, list[Json]] = {}
    for value in objects:
        for name, held in value.items():
            by_name.setdefault(str(name), []).append(held)
    if not declared.properties:
        if not 0 < len(by_name) <= _MOST_FIELDS or not all(map(_NAME.fullmatch, by_name)):
            return declared
        parts = tuple(
            InputDeclaration(name, kind_of_values(held)) for name, held in by_name.items()
        )
    else:
        parts = declared.properties
    return replace(
        declared, properties=tuple(shaped(part, by_name.get(part.name, ())) for part in parts)
    )


def kind_of_values(values: Iterable[Json]) -> str:
    """Return the common kind of all values; `union` if they differ or there are none."""
    kinds = {kind_of_value(value) for value in values if value is not None}
    if kinds == {"integer", "float"}:
        return "float"
    return kinds.pop() if len(kinds) == 1 else "union"


# The kind of value that a template expects of a variable, judging by its uses.

UsedKind = Literal["string", "object", "array"]

_MEMBER = re.compile(r"\s*(?:\.\s*[A-Za-z_]\w*(?!\w|\s*\()|\[\s*[\"'])")
_ITEM = re.compile(r"\s*(?:\[\s*-?\d|\.\s*\d)")
_LOOP = re.compile(r"\{%[-+]?\s*for\b[^%]*\bin\s+$")
_LIST_FILTER = re.compile(r"\s*\|\s*join\b")


_NEAR = 200
"""Number of characters around a use that are searched, since an expression may be very long."""


def used_kinds(document: PromptDocument) -> dict[str, UsedKind]:
    """Return the expected kind of each undeclared variable: an object if a member is used, etc."""
    declared = {item.name for item in document.inputs}
    found: dict[str, UsedKind] = {}
    for use in document.variables:
        if use.name not in declared and found.get(use.name) != "object":
            kind = _kind(document.source.text, use)
            if kind == "object" or found.get(use.name, "string") == "string":
                found[use.name] = kind
    return found


def _kind(text: str, use: Variable) -> UsedKind:
    after = text[use.span.end : min(use.expression.end, use.span.end + _NEAR)]
    before = text[max(use.expression.start, use.span.start - _NEAR) : use.span.start]
    if _MEMBER.match(after):
        return "object"
    if _ITEM.match(after) or _LIST_FILTER.match(after) or _LOOP.search(before):
        return "array"
    return "string"
