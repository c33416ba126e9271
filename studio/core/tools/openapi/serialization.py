"""Serialize values for a request: the styles of OpenAPI 3.1 §4.8.12 and RFC 6570.

The content of values is always encoded; only the style's own separators are not.
"""

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from urllib.parse import quote, quote_plus

from studio.core.text.values import Json, JsonObject, reason_of, text_or_json
from studio.core.tools.openapi.description import BODY, JSON_TYPE
from studio.core.tools.openapi.schemas import (
    FieldEncoding,
    OpenApiError,
    OpenApiParameter,
    Operation,
)

_RESERVED = ":/?[]@!$'()*,;"  # of RFC 3986, without '#', '&', '=' and '+', which end a value
_BETWEEN = {"spaceDelimited": "%20", "pipeDelimited": "%7C", "form": ",", "": ","}


def path_value(parameter: OpenApiParameter, value: Json) -> str:
    """Return an encoded value for the path: `simple`, `label` or `matrix`."""
    items, pairs = _items(parameter, value), _pairs(parameter, value)
    name = quote(parameter.name, safe="")
    match parameter.style:
        case "label":
            return "".join(f".{each}" for each in _pieces(parameter, items, pairs))
        case "matrix":
            if pairs is not None:
                if parameter.explode:
                    return "".join(f";{key}={each}" for key, each in pairs)
                return f";{name}={','.join(word for pair in pairs for word in pair)}"
            if parameter.explode:
                return "".join(f";{name}={each}" for each in items)
            return f";{name}={','.join(items)}"
        case _:
            return ",".join(_pieces(parameter, items, pairs))


def _pieces(
    parameter: OpenApiParameter, items: list[str], pairs: list[tuple[str, str]] | None
) -> list[str]:
    """Return the pieces to join with the style's separator."""
    if pairs is not None and parameter.explode:
        return [f"{key}={each}" for key, each in pairs]
    words = items if pairs is None else [word for pair in pairs for word in pair]
    return words if parameter.explode or parameter.style != "label" else [",".join(words)]


def query_pairs(parameter: OpenApiParameter, value: Json) -> Iterator[str]:
    """Yield a value for the query as encoded `name=value` pairs."""
    name = quote_plus(parameter.name)
    if parameter.content_type:
        yield f"{name}={quote_plus(json.dumps(value, ensure_ascii=False))}"
        return
    safe = _RESERVED if parameter.reserved else ""

    def encoded(item: Json) -> str:
        text = text_or_json(item)
        return quote(text, safe=safe) if parameter.reserved else quote_plus(text)

    if isinstance(value, Mapping) and parameter.kind == "object":
        yield from _object_pairs(parameter, value, name)
    elif isinstance(value, list | tuple):
        if parameter.explode:
            yield from (f"{name}={encoded(item)}" for item in value)
        else:
            yield f"{name}={_BETWEEN.get(parameter.style, ',').join(map(encoded, value))}"
    else:
        yield f"{name}={encoded(value)}"


def _object_pairs(parameter: OpenApiParameter, value: JsonObject, name: str) -> Iterator[str]:
    if parameter.style == "deepObject":
        yield from deep_pairs(parameter.name, value)
    elif parameter.explode:
        yield from (
            f"{quote_plus(key)}={quote_plus(text_or_json(item))}" for key, item in value.items()
        )
    else:
        words = (
            quote_plus(word) for key, item in value.items() for word in (key, text_or_json(item))
        )
        yield f"{name}={_BETWEEN.get(parameter.style, ',').join(words)}"


def deep_pairs(name: str, value: Json, *, brackets: bool = False) -> Iterator[str]:
    """Yield `name[key]=value`, also for nested values, which the standard does not define.

    Args:
        name: the name so far.
        value: the value.
        brackets: whether items of a list are numbered (`name[0]`), as for objects.
    """
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from deep_pairs(f"{name}[{key}]", item, brackets=True)
    elif isinstance(value, list | tuple):
        is_numbered = brackets and any(isinstance(item, Mapping | list) for item in value)
        for index, item in enumerate(value):
            inner = f"{name}[{index}]" if is_numbered else f"{name}[]" if brackets else name
            yield from deep_pairs(inner, item, brackets=True)
    else:
        yield f"{quote(name, safe='[]')}={quote_plus(text_or_json(value))}"


def header_text(parameter: OpenApiParameter, value: Json) -> str:
    """Return a value for a header, before line breaks are removed: `simple`."""
    if isinstance(value, Mapping) and parameter.kind == "object":
        sign = "=" if parameter.explode else ","
        return ",".join(f"{key}{sign}{text_or_json(item)}" for key, item in value.items())
    if isinstance(value, list | tuple) and parameter.kind == "array":
        return ",".join(text_or_json(item) for item in value)
    return text_or_json(value)


def cookie_text(parameter: OpenApiParameter, value: Json) -> str:
    """Return an encoded value for a single cookie: `form`."""
    if isinstance(value, list | tuple) and parameter.kind == "array":
        return ",".join(quote(text_or_json(item), safe="") for item in value)
    if isinstance(value, Mapping) and parameter.kind == "object":
        words = (
            quote(w, safe="") for key, item in value.items() for w in (key, text_or_json(item))
        )
        return ",".join(words)
    return quote(text_or_json(value), safe="")


def _items(parameter: OpenApiParameter, value: Json) -> list[str]:
    if isinstance(value, list | tuple) and parameter.kind == "array":
        return [quote(text_or_json(item), safe="") for item in value]
    return [quote(text_or_json(value), safe="")]


def _pairs(parameter: OpenApiParameter, value: Json) -> list[tuple[str, str]] | None:
    if not isinstance(value, Mapping) or parameter.kind != "object":
        return None
    return [(quote(k, safe=""), quote(text_or_json(item), safe="")) for k, item in value.items()]


# The body of a request: JSON, a form, parts, or a text; deterministic.

FORM = "application/x-www-form-urlencoded"
PARTS = "multipart/"
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_UNSAFE_IN_HEADER = re.compile(r'[\x00-\x1f\x7f"\\]')
_NO_ENCODING = FieldEncoding()


class ArgumentError(OpenApiError):
    """Raised when an argument cannot be sent; the text is for the model and the user."""


def encoded_body(operation: Operation, value: Json) -> tuple[str, str]:
    """Return the media type with its parameters, and the text of a body.

    Raises:
        ArgumentError: the value cannot be encoded for the operation.
    """
    kind = operation.content_type
    if kind.startswith(FORM) and isinstance(value, Mapping):
        return kind, _whole("&".join(_form_pairs(value, operation.encoding)))
    if kind.startswith(PARTS) and isinstance(value, Mapping):
        return _parts(kind, value, operation.encoding)
    if kind.startswith((FORM, PARTS)):
        raise ArgumentError(f"the argument {BODY!r} of a form is an object of its fields")
    if isinstance(value, str) and not JSON_TYPE.match(kind):
        return kind, _whole(value)
    if not JSON_TYPE.match(kind) and kind.partition(";")[0].endswith("xml"):
        raise ArgumentError(f"the argument {BODY!r} is a text here: write the XML itself")
    try:
        return kind, _whole(json.dumps(value, ensure_ascii=False, allow_nan=False))
    except ValueError as error:
        if isinstance(error, UnicodeError):
            raise
        raise ArgumentError(f"the argument {BODY!r} is not JSON: {reason_of(error)}") from error


def _form_pairs(value: JsonObject, encodings: Mapping[str, FieldEncoding]) -> Iterator[str]:
    """Yield a form's fields: lists repeat the name, objects follow their encoding, else JSON."""
    for name, item in value.items():
        encoding = encodings.get(name, _NO_ENCODING)
        if item is None:
            continue
        if encoding.style == "deepObject":
            yield from deep_pairs(name, item, brackets=True)
        elif isinstance(item, list) and encoding.explode:
            yield from (f"{quote_plus(name)}={quote_plus(text_or_json(each))}" for each in item)
        elif isinstance(item, list):
            yield f"{quote_plus(name)}={','.join(quote_plus(text_or_json(each)) for each in item)}"
        elif isinstance(item, Mapping) and encoding.style == "form" and encoding.explode:
            pairs = (
                (quote_plus(key), quote_plus(text_or_json(each))) for key, each in item.items()
            )
            yield from (f"{key}={each}" for key, each in pairs)
        else:
            yield f"{quote_plus(name)}={quote_plus(text_or_json(item))}"


def whole_query(parameter: OpenApiParameter, value: Json) -> str:
    """Return the whole query of a request from one argument (OpenAPI 3.2 §4.12.4).

    Args:
        parameter: the parameter, whose media type decides the format.
        value: the argument.
    """
    if parameter.content_type.startswith(FORM) and isinstance(value, Mapping):
        return "&".join(_form_pairs(value, {}))
    return quote(text_or_json(value), safe="")


def _parts(kind: str, value: JsonObject, encodings: Mapping[str, FieldEncoding]) -> tuple[str, str]:
    """Return the parts of a multipart body; a file is a part with a file name."""
    parts = [
        _part(name, each, encodings.get(name, _NO_ENCODING))
        for name, item in value.items()
        if item is not None
        for each in (item if isinstance(item, list) else [item])
    ]
    whole = _whole("".join(parts))
    boundary = f"part-{sha256(whole.encode()).hexdigest()[:32]}"
    while boundary in whole:
        boundary += "x"
    body = "".join(f"--{boundary}\r\n{part}\r\n" for part in parts) + f"--{boundary}--\r\n"
    return f"{kind.partition(';')[0]}; boundary={boundary}", body


def _part(name: str, value: Json, encoding: FieldEncoding) -> str:
    is_json = isinstance(value, Mapping | list)
    kind = encoding.content_type.partition(",")[0].strip()
    kind = kind or ("application/json" if is_json else "")
    if encoding.is_binary:
        kind = kind or "application/octet-stream"
    safe = _UNSAFE_IN_HEADER.sub("_", name)
    head = f'Content-Disposition: form-data; name="{safe}"'
    head += f'; filename="{safe}"' if encoding.is_binary else ""
    head += f"\r\nContent-Type: {_UNSAFE_IN_HEADER.sub(' ', kind)}" if kind else ""
    return f"{head}\r\n\r\n{text_or_json(value)}"


def _whole(text: str) -> str:
    if _SURROGATE.search(text):
        raise ArgumentError(f"the argument {BODY!r} contains half a character")
    return text
