"""The server as the protocol's own client sees it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp_types import ElicitResult, PromptReference

from studio.application.document.folder_files import prompt_files
from studio.cli.main import run_command
from studio.core.paths import user_paths
from studio.core.runs.store import RunStore
from studio.core.tools.trust.store import TrustStore
from studio.servers.mcp.served_folder import ServedFolder
from studio.servers.mcp.server import StudioServer
from tests.application.experiments.conftest import CAPITALS, EXPERIMENT, PROMPT, ROWS, answering
from tests.cli.test_main import script
from tests.core.tools.conftest import gone, is_running
from tests.support.chat_server import ChatServer, chat_server
from tests.support.ending_server import ENDINGS
from tests.support.no_files import REASONS, each_kind, make_no_file, needs_posix

CITY = """\
---
name: City
description: Tells of a city
inputs:
  city: {kind: string, required: true}
metadata: {mcp: {tool: true}}
---
system:
You are a guide.

user:
Tell me of {{ city }} and {{ nobody }}.
"""


class Person:
    """Whoever answers what the server asks."""

    def __init__(self, *, allows: bool = True) -> None:
        self.allows = allows
        self.asked: list[str] = []

    async def answer(self, _context: Any, params: Any) -> ElicitResult:
        self.asked.append(params.message)
        return ElicitResult(action="accept", content={"allow": self.allows})


@asynccontextmanager
async def beside(
    folder: Path, person: Person | None = None, *, mode: str = "auto"
) -> AsyncIterator[Client]:
    """A client beside a server in this process; without a person it cannot ask."""
    server = StudioServer(ServedFolder(folder.resolve(), trust=TrustStore()))
    callback = person.answer if person is not None else None
    try:
        async with Client(server, elicitation_callback=callback, mode=mode) as client:
            yield client
    finally:
        await server.close()


async def told(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(result.content[0].text)  # type: ignore[union-attr]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "served"
    made.mkdir()
    (made / "city.prompty").write_text(CITY, encoding="utf-8")
    return made


@pytest.fixture
def server(folder: Path, user_home: Path) -> Any:
    with chat_server() as made:
        (user_home / "config").mkdir(parents=True, exist_ok=True)
        (user_home / "config" / "connections.toml").write_text(
            f'default = "small"\n\n[[connection]]\nname = "small"\nkind = "compatible"\n'
            f'model = "m"\nbase_url = "{made.url}"\nretries = 1\n'
        )
        yield made


async def test_a_client_over_pipes_finds_fixes_and_runs(folder: Path, user_home: Path) -> None:
    script(user_home, "Oslo is old.")
    command = [sys.executable, "-m", "studio", "mcp", str(folder)]
    pipes = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    async with Client(pipes) as client:
        found = await told(client, "check")
        fixed = await told(client, "fix", file="city.prompty", write=True)
        assert [each["code"] for each in found["findings"]] == ["undeclared-variable"]
        assert fixed["left"] == []
        values = {"city": "Oslo", "nobody": "x"}
        ended = await told(client, "run", file="city.prompty", inputs=values)
    assert (ended["status"], ended["answer"]) == ("done", "Oslo is old.")
    with_history = RunStore(user_paths().data / "runs.sqlite")
    assert [line.id for line in with_history.runs()] == [ended["run"]]
    with_history.close()


async def test_findings_are_those_of_the_command_line(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "broken.prompty").write_text("---\nname: [\n---\nuser:\n{{ x", encoding="utf-8")
    monkeypatch.chdir(folder)
    run_command(["check", "--json", *(str(path) for path in prompt_files([folder]))])
    async with beside(folder) as client:
        found = await told(client, "check")
    assert found["files"] == 2
    assert found["findings"] == json.loads(capsys.readouterr().out)


async def test_a_text_of_the_request_is_traced_to_the_file_and_to_the_input(folder: Path) -> None:
    async with beside(folder) as client:
        found = await told(
            client,
            "explain_value",
            file="city.prompty",
            quote='of "Bergen" and',
            inputs={"city": '"Bergen"'},
        )
    pieces = [(each["source"], each["input"]) for each in found["pieces"]]
    assert pieces == [("of ", ""), ("{{ city }}", "city"), (" and", "")]


async def test_prompts_of_the_folder_are_prompts_of_the_protocol(folder: Path) -> None:
    async with beside(folder) as client:
        (listed,) = (await client.list_prompts()).prompts
        got = await client.get_prompt("city", {"city": "Oslo"})
        with pytest.raises(MCPError, match="Missing required input 'city'"):
            await client.get_prompt("city")
    assert (listed.name, listed.title) == ("city", "City")
    assert [each.name for each in listed.arguments or ()] == ["city"]
    assert [each.content.text for each in got.messages] == [  # type: ignore[union-attr]
        "You are a guide.",
        "Tell me of Oslo and .",
    ]


async def test_values_of_a_prompts_arguments_are_proposed(folder: Path) -> None:
    text = (
        "---\nname: T\ninputs:\n  - {name: size, kind: string, enumValues: [small, large]}\n"
        "  - {name: loud, kind: boolean}\n  - {name: city, kind: string, default: Oslo}\n"
        "---\nuser:\n{{ size }} {{ loud }} {{ city }}\n"
    )
    (folder / "sized.prompty").write_text(text, encoding="utf-8")
    prompt = PromptReference(type="ref/prompt", name="sized")
    asked = {"size": "l", "loud": "", "city": ""}
    async with beside(folder) as client:
        found = {
            name: (await client.complete(prompt, {"name": name, "value": value})).completion.values
            for name, value in asked.items()
        }
        with pytest.raises(MCPError, match="has no argument 'none'"):
            await client.complete(prompt, {"name": "none", "value": ""})
    assert found == {"size": ["large"], "loud": ["true", "false"], "city": ["Oslo"]}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_what_leaves_the_machine_is_asked_first(
    folder: Path, server: ChatServer, mode: str
) -> None:
    values = {"city": "Oslo", "nobody": ""}
    async with beside(folder, mode=mode) as client:
        text = await refusal(client, "run", file="city.prompty", inputs=values)
        assert "cannot ask" in text
    person = Person(allows=False)
    async with beside(folder, person, mode=mode) as client:
        text = await refusal(client, "run", file="city.prompty", inputs=values)
        assert "did not allow" in text
        assert not server.requests
        person.allows = True
        ended = await told(client, "run", file="city.prompty", inputs=values)
    assert ended["status"] == "done"
    assert person.asked[-1] == "May 'city.prompty' be run with m at 'small'? It will be sent there."
    assert len(server.requests) == 1


@needs_posix
@each_kind
async def test_what_is_no_file_is_refused_and_not_read(
    kind: str, folder: Path, tmp_path: Path
) -> None:
    make_no_file(kind, folder / "endless.prompty")
    async with beside(folder) as client:
        reason = await refusal(client, "messages", file="endless.prompty")
        assert any(words in reason for words in ("There is no file", "outside", REASONS[kind]))
        assert (await told(client, "check"))["findings"]


async def test_nothing_outside_of_the_folder_is_touched(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.prompty").write_text("user:\nhidden", encoding="utf-8")
    (folder / "link.prompty").symlink_to(tmp_path / "secret.prompty")
    async with beside(folder, Person()) as client:
        for file in ("../secret.prompty", str(tmp_path / "secret.prompty"), "link.prompty"):
            for tool in ("check", "messages", "fix"):
                assert "outside" in await refusal(client, tool, file=file)
        for file in ("a\0b", "a" * 5000):
            assert "cannot be found" in await refusal(client, "check", file=file)
        assert [each["file"] for each in (await told(client, "check"))["findings"]] == [
            "city.prompty"
        ]
        text = await refusal(
            client, "export", file="city.prompty", target="messages", out="../x.json"
        )
    assert not (tmp_path / "x.json").exists()
    assert "outside" in text or "no target" in text


async def test_a_file_that_cannot_be_read_is_not_converted(folder: Path) -> None:
    text = "---\ninputs:\n  city: [\nmodel:\n  api: chat\n---\nsystem:\nHello {{city}}.\n"
    (folder / "broken.prompty").write_text(text, encoding="utf-8")
    async with beside(folder, Person()) as client:
        said = await refusal(client, "convert", file="broken.prompty", to="prompty", write=True)
    assert "Nothing was converted, fix line " in said
    assert (folder / "broken.prompty").read_text(encoding="utf-8") == text


async def test_an_untrusted_folder_reads_no_key_and_no_variable(
    folder: Path, user_home: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_SECRET", "planted-value-1234567890")
    text = CITY.replace("You are a guide.", "${env:MY_SECRET}")
    (folder / "city.prompty").write_text(text, encoding="utf-8")
    with (user_home / "config" / "connections.toml").open("a") as file:
        file.write('key = "${env:MY_SECRET}"\n')
    person = Person()
    async with beside(folder, person) as client:
        shown = json.dumps(await told(client, "messages", file="city.prompty"))
        why = await refusal(client, "run", file="city.prompty", inputs={"city": "Oslo"})
        names = [tool.name for tool in (await client.list_tools()).tools]
    assert "planted" not in shown
    assert "not trusted" in why
    assert "city" not in names
    assert not server.requests
    assert not person.asked


async def test_a_trusted_prompt_that_says_so_is_a_tool(folder: Path, user_home: Path) -> None:
    script(user_home, "Oslo is old.")
    TrustStore().trust(folder)
    async with beside(folder) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        ended = await told(client, "city", city="Oslo")
    assert tools["city"].description == "Tells of a city"
    assert tools["city"].input_schema["required"] == ["city"]
    assert list(tools["city"].input_schema["properties"]) == ["city"]
    assert ended["answer"] == "Oslo is old."


async def test_a_run_is_stepped_edited_forked_and_compared(folder: Path, user_home: Path) -> None:
    script(user_home, "Oslo is old.", "Oslo is new.")
    values = {"city": "Oslo", "nobody": ""}
    async with beside(folder) as client:
        first = await told(client, "start", file="city.prompty", inputs=values)
        assert (first["status"], first["place"]) == ("paused", "before_request")
        run = first["run"]
        stands = await told(client, "step", run=run, how="over")
        assert stands["current"]["reply"]["text"] == "Oslo is old."
        await told(client, "edit", run=run, what="reply", text="Oslo is grey.")
        ended = await told(client, "continue", run=run)
        assert (ended["status"], ended["answer"]) == ("done", "Oslo is grey.")
        assert "over" in await refusal(client, "step", run=run)
        await told(client, "fork", run=run, step=1)
        await told(client, "breakpoints", run=run, set=["answer"])
        stands = await told(client, "continue", run=run)
        assert (stands["place"], stands["current"]["reply"]["text"]) == ("answer", "Oslo is new.")
        other = await told(client, "run", file="city.prompty", inputs={"city": "Rome"})
        found = await told(client, "compare", run=run, other=other["run"])
        assert [line["id"] for line in (await told(client, "runs"))["runs"]] == [other["run"], run]
    assert found["summary"].startswith("The first difference is in iteration 1")


async def test_a_fork_with_another_model_says_so_in_the_journal(
    folder: Path, user_home: Path
) -> None:
    script(user_home, "Oslo is old.")
    connections = user_home / "config" / "connections.toml"
    values = {"city": "Oslo", "nobody": ""}
    async with beside(folder, Person()) as client:
        run = (await told(client, "run", file="city.prompty", inputs=values))["run"]
    other = user_home / "other.json"
    other.write_text('["Oslo is new."]', encoding="utf-8")
    text = connections.read_text(encoding="utf-8").replace("script.json", "other.json")
    connections.write_text(text, encoding="utf-8")
    async with beside(folder, Person()) as client:
        await told(client, "fork", run=run, step=1, file="city.prompty")
        ended = await told(client, "continue", run=run)
    assert ended["answer"] == "Oslo is new."
    with closing(RunStore(user_paths().data / "runs.sqlite")) as store:
        assert store.open(run).state.answered_by.name == "Script other.json"


async def test_a_run_tells_what_was_sent_and_received(
    folder: Path, server: ChatServer, user_home: Path
) -> None:
    values = {"city": "Oslo", "nobody": ""}
    async with beside(folder, Person()) as client:
        made = await told(client, "run", file="city.prompty", inputs=values)
        (request,) = server.requests
        seen = await told(client, "state", run=made["run"], request=1, reply=1)
        assert seen["request"]["body"].encode() == request.data
        assert seen["request"]["path"] == "/v1/chat/completions"
        assert seen["reply"]["raw"].startswith("data: {")
        words = await refusal(client, "state", run=made["run"], request=9)
        assert "no iteration 9" in words


async def test_a_tool_call_waits_for_the_person(folder: Path, user_home: Path) -> None:
    call = 'Thought: I look.\nAction: look\nArgs: {"what": "sky"}'
    script(user_home, call, "Thought: I have it.\nFinal Answer: Blue.")
    (folder / "looker.prompty").write_text(
        "---\nname: looker\nmetadata:\n  agent:\n    protocol: react\n    tools: [tools.py]\n"
        "---\nsystem:\nLook.\n",
        encoding="utf-8",
    )
    (folder / "tools.py").write_text(
        'def look(what: str) -> str:\n    """Look."""\n    return "blue"\n'
    )
    TrustStore().trust(folder)
    person = Person(allows=False)
    async with beside(folder, person) as client:
        stands = await told(client, "run", file="looker.prompty", inputs={"question": "?"})
        assert (stands["status"], stands["place"]) == ("paused", "tool_call")
        assert "approval" in await refusal(client, "continue", run=stands["run"])
        assert "did not allow" in await refusal(client, "allow", run=stands["run"])
        person.allows = True
        ended = await told(client, "allow", run=stands["run"])
    assert person.asked[0].startswith("May the agent call look with")
    assert ended["answer"] == "Blue."


async def test_a_run_for_which_there_is_no_room_leaves_nothing_open(
    folder: Path, user_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(user_home, "Oslo is old.", "Oslo is new.")
    (folder / "looker.prompty").write_text(
        "---\nname: looker\ninputs:\n  city: {type: string}\nmetadata:\n  agent:\n"
        "    tools: [tools.py]\n---\nsystem:\nLook.\n",
        encoding="utf-8",
    )
    pids = folder / "pids"
    (folder / "tools.py").write_text(
        f"import os\nwith open({str(pids)!r}, 'a') as file:\n    print(os.getpid(), file=file)\n"
        'def look(what: str) -> str:\n    """Look."""\n    return "blue"\n'
    )
    TrustStore().trust(folder)
    monkeypatch.setattr("studio.servers.mcp.live_runs._MOST", 1)
    values = {"city": "Oslo"}

    async with beside(folder) as client:
        await told(client, "start", file="looker.prompty", inputs=values)
        said = await refusal(client, "start", file="looker.prompty", inputs=values)
        assert "stop one first" in said
        first, second = map(int, pids.read_text(encoding="utf-8").split())
        assert await gone(second)
        assert is_running(first)
    assert await gone(first)


async def test_an_experiment_is_planned_run_and_read(folder: Path, server: ChatServer) -> None:
    (folder / "capital.prompty").write_text(PROMPT)
    (folder / "capital.experiment.yaml").write_text(EXPERIMENT)
    (folder / "rows.csv").write_text(ROWS)
    server.always(answering([], lambda text: CAPITALS.get(text, text)))
    person = Person()
    file = "capital.experiment.yaml"
    async with beside(folder, person) as client:
        plan = await told(client, "experiment_plan", file=file)
        assert (plan["rows"], plan["to_send"]) == (3, 6)
        assert not server.requests
        far: list[tuple[float, float | None]] = []

        async def on_progress(done: float, total: float | None, _: str | None) -> None:
            far.append((done, total))

        answer = await client.call_tool(
            "experiment_run", {"file": file}, progress_callback=on_progress
        )
        done = answer.structured_content
        assert done is not None
        again = await told(client, "experiment_results", file=file)
    assert person.asked == ["May 6 cells of 'capital.experiment.yaml' be sent to small?"]
    assert [each["rows_passed"] for each in done["variants"]] == [2, 2]
    assert [each["answer"] for each in done["failed"]] == ["Cuzco", "Cuzco"]
    assert again == done
    assert far[0] == (0, 6)
    assert far[-1] == (6, 6)
    assert far == sorted(far)


async def test_a_run_that_the_user_takes_over_is_theirs(folder: Path, user_home: Path) -> None:
    script(user_home, "Oslo is old.")
    async with beside(folder) as client:
        first = await told(client, "start", file="city.prompty", inputs={"city": "Oslo"})
        run = first["run"]
        window = RunStore(user_paths().data / "runs.sqlite")
        assert window.is_driven_elsewhere(run)
        window.journal(run)  # what a window does when it goes on with a run
        for tool in ("step", "continue", "stop", "edit"):
            rest = {"what": "message", "text": "x"} if tool == "edit" else {}
            assert "taken over this run" in await refusal(client, tool, run=run, **rest)
        seen = await told(client, "state", run=run)
        window.close()
    assert (seen["status"], seen["place"]) == ("paused", "before_request")


async def test_an_argument_that_no_tool_has_is_not_just_left_out(folder: Path) -> None:
    async with beside(folder) as client:
        for tool, said in (("check", "no argument 'path'"), ("messages", "it needs 'file'")):
            result = await client.call_tool(tool, {"path": "a.prompty"})
            assert result.is_error
            assert said in result.content[0].text
            assert "It takes file" in result.content[0].text


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("state", {"run": "r", "from_step": "three"}, "'three': it must be a valid integer"),
        ("state", {"run": "r", "request": -1}, "'-1': it must be greater than or equal to 0"),
        ("state", {"run": 3}, "run is '3': it must be a valid string"),
        ("evaluate", {"run": "r", "expression": "x" * 3000}, "string should have at most 2000"),
    ],
)
async def test_a_value_that_does_not_fit_is_named(
    folder: Path, tool: str, arguments: dict[str, Any], said: str
) -> None:
    async with beside(folder) as client:
        result = await client.call_tool(tool, arguments)
    assert result.is_error
    text = result.content[0].text
    assert text.startswith(f"{tool}: ")
    assert said in text
    assert "pydantic" not in text
    assert len(text) < 300


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the memory of a process")
async def test_a_text_that_ends_its_reader_is_one_finding_and_the_rest_is_answered(
    folder: Path, user_home: Path
) -> None:
    for word in ENDINGS:
        (folder / f"{word}.prompty").write_text(CITY + word, encoding="utf-8")
    command = ["-m", "tests.support.ending_server", "mcp", str(folder)]
    pipes = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))
    async with Client(pipes) as client:
        found = await told(client, "check")
        by_file = {each["file"]: each["code"] for each in found["findings"]}
        assert {word: by_file[f"{word}.prompty"] for word in ENDINGS} == ENDINGS
        assert "city.prompty" in by_file
        said = await refusal(client, "messages", file="KILL.prompty")
        assert "'KILL.prompty': It takes more than" in said
        assert (await told(client, "messages", file="city.prompty"))["messages"]
