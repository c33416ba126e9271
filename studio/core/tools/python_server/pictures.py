"""Pictures that a tool gives, as blocks of content: bytes, PIL's, and those of MCP's classes."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from typing import Any, Optional

_LARGEST = 16 * 1024 * 1024
_HEADS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
)


def content_of(
    value: object, as_text: Callable[[object], str]
) -> Optional[list[dict[str, object]]]:  # noqa: UP045 - Python 3.9
    """Return a result with pictures as blocks; None where it has none.

    Args:
        value: what the tool gives; of a list, each item is a block.
        as_text: writes what is no picture.
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
