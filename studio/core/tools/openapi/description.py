"""OpenAPI 3 descriptions as tools: operations and their arguments. Pure.

An operation's arguments are its parameters (path, query, header, cookie) by name, and its request
body as one argument `body`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.values import Json, JsonObject
from studio.core.tools.schema import inline_references

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_READING = ("get", "head", "options", "trace")
_PLACES = ("path", "query", "header", "cookie")
_NOT_ARGUMENTS = frozenset(
    {
        # OpenAPI 3.1 §4.8.12.1 leaves these to the media types and the security schemes.
        *("accept", "authorization", "content-type"),
        # These say where a request goes and where it ends, which is not the model's to say.
        *("connection", "content-length", "cookie", "expect", "host", "keep-alive", "te"),
        *("proxy-authorization", "proxy-connection", "trailer", "transfer-encoding", "upgrade"),
    }
)
"""Names of headers, in lower case, that are never arguments."""

BODY = "body"
_SHARED = "$shared schemas"
JSON_TYPE = re.compile(r"^application/(?:[\w.+-]+\+)?json\b")
_NAME = re.compile(r"[^A-Za-z0-9_-]+")


class OpenApiError(Exception):
    """A description that cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class OpenApiParameter:
    """One argument that travels outside the body."""

    name: str
    """Its name on the wire."""

    place: str
    """`path`, `query`, `header` or `cookie`."""

    explode: bool = True
    """Whether a list in the query repeats the name; otherwise it is joined by commas."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation as a tool."""

    spec: ToolSpec
    """What the model is told."""

    method: str
    """HTTP method in lower case."""

    path: str
    """Path template ("/pets/{id}")."""

    parameters: tuple[OpenApiParameter, ...] = ()
    """Where each argument goes."""

    content_type: str = ""
    """Media type of the body; empty where there is none."""


@dataclass(frozen=True, slots=True)
class Credential:
    """How a key travels, as the description's security scheme says."""

    place: str
    """`header`, `query` or `cookie`."""

    name: str
    """Header, parameter or cookie name."""

    prefix: str = ""
    """Written before the key ("Bearer ")."""


@dataclass(frozen=True, slots=True)
class Description:
    """A description that was read."""

    operations: tuple[Operation, ...]
    """Every operation."""

    server: str = ""
    """The first server's URL; may be relative."""

    credential: Credential = field(default=Credential("header", "Authorization", "Bearer "))
    """How a key is sent."""

    title: str = ""
    """The API's title."""


def read_description(data: Json, source: str) -> Description:
    """Take a description apart.

    Raises:
        OpenApiError: it is no OpenAPI 3 description, or has no operations.
    """
    if not isinstance(data, Mapping) or not str(data.get("openapi", "")).startswith("3."):
        raise OpenApiError("it is not an OpenAPI 3 description (no 'openapi: 3…' at its root)")
    operations: dict[str, Operation] = {}
    data = {**data, _SHARED: _local_references(_mapping(data.get("components")).get("schemas"))}
    for path, item in _mapping(data.get("paths")).items():
        shared = _resolved(item, data)
        for method in METHODS:
            if isinstance(shared.get(method), Mapping):
                made = _operation(data, path, method, shared, source)
                name, count = made.spec.name, 2
                while name in operations:
                    name, count = f"{made.spec.name}_{count}", count + 1
                operations[name] = replace(made, spec=replace(made.spec, name=name))
    if not operations:
        raise OpenApiError("it has no operations under 'paths'")
    servers = data.get("servers")
    first = servers[0] if isinstance(servers, list) and servers else {}
    return Description(
        tuple(operations.values()),
        _text(_mapping(first).get("url")),
        _credential(data),
        _text(_mapping(data.get("info")).get("title")),
    )


def _operation(
    data: JsonObject, path: str, method: str, shared: JsonObject, source: str
) -> Operation:
    operation = _mapping(shared[method])
    properties: dict[str, Json] = {}
    required: list[Json] = []
    found: dict[str, OpenApiParameter] = {}
    for item in (*_parameters(shared, data), *_parameters(operation, data)):
        name, place = _text(item.get("name")), _text(item.get("in"))
        if not name or place not in _PLACES:
            continue
        if place == "header" and name.casefold() in _NOT_ARGUMENTS:
            continue
        found[name] = OpenApiParameter(name, place, item.get("explode") is not False)
        properties[name] = _described(_schema(item, data), _text(item.get("description")))
        if (item.get("required") is True or place == "path") and name not in required:
            required.append(name)
    content_type = ""
    body = _resolved(operation.get("requestBody"), data)
    if body:
        content_type, schema = _body(body, data)
        properties[BODY] = _described(schema, _text(body.get("description")))
        if body.get("required") is True:
            required.append(BODY)
    parameters: dict[str, Json] = {"type": "object", "properties": properties}
    if required:
        parameters["required"] = required
    texts = (_text(operation.get(key)) for key in ("summary", "description"))
    spec = ToolSpec(
        _NAME.sub("_", _text(operation.get("operationId")) or f"{method}{path}").strip("_")[:64],
        "\n".join(text for text in texts if text),
        parameters,
        kind="openapi",
        source=source,
        has_effects=method not in _READING,
        reads_only=method in _READING,
    )
    return Operation(spec, method, path, tuple(found.values()), content_type)


def _parameters(holder: JsonObject, data: JsonObject) -> Iterator[JsonObject]:
    listed = holder.get("parameters")
    for item in listed if isinstance(listed, list) else []:
        yield _resolved(item, data)


def _body(body: JsonObject, data: JsonObject) -> tuple[str, JsonObject]:
    content = _mapping(body.get("content"))
    chosen = next((kind for kind in content if JSON_TYPE.match(kind)), next(iter(content), ""))
    return chosen or "application/json", _schema(_mapping(content.get(chosen)), data)


def _schema(holder: JsonObject, data: JsonObject) -> JsonObject:
    """The schema in a parameter or media type, self-contained."""
    schema = holder.get("schema")
    if not isinstance(schema, Mapping):
        media = _mapping(holder.get("content"))
        schema = next((_mapping(item).get("schema") for item in media.values()), None)
    if not isinstance(schema, Mapping):
        return {}
    own = _local_references(schema)
    made = _nullable(inline_references({**own, "$defs": data[_SHARED]}))
    return made if isinstance(made, Mapping) else {}


def _local_references(schemas: Json) -> dict[str, Json]:
    """Schemas whose references to `components` lead to `$defs`, as JSON schema has it."""
    text = json.dumps(_mapping(schemas), default=str)
    loaded: dict[str, Json] = json.loads(text.replace("#/components/schemas/", "#/$defs/"))
    return loaded


def _nullable(schema: Json) -> Json:
    """OpenAPI 3.0 says `nullable: true` where JSON schema says a list of types."""
    if isinstance(schema, list):
        return [_nullable(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    made: dict[str, Json] = {key: _nullable(value) for key, value in schema.items()}
    if made.pop("nullable", None) is True and isinstance(made.get("type"), str):
        made["type"] = [made["type"], "null"]
    return made


def _described(schema: JsonObject, description: str) -> JsonObject:
    if description and "description" not in schema:
        return {**schema, "description": description}
    return schema


def _credential(data: JsonObject) -> Credential:
    """The first scheme that the whole API asks for, otherwise the first that is described."""
    schemes = _mapping(_mapping(data.get("components")).get("securitySchemes"))
    asked = data.get("security")
    names = [name for item in asked if isinstance(item, Mapping) for name in item] if isinstance(
        asked, list
    ) else []  # fmt: skip
    for name in (*names, *schemes):
        scheme = _resolved(schemes.get(name), data)
        kind, word = scheme.get("type"), _text(scheme.get("scheme")).lower()
        if kind == "apiKey" and scheme.get("in") in ("header", "query", "cookie"):
            return Credential(_text(scheme.get("in")), _text(scheme.get("name")))
        if kind == "http" and word == "basic":
            return Credential("header", "Authorization", "Basic ")
        if kind in ("http", "oauth2", "openIdConnect"):
            return Credential("header", "Authorization", "Bearer ")
    return Credential("header", "Authorization", "Bearer ")


def _resolved(item: Json, data: JsonObject) -> JsonObject:
    """The item, or what its local reference leads to."""
    for _ in range(20):
        if not isinstance(item, Mapping):
            return {}
        reference = item.get("$ref")
        if not isinstance(reference, str):
            return item
        if not reference.startswith("#/"):
            return {}
        found: Json = data
        for step in reference[2:].split("/"):
            key = step.replace("~1", "/").replace("~0", "~")
            found = found.get(key) if isinstance(found, Mapping) else None
        item = found
    return {}


def _mapping(value: Json) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
