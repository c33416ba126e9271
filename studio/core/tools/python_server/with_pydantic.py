"""Read arguments with pydantic, which supports many more types."""

from __future__ import annotations

import typing
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema, create_model

from .schemas import UNKNOWN, TakenArgument

_FIELD = "p_{}"
"""Prefix of field names, because a model cannot have a field `schema`, `copy` or `_x`."""


class PydanticReader:
    """A pydantic model built from the parameters."""

    def __init__(self, name: str, parameters: Sequence[TakenArgument]) -> None:
        """Build the model; pydantic's exceptions for unsupported annotations are not caught."""
        self._names = [each.name for each in parameters if not each.is_open]
        self._model = _model(name, parameters)
        with warnings.catch_warnings():
            # A default that JSON does not have is omitted from the schema.
            warnings.simplefilter("ignore")
            self._schema = self._model.model_json_schema(by_alias=True)

    @property
    def schema(self) -> dict[str, object]:
        """JSON schema of all arguments."""
        return self._schema

    def read(self, arguments: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
        """Return the arguments by parameter, the given ones, and those of `**more`.

        Raises:
            ValueError: an argument is missing, unknown or of the wrong type.
        """
        try:
            values = self._model.model_validate(dict(arguments))
        except ValidationError as error:
            raise ValueError(_plain(error)) from None
        given = {
            name: getattr(values, _FIELD.format(name))
            for name in self._names
            if _FIELD.format(name) in values.model_fields_set
        }
        return given, dict(values.model_extra or {})


def _model(name: str, parameters: Sequence[TakenArgument]) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    open_ended: object = None
    for each in parameters:
        if each.is_open:
            open_ended = Any if each.annotation is UNKNOWN else each.annotation
            continue
        annotation = _guess(each.default) if each.annotation is UNKNOWN else each.annotation
        if each.is_rest:
            annotation = list[Any] if each.annotation is UNKNOWN else list[annotation]  # type: ignore[valid-type]
        options: dict[str, Any] = {"alias": each.name}
        if each.description:
            options["description"] = each.description
        default = ... if each.default is UNKNOWN else each.default
        fields[_FIELD.format(each.name)] = (annotation, Field(default, **options))
    config = ConfigDict(
        arbitrary_types_allowed=True,
        extra="allow" if open_ended is not None else "forbid",
        protected_namespaces=(),
    )
    try:
        # The default engine never needs exponential time, but has no look-around.
        return create_model(name, __base__=_base(config, open_ended), **fields)
    except Exception as error:  # noqa: BLE001 - pydantic raises many kinds
        second = ConfigDict(**config, regex_engine="python-re")
        try:
            return create_model(name, __base__=_base(second, open_ended), **fields)
        except Exception:  # noqa: BLE001 - the first error is the clearest
            raise error from None


def _base(settings: ConfigDict, open_ended: object) -> type[BaseModel]:
    """Return the base class of the arguments' model, with the type of `**more`."""
    content: dict[str, object] = {"model_config": settings}
    if open_ended is not None and open_ended is not Any:
        content["__annotations__"] = {"__pydantic_extra__": dict[str, open_ended]}  # type: ignore[valid-type]
    return type("Arguments", (BaseModel,), content)


def _guess(default: object) -> object:
    """Return the type of a parameter without annotation: its default's, else any."""
    if isinstance(default, (int, float)) and not isinstance(default, bool):
        # Any number, which keeps its type.
        return typing.Annotated[typing.Union[int, float], WithJsonSchema({"type": "number"})]
    if isinstance(default, (bool, str, list, dict)):
        return type(default)
    return Any


def _plain(error: ValidationError) -> str:
    """Return a validation error as one line with the argument and the reason."""
    return "; ".join(
        f"{'.'.join(str(step) for step in item['loc']) or 'arguments'}: {item['msg']}"
        for item in error.errors(include_url=False, include_context=False, include_input=False)
    )
