"""A request to a service is sent, exactly as it was shown, and its answer read within bounds."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING

from studio.core.text.amounts import counted
from studio.core.text.foreign_json import parse_json
from studio.core.text.values import Json
from studio.core.tools.imports import HTTP, import_packages
from studio.core.tools.limits import ToolLimits
from studio.core.tools.openapi.operation import OpenApiError
from studio.core.tools.openapi.request import MASK, HttpRequest
from studio.core.tools.python_server.cutting import cut
from studio.core.tools.source import ToolOutcome, ToolPicture
from studio.core.tools.traffic import TrafficLog

if TYPE_CHECKING:
    import httpx2


_LARGEST_PICTURE = 16 * 1024 * 1024
_SECRET_HEADERS = ("set-cookie", "authorization", "proxy-authorization", "www-authenticate")


async def as_sent(address: str) -> str:
    """An address as the HTTP client writes it.

    Raises:
        OpenApiError: it is not an address.
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


async def send(
    request: HttpRequest,
    label: str,
    limits: ToolLimits,
    traffic: TrafficLog | None = None,
    came: Callable[[int, int], None] = lambda done, whole: None,
    *,
    is_parsed: bool = True,
) -> ToolOutcome:
    """Send a request and read its answer, within the limits.

    Args:
        request: the request.
        label: the source's name for people.
        limits: bounds of a call.
        traffic: notes the answer.
        came: is told how many bytes of the answer are there, and will be (0: nobody says).
        is_parsed: whether the answer's value is wanted; a large one takes a moment to read.
    """
    await import_packages(HTTP)
    import httpx2

    try:
        made = _exactly(request)
        async with (
            asyncio.timeout(limits.seconds),
            httpx2.AsyncClient(timeout=limits.seconds) as http,
            aclosing(await http.send(made, stream=True)) as response,
        ):
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            is_picture = kind.startswith(("image/", "audio/"))
            most = _LARGEST_PICTURE if is_picture else limits.characters * 4
            body = bytearray()
            length = response.headers.get("content-length", "")
            is_packed = "content-encoding" in response.headers  # its length is another one
            whole = int(length) if length.isdecimal() and not is_packed else 0
            async for chunk in response.aiter_bytes():
                body += chunk
                came(len(body), whole)
                if len(body) > most:
                    break
            text = bytes(body).decode(response.charset_encoding or "utf-8", "replace")
            status, reason = response.status_code, response.reason_phrase
            place = response.headers.get("location", "")
            head = _head(response)
    except (TimeoutError, httpx2.TimeoutException):
        failed = ToolOutcome(f"{label} did not answer within {limits.seconds:g} s", "timeout")
        return _noted(failed, traffic, request)
    except (httpx2.HTTPError, httpx2.InvalidURL, LookupError, ValueError) as error:
        failed = ToolOutcome(f"{label} cannot be reached: {error}", "error")
        return _noted(failed, traffic, request)
    pictures: tuple[ToolPicture, ...] = ()
    if is_picture:
        pictures = (ToolPicture(kind, base64.b64encode(body).decode()),)
        text = f"[{kind}, {counted(len(body), 'byte')}]"
    if traffic is not None:
        title = f"HTTP {status} {reason}".strip()
        traffic.received(title, f"{head}\n\n{text}", len(body), id(request))
    text, truncated = cut(text, limits.characters)
    if not 200 <= status < 300:
        to = f" to {place}, which is not followed" if place and 300 <= status < 400 else ""
        return ToolOutcome(
            f"HTTP {status} {reason}{to}: {text}".strip(": "), "error", head=head, pictures=pictures
        )
    value = _value(text) if is_parsed else text
    return ToolOutcome(text, "ok", value=value, truncated=truncated, head=head, pictures=pictures)


def _noted(outcome: ToolOutcome, traffic: TrafficLog | None, request: HttpRequest) -> ToolOutcome:
    if traffic is not None:
        traffic.received(outcome.status, outcome.text, 0, id(request))
    return outcome


def _head(response: httpx2.Response) -> str:
    """Status and headers as a user reads them; what logs somebody in is not shown."""
    lines = [f"HTTP {response.status_code} {response.reason_phrase}".strip()]
    for name, value in response.headers.multi_items():
        lines.append(f"{name}: {MASK if name.lower() in _SECRET_HEADERS else value}")
    return "\n".join(lines)


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
