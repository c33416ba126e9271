"""The command line, as a script would call it: a real child process each time it matters."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from studio.cli.main import run_command
from studio.cli.terminal import FINE, PROBLEMS, USAGE
from studio.core.paths import resource

REACT = resource("examples", "react-agent.prompty")

BROKEN = (
    "---\nname: broken\ninputs:\n  city:\n    kind: sting\n---\nuser:\nIn {{ town }} and {{ city\n"
)


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    path = tmp_path / "broken.prompty"
    path.write_text(BROKEN, encoding="utf-8")
    return path


def script(folder: Path, *replies: object) -> None:
    """Set up a connection to a scripted model as the default one."""
    config = folder / "config"
    config.mkdir(parents=True)
    path = folder / "script.json"
    path.write_text(json.dumps(replies), encoding="utf-8")
    (config / "connections.toml").write_text(
        'default = "Script"\n\n[[connection]]\nname = "Script"\nkind = "scripted"\n'
        f"settings = {{ script = {json.dumps(str(path))} }}\n",
        encoding="utf-8",
    )


PUBLISHED = {
    "instructions-prompt-cheshire-cat": [],
    "prompt-section": ["dynamic-tool", "dynamic-tool", "name-changed", "text-below-thread"],
    "react-agent-trustgraph": [
        "all-required",
        "history-not-json",
        "history-quoted",
        "history-quoted",
        "history-without-thought",
    ],
}
"""Prompts that stand word for word as they were published, and what is found in them."""


def test_bundled_files_have_no_problem(capsys: pytest.CaptureFixture[str]) -> None:
    for path in sorted(resource("examples").glob("*.prompty")):
        code = run_command(["check", "--json", str(path)])
        found = sorted(item["code"] for item in json.loads(capsys.readouterr().out))
        assert found == PUBLISHED.get(path.stem, []), path
        assert code == FINE or path.stem in PUBLISHED


def test_check_names_file_line_column_severity_and_code(
    broken: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(broken.parent)
    assert run_command(["check", "broken.prompty"]) == PROBLEMS
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("broken.prompty:5:11: error ") for line in lines), lines
    assert any(line.startswith("broken.prompty:8:") and "template-syntax" in line for line in lines)


def test_check_as_json(broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["check", "--json", str(broken)]) == PROBLEMS
    found = json.loads(capsys.readouterr().out)
    assert {"line", "column", "severity", "code", "message", "fixes"} <= found[0].keys()


def test_check_says_what_the_provider_does_not_take(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "name.prompty"
    path.write_text('user[name="Ann Lee", mood=calm]:\nHi\n![video](https://x.org/a.mp4)\n')
    assert run_command(["check", str(path)]) == PROBLEMS
    told = capsys.readouterr().out.splitlines()
    assert [line.split()[1:3] for line in told] == [
        ["hint", "name-changed"],
        ["hint", "unsupported-attribute"],
        ["warning", "unsupported-media"],
    ]
    path.write_text("---\nmodel: {provider: anthropic}\n---\nsystem:\nHi\n")
    assert run_command(["check", str(path)]) == PROBLEMS
    assert " error no-message " in capsys.readouterr().out


def test_a_file_that_is_not_there_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["messages", "nowhere.prompty"]) == USAGE
    assert "nowhere.prompty" in capsys.readouterr().err


def test_a_file_that_is_not_utf8_is_said_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "latin.prompty"
    path.write_bytes("system:\nBe a caf\u00e9 guide.\n".encode("latin-1"))
    assert run_command(["messages", str(path)]) == USAGE
    assert "latin.prompty: line 2 is not UTF-8" in capsys.readouterr().err


def test_messages_have_the_values_and_the_real_tools(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["messages", str(REACT), "-i", "question=How far?"]) == FINE
    out = capsys.readouterr().out
    assert "Question: How far?" in out
    assert "**calculator**" in out


SAMPLED = """---
inputs: {city: {kind: string, sample: Old Lisbon, required: true}}
---
user:
{{ city }}
"""


@pytest.mark.parametrize("command", ["messages", "request", "run"])
def test_a_missing_required_input_is_said_and_no_sample_is_taken_for_it(
    command: str, tmp_path: Path, user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(user_home, "Hello.")
    path = tmp_path / "sampled.prompty"
    path.write_text(SAMPLED, encoding="utf-8")
    assert run_command([command, str(path)]) == PROBLEMS
    printed = capsys.readouterr()
    assert "missing-input" in printed.err
    if command != "run":  # they show what the window's preview shows, and say so
        assert "Old Lisbon" in printed.out
        assert "sample, not sent by a run: city\n" in printed.err
    else:
        assert "Lisbon" not in printed.out
        assert "to run with the samples: -i city='Old Lisbon'" in printed.err
    assert run_command([command, str(path), "-i", "city=Rome"]) == FINE


LOOPS = {
    "react": (
        "Say Thought: and Action:, or Final Answer: at the end.\n{% for tool in tools %}"
        "- {{ tool.name }}\n{% endfor %}\nQuestion: {{question}}\n"
        "{% for h in history %}{{ h.thought }} {{ h.action }}{% endfor %}\n"
    ),
    "json": (
        'Say {"action": "…", "action_input": "…"}\n{{ tool_names }}\n'
        "{{ chat_history }}\n{{ agent_scratchpad }}\n"
    ),
}


def test_an_answer_without_words_is_said(
    tmp_path: Path, user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(user_home, '{"action": "final_answer", "action_input": null}')
    path = tmp_path / "loop.prompty"
    path.write_text(LOOPS["json"], encoding="utf-8")
    assert run_command(["run", str(path), "-i", "question=Where am I?"]) == FINE
    told = capsys.readouterr()
    assert told.out == "\n"
    assert "the answer is empty" in told.err


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_prompt_wants_the_question_of_the_user(
    name: str, tmp_path: Path, user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(user_home, "Final Answer: x", '{"action": "final_answer", "action_input": "x"}')
    path = tmp_path / "loop.prompty"
    tools = "---\nmetadata: {agent: {tools: [tools.py]}}\n---\n"
    (tmp_path / "tools.py").write_text(
        'def look(city: str) -> str:\n    """See a city."""\n    return city\n'
    )
    path.write_text(tools + LOOPS[name], encoding="utf-8")
    for given in ([], ["-i", "question= "]):
        assert run_command(["run", str(path), "--trust", *given]) == PROBLEMS
        told = capsys.readouterr()
        assert "'question'" in told.err
        assert "-i question='What is 12 * 7?'" in told.err
        assert not told.out
    assert run_command(["messages", str(path), "--trust"]) == PROBLEMS
    told = capsys.readouterr()
    assert told.out.startswith("── user\n")  # as it was published
    assert "What is 12 * 7?" in told.out
    assert "look" in told.out
    assert ("calculator" in told.out) is (name == "react")  # the sample of its history
    samples = told.err.partition("sample, not sent by a run: ")[2].partition("\n")[0]
    assert "question" in samples
    assert "tools" not in samples
    assert run_command(["request", str(path), "--trust", "-i", "question=Where am I?"]) == FINE
    assert "Where am I?" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("value", "is_list"), [('[{"role": "user", "content": "Hi"}]', True), ("Hi", False)]
)
def test_a_conversation_is_given_as_a_list(
    value: str, is_list: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "thread.prompty"
    path.write_text("system:\nS\n\n![thread]\n\nuser:\nAnd?\n", encoding="utf-8")
    code = run_command(["messages", str(path), "-i", f"thread={value}"])
    printed = capsys.readouterr()
    if is_list:
        assert code == FINE
        assert printed.out == "── system\nS\n── user\nHi\n── user\nAnd?\n"
    else:
        assert code == USAGE
        assert "'thread' is used as a list" in printed.err


def test_servers_that_a_prompt_does_not_name_are_not_told_of(
    tmp_path: Path, user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(user_home, "Hello.")
    (tmp_path / ".mcp.json").write_text(
        json.dumps({"mcpServers": {"unused": {"command": "false"}}}), encoding="utf-8"
    )
    path = tmp_path / "plain.prompty"
    path.write_text("user:\nHi\n", encoding="utf-8")
    assert run_command(["run", str(path), "--trust"]) == FINE
    assert "unused" not in capsys.readouterr().err


def test_inputs_are_read_as_their_kind(capsys: pytest.CaptureFixture[str]) -> None:
    chat = str(resource("examples", "chat.prompty"))
    assert run_command(["messages", chat, "-i", "city=Oslo", "-i", "days=1", "--json"]) == FINE
    messages = json.loads(capsys.readouterr().out)
    assert "in Oslo for 1 day. I" in json.dumps(messages)
    assert run_command(["messages", chat, "-i", "city=Oslo", "-i", "days=many"]) == USAGE


def test_request_body_of_each_provider(capsys: pytest.CaptureFixture[str]) -> None:
    agent = str(resource("examples", "tool-calling-agent.prompty"))
    for provider, key in (("openai-chat", "messages"), ("anthropic", "system")):
        assert run_command(["request", agent, "-i", "question=x", "--provider", provider]) == FINE
        body = json.loads(capsys.readouterr().out)
        assert key in body
        assert len(body["tools"]) == 2


def test_a_request_is_what_a_run_would_send(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(60))
    path = tmp_path / "react.prompty"
    path.write_text(
        "---\nmetadata: {agent: {protocol: react}}\ntemplate: {parser: {kind: section}}\n"
        "tools: [{name: look, kind: function}]\n---\n"
        "system:\n{{ tools }}\n\nuser:\nSee ![image](a.png)\n",
        encoding="utf-8",
    )
    assert run_command(["request", str(path)]) == FINE
    body = json.loads(capsys.readouterr().out)
    assert any("Observation" in stop for stop in body["stop"])
    assert "data:image/png;base64," in json.dumps(body)
    assert "tools" not in body


def test_environment_values_are_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SECRET_WORD", "open sesame")
    path = tmp_path / "secret.prompty"
    path.write_text(
        "---\nname: s\ntemplate:\n  parser:\n    kind: section\n---\nuser:\n${env:SECRET_WORD}\n",
        encoding="utf-8",
    )
    assert run_command(["messages", str(path)]) == FINE
    assert "open sesame" not in "".join(capsys.readouterr())


def test_a_value_for_no_input_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.prompty"
    path.write_text("---\ninputs:\n  city: Oslo\n---\nuser:\n{{ city }}\n", encoding="utf-8")
    asked = ["messages", str(path), "-i", "city=Rome", "-i", "citty=Oslo", "-i", "thread=[]"]
    assert run_command(asked) == FINE
    said = capsys.readouterr()
    assert "Rome" in said.out
    assert said.err.count("does not use the input") == 2
    assert "does not use the input 'citty'" in said.err
    assert "does not use the input 'thread'" in said.err


def test_messages_show_pictures_and_calls(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "all.prompty"
    path.write_text(
        "user:\nSee ![image](http://h/a.png)\n\n"
        'assistant[type="tool_call"]:\nid: c\ntype: function\n'
        "function:\n  name: look\n  arguments: {q: x}\n",
        encoding="utf-8",
    )
    assert run_command(["messages", str(path)]) == FINE
    said = capsys.readouterr().out
    assert "![image](http://h/a.png)" in said
    assert 'look({"q": "x"})' in said


def test_export_writes_what_was_checked(
    tmp_path: Path, broken: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.prompty"
    assert run_command(["export", str(REACT), "-o", str(out)]) == FINE
    assert out.read_bytes() == REACT.read_bytes()
    out.write_text("old", encoding="utf-8")
    assert run_command(["export", str(broken), "-o", str(out)]) == PROBLEMS
    assert out.read_text(encoding="utf-8") == "old"
    assert "nothing was written" in capsys.readouterr().err


def test_run_with_a_scripted_model(user_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script(
        user_home,
        'Thought: multiply\nAction: calculator\nArgs: {"expression": "6 * 7"}',
        "Thought: done\nFinal Answer: It is 42.",
    )
    assert run_command(["run", str(REACT), "-i", "question=What is 6 * 7?", "--json"]) == FINE
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    kinds = [event["t"] for event in events]
    assert kinds[0] == "Started"
    assert events[-1] == {"t": "Result", "status": "done", "answer": "It is 42.", "error": ""}
    (ended,) = [event for event in events if event["t"] == "ToolEnded"]
    assert ended["outcome"]["text"] == "42"


def test_tools_of_an_untrusted_folder_do_not_run(
    tmp_path: Path, user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("react-agent.prompty", "tools.py", "facts.json"):
        (tmp_path / name).write_bytes(resource("examples", name).read_bytes())
    script(
        user_home,
        'Thought: t\nAction: calculator\nArgs: {"expression": "6 * 7"}',
        "Thought: t\nFinal Answer: gave up",
    )
    prompt = str(tmp_path / "react-agent.prompty")
    assert run_command(["run", prompt, "-i", "question=x"]) == FINE
    printed = capsys.readouterr()
    assert "not trusted, so none of it runs (--trust trusts the folder" in printed.err
    assert "Observation: 42" not in printed.out
    assert run_command(["run", prompt, "-i", "question=x", "--trust"]) == FINE
    assert "Observation: 42" in capsys.readouterr().out


def test_an_unknown_connection_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    run = ["run", str(REACT), "-i", "question=x", "--connection", "nowhere"]
    assert run_command(run) == USAGE
    assert "'nowhere'" in capsys.readouterr().err


@pytest.mark.embedded
def test_embedded_model_ends_twice_with_the_same_events() -> None:
    command = [sys.executable, "-m", "studio", "run", str(REACT)]
    command += ["-i", "question=What is 128 * 46?", "--json"]
    first, second = (
        subprocess.run(command, check=False, capture_output=True, text=True, encoding="utf-8")
        for _ in range(2)
    )
    assert first.returncode == FINE, first.stderr
    result = json.loads(first.stdout.splitlines()[-1])
    assert result["status"] == "done"
    assert "5888" in result["answer"]
    assert first.stdout == second.stdout


def test_without_a_display_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux has machines without any display")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    ended = subprocess.run(
        [sys.executable, "-m", "studio"], check=False, capture_output=True, text=True
    )
    assert ended.returncode == USAGE
    assert "--screenshot" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("command", ["run", "messages", "request", "export"])
def test_a_python_file_is_not_taken_for_a_prompt(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tools.py"
    path.write_text("def look() -> str:\n    return 'here'\n", encoding="utf-8")
    assert run_command([command, str(path)]) == USAGE
    assert "is not a prompt (Python); `tools list` shows the tools in it" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["run", "messages"])
def test_values_beside_a_prompt_are_no_prompt(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "chat-1.json"
    path.write_text('{"customer": "Jane"}', encoding="utf-8")
    assert run_command([command, str(path)]) == USAGE
    assert "chat-1.json is not a prompt (data)" in capsys.readouterr().err
