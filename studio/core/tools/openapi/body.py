"""The body of a request: JSON, a form, parts, or a text; made the same each time.

What is shown before a call is what is sent, so nothing of it is drawn by chance: the boundary
between parts comes from what is in them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from urllib.parse import quote, quote_plus

from studio.core.text.reason import reason_of
from studio.core.text.values import Json
from studio.core.tools.openapi.description import BODY, JSON_TYPE
from studio.core.tools.openapi.operation import (
    FieldEncoding,
    OpenApiError,
    OpenApiParameter,
    Operation,
)
from studio.core.tools.openapi.serialization import deep_pairs, plain

FORM = "application/x-www-form-urlencoded"
PARTS = "multipart/"
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_UNSAFE_IN_HEADER = re.compile(r'[\x00-\x1f\x7f"\\]')
_NO_ENCODING = FieldEncoding()


class ArgumentError(OpenApiError):
    """An argument that cannot be sent; the text is for the model, and for the user."""


def encoded_body(operation: Operation, value: Json) -> tuple[str, str]:
    """The media type, with what it needs to be read, and the text of a body.

    Raises:
        ArgumentError: the value cannot be written as the operation wants it.
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
        raise ArgumentError(f"the argument {BODY!r} is a text here: XML is written out, not made")
    try:
        return kind, _whole(json.dumps(value, ensure_ascii=False, allow_nan=False))
    except ValueError as error:
        if isinstance(error, UnicodeError):
            raise
        raise ArgumentError(f"the argument {BODY!r} is not JSON: {reason_of(error)}") from error


def _form_pairs(value: Mapping[str, Json], encodings: Mapping[str, FieldEncoding]) -> Iterator[str]:
    """Fields of a form: lists repeat the name, objects as their encoding says, else as JSON."""
    for name, item in value.items():
        encoding = encodings.get(name, _NO_ENCODING)
        if item is None:
            continue
        if encoding.style == "deepObject":
            yield from deep_pairs(name, item, brackets=True)
        elif isinstance(item, list) and encoding.explode:
            yield from (f"{quote_plus(name)}={quote_plus(plain(each))}" for each in item)
        elif isinstance(item, list):
            yield f"{quote_plus(name)}={','.join(quote_plus(plain(each)) for each in item)}"
        elif isinstance(item, Mapping) and encoding.style == "form" and encoding.explode:
            pairs = ((quote_plus(key), quote_plus(plain(each))) for key, each in item.items())
            yield from (f"{key}={each}" for key, each in pairs)
        else:
            yield f"{quote_plus(name)}={quote_plus(plain(item))}"


def whole_query(parameter: OpenApiParameter, value: Json) -> str:
    """Return the whole query of a request, which one argument is (OpenAPI 3.2 §4.12.4).

    Args:
        parameter: its media type says how the value is written.
        value: the argument.
    """
    if parameter.content_type.startswith(FORM) and isinstance(value, Mapping):
        return "&".join(_form_pairs(value, {}))
    return quote(plain(value), safe="")


def _parts(
    kind: str, value: Mapping[str, Json], encodings: Mapping[str, FieldEncoding]
) -> tuple[str, str]:
    """The parts of a multipart body; a file is a part with a name."""
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
    return f"{head}\r\n\r\n{plain(value)}"


def _whole(text: str) -> str:
    if _SURROGATE.search(text):
        raise ArgumentError(f"the argument {BODY!r} holds half a character")
    return text
