"""How arguments are written into a request: the tables of OpenAPI 3.1 §4.8.12 and of RFC 6570."""

from __future__ import annotations

import json
from email import message_from_bytes
from typing import Any

import pytest

from studio.core.text.values import Json, JsonObject
from studio.core.tools.openapi.description import read_description
from studio.core.tools.openapi.request import HttpRequest, build_request
from studio.core.tools.openapi.schemas import (
    ANY,
    Credential,
    OpenApiError,
    Operation,
    credentials_for,
)
from studio.core.tools.openapi.serialization import ArgumentError

BASE = "http://api.invalid"
LIST, OBJECT = {"type": "array", "items": {}}, {"type": "object"}
COLORS: JsonObject = {"R": 100, "G": 200}


def operation(path: str = "/a", method: str = "get", **parts: Any) -> Operation:
    data = {"openapi": "3.1.0", "paths": {path: {method: parts}}}
    return read_description(data, "x").operations[0]


def parameter(place: str, schema: JsonObject, **more: Any) -> dict[str, Any]:
    return {"name": "color", "in": place, "schema": schema, **more}


@pytest.mark.parametrize(
    ("style", "explode", "value", "sent"),
    [
        ("simple", False, "blue", "/blue"),
        ("simple", False, ["blue", "b/k"], "/blue,b%2Fk"),
        ("simple", False, COLORS, "/R,100,G,200"),
        ("simple", True, COLORS, "/R=100,G=200"),
        ("label", False, "blue", "/.blue"),
        ("label", False, ["blue", "black"], "/.blue,black"),
        ("label", True, ["blue", "black"], "/.blue.black"),
        ("label", True, COLORS, "/.R=100.G=200"),
        ("matrix", False, "blue", "/;color=blue"),
        ("matrix", False, ["blue", "black"], "/;color=blue,black"),
        ("matrix", True, ["blue", "black"], "/;color=blue;color=black"),
        ("matrix", False, COLORS, "/;color=R,100,G,200"),
        ("matrix", True, COLORS, "/;R=100;G=200"),
    ],
)
def test_styles_of_the_path(style: str, explode: bool, value: Json, sent: str) -> None:
    schema = LIST if isinstance(value, list) else OBJECT if isinstance(value, dict) else {}
    made = operation(
        "/{color}", parameters=[parameter("path", schema, style=style, explode=explode)]
    )
    assert build_request(made, {"color": value}, BASE).url == BASE + sent


@pytest.mark.parametrize(
    ("style", "explode", "value", "sent"),
    [
        ("form", True, ["blue", "b&k"], "color=blue&color=b%26k"),
        ("form", False, ["blue", "b,k"], "color=blue,b%2Ck"),
        ("form", True, COLORS, "R=100&G=200"),
        ("form", False, COLORS, "color=R,100,G,200"),
        ("spaceDelimited", False, ["blue", "black"], "color=blue%20black"),
        ("pipeDelimited", False, ["blue", "black"], "color=blue%7Cblack"),
        ("deepObject", True, COLORS, "color[R]=100&color[G]=200"),
        ("deepObject", True, {"a": {"b": [1, 2]}}, "color[a][b][]=1&color[a][b][]=2"),
    ],
)
def test_styles_of_the_query(style: str, explode: bool, value: Json, sent: str) -> None:
    schema = LIST if isinstance(value, list) else OBJECT
    made = operation(parameters=[parameter("query", schema, style=style, explode=explode)])
    assert build_request(made, {"color": value}, BASE).url == f"{BASE}/a?{sent}"


def test_the_rest_of_the_query() -> None:
    reserved = operation(parameters=[parameter("query", {}, allowReserved=True)])
    assert build_request(reserved, {"color": "a/b?c&d#e"}, BASE).url == (
        f"{BASE}/a?color=a/b?c%26d%23e"
    )
    content = {"name": "color", "in": "query", "content": {"application/json": {"schema": OBJECT}}}
    made = operation(parameters=[content])
    assert build_request(made, {"color": COLORS}, BASE).url == (
        f"{BASE}/a?color=%7B%22R%22%3A+100%2C+%22G%22%3A+200%7D"
    )


def test_lists_and_objects_in_headers_and_cookies() -> None:
    header = operation(parameters=[parameter("header", LIST)])
    assert build_request(header, {"color": ["a", "b"]}, BASE).headers["color"] == "a,b"
    exploded = operation(parameters=[parameter("header", OBJECT, explode=True)])
    assert build_request(exploded, {"color": COLORS}, BASE).headers["color"] == "R=100,G=200"
    cookie = operation(parameters=[parameter("cookie", LIST, explode=False)])
    sent = build_request(cookie, {"color": ["a;b", "c"]}, BASE).headers["Cookie"]
    assert sent == "color=a%3Bb,c"


def test_an_object_of_the_models_takes_no_other_parameters_place() -> None:
    both = [parameter("query", OBJECT), {"name": "page", "in": "query", "schema": {}}]
    made = operation(parameters=both)
    with pytest.raises(ArgumentError, match="'page', which is the name of another"):
        build_request(made, {"color": {"page": 9}}, BASE)
    key = (Credential("query", "api_key"), "k")
    with pytest.raises(ArgumentError, match="'api_key'"):
        build_request(made, {"color": {"api_key": "mine"}}, BASE, key)


def test_one_name_in_two_places_is_two_arguments() -> None:
    listed = [
        {"name": "id", "in": "query", "schema": {}},
        {"name": "id", "in": "path"},
        {"name": "body", "in": "query", "schema": {}},
    ]
    made = operation("/{id}", "post", parameters=listed, requestBody={"content": {}})
    assert set(made.spec.parameters["properties"]) == {"id", "id_query", "body_query", "body"}  # type: ignore[arg-type]
    arguments: JsonObject = {"id": "p", "id_query": "q", "body_query": "b", "body": {"x": 1}}
    request = build_request(made, arguments, BASE)
    assert request.url == f"{BASE}/p?id=q&body=b"
    assert json.loads(request.body) == {"x": 1}


def body_of(kind: str, schema: JsonObject, value: Json, **encoding: Any) -> HttpRequest:
    content = {kind: {"schema": schema, "encoding": encoding}}
    made = operation(method="post", requestBody={"content": content})
    return build_request(made, {"body": value}, BASE)


def test_forms() -> None:
    form = "application/x-www-form-urlencoded"
    fields: JsonObject = {"properties": {"tags": LIST, "meta": OBJECT}}
    value: Json = {"name": "a b&c", "tags": ["x", "y"], "meta": {"k": "v"}, "gone": None}
    sent = body_of(form, fields, value)
    assert sent.headers["Content-Type"] == form
    assert sent.body == "name=a+b%26c&tags=x&tags=y&meta=%7B%22k%22%3A+%22v%22%7D"
    stripe = body_of(
        form,
        fields,
        {"items": [{"price": "p", "n": 1}], "expand": ["a", "b"]},
        items={"style": "deepObject", "explode": True},
        expand={"style": "deepObject", "explode": True},
    )
    assert stripe.body == "items[0][price]=p&items[0][n]=1&expand[]=a&expand[]=b"
    with pytest.raises(ArgumentError, match="an object of its fields"):
        body_of(form, fields, "raw")


def test_parts() -> None:
    fields: JsonObject = {"properties": {"file": {"type": "string", "format": "binary"}}}
    value: Json = {"file": "päyload\r\n--x", "meta": {"k": 1}, "tags": ["a", "b"], 'q"\r\n': "1"}
    request = body_of("multipart/form-data", fields, value)
    kind = request.headers["Content-Type"]
    assert kind.startswith("multipart/form-data; boundary=")
    parsed = message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + request.body.encode())
    parts = parsed.get_payload()
    assert isinstance(parts, list)
    found = [
        (
            part.get_param("name", header="content-disposition"),
            part.get_content_type(),
            part.get_payload(decode=True).decode(),
        )
        for part in parts
    ]  # type: ignore[union-attr]
    assert found == [
        ("file", "application/octet-stream", "päyload\r\n--x"),
        ("meta", "application/json", '{"k": 1}'),
        ("tags", "text/plain", "a"),
        ("tags", "text/plain", "b"),
        ("q___", "text/plain", "1"),
    ]
    assert request == body_of("multipart/form-data", fields, value)


def test_xml_is_a_text() -> None:
    assert body_of("application/xml", OBJECT, "<a/>").body == "<a/>"
    with pytest.raises(ArgumentError, match="write the XML itself"):
        body_of("application/xml", OBJECT, {"a": 1})
    both = {"application/xml": {}, "application/json": {}}
    assert (
        operation(method="post", requestBody={"content": both}).content_type == "application/json"
    )


SCHEMES: JsonObject = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "key": {"type": "apiKey", "in": "query", "name": "api_key"},
    "app": {"type": "apiKey", "in": "header", "name": "X-App"},
    "oauth": {"type": "oauth2", "flows": {}},
    "tls": {"type": "mutualTLS"},
}


@pytest.mark.parametrize(
    ("whole", "own", "keys", "sent"),
    [
        (None, None, {ANY}, ["Authorization"]),
        ([{"key": []}], None, {ANY}, ["api_key"]),
        ([{"bearer": []}], [{"key": []}], {ANY}, ["api_key"]),
        ([{"bearer": []}], [], {ANY}, []),
        ([{"key": [], "app": []}], None, {"key", "app"}, ["api_key", "X-App"]),
        ([{"key": []}, {"app": []}], None, {"app"}, ["X-App"]),
        ([{}, {"app": []}], None, {ANY}, ["X-App"]),
        ([{}, {"app": []}], None, set(), []),
        ([{"tls": []}, {"oauth": ["read"]}], None, {ANY}, ["Authorization"]),
        ([{"unknown": []}], None, {ANY}, []),
    ],
)
def test_security_is_of_the_operation(
    whole: Json, own: Json, keys: set[str], sent: list[str]
) -> None:
    data: dict[str, Any] = {
        "openapi": "3.0.0",
        "paths": {"/a": {"get": {}}},
        "components": {"securitySchemes": SCHEMES},
    }
    if whole is not None:
        data["security"] = whole
    if own is not None:
        data["paths"]["/a"]["get"]["security"] = own
    found = read_description(data, "x")
    made = credentials_for(found, found.operations[0], keys)
    assert [credential.name for _, credential in made] == sent


def test_half_of_the_keys_that_belong_together_is_refused() -> None:
    data: JsonObject = {
        "openapi": "3.0.0",
        "security": [{"key": [], "app": []}],
        "paths": {"/a": {"get": {}}},
        "components": {"securitySchemes": SCHEMES},
    }
    found = read_description(data, "x")
    with pytest.raises(OpenApiError, match=r"needs key and app together, .* no key for app"):
        credentials_for(found, found.operations[0], {"key"})
    assert credentials_for(found, found.operations[0], set()) == ()
