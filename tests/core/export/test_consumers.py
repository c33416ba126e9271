"""Exports are used by the programs that they are for."""

from __future__ import annotations

import gc
import hashlib
import importlib.util
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from jinja2 import Environment, TemplateError

from studio.core.imports.commands import import_script
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from tests.core.export.conftest import HEAD, PROMPTS, Make
from tests.support import patience
from tests.support.chat_server import ChatServer, chat_server, json_body

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module", autouse=True)
def packages_are_there_to_stay() -> Iterator[None]:
    """Take what these packages made out of the collector.

    Later tests of windows go through all that it keeps, twice each; langchain and openai alone
    make that take half a second longer.
    """
    yield
    gc.collect()
    gc.freeze()


def said(text: str) -> Any:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return json_body(
        {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    )


def called(name: str, arguments: str) -> Any:
    call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    return json_body(
        {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    )


def module_of(text: str, folder: Path) -> ModuleType:
    name = f"exported_{folder.name}"
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def expected_texts(text: str, inputs: dict[str, Any] | None = None) -> list[tuple[str, str]]:
    messages = prepare(parse(text), inputs or {}).messages.messages
    return [(message.role, message.text) for message in messages]


# --- the prompty package ---------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["jinja", "mustache", "plain", "thread"])
def test_the_prompty_package_loads_a_prompty_2_file(kind: str, make: Make, tmp_path: Path) -> None:
    import prompty

    result = make(PROMPTS[kind], "prompty")
    assert not result.blocked
    assert not result.losses
    path = tmp_path / "out.prompty"
    path.write_bytes(result.content)

    agent = prompty.load(str(path))
    messages = prompty.prepare(agent, {})

    got = [(message.role, "".join(part.value for part in message.parts)) for message in messages]
    assert got == expected_texts(PROMPTS[kind])
    assert agent.model.id == "scripted-1"


@pytest.mark.filterwarnings("ignore")
def test_the_prompty_package_loads_a_converted_section_file(make: Make, tmp_path: Path) -> None:
    import prompty

    text = (
        "---\nname: x\nmodel:\n  id: m\ntemplate:\n  format: {kind: jinja2}\n"
        "  parser: {kind: section}\n---\ntools:\n- id: find\n  type: function\n  options:\n"
        "    description: Finds.\n    parameters:\n      - name: q\n        type: string\n"
        "        required: true\n\nsystem:\nBe kind.\n\nuser:\nHi\n"
    )
    result = make(text, "prompty")
    assert not result.blocked
    path = tmp_path / "out.prompty"
    path.write_bytes(result.content)

    agent = prompty.load(str(path))

    assert [tool.name for tool in agent.tools] == ["find"]
    messages = prompty.prepare(agent, {})
    assert [message.role for message in messages] == ["system", "user"]


# --- AgentSchema -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["jinja", "mustache", "plain"])
def test_the_agentschema_package_loads_the_agent(kind: str, make: Make) -> None:
    import agentschema
    import yaml

    tools = (
        "tools:\n  - name: find\n    kind: function\n    description: Finds.\n    parameters:\n"
        "      - {name: q, kind: string, required: true}\ntemplate:\n"
    )
    text = PROMPTS[kind].replace("template:\n", tools, 1)
    result = make(text, "agentschema")
    assert not result.blocked, result.problems
    assert [loss.partition(" ")[0] for loss in result.losses] == ["No", "Agent"]

    agent = agentschema.AgentDefinition.load(yaml.safe_load(result.text))

    assert isinstance(agent, agentschema.PromptAgent)
    assert agent.name == "shop"
    assert agent.model.id == "scripted-1"
    assert agent.model.options.maxOutputTokens == 50
    assert agent.instructions == parse(text).source.slice(parse(text).body).strip("\n")
    assert [tool.name for tool in agent.tools] == ["find"]
    assert [each.name for each in agent.tools[0].parameters.properties] == ["q"]
    if kind == "jinja":
        assert [each.name for each in agent.inputSchema.properties] == ["who", "things", "loud"]
    assert agent.template.format.kind == parse(text).template.format


# --- Python ----------------------------------------------------------------------------------

TOOLS = '''"""Tools of the shop."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

__all__ = ["price"]

PRICES = {"tea": 3}


def price(thing: Annotated[str, Field(min_length=1)], count: int = 1, shop: str = "") -> dict:
    """The price of a thing."""
    return {"total": PRICES[thing] * count, "shop": shop}
'''

AGENT = (
    HEAD
    + """inputs:
  question: {kind: string, sample: "How much?", required: true}
  where: {kind: string, default: Oslo}
tools:
  - name: price
    kind: function
    description: The price of a thing.
    parameters:
      - {name: thing, kind: string, required: true}
      - {name: count, kind: integer}
      - {name: shop, kind: string}
    bindings:
      shop: {input: where}
template:
  format: {kind: jinja2}
  parser: {kind: prompty}
metadata:
  agent:
    tools: [tools.py]
    max_iterations: 4
---
"""
)

NATIVE = AGENT + "system:\nUse the tools.\n\nuser:\n{{ question }}\n"


def test_the_script_runs_the_tool_loop_as_a_program(make: Make, tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(TOOLS, encoding="utf-8")
    result = make(NATIVE, "python")
    assert not result.blocked
    assert not result.losses
    assert all(each.is_same for each in result.round_trips)
    script = tmp_path / "elsewhere" / "run_me.py"
    script.parent.mkdir()
    script.write_bytes(result.content)

    with chat_server() as server:
        server.script(
            called("price", '{"thing": "tea", "count": "2"}'),
            called("price", '{"thing": "coal"}'),
            said("Six."),
        )
        done = run_script(script, server, "--question", "What is 2 tea?")

    assert done.stdout == "Six.\n", done.stderr
    first, second, third = (request.body for request in server.requests)
    assert first["messages"] == [
        {"role": "system", "content": "Use the tools."},
        {"role": "user", "content": "What is 2 tea?"},
    ]
    assert first["temperature"] == 0
    assert first["max_completion_tokens"] == 50
    assert [tool["function"]["name"] for tool in first["tools"]] == ["price"]
    assert "shop" not in first["tools"][0]["function"]["parameters"]["properties"]
    answer = second["messages"][-1]
    assert answer["role"] == "tool"
    assert answer["tool_call_id"] == "call_1"
    assert json.loads(answer["content"]) == {"total": 6, "shop": "Oslo"}
    assert third["messages"][-1]["content"].startswith("Error: KeyError")


def run_script(
    script: Path, server: ChatServer, *arguments: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(script), *arguments],
        env={**os.environ, "OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k", "no_proxy": "*"},
        capture_output=True,
        text=True,
        check=False,
        timeout=patience.SECONDS,
    )


@pytest.mark.parametrize("kind", list(PROMPTS))
def test_the_script_asks_with_exactly_the_messages_of_the_preview(
    kind: str, make: Make, tmp_path: Path
) -> None:
    result = make(PROMPTS[kind], "python")
    assert not result.blocked
    module = module_of(result.text, tmp_path)

    got = [
        (message["role"], message["content"]) for message in module.build_messages(module.INPUTS)
    ]

    assert got == expected_texts(PROMPTS[kind])
    if kind != "plain":
        given = {**module.INPUTS, "who": "Zoë {{ 'x' }} {y}\n"}
        got = [(message["role"], message["content"]) for message in module.build_messages(given)]
        assert got == expected_texts(PROMPTS[kind], {"who": given["who"]})


REACT = AGENT + (
    "system:\nAction: tool name\nArgs: {}\nFinal Answer: the answer\n"
    "{% for tool in tools %}- {{ tool.name }}: {{ tool.description }}\n{% endfor %}\n"
    "user:\n{{ question }}\n{% for h in history %}\nThought: {{ h.thought }}\n"
    "Action: {{ h.action }}\nArgs: {{ h.arguments | tojson }}\n"
    "Observation: {{ h.observation }}\n{% endfor %}\n"
)


def test_the_script_of_a_react_prompt_shows_the_model_its_steps(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tools.py").write_text(TOOLS, encoding="utf-8")
    result = make(REACT, "python")
    assert not result.blocked
    assert not result.losses
    with chat_server() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        module = module_of(result.text, tmp_path)
        server.script(
            said("Hm."),
            said('Thought: look\nAction: price\nArgs: {"thing": "tea", "count": 3}'),
            said("Thought: done\nFinal Answer: Nine."),
        )
        with module.make_client() as client:
            answer = module.run({**module.INPUTS, "question": "Three tea?"}, client)

    assert answer == "Nine."
    first, second, third = (request.body for request in server.requests)
    assert first["stop"] == ["\nObservation:"]
    assert "- price: The price of a thing." in first["messages"][0]["content"]
    assert "tools" not in first
    assert "Error" in second["messages"][-1]["content"]
    assert third["messages"][-1]["content"].endswith('Observation: {"total": 9, "shop": "Oslo"}')


def test_the_script_of_a_json_action_prompt_ends_at_the_final_action(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tools.py").write_text(TOOLS, encoding="utf-8")
    body = (
        'system:\nUse:\n{tools}\nOne of {tool_names}: {{"action": "name", "action_input": 1}}\n'
        "\nuser:\n{question}\n{agent_scratchpad}\n"
    )
    text = (AGENT + body).replace("jinja2", "fstring").replace("{kind: prompty}", "{kind: section}")
    result = make(text, "python")
    assert not result.blocked, result.problems
    with chat_server() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        module = module_of(result.text, tmp_path)
        server.script(
            said('```json\n{"action": "price", "action_input": {"thing": "tea"}}\n```'),
            said('{"action": "Final Answer", "action_input": "Three."}'),
        )
        with module.make_client() as client:
            answer = module.run({**module.INPUTS, "question": "One tea?"}, client)

    assert answer == "Three."
    assert '"action_output": "{' in server.requests[1].body["messages"][-1]["content"]


def test_tools_without_a_function_are_stand_ins_that_say_so(make: Make, tmp_path: Path) -> None:
    result = make(NATIVE.replace("tools: [tools.py]", "other: 1"), "python")

    assert result.needs_consent
    assert "price: no Python function runs it" in result.losses[0]
    module = module_of(result.text, tmp_path)
    assert "no implementation" in module.call_tool("price", "{}", {})


def test_tools_keep_the_separators_that_end_no_line_of_python(make: Make, tmp_path: Path) -> None:
    odd = 'ODD = "one\u2028two"\n\x0c\n__all__ = ["price"]\n'
    (tmp_path / "tools.py").write_text(TOOLS + odd, encoding="utf-8")
    module = module_of(make(NATIVE, "python").text, tmp_path)
    assert module.ODD == "one\u2028two"
    assert not hasattr(module, "__all__")


def test_tools_that_cannot_stand_in_the_script_are_loaded_from_beside_it(
    make: Make, tmp_path: Path
) -> None:
    (tmp_path / "tools.py").write_text(
        TOOLS + "\n\ndef run():\n    pass\n\n\nif __name__ == '__main__':\n    run()\n",
        encoding="utf-8",
    )
    result = make(NATIVE, "python")

    assert any("keep that file beside it" in each.message for each in result.problems)
    module = module_of(result.text, tmp_path)
    answer = module.call_tool("price", '{"thing": "tea"}', {"where": "Bergen"})
    assert json.loads(answer) == {"total": 3, "shop": "Bergen"}


def test_a_key_that_is_written_out_is_in_no_script(make: Make) -> None:
    text = PROMPTS["plain"].replace(
        "  provider: openai\n",
        "  provider: openai\n  connection:\n    kind: key\n    endpoint: http://h/v1\n"
        "    apiKey: sk-secret\n",
    )
    made = make(text, "python").text
    assert "sk-secret" not in made
    assert "http://h/v1" in made


# --- LangChain -------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", list(PROMPTS))
def test_langchain_renders_the_prompt(kind: str, make: Make, tmp_path: Path) -> None:
    result = make(PROMPTS[kind], "langchain")
    assert not result.blocked
    assert not result.losses, result.losses
    module = module_of(result.text, tmp_path)
    talk = prepare(parse(PROMPTS[kind]), {}).inputs.get("talk", [])
    values = {"talk": [(item["role"], item["content"]) for item in talk]} if talk else {}

    got = module.prompt.invoke(values).to_messages()

    roles = {"human": "user", "ai": "assistant"}
    assert [(roles.get(item.type, item.type), item.content) for item in got] == expected_texts(
        PROMPTS[kind]
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["mustache", "jinja2"])  # the latter becomes format strings
def test_langchain_gets_calls_results_pictures_and_tools(
    kind: str, make: Make, tmp_path: Path
) -> None:
    text = (
        HEAD + "tools:\n  - name: find\n    kind: function\n    parameters:\n"
        "      - {name: q, kind: string}\n"
        f"template:\n  format: {{kind: {kind}}}\n  parser: {{kind: section}}\n---\n"
        "user:\nWhat is {{it}}?\n![image](http://h/{{pic}}.png)\n\n"
        'assistant[type="tool_call"]:\n- id: c1\n  type: function\n  function:\n'
        "    name: find\n    arguments:\n      q: tea\n\n"
        'tool[tool_call_id="c1"]:\n{"found": 1}\n\n'
        "user:\nGo\n"
    )
    result = make(text, "langchain", {"it": "that", "pic": "a"})
    assert not result.losses, result.losses
    module = module_of(result.text, tmp_path)

    got = module.prompt.invoke({"it": "this", "pic": "b"}).to_messages()

    assert got[0].content[0]["text"] == "What is this?"
    assert got[0].content[1]["image_url"]["url"] == "http://h/b.png"
    assert got[1].tool_calls[0]["args"] == {"q": "tea"}
    assert (got[2].content, got[2].tool_call_id) == ('{"found": 1}', "c1")
    assert module.TOOLS[0]["function"]["name"] == "find"


# --- bundle ----------------------------------------------------------------------------------


def test_a_bundle_holds_all_that_the_prompt_reads_and_is_the_same_each_time(
    make: Make, tmp_path: Path
) -> None:
    (tmp_path / "tools.py").write_text("import shelf\n" + TOOLS, encoding="utf-8")
    (tmp_path / "shelf.py").write_text("DATA = 'data.csv'\n", encoding="utf-8")
    (tmp_path / "data.csv").write_text("a,b\n", encoding="utf-8")
    (tmp_path / "pics").mkdir()
    (tmp_path / "pics" / "a.png").write_bytes(b"\x89PNG\r\n\x1a\nrest")
    (tmp_path / "rules.txt").write_text("Be kind.", encoding="utf-8")
    (tmp_path / ".env").write_text("KEY=secret", encoding="utf-8")
    text = NATIVE.replace("kind: prompty", "kind: section").replace(
        "Use the tools.", "${file:rules.txt} ![image](pics/a.png)"
    )
    sets = {"one": {"question": "1?"}, "two": {"question": "2?", "where": "Rome"}}
    first = make(text, "bundle", sets=sets)
    again = make(text, "bundle", sets=sets)

    assert not first.blocked, first.problems
    assert not first.losses, first.losses
    assert first.content == again.content
    assert [each.name for each in first.round_trips] == ["current values", "one", "two"]
    assert all(each.is_same for each in first.round_trips)
    with zipfile.ZipFile(io.BytesIO(first.content)) as archive:
        names = archive.namelist()
        manifest = json.loads(archive.read("manifest.json"))
        for item in manifest["files"]:
            content = archive.read(item["path"])
            assert hashlib.sha256(content).hexdigest() == item["sha256"]
            assert len(content) == item["bytes"]
        assert json.loads(archive.read("shop.inputs.json")) == sets
    assert names[0] == "manifest.json"
    assert sorted(names[1:]) == [
        "data.csv",
        "pics/a.png",
        "rules.txt",
        "shelf.py",
        "shop.inputs.json",
        "shop.prompty",
        "tools.py",
    ]


def test_a_bundle_says_what_it_leaves_out(make: Make) -> None:
    text = PROMPTS["plain"].replace(
        "Go\n", "Go ${file:../up.txt} ${env:TOKEN} ![image](gone.png)\n"
    )
    result = make(text.replace("kind: prompty", "kind: section"), "bundle")

    assert "'gone.png' is not packed: No such file or directory." in result.losses
    assert any("up.txt" in loss for loss in result.losses)
    assert any("TOKEN" in loss for loss in result.losses)
    manifest = zipfile.ZipFile(io.BytesIO(result.content)).read("manifest.json")
    assert json.loads(manifest)["left_out"] == list(result.losses)


UNLIKE = """---
model: {id: m}
inputs:
  yes: {kind: boolean, default: true}
  two: {kind: float, default: 2.0}
  none: {kind: string}
template: {format: {kind: FORM}, parser: {kind: prompty}}
---
user:
BODY
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("form", "body"),
    [
        ("jinja2", "{{ yes }} {{ two }}"),
        ("jinja2", "{{ [1, true] | join('-') }}"),
        ("jinja2", "{{ none.deeper.still }}!"),
        ("mustache", "{{yes}} {{two}} {{#yes}}on{{/yes}}"),
        ("fstring", "{yes} {two}"),
    ],
)
def test_where_a_program_renders_otherwise_the_proof_says_what_it_gives(
    form: str, body: str, make: Make, tmp_path: Path
) -> None:
    """What LangChain and the script make of it is what the proof compares, and tells."""
    text = UNLIKE.replace("FORM", form).replace("BODY", body)
    wanted = [text for _, text in expected_texts(text)]
    for target in ("python", "langchain"):
        result = make(text, target)
        module = module_of(result.text, tmp_path)
        try:
            if target == "python":
                got = [item["content"] for item in module.build_messages(module.INPUTS)]
            else:
                got = [item.content for item in module.prompt.invoke({}).to_messages()]
        except TemplateError as error:
            got = [str(error)]
            assert "cannot render" in result.losses[-1]
        assert all(each.is_same for each in result.round_trips) == (got == wanted), (target, got)
        assert result.needs_consent == (got != wanted)


NAMES = (
    'user[name="{{first}} {{last}}"]:\nI am {{first}}.\n\nassistant:\nA\n\n'
    'user[name="Bob Lee"]:\nB\n\nuser[name="{{nobody}}"]:\nC\n'
)
NAMED = {"first": "Ann", "last": "Lee|x"}


@pytest.mark.filterwarnings("ignore")
def test_every_program_gets_names_that_openai_takes(make: Make, tmp_path: Path) -> None:
    script = module_of(make(NAMES, "python", NAMED).text, tmp_path)
    sent = [item.get("name") for item in script.build_messages({**script.INPUTS, **NAMED})]
    assert sent == ["Ann_Lee_x", None, "Bob_Lee", None]

    chain = make(NAMES, "langchain", NAMED)
    got = module_of(chain.text, tmp_path).prompt.invoke(NAMED).to_messages()
    assert [(item.name, item.content) for item in got] == [
        (None, "I am Ann."),
        (None, "A"),
        ("Bob_Lee", "B"),
        (None, "C"),
    ]
    assert any("{first} {last}" in loss for loss in chain.losses)

    raw = yaml.safe_load(make(NAMES, "promptfoo", {"first": "Ann", "last": "Lee"}).text)
    names = [item.get("name") for item in json.loads(raw["prompts"][0]["raw"])]
    render = Environment(autoescape=False).from_string(names[0]).render
    assert render(first="Ann", last="Lee") == "Ann_Lee"


def test_the_script_puts_in_pictures_of_its_folder_and_of_inputs(
    make: Make, tmp_path: Path
) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\nrest")
    text = (
        "---\nmodel: {id: m}\ninputs:\n  pic: {kind: image}\n  talk: {kind: string, default: x}\n"
        "template: {format: {kind: jinja2}, parser: {kind: section}}\n---\n"
        "user:\nLook, {{ talk }}:\n![image](a.png)\n{{ pic }}\n"
    )
    for sets in ({}, {"given": {"pic": "http://h/b.png"}}):
        result = make(text, "python", sets=sets)
        assert not result.losses, result.losses
    module = module_of(result.text, tmp_path)
    (message,) = module.build_messages(module.INPUTS)
    urls = [part["image_url"]["url"] for part in message["content"][1:]]
    assert urls == ["data:image/png;base64,iVBORw0KGgpyZXN0"]
    (message,) = module.build_messages({**module.INPUTS, "pic": "http://h/b.png"})
    assert message["content"][-1]["image_url"]["url"] == "http://h/b.png"
    losses = make(text, "langchain", {"pic": "http://h/b.png"}).losses
    assert any("'a.png'" in loss for loss in losses)


# --- requests and documents ------------------------------------------------------------------


def test_the_openai_package_sends_the_bodies_as_they_are(make: Make) -> None:
    from openai import OpenAI

    text = NATIVE.replace("  agent:\n    tools: [tools.py]\n", "  agent:\n")
    chat = json.loads(make(text, "openai-chat", {"question": "How?"}).text)
    responses = json.loads(make(text, "openai-responses", {"question": "How?"}).text)
    with chat_server() as server, OpenAI(base_url=server.url, api_key="k") as client:
        server.script(
            said("Fine."),
            json_body(
                {
                    "id": "r",
                    "object": "response",
                    "created_at": 0,
                    "model": "m",
                    "output": [],
                    "parallel_tool_calls": True,
                    "tool_choice": "auto",
                    "tools": [],
                }
            ),
        )
        reply = client.chat.completions.create(**chat)
        client.responses.create(**responses)

    assert reply.choices[0].message.content == "Fine."
    assert [request.body for request in server.requests] == [chat, responses]
    assert server.requests[1].path.endswith("/responses")


def test_a_markdown_reader_sees_each_message_as_one_block(make: Make) -> None:
    from markdown_it import MarkdownIt

    text = PROMPTS["plain"].replace("Go\n", "```\ncode\n```\n# no heading\n| a |\n")
    result = make(text, "markdown")
    tokens = MarkdownIt().enable("table").parse(result.text)
    fences = [token.content.rstrip("\n") for token in tokens if token.type == "fence"]
    assert fences == [content for _, content in expected_texts(text)]
    headings = [
        tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "heading_open"
    ]
    assert headings == ["shop", "Model", "Messages", "1. system", "2. user"]


def test_lines_of_a_data_set_are_one_conversation_each(make: Make) -> None:
    sets = {"one": {"who": "A"}, "two": {"who": "B\nC"}}
    result = make(PROMPTS["jinja"], "messages-jsonl", sets=sets)
    lines = [json.loads(line) for line in result.text.splitlines()]
    assert [line["messages"][1]["content"] for line in lines] == [
        "Is A here? Shout!",
        "Is B\nC here? Shout!",
    ]


def test_a_value_that_is_not_declared_reaches_prompty(make: Make) -> None:
    text = "---\nname: a\nmodel: {id: m}\n---\nuser:\nHello {{ extra }}\n"
    assert make(text, "prompty", {"extra": "EX"}).losses == ()


def test_langchain_gets_its_own_names_and_the_prompts_server(make: Make) -> None:
    text = (
        "---\nname: a\nmodel:\n  id: m\n  provider: azure\n"
        "  connection: {kind: key, endpoint: '${env:WHERE}'}\n"
        "  options: {maxOutputTokens: 50, stopSequences: [X], topK: 3}\n"
        "template: {format: {kind: jinja2}, parser: {kind: prompty}}\n---\nuser:\n{{ q | upper }}\n"
    )
    made = make(text, "langchain", {"q": "Hi"})
    assert made.losses == ()
    assert "pip install langchain-core langchain-openai jinja2." in made.text
    assert '"base_url": os.environ.get("WHERE", "").rstrip("/") + "/openai/v1"' in made.text
    assert '"api_key": os.environ.get("AZURE_OPENAI_API_KEY", "")' in made.text
    assert '"extra_body": {"top_k": 3}' in made.text
    model = parse(import_script(made.text).text).model
    assert model.options == {
        "maxOutputTokens": 50,
        "stopSequences": ["X"],
        "topK": 3,
    }


@pytest.mark.parametrize(
    ("model", "written"),
    [
        ("provider: openai", "provider: OpenAI, apiType: Chat"),
        ("provider: openai, apiType: responses", "provider: OpenAI, apiType: Responses"),
        ("provider: foundry, connection: {kind: key, apiKey: '${env:K}'}", "AzureOpenAI"),
        ("apiType: chat", "model: {id: m, }"),
    ],
)
def test_an_agent_has_the_words_of_agent_framework(model: str, written: str, make: Make) -> None:
    head = f"---\nname: a\nmodel: {{id: m, {model}}}\ntemplate: {{format: {{kind: jinja2}}"
    made = make(f"{head}, parser: {{kind: prompty}}}}\n---\nsystem:\nBe kind.\n", "agentschema")
    assert made.losses == ()
    assert written in made.text
    assert "${env:" not in made.text
    assert made.text.endswith("instructions: |-\n  Be kind.\n")
