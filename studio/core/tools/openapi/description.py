"""Convert OpenAPI descriptions to tools: operations and their arguments. Pure.

3.0, 3.1, 3.2 and Swagger 2. An operation's arguments are its parameters (path, query, header,
cookie, or the whole query) by name, and its request body as one argument `body`.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from studio.core.prompty.document import ToolSpec
from studio.core.text.amounts import shortened
from studio.core.text.values import Json, JsonDict, JsonObject, object_of, text_of
from studio.core.tools.binding import free_model_name
from studio.core.tools.openapi.schemas import (
    BEARER,
    Credential,
    Description,
    FieldEncoding,
    OpenApiError,
    OpenApiParameter,
    Operation,
    OtherFiles,
    Schemas,
)
from studio.core.tools.openapi.swagger2 import as_openapi3

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
_READING = ("get", "head", "options", "trace", "query")
_STYLES = {
    "path": ("simple", "label", "matrix"),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "querystring": ("",),
    "header": ("simple",),
    "cookie": ("form",),
}
"""Places of parameters in the order of the arguments, each with its styles, the default first."""

_PLACES = (*_STYLES,)
_METHOD = re.compile(r"[!#$%&'*+.^_`|~0-9A-Z-]+")  # the client sends all methods in upper case
_NOT_ARGUMENTS = frozenset(
    {
        # OpenAPI 3.1 §4.8.12.1 reserves these for the media types and the security schemes.
        *("accept", "authorization", "content-type"),
        # These control where a request is sent and where it ends, which the model must not set.
        *("connection", "content-length", "cookie", "expect", "host", "keep-alive", "te"),
        *("proxy-authorization", "proxy-connection", "trailer", "transfer-encoding", "upgrade"),
    }
)
"""Names of headers, in lower case, that are never arguments."""

BODY = "body"
JSON_TYPE = re.compile(r"^application/(?:[\w.+-]+\+)?json\b")
_XML_TYPE = re.compile(r"^(?:application|text)/(?:[\w.+-]+\+)?xml\b")
_ANY_TYPE = ("*/*", "application/*")
_PATH_VALUE = re.compile(r"\{([^{}]+)\}")
_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_REASON = 500


def read_description(
    data: Json,
    source: str,
    variables: Mapping[str, str] | None = None,
    made: Callable[[int, int], None] = lambda done, whole: None,
    files: OtherFiles | None = None,
) -> Description:
    """Read the parts of a description.

    Args:
        data: the description.
        source: source of its tools, for the user.
        variables: values of variables in its servers' addresses, overriding defaults.
        made: called after each operation with their number so far and in total; its exceptions end
            the reading.
        files: the other files that it refers to.

    Raises:
        OpenApiError: it is no OpenAPI description, or has no operations.
    """
    files = files if files is not None else OtherFiles()
    if not isinstance(data, Mapping):
        raise OpenApiError("it is not an OpenAPI description: its root is not an object")
    schemas = Schemas(data, files)
    if str(data.get("swagger", "")).startswith("2"):
        data = as_openapi3(data, lambda item: schemas.resolved(item) or object_of(item))
    if not str(data.get("openapi", "")).startswith("3."):
        raise OpenApiError(
            "it is not an OpenAPI description (no 'openapi: 3…' and no 'swagger: 2…' at its root)"
        )
    reader = _Reader(data, schemas, source, variables or {})
    whole = reader.count()
    found = []
    for operation in reader.operations():
        found.append(operation)
        made(len(found), whole)
    operations = tuple(found)
    if not operations:
        why = "; ".join(("it has no operations under 'paths'", *reader.problems))
        raise OpenApiError(shortened(why, _LONGEST_REASON))
    schemes = reader.schemes()
    security = _alternatives(data.get("security"))
    return Description(
        operations,
        reader.server(data),
        _usual_credential(schemes, security),
        text_of(object_of(data.get("info")).get("title")),
        schemes,
        security,
        tuple(reader.problems),
        files.stamps,
        reader.token_urls(),
    )


class _Reader:
    """A reader of the operations of one description."""

    def __init__(
        self, data: JsonObject, schemas: Schemas, source: str, variables: Mapping[str, str]
    ) -> None:
        self.data = data
        self.schemas = schemas
        self.problems: dict[str, None] = {}
        self._reported: set[str] = set()
        self._source = source
        self._variables = variables
        self._names: set[str] = set()

    def count(self) -> int:
        """Return the number of operations in the paths."""
        items = object_of(self.data.get("paths")).values()
        return sum(
            method in item for item in items if isinstance(item, Mapping) for method in METHODS
        )

    def operations(self) -> Iterator[Operation]:
        for path, item in object_of(self.data.get("paths")).items():
            self.schemas.problems.clear()
            shared = self.schemas.resolved(item)
            self._report(path)
            for method in METHODS:
                yield from self._followed(path, method, shared, shared.get(method))
            for method, written in object_of(shared.get("additionalOperations")).items():
                if _METHOD.fullmatch(method):
                    yield from self._followed(path, method.lower(), shared, written)
                else:
                    why = f"{method} {path}: left out, {method!r} is not a method in capitals"
                    self.problems[why] = None

    def _followed(
        self, path: str, method: str, shared: JsonObject, written: Json
    ) -> Iterator[Operation]:
        """Yield the operation, unless a reference to it or its body cannot be resolved."""
        if not isinstance(written, Mapping):
            return
        line = f"{method.upper()} {path}"
        operation = self.schemas.resolved(written)
        lacks = operation.get("requestBody") if operation else written
        if lacks and not self.schemas.resolved(lacks):
            self._report(f"{line}: left out")
            return
        yield self._operation(path, method, shared, operation)
        self._report(line)

    def _report(self, place: str) -> None:
        """Report unresolved references, each once, with the operation that needs them."""
        for reference, why in self.schemas.problems.items():
            if reference not in self._reported or place.endswith("left out"):
                self.problems[f"{place}: {why}"] = None
        self._reported |= self.schemas.problems.keys()
        self.schemas.problems.clear()

    def schemes(self) -> dict[str, Credential]:
        listed = object_of(object_of(self.data.get("components")).get("securitySchemes"))
        found = {}
        for name, each in listed.items():
            credential = _credential(self.schemas.resolved(each))
            if credential is not None:
                found[name] = credential
        return found

    def token_urls(self) -> dict[str, str]:
        """Return the token URLs for client programs, by scheme."""
        listed = object_of(object_of(self.data.get("components")).get("securitySchemes"))
        found = {}
        for name, each in listed.items():
            flows = object_of(self.schemas.resolved(each).get("flows"))
            url = text_of(object_of(flows.get("clientCredentials")).get("tokenUrl"))
            if url:
                found[name] = url
        return found

    def server(self, holder: JsonObject) -> str:
        """Return the first server's address with its variables inserted."""
        listed = holder.get("servers")
        first = object_of(listed[0]) if isinstance(listed, list) and listed else {}
        url = text_of(first.get("url"))
        for name, each in object_of(first.get("variables")).items():
            value = self._variables.get(name, object_of(each).get("default"))
            if value is not None:
                url = url.replace(f"{{{name}}}", str(value))
        return url

    def _operation(
        self, path: str, method: str, shared: JsonObject, operation: JsonObject
    ) -> Operation:
        body = self.schemas.resolved(operation.get("requestBody"))
        found = self._parameters(path, shared, operation, has_body=bool(body))
        properties: JsonDict = {}
        required: list[Json] = []
        for parameter, item in found:
            properties[parameter.key] = _described(_schema_of(item), item)
            if item.get("required") is True or parameter.place == "path":
                required.append(parameter.key)
        content_type, encoding = "", dict[str, FieldEncoding]()
        if body:
            content_type, schema, encoding = self._body(body)
            properties[BODY] = _described(schema, body)
            if body.get("required") is True:
                required.append(BODY)
        whole = self.schemas.whole(properties)
        parameters: JsonDict = {"type": "object", "properties": whole.schema}
        if required:
            parameters["required"] = required
        parameters["additionalProperties"] = False
        if whole.definitions:
            parameters["$defs"] = whole.definitions
        identifier = text_of(operation.get("operationId"))
        spec = ToolSpec(
            self._name(identifier or f"{method}{path}"),
            _told(operation),
            parameters,
            kind="openapi",
            source=self._source,
            has_effects=method not in _READING,
            reads_only=method in _READING,
        )
        tags = operation.get("tags")
        return Operation(
            spec,
            method,
            path,
            tuple(parameter for parameter, _ in found),
            content_type,
            tuple(str(tag) for tag in tags) if isinstance(tags, list) else (),
            encoding,
            self.server(operation) or self.server(shared),
            _alternatives(operation.get("security")),
            identifier,
        )

    def _name(self, wanted: str) -> str:
        """Return a name that is valid for providers and unique among the operations."""
        plain = _NAME.sub("_", wanted).strip("_") or "operation"
        name = free_model_name(plain, self._names)
        self._names.add(name)
        return name

    def _parameters(
        self, path: str, shared: JsonObject, operation: JsonObject, *, has_body: bool
    ) -> list[tuple[OpenApiParameter, JsonObject]]:
        listed: dict[tuple[str, str], JsonObject] = {
            (name, "path"): {"name": name, "in": "path", "schema": {"type": "string"}}
            for name in _PATH_VALUE.findall(path)  # some descriptions do not list all of them
        }
        for item in (*self._listed(shared), *self._listed(operation)):
            name, place = text_of(item.get("name")), text_of(item.get("in"))
            if place and place not in _PLACES:
                self.problems[f"the parameter {name!r} is in {place!r}, which is unknown"] = None
            if not name or place not in _PLACES:
                continue
            if place != "header" or name.casefold() not in _NOT_ARGUMENTS:
                listed[(name, place)] = item
        found: list[tuple[OpenApiParameter, JsonObject]] = []
        taken = {BODY} if has_body else set()
        for (name, place), item in sorted(
            listed.items(), key=lambda each: _PLACES.index(each[0][1])
        ):
            argument = name if name not in taken else f"{name}_{place}"
            taken.add(argument)
            found.append((self._parameter(name, place, argument, item), item))
        return found

    def _listed(self, holder: JsonObject) -> Iterator[JsonObject]:
        listed = holder.get("parameters")
        for item in listed if isinstance(listed, list) else []:
            yield self.schemas.resolved(item)

    def _parameter(
        self, name: str, place: str, argument: str, item: JsonObject
    ) -> OpenApiParameter:
        content = next(iter(object_of(item.get("content"))), "")
        usual = _STYLES[place][0]
        style = text_of(item.get("style")) or usual
        if style not in _STYLES[place]:
            self.problems[f"the style {style!r} of the {place} parameter {name!r} is unknown"] = (
                None
            )
            style = usual
        explode = item.get("explode")
        schema = self.schemas.resolved(_schema_of(item))
        kind = text_of(schema.get("type"))
        if not kind and isinstance(schema.get("properties"), Mapping):
            kind = "object"
        return OpenApiParameter(
            name,
            place,
            explode if isinstance(explode, bool) else style in ("form", "deepObject"),
            argument if argument != name else "",
            style if style != usual else "",
            kind if kind in ("array", "object") else "",
            item.get("allowReserved") is True,
            content,
        )

    def _body(self, body: JsonObject) -> tuple[str, JsonObject, dict[str, FieldEncoding]]:
        """Return media type, schema and encoding of a body, preferably JSON."""
        content = object_of(body.get("content"))
        ranked = sorted(content, key=_rank)
        chosen = ranked[0] if ranked else ""
        media = object_of(content.get(chosen))
        schema = _schema_of(media)
        if _XML_TYPE.match(chosen):
            text: JsonObject = {"type": "string", "description": "The body, as XML text."}
            return chosen, text, {}
        encoding: dict[str, FieldEncoding] = {}
        own = object_of(media.get("encoding"))
        properties = object_of(self.schemas.resolved(schema).get("properties"))
        for name in {**properties, **own}:
            each, about = object_of(own.get(name)), self.schemas.resolved(properties.get(name))
            explode = each.get("explode")
            encoding[name] = FieldEncoding(
                text_of(each.get("style")),
                explode if isinstance(explode, bool) else True,
                text_of(each.get("contentType")),
                about.get("format") == "binary" or about.get("type") == "file",
            )
        return _sent_as(chosen), schema, encoding


def _rank(kind: str) -> int:
    """Return the rank of a media type: JSON, then forms, then anything else, XML last."""
    if JSON_TYPE.match(kind):
        return 0
    if kind in _ANY_TYPE:
        return 1
    if kind.startswith(("application/x-www-form-urlencoded", "multipart/form-data")):
        return 1
    return 3 if _XML_TYPE.match(kind) else 2


def _sent_as(kind: str) -> str:
    """Return the media type of a body; JSON if any is allowed (as in Kubernetes)."""
    return "application/json" if not kind or kind in _ANY_TYPE else kind


def _schema_of(holder: JsonObject) -> JsonObject:
    """Return the schema in a parameter or media type, as written."""
    schema = holder.get("schema")
    if not isinstance(schema, Mapping):
        media = object_of(holder.get("content"))
        schema = next((object_of(item).get("schema") for item in media.values()), None)
    return object_of(schema)


def _described(schema: JsonObject, holder: JsonObject) -> JsonObject:
    description = text_of(holder.get("description"))
    if description and "description" not in schema:
        return {**schema, "description": description}
    return schema


def _told(operation: JsonObject) -> str:
    """Return summary and description without repeated text."""
    summary, description = (text_of(operation.get(key)) for key in ("summary", "description"))
    if description.startswith(summary.rstrip(".")):
        return description
    return "\n".join(text for text in (summary, description) if text)


def _alternatives(security: Json) -> tuple[tuple[str, ...], ...] | None:
    if not isinstance(security, list):
        return None
    return tuple(tuple(each) for each in security if isinstance(each, Mapping))


def _credential(scheme: JsonObject) -> Credential | None:
    """Return the place of a scheme's key; None if the scheme has none (mutual TLS)."""
    kind, word = scheme.get("type"), text_of(scheme.get("scheme")).lower()
    if kind == "apiKey" and scheme.get("in") in ("header", "query", "cookie"):
        return Credential(text_of(scheme.get("in")), text_of(scheme.get("name")))
    if kind == "http" and word == "basic":
        return Credential("header", "Authorization", "Basic ")
    if kind in ("http", "oauth2", "openIdConnect"):
        return BEARER
    return None


def _usual_credential(
    schemes: Mapping[str, Credential], security: tuple[tuple[str, ...], ...] | None
) -> Credential:
    """Return the first scheme that the whole API requires, else the first one described."""
    names = [name for each in security or () for name in each]
    return next((schemes[name] for name in (*names, *schemes) if name in schemes), BEARER)
