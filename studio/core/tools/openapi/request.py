"""The HTTP request of a call of an OpenAPI operation. Pure, so that it can be shown first."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode, urljoin

from studio.core.text.values import Json, JsonObject
from studio.core.tools.openapi.description import (
    BODY,
    JSON_TYPE,
    Credential,
    Description,
    OpenApiError,
    Operation,
    Parameter,
)

MASK = "•••"
"""Stands for a key."""


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
    if operation.content_type and BODY in arguments:
        headers["Content-Type"] = operation.content_type
        body = _encoded(arguments[BODY], operation.content_type)
    url = base.rstrip("/") + "/" + path.lstrip("/")
    full = f"{url}?{urlencode(query)}" if query else url
    return HttpRequest(operation.method.upper(), full, headers, body)


def masked_request(
    operation: Operation, arguments: JsonObject, base: str, credential: Credential, *, has_key: bool
) -> HttpRequest:
    """The request as it will be sent, with the key masked: for people, before they allow it."""
    return build_request(operation, arguments, base, credential, MASK if has_key else "")


def server_url(description: Description, endpoint: str, place: str) -> str:
    """Where requests go: the connection's endpoint, otherwise the description's own server."""
    if endpoint:
        return endpoint
    return urljoin(place, description.server) if place.startswith("http") else description.server


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
    if isinstance(value, str) and not JSON_TYPE.match(content_type):
        return value
    return json.dumps(value, ensure_ascii=False)


def _header(text: str) -> str:
    """A value that cannot start a header of its own."""
    return re.sub(r"[\r\n\0]+", " ", text)


def _plain(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
