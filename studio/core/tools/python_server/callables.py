"""A typed Python function as a tool: its schema, and a call with checked, converted arguments.

Runs only in the child process that owns the user's code; the studio itself never imports a tool
file.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import CodeType
from typing import cast

from .reading import Returned, make_reader, returned
from .schemas import (
    UNKNOWN,
    ArgumentReader,
    TakenArgument,
    inline_references,
    parse_docstring,
    without_titles,
)

EFFECTS_ATTRIBUTE = "has_effects"
"""Name of an attribute: a function with a true value changes something outside, one with a false
value changes nothing. Without the attribute it is unknown."""


class SignatureError(Exception):
    """A function that cannot be offered as a tool; the text says why."""


@dataclass(frozen=True)
class FunctionTool:
    """One function, ready to be offered and called."""

    name: str
    """Its name in the file."""

    description: str
    """The docstring's text before its sections."""

    parameters: dict[str, object]
    """JSON schema of the arguments."""

    has_effects: bool | None
    """Whether it changes something, where the author says so (`function.has_effects = True`)."""

    line: int
    """Line of its `def`, from 1; 0 when unknown."""

    function: Callable[..., object]
    """The function itself."""

    reader: ArgumentReader
    """Converts arguments to the annotated types."""

    returns: Returned | None = None
    """Declared result; None if there is none."""

    python_names: tuple[str, ...] = ()
    """Names that the file has for it, where a library gave it another."""

    def bind(self, arguments: Mapping[str, object]) -> tuple[list[object], dict[str, object]]:
        """Positional and keyword arguments, converted to the annotated types.

        Raises:
            ValueError: an argument is missing, unknown or of the wrong type.
        """
        values, extra = self.reader.read(arguments)
        positional: list[object] = []
        named: dict[str, object] = dict(extra)
        parameters = inspect.signature(self.function).parameters
        rest = next((each.name for each in parameters.values() if each.kind is _REST), "")
        if rest and values.get(rest):
            # What comes before `*rest` can only be given by its place then.
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
    """The code that a callable runs in the end, under decorators, `partial` and `__call__`."""
    while isinstance(value, functools.partial):
        value = value.func
    inner: object = inspect.unwrap(value) if callable(value) else value
    inner = getattr(inner, "__func__", inner)
    found = getattr(inner, "__code__", None)
    if found is None and callable(inner):
        found = getattr(type(inner).__call__, "__code__", None)
    return found if isinstance(found, CodeType) else None


def describe(function: Callable[..., object], name: str = "") -> FunctionTool:
    """Make a tool of a function: signature, annotations, `Annotated` metadata and docstring.

    Args:
        function: anything that can be called.
        name: the name that it has in the file, which may be another than its own.

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
    """Return the object whose docstring counts: `partial` and objects have their class's own."""
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
    """Read the parameters of a function from its signature."""
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
    """The description in an `Annotated[...]`: a plain string, `Doc(...)` or `Field(...)`."""
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
