from __future__ import annotations

import os
from pathlib import Path

import pytest

from studio.core.prompty.convert.whole import convert
from studio.core.prompty.document import Dialect
from studio.core.prompty.fmt import tidy_edits
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.text.source import apply_edits
from tests.support.errors import has_errors
from tests.support.soon import soon

ROOT = Path(__file__).resolve().parents[4]
LEGACY = ROOT / os.environ.get("PROMPTY_V1_VECTORS", "../shared/vectors/prompty-v1")


def legacy_files() -> list[Path]:
    return sorted(LEGACY.glob("*.prompty")) if LEGACY.is_dir() else []


@pytest.mark.skipif(not LEGACY.is_dir(), reason=f"no Prompty 1 files in {LEGACY}")
@pytest.mark.parametrize("target", ["prompty", "section"])
@pytest.mark.parametrize("path", legacy_files(), ids=lambda path: path.name)
def test_prompty_1_files_keep_their_messages(path: Path, target: str) -> None:
    document = parse(path.read_text(encoding="utf-8"), path)
    assert document.dialect == "legacy"
    assert not has_errors(document)
    conversion = convert(document, target)
    assert apply_edits(document.source.text, conversion.edits) == conversion.text
    after = parse(conversion.text, path)
    assert after.dialect == target
    assert not [item.message for item in after.problems if item.severity == "error"]
    context = ReferenceContext(path.parent, environment={})
    before = prepare(document, {}, references=context, preview=True)
    again = prepare(after, {}, references=context, preview=True)
    assert [(m.role, m.text, m.attributes) for m in before.messages.messages] == [
        (m.role, m.text, m.attributes) for m in again.messages.messages
    ]
    assert conversion.same_messages
    hoisted = {tool.id for tool in before.messages.tools}
    names = {tool.name for tool in before.document.tools} | hoisted
    kept = {tool.id for tool in again.messages.tools}
    assert {tool.name for tool in again.document.tools} | kept == names
    assert again.document.model.options == before.document.model.options
    assert again.document.model.id == before.document.model.id
    assert again.document.model.provider == before.document.model.provider


LEGACY_TEXT = """---
name: x # a name
authors: [me]
model:
  api: completion # api
  configuration:
    type: azure_openai
    azure_deployment: gpt
    azure_endpoint: ${env:E}
    api_version: v1
    # a comment
  parameters:
    stop: END
    max_tokens: 5
    logit_bias: {a: 1}
  response: first
own: [1, 2] # kept
inputs:
  n:
    type: number
    strict: true
  list: [a]
sample:
  n: 3
  m: hi
template:
  type: jinja2
---
system:
{{n}}{{m}}{{list}}
"""


def test_nothing_of_a_prompty_1_file_is_lost() -> None:
    conversion = convert(parse(LEGACY_TEXT), "prompty")
    after = parse(conversion.text)
    assert conversion.same_messages
    for kept in ("# a name", "# api", "# a comment", "own: [1, 2] # kept"):
        assert kept in conversion.text
    assert after.data == {
        "name": "x",
        "model": {
            "connection": {"kind": "key", "endpoint": "${env:E}"},
            "options": {
                "stopSequences": ["END"],
                "maxOutputTokens": 5,
                "additionalProperties": {"logit_bias": {"a": 1}},
            },
            "id": "gpt",
            "provider": "foundry",
        },
        "own": [1, 2],
        "inputs": {
            "n": {"kind": "float", "default": 3},
            "list": {"kind": "array", "items": {"kind": "string"}, "default": ["a"]},
            "m": {"kind": "string", "default": "hi"},
        },
        "metadata": {
            "authors": ["me"],
            "legacy": {
                "model": {
                    "api": "completion",
                    "connection": {"api_version": "v1"},
                    "response": "first",
                },
                "inputs": {"n": {"strict": True}},
            },
        },
        "template": {"format": {"kind": "jinja2"}, "parser": {"kind": "prompty"}},
    }
    assert len(conversion.notes) >= 4


SECTION_TEXT = """tools:
  - id: look
    type: function
    description: Look
    parameters:
      - name: q
        type: string

system:
Hi {{name}}!
![thread]

user:
See ![image](https://x/y.png)

assistant[type="tool_call"]:
id: c
function:
  name: look
  arguments: {q: 1}

tool[tool_call_id="c", name="look"]:
found

user:
Go on
"""


def test_section_constructs_become_front_matter_and_inputs() -> None:
    document = parse(SECTION_TEXT)
    assert document.dialect == "section"
    conversion = convert(document, "prompty")
    after = parse(conversion.text)
    assert after.dialect == "prompty"
    assert conversion.same_messages, conversion.text
    assert [tool.name for tool in after.tools] == ["look"]
    assert "section-construct" not in {problem.code for problem in after.problems}
    assert [(item.name, item.kind) for item in after.inputs] == [
        ("thread", "thread"),
        ("image", "image"),
        ("tool_messages", "thread"),
    ]


def test_what_cannot_be_carried_over_is_said() -> None:
    text = 'system:\n![video](a.mp4)\n```\nuser:\n```\n\nuser[my-key="5"]:\n${params:x-y}\n'
    conversion = convert(parse(text), "prompty")
    notes = "\n".join(conversion.notes)
    for word in ("a.mp4", "code blocks", "params", "my-key"):
        assert word in notes
    assert not conversion.same_messages


def test_to_the_section_dialect() -> None:
    text = "---\nmodel: {id: gpt}\n---\nuser:\nHi\n"
    conversion = convert(parse(text), "section")
    assert parse(conversion.text).dialect == "section"
    assert conversion.same_messages
    assert convert(parse(conversion.text), "section").edits == ()


def test_tidying_changes_no_meaning() -> None:
    text = (
        "---\nname: x  \ndescription: |\n  keep  \n  this\nlist: \n  - a \n---\n"
        "System :  \nHi  \n\n\n\n\nUSER[a=1]:\n\n  x\n\n\n"
    )
    document = parse(text)
    tidy = apply_edits(text, tidy_edits(document))
    assert tidy == (
        "---\nname: x\ndescription: |\n  keep  \n  this\nlist:\n  - a\n---\n"
        "system:\nHi  \n\nuser[a=1]:\n\n  x\n"
    )
    after = parse(tidy)
    assert after.data == document.data
    assert tidy_edits(after) == ()
    broken = "---\nname: [x  \n---\nSystem :\n\n\n\n"
    assert tidy_edits(parse(broken)) == ()


def test_a_file_too_large_to_read_is_not_converted() -> None:
    text = "---\n" + "a: b\n" * 1_000_001
    conversion = convert(parse(text), "prompty")
    assert (conversion.edits, conversion.text) == ((), text)
    assert conversion.refusal is not None


@pytest.mark.parametrize("to", ["prompty", "section", "legacy"])
@pytest.mark.parametrize(
    "front",
    [
        "name: Trip\ninputs:\n\tcity:\n\t\ttype: string\nmodel:\n  api: chat",
        "name: Trip\ninputs:\n\tcity:\n\t\tkind: string",
        "name: a\x01b\nmodel:\n  api: chat",
        "name: [x\nmodel:\n  api: chat",
        "name: x\nmodel:\n  api: chat\n  api: completion",
        "- a\n- b",
        "model: &a\n  api: *b",
        "? [a]\n: b\nmodel:\n  api: chat",
        "key: " + "[" * 200 + "]" * 200,
    ],
)
def test_a_file_that_is_not_read_whole_is_never_changed(front: str, to: Dialect) -> None:
    text = f"---\n{front}\n---\nsystem:\nHello {{{{city}}}}.\n"
    document = parse(text)
    conversion = convert(document, to)
    assert (conversion.edits, conversion.text) == ((), text)
    assert conversion.refusal in document.problems
    assert conversion.losses
    assert not conversion.same_messages
    assert tidy_edits(document) == ()


def test_loops_of_tools_stay_in_the_body() -> None:
    text = "tools:\n{% for t in ts %}\n  - id: {{t}}\n{% endfor %}\n\nuser:\nHi\n"
    conversion = convert(parse(text), "prompty")
    assert "{% for t in ts %}\n  - id: {{t}}\n" in conversion.text
    assert any("loops" in note for note in conversion.notes)


@pytest.mark.parametrize("media", [1000])
def test_a_file_with_thousands_of_media_is_converted_in_seconds(media: int) -> None:
    """Once every value added read the whole file again, and equal lines took minutes."""
    body = "".join(f"user:\nlook ![image](a{number}.png)\n" for number in range(media))
    document = parse("---\ntemplate: {parser: {kind: section}}\n---\n" + body)
    with soon():
        conversion = convert(document, "prompty")
    after = parse(conversion.text)
    assert len(after.inputs) == media
    assert after.input(f"image_{media}") is not None
    assert conversion.same_messages
    assert apply_edits(document.source.text, conversion.edits) == conversion.text


LEGACY_WRITTEN = """---
name: shop # the shop
metadata:
  authors: [me] # us
  own: 1
model:
  id: some-model # which
  provider: foundry
  connection:
    kind: key
    endpoint: ${env:E}
    apiKey: ${env:K}
  options:
    temperature: 0 # cold
    maxOutputTokens: 5
    stopSequences: [END]
    additionalProperties:
      logit_bias: {a: 1}
inputs:
  who:
    kind: float
    example: 2
  thread:
    kind: thread
tools:
  - name: look
    kind: function
    description: Looks.
    parameters:
      - {name: thing, kind: string, required: true}
template:
  format: {kind: mustache}
  parser: {kind: prompty}
---
system:
Help {{who}}.

{{thread}}
"""


def test_to_prompty_1_and_back_again() -> None:
    document = parse(LEGACY_WRITTEN)
    conversion = convert(document, "legacy")
    legacy = parse(conversion.text)
    assert legacy.dialect == "legacy"
    assert conversion.same_messages
    assert conversion.notes == ("metadata: Prompty 1 loads no file with this key; left out",)
    for comment in ("# the shop", "# us", "# which", "# cold"):
        assert comment in conversion.text
    assert legacy.data["model"] == {
        "configuration": {
            "type": "azure_openai",
            "azure_endpoint": "${env:E}",
            "api_key": "${env:K}",
            "azure_deployment": "some-model",
        },
        "parameters": {
            "temperature": 0,
            "max_tokens": 5,
            "stop": ["END"],
            "logit_bias": {"a": 1},
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": "look",
                        "description": "Looks.",
                        "parameters": {
                            "type": "object",
                            "properties": {"thing": {"type": "string"}},
                            "required": ["thing"],
                        },
                    },
                }
            ],
        },
        "api": "chat",
    }
    assert legacy.data["inputs"] == {
        "who": {"type": "number"},
        "thread": {"type": "thread"},
    }
    assert legacy.data["sample"] == {"who": 2}
    assert legacy.data["authors"] == ["me"]
    assert legacy.data["template"] == "mustache"
    assert "![thread]" in conversion.text
    again = parse(convert(legacy, "prompty").text)
    assert again.model.options == document.model.options
    assert (again.model.id, again.model.provider) == ("some-model", "foundry")
    assert [tool.name for tool in again.tools] == ["look"]


@pytest.mark.parametrize(
    ("front", "note"),
    [
        ("model: {id: m, connection: {kind: reference, name: x}}", "no connection of kind"),
        ("inputs: {p: {kind: image}}", "no inputs of kind"),
        ("inputs: {p: {kind: integer}}", "an integer is a number"),
        ("inputs: {p: {kind: array, items: {kind: string}}}", "does not support items"),
        ("tools: [{name: s, kind: mcp, connection: {kind: reference}}]", "no tools of kind 'mcp'"),
        ("tools: [{name: f, kind: function, bindings: {a: b}}]", "binds no inputs"),
    ],
)
def test_what_prompty_1_has_no_place_for_is_named(front: str, note: str) -> None:
    text = f"---\n{front}\ntemplate: {{parser: {{kind: prompty}}}}\n---\nuser:\nHi\n"
    conversion = convert(parse(text), "legacy")
    assert parse(conversion.text).dialect == "legacy"
    assert any(note in each for each in conversion.notes), conversion.notes
