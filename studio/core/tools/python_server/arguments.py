"""Read the parameters of a function."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

UNKNOWN: object = inspect.Parameter.empty
"""No annotation, or no default."""


@dataclass(frozen=True)
class TakenArgument:
    """One parameter of a function."""

    name: str
    """Its name."""

    annotation: object
    """Annotation of the parameter; `UNKNOWN` if there is none."""

    default: object
    """Default value; `UNKNOWN` if the argument is required."""

    description: str
    """Description for the model."""

    kind: object
    """Kind of the parameter, as in `inspect`."""

    @property
    def is_rest(self) -> bool:
        """Whether it is `*rest`."""
        return self.kind is inspect.Parameter.VAR_POSITIONAL

    @property
    def is_open(self) -> bool:
        """Whether it is `**more`."""
        return self.kind is inspect.Parameter.VAR_KEYWORD


class ArgumentReader(Protocol):
    """Knows the schema of a function's arguments, and converts them."""

    @property
    def schema(self) -> dict[str, object]:
        """JSON schema of all arguments."""
        ...

    def read(self, arguments: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
        """Arguments by parameter, those that were given, and those of `**more`.

        Raises:
            ValueError: an argument is missing, unknown or of the wrong type.
        """
        ...
