"""Hiding what looks like a secret before it is shown or copied.

By key, whole words only (a list of parts of words hid `maxOutputTokens` and `authors` in another
tool), and by the well-known forms of keys wherever they stand in a text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from studio.core.text.values import Json, JsonObject

MASK = "••••••"
"""What stands in place of a secret."""

_KEYS = frozenset(
    {
        "apikey", "api_key", "api-key", "authorization", "password", "passwd", "secret",
        "client_secret", "clientsecret", "access_token", "accesstoken", "refresh_token",
        "private_key", "privatekey", "x-api-key", "bearer",
    }
)  # fmt: skip
_FORMS = re.compile(
    r"\b(?:sk-(?:ant-|proj-)?[A-Za-z0-9_-]{16,}|AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{30,}"
    r"|AIza[A-Za-z0-9_-]{30,}|xox[abpr]-[A-Za-z0-9-]{10,}|hf_[A-Za-z0-9]{30,})"
)

_LOGIN = re.compile(r"(?<=://)[^\s/@:'\"]*:[^\s/@'\"]+(?=@)")


def mask_text(text: str) -> str:
    """`text` with keys of well-known forms hidden."""
    return _FORMS.sub(MASK, text)


def mask_report(text: str) -> str:
    """For logs and reports: logins in addresses too, such as a proxy's."""
    return mask_text(_LOGIN.sub(MASK, text))


def unmasked_place(text: str, at: int) -> int:
    """The place in `text` of what stands at `at` in `mask_text(text)`."""
    shift = 0
    for found in _FORMS.finditer(text):
        start = found.start() - shift
        if start > at:
            break
        if at < start + len(MASK):
            return found.start()
        shift += len(found[0]) - len(MASK)
    return at + shift


def mask_secrets(value: JsonObject) -> JsonObject:
    """A JSON object with everything that looks like a secret hidden."""
    return {key: _mask(key, item) for key, item in value.items()}


def _mask(key: str, value: Json) -> Json:
    if isinstance(value, str):
        return MASK if value and key.lower() in _KEYS else mask_text(value)
    if isinstance(value, Mapping):
        return mask_secrets(value)
    if isinstance(value, list | tuple):
        return [_mask("", item) for item in value]
    return value
