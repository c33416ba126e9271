"""What looks like a secret is hidden before it is shown or copied."""

from __future__ import annotations

from studio.core.masking.redact import DOTS, keys_in, redact
from studio.core.text.values import JsonObject

MASK = DOTS
"""What stands in place of a secret."""


def unmasked_place(text: str, at: int) -> int:
    """The place in `text` of what stands at `at` in `without_keys(text)`."""
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
