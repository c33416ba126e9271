"""Convert the results of tools to JSON, and images to blocks of content."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import enum
import io
import json
import math
from collections import deque
from collections.abc import Callable, Iterator, KeysView, Mapping, ValuesView
from typing import Any, Optional

_MADE_OF_TEXT = ("UUID", "Decimal", "PurePath", "Fraction", "IPv4Address", "IPv6Address")


def as_text(value: object) -> tuple[str, bool]:
    """Return a result as text for the model, and whether it is JSON: texts stay unchanged."""
    if isinstance(value, str) and not isinstance(value, enum.Enum):
        return value, False
    return json.dumps(plain_value(value), ensure_ascii=False, separators=(",", ":")), True


def plain_value(value: object, *, strict: bool = False) -> object:
    """Convert a value to one that JSON has.

    Args:
        value: any value.
        strict: whether to refuse other values; otherwise they become their `repr`.

    Raises:
        TypeError: JSON has no such value, and `strict` is set.
        RecursionError: the value contains itself, or is too deep.
    """
    if value is None or isinstance(value, (bool, str)):
        return value.value if isinstance(value, enum.Enum) else value
    if isinstance(value, enum.Enum):
        return plain_value(value.value, strict=strict)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else _word(value)
    simple = _simple(value)
    if simple is not _NONE:
        return simple
    if isinstance(value, Mapping):
        return {_key(key): plain_value(item, strict=strict) for key, item in value.items()}
    if isinstance(value, _ITEMS):
        return [plain_value(item, strict=strict) for item in value]
    made = _made(value)
    if made is not _NONE:
        return plain_value(made, strict=strict)
    if strict:
        raise TypeError(f"{type(value).__name__} has no form in JSON")
    return repr(value)


_ITEMS = (list, tuple, set, frozenset, range, KeysView, ValuesView, deque, Iterator)
_NONE = object()


def _simple(value: object) -> object:
    """Convert a value of the standard library to a text or number."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.urlsafe_b64encode(bytes(value)).decode()
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if any(kind.__name__ in _MADE_OF_TEXT for kind in type(value).__mro__):
        return str(value)
    if isinstance(value, BaseException):
        return f"{type(value).__name__}: {value}"
    return _NONE


def _made(value: object) -> object:
    """Return the contents of an object: dataclasses, pydantic, NumPy, pandas, attrs."""
    if isinstance(value, type):
        return _NONE
    if dataclasses.is_dataclass(value):
        return {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
    for name in ("model_dump", "tolist", "to_dict"):
        make = getattr(value, name, None)
        if callable(make):
            made = make()
            return _NONE if made is value else made
    fields = getattr(type(value), "__attrs_attrs__", None)
    if fields is not None:
        return {each.name: getattr(value, each.name) for each in fields}
    return _NONE


def _key(key: object) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, enum.Enum):
        return _key(key.value)
    return str(key) if not isinstance(key, (bytes, bytearray)) else key.decode("utf-8", "replace")


def _word(number: float) -> str:
    if math.isnan(number):
        return "NaN"
    return "Infinity" if number > 0 else "-Infinity"


def sendable(text: str) -> str:
    """Return a text without lone surrogates, which cannot be encoded."""
    return text.encode("utf-8", "replace").decode()


# Images from a tool as blocks of content: bytes, PIL's, and MCP's classes.

_LARGEST = 16 * 1024 * 1024
_HEADS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
)


def content_of(
    value: object, as_text: Callable[[object], str]
) -> Optional[list[dict[str, object]]]:  # noqa: UP045 - Python 3.9
    """Return a result with images as blocks; None if it has none.

    Args:
        value: the tool's result; each item of a list is a block.
        as_text: converts items that are no images.
    """
    items = list(value) if isinstance(value, (list, tuple)) else [value]
    blocks = [_block(item) for item in items]
    if not any(blocks):
        return None
    return [
        block if block is not None else {"type": "text", "text": as_text(item)}
        for item, block in zip(items, blocks)
    ]


def _block(value: Any) -> Optional[dict[str, Any]]:  # noqa: UP045
    for name in ("to_image_content", "to_audio_content"):
        make = getattr(value, name, None)
        if callable(make) and not isinstance(value, type):
            made = make()
            kind = getattr(made, "mimeType", None) or getattr(made, "mime_type", "")
            return {"type": made.type, "data": made.data, "mimeType": kind}
    if any(kind.__module__.partition(".")[0] == "PIL" for kind in type(value).__mro__):
        file = io.BytesIO()
        if callable(getattr(value, "save", None)):
            value.save(file, format="PNG")
        value = file.getvalue()
    if not isinstance(value, (bytes, bytearray, memoryview)):
        return None
    data = bytes(value)
    kind = next((kind for head, kind in _HEADS if data.startswith(head)), "")
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        kind = "image/webp"
    if not kind:
        return None
    if len(data) > _LARGEST:
        return {"type": "text", "text": f"[{kind}, {len(data):,} bytes: too large to be sent]"}
    return {"type": "image", "data": base64.b64encode(data).decode(), "mimeType": kind}
