"""What goes wrong on the way to a server: names, proxies, certificates, refusals, time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from studio.core.models.base import ModelError
from studio.core.models.remote.faults import LONGEST_TEXT, Endpoint, fault_of

_TLS = ("SSLError", r"\[SSL")
_CAUSES = {
    "dns": ("gaierror", "Name or service not known|getaddrinfo|nodename"),
    "tls": _TLS,
    "refused": ("ConnectionRefusedError", "Connection refused|connection attempts failed"),
    "timeout/connect": ("ConnectTimeout", None),
    "timeout/answer": (".*Timeout.*", None),
    "bad-address": ("UnsupportedProtocol|InvalidURL", None),
    "bad-address/port": ("", "illegal (?:status|header|request) line"),
    "cut-off/silent": ("", "without sending a response"),
}
"""Kinds of faults with the types of exceptions that are one, by name, and words that say it."""


def network_fault(error: BaseException, target: Endpoint) -> ModelError:
    """The fault of a connection that could not be made or broke."""
    causes = list(_causes(error))
    if target.proxy and (fault := _proxy_fault(causes, target)) is not None:
        return fault
    key = next((key for key, signs in _CAUSES.items() if _first(causes, *signs)), "cut-off")
    detail = _first(causes, "SSLError")
    reason = getattr(detail, "verify_message", "") or getattr(detail, "reason", "") or ""
    return fault_of(key, target, text=f": {reason}" if reason else "")


def _proxy_fault(causes: list[BaseException], target: Endpoint) -> ModelError | None:
    """What went wrong between here and the proxy; `None` for what lies behind it."""
    if refusal := _first(causes, "ProxyError"):
        words = " ".join(str(refusal).split())[:LONGEST_TEXT].rstrip(".")
        if words.startswith("407") or "auth" in words.lower() or "password" in words.lower():
            return fault_of("proxy/name", target)
        return fault_of("proxy/refusal", target, text=f": {words}" if words else "")
    is_silent = _first(causes, "ConnectError|ConnectTimeout") and not _first(causes, *_TLS)
    return fault_of("proxy/down", target) if is_silent else None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An exception and everything behind it, groups opened."""
    seen: set[int] = set()
    left: list[BaseException | None] = [error]
    while left:
        each = left.pop(0)
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        left += [each.__cause__, each.__context__]
        if isinstance(each, BaseExceptionGroup):
            left += each.exceptions


def _first(
    causes: list[BaseException], names: str, words: str | None = None
) -> BaseException | None:
    """Return the first exception of a type, by its name, or with some words."""
    for each in causes:
        is_one = any(re.fullmatch(names, kind.__name__) for kind in type(each).__mro__)
        if is_one or (words and re.search(words, str(each))):
            return each
    return None
