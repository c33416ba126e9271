"""Credentials of a service: keys of the tool's connection, and tokens from a login.

A login is OAuth 2 with a client's id and secret (RFC 6749 §4.4); its token is kept while it is
valid.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import quote, urlencode, urlsplit

from studio.core.masking.masker import Masker, key_reference
from studio.core.text.values import Json, JsonObject, parse_json
from studio.core.tools.mcp.server_config import expand
from studio.core.tools.openapi.schemas import (
    ANY,
    Credential,
    Description,
    OpenApiError,
    Operation,
    credentials_for,
)
from studio.core.whole_imports import HTTP, import_packages

# The user's connections, which a tool may name instead of an address and a key.


@dataclass(frozen=True, slots=True)
class NamedConnection:
    """The address of a connection, and access to its key."""

    address: str
    """Base URL of its API."""

    has_key: bool
    """Whether it uses a key."""

    read_key: Callable[[], Awaitable[str]]
    """Function that looks up the key when it is needed; raises LookupError with the reason if there
    is none.
    """


FindConnection: TypeAlias = Callable[[str], NamedConnection | None]
"""Function that returns the connection with a name; None if there is none."""


def no_connection(_name: str) -> NamedConnection | None:
    """Return None, for callers without connections."""
    return None


def name_of(connection: JsonObject) -> str:
    """Return the connection that a tool's `connection` block names; empty for none."""
    if connection.get("kind") != "reference" or connection.get("apiKey"):
        return ""
    return str(connection.get("name") or "")


def address_for(found: NamedConnection, endpoint: str, server: str) -> str:
    """Return the address for requests with a connection's key: always its own server.

    An untrusted prompt chooses the name, the endpoint and the description; together they could send
    the key of one service to another.

    Args:
        found: the connection.
        endpoint: endpoint in the tool's block; empty for none.
        server: server in the description.

    Raises:
        OpenApiError: the tool names another server.
    """
    if endpoint:
        if _origin(endpoint) != _origin(found.address):
            raise OpenApiError(
                f"its connection is for {_origin(found.address)}, and its endpoint is another "
                f"server ({_origin(endpoint)}), which gets no key: remove the endpoint"
            )
        return endpoint
    return server if _origin(server) == _origin(found.address) else found.address


def _origin(address: str) -> str:
    try:
        parts = urlsplit(address)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.hostname}:{port}" if parts.hostname else ""


_VARIABLE = re.compile(r"\$\{env:\w+\}")
_LONGEST_ANSWER = 100_000
_LONGEST_QUOTE = 300
_EARLY_SECONDS = 30.0  # a token is not used in its last seconds
_USUAL_SECONDS = 300.0  # lifetime of a token that does not state one


@dataclass(frozen=True, slots=True)
class ClientLogin:
    """The login data of a client program."""

    token_url: str
    """Address for tokens."""

    client_id: str
    """Id of the client."""

    client_secret: str
    """Secret of the client."""

    scope: str = ""
    """Requested scopes, separated by blanks."""

    in_body: bool = False
    """Whether id and secret are sent in the form instead of a Basic header."""


class ClientTokens:
    """The tokens of one service."""

    def __init__(self) -> None:
        self._held: dict[ClientLogin, tuple[str, float]] = {}
        self._asking = asyncio.Lock()

    async def token(self, login: ClientLogin, seconds: float) -> str:
        """Return a valid token, requesting one if needed.

        Args:
            login: the login data.
            seconds: maximum time.

        Raises:
            OpenApiError: the login fails, or the server does not answer.
        """
        async with self._asking:
            token, until = self._held.get(login, ("", 0.0))
            if token and time.monotonic() < until:
                return token
            token, lasts = await _ask(login, seconds)
            self._held[login] = (token, time.monotonic() + max(0.0, lasts - _EARLY_SECONDS))
            return token

    def forget(self) -> None:
        """Forget the tokens, which the service rejects."""
        self._held.clear()


@dataclass(frozen=True, slots=True)
class SentKeys:
    """The keys of a request."""

    signatures: tuple[tuple[Credential, str], ...]
    """Each key with its place in the request."""

    has_token: bool
    """Whether a login's token is among them."""


class ServiceKeys:
    """The keys of one tool's connection, and the tokens from its login."""

    def __init__(
        self,
        name: str,
        connection: JsonObject,
        seconds: float,
        environment: Callable[[], Mapping[str, str]],
        masker: Masker,
        *,
        is_own: bool,
    ) -> None:
        """Store the tool's settings.

        Args:
            name: name of the declared tool.
            connection: its `connection`, with references unresolved.
            seconds: maximum time of a login.
            environment: returns the variables for references, at each call.
            masker: receives the sent keys, which services may repeat.
            is_own: whether the description is a local file, which may name the token URL.
        """
        self._name = name
        self._connection = connection
        self._seconds = seconds
        self._environment = environment
        self._masker = masker
        self._is_own = is_own
        self._tokens = ClientTokens()

    def names(self, description: Description, named: NamedConnection | None) -> set[str]:
        """Return the security schemes with a key or a login; `ANY` for a key for all of them.

        Args:
            description: the API.
            named: the user's connection that the tool names; then only its key is used.
        """
        if named is not None:
            return {ANY} if named.has_key else set()
        names = {*self._keys(), *((ANY,) if self._connection.get("apiKey") else ())}
        return names | (self._token_names(description) if self._login_words(description) else set())

    async def read(
        self, description: Description, operation: Operation, named: NamedConnection | None
    ) -> SentKeys:
        """Return the keys for a call; logs in if it needs a token.

        Args:
            description: the API.
            operation: the called operation.
            named: the user's connection that the tool names; then only its key is used.

        Raises:
            OpenApiError: the login fails, or has no URL.
            LookupError: a key or a variable is missing.
        """
        keys = await self._read_keys(named)
        login = self._login(description) if named is None else None
        tokens = self._token_names(description) if login is not None else frozenset()
        found = credentials_for(description, operation, {*keys, *tokens})
        has_token = any(name in tokens for name, _ in found)
        if login is not None and has_token:
            token = await self._tokens.token(login, self._seconds)
            self._masker.note(key_reference(self._name), token, is_key=True)
            keys |= dict.fromkeys(tokens, token)
        return SentKeys(tuple((each, keys[name]) for name, each in found), has_token)

    def forget_tokens(self) -> None:
        """Forget the tokens, which the service rejects."""
        self._tokens.forget()

    def _keys(self) -> Mapping[str, str]:
        """Return the keys by security scheme, as written."""
        keys = self._connection.get("keys")
        listed = keys.items() if isinstance(keys, Mapping) else ()
        return {name: key for name, key in listed if isinstance(key, str) and key}

    def _login_words(self, description: Description) -> JsonObject:
        """Return the login data as written; a remote description cannot set its URL."""
        described = description.token_urls if self._is_own else {}
        return _written_login(self._connection, described)

    def _login(self, description: Description) -> ClientLogin | None:
        """Return the login for a token (OAuth 2); None if there is none.

        Raises:
            OpenApiError: there is no token URL.
        """
        written = self._login_words(description)
        if not written:
            return None
        known = self._environment()
        words = {key: expand(str(value or ""), known) for key, value in written.items()}
        if not words["tokenUrl"]:
            raise OpenApiError("'connection' has a clientId, but no tokenUrl")
        secret = words["clientSecret"]
        if secret:
            self._masker.note(
                self._key_reference("", str(written["clientSecret"])), secret, is_key=True
            )
        return ClientLogin(words["tokenUrl"], words["clientId"], secret, words["scopes"])

    def _token_names(self, description: Description) -> frozenset[str]:
        """Return the security schemes that a token serves: all, if the description has none."""
        return frozenset(description.token_urls) or frozenset((ANY,))

    async def _read_keys(self, named: NamedConnection | None) -> dict[str, str]:
        """Return the keys by security scheme; a key for all is under `ANY`."""
        known = self._environment()
        written = dict(self._keys()) if named is None else {}
        own = self._connection.get("apiKey")
        if named is None and isinstance(own, str) and own:
            written[ANY] = own
        found = {name: expand(key, known) for name, key in written.items()}
        if named is not None:
            found[ANY] = await named.read_key()
        for name, key in found.items():
            self._masker.note(self._key_reference(name, written.get(name, "")), key, is_key=True)
        return {name: key for name, key in found.items() if key}

    def _key_reference(self, name: str, written: str) -> str:
        """Return the reference of a key."""
        if _VARIABLE.fullmatch(written):
            return written
        return key_reference(name or name_of(self._connection) or self._name)


def _written_login(connection: JsonObject, described: Mapping[str, str]) -> JsonObject:
    """Return a connection's `clientId`, `clientSecret`, `tokenUrl`, `scopes` as written, or {}.

    Args:
        connection: the tool's connection.
        described: token URLs in the description, by security scheme.
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
        # RFC 6749 §2.3.1: both are form-encoded before Basic joins them.
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
        # Some servers only accept the client's id and secret in the form (§2.3.1 allows it).
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
        words = " ".join(text.split())[:_LONGEST_QUOTE]
        raise OpenApiError(
            f"the login at {login.token_url} was refused: HTTP {status} {reason}: {words}"
        )
    assert isinstance(answered, Mapping)
    lasts = answered.get("expires_in")
    is_number = isinstance(lasts, int | float) and not isinstance(lasts, bool)
    return token, float(lasts) if is_number else _USUAL_SECONDS  # type: ignore[arg-type]
