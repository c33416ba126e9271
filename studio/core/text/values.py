"""The plain values that documents, messages and requests are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""A value that JSON can write. Mappings and sequences are treated as immutable everywhere."""

JsonObject: TypeAlias = Mapping[str, Json]
"""A JSON object."""


def objects_of(value: object) -> list[JsonObject]:
    """The objects of a list; none of anything else."""
    if not isinstance(value, list | tuple):
        return []
    return [item for item in value if isinstance(item, Mapping)]
