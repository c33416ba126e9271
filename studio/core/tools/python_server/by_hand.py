"""Arguments read by the standard library alone, for environments without pydantic.

It knows the types that people annotate tools with; of any other it says so, and the tool is not
offered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .arguments import UNKNOWN, TakenArgument
from .simple_types import Shape, Unfit
from .types_by_hand import Shapes, with_default


class PlainReader:
    """Makes a schema and a conversion of each parameter's annotation."""

    def __init__(self, parameters: Sequence[TakenArgument]) -> None:
        """Make it.

        Raises:
            TypeError: an annotation has no JSON schema.
        """
        shapes = Shapes()
        self._shapes: dict[str, Shape] = {}
        self._needed: list[str] = []
        self._more: Shape | None = None
        properties: dict[str, Any] = {}
        for each in parameters:
            shape = _shape(each, shapes)
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
        self._schema: dict[str, Any] = {"type": "object", "properties": properties}
        self._schema["additionalProperties"] = (
            False if self._more is None else (self._more.schema or True)
        )
        if self._needed:
            self._schema["required"] = self._needed
        if shapes.definitions:
            self._schema["$defs"] = shapes.definitions

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of all arguments."""
        return self._schema

    def read(self, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Arguments by parameter, those that were given, and those of `**more`.

        Raises:
            ValueError: an argument is missing, unknown or of the wrong type.
        """
        wrong = [f"{name}: Field required" for name in self._needed if name not in arguments]
        given: dict[str, Any] = {}
        extra: dict[str, Any] = {}
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


def _shape(parameter: TakenArgument, shapes: Shapes) -> Shape:
    annotation = parameter.annotation
    if annotation is UNKNOWN:
        annotation = _guess(parameter.default)
    if parameter.is_rest:
        is_bare = parameter.annotation is UNKNOWN
        annotation = list[Any] if is_bare else list[annotation]  # type: ignore[valid-type]
    return shapes.of(annotation)


def _guess(default: object) -> Any:
    """The type of a parameter without annotation: that of its default, otherwise anything."""
    if isinstance(default, (int, float)) and not isinstance(default, bool):
        return float if isinstance(default, float) else "number"
    if isinstance(default, (bool, str, list, dict)):
        return type(default)
    return Any
