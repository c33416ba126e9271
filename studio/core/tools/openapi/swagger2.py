"""Convert a Swagger 2 description to OpenAPI 3, as far as calls need it."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from studio.core.text.values import Json, JsonDict, JsonObject, list_of, object_of

_SCHEMA_KEYS = tuple(
    """
    type format items enum default pattern minimum maximum minLength maxLength minItems maxItems
    uniqueItems multipleOf exclusiveMinimum exclusiveMaximum
""".split()
)
_COLLECTIONS: Mapping[str, tuple[str, bool]] = {
    "csv": ("", False),
    "multi": ("form", True),
    "ssv": ("spaceDelimited", False),
    "pipes": ("pipeDelimited", False),
}
_METHODS = ("get", "put", "post", "delete", "options", "head", "patch")

_Resolve: TypeAlias = Callable[[Json], JsonObject]
_FORM = "application/x-www-form-urlencoded"
_MULTIPART = "multipart/form-data"
_OAUTH_FLOWS = {"application": "clientCredentials"}


def as_openapi3(data: JsonObject, resolve: _Resolve) -> JsonObject:
    """Return the API as an OpenAPI 3 description; references to schemas stay unchanged.

    Args:
        data: the description.
        resolve: returns an item, or the target of its reference.
    """
    consumes = list_of(data.get("consumes")) or ["application/json"]
    paths: JsonDict = {}
    for path, item in object_of(data.get("paths")).items():
        paths[path] = _item(resolve(item), resolve, consumes)
    schemes = object_of(data.get("securityDefinitions"))
    return {
        **data,
        "openapi": "3.0.0",
        "servers": _servers(data),
        "paths": paths,
        "components": {
            "securitySchemes": {name: _scheme(object_of(each)) for name, each in schemes.items()}
        },
    }


def _servers(data: JsonObject) -> list[Json]:
    host = data.get("host")
    base = data.get("basePath") if isinstance(data.get("basePath"), str) else ""
    if not isinstance(host, str) or not host:
        return [{"url": base or "/"}]
    schemes = [each for each in list_of(data.get("schemes")) if each in ("https", "http")]
    ordered = sorted(schemes, key=lambda each: each != "https") or ["https"]
    return [{"url": f"{scheme}://{host}{base}"} for scheme in ordered]


def _item(item: JsonObject, resolve: _Resolve, consumes: list[Any]) -> JsonObject:
    made: JsonDict = dict(item)
    shared = [resolve(each) for each in list_of(item.get("parameters"))]
    made["parameters"] = [_parameter(each) for each in shared if _is_outside(each)]
    for method in _METHODS:
        if isinstance(item.get(method), Mapping):
            made[method] = _operation(resolve(item[method]), shared, resolve, consumes)
    return made


def _operation(
    operation: JsonObject, shared: list[JsonObject], resolve: _Resolve, consumes: list[Any]
) -> JsonObject:
    own = [resolve(each) for each in list_of(operation.get("parameters"))]
    names = {(each.get("name"), each.get("in")) for each in own}
    inside = [each for each in shared if (each.get("name"), each.get("in")) not in names]
    inside = [each for each in (*inside, *own) if not _is_outside(each)]
    made: JsonDict = {
        **operation,
        "parameters": [_parameter(each) for each in own if _is_outside(each)],
    }
    kinds = [str(each) for each in list_of(operation.get("consumes")) or consumes]
    if inside:
        made["requestBody"] = _body(inside, kinds)
    return made


def _body(parameters: list[JsonObject], kinds: list[str]) -> JsonObject:
    body = next((each for each in parameters if each.get("in") == "body"), None)
    if body is not None:
        content = {kind: {"schema": body.get("schema", {})} for kind in kinds}
        return {
            "content": content,
            "required": body.get("required") is True,
            "description": body.get("description", ""),
        }
    has_file = any(each.get("type") == "file" for each in parameters)
    fields = {str(each.get("name")): _schema(each) for each in parameters}
    encoding = {
        str(each.get("name")): {"explode": each.get("collectionFormat") == "multi"}
        for each in parameters
        if each.get("type") == "array"
    }
    needed = [each.get("name") for each in parameters if each.get("required") is True]
    schema: JsonObject = {"type": "object", "properties": fields, "required": needed}
    kind = _MULTIPART if has_file or (_MULTIPART in kinds and _FORM not in kinds) else _FORM
    return {"content": {kind: {"schema": schema, "encoding": encoding}}, "required": bool(needed)}


def _parameter(parameter: JsonObject) -> JsonObject:
    if "$ref" in parameter:  # an unresolved reference, which is reported when it is read
        return parameter
    style, explode = _COLLECTIONS.get(str(parameter.get("collectionFormat") or "csv"), ("", False))
    made: JsonDict = {
        key: parameter[key] for key in ("name", "in", "required", "description") if key in parameter
    }
    made["schema"] = _schema(parameter)
    if parameter.get("type") == "array":
        made["explode"] = explode
        if style:
            made["style"] = style
    return made


def _schema(parameter: JsonObject) -> JsonObject:
    return {
        **{key: parameter[key] for key in _SCHEMA_KEYS if key in parameter},
        **({"description": parameter["description"]} if "description" in parameter else {}),
    }


def _scheme(scheme: JsonObject) -> JsonObject:
    match scheme.get("type"):
        case "basic":
            return {"type": "http", "scheme": "basic"}
        case "oauth2":
            flow = str(scheme.get("flow", ""))
            return {"type": "oauth2", "flows": {_OAUTH_FLOWS.get(flow, flow): scheme}}
        case _:
            return scheme


def _is_outside(parameter: JsonObject) -> bool:
    return parameter.get("in") not in ("body", "formData")
