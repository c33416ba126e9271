"""Files of coding agents become prompts whose messages are what their own program would send."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.core.imports.imported import Imported, ImportFailure
from studio.core.imports.recognize import import_text
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from studio.core.text.values import JsonObject

AGENT = """---
name: reviewer
description: Reviews code.
tools: Read, Grep
model: sonnet
color: red
---
You review {{code}} for {% raw %}.

user:
That line is text.
"""


def messages(made: Imported, values: JsonObject) -> list[tuple[str, str]]:
    """Role and text of what is sent with these values."""
    found = prepare(parse(made.text), values).messages.messages
    return [(each.role, "".join(getattr(p, "text", "") for p in each.parts)) for each in found]


def test_an_agent_is_the_system_message_letter_by_letter() -> None:
    made = import_text(AGENT, Path(".claude/agents/reviewer.md"))
    assert messages(made, {"request": "a {{ b }}"}) == [
        ("system", "You review {{code}} for {% raw %}.\n\nuser:\nThat line is text."),
        ("user", "a {{ b }}"),
    ]
    assert made.title == "reviewer"


def test_what_an_agent_file_says_beyond_its_text_is_named() -> None:
    notes = import_text(AGENT, Path(".claude/agents/reviewer.md")).notes
    assert [note.partition(":")[0] for note in notes] == ["model", "tools", "color"]
    assert "Read, Grep" in notes[1]


@pytest.mark.parametrize(
    ("path", "model", "id_", "provider"),
    [
        (".claude/agents/a.md", "claude-opus-5-5", "claude-opus-5-5", "anthropic"),
        (".opencode/agent/a.md", "openai/gpt-6#high", "gpt-6", "openai"),
        (".opencode/agents/a.md", "local/qwen", "qwen", ""),
        ("a.agent.md", "GPT-6 (copilot)", "", ""),
    ],
)
def test_a_model_is_kept_where_others_know_it(
    path: str, model: str, id_: str, provider: str
) -> None:
    made = import_text(f"---\nname: a\nmodel: {model}\n---\nHelp.\n", Path(path))
    document = parse(made.text)
    assert (document.model.id, document.model.provider) == (id_, provider)
    assert any(note.startswith("model:") for note in made.notes) == (not id_ or "#" in model)


def test_options_of_an_opencode_agent_are_options_of_the_prompt() -> None:
    text = "---\nmodel: openai/m\ntemperature: 0.1\ntop_p: 0.5\nmode: subagent\n---\nHelp.\n"
    made = import_text(text, Path(".opencode/agent/help.md"))
    assert parse(made.text).model.options == {"temperature": 0.1, "topP": 0.5}
    assert made.title == "help"


def test_the_prompt_of_an_opencode_agent_may_be_a_file(tmp_path: Path) -> None:
    folder = tmp_path / ".opencode" / "agent"
    folder.mkdir(parents=True)
    (folder / "long.txt").write_text("Be brief.")
    text = "---\nprompt: '{file:./long.txt}'\n---\n"
    made = import_text(text, folder / "a.md")
    assert messages(made, {"request": "x"})[0] == ("system", "Be brief.")


@pytest.mark.parametrize(
    ("path", "body", "values", "sent"),
    [
        (".claude/commands/c.md", "Fix $ARGUMENTS.", {"arguments": "a b"}, "Fix a b."),
        (
            ".claude/commands/c.md",
            "$0, $ARGUMENTS[1]",
            {"argument_0": "a", "argument_1": "b"},
            "a, b",
        ),
        (".claude/commands/c.md", r"It costs \$5.", {"arguments": ""}, "It costs $5."),
        (".claude/commands/c.md", "Go.", {"arguments": "x"}, "Go.\n\nARGUMENTS: x"),
        (".claude/commands/c.md", "Go.", {"arguments": ""}, "Go."),
        (".claude/commands/c.md", "$HOME and @pytest.mark", {}, "$HOME and @pytest.mark"),
        (".opencode/command/c.md", "$1 to $2", {"argument_1": "a", "argument_2": "b"}, "a to b"),
        (".opencode/commands/t/c.md", "Go.", {"arguments": "x"}, "Go.\n\nx"),
        (
            "c.prompt.md",
            "Do ${input:task:what?} in ${file}",
            {"task": "it", "file": "f"},
            "Do it in f",
        ),
    ],
)
def test_the_arguments_of_a_command(path: str, body: str, values: JsonObject, sent: str) -> None:
    assert messages(import_text(body, Path(path)), values) == [("user", sent)]


def test_named_arguments() -> None:
    text = "---\narguments: [issue, branch]\n---\nFix $issue on $1, not $other.\n"
    made = import_text(text, Path(".claude/commands/fix.md"))
    assert messages(made, {"issue": "7", "branch": "main"}) == [
        ("user", "Fix 7 on main, not $other.")
    ]


def test_what_a_shell_prints_and_a_file_holds_are_inputs(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("n")
    text = "Now: !`git status`. Again: !`git status`. See @notes.md and @absent.md."
    made = import_text(text, tmp_path / ".claude" / "commands" / "c.md")
    declared = {each.name: each.description for each in parse(made.text).inputs}
    assert declared == {
        "shell": "Output of the command git status",
        "file": "Content of the file notes.md",
        "arguments": "What the user types.",
    }
    assert messages(made, {"shell": "clean", "file": "N", "arguments": ""}) == [
        ("user", "Now: clean. Again: clean. See N and @absent.md.")
    ]
    assert [note.partition(":")[0] for note in made.notes] == ["shell", "file"]


@pytest.mark.parametrize(
    ("prompt", "values", "sent"),
    [
        ("Ask {{args}}", {"arguments": "me"}, "Ask me"),
        ("Ask.", {"arguments": "me"}, "Ask.\n\n/ask me"),
        ("Ask {command}.", {"arguments": ""}, "Ask {command}."),
        ("!{ls {a}} @{x.md}", {"shell": "s", "arguments": ""}, "s @{x.md}"),
    ],
)
def test_a_gemini_command(prompt: str, values: JsonObject, sent: str) -> None:
    made = import_text(f'prompt = "{prompt}"\n', Path(".gemini/commands/ask.toml"))
    assert messages(made, values) == [("user", sent)]


def test_broken_keys_are_refused_with_their_line() -> None:
    with pytest.raises(ImportFailure, match="Line 2: The TOML cannot be read"):
        import_text('description = "d"\nprompt = \n', Path(".gemini/commands/ask.toml"))
    with pytest.raises(ImportFailure, match="has no text that a model gets"):
        import_text("---\nname: a\ndescription: b\n---\n", Path(".claude/agents/a.md"))


GITHUB = """name: Greeter
model: openai/m
modelParameters:
  temperature: 0.5
  maxTokens: 50
messages:
  - role: system
    content: You greet {{ nobody }}.
  - role: user
    content: 'Greet {{input}}'
testData:
  - input: Ann
    expected: Hello Ann
evaluators:
  - name: greets
    string:
      contains: (hello)
  - name: same
    string:
      equals: Hello Ann
  - name: kind
    llm: {modelId: m, prompt: p, choices: []}
"""


@pytest.mark.parametrize("name", ["greet.prompt.yml", "greet.yaml"])
def test_a_github_prompt(name: str) -> None:
    made = import_text(GITHUB, Path(name))
    assert messages(made, {"input": "Ann"}) == [
        ("system", "You greet {{ nobody }}."),
        ("user", "Greet Ann"),
    ]
    assert parse(made.text).model.options == {"temperature": 0.5, "maxOutputTokens": 50}
    assert made.experiment == {
        "tests": [
            {
                "vars": {"input": "Ann"},
                "metadata": {"expected": "Hello Ann"},
                "assert": [
                    {"type": "regex", "value": r"(?i)\(hello\)", "metric": "greets"},
                    {"type": "equals", "value": "Hello Ann", "metric": "same"},
                ],
            }
        ]
    }
    assert made.notes == ("evaluators[].llm: is not possible in a prompt file; it is left out.",)
