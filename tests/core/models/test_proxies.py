"""The system's proxies and certificates, with real proxies and a TLS server on loopback."""

from __future__ import annotations

import gc
import json
import logging
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from studio.core.models.base import ModelError
from studio.core.models.probe import probe
from studio.core.models.proxies import proxy_for
from studio.core.models.secrets import SecretStore
from tests.core.models.remote_model import ask, model_at
from tests.support.chat_server import ChatServer, failure
from tests.support.proxy_server import proxy_server
from tests.support.serving import serving

PASSWORD = "pr0xy%2Dpass%20word"
LOGIN = "me:pr0xy-pass word"
FAR = "https://api.example.test/v1"
PLAIN = "http://api.example.test/v1"
VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@asynccontextmanager
async def secure_server(certificate: ssl.SSLContext) -> AsyncIterator[ChatServer]:
    """A chat-completions server with TLS, for localhost and api.example.test."""
    answering = ChatServer()
    async with serving(answering.serve, certificate) as answering.port:
        yield answering


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])
async def test_a_secure_server_is_reached_through_a_tunnel(
    variable: str,
    own_certificate: ssl.SSLContext,
    own_authority: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(own_authority))
    async with secure_server(own_certificate) as server, proxy_server(server.port) as proxy:
        monkeypatch.setenv(variable, f"http://127.0.0.1:{proxy.port}")
        reply, error = await ask(model_at(FAR))
    assert error is None
    assert reply.text == "Hello from the server."
    assert proxy.asked == ["CONNECT api.example.test:443 HTTP/1.1"]
    assert server.requests[0].path == "/v1/chat/completions"


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
async def test_a_plain_server_is_asked_through_the_proxy(
    variable: str, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with proxy_server(server.port) as proxy:
        monkeypatch.setenv(variable, f"127.0.0.1:{proxy.port}")  # curl takes it without http://
        reply, error = await ask(model_at(PLAIN))
    assert error is None
    assert reply.text == "Hello from the server."
    assert proxy.asked == [f"POST {PLAIN}/chat/completions HTTP/1.1"]


@pytest.mark.parametrize("scheme", ["socks5", "socks5h", "socks"])
async def test_a_socks_proxy_leads_to_the_server(
    scheme: str, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with proxy_server(server.port, LOGIN) as proxy:
        monkeypatch.setenv("ALL_PROXY", f"{scheme}://me:{PASSWORD}@127.0.0.1:{proxy.port}")
        reply, error = await ask(model_at(PLAIN))
    assert error is None
    assert reply.text == "Hello from the server."
    assert proxy.asked == ["SOCKS api.example.test:80"]


async def test_a_password_of_the_proxy_is_sent_and_told_nobody(
    own_certificate: ssl.SSLContext,
    own_authority: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("SSL_CERT_FILE", str(own_authority))
    async with secure_server(own_certificate) as server, proxy_server(server.port, LOGIN) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:{PASSWORD}@127.0.0.1:{proxy.port}")
        server.script(failure(400, f"came by http://me:{PASSWORD}@proxy ({LOGIN})"))
        model = model_at(FAR)
        _, refused = await ask(model)
        reply, error = await ask(model_at(FAR))
    assert error is None
    assert reply.text == "Hello from the server."
    assert refused is not None
    assert refused.kind == "bad-request"
    said = [refused.message, refused.hint, caplog.text, repr(model), repr(proxy_for(FAR))]
    said += [repr(vars(model)), repr(vars(model._client))]
    assert all(word not in text for text in said for word in (PASSWORD, "pr0xy-pass word"))


@pytest.mark.parametrize("address", [FAR, PLAIN])
async def test_a_proxy_that_is_down_is_named_and_not_the_server(
    address: str, unused_tcp_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", f"http://me:{PASSWORD}@127.0.0.1:{unused_tcp_port}")
    _, error = await ask(model_at(address))
    assert error is not None
    assert (error.kind, error.retryable) == ("proxy", True)
    assert f"The proxy http://127.0.0.1:{unused_tcp_port}" in error.message
    assert "does not respond" in error.message
    assert "NO_PROXY" in error.hint
    assert PASSWORD not in error.message + error.hint


@pytest.mark.parametrize("address", [FAR, PLAIN])
@pytest.mark.parametrize("scheme", ["http", "socks5"])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_a_proxy_that_wants_a_name_says_where_to_write_it(
    address: str, scheme: str, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with proxy_server(server.port, LOGIN) as proxy:
        monkeypatch.setenv("ALL_PROXY", f"{scheme}://you:wr0ng-one@127.0.0.1:{proxy.port}")
        _, error = await ask(model_at(address))
    assert error is not None
    assert (error.kind, error.retryable) == ("proxy", False)
    assert "a name and a password" in error.message
    assert "http://name:password@host:port" in error.hint
    assert "wr0ng" not in error.message
    assert server.requests == []
    del error
    gc.collect()  # httpcore2 leaves the socket of a refused SOCKS login to the collector


async def test_a_proxy_that_lets_nothing_through_is_quoted(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with proxy_server(server.port, refuse="403 Not on the list") as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
        _, error = await ask(model_at(FAR))
    assert error is not None
    assert error.kind == "proxy"
    assert "403 Not on the list" in error.message
    assert "api.example.test" in error.message


@pytest.mark.parametrize("named", ["ftp://127.0.0.1:21", "socks4://127.0.0.1:9", "http://:80"])
async def test_what_is_no_proxy_is_a_fault_with_what_to_write(
    named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", named)
    _, error = await ask(model_at(FAR))
    assert error is not None
    assert error.kind == "proxy"
    assert "socks5://host:port" in error.hint


async def test_this_machine_is_reached_without_a_proxy(
    server: ChatServer, unused_tcp_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{unused_tcp_port}")
    reply, error = await ask(model_at(server.url))
    assert error is None
    assert reply.text == "Hello from the server."


async def test_a_test_of_the_connection_goes_by_the_proxy_too(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = model_at(PLAIN)._connection
    async with proxy_server(server.port) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        found = await probe(connection, SecretStore(use_keyring=False))
    assert found.works
    assert found.models == ("scripted-1",)
    assert proxy.asked == [f"GET {PLAIN}/models HTTP/1.1"]


@pytest.mark.parametrize(
    ("excepted", "address", "is_direct"),
    [
        ("example.test", "https://api.example.test/v1", True),
        (".example.test", "https://api.example.test/v1", True),
        ("*.example.test", "https://api.example.test/v1", True),
        ("example.test", "https://example.test", True),
        ("example.test", "https://notexample.test", False),
        ("api.example.test:443", "https://api.example.test/v1", True),
        ("api.example.test:8443", "https://api.example.test/v1", False),
        ("API.Example.Test", "https://api.example.test/v1", True),
        ("other.test, example.test", "https://api.example.test", True),
        ("*", "https://api.example.test", True),
        ("10.0.0.0/8", "http://10.20.30.40:8000/v1", True),
        ("10.0.0.0/8", "http://11.20.30.40:8000/v1", False),
        ("10.20.30.40", "http://10.20.30.40:8000/v1", True),
        ("fd00::/8", "http://[fd00::1]:8000/v1", True),
        ("[fd00::1]:8000", "http://[fd00::1]:8000/v1", True),
        ("", "http://localhost:11434/v1", True),
        ("", "http://127.0.0.2:1", True),
        ("", "http://[::1]:1", True),
        ("", "https://api.example.test", False),
        ("", "no address", True),
        ("", "http://[no address", True),
    ],
)
@pytest.mark.parametrize("name", ["NO_PROXY", "no_proxy"])
def test_what_goes_without_a_proxy(
    name: str, excepted: str, address: str, is_direct: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv(name, excepted)
    assert (proxy_for(address) is None) is is_direct


def test_each_scheme_has_its_own_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://plain.example:1")
    monkeypatch.setenv("HTTPS_PROXY", "http://you:secret-word@secure.example:2/")
    monkeypatch.setenv("ALL_PROXY", "http://all.example:3")
    plain, secure = proxy_for(PLAIN), proxy_for(FAR)
    assert plain is not None
    assert secure is not None
    assert (plain.shown, secure.shown) == ("http://plain.example:1", "http://secure.example:2")
    assert "secret-word" in secure.url.reveal()
    monkeypatch.delenv("HTTPS_PROXY")
    everything = proxy_for(FAR)
    assert everything is not None
    assert everything.shown == "http://all.example:3"


async def test_an_authority_is_found_in_its_folder(
    own_certificate: ssl.SSLContext,
    own_authority: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs openssl, which gives the names of such a folder")
    command = [openssl, "x509", "-hash", "-noout", "-in", str(own_authority)]
    named = subprocess.run(command, capture_output=True, text=True, check=True)
    (tmp_path / f"{named.stdout.strip()}.0").write_bytes(own_authority.read_bytes())
    async with secure_server(own_certificate) as server:
        address = f"https://localhost:{server.port}/v1"
        _, unknown = await ask(model_at(address))
        monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
        reply, error = await ask(model_at(address))
    assert unknown is not None
    assert unknown.kind == "tls"
    assert error is None
    assert reply.text == "Hello from the server."


async def test_the_authorities_are_read_once(
    own_certificate: ssl.SSLContext,
    own_authority: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copied = tmp_path / "authority.pem"
    copied.write_bytes(own_authority.read_bytes())
    async with secure_server(own_certificate) as server:
        address = f"https://localhost:{server.port}/v1"
        monkeypatch.setenv("SSL_CERT_FILE", str(copied))
        _, first = await ask(model_at(address))
        copied.unlink()
        _, second = await ask(model_at(address))
        monkeypatch.delenv("SSL_CERT_FILE")
        _, unknown = await ask(model_at(address))
    assert first is None
    assert second is None
    assert unknown is not None
    assert unknown.kind == "tls"


async def test_certificates_that_cannot_be_read_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nobodys = tmp_path / "nobodys.pem"
    for text in (None, "this is no certificate"):
        if text is not None:
            nobodys.write_text(text, encoding="utf-8")
        monkeypatch.setenv("SSL_CERT_FILE", str(nobodys))
        _, error = await ask(model_at("https://localhost:1/v1"))
        assert isinstance(error, ModelError)
        assert error.kind == "tls"
        assert json.dumps(str(nobodys))[1:-1] in error.hint
