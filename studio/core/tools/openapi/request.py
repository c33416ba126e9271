"""Build the HTTP request for a call of an OpenAPI operation. Pure, so that it can be shown first.

The arguments come from the model, and an injected text may have chosen them. A request therefore
never leaves its operation: each value stays in its segment, field or header of the description, and
a value that a server could read as a step to another path is refused. An `HttpRequest` is sent byte
for byte: nothing is added or normalized afterwards.
"""

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urljoin, urlsplit

from studio import __version__
from studio.core.text.values import Json, JsonObject, text_or_json
from studio.core.tools.openapi import serialization
from studio.core.tools.openapi.description import BODY
from studio.core.tools.openapi.schemas import (
    Credential,
    Description,
    OpenApiError,
    OpenApiParameter,
    Operation,
)

MASK = "•••"
"""Replacement of a key."""

_DEFAULT_PORTS = {"http": 80, "https": 443}
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110 §5.6.2
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_BLANKS = re.compile(r"[\x00-\x20\x7f]+")
_MOST_DECODINGS = 8
_PATH_LITERALS = "/%:@!$&'()*+,;="


Signature: TypeAlias = tuple[Credential, str]
"""Key with its place in the request."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request that can be shown before it is sent."""

    method: str
    """Method in upper case."""

    url: str
    """Address with the query; ASCII, exactly as sent."""

    headers: Mapping[str, str] = field(default_factory=dict)
    """All headers, in the order sent."""

    body: str = ""
    """Text of the body; sent as UTF-8."""

    def text(self) -> str:
        """Return the request as text for the user."""
        head = [f"{self.method} {self.url}", *(f"{k}: {v}" for k, v in self.headers.items())]
        return "\n".join([*head, "", self.body] if self.body else head)


def get_request(url: str) -> HttpRequest:
    """Return a GET request for a URL."""
    return HttpRequest("GET", url, _first_headers(url))


def build_request(
    operation: Operation, arguments: JsonObject, base: str, *signatures: Signature
) -> HttpRequest:
    """Build a call's request; absent parameters are omitted, but those of the path are required.

    Args:
        operation: the called operation.
        arguments: arguments from the model.
        base: address of the server.
        signatures: the keys to send.

    Raises:
        ArgumentError: an argument cannot be sent, or would lead to another operation.
        OpenApiError: the base is no absolute URL, or the description has an invalid name.
    """
    return _request(operation, arguments, base, signatures, shown=False)


def masked_request(
    operation: Operation, arguments: JsonObject, base: str, *credentials: Credential
) -> HttpRequest:
    """Return the request with masked keys, for the user's approval."""
    signatures = tuple((each, MASK) for each in credentials)
    return _request(operation, arguments, base, signatures, shown=True)


def server_url(
    description: Description, endpoint: str, place: str, operation: Operation | None = None
) -> str:
    """Return the address for requests: the connection's endpoint, else the description's server.

    Args:
        description: the description.
        endpoint: endpoint of the tool's connection; empty for none.
        place: the description's file or address.
        operation: the called operation, which may have its own server.
    """
    if endpoint:
        return endpoint
    server = (operation.server if operation is not None else "") or description.server
    return urljoin(place, server) if place.startswith("http") else server


@dataclass(frozen=True, slots=True)
class _Draft:
    """The parts of a request under construction, except path and body."""

    query: list[str] = field(default_factory=list)
    """Encoded pairs of the query."""

    headers: dict[str, str] = field(default_factory=dict)
    """Headers of the operation itself."""

    cookies: dict[str, str] = field(default_factory=dict)
    """Encoded values by name."""

    shown: bool = False
    """Whether the request is for display: keys are masks, which are not encoded."""


def _request(
    operation: Operation,
    arguments: JsonObject,
    base: str,
    signatures: Sequence[Signature],
    *,
    shown: bool,
) -> HttpRequest:
    try:
        server = urlsplit(base)
        _ = server.port
    except ValueError as error:
        raise OpenApiError(f"its server {base!r} is not an address: {error}") from error
    if server.scheme not in _DEFAULT_PORTS or not server.hostname:
        raise OpenApiError("it has no absolute server URL: give the tool's connection an endpoint")
    signatures = [(credential, key) for credential, key in signatures if key]
    given = _given(operation, arguments, [credential for credential, _ in signatures])
    draft = _Draft(query=[server.query] if server.query else [], shown=shown)
    template, _, fixed = operation.path.partition("#")[0].partition("?")
    in_path = {each.name: (each, value) for each, value in given.values() if each.place == "path"}
    path = _path(template, in_path)
    if fixed:  # some descriptions distinguish operations by a query in the path
        draft.query.append(_filled(fixed, in_path))
    taken = _taken_names(operation, signatures, "&".join(draft.query))
    for parameter, value in given.values():
        _add(draft, parameter, value, taken)
    if server.username or server.password:
        user = f"{unquote(server.username or '')}:{unquote(server.password or '')}"
        draft.headers["Authorization"] = f"Basic {MASK if shown else _base64(user)}"
    for credential, key in signatures:
        _sign(draft, credential, key)
    if draft.cookies:
        cookies = (f"{name}={value}" for name, value in draft.cookies.items())
        draft.headers["Cookie"] = "; ".join(cookies)
    body, method = "", operation.method.upper()
    if operation.content_type and BODY in arguments:
        kind, body = serialization.encoded_body(operation, arguments[BODY])
        draft.headers["Content-Type"] = _header(kind)
    if body or method in ("POST", "PUT", "PATCH"):
        draft.headers["Content-Length"] = str(len(body.encode()))
    place = f"{server.scheme}://{server.netloc.rpartition('@')[2]}{server.path.rstrip('/')}{path}"
    pairs = "&".join(filter(None, draft.query))
    url = f"{place}?{pairs}" if pairs else place
    return HttpRequest(method, url, _first_headers(base, draft.headers), body)


def _given(
    operation: Operation, arguments: JsonObject, credentials: Sequence[Credential]
) -> dict[str, tuple[OpenApiParameter, Json]]:
    """Return the arguments outside the body, by name; none replaces a key.

    Raises:
        ArgumentError: one contains a lone surrogate, which cannot be encoded.
    """
    found: dict[str, tuple[OpenApiParameter, Json]] = {}
    for parameter in operation.parameters:
        value = arguments.get(parameter.key)
        if value is None or any(_is_place_of(each, parameter) for each in credentials):
            continue
        if _SURROGATE.search(text_or_json(value)):
            raise serialization.ArgumentError(
                f"the argument {parameter.key!r} contains half a character"
            )
        found[parameter.key] = (parameter, value)
    return found


def _taken_names(
    operation: Operation, signatures: Sequence[Signature], query: str
) -> frozenset[str]:
    """Return the names in the query that a key of the model's objects must not use."""
    others = (each.name for each in operation.parameters if each.place == "query")
    keys = (credential.name for credential, _ in signatures if credential.place == "query")
    return frozenset((*others, *keys, *(name for name, _ in parse_qsl(query, True))))


def _is_place_of(credential: Credential, parameter: OpenApiParameter) -> bool:
    if credential.place != parameter.place:
        return False
    if credential.place == "header":
        return credential.name.casefold() == parameter.name.casefold()
    return credential.name == parameter.name


def _path(template: str, given: Mapping[str, tuple[OpenApiParameter, Json]]) -> str:
    """Return the path, with each value inside its segment of the template.

    Raises:
        ArgumentError: a value is missing, empty, or a step to another path.
    """
    segments = []
    for segment in template.strip("/").split("/"):
        values = [_argument(name, given) for name in re.findall(r"\{([^{}]+)\}", segment)]
        whole = _filled(segment, given)
        if values and _steps_away(unquote(whole)):
            shown = ", ".join(repr(value) for value in values)
            raise serialization.ArgumentError(
                f"{shown} in the path would lead to another operation: a value with a part '.' or "
                "'..' is not sent"
            )
        segments.append(whole)
    end = "/" if template.endswith("/") and template.strip("/") else ""
    return f"/{'/'.join(segments)}{end}"


def _filled(template: str, given: Mapping[str, tuple[OpenApiParameter, Json]]) -> str:
    """Return a piece of the path template with its values inserted and encoded."""
    pieces = re.split(r"\{([^{}]+)\}", template)
    pieces[::2] = [quote(text, safe=_PATH_LITERALS) for text in pieces[::2]]
    pieces[1::2] = [_path_value(name, given) for name in pieces[1::2]]
    return "".join(pieces)


def _path_value(name: str, given: Mapping[str, tuple[OpenApiParameter, Json]]) -> str:
    """Return an encoded value of the path."""
    if not _argument(name, given).strip():
        raise serialization.ArgumentError(f"the path parameter {name!r} is empty")
    written = serialization.path_value(*given[name])
    if not written:
        raise serialization.ArgumentError(f"the path parameter {name!r} is empty")
    return written


def _argument(name: str, given: Mapping[str, tuple[OpenApiParameter, Json]]) -> str:
    """Return a value of the path as given."""
    if name not in given:
        raise serialization.ArgumentError(f"the path parameter {name!r} has no value")
    return text_or_json(given[name][1])


def _steps_away(text: str) -> bool:
    """Return whether a server could read a part of the text as `.` or `..`.

    Servers differ: some decode more than once, treat a backslash as a slash, or ignore blanks or
    text after a semicolon.
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


def _add(draft: _Draft, parameter: OpenApiParameter, value: Json, taken: frozenset[str]) -> None:
    match parameter.place:
        case "path":
            pass
        case "query":
            if isinstance(value, Mapping) and parameter.explode and parameter.kind == "object":
                wrong = sorted(taken & value.keys()) if parameter.style != "deepObject" else []
                if wrong:
                    raise serialization.ArgumentError(
                        f"the argument {parameter.key!r} contains {wrong[0]!r}, which is the name "
                        "of another parameter"
                    )
            draft.query.extend(serialization.query_pairs(parameter, value))
        case "querystring":
            wrong = sorted(taken & value.keys()) if isinstance(value, Mapping) else []
            if wrong:
                raise serialization.ArgumentError(
                    f"the argument {parameter.key!r} contains {wrong[0]!r}, which has another value"
                )
            draft.query.append(serialization.whole_query(parameter, value))
        case "header":
            draft.headers[_token(parameter.name)] = _header(
                serialization.header_text(parameter, value)
            )
        case _:
            draft.cookies[_token(parameter.name)] = serialization.cookie_text(parameter, value)


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


def _first_headers(url: str, others: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return all headers, those of every request first; the operation's own take precedence."""
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
    """Return the name of a header or cookie if it is valid.

    Raises:
        OpenApiError: the name cannot be sent.
    """
    if not _TOKEN.fullmatch(name):
        raise OpenApiError(f"the description has a header or cookie {name!r}, which cannot be sent")
    return name


def _header(text: str) -> str:
    """Return a value without line breaks, so that it cannot start another header."""
    return re.sub(r"[\x00-\x08\x0a-\x1f\x7f]+", " ", text).strip(" \t")


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
