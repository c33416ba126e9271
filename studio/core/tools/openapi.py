"""OpenAPI 3 descriptions as tools: operations, their arguments, and the request of a call. Pure.

An operation's arguments are its parameters (path, query, header, cookie) by name, and its request
body as one argument `body`.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import quote, urlencode, urljoin

from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.values import Json, JsonObject
from studio.core.tools.schema import inline_references

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_READING = ("get", "head", "options", "trace")
_PLACES = ("path", "query", "header", "cookie")
_BODY = "body"
_SHARED = "$shared schemas"
_MASK = "•••"
_JSON_TYPE = re.compile(r"^application/(?:[\w.+-]+\+)?json\b")
_NAME = re.compile(r"[^A-Za-z0-9_-]+")


class OpenApiError(Exception):
    """A description that cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class Parameter:
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

    parameters: tuple[Parameter, ...] = ()
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
class HttpRequest:
    """A request that can be shown before it is sent."""

    method: str
    """In upper case."""

    url: str
    """With the query."""

    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers."""

    body: str = ""
    """The body's text."""

    def text(self) -> str:
        """The request as a person reads it."""
        head = [f"{self.method} {self.url}", *(f"{k}: {v}" for k, v in self.headers.items())]
        return "\n".join([*head, "", self.body] if self.body else head)


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


def build_request(
    operation: Operation, arguments: JsonObject, base: str, credential: Credential, key: str
) -> HttpRequest:
    """The request of a call; a parameter that is absent is left out, one in the path is needed.

    Raises:
        OpenApiError: a path parameter has no value, or the base is no absolute URL.
    """
    if not re.match(r"https?://", base):
        raise OpenApiError("it has no absolute server URL: give the tool's connection an endpoint")
    path, query, headers, cookies = operation.path, list[tuple[str, str]](), dict[str, str](), {}
    for parameter in operation.parameters:
        given = arguments.get(parameter.name)
        if given is None:
            continue
        match parameter.place:
            case "path":
                path = path.replace(f"{{{parameter.name}}}", quote(_plain(given), safe=""))
            case "query":
                query += _query(parameter, given)
            case "header":
                headers[parameter.name] = _header(_plain(given))
            case _:
                cookies[parameter.name] = quote(_plain(given), safe="")
    missing = re.search(r"\{([^{}]+)\}", path)
    if missing:
        raise OpenApiError(f"the path parameter {missing[1]!r} has no value")
    if key:
        _sign(credential, key, query, headers, cookies)
    if cookies:
        headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
    body = ""
    if operation.content_type and _BODY in arguments:
        headers["Content-Type"] = operation.content_type
        body = _encoded(arguments[_BODY], operation.content_type)
    url = base.rstrip("/") + "/" + path.lstrip("/")
    full = f"{url}?{urlencode(query)}" if query else url
    return HttpRequest(operation.method.upper(), full, headers, body)


def masked_request(
    operation: Operation, arguments: JsonObject, base: str, credential: Credential, *, has_key: bool
) -> HttpRequest:
    """The request as it will be sent, with the key masked: for people, before they allow it."""
    return build_request(operation, arguments, base, credential, _MASK if has_key else "")


def server_url(description: Description, endpoint: str, place: str) -> str:
    """Where requests go: the connection's endpoint, otherwise the description's own server."""
    if endpoint:
        return endpoint
    return urljoin(place, description.server) if place.startswith("http") else description.server


def _operation(
    data: JsonObject, path: str, method: str, shared: JsonObject, source: str
) -> Operation:
    operation = _mapping(shared[method])
    properties: dict[str, Json] = {}
    required: list[Json] = []
    found: dict[str, Parameter] = {}
    for item in (*_parameters(shared, data), *_parameters(operation, data)):
        name, place = _text(item.get("name")), _text(item.get("in"))
        if not name or place not in _PLACES:
            continue
        found[name] = Parameter(name, place, item.get("explode") is not False)
        properties[name] = _described(_schema(item, data), _text(item.get("description")))
        if (item.get("required") is True or place == "path") and name not in required:
            required.append(name)
    content_type = ""
    body = _resolved(operation.get("requestBody"), data)
    if body:
        content_type, schema = _body(body, data)
        properties[_BODY] = _described(schema, _text(body.get("description")))
        if body.get("required") is True:
            required.append(_BODY)
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
    )
    return Operation(spec, method, path, tuple(found.values()), content_type)


def _parameters(holder: JsonObject, data: JsonObject) -> Iterator[JsonObject]:
    listed = holder.get("parameters")
    for item in listed if isinstance(listed, list) else []:
        yield _resolved(item, data)


def _body(body: JsonObject, data: JsonObject) -> tuple[str, JsonObject]:
    content = _mapping(body.get("content"))
    chosen = next((kind for kind in content if _JSON_TYPE.match(kind)), next(iter(content), ""))
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


def _sign(
    credential: Credential,
    key: str,
    query: list[tuple[str, str]],
    headers: dict[str, str],
    cookies: dict[str, str],
) -> None:
    if credential.prefix == "Basic " and ":" in key:
        key = base64.b64encode(key.encode()).decode()
    value = credential.prefix + key
    match credential.place:
        case "query":
            query.append((credential.name, value))
        case "cookie":
            cookies[credential.name] = quote(value, safe="")
        case _:
            headers[credential.name] = _header(value)


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


def _query(parameter: Parameter, value: Json) -> list[tuple[str, str]]:
    if isinstance(value, list | tuple):
        texts = [_plain(item) for item in value]
        if parameter.explode:
            return [(parameter.name, text) for text in texts]
        return [(parameter.name, ",".join(texts))]
    return [(parameter.name, _plain(value))]


def _encoded(value: Json, content_type: str) -> str:
    if content_type.startswith("application/x-www-form-urlencoded") and isinstance(value, Mapping):
        return urlencode([(name, _plain(item)) for name, item in value.items()])
    if isinstance(value, str) and not _JSON_TYPE.match(content_type):
        return value
    return json.dumps(value, ensure_ascii=False)


def _header(text: str) -> str:
    """A value that cannot start a header of its own."""
    return re.sub(r"[\r\n\0]+", " ", text)


def _plain(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _mapping(value: Json) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
