"""The gate: what is lost or changed is named, and what is written is read back and compared."""

from __future__ import annotations

import json

import pytest

from studio.application.exchange.export import with_fixes
from studio.core.export.target import VALUES_OF_NOW, ExportSource
from studio.core.export.targets import TARGETS
from studio.core.imports.agentschema import import_agent_schema
from studio.core.prompty.document import Message, TextPart, ToolResultPart
from studio.core.prompty.meaning import first_difference
from studio.core.prompty.parse import parse
from studio.core.text.source import apply_edits
from tests.core.export.conftest import HEAD, PROMPTS, Make

NAMES = [target.name for target in TARGETS]
SETS = {"first": {"who": "Zoë"}, "second": {"who": 'a "b" {{ c }} {d} <e>'}}

SECTION = """---
name: full # a comment
model: {id: m, provider: openai}
inputs:
  who: {kind: string, default: Ada}
template:
  format: {kind: jinja2}
  parser: {kind: section}
---
tools:
- id: look
  type: function
  options:
    description: Looks.
    parameters:
      - name: q
        type: string

system:
Help {{ who }}.

user[name="Seth", mood="calm"]:
See this ![type="image", quality="high"](http://h/a.png)

assistant[type="tool_call"]:
- id: c1
  type: function
  function:
    name: look
    arguments: {q: x}

tool[tool_call_id="c1"]:
found

user:
Go
"""


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", list(PROMPTS))
def test_every_form_is_proven_for_every_saved_set(kind: str, name: str, make: Make) -> None:
    result = make(PROMPTS[kind], name, sets=SETS)

    assert not result.blocked, result.problems
    round_trips = [each.name for each in result.round_trips]
    if name == "messages-jsonl":
        assert round_trips == ["first", "second"]
    else:
        assert round_trips == [VALUES_OF_NOW, "first", "second"]
    # Prompty 1 knows only an input named thread; promptfoo has no threads, and no Mustache.
    if (kind, name) in (("thread", "legacy"), ("thread", "promptfoo"), ("mustache", "promptfoo")):
        assert result.needs_consent
        return
    assert all(each.is_same for each in result.round_trips), result.round_trips
    assert all(each.messages >= 2 for each in result.round_trips)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_form_cannot_carry_is_named(name: str, make: Make) -> None:
    """Section constructs: attributes, media with attributes, calls, results, body tools."""
    result = make(SECTION, name)

    assert not result.blocked, result.problems
    different = [each for each in result.round_trips if not each.is_same]
    # A difference never passes in silence: it stands among the losses, which want a yes.
    assert all(any(each.difference in loss for loss in result.losses) for each in different)
    if name in ("file", "section", "markdown", "bundle"):
        assert not result.losses, result.losses
    if name in ("openai-chat", "curl-openai-chat", "messages-jsonl"):
        assert len(result.losses) == 1  # OpenAI takes a name, and no key that it does not know
        assert "'mood'" in result.losses[0]
    if name in ("anthropic", "openai-responses", "curl-anthropic"):
        assert any("'name'" in loss for loss in result.losses)
        assert any("'mood'" in loss for loss in result.losses)
    if name == "legacy":
        assert any("tool: is not a role of Prompty 1" in loss for loss in result.losses)
        assert different
    if name == "python":
        assert any("look: no Python function runs it" in loss for loss in result.losses)


def test_the_section_and_prompty_files_keep_comments_and_order(make: Make) -> None:
    for name in ("prompty", "legacy", "agentschema"):
        text = make(SECTION, name).text
        assert "# a comment" in text
        keys = [line.split(":")[0] for line in text.splitlines() if line[:1].isalpha()]
        assert keys.index("name") < keys.index("model")


def test_a_loop_that_makes_messages_is_frozen_only_with_a_yes(make: Make) -> None:
    text = (
        HEAD + "inputs:\n  turns: {kind: array, items: {kind: string}, default: [a, b]}\n"
        "template:\n  format: {kind: jinja2}\n  parser: {kind: prompty}\n---\n"
        "system:\nBe kind.\n{% for t in turns %}\nuser:\n{{ t }}\n{% endfor %}\n"
    )
    for name in ("python", "langchain"):
        same = make(text, name)
        assert same.needs_consent
        assert "inside loops" in same.losses[0]
        assert all(each.is_same for each in same.round_trips)
        other = make(text, name, sets={"three": {"turns": ["x", "y", "z"]}})
        assert [each.is_same for each in other.round_trips] == [True, False]
        assert "3 messages" in other.round_trips[1].difference or "is different" in (
            other.round_trips[1].difference
        )


def test_a_set_that_a_file_does_not_hold_is_found_by_the_proof(make: Make) -> None:
    text = PROMPTS["thread"].replace("talk", "conversation")
    sets = {"talked": {"conversation": [{"role": "user", "content": "Earlier"}]}}
    result = make(text, "legacy", sets=sets)

    assert any("conversation" in loss for loss in result.losses)
    assert not result.round_trips[1].is_same


def test_a_missing_value_is_mended_with_one_click() -> None:
    from studio.application.exchange.export import make_export
    from studio.core.export.targets import find_target

    for inputs in (
        "inputs:\n  city:\n    kind: string\n    sample: Oslo\n    required: true # always\n",
        "inputs:\n  - name: city\n    kind: string\n    sample: Oslo\n    required: true\n",
        "inputs: {city: {kind: string, sample: Oslo, required: true}}\n",
    ):
        text = f"---\nmodel: {{id: m}}\n{inputs}---\nuser:\nHi {{{{ city }}}}\n"
        target = find_target("openai-chat")
        assert target is not None
        blocked = make_export(target, ExportSource(parse(text)))
        assert blocked.blocked
        (problem,) = [item for item in blocked.problems if item.code == "missing-input"]
        (fix,) = problem.fixes
        repaired = apply_edits(text, fix.edits)
        result = make_export(target, ExportSource(parse(repaired)))
        assert not result.blocked, repaired
        assert json.loads(result.text)["messages"][0]["content"] == "Hi Oslo"


def test_problems_without_a_way_out_get_no_fix() -> None:
    document = parse("---\ninputs:\n  a: {kind: string, required: true}\n---\nuser:\n{{ a }}\n")
    from studio.core.prompty.prepare import prepare

    found = with_fixes(prepare(document, {}).problems, document)
    assert [item.fixes for item in found if item.code == "missing-input"] == [()]


def test_agentschema_and_back_is_the_same_file(make: Make) -> None:
    for kind in ("jinja", "mustache", "thread", "plain"):
        text = PROMPTS[kind].replace("openai\n", "openai\n  apiType: chat\n", 1)
        again = import_agent_schema(make(text, "agentschema").text)
        assert again.text == text
        assert again.notes == ()


@pytest.mark.parametrize("name", NAMES)
def test_no_form_takes_a_document_for_good_that_is_broken(name: str, make: Make) -> None:
    result = make("---\nname: [\n---\nsystem:\n{% if %}\n", name)
    assert result.blocked


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("bundle",)])
def test_odd_texts_are_written_as_they_are(name: str, make: Make) -> None:
    odd = 'tab\there "quotes" \'single\' \\n back\\slash ``` fence ```` {{ "{{" }} é 漢 😀 \u2028'
    text = PROMPTS["plain"].replace("Go", f"{odd}\n  indented\n\n\n---\nEND_OF_BODY\nGo")
    result = make(text, name)
    assert not result.blocked, result.problems
    # Prompty's runtime takes U+2028 for a line end, which is named.
    told = [each.difference for each in result.round_trips if not each.is_same]
    assert [each for each in told if not each.startswith("in prompty ")] == []


def test_tools_that_nobody_has_read_are_a_loss(make: Make) -> None:
    text = PROMPTS["plain"].replace(
        "template:\n", "metadata:\n  agent: {tools: [tools.py], mcp_servers: [shop]}\ntemplate:\n"
    )
    for name in ("python", "langchain", "openai-chat", "curl-anthropic", "messages-jsonl"):
        losses = make(text, name).losses
        assert any("tools.py" in loss for loss in losses), (name, losses)
        assert any("MCP server shop" in loss for loss in losses), (name, losses)


def test_a_variable_that_stays_a_reference_is_a_loss_where_values_are_written(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXPORT_SECRET", "very-secret")
    text = PROMPTS["plain"].replace("Go", "Go ${env:EXPORT_SECRET}")
    text = text.replace("kind: prompty", "kind: section")
    for name in ("openai-chat", "curl-anthropic", "messages-jsonl", "python", "langchain"):
        result = make(text, name)
        assert any("EXPORT_SECRET" in loss for loss in result.losses), name
        assert "very-secret" not in result.text


def test_the_connection_names_the_model_where_the_prompt_does_not(make: Make) -> None:
    text = PROMPTS["plain"].replace("  id: scripted-1\n", "")
    plain = make(text, "openai-chat", model="gpt-x", base_url="http://h/v1")
    assert json.loads(plain.text)["model"] == "gpt-x"
    script = make(text, "python", model="gpt-x", base_url="http://h/v1").text
    assert 'MODEL = "gpt-x"' in script
    assert 'or "http://h/v1"' in script
    assert "'http" not in make(text, "curl-openai-chat", base_url="http://h/v1").text
    agent = make(text, "agentschema", model="gpt-x")
    (problem,) = [item for item in agent.problems if item.code == "export-no-model"]
    assert parse(apply_edits(text, problem.fixes[0].edits)).model.id == "gpt-x"
    own = make(PROMPTS["plain"], "openai-chat", model="gpt-x")
    assert json.loads(own.text)["model"] == "scripted-1"


def test_a_connection_of_openai_says_nothing_of_anthropic() -> None:
    from studio.application.exchange.export import make_export
    from studio.core.export.targets import find_target

    target = find_target("curl-anthropic")
    assert target is not None
    document = parse("user:\nHi\n")
    made = make_export(target, ExportSource(document, base_url="http://mine/v1", model="gpt-x"))
    assert "api.anthropic.com" in made.text
    assert "gpt-x" not in made.text


def test_no_sample_stands_for_a_value_that_is_missing(make: Make) -> None:
    """Neither the author's own nor the ones that a preview has for reserved names."""
    empty = {"history": "[]", "thread": "[]"}  # a run begins with empty lists
    for name in ("question", "input", "history", "thread", "who"):
        inputs = f"inputs:\n  {name}: {{kind: string, sample: OWN, required: true}}\n"
        body = PROMPTS["plain"].replace("template:", f"{inputs}template:")
        text = body.replace("Go", f"Go [{{{{ {name} }}}}]")
        result = make(text, "openai-chat")
        assert result.blocked
        assert [item.code for item in result.problems].count("missing-input") == 1
        assert json.loads(result.text)["messages"][1]["content"] == (
            f"Go [{empty.get(name, '')}]"
        ), name
        given = make(text, "openai-chat", {name: "given"})
        assert not given.blocked
        assert "Go [given]" in given.text


def test_a_tools_result_without_a_call_is_the_same_read_back(make: Make) -> None:
    text = "---\nsample: {q: x}\nmodel: {api: chat}\n---\nuser:\n{{q}}\n\ntool:\nfound\n"
    for name in ("openai-chat", "openai-responses", "anthropic", "messages-jsonl"):
        assert [item.difference for item in make(text, name).round_trips] == [""], name


def test_pictures_and_order_that_a_system_text_loses_are_named(make: Make) -> None:
    before = "system:\n![image](http://h/a.png)\n\nuser:\nOne\n\nsystem:\nTwo\n\n"
    text = PROMPTS["plain"].replace("kind: prompty", "kind: section")
    text = text.replace("user:\n", f"{before}user:\n", 1)
    assert make(text, "openai-chat").losses == ()
    for name in ("openai-responses", "anthropic", "curl-anthropic"):
        losses = make(text, name).losses
        assert any("http://h/a.png" in loss for loss in losses), name
        assert any("moved there" in loss for loss in losses), name


def test_a_difference_in_kind_alone_is_said_in_words() -> None:
    one = (Message("tool", (TextPart("x"),)),)
    other = (Message("tool", (ToolResultPart("x"),)),)
    assert first_difference(one, other) == (
        "message 1 (tool) is different: the same text is a tool's result instead of a text."
    )


def test_a_file_that_an_input_names_is_told_where_nobody_reads_it(make: Make) -> None:
    inputs = "inputs:\n  pic: {kind: image, default: PIC}\ntemplate:"
    text = PROMPTS["plain"].replace("template:", inputs, 1).replace("Go\n", "Go\n{{ pic }}\n")
    losses = make(text.replace("PIC", "a.png"), "langchain").losses
    assert "The image 'a.png' is only named: LangChain does not read files." in losses
    assert make(text.replace("PIC", "http://h/a.png"), "langchain").losses == ()
