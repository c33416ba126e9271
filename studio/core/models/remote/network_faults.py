"""What goes wrong on the way to a server: names, proxies, certificates, refusals, time."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

from studio.core.models.base import ModelError
from studio.core.models.remote.faults import (
    LONGEST_TEXT,
    Endpoint,
    RetryLaterError,
    proxy_wants_name,
)


def network_fault(error: BaseException, target: Endpoint) -> ModelError:
    """The fault of a connection that could not be made or broke."""
    causes = list(_causes(error))
    where = target.address
    if target.proxy and (fault := _proxy_fault(causes, target)) is not None:
        return fault
    if _any(causes, socket.gaierror, "Name or service not known", "getaddrinfo", "nodename"):
        return ModelError(
            "dns",
            f"There is no machine by the name in {where}.",
            "Check the address, and that there is a network.",
        )
    if _any(causes, ssl.SSLError, "[SSL"):
        detail = next((each for each in causes if isinstance(each, ssl.SSLError)), None)
        reason = getattr(detail, "verify_message", "") or getattr(detail, "reason", "") or ""
        return ModelError(
            "tls",
            f"No secure connection to {where}" + (f": {reason}." if reason else "."),
            "Check the address (http or https). For a server with a certificate of its own, name "
            "its authority's file in SSL_CERT_FILE.",
        )
    if _any(causes, ConnectionRefusedError, "Connection refused", "connection attempts failed"):
        return RetryLaterError(
            "refused",
            f"Nothing answers at {where}.",
            f"Start the server of {target.name}, or correct its address.",
        )
    if any(type(each).__name__ == "ConnectTimeout" for each in causes):
        return RetryLaterError(
            "timeout", f"No connection to {where} in time.", "Check the address and the network."
        )
    if any(isinstance(each, TimeoutError) or "Timeout" in type(each).__name__ for each in causes):
        return RetryLaterError(
            "timeout",
            f"{where} takes the connection and does not answer in time.",
            "It may be busy, as with loading a model. If it stays so, check the port: another "
            "program may listen there.",
        )
    if any(type(each).__name__ in ("UnsupportedProtocol", "InvalidURL") for each in causes):
        return ModelError(
            "bad-address",
            f"{where} is not an address of a server.",
            "It begins with http or https.",
        )
    if _say(causes, "illegal status line", "illegal header line", "illegal request line"):
        return ModelError(
            "bad-address",
            f"What answers at {where} is not a web server.",
            "Check the port in the address: another program listens there.",
        )
    if _say(causes, "without sending a response"):
        return RetryLaterError(
            "cut-off",
            f"{where} ends the connection without an answer.",
            "Run again. If it stays so, check the port, and whether the address begins with https.",
        )
    return RetryLaterError(
        "cut-off",
        f"The connection to {where} broke.",
        "What had come is kept. Run again.",
    )


def _proxy_fault(causes: list[BaseException], target: Endpoint) -> ModelError | None:
    """What went wrong between here and the proxy; `None` for what lies behind it."""
    refusal = next((each for each in causes if type(each).__name__ == "ProxyError"), None)
    if refusal is not None:
        words = " ".join(str(refusal).split())[:LONGEST_TEXT].rstrip(".")
        if words.startswith("407") or "auth" in words.lower() or "password" in words.lower():
            return proxy_wants_name(target)
        return ModelError(
            "proxy",
            f"The proxy {target.proxy} does not let through to {target.address}"
            + (f": {words}." if words else "."),
            "Ask who runs the proxy, or name the server in NO_PROXY where it can be reached "
            "without.",
        )
    if any(type(each).__name__ in ("ConnectError", "ConnectTimeout") for each in causes) and not (
        _any(causes, ssl.SSLError, "[SSL")
    ):
        return RetryLaterError(
            "proxy",
            f"The proxy {target.proxy} on the way to {target.address} does not answer.",
            "Start the proxy or correct the system's proxy settings (HTTPS_PROXY, HTTP_PROXY, "
            "ALL_PROXY), or name the server in NO_PROXY where it can be reached without.",
        )
    return None


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


def _any(causes: list[BaseException], kind: type[BaseException], *words: str) -> bool:
    return any(isinstance(each, kind) for each in causes) or _say(causes, *words)


def _say(causes: list[BaseException], *words: str) -> bool:
    return any(word in str(each) for each in causes for word in words)
