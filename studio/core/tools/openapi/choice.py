"""Which operations of a description a prompt wants: by tag, path, method or name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from studio.core.text.values import Json
from studio.core.tools.arguments import LARGE_TOOL, about_tokens, spec_size
from studio.core.tools.openapi.description import METHODS
from studio.core.tools.openapi.operation import Description, OpenApiError, Operation


@dataclass(frozen=True, slots=True)
class OperationChoice:
    """The value of a tool's `operations:`; each part that is given must match."""

    names: tuple[str, ...] = ()
    """Patterns of operation ids (`issues/*`), of tools' names, or of `METHOD /path`."""

    tags: tuple[str, ...] = ()
    """Patterns of tags."""

    paths: tuple[str, ...] = ()
    """Patterns of paths (`/repos/*/issues*`)."""

    methods: tuple[str, ...] = ()
    """HTTP methods, in lower case."""

    problem: str = ""
    """Reason why it cannot be read; empty if it can."""

    @property
    def is_all(self) -> bool:
        """Whether it leaves nothing out."""
        return not (self.names or self.tags or self.paths or self.methods)


ALL_OPERATIONS = OperationChoice()
"""Nothing is left out."""


def read_choice(value: Json) -> OperationChoice:
    """Read `operations:`: a list of names, or an object (ids, tags, paths, methods)."""
    if value is None:
        return OperationChoice()
    if isinstance(value, str | list | tuple):
        return OperationChoice(names=_patterns(value))
    if not isinstance(value, Mapping):
        return OperationChoice(problem="'operations' is a list of names, or an object")
    unknown = sorted(set(value) - {"ids", "tags", "paths", "methods"})
    if unknown:
        return OperationChoice(
            problem=f"'operations' has no {unknown[0]!r}; it has ids, tags, paths and methods"
        )
    methods = tuple(each.lower() for each in _patterns(value.get("methods")))
    wrong = next((each for each in methods if each not in METHODS), "")
    if wrong:
        return OperationChoice(problem=f"'operations' names {wrong!r}, which is not an HTTP method")
    ids, tags, paths = (_patterns(value.get(key)) for key in ("ids", "tags", "paths"))
    return OperationChoice(ids, tags, paths, methods)


def chosen(description: Description, choice: OperationChoice) -> Description:
    """The description with the operations that are wanted.

    Raises:
        OpenApiError: the choice cannot be read, or no operation fits.
    """
    if choice.problem:
        raise OpenApiError(choice.problem)
    if choice.is_all:
        return description
    kept = tuple(each for each in description.operations if fits(each, choice))
    if not kept:
        raise OpenApiError(
            f"none of its {len(description.operations):,} operations is chosen by 'operations'"
        )
    return replace(description, operations=kept)


def fits(operation: Operation, choice: OperationChoice) -> bool:
    """Whether an operation is wanted."""
    line = f"{operation.method.upper()} {operation.path}"
    names = (operation.operation_id, operation.spec.name, line)
    return (
        (not choice.names or any(_fits(name, choice.names) for name in names))
        and (not choice.tags or any(_fits(tag, choice.tags) for tag in operation.tags))
        and (not choice.paths or _fits(operation.path, choice.paths))
        and (not choice.methods or operation.method in choice.methods)
    )


def _fits(text: str, patterns: tuple[str, ...]) -> bool:
    """Whether a text fits; case counts not, and the braces of a path are no part of a pattern."""
    return any(fnmatchcase(text.casefold(), each.casefold()) for each in patterns)


def _patterns(value: Json) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list | tuple):
        return ()
    return tuple(item for item in value if isinstance(item, str) and item)


# All operations of a description, for choosing among them.


@dataclass(frozen=True, slots=True)
class OperationRow:
    """One operation, chosen or not."""

    name: str
    """The name of its tool."""

    identifier: str
    """Name in `operations:`: its id, or its method and path if it has none."""

    method: str
    """HTTP method, in upper case."""

    path: str
    """Path template."""

    tag: str
    """The first of its groups; empty for none."""

    tags: tuple[str, ...]
    """All of its groups."""

    summary: str
    """Summary in one line."""

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
