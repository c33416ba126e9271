"""Hides in JSON what stands under a secret's name, and what looks like a key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from studio.core.masking.looks import DOTS, names_secret, without_keys
from studio.core.text.foreign_json import parse_json
from studio.core.text.values import Json

_LONGEST_JSON = 1_000_000


def redact(value: Any, dots: str = DOTS, *, inside: bool = True) -> Json:  # noqa: ANN401 - any JSON
    """A value that gives nothing away to who looks at it.

    Args:
        value: any JSON; what is none becomes text.
        dots: stands for what is hidden.
        inside: whether JSON that stands in a text is looked at too.
    """
    if isinstance(value, Mapping):
        return {
            str(key): dots if _hides(str(key), item) else redact(item, dots, inside=inside)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [redact(item, dots, inside=inside) for item in value]
    if isinstance(value, str):
        return _redacted_text(value, dots) if inside else without_keys(value, dots)
    return value if isinstance(value, bool | int | float) or value is None else str(value)


def _redacted_text(text: str, dots: str) -> str:
    if text.lstrip()[:1] in ("{", "[") and len(text) <= _LONGEST_JSON:
        try:
            inner = parse_json(text)
        except ValueError:
            return without_keys(text, dots)
        hidden = redact(inner, dots)
        return text if hidden == inner else json.dumps(hidden, ensure_ascii=False)
    return without_keys(text, dots)


def _hides(key: str, value: Any) -> bool:  # noqa: ANN401 - any JSON
    """Whether there is something to hide: counts of tokens are no secrets, nor are schemas."""
    return isinstance(value, str) and bool(value) and names_secret(key)
