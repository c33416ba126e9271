"""Which endpoints a document may send to without the user having been asked.

A prompt file from somewhere may name any address and, with `${env:…}`, any key to send there. An
endpoint that the file chose is asked about once, as Prompty 2.1 asks for it ("endpoint trust").
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

BUILT_IN: tuple[str, ...] = (
    "https://api.openai.com",
    "https://api.anthropic.com",
    "https://generativelanguage.googleapis.com",
    "https://openrouter.ai",
)
"""Providers' own endpoints, each one host. This machine is trusted as well.

No domain under which anyone can register a host is among them, as Azure's resources are.
"""

_PORTS = {"http": 80, "https": 443}


def origin(address: str) -> str:
    """Scheme, host and port of an address, as it is kept; empty for what is not a web address."""
    parts = _split(address)
    if parts is None:
        return ""
    port = parts.port or _PORTS[parts.scheme]
    host = f"[{parts.hostname}]" if ":" in str(parts.hostname) else parts.hostname
    return f"{parts.scheme}://{host}" + ("" if port == _PORTS[parts.scheme] else f":{port}")


def is_trusted(address: str, trusted: Iterable[str] = ()) -> bool:
    """Return whether requests can go to an address without a question.

    Args:
        address: where the request would go.
        trusted: origins that the user allowed; `*.` stands for any labels before a domain.
    """
    parts = _split(address)
    if parts is None:
        return False
    return is_this_machine(str(parts.hostname)) or any(
        _matches(parts, allowed) for allowed in (*BUILT_IN, *trusted)
    )


def is_this_machine(host: str) -> bool:
    """Whether a host's name or address is this machine's own (loopback)."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.rstrip(".") == "localhost"


def is_local(address: str) -> bool:
    """Return whether an address is on this machine (loopback)."""
    parts = _split(address)
    return parts is not None and is_this_machine(str(parts.hostname))


def _split(address: str) -> SplitResult | None:
    if "\\" in address:
        return None  # browsers and libraries disagree on where its host ends
    try:
        parts = urlsplit(address.strip())
        _ = parts.port
    except ValueError:
        return None
    return parts if parts.scheme in _PORTS and parts.hostname else None


def _matches(parts: SplitResult, allowed: str) -> bool:
    other = _split(allowed.replace("://*.", "://wildcard."))
    if other is None or other.scheme != parts.scheme:
        return False
    if (other.port or _PORTS[other.scheme]) != (parts.port or _PORTS[parts.scheme]):
        return False
    host, wanted = str(parts.hostname), str(other.hostname)
    if "://*." in allowed:
        return host.endswith(wanted.removeprefix("wildcard"))
    return host == wanted
