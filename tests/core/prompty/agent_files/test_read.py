"""Files of coding agents are told by their names, and held to their makers' rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.core.prompty.agent_files.read import agent_file_kind, read_agent_file
from studio.core.text.source import Severity, apply_edits

LONG = "x" * 65


def found(name: str, text: str) -> list[tuple[str, int]]:
    """Code and line of each problem."""
    path = Path(name)
    kind = agent_file_kind(path)
    assert kind is not None
    document = read_agent_file(text, path, kind)
    assert not document.is_prompt
    place = document.source.position
    return [(each.code, place(each.span.start).line) for each in document.problems]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("SKILL.md", "skill"),
        ("a/skill.md", "skill"),
        ("skills.md", None),
        ("plan.prompt.md", "prompt-file"),
        ("review.agent.md", "custom-agent"),
        (".claude/agents/review.md", "claude-agent"),
        (".claude/commands/git/commit.md", "claude-command"),
        (".claude/notes.md", None),
        ("agents/review.md", None),
        (".opencode/agent/review.md", "opencode-agent"),
        (".opencode/commands/git/commit.md", "opencode-command"),
        (".gemini/commands/git/commit.toml", "gemini-command"),
        (".gemini/settings.toml", None),
        ("greet.prompt.yml", "github-models"),
        (".github/copilot-instructions.md", "instructions"),
        ("copilot-instructions.md", None),
        ("python.instructions.md", "instructions"),
        ("docs/CLAUDE.md", "memory"),
        ("AGENTS.md", "agents"),
        ("agents.md", None),
        ("greet.prompt", "dotprompt"),
        (".prompt", None),
        ("a.prompty", None),
        ("README.md", None),
    ],
)
def test_a_file_is_told_by_its_name(name: str, kind: str | None) -> None:
    assert agent_file_kind(Path(name)) == kind


def test_a_plugin_has_agents_and_commands(tmp_path: Path) -> None:
    agent, command = tmp_path / "agents" / "a.md", tmp_path / "commands" / "git" / "b.md"
    assert (agent_file_kind(agent), agent_file_kind(command)) == (None, None)
    (tmp_path / ".claude-plugin").mkdir()
    assert (agent_file_kind(agent), agent_file_kind(command)) == ("claude-agent", "claude-command")
    assert agent_file_kind(tmp_path / "prompts" / "a.md") is None


SKILL = "---\nname: {name}\ndescription: Reads tables.\n---\nRead.\n"


@pytest.mark.parametrize(
    ("folder", "name", "count"),
    [
        ("read-tables", "read-tables", 0),
        ("lire-été", "lire-été", 0),
        ("read-tables", "tables", 1),
        ("Read", "Read", 1),
        ("-read", "-read", 1),
        ("read--it", "read--it", 1),
        ("read_it", "read_it", 1),
        (LONG, LONG, 1),
    ],
)
def test_the_name_of_a_skill(folder: str, name: str, count: int) -> None:
    assert len(found(f"{folder}/SKILL.md", SKILL.format(name=name))) == count


def test_a_skill_needs_a_name_and_a_description_and_no_other_key() -> None:
    assert found("a/SKILL.md", "Read.") == [("agent-file-missing", 1)] * 2
    text = "---\nname: a\ndescription: ''\nversion: 1\n---\n"
    assert found("a/SKILL.md", text) == [("agent-file-value", 3), ("agent-file-key", 4)]
    long = f"---\nname: a\ndescription: {'x' * 1025}\ncompatibility: {'y' * 501}\n---\n"
    assert found("a/SKILL.md", long) == [("agent-file-value", 3), ("agent-file-value", 4)]


def test_an_agent_and_a_command_of_claude_code_are_held_to_its_rules() -> None:
    agent = (
        "---\nname: a\ndescription: Use it: now\ntools: Read, Bash\nmodel: sonnet\n"
        "color: red\n---\n"
    )
    document = read_agent_file(agent, Path(".claude/agents/a.md"), "claude-agent")
    assert [(each.code, each.severity) for each in document.problems] == [
        ("yaml-syntax", Severity.WARNING)  # it reads the line as a text
    ]
    quoted = agent.replace("Use it: now", "'Use it: now'").replace("color", "team")
    assert found(".claude/agents/a.md", quoted) == [("agent-file-key", 6)]
    assert found(".claude/agents/a.md", "---\nname: a\n---\n") == [("agent-file-missing", 1)]
    assert found(".claude/agents/README.md", "# About these agents\n") == []
    command = "---\nargument-hint: [file]\nallowed-tools: Bash(git:*)\n---\nRead $ARGUMENTS.\n"
    assert found(".claude/commands/a.md", command) == []


def test_keys_that_some_programs_document_are_hints_and_others_warnings() -> None:
    text = (
        "---\nname: a\ndescription: b\nargument-hint: [file]\nuser-invocable: true\n"
        "model: haiku\ncontext: fork\nagent: Explore\nhooks: {}\nversion: 1\n---\n"
    )
    document = read_agent_file(text, Path("a/SKILL.md"), "skill")
    assert [(each.code, each.severity) for each in document.problems] == [
        *[("agent-file-portable", Severity.HINT)] * 6,
        ("agent-file-key", Severity.WARNING),
    ]


def test_a_slip_of_the_pen_has_a_fix() -> None:
    text = "---\ndescripton: Plans\n---\nPlan.\n"
    document = read_agent_file(text, Path("a.prompt.md"), "prompt-file")
    (problem,) = document.problems
    assert problem.severity is Severity.WARNING
    assert apply_edits(text, problem.fixes[0].edits) == text.replace("descripton", "description")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.prompt.md", "Plan it: {{ x }}\nsystem:\n", []),
        ("a.prompt.md", "---\nagent: agent\ntools: ['search']\n---\nPlan.", []),
        (
            "a.prompt.md",
            "---\nmode: ask\ntools: 3\n---\nPlan.",
            [("agent-file-old-key", 2), ("agent-file-value", 3)],
        ),
        ("a.agent.md", "---\ntarget: vscode\nhandoffs:\n  - label: Go\n    agent: b\n---\n", []),
        (
            "a.agent.md",
            "---\ntarget: vim\nuser-invocable: 1\n---\n",
            [("agent-file-value", 2), ("agent-file-value", 3)],
        ),
        ("AGENTS.md", "---\nanything: 1\n---\nsystem:\n{% if %}\n", []),
        (
            "a.prompt",
            "---\nmodel: m\nmy.own: 1\nconfig: {temperature: 1}\n---\n"
            '{{role "system"}}{{#if a}}b{{/if}}{{!-- {{#each}} --}}',
            [],
        ),
        (
            "a.prompt",
            "---\nmodle: m\n---\n{{#if a}}{{/each}}\n{{role 'sytem'}}",
            [
                ("agent-file-key", 2),
                ("agent-file-template", 4),
                ("agent-file-template", 4),
                ("agent-file-template", 5),
            ],
        ),
        (
            "a.prompt",
            "---\nmodel: m\nmaxTurns: 7\ntoolChoice: auto\nreturnToolRequests: true\n---\n"
            '{{#> card}}x{{/card}}{{^a}}b{{^}}c{{/a}}{{#*inline "p"}}d{{/inline}}'
            "{{#each ../a.b}}{{/each}}",
            [],
        ),
        (
            "a.prompt",
            "---\nmodel: m\nmaxTurns: many\n---\n{{#> card}}{{^a}}{{/card}}",
            [
                ("agent-file-value", 3),
                ("agent-file-template", 5),
                ("agent-file-template", 5),
                ("agent-file-template", 5),
            ],
        ),
        ("a.prompt", "---\nmodel: [\n", [("yaml-syntax", 0), ("front-matter-open", 1)]),
    ],
)
def test_each_kind_has_its_own_rules(name: str, text: str, expected: list[tuple[str, int]]) -> None:
    seen = found(name, text)
    assert sorted(code for code, _ in seen) == sorted(code for code, _ in expected)
    if all(line for _, line in expected):
        assert seen == expected


@pytest.mark.parametrize(
    ("template", "code"),
    [
        ("{{#if age >= 18}}a{{/if}}", "agent-file-template"),
        ("{{#if}}a{{/if}}", "agent-file-template"),
        ("{{#each a b}}{{/each}}", "agent-file-template"),
        ("Hi {{name", "agent-file-template"),
        ("{{name.}}", "agent-file-template"),
        ('{{role "system"}}x{{/role}}', "agent-file-template"),
        ('{{role "boss"}}x', "agent-file-template"),
        ("{{upper name}}", "agent-file-helper"),
        ("{{#upper name}}x{{/upper}}", "agent-file-helper"),
    ],
)
def test_what_dotprompt_refuses_in_a_template(template: str, code: str) -> None:
    """Judged by npm dotprompt 1.1.2, which refuses each."""
    assert found("a.prompt", f"---\nmodel: a/b\n---\n{template}\n") == [(code, 4)]


@pytest.mark.parametrize(
    "template",
    [
        '{{json a indent=2}} {{media url=x contentType="a/b"}} {{history}}',
        "{{#ifEquals a 1}}x{{else}}y{{/ifEquals}} {{{raw}}} {{&x}} {{@auth.email}}",
        "{{this.[a b]}} {{#each a as |b c|}}{{b}}{{else if x}}{{/each}}",
        "{{#with (lookup a 0)}}{{name}}{{/with}}",
        "{{! x >= {{> y }} {{!-- {{#if --}} \\{{name {{> part a=b}} {{~name~}}",
    ],
)
def test_what_dotprompt_reads_has_no_problem(template: str) -> None:
    assert found("a.prompt", f"---\nmodel: a/b\n---\n{template}\n") == []


def test_the_keys_of_a_toml_command_have_their_places() -> None:
    name = ".gemini/commands/a.toml"
    assert found(name, 'description = "d"\nprompt = "p"\n') == []
    assert found(name, 'description = "d"\n') == [("agent-file-missing", 1)]
    assert found(name, 'prompt = "p"\npromt = 1\n') == [("agent-file-key", 2)]
    assert found(name, 'prompt = "p"\nx = \n') == [("agent-file-toml", 2)]


def test_the_keys_of_a_github_prompt() -> None:
    text = "messages:\n- role: user\n  content: a\nresponseFormat: xml\n"
    assert found("a.prompt.yml", text) == [("agent-file-value", 4)]


def test_opencode_hands_unknown_keys_to_the_provider() -> None:
    assert (
        found(".opencode/agent/a.md", "---\nmode: primary\nreasoningEffort: high\n---\nA\n") == []
    )
