"""A typed Python function as a tool: its schema, and a call with checked, converted arguments.

Runs only in the child process that owns the user's code (`server.py`); the studio itself never
imports a tool file.
"""

from __future__ import annotations

import inspect
import typing
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from studio.core.tools.python.docstrings import parse_docstring
from studio.core.tools.schema import inline_references, without_titles

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

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
        for parameter in inspect.signature(self.function).parameters.values():
            field = _FIELD.format(parameter.name)
            if field not in type(values).model_fields or field not in values.model_fields_set:
                continue
            if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
                positional.append(getattr(values, field))
            else:
                named[parameter.name] = getattr(values, field)
        return positional, named


_FIELD = "p_{}"
"""Field names carry a prefix, because a model may not have a field `schema`, `copy` or `_x`."""


def describe(function: Callable[..., Any]) -> FunctionTool:
    """Make a tool of a function: signature, annotations, `Annotated` metadata and docstring.

    Raises:
        SignatureError: an annotation cannot be resolved, or has no JSON schema.
    """
    name = getattr(function, "__name__", "tool")
    text = parse_docstring(inspect.getdoc(function))
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
    unwrapped = inspect.unwrap(function)
    code = getattr(unwrapped, "__code__", None)
    return FunctionTool(
        name,
        text.description,
        schema,
        _effects(function),
        code.co_firstlineno if code else 0,
        function,
        model,
    )


def _effects(function: Callable[..., Any]) -> bool | None:
    mark = getattr(function, EFFECTS_ATTRIBUTE, None)
    return None if mark is None else bool(mark)


def _model(
    function: Callable[..., Any], name: str, descriptions: Mapping[str, str]
) -> type[BaseModel]:
    from pydantic import ConfigDict, Field, create_model

    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except Exception as error:
        raise SignatureError(f"{name}: cannot read the annotations: {error}") from error
    fields: dict[str, Any] = {}
    open_ended = False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            open_ended = True
            continue
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            continue
        annotation = hints.get(parameter.name, _guess(parameter))
        options: dict[str, Any] = {"alias": parameter.name}
        description = _annotated_text(annotation) or descriptions.get(parameter.name)
        if description:
            options["description"] = description
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        fields[_FIELD.format(parameter.name)] = (annotation, Field(default, **options))
    config = ConfigDict(
        arbitrary_types_allowed=True,
        extra="allow" if open_ended else "forbid",
        protected_namespaces=(),
    )
    # The first engine never takes exponential time, but knows no look-around.
    second = ConfigDict(**config, regex_engine="python-re")
    fault: Exception | None = None
    for settings in (config, second):
        try:
            return create_model(name, __config__=settings, **fields)
        except Exception as error:  # noqa: BLE001 - pydantic raises many kinds
            fault = fault or error
    raise SignatureError(f"{name}: {_first_line(fault)}") from fault


def _guess(parameter: inspect.Parameter) -> object:
    """The type of a parameter without annotation: that of its default, otherwise anything."""
    if isinstance(parameter.default, bool | int | float | str | list | dict):
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
