"""Logging in to an MCP server by OAuth: a program's own login, or the user's in a browser.

The SDK speaks the protocol (metadata, registration, PKCE, tokens, refresh). Here is what it leaves
to its user: where tokens are kept (in memory, while the source lives), the page that the browser
comes back to (on this machine, any free port), and the question before a page is opened.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from studio.core.tools.mcp.asking import AskForInput, InputWanted
from studio.core.tools.mcp.server_config import HttpLogin

if TYPE_CHECKING:
    import httpx2
    from mcp.shared.auth import (
        AuthorizationCodeResult,
        OAuthClientInformationFull,
        OAuthToken,
    )

_PAGE = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n\r\n"
    b"<p>Prompt Studio has the answer of the login. You can close this page."
)
_LONGEST_LINE = 16_384


class LoginRefusedError(Exception):
    """The user did not log in; the text says why."""


@dataclass
class MemoryTokens:
    """Tokens and registration, forgotten with the program."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        """The tokens."""
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep tokens."""
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """The registration."""
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep the registration."""
        self.client = client_info


@dataclass
class ServerLogin:
    """The login of one server, while its source lives."""

    ask: AskForInput | None
    """Asks the user before a page is opened; without it nobody can log in by a browser."""

    storage: MemoryTokens = field(default_factory=MemoryTokens)
    _refused: str = ""
    _listener: asyncio.Server | None = None
    _answer: asyncio.Future[Mapping[str, list[str]]] | None = None

    async def auth(self, url: str, login: HttpLogin) -> httpx2.Auth:
        """What adds the token to each request, and gets one where it is needed.

        Args:
            url: the server's endpoint.
            login: how to log in, references resolved.
        """
        from mcp.client.auth import OAuthClientProvider
        from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
        from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata
        from pydantic import AnyUrl

        if login.client_id and not login.in_browser:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that the issuer should be named, in 3.0
                return ClientCredentialsOAuthProvider(
                    url,
                    self.storage,
                    login.client_id,
                    login.client_secret,
                    scope=login.scope or None,
                    issuer=login.issuer or None,
                )
        if self._refused:
            raise LoginRefusedError(self._refused)  # not asked again before it is restarted
        if self._listener is None:
            self._listener = await asyncio.start_server(
                self._come_back, "127.0.0.1", login.port, limit=_LONGEST_LINE
            )
        port = self._listener.sockets[0].getsockname()[1]
        metadata = OAuthClientMetadata(
            client_name="Prompt Studio",
            redirect_uris=[AnyUrl(f"http://127.0.0.1:{port}/callback")],
            scope=login.scope or None,
        )
        if login.client_id and self.storage.client is None:
            self.storage.client = OAuthClientInformationFull(
                client_id=login.client_id,
                client_secret=login.client_secret or None,
                issuer=login.issuer or None,
                # RFC 6749 §2.3.1: what a server must support.
                token_endpoint_auth_method=(
                    "client_secret_basic" if login.client_secret else "none"
                ),
                **metadata.model_dump(
                    exclude={"issuer", "token_endpoint_auth_method"}, exclude_none=True
                ),
            )
        return OAuthClientProvider(url, metadata, self.storage, self._open_page, self._wait)

    @property
    def refused(self) -> str:
        """Why the user did not log in; empty where they did, or were not asked."""
        return self._refused

    def close(self) -> None:
        """No page comes back any more."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    async def _open_page(self, address: str) -> None:
        """Let the user open the page, and wait until the browser comes back from it."""
        if self.ask is None:
            raise self._refuse("it asks for a login in a browser, and nobody can be asked")
        loop = asyncio.get_running_loop()
        self._answer = loop.create_future()
        asked = await self.ask(InputWanted("Log in to use its tools.", url=address))
        if asked.action != "accept":
            raise self._refuse("it asks for a login, which was declined; Restart asks again")

    async def _wait(self) -> AuthorizationCodeResult:
        from mcp.shared.auth import AuthorizationCodeResult

        assert self._answer is not None
        values = await self._answer
        if "code" not in values:
            words = values.get("error_description") or values.get("error") or ["no code"]
            raise self._refuse(f"the login was refused: {words[0]}")
        state, issuer = values.get("state"), values.get("iss")
        return AuthorizationCodeResult(
            code=values["code"][0],
            state=state[0] if state else None,
            iss=issuer[0] if issuer else None,
        )

    def _refuse(self, reason: str) -> LoginRefusedError:
        self._refused = reason
        return LoginRefusedError(reason)

    async def _come_back(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """The browser comes back from the login with a code, or with why there is none."""
        try:
            line = (await reader.readline()).decode("latin-1").split(" ")
            target = urlsplit(line[1]) if len(line) > 1 else None
            if target is not None and target.path == "/callback":
                writer.write(_PAGE)
                await writer.drain()
                if self._answer is not None and not self._answer.done():
                    self._answer.set_result(parse_qs(target.query))
        except (OSError, ValueError):
            return  # no browser of ours
        finally:
            writer.close()
