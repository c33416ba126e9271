"""Mask texts that look like secrets before they are shown or copied."""

from __future__ import annotations

from studio.core.masking.redact import DOTS, keys_in, redact
from studio.core.text.values import JsonObject

MASK = DOTS
"""Text that replaces a secret."""


def unmasked_place(text: str, at: int) -> int:
    """Map an offset in `without_keys(text)` to the offset in `text`."""
    shift = 0
    for first, last in keys_in(text):
        start = first - shift
        if start > at:
            break
        if at < start + len(MASK):
            return first
        shift += last - first - len(MASK)
    return at + shift


def mask_secrets(value: JsonObject) -> JsonObject:
    """A JSON object with everything that looks like a secret hidden."""
    hidden = redact(value, MASK, inside=False)
    assert isinstance(hidden, dict)
    return hidden
