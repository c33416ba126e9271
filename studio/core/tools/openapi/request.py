"""The HTTP request of a call of an OpenAPI operation. Pure, so that it can be shown first.

The arguments are the model's, and a text that the model has read may have chosen them. A request
therefore never leaves its operation: each value stays in the segment, field or header that the
description has for it, and a value that a server could read as a step to another path is refused.
What `HttpRequest` holds is sent byte for byte: nothing is added or normalized afterwards.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, quote_plus, unquote, urlencode, urljoin, urlsplit

from studio import __version__
from studio.core.text.values import Json, JsonObject
from studio.core.tools.openapi.description import (
    BODY,
    JSON_TYPE,
    Credential,
    Description,
    OpenApiError,
    OpenApiParameter,
    Operation,
)

MASK = "•••"
"""Stands for a key."""

_DEFAULT_PORTS = {"http": 80, "https": 443}
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110 §5.6.2
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_BLANKS = re.compile(r"[\x00-\x20\x7f]+")
_MOST_DECODINGS = 8
_PATH_LITERALS = "/%:@!$&'()*+,;="


class ArgumentError(OpenApiError):
    """An argument that cannot be sent; the text is for the model, and for the user."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request that can be shown before it is sent."""

    method: str
    """In upper case."""

    url: str
    """With the query; ASCII, as it is sent."""

    headers: Mapping[str, str] = field(default_factory=dict)
    """Every header, in the order in which they are sent."""

    body: str = ""
    """The body's text; sent as UTF-8."""

    def text(self) -> str:
        """The request as a person reads it."""
        head = [f"{self.method} {self.url}", *(f"{k}: {v}" for k, v in self.headers.items())]
        return "\n".join([*head, "", self.body] if self.body else head)


def get_request(url: str) -> HttpRequest:
    """A request that only asks for an address."""
    return HttpRequest("GET", url, _first_headers(url))


def build_request(
    operation: Operation, arguments: JsonObject, base: str, credential: Credential, key: str
) -> HttpRequest:
    """The request of a call; a parameter that is absent is left out, one in the path is needed.

    Raises:
        ArgumentError: an argument cannot be sent, or would lead to another operation.
        OpenApiError: the base is no absolute URL, or the description has an impossible name.
    """
    return _request(operation, arguments, base, credential, key, shown=False)


def masked_request(
    operation: Operation, arguments: JsonObject, base: str, credential: Credential, *, has_key: bool
) -> HttpRequest:
    """The request as it will be sent, with the key masked: for people, before they allow it."""
    return _request(operation, arguments, base, credential, MASK if has_key else "", shown=True)


def server_url(description: Description, endpoint: str, place: str) -> str:
    """Where requests go: the connection's endpoint, otherwise the description's own server."""
    if endpoint:
        return endpoint
    return urljoin(place, description.server) if place.startswith("http") else description.server


@dataclass(frozen=True, slots=True)
class _Draft:
    """What travels outside path and body, while it is put together."""

    query: list[str] = field(default_factory=list)
    """Encoded pairs."""

    headers: dict[str, str] = field(default_factory=dict)
    """Headers of the operation itself."""

    cookies: dict[str, str] = field(default_factory=dict)
    """Encoded values by name."""

    shown: bool = False
    """Whether the request is for people: keys are masks, which are not encoded."""


def _request(
    operation: Operation,
    arguments: JsonObject,
    base: str,
    credential: Credential,
    key: str,
    *,
    shown: bool,
) -> HttpRequest:
    server = urlsplit(base)
    if server.scheme not in _DEFAULT_PORTS or not server.hostname:
        raise OpenApiError("it has no absolute server URL: give the tool's connection an endpoint")
    given = _given(operation, arguments, credential if key else None)
    draft = _Draft(query=[server.query] if server.query else [], shown=shown)
    template, _, fixed = operation.path.partition("#")[0].partition("?")
    path = _path(template, given)
    if fixed:  # some descriptions tell operations apart by a query in the path
        draft.query.append(_filled(fixed, given))
    for parameter, value in given.values():
        _add(draft, parameter, value)
    if server.username or server.password:
        user = f"{unquote(server.username or '')}:{unquote(server.password or '')}"
        draft.headers["Authorization"] = f"Basic {MASK if shown else _base64(user)}"
    if key:
        _sign(draft, credential, key)
    if draft.cookies:
        cookies = (f"{name}={value}" for name, value in draft.cookies.items())
        draft.headers["Cookie"] = "; ".join(cookies)
    body, method = "", operation.method.upper()
    if operation.content_type and BODY in arguments:
        draft.headers["Content-Type"] = _header(operation.content_type)
        body = _encoded(arguments[BODY], operation.content_type)
    if body or method in ("POST", "PUT", "PATCH"):
        draft.headers["Content-Length"] = str(len(body.encode()))
    place = f"{server.scheme}://{server.netloc.rpartition('@')[2]}{server.path.rstrip('/')}{path}"
    pairs = "&".join(filter(None, draft.query))
    url = f"{place}?{pairs}" if pairs else place
    return HttpRequest(method, url, _first_headers(base, draft.headers), body)


def _given(
    operation: Operation, arguments: JsonObject, credential: Credential | None
) -> dict[str, tuple[OpenApiParameter, Json]]:
    """The arguments that travel outside the body, by name; none takes the place of the key.

    Raises:
        ArgumentError: one holds half a character, which no encoding has.
    """
    found: dict[str, tuple[OpenApiParameter, Json]] = {}
    for parameter in operation.parameters:
        value = arguments.get(parameter.name)
        if value is None or (credential is not None and _is_place_of(credential, parameter)):
            continue
        if _SURROGATE.search(_plain(value)):
            raise ArgumentError(f"the argument {parameter.name!r} holds half a character")
        found[parameter.name] = (parameter, value)
    return found


def _is_place_of(credential: Credential, parameter: OpenApiParameter) -> bool:
    if credential.place != parameter.place:
        return False
    if credential.place == "header":
        return credential.name.casefold() == parameter.name.casefold()
    return credential.name == parameter.name


def _path(template: str, given: Mapping[str, tuple[OpenApiParameter, Json]]) -> str:
    """The path: each value within the segment that the template has for it.

    Raises:
        ArgumentError: a value is missing, empty, or a step to another path.
    """
    segments = []
    for segment in template.strip("/").split("/"):
        values = [_path_value(name, given) for name in re.findall(r"\{([^{}]+)\}", segment)]
        whole = _filled(segment, given)
        if values and _steps_away(unquote(whole)):
            shown = ", ".join(repr(value) for value in values)
            raise ArgumentError(
                f"{shown} in the path would lead to another operation: "
                "a value with '.' or '..' as a part of its own is not sent"
            )
        segments.append(whole)
    end = "/" if template.endswith("/") and template.strip("/") else ""
    return f"/{'/'.join(segments)}{end}"


def _filled(template: str, given: Mapping[str, tuple[OpenApiParameter, Json]]) -> str:
    """A piece of the path template with its values put in, all of it encoded."""
    pieces = re.split(r"\{([^{}]+)\}", template)
    pieces[::2] = [quote(text, safe=_PATH_LITERALS) for text in pieces[::2]]
    pieces[1::2] = [quote(_path_value(name, given), safe="") for name in pieces[1::2]]
    return "".join(pieces)


def _path_value(name: str, given: Mapping[str, tuple[OpenApiParameter, Json]]) -> str:
    parameter, value = given.get(name, (None, None))
    if parameter is None or parameter.place != "path":
        raise ArgumentError(f"the path parameter {name!r} has no value")
    text = _plain(value)
    if not text.strip():
        raise ArgumentError(f"the path parameter {name!r} is empty")
    return text


def _steps_away(text: str) -> bool:
    """Whether a server could take a part of it for `.` or `..`.

    Servers differ: some decode more than once, take a backslash for a slash, leave out blanks, or
    what follows a semicolon.
    """
    for _ in range(_MOST_DECODINGS):
        parts = (_BLANKS.sub("", part).partition(";")[0] for part in re.split(r"[/\\]", text))
        if any(part in (".", "..") for part in parts):
            return True
        decoded = unquote(text)
        if decoded == text:
            return False
        text = decoded
    return True


def _add(draft: _Draft, parameter: OpenApiParameter, value: Json) -> None:
    match parameter.place:
        case "path":
            pass
        case "query":
            draft.query.append(_query(parameter, value))
        case "header":
            draft.headers[_token(parameter.name)] = _header(_plain(value))
        case _:
            draft.cookies[_token(parameter.name)] = quote(_plain(value), safe="")


def _sign(draft: _Draft, credential: Credential, key: str) -> None:
    if credential.prefix == "Basic " and ":" in key:
        key = _base64(key)
    name, value = credential.name, credential.prefix + key
    match credential.place:
        case "query":
            encoded = value if draft.shown else quote_plus(value)
            draft.query.append(f"{quote_plus(name)}={encoded}")
        case "cookie":
            draft.cookies[_token(name)] = value if draft.shown else quote(value, safe="")
        case _:
            draft.headers[_token(name)] = _header(value)


def _query(parameter: OpenApiParameter, value: Json) -> str:
    if isinstance(value, list | tuple):
        texts = [_plain(item) for item in value]
        if parameter.explode:
            return urlencode([(parameter.name, text) for text in texts])
        return urlencode([(parameter.name, ",".join(texts))])
    return urlencode([(parameter.name, _plain(value))])


def _encoded(value: Json, content_type: str) -> str:
    if content_type.startswith("application/x-www-form-urlencoded") and isinstance(value, Mapping):
        return urlencode([(name, _whole(_plain(item))) for name, item in value.items()])
    if isinstance(value, str) and not JSON_TYPE.match(content_type):
        return _whole(value)
    try:
        return _whole(json.dumps(value, ensure_ascii=False, allow_nan=False))
    except ValueError as error:
        raise ArgumentError(f"the argument {BODY!r} is no JSON: {error}") from error


def _first_headers(url: str, others: Mapping[str, str] | None = None) -> dict[str, str]:
    """All headers, those first that each request has; what the operation has itself wins."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    if parts.port == _DEFAULT_PORTS.get(parts.scheme):
        host = host.removesuffix(f":{parts.port}")
    first = {"Host": host, "Accept": "*/*", "User-Agent": f"prompt-studio/{__version__}"}
    own = {name.casefold() for name in others or ()}
    kept: Iterable[tuple[str, str]] = (
        (name, value) for name, value in first.items() if name.casefold() not in own
    )
    return {**dict(kept), **(others or {})}


def _token(name: str) -> str:
    """The name of a header or cookie.

    Raises:
        OpenApiError: the description has a name that cannot be sent.
    """
    if not _TOKEN.fullmatch(name):
        raise OpenApiError(f"the description has a header or cookie {name!r}, which cannot be sent")
    return name


def _header(text: str) -> str:
    """A value that cannot start a header of its own."""
    return re.sub(r"[\x00-\x08\x0a-\x1f\x7f]+", " ", text).strip(" \t")


def _whole(text: str) -> str:
    if _SURROGATE.search(text):
        raise ArgumentError(f"the argument {BODY!r} holds half a character")
    return text


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _plain(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
