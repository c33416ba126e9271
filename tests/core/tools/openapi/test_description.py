"""Descriptions of HTTP services as tools, against a real server on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from studio import __version__
from studio.core.text.values import Json, JsonObject
from studio.core.tools.document_tools import ToolSession
from studio.core.tools.openapi.credentials import FindConnection, NamedConnection, address_for
from studio.core.tools.openapi.description import read_description
from studio.core.tools.openapi.request import build_request, masked_request
from studio.core.tools.openapi.schemas import Credential, OpenApiError
from studio.core.tools.openapi.source import OpenApiSource
from studio.core.tools.source import ToolLimits, ToolSourceError
from studio.core.tools.trust.store import TrustStore
from tests.core.tools.conftest import WritePrompt
from tests.support.tool_ids import tool_id

PETS = {
    "openapi": "3.0.3",
    "info": {"title": "Pets"},
    "servers": [{"url": "http://pets.invalid/v1"}],
    "security": [{"key": []}],
    "paths": {
        "/pets/{id}": {
            "parameters": [{"$ref": "#/components/parameters/Id"}],
            "get": {
                "operationId": "getPet",
                "summary": "One pet.",
                "parameters": [
                    {"name": "fields", "in": "query", "schema": {"type": "array"}},
                    {"name": "tags", "in": "query", "explode": False, "schema": {"type": "array"}},
                    {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
                ],
            },
            "delete": {},
        },
        "/pets": {
            "post": {
                "operationId": "add pet!",
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}
                    },
                },
            }
        },
    },
    "components": {
        "parameters": {
            "Id": {
                "name": "id",
                "in": "path",
                "description": "Number.",
                "schema": {"type": "string"},
            }
        },
        "schemas": {
            "Pet": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "nullable": True},
                    "mother": {"$ref": "#/components/schemas/Pet"},
                },
            },
            "Unused": {"type": "string"},
        },
        "securitySchemes": {
            "other": {"type": "http", "scheme": "bearer"},
            "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
        },
    },
}


def test_operations_become_tools() -> None:
    found = read_description(PETS, "openapi: pets")
    get, delete, add = found.operations
    assert [item.spec.name for item in found.operations] == ["getPet", "delete_pets_id", "add_pet"]
    assert get.spec.description == "One pet."
    assert get.spec.parameters["required"] == ["id"]
    properties: Any = get.spec.parameters["properties"]
    assert properties["id"] == {"type": "string", "description": "Number."}
    assert not get.spec.has_effects
    assert delete.spec.has_effects
    assert add.spec.parameters["required"] == ["body"]
    body: Any = add.spec.parameters["properties"]
    assert body["body"]["properties"]["name"]["type"] == ["string", "null"]
    assert body["body"]["properties"]["mother"] == {"$ref": "#/$defs/Pet"}
    assert list(add.spec.parameters["$defs"]) == ["Pet"]  # type: ignore[arg-type]
    assert found.credential == Credential("header", "X-Key")


@pytest.mark.parametrize("data", [None, [], {}, {"swagger": "2.0"}, {"openapi": "3.1.0"}])
def test_what_is_no_description_is_refused(data: Json) -> None:
    with pytest.raises(OpenApiError):
        read_description(data, "x")


@pytest.mark.parametrize(
    "damage",
    [
        {"paths": {"/a": {"get": {"parameters": [{"$ref": "#/nowhere"}, 3, {"name": 5}]}}}},
        {"paths": {"/a": {"post": {"requestBody": {"content": []}}}}},
        {"paths": {"/a": {"get": {}}}, "servers": {}, "security": 3, "components": []},
        {"paths": {"/a": {"$ref": "#/paths/~1a"}, "/b": {"get": {}}}},
    ],
)
def test_damaged_descriptions_give_what_there_is(damage: JsonObject) -> None:
    assert read_description({"openapi": "3.1.0", **damage}, "x").operations


def test_definitions_that_would_explode_are_kept_as_references() -> None:
    schemas: dict[str, Any] = {
        f"S{n}": {
            "properties": {
                "a": {"$ref": f"#/components/schemas/S{n + 1}"},
                "b": {"$ref": f"#/components/schemas/S{n + 1}"},
            }
        }
        for n in range(40)
    }
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}}
    data = {
        "openapi": "3.1.0",
        "paths": {"/a": {"post": {"requestBody": body}}},
        "components": {"schemas": schemas},
    }
    (operation,) = read_description(data, "x").operations
    assert "S39" in json.dumps(operation.spec.parameters)


def test_the_request_of_a_call() -> None:
    found = read_description(PETS, "x")
    arguments = {"id": "a/b ?", "fields": ["x", "y"], "tags": [1, 2], "X-Trace": "t\r\nEvil: 1"}
    request = build_request(found.operations[0], arguments, found.server, (found.credential, "k3y"))
    assert request.method == "GET"
    assert request.url == ("http://pets.invalid/v1/pets/a%2Fb%20%3F?fields=x&fields=y&tags=1,2")
    assert {"X-Trace": "t Evil: 1", "X-Key": "k3y"}.items() <= request.headers.items()
    shown = masked_request(
        found.operations[2], {"body": {"name": "é"}}, found.server, found.credential
    ).text()
    assert shown == (
        "POST http://pets.invalid/v1/pets\nHost: pets.invalid\nAccept: */*\n"
        f"User-Agent: prompt-studio/{__version__}\nX-Key: •••\n"
        'Content-Type: application/json\nContent-Length: 14\n\n{"name": "é"}'
    )


def test_a_path_parameter_is_needed_and_a_server_too() -> None:
    found = read_description(PETS, "x")
    with pytest.raises(OpenApiError, match="'id' has no value"):
        build_request(found.operations[0], {}, found.server)
    with pytest.raises(OpenApiError, match="endpoint"):
        build_request(found.operations[0], {"id": "1"}, "/v1")


class Service(BaseHTTPRequestHandler):
    """Tells what it was asked."""

    def do_GET(self) -> None:
        if self.path.startswith("/pets/huge"):
            return self._answer(200, "x" * 1_000_000)
        if self.path.startswith("/pets/none"):
            return self._answer(404, "no such pet")
        if self.path.startswith("/pets/picture"):
            return self._answer(200, "PNG", **{"Content-Type": "image/png", "Set-Cookie": "a=b"})
        if self.path.startswith("/pets/moved"):
            return self._answer(302, "", Location="http://elsewhere.invalid/")
        key = self.headers.get("X-Key") or ""  # also backwards: that is not masked
        return self._answer(200, json.dumps({"path": self.path, "key": key, "yek": key[::-1]}))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(201, body.decode())

    def _answer(self, status: int, text: str, **headers: str) -> None:
        data = text.encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def endpoint() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def description(tmp_path: Path) -> Path:
    path = tmp_path / "pets.json"
    path.write_text(json.dumps(PETS), encoding="utf-8")
    return path


async def test_calls_reach_the_service(
    description: Path, endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PETS_KEY", "s3cret")
    connection = {"endpoint": endpoint, "apiKey": "${env:PETS_KEY}"}
    source = OpenApiSource("pets", description, connection, ToolLimits(characters=1000))
    assert len(await source.list_tools()) == 3
    outcome = await source.call("getPet", {"id": "7"})
    assert outcome.status == "ok"
    assert outcome.value == {"path": "/pets/7", "key": "${env:PETS_KEY}", "yek": "terc3s"}
    assert (await source.call("add_pet", {"body": {"name": "Rex"}})).value == {"name": "Rex"}
    missing = await source.call("getPet", {"id": "none"})
    assert (missing.status, missing.text) == ("error", "HTTP 404 Not Found: no such pet")
    huge = await source.call("getPet", {"id": "huge"})
    assert huge.truncated
    assert len(huge.text) < 1200
    moved = await source.call("getPet", {"id": "moved"})
    assert moved.text.startswith("HTTP 302 Found to http://elsewhere.invalid/, which is not")
    drawn = await source.call("getPet", {"id": "picture"})
    assert (drawn.text, drawn.pictures[0].data) == ("[image/png, 3 bytes]", "UE5H")
    assert drawn.head.startswith("HTTP 200 OK\n")
    assert "\nset-cookie: •••" in drawn.head.lower()
    *_, sent, received = source.traffic.messages
    assert (sent.title, received.title) == (f"GET {endpoint}/pets/picture", "HTTP 200 OK")
    assert (received.size, "s3cret" in sent.text + sent.curl) == (3, False)
    assert received.seconds is not None
    assert sent.curl.startswith(f"curl -X GET {endpoint}/pets/picture -H ")
    shown = await source.request_text("getPet", {"id": "7"})
    assert shown.startswith(f"GET {endpoint}/pets/7\nHost: {endpoint.removeprefix('http://')}\n")
    assert shown.endswith("\nX-Key: •••")
    assert (await source.call("nothing", {})).status == "unknown-tool"


async def test_what_goes_wrong_is_an_outcome(description: Path) -> None:
    source = OpenApiSource("pets", description, {"endpoint": "http://127.0.0.1:9"})
    assert "cannot be reached" in (await source.call("getPet", {"id": "1"})).text
    unset = OpenApiSource("pets", description, {"apiKey": "${env:NOT_SET_ANYWHERE}"})
    assert "NOT_SET_ANYWHERE" in (await unset.call("getPet", {"id": "1"})).text
    gone = OpenApiSource("pets", description.with_name("none.json"), {})
    with pytest.raises(ToolSourceError, match=r"none\.json"):
        await gone.list_tools()


async def test_yaml_and_url_descriptions(tmp_path: Path, endpoint: str) -> None:
    path = tmp_path / "api.yaml"
    path.write_text(
        "openapi: 3.1.0\npaths:\n  /now:\n    get: {operationId: now}\n", encoding="utf-8"
    )
    assert [spec.name for spec in await OpenApiSource("a", path, {}).list_tools()] == ["now"]
    path.write_text("openapi: 3.1.0\npaths: {/b: {get: {operationId: other}}}", encoding="utf-8")
    web = OpenApiSource("a", f"{endpoint}/api", {})
    with pytest.raises(ToolSourceError, match="not an OpenAPI description"):
        await web.list_tools()


async def test_a_document_names_a_description(
    description: Path, endpoint: str, prompt: WritePrompt, tmp_path: Path
) -> None:
    document = prompt(
        f"""
        name: agent
        tools:
          - name: pets
            kind: openapi
            specification: pets.json
            connection: {{kind: key, endpoint: "{endpoint}", apiKey: abc}}
        """
    )
    TrustStore().trust(tmp_path)
    session = ToolSession(TrustStore())
    registry = await session.load(document)
    assert [(entry.name, entry.approval) for entry in registry.entries] == [
        ("getPet", "allow"),
        ("delete_pets_id", "once"),
        ("add_pet", "once"),
    ]
    assert "/pets/7" in await session.request_text(tool_id(session.registry, "getPet"), {"id": "7"})
    outcome = await session.current.toolbox().call("getPet", {"id": "7"})
    assert outcome.status == "ok"
    await session.close()


OFFICE = """
name: agent
tools:
  - name: pets
    kind: openapi
    specification: pets.json
    connection: {kind: reference, name: office}
"""


def office(address: str, key: str = "key-of-the-office") -> FindConnection:
    async def read_key() -> str:
        if not key:
            raise LookupError("the connection 'office' has no key: KEY is not set")
        return key

    made = NamedConnection(address, True, read_key)
    return lambda name: made if name == "office" else None


async def test_a_connection_that_is_not_set_up_is_said_to_send_no_key(
    description: Path, prompt: WritePrompt, tmp_path: Path
) -> None:
    TrustStore().trust(tmp_path)
    session = ToolSession(TrustStore())
    [status] = (await session.load(prompt(OFFICE))).sources
    assert status.state == "ready"
    assert "'office' is not configured here" in status.message
    await session.close()


async def test_a_named_connection_gives_address_and_key(
    description: Path, endpoint: str, prompt: WritePrompt, tmp_path: Path
) -> None:
    TrustStore().trust(tmp_path)
    session = ToolSession(TrustStore())
    session.find_connection = office(endpoint)
    registry = await session.load(prompt(OFFICE))
    assert registry.sources[0].message == ""
    shown = await session.request_text(tool_id(session.registry, "getPet"), {"id": "7"})
    assert shown.startswith(f"GET {endpoint}/pets/7")
    assert "key-of-the-office" not in shown
    assert "•••" in shown
    outcome = await session.current.toolbox().call("getPet", {"id": "7"})
    assert outcome.status == "ok"
    assert outcome.value == {
        "path": "/pets/7",
        "key": "${key:office}",
        "yek": "key-of-the-office"[::-1],
    }
    assert "key-of-the-office" not in outcome.text
    session.find_connection = office(endpoint, "")
    missing = await session.current.toolbox().call("getPet", {"id": "7"})
    assert missing.status == "error"
    assert "KEY is not set" in missing.text
    await session.close()


async def test_a_connections_key_goes_to_no_server_that_the_file_chose(
    description: Path, endpoint: str, prompt: WritePrompt, tmp_path: Path
) -> None:
    other = OFFICE.replace("name: office}", f'name: office, endpoint: "{endpoint}"}}')
    TrustStore().trust(tmp_path)
    session = ToolSession(TrustStore())
    session.find_connection = office("https://api.example.test/v1")
    await session.load(prompt(other))
    outcome = await session.current.toolbox().call("getPet", {"id": "7"})
    assert outcome.status == "error"
    assert "gets no key" in outcome.text
    with pytest.raises(ToolSourceError, match="gets no key"):
        await session.request_text(tool_id(session.registry, "getPet"), {"id": "7"})
    await session.close()


@pytest.mark.parametrize(
    ("server", "goes_to"),
    [
        ("https://api.example.test/pets", "https://api.example.test/pets"),
        ("https://api.example.test:443/pets", "https://api.example.test:443/pets"),
        ("http://api.example.test/pets", "https://api.example.test/v1"),
        ("https://evil.test", "https://api.example.test/v1"),
        ("https://api.example.test@evil.test", "https://api.example.test/v1"),
        ("https://api.example.test:8443", "https://api.example.test/v1"),
        ("/v2", "https://api.example.test/v1"),
        ("", "https://api.example.test/v1"),
    ],
)
def test_a_description_leads_a_connections_key_nowhere_else(server: str, goes_to: str) -> None:
    found = office("https://api.example.test/v1")("office")
    assert found is not None
    assert address_for(found, "", server) == goes_to
