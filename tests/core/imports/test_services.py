"""Prompts of other programs and services, each as its own export writes it."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from studio.core.export.sent import sent_by_studio
from studio.core.export.target import ExportSource
from studio.core.imports.gemini_body import gemini_rows
from studio.core.imports.imported import Imported, ImportFailure
from studio.core.imports.recognize import import_file
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from studio.core.text.values import object_of
from tests.core.export.conftest import HEAD, PROMPTS, Make, make

__all__ = ["make"]


def imported(tmp_path: Path, name: str, content: Any, choose: int = 0) -> Imported:
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8")
    made = import_file(path, choose)
    assert not [item.message for item in parse(made.text).problems if item.severity == "error"]
    return made


def messages(made: Imported, **values: Any) -> list[tuple[str, str]]:
    prepared = prepare(parse(made.text), values, preview=True)
    return [(each.role, each.text) for each in prepared.messages.messages]


DOTPROMPT = """---
model: googleai/gemini-2.5-flash
config: {temperature: 0.4, maxOutputTokens: 20, safetySettings: []}
input:
  schema:
    name: string, who asks
    age?: integer
    tags(array, words): string
    mood(enum): [good, bad]
  default: {name: Ann}
output:
  format: json
  schema: {answer: string, steps(array): {title: string}}
tools: [search]
---
{{role "system"}}
Help {{name}}.{{#if age}} They are {{age}}.{{else}} Age unknown.{{/if}}
{{#each tags}}{{@index}}: {{this}} for {{../name}}
{{/each}}{{#unless age}}No age.{{/unless}}{{! a comment }}
{{history}}
{{role "user"}}
{{json tags}} {% stays {{media url=photo}}
{{>footer}}
"""


def test_a_dotprompt_file(tmp_path: Path) -> None:
    made = imported(tmp_path, "a.prompt", DOTPROMPT)
    document = parse(made.text)
    assert (document.model.id, document.model.provider) == ("gemini-2.5-flash", "google")
    assert document.model.options["maxOutputTokens"] == 20
    assert {item.name: (item.kind, item.required) for item in document.inputs} == {
        "name": ("string", False),
        "age": ("integer", False),
        "tags": ("array", True),
        "mood": ("string", True),
        "history": ("thread", False),
        "photo": ("image", False),
    }
    assert [(item.name, item.kind) for item in document.outputs] == [
        ("answer", "string"),
        ("steps", "array"),
    ]
    system, user = messages(made, tags=["x", "y"], history=[], photo="a.png")
    assert system == ("system", "Help Ann. Age unknown.\n0: x for Ann\n1: y for Ann\nNo age.")
    assert user[1].startswith('["x", "y"] {% stays')
    assert any("footer" in note for note in made.notes)
    assert any(note.startswith("tools:") for note in made.notes)


def test_a_langfuse_prompt(tmp_path: Path) -> None:
    made = imported(
        tmp_path,
        "a.json",
        {
            "type": "chat",
            "name": "shop",
            "version": 3,
            "labels": ["live"],
            "config": {"model": "gpt-4o", "temperature": 0.1},
            "prompt": [
                {"role": "system", "content": "Help {{who}}."},
                {"type": "placeholder", "name": "chat"},
                {"type": "chatmessage", "role": "user", "content": "Go"},
            ],
        },
    )
    assert parse(made.text).model.options == {"temperature": 0.1}
    assert messages(made, who="Ann", chat=[{"role": "user", "content": "x"}]) == [
        ("system", "Help Ann."),
        ("user", "x"),
        ("user", "Go"),
    ]


def test_langfuse_fills_in_names_only(tmp_path: Path) -> None:
    text = "{% raw %}{{movie}}{% endraw %} {# no comment #} {{{movie}}} {{no name}}"
    data = {"name": "a", "type": "text", "prompt": text, "version": 1}
    made = imported(tmp_path, "a.json", data)
    assert messages(made, movie="Alien") == [
        ("user", "{% raw %}Alien{% endraw %} {# no comment #} {{{movie}}} {{no name}}")
    ]


def test_a_stored_prompt_of_openai(tmp_path: Path) -> None:
    made = imported(
        tmp_path,
        "a.json",
        {
            "id": "pmpt_1",
            "object": "prompt",
            "name": "shop",
            "model": "gpt-4o",
            "instructions": "Help {{who}}.",
            "variables": {"who": "Ann"},
            "input": [{"role": "user", "content": [{"type": "input_text", "text": "Hi {{who}}"}]}],
            "tools": [{"type": "web_search"}],
        },
    )
    assert messages(made) == [("system", "Help Ann."), ("user", "Hi Ann")]
    assert any("web_search" in note for note in made.notes)


def test_a_run_of_an_eval(tmp_path: Path) -> None:
    made = imported(
        tmp_path,
        "a.json",
        {
            "object": "eval.run",
            "name": "run",
            "data_source": {
                "type": "completions",
                "model": "gpt-4o",
                "sampling_params": {"temperature": 0},
                "input_messages": {
                    "type": "template",
                    "template": [
                        {"role": "user", "content": {"type": "input_text", "text": "{{item.q}}?"}},
                    ],
                },
                "source": {"type": "file_content", "content": [{"item": {"q": "2+2"}}]},
            },
        },
    )
    assert messages(made) == [("user", "2+2?")]
    assert made.input_sets == {"row 1": {"item": {"q": "2+2"}}}


def test_an_eval_with_its_runs_inside(tmp_path: Path) -> None:
    template = [
        {"role": "developer", "content": "Be {{item.t}}"},
        {"role": "user", "content": "{{item.q}}"},
    ]
    run = {
        "object": "eval.run",
        "data_source": {
            "type": "completions",
            "model": "gpt-4o",
            "input_messages": {"type": "template", "template": template},
            "source": {"type": "file_content", "content": [{"item": {"q": "1+1", "t": "k"}}]},
        },
    }
    evaluation = {"object": "eval", "name": "E", "testing_criteria": [{"type": "string_check"}]}
    for runs in ([{"object": "eval.run"}, run], {"object": "list", "data": [run]}):
        made = imported(tmp_path, "e.json", {**evaluation, "runs": runs})
        assert messages(made) == [("developer", "Be k"), ("user", "1+1")]
        assert parse(made.text).name == "E"
        assert [note for note in made.notes if "testing_criteria" in note]


def test_a_chatgpt_export(tmp_path: Path) -> None:
    def node(parent: str | None, role: str, *parts: Any) -> dict[str, Any]:
        content = {"content_type": "text", "parts": list(parts)}
        return {"parent": parent, "message": {"author": {"role": role}, "content": content}}

    talk = {
        "title": "T",
        "current_node": "d",
        "mapping": {
            "a": {"parent": None, "message": None},
            "b": node("a", "user", "Hi {{x}}", {"image": 1}),
            "c": node("b", "assistant", "left"),
            "d": node("b", "assistant", "Ho\nuser:\nno"),
        },
    }
    made = imported(tmp_path, "conversations.json", [talk, {**talk, "title": "U"}], 1)
    assert messages(made) == [("user", "Hi {{x}}"), ("assistant", "Ho\nuser:\nno")]
    assert made.others == ("T", "U")
    assert made.title == "U"
    assert "Left out: 1 (pictures" in made.notes[0]


@pytest.mark.parametrize(
    "command",
    [
        "curl https://my.host/v1/chat/completions \\\n -H 'Authorization: x' \\\n -d '{BODY}'",
        "curl --json '{BODY}' https://my.host/v1/chat/completions?x=1",
        "#!/bin/sh\ncurl https://my.host/v1/chat/completions --data @- <<'END'\n{BODY}\nEND\n",
    ],
)
def test_a_curl_command(command: str, tmp_path: Path) -> None:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hi {{x}}"}]})
    made = imported(tmp_path, "a.sh", command.replace("{BODY}", body))
    assert messages(made) == [("user", "Hi {{x}}")]
    assert parse(made.text).model.connection == {"kind": "key", "endpoint": "https://my.host/v1"}


def test_a_curl_command_without_a_request_is_named(tmp_path: Path) -> None:
    with pytest.raises(ImportFailure, match="sends no body"):
        imported(tmp_path, "a.sh", "curl https://a.b")
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hi"}]})
    with pytest.raises(ImportFailure, match="address 'https://]chat' cannot be read"):
        imported(tmp_path, "a.sh", f"curl https://]chat -d '{body}'")


@pytest.mark.parametrize("kind", ["jinja", "mustache", "plain"])
@pytest.mark.parametrize("target", ["python", "curl-openai-chat", "bundle"])
def test_what_the_studio_wrote_is_read_again(
    kind: str, target: str, make: Make, tmp_path: Path
) -> None:
    result = make(PROMPTS[kind], target, sets={"one": {}})
    suffix = {"python": ".py", "bundle": ".zip"}.get(target, ".sh")
    made = imported(tmp_path, f"again{suffix}", result.content)
    wanted = prepare(parse(PROMPTS[kind]), {}).messages.messages
    got = messages(made)
    assert [(each[0], each[1].strip("\n")) for each in got] == [
        (each.role, each.text.strip("\n")) for each in wanted
    ]
    assert parse(made.text).model.id == "scripted-1"


def test_another_zip_is_no_bundle(tmp_path: Path) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("a.txt", "x")
    with pytest.raises(ImportFailure, match="not a bundle"):
        imported(tmp_path, "a.zip", content.getvalue())


@pytest.mark.parametrize("suffix", [".md", ".txt"])
def test_a_file_with_front_matter_is_no_chat_text(suffix: str, tmp_path: Path) -> None:
    text = HEAD + "---\nsystem:\nHi\n"
    assert imported(tmp_path, f"a{suffix}", text).text == text


PROVIDERS = {
    "openai:gpt-4o": ("gpt-4o", "openai"),
    "openai:chat:ft:gpt-4o:org::id": ("ft:gpt-4o:org::id", "openai"),
    "ollama:chat:llama3:8b": ("llama3:8b", "ollama"),
    "huggingface:chat:google/gemma:novita": ("google/gemma:novita", "huggingface"),
    "azureopenai:chat:my-gpt": ("my-gpt", "foundry"),
    "anthropic:messages:claude-x": ("claude-x", "anthropic"),
    "http://127.0.0.1:8000/chat": ("", ""),
    "https://a.b/c": ("", ""),
    "openai": ("", "openai"),
    "file://provider.py": ("", ""),
}


@pytest.mark.parametrize("word", PROVIDERS)
def test_a_provider_of_promptfoo(word: str, tmp_path: Path) -> None:
    text = f"prompts: ['Hi']\nproviders:\n- id: '{word}'\n  config: {{url: x, temperature: 0}}\n"
    model = parse(imported(tmp_path, "a.yaml", text).text).model
    assert (model.id, model.provider) == PROVIDERS[word]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", "q,__expected\n2+2,4\n"),
        ("t.json", '[{"q": "2+2"}]'),
        ("t.jsonl", '{"vars": {"q": "2+2"}}\n'),
        ("t.yaml", "- vars: {q: 2+2}\n"),
    ],
)
def test_tests_of_promptfoo_in_a_file(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    text = f"prompts: ['{{{{q}}}}?']\ntests: file://{name}\n"
    assert imported(tmp_path, "a.yaml", text).input_sets == {"test 1": {"q": "2+2"}}


def test_comments_of_what_is_left_out_are_not_piled_up(tmp_path: Path) -> None:
    text = "# Head\nprompts: ['Hi']\n# one\nsharing: on # two\ntests:\n# three\n- vars: {}\n"
    made = imported(tmp_path, "a.yaml", text)
    assert made.text.startswith("---\n# Head\ntemplate:")
    assert [note for note in made.notes if "sharing" in note]


def test_a_template_that_cannot_be_read_is_kept_letter_by_letter(tmp_path: Path) -> None:
    made = imported(tmp_path, "a.yaml", "prompts: ['{% if x %}{{ y }} Hi']\n")
    assert messages(made) == [("user", "{% if x %}{{ y }} Hi")]
    assert any("kept unchanged" in note for note in made.notes)


AGENT = {
    "kind": "Prompt",
    "name": "a",
    "instructions": ["Be kind.", "Be brief."],
    "model": {"id": "m", "provider": "OpenAI", "apiType": "Chat"},
    "tools": [
        {
            "kind": "function",
            "name": "f",
            "bindings": {"x": "x"},
            "parameters": {"properties": {"q": {"kind": "string"}}},
        }
    ],
}


@pytest.mark.parametrize("data", [AGENT, {"name": "shop", "template": AGENT, "parameters": {}}])
def test_an_agent_of_the_agent_framework(data: dict[str, Any], tmp_path: Path) -> None:
    made = imported(tmp_path, "a.json", data)
    document = parse(made.text)
    assert (document.model.provider, document.model.api_type) == ("openai", "chat")
    assert messages(made) == [("system", "Be kind.\nBe brief.")]
    assert any("bindings" in note for note in made.notes)


def test_langchains_own_files(tmp_path: Path) -> None:
    def prompt(text: str) -> dict[str, Any]:
        return {"_type": "prompt", "template": text, "template_format": "f-string"}

    chat = {
        "_type": "chat",
        "output_parser": {"_type": "x"},
        "messages": [
            {"type": "system", "prompt": prompt("Be kind.")},
            {"type": "human", "prompt": prompt("{q}")},
        ],
    }
    made = imported(tmp_path, "chat.json", chat)
    assert messages(made, q="2+2") == [("system", "Be kind."), ("user", "2+2")]
    assert any("output_parser" in note for note in made.notes)

    (tmp_path / "examples.json").write_text('[{"a": "up", "b": "down"}]', encoding="utf-8")
    few = {
        "_type": "few_shot",
        "prefix": "Antonyms.",
        "examples": "examples.json",
        "example_prompt": prompt("{a}: {b}"),
        "suffix": "{w}:",
    }
    assert messages(imported(tmp_path, "few.json", few), w="in") == [
        ("user", "Antonyms.\n\nup: down\n\nin:")
    ]


def test_what_only_anthropic_says_is_named_once(tmp_path: Path) -> None:
    cached = {"cache_control": {"type": "ephemeral"}}
    made = imported(
        tmp_path,
        "a.json",
        {
            "model": "c",
            "max_tokens": 5,
            "system": [{"type": "text", "text": "S", **cached}],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "Hi", **cached}]},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "hm", "signature": "s"},
                        {"type": "text", "text": "Ho"},
                    ],
                },
            ],
        },
    )
    assert messages(made) == [("system", "S"), ("user", "Hi"), ("assistant", "Ho")]
    assert sorted(note.partition(":")[0] for note in made.notes) == [
        "messages[].content[].signature",
        "messages[].content[].thinking",
    ]
    assert 'system[cache_control="ephemeral"]:' in made.text
    assert 'user[cache_control="ephemeral"]:' in made.text


def test_a_call_of_the_older_form_is_kept(tmp_path: Path) -> None:
    made = imported(
        tmp_path,
        "a.json",
        [
            {"role": "user", "content": "Hi"},
            {
                "role": "assistant",
                "content": None,
                "function_call": {"name": "f", "arguments": "{}"},
            },
        ],
    )
    assert "name: f" in made.text


def test_a_preference_for_fine_tuning_is_the_conversation_that_won(tmp_path: Path) -> None:
    line = {
        "input": {"messages": [{"role": "user", "content": "Hi"}], "parallel_tool_calls": True},
        "preferred_output": [{"role": "assistant", "content": "Hello."}],
        "non_preferred_output": [{"role": "assistant", "content": "What?"}],
    }
    made = imported(tmp_path, "a.jsonl", line)
    assert messages(made) == [("user", "Hi"), ("assistant", "Hello.")]
    assert [note for note in made.notes if "non_preferred_output" in note]


def test_what_a_tool_requires_and_does_not_describe_is_left_out(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["a", "b"]}
    line = {
        "messages": [{"role": "user", "content": "Hi"}],
        "functions": [{"name": "f", "parameters": schema}],
    }
    made = imported(tmp_path, "a.jsonl", line)
    assert [note for note in made.notes if "requires 'a'" in note]
    assert "required: true" in made.text


def test_an_older_langchain_file_needs_no_type(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("Say {what}.", encoding="utf-8")
    for body in ({"template": "Say {what}."}, {"template_path": "text.txt"}):
        data = {"input_variables": ["what"], "output_parser": None, "template_format": "f-string"}
        made = imported(tmp_path, "prompt.json", {**data, **body})
        assert made.form == "LangChain prompt"
        assert messages(made, what="it") == [("user", "Say it.")]


def test_a_script_without_a_package_for_templates_keeps_its_inputs_and_threads(
    tmp_path: Path, make: Make
) -> None:
    text = (
        "---\nname: b\nmodel: {id: m}\ninputs:\n  q: {kind: string, default: 'a{b}'}\n"
        "  talk: {kind: thread}\ntemplate: {format: {kind: jinja2}, parser: {kind: prompty}}\n"
        '---\nsystem:\nValues: {"json": {x}}.\n\n{{talk}}\n\nuser:\nGo {{q}}\n'
    )
    made = imported(tmp_path, "b.py", make(text, "python").content)
    assert messages(made) == [("system", 'Values: {"json": {x}}.'), ("user", "Go a{b}")]
    assert [item.kind for item in parse(made.text).inputs if item.name == "talk"] == ["thread"]
    talk = [{"role": "assistant", "content": "Hi"}]
    assert messages(made, talk=talk, q="Z")[1:] == [("assistant", "Hi"), ("user", "Go Z")]


def test_the_answers_schema_of_a_stored_prompt_is_kept(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    form = {"type": "json_schema", "name": "out", "schema": schema}
    stored = {"id": "pmpt_1", "instructions": "Hi", "input": "Go", "text": {"format": form}}
    made = imported(tmp_path, "p.json", stored)
    assert [item.name for item in parse(made.text).outputs] == ["a"]
    named = imported(tmp_path, "q.json", {**stored, "text": {"format": {"type": "json_object"}}})
    assert [note for note in named.notes if "json_object" in note]


def test_results_and_choices_of_the_older_form_are_todays(tmp_path: Path) -> None:
    call = {"name": "f", "arguments": "{}"}
    request = {
        "model": "m",
        "functions": [{"name": "f", "parameters": {"type": "object", "properties": {}}}],
        "function_call": {"name": "f"},
        "messages": [
            {"role": "user", "content": "w?"},
            {"role": "assistant", "content": None, "function_call": call},
            {"role": "function", "name": "f", "content": "22"},
        ],
    }
    made = imported(tmp_path, "r.json", request)
    prompt = parse(made.text)
    *_, result = prepare(prompt, {}, preview=True).messages.messages
    assert (result.role, result.text) == ("tool", "22")
    assert result.attributes["tool_call_id"] == "call_f"
    further = prompt.model.options["additionalProperties"]
    assert further == {"tool_choice": {"type": "function", "function": {"name": "f"}}}
    auto = imported(tmp_path, "s.json", {**request, "function_call": "auto"})
    assert "function_call" not in auto.text.replace("function_calls", "")


def test_an_agent_that_gets_its_question_as_it_runs_has_a_place_for_it(tmp_path: Path) -> None:
    agent = (
        "kind: Prompt\nname: a\nmodel:\n  id: m\n  apiType: Responses\n"
        "  connection: {kind: remote, endpoint: =Env.PLACE}\ninstructions: Be kind.\n"
    )
    made = imported(tmp_path, "a.yaml", agent)
    prompt = parse(made.text)
    assert [(item.name, item.kind) for item in prompt.inputs] == [("conversation", "thread")]
    assert prompt.model.connection["endpoint"] == "${env:PLACE}"
    asked = messages(made, conversation=[{"role": "user", "content": "Hi"}])
    assert asked == [("system", "Be kind."), ("user", "Hi")]
    chat = imported(tmp_path, "b.yaml", agent.replace("Responses", "Chat"))
    assert not parse(chat.text).inputs


def test_the_parameters_of_a_manifest_are_inputs_of_its_agent(tmp_path: Path) -> None:
    made = imported(
        tmp_path,
        "m.yaml",
        {
            "name": "m",
            "template": {"kind": "prompt", "instructions": "Hi {{name}}"},
            "parameters": {"properties": {"name": {"kind": "string", "default": "Bob"}}},
        },
    )
    assert messages(made) == [("system", "Hi Bob")]
    assert not [note for note in made.notes if "parameters" in note]


def test_a_value_of_dotprompt_that_nobody_gives_is_no_error(tmp_path: Path) -> None:
    made = imported(tmp_path, "d.prompt", "---\nmodel: googleai/m\n---\nA {{json meta}} B")
    prepared = prepare(parse(made.text), {}, preview=True)
    assert not [item.message for item in prepared.problems if item.severity == "error"]
    assert messages(made, meta={"a": 1})[0][1] == 'A {"a": 1} B'


def test_a_block_of_langchain_with_further_keys_keeps_its_text(tmp_path: Path) -> None:
    block = {
        "lc": 1,
        "id": ["x", "DictPromptTemplate"],
        "kwargs": {
            "template": {"type": "text", "text": "Hi {a}", "cache_control": {"type": "ephemeral"}},
            "template_format": "f-string",
        },
    }
    message = {"lc": 1, "id": ["x", "SystemMessagePromptTemplate"], "kwargs": {"prompt": [block]}}
    chat = {"lc": 1, "id": ["x", "ChatPromptTemplate"], "kwargs": {"messages": [message]}}
    made = imported(tmp_path, "a.json", chat)
    assert messages(made, a="Ann") == [("system", "Hi Ann")]
    assert any("cache_control" in note for note in made.notes)


@pytest.mark.parametrize(
    ("calls", "results", "names"),
    [
        ([{}, {}], [{"id": "x#0"}, {"id": "x#1"}], ["gemini-look-0", "gemini-look-1"]),
        ([{"id": "a"}, {"id": "b"}], [{"id": "b"}, {"id": "a"}], ["b", "a"]),
        ([{}, {}], [{}, {}], ["gemini-look-0", "gemini-look-1"]),
        ([{"id": "a"}], [{"id": "other"}], ["other"]),
    ],
)
def test_a_gemini_result_is_of_the_call_with_its_id_or_of_the_first_without_one(
    calls: list[dict[str, str]], results: list[dict[str, str]], names: list[str]
) -> None:
    """Clients number results whose calls came without an id."""
    asked = [{"functionCall": {"name": "look", "args": {}, **each}} for each in calls]
    came = [{"functionResponse": {"name": "look", "response": {}, **each}} for each in results]
    contents = [{"role": "model", "parts": asked}, {"role": "user", "parts": came}]
    rows = gemini_rows({"contents": contents})
    assert [row["tool_call_id"] for row in rows if row["role"] == "tool"] == names


def test_a_gemini_body_makes_the_same_request(tmp_path: Path) -> None:
    schema = {"type": "OBJECT", "properties": {"q": {"type": "STRING"}}, "required": ["q"]}
    call = {"functionCall": {"name": "look", "args": {"q": "x"}}}
    answer = {"functionResponse": {"name": "look", "response": {"result": "cat"}}}
    body = {
        "system_instruction": {"parts": [{"text": "Be short."}]},
        "contents": [
            {
                "role": "user",
                "parts": [
                    {"text": "What is {{this}}?"},
                    {"inline_data": {"mime_type": "image/png", "data": "iVBORw0KGgo="}},
                    {"fileData": {"mimeType": "video/mp4", "fileUri": "https://x.example/v"}},
                ],
            },
            {"role": "model", "parts": [{"text": "hm", "thought": True}, call]},
            {"role": "user", "parts": [answer]},
        ],
        "tools": [
            {"functionDeclarations": [{"name": "look", "description": "L", "parameters": schema}]},
            {"googleSearch": {}},
        ],
        "generationConfig": {
            "temperature": 0.2,
            "max_output_tokens": 50,
            "thinkingConfig": {"thinkingBudget": 100},
            "responseMimeType": "application/json",
            "responseSchema": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}},
        },
        "safetySettings": [{"category": "C", "threshold": "BLOCK_NONE"}],
        "fooBar": 1,
    }
    made = imported(tmp_path, "body.json", body)
    assert made.form == "Gemini request"
    assert made.notes == (
        "tools: 'googleSearch' is a service of the provider; it is kept, not sent.",
        "contents[].parts[].text: is not possible in a prompt file; it is left out.",
        "fooBar: is not possible in a prompt file; it is left out.",
    )
    sent = sent_by_studio(ExportSource(parse(made.text)))
    assert sent.address.startswith("https://generativelanguage.googleapis.com/")
    assert sent.body["systemInstruction"] == body["system_instruction"]
    small = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
    declared = {"name": "look", "description": "L", "parametersJsonSchema": small}
    assert sent.body["tools"] == [{"functionDeclarations": [declared]}]
    assert sent.body["contents"] == [
        {
            "role": "user",
            "parts": [
                {"text": "What is {{this}}?"},
                {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
                {"fileData": {"mimeType": "video/mp4", "fileUri": "https://x.example/v"}},
            ],
        },
        {"role": "model", "parts": [call]},
        {"role": "user", "parts": [answer]},
    ]
    config = object_of(sent.body["generationConfig"])
    assert (config["temperature"], config["maxOutputTokens"]) == (0.2, 50)
    assert config["thinkingConfig"] == {"thinkingBudget": 100}
    assert sent.body["safetySettings"] == body["safetySettings"]


def test_choices_of_a_body_reach_the_request_again(tmp_path: Path) -> None:
    tool = {"name": "look", "input_schema": {"type": "object", "properties": {}}}
    choice = {"type": "tool", "name": "look", "disable_parallel_tool_use": True}
    ask = [{"role": "user", "content": "Hi"}]
    body = {"model": "claude-x", "max_tokens": 9, "messages": ask, "tools": [tool]}
    made = imported(tmp_path, "a.json", {**body, "tool_choice": choice})
    assert sent_by_studio(ExportSource(parse(made.text))).body["tool_choice"] == choice
    made = imported(tmp_path, "b.json", {**body, "tool_choice": {"type": "any"}})
    assert sent_by_studio(ExportSource(parse(made.text))).body["tool_choice"] == {"type": "any"}
    reasoning = {"effort": "low", "summary": "auto"}
    include = ["reasoning.encrypted_content"]
    body = {"model": "m", "input": "Hi", "reasoning": reasoning, "include": include}
    sent = sent_by_studio(ExportSource(parse(imported(tmp_path, "c.json", body).text)))
    assert (sent.body["reasoning"], sent.body["include"]) == (reasoning, include)


def test_items_and_blocks_that_are_no_messages_are_named(tmp_path: Path) -> None:
    ask = {"role": "user", "content": "Hi"}
    found = {"type": "tool_search_output", "call_id": "c", "tools": [{"name": "x"}]}
    made = imported(tmp_path, "r.json", {"model": "m", "input": [ask, found]})
    assert messages(made) == [("user", "Hi")]
    assert "input: an item of type 'tool_search_output' is not possible" in made.notes[0]
    step = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}}
    block = {"type": "container_upload", "file_id": "f"}
    rows = [ask, {"role": "assistant", "content": [step, {"type": "text", "text": "Ho"}]}]
    rows.append({"role": "user", "content": [block]})
    made = imported(tmp_path, "a.json", {"model": "m", "max_tokens": 9, "messages": rows})
    assert made.form == "Anthropic messages request"
    assert messages(made)[:2] == [("user", "Hi"), ("assistant", "Ho")]
    assert "'container_upload' is not part of a prompt; it stays JSON." in made.notes[0]
    assert [note for note in made.notes if ".input" in note]
