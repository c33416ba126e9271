"""An operation of a description, and the keys with which it is sent."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from studio.core.prompty.tool_spec import ToolSpec


class OpenApiError(Exception):
    """A description that cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class OpenApiParameter:
    """One argument that travels outside the body."""

    name: str
    """Its name on the wire."""

    place: str
    """`path`, `query`, `querystring` (the whole query), `header` or `cookie`."""

    explode: bool = True
    """Whether each item of a list or object is a separate parameter."""

    argument: str = ""
    """Its name as an argument, where that is another: two places may have one name."""

    style: str = ""
    """Style of lists and objects (OpenAPI 3.1 §4.8.12.2.1); empty for the place's default."""

    kind: str = ""
    """`array` or `object` where the schema says so; a value of another kind is written as JSON."""

    reserved: bool = False
    """Whether characters such as `/` and `?` stay as they are in the query."""

    content_type: str = ""
    """Media type of the value, where it is written as one of these; then no style is meant."""

    @property
    def key(self) -> str:
        """The argument that it takes its value from."""
        return self.argument or self.name


@dataclass(frozen=True, slots=True)
class FieldEncoding:
    """The encoding of one form field (OpenAPI 3.1 §4.8.15)."""

    style: str = ""
    """As of a query parameter; empty for none."""

    explode: bool = True
    """Whether each item of a list or object is a separate parameter."""

    content_type: str = ""
    """Media type of a part."""

    is_binary: bool = False
    """Whether it is a file."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation as a tool."""

    spec: ToolSpec
    """Specification that the model gets."""

    method: str
    """HTTP method in lower case."""

    path: str
    """Path template ("/pets/{id}")."""

    parameters: tuple[OpenApiParameter, ...] = ()
    """Place of each argument in the request."""

    content_type: str = ""
    """Media type of the body; empty where there is none."""

    tags: tuple[str, ...] = ()
    """Its groups."""

    encoding: Mapping[str, FieldEncoding] = field(default_factory=dict)
    """Encoding of form fields that define one."""

    server: str = ""
    """The server of the operation or of its path, where that is another one."""

    security: tuple[tuple[str, ...], ...] | None = None
    """Alternatives of schemes that it wants together; empty for none; None: as the whole API."""

    operation_id: str = ""
    """As the description has it."""


@dataclass(frozen=True, slots=True)
class Credential:
    """The place of a key, from the description's security scheme."""

    place: str
    """`header`, `query` or `cookie`."""

    name: str
    """Header, parameter or cookie name."""

    prefix: str = ""
    """Written before the key ("Bearer ")."""


BEARER = Credential("header", "Authorization", "Bearer ")
"""Default place of a key."""


@dataclass(frozen=True, slots=True)
class Description:
    """A description that was read."""

    operations: tuple[Operation, ...]
    """Every operation."""

    server: str = ""
    """The first server's URL, its variables put in; may be relative."""

    credential: Credential = field(default=BEARER)
    """Place of a key for operations without a scheme."""

    title: str = ""
    """The API's title."""

    schemes: Mapping[str, Credential] = field(default_factory=dict)
    """Place of the key of each security scheme."""

    security: tuple[tuple[str, ...], ...] | None = None
    """Alternatives of schemes for operations that say nothing; None where the API does not."""

    problems: tuple[str, ...] = ()
    """Parts that were left out, in sentences."""

    files: Mapping[Path, tuple[int, int]] = field(default_factory=dict)
    """Time and size of each further file that its references lead to."""

    token_urls: Mapping[str, str] = field(default_factory=dict)
    """Addresses of tokens for programs (client credentials), by the OAuth 2 schemes."""


ANY = ""
"""Name of the key for every scheme without a key of its own."""


def credentials_for(
    description: Description, operation: Operation, keys: Collection[str]
) -> tuple[tuple[str, Credential], ...]:
    """Return the keys to send, each by the name under which it is given, and how it travels.

    Args:
        description: the API.
        operation: what is called.
        keys: names of the schemes that a key is given for; `ANY` is among them for one that serves
            all.

    Raises:
        OpenApiError: some of the schemes that belong together have a key, and others have none.
    """
    wanted = operation.security if operation.security is not None else description.security
    if wanted is None:
        return ((ANY, description.credential),) if ANY in keys else ()
    for alternative in sorted(wanted, key=lambda each: not each):  # "none" is the last resort
        known = [name for name in alternative if name in description.schemes]
        if len(known) == len(alternative) and all(n in keys or ANY in keys for n in known):
            return tuple((n if n in keys else ANY, description.schemes[n]) for n in known)
    for alternative in wanted:
        missing = [name for name in alternative if name not in keys]
        if ANY not in keys and len(missing) < len(alternative):
            raise OpenApiError(
                f"{operation.spec.name} wants {' and '.join(alternative)} together, and there is "
                f"no key for {' and '.join(missing)}: give it under 'keys' of the connection"
            )
    return ()
