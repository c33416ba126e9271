"""A server's command line and address without the keys that stand in them, for people and for disk.

A key belongs into a variable, but many files that go around have it in an argument.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from studio.core.masking.redact import DOTS, is_placeholder, names_secret_variable, without_keys

_NAMED = re.compile(r"([A-Za-z][\w.-]*)(=|:\s+(?:Bearer\s+|Basic\s+)?)([^\s&;'\"#]+)")
"""`NAME=value` of a flag, a variable or a query, and `Name: value` of a header."""

_LOGIN = re.compile(r"(?<=://)([^\s/@:'\"]*):([^\s/@'\"]+)(?=@)")


@dataclass(frozen=True, slots=True)
class WrittenSecret:
    """A secret that stands in a command line or an address."""

    name: str
    """The flag, variable, header or parameter that it is given under."""

    value: str
    """What it is."""


def without_secrets(words: Sequence[str]) -> tuple[tuple[str, ...], tuple[WrittenSecret, ...]]:
    """Words of a command line, or an address, with dots for their secrets; and these.

    Args:
        words: each argument by itself; a flag's value may be the next one.
    """
    found: list[WrittenSecret] = []

    def hidden(match: re.Match[str]) -> str:
        name, between, value = match.groups()
        if not _is_secret(name, value):
            return match[0]
        found.append(WrittenSecret(name, value))
        return f"{name}{between}{DOTS}"

    def without_login(match: re.Match[str]) -> str:
        if "${" in match[2]:
            return match[0]
        found.append(WrittenSecret("login", match[2]))
        return f"{match[1]}:{DOTS}"

    shown: list[str] = []
    flag = ""
    for word in words:
        if flag and not word.startswith("-") and _is_secret(flag, word):
            found.append(WrittenSecret(flag, word))
            shown.append(DOTS)
        else:
            plain = _NAMED.sub(hidden, _LOGIN.sub(without_login, word))
            shown.append(without_keys(plain, DOTS))
        flag = word.lstrip("-") if word.startswith("-") and "=" not in word else ""
    return tuple(shown), tuple(found)


def _is_secret(name: str, value: str) -> bool:
    """Whether a value is a secret by its name; a reference is none, and is shown as it is."""
    return names_secret_variable(name) and "${" not in value and not is_placeholder(value)
