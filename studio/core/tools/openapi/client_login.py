"""OAuth 2 for programs: a token for a client's id and secret (RFC 6749 §4.4), while it lasts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from studio.core.text.foreign_json import parse_json
from studio.core.text.values import Json, JsonObject
from studio.core.tools.imports import HTTP, import_packages
from studio.core.tools.openapi.operation import OpenApiError

_LONGEST_ANSWER = 100_000
_LONGEST_SAID = 300
_EARLY_SECONDS = 30.0  # a token is not used in its last moments
_USUAL_SECONDS = 300.0  # of one that does not say how long it lasts


@dataclass(frozen=True, slots=True)
class ClientLogin:
    """What a program logs in with."""

    token_url: str
    """Where tokens are given."""

    client_id: str
    """Who it is."""

    client_secret: str
    """By which it shows that."""

    scope: str = ""
    """What it wants to do, words with blanks between."""

    in_body: bool = False
    """Whether id and secret travel in the form, and not as the header of Basic."""


class ClientTokens:
    """The tokens of one service."""

    def __init__(self) -> None:
        self._held: dict[ClientLogin, tuple[str, float]] = {}
        self._asking = asyncio.Lock()

    async def token(self, login: ClientLogin, seconds: float) -> str:
        """A token that still holds; asked for where there is none.

        Args:
            login: what to log in with.
            seconds: the longest time for it.

        Raises:
            OpenApiError: the login is refused, or nothing answers.
        """
        async with self._asking:
            token, until = self._held.get(login, ("", 0.0))
            if token and time.monotonic() < until:
                return token
            token, lasts = await _ask(login, seconds)
            self._held[login] = (token, time.monotonic() + max(0.0, lasts - _EARLY_SECONDS))
            return token

    def forget(self) -> None:
        """The service takes none of them any more."""
        self._held.clear()


def written_login(connection: JsonObject, described: Mapping[str, str]) -> JsonObject:
    """`clientId`, `clientSecret`, `tokenUrl`, `scopes` of a connection, as written; or nothing.

    Args:
        connection: the tool's.
        described: where the description gives tokens, by security scheme.
    """
    given = {key: connection.get(key) for key in ("clientId", "clientSecret", "tokenUrl")}
    place = given["tokenUrl"] or next(iter(described.values()), "")
    if not isinstance(given["clientId"], str) or not given["clientId"]:
        return {}
    scopes = connection.get("scopes")
    words = scopes if isinstance(scopes, list | tuple) else [scopes] if scopes else []
    return {**given, "tokenUrl": place, "scopes": " ".join(str(word) for word in words)}


async def _ask(login: ClientLogin, seconds: float) -> tuple[str, float]:
    await import_packages(HTTP)
    import httpx2

    form = {"grant_type": "client_credentials"}
    if login.scope:
        form["scope"] = login.scope
    auth: httpx2.BasicAuth | None = None
    if login.in_body:
        form |= {"client_id": login.client_id, "client_secret": login.client_secret}
    else:
        # RFC 6749 §2.3.1: both are encoded as a form is, before Basic joins them.
        auth = httpx2.BasicAuth(quote(login.client_id, ""), quote(login.client_secret, ""))
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
    body = bytearray()
    try:
        async with (
            asyncio.timeout(seconds),
            httpx2.AsyncClient(timeout=seconds) as http,
            http.stream(
                "POST", login.token_url, content=urlencode(form), headers=headers, auth=auth
            ) as answer,
        ):
            async for piece in answer.aiter_bytes():
                body += piece
                if len(body) > _LONGEST_ANSWER:
                    break
            status, reason = answer.status_code, answer.reason_phrase
    except (TimeoutError, httpx2.TimeoutException):
        raise OpenApiError(
            f"the login at {login.token_url} did not answer within {seconds:g} s"
        ) from None
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        raise OpenApiError(f"the login at {login.token_url} cannot be reached: {error}") from error
    text = bytes(body).decode("utf-8", "replace")
    if status in (400, 401) and not login.in_body and "invalid_client" in text:
        # Some take the client's id and secret in the form alone (§2.3.1 allows it).
        return await _ask(
            ClientLogin(
                login.token_url, login.client_id, login.client_secret, login.scope, in_body=True
            ),
            seconds,
        )
    try:
        answered: Json = parse_json(text)
    except ValueError:
        answered = None
    token = answered.get("access_token") if isinstance(answered, Mapping) else None
    if not 200 <= status < 300 or not isinstance(token, str) or not token:
        said = " ".join(text.split())[:_LONGEST_SAID]
        raise OpenApiError(
            f"the login at {login.token_url} was refused: HTTP {status} {reason}: {said}"
        )
    assert isinstance(answered, Mapping)
    lasts = answered.get("expires_in")
    is_number = isinstance(lasts, int | float) and not isinstance(lasts, bool)
    return token, float(lasts) if is_number else _USUAL_SECONDS  # type: ignore[arg-type]
