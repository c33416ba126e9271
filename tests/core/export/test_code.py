"""Exported code: what is looked up when it runs, conversations in loops, and answers in parts."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from studio.core.export.chat_template import ChatTemplate, TemplateMessage
from studio.core.export.format_strings import as_format_strings
from studio.core.prompty.document import TextPart
from tests.core.export.conftest import Make
from tests.support.chat_server import chat_server, chunk, events, streamed

HEAD = "---\nname: a\nmodel: {id: m, options: {temperature: 0}}\n"
JINJA = "template: {format: {kind: jinja2}, parser: {kind: prompty}}\n---\n"


def module_of(text: str, folder: Path) -> ModuleType:
    path = folder / "exported.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("exported", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_answer_is_shown_as_it_comes_and_calls_are_put_together(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = "tools:\n- {name: add, kind: function, parameters: [{name: n, kind: integer}]}\n"
    result = make(f"{HEAD}{tool}{JINJA}user:\nHi\n", "python")
    module = module_of(result.text, tmp_path)
    monkeypatch.setitem(module.FUNCTIONS, "add", lambda n: n + 1)
    function = {"name": "add", "arguments": '{"n"'}
    pieces = [
        chunk({"role": "assistant", "content": "Wait."}),
        chunk({"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": function}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": ": 2}"}}]}),
        chunk({}, "tool_calls"),
        "[DONE]",
    ]
    shown: list[str] = []
    with chat_server() as server:
        server.script(events(pieces), streamed("It is three.", size=3))
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        monkeypatch.setattr(module, "BASE_URL", server.url)
        with module.make_client() as client:
            answer = module.run(module.INPUTS, client, shown.append)
    assert answer == "It is three."
    assert "".join(shown) == "Wait.It is three."
    assert len(shown) == 5
    assert [request.body["stream"] for request in server.requests] == [True, True]
    assert server.requests[1].body["messages"][-1] == {
        "role": "tool",
        "tool_call_id": "c1",
        "content": "3",
    }


def test_files_are_read_at_export_and_variables_when_the_code_runs(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "options.json").write_text('{"temperature": 0.25}', encoding="utf-8")
    text = (
        "---\nname: a\nmodel: {id: '${env:A_MODEL:small}', options: '${file:options.json}'}\n"
        "inputs:\n  who: {kind: string, default: '${env:A_WHO}'}\n"
        f"{JINJA}user:\nI am {{{{who}}}}\n"
    )
    monkeypatch.setenv("A_WHO", "Ada")
    script = module_of(make(text, "python").text, tmp_path)
    assert script.OPTIONS == {"temperature": 0.25}
    assert script.MODEL == "small"
    assert script.build_messages(script.INPUTS) == [{"role": "user", "content": "I am Ada"}]
    pytest.importorskip("langchain_core")
    prompt = module_of(make(text, "langchain").text, tmp_path)
    assert prompt.OPTIONS == {"model": "small", "temperature": 0.25}
    assert prompt.prompt.invoke({}).to_messages()[0].content == "I am Ada"


LOOPS = [
    "{% for m in talk %}\n{{m.role}}:\n{{m.content}}\n{% endfor %}",
    "{% for m in talk %}\n# {{ m['role'] }}:\n{{ m[\"content\"] }}\n{%- endfor %}",
    "{% for m in talk -%}\n{{ m.role }} :\n{{ m.content }}\n{% endfor %}",
]


@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_over_a_conversation_is_a_thread_in_code(
    loop: str, make: Make, tmp_path: Path
) -> None:
    text = (
        "---\nname: a\nmodel: {api: chat, configuration: {type: openai, name: m}}\n---\n"
        f"system:\nBe kind.\n\n{loop}\n\nuser:\n{{{{question}}}}\n"
    )
    talk: list[dict[str, Any]] = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "{ho}"},
    ]
    values = {"talk": talk, "question": "And {now}?"}
    wanted = [("system", "Be kind."), ("user", "hi"), ("assistant", "{ho}"), ("user", "And {now}?")]
    result = make(text, "python", values)
    assert not result.losses, result.losses
    assert "jinja2" not in result.text
    messages = module_of(result.text, tmp_path).build_messages(values)
    assert [(item["role"], item["content"]) for item in messages] == wanted
    pytest.importorskip("langchain_core")
    result = make(text, "langchain", values)
    assert not result.losses, result.losses
    prompt = module_of(result.text, tmp_path).prompt
    roles = {"human": "user", "ai": "assistant"}
    got = [(roles.get(m.type, m.type), m.content) for m in prompt.invoke(values).to_messages()]
    assert got == wanted


def test_a_loop_that_does_more_is_no_thread(make: Make) -> None:
    loop = "{% for m in talk %}\n{{m.role}}:\n{{m.content}}!\n{% endfor %}"
    text = f"---\nmodel: {{api: chat}}\n---\nsystem:\nHi\n\n{loop}\n\nuser:\nx\n"
    values = {"talk": [{"role": "user", "content": "hi"}]}
    assert make(text, "python", values).losses
    after = text.replace("!\n", "\n").replace("{% endfor %}\n", "{% endfor %}\nand more\n")
    assert make(after, "python", values).losses


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a {b} {{ c }}", "a {{b}} {c}"),
        ("{{c}}{{ c }}", "{c}{c}"),
        ("{}", "{{}}"),
        ("{{ c.d }}", None),
        ("{{- c }}", None),
        ("{% if c %}x{% endif %}", None),
        ("{# c #}", None),
        ("{{ true }}", None),
        ("{{ c | upper }}", None),
        ("a }} b", None),
    ],
)
def test_only_what_puts_values_in_becomes_a_format_string(text: str, wanted: str | None) -> None:
    template = ChatTemplate((TemplateMessage("user", (TextPart(text),)),), "jinja2")
    made = as_format_strings(template)
    if wanted is None:
        assert made is template
    else:
        assert made.format == "fstring"
        assert json.dumps(wanted) in json.dumps([p.text for p in made.items[0].parts])  # type: ignore


def test_langchain_takes_files_in_a_template(make: Make, tmp_path: Path) -> None:
    pytest.importorskip("langchain_core")
    head = f"---\nname: a\nmodel: {{id: m}}\ninputs: {{doc: {{kind: file}}}}\n{JINJA}user:\n"
    for body in ("Read\n{{doc}}\n", "{% if 1 %}Read{% endif %}\n{{doc}}\n"):
        result = make(f"{head}{body}", "langchain", {"doc": "http://h/a.pdf"})
        (message,) = module_of(result.text, tmp_path).prompt.invoke({"doc": "u"}).to_messages()
        files = [part for part in message.content if part["type"] == "file"]
        assert bool(files) or any("left out" in loss for loss in result.losses)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("gpt-5.6-luna", "temperature is left out (0.5)."),
        ("o1", "message 1 (system) is different: its role is developer."),
        ("gpt-5-chat-latest", ""),
    ],
)
def test_langchain_says_what_its_package_changes_for_reasoning_models(
    model: str, words: str, make: Make
) -> None:
    head = f"---\nname: a\nmodel: {{id: {model}, options: {{temperature: 0.5}}}}\n{JINJA}"
    (found,) = make(f"{head}system:\nA\n\nuser:\nHi\n", "langchain").round_trips
    assert found.difference == words


def test_langchain_has_no_line_ends_around_statements(make: Make, tmp_path: Path) -> None:
    pytest.importorskip("langchain_core")
    body = "system:\n{% for x in xs %}\n- {{x}}\n{% endfor %}\n\nuser:\nHi\n"
    front = "name: a\nmodel: {id: m}\ninputs: {xs: {kind: array, items: {kind: string}}}\n"
    text = f"---\n{front}{JINJA}{body}"
    result = make(text, "langchain", {"xs": ["a", "b"]})
    assert not result.losses, result.losses
    messages = module_of(result.text, tmp_path).prompt.invoke({"xs": ["a", "b"]}).to_messages()
    assert messages[0].content == "- a\n\n- b"


def test_inputs_that_a_file_declares_have_their_values(make: Make, tmp_path: Path) -> None:
    declared = {"question": {"kind": "string", "default": "What is it?"}}
    (tmp_path / "inputs.json").write_text(json.dumps(declared), encoding="utf-8")
    text = f"---\nname: a\ninputs: ${{file:inputs.json}}\n{JINJA}user:\n{{{{question}}}}\n"
    result = make(text, "openai-chat")
    assert json.loads(result.text)["messages"][0]["content"] == "What is it?"
    (tmp_path / "sample.json").write_text('{"input": "Why?"}', encoding="utf-8")
    text = "---\nmodel: {api: chat}\nsample: sample.json\n---\nuser:\n{{input}}\n"
    (round_trip,) = make(text, "prompty").round_trips
    assert round_trip.is_same
    assert json.loads(make(text, "openai-chat").text)["messages"][0]["content"] == "Why?"


@pytest.mark.parametrize("key", ["inputs", "outputs", "tools"])
def test_agentschema_takes_no_file_in_place_of_a_list(key: str, make: Make) -> None:
    text = f"---\nname: a\nmodel: {{id: m}}\n{key}: file:gone.json\n{JINJA}user:\nHi\n"
    assert [loss for loss in make(text, "agentschema").losses if loss.startswith(f"{key}: Agent")]


def test_a_loop_over_what_was_not_given_is_empty_in_the_script(make: Make, tmp_path: Path) -> None:
    body = "user:\nHi{% for x in xs %}{{x}}{% endfor %}\n"
    text = f"---\nname: a\nmodel: {{id: m}}\n{JINJA}{body}"
    script = module_of(make(text, "python").text, tmp_path)
    assert script.build_messages(script.INPUTS) == [{"role": "user", "content": "Hi"}]


def test_a_script_reads_what_is_given_as_an_object_as_json(make: Make, tmp_path: Path) -> None:
    text = f"---\nname: a\nmodel: {{id: m}}\n{JINJA}user:\n{{{{ o.a }}}} {{{{ t }}}}\n"
    script = module_of(make(text, "python", {"o": {"a": 1}, "t": "x"}).text, tmp_path)
    assert script.TEXTS == ["t"]


def test_an_option_that_prompty_gives_to_no_responses_is_named(make: Make) -> None:
    options = "apiType: responses, options: {reasoningEffort: low}"
    text = f"---\nname: a\nmodel: {{id: gpt-5, provider: openai, {options}}}\n{JINJA}user:\nHi\n"
    assert "no option reasoning_effort" in "".join(make(text, "prompty").losses)
    assert "no option" not in "".join(make(text.replace("responses", "chat"), "prompty").losses)
