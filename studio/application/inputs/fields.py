"""Form fields as values, from a document's inputs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, Literal, NamedTuple, TypeAlias

from studio.application.words import tr
from studio.core.patterns import SLOW_SECONDS, PatternError, schema_pattern
from studio.core.prompty.document import InputDeclaration, Parameter, PromptDocument
from studio.core.prompty.inputs import (
    PERSONAL,
    RESERVED_SAMPLES,
    InputResolution,
    resolve_inputs,
    stands_for_thread,
)
from studio.core.prompty.known_fields import shaped, used_kinds
from studio.core.prompty.loop_format import undeclared_question
from studio.core.text.amounts import one_line
from studio.core.text.source import Span
from studio.core.text.values import Json, JsonBoundError, JsonObject, object_of, parse_json, text_of

FieldKind: TypeAlias = Literal[
    "string",
    "integer",
    "number",
    "boolean",
    "choice",
    "object",
    "array",
    "json",
    "thread",
    "image",
    "file",
    "audio",
]
"""Kind of editor for a value; `json` if there is no better one."""

KINDS: Mapping[str, FieldKind] = {
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
"""Kind of editor by declared type."""

DEEPEST = 6
"""Maximum depth of nested objects shown as fields; deeper ones are JSON."""


class Absent(Enum):
    """The value of an empty field: neither null nor an empty text."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT
FieldValue: TypeAlias = "Json | Absent"


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """A field of a form."""

    name: str
    """Key of the value; empty for an item of a list."""

    kind: FieldKind = "string"
    """Kind of editor."""

    type_name: str = ""
    """Type as written by the author, for the label."""

    description: str = ""
    """Description for the user."""

    required: bool = False
    """Whether a value is required."""

    fallback: FieldValue = ABSENT
    """Value used while the field is empty."""

    fallback_origin: str = ""
    """Origin of `fallback`: "default", "sample", "supplied by the run"; empty without one."""

    proposed: FieldValue = ABSENT
    """Default of an object's property, used only if the object has another value, since a missing
    object has no properties.
    """

    choices: tuple[Json, ...] = ()
    """Allowed values; empty for any."""

    properties: tuple[FieldSpec, ...] = ()
    """Fields of an object."""

    items: FieldSpec | None = None
    """Field of a list's item."""

    nullable: bool = False
    """Whether null is allowed."""

    minimum: float | None = None
    """Minimum number; None for none."""

    maximum: float | None = None
    """Maximum number; None for none."""

    pattern: str = ""
    """Regular expression that must match somewhere in a text."""

    declared: bool = True
    """Whether the document declares the input."""

    supplied: bool = False
    """Whether a run sets the value, so that the user need not."""

    parameter: bool = False
    """Whether it is only used as `${params:…}`; such inputs form a separate group."""

    span: Span | None = None
    """Span of the declaration, else of the first use."""


class InputCount(NamedTuple):
    """The number of the user's inputs with and without values."""

    given: int
    """Number of inputs with a value."""

    total: int
    """Number of all inputs."""

    samples: tuple[str, ...]
    """Names of inputs for which the preview uses a sample, which a run does not send."""

    missing: tuple[str, ...]
    """Names of required inputs without a value."""


def own_count(specs: Sequence[FieldSpec], given: JsonObject) -> InputCount:
    """Return the numbers of the user's inputs, and the names of those without a value."""
    own = [spec for spec in specs if not spec.supplied]
    absent = [spec for spec in own if spec.name not in given]
    samples = tuple(spec.name for spec in absent if spec.fallback_origin == "sample")
    missing = (spec.name for spec in absent if spec.required and spec.fallback is ABSENT)
    return InputCount(len(own) - len(absent), len(own), samples, tuple(missing))


def input_fields(document: PromptDocument) -> tuple[FieldSpec, ...]:
    """Return a field for each declared input, other template variable, and parameter."""
    resolution = resolve_inputs(document, {})
    fields = [
        _with_value(_declared(shaped(item)), resolution) for item in document.inputs if item.name
    ]
    declared = {item.name for item in document.inputs}
    first_use: dict[str, Span] = {}
    for variable in document.variables:
        first_use.setdefault(variable.name, variable.span)
    parameters = {item.name: item for item in document.parameters}
    for parameter in document.parameters:
        first_use.setdefault(parameter.name, parameter.uses[0])
    question = undeclared_question(document)
    if question:
        start = Span(document.body.start, document.body.start)
        first_use.setdefault(question, first_use.get("chat_history", start))
    if stands_for_thread(document):
        first_use.setdefault("thread", Span(document.body.start, document.body.start))
    kinds = used_kinds(document)
    for name, span in first_use.items():
        if name in declared:
            continue
        if name in parameters:
            fields.append(_parameter(parameters[name]))
        else:
            is_text = kinds.get(name, "string") == "string"
            fields.append(_undeclared(name, span, resolution, is_text=is_text))
    return tuple(fields)


def _with_value(spec: FieldSpec, resolution: InputResolution) -> FieldSpec:
    """Return the field with the value that is used while it is empty."""
    if spec.name not in resolution.shown:
        return spec
    origin: str = resolution.origins[spec.name]
    supplied = origin == "reserved"
    return replace(
        spec,
        fallback=resolution.shown[spec.name],
        fallback_origin=tr("supplied by the run") if supplied else origin,
        supplied=supplied,
    )


def _parameter(item: Parameter) -> FieldSpec:
    """Return the field of a parameter that is no declared input; a run needs its value."""
    kind = KINDS.get(item.kind, "json")
    return FieldSpec(
        name=item.name,
        kind="json" if kind in ("object", "array") else kind,
        type_name=item.kind,
        required=True,
        parameter=True,
        span=item.uses[0],
    )


def _undeclared(name: str, span: Span, resolution: InputResolution, *, is_text: bool) -> FieldSpec:
    reserved = name in RESERVED_SAMPLES
    supplied = reserved and name not in PERSONAL
    origin = tr("supplied by the run") if supplied else "sample"
    value: FieldValue = resolution.shown.get(name, ABSENT)
    kind: FieldKind = "json"  # JSON also for values used as an object or a list
    if isinstance(value, str) or (value is ABSENT and is_text):
        kind = "string"
    return FieldSpec(
        name=name,
        kind="thread" if name == "thread" and not isinstance(value, str) else kind,
        type_name=origin if supplied else tr("reserved name") if reserved else tr("not declared"),
        fallback=value,
        fallback_origin=origin if name in resolution.samples else "",
        declared=reserved,
        supplied=supplied,
        span=span,
    )


def _declared(item: InputDeclaration, depth: int = 0) -> FieldSpec:
    """Return the field of a declared input, or of a property or item, without its value."""
    kind = KINDS.get(item.kind, "json")
    if item.enum:
        kind = "choice"
    elif (
        depth >= DEEPEST
        or (kind == "object" and not item.properties)
        or (kind == "array" and item.items is None)
    ):
        kind = "json"
    has_default = depth and item.has_default and item.default is not None
    return FieldSpec(
        name=item.name,
        kind=kind,
        type_name=item.kind,
        description=item.description,
        required=item.required,
        proposed=item.default if has_default else ABSENT,
        choices=item.enum,
        properties=tuple(_declared(each, depth + 1) for each in item.properties),
        items=_declared(item.items, depth + 1) if item.items else None,
        nullable=item.nullable,
        span=item.name_span or item.span,
    )


def show_value(value: FieldValue) -> str:
    """Return a value on one line, for placeholders."""
    if value is ABSENT:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return one_line(text, 80)


_MOST = 50


@dataclass(slots=True)
class ValueHistory:
    """The earlier texts of one field, oldest first; kept only for the session."""

    _texts: list[str] = field(default_factory=list)
    _place: int | None = None
    _draft: str = ""

    @property
    def texts(self) -> tuple[str, ...]:
        """The earlier texts."""
        return tuple(self._texts)

    def keep(self, text: str) -> None:
        """Add a text; a known one becomes the newest."""
        self._place = None
        if not text:
            return
        if text in self._texts:
            self._texts.remove(text)
        self._texts.append(text)
        del self._texts[:-_MOST]

    def step(self, back: bool, shown: str) -> str | None:
        """Return the next or previous text; None at the end of the list.

        Args:
            back: whether to go to older texts.
            shown: text in the field; a draft is restored at the end.
        """
        if self._place is not None and self._texts[self._place : self._place + 1] != [shown]:
            self._place = None  # edited meanwhile
        if self._place is None:
            if not back:
                return None
            self._draft = shown
            older = [index for index, text in enumerate(self._texts) if text != shown]
            self._place = older[-1] if older else None
            return self._texts[older[-1]] if older else None
        place = self._place - 1 if back else self._place + 1
        if place < 0:
            return None
        if place >= len(self._texts):
            self._place = None
            return self._draft
        self._place = place
        return self._texts[place]


# Parsing the text of a field, with its problems.

_WHOLE = re.compile(r"[-+]?\d{1,4000}$")
_REAL = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,4})?$")


@dataclass(frozen=True, slots=True)
class TypedValue:
    """The value of a typed text."""

    value: FieldValue
    """The value; absent for an empty text."""

    problem: str = ""
    """Problem of the text, one sentence; empty if it is valid."""


def read_integer(text: str, spec: FieldSpec) -> TypedValue:
    """Parse an integer of any size."""
    if not text.strip():
        return TypedValue(ABSENT)
    if not _WHOLE.match(text.strip()):
        return TypedValue(ABSENT, tr("Write a whole number, such as 42."))
    number = int(text)
    return TypedValue(number, _range_problem(number, spec))


def read_number(text: str, spec: FieldSpec) -> TypedValue:
    """Parse a number; one without a decimal point stays an integer."""
    if not text.strip():
        return TypedValue(ABSENT)
    if _WHOLE.match(text.strip()):
        return read_integer(text, spec)
    if not _REAL.match(text.strip()):
        return TypedValue(ABSENT, tr("Write a number, such as 0.5."))
    number = float(text)
    if number in (float("inf"), float("-inf")):
        return TypedValue(ABSENT, tr("The number is too large."))
    return TypedValue(number, _range_problem(number, spec))


def check_text(text: str, spec: FieldSpec) -> str:
    """Return the problem of a text; empty if it is valid."""
    if not spec.pattern:
        return ""
    try:
        pattern = schema_pattern(spec.pattern)
        matches = pattern.search(text[:10_000], timeout=SLOW_SECONDS) is not None
    except (PatternError, TimeoutError):
        return ""  # the pattern cannot be evaluated; a run checks its values by the schema
    return "" if matches else tr("The text must match {pattern}").format(pattern=spec.pattern)


def read_json(text: str) -> TypedValue:
    """Parse any JSON value; an empty text has none."""
    if not text.strip():
        return TypedValue(ABSENT)
    try:
        return TypedValue(parse_json(text, parse_constant=_no_constant))
    except json.JSONDecodeError as error:
        return TypedValue(
            ABSENT,
            tr("Line {lineno}, column {colno}: {msg}.").format(
                lineno=error.lineno, colno=error.colno, msg=error.msg.lower()
            ),
        )
    except JsonBoundError as error:
        return TypedValue(ABSENT, tr("It cannot be used: {reason}.").format(reason=error))
    except ValueError as error:
        return TypedValue(ABSENT, str(error))


def _no_constant(word: str) -> float:
    raise ValueError(tr("{word} is not a JSON value.").format(word=word))


def _range_problem(number: float, spec: FieldSpec) -> str:
    if spec.minimum is not None and number < spec.minimum:
        return tr("At least {minimum:g}.").format(minimum=spec.minimum)
    if spec.maximum is not None and number > spec.maximum:
        return tr("At most {maximum:g}.").format(maximum=spec.maximum)
    return ""


# Form fields for a JSON schema, such as that of a tool's arguments.


def schema_fields(schema: JsonObject) -> tuple[FieldSpec, ...]:
    """Return the fields of an object schema, in its own order."""
    return _SchemaReader(schema).field("", schema, required=True).properties


@dataclass(slots=True)
class _SchemaReader:
    """A converter of one schema to fields; unsupported parts get a JSON editor."""

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
    """Return the schema without its null alternative, and whether it had one."""
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
