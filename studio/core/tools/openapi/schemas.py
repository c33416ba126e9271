"""Convert the schemas of a description to self-contained JSON schemas.

A definition that is not recursive replaces the references to it, as the same object everywhere; a
recursive one stays a reference to `$defs` at the root. If the result would be much larger than the
definitions, all of them stay references.
"""

import posixpath
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from studio.core.prompty.document import ToolSpec
from studio.core.text.naming import free_name
from studio.core.text.values import Json, JsonDict, JsonObject, object_of

# An operation of a description, and its keys.


class OpenApiError(Exception):
    """Raised when a description cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class OpenApiParameter:
    """An argument that is sent outside the body."""

    name: str
    """Name in the request."""

    place: str
    """`path`, `query`, `querystring` (the whole query), `header` or `cookie`."""

    explode: bool = True
    """Whether each item of a list or object is a separate parameter."""

    argument: str = ""
    """Name of the argument, if it differs because two places use the same name."""

    style: str = ""
    """Style of lists and objects (OpenAPI 3.1 §4.8.12.2.1); empty for the place's default."""

    kind: str = ""
    """`array` or `object` if the schema says so; other types of values are sent as JSON."""

    reserved: bool = False
    """Whether characters such as `/` and `?` are not encoded in the query."""

    content_type: str = ""
    """Media type of the value, which replaces a style; empty for none."""

    @property
    def key(self) -> str:
        """The argument that provides its value."""
        return self.argument or self.name


@dataclass(frozen=True, slots=True)
class FieldEncoding:
    """The encoding of one form field (OpenAPI 3.1 §4.8.15)."""

    style: str = ""
    """Style, as for a query parameter; empty for none."""

    explode: bool = True
    """Whether each item of a list or object is a separate parameter."""

    content_type: str = ""
    """Media type of a part."""

    is_binary: bool = False
    """Whether the field is a file."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation as a tool."""

    spec: ToolSpec
    """Specification for the model."""

    method: str
    """HTTP method in lower case."""

    path: str
    """Path template ("/pets/{id}")."""

    parameters: tuple[OpenApiParameter, ...] = ()
    """Parameters, with their places in the request."""

    content_type: str = ""
    """Media type of the body; empty without a body."""

    tags: tuple[str, ...] = ()
    """Tags of the operation."""

    encoding: Mapping[str, FieldEncoding] = field(default_factory=dict)
    """Encoding of form fields that define one."""

    server: str = ""
    """Server of the operation or its path, if it has its own; else empty."""

    security: tuple[tuple[str, ...], ...] | None = None
    """Alternatives of schemes that are required together; empty for none; None for those of the
    whole API.
    """

    operation_id: str = ""
    """Id in the description."""


@dataclass(frozen=True, slots=True)
class Credential:
    """The place of a key, from the description's security scheme."""

    place: str
    """`header`, `query` or `cookie`."""

    name: str
    """Header, parameter or cookie name."""

    prefix: str = ""
    """Prefix of the key ("Bearer ")."""


BEARER = Credential("header", "Authorization", "Bearer ")
"""Default place of a key."""


@dataclass(frozen=True, slots=True)
class Description:
    """An OpenAPI description."""

    operations: tuple[Operation, ...]
    """All operations."""

    server: str = ""
    """The first server's URL with variables inserted; may be relative."""

    credential: Credential = field(default=BEARER)
    """Place of a key for operations without a scheme."""

    title: str = ""
    """Title of the API."""

    schemes: Mapping[str, Credential] = field(default_factory=dict)
    """Place of the key, by security scheme."""

    security: tuple[tuple[str, ...], ...] | None = None
    """Alternatives of schemes for operations without their own; None if the API has none."""

    problems: tuple[str, ...] = ()
    """Omitted parts, one sentence each."""

    files: Mapping[Path, tuple[int, int]] = field(default_factory=dict)
    """Time and size of each further file that it refers to."""

    token_urls: Mapping[str, str] = field(default_factory=dict)
    """Addresses for tokens of client programs (client credentials), by OAuth 2 scheme."""


ANY = ""
"""Name of the key for all schemes without their own."""


def credentials_for(
    description: Description, operation: Operation, keys: Collection[str]
) -> tuple[tuple[str, Credential], ...]:
    """Return the keys to send: the name of each with its place in the request.

    Args:
        description: the API.
        operation: the called operation.
        keys: names of the schemes with a key; includes `ANY` if a key serves all.

    Raises:
        OpenApiError: only some of the schemes that are required together have a key.
    """
    wanted = operation.security if operation.security is not None else description.security
    if wanted is None:
        return ((ANY, description.credential),) if ANY in keys else ()
    for alternative in sorted(wanted, key=lambda each: not each):  # no key at all is tried last
        known = [name for name in alternative if name in description.schemes]
        if len(known) == len(alternative) and all(n in keys or ANY in keys for n in known):
            return tuple((n if n in keys else ANY, description.schemes[n]) for n in known)
    for alternative in wanted:
        missing = [name for name in alternative if name not in keys]
        if ANY not in keys and len(missing) < len(alternative):
            raise OpenApiError(
                f"{operation.spec.name} needs {' and '.join(alternative)} together, but there is "
                f"no key for {' and '.join(missing)}: add it under 'keys' of the connection"
            )
    return ()


# The other files of a description, below its folder, each read once when needed.

_MOST_FILES = 10_000
_MOST_BYTES = 64 * 1024 * 1024
_OTHER_FILE = re.compile(r"""\$ref["']?\s*:\s*["']?[^\s"'#]""")


def stamp_of(path: Path) -> tuple[int, int]:
    """Return time and size of a file.

    Raises:
        OSError: the file cannot be read.
    """
    facts = path.stat()
    return facts.st_mtime_ns, facts.st_size


class OtherFiles:
    """The files that the references of one description name."""

    def __init__(
        self, path: Path | None = None, parse: Callable[[Path], Json] = lambda path: None
    ) -> None:
        """Store the settings; no file is read yet.

        Args:
            path: the description's file; None for a downloaded one, which has no other files.
            parse: reads one file; raises OpenApiError or OSError.
        """
        self._path = path.resolve() if path is not None else None
        self._parse = parse
        self._values: dict[str, Json | OpenApiError] = {}
        self._bytes = 0
        self.stamps: dict[Path, tuple[int, int]] = {}
        """Time and size of each file that was read."""

    def linked(self, text: str, data: Json) -> Json:
        """Return the description with references to files made relative to its folder.

        Args:
            text: the description's text.
            data: the description's value, which is changed in place.
        """
        if self._path is not None and _OTHER_FILE.search(text):
            self._link(data, self._path.name)
        return data

    def value(self, name: str) -> Json:
        """Return the content of a file.

        Args:
            name: path relative to the description's folder, with slashes.

        Raises:
            OpenApiError: the file cannot be used; the text says why.
        """
        if name not in self._values:
            try:
                self._values[name] = self._read(name)
            except OpenApiError as error:
                self._values[name] = error
        found = self._values[name]
        if isinstance(found, OpenApiError):
            raise found
        return found

    def _read(self, name: str) -> Json:
        if self._path is None or "://" in name:
            raise OpenApiError("only files below the folder of a description are read")
        folder = self._path.parent
        path = (folder / name).resolve()
        if not path.is_relative_to(folder):
            raise OpenApiError("it is outside of the description's folder")
        try:
            stamp = stamp_of(path)
            self._bytes += stamp[1]
            if len(self.stamps) >= _MOST_FILES or self._bytes > _MOST_BYTES:
                raise OpenApiError(
                    f"the files of a description are read up to {_MOST_FILES:,} files and "
                    f"{_MOST_BYTES // 1024**2} MB"
                )
            data = self._parse(path)
        except OSError as error:
            raise OpenApiError(f"the file cannot be read: {error.strerror}") from error
        self.stamps[path] = stamp
        self._link(data, name)
        return data

    def _link(self, data: Json, name: str) -> None:
        """Make the references of a file relative to the description's folder."""
        own = self._path.name if self._path is not None else ""
        folder, seen = posixpath.dirname(name), set[int]()
        waiting: list[Json] = [data]
        while waiting:
            item = waiting.pop()
            if id(item) in seen or not isinstance(item, dict | list):
                continue
            seen.add(id(item))  # in YAML one object can occur several times
            if isinstance(item, list):
                waiting += item
                continue
            reference = item.get("$ref")
            if isinstance(reference, str) and "://" not in reference:
                place, sign, pointer = reference.partition("#")
                place = (
                    posixpath.normpath(posixpath.join(folder, unquote(place))) if place else name
                )
                item["$ref"] = ("" if place == own else place) + (sign or "#") + pointer
            waiting += item.values()


_DROPPED = frozenset(("example", "examples", "xml", "externalDocs", "discriminator", "readOnly"))
_LITERAL = frozenset(("enum", "const", "default", "required", "type"))
_NAMED = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))
_MUCH = 1_500
"""Number of nodes of a schema from which references are considered to shorten it."""
_WORTH = 0.67
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_MOST_STEPS = 30


@dataclass(frozen=True, slots=True)
class WholeSchema:
    """A schema for arguments, with its definitions."""

    schema: JsonObject
    """Schema, whose references lead to `$defs` of the root."""

    definitions: JsonObject = field(default_factory=dict)
    """Definitions for the root's `$defs`."""


class Schemas:
    """The definitions of one description."""

    def __init__(self, data: JsonObject, files: OtherFiles | None = None) -> None:
        """Store the definitions; references are resolved when needed.

        Args:
            data: the description.
            files: the other files that it refers to.
        """
        self._data = data
        self._files = files if files is not None else OtherFiles()
        self._names: dict[str, str] = {}
        self._inlined: dict[str, tuple[Json, frozenset[str]]] = {}
        self._direct: dict[str, frozenset[str]] = {}
        self._circular: dict[str, bool] = {}
        self._defined: dict[tuple[str, bool], tuple[Json, list[str]]] = {}
        self._sizes: dict[int, int] = {}  # of definitions, which live as long as this object
        self.problems: dict[str, str] = {}
        """Reasons why references are not resolved, one sentence each, by reference."""

    def resolved(self, item: Json) -> JsonObject:
        """Return the item, or the target of its reference; empty if there is none."""
        for _ in range(_MOST_STEPS):
            reference = item.get("$ref") if isinstance(item, Mapping) else None
            if not isinstance(reference, str):
                break
            item = self._target(reference)
        return object_of(item)

    def whole(self, properties: JsonObject) -> WholeSchema:
        """Return the self-contained schemas of arguments.

        Args:
            properties: schemas in the description, by argument.
        """
        try:
            needed: set[str] = set()
            inlined = {name: self._first(each, needed) for name, each in properties.items()}
            definitions = self._definitions(needed, put_in=True)
        except RecursionError:
            return self._referring(properties)
        size = tree_size([inlined, definitions], self._sizes)
        if size <= _MUCH:
            return WholeSchema(inlined, definitions)
        other = self._referring(properties)
        shorter = tree_size([other.schema, other.definitions], self._sizes) < size * _WORTH
        return other if shorter else WholeSchema(inlined, definitions)

    def _first(self, schema: Json, needed: set[str]) -> Json:
        """Return an argument's schema inline, even if it refers to itself."""
        reference = schema.get("$ref") if isinstance(schema, Mapping) else None
        if not isinstance(reference, str) or not self._is_circular(reference):
            return self._made(schema, needed, put_in=True)
        beside = {key: value for key, value in object_of(schema).items() if key != "$ref"}
        return self._made({**object_of(self._target(reference)), **beside}, needed, put_in=True)

    def _referring(self, properties: JsonObject) -> WholeSchema:
        needed: set[str] = set()
        made = {name: self._made(each, needed, put_in=False) for name, each in properties.items()}
        return WholeSchema(made, self._definitions(needed, put_in=False))

    def _definitions(self, needed: set[str], *, put_in: bool) -> JsonObject:
        found: JsonDict = {}
        waiting = sorted(needed)
        while waiting:
            reference = waiting.pop()
            name = self._name(reference)
            if name not in found:
                found[name], more = self._definition(reference, put_in=put_in)
                waiting += more
        return found

    def _definition(self, reference: str, *, put_in: bool) -> tuple[Json, list[str]]:
        """Return a definition for `$defs`, equal for all operations, and the names it needs."""
        key = (reference, put_in)
        if key not in self._defined:
            more: set[str] = set()
            made = self._made(self._target(reference), more, put_in=put_in)
            self._defined[key] = (made, sorted(more))
            self._sizes[id(made)] = tree_size(made)
        return self._defined[key]

    def _made(self, node: Json, needed: set[str], *, put_in: bool) -> Json:
        if isinstance(node, list):
            return [self._made(item, needed, put_in=put_in) for item in node]
        if not isinstance(node, Mapping):
            return node
        reference = node.get("$ref")
        if isinstance(reference, str):
            return self._referred(reference, node, needed, put_in=put_in)
        made: JsonDict = {}
        for key, value in node.items():
            if key in _DROPPED or key.startswith("x-"):
                continue
            if key in _LITERAL:
                made[key] = value
            elif key in _NAMED and isinstance(value, Mapping):
                made[key] = {
                    name: self._made(item, needed, put_in=put_in)
                    for name, item in self.resolved(value).items()
                    if not _is_answer_only(item)
                }
            else:
                made[key] = self._made(value, needed, put_in=put_in)
        return _as_json_schema(made, node)

    def _referred(
        self, reference: str, node: JsonObject, needed: set[str], *, put_in: bool
    ) -> Json:
        beside = {
            key: self._made(value, needed, put_in=put_in)
            for key, value in node.items()
            if key != "$ref" and not key.startswith("x-")
        }
        if self._target(reference) is None:
            return {**beside, "description": f"As in {reference}."}
        if not put_in or self._is_circular(reference):
            needed.add(reference)
            return {**beside, "$ref": f"#/$defs/{self._name(reference)}"}
        if reference not in self._inlined:
            own: set[str] = set()
            made = self._made(self._target(reference), own, put_in=True)
            self._inlined[reference] = (made, frozenset(own))
        target, more = self._inlined[reference]
        needed |= more
        return {**target, **beside} if beside and isinstance(target, Mapping) else target

    def _target(self, reference: str) -> Json:
        """Return the target of a reference; None, with a problem, if there is none."""
        place, _, pointer = reference.partition("#")
        try:
            found: Json = self._files.value(place) if place else self._data
        except OpenApiError as error:
            self.problems[reference] = f"{reference!r} is not followed: {error}"
            return None
        for step in pointer.removeprefix("/").split("/") if pointer else ():
            key = unquote(step).replace("~1", "/").replace("~0", "~")
            if isinstance(found, Mapping):
                found = found.get(key)
            elif isinstance(found, list) and key.isdecimal() and int(key) < len(found):
                found = found[int(key)]
            else:
                found = None
        if found is None:
            self.problems[reference] = f"{reference!r} leads nowhere"
        return found

    def _name(self, reference: str) -> str:
        """Return a unique name for `$defs`: the last step of the reference, numbered if needed."""
        known = self._names.get(reference)
        if known is None:
            last = reference.rpartition("/")[2].removesuffix("#")
            plain = _UNSAFE.sub("_", last) or "schema"
            known = free_name(plain, set(self._names.values()).__contains__, "_{}")
            self._names[reference] = known
        return known

    def _is_circular(self, reference: str) -> bool:
        """Return whether a definition is recursive."""
        if reference not in self._circular:
            seen: set[str] = set()
            waiting = [*self._references(reference)]
            while waiting:
                one = waiting.pop()
                if one not in seen:
                    seen.add(one)
                    waiting += self._references(one)
            self._circular[reference] = reference in seen
        return self._circular[reference]

    def _references(self, reference: str) -> frozenset[str]:
        if reference not in self._direct:
            found: set[str] = set()
            waiting: list[Json] = [self._target(reference)]
            while waiting:
                item = waiting.pop()
                if isinstance(item, Mapping):
                    to = item.get("$ref")
                    if isinstance(to, str):
                        found.add(to)
                    waiting += item.values()
                elif isinstance(item, list):
                    waiting += item
            self._direct[reference] = frozenset(found)
        return self._direct[reference]


def tree_size(value: Json, sizes: Mapping[int, int] | None = None) -> int:
    """Return the number of nodes of a value as written; shared parts count each time.

    Args:
        value: any JSON.
        sizes: known sizes of objects by their `id()`.
    """
    known = dict(sizes or {})

    def size(node: Json) -> int:
        if isinstance(node, Mapping):
            inside = node.values()
        elif isinstance(node, list):
            inside = node  # type: ignore[assignment]
        else:
            return 1
        if id(node) not in known:
            known[id(node)] = 1 + sum(size(item) for item in inside)
        return known[id(node)]

    return size(value)


def _is_answer_only(schema: Json) -> bool:
    return isinstance(schema, Mapping) and schema.get("readOnly") is True


def _as_json_schema(made: JsonDict, written: JsonObject) -> Json:
    """Convert the differences of OpenAPI 3.0 and Swagger to JSON schema."""
    if made.get("type") == "file":
        made["type"] = "string"
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(made.get(exclusive), bool) and made.pop(exclusive) and bound in made:
            made[exclusive] = made.pop(bound)
    required, properties = made.get("required"), written.get("properties")
    if isinstance(required, list) and isinstance(properties, Mapping):
        gone = {name for name, each in properties.items() if _is_answer_only(each)}
        left = [name for name in required if not isinstance(name, str) or name not in gone]
        made["required"] = left
        if not left:
            del made["required"]
    if isinstance(made.get("required"), bool):
        del made["required"]  # from a parameter or from JSON schema 3
    if made.pop("nullable", None) is not True:
        return made
    if isinstance(made.get("type"), str):
        made["type"] = [made["type"], "null"]
        if isinstance(made.get("enum"), list) and None not in made["enum"]:  # type: ignore[operator]
            made["enum"] = [*made["enum"], None]  # type: ignore[misc]
        return made
    return {"anyOf": [made, {"type": "null"}]} if made else made
