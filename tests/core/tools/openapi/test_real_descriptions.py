"""Descriptions as they are met: Swagger 2, YAML, large, recursive, in several files; choosing."""

from __future__ import annotations

import json
import tracemalloc
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from studio.core.prompty.yaml.reader import YamlTextError, read_plain_yaml
from studio.core.text.values import Json, JsonObject
from studio.core.tools.document_tools import ToolSession
from studio.core.tools.openapi.description import read_description
from studio.core.tools.openapi.loading import (
    ALL_OPERATIONS,
    OperationChoice,
    chosen,
    load_description,
    read_choice,
)
from studio.core.tools.openapi.request import build_request, server_url
from studio.core.tools.openapi.schemas import Description, OpenApiError
from studio.core.tools.openapi.source import OpenApiSource
from studio.core.tools.source import ToolSourceError
from studio.core.tools.trust.store import TrustStore
from tests.core.tools.conftest import WritePrompt

SWAGGER: JsonObject = {
    "swagger": "2.0",
    "host": "pets.invalid",
    "basePath": "/v2",
    "schemes": ["http", "https"],
    "consumes": ["application/json"],
    "securityDefinitions": {
        "token": {"type": "apiKey", "in": "header", "name": "X-Key"},
        "login": {"type": "basic"},
    },
    "security": [{"token": []}],
    "parameters": {"Id": {"name": "id", "in": "path", "type": "integer", "required": True}},
    "paths": {
        "/pets/{id}": {
            "parameters": [{"$ref": "#/parameters/Id"}],
            "get": {
                "operationId": "getPet",
                "parameters": [
                    {"name": "tags", "in": "query", "type": "array", "collectionFormat": "multi"},
                    {"name": "pipes", "in": "query", "type": "array", "collectionFormat": "pipes"},
                    {"name": "csv", "in": "query", "type": "array"},
                ],
            },
            "post": {
                "operationId": "upload",
                "security": [{"login": []}],
                "parameters": [
                    {"name": "file", "in": "formData", "type": "file", "required": True},
                    {"name": "note", "in": "formData", "type": "string"},
                ],
            },
            "put": {
                "operationId": "putPet",
                "parameters": [
                    {
                        "name": "pet",
                        "in": "body",
                        "required": True,
                        "schema": {"$ref": "#/definitions/Pet"},
                    }
                ],
            },
        },
    },
    "definitions": {
        "Pet": {
            "type": "object",
            "required": ["id", "name"],
            "properties": {
                "id": {"type": "integer", "readOnly": True},
                "name": {"type": "string", "x-nullable": True, "example": "Rex"},
                "mother": {"$ref": "#/definitions/Pet"},
            },
        }
    },
}


def named(description: Description, name: str) -> Any:
    return next(each for each in description.operations if each.spec.name == name)


def test_swagger_2() -> None:
    found = read_description(SWAGGER, "x")
    assert found.server == "https://pets.invalid/v2"
    get = named(found, "getPet")
    arguments: JsonObject = {"id": 3, "tags": ["a", "b"], "pipes": ["c", "d"], "csv": ["e", "f"]}
    request = build_request(get, arguments, found.server, (found.credential, "k"))
    assert request.url == "https://pets.invalid/v2/pets/3?tags=a&tags=b&pipes=c%7Cd&csv=e,f"
    assert request.headers["X-Key"] == "k"
    upload = named(found, "upload")
    assert upload.content_type == "multipart/form-data"
    assert upload.security == (("login",),)
    body = upload.spec.parameters["properties"]["body"]
    assert body["required"] == ["file"]
    put = named(found, "putPet").spec.parameters
    assert put["required"] == ["id", "body"]
    assert put["properties"]["body"]["required"] == ["name"]
    assert put["properties"]["body"]["properties"] == {
        "name": {"type": "string"},
        "mother": {"$ref": "#/$defs/Pet"},
    }
    check(put, {"id": 1, "body": {"name": "Rex", "mother": {"name": "Lady"}}}, valid=True)
    check(put, {"id": 1, "body": {"name": "Rex", "mother": {"name": 5}}}, valid=False)


def check(schema: Json, value: Json, *, valid: bool) -> None:
    Draft202012Validator.check_schema(schema)  # type: ignore[arg-type]
    assert Draft202012Validator(schema).is_valid(value) is valid  # type: ignore[arg-type]


def of_body(schema: JsonObject, schemas: JsonObject, version: str = "3.0.3") -> JsonObject:
    content = {"application/json": {"schema": schema}}
    data: JsonObject = {
        "openapi": version,
        "paths": {"/a": {"post": {"requestBody": {"content": content}}}},
        "components": {"schemas": schemas},
    }
    return read_description(data, "x").operations[0].spec.parameters


def test_words_of_openapi_3_0_become_json_schema() -> None:
    schema: JsonObject = {
        "properties": {
            "n": {"type": "number", "minimum": 0, "exclusiveMinimum": True, "nullable": True},
            "e": {"type": "string", "enum": ["a"], "nullable": True},
            "r": {"allOf": [{"$ref": "#/components/schemas/R"}], "nullable": True},
            "example": {"type": "string", "example": "x", "xml": {"name": "y"}},
        }
    }
    made = of_body(schema, {"R": {"type": "object", "discriminator": {"propertyName": "k"}}})
    check(made, {"body": {"n": None, "e": None, "r": None, "example": "z"}}, valid=True)
    check(made, {"body": {"n": 0}}, valid=False)
    check(made, {"body": {"r": 5}}, valid=False)
    assert "discriminator" not in json.dumps(made)
    assert made["properties"]["body"]["properties"]["example"] == {"type": "string"}  # type: ignore[call-overload,index]


def test_definitions_that_lead_to_each_other_are_found_from_the_root() -> None:
    schemas: JsonObject = {
        "A": {"properties": {"b": {"$ref": "#/components/schemas/B"}}},
        "B": {"properties": {"a": {"$ref": "#/components/schemas/A"}, "n": {"type": "integer"}}},
    }
    made = of_body({"type": "array", "items": {"$ref": "#/components/schemas/A"}}, schemas)
    check(made, {"body": [{"b": {"a": {"b": {"n": 1}}}}]}, valid=True)
    check(made, {"body": [{"b": {"a": {"b": {"n": "x"}}}}]}, valid=False)


def test_what_is_shared_is_not_written_a_thousand_times() -> None:
    wide = {f"f{n}": {"type": "string", "description": "x" * 50} for n in range(200)}
    schemas: JsonObject = {"Wide": {"properties": wide}}
    many = {f"p{n}": {"$ref": "#/components/schemas/Wide"} for n in range(100)}
    made = of_body({"properties": many}, schemas)
    assert len(json.dumps(made)) < 40_000
    check(made, {"body": {"p7": {"f7": "x"}}}, valid=True)
    check(made, {"body": {"p7": {"f7": 7}}}, valid=False)


def test_what_stands_in_another_file_is_named() -> None:
    data: JsonObject = {
        "openapi": "3.1.0",
        "paths": {
            "/a": {
                "get": {
                    "parameters": [
                        {"name": "q", "in": "query", "schema": {"$ref": "other.yaml#/X"}},
                        {"name": "r", "in": "query", "schema": {"$ref": "#/nowhere"}},
                    ]
                }
            }
        },
    }
    found = read_description(data, "x")
    assert found.problems == (
        "GET /a: 'other.yaml#/X' is not followed: "
        "only files below the folder of a description are read",
        "GET /a: '#/nowhere' leads nowhere",
    )
    assert "$ref" not in json.dumps(found.operations[0].spec.parameters)


FILES = {
    "api/api.yaml": """
openapi: 3.0.0
paths:
  /pets/{id}: {$ref: paths/pet.yaml}
  /ships: {post: {$ref: "paths/ships.yaml#/make"}}
  /boats: {post: {$ref: paths/none.yaml}}
  /planes: {put: {requestBody: {$ref: ../outside.yaml}}}
  /linked: {get: {parameters: [{$ref: "linked.yaml#/Q"}]}}
components: {schemas: {Mark: {type: string, enum: [a]}}}
""",
    "api/paths/pet.yaml": """
parameters: [{$ref: "../shared/all.yaml#/Id"}]
get: {operationId: getPet}
put:
  operationId: putPet
  requestBody:
    content: {application/json: {schema: {$ref: ../shared/pet.yaml}}}
""",
    "api/paths/ships.yaml": """
make:
  operationId: makeShip
  requestBody: {$ref: "#/body"}
body:
  required: true
  content: {application/json: {schema: {properties: {$ref: "../shared/all.yaml#/Fields"}}}}
""",
    "api/shared/all.yaml": """
Id: {name: id, in: path, required: true, schema: {type: integer}}
Fields: {mark: {$ref: "../api.yaml#/components/schemas/Mark"}}
""",
    "api/shared/pet.yaml": "{properties: {name: {type: string}, mother: {$ref: pet.yaml}}}",
    "outside.yaml": "{content: {application/json: {schema: {type: string}}}}",
}


@pytest.fixture
def split(tmp_path: Path) -> Path:
    """A description in several files, one of them a link out of its folder."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "api" / "linked.yaml").symlink_to(tmp_path / "outside.yaml")
    return tmp_path / "api" / "api.yaml"


async def test_files_below_the_folder_are_followed(split: Path) -> None:
    source = OpenApiSource("a", split, {})
    specs = {spec.name: spec.parameters for spec in await source.list_tools()}
    assert [*specs] == ["getPet", "putPet", "makeShip", "get_linked"]
    check(specs["putPet"], {"id": 1, "body": {"mother": {"name": "Lady"}}}, valid=True)
    check(specs["putPet"], {"id": 1, "body": {"mother": {"name": 5}}}, valid=False)
    check(specs["makeShip"], {"body": {"mark": "b"}}, valid=False)
    assert source.problems == (
        "POST /boats: left out: 'paths/none.yaml#' is not followed: the file cannot be read: "
        "No such file or directory",
        "PUT /planes: left out: '../outside.yaml#' is not followed: "
        "it is outside of the description's folder",
        "GET /linked: 'linked.yaml#/Q' is not followed: it is outside of the description's folder",
    )
    (split.parent / "paths" / "pet.yaml").write_text("get: {operationId: other}", encoding="utf-8")
    assert (await source.list_tools())[0].name == "other"


def test_a_fetched_description_has_no_other_files() -> None:
    text = "openapi: 3.0.0\npaths: {/a: {get: {$ref: get.yaml}}}"
    with pytest.raises(OpenApiError, match=r"GET /a: left out: 'get\.yaml' is not followed"):
        load_description(text, "a", ALL_OPERATIONS, {})


def test_what_a_swagger_refers_to_is_followed(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(
        '{"post": {"parameters": [{"$ref": "two.json#/Pet"}, {"$ref": "two.json#/None"}]}}',
        encoding="utf-8",
    )
    (tmp_path / "two.json").write_text(
        '{"Pet": {"name": "pet", "in": "body", "schema": {"type": "string"}}}', encoding="utf-8"
    )
    text = '{"swagger": "2.0", "paths": {"/a": {"$ref": "one.json"}}}'
    found = load_description(text, "a", ALL_OPERATIONS, {}, path=tmp_path / "api.json")
    assert found.operations[0].spec.parameters["properties"] == {"body": {"type": "string"}}
    assert found.problems == ("POST /a: 'two.json#/None' leads nowhere",)


def test_what_openapi_3_2_adds() -> None:
    form = {"application/x-www-form-urlencoded": {"schema": {"type": "object"}}}
    data: JsonObject = {
        "openapi": "3.2.0",
        "paths": {
            "/a": {
                "query": {
                    "operationId": "ask",
                    "requestBody": {"content": {"text/plain": {}}},
                    "parameters": [
                        {"name": "q", "in": "querystring", "content": form},
                        {"name": "m", "in": "matrix", "schema": {}},
                    ],
                },
                "additionalOperations": {
                    "COPY": {
                        "operationId": "copy",
                        "parameters": [
                            {"name": "s", "in": "querystring", "content": {"application/json": {}}}
                        ],
                    },
                    "Move": {},
                },
            }
        },
    }
    found = read_description(data, "x")
    assert found.problems == (
        "the parameter 'm' is in 'matrix', which is unknown",
        "Move /a: left out, 'Move' is not a method in capitals",
    )
    ask, copy = found.operations
    assert (ask.spec.reads_only, copy.spec.has_effects) == (True, True)
    request = build_request(ask, {"q": {"a": "x y", "b": [1, 2]}, "body": "w"}, "http://a.invalid")
    assert (request.method, request.body) == ("QUERY", "w")
    assert request.url == "http://a.invalid/a?a=x+y&b=1&b=2"
    request = build_request(copy, {"s": {"a": 1}}, "http://a.invalid")
    assert (request.method, request.url) == ("COPY", "http://a.invalid/a?%7B%22a%22%3A%201%7D")


def test_arguments_are_closed_and_every_value_of_a_path_is_one() -> None:
    found = read_description({"openapi": "3.0.0", "paths": {"/a/{b}": {"get": {}}}}, "x")
    check(found.operations[0].spec.parameters, {"b": "x"}, valid=True)
    check(found.operations[0].spec.parameters, {"b": "x", "limitt": 1}, valid=False)


def test_servers_of_paths_and_operations_and_their_variables() -> None:
    variables = {"host": {"default": "a.invalid"}, "base": {"default": "v1"}}
    data: JsonObject = {
        "openapi": "3.1.0",
        "servers": [{"url": "https://{host}/{base}", "variables": variables}],
        "paths": {
            "/a": {"get": {}},
            "/b": {
                "servers": [{"url": "https://b.invalid"}],
                "get": {},
                "post": {"servers": [{"url": "https://c.invalid"}]},
            },
        },
    }
    found = read_description(data, "x", {"base": "v2"})
    places = [server_url(found, "", "", each) for each in found.operations]
    assert places == ["https://a.invalid/v2", "https://b.invalid", "https://c.invalid"]
    assert server_url(found, "http://mine", "", found.operations[1]) == "http://mine"


def test_a_port_that_is_none_is_said() -> None:
    made = read_description({"openapi": "3.1.0", "paths": {"/a": {"get": {}}}}, "x").operations[0]
    with pytest.raises(OpenApiError, match="is not an address"):
        build_request(made, {}, "http://host:{port}/x")


def test_summary_and_description_are_not_said_twice() -> None:
    def told(summary: str, description: str) -> str:
        get = {"summary": summary, "description": description}
        data = {"openapi": "3.1.0", "paths": {"/a": {"get": get}}}
        return read_description(data, "x").operations[0].spec.description

    assert told("Add a pet.", "Add a pet.") == "Add a pet."
    assert told("Add a pet", "Add a pet. It barks.") == "Add a pet. It barks."
    assert told("Add", "It barks.") == "Add\nIt barks."
    assert told("", "It barks.") == "It barks."


def large(operations: int) -> dict[str, Any]:
    """A description of many operations that share their definitions, as large APIs do."""
    fields = {
        f"field_{n}": {"type": "string", "description": "What it is. " * 4} for n in range(40)
    }
    schemas = {
        f"S{n}": {
            "type": "object",
            "properties": {
                **fields,
                "next": {"$ref": f"#/components/schemas/S{n // 4 * 4 + (n + 1) % 4}"},
            },
        }
        for n in range(200)
    }
    paths = {
        f"/things/{n}/{{id}}": {
            "post": {
                "operationId": f"things/make-{n}",
                "tags": [f"tag{n % 10}"],
                "parameters": [{"name": "id", "in": "path", "schema": {"type": "string"}}],
                "requestBody": {
                    "content": {
                        "application/json": {"schema": {"$ref": f"#/components/schemas/S{n % 200}"}}
                    }
                },
            }
        }
        for n in range(operations)
    }
    return {
        "openapi": "3.0.3",
        "servers": [{"url": "https://x.invalid"}],
        "paths": paths,
        "components": {"schemas": schemas},
    }


@cache
def whole() -> Description:
    return read_description(large(1_200), "x")


def test_a_large_description_is_read_whole_as_json_and_as_yaml() -> None:
    import yaml

    data = large(300)
    tracemalloc.start()
    try:
        first = load_description(json.dumps(data), "x", OperationChoice(), {})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100 * 1024**2
    text = yaml.dump(data, Dumper=yaml.CSafeDumper, sort_keys=False)
    second = load_description(text, "x", OperationChoice(), {})
    assert len(first.operations) == len(second.operations) == 300
    assert first == second


@pytest.mark.parametrize(
    ("written", "count"),
    [
        (None, 1_200),
        ([], 1_200),
        (["things/make-1?"], 10),
        ("POST /things/7/*", 1),
        ({"tags": ["tag3", "TAG4"]}, 240),
        ({"paths": ["/things/11?/*"]}, 10),
        ({"methods": ["POST"], "tags": "tag1", "ids": ["*-1", "*-11", "*-12"]}, 2),
    ],
)
def test_operations_are_chosen(written: Json, count: int) -> None:
    assert len(chosen(whole(), read_choice(written)).operations) == count


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ({"tag": ["a"]}, "has no 'tag'"),
        (5, "is a list of names"),
        ({"methods": ["fetch"]}, "not an HTTP method"),
        (["nothing"], "none of its 1 operations"),
    ],
)
def test_a_choice_that_fits_nothing_is_said(written: Json, said: str) -> None:
    with pytest.raises(OpenApiError, match=said):
        load_description(json.dumps(large(1)), "x", read_choice(written), {})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"openapi": "3.1.0",\n "paths": {,}}', r"not JSON: .* \(line 2, column 12\)"),
        ("openapi: 3.1.0\npaths: [\n", "not YAML: line 3"),
        ("[" * 100_000, "more than 200 levels"),
        ("a: &a [*b]", "there is no anchor 'b'"),
        ("a: &a\n  b: *a\n", "there is no anchor 'a'"),
        (
            "&a a: 1\n"
            + "".join(
                f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]\n" if n else "l0: &l0 [x]\n"
                for n in range(12)
            ),
            "more than 10,000,000 values",
        ),
        ("just words", "its root is not an object"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(text: str, said: str) -> None:
    with pytest.raises(OpenApiError, match=said):
        load_description(text, "x", OperationChoice(), {})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("a: 1\nb: [x, 'y', \"z\", ~]", {"a": 1, "b": ["x", "y", "z", None]}),
        (
            "a: &n {x: 1}\nb: *n\nc: {<<: *n, y: 2}",
            {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1, "y": 2}},
        ),
        ("200: ok\ntrue: yes", {"200": "ok", "true": True}),
        ("a: |\n  t\n", {"a": "t\n"}),
        ("a: '1'\nb: !!str 2\nd: 2020-01-01", {"a": "1", "b": "2", "d": "2020-01-01"}),
    ],
)
def test_plain_yaml(text: str, value: Json) -> None:
    assert read_plain_yaml(text) == value


def test_plain_yaml_names_the_line() -> None:
    with pytest.raises(YamlTextError, match="line 2"):
        read_plain_yaml("a: 1\n\tb: 2\n")


async def test_a_file_is_read_again_when_it_is_saved_and_else_not(tmp_path: Path) -> None:
    path = tmp_path / "api.json"
    path.write_text(json.dumps(large(3)), encoding="utf-8")
    source = OpenApiSource("a", path, {}, choice=read_choice({"tags": ["tag1"]}))
    assert [spec.name for spec in await source.list_tools()] == ["things_make-1"]
    assert await source.list_tools() is not None
    path.write_text(json.dumps(large(30)), encoding="utf-8")
    assert len(await source.list_tools()) == 3
    path.write_text("{", encoding="utf-8")
    with pytest.raises(ToolSourceError, match="it is not JSON"):
        await source.list_tools()


async def test_too_many_operations_are_said_with_what_to_do(
    prompt: WritePrompt, tmp_path: Path
) -> None:
    (tmp_path / "api.json").write_text(json.dumps(large(130)), encoding="utf-8")
    trust = TrustStore(tmp_path / "data" / "trust.json")
    trust.trust(tmp_path)
    session = ToolSession(trust)
    text = "name: a\ntools:\n  - {name: big, kind: openapi, specification: api.json%s}\n"
    try:
        registry = await session.load(prompt(text % ""))
        assert "130 tools, about" in registry.sources[0].message
        registry = await session.load(prompt(text % ", operations: {tags: [tag1, tag2]}"))
        assert registry.sources[0].message == ""
        assert registry.sources[0].tools == 26
    finally:
        await session.close()


@pytest.mark.parametrize("kind", ["*/*", "application/*"])
def test_where_any_media_type_will_do_a_body_is_json(kind: str) -> None:
    """Kubernetes says so of every body."""
    swagger = json.loads(json.dumps(SWAGGER))
    swagger["consumes"] = [kind]
    put = named(read_description(swagger, "x"), "putPet")
    request = build_request(put, {"id": 1, "body": {"name": "Rex"}}, "https://pets.invalid")
    assert request.headers["Content-Type"] == "application/json"
    assert request.body == '{"name": "Rex"}'
