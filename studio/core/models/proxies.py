"""Choose the system's proxy for a server, and the certificates for a connection.

The system's settings are the variables HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, also in
lower case, and without them the settings of Windows and macOS. The choice is made here because the
HTTP library ignores the exceptions of those systems, sends local requests through the proxy too,
and does not say which proxy failed.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit

from studio.core.models.base import ModelError
from studio.core.models.connections import is_this_machine
from studio.core.models.secrets import Secret

if TYPE_CHECKING:
    from ssl import SSLContext

    from httpx2 import AsyncHTTPTransport

_SCHEMES = ("http", "https", "socks5", "socks5h")
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy for requests to a server."""

    url: Secret
    """Complete URL; may contain a user name and a password."""

    shown: str
    """Address for the user, without them."""

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """The secret parts of the proxy's address, as written and decoded."""
        password = urlsplit(self.url.reveal()).password or ""
        return (self.url, Secret(password), Secret(unquote(password)))


def proxy_for(address: str) -> Proxy | None:
    """Return the proxy for a server; None for a direct connection, as to this machine.

    Args:
        address: the server's base address.

    Raises:
        ModelError: the system's setting is no valid proxy.
    """
    try:
        parts = urlsplit(address)
    except ValueError:
        return None  # no address: reported when a request is sent
    host = parts.hostname or ""
    if not host or is_this_machine(host) or _is_excepted(parts):
        return None
    from urllib.request import getproxies  # loads half of the standard library's network modules

    proxies = getproxies()
    url = proxies.get(parts.scheme) or proxies.get("all") or ""
    if not url and proxies.get("socks"):  # from Windows and macOS
        url = "socks5://" + proxies["socks"].rpartition("://")[2]
    if not url:
        return None
    return _proxy(url if "://" in url else f"http://{url}")


def transport_to(
    address: str, connections: int | None = 100
) -> tuple[AsyncHTTPTransport, Proxy | None]:
    """Return the transport for a server, and the proxy that it uses.

    Args:
        address: the server's base address.
        connections: maximum number of requests at once; None for no limit.

    Raises:
        ModelError: the system's settings cannot be used.
    """
    import httpx2

    proxy = proxy_for(address)
    try:
        way = proxy.url.reveal() if proxy is not None else None
        verify = _certificates(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
        limits = httpx2.Limits(max_connections=connections, max_keepalive_connections=20)
        return httpx2.AsyncHTTPTransport(verify=verify, proxy=way, limits=limits), proxy
    except OSError as error:  # the certificates cannot be read; includes ssl.SSLError
        named = [name for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if os.environ.get(name)]
        raise ModelError(
            "tls",
            f"The certificates of this system cannot be read ({type(error).__name__}).",
            f"{named[0]} names {os.environ[named[0]]!r}: correct it and start the studio again."
            if named
            else "Name a file of certificates in SSL_CERT_FILE and start the studio again.",
        ) from None


@lru_cache(maxsize=1)
def _certificates(file: str | None, folder: str | None) -> SSLContext:
    """Return the certificates that the HTTP library would use in this environment.

    It is cached: reading the 140 or so authorities of a system takes longer than the rest of a
    connection. After a change the studio must be restarted, as the error above says.

    Args:
        file: the value of SSL_CERT_FILE.
        folder: the value of SSL_CERT_DIR.

    Raises:
        OSError: they cannot be read; includes `ssl.SSLError`.
    """
    del file, folder  # the library reads the variables itself; here they only are the cache's key
    from httpx2 import create_ssl_context

    return create_ssl_context()


def _proxy(url: str) -> Proxy:
    scheme, _, rest = url.partition("://")
    # GNOME writes `socks` for a SOCKS 5 proxy, a name that no library accepts.
    scheme = {"socks": "socks5"}.get(scheme.lower(), scheme.lower())
    shown = f"{scheme}://{rest.rpartition('@')[2].rstrip('/')}"
    try:
        parts = urlsplit(shown)
        is_proxy = scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_proxy = False
    if not is_proxy:
        raise ModelError(
            "proxy",
            f"The system names {shown!r} as its proxy, which the studio cannot use.",
            "A proxy is written as http://host:port, https://host:port or socks5://host:port, in "
            "HTTPS_PROXY, HTTP_PROXY or ALL_PROXY. Correct it and start the studio again.",
        )
    return Proxy(Secret(f"{scheme}://{rest}"), shown)


def _is_excepted(parts: SplitResult) -> bool:
    """Return whether NO_PROXY, or the system's setting without it, excludes a server.

    Syntax as in curl and Go: `*`; a domain with all below it, with or without a dot or `*.` before
    it; an address or a network of them; each with or without a port.
    """
    host = str(parts.hostname).rstrip(".")
    port = _port(parts)
    named = os.environ.get("no_proxy") or os.environ.get("NO_PROXY") or ""
    for entry in named.replace(",", " ").split():
        if entry == "*":
            return True
        name, wanted = _entry(entry.lower())
        if wanted in (None, port) and _covers(name, host):
            return True
    if sys.platform == "linux":
        return False
    from urllib.request import proxy_bypass

    return bool(proxy_bypass(host))


def _entry(entry: str) -> tuple[str, int | None]:
    """Return the name and port of an entry of NO_PROXY."""
    name = entry.partition("://")[2] or entry
    if name.startswith("["):
        inside, _, rest = name[1:].partition("]")
        name, port = inside, rest.removeprefix(":")
    elif name.count(":") == 1:
        name, _, port = name.partition(":")
    else:
        port = ""
    return name, int(port) if port.isdigit() else None


def _covers(name: str, host: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        name = name.removeprefix("*").strip(".")
        return bool(name) and (host == name or host.endswith(f".{name}"))
    try:
        return address in ip_network(name, strict=False)
    except ValueError:
        return False


def _port(parts: SplitResult) -> int | None:
    try:
        return parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
