"""A typed Python function as a tool: its schema, and a call with checked, converted arguments.

Runs only in the child process that owns the user's code (`server.py`); the studio itself never
imports a tool file.
"""

from __future__ import annotations

import functools
import inspect
import typing
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import CodeType
from typing import TYPE_CHECKING, Any

from studio.core.tools.python.docstrings import parse_docstring
from studio.core.tools.schema import inline_references, without_titles

if TYPE_CHECKING:
    from pydantic import BaseModel, ConfigDict, ValidationError

EFFECTS_ATTRIBUTE = "has_effects"
"""A function with this attribute set to a true value changes something outside; set to a false
value, it changes nothing. Of a function without it nobody knows."""


class SignatureError(Exception):
    """A function that cannot be offered as a tool; the text says why."""


@dataclass(frozen=True)
class FunctionTool:
    """One function, ready to be offered and called."""

    name: str
    """Its name in the file."""

    description: str
    """The docstring's text before its sections."""

    parameters: dict[str, Any]
    """JSON schema of the arguments."""

    has_effects: bool | None
    """Whether it changes something, where the author says so (`function.has_effects = True`)."""

    line: int
    """Line of its `def`, from 1; 0 when unknown."""

    function: Callable[..., Any]
    """The function itself."""

    model: type[BaseModel]
    """Converts arguments to the annotated types."""

    def bind(self, arguments: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Positional and keyword arguments, converted to the annotated types.

        Raises:
            ValueError: an argument is missing, unknown or of the wrong type.
        """
        from pydantic import ValidationError

        try:
            values = self.model.model_validate(dict(arguments))
        except ValidationError as error:
            raise ValueError(_plain(error)) from None
        positional: list[Any] = []
        named: dict[str, Any] = dict(values.model_extra or {})
        parameters = inspect.signature(self.function).parameters
        rest = next((each.name for each in parameters.values() if each.kind is _REST), "")
        if rest and getattr(values, _FIELD.format(rest)):
            # What comes before `*rest` can only be given by its place then.
            for name, parameter in parameters.items():
                if parameter.kind is _REST:
                    break
                positional.append(getattr(values, _FIELD.format(name)))
            before = [*parameters][: len(positional)]
            positional += getattr(values, _FIELD.format(rest))
            left = {name: each for name, each in parameters.items() if name not in (*before, rest)}
        else:
            left = {name: each for name, each in parameters.items() if name != rest}
        for parameter in left.values():
            field = _FIELD.format(parameter.name)
            if field not in type(values).model_fields or field not in values.model_fields_set:
                continue
            if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
                positional.append(getattr(values, field))
            else:
                named[parameter.name] = getattr(values, field)
        return positional, named


_REST = inspect.Parameter.VAR_POSITIONAL
_FIELD = "p_{}"
"""Field names carry a prefix, because a model may not have a field `schema`, `copy` or `_x`."""


def code_of(value: object) -> CodeType | None:
    """The code that a callable runs in the end, under decorators, `partial` and `__call__`."""
    while isinstance(value, functools.partial):
        value = value.func
    inner: object = inspect.unwrap(value) if callable(value) else value
    inner = getattr(inner, "__func__", inner)
    found = getattr(inner, "__code__", None)
    if found is None and callable(inner):
        found = getattr(type(inner).__call__, "__code__", None)
    return found if isinstance(found, CodeType) else None


def describe(function: Callable[..., Any], name: str = "") -> FunctionTool:
    """Make a tool of a function: signature, annotations, `Annotated` metadata and docstring.

    Args:
        function: anything that can be called.
        name: the name that it has in the file, which may be another than its own.

    Raises:
        SignatureError: an annotation cannot be resolved, or has no JSON schema.
    """
    name = name or getattr(function, "__name__", "tool")
    text = parse_docstring(inspect.getdoc(_documented(function)))
    model = _model(function, name, text.parameters)
    try:
        with warnings.catch_warnings():
            # A default that JSON cannot hold is left out of the schema; that is all it would say.
            warnings.simplefilter("ignore")
            schema = model.model_json_schema(by_alias=True)
    except Exception as error:
        raise SignatureError(f"{name}: {_first_line(error)}") from error
    schema = without_titles(inline_references(schema))
    schema.setdefault("properties", {})
    code = code_of(function)
    return FunctionTool(
        name,
        text.description,
        schema,
        _effects(function),
        code.co_firstlineno if code else 0,
        function,
        model,
    )


def _documented(function: Callable[..., Any]) -> object:
    """What the docstring is looked for at: `partial` and objects have their class's own."""
    inner: object = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    if inspect.isroutine(inner) or hasattr(inner, "__wrapped__"):
        return inner
    return type(inner).__call__ if type(inner).__call__.__doc__ else inner


def _annotated(function: Callable[..., Any]) -> object:
    """What holds the annotations of a callable."""
    inner: object = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    if inspect.isroutine(inner) or hasattr(inner, "__wrapped__") or inspect.isfunction(inner):
        return inner
    return type(inner).__call__


def _effects(function: Callable[..., Any]) -> bool | None:
    mark = getattr(function, EFFECTS_ATTRIBUTE, None)
    return None if mark is None else bool(mark)


def _model(
    function: Callable[..., Any], name: str, descriptions: Mapping[str, str]
) -> type[BaseModel]:
    from pydantic import ConfigDict, Field, create_model

    try:
        hints = typing.get_type_hints(_annotated(function), include_extras=True)
    except Exception as error:
        raise SignatureError(f"{name}: cannot read the annotations: {error}") from error
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise SignatureError(f"{name}: {error}") from error
    fields: dict[str, Any] = {}
    open_ended: object = None
    for parameter in parameters:
        has_default = parameter.default is not inspect.Parameter.empty
        default = parameter.default if has_default else ...
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            open_ended = hints.get(parameter.name, Any)
            continue
        annotation = hints.get(parameter.name, _guess(parameter))
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            annotation = list[annotation]  # type: ignore[valid-type]
            default = []
        options: dict[str, Any] = {"alias": parameter.name}
        description = _annotated_text(annotation) or descriptions.get(parameter.name)
        if description:
            options["description"] = description
        fields[_FIELD.format(parameter.name)] = (annotation, Field(default, **options))
    config = ConfigDict(
        arbitrary_types_allowed=True,
        extra="allow" if open_ended is not None else "forbid",
        protected_namespaces=(),
    )
    # The first engine never takes exponential time, but knows no look-around.
    second = ConfigDict(**config, regex_engine="python-re")
    fault: Exception | None = None
    for settings in (config, second):
        try:
            return create_model(name, __base__=_base(settings, open_ended), **fields)
        except Exception as error:  # noqa: BLE001 - pydantic raises many kinds
            fault = fault or error
    raise SignatureError(f"{name}: {_first_line(fault)}") from fault


def _base(settings: ConfigDict, open_ended: object) -> type[BaseModel]:
    """What the arguments' model is made from: with the type that `**more` takes."""
    from pydantic import BaseModel

    content: dict[str, Any] = {"model_config": settings}
    if open_ended is not None and open_ended is not Any:
        content["__annotations__"] = {"__pydantic_extra__": dict[str, open_ended]}  # type: ignore[valid-type]
    return type("Arguments", (BaseModel,), content)


def _number() -> object:
    """Any number, whole or not, which stays what it is."""
    from pydantic import WithJsonSchema

    return typing.Annotated[int | float, WithJsonSchema({"type": "number"})]


def _guess(parameter: inspect.Parameter) -> object:
    """The type of a parameter without annotation: that of its default, otherwise anything."""
    if isinstance(parameter.default, int | float) and not isinstance(parameter.default, bool):
        return _number()
    if isinstance(parameter.default, bool | str | list | dict):
        return type(parameter.default)
    return Any


def _annotated_text(annotation: object) -> str:
    """The description in an `Annotated[...]`: a plain string, `Doc(...)` or `Field(...)`."""
    for item in getattr(annotation, "__metadata__", ()):
        if isinstance(item, str):
            return item
        for attribute in ("description", "documentation"):
            text = getattr(item, attribute, None)
            if isinstance(text, str) and text:
                return text
    return ""


def _plain(error: ValidationError) -> str:
    """A validation error as one line: which argument, and what is wrong with it."""
    return "; ".join(
        f"{'.'.join(str(step) for step in item['loc']) or 'arguments'}: {item['msg']}"
        for item in error.errors(include_url=False, include_context=False, include_input=False)
    )


def _first_line(error: BaseException | None) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
