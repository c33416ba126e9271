"""A typed Python function as a tool: its schema, and a call with checked, converted arguments.

Runs only in the child process with the user's code; the studio itself never imports a tool file.
"""

from __future__ import annotations

import collections.abc
import functools
import inspect
import typing
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any, cast

from .schemas import (
    UNKNOWN,
    ArgumentReader,
    TakenArgument,
    inline_references,
    parse_docstring,
    without_titles,
)
from .types_by_hand import Schema, Shape, Unfit, shape_of, with_default
from .values import plain_value

# Reading arguments and writing results by a function's annotations.

_WRAPPED = "result"
"""Key under which other clients get a value that is not an object, as from other servers."""

_SERIES = (
    collections.abc.Iterator,
    collections.abc.Generator,
    collections.abc.AsyncIterator,
    collections.abc.AsyncGenerator,
    collections.abc.AsyncIterable,
)
_PROMISES = (collections.abc.Awaitable, collections.abc.Coroutine)
_SAYS_NOTHING = (UNKNOWN, None, type(None), Any, object, typing.NoReturn, bytes)


def make_reader(name: str, parameters: Sequence[TakenArgument]) -> ArgumentReader:
    """Return the reader of arguments: with pydantic if the environment has it."""
    if has_pydantic():
        from .with_pydantic import PydanticReader

        return PydanticReader(name, parameters)
    return PlainReader(parameters)


def has_pydantic() -> bool:
    """Return whether this environment has pydantic 2.5 or later."""
    try:
        from pydantic import VERSION
    except Exception:  # noqa: BLE001 - a broken one is none
        return False
    major, minor = VERSION.split(".")[:2]
    return (int(major), int(minor)) >= (2, 5)


class PlainReader:
    """A builder of schemas and converters from annotations of parameters, without pydantic."""

    def __init__(self, parameters: Sequence[TakenArgument]) -> None:
        """Build the schema.

        Raises:
            TypeError: an annotation has no JSON schema.
        """
        self._shapes: dict[str, Shape] = {}
        self._needed: list[str] = []
        self._more: Shape | None = None
        properties: Schema = {}
        for each in parameters:
            shape = _shape(each)
            if each.is_open:
                self._more = shape
                continue
            self._shapes[each.name] = shape
            described = dict(shape.schema)
            if each.description:
                described["description"] = each.description
            if each.default is UNKNOWN:
                self._needed.append(each.name)
            else:
                described = with_default(described, each.default)
            properties[each.name] = described
        self.schema: Schema = {
            "type": "object",
            "properties": properties,
            "additionalProperties": self._more is not None and (self._more.schema or True),
        }
        """JSON schema of all arguments."""
        if self._needed:
            self.schema["required"] = self._needed

    def read(self, arguments: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
        """Return the arguments by parameter, the given ones, and those of `**more`.

        Raises:
            ValueError: an argument is missing, unknown or of the wrong type.
        """
        wrong = [f"{name}: Field required" for name in self._needed if name not in arguments]
        given: dict[str, object] = {}
        extra: dict[str, object] = {}
        for name, value in arguments.items():
            shape = self._shapes.get(name, self._more)
            if shape is None:
                wrong.append(f"{name}: Extra inputs are not permitted")
                continue
            try:
                (given if name in self._shapes else extra)[name] = shape.convert(value)
            except Unfit as error:
                wrong.append(f"{'.'.join((name, *error.steps))}: {error}")
        if wrong:
            raise ValueError("; ".join(wrong))
        return given, extra


def _shape(parameter: TakenArgument) -> Shape:
    annotation = parameter.annotation
    if annotation is UNKNOWN:
        annotation = _guess(parameter.default)
    if parameter.is_rest:
        is_bare = parameter.annotation is UNKNOWN
        annotation = list[Any] if is_bare else list[annotation]  # type: ignore[valid-type]
    return shape_of(annotation)


def _guess(default: object) -> object:
    """Return the type of a parameter without annotation: its default's, else any."""
    if isinstance(default, (int, float)) and not isinstance(default, bool):
        return float if isinstance(default, float) else "number"
    if isinstance(default, (bool, str, list, dict)):
        return type(default)
    return Any


class Returned:
    """The return type of a function."""

    def __init__(self, schema: Schema, form: Callable[[object], Any]) -> None:
        self.schema = schema
        """JSON schema of the return type."""
        self._form = form

    @property
    def output_schema(self) -> Schema:
        """The schema for other clients, which require an object."""
        if self.schema.get("type") == "object":
            return self.schema
        inner = {key: value for key, value in self.schema.items() if key != "$defs"}
        whole = {"type": "object", "properties": {_WRAPPED: inner}, "required": [_WRAPPED]}
        return {**whole, **({"$defs": self.schema["$defs"]} if "$defs" in self.schema else {})}

    def structured(self, value: Any) -> dict[str, object]:
        """Return a value in the form of `output_schema`.

        Raises:
            ValueError: the value does not match the return type.
        """
        made = self._form(value)
        return made if self.schema.get("type") == "object" else {_WRAPPED: made}


def returned(annotation: object) -> Returned | None:
    """Read the annotation of a result; None if there is none, or JSON has no such type."""
    annotation = _awaited(annotation)
    if any(annotation is each for each in _SAYS_NOTHING):
        return None
    for make in (_by_pydantic, _by_hand) if has_pydantic() else (_by_hand,):
        try:
            return make(annotation)
        except Exception:  # noqa: BLE001 - of any type: the tool works without
            continue
    return None


def _awaited(annotation: object) -> object:
    """Return the type of the final value: an iterator is collected to a list."""
    origin, inside = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in _PROMISES and inside:
        return _awaited(inside[-1])
    if origin in _SERIES or (inspect.isclass(annotation) and annotation in _SERIES):
        return typing.List[inside[0]] if inside else list  # type: ignore[valid-type]  # noqa: UP006
    return annotation


def _by_pydantic(annotation: Any) -> Returned:
    from pydantic import ConfigDict, TypeAdapter, ValidationError
    from pydantic.errors import PydanticUserError

    try:
        adapter = TypeAdapter(annotation, config=ConfigDict(arbitrary_types_allowed=False))
    except PydanticUserError:  # the model has its own settings
        adapter = TypeAdapter(annotation)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        schema = adapter.json_schema(mode="serialization", by_alias=False)

    def form(value: object) -> object:
        try:
            checked = adapter.validate_python(value)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            place = ".".join(str(step) for step in first["loc"])
            raise ValueError(f"{place}: {first['msg']}" if place else first["msg"]) from None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return adapter.dump_python(checked, mode="json", by_alias=False)

    return Returned(without_titles(inline_references(schema)), form)


def _by_hand(annotation: object) -> Returned | None:
    shape = shape_of(annotation)

    def form(value: object) -> object:
        made = plain_value(value)
        shape.convert(made)
        return made

    return Returned(shape.schema, form)


EFFECTS_ATTRIBUTE = "has_effects"
"""Name of a function's attribute: true if it has effects, false if it has none. Without the
attribute this is unknown.
"""


class SignatureError(Exception):
    """Raised when a function cannot be a tool; the text says why."""


@dataclass(frozen=True)
class FunctionTool:
    """A function as a tool."""

    name: str
    """Name in the file."""

    description: str
    """Text of the docstring before its sections."""

    parameters: dict[str, object]
    """JSON schema of the arguments."""

    has_effects: bool | None
    """Whether it has effects, if the author declares it (`function.has_effects = True`)."""

    line: int
    """Line of its `def`, from 1; 0 if unknown."""

    function: Callable[..., object]
    """The function itself."""

    reader: ArgumentReader
    """Converter of arguments to the annotated types."""

    returns: Returned | None = None
    """Declared result; None if there is none."""

    python_names: tuple[str, ...] = ()
    """Names in the file, if a library gave it another name."""

    def bind(self, arguments: Mapping[str, object]) -> tuple[list[object], dict[str, object]]:
        """Return positional and keyword arguments, converted to the annotated types.

        Raises:
            ValueError: an argument is missing, unknown or of the wrong type.
        """
        values, extra = self.reader.read(arguments)
        positional: list[object] = []
        named: dict[str, object] = dict(extra)
        parameters = inspect.signature(self.function).parameters
        rest = next((each.name for each in parameters.values() if each.kind is _REST), "")
        if rest and values.get(rest):
            # Parameters before `*rest` can then only be positional.
            for name, parameter in parameters.items():
                if parameter.kind is _REST:
                    break
                positional.append(values.get(name, parameter.default))
            before = [*parameters][: len(positional)]
            positional += cast("Iterable[object]", values[rest])
            left = {name: each for name, each in parameters.items() if name not in (*before, rest)}
        else:
            left = {name: each for name, each in parameters.items() if name != rest}
        for parameter in left.values():
            if parameter.name not in values:
                continue
            if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
                positional.append(values[parameter.name])
            else:
                named[parameter.name] = values[parameter.name]
        return positional, named


_REST = inspect.Parameter.VAR_POSITIONAL


def code_of(value: object) -> CodeType | None:
    """Return the code of a callable, inside decorators, `partial` and `__call__`."""
    while isinstance(value, functools.partial):
        value = value.func
    inner: object = inspect.unwrap(value) if callable(value) else value
    inner = getattr(inner, "__func__", inner)
    found = getattr(inner, "__code__", None)
    if found is None and callable(inner):
        found = getattr(type(inner).__call__, "__code__", None)
    return found if isinstance(found, CodeType) else None


def describe(function: Callable[..., object], name: str = "") -> FunctionTool:
    """Build a tool from a function: signature, annotations, `Annotated` metadata and docstring.

    Args:
        function: any callable.
        name: its name in the file, which may differ from its own.

    Raises:
        SignatureError: an annotation cannot be resolved, or has no JSON schema.
    """
    name = name or getattr(function, "__name__", "tool")
    text = parse_docstring(inspect.getdoc(_documented(function)))
    parameters = _parameters(function, name, text.parameters)
    try:
        reader = make_reader(name, parameters)
    except Exception as error:
        raise SignatureError(f"{name}: {_first_line(error)}") from error
    schema = without_titles(inline_references(reader.schema))
    schema.setdefault("properties", {})
    code = code_of(function)
    return FunctionTool(
        name,
        text.description,
        schema,
        _effects(function),
        code.co_firstlineno if code else 0,
        function,
        reader,
        returned(_hints(function, name).get("return", UNKNOWN)),
    )


def _documented(function: Callable[..., object]) -> object:
    """Return the object with the docstring, since `partial` and objects have their class's."""
    inner: object = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    if inspect.isroutine(inner) or hasattr(inner, "__wrapped__"):
        return inner
    return type(inner).__call__ if type(inner).__call__.__doc__ else inner


def _annotated(function: Callable[..., object]) -> object:
    """Return the object that has the annotations of a callable."""
    inner: object = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    if inspect.isroutine(inner) or hasattr(inner, "__wrapped__") or inspect.isfunction(inner):
        return inner
    return type(inner).__call__


def _effects(function: Callable[..., object]) -> bool | None:
    mark = getattr(function, EFFECTS_ATTRIBUTE, None)
    return None if mark is None else bool(mark)


def _parameters(
    function: Callable[..., object], name: str, descriptions: Mapping[str, str]
) -> list[TakenArgument]:
    """Return the parameters in a function's signature."""
    hints = _hints(function, name)
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise SignatureError(f"{name}: {error}") from error
    found: list[TakenArgument] = []
    for each in parameters:
        annotation = hints.get(each.name, UNKNOWN)
        default = each.default if each.default is not inspect.Parameter.empty else UNKNOWN
        if each.kind is _REST:
            default = []
        text = _annotated_text(annotation) or descriptions.get(each.name, "")
        found.append(TakenArgument(each.name, annotation, default, text, each.kind))
    return found


def _hints(function: Callable[..., object], name: str) -> dict[str, object]:
    try:
        return typing.get_type_hints(_annotated(function), include_extras=True)
    except Exception as error:
        raise SignatureError(f"{name}: cannot read the annotations: {error}") from error


def _annotated_text(annotation: object) -> str:
    """Return the description in an `Annotated[...]`: a plain string, `Doc(...)` or `Field(...)`."""
    for item in getattr(annotation, "__metadata__", ()):
        if isinstance(item, str):
            return item
        for attribute in ("description", "documentation"):
            text = getattr(item, attribute, None)
            if isinstance(text, str) and text:
                return text
    return ""


def _first_line(error: BaseException | None) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
