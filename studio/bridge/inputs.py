"""Form fields as values: from a document's inputs, or from a JSON schema."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, Literal, TypeAlias

from studio.core.prompty.document import InputDeclaration, PromptDocument
from studio.core.prompty.inputs import RESERVED_SAMPLES, preview_inputs
from studio.core.text.span import Span
from studio.core.text.values import Json, JsonObject

FieldKind: TypeAlias = Literal[
    "string", "integer", "number", "boolean", "choice", "object", "array", "json", "thread",
    "image", "file", "audio",
]  # fmt: skip
"""Which editor a value gets; `json` for whatever has no better one."""

_KINDS: Mapping[str, FieldKind] = {
    "string": "string",
    "integer": "integer",
    "float": "number",
    "number": "number",
    "boolean": "boolean",
    "array": "array",
    "object": "object",
    "thread": "thread",
    "image": "image",
    "file": "file",
    "audio": "audio",
}
_DEEPEST = 6


class Absent(Enum):
    """The value of a field that nobody filled: not null, not an empty text."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT
FieldValue: TypeAlias = "Json | Absent"


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """One field of a form."""

    name: str
    """Key of the value; empty for an item of a list."""

    kind: FieldKind = "string"
    """Which editor it gets."""

    type_name: str = ""
    """The type in the author's own word, for the label."""

    description: str = ""
    """For people."""

    required: bool = False
    """Whether a run without a value is an error."""

    fallback: FieldValue = ABSENT
    """The value used while the field is absent."""

    fallback_origin: str = ""
    """Where that comes from: "default", "sample", "supplied by the run"; empty without one."""

    choices: tuple[Json, ...] = ()
    """The values allowed, where limited."""

    properties: tuple[FieldSpec, ...] = ()
    """Fields of an object."""

    items: FieldSpec | None = None
    """The field of a list's item."""

    nullable: bool = False
    """Whether null is a value."""

    minimum: float | None = None
    """Least number."""

    maximum: float | None = None
    """Greatest number."""

    pattern: str = ""
    """Regular expression that a text must match somewhere."""

    declared: bool = True
    """Whether the document declares it."""

    supplied: bool = False
    """Whether a run brings the value, so that a person need not."""

    span: Span | None = None
    """Where it is declared, or first used."""


_PERSONAL = frozenset({"question", "input"})
"""Reserved names whose value nobody but the person can bring."""


def own_count(specs: Sequence[FieldSpec], given: Mapping[str, Json]) -> tuple[int, int]:
    """How many of the person's own fields have a value, and how many there are."""
    own = [spec.name for spec in specs if not spec.supplied]
    return sum(name in given for name in own), len(own)


def input_fields(document: PromptDocument) -> tuple[FieldSpec, ...]:
    """A field for each declared input, then for each undeclared variable of the template."""
    values, samples = preview_inputs(document, {})
    fields = []
    for item in document.inputs:
        if not item.name:
            continue
        spec = declaration_field(item)
        if spec.fallback is ABSENT and item.name in values:
            supplied = item.name not in _PERSONAL and spec.kind != "thread"
            origin = "supplied by the run" if supplied else "sample"
            fallback = values[item.name]
            spec = replace(spec, fallback=fallback, fallback_origin=origin, supplied=supplied)
        fields.append(spec)
    declared = {item.name for item in document.inputs}
    first_use: dict[str, Span] = {}
    for variable in document.variables:
        first_use.setdefault(variable.name, variable.span)
    if "thread" in values:
        first_use.setdefault("thread", Span(document.body.start, document.body.start))
    for name, span in first_use.items():
        if name not in declared:
            fields.append(_undeclared(name, span, values, samples))
    return tuple(fields)


def _undeclared(
    name: str, span: Span, values: Mapping[str, Json], samples: frozenset[str]
) -> FieldSpec:
    reserved = name in RESERVED_SAMPLES
    supplied = reserved and name not in _PERSONAL
    origin = "supplied by the run" if supplied else "sample"
    value: FieldValue = values.get(name, ABSENT)
    kind: FieldKind = "string" if isinstance(value, str) or value is ABSENT else "json"
    return FieldSpec(
        name=name,
        kind="thread" if name == "thread" and not isinstance(value, str) else kind,
        type_name=origin if supplied else "reserved name" if reserved else "not declared",
        fallback=value,
        fallback_origin=origin if name in samples else "",
        declared=reserved,
        supplied=supplied,
        span=span,
    )


def declaration_field(item: InputDeclaration, depth: int = 0) -> FieldSpec:
    """The field of one declared input, or of a property or item of one."""
    kind = _KINDS.get(item.kind, "json")
    if item.enum:
        kind = "choice"
    elif (
        depth >= _DEEPEST
        or (kind == "object" and not item.properties)
        or (kind == "array" and item.items is None)
    ):
        kind = "json"
    fallback: FieldValue = ABSENT
    origin = ""
    if item.has_default and item.default is not None:
        fallback, origin = item.default, "default"
    elif item.has_sample:
        fallback, origin = item.sample, "sample"
    return FieldSpec(
        name=item.name,
        kind=kind,
        type_name=item.kind,
        description=item.description,
        required=item.required,
        fallback=fallback,
        fallback_origin=origin,
        choices=item.enum,
        properties=tuple(declaration_field(each, depth + 1) for each in item.properties),
        items=declaration_field(item.items, depth + 1) if item.items else None,
        nullable=item.nullable,
        span=item.name_span or item.span,
    )


def schema_fields(schema: JsonObject) -> tuple[FieldSpec, ...]:
    """The fields of an object schema, in its own order."""
    return _SchemaReader(schema).field("", schema, required=True).properties


@dataclass(slots=True)
class _SchemaReader:
    """Reads one schema; what it cannot show as fields becomes a JSON editor."""

    root: JsonObject
    open_references: list[str] = field(default_factory=list)

    def field(self, name: str, schema: Json, *, required: bool) -> FieldSpec:
        reference = schema.get("$ref") if isinstance(schema, Mapping) else None
        if isinstance(reference, str):
            if reference in self.open_references or len(self.open_references) >= _DEEPEST:
                return FieldSpec(name, "json", type_name="object", required=required)
            self.open_references.append(reference)
            try:
                found = {**_mapping(self._resolve(reference)), **_without(schema, "$ref")}
                return self._plain(name, found, required=required)
            finally:
                self.open_references.pop()
        return self._plain(name, _mapping(schema), required=required)

    def _resolve(self, reference: str) -> Json:
        value: Json = self.root
        for key in reference.removeprefix("#/").split("/"):
            name = key.replace("~1", "/").replace("~0", "~")
            value = value.get(name) if isinstance(value, Mapping) else None
        return value

    def _plain(self, name: str, schema: JsonObject, *, required: bool) -> FieldSpec:
        schema, nullable = _without_null(schema)
        if "$ref" in schema:
            return replace(self.field(name, schema, required=required), nullable=nullable)
        word = schema.get("type")
        choices = _choices(schema)
        kind = _KINDS.get(word, "json") if isinstance(word, str) else "json"
        properties = self._properties(schema) if kind == "object" else ()
        items = None
        if kind == "array" and isinstance(schema.get("items"), Mapping):
            items = self.field("", schema["items"], required=True)
        if choices:
            kind = "choice"
        elif (kind == "object" and not properties) or (kind == "array" and items is None):
            kind = "json"
        return FieldSpec(
            name=name,
            kind=kind,
            type_name=word if isinstance(word, str) else "any",
            description=_string(schema, "description"),
            required=required,
            fallback=schema.get("default", ABSENT),
            fallback_origin="default" if "default" in schema else "",
            choices=choices,
            properties=properties,
            items=items,
            nullable=nullable,
            minimum=_number(schema, "minimum"),
            maximum=_number(schema, "maximum"),
            pattern=_string(schema, "pattern"),
        )

    def _properties(self, schema: JsonObject) -> tuple[FieldSpec, ...]:
        required = schema.get("required")
        names = required if isinstance(required, Sequence) else ()
        return tuple(
            self.field(key, part, required=key in names)
            for key, part in _mapping(schema.get("properties")).items()
        )


def show_value(value: FieldValue) -> str:
    """A value on one line, for placeholders."""
    if value is ABSENT:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = " ".join(text.split())
    return text if len(text) <= 80 else f"{text[:79]}…"


def _without_null(schema: JsonObject) -> tuple[JsonObject, bool]:
    """The schema without the null that it also allows, and whether it did."""
    word = schema.get("type")
    if isinstance(word, list | tuple) and "null" in word:
        rest = [item for item in word if item != "null"]
        return {**schema, "type": rest[0] if len(rest) == 1 else rest}, True
    options = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(options, list | tuple):
        rest = [item for item in options if _mapping(item).get("type") != "null"]
        if len(rest) == 1:
            outer = {key: item for key, item in schema.items() if key not in ("anyOf", "oneOf")}
            return {**_mapping(rest[0]), **outer}, len(rest) < len(options)
    return schema, False


def _choices(schema: JsonObject) -> tuple[Json, ...]:
    if "const" in schema:
        return (schema["const"],)
    listed = schema.get("enum")
    return tuple(listed) if isinstance(listed, list | tuple) else ()


def _mapping(value: Json) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def _without(schema: Json, key: str) -> JsonObject:
    return {name: part for name, part in _mapping(schema).items() if name != key}


def _string(schema: JsonObject, key: str) -> str:
    value = schema.get(key)
    return value if isinstance(value, str) else ""


def _number(schema: JsonObject, key: str) -> float | None:
    value = schema.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)
