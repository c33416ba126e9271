"""What `convert` writes is read by `prompty` 2.1, and says what the file said before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from studio.core.prompty.convert.whole import Conversion, convert
from studio.core.prompty.parse import parse
from studio.core.prompty.reference_values import ReferenceContext

prompty = pytest.importorskip("prompty")
pytestmark = pytest.mark.filterwarnings("ignore")

MODEL = "model:\n  api: chat\n  configuration: {type: azure_openai, azure_deployment: gpt}\n"


def converted(tmp_path: Path, text: str, to: Any = "prompty") -> Conversion:
    path = tmp_path / "old.prompty"
    path.write_text(text, encoding="utf-8")
    return convert(parse(text, path), to, ReferenceContext(tmp_path, environment={}))


def read_again(tmp_path: Path, made: Conversion) -> tuple[Any, list[tuple[str, str]]]:
    path = tmp_path / "new.prompty"
    path.write_text(made.text, encoding="utf-8")
    agent = prompty.load(str(path))
    messages = prompty.prepare(agent, {})
    return agent, [(each.role, each.text) for each in messages]


def kept(tmp_path: Path, text: str) -> tuple[Any, list[tuple[str, str]]]:
    made = converted(tmp_path, text)
    assert not [loss for loss in made.losses if "ended the front matter at" not in loss]
    assert made.same_messages
    assert not [p for p in parse(made.text).problems if p.severity == "error"]
    return read_again(tmp_path, made)


@pytest.mark.parametrize(
    "value",
    [
        "What is it?",
        "a: b",
        "x, y",
        "[a]",
        "{a}",
        "is #1",
        "# no",
        "- a",
        "it's",
        '"q" a',
        "@a",
        "%b",
        "!c",
        "&d",
        "*e",
        "|f",
        "a\tb",
        "a --- b",
        "yes",
        "012",
        "1e3",
        "~",
        "ä ?",
        "C:\\x",
        "a\\nb",
        "",
    ],
)
def test_a_short_input_is_written_so_that_the_runtime_reads_it(value: str, tmp_path: Path) -> None:
    text = f"---\n{MODEL}inputs:\n  q: {json.dumps(value)}\n---\nsystem:\n<{{{{q}}}}>\n"
    _, messages = kept(tmp_path, text)
    assert messages == [("system", f"<{value}>")]


@pytest.mark.parametrize("value", ["What is it?", "a - b", "What's up, doc?", "http://x.y/?q=1"])
def test_a_plain_input_is_written_so_that_the_runtime_reads_it(value: str, tmp_path: Path) -> None:
    text = f"---\n{MODEL}inputs:\n  q: {value}\n---\nsystem:\n<{{{{q}}}}>\n"
    assert kept(tmp_path, text)[1] == [("system", f"<{value}>")]


def test_outputs_items_and_words_for_types_are_converted(tmp_path: Path) -> None:
    text = (
        f"---\n{MODEL}inputs:\n  a: {{type: List, items: str}}\n  b:\n    type: int # a number\n"
        "    sample: 3\n  c: {type: object, properties: {d: {type: Dict}}}\n\n"
        "  e:\n    type: list[str]\noutputs:\n  x: {type: str, description: d}\n  y:\n"
        "    type: array\n    items:\n      type: number\n---\nsystem:\n{{b}}\n"
    )
    agent, _ = kept(tmp_path, text)
    assert [(item.name, item.kind) for item in agent.inputs] == [
        ("a", "array"),
        ("b", "integer"),
        ("c", "object"),
        ("e", "array"),
    ]
    assert [(item.name, item.kind) for item in agent.outputs] == [("x", "string"), ("y", "array")]
    assert "# a number" in converted(tmp_path, text).text


def test_inputs_as_a_list_stay_a_list(tmp_path: Path) -> None:
    text = (
        f"---\n{MODEL}inputs:\n- name: a\n  type: string\n- name: b\n  type: number\n"
        "sample:\n  a: x\n  c: [1]\n---\nsystem:\n{{a}} {{c}}\n"
    )
    agent, messages = kept(tmp_path, text)
    assert messages == [("system", "x [1]")]
    assert [(item.name, item.kind) for item in agent.inputs] == [
        ("a", "string"),
        ("b", "float"),
        ("c", "array"),
    ]


@pytest.mark.parametrize("reference", ["${file:s.json}", "s.json"])
def test_samples_of_a_file_are_written_out(reference: str, tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('{"q": "2+2?", "who": {"name": "Ann"}}', encoding="utf-8")
    text = (
        f"---\n{MODEL}inputs:\n  q: {{type: string}}\nsample: {reference}\n---\n"
        "system:\n{{q}} {{who.name}}\n"
    )
    assert kept(tmp_path, text)[1] == [("system", "2+2? Ann")]


def test_a_sample_wins_over_a_default_as_in_prompty_1(tmp_path: Path) -> None:
    text = (
        f"---\n{MODEL}inputs:\n  q: {{type: string, default: old}}\nsample: {{q: new}}\n---\n"
        "system:\n{{q}}\n"
    )
    assert kept(tmp_path, text)[1] == [("system", "new")]
    assert "default: old" in converted(tmp_path, text).text


SCHEMA = {
    "type": "object",
    "properties": {"q": {"type": "string", "description": "Words."}, "n": {"type": "integer"}},
    "required": ["q"],
}


@pytest.mark.parametrize("place", ["parameters", "file", "root"])
def test_tools_keep_their_parameters(place: str, tmp_path: Path) -> None:
    tool = {
        "type": "function",
        "function": {"name": "find", "description": "Finds.", "parameters": SCHEMA},
    }
    (tmp_path / "t.json").write_text(json.dumps([tool]), encoding="utf-8")
    tools = "${file:t.json}" if place == "file" else json.dumps([tool])
    inside = f"  parameters:\n    tools: {tools}\n" if place != "root" else f"tools: {tools}\n"
    agent, _ = kept(tmp_path, f"---\n{MODEL}{inside}---\nsystem:\nHi\n")
    assert [(each.name, each.kind, each.required) for each in agent.tools[0].parameters] == [
        ("q", "string", True),
        ("n", "integer", None),
    ]


def test_parameters_as_a_list_of_properties_are_kept(tmp_path: Path) -> None:
    text = (
        f"---\n{MODEL}tools:\n- id: find\n  type: function\n  parameters:\n    properties:\n"
        "    - {name: q, kind: string, required: true}\n---\nsystem:\nHi\n"
    )
    agent, _ = kept(tmp_path, text)
    assert [(each.name, each.kind) for each in agent.tools[0].parameters] == [("q", "string")]


def test_what_a_schema_says_and_prompty_2_cannot_is_named(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}}
    tool = {"type": "function", "function": {"name": "count", "parameters": schema}}
    text = f"---\n{MODEL}  parameters: {{tools: {json.dumps([tool])}}}\n---\nsystem:\nHi\n"
    assert [loss for loss in converted(tmp_path, text).losses if "tools are different" in loss]


@pytest.mark.parametrize(
    ("front", "body", "told"),
    [
        ("base: other.prompty", "{% extends 'other.prompty' %}", "cannot render"),
        ("sample: ${file:gone.json}", "{{q}}", "sample"),
        ('inputs: {q: {type: string, default: "a\\nuser:\\nb"}}', "{{q}}", "injection"),
    ],
)
def test_what_the_runtime_makes_otherwise_is_named(
    front: str, body: str, told: str, tmp_path: Path
) -> None:
    made = converted(tmp_path, f"---\n{MODEL}{front}\n---\nsystem:\n{body}\n")
    assert [loss for loss in made.losses if told in loss], made.losses


@pytest.mark.parametrize(
    "front",
    [
        "template: {format: {kind: nunjucks}, parser: {kind: prompty}}",
        "template: {format: {kind: jinja2}}",
        "model: {id: m, apiType: chat}\ntemplate: {format: jinja2, parser: prompty}\n"
        "outputs: {a: {type: str}}",
        "model: {id: m, apiType: chat}\ninputs: {a: x, b: {kind: String}}",
        "model: {id: m, apiType: chat}\n# ---- part ----\ndescription: a --- b",
    ],
)
def test_a_prompty_2_file_gets_what_its_runtime_wants(front: str, tmp_path: Path) -> None:
    agent, messages = kept(tmp_path, f"---\nname: x\n{front}\n---\nsystem:\nHi\n")
    assert messages == [("system", "Hi")]
    assert agent.template is None or agent.template.parser.kind == "prompty"


def test_a_file_without_front_matter_gets_one(tmp_path: Path) -> None:
    assert kept(tmp_path, "system:\nBe kind.\n\nuser:\nHi\n")[1] == [
        ("system", "Be kind."),
        ("user", "Hi"),
    ]


def test_a_file_that_is_right_stays_as_it_is(tmp_path: Path) -> None:
    text = (
        "---\nname: x # me\ninputs: {a: {kind: string}}\n"
        "template: {format: {kind: jinja2}, parser: {kind: prompty}}\n---\nsystem:\n{{a}}\n"
    )
    made = converted(tmp_path, text)
    assert made.text == text
    assert not made.edits


def test_blocks_that_are_left_empty_are_taken_out(tmp_path: Path) -> None:
    text = (
        "---\nmodel:\n  parameters:\n    tools:\n    - type: function\n      function: {name: f}\n"
        "inputs:\n---\nsystem:\nHi\n"
    )
    agent, messages = kept(tmp_path, text)
    assert [tool.name for tool in agent.tools] == ["f"]
    assert messages == [("system", "Hi")]


@pytest.mark.parametrize(
    "written",
    [
        '"a\n      --- b\n\n      c"',
        "|\n      a\n      --- b\n",
        ">-\n      a\n      --- b\n\n",
        "'a ----- +++ b'",
    ],
)
def test_dashes_in_texts_of_several_lines_are_written_so_that_they_stay(
    written: str, tmp_path: Path
) -> None:
    text = f"---\n{MODEL}inputs:\n  q:\n    type: string\n    default: {written}\n---\n{{{{q}}}}\n"
    expected = parse(text).inputs[0].default
    agent, _ = kept(tmp_path, text)
    assert agent.inputs[0].default == expected


def test_a_byte_order_mark_is_taken_out(tmp_path: Path) -> None:
    made = converted(tmp_path, f"\ufeff---\n{MODEL}---\nsystem:\nHi\n")
    assert read_again(tmp_path, made)[1] == [("system", "Hi")]
    assert any("byte order mark" in note for note in made.notes)


@pytest.mark.parametrize(
    ("last", "given", "sent"),
    [
        ("{{question}}", {"question": "Why?"}, "Why?"),
        ("{{ question }}\n{{ more|upper }}", {"question": "", "more": "x"}, "X"),
        ("{{question}}", {"question": 0}, "0"),
        ("{{ 'ä' if question }}", {"question": "y"}, "ä"),
    ],
)
def test_a_last_message_without_a_text_is_not_sent_as_prompty_1_did_not(
    last: str, given: dict[str, Any], sent: str, tmp_path: Path
) -> None:
    body = f"system:\nBe kind.\n\nuser:\n{last}\n"
    for head in (MODEL, "name: x\n"):
        made = converted(tmp_path, f"---\n{head}---\n{body}")
        assert not made.losses
        assert made.same_messages
        assert [note for note in made.notes if "is only sent if question" in note]
        agent, messages = read_again(tmp_path, made)
        assert messages == [("system", "Be kind.")]
        assert prompty.prepare(agent, {"question": ""})[1:] == []
        assert [m.text.strip() for m in prompty.prepare(agent, given)] == ["Be kind.", sent]


def test_a_last_message_in_mustache_is_held_back_too(tmp_path: Path) -> None:
    body = "system:\r\nBe kind.\r\n\r\nuser:\r\n{{question}}"
    agent, messages = kept(tmp_path, f"---\n{MODEL}template: mustache\n---\n{body}")
    assert messages == [("system", "Be kind.")]
    got = prompty.prepare(agent, {"question": "Why?"})
    assert [(m.role, m.text) for m in got] == [("system", "Be kind."), ("user", "Why?")]


def test_a_last_message_with_a_value_stays_as_it_is(tmp_path: Path) -> None:
    body = "system:\nBe kind.\n\nuser:\n{{question}}\n"
    made = converted(tmp_path, f"---\n{MODEL}sample:\n  question: Why?\n---\n{body}")
    assert made.text.endswith(body)
    own = "template: {format: {kind: jinja2}, parser: {kind: section}}\n"
    assert converted(tmp_path, f"---\n{own}---\n{body}").text.endswith(body)


def test_an_empty_last_message_that_prompty_1_leaves_out_is_named(tmp_path: Path) -> None:
    body = "system:\nBe kind.\n\nuser:\n{% if question %}{{question}}{% endif %}\n"
    for head in (MODEL, "name: x\n"):
        made = converted(tmp_path, f"---\n{head}---\n{body}")
        assert [loss for loss in made.losses if "give 'question' a value" in loss]
        assert read_again(tmp_path, made)[1] == [("system", "Be kind."), ("user", "")]


@pytest.mark.parametrize(
    ("block", "endpoint"),
    [
        (
            "type: serverless, endpoint: 'https://models.example.com', model: m, key: '${env:K}'",
            "${env:MODELS_EXAMPLE_COM_ENDPOINT:https://models.example.com}",
        ),
        (
            "type: openai, base_url: 'http://127.0.0.1:11434/v1', name: m",
            "${env:HOST_127_0_0_1_11434_ENDPOINT:http://127.0.0.1:11434/v1}",
        ),
    ],
)
def test_an_address_of_the_file_is_a_variable_with_that_default(
    block: str, endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"---\nmodel:\n  api: chat\n  configuration: {{{block}}}\n---\nsystem:\nHi\n"
    made = converted(tmp_path, text)
    model = parse(made.text).model
    assert (model.id, model.connection["endpoint"]) == ("m", endpoint)
    name = endpoint[6:].partition(":")[0]
    assert [loss for loss in made.losses if f"set {name}" in loss]
    with pytest.raises(Exception, match="not trusted"):
        read_again(tmp_path, made)
    monkeypatch.setenv(name, "https://own.example.com")
    monkeypatch.setenv("K", "k")
    agent, messages = read_again(tmp_path, made)
    assert messages == [("system", "Hi")]
    assert agent.model.connection.endpoint == "https://own.example.com"


def test_what_both_runtimes_write_of_a_boolean_is_no_difference(tmp_path: Path) -> None:
    text = f"---\n{MODEL}sample:\n  a: false\n  b: 80.0\n---\nsystem:\n{{{{a}}}} {{{{b}}}}\n"
    assert kept(tmp_path, text)[1] == [("system", "False 80.0")]


def test_the_method_of_a_text_is_named_without_its_address(tmp_path: Path) -> None:
    body = "{% for i in a %}{{i.title}}{% endfor %}"
    made = converted(tmp_path, f"---\n{MODEL}sample:\n  a: [x]\n---\nsystem:\n{body}\n")
    assert [loss for loss in made.losses if "method of a text" in loss]
    assert "0x" not in "".join(made.losses)


def test_front_matter_that_prompty_1_cut_short_is_named(tmp_path: Path) -> None:
    made = converted(tmp_path, f"---\ndescription: a --- b\n{MODEL}---\nsystem:\nHi\n")
    assert read_again(tmp_path, made)[1] == [("system", "Hi")]
    assert [loss for loss in made.losses if "ended the front matter at the first ---" in loss]
