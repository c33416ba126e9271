"""A call stays within its operation, whatever its arguments are, and is sent as it was shown."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.core.text.values import Json, JsonObject
from studio.core.tools.openapi.description import read_description
from studio.core.tools.openapi.request import (
    MASK,
    build_request,
    get_request,
    masked_request,
)
from studio.core.tools.openapi.schemas import Credential, OpenApiError, Operation
from studio.core.tools.openapi.serialization import ArgumentError
from studio.core.tools.openapi.source import OpenApiSource, check_address
from tests.support.serving import serving

BASE = "http://api.test/v1"
NO_KEY = Credential("header", "Authorization", "Bearer ")
EACH_PLACE: dict[str, Any] = {
    "openapi": "3.1.0",
    "paths": {
        "/repos/{owner}/{repo}/topics": {
            "delete": {
                "operationId": "clear",
                "parameters": [
                    {"name": "owner", "in": "path", "schema": {}},
                    {"name": "repo", "in": "path", "schema": {}},
                    {"name": "q", "in": "query", "schema": {}},
                    {"name": "X-Why", "in": "header", "schema": {}},
                    {"name": "session", "in": "cookie", "schema": {}},
                ],
                "requestBody": {"content": {"application/json": {"schema": {}}}},
            }
        },
    },
}
PLACES = re.compile(r"/v1/repos/(?P<owner>[^/]+)/(?P<repo>[^/]+)/topics")

pieces = st.sampled_from(
    [".", "..", "/", "\\", "%2e", "%2F", "%", ";", "?", "#", "&", "=", " ", "\r\n", "\0", "é", "a"]
)
texts = st.one_of(st.text(max_size=20), st.lists(pieces, max_size=8).map("".join))
scalars = st.one_of(texts, st.none(), st.booleans(), st.integers(), st.floats())
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=5,
)


def operation(data: JsonObject = EACH_PLACE) -> Operation:
    return read_description(data, "x").operations[0]


def of_path(path: str, **parameters: Any) -> Operation:
    names = re.findall(r"\{([^{}]+)\}", path)
    listed = [{"name": name, "in": "path", "schema": {}} for name in names]
    get = {"operationId": "get", "parameters": listed, **parameters}
    return operation({"openapi": "3.0.0", "paths": {path: {"get": get}}})


def plain(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@settings(max_examples=600)
@given(
    st.fixed_dictionaries(
        {"owner": values, "repo": values},
        optional={
            "q": values,
            "X-Why": values,
            "session": values,
            "body": values,
        },
    )
)
def test_any_argument_stays_in_its_place_or_is_refused(arguments: dict[str, Json]) -> None:
    try:
        request = build_request(operation(), arguments, BASE)
    except ArgumentError:
        return
    sent = httpx2.URL(request.url)
    assert str(sent) == request.url
    path, _, query = sent.raw_path.decode().partition("?")
    match = PLACES.fullmatch(path)
    assert match is not None, path
    for name in ("owner", "repo"):
        assert unquote(match[name]) == plain(arguments[name])
        assert not {".", ".."} & set(re.split(r"[/\\]", unquote(match[name])))
    found = parse_qsl(query, keep_blank_values=True)
    given_query = arguments.get("q")
    if given_query is None:
        assert found == []
    elif isinstance(given_query, list):
        assert found == [("q", plain(item)) for item in given_query]
    else:
        assert found == [("q", plain(given_query))]
    expected = {"Host", "Accept", "User-Agent"}
    expected |= {"X-Why"} if arguments.get("X-Why") is not None else set()
    expected |= {"Cookie"} if arguments.get("session") is not None else set()
    expected |= {"Content-Type", "Content-Length"} if "body" in arguments else set()
    assert set(request.headers) == expected
    assert not any(re.search(r"[\x00-\x08\x0a-\x1f\x7f]", v) for v in request.headers.values())
    if "Cookie" in expected:
        name, _, value = request.headers["Cookie"].partition("=")
        assert (name, unquote(value)) == ("session", plain(arguments["session"]))
        assert not set(value) & set(';, "\\')
    if "body" in arguments:
        assert json.loads(request.body) == arguments["body"]


@pytest.mark.parametrize(
    "value",
    [
        "",
        " ",
        ".",
        "..",
        "../admin",
        "a/../b",
        "..\\admin",
        "%2e%2e",
        "%252e%252e/x",
        ".%2e",
        "..;",
        "a/..;x=1/b",
        "..\0",
        " ..",
        "%" + "25" * 12 + "2e",
        None,
        "\ud800",
    ],
)
def test_a_value_that_leads_elsewhere_is_refused(value: str | None) -> None:
    with pytest.raises(ArgumentError):
        build_request(of_path("/dot/{p}"), {"p": value}, BASE)


@pytest.mark.parametrize(
    ("path", "arguments", "sent"),
    [
        ("/dot/{p}", {"p": "docs/read me.md"}, "/v1/dot/docs%2Fread%20me.md"),
        ("/dot/{p}", {"p": "..."}, "/v1/dot/..."),
        ("/dot/{p}", {"p": "v1.2"}, "/v1/dot/v1.2"),
        ("/dot/{p}", {"p": "50%"}, "/v1/dot/50%25"),
        ("/dot/{p}", {"p": 0}, "/v1/dot/0"),
        ("/dot/{p}", {"p": "{q}"}, "/v1/dot/%7Bq%7D"),
        ("/{p}.{q}", {"p": "a", "q": "json"}, "/v1/a.json"),
        ("/straße/{p}/", {"p": "é"}, "/v1/stra%C3%9Fe/%C3%A9/"),
        ("/", {}, "/v1/"),
        ("/?Action=Go#Go", {}, "/v1/?Action=Go"),
        ("/x?id={p}", {"p": "a&b=c"}, "/v1/x?id=a%26b%3Dc"),
    ],
)
def test_values_that_stay_are_sent(path: str, arguments: JsonObject, sent: str) -> None:
    request = build_request(of_path(path), arguments, BASE)
    assert request.url == f"http://api.test{sent}"
    assert str(httpx2.URL(request.url)) == request.url


def test_two_values_of_one_segment_are_looked_at_together() -> None:
    with pytest.raises(ArgumentError, match="another operation"):
        build_request(of_path("/{p}{q}"), {"p": ".", "q": "."}, BASE)
    with pytest.raises(ArgumentError, match="another operation"):
        build_request(of_path("/.{p}"), {"p": "."}, BASE)


def test_the_keys_place_is_no_argument() -> None:
    listed = [
        {"name": "x-key", "in": "header", "schema": {}},
        {"name": "key", "in": "query", "schema": {}},
        {"name": "key2", "in": "cookie", "schema": {}},
    ]
    made = of_path("/a", parameters=listed)
    arguments = {"x-key": "mine", "key": "mine", "key2": "mine"}
    header = build_request(made, arguments, BASE, (Credential("header", "X-Key"), "k"))
    assert [value for name, value in header.headers.items() if name.lower() == "x-key"] == ["k"]
    query = build_request(made, arguments, BASE, (Credential("query", "key"), "k&l"))
    assert query.url.endswith("/a?key=k%26l")
    cookie = build_request(made, arguments, BASE, (Credential("cookie", "key2"), "k;l"))
    assert cookie.headers["Cookie"] == "key2=k%3Bl"
    assert "mine" in build_request(made, arguments, BASE).url


def test_headers_that_say_where_a_request_ends_are_no_arguments() -> None:
    names = ["Host", "content-length", "Transfer-Encoding", "Cookie", "Authorization", "Accept"]
    listed = [{"name": name, "in": "header", "schema": {}} for name in [*names, "X-Own"]]
    made = of_path("/a", parameters=listed)
    assert list(made.spec.parameters["properties"]) == ["X-Own"]  # type: ignore[arg-type]
    arguments = dict.fromkeys(names, "evil.test")
    request = build_request(made, arguments, BASE)
    assert "evil.test" not in request.text()


@pytest.mark.parametrize("place", ["header", "cookie"])
def test_a_name_that_cannot_be_sent_is_said(place: str) -> None:
    made = of_path("/a", parameters=[{"name": "a: b\r\nc", "in": place, "schema": {}}])
    with pytest.raises(OpenApiError, match="cannot be sent"):
        build_request(made, {"a: b\r\nc": "1"}, BASE)


def test_a_body_that_is_no_json_is_refused() -> None:
    arguments: dict[str, Json] = {"owner": "a", "repo": "b", "body": {"x": float("nan")}}
    with pytest.raises(ArgumentError, match="not JSON"):
        build_request(operation(), arguments, BASE)


def test_a_servers_own_query_and_user_are_kept_apart() -> None:
    made = of_path("/pets/{p}", parameters=[{"name": "p", "in": "path", "schema": {}}])
    base = "https://me:pass%20word@api.test:443/v1/?tenant=7"
    request = build_request(made, {"p": "1"}, base)
    assert urlsplit(request.url).netloc == "api.test:443"
    assert urlsplit(request.url).path == "/v1/pets/1"
    assert urlsplit(request.url).query == "tenant=7"
    assert request.headers["Host"] == "api.test"
    assert request.headers["Authorization"] == "Basic bWU6cGFzcyB3b3Jk"
    shown = masked_request(made, {"p": "1"}, base).text()
    assert f"Authorization: Basic {MASK}" in shown
    assert "pass" not in shown
    assert "bWU6" not in shown


@asynccontextmanager
async def listening(answer: bytes = b"{}") -> AsyncIterator[tuple[str, list[bytes]]]:
    """A server that keeps each request as it came, byte for byte."""
    heard: list[bytes] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
        body = await reader.readexactly(int(length[1])) if length else b""
        heard.append(head + body)
        size = str(len(answer)).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: " + size + b"\r\n\r\n" + answer)
        await writer.drain()
        writer.close()

    async with serving(handle) as port:
        yield f"http://127.0.0.1:{port}", heard


def on_the_wire(shown: str, key: str) -> bytes:
    """The bytes that a shown request stands for."""
    head, _, body = shown.replace(MASK, key).partition("\n\n")
    first, *rest = head.split("\n")
    method, _, url = first.partition(" ")
    parts = urlsplit(url)
    target = f"{parts.path}?{parts.query}" if parts.query else parts.path
    lines = [f"{method} {target} HTTP/1.1", *rest, "", body]
    return "\r\n".join(lines).encode()


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("described") / "api.json"


@settings(max_examples=40)
@given(
    st.fixed_dictionaries(
        {"owner": texts, "repo": texts},
        optional={
            "q": values,
            "X-Why": values,
            "session": values,
            "body": values,
        },
    ),
    st.sampled_from(
        [
            Credential("header", "Authorization", "Bearer "),
            Credential("query", "api_key"),
            Credential("cookie", "sid"),
        ]
    ),
)
def test_what_is_shown_is_what_is_sent(
    described: Path, arguments: dict[str, Json], credential: Credential
) -> None:
    data = {**EACH_PLACE, "components": {"securitySchemes": {"k": _scheme(credential)}}}
    described.write_text(json.dumps(data), encoding="utf-8")
    key = "key0123456789"

    async def check() -> None:
        async with listening() as (endpoint, heard):
            source = OpenApiSource("x", described, {"endpoint": endpoint, "apiKey": key})
            outcome = await source.call("clear", arguments)
            if outcome.status == "bad-arguments":
                assert heard == []
                return
            assert outcome.status == "ok", outcome.text
            shown = await source.request_text("clear", arguments)
            assert key not in shown
            assert heard == [on_the_wire(shown, key)]

    asyncio.run(check())


def _scheme(credential: Credential) -> JsonObject:
    if credential.prefix:
        return {"type": "http", "scheme": "bearer"}
    return {"type": "apiKey", "in": credential.place, "name": credential.name}


async def test_a_refused_call_sends_nothing(tmp_path: Path) -> None:
    place = tmp_path / "api.json"
    place.write_text(json.dumps(EACH_PLACE), encoding="utf-8")
    async with listening() as (endpoint, heard):
        source = OpenApiSource("x", place, {"endpoint": endpoint, "apiKey": "k"})
        outcome = await source.call("clear", {"owner": "..", "repo": "admin"})
        assert outcome.status == "bad-arguments"
        assert "another operation" in outcome.text
        long = await source.call("clear", {"owner": "a" * 70_000, "repo": "b"})
        assert long.status == "error"
        assert "too long" in long.text
        assert heard == []


@pytest.mark.parametrize(
    "address",
    ["http://EXAMPLE.org/a", "http://h/a b", "http://h/../a", "http://h:80/a", "http://h/ä"],
)
async def test_an_address_that_the_client_would_change_is_refused(address: str) -> None:
    await check_address(get_request("http://example.org/a%20b?c=d"))
    with pytest.raises(OpenApiError, match="would be sent as"):
        await check_address(get_request(address))
