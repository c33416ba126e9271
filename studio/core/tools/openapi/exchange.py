"""A request to a service is sent, exactly as it was shown, and its answer read within bounds."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING

from studio.core.text.foreign_json import parse_json
from studio.core.text.values import Json
from studio.core.tools.imports import HTTP, import_packages
from studio.core.tools.limits import ToolLimits
from studio.core.tools.openapi.description import OpenApiError
from studio.core.tools.openapi.request import MASK, HttpRequest
from studio.core.tools.python_server.cutting import cut
from studio.core.tools.source import ToolOutcome

if TYPE_CHECKING:
    import httpx2


async def as_sent(address: str) -> str:
    """An address as the HTTP client writes it.

    Raises:
        OpenApiError: it is no address.
    """
    await import_packages(HTTP)
    import httpx2

    try:
        return str(httpx2.URL(address))
    except httpx2.InvalidURL as error:
        raise OpenApiError(f"{address!r} is not an address: {error}") from error


async def check_address(request: HttpRequest) -> None:
    """See to it that the client sends the address as it stands in the request.

    Raises:
        OpenApiError: it would send another one, or none.
    """
    address = request.url.replace(MASK, "key")  # a mask stands unencoded: nothing else does
    sent = await as_sent(address)
    if sent != address:
        raise OpenApiError(f"the address {address!r} would be sent as {sent!r}")


async def send(request: HttpRequest, label: str, limits: ToolLimits) -> ToolOutcome:
    """Send a request and read its answer, within the limits."""
    await import_packages(HTTP)
    import httpx2

    try:
        made = _exactly(request)
        async with (
            asyncio.timeout(limits.seconds),
            httpx2.AsyncClient(timeout=limits.seconds) as http,
            aclosing(await http.send(made, stream=True)) as response,
        ):
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > limits.characters * 4:
                    break
            text = bytes(body).decode(response.charset_encoding or "utf-8", "replace")
            status, reason = response.status_code, response.reason_phrase
    except (TimeoutError, httpx2.TimeoutException):
        return ToolOutcome(f"{label} did not answer within {limits.seconds:g} s", "timeout")
    except (httpx2.HTTPError, httpx2.InvalidURL, LookupError, ValueError) as error:
        return ToolOutcome(f"{label} cannot be reached: {error}", "error")
    text, truncated = cut(text, limits.characters)
    if not 200 <= status < 300:
        return ToolOutcome(f"HTTP {status} {reason}: {text}".strip(": "), "error")
    return ToolOutcome(text, "ok", value=_value(text), truncated=truncated)


def _exactly(request: HttpRequest) -> httpx2.Request:
    """The client's own form of a request; it sends such a one as it is, and adds nothing."""
    import httpx2

    headers = [(name.encode(), value.encode()) for name, value in request.headers.items()]
    content = request.body.encode() or None
    return httpx2.Request(request.method, request.url, headers=headers, content=content)


def _value(text: str) -> Json:
    try:
        value = parse_json(text)
    except ValueError:
        return text
    return value if isinstance(value, Mapping | list | str | int | float | None) else text
