"""All operations of a description, for choosing among them."""

from __future__ import annotations

from dataclasses import dataclass

from studio.core.tools.openapi.choice import OperationChoice, fits
from studio.core.tools.openapi.operation import Description, Operation
from studio.core.tools.schema import LARGE_TOOL, about_tokens, spec_size


@dataclass(frozen=True, slots=True)
class OperationRow:
    """One operation, chosen or not."""

    name: str
    """The name of its tool."""

    identifier: str
    """What names it in `operations:`: its id, or its method and path where it has none."""

    method: str
    """HTTP method, in upper case."""

    path: str
    """Path template."""

    tag: str
    """The first of its groups; empty for none."""

    tags: tuple[str, ...]
    """All of its groups."""

    summary: str
    """What it does, in one line."""

    tokens: int
    """About how many tokens it takes in each request."""

    is_chosen: bool
    """Whether the prompt has it."""

    is_large: bool = False
    """Whether it takes over 20 KB of each request."""


def operation_rows(description: Description, choice: OperationChoice) -> tuple[OperationRow, ...]:
    """Every operation of a whole description.

    Args:
        description: with all of its operations.
        choice: what the prompt wants of it.
    """
    return tuple(_row(each, choice) for each in description.operations)


def _row(operation: Operation, choice: OperationChoice) -> OperationRow:
    spec = operation.spec
    line = f"{operation.method.upper()} {operation.path}"
    size = spec_size(spec)
    first = spec.description.strip().splitlines()[:1]
    return OperationRow(
        spec.name,
        operation.operation_id or line,
        operation.method.upper(),
        operation.path,
        operation.tags[0] if operation.tags else "",
        operation.tags,
        first[0] if first else "",
        about_tokens((size,)),
        choice.is_all or (not choice.problem and fits(operation, choice)),
        size > LARGE_TOOL,
    )
