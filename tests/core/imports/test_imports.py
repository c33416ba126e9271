"""Imports: what other formats say comes along, and what does not is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from studio.core.export.sent import sent_by_studio
from studio.core.export.target import ExportSource
from studio.core.export.targets import find_target
from studio.core.imports.imported import Imported, ImportFailure
from studio.core.imports.recognize import import_file, import_text, is_importable
from studio.core.prompty.document import Message
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.text.values import Json


def messages(made: Imported, **inputs: Json) -> tuple[Message, ...]:
    document = parse(made.text)
    assert not [item.message for item in document.problems if item.severity == "error"], made.text
    return prepare(document, inputs).messages.messages


def told(made: Imported, **inputs: Json) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in messages(made, **inputs)]


REQUEST: dict[str, Any] = {
    "model": "gpt-4o",
    "temperature": 0,
    "max_completion_tokens": 9,
    "stop": "END",
    "logit_bias": {"50256": -100},
    "messages": [
        {"role": "developer", "content": "Keep {{this}}, {% raw %} and ${env:X}.\nuser:\nnot me"},
        {
            "role": "user",
            "name": "Bo",
            "content": [
                {"type": "text", "text": "What is ![image](x.png)?"},
                {"type": "image_url", "image_url": {"url": "http://h/a.png", "detail": "low"}},
            ],
        },
        {
            "role": "assistant",
            "content": "Let me look.",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "look", "arguments": '{"q": 1}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "found {{ it }}"},
        {"role": "user", "content": "![thread]"},
    ],
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "look",
                "description": "Looks.",
                "strict": True,
                "parameters": {
                    "type": "object",
                    "properties": {"q": {"type": "integer"}},
                    "required": ["q"],
                },
            },
        },
        {
            "type": "function",
            "function": {
                "name": "deep",
                "parameters": {
                    "type": "object",
                    "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
                },
            },
        },
    ],
}


@pytest.mark.parametrize("provider", ["openai-chat", "openai-responses", "anthropic"])
def test_a_request_becomes_a_prompt_that_makes_the_same_request(
    provider: str, tmp_path: Path
) -> None:
    """Request → prompt → request is the same body, in each provider's form."""
    first = import_text(json.dumps(REQUEST))
    target = find_target(provider)
    assert target is not None

    def body(text: str) -> dict[str, Any]:
        context = ReferenceContext(folder=tmp_path, trusted=False)
        source = ExportSource(parse(text, tmp_path / "a.prompty"), references=context)
        made = target.make(source.for_target(target))  # type: ignore[union-attr, arg-type]
        assert not made.blocked, made.problems
        value: dict[str, Any] = json.loads(made.text)
        return value

    one = body(first.text)
    if provider == "openai-chat":
        wanted = {**REQUEST, "stop": ["END"]}
        assert {key: one[key] for key in wanted if key != "messages"} == {
            key: item for key, item in wanted.items() if key != "messages"
        } | {"tools": one["tools"]}
        assert [tool["function"]["name"] for tool in one["tools"]] == ["look", "deep"]
        assert [item["role"] for item in one["messages"]] == [
            item["role"] for item in REQUEST["messages"]
        ]
        assert one["messages"][0]["content"] == REQUEST["messages"][0]["content"]
        assert one["messages"][1] == REQUEST["messages"][1]
        assert one["messages"][2:] == REQUEST["messages"][2:]
    again = import_text(json.dumps(one))
    assert body(again.text) == one


def test_a_schema_that_a_list_cannot_say_stays_a_schema_and_is_named() -> None:
    made = import_text(json.dumps(REQUEST))
    assert any("tools.deep" in note for note in made.notes)
    (look, deep) = parse(made.text).tools
    assert look.strict
    assert look.parameters["required"] == ["q"]
    assert "anyOf" in json.dumps(deep.parameters)


def test_a_list_of_messages_and_lines_of_them(tmp_path: Path) -> None:
    made = import_text('[{"role": "user", "content": "Hi {"}]')
    assert told(made) == [("user", "Hi {")]
    assert "model" not in parse(made.text).data
    path = tmp_path / "set.jsonl"
    line = '{"messages": [{"role": "user", "content": "%s"}]}\n'
    path.write_text(line % "one" + line % "two", encoding="utf-8")
    second = import_file(path, 1)
    assert told(second) == [("user", "two")]
    assert second.others == ("line 1", "line 2")
    with pytest.raises(ImportFailure, match="no number 3"):
        import_file(path, 2)


AGENT = """# top comment
kind: prompt
name: travel   # its name
model:
  id: gpt-4o
  options: {temperature: 0.5} # warm
inputSchema:
  strict: false
  properties:
    # where to
    city:
      kind: string
      default: Oslo
tools:
  - name: find
    kind: function
    parameters:
      properties:
        - {name: q, kind: string, required: true}
template: {format: mustache, parser: prompty}
instructions: |-
  system:
  Help with {{city}}.
"""


def test_an_agent_of_agentschema_keeps_its_comments_and_order() -> None:
    made = import_text(AGENT, Path("agent.yaml"))
    document = parse(made.text)
    assert document.dialect == "prompty"
    assert told(made) == [("system", "Help with Oslo.")]
    for comment in ("# top comment", "# its name", "# warm", "# where to"):
        assert comment in made.text
    assert list(document.data) == ["name", "model", "inputs", "tools", "template"]
    assert document.template.format == "mustache"
    assert [tool.parameters["required"] for tool in document.tools] == [["q"]]
    assert made.notes == ()
    assert made.title == "travel"


def test_an_agent_of_another_kind_is_refused() -> None:
    with pytest.raises(ImportFailure, match="workflow"):
        import_text("kind: workflow\nname: x\ninstructions: y\n", Path("a.yaml"))


PROMPTFOO = """# tests of the trip
description: Trip
prompts:
  - "Tell me about {{city}}{% if days %} in {{ days }} days{% endif %}"  # the first
  - file://chat.json
  - label: plain
    raw: "Describe {{ city }}"
providers:
  - id: openai:chat:gpt-4o
    config: {temperature: 0, max_tokens: 20, apiKey: sk-secret, extra: 1}
  - anthropic:messages:claude
defaultTest:
  vars: {days: 2}
tests:
  - description: the north
    vars: {city: Oslo}
    assert: [{type: contains, value: fjord}]
  - vars: {city: [Rome, Bari]}
sharing: true
"""


def test_promptfoo_gives_a_prompt_and_its_tests_as_input_sets(tmp_path: Path) -> None:
    (tmp_path / "chat.json").write_text(
        '[{"role": "system", "content": "Be kind."}, {"role": "user", "content": "In {{city}}"}]',
        encoding="utf-8",
    )
    path = tmp_path / "promptfooconfig.yaml"
    path.write_text(PROMPTFOO, encoding="utf-8")
    made = import_file(path)
    assert made.input_sets == {
        "the north": {"days": 2, "city": "Oslo"},
        "test 2 [1]": {"days": 2, "city": "Rome"},
        "test 2 [2]": {"days": 2, "city": "Bari"},
    }
    assert told(made, **made.input_sets["the north"]) == [("user", "Tell me about Oslo in 2 days")]
    document = parse(made.text)
    assert document.model.id == "gpt-4o"
    assert document.model.provider == "openai"
    assert document.model.options == {
        "temperature": 0,
        "maxOutputTokens": 20,
        "additionalProperties": {"extra": 1},
    }
    assert [item.name for item in document.inputs] == ["city", "days"]
    assert "sk-secret" not in made.text
    assert "# tests of the trip" in made.text
    for word in ("apiKey", "assert", "sharing", "only the first one", "plain"):
        assert any(word in note for note in made.notes), word
    assert made.others == ("prompt 1", "chat.json", "plain")
    assert told(import_file(path, 1), city="Oslo") == [("system", "Be kind."), ("user", "In Oslo")]
    assert told(import_file(path, 2), city="Oslo") == [("user", "Describe Oslo")]


def test_a_prompt_of_promptfoo_that_is_missing_leaves_the_others(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text('prompts: [file://gone.txt, "Hi {{ who }}"]\n', encoding="utf-8")
    assert told(import_file(path, 1), who="Bo") == [("user", "Hi Bo")]
    assert import_file(path, 1).others == ("gone.txt", "prompt 2")
    with pytest.raises(ImportFailure, match=r"gone\.txt"):
        import_file(path)


def test_promptfoo_reads_no_file_outside_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    path = folder / "config.yaml"
    path.write_text("prompts: [file://../secret.txt]\n", encoding="utf-8")
    with pytest.raises(ImportFailure):
        import_file(path)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", ["f-string", "mustache", "jinja2"])
def test_what_langchain_writes_is_read(form: str) -> None:
    from langchain_core.load import dumps
    from langchain_core.messages import AIMessage, SystemMessage, ToolMessage
    from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder

    name = "{who}" if form == "f-string" else "{{who}}"
    prompt = ChatPromptTemplate(
        [
            SystemMessage("Literal {who} {{who}}"),
            ("system", f"Help {name}."),
            MessagesPlaceholder("talk", optional=True),
            AIMessage("", tool_calls=[{"id": "c", "name": "f", "args": {"a": 1}}]),
            ToolMessage("found", tool_call_id="c"),
            ("human", f"Go {name}"),
        ],
        template_format=form,
    ).partial(who="Ada")
    made = import_text(dumps(prompt, pretty=True))

    talk: Json = [{"role": "user", "content": "before"}]
    wanted = prompt.invoke({"talk": [("user", "before")]}).to_messages()
    roles = {"human": "user", "ai": "assistant"}
    assert told(made, talk=talk) == [
        (roles.get(each.type, each.type), each.content) for each in wanted
    ]
    calls = [part for message in messages(made) for part in message.parts if hasattr(part, "name")]
    assert [(call.name, call.arguments) for call in calls] == [("f", '{"a": 1}')]
    assert parse(made.text).input("talk") is not None


@pytest.mark.filterwarnings("ignore")
def test_what_langchain_cannot_write_is_no_empty_prompt() -> None:
    from langchain_core.load import dumps
    from langchain_core.prompts import FewShotPromptTemplate, PromptTemplate

    few = FewShotPromptTemplate(
        examples=[{"x": "1"}], example_prompt=PromptTemplate.from_template("{x}"), suffix="{y}"
    )
    with pytest.raises(ImportFailure, match="only the name of this FewShotPromptTemplate"):
        import_text(dumps(few))
    pipeline = {"lc": 1, "type": "constructor", "id": ["x", "PipelinePrompt"], "kwargs": {}}
    with pytest.raises(ImportFailure, match="'PipelinePrompt' cannot be read"):
        import_text(json.dumps(pipeline))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", ["f-string", "mustache", "jinja2"])
def test_a_picture_of_langchain_that_is_a_variable_stays_an_input(form: str) -> None:
    from langchain_core.load import dumps
    from langchain_core.messages import AIMessage
    from langchain_core.prompts import ChatPromptTemplate

    opening, closing = ("{", "}") if form == "f-string" else ("{{", "}}")
    pic, q, number = (f"{opening}{name}{closing}" for name in ("pic", "q", "number"))
    calls = [{"id": "c", "name": "f", "args": {}}]
    prompt = ChatPromptTemplate(
        [
            (
                "human",
                [
                    {"type": "text", "text": f"See {q}"},
                    {"type": "image_url", "image_url": {"url": pic}},
                ],
            ),
            ("human", [{"type": "image_url", "image_url": {"url": f"http://h/{number}.png"}}]),
            AIMessage("Literal {q}", tool_calls=calls),
        ],
        template_format=form,
    )
    made = import_text(dumps(prompt))
    document = parse(made.text)
    assert [(item.name, item.kind) for item in document.inputs if item.kind == "image"] == [
        ("pic", "image"),
        ("image", "image"),
    ]
    first, _, third = messages(made, pic="http://h/own.png", q="this")
    assert [getattr(part, "source", "") for part in first.parts][-1] == "http://h/own.png"
    assert third.text == "Literal {q}"
    assert any("variables in it are not filled in" in note for note in made.notes)
    assert not any("are in a thread" in note for note in made.notes)
    marked = [{"type": "image_url", "image_url": {"url": pic, "detail": "low"}}]
    made = import_text(dumps(ChatPromptTemplate([("human", marked)], template_format=form)))
    assert any("are in a thread" in note for note in made.notes)


def test_older_prompts_of_langchain_and_sequences() -> None:
    old = {"_type": "prompt", "template": "Hi {who}", "input_variables": ["who"]}
    assert told(import_text(json.dumps(old)), who="Bo") == [("user", "Hi Bo")]
    few = {
        "_type": "few_shot",
        "prefix": "Opposites.",
        "suffix": "{word} ->",
        "examples": [{"a": "tall", "b": "{short}"}],
        "example_prompt": {"_type": "prompt", "template": "{a} -> {b}"},
    }
    assert told(import_text(json.dumps(few)), word="hot") == [
        ("user", "Opposites.\n\ntall -> {short}\n\nhot ->")
    ]
    lc = {"lc": 1, "type": "constructor"}
    sequence = {
        **lc,
        "id": ["langchain", "schema", "runnable", "RunnableSequence"],
        "kwargs": {
            "first": {**lc, "id": ["x", "PromptTemplate"], "kwargs": {"template": "Hi {who}"}},
            "middle": [],
            "last": {
                **lc,
                "id": ["x", "RunnableBinding"],
                "kwargs": {
                    "bound": {
                        **lc,
                        "id": ["x", "ChatOpenAI"],
                        "kwargs": {"model": "gpt-4o", "temperature": 0},
                    },
                    "kwargs": {"tools": [{"type": "function", "function": {"name": "f"}}]},
                },
            },
        },
    }
    made = import_text(json.dumps(sequence))
    document = parse(made.text)
    assert (document.model.id, document.model.options) == ("gpt-4o", {"temperature": 0})
    assert [tool.name for tool in document.tools] == ["f"]


CHATS = {
    "lines": "System: Be kind.\nUser: Hi\nthere: friend\n\nAssistant: Hello\n",
    "bold": "**System:** Be kind.\n\n**User:** Hi\nthere: friend\n\n**AI:** Hello\n",
    "headings": "## System\nBe kind.\n\n## User\nHi\nthere: friend\n\n## ChatGPT said:\nHello\n",
    "chatml": "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\nHi\nthere: friend"
    "<|im_end|>\n<|im_start|>assistant\nHello<|im_end|>\n<|im_start|>assistant\n",
    "llama": "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nBe kind.<|eot_id|>"
    "<|start_header_id|>user<|end_header_id|>\n\nHi\nthere: friend<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\nHello<|eot_id|>",
}


@pytest.mark.parametrize("kind", list(CHATS))
def test_chat_text_in_all_its_shapes(kind: str) -> None:
    made = import_text(CHATS[kind], Path("chat.txt"))
    assert told(made) == [
        ("system", "Be kind."),
        ("user", "Hi\nthere: friend"),
        ("assistant", "Hello"),
    ]
    assert made.notes == ()


def test_text_without_speakers_is_one_message_and_says_so() -> None:
    text = "Write {{ a }} poem.\n\ntool:\n  x ![image](a.png)"
    made = import_text(text, Path("a.txt"))
    assert told(made) == [("user", text)]
    assert len(made.notes) == 1
    with pytest.raises(ImportFailure, match="empty"):
        import_text(" \n", Path("a.txt"))


def test_prompty_1_is_converted_and_prompty_2_stays_as_it_is() -> None:
    new = (
        "---\nname: x # c\ntemplate:\n  format: {kind: jinja2}\n  parser: {kind: prompty}\n---\n"
        "user:\nHi\n"
    )
    assert import_text(new).text == new
    old = (
        "---\nname: x # c\nmodel:\n  api: chat\n  configuration: {type: openai, name: m}\n"
        "  response: first\n---\nuser:\nHi\n"
    )
    made = import_text(old, Path("a.prompty"))
    assert parse(made.text).dialect == "prompty"
    assert "# c" in made.text
    assert any("response" in note for note in made.notes)
    assert told(made) == [("user", "Hi")]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", b"{"),
        ("a.json", b'{"mcpServers": {}}'),
        ("a.json", b"[1, 2]"),
        ("a.json", b"hello"),
        ("a.json", b"[" * 5000),
        ("a.yaml", b"a: [1"),
        ("a.yaml", b"name: x\n"),
        ("a.yaml", b"prompts: []\n"),
        ("a.yaml", b"prompts: 7\n"),
        ("a.txt", b"\xff\xfe"),
        ("a.txt", b"a\x00b"),
        ("a.prompty", b"---\na: [\n---\nx"),
        ("a.json", b'{"lc": 1, "id": ["x", "Nothing"], "kwargs": {}}'),
        ("a.json", b'{"lc": 1}'),
        ("a.json", b'{"messages": []}'),
        ("a.jsonl", b'{"messages": [{"role": "user", "content": 1}]}\n{'),
    ],
)
def test_bad_files_end_in_a_sentence(name: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    if name.endswith("jsonl"):  # the first line is fine, the second is broken
        assert told(import_file(path)) == [("user", "1")]
    with pytest.raises(ImportFailure, match=r"\w+"):
        import_file(path, 1 if name.endswith("jsonl") else 0)
    assert not is_importable(tmp_path / "missing.json")


def test_stop_sequences_that_are_no_texts_break_no_request(tmp_path: Path) -> None:
    made = import_text(json.dumps({**REQUEST, "stop": [{}, "END", "END"]}))
    target = find_target("openai-chat")
    assert target is not None
    path = tmp_path / "a.prompty"
    context = ReferenceContext(folder=tmp_path, trusted=False)
    source = ExportSource(parse(made.text, path), references=context).for_target(target)
    assert json.loads(target.make(source).text)["stop"] == [{}, "END"]


def test_what_the_studio_exports_it_imports_again(tmp_path: Path) -> None:
    """Each form that is a format of import too, from file to messages."""
    path = tmp_path / "p.prompty"
    text = (
        "---\nname: p\nmodel: {id: m, provider: openai}\n"
        "template: {format: {kind: jinja2}, parser: {kind: prompty}}\n---\n"
        "system:\nBe {% raw %}{{ kind }}{% endraw %}.\n\nuser:\n```\ncode\n```\nGo\n"
    )
    document = parse(text, path)
    wanted = [(each.role, each.text) for each in prepare(document, {}).messages.messages]
    context = ReferenceContext(folder=tmp_path, trusted=False)
    for name in (
        "prompty",
        "section",
        "legacy",
        "agentschema",
        "openai-chat",
        "openai-responses",
        "anthropic",
        "messages-jsonl",
        "markdown",
    ):
        target = find_target(name)
        assert target is not None
        out = tmp_path / f"{name}{target.suffix}"
        source = ExportSource(document, references=context).for_target(target)
        out.write_bytes(target.make(source).content)
        assert told(import_file(out)) == wanted, name


def test_a_line_separator_inside_a_text_ends_no_line_of_json() -> None:
    line = json.dumps([{"role": "user", "content": "one\u2028two"}], ensure_ascii=False)
    lines = import_text(f"{line}\n{line}\n", Path("a.jsonl"))
    assert lines.others == ("line 1", "line 2")
    assert told(lines) == [("user", "one\u2028two")]


def test_prompts_of_promptfoo_are_a_mapping_or_a_pattern_and_values_stand_in_files(
    tmp_path: Path,
) -> None:
    for name, text in {
        "p1.txt": "One {{ who }}",
        "p2.txt": "Two {{ who }}",
        "who.txt": "Bo\n",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    path = tmp_path / "config.yaml"
    path.write_text(
        "prompts: ['p*.txt', '../*.txt']\ntests: [{vars: {who: file://who.txt, x: file://a.py}}]\n",
        encoding="utf-8",
    )
    made = import_file(path, 1)
    assert made.others == ("p1.txt", "p2.txt", "prompt 3")
    assert made.input_sets["test 1"]["who"] == "Bo"
    assert told(made, who="Bo") == [("user", "Two Bo")]
    assert any("vars.x" in note and "a.py" in note for note in made.notes)
    path.write_text("prompts: {p2.txt: second}\n", encoding="utf-8")
    assert import_file(path).title == "second"


def test_a_pair_of_nunjucks_is_of_an_object_or_a_list(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(
        'prompts: ["{% for k, v in x %}{{ k }}={{ v }};{% endfor %}"]\n'
        "tests: [{vars: {x: {a: 1}}}]\n",
        encoding="utf-8",
    )
    made = import_file(path)
    assert told(made, x={"a": 1}) == [("user", "a=1;")]
    assert told(made, x=[["b", 2]]) == [("user", "b=2;")]


def test_an_import_whose_preview_fails_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(
        'prompts: ["{% for a in x %}{% for k, v in a %}{{ k }}{% endfor %}{% endfor %}"]\n'
        "tests: [{vars: {x: {user: hi}}}]\n",
        encoding="utf-8",
    )
    with pytest.raises(ImportFailure, match="would have an error in line"):
        import_file(path)


@pytest.mark.parametrize(
    "template",
    ["{% if x > 3 %}a{% endif %}", "{{ x + 1 }}", "{{ x | tojson }}", "{{ x.split(',')[1] }}"],
)
def test_a_template_that_only_lacks_values_is_imported(template: str, tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(json.dumps({"prompts": [template]}), encoding="utf-8")
    assert template in import_file(path).text


def test_a_format_of_a_number_that_has_no_value_is_imported() -> None:
    data = {"_type": "prompt", "template": "Price {price:.2f}", "input_variables": ["price"]}
    assert told(import_text(json.dumps(data)), price=2) == [("user", "Price 2.00")]


def test_stars_in_a_prompt_of_promptfoo_are_no_pattern(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text('prompts: ["**Hello**"]\n', encoding="utf-8")
    assert told(import_file(path)) == [("user", "**Hello**")]


@pytest.mark.parametrize(
    "text",
    [
        "kind: Prompt\nmodel: {id: m}\ninputs: [{name: [a]}, {name: {b: 1}}]\n"
        "template: {format: {kind: jinja2}, parser: {kind: prompty}}\ninstructions: Hi\n",
        '{"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tools": [{"type": '
        '"function", "function": {"name": "t", "parameters": {"type": "object", "properties": '
        '{"a": {"type": "string"}}, "required": [["a"], {"b": 1}]}}}]}',
    ],
)
def test_names_that_are_no_text_stop_no_import(text: str) -> None:
    assert "Hi" in import_text(text).text


@pytest.mark.parametrize("given", ["[a, 2]", "[{role: developer, content: Hi}]", "{a: 1}"])
def test_instructions_that_are_no_text_are_refused(given: str) -> None:
    with pytest.raises(ImportFailure, match="instructions: AgentSchema needs one text"):
        import_text(f"kind: prompt\nname: x\ninstructions: {given}\n", Path("a.yaml"))


def test_a_function_or_table_of_prompts_is_no_text_of_promptfoo(tmp_path: Path) -> None:
    for word, why in (("prompts.py:simple", "is a function"), ("rows.csv", "is a table")):
        path = tmp_path / "promptfooconfig.yaml"
        path.write_text(f"prompts: [{word}]\nproviders: [openai:gpt-4o]\n", encoding="utf-8")
        with pytest.raises(ImportFailure, match=why):
            import_file(path)


def test_what_promptfoo_adds_to_a_request_is_said(tmp_path: Path) -> None:
    path = tmp_path / "promptfooconfig.yaml"
    head = "prompts: ['Hi {{ a }}']\nproviders:\n- id: openai:gpt-4o\n  config: "
    for config, words in (
        ("{}", ["providers: promptfoo adds a temperature of 0 and a limit of tokens"]),
        ("{max_completion_tokens: 9}", ["providers: promptfoo adds a temperature of 0 for"]),
        ("{omitDefaults: true}", []),
    ):
        path.write_text(f"{head}{config}\n", encoding="utf-8")
        notes = import_file(path).notes
        assert [note.startswith(words[0]) for note in notes] == [True] * len(words)


def test_a_chat_of_promptfoo_may_begin_with_comments(tmp_path: Path) -> None:
    chat = (
        "# Kept in sync.\n#\n\n- role: system\n  content: Be short.\n- role: user\n  content: Hi\n"
    )
    (tmp_path / "chat.yaml").write_text(chat, encoding="utf-8")
    path = tmp_path / "promptfooconfig.yaml"
    path.write_text("prompts: [file://chat.yaml]\n", encoding="utf-8")
    prepared = prepare(parse(import_file(path).text), {})
    assert [each.role for each in prepared.messages.messages] == ["system", "user"]


def test_lists_and_instructions_of_promptfoo_mean_what_they_mean_there(tmp_path: Path) -> None:
    path = tmp_path / "promptfooconfig.yaml"
    config = "{omitDefaults: true, instructions: Be short.}"
    path.write_text(
        "prompts: ['{{ a }}{{ b }}']\n"
        f"providers: [{{id: 'openai:responses:m', config: {config}}}]\n"
        "tests: [{vars: {a: [x, y], b: [1, 2]}}]\n",
        encoding="utf-8",
    )
    made = import_file(path)
    assert [*made.input_sets.values()] == [{"a": "x", "b": [1, 2]}, {"a": "y", "b": [1, 2]}]
    prepared = prepare(parse(made.text), {"a": "x", "b": 1})
    roles = [(each.role, each.text) for each in prepared.messages.messages]
    assert roles == [("system", "Be short."), ("user", "x1")]


def test_lines_of_a_document_that_name_who_speaks_are_said_and_code_is_left_alone() -> None:
    made = import_text("Improve $ARGUMENTS.\n\nUser: why\nSystem: how\n", Path("improve.md"))
    assert told(made) == [("system", "Improve $ARGUMENTS."), ("user", "why"), ("system", "how")]
    assert made.notes == (
        "2 lines with role names split the text into messages, from line 3 on; "
        "the text above is the system message.",
    )
    code = "Improve $ARGUMENTS.\n\n```\nUser: why\nSystem: how\n```\nEnd."
    assert told(import_text(code, Path("improve.md"))) == [("user", code)]


def test_keys_of_front_matter_that_do_nothing_are_said() -> None:
    text = "---\nname: a\ntools: Read, Bash\ncolor: red\n---\nYou review code.\n"
    made = import_text(text, Path("reviewer.md"))
    assert made.text == text
    assert made.notes == (
        "A text is not a list of tools, so no tool is sent; start each with a dash: - name: …",
        "The key 'color' is unknown; it is kept but has no effect.",
    )


@pytest.mark.parametrize(
    ("prompt", "is_cut"),
    [
        ("Say {{a}}", False),
        ("Say {{a}}\n", True),
        ([{"role": "system", "content": "Be nice."}, {"role": "user", "content": "Hi"}], False),
        ([{"role": "system", "content": "Be nice."}, {"role": "user", "content": "\nHi"}], True),
    ],
)
def test_line_ends_that_a_prompt_of_promptfoo_loses_are_said(prompt: Json, is_cut: bool) -> None:
    written = prompt if isinstance(prompt, str) else json.dumps(prompt)
    made = import_text(json.dumps({"prompts": [written]}), Path("promptfooconfig.yaml"))
    note = "prompts: line ends at the ends of a message are not preserved."
    assert (note in made.notes) == is_cut


def test_documents_of_anthropic_are_sent_as_they_came() -> None:
    whole = {"type": "document", "source": {"type": "url", "url": "https://e.com/d.pdf"}}
    plain = {"type": "text", "media_type": "text/plain", "data": "It rains: 5 %, ä."}
    further = {"title": "T", "context": "C", "citations": {"enabled": True}}
    image = {"type": "image", "source": {"type": "url", "url": "https://e.com/a.png"}}
    blocks = [
        {**whole, "title": "T"},
        {"type": "document", "source": plain, **further},
        {**image, "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "x"},
    ]
    body = {"model": "claude-sonnet-5", "messages": [{"role": "user", "content": blocks}]}
    made = import_text(json.dumps({**body, "max_tokens": 9}))
    sent = sent_by_studio(ExportSource(parse(made.text)), "anthropic").body
    assert (sent["messages"], made.notes) == (body["messages"], ())


@pytest.mark.parametrize(
    ("body", "form"),
    [
        ({"model": "claude-opus-5", "max_tokens": 9}, "Anthropic messages request"),
        ({"model": "m", "stop_sequences": ["x"]}, "Anthropic messages request"),
        ({"model": "anthropic/claude-opus-5", "max_tokens": 9}, "OpenAI chat completions request"),
        ({"model": "llama3", "options": {"num_ctx": 9}}, "Ollama request"),
    ],
)
def test_the_keys_of_a_body_say_whose_it_is(body: dict[str, Any], form: str) -> None:
    made = import_text(json.dumps({**body, "messages": [{"role": "user", "content": "Hi"}]}))
    assert made.form == form
    assert not [note for note in made.notes if "reference has no such option" in note]


def test_what_a_request_means_otherwise_here_is_said() -> None:
    call = {"id": "c", "type": "custom", "custom": {"name": "code", "input": "1 + 1"}}
    file = {"type": "file", "file": {"file_id": "file-1"}}
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    asked = {"type": "json_schema", "json_schema": {"schema": schema, "strict": False}}
    messages = [
        {"role": "critic", "content": [file, {"type": "text", "text": "Hi"}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "2"},
    ]
    body = {"model": "gpt-5", "messages": messages, "response_format": asked}
    notes = "\n".join(import_text(json.dumps(body)).notes)
    for words in ("'critic'", "'code'", "'file-1'", "strict here"):
        assert words in notes
    parts = [{"executableCode": {"code": "1"}}]
    gemini = {"contents": [{"role": "user", "parts": parts}]}
    assert "executableCode" in "\n".join(import_text(json.dumps(gemini)).notes)
