"""Form fields from a JSON schema: a tool's arguments, and whatever else has one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from studio.application.inputs.fields import ABSENT, DEEPEST, KINDS, FieldSpec
from studio.core.text.values import Json, JsonObject, object_of, text_of


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
            if reference in self.open_references or len(self.open_references) >= DEEPEST:
                return FieldSpec(name, "json", type_name="object", required=required)
            self.open_references.append(reference)
            try:
                found = {**object_of(self._resolve(reference)), **_without(schema, "$ref")}
                return self._plain(name, found, required=required)
            finally:
                self.open_references.pop()
        return self._plain(name, object_of(schema), required=required)

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
        kind = KINDS.get(word, "json") if isinstance(word, str) else "json"
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
            for key, part in object_of(schema.get("properties")).items()
        )


def _without_null(schema: JsonObject) -> tuple[JsonObject, bool]:
    """The schema without the null that it also allows, and whether it did."""
    word = schema.get("type")
    if isinstance(word, list | tuple) and "null" in word:
        rest = [item for item in word if item != "null"]
        return {**schema, "type": rest[0] if len(rest) == 1 else rest}, True
    options = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(options, list | tuple):
        rest = [item for item in options if object_of(item).get("type") != "null"]
        if len(rest) == 1:
            outer = {key: item for key, item in schema.items() if key not in ("anyOf", "oneOf")}
            return {**object_of(rest[0]), **outer}, len(rest) < len(options)
    return schema, False


def _choices(schema: JsonObject) -> tuple[Json, ...]:
    if "const" in schema:
        return (schema["const"],)
    listed = schema.get("enum")
    return tuple(listed) if isinstance(listed, list | tuple) else ()


def _without(schema: Json, key: str) -> JsonObject:
    return {name: part for name, part in object_of(schema).items() if name != key}


def _string(schema: JsonObject, key: str) -> str:
    return text_of(schema.get(key))


def _number(schema: JsonObject, key: str) -> float | None:
    value = schema.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)
