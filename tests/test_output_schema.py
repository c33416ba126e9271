"""Declared outputs become one schema, whoever asks for the answer (Prompty spec §7.1.6)."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from studio.application.exchange.export import make_export
from studio.application.preview.build import build_preview
from studio.application.preview.requests import request_of
from studio.application.preview.variables import PreviewJob
from studio.cli.main import run_command
from studio.cli.terminal import FINE
from studio.core.agent.loop.setup import make_setup
from studio.core.agent.run.performer import check_answer
from studio.core.agent.values.options import RunOptions
from studio.core.export.request_script import body_of
from studio.core.export.target import ExportSource
from studio.core.export.targets import find_target
from studio.core.models.base import Capabilities, ModelRequest
from studio.core.models.bodies import request_body
from studio.core.models.embedded.model import build_grammar
from studio.core.models.scripted import ScriptedModel
from studio.core.prompty.document import Message, TextPart
from studio.core.prompty.parse import parse
from studio.core.wire.request import Provider

PROMPT = """---
name: x
model: {id: m}
outputs:
  - {name: city, kind: string, required: true}
  - {name: mood, kind: string, enumValues: [good, bad]}
  - {name: rain, kind: float, nullable: true, required: true}
  - name: style
    kind: object
    properties:
      - {name: color, kind: string, required: true}
      - {name: border, kind: string}
  - name: either
    anyOf: [{kind: string}, {kind: integer}]
  - {name: places, kind: array, items: {kind: string}}
template: {format: {kind: jinja2}, parser: {kind: prompty}}
---
user:
Where?
"""
DOCUMENT = parse(PROMPT)
STRICT = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "mood": {"type": ["string", "null"], "enum": ["good", "bad", None]},
        "rain": {"type": ["number", "null"]},
        "style": {
            "type": ["object", "null"],
            "properties": {"color": {"type": "string"}, "border": {"type": ["string", "null"]}},
            "required": ["color", "border"],
            "additionalProperties": False,
        },
        "either": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
        "places": {"type": ["array", "null"], "items": {"type": "string"}},
    },
    "required": ["city", "mood", "rain", "style", "either", "places"],
    "additionalProperties": False,
}
PROVIDERS: tuple[Provider, ...] = ("openai-chat", "openai-responses", "anthropic")


def asked(body: Mapping[str, Any], provider: Provider) -> Any:
    """The answer's schema where each form of body has it."""
    match provider:
        case "openai-chat":
            return body["response_format"]["json_schema"]["schema"]
        case "openai-responses":
            return body["text"]["format"]["schema"]
        case _:
            return body["output_config"]["format"]["schema"]


def run_body(provider: Provider) -> Mapping[str, Any]:
    setup = make_setup(DOCUMENT, {}, (), ScriptedModel(()), RunOptions())
    request = ModelRequest(
        (Message("user", (TextPart("Where?"),)),), response_schema=setup.response_schema
    )
    able = Capabilities(json_schema=True)
    return request_body(request, model_id="m", capabilities=able, provider=provider)


def exported(name: str) -> str:
    target = find_target(name)
    assert target is not None
    return make_export(target, ExportSource(DOCUMENT)).text


@pytest.mark.parametrize("provider", PROVIDERS)
def test_run_preview_command_and_exports_ask_for_the_same(
    provider: Provider, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.prompty"
    path.write_text(PROMPT, encoding="utf-8")
    assert run_command(["request", str(path), "--provider", provider]) == FINE
    schemas = {
        "run": asked(run_body(provider), provider),
        "preview": asked(request_of(build_preview(PreviewJob(DOCUMENT)), provider).body, provider),
        "command": asked(json.loads(capsys.readouterr().out), provider),
        "body": asked(json.loads(exported(provider)), provider),
        "curl": asked(body_of(exported(f"curl-{provider}")), provider),
    }
    if provider == "openai-chat":
        (options,) = [
            ast.literal_eval(node.value)
            for node in ast.parse(exported("python")).body
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "OPTIONS"
        ]
        schemas["script"] = asked(options, provider)
    wanted = schemas["run"]
    assert schemas == dict.fromkeys(schemas, wanted)
    if provider == "anthropic":
        assert wanted["required"] == ["city", "rain"]
        assert wanted["properties"]["style"]["required"] == ["color"]
        assert wanted["additionalProperties"] is False
    else:
        assert wanted == STRICT


def test_an_answer_may_leave_out_or_null_what_is_optional() -> None:
    schema = make_setup(DOCUMENT, {}, (), ScriptedModel(()), RunOptions()).response_schema
    nulls = dict.fromkeys(STRICT["required"]) | {"city": "Oslo"}
    for fine in (nulls, {"city": "Oslo", "rain": 1.5}, nulls | {"style": {"color": "red"}}):
        assert check_answer(schema, json.dumps(fine)) == (fine, ())
    for wrong in (
        nulls | {"city": None},
        {"city": "Oslo"},
        nulls | {"style": {}},
        nulls | {"more": 1},
        nulls | {"mood": "so so"},
    ):
        assert check_answer(schema, json.dumps(wrong))[1]


def test_the_embedded_model_is_asked_for_every_output_too() -> None:
    setup = make_setup(DOCUMENT, {}, (), ScriptedModel(()), RunOptions())
    request = ModelRequest((), response_schema=setup.response_schema)
    grammar = build_grammar(request, "syntax")
    assert grammar is not None
    strict = build_grammar(ModelRequest((), response_schema=STRICT), "syntax")
    assert grammar == strict
    assert '"null"' in grammar
